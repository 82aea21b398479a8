"use strict";
// Everything that comes from the data goes into the page as text, never as markup.
const $ = (id) => document.getElementById(id);
const words = { must_link: "same", cannot_link: "different", dont_know: "don’t know" };
const replies = { y: "must_link", n: "cannot_link", " ": "dont_know" };
let state = null;

function made(tag, text, name) {
  const it = document.createElement(tag);
  if (text !== undefined) it.textContent = text;
  if (name) it.className = name;
  return it;
}

function card(shown, other, heading) {
  const it = made("article");
  it.append(made("h2", heading + " " + shown.id));
  if (shown.text !== null) {
    const text = made("p", shown.text, "text");
    text.dir = "auto";
    it.append(text);
  }
  const table = made("table");
  shown.cells.forEach(([name, value], at) => {
    const row = made("tr");
    const differs = other.cells[at] && other.cells[at][1] !== value;
    row.append(made("th", name), made("td", value, differs ? "differs" : ""));
    row.firstChild.scope = "row";
    table.append(row);
  });
  it.append(table);
  return it;
}

function list() {
  const rows = state.entries.map((e, at) => {
    const row = made("tr");
    const [i, j] = state.names[at];
    row.append(made("td", "q" + e.id), made("td", i + " – " + j));
    row.append(made("td", words[e.reply]), made("td", e.note || ""));
    const change = made("td");
    for (const reply of Object.keys(words)) {
      if (reply === e.reply) continue;
      const button = made("button", words[reply]);
      button.setAttribute("aria-label", "change q" + e.id + " to " + words[reply]);
      button.onclick = () => act({ act: "change", id: e.id, reply });
      change.append(button, " ");
    }
    row.append(change);
    return row;
  });
  $("entries").replaceChildren(...rows.reverse());
}

function draw() {
  const c = state.counts;
  const left = c.left === null ? "" : ", " + c.left + " left";
  $("counts").textContent = c.answered + " answered" + left + " · same " + c.same + " : different " +
    c.different + " : unsure " + c.unsure + " · " + c.free + " pairs known for free · saved";
  const open = state.open;
  if (open) {
    $("ask").textContent = "Do " + state.subject.id + " and " + state.reference.id +
      " belong together? Asked for: " + open.purpose.replaceAll("_", " ");
    $("pair").replaceChildren(card(state.subject, state.reference, "Object"),
      card(state.reference, state.subject, "Compared with"));
  } else {
    const again = state.ended === "saved" ? "" : " Undo and changes are still possible; q saves and ends.";
    $("ask").textContent = state.ended ? "The end: " + state.ended + "." + again : "Working out the next question …";
    $("pair").replaceChildren();
  }
  for (const key of ["y", "n", " "]) button(key).disabled = !open;
  list();
}

const button = (key) => [...document.querySelectorAll("[data-key]")].find((b) => b.dataset.key === key);
const chain = (links) => links.map((l) => l.i + (l.kind === "must_link" ? " = " : " ≠ ") + l.j +
  (l.answer === null ? " (given)" : " (q" + l.answer + ")")).join("\n");

async function act(what) {
  const sent = await fetch("act", { method: "POST", body: JSON.stringify({ turn: state.turn, ...what }) });
  const came = await sent.json();
  $("message").textContent = "";
  if (sent.status === 409) {
    if (came.trouble === "conflict") $("message").textContent =
      "Not taken: it contradicts these answers. Change one of them first.\n" + chain(came.chain);
    return;
  }
  state = came;
  if (what.act === "reply") $("note").value = "";
  draw();
}

function press(key) {
  if (key in replies) {
    if (state && state.open) act({ act: "reply", reply: replies[key], note: $("note").value || null });
  } else if (key === "Backspace") act({ act: "undo" });
  else if (key === "q") act({ act: "quit" });
  else if (key === "m") $("note").focus();
  else if (key === "l" || key === "?") {
    const section = $(key === "l" ? "list" : "help");
    section.hidden = !section.hidden;
    button(key).setAttribute("aria-expanded", String(!section.hidden));
  } else return false;
  return true;
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  if (e.target.tagName === "INPUT") {
    if (e.key === "Escape" || e.key === "Enter") e.target.blur();
    return;
  }
  // Space presses a button that has the focus, as everywhere.
  if (e.key === " " && e.target.tagName === "BUTTON") return;
  if (e.key === "Enter" && e.target.dataset && e.target.dataset.key === "y") e.preventDefault();
  if (press(e.key)) e.preventDefault();
});
for (const b of document.querySelectorAll("[data-key]")) {
  b.onclick = (e) => {
    // Pressed with a pointer it must not keep the focus: the next space means "don't know".
    if (e.detail > 0) b.blur();
    press(b.dataset.key);
  };
}

async function follow() {
  for (;;) {
    try {
      const came = await fetch("state" + (state ? "?since=" + state.turn : ""));
      const next = await came.json();
      if (!state || next.turn !== state.turn) { state = next; draw(); }
      if (state.ended === "saved") return;
    } catch {
      $("message").textContent = "The program has ended. Every answer is saved; start it again to go on.";
      return;
    }
  }
}
follow();
