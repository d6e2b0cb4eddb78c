// Command efficacy measures what loginguard and other limiters let through,
// and whom they turn away, and writes docs/efficacy.md:
//
//	go run ./test/efficacy/cmd/efficacy -out docs/efficacy.md
//
// With all seeds that takes about twenty minutes on two cores. It exits with 1
// when one of the bounds does not hold.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"loginguard/test/efficacy"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "efficacy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("efficacy", flag.ContinueOnError)
	var (
		out      = flags.String("out", "", "write the page to this `FILE` instead of standard output")
		seeds    = flags.String("seeds", "", "comma-separated `NUMBERS`; default: the twenty of the page")
		only     = flags.String("only", "", "comma-separated `NAMES` of scenarios; default: all")
		small    = flags.Bool("small", false, "a tenth of the people")
		parallel = flags.Int("parallel", min(2, runtime.NumCPU()), "runs at the same time")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	// Little is alive at a time, and much is thrown away.
	debug.SetGCPercent(400)
	o := efficacy.Options{
		Scenarios: efficacy.Scenarios, Contenders: efficacy.Contenders, Seeds: efficacy.Seeds,
		Variants: efficacy.Variants, Small: *small, Parallel: *parallel,
	}
	if *seeds != "" {
		o.Seeds = nil
		for word := range strings.SplitSeq(*seeds, ",") {
			n, err := strconv.ParseUint(word, 10, 64)
			if err != nil {
				return fmt.Errorf("read the seeds: %w", err)
			}
			o.Seeds = append(o.Seeds, n)
		}
	}
	if *only != "" {
		names := strings.Split(*only, ",")
		o.Scenarios = slices.DeleteFunc(slices.Clone(o.Scenarios), func(s efficacy.Scenario) bool { return !slices.Contains(names, s.Name) })
	}
	began := time.Now()
	o.Progress = func(what string) {
		fmt.Fprintf(os.Stderr, "%7s  %s\n", time.Since(began).Round(time.Second), what)
	}
	results, err := efficacy.Measure(ctx, o)
	if err != nil {
		return err
	}
	if err := write(*out, results, o); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	broken := 0
	for _, c := range efficacy.Check(results) {
		if !c.Holds() {
			broken++
			fmt.Fprintf(os.Stderr, "%s: %v in %s, more than %v\n", c.Text, c.Highest, c.Place, c.Most)
		}
	}
	if broken > 0 {
		return errors.New("not all bounds hold")
	}
	return nil
}

// write writes the page, all of it or nothing.
func write(path string, r efficacy.Results, o efficacy.Options) error {
	if path == "" {
		w := bufio.NewWriter(os.Stdout)
		efficacy.WritePage(w, r, o)
		return w.Flush()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".efficacy-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // is gone when all went well
	w := bufio.NewWriter(f)
	efficacy.WritePage(w, r, o)
	if err := errors.Join(w.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
