//! The ledger that a selection leaves behind, and its use by a later selection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mustlink_core::prelude::*;
use mustlink_core::selection::{self, Asking, ConstraintView, Record, Selection};
use mustlink_ledger::{Durability, Header, Ledger, Report};
use mustlink_oracles::budget::Budget;
use mustlink_oracles::crowd::{Annotator, Crowd, Rule};
use mustlink_oracles::dont_know::DontKnow;
use mustlink_oracles::noisy::Noisy;
use mustlink_oracles::noisy_labels::NoisyLabels;
use mustlink_oracles::noisy_margin::NoisyMargin;
use mustlink_oracles::replay::Replay;
use mustlink_oracles::truth::Truth;
use mustlink_query_selectors::explore_consolidate::ExploreConsolidate;
use mustlink_query_selectors::random_pairs::RandomPairs;
use ndarray::Array2;
use proptest::prelude::*;

const N: usize = 9;

fn class(i: u32) -> u32 {
    i % 3
}

fn truth(q: &Question) -> Reply {
    if class(q.i) == class(q.j) { Reply::MustLink } else { Reply::CannotLink }
}

fn problem() -> Problem {
    let x = Array2::from_shape_fn((N, 1), |(i, _)| 10.0 * (i % 3) as f64 + (i as f64).sin());
    Problem::new(Data::dense(x).unwrap()).with_k(3)
}

fn scene() -> Scene {
    let labels = (0..N as u32).map(|i| Some(class(i))).collect();
    let scene = Scene::with_labels(labels, Context::new(4));
    let ids: Vec<String> = (0..N).map(|i| format!("row-{i}")).collect();
    Scene { name: Some("nine".into()), ids: Some(ids.into()), data: Some(problem().data), ..scene }
}

