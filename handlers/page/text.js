// Numbers, times and waits as people read them, and the names of things. All
// that the page shows goes through el(), which makes text and never markup.

const whole = new Intl.NumberFormat("en");

// count writes a number of things.
export const count = (n) => (n === null || n === undefined ? "–" : whole.format(Math.round(n)));

// rate writes a number per time, with three digits that count.
export function rate(n) {
  if (n === null || n === undefined || Number.isNaN(n)) return "–";
  if (n === 0) return "0";
  if (n < 0.01) return "<0.01";
  return n < 10 ? n.toFixed(2) : n < 100 ? n.toFixed(1) : count(n);
}

export const percent = (n) => (n === null ? "–" : n > 0 && n < 0.001 ? "<0.1%" : (100 * n).toFixed(n < 0.1 && n > 0 ? 1 : 0) + "%");

// latency writes seconds as ms or s. most is where the histogram ends.
export function latency(s, most) {
  if (s === null || s === undefined) return "–";
  if (most && s >= most) return "≥" + latency(most);
  if (s >= 1) return s.toFixed(s < 10 ? 1 : 0) + " s";
  const ms = s * 1000;
  return (ms < 1 ? ms.toFixed(2) : ms < 10 ? ms.toFixed(1) : ms.toFixed(0)) + " ms";
}

// span writes a length of time in seconds with its two largest units.
export function span(s) {
  s = Math.max(0, Math.floor(s));
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const at = units.findIndex(([, size]) => s >= size);
  if (at < 0) return "0 s";
  const [name, size] = units[at];
  const rest = Math.floor((s % size) / (units[at + 1]?.[1] ?? 1));
  return `${Math.floor(s / size)} ${name}` + (rest > 0 && at < 3 ? ` ${rest} ${units[at + 1][0]}` : "");
}

const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const fullTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayTime = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

export const clock = (ms) => clockTime.format(ms);
export const moment = (ms) => fullTime.format(ms);
export const day = (ms) => dayTime.format(ms);

// ago writes how long ago a moment was, by the server's clock.
export const ago = (ms, now) => (now - ms < 2000 ? "just now" : span((now - ms) / 1000) + " ago");

// limitName is what a limit and level are called here: "network host".
export const limitName = (limit, level) => (limit + (level ? " " + level : "")).replaceAll("_", " ");

// limitClass gives every limit the same colour wherever it appears.
export function limitClass(limit, level) {
  return "c-" + (limit + (level ? "-" + level : "")).replaceAll(/[^a-z-]/g, "-");
}

// el makes an element: el("td.num", {title: "x"}, "text", child).
export function el(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const e = document.createElement(tag);
  if (classes.length > 0) e.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// byID finds a part of the page.
export const byID = (id) => document.getElementById(id);

// say sets a text where it changed: what did not is not read out again.
export function say(id, text) {
  const e = typeof id === "string" ? byID(id) : id;
  if (e.textContent !== text) e.textContent = text;
}

// swatch shows the colour of a limit; the name stands beside it.
export const swatch = (colour) => el("span.swatch." + colour, { "aria-hidden": "true" });
