package keys

import (
	"strings"
	"unicode/utf8"
)

// maxPasses bounds how often [Canonicaliser.Canonical] repeats its pass. Two
// are the rule (one that changes, one that finds nothing left to change) and
// three have been seen; the bound is there so that no input can ask for more.
const maxPasses = 8

// A Canonicaliser maps the spellings of an account name to one. It is
// immutable, and its zero value is one without any e-mail rules.
type Canonicaliser struct {
	// rules holds every canonical domain that a rule speaks of, its own one
	// and its aliases.
	rules map[string]*rule
}

// Canonical returns the one spelling that stands for account, or "" if nothing
// visible is in it, which is to be treated as no account at all.
//
// A name that is not valid UTF-8 is returned as it is, byte for byte. Since
// every other result is valid UTF-8, such a name never equals a canonical one.
// Everything else goes through these steps, until they change nothing more:
//
//   - compatibility composition (NFKC), full case folding, NFKC again, which
//     is caseless matching as Unicode chapter 3.13 defines it;
//   - control characters and default-ignorable code points are removed;
//   - white space at the ends is removed, each run inside becomes one blank.
//     Tab, line feed and their like count as white space rather than as
//     controls, as in the name preparation of LDAP (RFC 4518, 2.2);
//   - a run of more than 30 combining marks is cut after the 30th, the limit
//     of the Stream-Safe Text Format (UAX #15);
//   - in local@domain, split at the last @, the domain becomes an IDNA A-label
//     name (see domain), and the e-mail rules of that domain are applied.
//     Blanks around the @ and inside the domain are dropped, since they cannot
//     mean anything there; a blank inside the local part is kept, as some
//     systems allow it.
//
// Look-alikes of different scripts are not merged: they are different names to
// every login system. Quoted local parts are not unquoted.
//
// The result depends on nothing but the argument, the rules and the Unicode
// version that the program was built with. It is idempotent. Inputs are
// expected to be at most 1024 bytes long; longer ones are safe, at linear cost.
func (c *Canonicaliser) Canonical(account string) string {
	if name, ok := c.fast(account); ok {
		return name
	}
	return c.slow(account)
}

// slow is Canonical without the short cut for plain names. It repeats the pass
// until it changes nothing, which makes the whole idempotent by construction
// wherever the bound is not reached.
func (c *Canonicaliser) slow(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	for range maxPasses {
		t := c.pass(s)
		if t == s {
			break
		}
		s = t
	}
	return s
}

// pass takes all steps of Canonical once.
//
// The split at @ comes after NFKC, which turns the full-width and the small @
// into the plain one, and before case folding, which would turn the domain
// faß.example into another one, fass.example. The joiners are kept until the
// split because in a domain, and only there, they can have a meaning.
func (c *Canonicaliser) pass(s string) string {
	s = compose(clean(s, keepJoiners))
	fold := foldComposed
	if strings.ContainsFunc(s, isJoiner) {
		fold = foldName
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		local := fold(s[:at])
		domain, _ := canonicalDomain(s[at+1:])
		// With nothing on one side of it, an @ does not make an address:
		// "@alice" is a name, and folds as one.
		if local != "" && domain != "" {
			return c.address(local, domain)
		}
	}
	return fold(s)
}

// address applies the rules of a canonical domain to a canonical local part.
func (c *Canonicaliser) address(local, domain string) string {
	r, ok := c.rules[domain]
	if !ok {
		return local + "@" + domain
	}
	// What is left may begin or end with a blank, or bring together a letter
	// and a mark that had a dot between them.
	if cut := foldName(r.cut(local)); cut != "" {
		local = cut
	}
	return local + "@" + r.domain
}

// fast answers for the names that nearly all requests carry: printable ASCII
// without blanks. For these NFKC and case folding come down to lower case, and
// so does IDNA unless there is an A-label to check, so that slow would return
// the same. ok is false for every other name. Nothing is allocated unless
// there are capitals to lower or a rule to apply.
func (c *Canonicaliser) fast(s string) (name string, ok bool) {
	capitals := false
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b <= ' ' || b >= 0x7f:
			return "", false
		case 'A' <= b && b <= 'Z':
			capitals = true
		}
	}
	if capitals {
		s = strings.ToLower(s)
	}
	at := strings.LastIndexByte(s, '@')
	if at <= 0 || at == len(s)-1 {
		return s, true
	}
	domain := s[at+1:]
	// Address literals, A-labels and the root dot need a closer look.
	if domain[0] == '[' || domain[len(domain)-1] == '.' || strings.Contains(domain, acePrefix) {
		return "", false
	}
	if r, found := c.rules[domain]; found {
		local := r.cut(s[:at])
		if len(local) < at || domain != r.domain {
			return local + "@" + r.domain, true
		}
	}
	return s, true
}
