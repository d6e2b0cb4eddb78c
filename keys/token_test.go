package keys

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var attempt = Token{Realm: "default", Issued: 1764532800000000, Expires: 1764532920000000, Body: []byte{1, 2, 3}}

func mustSeal(t interface{ Fatal(...any) }, r *Ring, k Kind, token Token) string {
	s, err := r.Seal(k, token)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Computed by another program, with Python's hmac and struct.pack: a change
// would make every device unknown.
func TestTokensAreFixed(t *testing.T) {
	r := mustRing(t, secretA)
	tests := []struct {
		kind  Kind
		token Token
		want  string
	}{
		{KindAttempt, attempt, "AWEHZGVmYXVsdAAGRNVOvRAAAAZE1VXkHgABAgNNFmOfNa8jw1lVC6Xs_e2s"},
		{KindDevice, Token{Realm: "shop", Expires: 7776000000000}, "AWQEc2hvcAAAAAAAAAAAAAAHEn23wADs1J_TYPSzrfsKTBp_vsHT"},
	}
	for _, tt := range tests {
		if got := mustSeal(t, r, tt.kind, tt.token); got != tt.want {
			t.Errorf("Seal(%c, %+v) = %q, want %q", tt.kind, tt.token, got, tt.want)
		}
	}
}

func TestOpenReturnsWhatWasSealed(t *testing.T) {
	r := mustRing(t, secretA)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]Kind{KindAttempt, KindDevice}).Draw(t, "kind")
		want := Token{
			Realm:   rapid.StringOfN(rapid.Rune(), 0, 30, 64).Draw(t, "realm"),
			Issued:  rapid.Int64().Draw(t, "issued"),
			Expires: rapid.Int64().Draw(t, "expires"),
			Body:    rapid.SliceOfN(rapid.Byte(), 0, 284).Draw(t, "body"),
		}
		s := mustSeal(t, r, kind, want)
		if again := mustSeal(t, r, kind, want); again != s {
			t.Fatalf("sealed twice: %q and %q", s, again)
		}
		if len(s) > 512 || !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(s) {
			t.Fatalf("token %q is too long or has other characters", s)
		}
		got, err := r.Open(kind, s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("opened (-want +got):\n%s", diff)
		}
	})
}

func TestSealRefuses(t *testing.T) {
	r := mustRing(t, secretA)
	tests := []struct {
		name  string
		kind  Kind
		token Token
		want  string // "" if it just fits
	}{
		{"largest body", KindAttempt, Token{Realm: "default", Body: make([]byte, 342)}, ""},
		{"body too large", KindAttempt, Token{Realm: "default", Body: make([]byte, 343)}, "sealing a token: 514 characters, at most 512 are possible"},
		{"longest realm", KindDevice, Token{Realm: strings.Repeat("r", 255)}, ""},
		{"realm too long", KindDevice, Token{Realm: strings.Repeat("r", 256)}, "sealing a token: realm of 256 bytes, at most 255 are possible"},
		{"unknown kind", 'x', attempt, `sealing a token: there is no kind 'x'`},
		{"no kind", 0, attempt, `sealing a token: there is no kind '\x00'`},
	}
	for _, tt := range tests {
		s, err := r.Seal(tt.kind, tt.token)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || (err != nil) != (s == "") || len(s) > 512 {
			t.Errorf("%s: %q, error %q, want error %q", tt.name, s, got, tt.want)
		}
	}
}

// refused checks that s is not a token of kind k.
func refused(t interface{ Fatalf(string, ...any) }, r *Ring, k Kind, what, s string) {
	got, err := r.Open(k, s)
	if err != ErrToken {
		t.Fatalf("%s: Open(%q) = %+v, %v, want ErrToken", what, s, got, err)
	}
	if diff := cmp.Diff(Token{}, got); diff != "" {
		t.Fatalf("%s: a token in spite of the error: %s", what, diff)
	}
}

func TestOpenRefusesEveryChange(t *testing.T) {
	r := mustRing(t, secretA)
	s := mustSeal(t, r, KindAttempt, attempt)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=\r\n \x00\xff"
	for i := range len(s) {
		refused(t, r, KindAttempt, "truncated", s[:i])
		refused(t, r, KindAttempt, "head cut off", s[i+1:])
		for _, c := range []byte(alphabet) {
			if s[i] != c {
				refused(t, r, KindAttempt, "character replaced", s[:i]+string([]byte{c})+s[i+1:])
			}
			refused(t, r, KindAttempt, "character put in front", s[:i]+string([]byte{c})+s[i:])
		}
	}
	for _, c := range []byte(alphabet) {
		refused(t, r, KindAttempt, "character appended", s+string([]byte{c}))
	}
	refused(t, r, KindAttempt, "appended to itself", s+s)
	refused(t, r, KindAttempt, "very long", strings.Repeat("A", 1<<20))
	refused(t, r, KindAttempt, "nothing", "")
}

// All lengths of the body, since only some leave bits over in the last
// character of base64.
func TestOpenRefusesOtherSpellings(t *testing.T) {
	r := mustRing(t, secretA)
	for n := range 4 {
		s := mustSeal(t, r, KindDevice, Token{Realm: "r", Body: make([]byte, n)})
		raw, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		for c := range 128 {
			other := s[:len(s)-1] + string(rune(c))
			if other == s {
				continue
			}
			refused(t, r, KindDevice, "last character replaced", other)
		}
		for i := range raw {
			for bit := range 8 {
				raw[i] ^= 1 << bit
				refused(t, r, KindDevice, "bit flipped", base64.RawURLEncoding.EncodeToString(raw))
				raw[i] ^= 1 << bit
			}
		}
	}
}

