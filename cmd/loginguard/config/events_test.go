package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func TestWebhookSecretComesFromFileVariableOrConfiguration(t *testing.T) {
	const file = "events: {webhook: {url: \"https://alerts.example.com/hook\"}}\n"
	for name, load := range map[string]func() *Config{
		"variable": func() *Config { return mustLoad(t, file, "LOGINGUARD_EVENTS_WEBHOOK_SECRET="+hookSecret) },
		"file": func() *Config {
			return mustLoad(t, file, "LOGINGUARD_EVENTS_WEBHOOK_SECRET_FILE=testdata/hook-secret.txt")
		},
		"configuration": func() *Config {
			return mustLoad(t, "events: {webhook: {url: \"http://127.0.0.1:9/\", secret: "+hookSecret+"}}\n")
		},
	} {
		w := load().Events.Webhook
		if w.Secret != hookSecret {
			t.Errorf("%s: the secret is %q", name, w.Secret)
		}
		if diff := cmp.Diff(defaultKinds(), w.Kinds); diff != "" {
			t.Errorf("%s: kinds (-want +got)\n%s", name, diff)
		}
	}
}

func TestWebhookKindsFromAVariable(t *testing.T) {
	c := mustLoad(t, "", "LOGINGUARD_EVENTS_WEBHOOK_KINDS=attempt_denied, store_up")
	if diff := cmp.Diff([]string{"attempt_denied", "store_up"}, c.Events.Webhook.Kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPrintHidesTheWebhook(t *testing.T) {
	text := printed(t, mustLoad(t, "events: {webhook: {url: \"https://u:hunter2@hooks.example.com/services/hunter2?x=hunter2#\"}}\n",
		"LOGINGUARD_EVENTS_WEBHOOK_SECRET="+hookSecret))
	if strings.Contains(text, "hunter2") || strings.Contains(text, "MDEyMz") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	if !strings.Contains(text, "hooks.example.com/xxxxx") || !strings.Contains(text, "secret: xxxxx") {
		t.Errorf("too much is hidden:\n%s", text)
	}
}

func TestMaskHook(t *testing.T) {
	for url, want := range map[string]string{
		"": "", "https://h": "https://h", "https://h/": "https://h/", "https://h:1/a/b": "https://h:1/xxxxx",
		"https://h?token=a": "https://h/xxxxx", "https://h/?a": "https://h/xxxxx", "https://u:p@h/a": "https://u:xxxxx@h/xxxxx",
		"https://u:p@w@h/a": "https://u:xxxxx@h/xxxxx", "no address": "no address",
	} {
		if got := maskHook(url); got != want {
			t.Errorf("%q is shown as %q, want %q", url, got, want)
		}
	}
}
