package store

import "testing"

func TestDebitEndsAtAnHour(t *testing.T) {
	for _, z := range []size{plainSize(30, 120*second), plainSize(1, hour), plainSize(1000, 3600000)} {
		var s state
		for range 3 * z.capacity {
			s = judge(s, z, 1, start).debit(z, 1).state(z)
			if v := judge(s, z, 1, start); v.wait > hour {
				t.Fatalf("%+v waits for %d", z, v.wait)
			}
		}
		v := judge(s, z, 1, start)
		if !v.dry() || v.wait != hour || v.cut {
			t.Errorf("%+v: %+v after many debits, want an hour", z, v)
		}
		if v := judge(s, z, 1, start+hour); v.dry() {
			t.Errorf("%+v is dry after an hour", z)
		}
	}
}

// TestDebitNeverFills: where the backoff has lent more than a debit may, the
// debit leaves the debt as it is.
func TestDebitNeverFills(t *testing.T) {
	z := accountSize()
	deep := state{full: start + 14*z.interval, capacity: z.capacity, interval: z.interval, strikes: 4, last: start}
	v := judge(deep, z, 1, start)
	if got := v.debit(z, 1).missing; got != v.missing {
		t.Errorf("missing %d after a debit, was %d", got, v.missing)
	}
}

// TestDebtAndLoansAddUp: what is lent on top of the deepest debit is owed too.
func TestDebtAndLoansAddUp(t *testing.T) {
	z := size{capacity: 2, interval: 600 * second, debt: hour - 600*second, waits: []int64{second, 600 * second}, forget: hour}
	var s state
	for range 20 {
		s = judge(s, z, 1, start).debit(z, 1).state(z)
	}
	s, v := attempt(s, z, 1, start)
	if !v.dry() || v.wait != second {
		t.Fatalf("%+v, want a first wait", v)
	}
	s, v = attempt(s, z, 1, start+second)
	if !v.loan {
		t.Fatalf("%+v, want one attempt lent", v)
	}
	want := z.capacity*z.interval + z.debt + z.interval - second
	if v := judge(s, z, 1, start+second); v.cut || v.missing != want {
		t.Errorf("%+v, want %d missing", v, want)
	}
}
