package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// encode writes the body of a message. < > & stay as they are: the body is
// JSON, not a part of a page.
func encode(kind string, at time.Time, data any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{kind, at.UTC(), data})
	return bytes.TrimSpace(b.Bytes()), err
}

// work sends what is in the queue until it is closed and empty, or ctx ends.
func (s *Sender) work(ctx context.Context) {
	defer close(s.done)
	for m := range s.queue {
		if ctx.Err() != nil {
			return
		}
		s.deliver(ctx, m)
	}
}

// deliver tries until somebody took the event, or it is given up.
func (s *Sender) deliver(ctx context.Context, m message) {
	for try := 0; ; try++ {
		err := s.post(ctx, m)
		if err == nil {
			s.o.Result(Delivered, nil)
			return
		}
		var refused *answer
		s.gone = s.gone || errors.As(err, &refused) && refused.status == http.StatusGone
		if try >= len(s.o.Backoff) || s.gone || s.hurrying() || ctx.Err() != nil {
			s.o.Result(Failed, err)
			return
		}
		s.o.Result(Retried, err)
		s.wait(ctx, s.o.Backoff[try])
	}
}

// hurrying reports whether the sender is being closed: then no event may keep
// the next one waiting.
func (s *Sender) hurrying() bool {
	select {
	case <-s.hurry:
		return true
	default:
		return false
	}
}

// wait waits d and up to a tenth more, so that the instances of one service
// that failed together do not come back together.
func (s *Sender) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d + time.Duration(float64(d)*0.1*rand.Float64()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.hurry:
	case <-ctx.Done():
	}
}

// answer is a status that is no success.
type answer struct{ status int }

// Error implements error.
func (a *answer) Error() string { return "the webhook was answered " + strconv.Itoa(a.status) }

// errGone stands for the requests that are not made after a 410: by Standard
// Webhooks it is how the other side says that it wants no more.
var errGone = errors.New("the webhook was answered 410 before and is not asked again")

// post makes one request. Its error does not contain the address.
func (s *Sender) post(ctx context.Context, m message) error {
	if s.gone {
		return errGone
	}
	now := time.Now()
	signature, err := s.signer.Sign(m.id, now, m.body)
	if err != nil {
		return fmt.Errorf("sign the event: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.URL, bytes.NewReader(m.body))
	if err != nil {
		return errors.New("the webhook's address cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.o.UserAgent)
	r.Header.Set(standardwebhooks.HeaderWebhookID, m.id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	res, err := s.client.Do(r)
	if err != nil {
		var named *url.Error
		if errors.As(err, &named) {
			err = named.Err // without the address, which may have a password
		}
		return fmt.Errorf("ask the webhook: %w", err)
	}
	defer res.Body.Close()
	// A short answer is read so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return &answer{res.StatusCode}
	}
	return nil
}
