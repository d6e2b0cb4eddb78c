package guard

import (
	"fmt"
	"slices"

	"loginguard/keys"
	"loginguard/policy"
)

// A device token's body is the account's hash and the name of the device. It
// is verified without the store, which only says whether it has died since.

// verifyDevice verifies a device token for an account. One that is not valid
// is the same as none: it may be an old cookie, and an error would tell its
// owner more than a stranger may know.
func verifyDevice(ring *keys.Ring, realm, name, token string) *policy.Device {
	t, err := ring.Open(keys.KindDevice, token)
	if err != nil || len(t.Body) != accountBytes+idBytes {
		return nil
	}
	// It names realm and account by their hash under any of the secrets: even
	// a new token has an old hash when its attempt began before the change.
	if !slices.Contains(ring.Accounts(realm, name), encode(t.Body[:accountBytes])) {
		return nil
	}
	return &policy.Device{ID: encode(t.Body[accountBytes:]), Issued: t.Issued, Expires: t.Expires}
}

// issueDevice makes the token that verifyDevice accepts, for the device of the
// receipt, or a new one when it has none. Times are microseconds since 1970.
func issueDevice(ring *keys.Ring, r *receipt, issued, expires int64) (string, error) {
	id := keys.NewID()
	if r.Device != nil {
		id = r.Device.ID
	}
	account, err := decode(r.Account)
	if err != nil {
		return "", fmt.Errorf("name the account: %w", err)
	}
	device, err := decode(id)
	if err != nil {
		return "", fmt.Errorf("name the device: %w", err)
	}
	return ring.Seal(keys.KindDevice, keys.Token{Realm: r.Realm, Issued: issued, Expires: expires, Body: append(account, device...)})
}