fn header(selector: &(dyn QuerySelector + 'static)) -> Header {
    let header = Header::new(&scene(), selector, &Truth {}, &Context::new(1));
    Header { created: "2026-01-31T00:00:00Z".into(), ..header }
}

/// Answers by a function that also gets the number of the call, and counts.
struct By<F> {
    answer: F,
    asked: Vec<(QueryId, u32, u32)>,
}

impl<F: FnMut(usize, &Question) -> Result<Outcome> + Send> Respondent for By<F> {
    fn ask(&mut self, q: &Question) -> Result<Outcome> {
        self.asked.push((q.id, q.i, q.j));
        (self.answer)(self.asked.len() - 1, q)
    }
}

fn by<F: FnMut(usize, &Question) -> Result<Outcome> + Send>(answer: F) -> By<F> {
    By { answer, asked: Vec::new() }
}

fn replies(
    reply: impl Fn(&Question) -> Reply + Send,
) -> By<impl FnMut(usize, &Question) -> Result<Outcome> + Send> {
    by(move |_, q| Ok(Outcome::Answered(Answer::of(reply(q)))))
}

fn go_on(
    selector: &dyn QuerySelector,
    oracle: &mut dyn Respondent,
    budget: Option<usize>,
    ledger: Option<&mut Ledger>,
) -> Result<Selection> {
    let ledger = ledger.map(|ledger| ledger as &mut dyn Record);
    let asking = Asking { budget, ledger, ..Asking::default() };
    selection::run_with(selector, &problem(), oracle, asking, &Context::new(1))
}

fn open(path: &Path, selector: &(dyn QuerySelector + 'static)) -> Result<Ledger> {
    Ledger::open(path, header(selector), Durability::None)
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asked.jsonl");
    (folder, path)
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn a_ledger_changes_nothing_and_a_finished_one_asks_nothing() {
    let (_folder, path) = folder();
    let selector = ExploreConsolidate::default();
    let plain = go_on(&selector, &mut replies(truth), None, None).unwrap();
    let mut oracle = replies(truth);
    let mut ledger = Ledger::create(&path, header(&selector), Durability::Every).unwrap();
    let written = go_on(&selector, &mut oracle, None, Some(&mut ledger)).unwrap();
    assert_eq!(plain.events, written.events);
    assert_eq!(oracle.asked.len(), plain.asked());
    drop(ledger);
    let bytes = std::fs::read(&path).unwrap();
    let mut nobody = by(|_, q| Err(Error::Oracle(format!("asked {q:?}"))));
    let mut ledger = open(&path, &selector).unwrap();
    let again = go_on(&selector, &mut nobody, None, Some(&mut ledger)).unwrap();
    assert_eq!(again.events, written.events);
    let report = ledger.report().unwrap();
    let counts = written.counts(usize::MAX);
    assert_eq!((report.asked, report.must_link), (counts.queries, counts.must));
    assert_eq!((report.cost, report.votes, report.cached), (counts.cost, report.asked, 0));
    drop(ledger);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert!(!path.with_extension("jsonl.lock").exists(), "the lock stays behind");
    let error = Ledger::create(&path, header(&selector), Durability::None).unwrap_err();
    assert!(
        error.to_string().ends_with("exists already; open it to go on, or choose another name")
    );
}

/// Cut off after any byte, the file is read, loses at most its last event, and the selection ends as
/// if nothing had happened, with every question paid once.
fn survives_every_cut(
    selector: &(dyn QuerySelector + 'static),
    reply: fn(&Question) -> Reply,
    budget: Option<usize>,
) {
    let (_folder, path) = folder();
    let mut ledger = open(&path, selector).unwrap();
    let mut oracle = replies(reply);
    let whole = go_on(selector, &mut oracle, budget, Some(&mut ledger)).unwrap();
    drop(ledger);
    let bytes = std::fs::read(&path).unwrap();
    assert!(whole.asked() >= 6, "a run worth cutting");
    for cut in 0..bytes.len() {
        // A new file: some systems wait for the disk when an old one is emptied.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let kept = bytes[..cut].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let mut ledger = open(&path, selector).unwrap();
        assert_eq!(ledger.notices().len(), usize::from(kept < cut), "at {cut}");
        if kept > 0 {
            assert_eq!(std::fs::read(&path).unwrap(), &bytes[..kept], "at {cut}");
        }
        let before = ledger.report().unwrap().asked;
        let mut oracle = replies(reply);
        let resumed = go_on(selector, &mut oracle, budget, Some(&mut ledger)).unwrap();
        assert_eq!(resumed.events, whole.events, "at {cut}");
        assert_eq!(before + oracle.asked.len(), whole.asked(), "at {cut}");
        assert_eq!(ledger.report().unwrap().asked, whole.asked(), "at {cut}");
        drop(ledger);
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "at {cut}");
    }
}

#[test]
fn a_crash_at_every_byte_is_survived() {
    survives_every_cut(&ExploreConsolidate::default(), truth, None);
}

#[test]
fn a_crash_among_conflicts_is_survived() {
    let erratic = |q: &Question| match (q.i * 7 + q.j * 3) % 4 {
        0 => Reply::MustLink,
        3 => Reply::DontKnow,
        _ => Reply::CannotLink,
    };
    survives_every_cut(&RandomPairs::default(), erratic, Some(14));
}

#[test]
fn broken_lines_are_named() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let mut ledger = open(&path, &selector).unwrap();
    go_on(&selector, &mut replies(truth), Some(4), Some(&mut ledger)).unwrap();
    drop(ledger);
    let good = lines(&path);
    let broken = |at: usize, with: &str| {
        let mut lines = good.clone();
        lines[at] = with.into();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        open(&path, &selector)
            .err()
            .map(|e| e.to_string().replace(&path.display().to_string(), "L"))
    };
    let said = broken(2, "{\"v\":1,").unwrap();
    assert!(said.starts_with("L, line 3: not a line of a ledger: "), "{said}");
    let said = broken(2, "").unwrap();
    assert!(said.starts_with("L, line 3: not a line of a ledger: "), "{said}");
    let said = broken(3, &good[1].clone()).unwrap();
    assert_eq!(said, "L, line 5: q000001 was not asked just before");
    let said = broken(1, "{\"v\":2,\"type\":\"asked\"}").unwrap();
    assert_eq!(said, "L, line 2: not a line of a ledger: its version is 2, this program reads 1");
    let said = broken(0, &good[1].clone()).unwrap();
    assert_eq!(said, "L, line 1: not a line of a ledger: the first line must be the header");
    // A whole last line that is not JSON was cut off at its beginning.
    assert_eq!(broken(good.len() - 1, "\u{0}\u{0}"), None);
    // What this program does not know is ignored.
    let more = good[1].replacen("{\"v\":1,", "{\"v\":1,\"mood\":\"fine\",", 1);
    assert_eq!(broken(1, &more), None);
}

#[test]
fn another_selection_is_refused() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let mut ledger = open(&path, &selector).unwrap();
    go_on(&selector, &mut replies(truth), Some(4), Some(&mut ledger)).unwrap();
    drop(ledger);
    let refused = |header: Header| {
        let error = Ledger::open(&path, header, Durability::None).unwrap_err();
        error.to_string()
    };
    let own = header(&selector);
    let said = refused(Header { fingerprint: "x".into(), ..own.clone() });
    assert!(
        said.contains("line 1: belongs to another selection: its fingerprint of the data"),
        "{said}"
    );
    let said = refused(Header {
        selector: header(&ExploreConsolidate::default()).selector,
        ..own.clone()
    });
    assert!(
        said.contains("its selector is random_pairs, this one's is explore_consolidate"),
        "{said}"
    );
    assert!(
        refused(Header { seed: Some("x".into()), ..own.clone() })
            .contains("its hash of seed and values of the data is")
    );
    assert!(refused(Header { n: 8, ..own.clone() }).contains("its number of objects is 9"));
    // A reply that was changed by hand leads elsewhere: the first difference is named.
    let changed: Vec<String> =
        lines(&path).iter().map(|l| l.replace("\"subject\":", "\"subject\": ")).collect();
    let asked: Vec<usize> =
        (0..changed.len()).filter(|&l| changed[l].contains("\"asked\"")).collect();
    let text = std::fs::read_to_string(&path).unwrap();
    let third = lines(&path)[asked[2]].clone();
    std::fs::write(&path, text.replace(&third, &third.replace("\"random\"", "\"explore\"")))
        .unwrap();
    let mut ledger = open(&path, &selector).unwrap();
    let error = go_on(&selector, &mut replies(truth), None, Some(&mut ledger)).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains(&format!(
            ", line {}: the selection differs from the recorded one",
            asked[2] + 1
        )),
        "{said}"
    );
}

