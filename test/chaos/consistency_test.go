package chaos

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/proxy"
	"loginguard/test/internal/redisd"
)

// TestConsistency is the short edition.
func TestConsistency(t *testing.T) { consistency(t, 10*time.Second) }

// consistency lets clients ask three instances while a nemesis pauses and kills
// the store and takes the network apart, and checks the history: in every
// stretch of time the admissions of a bucket are within its capacity and what
// came back in that time, plus one capacity for each time all state was lost.
func consistency(t *testing.T, length time.Duration) {
	server := redisd.Start(t)
	x, networks := single(t, server)
	draw := rand.New(rand.NewPCG(11, 13))
	x.nemesis = func(h *history, end time.Time) {
		for n := 0; time.Now().Before(end); n++ {
			network := networks[draw.IntN(fleet)]
			switch n % 6 {
			case 0:
				server.Pause()
				time.Sleep(300 * time.Millisecond)
				server.Resume()
			case 1:
				network.Blackhole()
				time.Sleep(400 * time.Millisecond)
			case 2:
				network.Cut(1 + draw.IntN(20))
				time.Sleep(200 * time.Millisecond)
			case 3:
				h.loses(func() {
					server.Kill()
					server.Run()
				})
			case 4:
				network.Delay(time.Duration(20+draw.IntN(100)) * time.Millisecond)
				time.Sleep(300 * time.Millisecond)
			case 5:
				network.Reset()
			}
			network.Heal()
			time.Sleep(500 * time.Millisecond)
		}
	}
	x.run(t, length).judge(t)
}

// single is a trial on one server, which each instance reaches over a network
// of its own.
func single(t *testing.T, server *redisd.Server) (trial, [fleet]*proxy.Proxy) {
	t.Helper()
	var (
		x        trial
		networks [fleet]*proxy.Proxy
	)
	for i := range fleet {
		networks[i] = proxy.Start(t, server.Addr)
		x.urls[i] = "redis://" + networks[i].Addr
	}
	return x, networks
}

// TestConsistencyFindsForgottenCounts: a store that forgets what it counted,
// without anybody having said so, is found out, by every kind of bucket.
func TestConsistencyFindsForgottenCounts(t *testing.T) {
	server := redisd.Start(t)
	x, _ := single(t, server)
	x.nemesis = func(_ *history, end time.Time) {
		for time.Now().Before(end) {
			time.Sleep(700 * time.Millisecond)
			server.Do("FLUSHALL")
		}
	}
	h := x.run(t, 3*time.Second)
	found := strings.Join(h.excesses(), "\n")
	for kind := range bounds {
		if !strings.Contains(found, kind) {
			t.Errorf("too many admissions by %s were not found, but %q", kind, found)
		}
	}
}
