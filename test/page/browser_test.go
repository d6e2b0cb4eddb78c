package page

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"loginguard/test/internal/service"
)

// patience is how long the page may take to show something: it asks every two
// seconds, and test machines are busy.
const patience = 20 * time.Second

func TestMain(m *testing.M) { os.Exit(service.Main(m)) }

// tab is a page in a browser of its own, which ends with the test.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	troubles []string // what the console said
	urls     []string // that were asked for
	expected []string // parts of troubles that the test is about
}

// chromium finds the browser, whose command has two names.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("there is no chromium: test/run installs it")
	return ""
}

// open starts a browser and opens an address in it.
func open(t *testing.T, url string, origins ...string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)),
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("host-resolver-rules", "MAP guard.test 127.0.0.1"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	b := &tab{t: t}
	ctx, closed := chromedp.NewContext(allocator, chromedp.WithListener(b.listen))
	b.ctx = ctx
	t.Cleanup(func() {
		b.judge(append(origins, url))
		_ = chromedp.Cancel(ctx) // waits for the browser's end
		closed()
		stop()
	})
	b.must(call(b, log.Enable, cdp.Empty{}))
	b.must(call(b, network.Enable, network.EnableParams{}))
	b.size(1280, 900)
	b.must(chromedp.Do(ctx, chromedp.Navigate(url)))
	return b
}

// call sends a command whose answer does not matter.
func call[P, R any](b *tab, c cdp.Command[P, R], params P) error {
	if err := chromedp.Do(b.ctx); err != nil {
		return err
	}
	_, err := chromedp.Call(b.ctx, c, params)
	return err
}

// listen notes what the page may not do.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text, _ := json.Marshal(e.Args)
		b.troubles = append(b.troubles, "console: "+string(text))
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		b.troubles = append(b.troubles, "exception: "+string(text))
	case *log.EventEntryAdded:
		b.troubles = append(b.troubles, "log: "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		b.urls = append(b.urls, e.Request.URL)
	}
}

// expect allows the console to say a text: the browser writes every refusal.
func (b *tab) expect(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, text)
}

// judge fails the test for what the console said, breaches of the content
// security policy among it, and for requests to other origins.
func (b *tab) judge(origins []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
trouble:
	for _, text := range b.troubles {
		for _, known := range b.expected {
			if strings.Contains(text, known) {
				continue trouble
			}
		}
		b.t.Errorf("the browser says: %s", text)
	}
url:
	for _, u := range b.urls {
		for _, o := range append(origins, "data:") {
			if strings.HasPrefix(u, strings.TrimSuffix(o, "/")) {
				continue url
			}
		}
		b.t.Errorf("the page asked %s", u)
	}
}

func (b *tab) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("the browser: %v", err)
	}
}

// size sets the size of the window.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)))
}

// scheme sets what the operator prefers, dark or light, and less motion.
func (b *tab) scheme(name string) {
	b.t.Helper()
	b.must(call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}))
}

// value evaluates an expression in the page.
func value[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// text returns what an element shows.
func (b *tab) text(id string) string {
	b.t.Helper()
	return value[string](b, "document.getElementById("+quote(id)+").textContent")
}

// await waits until an expression is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	service.Await(b.t, patience, "the page: "+expression, func() bool { return value[bool](b, "Boolean("+expression+")") })
}

// keys types on whatever has the focus.
func (b *tab) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(k)))
	}
}

// tabTo presses Tab until an element has the focus, and fails if it never has
// or if the focus cannot be seen on the way.
func (b *tab) tabTo(expression string) {
	b.t.Helper()
	for range 60 {
		b.keys(kb.Tab)
		if !value[bool](b, "document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
			b.t.Errorf("the focus on %s cannot be seen", value[string](b, "document.activeElement.outerHTML.slice(0, 90)"))
		}
		if value[bool](b, "document.activeElement === ("+expression+")") {
			return
		}
	}
	b.t.Fatalf("Tab never reaches %s", expression)
}

// table returns the rows of a table as texts.
func (b *tab) table(selector string) [][]string {
	b.t.Helper()
	return value[[][]string](b, "[...document.querySelectorAll("+quote(selector+" tbody tr")+")].map(r => [...r.cells].map(c => c.textContent))")
}

// quote writes a text as JavaScript.
func quote(s string) string {
	b, _ := json.Marshal(s) // of a string, which cannot fail
	return string(b)
}
