
// What is looked at beside the question: each fills its section when that opens.
const look = {
  async sort() {
    const { objects } = await see({ look: "sort" });
    const number = (at, group, of) => {
      const label = made("label"), radio = made("input");
      Object.assign(radio, { type: "radio", name: "group-" + at, value: group, checked: group === at + 1 });
      radio.setAttribute("aria-label", "group " + group + " for " + of);
      label.append(radio, " " + group);
      return label;
    };
    $("sorted").replaceChildren(...objects.map((o, at) => {
      const field = made("fieldset"), row = made("div", undefined, "row");
      field.dataset.object = o.object;
      for (let group = 1; group <= objects.length; group++) row.append(number(at, group, o.shown.id));
      field.append(made("legend", o.shown.id), card(o, null, "", "h3"), row);
      return field;
    }));
    $("sorting").disabled = objects.length < 2;
  },
  async clusters() {
    const { clusters, noise, more } = await see({ look: "clusters" });
    if (!clusters.length) { $("found").replaceChildren(made("p", "The method has not been run yet.")); return; }
    const shown = clusters.map((c, at) => {
      const it = made("article");
      it.append(made("h3", "Cluster " + (at + 1) + ": " + count(c.size, "object")));
      const row = made("div", undefined, "row"), pure = made("button", "All " + c.size + " belong together");
      pure.onclick = () => act({ act: "pure", medoid: c.medoid.object, size: c.size });
      if (c.size > 1) row.append(pure);
      clusters.forEach((other, to) => {
        if (to <= at || clusters.length > 12) return;
        const merge = made("button", "Merge with cluster " + (to + 1));
        merge.onclick = () => act({ act: "merge", i: c.medoid.object, j: other.medoid.object });
        row.append(merge);
      });
      const many = made("div", undefined, "many");
      many.append(card(c.medoid, null, "In the middle:", "h3"));
      for (const o of c.border) {
        const edge = card(o, c.medoid.shown, "At the border:", "h3");
        const split = made("button", "Split: apart from " + c.medoid.shown.id);
        split.onclick = () => act({ act: "split", i: c.medoid.object, j: o.object });
        edge.append(split);
        many.append(edge);
      }
      it.append(row, many);
      return it;
    });
    const rest = (noise ? "In no cluster: " + count(noise, "object") + ". " : "") + (more ? "Not shown: " + count(more, "cluster") + "." : "");
    $("found").replaceChildren(...shown, made("p", rest));
  },
  async neighbours() {
    $("near").replaceChildren();
    for (const own of [state.subject, state.reference]) {
      if (!own) continue;
      const { of, objects } = await see({ look: "neighbours", object: own.object });
      const many = made("div", undefined, "many");
      many.append(...objects.map((o) => card(o, own.shown, "", "h3")));
      $("near").append(made("h3", "Near " + of), many);
    }
  },
  async why() {
    const [i, j] = [$("why-i").value, $("why-j").value];
    if (!i || !j) { $("why-i").focus(); return; }
    const { says, kind, chain: links } = await see({ look: "why", i, j });
    const text = says || (kind === null ? "Nothing is known of these two." :
      i + " and " + j + (kind === "must_link" ? " belong together:" : " are apart:"));
    $("reason").replaceChildren(made("p", text), chain(links || []));
  },
};

const see = async (what) => (await post("look", what)).json();

function close(name) {
  $(name).hidden = true;
  button(name).setAttribute("aria-expanded", "false");
}

function toggle(name) {
  const opens = $(name).hidden;
  sections.filter((s) => !$(s).hidden).forEach(close);
  if (!opens) return;
  $(name).hidden = false;
  button(name).setAttribute("aria-expanded", "true");
  $(name).focus();
  $(name).scrollIntoView({ block: "nearest" });
  if (look[name]) look[name]();
}

function does(what) {
  if (what in replies) {
    if (state && state.open) act({ act: "reply", reply: replies[what], note: $("note").value || null });
  } else if (what === "undo" || what === "later" || what === "quit") act({ act: what });
  else if (what === "note") $("note").focus();
  else if (!button(what).disabled) toggle(what);
}

const named = { " ": "space", Backspace: "backspace" };
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  if (e.key === "Escape") {
    sections.filter((s) => !$(s).hidden).forEach(close);
    if (e.target.blur) e.target.blur();
    return;
  }
  if (e.target.tagName === "INPUT") {
    if (e.key === "Enter" && e.target.id === "note") e.target.blur();
    if (e.key === "Enter" && e.target.id.startsWith("why")) look.why();
    return;
  }
  const button = e.target.tagName === "BUTTON";
  // Space presses a button that has the focus, as everywhere; Enter never means yes.
  if (e.key === " " && button) return;
  if (e.key === "Enter" && button && e.target.dataset.does === "same") e.preventDefault();
  const key = named[e.key] || e.key;
  // With the caps lock on no key would do anything.
  const of = (key) => Object.keys(KEYS).find((w) => KEYS[w] === key);
  const what = of(key) || of(key.toLowerCase());
  if (what) { e.preventDefault(); does(what); }
});
for (const b of document.querySelectorAll("[data-does]")) {
  b.append(" ", made("kbd", KEYS[b.dataset.does]));
  b.onclick = (e) => {
    // Pressed with a pointer it must not keep the focus: the next space means "don't know".
    if (e.detail > 0) b.blur();
    does(b.dataset.does);
  };
}
document.querySelector("[data-shows]").textContent = KEYS.note;
$("why-ask").onclick = () => look.why();
$("sorting").onclick = () => {
  const groups = {};
  for (const field of $("sorted").children) {
    const group = field.querySelector("input:checked").value;
    (groups[group] ||= []).push(Number(field.dataset.object));
  }
  act({ act: "sort", groups: Object.values(groups) });
};

// A swipe of the pair: to the right the same, to the left different.
let touch = null;
$("pair").addEventListener("touchstart", (e) => { touch = e.touches.length === 1 ? e.touches[0] : null; }, { passive: true });
$("pair").addEventListener("touchend", (e) => {
  if (!touch) return;
  const end = e.changedTouches[0], x = end.clientX - touch.clientX, y = end.clientY - touch.clientY;
  touch = null;
  if (Math.abs(x) > 80 && Math.abs(x) > 2 * Math.abs(y)) does(x > 0 ? "same" : "different");
});

setInterval(() => {
  if (state && state.ended !== "saved") { state.seconds += 1; counts(); }
}, 1000);

async function follow() {
  for (;;) {
    try {
      const came = await fetch("state" + (state ? "?since=" + state.beat : ""));
      const next = await came.json();
      if ($("message").textContent === GONE) $("message").replaceChildren();
      // An answer may have overtaken it.
      if (state && next.beat < state.beat) continue;
      if (!state || next.turn !== state.turn) { state = next; draw(); }
      else if (next.beat !== state.beat) {
        state = next;
        counts();
        if (!$("clusters").hidden) look.clusters();
      }
      if (state.ended === "saved") return;
    } catch {
      if (state && state.ended === "saved") return;
      // A machine that slept has cut the connection off, and the program may be there still.
      if ($("message").textContent !== GONE) $("message").textContent = GONE;
      await new Promise((then) => setTimeout(then, 2000));
    }
  }
}
follow();
