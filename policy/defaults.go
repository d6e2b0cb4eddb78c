package policy

import "time"

// Defaults returns the configuration that holds where nothing else is said. It
// is the one place in code where these numbers live, and valid as it is. Every
// call returns fresh values, free to be changed.
//
// What the numbers mean to a person: at most 10 + 4 x 10 guesses a day at one
// account from places it has never signed in from, and the few that backoff
// lends; a first wait of half a minute; no wait above an hour.
func Defaults() Config {
	return Config{
		Mode:       Enforce,
		Realms:     []string{DefaultRealm},
		AttemptTTL: 2 * time.Minute,
		Remember:   30 * 24 * time.Hour,
		Sources:    8,
		DeviceTTL:  90 * 24 * time.Hour,
		Routes:     standardRoutes(),
		Limits: Limits{
			Account: Limit{Capacity: 10, Refill: Rate{10, 6 * time.Hour},
				Backoff: &Backoff{Base: 30 * time.Second, Factor: 2, Max: time.Hour, Forget: 6 * time.Hour}},
			Device: Limit{Capacity: 10, Refill: Rate{10, 15 * time.Minute},
				Backoff: &Backoff{Base: 10 * time.Second, Factor: 2, Max: 15 * time.Minute, Forget: time.Hour}},
			Familiar: Limit{Capacity: 10, Refill: Rate{10, 2 * time.Hour},
				Backoff: &Backoff{Base: 30 * time.Second, Factor: 2, Max: 30 * time.Minute, Forget: 6 * time.Hour}},
			Host:       Limit{Capacity: 30, Refill: Rate{30, time.Hour}, PerUser: 0.15, MaxCapacity: 3000},
			Site:       Limit{Capacity: 60, Refill: Rate{60, time.Hour}, PerUser: 0.1, MaxCapacity: 5000},
			Subnet:     Limit{Capacity: 100, Refill: Rate{100, time.Hour}, PerUser: 0.05, MaxCapacity: 10000},
			Pool:       Limit{Capacity: 100, Refill: Rate{100, time.Hour}, PerUser: 0.05, MaxCapacity: 10000},
			Global:     Limit{Capacity: 1000, Refill: Rate{1000, time.Hour}, PerUser: 0.05, MaxCapacity: 100000, Shards: 8},
			Password:   Limit{Capacity: 20, Refill: Rate{20, time.Hour}},
			Repeat:     Limit{Capacity: 10, Refill: Rate{10, time.Hour}},
			Challenged: Limit{Capacity: 5, Refill: Rate{5, time.Hour}},
		},
		HostingScale: 0.25,
		Instances:    1,
	}
}

// standardRoutes returns the routes that always exist. What proves nothing
// about an account's owner (a signup, a request for a reset) costs more and
// stays charged.
func standardRoutes() map[string]Route {
	return map[string]Route{
		"login":          {Cost: 1, Success: SuccessFull},
		"signup":         {Cost: 5, Success: SuccessNone},
		"password_reset": {Cost: 3, Success: SuccessNone},
		"mfa":            {Cost: 1, Success: SuccessFull},
	}
}
