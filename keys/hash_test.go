package keys

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The expected values were computed by another program, with Python's hmac and
// struct.pack(">Q", len(part)) + part. They must never change: a change would
// forget the state of every account.
func TestHashesAreFixed(t *testing.T) {
	r := mustRing(t, secretA+","+secretB)
	tests := []struct{ name, got, want string }{
		{"address", r.Account("default", "alice@example.com"), "PgoDUNtG0tKN0VTBeY0M9A"},
		{"name beyond ASCII", r.Account("shop", "jos\u00e9"), "Fh4gga5wz39e1vu3o4buMQ"},
		{"raw bytes", r.Account("default", "\xff\xfe@example.com"), "ezuCv5sqKh2HmKaTJieycw"},
		{"digest", r.Digest("idempotence", "idp", "login-1"), "mQqXM1HiFXwy16-6ikbL7g"},
		{"fingerprint", r.Fingerprint("tag", "0123"), "VNabKqYx0nU"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestAccountsAreThoseOfEverySecretInOrder(t *testing.T) {
	got := mustRing(t, secretA+","+secretB).Accounts("default", "alice@example.com")
	if diff := cmp.Diff([]string{"PgoDUNtG0tKN0VTBeY0M9A", "Lykc3mDNEdvTT8IUTsGymA"}, got); diff != "" {
		t.Errorf("Accounts (-want +got):\n%s", diff)
	}
	got = mustRing(t, secretB+","+secretA).Accounts("default", "alice@example.com")
	if diff := cmp.Diff([]string{"Lykc3mDNEdvTT8IUTsGymA", "PgoDUNtG0tKN0VTBeY0M9A"}, got); diff != "" {
		t.Errorf("Accounts after rotation (-want +got):\n%s", diff)
	}
}

// Parts that give the same text when joined, in any way, give other hashes.
func TestHashesDoNotCollide(t *testing.T) {
	r := mustRing(t, secretA)
	long := strings.Repeat("a", 5000)
	seen := make(map[string]string)
	for name, hash := range map[string]string{
		"a, bc":                  r.Account("a", "bc"),
		"ab, c":                  r.Account("ab", "c"),
		"abc, empty":             r.Account("abc", ""),
		"empty, abc":             r.Account("", "abc"),
		"1:2":                    r.Account("ip", "1:2"),
		"ip:1":                   r.Account("ip:1", "2"),
		"long":                   r.Account("a", long),
		"long and one more":      r.Account("a", long+"b"),
		"other purpose":          r.Digest("b", "a", "bc"),
		"digest of one part":     r.Digest("b", "abc"),
		"digest of two parts":    r.Digest("b", "abc", ""),
		"digest of no parts":     r.Digest("b"),
		"digest of an empty one": r.Digest("b", ""),
		"raw bytes":              r.Account("a", "\xff"),
		"replacement character":  r.Account("a", "\ufffd"),
	} {
		if other, ok := seen[hash]; ok {
			t.Errorf("%q and %q have the same hash", name, other)
		}
		seen[hash] = name
	}
}

func TestHashesNeverCollideOnAnyParts(t *testing.T) {
	r := mustRing(t, secretA)
	part := rapid.StringMatching(`[ab\x00]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(part, 0, 4).Draw(t, "a")
		b := rapid.SliceOfN(part, 0, 4).Draw(t, "b")
		same := r.Digest("x", a...) == r.Digest("x", b...)
		if want := cmp.Equal(append([]string{}, a...), append([]string{}, b...)); same != want {
			t.Fatalf("%q and %q: same digest %v, want %v", a, b, same, want)
		}
	})
}

// Nothing of a name reaches a key or a log line, however it is written.
func TestHashesAreShortAndHarmless(t *testing.T) {
	r := mustRing(t, secretA)
	alphabet := regexp.MustCompile(`^[A-Za-z0-9_-]*$`)
	for _, name := range []string{"ann lee", "a:{b}c", "a\r\nDEL x", "x ip=192.0.2.50 denied", "\x1b[31m", "\xff", strings.Repeat("a", 1<<20)} {
		name = plain.Canonical(name)
		for hash, size := range map[string]int{
			r.Account("default", name):   22,
			r.Digest("tag", name):        22,
			r.Fingerprint("tag", name):   11,
			r.Account("de}f{ault", name): 22,
		} {
			if len(hash) != size || !alphabet.MatchString(hash) {
				t.Errorf("hash %q, want %d characters of the URL alphabet", hash, size)
			}
		}
	}
}

func TestHashesFromManyGoroutines(t *testing.T) {
	r := mustRing(t, secretA)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if got, want := r.Account("default", "alice@example.com"), "PgoDUNtG0tKN0VTBeY0M9A"; got != want {
					t.Errorf("Account = %q, want %q", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestNewID(t *testing.T) {
	seen := make(map[string]bool)
	alphabet := regexp.MustCompile(`^[A-Za-z0-9_-]{16}$`)
	for range 1000 {
		id := NewID()
		if !alphabet.MatchString(id) || seen[id] {
			t.Fatalf("NewID = %q, want 16 characters of the URL alphabet, each time others", id)
		}
		seen[id] = true
	}
}

func BenchmarkAccount(b *testing.B) {
	r := mustRing(b, secretA)
	b.ReportAllocs()
	for b.Loop() {
		r.Account("default", "alice@example.com")
	}
}
