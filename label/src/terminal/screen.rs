//! The screen of the terminal.

use mustlink_core::Kind;
use mustlink_core::roles::Reply;
use mustlink_core::text::count;

use crate::chain::Link;
use crate::keys::Keys;
use crate::show::{Objects, Shown};
use crate::terminal::mode::{Face, Mode, Typed};
use crate::terminal::text::{Line, Style, beside, common, curve, lines, wrapped};
use crate::view::{Clusters, Entry, Freshness, View};

/// The lines of a screen of so many columns and rows.
pub(crate) fn screen(
    view: &View,
    face: &Face,
    objects: &Objects<'_>,
    keys: &Keys,
    (columns, rows): (usize, usize),
) -> Vec<Line> {
    let small = rows < SMALL.1 || columns < SMALL.0;
    let head = wrapped(&head(view, small), columns);
    let mut foot = Vec::new();
    if !face.message.is_empty() {
        foot.push(Line::of(Style::Reverse, format!(" {} ", face.message)));
    }
    if let Some(note) = &face.note {
        foot.push(Line::from(format!("note on the next answer: {note}")));
    }
    foot.push(legend(face, keys, small));
    let foot = wrapped(&foot, columns);
    let (body, cursor) = body(view, face, objects, keys, columns);
    let room = rows.saturating_sub(head.len() + foot.len()).max(1);
    // What is pointed at is on the screen, and the last line can be scrolled to.
    let most = body.len().saturating_sub(room);
    let from = match cursor {
        Some(at) => at.saturating_sub(room / 2).min(most),
        None => {
            // From beyond the end a key would not lead back at once.
            face.scroll.set(face.scroll.get().min(most));
            face.scroll.get()
        }
    };
    let mut out = head;
    let mut shown: Vec<Line> = body.into_iter().skip(from).take(room).collect();
    if from < most && cursor.is_none() {
        shown.pop();
        shown.push(Line::of(Style::Bold, "… more: page down"));
    }
    shown.resize(room, Line::default());
    out.extend(shown);
    out.extend(foot);
    out.truncate(rows);
    out
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Columns and rows below which only what matters most is always visible.
const SMALL: (usize, usize) = (60, 18);

fn head(view: &View, small: bool) -> Vec<Line> {
    let c = &view.counts;
    let mut counts = format!("{} answered", c.answered);
    if let Some(left) = c.left {
        counts += &format!(", {left} left");
    }
    if small {
        return vec![Line::from(counts + " · saved")];
    }
    counts += &format!(" · same {} : different {} : unsure {}", c.same, c.different, c.unsure);
    if c.later > 0 {
        counts += &format!(" · {} for later", c.later);
    }
    counts += &format!(" · {} for free · {}", count(c.free as usize, "pair"), clock(view.seconds));
    if let Some(pace) = c.pace_ms {
        counts += &format!(", {:.1} s an answer", pace as f64 / 1000.0);
    }
    counts += " · saved";
    let mut all = vec![Line::from(counts)];
    if let Some(m) = &view.standing {
        let mut text = format!("{} found", count(m.clusters, "cluster"));
        if let Some(says) = m.says {
            let word = if says { "same" } else { "different" };
            text += &format!(" · the method guesses {word}");
        }
        if m.agreed.1 > 0 {
            text += &format!(" · it agreed with {} of the last {}", m.agreed.0, m.agreed.1);
        }
        all.push(text.into());
        if let Some(advice) = &m.advice {
            all.push(Line::of(Style::Bold, format!("You may stop: {advice}.")));
        }
    }
    all.push(Line::default());
    all
}

fn legend(face: &Face, keys: &Keys, small: bool) -> Line {
    let own: &[(&str, &str)] = match &face.mode {
        Mode::Typing { .. } => &[("enter", "take"), ("esc", "leave")],
        Mode::Sort { .. } => {
            &[("1-8", "group"), ("up/down", "choose"), ("t", "take"), ("esc", "leave")]
        }
        Mode::Clusters { .. } => &[
            ("up/down", "choose"),
            ("a", "all belong together"),
            ("j", "join with another"),
            ("x", "split"),
            ("esc", "leave"),
        ],
        Mode::List { .. } | Mode::Chain { .. } => &[("up/down", "choose"), ("esc", "leave")],
        Mode::Question => &[],
        _ => &[("esc", "leave")],
    };
    let words = |what: &'static str| match what {
        "unsure" => "don't know",
        "quit" => "save and quit",
        "why" => "why known",
        other => other,
    };
    let of_all = match face.mode {
        Mode::Question => 0..13,
        Mode::List { .. } | Mode::Chain { .. } => 0..3,
        _ => 0..0,
    };
    let all = keys.all();
    let first = |what: &str| matches!(what, "same" | "different" | "unsure" | "help" | "quit");
    let pairs = all[of_all].iter().filter(|(what, _)| !small || first(what));
    let pairs = pairs.map(|&(what, key)| (key, words(what)));
    let mut line = Line::default();
    for (key, what) in pairs.chain(own.iter().copied()) {
        line.0.push((Style::Bold, format!("{key} ")));
        line.0.push((Style::Plain, format!("{what}  ")));
    }
    line
}

