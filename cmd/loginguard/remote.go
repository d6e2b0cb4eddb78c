package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// defaultURL is where a service listens that was told nothing else.
const defaultURL = "http://127.0.0.1:8080"

// Bounds of what is read from files and from a service, in bytes.
const (
	maxKeyFile = 4 << 10
	maxCAFile  = 1 << 20
	maxAnswer  = 1 << 20
)

// remote is a running service, as the command line names it.
//
// Its key is only ever read from a file: what stands on a command line or in the
// environment is shown to others by ps, by a crash report, or by a shell's
// history.
type remote struct {
	url, keyFile, caFile string
	timeout              time.Duration
}

// flags gives a command the flags that name a service.
func (r *remote) flags(c *cobra.Command, url string) {
	c.Flags().StringVar(&r.url, "url", url, "`address` of the service: of its API or, on its own machine, its admin listener")
	c.Flags().StringVar(&r.keyFile, "key-file", "", "`file` that holds the key of a caller and nothing else")
	c.Flags().StringVar(&r.caFile, "ca-file", "", "`file` with the authorities (PEM) to trust for https, instead of the system's")
	c.Flags().DurationVar(&r.timeout, "timeout", 10*time.Second, "how long to wait for the answer, a `span` such as 10s")
}

// given reports whether one of the flags beside --url was used.
func (r *remote) given(c *cobra.Command) bool {
	return c.Flags().Changed("key-file") || c.Flags().Changed("ca-file") || c.Flags().Changed("timeout")
}

// ask sends one request, with the body as JSON unless it is nil, and returns
// the answer, which is JSON of at most 1 MiB. The error is for whom typed the
// command. It follows no redirect and uses no proxy: a key goes nowhere but
// where it was sent.
func (r *remote) ask(ctx context.Context, stderr io.Writer, method, path string, body any) ([]byte, error) {
	base, err := r.base()
	if err != nil {
		return nil, usageError{err}
	}
	if r.timeout <= 0 {
		return nil, usageError{errors.New("--timeout must be above 0")}
	}
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	if key != "" && base.Scheme == "http" && !thisMachine(base.Hostname()) {
		fmt.Fprintf(stderr, "warning: the key goes to %s without encryption\n", base.Host)
	}
	authorities, err := r.authorities()
	if err != nil {
		return nil, err
	}
	var text io.Reader
	if body != nil {
		var b bytes.Buffer
		if err := writeJSON(&b, body); err != nil {
			return nil, err
		}
		text = &b
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), text)
	if err != nil {
		return nil, usageError{fmt.Errorf("--url: %w", err)}
	}
	if text != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "loginguard")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	transport := &http.Transport{
		TLSClientConfig:        &tls.Config{RootCAs: authorities},
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, r.unreachable(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, r.unreachable(err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("%s answers with more than %d KiB, which loginguard never does: is --url right?", r.where(), maxAnswer>>10)
	case res.StatusCode != http.StatusOK:
		return nil, r.refused(res, path, answer)
	case !json.Valid(answer):
		return nil, r.strange()
	}
	return answer, nil
}

// base checks the address. A user in it would be a key on the command line.
func (r *remote) base() (*url.URL, error) {
	u, err := url.Parse(r.url)
	switch {
	case err != nil:
		return nil, errors.New("--url is no address: want one such as https://guard.example.com:8080")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("--url must begin with http:// or https:// and a host")
	case u.User != nil:
		return nil, errors.New("--url must not contain a user or a key: use --key-file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("--url must end before ? and #")
	}
	return u, nil
}

// where is the address for messages, without anything that may be secret.
func (r *remote) where() string {
	u, err := r.base()
	if err != nil {
		return "the service"
	}
	return printable(u.String())
}

// key reads the key, "" for none. What is wrong with it is told without it.
func (r *remote) key() (string, error) {
	if r.keyFile == "" {
		return "", nil
	}
	text, err := readAtMost(r.keyFile, maxKeyFile)
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	key := strings.TrimSpace(string(text))
	// What a header may carry (RFC 9110, 5.5), and no blank.
	odd := strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' })
	switch {
	case key == "":
		return "", fmt.Errorf("--key-file: %s is empty", printable(r.keyFile))
	case odd:
		return "", fmt.Errorf("--key-file: %s must hold one key and nothing else", printable(r.keyFile))
	}
	return key, nil
}

// authorities are those of --ca-file, nil for the system's.
func (r *remote) authorities() (*x509.CertPool, error) {
	if r.caFile == "" {
		return nil, nil
	}
	text, err := readAtMost(r.caFile, maxCAFile)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca-file: %s has no certificate in PEM", printable(r.caFile))
	}
	return pool, nil
}

// readAtMost reads a file, or a pipe such as /dev/stdin, of at most so many
// bytes.
func readAtMost(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s is larger than %d KiB", printable(name), most>>10)
	}
	return text, nil
}

// thisMachine reports whether what is sent to a host stays on this machine.
func thisMachine(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// hostPort is the host and port of an address, for messages.
func hostPort(u *url.URL) string {
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
}

// passOn prints an answer of a service as it came, with a line end.
func (p *program) passOn(answer []byte) error {
	_, err := fmt.Fprintf(p.stdout, "%s\n", bytes.TrimSpace(answer))
	return err
}
