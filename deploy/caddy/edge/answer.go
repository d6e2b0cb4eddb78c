package edge

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// refuse answers 429 (RFC 6585, 4) with problem details (RFC 9457). It writes
// the answer itself and does not return an error for Caddy's handle_errors,
// which in front of a login turns every error into 503. wait is above 0 and
// announced in whole seconds, rounded up, or the client would come too early.
func refuse(w http.ResponseWriter, wait time.Duration) {
	seconds := strconv.FormatInt(int64((wait-1)/time.Second)+1, 10)
	h := w.Header()
	h.Set("Retry-After", seconds)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, `{"type":"about:blank","title":"Too Many Requests","status":429,`+
		`"error":"too_many_requests","retry_after":`+seconds+"}\n") // the client may have gone
}
