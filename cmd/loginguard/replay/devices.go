package replay

// DefaultMaxDevices bounds the device tokens of an engine whose options do not.
const DefaultMaxDevices = 250_000

// deviceKey names a browser of an account, as the log does. Account is the
// canonical name, so that both spellings of one show the same token.
type deviceKey struct{ realm, account, device string }

// devices keeps the latest token of each device, at most a number of them. They
// lie in two generations: a device that signs in or is shown moves into the
// young one, and when that holds half of all, the old one is dropped. So what
// is lost was not seen for as long as it took to see half the bound of others.
type devices struct {
	young, old map[deviceKey]string
	half       int
}

func newDevices(most int) *devices {
	if most <= 0 {
		most = DefaultMaxDevices
	}
	return &devices{young: make(map[deviceKey]string), half: max(1, most/2)}
}

// get returns the token that a device shows, "" for none.
func (d *devices) get(k deviceKey) string {
	if token, ok := d.young[k]; ok {
		return token
	}
	token, ok := d.old[k]
	if ok {
		d.put(k, token)
	}
	return token
}

// put notes the token that a device was given.
func (d *devices) put(k deviceKey, token string) {
	if _, ok := d.young[k]; !ok && len(d.young) >= d.half {
		d.old, d.young = d.young, make(map[deviceKey]string)
	}
	delete(d.old, k)
	d.young[k] = token
}
