package handlers

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestPointer(t *testing.T) {
	const doc = `{"a":{"b/c":"slash","m~n":"tilde","":"empty","l":["x",{"u":"in list"}]},"n":1}`
	for _, tt := range []struct{ pointer, want string }{
		{"/a/b~1c", "slash"}, {"/a/m~0n", "tilde"}, {"/a/", "empty"}, {"/a/l/0", "x"}, {"/a/l/1/u", "in list"},
		{"/a/l/2", ""}, {"/a/l/-", ""}, {"/a/l/00", ""}, {"/a/l/+1", ""}, {"/a", ""}, {"/n", ""}, {"/n/x", ""}, {"/missing", ""}, {"/A/l/0", ""},
	} {
		p, err := parsePointer(tt.pointer)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.read([]byte(doc))
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", tt.pointer, got, err, tt.want)
		}
	}
	for _, s := range []string{"", "a", "/a~", "/a~2"} {
		if CheckPointer(s) == nil {
			t.Errorf("%q is accepted as a pointer", s)
		}
	}
}

// otherReaders read an account as applications do.
func otherReaders(body []byte) map[string]string {
	found := make(map[string]string)
	var s struct{ Username string } // Go: any case, the last one
	if json.Unmarshal(body, &s) == nil {
		found["struct"] = s.Username
	}
	var m map[string]any // most others: the last one
	if json.Unmarshal(body, &m) == nil {
		found["map"], _ = m["username"].(string)
	}
	d := json.NewDecoder(bytes.NewReader(body)) // some: the first one
	if _, err := d.Token(); err == nil {
		for d.More() {
			key, err := d.Token()
			var v any
			if err != nil || d.Decode(&v) != nil {
				break
			}
			if k, _ := key.(string); strings.EqualFold(k, "username") {
				found["first"], _ = v.(string)
				break
			}
		}
	}
	return found
}

func FuzzAccountJSON(f *testing.F) {
	for _, s := range []string{`{"username":"a"}`, `{"username":"a","Username":"b"}`, `{"u":{"username":"x"},"username":"a"}`, `{"username":"\u0061"}`,
		`{"user\u006eame":"a","username":"b"}`, `{"u\u017fername":"b","username":"a"}`, `[{"username":"a"}]`, ` {"username" : "a" } `, `{"username":"\ud83d\ude00"}`} {
		f.Add([]byte(s))
	}
	p := pointer{"username"}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := p.read(body)
		if err != nil {
			return
		}
		for name, other := range otherReaders(body) {
			if other != got {
				t.Errorf("%q: the guard reads %q, %s reads %q", body, got, name, other)
			}
		}
	})
}

func FuzzAccountForm(f *testing.F) {
	for _, s := range []string{"username=a&password=b", "username=a&username=b", "username=a;username=b", "%75sername=a", "username=%ff", "username",
		"username=a&username[]=b", "+username=a", "a=b&username=%2B+x",
		"--XyZ\r\nContent-Disposition: form-data; name=\"username\"\r\n\r\na\r\n--XyZ--\r\n",
		"--XyZ\r\nContent-Disposition: form-data; name=\"x\"; filename=\"y\"\r\nContent-Type: text/plain\r\n\r\na\r\n--XyZ\r\nContent-Disposition: form-data; name=\"username\"\r\n\r\nb\r\n--XyZ--"} {
		f.Add(s)
	}
	field, err := newPlace(FrontAccount{Form: "username"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := &http.Request{URL: &url.URL{}, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
		if got, err := field.account(r, []byte(body)); err == nil {
			values, err := url.ParseQuery(body)
			if list := values["username"]; err != nil || len(list) != 1 || list[0] != got {
				t.Errorf("%q: the guard reads %q, net/url %q, %v", body, got, list, err)
			}
		}
		r.Header.Set("Content-Type", "multipart/form-data; boundary=XyZ")
		if got, err := field.account(r, []byte(body)); err == nil {
			var list []string
			reader := multipart.NewReader(strings.NewReader(body), "XyZ")
			for {
				part, err := reader.NextPart()
				if err != nil {
					break
				}
				if text, err := io.ReadAll(part); err == nil && part.FormName() == "username" {
					list = append(list, string(text))
				}
			}
			if len(list) != 1 || list[0] != got {
				t.Errorf("%q: the guard reads %q, mime/multipart %q", body, got, list)
			}
		}
	})
}
