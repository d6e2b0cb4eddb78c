package config

import (
	"time"

	"loginguard/keys"
	"loginguard/policy"
)

// Config is the whole configuration as the file lays it out. Its fields are in
// the order of the documented file, and their tags are the schema:
//
//	mapstructure  the key in the file
//	oneof         the only texts allowed, separated by |
//	min, max      bounds of a number or duration, both allowed, where no other
//	              package has a say
//	default       of a key left out in an element of a list or an added map entry
//	kind          date: a text that YAML may have taken for a time
//	mask          secret, url, hook or digest: how [Config.Print] hides it
//
// A Config from [Load] is complete and valid. The zero value is not.
type Config struct {
	Mode          string           `mapstructure:"mode" oneof:"enforce|log_only|off"`
	SupportURL    string           `mapstructure:"support_url"`
	Server        Server           `mapstructure:"server"`
	Callers       []Caller         `mapstructure:"callers"`
	ClientAddress ClientAddress    `mapstructure:"client_address"`
	Store         Store            `mapstructure:"store"`
	Identity      Identity         `mapstructure:"identity"`
	AttemptTTL    time.Duration    `mapstructure:"attempt_ttl"`
	Familiar      Familiar         `mapstructure:"familiar"`
	Device        Device           `mapstructure:"device"`
	Routes        map[string]Route `mapstructure:"routes"`
	Limits        Limits           `mapstructure:"limits"`
	Networks      Networks         `mapstructure:"networks"`
	Overrides     []Override       `mapstructure:"overrides"`
	Front         Front            `mapstructure:"front"`
	ForwardAuth   ForwardAuth      `mapstructure:"forward_auth"`
	Events        Events           `mapstructure:"events"`
	Log           Log              `mapstructure:"log"`

	ring     *keys.Ring        // nil when no identity secret is set
	fromFile bool              // the file was there, and not empty
	listSums map[string]string // SHA-256 of the lists of networks by name, since Fingerprint
	blank    []string          // list files that had nothing in them
}

// Server is what listens, and how much it takes on.
type Server struct {
	API           APIListener   `mapstructure:"api"`
	Front         FrontListener `mapstructure:"front"`
	Admin         AdminListener `mapstructure:"admin"`
	MaxInFlight   int           `mapstructure:"max_in_flight" min:"1" max:"1000000"` // attempts in progress; above it 503
	ShutdownGrace time.Duration `mapstructure:"shutdown_grace" min:"0s" max:"10m"`   // for requests in flight at SIGTERM
	Readiness     string        `mapstructure:"readiness" oneof:"process|store"`
}

// APIListener is where callers ask.
type APIListener struct {
	Listen string `mapstructure:"listen"` // host:port, port 0 for any free one
	TLS    APITLS `mapstructure:"tls"`
}

// FrontListener is where the reverse proxy listens, "" for nowhere.
type FrontListener struct {
	Listen string `mapstructure:"listen"`
	TLS    TLS    `mapstructure:"tls"`
}

// AdminListener is where probes, metrics and operators ask.
type AdminListener struct {
	Listen string `mapstructure:"listen"`
}

// TLS names PEM files; both are set or none.
type TLS struct {
	Cert string `mapstructure:"cert"`
	Key  string `mapstructure:"key"`
}

// APITLS is [TLS] with the authorities whose client certificates are believed.
type APITLS struct {
	Cert     string `mapstructure:"cert"`
	Key      string `mapstructure:"key"`
	ClientCA string `mapstructure:"client_ca"`
}

// Caller is one client of the API. Its key is known by its hash only.
type Caller struct {
	Name      string   `mapstructure:"name"`
	KeySHA256 string   `mapstructure:"key_sha256" mask:"digest"` // 64 hex digits
	Realms    []string `mapstructure:"realms" default:"default"`
	Role      string   `mapstructure:"role" oneof:"check|admin" default:"check"`
}

// ClientAddress says how the client's address is found behind proxies.
type ClientAddress struct {
	Hops           int      `mapstructure:"hops"`
	TrustedProxies []string `mapstructure:"trusted_proxies"`
	Header         string   `mapstructure:"header" oneof:"x-forwarded-for|forwarded"`
	NAT64          []string `mapstructure:"nat64"`
}

// Store is where the counters are kept.
type Store struct {
	URL           string        `mapstructure:"url" mask:"url"`
	Timeout       time.Duration `mapstructure:"timeout" min:"5ms" max:"5s"` // budget of one call, the wait for a connection included
	OnFailure     string        `mapstructure:"on_failure" oneof:"closed|open|local"`
	Instances     int           `mapstructure:"instances"` // divides the limits of on_failure: local
	AllowEviction bool          `mapstructure:"allow_eviction"`
	CAFile        string        `mapstructure:"ca_file"` // PEM; "" for the system's authorities
}

// Identity says which spellings of an e-mail address are one account.
type Identity struct {
	Email []EmailRule `mapstructure:"email"`
}

// EmailRule is how one mail provider reads the part before the @.
type EmailRule struct {
	Domain   string   `mapstructure:"domain"`
	DropPlus bool     `mapstructure:"drop_plus"`
	DropDots bool     `mapstructure:"drop_dots"`
	Aliases  []string `mapstructure:"aliases"`
}

