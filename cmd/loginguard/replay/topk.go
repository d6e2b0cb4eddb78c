package replay

import (
	"cmp"
	"container/heap"
	"slices"
)

// topKeep is how many counters a [top] has. Whatever makes up more than a
// topKeep-th of all that was counted is among them, and what may be missing
// from its number, from before it was, is no more than that.
const topKeep = 4096

// top finds the names that were counted most often, in bounded memory: the
// Space-Saving algorithm of Metwally, Agrawal and El Abbadi (2005). Beyond
// topKeep names, a new one takes the place and the count of the smallest.
type top struct {
	byName map[string]*topEntry
	order  topHeap // smallest first
}

type topEntry struct {
	Count
	total int64
	index int // in the heap
}

func newTop() *top { return &top{byName: make(map[string]*topEntry)} }

// add counts one attempt under name.
func (t *top) add(name string, denied, wouldDeny, right bool) {
	e, ok := t.byName[name]
	switch {
	case ok:
	case len(t.order) < topKeep:
		e = &topEntry{Count: Count{Name: name}}
		t.byName[name] = e
		heap.Push(&t.order, e)
	default:
		e = t.order[0]
		delete(t.byName, e.Name)
		e.Count = Count{Name: name, AtMostMissed: e.total}
		t.byName[name] = e
	}
	e.total++
	count(&e.Denied, denied)
	count(&e.WouldDeny, wouldDeny)
	count(&e.Successes, right)
	heap.Fix(&t.order, e.index)
}

// most returns the n names that were counted most, the first first.
func (t *top) most(n int) []Count {
	all := slices.Clone(t.order)
	slices.SortFunc(all, func(a, b *topEntry) int {
		return cmp.Or(cmp.Compare(b.total-b.AtMostMissed, a.total-a.AtMostMissed), cmp.Compare(a.Name, b.Name))
	})
	list := make([]Count, 0, n)
	for _, e := range all[:min(n, len(all))] {
		list = append(list, e.Count)
	}
	return list
}

// topHeap implements heap.Interface.
type topHeap []*topEntry

func (h topHeap) Len() int { return len(h) }

// Less breaks ties by name, so that the same log gives the same table.
func (h topHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].total, h[j].total), cmp.Compare(h[i].Name, h[j].Name)) < 0
}

func (h topHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *topHeap) Push(x any) {
	e, _ := x.(*topEntry) // nothing else is pushed
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *topHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

func count(n *int64, yes bool) {
	if yes {
		*n++
	}
}
