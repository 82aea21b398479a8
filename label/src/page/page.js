"use strict";
// Everything that comes from the data goes into the page as text, never as markup.
const KEYS = /*KEYS*/;
// The smallest and the largest number of each column that contains numbers only.
const RANGES = /*RANGES*/;
// This annotator, and the others.
const [OWN, OTHERS] = /*ANNOTATORS*/;
const $ = (id) => document.getElementById(id);
const words = { must_link: "same", cannot_link: "different", dont_know: "don’t know" };
const replies = { same: "must_link", different: "cannot_link", unsure: "dont_know" };
let state = null;

function made(tag, text, name) {
  const it = document.createElement(tag);
  if (text !== undefined) it.textContent = text;
  if (name) it.className = name;
  return it;
}

// Changes a text that screen readers announce, but not to the same text again.
function announce(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function drawn(tag, attributes, ...children) {
  const it = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, value);
  it.append(...children);
  return it;
}

const count = (n, word) => n + " " + word + (n === 1 ? "" : "s");
const clock = (s) => Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0");
const time = (at) => (at || "").replace("T", " ").replace("Z", "");
// A long text is not a name.
const title = (o) => (o.shown.text !== null && o.shown.text.length > 30 ? o.shown.id : o.name);

// Running text. Words that also occur in the other text are marked. Short ones, such as “the”, are in most texts.
function prose(text, other) {
  const it = made("p", undefined, "text");
  it.dir = "auto";
  const parts = (t) => t.split(/([\p{L}\p{N}]+)/u);
  const theirs = new Set(other ? parts(other).filter((w, at) => at % 2 && [...w].length > 3).map((w) => w.toLowerCase()) : []);
  parts(text).forEach((part, at) => {
    it.append(at % 2 && theirs.has(part.toLowerCase()) ? made("mark", part) : part);
  });
  return it;
}

