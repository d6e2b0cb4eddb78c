package store

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTarget(t *testing.T) {
	allow := cmp.AllowUnexported(target{})
	for url, want := range map[string]target{
		"redis://localhost":                {kind: "single", addrs: []string{"localhost:6379"}},
		"redis://10.0.0.1:7000/3":          {kind: "single", addrs: []string{"10.0.0.1:7000"}, db: 3},
		"redis://h:06379":                  {kind: "single", addrs: []string{"h:6379"}},
		"redis://[2001:db8::1]:7000":       {kind: "single", addrs: []string{"[2001:db8::1]:7000"}},
		"redis://[2001:db8::1]":            {kind: "single", addrs: []string{"[2001:db8::1]:6379"}},
		"redis://user:pass@h":              {kind: "single", addrs: []string{"h:6379"}, user: "user", password: "pass"},
		"redis://:pass@h/1":                {kind: "single", addrs: []string{"h:6379"}, password: "pass", db: 1},
		"redis://u:p%40ss%2Fw%3Frd%23:x@h": {kind: "single", addrs: []string{"h:6379"}, user: "u", password: "p@ss/w?rd#:x"},
		"redis://u:p@ss/word@h":            {kind: "single", addrs: []string{"h:6379"}, user: "u", password: "p@ss/word"},
		"rediss://h:6380":                  {kind: "single", tls: true, addrs: []string{"h:6380"}},
		"unix:///run/redis.sock":           {kind: "unix", addrs: []string{"/run/redis.sock"}},
		"unix://u:p@/run/redis.sock?db=2":  {kind: "unix", addrs: []string{"/run/redis.sock"}, user: "u", password: "p", db: 2},
		"redis+sentinel://h1,h2:1/main":    {kind: "sentinel", addrs: []string{"h1:26379", "h2:1"}, master: "main"},
		"rediss+sentinel://u:p@h1:5,[::1]:6/main/4?sentinel_user=su&sentinel_password=s%40p": {
			kind: "sentinel", tls: true, addrs: []string{"h1:5", "[::1]:6"}, master: "main", db: 4,
			user: "u", password: "p", sentinelUser: "su", sentinelPassword: "s@p",
		},
		"redis+cluster://h1,h2:7000": {kind: "cluster", addrs: []string{"h1:6379", "h2:7000"}},
	} {
		got, err := parseTarget(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if diff := cmp.Diff(want, got, allow); diff != "" {
			t.Errorf("%s (-want +got):\n%s", url, diff)
		}
	}
}

// TestParseTargetRefuses also checks that no error shows the password.
func TestParseTargetRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                                                 "scheme",
		"localhost:6379":                                   "scheme",
		"http://hunter2@h":                                 "scheme",
		"REDIS://h":                                        "scheme",
		"redis://":                                         "form redis://",
		"redis://:hunter2@":                                "form redis://",
		"redis://u:hunter2@:6379":                          "form redis://",
		"redis://u:hunter2@h:0":                            "form redis://",
		"redis://u:hunter2@h:65536":                        "form redis://",
		"redis://u:hunter2@h:+1":                           "form redis://",
		"redis://u:hunter2@2001:db8::1":                    "form redis://",
		"redis://u:hunter2@h/x":                            "database",
		"redis://u:hunter2@h/-1":                           "database",
		"redis://u:hunter2@h/1048576":                      "database",
		"redis://u:hunter2@a,b":                            "several hosts",
		"redis://u:hunter%2@h":                             "percent-encoded",
		"redis://u:1?hunter2@h":                            "contains @ after ?",
		"redis://u:1?hunter2":                              "parameter",
		"redis://u:hunter2#x@h":                            "contains #",
		"redis://u:hunter2@h?x=%zz":                        "form redis://",
		"redis://u:hunter2@h?db=1":                         "parameter",
		"redis://u:hunter2@h?max_retries=3":                "parameter",
		"redis://u:hunter2@h?read_timeout=10s":             "parameter",
		"redis://u:hunter2@h?pool_size=1":                  "parameter",
		"redis://u:hunter2@h?skip_verify=true":             "parameter",
		"unix://u:hunter2@/s?db=1&db=2":                    "twice",
		"unix://u:hunter2@h/s":                             "names no socket",
		"unix://":                                          "names no socket",
		"redis+sentinel://u:hunter2@h":                     "master's name",
		"redis+sentinel://h/m?sentinel_password=a&hunter2": "parameter",
		"redis+sentinel://u:hunter2@h/m/x":                 "database",
		"redis+cluster://u:hunter2@h/1":                    "one database",
	} {
		got, err := parseTarget(url)
		if err == nil {
			t.Errorf("%s: reads as %+v, want it refused", url, got)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, want it to say %q", url, err, want)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the password: %q", url, err)
		}
		if _, err := OpenRedis(RedisOptions{URL: url}); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), "store.url ") {
			t.Errorf("%s: opened with %v", url, err)
		}
	}
}

// FuzzParseTarget: what is accepted can be dialled, and whatever is refused,
// its error shows nothing of the URL.
func FuzzParseTarget(f *testing.F) {
	for _, v := range []string{
		"redis://user:secret@host:6379/0", "rediss://h", "unix://u:p@/run/redis.sock?db=0", "redis://[::1]:6379",
		"redis+sentinel://u:p@h1:26379,h2/master/0?sentinel_user=a&sentinel_password=b", "redis+cluster://h1,h2",
		"redis://u:p?w@h", "redis://h?x=1", "redis://%zz@h", "redis://[::1", "redis://h:99999", "unix://", "://", "redis://h,h",
	} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, url string) {
		got, err := parseTarget(url)
		if err != nil {
			// Errors are fixed sentences: any run of letters that is not in
			// those, but in the URL, came from there.
			for word := range strings.FieldsFuncSeq(url, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) {
				if len(word) > 3 && strings.Contains(err.Error(), word) && !slices.ContainsFunc(targetWords, func(s string) bool { return strings.Contains(s, word) }) {
					t.Fatalf("%q: the error shows %q: %v", url, word, err)
				}
			}
			return
		}
		if len(got.addrs) == 0 || got.db < 0 {
			t.Fatalf("%q reads as %+v", url, got)
		}
		for _, addr := range got.addrs {
			if got.kind == "unix" {
				continue
			}
			host, port, err := net.SplitHostPort(addr)
			if n, bad := strconv.Atoi(port); err != nil || host == "" || bad != nil || n < 1 || n > 65535 || port != strconv.Itoa(n) {
				t.Fatalf("%q: address %q: %v", url, addr, err)
			}
		}
	})
}

// targetWords are the sentences that an error of parseTarget consists of.
var targetWords = []string{
	"has a scheme that is not one of redis, redis+cluster, redis+sentinel, rediss, rediss+cluster, rediss+sentinel, unix",
	"contains # (write it as %23 within a password)", "contains @ after ? (within a password write ? as %3F and @ as %40)",
	"is not a URL of the form redis://[user:password@]host:port[/db]", "has a user or password that is not percent-encoded",
	"names no socket: write unix:///path/to/redis.sock", "names several hosts: use redis+sentinel:// or redis+cluster://",
	"lacks the master's name: redis+sentinel://host:26379/master", "has a path, but a cluster has one database only",
	"has a database that is not a number", "has a parameter twice",
	"has a parameter that is not one of db (unix), sentinel_user and sentinel_password (sentinel): time-outs, retries and pool follow from store.timeout",
}