func TestOpenRefusesOtherKinds(t *testing.T) {
	r := mustRing(t, secretA)
	refused(t, r, KindDevice, "attempt as device", mustSeal(t, r, KindAttempt, attempt))
	refused(t, r, KindAttempt, "device as attempt", mustSeal(t, r, KindDevice, attempt))
	refused(t, r, 0, "no kind", mustSeal(t, r, KindAttempt, attempt))
}

// sealRaw signs any bytes, as a later version of the program might.
func sealRaw(r *Ring, b []byte) string {
	mac := r.secrets[0].sign(labelToken, b)
	return base64.RawURLEncoding.EncodeToString(append(b, mac[:]...))
}

func TestOpenRefusesSignedBytesThatAreNoToken(t *testing.T) {
	r := mustRing(t, secretA)
	good := append([]byte{tokenVersion, 'a', 1, 'r'}, make([]byte, 16)...)
	if _, err := r.Open(KindAttempt, sealRaw(r, good)); err != nil {
		t.Fatalf("well-formed: %v", err)
	}
	tests := map[string][]byte{
		"other version":            append([]byte{tokenVersion + 1}, good[1:]...),
		"unknown kind":             append([]byte{tokenVersion, 'x'}, good[2:]...),
		"realm longer than it all": append([]byte{tokenVersion, 'a', 2}, good[3:]...),
		"too short for its times":  append([]byte{tokenVersion, 'a', 0}, make([]byte, 15)...),
		"longer than a token":      append(good[:len(good):len(good)], make([]byte, 365)...),
		"nothing":                  {},
	}
	for name, b := range tests {
		refused(t, r, KindAttempt, name, sealRaw(r, b))
	}
	refused(t, r, 'x', "unknown kind, asked for", sealRaw(r, append([]byte{tokenVersion, 'x'}, good[2:]...)))
}

// No hash that others get to see is the MAC of a token, whatever was hashed.
func TestHashesAreNoMACs(t *testing.T) {
	r := mustRing(t, secretA)
	message := append([]byte{tokenVersion, 'a', 1, 'r'}, make([]byte, 16)...)
	for _, purpose := range []string{"token", "account", "", "loginguard token v1"} {
		for _, hash := range []string{r.Digest(purpose, string(message)), r.Account(purpose, string(message))} {
			mac, err := base64.RawURLEncoding.DecodeString(hash)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, r, KindAttempt, "hash as MAC", base64.RawURLEncoding.EncodeToString(append(message[:len(message):len(message)], mac...)))
		}
	}
}

func TestRotation(t *testing.T) {
	before, between, after := mustRing(t, secretA), mustRing(t, secretB+","+secretA), mustRing(t, secretB)
	old, fresh := mustSeal(t, before, KindDevice, attempt), mustSeal(t, between, KindDevice, attempt)
	tests := []struct {
		name   string
		ring   *Ring
		token  string
		secret int // -1: refused
	}{
		{"old token, old ring", before, old, 0},
		{"old token, both secrets", between, old, 1},
		{"old token, old secret gone", after, old, -1},
		{"new token, both secrets", between, fresh, 0},
		{"new token, new ring", after, fresh, 0},
		{"new token, old ring", before, fresh, -1},
	}
	for _, tt := range tests {
		got, err := tt.ring.Open(KindDevice, tt.token)
		if tt.secret < 0 {
			if !errors.Is(err, ErrToken) {
				t.Errorf("%s: %+v, %v, want ErrToken", tt.name, got, err)
			}
			continue
		}
		want := attempt
		want.Secret = tt.secret
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestSealIgnoresTheIndexOfTheSecret(t *testing.T) {
	r := mustRing(t, secretA+","+secretB)
	other := attempt
	other.Secret = 1
	if a, b := mustSeal(t, r, KindAttempt, attempt), mustSeal(t, r, KindAttempt, other); a != b {
		t.Errorf("sealed as %q and %q", a, b)
	}
}

func FuzzOpen(f *testing.F) {
	r := mustRing(f, secretA+","+secretB)
	f.Add(mustSeal(f, r, KindAttempt, attempt))
	f.Add(mustSeal(f, r, KindDevice, Token{}))
	f.Add(sealRaw(r, []byte{tokenVersion, 'a', 255}))
	f.Add("")
	f.Add("AWEH\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []Kind{KindAttempt, KindDevice} {
			token, err := r.Open(k, s)
			if err != nil {
				if err != ErrToken {
					t.Fatalf("Open(%q): %v", s, err)
				}
				continue
			}
			// Only what this ring sealed opens, and in one spelling.
			if token.Secret == 0 && mustSeal(t, r, k, token) != s {
				t.Fatalf("Open(%q) accepted another spelling of %+v", s, token)
			}
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	r := mustRing(b, secretA)
	b.ReportAllocs()
	for b.Loop() {
		mustSeal(b, r, KindAttempt, attempt)
	}
}

func BenchmarkOpen(b *testing.B) {
	r := mustRing(b, secretA)
	s := mustSeal(b, r, KindAttempt, attempt)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Open(KindAttempt, s); err != nil {
			b.Fatal(err)
		}
	}
}
