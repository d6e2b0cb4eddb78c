package replay

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Sizes of a plot, in the units of its view box.
const (
	plotWidth  = 960
	plotHeight = 240
	plotLeft   = 52
	plotTop    = 10
	plotBottom = 28
)

// drawing is one plot of a page.
type drawing struct {
	Every  string // "per minute"
	SVG    template.HTML
	Legend []legend
}

type legend struct{ Name, Class string }

// plot draws the attempts over time as bars, and in them those that each limit
// denied, or with what "would" would have denied. It returns nil where there
// are none of these, but for the first of the two.
//
// An attempt may be one that several log-only limits would have denied. The bar
// is then cut off at the number of attempts.
func plot(o *Outcome, what string) *drawing {
	s := o.series
	if len(s.bins) == 0 {
		return nil
	}
	offset := 1
	if what == "would" {
		offset += len(o.Limits)
	}
	d := &drawing{Every: every(s.width())}
	highest := int64(1)
	used := make([]bool, len(o.Limits))
	any := false
	for _, b := range s.bins {
		highest = max(highest, b[kindAttempts])
		for i := range used {
			if b[offset+i] > 0 {
				used[i], any = true, true
			}
		}
	}
	if what == "would" && !any {
		return nil
	}
	c := &canvas{scale: niceTop(highest), bins: len(s.bins)}
	c.grid(s)
	bottoms := make([]int64, len(s.bins))
	for i, l := range o.Limits {
		if !used[i] {
			continue
		}
		d.Legend = append(d.Legend, legend{l.Name(), class(i)})
		c.bars(class(i), func(n int) (from, to int64) {
			from = bottoms[n]
			bottoms[n] = min(from+s.bins[n][offset+i], s.bins[n][kindAttempts])
			return from, bottoms[n]
		})
	}
	c.bars("rest", func(n int) (from, to int64) { return bottoms[n], s.bins[n][kindAttempts] })
	c.hints(o, offset)
	d.SVG = template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="Attempts over time; the table below has the sums">%s</svg>`,
		plotWidth, plotHeight, c.b.String()))
	return d
}

// canvas collects the elements of a plot. All that it writes are numbers, words
// of this package and names of limits, which are fixed.
type canvas struct {
	b     strings.Builder
	scale int64 // value at the top
	bins  int
}

func (c *canvas) x(n int) float64 {
	return plotLeft + float64(n)*float64(plotWidth-plotLeft-8)/float64(c.bins)
}

func (c *canvas) y(v int64) float64 {
	return plotTop + (plotHeight-plotTop-plotBottom)*(1-float64(v)/float64(c.scale))
}

// grid draws the axes: values at the left, moments below.
func (c *canvas) grid(s *series) {
	steps := int64(4)
	for c.scale%steps != 0 {
		steps--
	}
	for i := range steps + 1 {
		v := c.scale / steps * i
		fmt.Fprintf(&c.b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			plotLeft, plotWidth-8, c.y(v), c.y(v), plotLeft-6, c.y(v)+4, group(v))
	}
	length := s.width() * int64(len(s.bins))
	step := tickStep(length)
	format := "15:04:05"
	switch {
	case step >= 24*3600:
		format = "2 Jan 2006"
	case length > 24*3600:
		format = "2 Jan 15:04"
	case step >= 60:
		format = "15:04"
	}
	for at := (s.start() + step - 1) / step * step; at < s.start()+length; at += step {
		x := plotLeft + float64(at-s.start())/float64(length)*(plotWidth-plotLeft-8)
		if x < plotWidth-70 {
			fmt.Fprintf(&c.b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text x="%.1f" y="%d">%s</text>`,
				x, x, plotHeight-plotBottom, plotHeight-plotBottom+5, x, plotHeight-8, time.Unix(at, 0).UTC().Format(format))
		}
	}
}

// tickStep is the time between two moments at an axis of such a length: round,
// and no more than seven of them. All in seconds.
func tickStep(length int64) int64 {
	steps := [...]int64{1, 5, 10, 30, 60, 300, 600, 1800, 3600, 2 * 3600, 4 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 2 * 24 * 3600}
	for _, step := range steps {
		if length/step < 7 {
			return step
		}
	}
	const week = 7 * 24 * 3600
	return (length/7/week + 1) * week
}

// bars draws one bar a bin, as one path.
func (c *canvas) bars(class string, of func(n int) (from, to int64)) {
	var path strings.Builder
	for n := range c.bins {
		from, to := of(n)
		if to <= from {
			continue
		}
		left, right := c.x(n), c.x(n+1)
		if right-left > 6 {
			right -= 1 // a gap, where there is room for one
		}
		fmt.Fprintf(&path, "M%.1f %.1fH%.1fV%.1fH%.1fZ", left, c.y(from), right, c.y(to), left)
	}
	if path.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="%s" d="%s"/>`, class, path.String())
	}
}

// hints lays an invisible field over each bin, which tells its numbers.
func (c *canvas) hints(o *Outcome, offset int) {
	s := o.series
	for n, b := range s.bins {
		if b[kindAttempts] == 0 {
			continue
		}
		at := time.Unix(s.start()+int64(n)*s.width(), 0).UTC()
		fmt.Fprintf(&c.b, `<rect class="hit" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s: %s`,
			c.x(n), plotTop, c.x(n+1)-c.x(n), plotHeight-plotTop-plotBottom, moment(at), plural(b[kindAttempts], "attempt"))
		for i, l := range o.Limits {
			if v := b[offset+i]; v > 0 {
				fmt.Fprintf(&c.b, ", %s %d", l.Name(), v)
			}
		}
		c.b.WriteString("</title></rect>")
	}
}

// niceTop is the least of 1, 2, 4, 5, 8 times a power of ten, or of 3 and 6
// times one, that is not below v.
func niceTop(v int64) int64 {
	for ten := int64(1); ; ten *= 10 {
		for _, n := range [...]int64{1, 2, 3, 4, 5, 6, 8} {
			if n*ten >= v {
				return n * ten
			}
		}
	}
}

// every names the width of a bin.
func every(seconds int64) string {
	for _, unit := range [...]struct {
		seconds int64
		name    string
	}{{7 * 24 * 3600, "week"}, {24 * 3600, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}} {
		if n := seconds / unit.seconds; seconds%unit.seconds == 0 && n > 1 {
			return fmt.Sprintf("per %d %ss", n, unit.name)
		} else if n == 1 && seconds%unit.seconds == 0 {
			return "per " + unit.name
		}
	}
	return ""
}
