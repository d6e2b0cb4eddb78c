package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// What becomes of a request, for metrics.
const (
	Delivered = "delivered" // answered 2xx
	Retried   = "retried"   // failed, and will be made again
	Failed    = "failed"    // failed, and given up: the event is lost
)

// defaultBackoff are the waits before the second, third, ... try. Standard
// Webhooks advises a schedule over days; this one ends after three minutes,
// since the queue is in memory and the events are about now.
var defaultBackoff = []time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute}

const (
	defaultQueue   = 1000
	defaultTimeout = 15 * time.Second // the lower end of what Standard Webhooks advises
)

// Options sets up a [Sender]. URL and Secret are needed.
type Options struct {
	URL    string // that [CheckURL] accepts
	Secret string // that [ParseSecret] accepts

	// Queue is how many events may wait; 1000 when 0.
	Queue int

	// Timeout is for one request, its answer included; 15 seconds when 0.
	Timeout time.Duration

	// Backoff are the waits between the tries of one event, which are one more
	// than these. Up to a tenth is added to each. 5 s, 15 s, 45 s and 2 min
	// when nil.
	Backoff []time.Duration

	// UserAgent names the sender; "" for none.
	UserAgent string

	// Transport is for tests; nil for one of its own that verifies TLS by the
	// system's authorities.
	Transport http.RoundTripper

	// Result is told what became of every request, nil for nobody. err is nil
	// for Delivered.
	Result func(result string, err error)
}

// Sender delivers events, one after another. It is safe for concurrent use.
type Sender struct {
	o      Options
	signer *standardwebhooks.Webhook
	client *http.Client

	mu     sync.Mutex // guards closed, and queue against being closed twice
	closed bool
	queue  chan message

	hurry chan struct{} // closed when waits between tries are over
	stop  context.CancelFunc
	done  chan struct{}
	gone  bool // the other side wants no more; of the worker only
}

// message is one event, ready to be signed.
type message struct {
	id   string
	body []byte
}

// New returns a sender and starts its goroutine, which [Sender.Close] ends. Its
// error says which option is wrong, and contains neither address nor secret.
func New(o Options) (*Sender, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, fmt.Errorf("webhook url %w", err)
	}
	key, err := ParseSecret(o.Secret)
	if err != nil {
		return nil, fmt.Errorf("webhook secret %w", err)
	}
	signer, err := standardwebhooks.NewWebhookRaw(key)
	if err != nil {
		return nil, fmt.Errorf("webhook signer: %w", err)
	}
	if o.Queue <= 0 {
		o.Queue = defaultQueue
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Backoff == nil {
		o.Backoff = defaultBackoff
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			MaxConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10,
		}
	}
	if o.Result == nil {
		o.Result = func(string, error) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sender{
		o: o, signer: signer, queue: make(chan message, o.Queue),
		hurry: make(chan struct{}), stop: cancel, done: make(chan struct{}),
		client: &http.Client{
			Transport: o.Transport, Timeout: o.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	go s.work(ctx)
	return s, nil
}

// Send queues an event and reports whether there was room for it. data is
// anything that encoding/json writes; kind is the value of "type". It does not
// wait, and drops everything once the sender is closed.
func (s *Sender) Send(kind string, at time.Time, data any) bool {
	body, err := encode(kind, at, data)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	select {
	case s.queue <- message{id: "msg_" + rand.Text(), body: body}:
		return true
	default:
		return false
	}
}

// errLeft is returned by Close for events that nobody heard of.
var errLeft = errors.New("not all events were delivered")

// Close takes no more events, and returns when those in the queue are sent, or
// at the end of ctx; its error then says that some are lost. Tries that are
// due later are made at once, and once only.
func (s *Sender) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
		close(s.hurry)
	}
	s.mu.Unlock()
	defer s.client.CloseIdleConnections()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-s.done:
		return nil
	default:
	}
	left := len(s.queue) + 1 // and the one in progress
	s.stop()
	<-s.done
	return fmt.Errorf("closing the webhook: %w: %d are lost", errLeft, left)
}
