package store

import (
	"fmt"
	"strconv"
	"strings"
)

// String writes what is remembered of an attempt: binding, uses, attempt,
// issued, expires, lane, replaced, marks, note, separated by blanks; uses 0 marks
// one that was reported.
func (m Remembered) String() string {
	b := make([]byte, 0, 120)
	b = append(b, m.Binding...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, m.uses, 10)
	b = append(b, ' ')
	b = append(b, m.Attempt...)
	replaced := int64(0)
	if m.Replaced {
		replaced = 1
	}
	for _, n := range [...]int64{m.Issued, m.expires, int64(m.Lane), replaced} {
		b = append(b, ' ')
		b = strconv.AppendInt(b, n, 10)
	}
	b = append(b, ' ')
	marks := "-"
	if len(m.Marks) > 0 {
		marks = strings.Join(m.Marks, ",")
	}
	return string(b) + marks + " " + m.Note
}

// parseRemembered reads what String wrote; what has expired is not found.
func parseRemembered(v string, now int64) (Remembered, error) {
	var m Remembered
	if v == "" {
		return m, nil
	}
	f := strings.Split(v, " ")
	var lane, replaced int64
	ok := len(f) == 9 && f[0] != "" && f[2] != "" && f[7] != "" && f[8] != "" &&
		number(f[1], &m.uses) && number(f[3], &m.Issued) && number(f[4], &m.expires) &&
		number(f[5], &lane) && lane <= int64(LaneRepeatNetwork) && number(f[6], &replaced)
	if !ok {
		return Remembered{}, fmt.Errorf("read idempotence key: %w", errCorrupt)
	}
	if now >= m.expires {
		return Remembered{}, nil
	}
	m.Found, m.Reported = true, m.uses == 0
	m.Binding, m.Attempt, m.Lane, m.Replaced, m.Note = f[0], f[2], Lane(lane), replaced == 1, f[8]
	if f[7] == "-" {
		return m, nil
	}
	m.Marks = strings.Split(f[7], ",")
	return m, nil
}
