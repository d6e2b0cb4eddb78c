package handlers

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFieldNameClashes(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		clash      bool
	}{
		{"username", "username", true}, {"UserName", "username", true}, {"username[]", "username", true}, {"username[0]", "username", true},
		{"username.x", "username", true}, {" username", "username", true}, {"username\x00y", "username", true}, {"u\u017fername", "username", true},
		{"username2", "username", false}, {"username_hint", "username", false}, {"ausername", "username", false}, {"", "username", false},
		{"[]", "username", false}, {"user", "username", false}, {"model.UserName", "username", true}, {"user_name", "username", true},
		{"user.email", "user[email]", true}, {"user_email", "user[email]", true}, {"user[email][]", "user[email]", true},
		{"user[email]x", "user[email]", true}, {"user[email", "user[email]", true}, {"user", "user[email]", true}, {"user[]", "user[email]", true},
		{"user[password]", "user[email]", false}, {"email", "user[email]", false}, {"user[email_again]", "user[email]", false},
		{"user[x][email]", "user[email]", false}, {"superuser[email]", "user[email]", false},
		{"user\x00x", "user[email]", true}, {"user[\x00x", "user[email]", true}, {"a[b]x[c]", "a[b][c]", true}, {"a[b]x[d]", "a[b][c]", true}, {"a[b]", "a[b][c]", true}, {"a[d]", "a[b][c]", false}, {"a[d]x[b][c]", "a[b][c]", false},
		{"form", "form:user", false}, {"form:user_x", "form:user", false}, {"form:user:x", "form:user", true}, // JSF
		{"名前]x", "名前", true}, {"名", "名前", false}, {"$", "$", true}, {"$x", "$", true}, {"", "$", false}, {"x", "$", false},
	} {
		if got := newFieldName(tt.want).clashes(tt.name); got != tt.clash {
			t.Errorf("%q clashes with %q: %v", tt.name, tt.want, got)
		}
	}
}

// nameReaders return the path under which applications store a field, with a
// NUL between its words.
var nameReaders = map[string]func(string) string{
	"PHP": func(name string) string { // php_register_variable_ex
		name = strings.TrimLeft(name, " ")
		name, _, _ = strings.Cut(name, "\x00")
		root, rest := name, ""
		if i := strings.IndexByte(name, '['); i >= 0 {
			root, rest = name[:i], name[i:]
		}
		path := ""
		for strings.HasPrefix(rest, "[") {
			word, after, closed := strings.Cut(rest[1:], "]")
			if !closed {
				if path == "" {
					root += "_" + word
				}
				break
			}
			path, rest = path+"\x00"+word, after
		}
		return strings.NewReplacer(".", "_", " ", "_").Replace(root) + path
	},
	"qs": func(name string) string {
		found := brackets.FindAllStringSubmatchIndex(name, -1)
		if found == nil {
			return name
		}
		path := name[:found[0][0]]
		for _, at := range found {
			path += "\x00" + name[at[2]:at[3]]
		}
		return path
	},
	"Rack 2": func(name string) string {
		path := ""
		for {
			m := rackWord.FindStringSubmatchIndex(name)
			if m == nil {
				return path
			}
			if path != "" {
				path += "\x00"
			}
			path, name = path+name[m[2]:m[3]], name[m[1]:]
			if name == "" || name == "[]" {
				return path
			}
		}
	},
	"Spring": func(name string) string {
		return strings.NewReplacer(".", "\x00", "['", "\x00", "']", "", "[", "\x00", "]", "").Replace(strings.TrimLeft(name, "!_"))
	},
	"plain": func(name string) string { return name },
}

var (
	brackets = regexp.MustCompile(`\[([^\[\]]*)\]`)
	rackWord = regexp.MustCompile(`^[\[\]]*([^\[\]]+)\]*`)
)

func TestNoFieldIsStoredOverTheAccount(t *testing.T) {
	pieces := []string{"user", "email", "profile", "name", "x", "[", "]", "[", "]", ".", " ", "_", "'", "\x00", "[user]", "[email]", "[profile]", "!", "-", "2"}
	for _, want := range []string{"email", "user[email]", "user[profile][email]", "user.email", "user_email"} {
		field := newFieldName(want)
		rapid.Check(t, func(t *rapid.T) {
			name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
			for reader, read := range nameReaders {
				got, own := read(name), read(want)
				over := got == own || strings.HasPrefix(got, own+"\x00") || strings.HasPrefix(own, got+"\x00") && got != ""
				if over && !field.clashes(name) {
					t.Errorf("%s stores %q where it stores %q", reader, name, want)
				}
			}
		})
	}
}
