package main

import (
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/handlers"
)

// newLogger returns the log that the configuration asks for. Text has colours
// on a terminal only, so that files stay readable; it escapes by itself what
// JSON would let through.
func newLogger(c config.Log, w io.Writer) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		return zerolog.Nop(), err
	}
	if c.Format != config.FormatText {
		w = handlers.EscapeLog(w)
	} else {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !terminal(w), TimeFormat: time.RFC3339, FormatMessage: oneLine}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger(), nil
}

// newServiceLogger is [newLogger] with a level that can be changed while it
// runs: that of the process, which all loggers look at.
func newServiceLogger(c config.Log, w io.Writer) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		return zerolog.Nop(), err
	}
	c.Level = zerolog.LevelDebugValue
	log, err := newLogger(c, w)
	zerolog.SetGlobalLevel(level)
	return log, err
}

// oneLine quotes a message that would forge a line or colour the terminal;
// values of fields are quoted by the writer itself.
func oneLine(message any) string {
	text, _ := message.(string)
	if strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(text)
	}
	return text
}

// terminal reports whether a person reads w as it is written.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// httpLog passes on what the HTTP server itself complains about: broken TLS
// handshakes and the like, which any stranger can bring about as often as he
// wants. So it is for debugging only.
func httpLog(l zerolog.Logger) *log.Logger { return log.New(lineWriter{l}, "", 0) }

type lineWriter struct{ log zerolog.Logger }

// Write logs one line.
func (w lineWriter) Write(line []byte) (int, error) {
	w.log.Debug().Str("source", "http").Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}
