// The operators' page: asks the service every two seconds while somebody looks,
// and shows what it says. It keeps nothing but the last half hour.

import { byID, say, rate, latency, limitName, limitClass, percent } from "./text.js";
import { Past } from "./past.js";
import { Chart } from "./chart.js";
import { tiles, tables } from "./view.js";
import { ask, choices } from "./ask.js";

const EVERY = 2000; // ms between two questions
const PATIENCE = 5000; // ms until one counts as not answered

const past = new Past();
let last = null; // status
let answered = 0; // when it came, by this browser's clock
let failing = false;
let paused = false;
let timer = 0;
let stale = true; // the history must be read again

const tick = (v) => String(Number(v.toPrecision(2)));

const charts = {
  attempts: new Chart(byID("chart-attempts"), { title: "Attempts", unit: "per second", stacked: true, write: rate, tick, none: "No attempts" }),
  denials: new Chart(byID("chart-denials"), { title: "Denials by limit", unit: "per minute", stacked: true, write: rate, tick, none: "Nobody was denied" }),
  global: new Chart(byID("chart-global"), { title: "Global budget left", unit: "by realm", most: 1, write: (v) => percent(v ?? null), none: "Not known yet" }),
  time: new Chart(byID("chart-time"), { title: "Time to decide", unit: "p99 of 5 minutes", write: (v) => (v === 0 ? "0" : latency(v)), none: "No attempts" }),
};

async function get(path) {
  const r = await fetch(path, { cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(PATIENCE) });
  if (!r.ok) throw new Error(String(r.status));
  return r.json();
}

async function poll() {
  clearTimeout(timer);
  try {
    const s = await get("/v1/status");
    if (stale || s.started !== past.started) {
      past.load(await get("/v1/status/history"));
      stale = false;
    }
    last = s;
    answered = Date.now();
    failing = false;
    past.add(s);
    draw();
  } catch {
    failing = true;
  }
  pulse();
  timer = resting() ? 0 : setTimeout(poll, EVERY);
}

const resting = () => paused || document.hidden;

function draw() {
  tiles(last, past);
  tables(last);
  choices(last.realms.map((r) => r.realm), last.route_names);

  const bins = past.bins();
  const marks = last.reload.at === null || last.reload.at * 1000 - Date.parse(last.started) < 5000 ? [] : [last.reload.at];
  const words = [["allow", "allowed", "c-allow"], ["challenge", "challenged", "c-challenge"], ["deny", "denied", "c-deny"]];
  const attempts = words.map(([d, name, colour]) => ({ name, colour, values: past.rates("attempts:" + d, bins) }))
    .filter((l, i) => i !== 1 || last.attempts.challenge > 0);
  charts.attempts.show({ bins, marks, lines: attempts });

  const denials = past.names("denied").map((n) => {
    const [limit, level] = n.split(".");
    return { name: limitName(limit, level), colour: limitClass(limit, level), values: past.rates("denied:" + n, bins).map((v) => (v === undefined ? v : v * 60)) };
  });
  charts.denials.show({ bins, marks, lines: denials });

  // A realm's colour is its place in the list, which the policy sorts.
  const realms = last.realms.filter((r) => r.capacity).slice(0, 6).map((r) => ({
    name: r.realm, colour: "c-realm-" + (last.realms.indexOf(r) % 6),
    values: past.gauges("remaining:" + r.realm, bins).map((v) => (v === undefined ? v : Math.max(0, v / r.capacity))),
  }));
  charts.global.show({ bins, marks, lines: realms });

  const time = [["check_p99", "decision", "c-check"], ["store_p99", "store call", "c-store"]].map(([n, name, colour]) => ({ name, colour, values: past.gauges(n, bins) }));
  charts.time.show({ bins, marks, lines: time, down: past.gauges("breaker:", bins) });
}

// pulse says whether what is shown is of now.
function pulse() {
  const lost = failing && !resting();
  byID("pulse").className = "pulse " + (lost ? "bad" : resting() ? "rest" : "live");
  say("pulse-text", lost ? "no answer" : paused ? "paused" : "live");
  document.body.classList.toggle("stale", lost);
  const notice = byID("lost");
  if (lost !== !notice.hidden) {
    // Once, with the time and not the age of it: an alert that changes is read
    // out again and again.
    notice.hidden = !lost;
    say(notice, lost ? (answered ? `The service does not answer. What you see is of ${new Date(answered).toLocaleTimeString("en-GB")}.` : "The service does not answer.") : "");
  }
  document.title = (lost ? "no answer – " : last && !last.store.up ? "store down – " : "") + "loginguard";
}

byID("pause").addEventListener("click", () => {
  paused = !paused;
  byID("pause").setAttribute("aria-pressed", String(paused));
  if (paused) {
    clearTimeout(timer);
    pulse();
  } else {
    stale = true;
    poll();
  }
});

document.addEventListener("visibilitychange", () => {
  if (resting()) {
    clearTimeout(timer);
  } else {
    stale = true; // the server saw what this page did not
    poll();
  }
});

ask();
poll();
