package config

import (
	"slices"

	"loginguard/handlers/webhook"
)

// attemptDenied is the one kind of event that is not sent unless it is asked
// for: under attack there are many of them.
const attemptDenied = "attempt_denied"

// eventKinds are the kinds that the handlers tell of; the program's tests
// compare them.
var eventKinds = append([]string{attemptDenied}, defaultKinds()...)

// defaultKinds returns the kinds that are sent when none are named: those on
// which somebody may want to act.
func defaultKinds() []string {
	return []string{"global_exhausted", "account_first_strike", "override_expired", "store_down", "store_up"}
}

// EventKinds returns every kind that events.webhook.kinds may name.
func EventKinds() []string { return slices.Clone(eventKinds) }

// validateEvents wants what is needed to send, if anything is to be sent, and
// in any case nothing that could not be.
func (r *report) validateEvents(e Events) {
	const path = "events.webhook"
	w := e.Webhook
	switch {
	case w.URL != "":
		if err := webhook.CheckURL(w.URL); err != nil {
			r.wrong(path+".url", "%v", err)
		}
		if len(w.Kinds) == 0 {
			r.wrong(path+".kinds", "is empty, though url is set: nothing would be sent")
		}
	case w.Secret != "":
		// It would look as if somebody was told.
		r.wrong(path+".url", "is missing, though secret is set")
	}
	switch {
	case w.Secret == hidden:
		r.wrong(path+".secret", "is what config print shows in place of a secret: put the secret there")
	case w.Secret != "":
		if _, err := webhook.ParseSecret(w.Secret); err != nil {
			r.wrong(path+".secret", "%v", err)
		}
	case w.URL != "" && !r.badHook:
		r.wrong(path+".secret", "is missing, though url is set: who is told could not know by whom "+
			"(echo whsec_$(openssl rand -base64 32) makes one; %s names a file with it)", webhookFileVar)
	}
	for i, kind := range w.Kinds {
		if !slices.Contains(eventKinds, kind) {
			r.wrong(item(path+".kinds", i), "%s is no kind of event: they are %s", quote(kind), alternatives(eventKinds))
		} else if slices.Index(w.Kinds, kind) < i {
			r.wrong(item(path+".kinds", i), "%s is listed twice", quote(kind))
		}
	}
}
