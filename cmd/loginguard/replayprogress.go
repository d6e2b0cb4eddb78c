package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"loginguard/cmd/loginguard/replay"
)

// progressEvery is how often the bar is drawn.
const progressEvery = 200 * time.Millisecond

// showProgress draws how much of the log is read, on standard error and only
// where a person sees it. The function it returns takes the bar away again.
func (p *program) showProgress(log *replay.Reader, off bool) (done func()) {
	f, ok := p.stderr.(*os.File)
	if off || !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { drawProgress(f, log.Progress, width, stop) })
	return func() {
		close(stop)
		running.Wait()
	}
}

// drawProgress draws until stop is closed, and clears its line then.
func drawProgress(w io.Writer, progress func() (read, size int64), width int, stop <-chan struct{}) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			fmt.Fprintf(w, "\r%s\r", strings.Repeat(" ", width-1))
			return
		case <-tick.C:
			read, size := progress()
			fmt.Fprintf(w, "\r%s", progressBar(read, size, width-1))
		}
	}
}

// progressBar is one line of so many columns. Of a stream without a known end it
// tells what was read.
func progressBar(read, size int64, width int) string {
	text := fmt.Sprintf(" %.1f MB", float64(read)/1e6)
	if size > 0 {
		text = fmt.Sprintf(" %3d %% of %.1f MB", min(100, read*100/size), float64(size)/1e6)
	}
	room := min(width-len(text)-2, 50)
	if size <= 0 || room < 10 {
		return fmt.Sprintf("%-*.*s", width, width, "replay"+text)
	}
	full := int(min(read, size) * int64(room) / size)
	line := "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "]" + text
	return fmt.Sprintf("%-*.*s", width, width, line)
}
