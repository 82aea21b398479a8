//! The effect of keys in each mode of the terminal.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use mustlink_core::roles::Reply;

use crate::chain::Link;
use crate::keys::Keys;
use crate::session::{Act, Session, Trouble};
use crate::show::Objects;
use crate::sorting::{MOST, Statement};
use crate::view::{Clusters, View};

/// The content of the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Mode {
    #[default]
    Question,
    Help,
    /// All answers, the last one first; the one that is pointed at.
    List {
        at: usize,
    },
    /// Objects to be sorted, each with the number of its group.
    Sort {
        objects: Vec<u32>,
        groups: Vec<usize>,
        at: usize,
    },
    Clusters {
        found: Clusters,
        at: usize,
    },
    /// The nearest objects of both.
    Neighbours {
        of: Vec<(u32, Vec<u32>)>,
    },
    /// A chain of statements; the one that is pointed at.
    Chain {
        says: String,
        links: Vec<Link>,
        at: usize,
    },
    /// A line is typed.
    Typing {
        what: Typed,
        text: String,
    },
}

impl Mode {
    /// A line is begun.
    fn typing(what: Typed) -> Self {
        Mode::Typing { what, text: String::new() }
    }
}

/// The purpose of a typed line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Typed {
    Note,
    /// Ids of two objects, one after the other.
    Why {
        first: Option<String>,
    },
    /// The number in the labels of a cluster to merge with that of this medoid, of those that were shown.
    Merge {
        medoid: u32,
        found: Clusters,
    },
    /// The number of an object at the border that is apart from the medoid.
    Split {
        medoid: u32,
        found: Clusters,
    },
}

/// The terminal's own state.
#[derive(Debug, Default)]
pub(crate) struct Face {
    pub mode: Mode,
    pub note: Option<String>,
    pub message: String,
    /// Lines scrolled down; never further than the end, once that was drawn.
    pub scroll: Cell<usize>,
    /// The last key, and when all was done that it did.
    last: Option<(KeyCode, Instant)>,
    /// The key that is taken came again by itself, as one does that is held down.
    held: bool,
}

/// The name of a key in [`Keys`].
fn name(key: &KeyEvent) -> Option<String> {
    match key.code {
        KeyCode::Char(' ') => Some("space".into()),
        KeyCode::Char(c) => Some(c.to_string()),
        KeyCode::Backspace => Some("backspace".into()),
        _ => None,
    }
}

const PAGE: usize = 10;

impl Face {
    /// Takes one key.
    pub fn press(
        &mut self,
        key: &KeyEvent,
        view: &View,
        session: &Session,
        objects: &Objects<'_>,
        keys: &Keys,
    ) {
        let again = |(code, at): (KeyCode, Instant)| code == key.code && at.elapsed() < HELD;
        self.held = key.kind == KeyEventKind::Repeat || self.last.is_some_and(again);
        self.taken(key, view, session, objects, keys);
        self.last = Some((key.code, Instant::now()));
    }

