// The question why: explains an account and address in words, and clears what
// keeps them out, after a confirmation.

import { byID, say, el, swatch, count, span, limitName, limitClass } from "./text.js";

// why says in words what a limit that denies has seen.
const why = {
  account: "there were too many tries at this account from places that it has not signed in from",
  device: "there were too many tries from this known device",
  familiar: "there were too many tries at this account from a network that it has signed in from",
  network: "there were too many failures from the network",
  global: "strangers have used up what the whole realm may try; it is not about this account",
  password: "the same password was tried at too many accounts",
  repeat: "the same wrong password was sent again and again",
  challenged: "too many challenges were passed for this account",
};

const classes = {
  none: "",
  exempt: "Its address is exempt: no network and no global limit counts it.",
  pool: "Its address is in a carrier's pool, which counts as one network.",
  hosting: "Its address is of a hosting provider: the limits are smaller, and it never becomes familiar.",
};

// post sends JSON, with the key if there is one. It answers {status, body}.
async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  const key = byID("key").value;
  if (key) headers.Authorization = "Bearer " + key;
  const r = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), credentials: "omit", redirect: "error" });
  return { status: r.status, body: await r.json() };
}

// refused says why there is no answer, and asks for the key where it lacks.
function refused({ status, body }) {
  byID("answer").hidden = true;
  const wantsKey = status === 401 || (status === 403 && !byID("key-row").hidden);
  if (wantsKey) {
    byID("key-row").hidden = false;
    byID("key").focus();
    byID("key").select();
  }
  say("ask-status", (wantsKey ? "An admin key is needed. " : "") + (body.detail ?? body.title ?? `Answered ${status}.`));
}

// words explains in sentences.
function words(a) {
  const blocking = a.limits.filter((l) => l.would_deny && l.mode === "enforce").sort((x, y) => y.retry_after - x.retry_after)[0];
  const level = blocking?.limit === "network" ? blocking.level : "";
  const network = a.networks.find((n) => n.level === level)?.network;
  let because = why[a.limit] ?? `the limit ${a.limit} is used up`;
  if (a.limit === "network" && network) because += ` ${network}`;
  if (a.decision === "deny") return `Denied for another ${span(a.retry_after)}: ${because}.`;
  if (a.decision === "challenge") return `Challenged: ${because}.`;
  const dry = a.limits.filter((l) => l.would_deny && l.mode === "log_only").map((l) => limitName(l.limit, l.level));
  return "Allowed: nothing keeps this attempt out now." + (dry.length > 0 ? ` Enforced, ${dry.join(" and ")} would deny it.` : "");
}

