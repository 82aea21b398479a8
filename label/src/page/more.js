
const GONE = "The program has ended or does not answer. Every answer is saved. To continue, run the same command again.";
const post = (where, what) => fetch(where, { method: "POST", body: JSON.stringify(what) });
const see = async (what) => (await post("look", what)).json();
// The turn of the action that was sent and has no response yet. News of the next turn may arrive before the response.
let busy = null;

// Closes a panel and removes the focus from it. Otherwise the next key would go to the closed panel until a redraw.
function shut(panel) {
  panel.close();
  if (panel.contains(document.activeElement)) document.activeElement.blur();
}

// Shows why an action was not done, in a dialog above everything else.
function trouble(...parts) {
  $("message").replaceChildren(...parts);
  if (!$("trouble").open) $("trouble").showModal();
}

async function act(what) {
  if (busy === state.turn) return;
  const before = state;
  busy = before.turn;
  // The next note may be typed before this answer is taken.
  const note = what.note;
  if (note) keep("");
  try {
    const sent = await post("act", { turn: state.turn, ...what });
    const came = await sent.json();
    if (sent.status !== 200) {
      if (note) keep(note);
      trouble(made("p", came.says), chain(came.chain));
      return;
    }
    gained = what.act === "undo" ? 0 : came.counts.free - before.counts.free;
    // News may have come in the meantime.
    if (came.beat >= state.beat) state = came;
    shut($("trouble"));
    shut($("sort"));
    draw();
    scrollTo(0, 0);
    if ($("clusters").open) panels.clusters();
  } catch {
    if (note) keep(note);
    trouble(GONE);
  } finally {
    if (busy === before.turn) busy = null;
  }
}

