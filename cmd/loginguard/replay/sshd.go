package replay

import (
	"bytes"
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"loginguard/guard"
)

// mostRepeats bounds how often one line may say that the message was repeated.
const mostRepeats = 1_000_000

// sshd reads what an OpenSSH server says of attempts, in lines of syslog or of
// the journal:
//
//	Failed password for [invalid user ]NAME from IP port N ssh2
//	Failed keyboard-interactive/pam for ...
//	Accepted METHOD for NAME from IP port N ssh2[: KEY]
//	message repeated N times: [ one of these]
//	last message repeated N times
//
// All other lines are passed over. Among them are "Invalid user", which comes
// before the failure and not in its place; "Failed none", with which a client
// asks what it may try; and "Failed publickey": nobody guesses a key, and a
// client offers all that it has.
type sshd struct {
	stamp stamps
	last  Event // of the line before, when it was an attempt
	again bool
}

func newSSHD(year int, now time.Time) *sshd { return &sshd{stamp: stamps{year: year, now: now}} }

var (
	// program is what stands between the host and the message, in the old
	// layout and in that of RFC 5424.
	program = regexp.MustCompile(`^\S+ (?:\S*/)?sshd(?:-session|-auth)?(?:\[\d+\])?: +(.*)$`)
	version = regexp.MustCompile(`^\S+ (?:\S*/)?sshd(?:-session|-auth)? \S+ \S+ (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?(?:\x{FEFF})?(.*)$`)

	repeated     = regexp.MustCompile(`^message repeated (\d+) times?: \[ ?(.*)\]$`)
	lastRepeated = regexp.MustCompile(`^\S+ last message repeated (\d+) times?$`)

	// The name is the client's to choose, blanks, "from" and "port" included:
	// of a failure, what the server itself wrote is the end of the line. A
	// success has a key's name behind it, but then the account exists.
	failed   = regexp.MustCompile(`^Failed (?:password|keyboard-interactive\S*) for ((?:invalid|illegal) user )?(.*) from (\S+) port \d+(?: ssh\d?)?$`)
	accepted = regexp.MustCompile(`^Accepted \S+ for (.*?) from (\S+) port \d+(?: ssh\d?)?(?:: .*)?$`)
)

// errSSHD is returned for a line that speaks of an attempt and is not understood.
var errSSHD = errors.New("speaks of an attempt, but is no line of an SSH server that is known here")

// parse reads one line, and returns how many attempts it stands for.
func (s *sshd) parse(line []byte) (Event, int, error) {
	again := s.again
	s.again = false
	at, rest, err := s.stamp.cut(string(line))
	if err != nil {
		if !bytes.Contains(line, []byte("sshd")) || !speaks(string(line)) {
			return Event{}, 0, nil
		}
		return Event{}, 0, err
	}
	if m := lastRepeated.FindStringSubmatch(rest); m != nil {
		if !again {
			return Event{}, 0, nil
		}
		ev := s.last
		ev.Time = at
		s.again = true
		n, err := times(m[1])
		return ev, n, err
	}
	message, ok := message(rest)
	if !ok {
		return Event{}, 0, nil
	}
	n := 1
	if m := repeated.FindStringSubmatch(message); m != nil {
		if n, err = times(m[1]); err != nil {
			return Event{}, 0, err
		}
		message = m[2]
	}
	ev, ok, err := attempt(message)
	if err != nil || !ok {
		return Event{}, 0, err
	}
	ev.Time = at
	s.last, s.again = ev, true
	return ev, n, nil
}

// message returns what the server itself wrote; ok is false for other programs.
func message(rest string) (text string, ok bool) {
	for _, layout := range [...]*regexp.Regexp{program, version} {
		if m := layout.FindStringSubmatch(rest); m != nil {
			return m[1], true
		}
	}
	return "", false
}

// attempt reads the server's message; ok is false when it is about no attempt.
func attempt(message string) (ev Event, ok bool, err error) {
	var ip string
	switch {
	case strings.HasPrefix(message, "Failed password "), strings.HasPrefix(message, "Failed keyboard-interactive"):
		m := failed.FindStringSubmatch(message)
		if m == nil {
			return Event{}, false, errSSHD
		}
		ev.Outcome, ev.Account, ip = guard.Failure, m[2], m[3]
		if m[1] != "" {
			ev.Reason = guard.UnknownAccount
		}
	case strings.HasPrefix(message, "Accepted "):
		m := accepted.FindStringSubmatch(message)
		if m == nil {
			return Event{}, false, errSSHD
		}
		ev.Outcome, ev.Account, ip = guard.Success, m[1], m[2]
	default:
		return Event{}, false, nil
	}
	if _, err := netip.ParseAddr(ip); err != nil {
		return Event{}, false, bad("ip", clip(ip)+" is not an address")
	}
	ev.IP = ip
	return ev, true, nil
}

// speaks reports whether a line may be about an attempt.
func speaks(line string) bool {
	return strings.Contains(line, "Failed password for ") || strings.Contains(line, "Failed keyboard-interactive") ||
		strings.Contains(line, "Accepted ")
}

func times(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostRepeats {
		return 0, errors.New("repeats a message " + clip(text) + " times")
	}
	return n, nil
}
