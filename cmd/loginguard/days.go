package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// day is 24 hours: days are counted in UTC, where all are alike.
const day = 24 * time.Hour

// span is a flag for a length of time that people count in days.
type span struct {
	d     time.Duration
	given bool
}

// maxDays bounds a span; it is about a hundred years.
const maxDays = 36500

// Set reads a number of days or weeks, 7d or 2w, or a span such as 36h.
func (s *span) Set(text string) error {
	for unit, days := range map[string]int64{"d": 1, "w": 7} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseUint(number, 10, 16)
			if err != nil || int64(n)*days > maxDays {
				return errors.New("must be a number of days, such as 7d")
			}
			s.d, s.given = time.Duration(int64(n)*days)*day, true
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxDays*day {
		return errors.New("must be a span such as 7d, 2w or 36h")
	}
	s.d, s.given = d, true
	return nil
}

// String writes it as it is read.
func (s *span) String() string {
	switch {
	case !s.given:
		return ""
	case s.d%day == 0:
		return fmt.Sprintf("%dd", s.d/day)
	}
	return s.d.String()
}

// Type is the word for the value in the help.
func (s *span) Type() string { return "span" }