#[test]
fn two_writers_are_kept_apart() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let ledger = open(&path, &selector).unwrap();
    let error = open(&path, &selector).unwrap_err().to_string();
    assert!(
        error.contains(&format!("is being written by process {}", std::process::id())),
        "{error}"
    );
    drop(ledger);
    let mut lock = path.clone().into_os_string();
    lock.push(".lock");
    std::fs::write(&lock, "4194999 0\n").unwrap();
    let ledger = open(&path, &selector).unwrap();
    let [notice] = ledger.notices() else { panic!("{:?}", ledger.notices()) };
    assert!(notice.ends_with("taken over from process 4194999, which ended without closing it"));
    drop(ledger);
    assert!(open(&path, &selector).unwrap().notices().is_empty());
}

#[test]
fn an_open_question_is_asked_again_under_its_number() {
    let (_folder, path) = folder();
    let selector = ExploreConsolidate::default();
    for first in [Ok(Outcome::Pending), Err(Error::Oracle("broken pipe".into()))] {
        let _ = std::fs::remove_file(&path);
        let mut ledger = open(&path, &selector).unwrap();
        let waits = first.is_ok();
        let mut oracle = by(|call, q| match call {
            2 => first.clone(),
            _ => Ok(Outcome::Answered(Answer::of(truth(q)))),
        });
        let stopped = go_on(&selector, &mut oracle, None, Some(&mut ledger));
        assert_eq!(stopped.is_ok(), waits);
        assert_eq!(ledger.report().unwrap().asked, 2);
        let (_, i, j) = oracle.asked[2];
        drop(ledger);
        let mut ledger = open(&path, &selector).unwrap();
        let mut oracle = replies(truth);
        go_on(&selector, &mut oracle, None, Some(&mut ledger)).unwrap();
        assert_eq!(oracle.asked[0], (2, i, j));
        let put =
            lines(&path).iter().filter(|l| l.contains("\"asked\",\"id\":\"q000002\"")).count();
        assert_eq!(put, 1, "the question was written once");
        let whole = go_on(&selector, &mut replies(truth), None, None).unwrap();
        assert_eq!(ledger.report().unwrap().asked, whole.asked());
    }
}