    fn taken(
        &mut self,
        key: &KeyEvent,
        view: &View,
        session: &Session,
        objects: &Objects<'_>,
        keys: &Keys,
    ) {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return;
        }
        self.message.clear();
        if let Mode::Typing { .. } = self.mode {
            return self.typed(key, view, session, objects);
        }
        match key.code {
            KeyCode::Esc => return self.show(Mode::Question),
            KeyCode::Up => return self.moved(view, false),
            KeyCode::Down => return self.moved(view, true),
            KeyCode::PageUp => {
                let scroll = self.scroll.get_mut();
                *scroll = scroll.saturating_sub(PAGE);
                return;
            }
            KeyCode::PageDown => {
                *self.scroll.get_mut() += PAGE;
                return;
            }
            _ => {}
        }
        let Some(pressed) = name(key) else { return };
        // With the caps lock on no key would do anything.
        let does = |pressed: &str| keys.all().iter().any(|(_, key)| *key == pressed);
        let pressed = if does(&pressed) { pressed } else { pressed.to_lowercase() };
        if self.own(&pressed, view, session) {
            return;
        }
        let Some((what, _)) = keys.all().into_iter().find(|(_, k)| *k == pressed) else { return };
        self.does(what, view, session);
    }

    fn show(&mut self, mode: Mode) {
        self.mode = mode;
        self.scroll.set(0);
    }

    fn moved(&mut self, view: &View, down: bool) {
        let (at, len) = match &mut self.mode {
            Mode::List { at } => (at, view.entries.len()),
            Mode::Sort { at, objects, .. } => (at, objects.len()),
            Mode::Clusters { at, found } => (at, found.clusters.len()),
            Mode::Chain { at, links, .. } => (at, links.len()),
            _ => (self.scroll.get_mut(), usize::MAX),
        };
        *at = if down { (*at + 1).min(len.saturating_sub(1)) } else { at.saturating_sub(1) };
    }

    /// Keys that a mode has for itself.
    fn own(&mut self, pressed: &str, view: &View, session: &Session) -> bool {
        match (&mut self.mode, pressed) {
            (Mode::Sort { groups, at, .. }, digit)
                if digit.parse().is_ok_and(|g: usize| (1..=groups.len()).contains(&g)) =>
            {
                groups[*at] = digit.parse().unwrap_or(1);
                *at = (*at + 1).min(groups.len() - 1);
            }
            (Mode::Sort { objects, groups, .. }, "t") => {
                let group = |g| objects.iter().zip(&*groups).filter(move |(_, group)| **group == g);
                let sorted =
                    (1..=groups.len()).map(|g| group(g).map(|(&o, _)| o).collect()).collect();
                self.act(view, session, Act::Sort { groups: sorted });
            }
            (Mode::Clusters { found, at }, "a" | "j" | "x") => {
                let Some(cluster) = found.clusters.get(*at) else { return true };
                // Those on the screen are meant: the method may have found others meanwhile.
                let (medoid, act, found) = (cluster.medoid, Session::whole(cluster), found.clone());
                match pressed {
                    "a" => self.act(view, session, act),
                    "j" => self.show(Mode::typing(Typed::Merge { medoid, found })),
                    _ => self.show(Mode::typing(Typed::Split { medoid, found })),
                }
            }
            _ => return false,
        }
        true
    }

    fn does(&mut self, what: &str, view: &View, session: &Session) {
        // The next question came up under the finger, and nobody has read it.
        if self.held && matches!(what, "same" | "different" | "unsure" | "later" | "undo") {
            self.message = "a key that is held down counts once: let go of it first".into();
            return;
        }
        let reply = match what {
            "same" => Some(Reply::MustLink),
            "different" => Some(Reply::CannotLink),
            "unsure" => Some(Reply::DontKnow),
            _ => None,
        };
        if let Some(reply) = reply {
            let change = match &self.mode {
                Mode::Question => None,
                Mode::List { at } => Some(view.entries.iter().rev().nth(*at).map(|e| e.id)),
                Mode::Chain { links, at, .. } => Some(links.get(*at).and_then(|l| l.answer)),
                // Elsewhere an answer would be one to a question that is not on the screen.
                _ => return,
            };
            let act = match change {
                None => Act::Reply { reply, note: self.note.clone() },
                Some(Some(id)) => Act::Change { id, reply },
                Some(None) => return,
            };
            return self.act(view, session, act);
        }
        let toggled = |mode: Mode, is: bool| if is { Mode::Question } else { mode };
        match what {
            "undo" => self.act(view, session, Act::Undo),
            "later" => self.act(view, session, Act::Later),
            "quit" => self.act(view, session, Act::Quit),
            "help" => self.show(toggled(Mode::Help, self.mode == Mode::Help)),
            "list" => {
                let listed = matches!(self.mode, Mode::List { .. });
                self.show(toggled(Mode::List { at: 0 }, listed));
            }
            "sort" => {
                let objects = session.around(MOST);
                let groups = (1..=objects.len()).collect();
                if objects.is_empty() {
                    self.message = "no question is open to sort around".into();
                } else {
                    self.show(Mode::Sort { objects, groups, at: 0 });
                }
            }
            "clusters" => match session.clusters() {
                None => self.message = "the method has not been run yet".into(),
                Some(found) => self.show(Mode::Clusters { found, at: 0 }),
            },
            "neighbours" => {
                let objects = view.open.iter().flat_map(|q| [q.subject, q.reference]);
                let of = objects.map(|o| (o, session.neighbours(o, 5))).collect();
                self.show(Mode::Neighbours { of });
            }
            "note" => self.show(Mode::typing(Typed::Note)),
            _ => self.show(Mode::typing(Typed::Why { first: None })),
        }
    }

    fn typed(&mut self, key: &KeyEvent, view: &View, session: &Session, objects: &Objects<'_>) {
        let Mode::Typing { what, text } = &mut self.mode else { return };
        match key.code {
            KeyCode::Char(c) => text.push(c),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Esc => self.show(Mode::Question),
            KeyCode::Enter => {
                let (what, text) = (what.clone(), text.trim().to_string());
                self.show(Mode::Question);
                self.entered(what, text, view, session, objects);
            }
            _ => {}
        }
    }

    fn entered(
        &mut self,
        what: Typed,
        text: String,
        view: &View,
        session: &Session,
        objects: &Objects<'_>,
    ) {
        let number = text.parse::<u32>().ok();
        match what {
            Typed::Note => self.note = (!text.is_empty()).then_some(text),
            Typed::Why { first: None } => {
                self.show(Mode::typing(Typed::Why { first: Some(text) }));
            }
            Typed::Why { first: Some(first) } => {
                let (Some(i), Some(j)) = ((objects.find)(&first), (objects.find)(&text)) else {
                    self.message =
                        format!("{first} or {text} is not the name of exactly one object");
                    return;
                };
                let (says, links) = match session.why(i, j).filter(|_| i != j) {
                    None => (format!("nothing is known of {first} and {text}"), Vec::new()),
                    Some((kind, links)) => {
                        let same = kind == mustlink_core::Kind::MustLink;
                        let word = if same { "belong together" } else { "are apart" };
                        (format!("{first} and {text} {word}:"), links)
                    }
                };
                self.show(Mode::Chain { says, links, at: 0 });
            }
            Typed::Merge { medoid, found } => {
                let named = found.clusters.iter().find(|c| Some(c.number) == number);
                match named.map(|c| c.medoid) {
                    Some(j) if j != medoid => {
                        let said = vec![Statement { i: medoid, j, reply: Reply::MustLink }];
                        self.act(view, session, Act::State { purpose: "merge", said });
                    }
                    _ => self.message = "no other cluster has that number".into(),
                }
            }
            Typed::Split { medoid, found } => {
                let cluster = found.clusters.iter().find(|c| c.medoid == medoid);
                // Objects at the border are counted from 1.
                let at = number.and_then(|number| number.checked_sub(1));
                match at.and_then(|at| cluster?.border.get(at as usize)) {
                    Some(&j) => {
                        let said = vec![Statement { i: medoid, j, reply: Reply::CannotLink }];
                        self.act(view, session, Act::State { purpose: "split", said });
                    }
                    None => self.message = "no object at the border has that number".into(),
                }
            }
        }
    }

    fn act(&mut self, view: &View, session: &Session, act: Act) {
        let replies = matches!(act, Act::Reply { .. });
        let stays = matches!(act, Act::Change { .. }) && matches!(self.mode, Mode::List { .. });
        match session.act(view.turn, act) {
            Ok(()) => {
                // The next key is meant for what comes of it.
                session.view(Some(view.turn), SOON);
                if replies {
                    self.note = None;
                }
                if !stays {
                    self.show(Mode::Question);
                }
            }
            Err(Trouble::Conflict(links)) => {
                let says = Trouble::Conflict(Vec::new()).says().to_string();
                self.show(Mode::Chain { says, links, at: 0 });
            }
            Err(trouble) => self.message = trouble.says().into(),
        }
    }
}

