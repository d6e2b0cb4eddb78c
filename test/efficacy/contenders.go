package efficacy

// Contender is a policy that is compared.
type Contender struct {
	Name   string
	About  string   // its limits, in one sentence
	Source string   // public page that says so
	In     []string // scenarios in which it is of interest; none means all
	New    func(Variant) (Policy, error)

	plain bool // a model, to which password tags make no difference
}

// Names of loginguard: with its defaults, with challenges, and with a proposal
// that is no part of it.
const (
	Ours        = "loginguard"
	Challenging = "loginguard, challenges"
	Sparing     = "loginguard, sparing"
)

// Contenders are all that are compared; the first is loginguard.
var Contenders = []Contender{
	{
		Name: Ours, About: "The defaults of `config.yaml`.", Source: "../config.yaml",
		New: func(v Variant) (Policy, error) { return newEngine(v, false, nil) },
	},
	{
		Name: Challenging, About: "The same, with `on_exhausted: challenge` for the limits `global` and `account`, where people solve what they are asked and attackers do not.",
		Source: "../config.yaml", In: []string{"global", "global20", "lockout"},
		New: func(v Variant) (Policy, error) { return newEngine(v, true, challenging) },
	},
	{
		Name: Sparing, About: "A proposal: loginguard, but when `global` is used up, an attempt passes if nobody failed from its network or at its account within the last hour.",
		Source: "engine.go", In: []string{"global", "global20", "stuffing", "spraying"},
		New: func(v Variant) (Policy, error) {
			e, err := newEngine(v, false, nil)
			if err != nil {
				return nil, err
			}
			return &sparing{e, make(map[string]int64)}, nil
		},
	},
	{
		Name: "Keycloak", About: "Brute force detection switched on, temporary lockout: an account is locked for a minute at the 30th failure and at each one after, for a minute more with every 30, at most for 15.",
		Source: "https://www.keycloak.org/docs/latest/server_admin/#password-guess-brute-force-attacks", New: model(func() rule { return newKeycloak() }), plain: true,
	},
	{
		Name: "Auth0", About: "10 failures in a row of one address at one account block the two; 100 failures a day of one address block it.",
		Source: "https://auth0.com/docs/secure/attack-protection/brute-force-protection and https://auth0.com/docs/secure/attack-protection/suspicious-ip-throttling", New: model(func() rule { return newAuth0() }), plain: true,
	},
	{
		Name: "Entra", About: "Microsoft Entra smart lockout: 10 failures lock an account for a minute, then longer (not published; doubled here, to an hour); familiar and unfamiliar places apart; the last three wrong passwords are not counted again.",
		Source: "https://learn.microsoft.com/entra/identity/authentication/howto-password-smart-lockout", New: model(func() rule { return newEntra() }), plain: true,
	},
	{
		Name: "Cognito", About: "Amazon Cognito: after the fifth failure an account is locked for a second, doubled with every one after, to about 15 minutes; forgotten after 15 minutes of peace.",
		Source: "https://docs.aws.amazon.com/cognito/latest/developerguide/authentication.html#authentication-flow-lockout-behavior", New: model(func() rule { return newCognito() }), plain: true,
	},
	{
		Name: "flexible", About: "The login recipe of rate-limiter-flexible: 100 failures a day of one address, 10 in a row of one address at one account, then an hour's block.",
		Source: "https://github.com/animir/node-rate-limiter-flexible/wiki/Overall-example#login-endpoint-protection", New: model(func() rule { return newRecipe() }), plain: true,
	},
	{
		Name: "fail2ban", About: "5 failures of an address within 10 minutes ban it for 10 minutes.",
		Source: "https://github.com/fail2ban/fail2ban/blob/master/config/jail.conf", New: model(func() rule { return newFail2ban() }), plain: true,
	},
	{
		Name: "devise", About: "Devise lockable: 20 failures in a row lock an account for an hour.",
		Source: "https://github.com/heartcombo/devise/wiki/How-To:-Add-:lockable-to-Users", New: model(func() rule { return newDevise() }), plain: true,
	},
	{
		Name: "axes", About: "django-axes: 3 failures lock an address out; by default for good, here for the 2 hours of the example in its manual.",
		Source: "https://django-axes.readthedocs.io/en/latest/4_configuration.html", New: model(func() rule { return newAxes() }), plain: true,
	},
	{
		Name: "Mailu", About: "50 different wrong passwords a day at an account, 5 unknown names an hour from a /24 or /48; an address that signed in is exempt for a day.",
		Source: "https://mailu.io/2024.06/configuration.html", New: model(func() rule { return newMailu() }), plain: true,
	},
	{
		Name: "wforce", About: "The example policy: more than 90 different passwords an hour at an account blacklist it for 300 seconds.",
		Source: "https://github.com/PowerDNS/weakforced/blob/master/wforce/wforce.conf.example", New: model(func() rule { return newWforce() }), plain: true,
	},
	{
		Name: "buckets", About: "Plain token buckets: 10 attempts a minute for an address and for an account, whatever comes of them.",
		Source: "https://nginx.org/en/docs/http/ngx_http_limit_req_module.html", New: model(func() rule { return newBuckets() }), plain: true,
	},
}