type Body = (Vec<Line>, Option<usize>);

fn body(view: &View, face: &Face, objects: &Objects<'_>, keys: &Keys, columns: usize) -> Body {
    let shown = |o| (objects.shown)(o).visible();
    match &face.mode {
        Mode::Question => (question(view, objects, columns), None),
        Mode::Help => (wrapped(&help(keys), columns), None),
        Mode::List { at } => {
            let texts = view.entries.iter().rev().map(|e| entry(e, objects));
            let (rows, cursor) = pointed(texts, *at, columns);
            (rows, Some(cursor))
        }
        Mode::Sort { objects: sorted, groups, at } => {
            let (rows, cursor) = sorting(sorted, groups, *at, objects, columns);
            (rows, Some(cursor))
        }
        Mode::Clusters { found, at } => {
            let (rows, cursor) = clusters(found, Some(*at), objects, columns);
            (rows, Some(cursor))
        }
        Mode::Neighbours { of } => {
            let mut rows = Vec::new();
            for (own, near) in of {
                let names: Vec<String> = near.iter().map(|&o| objects.name(o)).collect();
                let title = format!("Near {}: {}", objects.name(*own), names.join(" · "));
                rows.extend(Line::of(Style::Bold, title).wrapped(columns));
                let own = shown(*own);
                near.iter().for_each(|&o| {
                    rows.extend(wrapped(&card(&shown(o), Some(&own), columns), columns));
                    rows.push(Line::default());
                });
            }
            (rows, None)
        }
        Mode::Chain { says, links, at } => {
            let mut rows = Line::of(Style::Bold, says.clone()).wrapped(columns);
            let texts = links.iter().map(|l| link(l, view, objects));
            let (listed, cursor) = pointed(texts, *at, columns);
            let cursor = rows.len() + cursor;
            rows.extend(listed);
            (rows, Some(cursor))
        }
        Mode::Typing { what, text } => (typing(what, text, objects, columns), None),
    }
}

/// Texts one below the other, and the line of the one that is pointed at.
fn pointed(texts: impl Iterator<Item = String>, at: usize, columns: usize) -> (Vec<Line>, usize) {
    let (mut rows, mut cursor) = (Vec::new(), 0);
    for (place, text) in texts.enumerate() {
        let style = if place == at { Style::Reverse } else { Style::Plain };
        if place == at {
            cursor = rows.len();
        }
        rows.extend(Line::of(style, text).wrapped(columns));
    }
    (rows, cursor)
}

/// Objects with the numbers of their groups, and the line of the one that is pointed at.
fn sorting(
    sorted: &[u32],
    groups: &[usize],
    at: usize,
    objects: &Objects<'_>,
    columns: usize,
) -> (Vec<Line>, usize) {
    let mut rows = vec![Line::of(
        Style::Bold,
        "Objects with the same number belong together, apart from all others:",
    )];
    let mut cursor = 0;
    for (place, (&o, group)) in sorted.iter().zip(groups).enumerate() {
        let style = if place == at { Style::Reverse } else { Style::Bold };
        if place == at {
            cursor = rows.len();
        }
        rows.extend(Line::of(style, format!(" {group}  {}", objects.name(o))).wrapped(columns));
        let card = wrapped(&card(&(objects.shown)(o).visible(), None, columns), columns);
        rows.extend(card.into_iter().skip(1).take(6));
    }
    (rows, cursor)
}