#[test]
fn dont_know_is_kept_like_any_reply() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let mut ledger = open(&path, &selector).unwrap();
    go_on(&selector, &mut replies(|_| Reply::DontKnow), Some(5), Some(&mut ledger)).unwrap();
    let mut oracle = replies(truth);
    let all = go_on(&selector, &mut oracle, None, Some(&mut ledger)).unwrap();
    assert_eq!(all.counts(usize::MAX).dont_know, 5);
    assert_eq!(oracle.asked.len() + 5, all.asked());
}

#[test]
fn an_undone_answer_is_asked_again_and_does_not_count() {
    let (_folder, path) = folder();
    let selector = ExploreConsolidate::default();
    let mut ledger = open(&path, &selector).unwrap();
    // The second answer is a slip.
    let slip = |call: usize, q: &Question| match (call, truth(q)) {
        (1, Reply::MustLink) => Reply::CannotLink,
        (1, _) => Reply::MustLink,
        (_, reply) => reply,
    };
    let mut hasty = by(|call, q| Ok(Outcome::Answered(Answer::of(slip(call, q)))));
    go_on(&selector, &mut hasty, Some(2), Some(&mut ledger)).unwrap();
    let last = ledger.last().unwrap();
    assert_eq!(last, 1);
    ledger.retract(last, Some("ann-1")).unwrap();
    assert!(ledger.retract(last, None).is_err(), "taken back twice");
    // There is room for one reply.
    let mut careful = replies(truth);
    let spent = go_on(&selector, &mut careful, Some(2), Some(&mut ledger)).unwrap();
    assert_eq!(
        careful.asked,
        [(2, hasty.asked[1].1, hasty.asked[1].2)],
        "the same pair, a new number"
    );
    let counts = spent.counts(usize::MAX);
    assert_eq!((spent.budget_ended, counts.queries, counts.retracted), (true, 2, 0));
    assert_eq!(
        spent
            .at(usize::MAX, ConstraintView::Queried)
            .unwrap()
            .violations(&[0, 1, 2, 0, 1, 2, 0, 1, 2])
            .total(),
        0
    );
    let all = go_on(&selector, &mut careful, None, Some(&mut ledger)).unwrap();
    let never = go_on(&selector, &mut replies(truth), None, None).unwrap();
    assert_eq!(ledger.report().unwrap().asked, never.asked() + 1);
    for view in [ConstraintView::Queried, ConstraintView::Neighbourhood] {
        let (with, without) =
            (all.at(usize::MAX, view).unwrap(), never.at(usize::MAX, view).unwrap());
        assert_eq!(with.pairs().iter().filter(|c| c.weight > 0.0).count(), without.pairs().len());
    }
    drop(ledger);
    // A later process sees the same.
    let mut ledger = open(&path, &selector).unwrap();
    let again =
        go_on(&selector, &mut by(|_, _| Ok(Outcome::Pending)), None, Some(&mut ledger)).unwrap();
    assert_eq!(again.events, all.events);
}

fn sum(report: &Report) -> usize {
    report.must_link + report.cannot_link + report.dont_know + report.retracted
}