function facts(a) {
  const list = [
    ["Address", `${a.client} (${a.client_source === "ip" ? "as given" : "from " + a.client_source})`],
    ["Networks", a.networks.map((n) => `${n.network} (${n.level})`).join(", ") || "none"],
    ["Account in the log", a.account],
    ["Familiar", a.familiar ? "yes: the account has signed in from here" : "no: the account has not signed in from here lately"],
    ["Failures since the last success", count(a.failures)],
  ];
  return el("dl", {}, ...list.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
}

// bar draws what is left. The number stands beside it.
function bar(l) {
  const b = el("span.bar." + limitClass(l.limit, l.level), { "aria-hidden": "true" }, el("i"));
  b.firstChild.style.width = (l.capacity > 0 ? Math.min(1, Math.max(0, l.remaining / l.capacity)) * 100 : 0) + "%";
  return b;
}

function verdict(l) {
  if (!l.would_deny) return "can pay";
  return l.mode === "enforce" ? "denies" : "would deny";
}

function limitTable(a) {
  const heads = [["Limit"], ["Mode"], ["Left", "num"], ["Strikes", "num"], ["Wait", "num"], ["Says"], ["Override"]];
  return el("div.scroll", { tabindex: "0", role: "region", "aria-label": "What every limit says" }, el("table", { id: "answer-limits" },
    el("thead", {}, el("tr", {}, ...heads.map(([h, c]) => el(c ? "th." + c : "th", { scope: "col" }, h)))),
    el("tbody", {}, ...a.limits.map((l) => el(l.would_deny ? "tr.dry" : "tr", {},
      el("th", { scope: "row" }, swatch(limitClass(l.limit, l.level)), limitName(l.limit, l.level)),
      el("td", {}, l.mode.replace("_", " ")),
      el("td.num", {}, bar(l), `${count(l.remaining)} of ${count(l.capacity)}`),
      el("td.num", {}, count(l.strikes)),
      el("td.num", {}, l.retry_after > 0 ? span(l.retry_after) : "–"),
      el("td", {}, verdict(l)),
      el("td", {}, l.override || "–"))))));
}

// actions are the buttons that clear, each with what it does in words.
function actions(a, q) {
  const list = [
    { label: "Let this account in", title: "Let this account in now?", body: { realm: q.realm, account: q.account, scope: "limits" },
      text: `All waits of ${q.account} end and its limits are full again. Familiar networks and devices stay. An attacker may guess at it again from the beginning, too.` },
    { label: "Its password was reset", title: "Forget all that is known of this account?", body: { realm: q.realm, account: q.account, scope: "credentials" },
      text: `After a password reset or recovery: the limits of ${q.account} are cleared, its familiar networks and failures are forgotten, and device tokens issued before now end.` },
    ...a.networks.map((n) => ({ label: `Clear ${n.network}`, title: `Clear ${n.network}?`, body: { realm: q.realm, network: n.network },
      text: `The limits of the network ${n.network} (${n.level}) are full again, for everybody in it.` })),
  ];
  return el("div.actions", { role: "group", "aria-label": "Clear" }, ...list.map((act) => {
    const b = el("button", { type: "button" }, act.label);
    b.addEventListener("click", () => confirmed(act, () => clear(act, q)));
    return b;
  }));
}

// confirmed asks before it does. The dialog begins on Cancel.
function confirmed(act, then) {
  const d = byID("confirm");
  say("confirm-h", act.title);
  say("confirm-text", act.text);
  say("confirm-yes", act.label);
  d.returnValue = "no";
  d.onclose = () => { if (d.returnValue === "yes") then(); };
  d.showModal();
  byID("confirm-no").focus();
}

async function clear(act, q) {
  await asking(async () => {
    const r = await post("/v1/forget", act.body);
    if (r.status !== 200) return refused(r);
    await show(q, "Cleared. ");
    // The button that was pressed is gone with the answer it stood in.
    byID("ask").focus({ preventScroll: true });
  });
}

async function show(q, before) {
  const r = await post("/v1/explain", q);
  if (r.status !== 200) return refused(r);
  const a = r.body;
  const box = byID("answer");
  box.replaceChildren(el("p.verdict." + a.decision, { id: "verdict" }, words(a)), classes[a.class] ? el("p", {}, classes[a.class]) : "",
    facts(a), limitTable(a), actions(a, q));
  box.hidden = false;
  // Read out, but not shown twice.
  byID("ask-status").classList.add("unseen");
  say("ask-status", before + words(a));
}

// asking runs one question at a time, and says when none was answered.
let busy = false;
async function asking(f) {
  if (busy) return;
  busy = true;
  byID("ask-status").classList.remove("unseen");
  byID("ask-form").setAttribute("aria-busy", "true");
  try {
    await f();
  } catch {
    byID("answer").hidden = true;
    say("ask-status", "The service does not answer. Nothing is known to have changed.");
  } finally {
    busy = false;
    byID("ask-form").removeAttribute("aria-busy");
  }
}

export function ask() {
  byID("ask-form").addEventListener("submit", (e) => {
    e.preventDefault();
    const q = { account: byID("ask-account").value, ip: byID("ask-ip").value.trim(), realm: byID("ask-realm").value, route: byID("ask-route").value };
    asking(() => show(q, ""));
  });
}

// choices offers the realms and routes that the policy has.
export function choices(realms, routes) {
  for (const [id, names] of [["ask-realm", realms], ["ask-route", routes]]) {
    const select = byID(id);
    if (names.join("\n") === [...select.options].map((o) => o.value).join("\n")) continue;
    const was = select.value;
    select.replaceChildren(...names.map((n) => el("option", { value: n }, n)));
    if (names.includes(was)) select.value = was;
  }
}