/// The line that is typed, what it is for, and the clusters whose numbers it may be about.
fn typing(what: &Typed, text: &str, objects: &Objects<'_>, columns: usize) -> Vec<Line> {
    let (asked, found) = match what {
        Typed::Note => ("Note on the next answer:".to_string(), None),
        Typed::Why { first: None } => ("Why known: id or name of the first object:".into(), None),
        Typed::Why { first: Some(first) } => {
            (format!("Why known: {first} and the object with the id or name:"), None)
        }
        Typed::Merge { medoid, found } => {
            let name = objects.name(*medoid);
            (format!("Join the cluster of {name} with number:"), Some(found))
        }
        Typed::Split { medoid, found } => {
            let name = objects.name(*medoid);
            let asked = format!("Number of the object at the border that is apart from {name}:");
            (asked, Some(found))
        }
    };
    let typed = Line::of(Style::Reverse, format!("{text} "));
    let mut rows = wrapped(&[Line::from(asked), typed], columns);
    if let Some(found) = found {
        rows.push(Line::default());
        rows.extend(clusters(found, None, objects, columns).0);
    }
    rows
}

/// The clusters with their numbers, and the line of the one that is pointed at.
fn clusters(
    found: &Clusters,
    at: Option<usize>,
    objects: &Objects<'_>,
    columns: usize,
) -> (Vec<Line>, usize) {
    let mut rows = vec![Line::from(format!(
        "{}, {} in none",
        count(found.clusters.len(), "cluster"),
        count(found.noise, "object")
    ))];
    let mut cursor = 0;
    for (place, c) in found.clusters.iter().enumerate() {
        let style = if Some(place) == at { Style::Reverse } else { Style::Bold };
        if Some(place) == at {
            cursor = rows.len();
        }
        let (number, size) = (c.number, count(c.members.len(), "object"));
        let middle = objects.name(c.medoid);
        let middle = Line::of(style, format!(" {number}  {size}, in the middle {middle}"));
        rows.extend(middle.wrapped(columns));
        let border = c.border.iter().enumerate();
        let border: Vec<String> =
            border.map(|(b, &o)| format!("{} {}", b + 1, objects.name(o))).collect();
        let border = format!("    at the border: {}", border.join(" · "));
        rows.extend(Line::from(border).wrapped(columns));
    }
    (rows, cursor)
}

fn question(view: &View, objects: &Objects<'_>, columns: usize) -> Vec<Line> {
    let Some(open) = &view.open else {
        let text = match &view.ended {
            None => "Choosing the next question …".to_string(),
            Some(why) if why == "saved" => "The end: saved.".to_string(),
            Some(why) => {
                let mut text = format!("The end: {why}.");
                if view.counts.later > 0 {
                    text += " \"Later\" asks what was set aside.";
                }
                if view.freshness == Freshness::Computing {
                    text += " Computing the clusters of all answers …";
                }
                text + " Undo and changes are still possible."
            }
        };
        return Line::of(Style::Bold, text).wrapped(columns);
    };
    let (a, b) =
        ((objects.shown)(open.subject).visible(), (objects.shown)(open.reference).visible());
    let asked = format!("Do {} and {} belong together?", a.id, b.id);
    let mut all = Line::of(Style::Bold, asked).wrapped(columns);
    let half = (columns.saturating_sub(3) / 2).max(20).min(columns);
    all.extend(beside(&card(&a, Some(&b), half), &card(&b, Some(&a), half), columns));
    all
}

