package efficacy

// recipe is the login example of the rate-limiter-flexible documentation: the
// 101st failure of an address within a day blocks it for a day, the eleventh in
// a row of an address at one account (counted for 90 days) blocks the two for
// an hour. A success forgets the second. Only accounts that exist have one.
type recipe struct {
	addresses map[string]window
	pairs     map[pair]window
}

// window counts until it ends.
type window struct {
	n   int
	end int64
}

// hit counts one more, of at most most, in a window of so long; the first too
// many lasts for block.
func (w *window) hit(now int64, most int, long, block int64) {
	if now >= w.end {
		*w = window{0, now + long}
	}
	if w.n++; w.n == most+1 {
		w.end = now + block
	}
}

// wait returns how long the window is closed.
func (w window) wait(now int64, most int) int64 {
	if now >= w.end || w.n <= most {
		return 0
	}
	return w.end - now
}

const (
	recipeAddress = 100
	recipePair    = 10
)

func newRecipe() *recipe { return &recipe{make(map[string]window), make(map[pair]window)} }

func (m *recipe) try(a *Attempt) Answer {
	who := pair{a.Account, a.From.IP}
	address, both := m.addresses[a.From.IP], m.pairs[who]
	if wait := address.wait(a.At, recipeAddress); wait > 0 {
		return denied(wait)
	}
	if wait := both.wait(a.At, recipePair); wait > 0 {
		return denied(wait)
	}
	if a.Right {
		delete(m.pairs, who)
		return allowed
	}
	address.hit(a.At, recipeAddress, day, day)
	m.addresses[a.From.IP] = address
	if !a.Unknown {
		both.hit(a.At, recipePair, 90*day, hour)
		m.pairs[who] = both
	}
	return allowed
}
