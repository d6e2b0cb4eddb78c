package edge

import (
	"sync"
	"time"
)

// table holds one token bucket for each network, up to a bound. It is safe for
// concurrent use.
//
// A bucket is a single number, the time at which it is full again (the
// "theoretical arrival time" of GCRA, ITU-T I.371), so there is nothing to
// refill. The networks are in a list from the one that asked last to the one
// that has been quiet for longest, whose place goes to a newcomer: as soon as
// its bucket is full again, since it then says nothing that a new bucket would
// not say, and at the bound in any case. A network that is dropped before it
// was full comes back with all of its burst. To win that once, an attacker has
// to own as many networks as the table holds, and would have their bursts
// anyway. The other choice, refusing newcomers, would let the same attacker
// shut out everybody else.
type table struct {
	interval time.Duration // between two requests at the allowed rate
	slack    time.Duration // how far ahead of it a burst may be
	most     int           // networks

	mu     sync.Mutex
	index  map[key]int32
	nodes  []node
	newest int32 // the ends of the list, none when it is empty
	oldest int32
}

// none is the place of no node.
const none = -1

// node is a network and its bucket, linked by places in the table's slice: like
// its key, it has no pointers.
type node struct {
	network      key
	full         time.Duration // when the bucket is full again, on the clock of take
	newer, older int32
}

// room says what was done to find a place for a network.
type room int

const (
	known  room = iota // it had one, or took over that of one that was full again
	grown              // the table has one network more
	forced             // another network was dropped before it was full again
)

// newTable makes an empty table. interval must be above 0 and burst, the
// number of requests that may come at once, at least 1; their product must not
// overflow. most is from 1 to the largest int32.
func newTable(interval time.Duration, burst, most int) *table {
	return &table{
		interval: interval, slack: time.Duration(burst-1) * interval, most: most,
		index: make(map[key]int32), newest: none, oldest: none,
	}
}

// take lets one request of a network pass, and returns 0, or the time after
// which the next one will. A request that has to wait costs nothing, so that a
// flood of any strength still gets its rate and not more. now is the time
// since any fixed moment; when it steps back, as between two requests that
// race for the lock, nothing is given back twice.
func (t *table) take(network key, now time.Duration) (wait time.Duration, r room) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, r := t.place(network, now)
	n := &t.nodes[at]
	full := max(n.full, now)
	if wait = full - now - t.slack; wait > 0 {
		return wait, r
	}
	n.full = full + t.interval
	return 0, r
}

// place returns where a network's node is, at the head of the list.
func (t *table) place(network key, now time.Duration) (int32, room) {
	if at, ok := t.index[network]; ok {
		if at != t.newest {
			t.unlink(at)
			t.lead(at)
		}
		return at, known
	}
	r := known
	at := t.oldest
	switch {
	case at != none && t.nodes[at].full <= now:
		t.drop(at)
	case len(t.nodes) < t.most:
		at, r = int32(len(t.nodes)), grown
		t.nodes = append(t.nodes, node{})
	default:
		t.drop(at)
		r = forced
	}
	t.nodes[at].network, t.nodes[at].full = network, 0
	t.index[network] = at
	t.lead(at)
	return at, r
}

// drop forgets the network at a place.
func (t *table) drop(at int32) {
	delete(t.index, t.nodes[at].network)
	t.unlink(at)
}

// unlink takes a node out of the list.
func (t *table) unlink(at int32) {
	n := t.nodes[at]
	if n.newer == none {
		t.newest = n.older
	} else {
		t.nodes[n.newer].older = n.older
	}
	if n.older == none {
		t.oldest = n.newer
	} else {
		t.nodes[n.older].newer = n.newer
	}
}

// lead puts a node that is in no list at the head.
func (t *table) lead(at int32) {
	t.nodes[at].newer, t.nodes[at].older = none, t.newest
	if t.newest == none {
		t.oldest = at
	} else {
		t.nodes[t.newest].newer = at
	}
	t.newest = at
}
