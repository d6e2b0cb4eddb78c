package deploy

import (
	"strings"
	"testing"
)

// isConfig tells whether a YAML document is a configuration of loginguard: its
// first keys are those of config.yaml.
func isConfig(t *testing.T, o object) bool {
	t.Helper()
	if _, compose := o["services"]; compose {
		return false // which has "networks", too
	}
	known := document(t, "config.yaml")
	for key := range o {
		if _, ok := known[key]; ok {
			return true
		}
	}
	return false
}

// loads checks that the program takes a configuration, and without a warning
// other than that of a network that has no IPv6.
func loads(t *testing.T, config string, env ...string) {
	t.Helper()
	status, out, errs := loginguard(t, env, "config", "check", "--config", text(t, "config.yaml", config))
	if status != 0 || out != "configuration OK\n" {
		t.Errorf("refused with status %d\n%s%s", status, out, errs)
	}
	for line := range strings.Lines(errs) {
		if !strings.Contains(line, "lists only IPv4") {
			t.Errorf("warns: %s", line)
		}
	}
}

func TestEveryExampleOfAConfigurationLoads(t *testing.T) {
	n := 0
	for _, path := range files(t, "deploy", ".yaml", ".yml") {
		for _, o := range documents(t, path, read(t, path)) { // every file has to be YAML
			config := read(t, path)
			if o["kind"] == "ConfigMap" {
				config = at[string](t, o, "data", "config.yaml")
			} else if !isConfig(t, o) {
				continue
			}
			n++
			t.Run(path, func(t *testing.T) { loads(t, config) })
		}
	}
	if n < 12 {
		t.Errorf("only %d configurations were found", n)
	}
}

// The test above would pass if the check let everything pass.
func TestAMistakeInAnExampleIsFound(t *testing.T) {
	config := read(t, "deploy/keycloak/loginguard.yaml") + "\nfrnt: {}\n"
	if status, _, errs := loginguard(t, nil, "config", "check", "--config", text(t, "config.yaml", config)); status == 0 || !strings.Contains(errs, "frnt") {
		t.Errorf("status %d: %s", status, errs)
	}
}

func TestEveryConfigurationInTheManualLoads(t *testing.T) {
	n := 0
	for _, path := range files(t, "docs", ".md") {
		for _, b := range blocks(read(t, path), "yaml", "yml") {
			for _, o := range documents(t, path, b.text) {
				if !isConfig(t, o) {
					continue
				}
				n++
				t.Run(b.name(path), func(t *testing.T) {
					if strings.Contains(b.text, "redis") {
						loads(t, b.text, "LOGINGUARD_IDENTITY_SECRET="+placeholders.Replace("REPLACE-WITH-THE-IDENTITY-SECRET"))
						return
					}
					if strings.Contains(b.text, "webhook") {
						loads(t, b.text, "LOGINGUARD_EVENTS_WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
						return
					}
					loads(t, b.text)
				})
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d configurations were found", n)
	}
}
