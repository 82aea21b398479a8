"use strict";
// Everything that comes from the data goes into the page as text, never as markup.
const KEYS = /*KEYS*/;
const $ = (id) => document.getElementById(id);
const words = { must_link: "same", cannot_link: "different", dont_know: "don’t know" };
const replies = { same: "must_link", different: "cannot_link", unsure: "dont_know" };
const sections = ["sort", "clusters", "neighbours", "why", "list", "help"];
let state = null;

function made(tag, text, name) {
  const it = document.createElement(tag);
  if (text !== undefined) it.textContent = text;
  if (name) it.className = name;
  return it;
}

// Running text, in which the words that the other text has as well are marked.
function prose(text, other) {
  const it = made("p", undefined, "text");
  it.dir = "auto";
  const parts = (t) => t.split(/([\p{L}\p{N}]+)/u);
  const theirs = new Set(other ? parts(other).filter((_, at) => at % 2).map((w) => w.toLowerCase()) : []);
  parts(text).forEach((part, at) => {
    it.append(at % 2 && theirs.has(part.toLowerCase()) ? made("mark", part) : part);
  });
  return it;
}

function curve(values, other) {
  const svg = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const all = values.concat(other || []).filter(Number.isFinite);
  const low = Math.min(...all), high = Math.max(...all);
  const it = svg("svg"), line = svg("polyline");
  it.setAttribute("viewBox", "0 0 100 100");
  it.setAttribute("preserveAspectRatio", "none");
  it.setAttribute("role", "img");
  const own = values.filter(Number.isFinite);
  it.setAttribute("aria-label", own.length + " numbers" +
    (own.length ? " from " + Math.min(...own) + " to " + Math.max(...own) : ""));
  const x = (at) => (100 * at) / Math.max(1, values.length - 1);
  const y = (v) => 97 - (94 * (v - low)) / (high - low || 1);
  // A missing value comes as null, which would be drawn as 0.
  const points = values.map((v, at) => (Number.isFinite(v) ? x(at) + "," + y(v) : ""));
  line.setAttribute("points", points.filter((point) => point).join(" "));
  it.append(line);
  return it;
}

// One object; what differs from `other` is marked.
function card(numbered, other, heading, level) {
  const shown = numbered.shown;
  const it = made("article");
  it.append(made(level || "h2", (heading + " " + shown.id).trim()));
  if (shown.image !== null) {
    const image = made("img");
    image.alt = "image of " + shown.id + ": " + shown.image;
    image.onload = () => image.classList.toggle("small", image.naturalWidth < 128);
    image.src = "image/" + numbered.object;
    it.append(image);
  }
  if (shown.series !== null) it.append(curve(shown.series, other && other.series));
  if (shown.text !== null) it.append(prose(shown.text, other && other.text));
  const table = made("table");
  shown.cells.forEach(([name, value], at) => {
    const row = made("tr");
    const differs = other && other.cells[at] && other.cells[at][1] !== value;
    row.append(made("th", name), made("td", value, differs ? "differs" : ""));
    row.firstChild.scope = "row";
    table.append(row);
  });
  if (shown.cells.length) it.append(table);
  return it;
}

function changes(id, reply) {
  const it = made("span", undefined, "row");
  for (const other of Object.keys(words)) {
    if (other === reply) continue;
    const button = made("button", words[other]);
    button.setAttribute("aria-label", "change q" + id + " to " + words[other]);
    button.onclick = () => act({ act: "change", id, reply: other });
    it.append(button);
  }
  return it;
}

function list() {
  const rows = state.entries.map((e, at) => {
    const row = made("tr");
    const [i, j] = state.names[at];
    const when = (e.at || "").replace("T", " ").replace("Z", "");
    row.append(made("td", "q" + e.id), made("td", i + " – " + j));
    row.append(made("td", e.later ? "later" : words[e.reply]), made("td", when), made("td", e.note || ""));
    const change = made("td");
    change.append(changes(e.id, e.later ? null : e.reply));
    row.append(change);
    return row;
  });
  $("entries").replaceChildren(...rows.reverse());
  $("earlier").textContent = state.earlier ? state.earlier + " earlier answers are not listed." : "";
}

