package replay

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
)

// page is the report with what the template cannot compute.
type page struct {
	*Report
	CSP   string
	Style template.CSS
}

// change and counts are what the templates of the same names show.
type change struct {
	Name, Class string
	Change      Change
}

type counts struct {
	Title string
	List  []Count
	Would bool // a log-only limit would have denied one of them
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"group": group, "moment": moment, "wait": wait, "class": class, "plot": plot,
	"people": func(o *Outcome) string { return o.people() },
	"minus":  func(a, b int64) int64 { return a - b },
	"change": func(name string, c Change, class string) change { return change{name, class, c} },
	"counts": newCounts,
	"cell":   func(n int64) template.HTML { return cell(n, "") },
	"hurt":   func(n int64) template.HTML { return cell(n, "bad") },
	"swatch": func(class string) template.HTML {
		return template.HTML(`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" class="` + class + `"/></svg>`)
	},
	"accountTitle": func(hashed bool) string {
		if hashed {
			return "Accounts that were denied most, by their hash"
		}
		return "Accounts that were denied most"
	},
}).Parse(pageText))

// HTML writes the report as one page that needs nothing else: no script, no
// font, no other file. Its policy forbids them, too, whatever a name in the log
// may try.
func (r *Report) HTML(w io.Writer) error {
	sum := sha256.Sum256([]byte(pageStyle))
	csp := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, page{Report: r, CSP: csp, Style: template.CSS(pageStyle)}); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func newCounts(title string, list []Count) counts {
	c := counts{Title: title, List: list}
	for _, n := range list {
		c.Would = c.Would || n.WouldDeny > 0
	}
	return c
}

// cell is a number in a table, faint when it is nothing.
func cell(n int64, class string) template.HTML {
	if n == 0 {
		class = "zero"
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	return template.HTML("<td" + class + ">" + group(n) + "</td>")
}

// class is the colour of the i-th limit, the same in all plots.
func class(i int) string { return "c" + strconv.Itoa(i) }

// group writes a number with thin spaces between groups of three digits.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b []byte
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b = append(b, "\u202f"...)
		}
		b = append(b, s[i])
	}
	return string(b)
}
