// Charts as SVG, made by hand: a time axis of half an hour, stacked areas or
// lines, a legend that tells the values, now or where somebody points. All
// colours are classes, since the page's policy allows no style in an element.

import { el, clock, moment, swatch } from "./text.js";
import { BIN } from "./past.js";

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 168, LEFT = 52, RIGHT = 8, TOP = 8, BOTTOM = 22;

function svg(tag, attributes, ...children) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// nice returns the first round number that is not below n.
function nice(n) {
  if (!(n > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(n));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((m) => m * ten).find((m) => m >= n * 0.9999);
}

export class Chart {
  // o: title, unit, stacked, none (for no lines), write(value), and optional
  // tick(value) and most, both of the axis
  constructor(figure, o) {
    this.o = o;
    this.cursor = null;
    this.canvas = svg("svg", { role: "img", height: HEIGHT });
    this.plot = el("div.plot", { tabindex: "0", role: "group", "aria-label": o.title + ", arrow keys read values" }, this.canvas);
    this.legend = el("ul.legend");
    this.when = el("span.when");
    this.spoken = el("p.unseen", { role: "status" });
    figure.replaceChildren(el("figcaption", {}, el("h3", {}, o.title + " ", el("small", {}, o.unit)), this.when), this.plot, this.legend, this.spoken);
    new ResizeObserver(() => this.draw()).observe(this.plot);
    this.plot.addEventListener("pointermove", (e) => this.point(this.binAt(e.offsetX)));
    this.plot.addEventListener("pointerleave", () => this.point(null));
    this.plot.addEventListener("blur", () => this.point(null));
    this.plot.addEventListener("keydown", (e) => this.key(e));
  }

  // show takes the points: bins, lines [{name, colour, values}], and optional
  // down (a value per bin) and marks (moments).
  show(data) {
    this.data = data;
    this.draw();
  }

  binAt(x) {
    const n = this.data?.bins.length ?? 0;
    const i = Math.floor(((x - LEFT) / (this.width - LEFT - RIGHT)) * n);
    return i >= 0 && i < n ? i : null;
  }

  // point moves the cursor; what a key reached is read out.
  point(i, aloud) {
    if (i === this.cursor || !this.data) return;
    this.cursor = i;
    this.draw();
    if (aloud && i !== null) this.spoken.textContent = this.tell(i);
  }

  key(e) {
    const last = (this.data?.bins.length ?? 0) - 1;
    const at = this.cursor ?? last + 1;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 20, PageDown: at + 20, Home: 0, End: last }[e.key];
    if (e.key === "Escape") this.point(null);
    if (to === undefined) return;
    e.preventDefault();
    this.point(Math.min(last, Math.max(0, to)), true);
  }

  tell(i) {
    const values = this.data.lines.map((l) => `${l.name} ${this.o.write(l.values[i])}`).join(", ");
    return `${moment(this.data.bins[i] * 1000)}: ${values || "nothing"}`;
  }

  draw() {
    this.width = this.plot.clientWidth;
    if (!this.data || this.width < 80) return;
    const { bins, lines } = this.data;
    const layers = this.layers(lines, bins.length);
    const top = this.o.most ?? nice(Math.max(0, ...layers.flatMap((l) => l.high.filter((v) => v !== undefined))));
    const right = this.width - RIGHT, bottom = HEIGHT - BOTTOM;
    const begin = bins[0], end = bins.at(-1) + BIN;
    const x = (t) => LEFT + ((t - begin) / (end - begin)) * (right - LEFT);
    const y = (v) => bottom - (Math.min(v, top) / top) * (bottom - TOP);
    const parts = [];

    (this.data.down ?? []).forEach((d, i) => {
      if (d > 0) parts.push(svg("rect", { class: "down", x: x(bins[i]), y: TOP, width: x(bins[i] + BIN) - x(bins[i]) + 0.5, height: bottom - TOP }));
    });
    for (const part of [0, 0.5, 1]) {
      parts.push(svg("line", { class: part === 0 ? "axis" : "grid", x1: LEFT, x2: right, y1: y(part * top), y2: y(part * top) }));
      parts.push(svg("text", { class: "tick", x: LEFT - 6, y: y(part * top) + 4, "text-anchor": "end" }, (this.o.tick ?? this.o.write)(part * top)));
    }
    const step = [60, 120, 300, 600, 900].find((s) => (s / (end - begin)) * (right - LEFT) > 56) ?? 1800;
    for (let t = Math.ceil(begin / step) * step; t <= end; t += step) {
      if (x(t) < LEFT + 16 || x(t) > right - 16) continue;
      parts.push(svg("line", { class: "axis", x1: x(t), x2: x(t), y1: bottom, y2: bottom + 4 }));
      parts.push(svg("text", { class: "tick", x: x(t), y: bottom + 16, "text-anchor": "middle" }, clock(t * 1000)));
    }
    for (const l of layers) parts.push(...this.layer(l, bins, x, y));
    for (const at of this.data.marks ?? []) {
      if (at > begin && at < end) parts.push(svg("line", { class: "mark", x1: x(at), x2: x(at), y1: TOP, y2: bottom }));
    }
    if (this.cursor !== null && this.cursor < bins.length) {
      const at = x(bins[this.cursor] + BIN / 2);
      parts.push(svg("line", { class: "cursor", x1: at, x2: at, y1: TOP, y2: bottom }));
    }
    this.canvas.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.canvas.setAttribute("width", this.width);
    this.canvas.replaceChildren(...parts);
    this.caption(lines, bins);
  }

  // layers puts stacked values on top of each other.
  layers(lines, n) {
    const sum = new Array(n).fill(0);
    return lines.map((l) => {
      if (!this.o.stacked) return { colour: l.colour, high: l.values };
      const low = sum.slice();
      l.values.forEach((v, i) => { sum[i] += v ?? 0; });
      return { colour: l.colour, low, high: l.values.map((v, i) => (v === undefined ? undefined : sum[i])) };
    });
  }

  // layer draws one line, or one area with steps: a bin is a count, and a slope
  // between two counts would invent what lay between them.
  layer(l, bins, x, y) {
    const runs = [];
    l.high.forEach((v, i) => {
      if (v === undefined) return;
      if (l.high[i - 1] === undefined || i === 0) runs.push([]);
      runs.at(-1).push(i);
    });
    return runs.map((run) => {
      const from = (i) => x(bins[i]).toFixed(1), to = (i) => x(bins[i] + BIN).toFixed(1);
      const path = run.map((i) => `${from(i)},${y(l.high[i]).toFixed(1)} ${to(i)},${y(l.high[i]).toFixed(1)}`).join(" ");
      if (!l.low) return svg("polyline", { class: "line " + l.colour, points: path });
      const back = run.slice().reverse().map((i) => `${to(i)},${y(l.low[i]).toFixed(1)} ${from(i)},${y(l.low[i]).toFixed(1)}`).join(" ");
      return svg("polygon", { class: "area " + l.colour, points: path + " " + back });
    });
  }

  // caption writes the legend and the text that stands for the picture.
  caption(lines, bins) {
    // The last bin has only begun; the one before it is what is known.
    const i = this.cursor ?? bins.length - 1;
    const known = (l) => l.values[i] ?? (this.cursor === null ? l.values[i - 1] : undefined);
    this.when.textContent = this.cursor === null ? "" : moment(bins[i] * 1000);
    this.legend.replaceChildren(...lines.map((l) => el("li", {}, swatch(l.colour), l.name + " ", el("b", {}, this.o.write(known(l))))));
    if (lines.length === 0) this.legend.replaceChildren(el("li.none", {}, this.o.none));
    const peak = lines.map((l) => `${l.name}: now ${this.o.write(known(l))}, at most ${this.o.write(l.values.reduce((m, v) => (v > (m ?? -1) ? v : m), undefined))}`);
    this.canvas.setAttribute("aria-label", `${this.o.title} ${this.o.unit}, last 30 minutes. ${peak.join("; ") || this.o.none}.`);
  }
}
