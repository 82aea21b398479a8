//! The laws of [`Oracle`](mustlink_core::roles::Oracle).

use std::collections::BTreeMap;

use super::law::{Law, Runs, Verdict};
use super::{choices, fixtures, numbers};
use crate::ensure;
use mustlink_core::closure::UnionFind;
use mustlink_core::context::Context;
use mustlink_core::data::Data;
use mustlink_core::error::Error;
use mustlink_core::registry::{Catalogue, Role};
use mustlink_core::roles::{
    Oracle, OracleProperties, Outcome, Question, Reply, Respondent, RoleObject, Scene,
};

pub(super) fn laws() -> Vec<Law<dyn Oracle>> {
    let mut laws = vec![
        Law::when("both_orders_one_reply", deterministic, |o| {
            each(o, deterministic, both_orders_one_reply)
        }),
        Law::when("reply_depends_on_the_pair_alone", deterministic, |o| {
            each(o, deterministic, reply_depends_on_the_pair_alone)
        }),
        Law::when("noiseless_replies_are_consistent", noiseless, |o| {
            each(o, noiseless, noiseless_replies_are_consistent)
        }),
        Law::when("costs_are_announced", simulated, |o| each(o, simulated, costs_are_announced)),
        Law::when("refusal_is_final", simulated, refusal_is_final),
        Law::when("limit_is_kept", takes_queries, limit_is_kept),
        Law::when("recalled_answers_count", simulated, recalled_answers_count),
        Law::when(
            "missing_classes_are_said",
            |o| o.properties().needs_labels,
            missing_classes_are_said,
        ),
        Law::when("wrapping_order_is_kept", takes_source, wrapping_order_is_kept),
        Law::when("wrappers_pass_facts_on", takes_source, wrappers_pass_facts_on),
        Law::when("same_seed_same_replies", simulated, |o| {
            each(o, simulated, same_seed_same_replies)
        }),
        Law::when(choices::LAW, simulated, options_count),
    ];
    laws.extend(numbers::laws(simulated));
    laws
}

impl Runs for dyn Oracle {
    type Made = Vec<(f64, Outcome)>;

    fn run_small(&self, _: &Context) -> Result<Self::Made, Error> {
        outcomes(self, &scene())
    }
}

type Pair = (u32, u32);

/// Needs no person, and no option that has no default: an oracle without its file cannot be tried.
fn simulated(oracle: &dyn Oracle) -> bool {
    let lacks = |e: &Error| matches!(e.root(), Error::BadParam { value, .. } if value == "nothing");
    !oracle.properties().interactive && !oracle.open(&scene()).is_err_and(|e| lacks(&e))
}

fn noiseless(oracle: &dyn Oracle) -> bool {
    simulated(oracle) && oracle.properties().noiseless
}

fn deterministic(oracle: &dyn Oracle) -> bool {
    simulated(oracle) && oracle.properties().deterministic
}

fn config(oracle: &dyn Oracle) -> serde_json::Value {
    serde_json::to_value(oracle).expect("plugins serialise to plain tables")
}

/// True if it has an option of this name: one that is absent is not written.
fn takes(oracle: &dyn Oracle, option: &str) -> bool {
    let descriptor = Catalogue::get().ok().and_then(|c| c.find(oracle.typetag_name()));
    descriptor.is_some_and(|d| d.option(option).is_some())
}

fn takes_queries(oracle: &dyn Oracle) -> bool {
    takes(oracle, "queries")
}

fn takes_source(oracle: &dyn Oracle) -> bool {
    takes(oracle, "source")
}

/// The same oracle with one option set.
fn with(
    oracle: &dyn Oracle,
    option: &str,
    value: serde_json::Value,
) -> Result<Box<dyn Oracle>, String> {
    let mut config = config(oracle);
    config[option] = value;
    <dyn Oracle as RoleObject>::from_value(config)
}

/// Checks the oracle as it is and with every share that is 0 at one half, where the law speaks
/// about it: replies that may err are otherwise never tried.
fn each(
    oracle: &dyn Oracle,
    applies: fn(&dyn Oracle) -> bool,
    check: fn(&dyn Oracle) -> Verdict,
) -> Verdict {
    check(oracle)?;
    let plain = config(oracle);
    let mut lively = plain.clone();
    for value in lively.as_object_mut().into_iter().flat_map(|options| options.values_mut()) {
        if value.is_f64() && value.as_f64() == Some(0.0) {
            *value = 0.5.into();
        }
    }
    if lively == plain {
        return Ok(());
    }
    let lively = <dyn Oracle as RoleObject>::from_value(lively)?;
    if !applies(&*lively) {
        return Ok(());
    }
    check(&*lively).map_err(|broken| format!("with shares at 0.5: {broken}"))
}

/// 24 objects in three classes, the last of unknown class.
fn scene() -> Scene {
    let (x, classes) = fixtures::groups(8, 1, 1.0, 1);
    let mut labels: Vec<Option<u32>> = classes.into_iter().map(Some).collect();
    if let Some(last) = labels.last_mut() {
        *last = None;
    }
    let data = Data::dense(x).ok();
    Scene { data, ..Scene::with_labels(labels, fixtures::context(1)) }
}

