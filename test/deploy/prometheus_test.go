package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	asking "loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

const rulesFile = "deploy/prometheus/loginguard.rules.yml"

// promtool runs the tool in the folder of the rules.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	c := exec.Command("promtool", args...)
	c.Dir = filepath.Join(root, "deploy/prometheus")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestPrometheusTakesTheExample(t *testing.T) { promtool(t, "check", "config", "prometheus.yml") }

// TestAlertsFireWhenTheyShould runs the tests of the rules.
func TestAlertsFireWhenTheyShould(t *testing.T) { promtool(t, "test", "rules", "loginguard.test.yml") }

// TestEveryAlertIsTested: each one fires in a test, and says what to do.
func TestEveryAlertIsTested(t *testing.T) {
	tests := read(t, "deploy/prometheus/loginguard.test.yml")
	for _, r := range rules(t) {
		name, ok := r["alert"].(string)
		if !ok {
			continue
		}
		if !regexp.MustCompile(`alertname: ` + name + `\n        exp_alerts:\n`).MatchString(tests) {
			t.Errorf("no test makes %s fire", name)
		}
		if at[string](t, r, "labels", "severity") == "" || at[string](t, r, "annotations", "summary") == "" || at[string](t, r, "annotations", "description") == "" {
			t.Errorf("%s does not say how grave it is and what to do", name)
		}
	}
}

// rules returns the rules of all groups.
func rules(t *testing.T) []object {
	t.Helper()
	var all []object
	for _, g := range at[[]any](t, document(t, rulesFile), "groups") {
		for _, r := range at[[]any](t, g, "rules") {
			all = append(all, r.(object))
		}
	}
	return all
}

// expression is PromQL, and where it stands.
type expression struct{ where, text string }

// dashboard returns the expressions of the dashboard, its variables replaced
// as Grafana does.
func dashboard(t *testing.T) []expression {
	t.Helper()
	var d struct {
		Title  string
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
		Annotations struct{ List []struct{ Expr string } }
	}
	text := read(t, "deploy/grafana/loginguard.json")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`"uid": "[^"$]*"`).FindAllString(text, -1)[0] != `"uid": "loginguard"` || len(d.Panels) < 20 {
		t.Errorf("%d panels, or a data source that is not the variable", len(d.Panels))
	}
	fill := strings.NewReplacer("$__rate_interval", "1m", "$__range", "6h", "$instance", ".*", "$realm", ".*")
	var all []expression
	ids := make(map[int]bool)
	for i, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q has no title or the number of another", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range d.Panels[:i] {
			a, b := p.GridPos, q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("panels %q and %q overlap", p.Title, q.Title)
			}
		}
		for _, e := range p.Targets {
			all = append(all, expression{"panel " + p.Title, fill.Replace(e.Expr)})
		}
	}
	for _, a := range d.Annotations.List {
		all = append(all, expression{"annotation", fill.Replace(a.Expr)})
	}
	for _, v := range d.Templating.List {
		if m := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(v.Definition); m != nil {
			all = append(all, expression{"variable " + v.Name, fmt.Sprintf("sum by (%s) (%s)", m[2], m[1])})
		}
	}
	for _, e := range all {
		if strings.Contains(e.text, "$") {
			t.Errorf("%s: a variable is left in %s", e.where, e.text)
		}
	}
	return all
}

