package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// report is all that a run found.
type report struct {
	Machine map[string]string
	When    string
	Rounds  int
	Turn    string
	Rows    []row    `json:",omitempty"`
	Ratios  []ratio  `json:",omitempty"`
	Growth  []growth `json:",omitempty"`
}

// ratio compares sums of processor time of one run.
type ratio struct {
	What  string
	Conns int
	Value float64
	Bound float64 // 0 for none
}

// ratios are the promises, as far as the run has their cases.
func ratios(rows []row) []ratio {
	cost := make(map[string]float64)
	var conns []int
	for _, r := range rows {
		if !slices.Contains(conns, r.Conns) {
			conns = append(conns, r.Conns)
		}
		cost[fmt.Sprint(r.Case, r.Conns)] = r.Guard + r.Redis
	}
	var out []ratio
	for _, p := range []struct {
		what, over string
		under      []string
		bound      float64
	}{
		{"allowed check on 5 buckets / (Echo floor + store floor)", "check, 5 buckets", []string{"echo floor", storeFloorName}, 1.25},
		{"the same / (Echo floor + store floor, sent together)", "check, 5 buckets", []string{"echo floor", togetherName}, 0},
		{"denied check, cached / allowed check", "denied, cached", []string{"check, 5 buckets"}, 0.35},
		{"denied check, uncached / allowed check", "denied, uncached", []string{"check, 5 buckets"}, 0.7},
		{"report success / allowed check", "report success", []string{"check, 5 buckets"}, 0.8},
		{"report failure / allowed check", "report failure", []string{"check, 5 buckets"}, 0.8},
		{"front / (reverse proxy + check + report)", "front", []string{"reverse proxy floor", "check, 5 buckets", "report success"}, 1.6},
	} {
		for _, n := range conns {
			over, under := cost[fmt.Sprint(p.over, n)], 0.0
			whole := over > 0
			for _, u := range p.under {
				under += cost[fmt.Sprint(u, n)]
				whole = whole && cost[fmt.Sprint(u, n)] > 0
			}
			if whole {
				out = append(out, ratio{p.what, n, over / under, p.bound})
			}
		}
	}
	return out
}

// attemptIn returns the attempt of an answer to a check.
func attemptIn(body []byte) string {
	var d floorDecision
	_ = json.Unmarshal(body, &d) // of 200; an empty attempt fails its report
	return d.Attempt
}

// write prints the tables, and writes the files that were asked for.
func (r *report) write(s settings) error {
	text := r.tables()
	fmt.Print(text)
	if s.page != "" {
		if err := os.WriteFile(s.page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if s.json != "" {
		return writeJSON(s.json, r)
	}
	return nil
}

// tables writes Markdown.
func (r *report) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s, %s cores, %s; %d rounds of %s.\n", r.When, r.Machine["processor"], r.Machine["cores"], r.Machine["go"], r.Rounds, r.Turn)
	if len(r.Rows) > 0 {
		b.WriteString("\n| case | connections | CPU us | guard | Redis | least..most | p50 ms | p99 ms | p99.9 ms | per second | allocations | Redis commands |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		for _, x := range r.Rows {
			fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.0f | %.0f..%.0f | %.2f | %.2f | %.2f | %.0f | %.0f | %.2f |\n",
				x.Case, x.Conns, x.Guard+x.Redis, x.Guard, x.Redis, x.Low, x.High, x.P50, x.P99, x.P999, x.Rate, x.Allocations, x.Commands)
		}
	}
	if len(r.Ratios) > 0 {
		b.WriteString("\n| ratio | connections | measured | promised at most |\n|---|---|---|---|\n")
		for _, x := range r.Ratios {
			bound := "-"
			if x.Bound > 0 {
				bound = fmt.Sprintf("%.2f", x.Bound)
			}
			fmt.Fprintf(&b, "| %s | %d | %.2f | %s |\n", x.What, x.Conns, x.Value, bound)
		}
	}
	if len(r.Growth) > 0 {
		b.WriteString("\n| what | count | bytes each | keys in all | heap of the guard, MB | CPU us a check |\n|---|---|---|---|---|---|\n")
		for _, x := range r.Growth {
			fmt.Fprintf(&b, "| %s | %d | %.1f | %d | %.0f | %.1f |\n", x.What, x.Count, x.Bytes, x.Keys, x.GuardHeap, x.Check)
		}
	}
	return b.String()
}
