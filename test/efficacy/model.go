package efficacy

import "time"

// rule is the documented behaviour of a product, as far as it decides on
// passwords.
type rule interface{ try(*Attempt) Answer }

// modelled makes a Policy of a model.
type modelled struct{ rule }

// Try implements [Policy].
func (m modelled) Try(a *Attempt) (Answer, error) { return m.try(a), nil }

// Close implements [Policy].
func (modelled) Close() {}

func model(make func() rule) func(Variant) (Policy, error) {
	return func(Variant) (Policy, error) { return modelled{make()}, nil }
}

var allowed = Answer{Allowed: true}

// denied is the answer of a lock that ends after so many microseconds.
func denied(wait int64) Answer { return Answer{Wait: time.Duration(wait) * time.Microsecond} }
