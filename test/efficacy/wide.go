package efficacy

import "fmt"

// wide are attacks from a network, or on what everybody shares.
var wide = []Scenario{
	rotation("ipv6site", "IPv6 rotation inside a /56", 56),
	rotation("ipv6subnet", "IPv6 rotation inside a /48", 48),
	emptying("global", "The budget of all strangers emptied on purpose, from ten subnets", 10),
	emptying("global20", "The same from twenty subnets", 20),
}

// emptying is an attacker who only wants to use up what strangers share.
func emptying(name, title string, subnets int) Scenario {
	return Scenario{
		Name: name, Title: title, span: 6 * hour, Attack: true,
		About: fmt.Sprintf("From rented servers in %d subnets, ten in each, 20,000 names are guessed at, one guess a second in all, for an hour before and for the six in which 100 people sign in from home and through the carrier, and 300 others for the first time or from a network where they have never been.", subnets),
		build: func(b *builder) {
			b.owners(100, b.usual(1.5))
			h := b.usual(1)
			h.home, h.carrier = 0, 0 // in a hotel
			b.owners(150, h)
			h.newcomer, h.home, h.carrier = true, 0.75, 0.25
			b.owners(150, h)
			c := b.chance()
			from := c.servers(10*subnets, 10)
			b.attack(b.start-hour, b.end, 7*3600, func(n int) Attempt {
				a := guessAt(nobody(c.IntN(20_000)), from[c.IntN(len(from))], n)
				a.Unknown = true
				return a
			})
		},
	}
}

// rotation is an attacker with an IPv6 block of so many bits.
func rotation(name, title string, bits int) Scenario {
	return Scenario{
		Name: name, Title: title, span: 12 * hour, Attack: true,
		About: fmt.Sprintf("21,600 guesses in twelve hours at 1,000 accounts, each from a new /64 of the attacker's own /%d. 300 of the owners sign in.", bits),
		build: func(b *builder) {
			b.owners(300, b.usual(1.5))
			c := b.chance()
			b.attack(b.start, b.end, 21_600, func(n int) Attempt {
				return guessAt(fmt.Sprintf("owner%d@mail.example", c.IntN(1000)), c.rotate(bits), n)
			})
		},
	}
}