proptest! {
    /// Whatever is taken back in between: no pair is put twice unless its reply was taken back, the budget limits the
    /// other replies, the counts add up, and a later process makes the same of the file.
    #[test]
    fn any_course_of_sessions_keeps_the_books(
        sessions in prop::collection::vec((1usize..6, any::<prop::sample::Index>(), any::<bool>()), 1..6),
        noise in 0u32..5,
    ) {
        let (_folder, path) = folder();
        let selector = ExploreConsolidate::default();
        let reply = move |q: &Question| match (q.i * 5 + q.j * 11 + noise) % 6 {
            0 => Reply::DontKnow,
            1 => Reply::MustLink,
            _ => truth(q),
        };
        let mut put: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let (mut budget, mut paid) = (0, 0);
        let mut back: Vec<(u32, u32)> = Vec::new();
        for (more, which, retract) in sessions {
            budget += more;
            let mut ledger = open(&path, &selector).unwrap();
            let mut oracle = replies(reply);
            let run = go_on(&selector, &mut oracle, Some(budget), Some(&mut ledger)).unwrap();
            paid += oracle.asked.len();
            prop_assert!(paid - back.len() <= budget);
            for (_, i, j) in oracle.asked {
                *put.entry((i, j)).or_default() += 1;
            }
            let report = ledger.report().unwrap();
            prop_assert_eq!((report.asked, sum(&report)), (paid, paid));
            let counts = run.counts(usize::MAX);
            prop_assert_eq!(counts.queries, report.asked - report.retracted);
            prop_assert_eq!((counts.must, counts.retracted), (report.must_link, 0));
            prop_assert_eq!(counts.cost, report.cost - report.retracted as f64);
            let live: Vec<_> = ledger.answers().into_iter().filter(|r| !r.retracted).collect();
            if retract && !live.is_empty() {
                let r = which.get(&live);
                back.push((r.question().i, r.question().j));
                ledger.retract(r.id, None).unwrap();
            }
        }
        for (pair, times) in put {
            let retracted = back.iter().filter(|p| **p == pair).count();
            prop_assert!(times <= 1 + retracted, "{:?} was put {} times", pair, times);
        }
        let mut ledger = open(&path, &selector).unwrap();
        let once = go_on(&selector, &mut replies(reply), Some(budget), Some(&mut ledger)).unwrap();
        drop(ledger);
        let mut ledger = open(&path, &selector).unwrap();
        let twice = go_on(&selector, &mut replies(reply), Some(budget), Some(&mut ledger)).unwrap();
        prop_assert_eq!(once.events, twice.events);
    }
}

#[test]
fn a_budget_holds_across_sessions() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let oracle = Budget { queries: Some(5), ..Budget::default() };
    for (run, queries) in [(Some(3), 3), (None, 5), (None, 5)] {
        let mut ledger = open(&path, &selector).unwrap();
        let mut respondent = oracle.open(&scene()).unwrap();
        let selection = go_on(&selector, &mut *respondent, run, Some(&mut ledger)).unwrap();
        assert_eq!(selection.asked(), queries);
        assert!(selection.budget_ended);
    }
    let closed = lines(&path).iter().filter(|l| l.contains("\"closed\"")).count();
    assert_eq!(closed, 2, "one per session that asked");
}

/// Every oracle whose replies are recorded is that oracle when it is replayed, on rows in any order.
#[test]
fn replay_of_the_record_is_the_oracle() {
    let crowd = Crowd {
        annotators: vec![
            Annotator { flip_rate: 0.3, ..Annotator::default() },
            Annotator { dont_know_rate: 0.4, ..Annotator::default() },
            Annotator { flip_rate: 0.1, ..Annotator::default() },
        ],
        rule: Rule::Weighted,
        ..Crowd::default()
    };
    let oracles: Vec<Box<dyn Oracle>> = vec![
        Box::new(Truth {}),
        Box::new(Noisy { flip_rate: 0.4, ..Noisy::default() }),
        Box::new(NoisyLabels { rate: 0.4 }),
        Box::new(NoisyMargin { rate: 0.5, source: None }),
        Box::new(DontKnow { rate: 0.4, ..DontKnow::default() }),
        Box::new(crowd.clone()),
        Box::new(Crowd { estimate: true, ..crowd }),
    ];
    let selector = RandomPairs { skip_entailed: false, ..RandomPairs::default() };
    for oracle in oracles {
        let (_folder, path) = folder();
        let mut ledger = open(&path, &selector).unwrap();
        let mut respondent = oracle.open(&scene()).unwrap();
        let run = go_on(&selector, &mut *respondent, None, Some(&mut ledger)).unwrap();
        assert_eq!(run.asked(), N * (N - 1) / 2);
        let recorded = ledger.answers();
        drop(ledger);
        let replay = Replay { ledger: Some(path.display().to_string()), missing: None };
        let turned: Vec<String> = (0..N).rev().map(|i| format!("row-{i}")).collect();
        let there = Scene { ids: Some(turned.into()), ..scene() };
        let (mut same, mut other) = (replay.open(&scene()).unwrap(), replay.open(&there).unwrap());
        let last = N as u32 - 1;
        for r in recorded {
            let q = r.question();
            assert_eq!(same.ask(&q).unwrap(), Outcome::Answered(r.answer.clone()));
            let (i, j) = (last - q.j, last - q.i);
            let turned = Question { i, j, subject: j, reference: i, ..q };
            assert_eq!(other.ask(&turned).unwrap(), Outcome::Answered(r.answer));
        }
        let short: Vec<String> = (0..N).map(|i| format!("line-{i}")).collect();
        let unknown = replay.open(&Scene { ids: Some(short.into()), ..scene() }).err().unwrap();
        assert!(unknown.to_string().contains("no object has the id \"row-"), "{unknown}");
    }
}

