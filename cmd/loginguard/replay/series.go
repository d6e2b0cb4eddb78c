package replay

// spans are the widths that a bin may have, in seconds. Each is a multiple of
// the one before, so that bins can be merged and still begin at round times.
var spans = [...]int64{1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600, 28 * 24 * 3600, 364 * 24 * 3600}

// mostBins bounds the bins of a series. Those of the widest span, some 230 for
// all the time that an event may have, fit in.
const mostBins = 288

// series counts events over time in a bounded number of bins, which grow wider
// as the log grows longer.
type series struct {
	span  int   // index in spans
	first int64 // start of the first bin, in units of its width since 1970
	bins  []bin
	kinds int
}

// bin is one stretch of time. Its counts are by kind, as the owner numbers them.
type bin []int64

func newSeries(kinds int) *series { return &series{kinds: kinds} }

// at returns the bin of a moment, in microseconds since 1970, which must not
// be before that of an earlier call.
func (s *series) at(micros int64) bin {
	for {
		n := micros / 1e6 / spans[s.span]
		if len(s.bins) == 0 {
			s.first = n
		}
		if n-s.first < mostBins {
			for int64(len(s.bins)) <= n-s.first {
				s.bins = append(s.bins, make(bin, s.kinds))
			}
			return s.bins[n-s.first]
		}
		s.widen()
	}
}

// widen merges bins into those of the next span.
func (s *series) widen() {
	factor := spans[s.span+1] / spans[s.span]
	s.span++
	first := s.first / factor
	var wide []bin
	for i, b := range s.bins {
		n := (s.first+int64(i))/factor - first
		for int64(len(wide)) <= n {
			wide = append(wide, make(bin, s.kinds))
		}
		for k, v := range b {
			wide[n][k] += v
		}
	}
	s.first, s.bins = first, wide
}

// width returns the width of a bin, in seconds.
func (s *series) width() int64 { return spans[s.span] }

// start returns the beginning of the first bin, in seconds since 1970.
func (s *series) start() int64 { return s.first * s.width() }
