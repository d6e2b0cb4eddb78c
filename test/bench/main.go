package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// settings are the command line.
type settings struct {
	loginguard string
	rounds     int
	turn       time.Duration
	conns      []int
	only       *regexp.Regexp
	memory     bool
	most       int
	json, page string
}

func main() {
	// What is started here dies with the thread that started it, which
	// therefore must not be given up before the end.
	runtime.LockOSThread()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "floor" {
		return serveFloor()
	}
	if len(args) == 3 && args[0] == "store-floor" {
		return serveStoreFloor(args[1], args[2])
	}
	var s settings
	var conns, only string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&s.loginguard, "loginguard", "", "the `program` under test (required)")
	f.IntVar(&s.rounds, "rounds", 5, "turns of every case")
	f.DurationVar(&s.turn, "turn", 2*time.Second, "length of one turn")
	f.StringVar(&conns, "conns", "1,16,64,256", "connections, a list")
	f.StringVar(&only, "only", "", "`expression` that the names of the cases match")
	f.BoolVar(&s.memory, "memory", false, "measure memory, and cost as accounts grow, instead")
	f.IntVar(&s.most, "most", 3_000_000, "tracked keys at the end of -memory")
	f.StringVar(&s.json, "json", "", "`file` for all figures")
	f.StringVar(&s.page, "page", "", "`file` for the tables as Markdown")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // it was asked for, and has been shown
	} else if err != nil {
		return err
	}
	if s.loginguard == "" || f.NArg() > 0 {
		return errors.New("-loginguard is needed, and nothing else: run test/bench/run")
	}
	for c := range strings.SplitSeq(conns, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("-conns: %q is not 1 to 1024", c)
		}
		s.conns = append(s.conns, n)
	}
	var err error
	if s.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	dir, err := os.MkdirTemp("", "loginguard-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{tokens: make(chan string, prepared)}
	defer b.close()
	if err := b.open(s, dir); err != nil {
		return err
	}
	r := &report{Machine: machine(), When: time.Now().UTC().Format(time.DateOnly), Rounds: s.rounds, Turn: s.turn.String()}
	if s.memory {
		r.Growth, err = b.grow(s)
	} else {
		r.Rows, err = b.measure(s)
	}
	if err != nil {
		return err
	}
	r.Ratios = ratios(r.Rows)
	return r.write(s)
}

// configuration raises the limits so far that no case but the denied ones runs
// one dry, and leaves what they cost as it is: networks still fill in an hour.
// A host that nobody names takes an hour to forget one anonymous attempt, so
// that -memory can gather millions of them.
// A store call may take long: this measures cost, also on a busy machine.
const configuration = `
store: {url: "redis://%s/0", timeout: 2s}
server: {api: {listen: "127.0.0.1:0"}, admin: {listen: "127.0.0.1:0"}, front: {listen: "127.0.0.1:0"}}
client_address: {hops: 1, trusted_proxies: [127.0.0.1, "::1"]}
routes: {anonymous: {cost: 5, success: full, account: none}}
limits:
  account: {capacity: 100000, refill: 100000/6h}
  device: {capacity: 1000000, refill: 1000000/15m}
  familiar: {capacity: 100000, refill: 100000/2h}
  network:
    host: {capacity: 5, refill: 5/1h}
    site: {capacity: 7000, refill: 7000/1h, max_capacity: 7000}
    subnet: {capacity: 7000, refill: 7000/1h}
  global: {capacity: 1000000, refill: 1000000/1s, max_capacity: 1000000}
  password: {capacity: 100000, refill: 100000/1h}
overrides:
  - {limit: network, level: host, match: {network: "2001::/16"}, capacity: 7000, refill: 7000/1h, reason: all but the filling of -memory}
  - {limit: account, match: {account: closed@example.org}, capacity: 10, refill: 10/6h, reason: the denied cases}
  - {limit: network, level: host, match: {network: 192.0.2.7/32}, capacity: 30, refill: 30/1h, reason: the denied cases}
  - {limit: network, level: host, match: {network: 203.0.113.7/32}, capacity: 1000000, refill: 1000000/1s, reason: all who sign in}
  - {limit: network, level: host, match: {network: 127.0.0.1/32}, capacity: 1000000, refill: 1000000/1s, reason: the front's clients}
  - {limit: network, level: subnet, match: {network: 127.0.0.0/24}, capacity: 1000000, refill: 1000000/1s, reason: the front's clients}
  - {limit: network, match: {network: "2001:db8:9::/48"}, capacity: 1000000, refill: 1000000/1s, reason: the proxy's client}
front:
  upstream: http://%s
  rules:
    - {methods: [POST], path: /login, route: login, account: {json: /username}, success: {status: [200]}, failure: {status: [401]}}
log: {level: error}
`

// open starts everything: Redis on one core, the guard and the floors on the
// other, as far as there are two.
func (b *bench) open(s settings, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	guardCore, redisCore := -1, -1
	if runtime.NumCPU() >= 2 {
		guardCore, redisCore = 0, 1
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	b.redisAddr = "127.0.0.1:" + port
	if b.redis, err = start(redisCore, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir); err != nil {
		return err
	}
	go func() {
		for b.redis.out.Scan() {
		}
	}()
	if err := reachable(b.redisAddr); err != nil {
		return err
	}
	if b.floor, err = start(guardCore, self, "floor"); err != nil {
		return err
	}
	addresses, err := b.floor.await("floor ")
	if err != nil {
		return err
	}
	b.floorAddr, b.proxyAddr, _ = strings.Cut(addresses, " ")
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, b.redisAddr, b.floorAddr), 0o600); err != nil {
		return err
	}
	if err := os.Setenv("LOGINGUARD_IDENTITY_SECRET", "YmVuY2ggYmVuY2ggYmVuY2ggYmVuY2ggYmVuY2ggYmVuY2g="); err != nil {
		return err
	}
	if b.guard, err = start(guardCore, s.loginguard, "serve", "--config", file); err != nil {
		return err
	}
	if err := b.addresses(); err != nil {
		return err
	}
	if b.storeFloor, err = b.startStoreFloor(guardCore, self, file); err != nil {
		return err
	}
	return b.learnDevice()
}

func (b *bench) close() {
	for _, p := range []*process{b.guard, b.storeFloor, b.floor, b.redis} {
		if p != nil {
			p.stop()
		}
	}
}

// machine names what the figures depend on.
func machine() map[string]string {
	m := map[string]string{"go": runtime.Version(), "cores": strconv.Itoa(runtime.NumCPU()), "arch": runtime.GOARCH}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m["processor"] = strings.TrimSpace(value)
			}
		}
	}
	return m
}

func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
