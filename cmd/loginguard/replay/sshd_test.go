package replay

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
)

// readAll returns all events of a reader, with their times as text.
func readAll(t *testing.T, r *Reader) (lines []string) {
	t.Helper()
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		at := time.UnixMicro(ev.Time).UTC().Format("2006-01-02T15:04:05.999999")
		lines = append(lines, strings.Join([]string{at, `"` + ev.Account + `"`, ev.IP, ev.Outcome, ev.Reason}, " "))
	}
}

func TestSSHDFindsEveryAttemptOnce(t *testing.T) {
	r, err := Open("testdata/auth.log", LogOptions{Format: FormatSSHD, Year: 2025})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	root := `"root" 2001:db8::7 failure `
	forged := `"root from 203.0.113.1 port 22 ssh2" 198.51.100.9 failure unknown_account`
	want := []string{
		`2025-12-31T23:59:42 "oracle" 198.51.100.7 failure unknown_account`,
		`2026-01-01T00:00:01 ` + root,
		`2026-01-01T00:00:09 ` + root, `2026-01-01T00:00:09 ` + root, `2026-01-01T00:00:09 ` + root,
		`2026-01-01T00:00:10 ` + root, `2026-01-01T00:00:10 ` + root,
		`2025-12-31T23:59:59 "" 198.51.100.8 failure unknown_account`,
		`2026-01-01T00:00:12 " anna maria" 198.51.100.8 failure unknown_account`,
		`2026-01-01T00:00:14 "0" 198.51.100.8 failure unknown_account`,
		`2026-01-01T00:00:15 ` + forged, `2026-01-01T00:00:16 ` + forged,
		`2026-01-01T00:00:18 "dana" 203.0.113.9 success `,
		`2026-01-01T00:00:19 "dana" 203.0.113.9 success `,
		`2026-01-01T00:00:21 "eve" ::ffff:198.51.100.10 failure unknown_account`,
	}
	if diff := cmp.Diff(want, readAll(t, r)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if r.Lines() != 19 || r.Others() != 7 {
		t.Errorf("%d lines, %d of them about something else; want 19, 7", r.Lines(), r.Others())
	}
}

// TestSSHDTimeStamps reads one failure behind every form of a stamp that the
// usual loggers write.
func TestSSHDTimeStamps(t *testing.T) {
	const old, modern = "gate sshd[1]: Failed password for root from 192.0.2.1 port 1 ssh2", "2026-11-30T10:00:00"
	for stamp, want := range map[string]string{
		"Nov 30 10:00:00 " + old:                  modern,
		"Nov 30 10:00:00.25 " + old:               modern + ".25",
		"<38>Nov 30 10:00:00 " + old:              modern,
		"2026-11-30T10:00:00Z " + old:             modern,
		"2026-11-30T12:00:00.123456+02:00 " + old: modern + ".123456",
		"2026-11-30T12:00:00+0200 " + old:         modern,
		"2026-11-30 10:00:00,5 " + old:            modern + ".5",
		"1796032800.000001 " + old:                modern + ".000001",
		"<38>1 2026-11-30T10:00:00Z gate sshd 1 - - Failed password for root from 192.0.2.1 port 1 ssh2":                      modern,
		`<38>1 2026-11-30T10:00:00Z gate sshd 1 ID [a b="\]"][c@1 d="e"] Failed password for root from 192.0.2.1 port 1 ssh2`: modern,
	} {
		r, err := NewReader(strings.NewReader(stamp+"\n"), "log", LogOptions{Format: FormatSSHD, Year: 2026})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want + ` "root" 192.0.2.1 failure `}, readAll(t, r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", stamp, diff)
		}
	}
}

func TestSSHDYear(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, lines string
		year        int
		want        []string // dates
	}{
		{"the latest that is not in the future", "Feb 28", 0, []string{"2026-02-28"}},
		{"last year's", "Dec 31", 0, []string{"2025-12-31"}},
		{"a zone ahead", "Mar  2", 0, []string{"2026-03-02"}},
		{"a leap day", "Feb 29", 0, []string{"2024-02-29"}},
		{"over New Year and back", "Dec 31,Jan  1,Dec 31,Jan  2", 2020, []string{"2020-12-31", "2021-01-01", "2020-12-31", "2021-01-02"}},
		{"two years", "Jun  1,Nov  1,Mar  1,Aug  1,Jan  1", 2020, []string{"2020-06-01", "2020-11-01", "2021-03-01", "2021-08-01", "2022-01-01"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log strings.Builder
			for day := range strings.SplitSeq(test.lines, ",") {
				log.WriteString(day + " 01:00:00 gate sshd[1]: Failed password for root from 192.0.2.1 port 1 ssh2\n")
			}
			r, err := NewReader(strings.NewReader(log.String()), "log", LogOptions{Format: FormatSSHD, Year: test.year, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range readAll(t, r) {
				got = append(got, line[:10])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("dates (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSSHDRefusesWhatItDoesNotUnderstand: a line about an attempt is never
// passed over in silence.
func TestSSHDRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for line, want := range map[string]string{
		"Nov 30 10:00:00 gate sshd[1]: Failed password for root":                                                                "speaks of an attempt",
		"Nov 30 10:00:00 gate sshd[1]: Failed password for root from UNKNOWN port 65535 ssh2":                                   "is not an address",
		"30/11/2026 10:00 gate sshd[1]: Failed password for root from 192.0.2.1 port 1 ssh2":                                    "begins with no time stamp",
		"Feb 30 10:00:00 gate sshd[1]: Failed password for root from 192.0.2.1 port 1 ssh2":                                     "in no calendar of 2026",
		"Nov 30 10:00:00 gate sshd[1]: message repeated 99999999 times: [ Failed password for root from 192.0.2.1 port 1 ssh2]": "repeats a message",
	} {
		r, err := NewReader(strings.NewReader("\n"+line+"\n"), "auth.log", LogOptions{Format: FormatSSHD, Year: 2026})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err == nil || !strings.HasPrefix(err.Error(), "auth.log:2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want auth.log:2 and %q", line, err, want)
		}
	}
}

func FuzzSSHD(f *testing.F) {
	for _, seed := range []string{
		"Nov 30 10:00:00 gate sshd[1]: message repeated 2 times: [ Failed password for invalid user a b from ::1 port 1 ssh2]\nNov 30 10:00:00 gate last message repeated 2 times",
		"<38>1 2026-11-30T10:00:00Z gate sshd 1 - [a b=\"c\"] Accepted password for x from 192.0.2.1 port 1 ssh2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		r, err := NewReader(strings.NewReader(log), "log", LogOptions{Format: FormatSSHD, SkipBad: true, Now: time.UnixMicro(morning)})
		if err != nil {
			return // it begins like gzip
		}
		for range 1000 {
			ev, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if ev.Outcome != guard.Success && ev.Outcome != guard.Failure || ev.IP == "" || !strings.Contains(log, ev.Account) {
				t.Errorf("an attempt that the log does not have: %+v", ev)
			}
		}
	})
}
