package guard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// The carrier's customers, see carriersize*_test.go, share 32 addresses.
const gateways = 32

// behind returns the address that a subscriber has at the moment.
func behind(gateway int) string { return fmt.Sprintf("100.64.%d.1", gateway) }

func subscriber(i int) string { return fmt.Sprintf("subscriber%d@carrier.example", i) }

// carrier is a bench on which every subscriber has signed in during the days
// before, from the pool.
func carrier(t *testing.T) (*bench, *rand.Rand) {
	t.Helper()
	b := newBench(t)
	r := rand.New(rand.NewPCG(7, 11))
	for i := range subscribers {
		b.add(7 * time.Second) // over a day and a half
		b.signIn(from(subscriber(i), behind(i%gateways)))
	}
	return b, r
}

// ordinary is one sign-in of a person who mistypes now and then, waits when
// told to, and ends with the right password. It counts denied attempts.
func (b *bench) ordinary(r *rand.Rand, i int) (denied int) {
	for {
		d := b.check(from(subscriber(i), behind(r.IntN(gateways))))
		if d.Verdict != Allow {
			return denied + 1
		}
		if r.Float64() >= 0.08 {
			b.report(Report{Attempt: d.Attempt, Outcome: Success})
			return denied
		}
		b.fail(d)
	}
}

func TestSubscribersOfACarrierAreNeverDenied(t *testing.T) {
	b, r := carrier(t)
	denied := 0
	for _, i := range r.Perm(subscribers) {
		b.add(hours * time.Hour / subscribers)
		denied += b.ordinary(r, i)
	}
	if denied != 0 {
		t.Errorf("%d attempts of subscribers were denied, want none", denied)
	}
}

// A guest of the carrier tries a leaked list, two a second: the others do not
// notice, and he does not get far.
func TestGuestWhoStuffsFromACarrierHurtsNobody(t *testing.T) {
	b, r := carrier(t)
	ctx := context.Background()
	order, next := r.Perm(subscribers), 0
	denied, admitted := 0, 0
	for n := range hours * 3600 * 2 {
		b.add(500 * time.Millisecond)
		// Names from a leak; one in fifty is a subscriber.
		name := fmt.Sprintf("leaked%d@mail.example", n)
		if n%50 == 0 {
			name = subscriber(r.IntN(subscribers))
		}
		d, err := b.Check(ctx, idp, from(name, behind(r.IntN(gateways))))
		if err != nil {
			t.Fatal(err)
		}
		if d.Verdict == Allow {
			admitted++
			b.fail(d)
		}
		for next < len(order) && next*hours*3600*2 < n*subscribers {
			denied += b.ordinary(r, order[next])
			next++
		}
	}
	if denied != 0 {
		t.Errorf("%d attempts of subscribers were denied, want none", denied)
	}
	if admitted > 2500 {
		t.Errorf("%d guesses of the guest were admitted, want at most 2500", admitted)
	}
	t.Logf("%d of %d guesses admitted", admitted, hours*3600*2)
}
