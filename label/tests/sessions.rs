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
use mustlink_label::{Act, Cluster, Imported, Session, Statement, Trouble, View, open_driver};
use serde_json::json;

const BUDGET: usize = 20;
const SOON: Duration = Duration::from_secs(60);

fn iris() -> Dataset {
    open("builtin:iris", &OpenOptions::default()).unwrap()
}

fn single(selector: Box<dyn QuerySelector>) -> Single {
    single_with(selector, "pck_means")
}

fn single_with(selector: Box<dyn QuerySelector>, clusterer: &str) -> Single {
    let set = iris();
    let own = selector.properties().self_clustering;
    let clusterer = registry::build_default(clusterer).unwrap();
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
    if labels[open.subject as usize] == labels[open.reference as usize] {
        Reply::MustLink
    } else {
        Reply::CannotLink
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

/// The view once the method has read that many answers.
fn settled(session: &Session, answers: usize) -> View {
    let mut view = standing(session);
    while view.standing.as_ref().is_none_or(|m| m.answers < answers) {
        view = session.news(Some(view.beat), SOON);
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
    session_of(single, path, Some(BUDGET), person)
}

fn session_of(
    single: &Single,
    path: &Path,
    budget: Option<usize>,
    person: impl FnOnce(&Session),
) -> Selection {
    let seen = single.seen().unwrap();
    let driver = open_driver(single, &seen.problem, path, &[]).unwrap();
    let (session, work) = Session::new(&seen.problem, budget);
    std::thread::scope(|scope| {
        // Dropped where the person fails, which ends the work that is waited for.
        let session = session;
        let working = scope.spawn(|| work.run(single, &seen, driver));
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

/// The selected constraints.
fn said(selection: &Selection) -> Constraints {
    let given = Constraints::default();
    let (view, on_conflict) = Default::default();
    selection.constraints(selection.asked(), view, on_conflict, &given).unwrap()
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
        let mut selector: Box<dyn QuerySelector> = registry::build_default(tag).unwrap();
        if selector.properties().needs_setup {
            // The other one is a program of one's own.
            if tag != "fixed_list" {
                continue;
            }
            let pairs: Vec<[u32; 2]> = (0..10).map(|i| [i, 140 - 9 * i]).collect();
            selector = serde_json::from_value(json!({ "type": tag, "pairs": pairs })).unwrap();
        }
        let single = single(selector);
        let dir = tempfile::tempdir().unwrap();
        let by_hand = session(&single, &dir.path().join("a"), |s| answer(&single, s, usize::MAX));
        let seen = single.seen().unwrap();
        let asked = Asked {
            oracle: registry::build_default("truth").unwrap(),
            ctx: single.context().child("oracle"),
            budget: Some(by_hand.asked()),
            ledger: None,
        };
        let by_classes = single.select(&seen.problem, asked).unwrap().unwrap();
        assert!(by_hand.asked() > 2, "{tag} asked {}", by_hand.asked());
        // A budget ends before the step to the next question, a session when that is put: the clustering
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
        assert_eq!(said(&turned), said(&plain), "{tag}");
        assert_eq!(turned.asked(), plain.asked(), "{tag}");
    }
}

/// Regression test: an answer that was undone still counted, so that the session had ended.
#[test]
fn an_answer_undone_at_the_end_of_the_budget_can_be_given_again() {
    let single = single(registry::build_default("random_pairs").unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l");
    let selected = session_of(&single, &path, Some(3), |s| {
        answer(&single, s, usize::MAX);
        let last = standing(s);
        assert_eq!(
            (last.ended.as_deref(), last.counts.left),
            (Some("the budget is spent"), Some(0))
        );
        let entry = last.entries.last().unwrap();
        let undone = act(s, Act::Undo);
        assert_eq!((undone.counts.answered, undone.counts.left), (2, Some(1)));
        let open = undone.open.expect("the question is asked again");
        assert_eq!((open.subject, open.reference), (entry.subject, entry.reference));
        act(s, Act::Reply { reply: entry.reply, note: None });
        // The same with an earlier answer that is changed, which is still one answer.
        let first = standing(s).entries[0].id;
        let changed = act(s, Act::Change { id: first, reply: Reply::DontKnow });
        assert_eq!((changed.counts.answered, changed.open), (3, None));
    });
    assert_eq!(selected.asked(), 3);
    session_of(&single, &path, Some(3), |s| assert_eq!(standing(s).counts.left, Some(0)));
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
        let view = settled(s, 4);
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
        let told = open_driver(&single, &seen, &path, &[]).err().unwrap().to_string();
        assert!(
            told.contains(&format!("is being written by process {}", std::process::id())),
            "{told}"
        );
    });
}

#[test]
fn what_is_set_aside_is_asked_once_more() {
    let single = single(registry::build_default("random_pairs").unwrap());
    let dir = tempfile::tempdir().unwrap();
    session(&single, &dir.path().join("l"), |s| {
        let first = standing(s).open.unwrap();
        let view = act(s, Act::Later);
        assert_eq!((view.counts.later, view.counts.answered, view.counts.unsure), (1, 0, 0));
        answer(&single, s, usize::MAX);
        let view = standing(s);
        assert!(view.ended.is_some() && view.counts.answered == BUDGET);
        // The budget is spent; what was said stays known, and the question is not put again.
        let again = act(s, Act::Later);
        assert_eq!((again.counts.later, again.counts.answered), (0, BUDGET));
        // With an answer taken back there is room for it.
        let last = again.entries.last().unwrap().id;
        let room = act(s, Act::Change { id: last, reply: Reply::DontKnow });
        assert_eq!(room.counts.answered, BUDGET);
        assert_ne!(standing(s).open.map(|q| q.id), Some(first.id));
    });
}

/// The objects of each class.
fn by_class(single: &Single, objects: &[u32]) -> Vec<Vec<u32>> {
    let labels = &single.set.classes.as_ref().unwrap().labels;
    let of = |class| {
        let own = |o: &&u32| labels[**o as usize] == Some(class);
        objects.iter().filter(own).copied().collect()
    };
    (0..3).map(of).collect()
}

/// The sorting may answer the question that is open, and those that come next.
#[test]
fn every_selector_goes_on_after_sortings() {
    let mut looked_at = 0;
    for tag in Catalogue::get().unwrap().role(Role::QuerySelector).map(|d| d.tag) {
        let selector: Box<dyn QuerySelector> = registry::build_default(tag).unwrap();
        if selector.properties().needs_setup {
            continue;
        }
        let single = single(selector);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let mut sorted = 0;
        let sort = |s: &Session, sorted: &mut usize| {
            for _ in 0..3 {
                if standing(s).open.is_none() {
                    return;
                }
                let groups = by_class(&single, &s.around(7));
                let turn = standing(s).turn;
                if s.act(turn, Act::Sort { groups }).is_ok() {
                    s.view(Some(turn), SOON);
                    *sorted += 1;
                } else {
                    answer(&single, s, 1);
                }
                answer(&single, s, 1);
            }
        };
        let before = session_of(&single, &path, None, |s| sort(s, &mut sorted));
        let after = session_of(&single, &path, None, |s| sort(s, &mut sorted));
        assert!(sorted > 1 && after.asked() >= before.asked(), "{tag}: {sorted} sortings");
        looked_at += 1;
    }
    assert!(looked_at > 8, "only {looked_at} selectors");
}

#[test]
fn undo_takes_back_what_was_said_last() {
    let single = single(registry::build_default("random_pairs").unwrap());
    let dir = tempfile::tempdir().unwrap();
    session(&single, &dir.path().join("l"), |s| {
        answer(&single, s, 1);
        let open = standing(s).open.unwrap();
        // Two others are said to be together while this question is open, which is answered then.
        let other = |o: &u32| ![open.subject, open.reference].contains(o);
        let groups = by_class(&single, &(0..150).collect::<Vec<u32>>());
        let pair: Vec<u32> = groups[0].iter().copied().filter(other).take(2).collect();
        act(s, Act::Sort { groups: vec![pair.clone()] });
        let stated = standing(s).entries.len();
        answer(&single, s, 1);
        let undone = act(s, Act::Undo);
        assert_eq!(undone.entries.len(), stated);
        assert!(s.why(pair[0], pair[1]).is_some(), "the older statement stays");
        assert_eq!(
            undone.open.map(|q| (q.subject, q.reference)),
            Some((open.subject, open.reference))
        );
    });
}

#[test]
fn a_sorting_is_one_event_and_undone_at_once() {
    for tag in ["random_pairs", "explore_consolidate", "cobras"] {
        let single = single(registry::build_default(tag).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let before = session(&single, &path, |s| {
            answer(&single, s, 3);
            let objects = s.around(6);
            let open = standing(s).open.unwrap();
            assert_eq!(objects[..2], [open.subject, open.reference]);
            let groups = by_class(&single, &objects);
            let counts = standing(s).counts;
            let sorted = act(s, Act::Sort { groups: groups.clone() });
            assert!(sorted.counts.answered > counts.answered + 2, "{tag}");
            for (a, group) in groups.iter().enumerate() {
                for (b, other) in groups.iter().enumerate() {
                    for (&i, &j) in group.iter().flat_map(|i| other.iter().map(move |j| (i, j))) {
                        let known = s.why(i, j).map(|(kind, _)| kind == Kind::MustLink);
                        assert!(i == j || known == Some(a == b), "{tag}");
                    }
                }
            }
            let twice = Act::Sort { groups };
            assert_eq!(s.act(standing(s).turn, twice), Err(Trouble::Nothing), "{tag}");
            let undone = act(s, Act::Undo);
            assert_eq!(undone.entries.len(), 3, "{tag}");
            assert_eq!(
                undone.open.map(|q| (q.subject, q.reference)),
                Some((open.subject, open.reference))
            );
            let wrong = vec![vec![open.subject], vec![open.subject]];
            assert_eq!(s.act(standing(s).turn, Act::Sort { groups: wrong }), Err(Trouble::Objects));
        });
        // Whoever opens the ledger afterwards finds the same.
        let after = session(&single, &path, |s| assert_eq!(standing(s).entries.len(), 3));
        assert_eq!(before.counts(before.asked()), after.counts(after.asked()), "{tag}");
    }
}

#[test]
fn what_nobody_was_asked_is_known_and_served() {
    let single = single(registry::build_default("random_pairs").unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l");
    let seen = single.seen().unwrap();
    let asked = session(&single, &dir.path().join("plain"), |s| answer(&single, s, 6));
    let (view, on_conflict) = Default::default();
    let known = asked.constraints(6, view, on_conflict, &Constraints::default()).unwrap();
    let imported: Vec<Imported> = known
        .listed()
        .iter()
        .map(|c| {
            let reply = if c.kind == Kind::MustLink { Reply::MustLink } else { Reply::CannotLink };
            ("pairs.csv".to_string(), Statement { i: c.i, j: c.j, reply }, None)
        })
        .collect();
    let import = |more: &[Imported]| {
        let all = [&imported[..], more].concat();
        let driver = open_driver(&single, &seen.problem, &path, &all)?;
        let (session, work) = Session::new(&seen.problem, Some(8));
        std::thread::scope(|scope| {
            let working = scope.spawn(|| work.run(&single, &seen, driver));
            let view = standing(&session);
            if view.open.is_some() {
                assert_eq!(view.counts.answered, imported.len());
                act(&session, Act::Quit);
            }
            drop(session);
            working.join().unwrap()
        })
    };
    for _ in 0..2 {
        // Said twice is said once; the first questions are those of the file, and are not put again.
        assert_eq!(said(&import(&[]).unwrap()), known);
    }
    let first = imported[0].1;
    let reply = match first.reply {
        Reply::MustLink => Reply::CannotLink,
        _ => Reply::MustLink,
    };
    let other = ("pairs.csv, line 9".to_string(), Statement { reply, ..first }, None);
    let refused = import(&[other]).unwrap_err().to_string();
    assert!(refused.contains("pairs.csv, line 9: contradicts"), "{refused}");
}

#[test]
fn the_method_says_what_it_would_answer() {
    for tag in ["explore_consolidate", "cobras"] {
        let single = single_with(registry::build_default(tag).unwrap(), "cop_kmeans");
        let dir = tempfile::tempdir().unwrap();
        session_of(&single, &dir.path().join("l"), None, |s| {
            answer(&single, s, 12);
            // It is run beside the session, and for the last answers at the end of all.
            let view = settled(s, 12);
            let found = s.clusters().unwrap();
            assert_eq!(found.clusters.len(), view.standing.unwrap().clusters);
            let objects: usize = found.clusters.iter().map(|c| c.members.len()).sum();
            assert_eq!(objects + found.noise, 150);
            for c in &found.clusters {
                assert!(c.members.contains(&c.medoid) && !c.border.contains(&c.medoid));
                assert!(c.border.iter().all(|o| c.members.contains(o)));
            }
            // Where its clusters obey the answers, to call one pure contradicts none of them.
            let whole = |c: &&Cluster| tag != "cobras" && c.members.len() > 1;
            let Some(c) = found.clusters.iter().find(whole) else { return };
            let said = act(s, s.pure(c.medoid));
            let together = |&o: &u32| s.why(c.medoid, o).is_some_and(|w| w.0 == Kind::MustLink);
            assert!(c.members.iter().filter(|&&o| o != c.medoid).all(together));
            assert_eq!(act(s, Act::Undo).entries.len(), 12);
            assert!(said.entries.len() > 12);
        });
    }
}

/// The selector expects two groups: it concludes links between the three classes.
#[test]
fn the_clusters_at_the_end_are_those_of_the_labels() {
    let selector = json!({ "type": "explore_consolidate", "k": 2 });
    let single = single_with(serde_json::from_value(selector).unwrap(), "cop_kmeans");
    let dir = tempfile::tempdir().unwrap();
    let mut shown = Vec::new();
    let selection = session(&single, &dir.path().join("l"), |s| {
        for at in 0..BUDGET {
            let view = standing(s);
            let reply = if at % 5 == 4 { Reply::DontKnow } else { truth(&single, &view) };
            act(s, Act::Reply { reply, note: None });
        }
        settled(s, BUDGET);
        shown = s.clusters().unwrap().clusters;
    });
    let seen = single.seen().unwrap();
    let labels = single.cluster(&seen, Some(&selection)).unwrap().run.clustering.labels;
    let of = |label: u32| (0..150).filter(|&o| labels[o as usize] == label).collect::<Vec<u32>>();
    assert_eq!(shown.len(), 3);
    shown.iter().for_each(|c| assert_eq!(c.members, of(c.number)));
    // The answers without what the selector concludes from them give other clusters.
    let answers = selection.answered(selection.asked()).into_values();
    let answers = Constraints::new(150, answers).unwrap();
    let (steps, ctx) = (single.steps, single.context());
    let alone = single.method.between_questions(&seen.problem, &answers, steps, ctx).unwrap();
    assert_ne!(alone.labels, labels);
}
