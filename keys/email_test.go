package keys

import (
	"errors"
	"testing"
)

func TestEmailRules(t *testing.T) {
	c := providers(t)
	tests := []struct{ name, in, want string }{
		{"dots, plus and alias are one mailbox", "a.b@gmail.com", "ab@gmail.com"},
		{"plus", "ab+x@gmail.com", "ab@gmail.com"},
		{"alias", "ab@googlemail.com", "ab@gmail.com"},
		{"alias in another spelling", "A.B+x+y@GOOGLEMAIL.COM.", "ab@gmail.com"},
		{"full-width plus and dot", "a\uff0eb\uff0bx@gmail.com", "ab@gmail.com"},
		{"blank before the plus", "ab +x@gmail.com", "ab@gmail.com"},
		{"letter and mark that had a dot between", "jose.\u0301@gmail.com", "jos\u00e9@gmail.com"},
		{"plus alone, rule named by U-label", "a.b+x@xn--mnchen-3ya.example", "a.b@xn--mnchen-3ya.example"},
		{"dots alone", "a.b+x@example.com", "ab+x@example.com"},
		{"other domain", "a.b+x@example.org", "a.b+x@example.org"},
		{"subdomain is another domain", "a.b+x@mail.gmail.com", "a.b+x@mail.gmail.com"},
		{"no address", "a.b+x", "a.b+x"},
		{"nothing before the plus", "+x@gmail.com", "+x@gmail.com"},
		{"nothing but dots", "...@gmail.com", "...@gmail.com"},
		{"nothing but dots before the plus", "..+x@gmail.com", "..@gmail.com"},
		{"nothing but dots and blanks", ". .@gmail.com", ". .@gmail.com"},
	}
	for _, tt := range tests {
		if got := c.Canonical(tt.in); got != tt.want {
			t.Errorf("%s: Canonical(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestEmailRulesRefused(t *testing.T) {
	tests := []struct {
		name  string
		rules []EmailRule
		want  string
	}{
		{"empty", []EmailRule{{}}, `email[0].domain: is empty`},
		{"blank", []EmailRule{{Domain: " \n"}}, `email[0].domain: is empty`},
		{"invisible", []EmailRule{{Domain: "\u200d"}}, `email[0].domain: "\u200d" is not a domain name`},
		{"empty label", []EmailRule{{Domain: "a..b"}}, `email[0].domain: "a..b" is not a domain name`},
		{"wildcard", []EmailRule{{Domain: "*.example.com"}}, `email[0].domain: "*.example.com" is not a domain name`},
		{"address", []EmailRule{{Domain: "@example.com"}}, `email[0].domain: "@example.com" is not a domain name`},
		{"literal", []EmailRule{{Domain: "[::1]"}}, `email[0].domain: "[::1]" is not a domain name`},
		{"not text", []EmailRule{{Domain: "\xff"}}, `email[0].domain: "\xff" is not a domain name`},
		{"two rules", []EmailRule{{Domain: "a.example"}, {Domain: "A.example."}},
			`email[1].domain: "A.example." is already named by email[0].domain`},
		{"A-label and U-label", []EmailRule{{Domain: "xn--mnchen-3ya.example"}, {Domain: "m\u00fcnchen.example"}},
			`email[1].domain: "m` + "\u00fc" + `nchen.example" is already named by email[0].domain`},
		{"alias of itself", []EmailRule{{Domain: "a.example", Aliases: []string{"a.example"}}},
			`email[0].aliases[0]: "a.example" is already named by email[0].domain`},
		{"alias twice", []EmailRule{{Domain: "a.example", Aliases: []string{"b.example", "b.example"}}},
			`email[0].aliases[1]: "b.example" is already named by email[0].aliases[0]`},
		{"alias that has a rule", []EmailRule{{Domain: "a.example", Aliases: []string{"b.example"}}, {Domain: "b.example"}},
			`email[1].domain: "b.example" is already named by email[0].aliases[0]`},
		{"all at once", []EmailRule{{}, {Domain: "a.example", Aliases: []string{""}}},
			"email[0].domain: is empty\nemail[1].aliases[0]: is empty"},
	}
	for _, tt := range tests {
		c, err := NewCanonicaliser(tt.rules)
		if err == nil {
			t.Errorf("%s: accepted", tt.name)
			continue
		}
		if c != nil {
			t.Errorf("%s: a canonicaliser in spite of the error", tt.name)
		}
		if err.Error() != tt.want {
			t.Errorf("%s: error\n%s\nwant\n%s", tt.name, err, tt.want)
		}
		var e *RuleError
		if !errors.As(err, &e) {
			t.Errorf("%s: no RuleError in %v", tt.name, err)
		}
	}
}

func TestNoEmailRules(t *testing.T) {
	c, err := NewCanonicaliser(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Canonical("A.B+x@Googlemail.com"), "a.b+x@googlemail.com"; got != want {
		t.Errorf("Canonical = %q, want %q", got, want)
	}
}
