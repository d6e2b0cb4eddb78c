package replay

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"loginguard/policy"
)

// parsePage checks that a page is well-formed enough for a strict reader, and
// returns its elements by name.
func parsePage(t *testing.T, page string) map[string]int {
	t.Helper()
	elements := make(map[string]int)
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			return elements
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			elements[string(name)]++
		}
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	evil := `{"time":1790000000,"account":"<script>alert(1)</script>\"'</style>","ip":"192.0.2.1","outcome":"failure"}` + "\n"
	report, _ := replayDay(t, strings.Repeat(evil, 12)+day(), func(c *policy.Config) { c.Mode = policy.LogOnly })
	report.Log = `"><img src=x>`
	var page bytes.Buffer
	if err := report.HTML(&page); err != nil {
		t.Fatal(err)
	}
	elements := parsePage(t, page.String())
	for _, forbidden := range []string{"script", "img", "link", "iframe", "object", "form", "a"} {
		if elements[forbidden] > 0 {
			t.Errorf("the page has the element %s", forbidden)
		}
	}
	if elements["style"] != 1 || elements["svg"] < 3 || elements["table"] != 7 {
		t.Errorf("%d style, %d svg, %d table; want 1, several, 7", elements["style"], elements["svg"], elements["table"])
	}
	if m := regexp.MustCompile(`(?i)\b(?:src|href|style|on\w+)=|url\(|@import`).FindString(page.String()); m != "" && !strings.Contains(page.String(), "&lt;img src=x") {
		t.Errorf("the page refers to something: %s", m)
	}
	if !strings.Contains(page.String(), "default-src &#39;none&#39;") || !strings.Contains(page.String(), "<style>"+pageStyle+"</style>") {
		t.Error("the page's policy, or the style whose hash it names, is not there as it is")
	}
	if strings.Contains(page.String(), "ZgotmplZ") {
		t.Error("the template refused a value")
	}
}

// TestPageShowsTheNumbers: what the report counts stands on the page.
func TestPageShowsTheNumbers(t *testing.T) {
	report, _ := replayDay(t, day(), func(c *policy.Config) { c.Limits.Account.Capacity = 12 })
	var page bytes.Buffer
	if err := report.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<b>17</b><span>attempts", "<b>14</b><span>allowed", "<b>3</b><span>denied", `<b class="bad">1</b><span>denied though right, of 1 account<`,
		"<b>1m</b><span>longest wait that was told; 30s to the right", "account</th><td>enforce</td><td>15</td><td>3</td><td class=\"bad\">1</td>",
		"Attempts per 5 seconds", "2026-09-21 08:13:30 UTC: 2 attempts, account 1",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPageOfNothing(t *testing.T) {
	report, _ := replayDay(t, "", nil)
	var page bytes.Buffer
	if err := report.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "NaN") || strings.Contains(page.String(), "<figure") {
		t.Error("an empty log has a plot")
	}
}
