package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// bench is everything that runs while the cases take turns.
type bench struct {
	redis, guard, floor, storeFloor *process

	api, front, admin, redisAddr string
	storeAsk                     *os.File // where the store floor is told what to do
	floorAddr, proxyAddr         string
	numbers                      atomic.Uint64
	device                       string // a device token of user0
	tokens                       chan string
}

// sample is one turn of one case.
type sample struct {
	guard, redis  float64 // microseconds of processor time per operation
	p50, p99, top float64 // milliseconds; top is the 99.9th percentile
	rate          float64 // operations per second
	allocations   float64 // of the guard, per operation; 0 where it is not in play
	commands      float64 // of Redis, per operation
}

// caseOf is one row of the table.
type caseOf struct {
	name, what string
	// prepare makes ready what a turn of so many operations needs.
	prepare func(b *bench, conns int) error
	target  func(b *bench) target
	floor   bool // the process under test is the floor, not the guard
	bounded bool // as many operations as were prepared, not a time
}

// prepared is how many operations a bounded turn has.
const prepared = 6000

var cases = []caseOf{
	{name: "echo floor", what: "Echo decodes and encodes the JSON of a check, nothing is decided", floor: true,
		target: func(b *bench) target {
			return target{addr: b.floorAddr, line: "POST /v1/check", want: 200, body: checkBody}
		}},
	{name: "check, 1 device bucket", what: "allowed, on a known device",
		target: func(b *bench) target {
			return target{addr: b.api, line: "POST /v1/check", want: 200, body: func(buf []byte, n uint64) []byte {
				buf = append(buf, `{"account":"user0@example.org","ip":"`...)
				buf = append(appendAddress(buf, n%accounts), `","device":"`...)
				return append(append(buf, b.device...), `"}`...)
			}}
		}},
	{name: "check, 5 buckets", what: "allowed: account, host, site, subnet, global",
		target: func(b *bench) target {
			return target{addr: b.api, line: "POST /v1/check", want: 200, body: checkBody}
		}},
	{name: "check, all inputs", what: "allowed, with id, password tag, device of another account and a header",
		target: func(b *bench) target {
			return target{addr: b.api, line: "POST /v1/check", want: 200, body: func(buf []byte, n uint64) []byte {
				buf = append(appendName(append(buf, `{"realm":"default","route":"login","account":"`...), n%accounts), `","ip":"`...)
				buf = append(appendAddress(buf, n%accounts), `","can_challenge":true,"password_tag":"tag`...)
				buf = fmt.Appendf(buf, `%d","id":"submission-%d","device":"`, n%100_000, n)
				return append(append(buf, b.device...), `"}`...)
			}}
		}},
	{name: "denied, cached", what: "one source floods one closed account",
		prepare: func(b *bench, _ int) error { return b.drain() },
		target: func(b *bench) target {
			return target{addr: b.api, line: "POST /v1/check", want: 429, body: func(buf []byte, _ uint64) []byte {
				return append(buf, `{"account":"closed@example.org","ip":"192.0.2.7"}`...)
			}}
		}},
	{name: "denied, uncached", what: "one closed source tries ever new accounts",
		prepare: func(b *bench, _ int) error { return b.drain() },
		target: func(b *bench) target {
			return target{addr: b.api, line: "POST /v1/check", want: 429, body: func(buf []byte, n uint64) []byte {
				buf = appendName(append(buf, `{"account":"other`...), n)
				return append(buf, `","ip":"192.0.2.7"}`...)
			}}
		}},
	{name: "report success", what: "of an attempt on five buckets", bounded: true,
		prepare: (*bench).collect, target: func(b *bench) target { return b.reports("success") }},
	{name: "report failure", what: "of an attempt on five buckets", bounded: true,
		prepare: (*bench).collect, target: func(b *bench) target { return b.reports("failure") }},
	{name: "forward auth", what: "a reverse proxy's question by address",
		target: func(b *bench) target {
			return target{addr: b.api, line: "POST /v1/forward-auth/plain", want: 200, head: "X-Forwarded-For: 2001:db8:9::7\r\n", body: noBody}
		}},
	{name: "reverse proxy floor", what: "Echo and net/http/httputil pass a sign-in on, nothing is decided", floor: true,
		target: func(b *bench) target { return b.signIn(b.proxyAddr) }},
	{name: "front", what: "a sign-in through the front: check, upstream, report",
		target: func(b *bench) target { return b.signIn(b.front) }},
}

