package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// Classes are the kinds of failure that [Class] tells apart, for metrics.
var Classes = []string{
	"timeout", "pool", "refused", "closed", "readonly", "oom", "noscript", "crossslot", "wrongtype", "moved",
	"auth", "tls", "loading", "busy", "noreplicas", "clusterdown", "masterdown", "misconf", "corrupt", "full", "script", "other",
}

// replies maps the first word of an error reply to its class. Redis wraps the
// error of a command within a script, so the words are looked for anywhere.
var replies = []struct{ word, class string }{
	{"READONLY", "readonly"}, {"OOM", "oom"}, {"NOSCRIPT", "noscript"}, {"CROSSSLOT", "crossslot"},
	{"WRONGTYPE", "wrongtype"}, {"MOVED", "moved"}, {"ASK", "moved"}, {"NOAUTH", "auth"}, {"WRONGPASS", "auth"}, {"AUTH", "auth"},
	{"unauthenticated", "auth"},           // to a command of more than ten words, in place of NOAUTH
	{"user executing the script", "auth"}, // may not do what the script does: in place of NOPERM
	{"NOPERM", "auth"}, {"LOADING", "loading"}, {"BUSY", "busy"}, {"NOREPLICAS", "noreplicas"},
	{"CLUSTERDOWN", "clusterdown"}, {"TRYAGAIN", "clusterdown"}, {"MASTERDOWN", "masterdown"},
	{"MISCONF", "misconf"}, {"CORRUPT", "corrupt"},
}

// Class returns the kind of a store's failure, one of [Classes], "" for nil.
func Class(err error) string {
	if err == nil {
		return "" // before anything is made ready for the rest
	}
	var (
		reply   redis.Error
		op      *net.OpError
		late    net.Error
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		verify  *tls.CertificateVerificationError
		name    x509.HostnameError
	)
	switch {
	case errors.Is(err, ErrFull):
		return "full"
	case errors.Is(err, errCorrupt), errors.Is(err, errReply), errors.Is(err, redis.Nil):
		return "corrupt"
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return "pool"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "timeout"
	case errors.As(err, &record), errors.As(err, &unknown), errors.As(err, &verify), errors.As(err, &name):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return "refused"
	case errors.As(err, &reply):
		return replyClass(reply.Error())
	case errors.As(err, &late) && late.Timeout():
		return "timeout"
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"):
		return "tls" // an alert, which has no type of its own
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed), errors.Is(err, redis.ErrClosed):
		return "closed"
	}
	return "other"
}

// replyClass classifies the text of an error reply.
func replyClass(text string) string {
	for _, r := range replies {
		if at := strings.Index(text, r.word); at >= 0 && word(text, at, len(r.word)) {
			return r.class
		}
	}
	if strings.Contains(text, "script") {
		return "script"
	}
	return "other"
}

// word reports whether text[at:at+n] stands alone.
func word(text string, at, n int) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= 'A' && text[i] <= 'Z' || text[i] >= 'a' && text[i] <= 'z')
	}
	return !letter(at-1) && !letter(at+n)
}