function keep(note) {
  $("note").value = note;
  $("noted").hidden = !note;
  $("noted").textContent = "Note on the next answer: " + note;
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

// A chain of statements, with buttons that change the answers among them.
function chain(links) {
  const it = made("ul");
  for (const l of links) {
    const entry = state.entries.find((e) => e.id === l.answer), at = entry && entry.at ? ", " + time(entry.at) : "";
    const line = made("li", l.i + (l.same ? " = " : " ≠ ") + l.j + (l.answer === null ? " (given)" : " (q" + l.answer + at + ") "));
    if (l.answer !== null) line.append(changes(l.answer, l.same ? "must_link" : "cannot_link"));
    it.append(line);
  }
  return it;
}

// Replaces the content of a panel. The focus goes to the same button again, or otherwise to the heading.
function refill(place, ...children) {
  const all = () => [...place.querySelectorAll("button, select")];
  const old = document.activeElement, at = all().indexOf(old);
  place.replaceChildren(...children);
  if (at < 0) return;
  const again = all()[at];
  (again && again.textContent === old.textContent ? again : place.closest("dialog").querySelector("h2")).focus();
}

// Functions that fill the panels when they open.
const panels = {
  menu() {},
  help() {
    $("legend").replaceChildren(made("h3", "Keys"), made("dl"));
    for (const b of document.querySelectorAll("#keys [data-does]:not([data-does=quit]), #menu [data-does]")) {
      $("legend").lastChild.append(made("dt", KEYS[b.dataset.does]), made("dd", b.firstChild.textContent));
    }
  },
  notes() {},
  list() {
    refill($("entries"), ...state.entries.map((e, at) => {
      const line = made("tr"), change = made("td");
      line.append(made("td", "q" + e.id), made("td", state.names[at].join(" – ")), made("td", e.later ? "later" : words[e.reply]));
      change.append(changes(e.id, e.later ? null : e.reply));
      line.append(made("td", time(e.at)), made("td", e.note || ""), change);
      return line;
    }).reverse());
    $("earlier").textContent = state.earlier ? count(state.earlier, "earlier answer") + " not listed." :
      state.entries.length ? "" : "No answers yet.";
  },
  async sort() {
    $("sorted").replaceChildren();
    const { objects } = await see({ look: "sort" });
    const number = (at, group, name) => {
      const label = made("label"), radio = made("input");
      Object.assign(radio, { type: "radio", name: "group-" + at, value: group, checked: group === at + 1 });
      radio.setAttribute("aria-label", "group " + group + " for " + name);
      label.append(radio, " " + group);
      return label;
    };
    $("sorted").replaceChildren(...objects.map((o, at) => {
      const field = made("fieldset"), line = made("div", undefined, "row");
      field.dataset.object = o.object;
      for (let group = 1; group <= objects.length; group++) line.append(number(at, group, title(o)));
      field.append(made("legend", title(o)), line, ...card(o, null, null).childNodes);
      return field;
    }));
    $("sorting").disabled = objects.length < 2;
  },
  async clusters() {
    const { clusters, noise, more } = await see({ look: "clusters" });
    if (!clusters.length) { $("found").replaceChildren(made("p", "The method has not been run yet.")); return; }
    const shown = clusters.map((c, at) => {
      const it = made("article"), line = made("div", undefined, "row"), many = made("div", undefined, "many");
      it.append(made("h3", "Cluster " + c.number + ": " + count(c.size, "object")));
      it.setAttribute("aria-label", it.textContent);
      it.append(line, many);
      const button = (text, what) => {
        const b = made("button", text);
        b.onclick = () => act(what());
        return b;
      };
      if (c.size > 1) line.append(button("All " + c.size + " belong together", () => ({ act: "pure", medoid: c.medoid.object, size: c.size })));
      if (clusters.length > 1) {
        const select = made("select");
        select.setAttribute("aria-label", "Cluster to merge with cluster " + c.number);
        clusters.forEach((other, to) => {
          if (to !== at) select.append(new Option("cluster " + other.number + ": " + title(other.medoid), other.medoid.object));
        });
        line.append(button("Merge with", () => ({ act: "merge", i: c.medoid.object, j: Number(select.value) })), select);
      }
      many.append(card(c.medoid, null, "In the middle:"));
      for (const o of c.border) {
        const edge = card(o, c.medoid, "At the border:");
        edge.append(button("Split from " + title(c.medoid), () => ({ act: "split", i: c.medoid.object, j: o.object })));
        many.append(edge);
      }
      return it;
    });
    const rest = (noise ? "In no cluster: " + count(noise, "object") + ". " : "") + (more ? "Not shown: " + count(more, "cluster") + "." : "");
    refill($("found"), ...shown, made("p", rest));
  },
  async neighbours() {
    $("near").replaceChildren();
    for (const own of [state.subject, state.reference]) {
      if (!own) continue;
      const { objects } = await see({ look: "neighbours", object: own.object });
      const many = made("div", undefined, "many");
      many.append(...objects.map((o) => card(o, own, "")));
      $("near").append(made("h3", "Nearest to " + title(own)), many);
    }
  },
  why() {
    $("reason").replaceChildren();
    $("names").replaceChildren(...[...new Set(state.names.flat())].map((name) => new Option(name, name)));
  },
};

async function why() {
  const [i, j] = [$("why-i").value, $("why-j").value];
  if (!i || !j) { $(i ? "why-j" : "why-i").focus(); return; }
  const { says, kind, chain: links } = await see({ look: "why", i, j });
  const text = says || (kind === null ? "Nothing is known about this pair." :
    i + " and " + j + (kind === "must_link" ? " belong together:" : " do not belong together:"));
  $("reason").replaceChildren(made("p", text), chain(links || []));
}

const opened = () => [...document.querySelectorAll("dialog[open]")];

function toggle(name) {
  const opens = !$(name).open;
  opened().forEach(shut);
  if (!opens) return;
  // Fill the panel before it opens, because the browser then moves the focus into it.
  panels[name]();
  $(name).showModal();
  $(name).scrollTop = 0;
}

const named = (what) => (what === "note" ? "notes" : what);

function does(what) {
  const over = opened();
  if (named(what) in panels) {
    if (state && [...document.querySelectorAll("[data-does=" + what + "]")].every((b) => !b.disabled)) toggle(named(what));
    return;
  }
  // A question that is hidden behind a panel cannot be answered.
  if (!state || over.some((d) => d.id !== "menu") || (over.length && what in replies)) return;
  over.forEach(shut);
  if (!(what in replies)) act({ act: what });
  else if (state.open) act({ act: "reply", reply: replies[what], note: $("note").value || null });
}

const spoken = { " ": "space", Backspace: "backspace" };
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  if (e.key === "Escape") { e.preventDefault(); opened().slice(-1).forEach(shut); return; }
  const on = e.target.tagName;
  if (on === "INPUT" && e.target.type === "text") {
    if (e.key === "Enter" && e.target.id === "note") shut($("notes"));
    if (e.key === "Enter" && e.target.id.startsWith("why")) why();
    return;
  }
  // Space presses a button that has the focus, as everywhere; Enter never means yes.
  if (on === "SELECT" || (e.key === " " && (on === "BUTTON" || on === "INPUT"))) return;
  if (e.key === "Enter" && e.target.dataset.does === "same") e.preventDefault();
  const key = spoken[e.key] || e.key;
  // With the caps lock on no key would do anything.
  const of = (key) => Object.keys(KEYS).find((w) => KEYS[w] === key);
  const what = of(key) || of(key.toLowerCase());
  if (what) { e.preventDefault(); does(what); }
});

