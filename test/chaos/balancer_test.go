package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// callers is how many requests are in flight at most: each caller waits for
// its answer.
const callers = 12

// pace is how often each caller asks, if the answers come so fast.
const pace = 5 * time.Millisecond

// probeEvery is how often an instance is asked whether it is ready.
const probeEvery = 20 * time.Millisecond

// balancer sends attempts and reports to several instances in turn, over
// connections that it keeps. Like a load balancer in front of them it probes
// whether they are ready, sends a request elsewhere when the connection is
// refused, and never one that may have been taken.
type balancer struct {
	t     *testing.T
	redis *redisd.Server
	slots [fleet]atomic.Pointer[instance]
	stop  chan struct{}
	once  sync.Once
	all   sync.WaitGroup
	next  atomic.Int64

	answers, refused atomic.Int64

	mu       sync.Mutex
	admitted map[string]int // attempts by account
	lost     []unanswered
}

// instance is a service and how it ended.
type instance struct {
	*service.Service
	away atomic.Bool // by its probe
	term atomic.Bool
	died atomic.Pointer[time.Time]
}

func (i *instance) terminated() bool  { return i.term.Load() }
func (i *instance) dead() bool        { return i.died.Load() != nil }
func (i *instance) diedAt() time.Time { return *i.died.Load() }

// unanswered is a request that was sent and got no answer.
type unanswered struct {
	account string
	at      *instance
	begun   time.Time
	fresh   bool // sent over a new connection
	err     error
}

// start brings a new instance into a slot.
func (b *balancer) start(slot int) {
	b.t.Helper()
	s := service.Start(b.t, service.Options{Redis: b.redis.URL(), Config: slowRefill, Env: []string{"LOGINGUARD_LOG_LEVEL=info"}})
	at := &instance{Service: s}
	b.slots[slot].Store(at)
	b.all.Go(func() { b.probe(at) })
}

// probe finds out when an instance wants no more requests.
func (b *balancer) probe(at *instance) {
	c := client.New(at.Admin, "")
	defer c.Close()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for !at.away.Load() {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		r, err := c.Get(context.Background(), "/readyz")
		at.away.Store(err != nil || r.Status != http.StatusOK)
	}
}

// kill ends the instance of a slot as kill -9 does.
func (b *balancer) kill(slot int) {
	i := b.slots[slot].Load()
	i.Kill()
	now := time.Now()
	i.died.Store(&now)
}

// terminate ends the instance of a slot by SIGTERM, and waits for its end.
func (b *balancer) terminate(slot int) {
	i := b.slots[slot].Load()
	i.term.Store(true)
	i.Stop()
}

// end stops the load and waits for what is in flight.
func (b *balancer) end() {
	b.once.Do(func() { close(b.stop) })
	b.all.Wait()
}

// call is one caller: it guesses at one account after the other, with all the
// others, and reports what is admitted as a failure.
func (b *balancer) call(n int) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	links := new(links)
	defer links.close()
	for turn := n; ; turn++ {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		i := int(b.next.Add(1))
		account := fmt.Sprint("account ", i/pressure)
		var d client.Decision
		answered := b.send(turn, links, account, func(ctx context.Context, c *client.Client) (status int, err error) {
			d, err = c.Check(ctx, client.Attempt{Account: account, IP: address(i % 40000)})
			return d.Status, err
		})
		b.mu.Lock()
		if _, known := b.admitted[account]; !known || answered && d.Allowed() {
			b.admitted[account] += one(answered && d.Allowed())
		}
		b.mu.Unlock()
		switch {
		case !answered:
			continue
		case d.Allowed():
		case d.Status == http.StatusTooManyRequests && d.Limit == "account":
			continue
		default:
			b.t.Errorf("%s was answered %d: %s", account, d.Status, d.Body)
			continue
		}
		// By another instance, which must find what this one has charged.
		b.send(turn+1, links, "", func(ctx context.Context, c *client.Client) (int, error) {
			r, err := c.Report(ctx, client.Report{Attempt: d.Attempt, Outcome: "failure", Reason: "bad_password"})
			if err == nil && (r.Status != http.StatusOK || !r.Applied) {
				b.t.Errorf("a report was answered %d: %s", r.Status, r.Body)
			}
			return r.Status, err
		})
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// send asks the instances from turn on until one takes the request, and tells
// whether it answered.
func (b *balancer) send(turn int, links *links, account string, ask func(context.Context, *client.Client) (int, error)) bool {
	for try := range 2 * fleet {
		slot := (turn + try) % fleet
		at := b.slots[slot].Load()
		if at.away.Load() {
			continue
		}
		fresh := true
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
			GotConn: func(c httptrace.GotConnInfo) { fresh = !c.Reused },
		})
		begun := time.Now()
		_, err := ask(ctx, links.to(slot, at))
		switch {
		case err == nil:
			b.answers.Add(1)
			return true
		case errors.Is(err, syscall.ECONNREFUSED):
			b.refused.Add(1)
		default:
			b.mu.Lock()
			b.lost = append(b.lost, unanswered{account, at, begun, fresh, err})
			b.mu.Unlock()
			return false
		}
	}
	b.t.Error("no instance is ready and takes the connection")
	return false
}

// links are one caller's connections, to the instance of each slot.
type links struct {
	at [fleet]*instance
	c  [fleet]*client.Client
}

func (l *links) to(slot int, at *instance) *client.Client {
	if l.at[slot] != at {
		if l.c[slot] != nil {
			l.c[slot].Close()
		}
		l.at[slot], l.c[slot] = at, client.New(at.API, "")
	}
	return l.c[slot]
}

func (l *links) close() {
	for _, c := range l.c {
		if c != nil {
			c.Close()
		}
	}
}