const count = (n, word) => n + " " + word + (n === 1 ? "" : "s");
const clock = (s) => Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0");

function counts() {
  const c = state.counts, m = state.standing;
  const left = c.left === null ? "" : ", " + c.left + " left";
  const later = c.later ? " · " + c.later + " for later" : "";
  const pace = c.pace_ms === null ? "" : ", " + (c.pace_ms / 1000).toFixed(1) + " s an answer";
  $("counts").textContent = c.answered + " answered" + left + " · same " + c.same + " : different " +
    c.different + " : unsure " + c.unsure + later + " · " + c.free + " pairs known for free · " +
    clock(state.seconds) + pace + " · saved";
  if (!m) { $("standing").textContent = ""; return; }
  const says = m.says === null || !state.open ? "" : " · the method would say " + (m.says ? "same" : "different");
  const agreed = m.agreed[1] ? " · it agreed with " + m.agreed[0] + " of the last " + m.agreed[1] + " answers" : "";
  $("standing").textContent = count(m.clusters, "cluster") + " found" + says + agreed +
    (m.advice ? ". You may stop: " + m.advice + "." : "");
}

function draw() {
  counts();
  const open = state.open;
  if (open) {
    $("ask").textContent = "Do " + state.subject.shown.id + " and " + state.reference.shown.id +
      " belong together? Asked for: " + open.purpose.replaceAll("_", " ");
    $("asks").textContent = state.asks;
    $("pair").replaceChildren(card(state.subject, state.reference.shown, "Object"),
      card(state.reference, state.subject.shown, "Compared with"));
  } else {
    const later = state.counts.later ? " “Later” asks what was set aside." : "";
    const again = state.ended === "saved" ? "" : " Undo and changes are still possible; “Save and quit” ends." + later;
    $("ask").textContent = state.ended ? "The end: " + state.ended + "." + again : "Working out the next question …";
    $("asks").textContent = "";
    $("pair").replaceChildren();
  }
  for (const does of ["same", "different", "unsure", "sort"]) button(does).disabled = !open;
  button("later").disabled = !open && !state.counts.later;
  list();
}

const button = (does) => document.querySelector('[data-does="' + does + '"]');
const signed = (l) => l.i + (l.same ? " = " : " ≠ ") + l.j;

// A chain of statements; each answer of it can be changed here.
function chain(links) {
  const it = made("ul");
  for (const l of links) {
    const line = made("li", signed(l) + (l.answer === null ? " (given)" : " (q" + l.answer + whenOf(l.answer) + ") "));
    if (l.answer !== null) line.append(changes(l.answer, l.same ? "must_link" : "cannot_link"));
    it.append(line);
  }
  return it;
}

function whenOf(id) {
  const entry = state.entries.find((e) => e.id === id);
  return entry && entry.at ? ", " + entry.at.replace("T", " ").replace("Z", "") : "";
}

const GONE = "The program has ended, or does not answer. Every answer is saved; start it again to go on.";
const post = (where, what) => fetch(where, { method: "POST", body: JSON.stringify(what) });

async function act(what) {
  // The next note may be typed before this answer is taken.
  if (what.note) $("note").value = "";
  let sent, came;
  try {
    sent = await post("act", { turn: state.turn, ...what });
    came = await sent.json();
  } catch {
    if (what.note) $("note").value ||= what.note;
    $("message").textContent = GONE;
    return false;
  }
  $("message").replaceChildren();
  if (sent.status !== 200) {
    if (what.note) $("note").value ||= what.note;
    $("message").append(made("p", came.says), chain(came.chain));
    return false;
  }
  // What is followed meanwhile may know more already.
  if (came.beat >= state.beat) state = came;
  draw();
  if (!$("clusters").hidden) look.clusters();
  if (!$("sort").hidden) close("sort");
  return true;
}
