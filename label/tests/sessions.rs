//! A person who answers as the classes do gets what the classes get; undo, changes and resuming leave no trace.

use std::path::Path;
use std::time::Duration;

use mustlink as _;
use mustlink_core::method::Method;
use mustlink_core::registry::{self, Catalogue, Role};
use mustlink_core::roles::{Event, QuerySelector, Reply};
use mustlink_core::selection::Selection;
use mustlink_core::{Constraints, Kind};
use mustlink_datasets::{Dataset, OpenOptions, open};
use mustlink_experiments::{Asked, Single};
use mustlink_label::{Act, Session, Trouble, View};
use serde_json::json;

const BUDGET: usize = 20;
const SOON: Duration = Duration::from_secs(60);

fn iris() -> Dataset {
    open("builtin:iris", &OpenOptions::default()).unwrap()
}

fn single(selector: Box<dyn QuerySelector>) -> Single {
    let set = iris();
    let own = selector.properties().self_clustering;
    let clusterer = registry::build_default("pck_means").unwrap();
    let method = Method {
        selector: Some(selector),
        clusterer: (!own).then_some(clusterer),
        ..Method::default()
    };
    let ctx = Single::context_of(&set, 7).build();
    Single::new(set, method, Some(3), Constraints::default(), ctx).unwrap()
}

fn truth(single: &Single, view: &View) -> Reply {
    let open = view.open.as_ref().unwrap();
    let labels = &single.set.classes.as_ref().unwrap().labels;
    match labels[open.subject as usize] == labels[open.reference as usize] {
        true => Reply::MustLink,
        false => Reply::CannotLink,
    }
}

/// Waits until a question is open or there are no more.
fn standing(session: &Session) -> View {
    let mut view = session.view(None, Duration::ZERO);
    while view.open.is_none() && view.ended.is_none() {
        view = session.view(Some(view.turn), SOON);
    }
    view
}

fn act(session: &Session, act: Act) -> View {
    let turn = standing(session).turn;
    session.act(turn, act).unwrap();
    session.view(Some(turn), SOON);
    standing(session)
}

/// A session whose person does as `person` says; gives what was selected.
fn session(single: &Single, path: &Path, person: impl FnOnce(&Session)) -> Selection {
    let seen = single.seen().unwrap().problem;
    let (session, work) = Session::new(&seen, Some(BUDGET));
    std::thread::scope(|scope| {
        // Dropped where the person fails, which ends the work that is waited for.
        let session = session;
        let working = scope.spawn(|| work.run(single, &seen, path));
        person(&session);
        act(&session, Act::Quit);
        working.join().unwrap().unwrap()
    })
}

fn answer(single: &Single, session: &Session, most: usize) {
    for _ in 0..most {
        let view = standing(session);
        if view.open.is_none() {
            break;
        }
        act(session, Act::Reply { reply: truth(single, &view), note: None });
    }
}

/// The log without what it cost: what follows from earlier answers is free in a session.
fn events(selection: &Selection) -> Vec<Event> {
    let free = |event: &Event| match event.clone() {
        Event::Told { id, reply, .. } => Event::Told { id, reply, cost: 0.0 },
        other => other,
    };
    selection.events.iter().map(free).collect()
}

#[test]
fn the_classes_and_who_answers_like_them_get_the_same() {
    let selectors = Catalogue::get().unwrap().role(Role::QuerySelector).map(|d| d.tag);
    let mut looked_at = 0;
    for tag in selectors {
        let selector: Box<dyn QuerySelector> = registry::build_default(tag).unwrap();
        if selector.properties().needs_setup {
            continue;
        }
        let single = single(selector);
        let dir = tempfile::tempdir().unwrap();
        let by_hand = session(&single, &dir.path().join("a"), |s| answer(&single, s, usize::MAX));
        let seen = single.seen().unwrap();
        let asked = Asked {
            oracle: registry::build_default("truth").unwrap(),
            respondent: None,
            ctx: single.context().child("oracle"),
            budget: Some(by_hand.asked()),
            ledger: None,
        };
        let by_classes = single.select(&seen.problem, asked).unwrap().unwrap();
        assert!(by_hand.asked() > 2, "{tag} asked {}", by_hand.asked());
        // A budget ends before the step to the next question, a desk when that is put: the clustering
        // for a question that nobody answers is no part of the selection.
        let of = |selection| {
            let mut events = events(selection);
            let idle = |e: &Event| matches!(e, Event::Clustered { .. } | Event::Done { .. });
            while events.last().is_some_and(idle) {
                events.pop();
            }
            events
        };
        assert_eq!(of(&by_hand), of(&by_classes), "{tag}");
        let labels = |s| single.cluster(&seen, Some(s)).unwrap().run.clustering.labels;
        assert_eq!(labels(&by_hand), labels(&by_classes), "{tag}");
        looked_at += 1;
    }
    assert!(looked_at > 8, "only {looked_at} selectors");
}

