package keys

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Two secrets for tests: the bytes 0..31 and 100..139.
const (
	secretA = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	secretB = "ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKiw=="
)

func mustRing(t interface{ Fatal(...any) }, s string) *Ring {
	r, err := ParseRing(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRing(t *testing.T) {
	unpadded := strings.TrimRight(secretA, "=")
	urlB := strings.NewReplacer("+", "-", "/", "_").Replace(secretB)
	tests := []struct {
		name, in string
		want     int
	}{
		{"one", secretA, 1},
		{"two", secretA + "," + secretB, 2},
		{"blanks after the comma", secretA + ", \t" + secretB, 2},
		{"newline at the end of a file", secretA + "\r\n", 1},
		{"unpadded", unpadded, 1},
		{"URL alphabet", urlB, 1},
		{"URL alphabet unpadded", strings.TrimRight(urlB, "="), 1},
	}
	first := mustRing(t, secretA).Account("default", "alice")
	second := mustRing(t, secretB).Account("default", "alice")
	for _, tt := range tests {
		r, err := ParseRing(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		hashes := r.Accounts("default", "alice")
		if len(hashes) != tt.want {
			t.Errorf("%s: %d secrets, want %d", tt.name, len(hashes), tt.want)
		}
		if got := hashes[0]; got != first && got != second {
			t.Errorf("%s: another secret than the one given", tt.name)
		}
	}
}

func TestParseRingRefuses(t *testing.T) {
	many := make([]string, maxSecrets+1)
	for i := range many {
		many[i] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune('a'+i)), 32)))
	}
	if _, err := ParseRing(strings.Join(many[:maxSecrets], ",")); err != nil {
		t.Errorf("%d secrets: %v", maxSecrets, err)
	}
	urlA := strings.TrimRight(secretA, "=")
	tests := []struct{ name, in, want string }{
		{"nothing", "", "no secret given"},
		{"nothing but white space", " \n", "no secret given"},
		{"empty element", secretA + ",,", "secret 2 of 3: is empty"},
		{"empty first element", "," + secretA, "secret 1 of 2: is empty"},
		{"line break inside", secretA[:20] + "\n" + secretA[20:], "secret 1 of 1: has a line break in it"},
		{"carriage return inside", secretA[:20] + "\r" + secretA[20:], "secret 1 of 1: has a line break in it"},
		{"line break after the comma", secretA + ",\n" + secretB, "secret 2 of 2: has a line break in it"},
		{"blank inside", secretA[:20] + " " + secretA[20:], "secret 1 of 1: is not base64"},
		{"not base64", secretA + ",!" + secretB, "secret 2 of 2: is not base64"},
		{"both alphabets", "-" + secretB[1:20] + "+" + secretB[21:], "secret 1 of 1: is not base64"},
		{"trailing bits", urlA[:len(urlA)-1] + "9", "secret 1 of 1: is not base64"},
		{"too much padding", secretA + "=", "secret 1 of 1: is not base64"},
		{"31 bytes", base64.StdEncoding.EncodeToString(make([]byte, 31)), "secret 1 of 1: has 31 bytes, at least 32 are needed"},
		{"1025 bytes", base64.StdEncoding.EncodeToString(make([]byte, 1025)), "secret 1 of 1: has 1025 bytes, at most 1024 are used"},
		{"twice", secretA + "," + secretB + "," + secretA, "secret 3 of 3: is the same as secret 1"},
		{"twice, spelled otherwise", secretA + "," + urlA, "secret 2 of 2: is the same as secret 1"},
		{"17 secrets", strings.Join(many, ","), "17 secrets given, at most 16 are used"},
		{"a whole file", strings.Repeat("A", maxRing+1), "secrets are longer than 32768 bytes in all"},
	}
	for _, tt := range tests {
		r, err := ParseRing(tt.in)
		if err == nil {
			t.Errorf("%s: accepted", tt.name)
			continue
		}
		if r != nil {
			t.Errorf("%s: a ring in spite of the error", tt.name)
		}
		if err.Error() != tt.want {
			t.Errorf("%s: error %q, want %q", tt.name, err, tt.want)
		}
	}
}

func TestRingDoesNotPrintSecrets(t *testing.T) {
	r := mustRing(t, secretA+","+secretB)
	r.Account("default", "alice") // leaves a state in the pool
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		want := "keys.Ring of 2"
		if verb == "%x" {
			want = fmt.Sprintf("%x", want)
		}
		if got := fmt.Sprintf(verb, r); got != want {
			t.Errorf("%s prints %q, want %q", verb, got, want)
		}
	}
}

func TestRandomRing(t *testing.T) {
	a, b := RandomRing(), RandomRing()
	if a.Account("default", "alice") == b.Account("default", "alice") {
		t.Error("two random rings have the same secret")
	}
}

// Whatever the text, an error never has a piece of a secret in it.
func TestParseRingErrorsNameNoValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Z+/]{8,60}`).Draw(t, "value")
		tail := rapid.SampledFrom([]string{"", "=", "==", "\n", "!", "," + secretA, ",", "\r\n,"}).Draw(t, "tail")
		if _, err := ParseRing(value + tail); err != nil && strings.Contains(err.Error(), value[:8]) {
			t.Fatalf("error %q quotes the value", err)
		}
	})
}

func FuzzParseRing(f *testing.F) {
	for _, s := range []string{secretA, secretA + "," + secretB, secretA + "\n", "a,b", ",", "=", "-_+/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRing(s)
		if (r == nil) == (err == nil) {
			t.Fatalf("ParseRing(%q) = %v, %v", s, r, err)
		}
		if err != nil {
			return
		}
		trimmed := strings.TrimSpace(s)
		if strings.ContainsAny(trimmed, "\r\n") {
			t.Fatalf("line break accepted in %q", s)
		}
		hashes := r.Accounts("default", "alice")
		if n := strings.Count(s, ",") + 1; len(hashes) != n || n > maxSecrets {
			t.Fatalf("%d secrets of %d", len(hashes), n)
		}
		for i := range hashes {
			for j := range i {
				if hashes[i] == hashes[j] {
					t.Fatalf("secrets %d and %d of %q are the same", j, i, s)
				}
			}
		}
	})
}
