package handlers

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// extension is the end of a rule's path that chooses a format (.json) or
	// names a program (.php), and not a version (v1.0).
	extension = regexp.MustCompile(`\.[a-z][a-z0-9]{0,7}$`)

	// program is a segment that servers run and not look up: what follows it is
	// its argument (PATH_INFO, RFC 3875, 4.1.5). Apache finds index.php for
	// index, too, and for index.php.en.
	program = regexp.MustCompile(`^index$|\.(?:php[0-9]?|phtml|pht|phar|f?cgi|fpl|pl|pm|py|psp|wsgi|rb|rhtml|lua|tcl|sh|bat|` +
		`aspx?|ashx|asmx|axd|svc|cshtml|jspx?|jsf|faces|cf[mc]|do|action|dll|exe|nsf|shtml)(?:\.|$)`)

	// index is the program that servers run for a folder.
	index = regexp.MustCompile(`^(?:index|default)(?:\.|$)`)
)

// maxPrograms is how many programs a path may name. More than one is rare.
const maxPrograms = 4

// behindPrograms returns further spellings of paths that name a program: what
// an application behind it sees, which is what follows the program, or the
// folder of the program and what follows (/app/index.php/login is /login or
// /app/login). Not ok when there are too many.
func behindPrograms(spellings []string) (list []string, ok bool) {
	for _, s := range spellings {
		programs, before, without, rest := 0, "", "", s
		for rest != "" {
			segment, after := firstSegment(rest)
			switch {
			// A program with nothing behind it is a page of its own, unless it
			// is that of its folder.
			case !program.MatchString(segment) || after == "" && !index.MatchString(segment):
				without += "/" + segment
			case programs == maxPrograms:
				return nil, false
			default:
				programs++
				list = append(list, before+after)
				if after != "" && before != "" {
					list = append(list, after)
				}
			}
			before, rest = s[:len(s)-len(after)], after
		}
		if programs > 1 {
			list = append(list, without)
		}
	}
	return list, true
}

// firstSegment splits a spelling behind its first segment.
func firstSegment(spelling string) (segment, after string) {
	s := spelling[1:]
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// page is the path of a rule, ready for comparison.
type page struct {
	path, stem string // as [spellings] gives them, with and without extension
	argument   bool   // has an extension, so that what is below it may be its argument
	program    bool   // and one of a program, whose extension may be left out, too
	folder     string // whose page it is, if index is set
	index      bool
	clean      []page // the page without the program in its path, as behindPrograms gives it
}

// newPage reads the path of a rule; not ok when it is not plain itself.
func newPage(path string) (page, bool) {
	list, err := spellings(path)
	if err != nil || len(list) != 1 || strings.ContainsAny(path, "%\\") || !strings.HasPrefix(path, "/") {
		return page{}, false
	}
	p := plainPage(list[0])
	// What is shown behind /index.php/login is often shown at /login as well.
	behind, ok := behindPrograms(list)
	for _, s := range behind {
		if s != "" && !p.index {
			p.clean = append(p.clean, plainPage(s))
		}
	}
	return p, ok
}

func plainPage(path string) page {
	p := page{path: path, stem: path}
	at := strings.LastIndexByte(p.path, '/')
	if at < 0 {
		return p
	}
	name := p.path[at+1:]
	if ext := extension.FindStringIndex(name); ext != nil && ext[0] > 0 {
		p.stem, p.argument = p.path[:at+1+ext[0]], true
		p.program = program.MatchString(name)
		p.index, p.folder = p.program && index.MatchString(name), p.path[:at]
	}
	return p
}

// is tells whether a spelling is exactly the page.
func (p page) is(spelling string) bool { return spelling == p.path }

// maybe tells whether some application shows the page under a spelling: with
// anything for a format behind it (Rails takes all up to the next dot for one),
// with an argument, or as the page of a folder.
func (p page) maybe(spelling string) bool {
	if p.index && spelling == p.folder ||
		slices.ContainsFunc(p.clean, func(c page) bool { return c.is(spelling) || c.maybe(spelling) }) {
		return true
	}
	if p.argument && strings.HasPrefix(spelling, p.path+"/") {
		return true
	}
	rest, found := strings.CutPrefix(spelling, p.stem)
	switch {
	case !found || rest == "":
		return found
	case rest[0] == '.':
		return true // a / in it may have been %2F or \, and so part of the format
	case strings.HasPrefix(rest, "/."):
		return p.stem != "" // to those who drop a slash before the format
	}
	return p.program && !p.index && rest[0] == '/'
}