#[test]
fn undone_changed_and_resumed_sessions_end_as_plain_ones() {
    for tag in ["explore_consolidate", "random_pairs", "cobras"] {
        let single = single(registry::build_default(tag).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let plain = session(&single, &dir.path().join("plain"), |s| answer(&single, s, 8));
        let path = dir.path().join("turned");
        session(&single, &path, |s| {
            answer(&single, s, 2);
            let open = standing(s).open.unwrap();
            let wrong = match truth(&single, &standing(s)) {
                Reply::MustLink => Reply::CannotLink,
                _ => Reply::MustLink,
            };
            let said = act(s, Act::Reply { reply: wrong, note: Some("a slip".into()) });
            assert_eq!(said.entries.last().unwrap().note.as_deref(), Some("a slip"));
            assert_eq!(act(s, Act::Undo).open.unwrap().subject, open.subject);
            answer(&single, s, 1);
        });
        // Another session takes the answers of the one before back, and says them again.
        let turned = session(&single, &path, |s| {
            act(s, Act::Undo);
            act(s, Act::Undo);
            assert_eq!(standing(s).entries.len(), 1);
            answer(&single, s, 7);
        });
        let said = |s: &Selection| {
            let given = Constraints::default();
            s.constraints(s.asked(), Default::default(), Default::default(), &given).unwrap()
        };
        assert_eq!(said(&turned), said(&plain), "{tag}");
        assert_eq!(turned.counts(turned.asked()).retracted, 3, "{tag}");
    }
}

#[test]
fn what_contradicts_is_refused_with_its_chain_and_nothing_is_taken_twice() {
    // Both cannot-links follow from each other once the must-links are known.
    let pairs =
        json!({ "type": "fixed_list", "pairs": [[0, 50], [1, 51], [0, 1], [50, 51], [0, 100]] });
    let single = single(serde_json::from_value(pairs).unwrap());
    let dir = tempfile::tempdir().unwrap();
    session(&single, &dir.path().join("l"), |s| {
        answer(&single, s, 4);
        let view = standing(s);
        let ids: Vec<u64> = view.entries.iter().map(|e| e.id).collect();
        let change = Act::Change { id: ids[0], reply: Reply::MustLink };
        let Err(Trouble::Conflict(chain)) = s.act(view.turn, change) else { panic!("taken") };
        assert_eq!(
            chain.iter().map(|l| l.answer).collect::<Vec<_>>(),
            [2, 1, 3].map(|at| Some(ids[at]))
        );
        assert_eq!(standing(s), view, "what is refused changes nothing");
        let why = s.why(50, 1).unwrap();
        assert_eq!((why.0, why.1.len()), (Kind::CannotLink, 2));
        // A must-link may be changed: nothing else says it.
        let changed = act(s, Act::Change { id: ids[2], reply: Reply::DontKnow });
        assert!(
            changed
                .entries
                .iter()
                .any(|e| e.subject.min(e.reference) == 0 && e.reply == Reply::DontKnow)
        );
        let turn = changed.turn;
        let reply = || Act::Reply { reply: Reply::CannotLink, note: None };
        s.act(turn, reply()).unwrap();
        assert_eq!(s.act(turn, reply()), Err(Trouble::Stale));
        assert!(s.view(Some(turn), SOON).ended.is_some());
    });
}

#[test]
fn a_second_session_is_told_who_holds_the_ledger() {
    let single = single(registry::build_default("random_pairs").unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l");
    session(&single, &path, |s| {
        standing(s);
        let seen = single.seen().unwrap().problem;
        let (_other, work) = Session::new(&seen, None);
        let told = work.run(&single, &seen, &path).unwrap_err().to_string();
        assert!(
            told.contains(&format!("is being written by process {}", std::process::id())),
            "{told}"
        );
    });
}
