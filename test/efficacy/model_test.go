package efficacy

import (
	"fmt"
	"net/netip"
	"testing"
)

// at returns the place with an address.
func at(address string) *Place { return placeOf(netip.MustParseAddr(address)) }

// guessing is how many of n different wrong passwords, one every so often, a
// policy lets through, and how long the last one has to wait.
func guessing(p rule, n int, every int64, who func(i int) (account, address string)) (through int, wait int64) {
	for i := range n {
		account, address := who(i)
		answer := p.try(&Attempt{At: monday + int64(i)*every, Account: account, From: at(address), Password: fmt.Sprint("wrong", i), Guess: true})
		if answer.Allowed {
			through++
		}
		wait = answer.Wait.Microseconds()
	}
	return through, wait
}

func same(int) (string, string)         { return "alice", "192.0.2.1" }
func manyPlaces(i int) (string, string) { return "alice", fmt.Sprintf("192.0.%d.%d", i/250, i%250) }
func manyNames(i int) (string, string)  { return fmt.Sprint("name", i), "192.0.2.1" }

// Every model does what the page that it is taken from says.
func TestModelsDoWhatIsDocumented(t *testing.T) {
	tests := []struct {
		what  string
		model rule
		n     int
		every int64
		who   func(int) (string, string)
		want  int
		wait  int64
	}{
		{"Keycloak locks for a minute at the 30th", newKeycloak(), 31, 2 * second, manyPlaces, 30, minute - 2*second},
		{"Keycloak locks for a minute at the second within a second", newKeycloak(), 3, second / 2, same, 2, minute - second/2},
		{"Keycloak counts no addresses", newKeycloak(), 500, second, manyNames, 500, 0},
		{"Auth0 blocks an address and an account after ten", newAuth0(), 11, 20 * second, same, 10, day},
		{"Auth0 blocks no account for other addresses", newAuth0(), 500, 20 * second, manyPlaces, 500, 0},
		{"Auth0 throttles an address after a hundred", newAuth0(), 101, second, manyNames, 100, 864*second - 100*second},
		{"Entra locks for a minute after ten", newEntra(), 11, second, manyPlaces, 10, minute - second},
		{"Cognito locks for a second after five", newCognito(), 6, second / 2, manyPlaces, 5, second / 2},
		{"the recipe blocks an address and an account for an hour at the eleventh", newRecipe(), 12, second, same, 11, hour - second},
		{"the recipe blocks an address for a day at the hundred and first", newRecipe(), 102, second, manyNames, 101, day - second},
		{"fail2ban bans an address at the fifth", newFail2ban(), 6, second, manyNames, 5, 10*minute - second},
		{"fail2ban forgets after ten minutes", newFail2ban(), 50, 150*second + 1, same, 50, 0},
		{"devise locks for an hour at the twentieth", newDevise(), 21, second, manyPlaces, 20, hour - second},
		{"axes locks an address out at the third", newAxes(), 4, second, manyNames, 3, 2 * hour},
		{"Mailu stops at fifty a day", newMailu(), 51, second, manyPlaces, 50, day - 50*second},
		{"wforce blacklists for five minutes beyond ninety", newWforce(), 92, second, manyPlaces, 91, 300 * second},
		{"buckets give ten at once", newBuckets(), 11, 0, same, 10, 6 * second},
		{"buckets give one every six seconds", newBuckets(), 100, 6 * second, same, 100, 0},
	}
	for _, test := range tests {
		through, wait := guessing(test.model, test.n, test.every, test.who)
		if through != test.want || wait != test.wait {
			t.Errorf("%s: %d get through and the last waits %d s, want %d and %d", test.what, through, wait/second, test.want, test.wait/second)
		}
	}
}

// A success starts anew what is documented to be, and nothing else.
func TestModelsAfterASuccess(t *testing.T) {
	tests := []struct {
		what  string
		model rule
		free  int // guesses that are let through before a success
		want  int // and of 30 after it, from the same address
	}{
		{"Keycloak", newKeycloak(), 29, 30},
		{"Auth0", newAuth0(), 9, 10},
		{"Entra", newEntra(), 9, 10},
		{"Cognito", newCognito(), 4, 5},
		{"recipe", newRecipe(), 10, 11},
		{"fail2ban", newFail2ban(), 4, 1},
		{"devise", newDevise(), 19, 20},
		{"axes", newAxes(), 2, 1},
		{"Mailu", newMailu(), 49, 30}, // the address is exempt
		{"wforce", newWforce(), 30, 30},
		{"buckets", newBuckets(), 5, 4},
	}
	for _, test := range tests {
		now := monday
		guess := func(i int) bool {
			if test.what == "buckets" || test.what == "Cognito" {
				now += second / 100 // before anything comes back
			} else {
				now += second + 1
			}
			return test.model.try(&Attempt{At: now, Account: "alice", From: at("192.0.2.1"), Password: fmt.Sprint("wrong", i)}).Allowed
		}
		for i := range test.free {
			if !guess(i) {
				t.Fatalf("%s denies guess %d", test.what, i)
			}
		}
		if !test.model.try(&Attempt{At: now, Account: "alice", From: at("192.0.2.1"), Password: "right", Right: true}).Allowed {
			t.Fatalf("%s denies the owner", test.what)
		}
		got := 0
		for i := range 30 {
			if guess(1000 + i) {
				got++
			}
		}
		if got != test.want {
			t.Errorf("%s lets %d guesses through after a success, want %d", test.what, got, test.want)
		}
	}
}

// Entra and Mailu do not count the same wrong password again, and keep guesses
// of strangers from those at home.
func TestModelsThatTellTheOwnerApart(t *testing.T) {
	home, away := at("203.0.113.9"), at("192.0.2.1")
	for what, m := range map[string]rule{"Entra": newEntra(), "Mailu": newMailu()} {
		for i := range 100 {
			a := Attempt{At: monday + int64(i)*second, Account: "alice", From: away, Password: "old"}
			if !m.try(&a).Allowed {
				t.Fatalf("%s counts the same password again: denied at %d", what, i)
			}
		}
		m.try(&Attempt{At: monday + minute, Account: "alice", From: home, Password: "right", Right: true})
		for i := range 100 {
			m.try(&Attempt{At: monday + 2*minute + int64(i)*second, Account: "alice", From: away, Password: fmt.Sprint("wrong", i)})
		}
		right := Attempt{At: monday + 4*minute, Account: "alice", From: home, Password: "right", Right: true}
		if !m.try(&right).Allowed {
			t.Errorf("%s denies the owner at home", what)
		}
		right.From = away
		if m.try(&right).Allowed {
			t.Errorf("%s allows the owner where the guesses come from", what)
		}
	}
}