function curve(values, other) {
  const all = values.concat(other || []).filter(Number.isFinite);
  const low = Math.min(...all), high = Math.max(...all);
  const own = values.filter(Number.isFinite);
  const label = count(own.length, "number") + (own.length ? " from " + Math.min(...own) + " to " + Math.max(...own) : "");
  const x = (at) => (100 * at) / Math.max(1, values.length - 1);
  const y = (v) => 97 - (94 * (v - low)) / (high - low || 1);
  // A missing value comes as null, which would be drawn as 0.
  const points = values.map((v, at) => (Number.isFinite(v) ? x(at) + "," + y(v) : "")).filter((point) => point);
  return drawn("svg", { class: "curve", viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": label },
    drawn("polyline", { points: points.join(" ") }));
}

function picture(o) {
  const image = made("img");
  image.alt = "image of " + title(o) + ": " + o.shown.image;
  image.onload = () => image.classList.toggle("small", image.naturalWidth < 128);
  image.src = "image/" + o.object;
  return image;
}

// How far apart two cells of a column are, from 0 to 1. For numbers also where both lie in the range of the column.
// A missing value differs from nothing.
function difference(at, a, b) {
  if (a === "" || b === "") return { size: 0, isMissing: true };
  if (a === b) return { size: 0 };
  const range = RANGES[at];
  if (!range) return { size: 1 };
  const place = (v) => Math.min(1, Math.max(0, (Number(v) - range[0]) / (range[1] - range[0])));
  return { size: Math.abs(place(a) - place(b)), places: [place(a), place(b)].sort((x, y) => x - y) };
}

const strength = (size) => (size >= 0.5 ? "far" : size >= 0.2 ? "some" : size > 0 ? "" : "equal");

// A table cell that shows how far apart two values are. For numbers, a bar joins them on the range of the column.
function bar({ size, places, isMissing }) {
  const cell = made("td");
  if (isMissing) return cell;
  if (!places) {
    cell.append(made("span", size ? "different" : "equal", size ? "" : "equal"));
    return cell;
  }
  const [low, high] = places.map((place) => 2 + 96 * place);
  const label = Math.round(100 * size) + " % of the range";
  cell.append(drawn("svg", { class: "range", viewBox: "0 0 100 20", preserveAspectRatio: "none", role: "img", "aria-label": label },
    drawn("line", { x1: 0, x2: 100, y1: 10, y2: 10 }), drawn("line", { x1: 0, x2: 0, y1: 6, y2: 14 }),
    drawn("line", { x1: 100, x2: 100, y1: 6, y2: 14 }),
    drawn("rect", { x: low - 1, y: 5, width: high - low + 2, height: 10, rx: 1 })));
  return cell;
}

// A table cell with a value.
const valued = (value, name) => (value === "" ? made("td", "missing", "quiet") : made("td", value, name));

function row(name, ...cells) {
  // A long name may break after an underscore.
  const it = made("tr"), head = made("th", name.replaceAll("_", "_\u200b"));
  head.scope = "row";
  it.append(head, ...cells);
  return it;
}

// The columns of two objects side by side.
function compared(a, b) {
  const table = made("table", undefined, "compare"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const text of ["Column", title(a), title(b), "Range"]) {
    head.append(made("th", text));
    head.lastChild.scope = "col";
  }
  a.shown.cells.forEach(([name, value], at) => {
    const other = (b.shown.cells[at] || ["", ""])[1], differs = difference(at, value, other);
    const name_ = differs.isMissing ? "" : strength(differs.size);
    body.append(row(name, valued(value, name_), valued(other, name_), bar(differs)));
  });
  return table;
}

// The image, curve and text of an object, without its columns.
function content(o, other) {
  const it = [];
  if (o.shown.image !== null) it.push(picture(o));
  if (o.shown.series !== null) it.push(curve(o.shown.series, other && other.shown.series));
  if (o.shown.text !== null && o.shown.text !== title(o)) it.push(prose(o.shown.text, other && other.shown.text));
  return it;
}

// One object. Values that differ from those of `other` are marked.
function card(o, other, heading) {
  const it = made("article");
  if (heading !== null) {
    it.append(made("h3", (heading + " " + title(o)).trim()));
    it.setAttribute("aria-label", it.textContent);
  }
  it.append(...content(o, other));
  if (!o.shown.cells.length) return it;
  const table = made("table");
  o.shown.cells.forEach(([name, value], at) => {
    const differs = other && other.shown.cells[at] ? difference(at, value, other.shown.cells[at][1]).size : 0;
    table.append(row(name, valued(value, differs ? strength(differs) : "")));
  });
  it.append(table);
  return it;
}

// The question: both objects in one card.
function pair(a, b) {
  const all = [];
  const halves = [[a, b], [b, a]].map(([own, other]) => {
    const half = made("article");
    half.append(made("h2", title(own)), ...content(own, other));
    return half;
  });
  const has = (what) => [a, b].some((o) => o.shown[what] !== null);
  if (has("image") || has("series") || has("text") || !a.shown.cells.length) {
    all.push(made("div", undefined, has("image") || has("series") ? "halves" : "halves texts"));
    all[0].append(...halves);
  }
  if (a.shown.cells.length) all.push(compared(a, b));
  return all;
}

function agreement() {
  const [agreed, of] = state.standing ? state.standing.agreed : [0, 0];
  if (!of) return "";
  const last = of === 1 ? "your last answer" : agreed + " of your last " + of + " answers";
  return "The method’s hidden guess " + (of === 1 && !agreed ? "did not agree with " : "agreed with ") + last + ".";
}

// Progress to the budget, and what the last answers changed.
function counts() {
  const c = state.counts, m = state.standing, done = state.ended !== null;
  $("bar").hidden = c.left === null;
  if (c.left !== null) {
    $("bar").max = Math.max(1, c.answered + c.left);
    $("bar").value = c.answered;
  }
  $("counts").textContent = c.left === null ? c.answered + " answered" : c.answered + " of " + (c.answered + c.left) + " answered";
  const pace = c.pace_ms === null ? "" : ", " + (c.pace_ms / 1000).toFixed(1) + " s per answer";
  $("facts").textContent = "Same: " + c.same + " · different: " + c.different + " · don’t know: " + c.unsure +
    " · later: " + c.later + ". " + count(c.free, "more pair") + (c.free === 1 ? " follows" : " follow") + " from your answers. Time: " +
    clock(state.seconds) + pace + ".";
  $("guess").hidden = !m || m.says === null || !state.open;
  $("guess").textContent = m && m.says ? "The method’s guess: same" : "The method’s guess: different";
  const moved = m && m.moved && (m.moved[1] === 1 ? "The last answer" : "The last " + m.moved[1] + " answers") +
    (m.moved[0] ? " moved " + count(m.moved[0], "object") + " to another cluster." : " did not change the clusters.");
  $("standing").textContent = m ? ["The method finds " + count(m.clusters, "cluster") + ".", moved, agreement()].filter((t) => t).join(" ") : "";
  $("standing").hidden = done;
  $("advice").hidden = !m || !m.advice || done;
  announce("advice", m && m.advice ? "You may stop: " + m.advice + "." : "");
}

// Pairs that follow from the last answer.
let gained = 0;

function last() {
  const entry = state.entries.at(-1), names = state.names.at(-1);
  document.querySelector("#last button").hidden = !entry || state.ended === "saved";
  if (!entry || state.ended === "saved") { announce("said", ""); return; }
  const guess = entry.guess === null ? "" : " The method had guessed " + (entry.guess ? "same." : "different.");
  const more = gained > 0 ? " " + count(gained, "more pair") + (gained === 1 ? " follows." : " follow.") : "";
  announce("said", "Last answer: " + names.join(" and ") + ": " + (entry.later ? "later" : words[entry.reply]) + "." + guess + more);
}

function draw() {
  const { open, subject, reference, ended } = state;
  // The clusters show the guess, so no question comes up with them on the page.
  if (open) {
    shut($("clusters"));
    $("found").replaceChildren();
  }
  counts();
  last();
  announce("ask", open ? "Do " + title(subject) + " and " + title(reference) + " belong together?" :
    ended ? (ended === "saved" ? "Everything is saved." : "Finished: " + ended + ".") : "Choosing the next question …");
  $("pair").replaceChildren(...(open ? pair(subject, reference) : []));
  $("pair").classList.remove("new");
  void $("pair").offsetWidth;
  $("pair").classList.add("new");
  const ends = ended && $("end").hidden;
  $("end").hidden = !ended;
  if (ended) $("end").replaceChildren(...result());
  for (const b of document.querySelectorAll("#keys button")) b.hidden = (b.dataset.does === "quit") === !ended;
  $("keys").hidden = $("menu-button").hidden = ended === "saved";
  enable(["same", "different", "unsure", "sort", "neighbours", "note"], open);
  enable(["later"], open || state.counts.later);
  enable(["undo"], state.entries.length);
  for (const b of document.querySelectorAll("[data-does=later] span")) b.textContent = open ? "Answer this later" : "Answer questions set aside";
  if ($("list").open) panels.list();
  // The buttons of the answers are gone, and the focus may have been on one of them.
  if (ends && !opened().length) $("end").focus({ preventScroll: true });
}

function enable(all, can) {
  for (const does of all) for (const b of document.querySelectorAll("[data-does=" + does + "]")) b.disabled = !can;
}

// The pictures of the end page by object. They stay when the page is drawn again after the program has ended.
const thumbs = new Map();

// The end: clusters with typical members, agreement, files and the next command.
function result() {
  const c = state.counts, { clusters, noise, more } = state.found, all = [];
  const add = (tag, text) => all.push(made(tag, text));
  const unsure = c.unsure ? " and " + c.unsure + " “don’t know”" : "";
  add("p", "You gave " + count(c.same + c.different, "answer") + unsure + ". " + count(c.free, "more pair") + (c.free === 1 ? " follows" : " follow") + " from your answers. " + agreement());
  if (c.later && state.ended !== "saved") add("p", count(c.later, "question") + " set aside. To answer, choose “Answer questions set aside” in the menu.");
  const isSaving = state.ended === "saved" && !state.written && !OWN;
  if (clusters.length) add("h2", "The method finds " + count(clusters.length + more, "cluster"));
  else if (!isSaving) {
    add("h2", state.freshness === "computing" ? "Computing the clusters of all your answers …" : state.ended === "saved" ?
      "The session ended before the clusters of all your answers were computed" : "The method has not found clusters yet");
  }
  if (clusters.length) {
    const table = made("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const text of ["Cluster", "Size", "Typical members"]) {
      head.append(made("th", text));
      head.lastChild.scope = "col";
    }
    for (const { number, size, typical } of clusters) {
      const members = made("td"), line = made("div", undefined, "thumbs"), cells = body.insertRow();
      for (const o of typical) {
        const it = made("figure");
        if (o.shown.image !== null) {
          if (!thumbs.has(o.object)) thumbs.set(o.object, picture(o));
          it.append(thumbs.get(o.object));
        }
        it.append(made("figcaption", title(o)));
        line.append(it);
      }
      members.append(line);
      cells.append(made("td", number), made("td", count(size, "object")), members);
    }
    all.push(table);
  }
  if (noise) add("p", count(noise, "object") + " in no cluster.");
  if (more) add("p", count(more, "cluster") + " not shown.");
  if (state.ended !== "saved") {
    add("p", "You can still undo answers, or change them under “All answers” in the menu. “Save and quit” " +
      (OWN ? "ends your session." : "writes the files."));
  } else if (state.written) {
    if (OWN) {
      add("h2", "Agreement");
      const lines = state.written.agreement;
      for (const line of lines) add("p", line + ".");
      add("p", lines.length ? "κ is 1 if two annotators always agree, and 0 if they agree as often as by chance." :
        "How well you agree is shown when all have finished.");
    }
    add("h2", "Files");
    const files = made("dl");
    for (const [what, path] of state.written.files) files.append(made("dt", what), made("dd", path));
    all.push(files);
    add("h2", "Next");
    const { again, next } = state.written;
    add("p", again[0].toUpperCase() + again.slice(1) + "." + (next.length ? " To use the answers with other methods:" : ""));
    for (const line of next) {
      // Lines end between words, not at the hyphens of options.
      const command = made("code");
      line.split(" ").forEach((word, k) => command.append(k ? " " : "", made("span", word)));
      all.push(command);
    }
    if (next.length > 1 && state.written.files.some(([what]) => what === "Labels")) {
      add("p", "These commands use your answers alone. The labels also rest on what the selector concluded, so the clusters can differ.");
    }
  } else {
    add("p", state.gone ? "The program has ended. The terminal lists the files that it wrote." : !OWN ? "Writing the files …" :
      "How well you agree is shown when all have finished: you and " + OTHERS.join(", ") + ". You can leave this page open until then.");
  }
  return all;
}
