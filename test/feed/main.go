// Command feed sends a recorded log of sign-in attempts, as JSON lines, through
// a running service and prints what became of them:
//
//	go run ./test/feed -url http://127.0.0.1:8080 FILE
//
// A line is {"time", "account", "ip", "outcome": "success" or "failure"}, with
// realm, route, device, password_tag and reason if there are any. "-" reads
// standard input. The exit status is 1 when an answer was no decision.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"loginguard/test/internal/client"
	"loginguard/test/internal/feed"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "`address` of the service's API")
	key := flag.String("key-file", "", "`file` with the key of a caller, for services that have callers")
	top := flag.Int("top", 10, "how many accounts to list")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: feed [flags] FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *url, *key, flag.Arg(0), *top, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "feed:", err)
		stop()
		os.Exit(1)
	}
}

// run feeds one file and prints its summary, also when it ended early.
func run(ctx context.Context, url, keyFile, name string, top int, w io.Writer) error {
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	log := os.Stdin
	if name != "-" {
		if log, err = os.Open(name); err != nil {
			return err
		}
		defer log.Close()
	}
	s, err := feed.Run(ctx, client.New(url, key), log)
	if err := errors.Join(err, s.Print(w, top)); err != nil {
		return err
	}
	if n := s.Failed(); n > 0 {
		return fmt.Errorf("%d answers were no decision", n)
	}
	return nil
}
