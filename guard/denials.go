package guard

import (
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"loginguard/policy"
	"loginguard/store"
)

// denialMost is the longest for which a denial is repeated without asking the
// store. A refund or an operator's forget at another instance may open the
// bucket meanwhile, and nobody tells this one.
const denialMost = time.Second

// denialsFew is how many denials by one bucket within a second are still the
// store's own: one person who tries again and again costs it nothing to speak
// of, and is let in the moment that somebody opens the bucket. More are a flood.
const denialsFew = 16

// denials remembers which buckets were found dry, and until when, so that a
// flood at one account or from one network is denied without the store. Only
// strangers' attempts are denied by it: for the lanes of the owner the store is
// asked, always. nil remembers nothing. It is safe for concurrent use.
//
// An attempt is known to be a stranger's when the account's record, as it was
// at the last denial, knows neither its network nor a wrong password tag from
// there; see [store.Taken.Stranger]. Of an account that is new in a flood from a
// closed network, the store is asked that alone; see [Guard.look].
type denials struct {
	clock     func() time.Time               // time.Now, but for tests
	cleared   atomic.Int64                   // when everything was forgotten, in nanoseconds since 1970
	few       int64                          // denialsFew, but for tests
	dry       *lru.Cache[string, *dryBucket] // by key, or record and field
	strangers *lru.Cache[string, denied]     // by record
}

// dryBucket is one bucket that refused, as the store last saw it.
type dryBucket struct {
	store.Bucket
	capacity, interval, cost int64 // of the charge: another size or cost is another question
	seen, until              time.Time

	from  time.Time    // when the second began in which its denials are counted
	count atomic.Int64 // of denials in it, by the store and from memory
	flood bool         // there were many in the second before
}

// flooded tells whether denials are so many that memory answers.
func (b *dryBucket) flooded(few int64) bool { return b.flood || b.count.Load() >= few }

// follow counts on from what was learned of the bucket before.
func (b *dryBucket) follow(before *dryBucket, few int64) {
	switch passed := b.seen.Sub(before.from); {
	case passed < time.Second:
		b.from, b.flood = before.from, before.flood
		b.count.Store(before.count.Load())
	case passed < 2*time.Second:
		b.flood = before.count.Load() >= few
	}
}

// denied is what a denial told about an account.
type denied struct {
	store.Taken
	until time.Time
}

// newDenials returns a memory of at most n buckets and as many accounts; the
// longest unused is forgotten first, which costs a question to the store.
func newDenials(n int) *denials {
	if n <= 0 {
		return nil
	}
	dry, err1 := lru.New[string, *dryBucket](n)
	strangers, err2 := lru.New[string, denied](n)
	if err1 != nil || err2 != nil {
		return nil // only of a size that is not positive
	}
	return &denials{clock: time.Now, few: denialsFew, dry: dry, strangers: strangers}
}

// now is the moment that what is learned and recalled counts from.
func (m *denials) now() time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.clock()
}

// memory is how far an attempt can be denied from it.
type memory int

const (
	knowsNothing  memory = iota
	knowsNetworks        // a network is closed, of the account nothing is known
	knowsAll
)

// recall answers an attempt that is certain to be denied still. The answer
// holds the buckets that are known to be dry, with what is left of their waits.
func (m *denials) recall(plan policy.Plan, r resolved, q Request, now time.Time) (store.Taken, memory) {
	// An id may have been admitted before, a device has a lane of its own, and
	// a challenge needs to know of every bucket.
	if m == nil || q.ID != "" || r.Device != nil || q.CanChallenge || r.ChallengePassed {
		return store.Taken{}, knowsNothing
	}
	knows := knowsAll
	if t := &plan.Take; t.Record != "" {
		switch d, ok := m.strangers.Get(t.Record); {
		case !ok || !now.Before(d.until):
			knows = knowsNetworks
		case !d.Stranger(t.Network, t.RepeatNetwork.Source):
			return store.Taken{}, knowsNothing
		}
	}
	out := store.Taken{Outcome: store.Denied, Lane: store.LaneStranger, Buckets: make([]store.Bucket, len(plan.Take.Charges))}
	known, found := make([]*dryBucket, 0, 4), false
	for i := range plan.Take.Charges {
		c := &plan.Take.Charges[i]
		if c.When&store.LaneStranger == 0 {
			continue
		}
		if c.LogOnly {
			return store.Taken{}, knowsNothing // what it would have done is the store's to say
		}
		b, ok := m.dry.Get(bucketName(plan.Take.Record, c))
		if !ok || !now.Before(b.until) || b.cost != c.Cost || b.capacity != c.Limit.Capacity || b.interval != c.Limit.Interval {
			continue
		}
		known = append(known, b)
		left, passed := b.Bucket, now.Sub(b.seen).Microseconds()
		left.Wait, left.Missing = max(1, left.Wait-passed), max(0, left.Missing-passed)
		out.Buckets[i] = left
		// Any that is known to be dry may wait longest, but a flood is what is
		// answered from memory. Not one at global: it names a denial only where
		// no other bucket is dry, and of those nothing is known.
		found = found || b.flooded(m.few) && !plan.Rules[i].Global
	}
	if !found {
		return store.Taken{}, knowsNothing
	}
	for _, b := range known {
		b.count.Add(1)
	}
	return out, knows
}

// learn remembers a denial by the store. began is when the store was asked:
// every wait counts from then, or later.
func (m *denials) learn(plan policy.Plan, t store.Taken, began time.Time) {
	if m == nil || t.Outcome != store.Denied || t.Lane != store.LaneStranger || plan.Take.Record != "" && t.Sources == nil {
		return
	}
	if began.UnixNano() < m.cleared.Load() {
		return // it may have been decided before that
	}
	if plan.Take.Record != "" {
		m.strangers.Add(plan.Take.Record, denied{store.Taken{Sources: t.Sources}, began.Add(denialMost)})
	}
	for i, b := range t.Buckets {
		c := &plan.Take.Charges[i]
		if !b.Applies || !b.Dry || c.LogOnly || i == plan.Take.Challenged {
			continue
		}
		name := bucketName(plan.Take.Record, c)
		now := &dryBucket{
			Bucket: b, cost: c.Cost, capacity: c.Limit.Capacity, interval: c.Limit.Interval,
			seen: began, from: began, until: began.Add(min(denialMost, time.Duration(b.Wait)*time.Microsecond)),
		}
		if before, ok := m.dry.Get(name); ok {
			now.follow(before, m.few) // two at once may lose a count: a flood goes on
		}
		now.count.Add(1)
		m.dry.Add(name, now)
	}
}

// settled forgets what the end of an attempt may have changed: buckets that it
// refunds, and from where its account signs in.
func (m *denials) settled(s store.Settle) {
	if m == nil {
		return
	}
	if s.Record != "" {
		m.strangers.Remove(s.Record)
	}
	for _, f := range s.Refunds {
		m.dry.Remove(bucketName(s.Record, &store.Charge{Key: f.Key, Field: f.Field}))
	}
}

// clear forgets everything: for new rules, and for an operator who lets
// somebody in.
func (m *denials) clear() {
	if m == nil {
		return
	}
	m.cleared.Store(m.now().UnixNano())
	m.strangers.Purge()
	m.dry.Purge()
}

// bucketName names the bucket of a charge: no key contains a blank.
func bucketName(record string, c *store.Charge) string {
	if c.Field != "" {
		return record + " " + c.Field
	}
	return c.Key
}
