// The last half hour: what the server remembers, and after that what the page
// was told. Counters are kept as they stood; rates are made of them here.

const HALF_HOUR = 1800;
const EVERY = 5; // seconds between two rows that are kept
const GAP = 20; // seconds without a row, over which nothing is drawn
export const BIN = 15; // seconds to a point of a chart
const FEWEST = 20; // points

export class Past {
  constructor() {
    this.times = []; // Unix time, seconds, rising
    this.series = new Map(); // name -> values, undefined where there was none
    this.started = "";
  }

  // load takes over what the server remembers.
  load(history) {
    this.started = history.started;
    this.times = history.times.slice();
    this.series = new Map();
    const put = (name, values) => this.series.set(name, values.map((v) => v ?? undefined));
    for (const [name, values] of Object.entries(history.series)) put(name, values);
    put("check_p99", history.check_p99);
    put("store_p99", history.store_p99);
  }

  // add takes one status. The last row moves until it is EVERY old.
  add(s) {
    const now = Date.parse(s.now) / 1000;
    const n = this.times.length;
    if (n > 0 && now <= this.times[n - 1]) return;
    if (n > 1 && this.times[n - 1] - this.times[n - 2] < EVERY - 0.5) this.cut(n - 1, 1);
    this.times.push(now);
    for (const [name, value] of values(s)) {
      if (!this.series.has(name)) this.series.set(name, []);
      this.series.get(name)[this.times.length - 1] = value ?? undefined;
    }
    const old = this.times.findIndex((t) => t >= now - HALF_HOUR - BIN);
    if (old > 0) this.cut(0, old);
  }

  cut(from, n) {
    this.times.splice(from, n);
    for (const values of this.series.values()) values.splice(from, n);
  }

  get end() { return this.times.at(-1) ?? 0; }

  // names lists the series of one kind, without the kind.
  names(kind) {
    return [...this.series.keys()].filter((n) => n.startsWith(kind + ":")).map((n) => n.slice(kind.length + 1)).sort();
  }

  // at returns the value of a series at a moment: between two rows what lies
  // between them, and nothing where the rows are too far apart. A counter that
  // did not exist yet while others did was 0.
  at(name, t, counter) {
    const i = this.times.findIndex((x) => x >= t);
    if (i < 0 || (i === 0 && this.times[0] > t)) return undefined;
    const values = this.series.get(name) ?? [];
    const read = (k) => values[k] ?? (counter ? 0 : undefined);
    if (this.times[i] === t) return read(i);
    const from = this.times[i - 1], to = this.times[i];
    if (to - from > GAP) return undefined;
    const a = read(i - 1), b = read(i);
    if (a === undefined || b === undefined) return undefined;
    return counter ? a + ((b - a) * (t - from)) / (to - from) : b;
  }

  // bins lists the beginnings of the points that a chart has. They are whole
  // multiples of BIN, so that a point does not change while it moves. A service
  // that has just started has fewer of them, not an empty half hour.
  bins() {
    const last = Math.floor(this.end / BIN);
    const known = last - Math.floor((this.times[0] ?? 0) / BIN) + 1;
    const n = Math.min(HALF_HOUR / BIN, Math.max(FEWEST, known));
    return Array.from({ length: n }, (_, i) => (last - n + 1 + i) * BIN);
  }

  // rates returns how often per second a counter rose in each bin.
  rates(name, bins) {
    return bins.map((b) => {
      const from = Math.max(b, this.times[0] ?? b), to = Math.min(b + BIN, this.end);
      if (to - from < 1) return undefined;
      const x = this.at(name, from, true), y = this.at(name, to, true);
      return x === undefined || y === undefined ? undefined : Math.max(0, y - x) / (to - from);
    });
  }

  // gauges returns the value of a series at the end of each bin.
  gauges(name, bins) {
    return bins.map((b) => this.at(name, Math.min(b + BIN, this.end), false));
  }

  // lately returns how much a counter rose in the last seconds, and in how
  // many of them, as far as is known.
  lately(name, seconds) {
    const n = this.times.length;
    if (n < 2) return { rise: 0, over: 0 };
    const i = Math.max(0, this.times.findLastIndex((t) => t <= this.end - seconds));
    const v = this.series.get(name) ?? [];
    return { rise: Math.max(0, (v[n - 1] ?? 0) - (v[i] ?? 0)), over: this.end - this.times[i] };
  }
}

// values names the numbers of a status as the server's history does.
function* values(s) {
  for (const d of ["allow", "challenge", "deny"]) yield ["attempts:" + d, s.attempts[d]];
  for (const d of s.denials) yield ["denied:" + key(d), d.count];
  for (const r of s.realms) yield ["remaining:" + r.realm, r.remaining];
  yield ["breaker:", s.store.up ? 0 : 1];
  yield ["check_p99", s.check.p99];
  yield ["store_p99", s.store.calls.p99];
}

export const key = (d) => d.limit + (d.level ? "." + d.level : "");
