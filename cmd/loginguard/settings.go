package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
)

// flag is a flag that stands for a key of the configuration. It remembers
// whether it was given: an empty text is a value, too.
type flag struct {
	name, path string
	text       string
	given      bool
}

// String, Set and Type make flag a value for the flag library.
func (f *flag) String() string { return f.text }

// Set takes the text as it is; the configuration checks it with all the rest.
func (f *flag) Set(text string) error {
	f.text, f.given = text, true
	return nil
}

// Type is the word for the value in the help.
func (f *flag) Type() string { return "value" }

// settingFlags gives a command --config and flags for the keys that one wants
// to set by hand. All others have a variable.
func (p *program) settingFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.configFile, "config", "", "configuration `file` (default ./"+config.DefaultFile+", which may be missing)")
	for _, f := range []struct{ name, path, usage string }{
		{"store-url", "store.url", "where the counters are kept, such as memory: or redis://127.0.0.1:6379/0"},
		{"api-listen", "server.api.listen", "`address` for callers, such as 127.0.0.1:8080; port 0 for any"},
		{"admin-listen", "server.admin.listen", "`address` for probes, metrics and operators"},
		{"log-level", "log.level", "debug, info, warn or error"},
		{"log-format", "log.format", "json or text"},
	} {
		given := &flag{name: "--" + f.name, path: f.path}
		c.Flags().Var(given, f.name, f.usage)
		p.flags = append(p.flags, given)
	}
}

// file is the name of the configuration file, which need not exist when it is
// the default.
func (p *program) file() string { return cmp.Or(p.configFile, config.DefaultFile) }

// load reads the configuration that the command line asks for.
func (p *program) load() (*config.Config, []string, error) {
	var settings []config.Setting
	for _, f := range p.flags {
		if f.given {
			settings = append(settings, config.Setting{Name: f.name, Path: f.path, Text: f.text})
		}
	}
	return config.Load(p.configFile, p.environ, settings)
}

// mistakes is a configuration that was refused, for people.
func mistakes(err error) error {
	return fmt.Errorf("the configuration is refused\n%w", err)
}
