package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
	"loginguard/cmd/loginguard/replay"
)

// replaying is what the command line of replay asks for.
type replaying struct {
	log     string
	options replay.LogOptions
	engine  replay.EngineOptions

	against         string
	decisions, html string
	json, check     bool
	showAccounts    bool
	noProgress      bool
}

func (p *program) replayCommand() *cobra.Command {
	var r replaying
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Try a configuration on a recorded log of sign-ins",
		Long: `Runs the engine over a log of sign-in attempts, on the log's own clock, and says
per limit how many attempts it would have denied, and how many of these had the
right credential: those were people. No service is needed, none is asked, and
nothing is stored. The same log and configuration give the same result.

FILE is a log, also one packed by gzip, or - for standard input.

  --format json   one JSON object a line:
                    time          RFC 3339, or seconds since 1970 (required)
                    ip            address of the client (required)
                    outcome       success or failure: whether the credential was
                                  right (required)
                    account       the name as it was typed; without one only the
                                  networks decide
                    realm, route  "default" and "login" when left out
                    device        any word for the browser, the same each time
                    password_tag  fingerprint of the password, never the password
                    reason        of a failure: bad_password, unknown_account,
                                  mfa_failed, other
                  Unknown and repeated members are refused, null is no value.
  --format sshd   what an OpenSSH server writes to syslog or the journal; all
                  other lines are passed over. Time stamps without a zone are
                  taken as UTC, those without a year as --year says.

An attempt that is let through ends as the log says; one that is denied teaches
nothing, since its credential was never looked at. With a device, a success
hands out a device token, which later attempts from it show. Where the engine
finds a time before that of an earlier line, it takes the later one.

--config names the configuration to try, --against another one, which is run
beside it: what would change, and for whom? Of both, the limits, routes, realms,
networks, identity rules and overrides count (those that have expired today are
left out). The store is always in memory, and one store: its url, instances and
the shards of a cluster play no part.

Accounts are shown by the hash that the service's log has, too, if the same
LOGINGUARD_IDENTITY_SECRET is set; --show-accounts shows the names of the log.

Exit status: 0 the log was replayed; 1 it was not, or not to its end; 2 the
command is wrong; and with --check, 3 if an attempt with the right credential is
denied, or with --against, one that the other configuration lets through.`,
		Example: `  loginguard replay yesterday.jsonl --config new.yaml --against config.yaml
  loginguard replay --format sshd /var/log/auth.log.1.gz --html report.html
  journalctl -u ssh -o short-iso | loginguard replay --format sshd - --show-accounts
  loginguard replay week.jsonl.gz --json --decisions decisions.jsonl
  loginguard replay good-day.jsonl --config new.yaml --check`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("replay needs one FILE, or - for standard input")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			r.log = args[0]
			if err := cmp.Or(r.validate(), r.separate(p.file())); err != nil {
				return usageError{err}
			}
			return p.replay(c.Context(), &r)
		},
	}
	f := c.Flags()
	f.StringVar(&p.configFile, "config", "", "configuration `file` to try (default ./"+config.DefaultFile+", which may be missing)")
	f.StringVar(&r.against, "against", "", "configuration `file` to compare with")
	f.StringVar(&r.options.Format, "format", replay.FormatJSON, "`form` of the log: json or sshd")
	f.IntVar(&r.options.Year, "year", 0, "`year` of the first line, where time stamps have none (default the latest that is not in the future)")
	f.BoolVar(&r.options.SkipBad, "skip-bad", false, "pass over lines that cannot be used, and count them")
	f.StringVar(&r.decisions, "decisions", "", "write one line of JSON for each attempt to `file`")
	f.StringVar(&r.html, "html", "", "write a page with plots to `file`")
	f.BoolVar(&r.showAccounts, "show-accounts", false, "show accounts by name, not by hash")
	f.BoolVar(&r.check, "check", false, "end with status 3 if an attempt with the right credential is denied")
	f.BoolVar(&r.engine.CanChallenge, "can-challenge", false, "the login can run a challenge, such as a CAPTCHA")
	f.StringVar(&r.engine.Caller, "caller", "", "`name` of the caller that asks, for overrides that match one")
	f.IntVar(&r.engine.MaxKeys, "max-keys", 0, "keep at most `N` counters at a time, some 220 bytes each (default 1000000)")
	f.BoolVar(&r.noProgress, "no-progress", false, "show no progress on a terminal")
	jsonFlag(c, &r.json)
	return c
}

// validate finds what is wrong in the command line itself.
func (r *replaying) validate() error {
	formats := []string{replay.FormatJSON, replay.FormatSSHD}
	switch {
	case !slices.Contains(formats, r.options.Format):
		return fmt.Errorf("--format is json or sshd, not %q", r.options.Format)
	case r.options.Year != 0 && (r.options.Year < 1971 || r.options.Year > 2199):
		return errors.New("--year is from 1971 to 2199")
	case r.options.Year != 0 && r.options.Format != replay.FormatSSHD:
		return errors.New("--year is for --format sshd: JSON lines have whole dates")
	case r.engine.MaxKeys < 0:
		return errors.New("--max-keys is a number above 0")
	}
	return nil
}

// separate refuses to write over what is read, which may be the only copy of a
// log, and to write two things into one file.
func (r *replaying) separate(config string) error {
	uses := []struct{ name, as string }{
		{r.html, "--html"}, {r.decisions, "--decisions"}, {r.log, "FILE"}, {config, "--config"}, {r.against, "--against"},
	}
	for i, out := range uses[:2] {
		if out.name == replay.Stdin {
			return fmt.Errorf("%s needs the name of a file", out.as)
		}
		for _, other := range uses[i+1:] {
			if out.name != "" && oneFile(out.name, other.name) {
				return fmt.Errorf("%s and %s name one file", out.as, other.as)
			}
		}
	}
	return nil
}

// oneFile reports whether two names are of one file, which need not exist. What
// is no regular file, such as a terminal, is not written over.
func oneFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
	}
	a, errA = filepath.Abs(a)
	b, errB = filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}
