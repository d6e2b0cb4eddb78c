package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// batchSlots is how many round trips are under way at a time. While all
	// are, further calls wait and go out together: under load one write and
	// one read serve many attempts, and a burst does not spend its time
	// budget on waiting for connections.
	batchSlots = 2

	// batchMost bounds the calls of one round trip.
	batchMost = 16

	// patience is how many budgets a call may wait in all while the server
	// answers others. Without a sign of life for one budget it is given up.
	patience = 5
)

// call is one execution of a script.
type call struct {
	script script
	args   arguments

	state atomic.Int32 // waiting, sent or abandoned
	reply any
	err   error
	done  chan struct{} // closed when reply and err are set
}

const (
	callWaiting   = iota
	callSent      // may have been executed
	callAbandoned // must not be
)

// command returns the call as the client sends it.
func (c *call) command(ctx context.Context, whole bool) *redis.Cmd {
	cmd := redis.NewCmd(ctx, c.args.command(c.script, whole)...)
	if len(c.args.keys) > 0 {
		cmd.SetFirstKeyPos(commandHead)
	}
	return cmd
}

// batcher sends waiting calls together. Callers take turns at sending: one
// that finds a free slot has what waits sent, its own call among it, so a lone
// call goes out at once. The round trip has a goroutine of its own, or whoever
// sends would wait for a hanging server as long as all patience lasts.
type batcher struct {
	client  redis.UniversalClient
	timeout time.Duration // budget of a round trip, and of waiting without a sign of life
	slots   chan struct{}
	alive   atomic.Int64 // number of round trips that were answered

	mu    sync.Mutex
	queue []*call
}

func newBatcher(client redis.UniversalClient, timeout time.Duration) *batcher {
	return &batcher{client: client, timeout: timeout, slots: make(chan struct{}, batchSlots)}
}

// do executes a call and waits for its reply: for one budget, and for more
// while the server answers others, since a burst that keeps both of us busy is
// no failure. A call that was not sent by then never is: the attempt was
// answered, and must not be charged later.
func (b *batcher) do(ctx context.Context, c *call) (any, error) {
	c.done = make(chan struct{})
	timer := time.NewTimer(b.timeout)
	defer timer.Stop()
	alive := b.alive.Load()
	b.mu.Lock()
	b.queue = append(b.queue, c)
	b.mu.Unlock()
	slots, left := b.slots, patience-1
	late := func() bool {
		now := b.alive.Load()
		if now == alive || left == 0 {
			c.state.CompareAndSwap(callWaiting, callAbandoned)
			return true
		}
		alive, left = now, left-1
		timer.Reset(b.timeout)
		return false
	}
	for {
		// Whoever has just sent for others may be late for its own call, and
		// must not go on to send for the next ones.
		select {
		case <-c.done:
			return c.reply, c.err
		case <-timer.C:
			if late() {
				return nil, context.DeadlineExceeded
			}
		default:
		}
		select {
		case <-c.done:
			return c.reply, c.err
		case <-ctx.Done():
			c.state.CompareAndSwap(callWaiting, callAbandoned)
			return nil, ctx.Err()
		case <-timer.C:
			if late() {
				return nil, context.DeadlineExceeded
			}
		case slots <- struct{}{}:
			var batch []*call
			if c.state.Load() == callWaiting {
				batch = b.pop()
			} else {
				slots = nil // it is under way: leave the slot to others
			}
			if len(batch) == 0 {
				<-b.slots
				continue
			}
			go func() {
				defer func() { <-b.slots }()
				b.send(batch)
			}()
		}
	}
}

// pop takes the calls out that go into the next round trip.
func (b *batcher) pop() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	var batch []*call
	i := 0
	for ; i < len(b.queue) && len(batch) < batchMost; i++ {
		if c := b.queue[i]; c.state.CompareAndSwap(callWaiting, callSent) {
			batch = append(batch, c)
		}
	}
	rest := copy(b.queue, b.queue[i:])
	clear(b.queue[rest:])
	b.queue = b.queue[:rest]
	return batch
}

// send makes one round trip, and one more for scripts that the server says it
// does not know, and so did not run.
func (b *batcher) send(batch []*call) {
	ctx, cancel := context.WithTimeout(context.Background(), patience*b.timeout)
	defer cancel()
	b.round(ctx, batch, false)
	var unknown []*call
	for _, c := range batch {
		if c.err != nil && redis.HasErrorPrefix(c.err, "NOSCRIPT") {
			unknown = append(unknown, c)
		}
	}
	if len(unknown) > 0 {
		b.round(ctx, unknown, true)
	}
	if slices.ContainsFunc(batch, answered) {
		b.alive.Add(1)
	}
	for _, c := range batch {
		close(c.done)
	}
}

// answered reports whether the server said something to a call, be it an error.
func answered(c *call) bool {
	var reply redis.Error
	return c.err == nil || errors.As(c.err, &reply)
}

// round executes calls in one round trip and sets their replies. What the
// client returns for all is the first failure; each command has its own.
func (b *batcher) round(ctx context.Context, batch []*call, whole bool) {
	if len(batch) == 1 {
		cmd := batch[0].command(ctx, whole)
		_ = b.client.Process(ctx, cmd)
		batch[0].reply, batch[0].err = cmd.Result()
		return
	}
	pipe := b.client.Pipeline()
	sent := make([]*redis.Cmd, len(batch))
	for i, c := range batch {
		sent[i] = c.command(ctx, whole)
		_ = pipe.Process(ctx, sent[i]) // only queues
	}
	_, _ = pipe.Exec(ctx)
	for i, c := range batch {
		c.reply, c.err = sent[i].Result()
	}
}