// Familiar is how long, and how many, networks of an account are remembered.
type Familiar struct {
	Remember time.Duration `mapstructure:"remember"`
	Sources  int           `mapstructure:"sources"`
}

// Device is the lifetime of a device token.
type Device struct {
	TTL time.Duration `mapstructure:"ttl"`
}

// Route is one kind of attempt. An added route that does not say what its
// success proves gives nothing back: that is the safe mistake.
type Route struct {
	Cost      int64  `mapstructure:"cost" default:"1"` // tokens that networks and global are charged
	Success   string `mapstructure:"success" oneof:"full|refund|none" default:"none"`
	Account   string `mapstructure:"account" oneof:"|none"` // none: attempts name no account
	OnFailure string `mapstructure:"on_failure" oneof:"|closed|open|local"`
}

// Front is the reverse proxy.
type Front struct {
	Upstream     string      `mapstructure:"upstream" mask:"url"`
	Realm        string      `mapstructure:"realm"`
	PassThrough  bool        `mapstructure:"pass_through"`
	DeviceCookie string      `mapstructure:"device_cookie"`
	Rules        []FrontRule `mapstructure:"rules"`
}

// FrontRule picks the requests that are attempts and tells how they ended.
type FrontRule struct {
	Methods []string      `mapstructure:"methods"`
	Path    string        `mapstructure:"path"`
	Route   string        `mapstructure:"route"`
	Account FrontAccount  `mapstructure:"account"`
	Success FrontResponse `mapstructure:"success"`
	Failure FrontResponse `mapstructure:"failure"`
}

// FrontAccount says where a request names the account: exactly one is set.
type FrontAccount struct {
	JSON   string `mapstructure:"json"` // JSON pointer into the body
	Form   string `mapstructure:"form"` // form field
	Basic  bool   `mapstructure:"basic"`
	Header string `mapstructure:"header"`
}

// FrontResponse recognises a response of the application.
type FrontResponse struct {
	Status []int       `mapstructure:"status"`
	Header FrontHeader `mapstructure:"header"`
}

// FrontHeader is a response header and a text its value contains.
type FrontHeader struct {
	Name     string `mapstructure:"name"`
	Contains string `mapstructure:"contains"`
}

// ForwardAuth is what the requests of an edge proxy carry.
type ForwardAuth struct {
	AccountHeader string `mapstructure:"account_header"`
	Reports       bool   `mapstructure:"reports"`
}

// Events says who else is told of what the log says at once.
type Events struct {
	Webhook Webhook `mapstructure:"webhook"`
}

// Webhook is where events are sent to, signed by Standard Webhooks.
type Webhook struct {
	URL    string   `mapstructure:"url" mask:"hook"`      // "" for nowhere
	Secret string   `mapstructure:"secret" mask:"secret"` // whsec_ and base64 of 24 to 64 bytes
	Kinds  []string `mapstructure:"kinds"`
}

// Log is what is logged to standard error.
type Log struct {
	Level  string `mapstructure:"level" oneof:"debug|info|warn|error"`
	Format string `mapstructure:"format" oneof:"json|text"`
}

// Networks are the classes of address blocks.
type Networks struct {
	Exempt    Blocks   `mapstructure:"exempt"`
	Pools     []Pool   `mapstructure:"pools"`
	PoolFiles []string `mapstructure:"pool_files"`
	Hosting   Hosting  `mapstructure:"hosting"`
}

// Blocks are CIDRs, and files with one CIDR a line.
type Blocks struct {
	CIDRs []string `mapstructure:"cidrs"`
	Files []string `mapstructure:"files"`
}

// Pool is one carrier: all its blocks count as one network.
type Pool struct {
	Name  string   `mapstructure:"name"`
	CIDRs []string `mapstructure:"cidrs"`
	Files []string `mapstructure:"files"`
}

// Hosting are data centres and VPN exits, whose capacity is scaled.
type Hosting struct {
	Scale float64  `mapstructure:"scale"`
	CIDRs []string `mapstructure:"cidrs"`
	Files []string `mapstructure:"files"`
}

// Override is one limit raised or lowered for some. Capacity 0 and an empty
// Refill leave the limit's own.
type Override struct {
	Limit    string      `mapstructure:"limit"`
	Level    string      `mapstructure:"level" oneof:"|host|site|subnet|pool"`
	Match    Match       `mapstructure:"match"`
	Capacity int64       `mapstructure:"capacity" min:"1" max:"1000000"`
	Refill   policy.Rate `mapstructure:"refill"`
	Reason   string      `mapstructure:"reason"`
	Expires  string      `mapstructure:"expires" kind:"date"` // 2027-01-31: until the end of that day, UTC
}

// Match says whom an override is for; an empty field matches everyone.
type Match struct {
	Network string `mapstructure:"network"`
	Realm   string `mapstructure:"realm"`
	Route   string `mapstructure:"route"`
	Caller  string `mapstructure:"caller"`
	Account string `mapstructure:"account"`
}
