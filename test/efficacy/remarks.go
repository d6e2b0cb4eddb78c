package efficacy

// remarks says what the figures alone do not, and where loginguard is not best.
func (p *page) remarks() {
	p.say(`## What this does not show, and where loginguard loses

- **Models are not the products.** They do what the pages named above say, with
  the defaults these give, and decide on passwords only. Services in the cloud
  also judge addresses and browsers by means that they do not publish.
- **A limiter of addresses lets fewer guesses of few addresses through.** Three
  failures from an address and then nothing for hours is less than what an
  account gets here in a day. It is what a botnet does not notice, and it turns
  away everybody else behind an office's or a carrier's address. An attacker who
  has only some hundred addresses, and wants owners kept out rather than
  passwords, is better met by it: see the lockout from few addresses and the
  budget emptied from twenty subnets, where django-axes, and Mailu in the second,
  are better in both columns. How fast the lock of Entra grows is not published:
  its figures are those of the growth assumed here.
- **Guesses from the own network.** An attacker among the subscribers of a
  carrier, who guesses at the accounts of others there, meets accounts that are
  familiar with his network, and uses up what their typing errors have in
  common. People whose browser keeps a device token do not notice. The others
  find their first try denied, for a few seconds. Hand the device token on: the
  manual says how.
- **Old passwords on phones without tags.** A phone that asks for mail every few
  minutes with an old password uses up its owner's attempts from that network,
  and the owner waits, too, unless on a device with a token. Send a password
  tag: then the phone uses up a limit of its own, and nobody waits. Products
  that see the password themselves know a repeat without being told.
- **Strangers and the budget that they share.** It is as large as what ten subnets
  may spend, and grows with the people who sign in, so ten do not quite empty
  it; twenty do. Then who comes from a new place on a new device waits. That is
  the price of the bound on stuffing. With challenges these people solve one and are
  in, at five an hour for an account at most. The proposal lets who comes from a
  network without a recent failure pass: it costs little here, and gives an
  attacker with many networks one more guess for each of them and hour, as the
  tables of stuffing and spraying show.
- **Valid pairs.** What is found of a leaked list is its valid part of what was
  let through: of 3,100 guesses at one valid pair in 200 some 15, more or fewer
  by chance. No limit on attempts changes that ratio; only fewer guesses, or a
  second factor, do.
- **A sale to strangers behind one carrier** is more than the limit of a pool
  allows to people of whom nothing is known. Raise it for that day by an
  override with a reason and an end.
- **The attackers of these traces are simple.** The paced ones try twelve
  strategies, not all there are. The bounds that are promised for every
  attacker are proven elsewhere, by tests of the engine.
`)
}