/// Answers of one table were given to questions about another one without a warning.
#[test]
fn replay_warns_of_rows_with_other_values() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let numbered = |values: [f64; N], n: usize, ctx: Context| {
        let read = Data::dense(Array2::from_shape_fn((n, 1), |(i, _)| values[i])).ok();
        Scene { n, ids: None, read, ctx, ..scene() }
    };
    let values: [f64; N] = std::array::from_fn(|i| i as f64);
    let scene = numbered(values, N - 1, Context::new(4));
    let header = Header::new(&scene, &selector, &Truth {}, &Context::new(1));
    let mut ledger = Ledger::create(&path, header, Durability::None).unwrap();
    ledger.state("test", None, &[((0, 1), Answer::of(Reply::CannotLink))]).unwrap();
    drop(ledger);
    let replay = Replay { ledger: Some(path.display().to_string()), missing: None };
    let said = |values: [f64; N], n: usize| {
        let ctx = Context::new(4);
        let opened = replay.open(&numbered(values, n, ctx.clone()));
        opened.map(|_| ctx.warnings()).map_err(|e| e.to_string())
    };
    assert_eq!(said(values, N - 1), Ok(Vec::new()));
    assert_eq!(said(values, N), Ok(Vec::new()), "a row was appended");
    let mut turned = values;
    turned.swap(0, 1);
    let warned = said(turned, N - 1).unwrap();
    assert!(warned[0].contains("its rows had other values"), "{warned:?}");
    let refused = said(turned, N).unwrap_err();
    assert!(refused.contains("not 9, and the first 8 rows had other values then"), "{refused}");
}

#[test]
fn replay_leaves_out_what_was_taken_back_and_asks_on() {
    let (_folder, path) = folder();
    let selector = RandomPairs::default();
    let mut ledger = open(&path, &selector).unwrap();
    go_on(&selector, &mut replies(|_| Reply::DontKnow), Some(3), Some(&mut ledger)).unwrap();
    ledger.retract(1, None).unwrap();
    let all = ledger.answers();
    drop(ledger);
    let file = Some(path.display().to_string());
    let mut alone = Replay { ledger: file.clone(), missing: None }.open(&scene()).unwrap();
    let missing: Option<Box<dyn Oracle>> = Some(Box::new(Truth {}));
    let mut helped = Replay { ledger: file, missing }.open(&scene()).unwrap();
    for r in all {
        let q = r.question();
        let (one, other) = (alone.ask(&q).unwrap(), helped.ask(&q).unwrap());
        if r.retracted {
            assert_eq!(one, Outcome::Refused(Refusal::OutOfScope));
            assert_eq!(other, Outcome::Answered(Answer::of(truth(&q))));
        } else {
            assert_eq!((&one, &other), (&Outcome::Answered(r.answer), &one))
        }
    }
    let nothing = Replay::default().open(&scene()).err().unwrap();
    assert_eq!(
        nothing.to_string(),
        "ledger: must be the file of an earlier selection, got nothing"
    );
}
