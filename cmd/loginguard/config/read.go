package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds the configuration file, in bytes. Long lists of networks have
// files of their own.
const maxFile = 1 << 20

// pipeTime is how long a pipe, such as a shell's <(command), may take to say all
// it has.
const pipeTime = 10 * time.Second

// errNoWriter is a pipe that brings nothing: an empty file would mean the
// defaults.
var errNoWriter = errors.New("is a pipe into which nobody writes")

// readBounded returns the bytes of a file of at most limit bytes. Devices and
// endless pipes are read no further, and no pipe is waited for longer than
// pipeTime: whoever reloads would wait for ever, and could not even be stopped.
func readBounded(path string, limit int64) ([]byte, error) {
	// Without the flag, the opening itself waits for somebody who writes.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(pipeTime)) // what cannot block has no deadline
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d KiB", limit>>10)
	}
	if len(data) == 0 {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			return nil, errNoWriter
		}
	}
	return data, nil
}

// parseYAML returns the root of the one document in text, or nil when it has
// none. Mistakes of syntax end here: nothing can be said about what follows.
func (r *report) parseYAML(text []byte) *yaml.Node {
	if line := tabbedLine(text); line > 0 {
		r.refuse(place{r.file, line}, "", "is indented with a tab: YAML wants spaces")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			r.syntax(err)
		}
		return nil
	}
	// viper and most programs stop here, and never see what else there is.
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		r.refuse(place{r.file, second.Line}, "", "a second YAML document begins here: put everything into one")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" && doc.Content[0].Value == "" {
		return nil // nothing but --- and comments
	}
	return doc.Content[0]
}

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

	// yamlParser matches the errors of the library's parser. They carry the
	// line, counted from 0, in which the construct begins that has an error
	// somewhere; those of its scanner the line of the error, counted from 1.
	yamlParser = regexp.MustCompile(`^did not find expected (key|node content|'-' indicator|',' or '[]}]'|<)`)
)

// syntax records an error of the YAML library, which puts the line into the
// text, and leaves it out when it is the first.
func (r *report) syntax(err error) {
	p := place{source: r.file, line: 1}
	msg, where := err.Error(), ""
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		msg = msg[len(m[0]):]
		line, err := strconv.Atoi(m[1])
		if err == nil {
			p.line = line
		}
		if yamlParser.MatchString(msg) {
			where = ", in what begins here"
			if err == nil {
				p.line++
			}
		}
	}
	r.refuse(p, "", "is not YAML%s: %s", where, msg)
}

// tabbedLine returns the first line, from 1, with a tab in its indentation, or
// 0. The YAML library reports these with a message that nobody understands.
func tabbedLine(text []byte) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		rest := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(rest)) > 0 && rest[0] != '#' && bytes.ContainsRune(line[:len(line)-len(rest)], '\t') {
			return i + 1
		}
	}
	return 0
}
