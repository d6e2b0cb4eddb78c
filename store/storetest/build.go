package storetest

import (
	"fmt"

	"loginguard/store"
)

// Spans in microseconds, and the moment at which virtual clocks begin.
const (
	second = int64(1e6)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
	start  = int64(1790000000000000)

	ttl      = 120 * second
	remember = 30 * day
)

// accountLimit is the limit of an account by default: 10 guesses, one more
// every 36 minutes, waits from half a minute to an hour.
func accountLimit() store.Limit {
	return store.Limit{
		Capacity: 10, Interval: 2160 * second, Forget: 6 * hour, Debt: hour - 2160*second,
		Waits: []int64{30 * second, minute, 2 * minute, 4 * minute, 8 * minute, 16 * minute, 32 * minute, hour},
	}
}

// familiarLimit is that of an account on a familiar network by default.
func familiarLimit() store.Limit {
	return store.Limit{
		Capacity: 10, Interval: 720 * second, Forget: 6 * hour, Debt: hour - 720*second,
		Waits: []int64{30 * second, minute, 2 * minute, 4 * minute, 8 * minute, 16 * minute, 30 * minute},
	}
}

// plainLimit is one without backoff.
func plainLimit(capacity, interval int64) store.Limit {
	return store.Limit{Capacity: capacity, Interval: interval, Debt: hour - interval}
}

// record returns the key of an account's record.
func record(account string) string { return "lg:{" + account + "}" }

// network returns the key of a network's bucket.
func network(name string) string { return "lg:{default/" + name + "}:h" }

// The charges of guess, by index.
const (
	onAccount = iota
	onFamiliar
	onDevice
	onRepeat
	onNetwork
)

// guess is one attempt at an account from a network at a moment: the account's
// four lanes, and one bucket of 1000 for the network.
func guess(account, from string, now int64) store.Take {
	key := record(account)
	return store.Take{
		Record: key, Network: from, Remember: remember, Challenged: -1,
		Attempt: fmt.Sprintf("%s-%s-%d", account, from, now), MaxUses: 4, TTL: ttl, Now: now,
		Charges: []store.Charge{
			onAccount:  {Key: key, Field: "a", Limit: accountLimit(), Cost: 1, When: store.LaneStranger, Mark: "a"},
			onFamiliar: {Key: key, Field: "f:" + from, Limit: familiarLimit(), Cost: 1, When: store.LaneFamiliar, Mark: "f"},
			onDevice:   {Key: key, Field: "d:phone", Limit: familiarLimit(), Cost: 1, When: store.LaneDevice, Mark: "d"},
			onRepeat:   {Key: key, Field: "r:" + from, Limit: plainLimit(10, 360*second), Cost: 1, When: store.LaneRepeatNetwork, Mark: "r"},
			onNetwork:  {Key: network(from), Limit: plainLimit(1000, second), Cost: 1, When: store.LaneStranger | store.LaneFamiliar, Mark: "h"},
		},
	}
}

// only returns k with just one of its charges.
func only(k store.Take, charge int) store.Take {
	k.Charges = k.Charges[charge : charge+1 : charge+1]
	return k
}

// single is an attempt on one bucket of its own, without an account.
func single(key string, l store.Limit, cost, now int64) store.Take {
	return store.Take{
		Remember: remember, Challenged: -1, Attempt: "single", Now: now,
		Charges: []store.Charge{{Key: key, Limit: l, Cost: cost, When: store.LaneStranger, Mark: "x"}},
	}
}

// settleOf ends the attempt k that was admitted as taken, at a moment: with
// nothing but its refunds laid out.
func settleOf(k store.Take, taken store.Taken, now int64) store.Settle {
	s := store.Settle{
		Marker: k.Record + ":t:" + taken.Attempt, Idempotence: k.Idempotence, Record: k.Record,
		Issued: taken.Issued, Expires: taken.Issued + ttl, Remember: remember, Sources: 8, Now: now,
	}
	for i, b := range taken.Buckets {
		if c := k.Charges[i]; b.Charged {
			s.Refunds = append(s.Refunds, store.Refund{Key: c.Key, Field: c.Field, Cost: c.Cost})
		}
	}
	return s
}

// success ends an attempt as a sign-in from its network.
func success(k store.Take, taken store.Taken, now int64) store.Settle {
	s := settleOf(k, taken, now)
	s.Refund, s.Learn, s.Network = true, true, k.Network
	return s
}

// failure ends an attempt as a wrong password, with the tag "" for none.
func failure(k store.Take, taken store.Taken, tag string, now int64) store.Settle {
	s := settleOf(k, taken, now)
	s.Fail, s.Wrong = true, store.Remembering{Source: "w:" + k.Network, Tag: tag}
	return s
}
