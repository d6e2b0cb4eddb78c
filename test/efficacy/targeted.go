package efficacy

import "fmt"

// targeted are attacks on few accounts.
var targeted = []Scenario{
	{
		Name: "oneaddress", Title: "One address guesses one account for a day", span: day, Attack: true,
		About: "43,200 guesses, one every two seconds, from one rented server. The owner signs in eight times from home and through the carrier, 200 others as on any day.",
		build: func(b *builder) {
			victim := b.owner(b.usual(8))
			b.owners(b.size(200), b.usual(1.5))
			from := b.servers(1, 1)[0]
			b.attack(b.start, b.end, 43_200, func(n int) Attempt { return guessAt(victim.account, from, n) })
		},
	},
	{
		Name: "botnet", Title: "Botnet of 5,000 on five accounts", span: day, Attack: true,
		About: "43,200 guesses in a day at five accounts in turn, each from another of 5,000 infected households, which lie in the networks of the owners. The five sign in eight times, 200 others as on any day.",
		build: func(b *builder) {
			victims := b.owners(5, b.usual(8))
			b.owners(b.size(200), b.usual(1.5))
			c := b.chance()
			from := c.bots(5000)
			b.attack(b.start, b.end, 43_200, func(n int) Attempt {
				return guessAt(victims[n%5].account, from[c.IntN(len(from))], n/5)
			})
		},
	},
	lockout("lockout", "Lockout as denial of service on 100 owners who travel", "5,000 infected households, which lie in the networks of the owners",
		func(c places) []*Place { return c.bots(5000) }),
	lockout("lockoutservers", "The same lockout from few addresses", "200 rented servers",
		func(c places) []*Place { return c.servers(200, 10) }),
	{
		Name: "laundering", Title: "Laundering with an own account", span: 12 * hour, Attack: true,
		About: "An attacker with an account of his own signs in to it after every two guesses at one of 20 others, from ten rented servers, one attempt every five seconds for twelve hours.",
		build: func(b *builder) {
			l := &launderer{own: "mallory@mail.example", from: b.servers(10, 10), every: 5 * second}
			for _, o := range b.owners(20, b.usual(4)) {
				l.victims = append(l.victims, o.account)
			}
			b.owners(b.size(300), b.usual(1))
			b.world.add(b.start, l)
		},
	},
	{
		Name: "slow", Title: "Slow guessing just below every limit, 30 days", span: 30 * day, Attack: true,
		About: "Ten accounts, each from ever new addresses of 2,000 infected households, beginning with a guess every 36 minutes: half as fast after a denial, a tenth faster after every ten guesses that were let through, never more than one in five minutes. The ten and 50 others sign in 1.2 times a day.",
		build: func(b *builder) {
			c := b.chance()
			from := c.bots(2000)
			for i, o := range b.owners(b.size(50)+10, b.usual(36)) {
				if i < 10 {
					b.world.add(b.start+b.Int64N(hour), &creeper{
						account: o.account, every: 36 * minute, least: 5 * minute,
						from: func() *Place { return from[c.IntN(len(from))] },
					})
				}
			}
		},
	},
	{
		Name: "paced", Title: "Pacing by what backoff lends and forgets, two days", span: 2 * day, Attack: true,
		About: "Twelve accounts, each attacked from ever new addresses by somebody who guesses every ten seconds as long as the answers allow, and who pauses when a wait has grown beyond 1, 4 or 20 minutes, until the limiter may have forgotten: for 16 minutes, an hour, six hours or twelve and a half. The worst account is that of the pace which pays best.",
		build: func(b *builder) {
			c := b.chance()
			from := c.bots(5000)
			owners := b.owners(12, b.usual(6))
			b.owners(b.size(100), b.usual(2))
			for i, o := range owners {
				p := &pacer{account: o.account, gap: 10 * second, from: func() *Place { return from[c.IntN(len(from))] }}
				if i > 0 {
					p.bears = []int64{minute, 4 * minute, 20 * minute}[i%3]
					p.pause = []int64{16 * minute, hour, 6*hour + minute, 12*hour + 30*minute}[i%4]
				}
				b.world.add(b.start, p)
			}
		},
	},
}

// lockout is an attacker who wants owners to be kept out.
func lockout(name, title, whence string, sources func(places) []*Place) Scenario {
	return Scenario{
		Name: name, Title: title, span: 12 * hour, Attack: true,
		About: fmt.Sprintf("100 accounts, each tried every 30 seconds for thirteen hours from %s, so that their owners cannot get in. From the second hour on these sign in four times: half of it at home, a quarter through the carrier, a quarter in a hotel where they have never been.", whence),
		build: func(b *builder) {
			h := b.usual(4)
			h.home, h.carrier = 0.5, 0.25
			victims := b.owners(100, h)
			c := b.chance()
			from := sources(c)
			b.attack(b.start-hour, b.end, 100*13*120, func(n int) Attempt {
				return guessAt(victims[n%100].account, from[c.IntN(len(from))], n/100)
			})
		},
	}
}

// nobody is a name of a leaked list that has no account here.
func nobody(n int) string { return fmt.Sprintf("somebody%d@mail.example", n) }