/// A key that repeats within this time is held down: many terminals give no other sign.
const HELD: Duration = Duration::from_millis(150);

/// Longest wait for the next question before keys are looked at again.
const SOON: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mustlink::ndarray::Array2;
    use mustlink_core::{Data, Problem};

    use super::*;
    use crate::found::Cluster;
    use crate::show::Shown;
    use crate::state::Command;
    use crate::view::Open;

    /// Otherwise all questions would be answered in a second.
    #[test]
    fn a_key_that_is_held_answers_one_question() {
        let seen = Problem::new(Data::dense(Array2::zeros((6, 1))).unwrap());
        let (session, work) = Session::new(&seen, None);
        let objects = Objects {
            id: &|object| object.to_string(),
            find: &|_| None,
            shown: &|_| Shown::default(),
            folder: Path::new("."),
        };
        let mut face = Face::default();
        let mut press = |key: char, soon: bool| {
            if let Some((_, at)) = face.last.as_mut().filter(|_| soon) {
                // However long this thread had to wait.
                *at = Instant::now() + 1000 * HELD;
            }
            let open = Open { id: 0, subject: 0, reference: 1, purpose: "test" };
            work.shared.open(open, None);
            let view = session.view(None, Duration::ZERO);
            let key = KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE);
            face.press(&key, &view, &session, &objects, &Keys::default());
            let answered = matches!(work.shared.lock().command.take(), Some(Command::Reply(_)));
            assert_eq!(answered, face.message.is_empty(), "{}", face.message);
            answered
        };
        let answered = ['y', 'y', 'y', 'n', 'n'].map(|key| press(key, true));
        assert_eq!(answered, [true, false, false, true, false]);
        std::thread::sleep(HELD);
        assert!(press('n', false));
    }

    /// The method runs next to the session, and may have found other clusters when the number is typed.
    #[test]
    fn numbers_are_those_of_the_clusters_on_the_screen() {
        let seen = Problem::new(Data::dense(Array2::zeros((6, 1))).unwrap());
        let (session, work) = Session::new(&seen, None);
        work.shared.ended("nothing is left to ask".into(), None);
        let view = session.view(None, Duration::ZERO);
        let cluster = |number, members: [u32; 3]| {
            let (medoid, typical, border) = (members[0], vec![members[0]], vec![members[2]]);
            Cluster { number, members: members.to_vec(), medoid, typical, border }
        };
        let clusters = vec![cluster(2, [0, 1, 2]), cluster(0, [3, 4, 5])];
        let found = Clusters { clusters, noise: 0 };
        let objects = Objects {
            id: &|object| object.to_string(),
            find: &|_| None,
            shown: &|_| Shown::default(),
            folder: Path::new("."),
        };
        let mut face = Face { mode: Mode::Clusters { found, at: 0 }, ..Face::default() };
        for code in [KeyCode::Char('j'), KeyCode::Char('0'), KeyCode::Enter] {
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            face.press(&key, &view, &session, &objects, &Keys::default());
        }
        let Some(Command::Rewrite { change, .. }) = work.shared.lock().command.take() else {
            panic!("{}", face.message)
        };
        assert_eq!(change.new, [Statement { i: 0, j: 3, reply: Reply::MustLink }]);
    }
}