func noBody(buf []byte, _ uint64) []byte { return buf }

// checkBody is the usual check.
func checkBody(buf []byte, n uint64) []byte {
	buf = appendName(append(buf, `{"account":"`...), n%accounts)
	buf = appendAddress(append(buf, `","ip":"`...), n%accounts)
	return append(buf, `"}`...)
}

// signIn is a request to the application's own login.
func (b *bench) signIn(addr string) target {
	return target{addr: addr, line: "POST /login", want: 200, body: func(buf []byte, n uint64) []byte {
		buf = appendName(append(buf, `{"username":"`...), n%accounts)
		return append(buf, `","password":"correct horse battery staple"}`...)
	}}
}

// reports ends attempts that [bench.collect] began.
func (b *bench) reports(outcome string) target {
	return target{addr: b.api, line: "POST /v1/report", want: 200, body: func(buf []byte, _ uint64) []byte {
		buf = append(append(buf, `{"attempt":"`...), <-b.tokens...)
		return append(append(append(buf, `","outcome":"`...), outcome...), `"}`...)
	}}
}

// collect begins the attempts of a turn of reports.
func (b *bench) collect(int) error {
	t := target{addr: b.api, line: "POST /v1/check", want: 200, body: checkBody, answered: func(body []byte) { b.tokens <- attemptIn(body) }}
	_, err := drive(t, 8, time.Minute, prepared, &b.numbers)
	return err
}

// drain empties the account and the host of the denied cases. What is empty
// already denies, and stays as it is.
func (b *bench) drain() error {
	for _, account := range []string{`"closed@example.org"`, ""} {
		for n := range uint64(60) {
			name := account
			if name == "" {
				name = `"filler` + string(appendName(nil, n)) + `"`
			}
			t := target{addr: b.api, line: "POST /v1/check", body: func(buf []byte, _ uint64) []byte {
				return append(append(append(buf, `{"account":`...), name...), `,"ip":"192.0.2.7"}`...)
			}}
			t.want = 429
			var once atomic.Uint64
			if _, err := drive(t, 1, time.Minute, 1, &once); err == nil {
				break // denied
			}
		}
	}
	return nil
}

// learnDevice signs user0 in once and keeps its device token.
func (b *bench) learnDevice() error {
	var attempt string
	var once atomic.Uint64
	check := target{addr: b.api, line: "POST /v1/check", want: 200, body: func(buf []byte, _ uint64) []byte {
		return append(buf, `{"account":"user0@example.org","ip":"2001:db8::7"}`...)
	}, answered: func(body []byte) { attempt = attemptIn(body) }}
	if _, err := drive(check, 1, time.Minute, 1, &once); err != nil {
		return err
	}
	report := target{addr: b.api, line: "POST /v1/report", want: 200, body: func(buf []byte, _ uint64) []byte {
		return append(append(append(buf, `{"attempt":"`...), attempt...), `","outcome":"success","remember_device":true}`...)
	}, answered: func(body []byte) {
		var r struct {
			Device string `json:"device"`
		}
		_ = json.Unmarshal(body, &r)
		b.device = r.Device
	}}
	if _, err := drive(report, 1, time.Minute, 1, &once); err != nil {
		return err
	}
	if b.device == "" {
		return fmt.Errorf("no device token was issued")
	}
	return nil
}
