// What a status says, written into the tiles and tables.

import { byID, say, el, swatch, count, rate, percent, latency, span, ago, day, limitName, limitClass } from "./text.js";

// table fills a card, unless it says the same already: a table that is rebuilt
// under a reader's cursor cannot be read. rows are lists of cells, numbers with
// the class num; note stands below, none in the place of no rows.
const shown = new Map();
function table(id, title, heads, rows, { note, none } = {}) {
  const now = JSON.stringify([rows.map((r) => r.map((c) => c?.outerHTML ?? c)), note]);
  if (shown.get(id) === now) return;
  shown.set(id, now);
  const cells = (r) => r.map((c, i) => el(i === 0 ? "th" : typeof c === "number" ? "td.num" : heads[i]?.num ? "td.num" : "td",
    i === 0 ? { scope: "row" } : {}, typeof c === "number" ? count(c) : c));
  byID(id).replaceChildren(
    el("h3", {}, title),
    rows.length === 0 ? el("p.none", {}, none ?? "None yet.") : el("div.scroll", { tabindex: "0", role: "region", "aria-label": title },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((h) => el(h.num ? "th.num" : "th", { scope: "col" }, h.name ?? h)))),
        el("tbody", {}, ...rows.map((r) => el("tr", {}, ...cells(r)))))),
    note ? el("p.note", {}, note) : "");
}

const num = (name) => ({ name, num: true });
const named = (limit, level) => el("span", {}, swatch(limitClass(limit, level)), limitName(limit, level));
const modeWord = (m) => (m === "enforce" ? "enforce" : el("span.badge." + m.replace("_", "-"), {}, m.replace("_", " ")));

function state(tile, bad, warn) {
  byID(tile).classList.toggle("bad", bad);
  byID(tile).classList.toggle("warn", !bad && Boolean(warn));
}

// tiles writes what is happening now. past knows what came before.
export function tiles(s, past) {
  const now = Date.parse(s.now);
  const total = s.attempts.allow + s.attempts.challenge + s.attempts.deny;
  const lately = (d, seconds) => past.lately("attempts:" + d, seconds);
  const all = (seconds) => ["allow", "challenge", "deny"].reduce((n, d) => n + lately(d, seconds).rise, 0);
  const { over } = lately("allow", 10);
  say("rate", over > 0 ? rate(all(10) / over) : "–");
  say("total", count(total));
  say("in-flight", s.in_flight === null ? "" : `, ${count(s.in_flight)} in progress`);
  const five = all(300);
  say("share", five > 0 ? percent(lately("deny", 300).rise / five) : "–");
  say("denied", count(s.attempts.deny));
  say("challenged", count(s.attempts.challenge));
  say("check-p99", latency(s.check.p99, s.check.most));
  say("check-p50", latency(s.check.p50, s.check.most));

  say("store", s.store.up ? "up" : "down");
  say("store-since", span((now - Date.parse(s.store.since)) / 1000));
  say("store-p99", latency(s.store.calls.p99, s.store.calls.most));
  state("store-tile", !s.store.up);

  say("reload", s.reload.ok ? "current" : "refused");
  say("reload-at", s.reload.at === null ? "–" : ago(s.reload.at * 1000, now));
  say("reload-hash", s.reload.hash === null ? "" : ", hash " + s.reload.hash);
  state("reload-tile", !s.reload.ok);

  const o = s.overrides;
  const left = o.next_expiry === null ? null : o.next_expiry * 1000 - now;
  say("overrides", count(o.active));
  say("overrides-next", [
    left === null ? "none will expire" : left < 0 ? "next expiry is due" : `next expires in ${span(left / 1000)}`,
    o.expired ? `${count(o.expired)} expired` : "",
  ].filter(Boolean).join(", "));
  state("overrides-tile", false, o.expired > 0 || (left !== null && left < 7 * 86400e3));

  const logOnly = s.mode === "log_only";
  say("mode", logOnly ? "log only: nobody is denied" : s.mode === "off" ? "off" : "enforcing");
  byID("mode").className = "badge " + (s.mode === "enforce" ? "enforce" : "log-only");
  say("version", s.version);
  say("uptime", ", up " + span(s.uptime));
  say("started", day(Date.parse(s.started)) + ", this instance alone");
}

// tables writes what was counted since the start.
export function tables(s) {
  const total = s.attempts.allow + s.attempts.challenge + s.attempts.deny;
  const asked = new Map(s.challenges.map((c) => [c.limit + c.level, c.count]));
  const limits = s.denials.map((d) => [d, asked.get(d.limit + d.level) ?? 0]);
  for (const c of s.challenges) {
    if (!s.denials.some((d) => d.limit === c.limit && d.level === c.level)) limits.push([{ ...c, count: 0 }, c.count]);
  }
  limits.sort((a, b) => b[0].count - a[0].count);
  table("t-denials", "Denials by limit", ["Limit", num("Denied"), num("Of all attempts"), num("Challenged")],
    limits.map(([d, c]) => [named(d.limit, d.level), d.count, percent(d.count / total), c]), { none: "Nobody was denied." });

  table("t-logonly", "Log-only report", ["Limit", "Mode", num("Would have denied"), num("Then signed in")],
    s.log_only.map((l) => [named(l.limit, l.level), modeWord(l.mode), l.would_deny,
      l.would_deny > 0 ? `${count(l.then_success)} (${percent(l.then_success / l.would_deny)})` : count(l.then_success)]),
    { none: "No limit is log-only. Set mode: log_only on a limit to see here whom it would deny before it does.",
      note: s.log_only.length > 0 ? "Who then signed in knew the password: those are the people that the limit would have kept out." : "" });

  table("t-routes", "Routes", ["Route", num("Allowed"), num("Challenged"), num("Denied"), num("Undecided")],
    s.routes.map((r) => [r.realm === "default" ? r.route : `${r.realm} / ${r.route}`, r.allow, r.challenge, r.deny, r.degraded]),
    { note: s.attempts.degraded > 0 ? "Undecided attempts were allowed by on_failure: the store could not be asked." : "" });

  const reports = ["success", "failure", "cancelled", "repeated"].map((o) => [o, s.reports[o]]);
  table("t-reports", "Reports", ["Outcome", num("Reports")],
    [...reports, ...s.unreported.map((u) => [`never reported, by ${u.caller}`, u.count])],
    { note: s.unreported.length > 0 ? "An attempt that is never reported stays charged to its account." : "" });

  table("t-realms", "Realms", ["Realm", num("People"), num("Global limit left"), num("Of")],
    s.realms.map((r) => [r.realm, r.population ?? "–", r.remaining ?? "–", r.capacity ?? "–"]),
    { note: "The global limit is what strangers to all accounts of a realm may try together. It grows with the people who sign in." });

  table("t-errors", "Store failures", ["Kind", num("Calls")], s.store.errors.map((e) => [e.class, e.count]), { none: "No call of the store failed." });

  table("t-limits", "Limits", ["Limit", "Mode", num("Capacity"), "Refill", "Waits", "What for"],
    s.limits.map((l) => [named(l.limit, l.level), modeWord(l.mode),
      count(l.capacity) + (l.max_capacity ? " to " + count(l.max_capacity) : ""), l.refill, l.backoff.replace("..", " to ") || "–", l.purpose.replace(/^protection: /, "")]));
}
