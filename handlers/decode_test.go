package handlers

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plainReport is how encoding/json would read the body of a report.
type plainReport struct {
	Account   *string `json:"account"`
	IP        *string `json:"ip"`
	Forwarded *struct {
		Peer          *string   `json:"peer"`
		XForwardedFor *[]string `json:"x_forwarded_for"`
		Forwarded     *[]string `json:"forwarded"`
	} `json:"forwarded"`
	Realm           *string `json:"realm"`
	Route           *string `json:"route"`
	ID              *string `json:"id"`
	Device          *string `json:"device"`
	Tag             *string `json:"password_tag"`
	CanChallenge    *bool   `json:"can_challenge"`
	ChallengePassed *bool   `json:"challenge_passed"`
	Attempt         *string `json:"attempt"`
	Outcome         *string `json:"outcome"`
	Reason          *string `json:"reason"`
	RememberDevice  *bool   `json:"remember_device"`
}

// FuzzDecode checks that what the strict decoder accepts is read by
// encoding/json, too, and to the same values: there is no body that means one
// account here and another one elsewhere.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		goodCheck,
		`{"account":"a","forwarded":{"peer":"p","x_forwarded_for":["1","2"]},"can_challenge":true}`,
		`{"attempt":"x","outcome":"failure","reason":"bad_password","remember_device":false}`,
		`{"account":"\ud83d\ude00\u0000\\ud800\n","ip":""}`,
		`{"account":"a","Account":"b"}`, `{"account":"a","account":"b"}`, `{"account":null}`,
		`{"account":"\ud800"}`, `{"account":"\udc00\ud800"}`, "{\"account\":\"\xff\"}", `{}`, `{"a":{"b":[{}]}}`, ` { } `, `{"id":"1"}x`,
		`{"forwarded":{"forwarded":[]}}`, `{"route":"\"\/\b"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var b reportBody
		if decodeObject(body, b.members()) != nil {
			return
		}
		var p plainReport
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatalf("accepted %q, encoding/json says %v", body, err)
		}
		str := func(s *string) text {
			if s == nil {
				return text{}
			}
			return text{true, *s}
		}
		boolean := func(v *bool) flag {
			if v == nil {
				return flag{}
			}
			return flag{true, *v}
		}
		list := func(l *[]string) lines {
			if l == nil {
				return lines{}
			}
			return lines{true, *l}
		}
		want := reportBody{
			checkBody: checkBody{
				account: str(p.Account), ip: str(p.IP), realm: str(p.Realm), route: str(p.Route), id: str(p.ID),
				device: str(p.Device), tag: str(p.Tag),
				canChallenge: boolean(p.CanChallenge), challengePassed: boolean(p.ChallengePassed),
			},
			attempt: str(p.Attempt), outcome: str(p.Outcome), reason: str(p.Reason), rememberDevice: boolean(p.RememberDevice),
		}
		if v := p.Forwarded; v != nil {
			want.forwarded = forwardedBody{true, str(v.Peer), list(v.XForwardedFor), list(v.Forwarded)}
		}
		same := cmp.Comparer(func(a, b lines) bool { return a.set == b.set && slices.Equal(a.list, b.list) })
		opts := cmp.Options{same, cmp.AllowUnexported(reportBody{}, checkBody{}, forwardedBody{}, text{}, flag{})}
		if diff := cmp.Diff(want, b, opts); diff != "" {
			t.Errorf("%q is read otherwise (-encoding/json +strict):\n%s", body, diff)
		}
	})
}
