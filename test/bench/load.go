package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// target is what one case asks.
type target struct {
	addr string
	// body makes the n-th body; it is called by one connection at a time with
	// a buffer of its own. line is its request line, POST and a path.
	body func(buf []byte, n uint64) []byte
	line string
	head string // further header lines, each ended by CRLF
	want int    // the status that every answer must have
	// answered, if set, is given every answer's body.
	answered func(body []byte)
}

// outcome is what the load saw.
type outcome struct {
	requests  int
	elapsed   time.Duration
	latencies []time.Duration // sorted
}

// quantile returns a latency, 0 for none.
func (o outcome) quantile(q float64) time.Duration {
	if len(o.latencies) == 0 {
		return 0
	}
	return o.latencies[min(len(o.latencies)-1, int(q*float64(len(o.latencies))))]
}

// mostSamples bounds the latencies kept of one connection.
const mostSamples = 1 << 20

// drive asks t over n connections that are kept open, each with one request
// under way, until the time is over or total requests (0 for no bound) were sent.
func drive(t target, n int, d time.Duration, total int64, counter *atomic.Uint64) (outcome, error) {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		all   outcome
		first error
		left  atomic.Int64
	)
	left.Store(total)
	began := time.Now()
	for range n {
		wait.Go(func() {
			samples, err := connection(t, began.Add(d), total > 0, &left, counter)
			mu.Lock()
			defer mu.Unlock()
			all.requests += len(samples)
			all.latencies = append(all.latencies, samples...)
			if first == nil {
				first = err
			}
		})
	}
	wait.Wait()
	all.elapsed = time.Since(began)
	slices.Sort(all.latencies)
	return all, first
}

// connection sends requests over one connection, one after the other.
func connection(t target, end time.Time, bounded bool, left *atomic.Int64, counter *atomic.Uint64) ([]time.Duration, error) {
	c, err := net.Dial("tcp", t.addr)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer c.Close()
	r := bufio.NewReaderSize(c, 8<<10)
	var request, body, answer []byte
	samples := make([]time.Duration, 0, 1<<12)
	for now := time.Now(); now.Before(end) && len(samples) < mostSamples; {
		if bounded && left.Add(-1) < 0 {
			break
		}
		body = t.body(body[:0], counter.Add(1))
		request = append(request[:0], t.line...)
		request = append(request, " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "...)
		request = strconv.AppendInt(request, int64(len(body)), 10)
		request = append(request, "\r\n"...)
		request = append(request, t.head...)
		request = append(request, "\r\n"...)
		request = append(request, body...)
		if _, err := c.Write(request); err != nil {
			return samples, fmt.Errorf("asking: %w", err)
		}
		var status int
		if status, answer, err = read(r, answer[:0]); err != nil {
			return samples, fmt.Errorf("reading the answer: %w", err)
		}
		if status != t.want {
			return samples, fmt.Errorf("status %d, want %d: %s", status, t.want, answer)
		}
		if t.answered != nil {
			t.answered(answer)
		}
		done := time.Now()
		samples, now = append(samples, done.Sub(now)), done
	}
	return samples, nil
}

// read reads one answer with a Content-Length.
func read(r *bufio.Reader, body []byte) (status int, _ []byte, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil || len(line) < 12 {
		return 0, nil, fmt.Errorf("status line %q: %w", line, err)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, fmt.Errorf("status line %q: %w", line, err)
	}
	length := 0
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return 0, nil, fmt.Errorf("headers: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, nil, fmt.Errorf("content length: %w", err)
			}
		}
	}
	body = slices.Grow(body, length)[:length]
	_, err = io.ReadFull(r, body)
	return status, body, err
}
