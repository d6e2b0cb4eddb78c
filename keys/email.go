package keys

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An EmailRule says which addresses of a mail provider reach the same mailbox.
// There are none by default: to most systems alice+1@example.com is a login of
// its own, and merging it with another would let the two share their limits.
type EmailRule struct {
	// Domain is the provider's domain, in any spelling. Required.
	Domain string
	// DropPlus removes the first + of the local part and all behind it, unless
	// nothing would be left.
	DropPlus bool
	// DropDots removes the dots of the local part, unless nothing would be left.
	DropDots bool
	// Aliases are other domains of the same provider; their addresses become
	// addresses of Domain.
	Aliases []string
}

// A RuleError is one mistake in the rules given to [NewCanonicaliser].
type RuleError struct {
	Rule   int    // index of the rule
	Field  string // "domain" or "aliases[0]"
	Reason string // what is wrong with it, in words
}

// Error returns the place and the reason: `email[1].domain: is empty`.
func (e *RuleError) Error() string {
	return fmt.Sprintf("email[%d].%s: %s", e.Rule, e.Field, e.Reason)
}

// rule is an EmailRule with its domain in canonical form.
type rule struct {
	domain             string
	dropPlus, dropDots bool
}

// cut removes from a local part what the rule says does not matter. It never
// removes everything.
func (r *rule) cut(local string) string {
	if r.dropPlus {
		if i := strings.IndexByte(local, '+'); i > 0 {
			local = local[:i]
		}
	}
	if r.dropDots {
		if undotted := strings.ReplaceAll(local, ".", ""); undotted != "" {
			local = undotted
		}
	}
	return local
}

// NewCanonicaliser returns a canonicaliser with the given e-mail rules, which
// may be nil. It refuses a domain that is empty or no domain name, and one that
// occurs twice in whatever spelling, as rule or as alias. All mistakes are
// reported together, joined by [errors.Join], each a *[RuleError].
func NewCanonicaliser(rules []EmailRule) (*Canonicaliser, error) {
	b := builder{rules: make(map[string]*rule, len(rules)), places: make(map[string]string)}
	for i, given := range rules {
		r := &rule{dropPlus: given.DropPlus, dropDots: given.DropDots}
		r.domain = b.add(r, i, "domain", given.Domain)
		for j, alias := range given.Aliases {
			b.add(r, i, fmt.Sprintf("aliases[%d]", j), alias)
		}
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	return &Canonicaliser{rules: b.rules}, nil
}

// builder collects rules, and where each domain was first named.
type builder struct {
	rules  map[string]*rule
	places map[string]string
	errs   []error
}

// add puts the domain, as named by field of rule i, under r and returns its
// canonical form.
func (b *builder) add(r *rule, i int, field, domain string) string {
	refuse := func(format string, args ...any) string {
		b.errs = append(b.errs, &RuleError{Rule: i, Field: field, Reason: fmt.Sprintf(format, args...)})
		return ""
	}
	if strings.TrimSpace(domain) == "" {
		return refuse("is empty")
	}
	if !utf8.ValidString(domain) {
		return refuse("%q is not a domain name", domain)
	}
	name, ok := canonicalDomain(compose(clean(domain, keepJoiners)))
	if !ok || strings.ContainsFunc(name, notInDomain) {
		return refuse("%q is not a domain name", domain)
	}
	if place, taken := b.places[name]; taken {
		return refuse("%q is already named by %s", domain, place)
	}
	b.places[name] = fmt.Sprintf("email[%d].%s", i, field)
	b.rules[name] = r
	return name
}

// notInDomain reports whether r cannot be in the A-label form of a mail domain.
// Addresses are taken as they come, but a rule for *.example.com or for
// @example.com would never match what its author had in mind.
func notInDomain(r rune) bool {
	return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
}
