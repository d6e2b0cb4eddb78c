package keys_test

import (
	"fmt"
	"log"

	"loginguard/keys"
)

// One account, however it is typed, has one hash; a token says which attempt is
// meant without saying whose.
func Example() {
	names, err := keys.NewCanonicaliser([]keys.EmailRule{
		{Domain: "gmail.com", DropPlus: true, DropDots: true, Aliases: []string{"googlemail.com"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ring := keys.RandomRing()

	name := names.Canonical(" Al.Ice+shop@GoogleMail.com.")
	fmt.Println(name)
	fmt.Println(len(ring.Account("default", name)))

	token, err := ring.Seal(keys.KindAttempt, keys.Token{Realm: "default", Body: []byte(keys.NewID())})
	if err != nil {
		log.Fatal(err)
	}
	_, err = ring.Open(keys.KindDevice, token)
	fmt.Println(err)
	// Output:
	// alice@gmail.com
	// 22
	// token is not valid
}
