package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"loginguard/policy"
)

var (
	decimal   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	fraction  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	plainDays = regexp.MustCompile(`^([0-9]{1,6})d$`)
)

// maxText bounds every text of the configuration, in bytes.
const maxText = 4096

// parse turns the text of one scalar into a value of the kind that the schema
// wants there. File, environment and command line all come through here, so
// that none of them is read more generously than the others.
//
// Numbers are plain decimals: YAML would also take 0x1F, 1_000 and read 010
// as 8. A duration has a unit: a bare 60 has been taken for nanoseconds before.
func (n *node) parse(text string) (any, error) {
	switch n.kind {
	case boolKind:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("must be true or false, not %s", n.show(text))
		}
		return text == "true", nil
	case intKind:
		return n.parseInt(text)
	case floatKind:
		x, err := strconv.ParseFloat(text, 64)
		if !fraction.MatchString(text) || err != nil {
			return nil, fmt.Errorf("must be a number such as 0.25, not %s", n.show(text))
		}
		return x, n.inBounds(x, text)
	case durationKind:
		return n.parseDuration(text)
	case rateKind:
		return n.parseRate(text)
	default:
		return n.parseText(text)
	}
}

func (n *node) parseInt(text string) (any, error) {
	if !decimal.MatchString(text) {
		return nil, fmt.Errorf("must be a whole number in decimal digits, not %s", n.show(text))
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("is too large a number: %s", n.show(text))
	}
	return i, n.inBounds(float64(i), text)
}

func (n *node) parseDuration(text string) (any, error) {
	if fraction.MatchString(text) {
		return nil, fmt.Errorf("needs a unit: write %ss, or the like with ms, m or h", text)
	}
	if m := plainDays.FindStringSubmatch(text); m != nil {
		days, err := strconv.Atoi(m[1])
		if err == nil {
			return nil, fmt.Errorf("has no unit d: write %dh", days*24)
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("must be a duration such as 500ms, 30s, 15m or 720h, not %s", n.show(text))
	}
	if d < 0 {
		return nil, fmt.Errorf("must not be negative")
	}
	return d, n.inBounds(float64(d), text)
}

func (n *node) parseRate(text string) (any, error) {
	if decimal.MatchString(text) {
		return nil, fmt.Errorf("needs a span: write %s/1h, which is %s tokens an hour", text, text)
	}
	tokens, per, ok := strings.Cut(text, "/")
	if ok && per != "" && per[0] >= 'a' && per[0] <= 'z' {
		text = tokens + "/1" + per // 3/s is 3/1s
	}
	r, err := policy.ParseRate(text)
	if err != nil {
		return nil, fmt.Errorf("must be tokens per span such as 10/6h or 3/1s, not %s", n.show(text))
	}
	return r, nil
}

func (n *node) parseText(text string) (any, error) {
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("is longer than %d bytes", maxText)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("is not valid UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		return nil, fmt.Errorf("contains a control character")
	case n.oneof != nil && !slices.Contains(n.oneof, text):
		msg := fmt.Sprintf("must be %s, not %s", alternatives(n.oneof), n.show(text))
		if near := nearest(text, n.oneof); near != "" {
			msg += " (did you mean " + near + "?)"
		}
		return nil, fmt.Errorf("%s", msg)
	}
	return text, nil
}

// inBounds checks a number, or a duration in nanoseconds, that was written as
// text.
func (n *node) inBounds(x float64, text string) error {
	if x >= n.min && x <= n.max {
		return nil
	}
	return fmt.Errorf("must be %s to %s, is %s", n.bounds[0], n.bounds[1], text)
}

// show quotes a refused value, unless it may hold a secret.
func (n *node) show(text string) string {
	if n.mask != "" {
		return "what is there"
	}
	return quote(text)
}

// alternatives lists what is allowed: "a, b or c".
func alternatives(all []string) string {
	var named []string
	for _, s := range all {
		if s != "" {
			named = append(named, s)
		}
	}
	if len(named) < 2 {
		return strings.Join(named, "")
	}
	last := len(named) - 1
	return strings.Join(named[:last], ", ") + " or " + named[last]
}
