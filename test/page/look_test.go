package page

import (
	"testing"

	"github.com/chromedp/chromedp"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// audit lists what keeps people out of a page: fields without a label, pictures
// without words, buttons without a name, ids that are there twice, text that is
// too faint (WCAG 2.2, 1.4.3: 4.5 to 1, or 3 to 1 where it is large), marks that
// are (1.4.11: 3 to 1), and a page that must be scrolled sideways (1.4.10).
const audit = `(() => {
	const found = [];
	const visible = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility === "visible";
	for (const e of document.querySelectorAll("input, select")) if (!e.labels.length) found.push("no label: " + e.id);
	for (const e of document.querySelectorAll("svg")) if (e.getAttribute("role") !== "img" || !e.getAttribute("aria-label")) found.push("picture without words");
	for (const e of document.querySelectorAll("button, a, [role=region], [role=group]")) if (visible(e) && !e.textContent.trim() && !e.getAttribute("aria-label")) found.push("no name: " + e.outerHTML);
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	for (const id of new Set(ids.filter((x, i) => ids.indexOf(x) !== i))) found.push("twice: " + id);
	for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
		for (const a of ["aria-labelledby", "aria-describedby"])
			for (const id of (e.getAttribute(a) || "").split(" ").filter(Boolean)) if (!document.getElementById(id)) found.push("nothing is " + id);
	if (!document.documentElement.lang || document.querySelectorAll("h1").length !== 1 || document.querySelectorAll("main").length !== 1) found.push("no language, heading or main part");
	if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push("scrolls sideways");

	const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
	const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
	let texts = 0;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !visible(e) || e.closest("option, noscript, script")) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const color = rgb(e instanceof SVGElement ? style.fill : style.color);
		const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
		const r = ratio(color, ground(e));
		texts++;
		if (r < least) found.push(r.toFixed(2) + " for " + JSON.stringify(e.textContent.slice(0, 40)));
	}
	for (const e of document.querySelectorAll(".swatch, .area, .line, .bar i, input, select, .dot")) {
		if (!visible(e)) continue;
		const style = getComputedStyle(e);
		const color = e.matches("input, select") ? style.borderTopColor : e.matches(".area") ? style.fill : e.matches(".line") ? style.stroke : style.backgroundColor;
		const r = ratio(rgb(color), ground(e.parentElement));
		if (r < 3) found.push(r.toFixed(2) + " for the mark " + (e.className.baseVal ?? e.className) + e.id);
	}
	// Every colour of a limit, also of those that deny nobody just now.
	const card = document.querySelector(".card");
	for (const rule of [...document.styleSheets[0].cssRules].filter(r => /^\.c-/.test(r.selectorText || ""))) {
		for (const name of rule.selectorText.split(",")) {
			const probe = document.createElement("i");
			probe.className = "swatch " + name.trim().slice(1);
			card.append(probe);
			const r = ratio(rgb(getComputedStyle(probe).backgroundColor), ground(card));
			probe.remove();
			if (r < 3) found.push(r.toFixed(2) + " for the colour " + name);
		}
	}
	if (texts < 60) found.push("only " + texts + " texts were looked at");
	return found;
})()`

// TestEverybodyCanReadIt looks at the page as it is shown to different people.
func TestEverybodyCanReadIt(t *testing.T) {
	t.Parallel()
	s := service.Start(t, service.Options{Config: rules})
	traffic(t, s)
	b := open(t, s.Admin)
	b.await(`document.querySelector("#t-denials table")`)
	fill(b)
	b.await(`document.getElementById("verdict")`)
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(23, 30, 39)"}[scheme]
		if got := value[string](b, `getComputedStyle(document.querySelector(".card")).backgroundColor`); got != want {
			t.Errorf("%s: a card is %s, want %s", scheme, got, want)
		}
		if got := value[string](b, `getComputedStyle(document.querySelector(".dot")).animationName`); got != "none" {
			t.Errorf("%s: something moves for those who want less of it: %s", scheme, got)
		}
		for _, width := range []int64{1600, 1280, 768, 320} {
			b.size(width, 900)
			for _, found := range value[[]string](b, audit) {
				t.Errorf("%s, %d wide: %s", scheme, width, found)
			}
		}
	}
}

// fill asks about the account that traffic denied.
func fill(b *tab) {
	b.t.Helper()
	value[int](b, `(document.getElementById("ask-account").value = "alice", document.getElementById("ask-ip").value = "20.9.9.9", document.getElementById("ask-form").requestSubmit(), 0)`)
}

// TestPauseAsksNothing sends an attempt that a paused page must not show.
func TestPauseAsksNothing(t *testing.T) {
	t.Parallel()
	s := service.Start(t, service.Options{})
	b := open(t, s.Admin)
	b.await(`document.getElementById("pulse-text").textContent === "live"`)
	b.tabTo(`document.getElementById("pause")`)
	b.keys(" ")
	b.await(`document.getElementById("pulse-text").textContent === "paused" && document.getElementById("pause").getAttribute("aria-pressed") === "true"`)
	s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"})
	// Two and a half of its periods, by the page's own clock.
	asked := value[bool](b, `new Promise(done => setTimeout(() => done(document.getElementById("total").textContent !== "0"), 5000))`, chromedp.EvalAwaitPromise)
	if asked {
		t.Error("a paused page shows what came later")
	}
	b.keys(" ")
	b.await(`document.getElementById("total").textContent === "1" && document.getElementById("pulse-text").textContent === "live"`)
}
