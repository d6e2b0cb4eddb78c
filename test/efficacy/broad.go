package efficacy

import "fmt"

// broad are attacks on very many accounts.
var broad = []Scenario{
	{
		Name: "carrierguessing", Title: "Guessing subscribers' accounts from the carrier", span: 6 * hour, Attack: true,
		About: "The carrier's 20,000 subscribers sign in once in six hours. A subscriber tries passwords of a dictionary at the accounts of the others, two a second: 43,200 guesses.",
		build: func(b *builder) {
			all := b.subscribers(6 * hour)
			c := b.chance()
			b.attack(b.start, b.end, 43_200, func(n int) Attempt {
				return guessAt(all[c.IntN(len(all))].account, c.carrier(0), n)
			})
		},
	},
	{
		Name: "carrierstuffing", Title: "Stuffing a leaked list from the carrier", span: 6 * hour, Attack: true,
		About: "The same carrier; a subscriber tries a leaked list, two pairs a second, 43,200 in all. One pair in fifty names another subscriber, one in 200 of these is valid.",
		build: func(b *builder) {
			all := b.subscribers(6 * hour)
			c := b.chance()
			b.attack(b.start, b.end, 43_200, func(n int) Attempt {
				a := Attempt{Account: nobody(n), From: c.carrier(0), Password: fmt.Sprintf("leaked%d", n), Unknown: true, Guess: true}
				if c.IntN(50) == 0 {
					a.Account, a.Unknown = all[c.IntN(len(all))].account, false
					if c.IntN(200) == 0 {
						a.Password, a.Right = rightOf(a.Account), true
					}
				}
				return a
			})
		},
	},
	{
		Name: "spraying", Title: "Spraying three passwords over 20,000 accounts", span: 11 * hour, Attack: true,
		About: "In one night of eleven hours three passwords are tried, one after the other, at each of 20,000 accounts, from 300 rented servers in 100 networks; 60 accounts have one of them. 500 of the owners sign in meanwhile.",
		build: func(b *builder) {
			b.owners(500, b.usual(1.2))
			c := b.chance()
			from := c.servers(300, 3)
			order := c.Perm(20_000)
			weak := make(map[int]int, 60) // account to the password it has
			for _, i := range c.Perm(20_000)[:60] {
				weak[i] = c.IntN(3)
			}
			n := b.size(20_000)
			b.attack(b.start, b.end, 3*20_000, func(k int) Attempt {
				who, word := order[k%n], k/n
				a := guessAt(fmt.Sprintf("owner%d@mail.example", who), from[c.IntN(len(from))], word)
				if w, ok := weak[who]; ok && w == word {
					a.Right = true
				}
				return a
			})
		},
	},
	{
		Name: "stuffing", Title: "Stuffing 60,000 leaked pairs from 4,000 households", span: 2 * hour, Attack: true,
		About: "60,000 pairs in two hours through a network of 4,000 infected households. 300 pairs (0.5 %) are valid, at places in the list drawn by chance; a tenth of the others name an account that has another password. Of the owners 300 sign in meanwhile.",
		build: func(b *builder) {
			b.owners(300, b.usual(1))
			c := b.chance()
			from := c.bots(4000)
			total := b.size(60_000)
			valid := make(map[int]bool, total/200)
			for _, i := range c.Perm(total)[:total/200] {
				valid[i] = true
			}
			b.attack(b.start, b.end, 60_000, func(n int) Attempt {
				a := Attempt{Account: nobody(n), From: from[c.IntN(len(from))], Password: fmt.Sprintf("leaked%d", n), Guess: true}
				switch {
				case valid[n]:
					a.Right = true
				case n%10 != 0:
					a.Unknown = true
				}
				return a
			})
		},
	},
}