for (const b of document.querySelectorAll("[data-does]")) {
  const key = KEYS[b.dataset.does];
  if (key) {
    b.append(" ", made("kbd", key));
    b.lastChild.setAttribute("aria-hidden", "true");
    b.setAttribute("aria-keyshortcuts", key.length > 1 ? key[0].toUpperCase() + key.slice(1) : key);
  }
  b.onclick = (e) => {
    // Pressed with a pointer it must not keep the focus: the next space means "don't know".
    if (e.detail > 0) b.blur();
    does(b.dataset.does);
  };
}
for (const d of document.querySelectorAll("dialog")) {
  const bar = made("header"), heading = made("h2", d.dataset.title), close = made("button", "Close");
  heading.id = d.id + "-title";
  d.setAttribute("aria-labelledby", heading.id);
  if (d.id !== "menu" && !d.querySelector("input[type=text]")) {
    heading.tabIndex = -1;
    heading.autofocus = true;
  } else (d.querySelector("input[type=text]") || d.querySelector("button")).autofocus = true;
  close.onclick = () => shut(d);
  bar.append(heading, close);
  d.prepend(bar);
  // A click outside the panel closes it.
  d.onclick = (e) => {
    const box = d.getBoundingClientRect();
    if (e.target === d && (e.clientX < box.left || e.clientX > box.right || e.clientY < box.top || e.clientY > box.bottom)) shut(d);
  };
}
$("notes").onclose = () => keep($("note").value);
$("why-ask").onclick = why;
$("sorting").onclick = () => {
  const groups = {};
  for (const field of $("sorted").children) {
    const group = field.querySelector("input:checked").value;
    (groups[group] ||= []).push(Number(field.dataset.object));
  }
  act({ act: "sort", groups: Object.values(groups) });
};

// A swipe over the question: to the right the same, to the left different.
let touch = null;
const main = document.querySelector("main");
main.addEventListener("touchstart", (e) => { touch = e.touches.length === 1 ? e.touches[0] : null; }, { passive: true });
main.addEventListener("touchend", (e) => {
  if (!touch) return;
  const end = e.changedTouches[0], x = end.clientX - touch.clientX, y = end.clientY - touch.clientY;
  touch = null;
  if (Math.abs(x) > 80 && Math.abs(x) > 2 * Math.abs(y)) does(x > 0 ? "same" : "different");
});

setInterval(() => {
  if (state && state.ended !== "saved") { state.seconds += 1; counts(); }
}, 1000);

async function follow() {
  while (!state || state.ended !== "saved" || !state.written) {
    try {
      const came = await fetch("state" + (state ? "?since=" + state.beat : ""));
      const next = await came.json();
      if ($("message").textContent === GONE) shut($("trouble"));
      // An answer may have overtaken it.
      if (state && next.beat < state.beat) continue;
      const turned = !state || next.turn !== state.turn, news = !state || next.beat !== state.beat;
      state = next;
      if (turned || (news && state.ended)) draw();
      else if (news) {
        counts();
        if ($("clusters").open) panels.clusters();
      }
    } catch {
      if (state && state.ended === "saved") {
        state.gone = true;
        draw();
        return;
      }
      // A machine that slept has cut the connection off, and the program may be there still.
      if ($("message").textContent !== GONE) trouble(GONE);
      await new Promise((then) => setTimeout(then, 2000));
    }
  }
}
if (OWN) {
  document.title = OWN + " – " + document.title;
  document.querySelector("h1").prepend(OWN + ": ");
  $("others").hidden = false;
  $("others").textContent = "You answer as " + OWN + ". Every fourth question is also asked of " + OTHERS.join(", ") +
    ". You do not see each other’s answers. When all have finished, this page shows how well you agree.";
}
$("trouble").onclose = () => $("message").replaceChildren();
follow();
