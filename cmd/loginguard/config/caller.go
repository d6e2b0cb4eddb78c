package config

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"loginguard/policy"
)

// NewCaller makes a caller and its key: 256 random bits behind the letters
// lgk_, by which people and scanners recognise it when it turns up where it
// should not. The Caller knows the key by its SHA-256 only. No realms and an
// empty role mean the defaults of the file. The error says which argument is
// no name or no role.
func NewCaller(name string, realms []string, role string) (c Caller, key string, err error) {
	if role == "" {
		role = defaultRole
	}
	if len(realms) == 0 {
		realms = []string{policy.DefaultRealm}
	}
	if _, err := schema.field("callers").elem.field("role").parse(role); err != nil {
		return Caller{}, "", fmt.Errorf("the role %w", err)
	}
	for _, s := range append([]string{name}, realms...) {
		if !validName.MatchString(s) {
			return Caller{}, "", fmt.Errorf("%s %s", quote(s), badName)
		}
	}
	var raw [32]byte
	rand.Read(raw[:]) // never fails: the runtime ends the process instead
	key = "lgk_" + base64.RawURLEncoding.EncodeToString(raw[:])
	sum := sha256.Sum256([]byte(key))
	return Caller{Name: name, KeySHA256: hex.EncodeToString(sum[:]), Realms: realms, Role: role}, key, nil
}

// Line returns the element of the list callers in the file that says c, as
// one line of YAML.
func (c Caller) Line() (string, error) {
	y := schema.field("callers").yaml(reflect.ValueOf([]Caller{c}), false)
	element := y.Content[0]
	element.Style = yaml.FlowStyle
	// Some digests look like a number to YAML.
	for i := 0; i+1 < len(element.Content); i += 2 {
		if element.Content[i].Value == "key_sha256" {
			element.Content[i+1].Value = c.KeySHA256
			element.Content[i+1].Style = yaml.DoubleQuotedStyle
		}
	}
	text, err := yaml.Marshal(y)
	return strings.TrimSpace(string(text)), err
}