// TestPromQLOfTheDashboardParses makes rules of the expressions, for promtool
// to read.
func TestPromQLOfTheDashboardParses(t *testing.T) {
	var list []object
	for i, e := range dashboard(t) {
		list = append(list, object{"record": fmt.Sprintf("panel:%d", i), "expr": e.text})
	}
	text, err := yaml.Marshal(object{"groups": []object{{"name": "dashboard", "rules": list}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}

var (
	metric   = regexp.MustCompile(`\bloginguard_\w+`)
	selector = regexp.MustCompile(`\b(loginguard_\w+)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping = regexp.MustCompile(`\b(?:by|on|group_left)\s*\(([^)]*)\)`)
	sample   = regexp.MustCompile(`^(loginguard_\w+)(?:\{(.*)\})? \S+$`)
	pair     = regexp.MustCompile(`(\w+)="`)
)

// exposed runs a service, makes every metric happen, and returns the labels of
// each, by its name.
func exposed(t *testing.T) map[string][]string {
	t.Helper()
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Config: `
attempt_ttl: 1s
limits: {network: {host: {mode: log_only, capacity: 5}}}
networks: {exempt: {cidrs: [192.0.2.0/24]}}
`, Env: []string{"LOGINGUARD_STORE_TIMEOUT=50ms"}})
	for i := range 7 {
		d := s.Check(asking.Attempt{Account: fmt.Sprint("account", i), IP: "203.0.113.9"})
		if i == 6 {
			s.Report(d.Attempt, "success")
		}
	}
	s.Check(asking.Attempt{Account: "probe", IP: "192.0.2.7"})
	s.Do("POST", "/wforce?command=nothing", nil, "{}")
	labels := make(map[string][]string)
	gather := func() {
		for _, line := range strings.Split(string(s.Page("/metrics").Body), "\n") {
			m := sample.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			labels[m[1]] = append(labels[m[1]], "")
			for _, l := range pair.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(labels[m[1]], l[1]) {
					labels[m[1]] = append(labels[m[1]], l[1])
				}
			}
		}
	}
	service.Await(t, 30*time.Second, "what is counted in the background", func() bool {
		gather()
		return labels["loginguard_unreported_total"] != nil && labels["loginguard_population"] != nil
	})
	server.Kill()
	service.Await(t, 30*time.Second, "failures of the store", func() bool {
		s.Check(asking.Attempt{Account: "alice", IP: "203.0.113.9"})
		gather()
		return labels["loginguard_store_errors_total"] != nil
	})
	return labels
}

// needsMore are metrics that the traffic of exposed does not make, with their
// labels: the tests of package handlers make them.
var needsMore = map[string][]string{
	"loginguard_degraded_total": {"realm", "route"},
	"loginguard_refused_total":  {"protocol", "cause"},
}

// TestRulesAndDashboardNameWhatExists: each metric and label that they use is
// one that a running service exposes.
func TestRulesAndDashboardNameWhatExists(t *testing.T) {
	have := exposed(t)
	for name, labels := range needsMore {
		have[name] = append(have[name], labels...)
	}
	all := dashboard(t)
	for _, r := range rules(t) {
		all = append(all, expression{fmt.Sprint("rule ", r["alert"], r["record"]), at[string](t, r, "expr")})
	}
	scraped := []string{"instance", "job"} // by Prometheus
	used := make(map[string]bool)
	for _, e := range all {
		known := slices.Clone(scraped)
		for _, name := range metric.FindAllString(e.text, -1) {
			used[name] = true
			if have[name] == nil {
				t.Errorf("%s: there is no %s", e.where, name)
			}
			known = append(known, have[name]...)
		}
		for _, s := range selector.FindAllStringSubmatch(e.text, -1) {
			for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
				if !slices.Contains(have[s[1]], m[1]) && !slices.Contains(scraped, m[1]) {
					t.Errorf("%s: %s has no label %s", e.where, s[1], m[1])
				}
			}
		}
		for _, g := range grouping.FindAllStringSubmatch(e.text, -1) {
			for _, l := range strings.FieldsFunc(g[1], func(c rune) bool { return c == ',' || c == ' ' }) {
				if !slices.Contains(known, l) {
					t.Errorf("%s: no metric in it has the label %s", e.where, l)
				}
			}
		}
	}
	for name := range have {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count"), "_bucket")
		if !used[name] && !used[base+"_bucket"] {
			t.Errorf("%s is neither on the dashboard nor in a rule", name)
		}
	}
}