/// An object; what differs from the other one is marked.
fn card(shown: &Shown, other: Option<&Shown>, columns: usize) -> Vec<Line> {
    let mut all = vec![Line::of(Style::Bold, shown.id.clone())];
    all.extend(shown.image.iter().map(|file| Line::from(format!("image {file}"))));
    all.extend(shown.series.iter().map(|values| Line::from(curve(values, columns))));
    if let Some(text) = &shown.text {
        match other.and_then(|o| o.text.as_ref()) {
            Some(theirs) => all.extend(common(text, theirs)),
            None => all.extend(lines(text)),
        }
    }
    for (at, (name, value)) in shown.cells.iter().enumerate() {
        // A missing value differs from nothing.
        let theirs = other.and_then(|o| o.cells.get(at)).filter(|(_, v)| !v.is_empty());
        let differs = theirs.is_some_and(|(_, v)| v != value) && !value.is_empty();
        let style = if differs { Style::Reverse } else { Style::Plain };
        let value = match value.as_str() {
            "" => "missing".into(),
            value => value.replace(['\n', '\t'], " "),
        };
        all.push(Line(vec![(Style::Plain, format!("{name}: ")), (style, value)]));
    }
    all
}

fn word(reply: Reply) -> &'static str {
    match reply {
        Reply::MustLink => "same",
        Reply::CannotLink => "different",
        Reply::DontKnow => "don't know",
    }
}

fn entry(e: &Entry, objects: &Objects<'_>) -> String {
    let reply = if e.later { "later" } else { word(e.reply) };
    let (i, j) = (objects.name(e.subject), objects.name(e.reference));
    let mut text = format!(" q{}  {i} – {j}: {reply}", e.id);
    if let Some(at) = &e.at {
        text += &format!("  {at}");
    }
    if let Some(note) = &e.note {
        text += &format!("  ({})", crate::show::visible(note));
    }
    text
}

fn link(l: &Link, view: &View, objects: &Objects<'_>) -> String {
    let sign = if l.kind == Kind::MustLink { "=" } else { "≠" };
    let (i, j) = (objects.name(l.i), objects.name(l.j));
    match l.answer {
        None => format!(" {i} {sign} {j}  (given)"),
        Some(id) => {
            let entry = view.entries.iter().find(|e| e.id == id);
            let at = entry.and_then(|e| e.at.as_deref());
            let at = at.map(|at| format!(", {at}")).unwrap_or_default();
            format!(" {i} {sign} {j}  (q{id}{at})")
        }
    }
}

fn help(keys: &Keys) -> Vec<Line> {
    let says = |what: &str| match what {
        "same" => "the two objects belong together",
        "different" => "they do not",
        "unsure" => "you do not know; not asked again",
        "undo" => "undoes the last answer, as often as you like, even of an earlier session",
        "later" => "sets the question aside; at the end, asks it once more",
        "note" => "a remark that is kept with the next answer",
        "sort" => "several objects together: the same number means the same group",
        "clusters" => "the clusters so far; say that one is pure, join two, or split one",
        "neighbours" => "the objects nearest to these two",
        "why" => "why two objects are known to belong together, or not",
        "list" => "all answers; the keys of answers change the one that is pointed at",
        "help" => "this",
        _ => "everything is saved; the same command continues here",
    };
    let rows = keys.all().into_iter().map(|(what, key)| {
        Line(vec![
            (Style::Bold, format!("{key:>9}  ")),
            (Style::Plain, format!("{what}: {}", says(what))),
        ])
    });
    let ends = "Every answer is on disk before the next question comes. Pairs that follow from earlier answers \
                are not asked. Enter never means yes.";
    rows.chain([Line::default(), Line::from(ends)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_is_not_marked_as_a_difference() {
        let shown =
            |cell: &str| Shown { cells: vec![("size".into(), cell.into())], ..Shown::default() };
        let value = |own: &str, other: &str| {
            let line = card(&shown(own), Some(&shown(other)), 80).remove(1);
            line.0[1].clone()
        };
        assert_eq!(value("5", "7"), (Style::Reverse, "5".into()));
        assert_eq!(value("5", ""), (Style::Plain, "5".into()));
        assert_eq!(value("", "5"), (Style::Plain, "missing".into()));
    }
}
