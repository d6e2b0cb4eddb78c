package efficacy

// quiet is the life of a service without an attack.
var quiet = []Scenario{
	{
		Name: "ordinary", Title: "Ordinary day", span: day,
		About: "5,000 people sign in 1.5 times each, three in four from home, the others through one of four carriers. One sign-in in twelve begins with a typing error, one in fifty with up to eight passwords that are not the one.",
		build: func(b *builder) {
			h := b.usual(1.5)
			h.carriers = 4
			b.owners(b.size(5000), h)
		},
	},
	{
		Name: "office", Title: "Office behind one address, Monday morning", span: 10 * hour,
		About: "400 people sign in between 7:30 and 9:30, all through one IPv4 address from which they signed in last week. After the weekend one in eight mistypes and one in twenty-five has forgotten.",
		build: func(b *builder) {
			h := b.usual(1)
			h.from, h.span, h.mistype, h.forget = b.start+7*hour+30*minute, 2*hour, 0.125, 0.04
			h.office, h.home, h.carrier = b.home(), 1, 0
			b.owners(400, h)
		},
	},
	{
		Name: "carrier", Title: "Carrier: 20,000 subscribers behind 32 addresses", span: 12 * hour,
		About: "Each signs in once in twelve hours, from whichever of the 32 addresses the carrier gives them, which share the pool 100.64.0.0/10.",
		build: func(b *builder) { b.subscribers(12 * hour) },
	},
	{
		Name: "oldpassword", Title: "Old password on phones", span: day,
		About: "200 people change their password between eight and ten. Their phones go on asking for mail every five minutes with the old one, at home and through the carrier in turn, until they are told the new one 2 to 12 hours later. Their owners sign in on a computer at home and, on the way, through the carrier, six times. The phones have no device token.",
		build: buildPhones,
	},
	{
		Name: "firstday", Title: "First day after installation", span: day,
		About: "5,000 people sign in twice on the first day; nothing is known of anybody. A quarter of them sit in 25 offices, each behind one address.",
		build: func(b *builder) {
			h := b.usual(2)
			h.newcomer, h.carriers = true, 4
			n := b.size(5000)
			b.owners(n*3/4, h)
			h.home, h.carrier = 1, 0
			for range 25 {
				h.office = b.home()
				b.owners(n/4/25, h)
			}
		},
	},
	sale("sale", "A shop's sale",
		"Two customers in three signed in within the last days; the others come back after a long time or from a new place, and one in twenty of these tries several passwords. A third of the customers come through four carriers.",
		func(h *habit) { h.home, h.carrier, h.carriers = 2.0/3, 1.0/3, 4 }, 1.0/3, 0.05),
	sale("hardsale", "A sale to strangers behind one carrier",
		"The same, but two in three are strangers, one in ten of these tries several passwords, and half of all come through one carrier.",
		func(h *habit) { h.home, h.carrier = 0.5, 0.5 }, 2.0/3, 0.1),
}

// sale is a day with ten times the usual sign-ins, half of them within four
// hours. Strangers is the part of the customers of whom nothing is known.
func sale(name, title, about string, where func(*habit), strangers, forget float64) Scenario {
	return Scenario{
		Name: name, Title: title, span: day,
		About: "A shop with 2,000 sign-ins a day has 20,000 on the day of its sale, half of them from 18 to 22 hours. " + about,
		build: func(b *builder) {
			n := float64(b.size(20000)) / 2
			for _, stranger := range []bool{false, true} {
				h, part := b.usual(1), 1-strangers
				where(&h)
				if stranger {
					h.newcomer, h.forget, part = true, forget, strangers
				}
				b.owners(int(n*part), h)
				h.from, h.span, h.daily = b.start+18*hour, 4*hour, false
				b.owners(int(n*part), h)
			}
		},
	}
}

// subscribers lets the carrier's customers in, each once in a span.
func (b *builder) subscribers(span int64) []*person {
	h := b.usual(1)
	h.span, h.home, h.carrier = span, 0, 1
	return b.owners(b.size(20000), h)
}

func buildPhones(b *builder) {
	for range b.size(200) {
		h := b.usual(1)
		h.home, h.carrier = 0.5, 0.5
		h.times, h.from, h.span, h.daily = 6, b.start+10*hour, 12*hour, false
		o := b.owner(h)
		changed := b.start + 8*hour + b.Int64N(2*hour)
		c := b.chance()
		leaves := b.Int64N(4 * hour) // not all of them at once
		b.world.add(changed, &phone{
			account: o.account, every: 5 * minute, fixed: changed + 2*hour + b.Int64N(10*hour), left: 12, tally: b.tally,
			from: func(now int64) *Place {
				if (now+leaves)/(2*hour)%2 == 0 {
					return o.base
				}
				return c.carrier(0)
			},
		})
	}
}