fn pairs(n: usize) -> Vec<Pair> {
    let n = n as u32;
    (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect()
}

fn open(oracle: &dyn Oracle, scene: &Scene) -> Result<Box<dyn Respondent>, String> {
    oracle.open(scene).map_err(|e| e.to_string())
}

fn question((i, j): Pair, subject: u32) -> Question {
    let reference = i + j - subject;
    Question { id: 0, i, j, subject, reference, purpose: "law" }
}

fn ask(respondent: &mut dyn Respondent, pair: Pair) -> Result<Outcome, String> {
    respondent.ask(&question(pair, pair.0)).map_err(|e| e.to_string())
}

/// Replies to `pairs` in this order, from a fresh respondent.
fn replies(oracle: &dyn Oracle, pairs: &[Pair]) -> Result<BTreeMap<Pair, Reply>, String> {
    let mut respondent = open(oracle, &scene())?;
    let mut out = BTreeMap::new();
    for &pair in pairs {
        if let Outcome::Answered(answer) = ask(&mut *respondent, pair)? {
            out.insert(pair, answer.reply);
        }
    }
    Ok(out)
}

/// Results for all pairs, in order, with the announced cost of each.
fn outcomes(oracle: &dyn Oracle, scene: &Scene) -> Result<Vec<(f64, Outcome)>, Error> {
    let mut respondent = oracle.open(scene)?;
    let mut out = Vec::new();
    for pair in pairs(scene.n) {
        let question = question(pair, pair.0);
        out.push((respondent.cost(&question), respondent.ask(&question)?));
    }
    Ok(out)
}

fn same_seed_same_replies(oracle: &dyn Oracle) -> Verdict {
    let once = outcomes(oracle, &scene()).map_err(|e| e.to_string())?;
    let again = outcomes(oracle, &scene()).map_err(|e| e.to_string())?;
    ensure!(once == again, "two respondents with one seed differ");
    Ok(())
}

fn options_count(oracle: &(dyn Oracle + 'static)) -> Verdict {
    choices::each_changes_something(oracle, 1, |oracle, _, _| outcomes(oracle, &scene()))
}

/// Whichever object is named first, and whichever the question is about.
fn both_orders_one_reply(oracle: &dyn Oracle) -> Verdict {
    let scene = scene();
    for (i, j) in pairs(scene.n) {
        let ways = [((i, j), i), ((i, j), j), ((j, i), i), ((j, i), j)];
        let mut seen = Vec::new();
        for (pair, subject) in ways {
            let mut respondent = open(oracle, &scene)?;
            let outcome = respondent.ask(&question(pair, subject)).map_err(|e| e.to_string())?;
            seen.push(match outcome {
                Outcome::Answered(answer) => Some(answer.reply),
                _ => None,
            });
        }
        ensure!(seen.iter().all(|r| *r == seen[0]), "({i}, {j}) in its four forms: {seen:?}");
    }
    Ok(())
}

/// Order and number of questions change nothing, nor does a second respondent.
fn reply_depends_on_the_pair_alone(oracle: &dyn Oracle) -> Verdict {
    let mut order = pairs(scene().n);
    let forward = replies(oracle, &order)?;
    order.reverse();
    let backward = replies(oracle, &order)?;
    let few: Vec<Pair> = order.iter().copied().step_by(7).collect();
    let some = replies(oracle, &few)?;
    for other in [backward, some] {
        for (pair, reply) in other {
            if let Some(&first) = forward.get(&pair) {
                ensure!(
                    first == reply,
                    "{pair:?} is {first:?} in one order and {reply:?} in another"
                );
            }
        }
    }
    Ok(())
}

/// Must-link is an equivalence, and no cannot-link lies inside one of its classes.
fn noiseless_replies_are_consistent(oracle: &dyn Oracle) -> Verdict {
    let n = scene().n;
    let replies = replies(oracle, &pairs(n))?;
    let mut together = UnionFind::new(n);
    for (&(i, j), _) in replies.iter().filter(|(_, r)| **r == Reply::MustLink) {
        together.union(i, j);
    }
    for (&(i, j), _) in replies.iter().filter(|(_, r)| **r == Reply::CannotLink) {
        ensure!(
            together.find(i) != together.find(j),
            "({i}, {j}) is a cannot-link between objects that must-links join"
        );
    }
    Ok(())
}

fn costs_are_announced(oracle: &dyn Oracle) -> Verdict {
    let scene = scene();
    let mut respondent = open(oracle, &scene)?;
    for pair in pairs(scene.n) {
        let announced = respondent.cost(&question(pair, pair.0));
        ensure!(announced >= 0.0 && announced.is_finite(), "{pair:?} would cost {announced}");
        if let Outcome::Answered(answer) = ask(&mut *respondent, pair)? {
            let cost = answer.cost;
            ensure!(
                (0.0..=announced).contains(&cost),
                "{pair:?} was to cost at most {announced} and cost {cost}"
            );
            let sure = answer.confidence.is_none_or(|c| (0.5..=1.0).contains(&c));
            ensure!(sure, "confidence {:?} is not between 0.5 and 1", answer.confidence);
        }
    }
    Ok(())
}

/// After a spent budget or a closed oracle nothing is answered. Tried with a small budget where
/// the oracle has one.
fn refusal_is_final(oracle: &dyn Oracle) -> Verdict {
    use mustlink_core::roles::Refusal::{BudgetExhausted, Closed};
    let small = if takes_queries(oracle) { Some(with(oracle, "queries", 3.into())?) } else { None };
    let scene = scene();
    let mut respondent = open(small.as_deref().unwrap_or(oracle), &scene)?;
    let mut over = None;
    for pair in pairs(scene.n) {
        match (over, ask(&mut *respondent, pair)?) {
            (Some(reason), Outcome::Refused(again)) => {
                ensure!(reason == again, "refused as {reason:?}, then as {again:?}");
            }
            (Some(reason), other) => return Err(format!("{other:?} after {reason:?}")),
            (None, Outcome::Refused(reason @ (BudgetExhausted | Closed))) => over = Some(reason),
            (None, _) => {}
        }
    }
    ensure!(small.is_none() || over.is_some(), "a budget of 3 queries never ended");
    Ok(())
}

/// A number of queries is announced by `limit` and not exceeded.
fn limit_is_kept(oracle: &dyn Oracle) -> Verdict {
    for queries in [0usize, 1, 5] {
        let limited = with(oracle, "queries", queries.into())?;
        let limit = limited.limit();
        ensure!(limit == Some(queries), "limit is {limit:?} with queries = {queries}");
        let answered = replies(&*limited, &pairs(scene().n))?.len();
        ensure!(answered == queries, "{answered} answers with queries = {queries}");
    }
    Ok(())
}

/// A respondent that gets the answers of another one continues in the same way: replies, costs, refusals.
fn recalled_answers_count(oracle: &dyn Oracle) -> Verdict {
    let small =
        if takes_queries(oracle) { Some(with(oracle, "queries", 30.into())?) } else { None };
    let oracle = small.as_deref().unwrap_or(oracle);
    let scene = scene();
    let mut first = open(oracle, &scene)?;
    let all = pairs(scene.n);
    let (before, after) = all.split_at(25);
    let mut second = open(oracle, &scene)?;
    for &pair in before {
        if let Outcome::Answered(answer) = ask(&mut *first, pair)? {
            second.recall(&question(pair, pair.0), &answer);
        }
    }
    for &pair in after {
        let (one, other) = (ask(&mut *first, pair)?, ask(&mut *second, pair)?);
        let over = matches!(one, Outcome::Refused(_));
        ensure!(one == other, "{pair:?}: {one:?} without interruption and {other:?} after it");
        if over {
            break;
        }
    }
    Ok(())
}

fn missing_classes_are_said(oracle: &dyn Oracle) -> Verdict {
    let bare = Scene { labels: None, ..scene() };
    ensure!(oracle.open(&bare).is_err(), "needs classes and opens without");
    Ok(())
}

/// The oracles that are allowed in a slot, at their defaults.
fn linked() -> Result<Vec<Box<dyn Oracle>>, String> {
    let catalogue = Catalogue::get().map_err(|e| e.to_string())?;
    let configs = catalogue.role(Role::Oracle).map(|d| d.default_config());
    configs.map(<dyn Oracle as RoleObject>::from_value).collect()
}

/// A wrapper takes the oracles of the layers inside its own and no other.
fn wrapping_order_is_kept(oracle: &dyn Oracle) -> Verdict {
    let scene = scene();
    for source in linked()? {
        let alone = source.open(&scene);
        let wrapped = with(oracle, "source", config(&*source))?;
        let inside = source.properties().layer > oracle.properties().layer;
        match (inside, wrapped.open(&scene)) {
            (false, Ok(_)) => {
                return Err(format!("took {}, which stands outside", source.typetag_name()));
            }
            (false, Err(e)) => {
                let (text, order) =
                    (e.to_string(), "budget → cost → crowd → dont_know → noise → source");
                ensure!(text.starts_with("source: "), "the message names another option: {text}");
                ensure!(text.contains(order), "the message does not show the order: {text}");
            }
            (true, Err(e)) if alone.is_ok() => {
                return Err(format!("refused {}: {e}", source.typetag_name()));
            }
            (true, _) => {}
        }
    }
    Ok(())
}

/// A wrapper reports the facts of its source: if a person answers, and if classes are needed.
fn wrappers_pass_facts_on(oracle: &dyn Oracle) -> Verdict {
    for source in linked()? {
        let inner = source.properties();
        let wrapped = with(oracle, "source", config(&*source))?;
        let OracleProperties { interactive, needs_labels, .. } = wrapped.properties();
        ensure!(interactive == inner.interactive, "interactive around {}", source.typetag_name());
        ensure!(
            needs_labels == inner.needs_labels,
            "needs_labels around {}",
            source.typetag_name()
        );
        ensure!(
            wrapped.source().is_some_and(|s| s.typetag_name() == source.typetag_name()),
            "source() does not give {}",
            source.typetag_name()
        );
    }
    Ok(())
}
