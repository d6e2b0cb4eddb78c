package policy

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// price is the cost that a bucket must be able to pay, and what demands it.
type price struct {
	cost  int64
	route string // "" where every attempt costs 1
}

// dearest returns the largest cost of a route, leaving out those that are
// refused by themselves.
func dearest(routes map[string]Route) price {
	p := price{cost: 1}
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		if r := routes[name]; r.Cost > p.cost && r.Cost <= maxCost {
			p = price{r.Cost, name}
		}
	}
	return p
}

// of returns what an attempt may cost on limit s: the account's own limits and
// password always cost 1.
func (p price) of(s *spec) price {
	if !s.routed {
		return price{cost: 1}
	}
	return p
}

// String names the cost the way a message can go on with it.
func (p price) String() string {
	if p.route == "" {
		return "the cost 1 of an attempt"
	}
	return fmt.Sprintf("the largest route cost %d (routes.%s.cost)", p.cost, p.route)
}

// fits checks that the numbers of limit i, each good by itself, go together: a
// bucket that can never pay, or pays only after hours, would lock people out.
// at is the path of an override that made the size, "" for the limit itself;
// its mistakes are told there, where they can be mended.
func fits(e *Errors, c *Config, i limit, dear price, l *Limit, at string) {
	s := &specs[i]
	capacityPath, refillPath := s.path+".capacity", s.path+".refill"
	maxPath, forgetPath := s.path+".backoff.max", s.path+".backoff.forget"
	if at != "" {
		capacityPath, refillPath = at+".capacity", at+".refill"
		maxPath, forgetPath = refillPath, refillPath
	}
	p := dear.of(s)
	interval := l.Refill.interval()
	if l.Capacity < p.cost {
		e.add(capacityPath, "%d is below %s: such an attempt could never be made", l.Capacity, p)
	}
	if wait := p.cost * interval; wait > hour {
		e.add(refillPath, "%s brings back %s only after %s, longer than 1h", l.Refill, p, span(micros(wait)))
	} else if n := int64(l.Shards); c.Shards && s.sharded && wait*n > hour {
		e.add(refillPath, "%s in %d shards brings back %s only after %s, longer than 1h: lower %s.shards",
			l.Refill, n, p, span(micros(wait*n)), s.path)
	}
	if l.Capacity*interval >= maxFill {
		e.add(refillPath, "%s fills a bucket of %d only after %d days, longer than the %d that can be counted",
			l.Refill, l.Capacity, micros(l.Capacity*interval)/day, micros(maxFill)/day)
	}
	b := l.Backoff
	if b == nil {
		return
	}
	if micros(interval) > b.Max {
		e.add(maxPath, "the longest wait %s is shorter than the refill interval %s (%s): waiting would bring more than the refill",
			span(b.Max), span(micros(interval)), l.Refill)
	}
	if least := memory(b, interval); b.Forget < least {
		e.add(forgetPath, "the backoff is forgotten after %s, before %s = (log_factor(max/base) + 1) x refill interval %s: forgetting would bring more than the refill",
			span(b.Forget), span(least.Round(time.Second)), span(micros(interval)))
	}
}
