//! The laws of [`Transform`].

use ndarray::{Array2, Axis};

use super::law::{Law, Runs, Verdict, in_threads};
use super::{choices, fixtures, hard, looks, memory, numbers};
use crate::ensure;
use mustlink_core::constraints::{Constraint, Constraints, Kind};
use mustlink_core::context::Context;
use mustlink_core::data::{Data, DataKind};
use mustlink_core::error::Error;
use mustlink_core::features::Features;
use mustlink_core::problem::Problem;
use mustlink_core::roles::Transform;
use mustlink_core::run;

type Plugin = dyn Transform;

pub(super) fn laws() -> Vec<Law<dyn Transform>> {
    let mut laws = vec![
        Law::always("same_input_same_bits", same_input_same_bits),
        Law::always("any_number_of_threads", any_number_of_threads),
        Law::always("applies_the_same_twice", applies_the_same_twice),
        Law::always("saved_is_restored", saved_is_restored),
        Law::always("a_list_of_rows_is_a_copy", a_list_of_rows_is_a_copy),
        Law::when(
            "objects_stand_for_themselves",
            |t| !t.properties().changes_rows,
            objects_stand_for_themselves,
        ),
        Law::always("features_are_as_said", features_are_as_said),
        Law::always("accepts_what_it_says", accepts_what_it_says),
        Law::always("awkward_data_has_an_outcome", awkward_data),
        Law::always("other_data_never_panics", other_data_never_panics),
        Law::when("keeps_rows", |t| !t.properties().changes_rows, keeps_rows),
        Law::when("row_map_fits", |t| t.properties().changes_rows, row_map_fits),
        Law::when(
            "ignores_constraints",
            |t| !t.properties().reads_constraints,
            ignores_constraints,
        ),
        Law::when("reads_constraints", |t| t.properties().reads_constraints, reads_constraints),
        Law::when(
            "sparse_as_dense",
            |t| accepts(t, DataKind::Dense) && accepts(t, DataKind::Csr),
            sparse_as_dense,
        ),
        Law::always("looks_every_sweep", |t| {
            let world = first_kind(t, 1);
            looks::grow_with_the_work(t, |t, ctx| values(t, &world, ctx))
        }),
        Law::always(choices::LAW, options_count),
        Law::always("memory_covers_the_result", memory_covers),
        memory::law(memory::of_transform),
        Law::always("shape_covers_the_result", shape_covers),
    ];
    laws.extend(numbers::laws(|_| true));
    laws
}

fn accepts(t: &Plugin, kind: DataKind) -> bool {
    t.properties().accepts.contains(&kind)
}

/// A problem with some equal rows, some zeros and true constraints, as each kind of data.
fn problem(kind: DataKind, seed: u64) -> Problem {
    let (mut x, classes) = fixtures::groups(15, 4, 0.8, seed);
    x.mapv_inplace(|v| if v < 0.8 { 0.0 } else { v });
    for (from, to) in [(0, 3), (0, 6), (10, 40)] {
        let copy = x.row(from).to_owned();
        x.row_mut(to).assign(&copy);
    }
    // Must-links between groups of rows that are not equal, cannot-links across classes.
    let constraints = fixtures::true_constraints(&classes, 40, seed);
    let data = as_kind(&x, kind);
    Problem::new(data).with_k(3).with_constraints(constraints)
}

fn as_kind(x: &Array2<f64>, kind: DataKind) -> Data {
    let made = match kind {
        DataKind::Dense => Data::dense(x.clone()),
        DataKind::Csr => Data::csr(fixtures::to_csr(x)),
        DataKind::Distances => Data::distances(pairwise(x)),
        DataKind::Affinity => Data::affinity(pairwise(x).mapv(|v| 1.0 / (1.0 + v))),
        DataKind::Table => table(x),
    };
    made.expect("finite and well formed")
}

/// The first value of each column as it is, of the others some missing; the last column as two words.
fn table(x: &Array2<f64>) -> Result<Data, Error> {
    let (n, last) = (x.nrows(), x.ncols() - 1);
    let mut x = x.clone();
    let mean = x.column(last).sum() / n as f64;
    x.column_mut(last).mapv_inplace(|v| f64::from(u8::from(v > mean)));
    for i in 1..n {
        x[[i, (i * 7) % (last + 1)]] = f64::NAN;
    }
    let words: mustlink_core::data::Words = ["high", "low"].map(String::from).into();
    Data::table(x, (0..=last).map(|c| (c == last).then(|| words.clone())).collect())
}

fn pairwise(x: &Array2<f64>) -> Array2<f64> {
    let n = x.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt())
}

const KINDS: [DataKind; 5] =
    [DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity, DataKind::Table];

/// A problem after the transform, run as the framework runs it.
fn transformed(t: &Plugin, problem: &Problem, seed: u64) -> Result<Problem, Error> {
    let steps = [dyn_clone::clone_box(t)];
    run::transform(&steps, problem, &Context::new(seed)).map(|made| made.problem)
}

fn accepted(t: &Plugin) -> Vec<Problem> {
    t.properties().accepts.into_iter().map(|kind| problem(kind, 1)).collect()
}

/// A problem of the first kind that it takes.
fn first_kind(t: &Plugin, seed: u64) -> Problem {
    problem(t.properties().accepts.first().copied().unwrap_or(DataKind::Dense), seed)
}

fn values(t: &Plugin, problem: &Problem, ctx: &Context) -> Result<Vec<u64>, Error> {
    fixtures::tried(problem);
    let steps = [dyn_clone::clone_box(t)];
    let made = run::transform(&steps, problem, ctx)?;
    let weights = made.lineage.metric.into_iter().flat_map(|(_, weights)| weights);
    Ok(bits(&made.problem.data).into_iter().chain(weights.map(f64::to_bits)).collect())
}

impl Runs for Plugin {
    type Made = Vec<u64>;

    fn run_small(&self, ctx: &Context) -> Result<Vec<u64>, Error> {
        values(self, &first_kind(self, 1), ctx)
    }
}

fn options_count(t: &Plugin) -> Verdict {
    let musts = first_kind(t, 3);
    let only = musts.constraints.pairs().iter().copied().filter(|c| c.kind == Kind::MustLink);
    let only = Constraints::new(musts.n(), only).map_err(|e| e.to_string())?;
    let more = [first_kind(t, 2), musts.with_constraints(only)];
    let worlds: Vec<Problem> = accepted(t).into_iter().chain(more).collect();
    choices::each_changes_something(t, worlds.len(), |t, world, ctx| values(t, &worlds[world], ctx))
}

fn memory_covers(t: &Plugin) -> Verdict {
    let problem = first_kind(t, 1);
    let made = transformed(t, &problem, 7).map_err(|e| e.to_string())?;
    let returned = 8 * made.data.entries() as u64;
    hard::memory_covers(&problem, |shape| t.memory(shape), returned)
}

/// A declared shape of the result holds for every kind of data that the transform takes.
fn shape_covers(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let (before, made) = (problem.shape(), transformed(t, &problem, 7));
        let (said, made) = (t.shape_of_result(&before), made.map_err(|e| e.to_string())?.shape());
        let covers = said.n >= made.n && said.d >= made.d && said.entries >= made.entries;
        ensure!(said == before || covers, "says {said:?} of {before:?}, makes {made:?}");
    }
    Ok(())
}

fn same_input_same_bits(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let one = transformed(t, &problem, 7).map_err(|e| e.to_string())?;
        let two = transformed(t, &problem, 7).map_err(|e| e.to_string())?;
        ensure!(bits(&one.data) == bits(&two.data), "two runs differ");
    }
    Ok(())
}

fn bits(data: &Data) -> Vec<u64> {
    let mut out = vec![data.n() as u64, data.d() as u64];
    out.extend(data.to_dense().iter().map(|v| v.to_bits()));
    out
}

fn any_number_of_threads(t: &Plugin) -> Verdict {
    // Several blocks of rows, or nothing is shared out.
    let Some(kind) = t.properties().accepts.first().copied() else { return Ok(()) };
    let (x, classes) = fixtures::groups(if kind.is_rows() { 900 } else { 40 }, 4, 0.8, 3);
    let problem = Problem::new(as_kind(&x, kind))
        .with_constraints(fixtures::true_constraints(&classes, 1500, 3));
    let at = |threads: usize| -> Result<Vec<u64>, String> {
        let after = in_threads(threads, || transformed(t, &problem, 7));
        Ok(bits(&after.map_err(|e| e.to_string())?.data))
    };
    ensure!(at(1)? == at(7)?, "1 and 7 threads differ");
    Ok(())
}

fn applies_the_same_twice(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let ctx = Context::new(7);
        let fitted = t.fit(&problem, &ctx).map_err(|e| e.to_string())?;
        let one = fitted.apply(&problem.data).map_err(|e| e.to_string())?;
        let two = fitted.apply(&problem.data).map_err(|e| e.to_string())?;
        ensure!(bits(&one) == bits(&two), "the second application differs from the first");
    }
    Ok(())
}

/// A transform restored from a model does the same.
fn saved_is_restored(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let fitted = t.fit(&problem, &Context::new(7)).map_err(|e| e.to_string())?;
        let Some(saved) = fitted.saved() else { continue };
        let text = saved.to_string();
        let read = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let again = t.restore(&read).map_err(|e| e.to_string())?;
        let one = fitted.apply(&problem.data).map_err(|e| e.to_string())?;
        let two = again.apply(&problem.data).map_err(|e| e.to_string())?;
        ensure!(bits(&one) == bits(&two), "what is kept in a model gives other values");
    }
    Ok(())
}

/// Data seen through a list of rows gives what a copy of those rows gives.
fn a_list_of_rows_is_a_copy(t: &Plugin) -> Verdict {
    for kind in t.properties().accepts.into_iter().filter(|k| k.is_rows()) {
        let all = problem(kind, 1);
        let chosen: Vec<usize> = (0..all.n()).rev().filter(|i| i % 4 != 1).collect();
        let listed = all.subset(&chosen);
        let copy = as_kind(&all.data.to_dense().select(Axis(0), &chosen), kind);
        let copied = Problem { data: copy, ..listed.clone() };
        let one = transformed(t, &listed, 7).map_err(|e| e.to_string())?;
        let two = transformed(t, &copied, 7).map_err(|e| e.to_string())?;
        ensure!(bits(&one.data) == bits(&two.data), "a list of rows and its copy differ");
    }
    Ok(())
}

/// The result for an object does not depend on the other objects: new ones may come alone.
fn objects_stand_for_themselves(t: &Plugin) -> Verdict {
    for kind in t.properties().accepts.into_iter().filter(|&kind| has_features(kind)) {
        let problem = problem(kind, 1);
        let fitted = t.fit(&problem, &Context::new(7)).map_err(|e| e.to_string())?;
        let all = fitted.apply(&problem.data).map_err(|e| e.to_string())?;
        if all.kind() == DataKind::Table {
            // Words have places in a list, which may be another.
            continue;
        }
        for few in [vec![4], vec![17, 2, 31]] {
            let alone = fitted.apply(&problem.data.subset(&few)).map_err(|e| e.to_string())?;
            let (alone, together) = (alone.to_dense(), all.to_dense().select(Axis(0), &few));
            ensure!(alone.dim() == together.dim(), "{few:?} alone are {:?}", alone.dim());
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            let same = alone.iter().zip(&together).all(near);
            ensure!(same, "objects {few:?} alone have other values than among all");
        }
    }
    Ok(())
}

fn has_features(kind: DataKind) -> bool {
    kind.is_rows() || kind == DataKind::Table
}

/// Features declared as those before the transform, or as some of them, are these; a metric weighs each of them.
fn features_are_as_said(t: &Plugin) -> Verdict {
    for problem in accepted(t).into_iter().filter(|problem| has_features(problem.data.kind())) {
        let before = problem.d();
        let fitted = t.fit(&problem, &Context::new(7)).map_err(|e| e.to_string())?;
        let made = fitted.apply(&problem.data).map_err(|e| e.to_string())?.d();
        let can_be = match fitted.features() {
            Features::Same => made == before,
            Features::Chosen(of) => of.len() == made && of.iter().all(|&s| s < before),
            Features::Parts(of) => of.len() == made && of.iter().all(|(s, _)| *s < before),
            Features::New => true,
        };
        let said = fitted.features();
        ensure!(can_be, "features() says {said:?}, and {before} features became {made}");
        if let Some(weights) = fitted.weights() {
            let legal = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
            ensure!(legal && weights.len() == before, "weights of {before} features: {weights:?}");
        }
    }
    Ok(())
}

fn accepts_what_it_says(t: &Plugin) -> Verdict {
    ensure!(!t.properties().accepts.is_empty(), "it accepts no kind of data");
    for kind in KINDS {
        let outcome = transformed(t, &problem(kind, 1), 7);
        let refused =
            matches!(outcome.as_ref().map_err(Error::root), Err(Error::UnsupportedData { .. }));
        if accepts(t, kind) {
            outcome.map_err(|e| format!("declared {} data fails: {e}", kind.name()))?;
        } else {
            ensure!(refused, "{} data is not declared and not refused", kind.name());
        }
    }
    Ok(())
}

/// One object, equal objects, constant features, zeros and very large values: a result of finite
/// values or an error of its own, never a panic.
fn awkward_data(t: &Plugin) -> Verdict {
    let shapes = [
        ("one object", Array2::from_elem((1, 3), 2.0)),
        ("one zero", Array2::zeros((1, 1))),
        ("zeros", Array2::zeros((5, 3))),
        ("equal objects", Array2::from_shape_fn((6, 3), |(_, j)| j as f64 + 0.1)),
        (
            "a constant feature",
            Array2::from_shape_fn((6, 2), |(i, j)| if j == 0 { 4.0 } else { i as f64 }),
        ),
        ("more features than objects", Array2::from_shape_fn((3, 9), |(i, j)| (i * j) as f64)),
        (
            "one far object",
            Array2::from_shape_fn((6, 2), |(i, j)| if i == 0 { 1e9 } else { (i * j) as f64 }),
        ),
        ("very large values", Array2::from_shape_fn((4, 2), |(i, j)| 1e300 * (i + j) as f64)),
        ("very small values", Array2::from_shape_fn((4, 2), |(i, j)| 1e-300 * (i + j) as f64)),
    ];
    for (what, x) in shapes {
        let n = x.nrows();
        let links = (1..n).map(|i| Constraint::must(i - 1, i)).take(2);
        let chain = (1..n).map(|i| Constraint::must(i - 1, i));
        let star = (1..n).map(|i| Constraint::cannot(0, i));
        let sets = [vec![], links.collect(), chain.collect(), star.collect()];
        let sets: Result<Vec<_>, Error> =
            sets.into_iter().map(|set: Vec<Constraint>| Constraints::new(n, set)).collect();
        let sets = sets.map_err(|e| e.to_string())?;
        for kind in t.properties().accepts {
            for constraints in sets.iter().cloned() {
                let problem = Problem::new(as_kind(&x, kind)).with_constraints(constraints);
                match transformed(t, &problem, 7) {
                    Err(e) if matches!(e.root(), Error::Contract { .. }) => {
                        return Err(format!("{what}, {}: {e}", kind.name()));
                    }
                    Err(_) => {}
                    Ok(after) => {
                        let missing = after.data.kind() == DataKind::Table;
                        let good = |v: &f64| v.is_finite() || (missing && v.is_nan());
                        let finite = after.data.to_dense().iter().all(good);
                        ensure!(finite, "{what}, {}: a value is not finite", kind.name());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Applied to data of another shape than it was fitted to, it answers or refuses.
fn other_data_never_panics(t: &Plugin) -> Verdict {
    for kind in t.properties().accepts {
        let problem = problem(kind, 1);
        let fitted = t.fit(&problem, &Context::new(7)).map_err(|e| e.to_string())?;
        for (n, d) in [(1, 4), (45, 1), (50, 9)] {
            let x = Array2::from_shape_fn((n, d), |(i, j)| (i + 2 * j) as f64);
            let other = as_kind(&x, kind);
            let outcome = run::guarded("transform", || fitted.apply(&other).map(|_| ()));
            if let Err(Error::Contract { broken, .. }) = outcome {
                return Err(format!("{n} × {d} {}: {broken}", kind.name()));
            }
        }
    }
    Ok(())
}

fn keeps_rows(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let fitted = t.fit(&problem, &Context::new(7)).map_err(|e| e.to_string())?;
        ensure!(fitted.row_map().is_none(), "it gives a row map and does not declare changes_rows");
        let after = fitted.apply(&problem.data).map_err(|e| e.to_string())?;
        ensure!(after.n() == problem.n(), "{} rows became {}", problem.n(), after.n());
    }
    Ok(())
}

/// One entry per old row, new rows numbered in order of the first old row of each, none left out.
fn row_map_fits(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let fitted = t.fit(&problem, &Context::new(7)).map_err(|e| e.to_string())?;
        let after = fitted.apply(&problem.data).map_err(|e| e.to_string())?;
        let Some(map) = fitted.row_map() else {
            return Err("it declares changes_rows and gives no row map".into());
        };
        ensure!(map.len() == problem.n(), "{} entries for {} rows", map.len(), problem.n());
        let mut next = 0;
        for (old, new) in map.iter().enumerate() {
            let Some(new) = *new else { continue };
            ensure!(new <= next, "row {old} became row {new}, but {next} is not taken yet");
            next = next.max(new + 1);
        }
        ensure!(next as usize == after.n(), "{next} rows are mapped to, there are {}", after.n());
    }
    Ok(())
}

fn ignores_constraints(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let free = Problem { constraints: Default::default(), ..problem.clone() };
        let ctx = Context::new(7);
        let with = t.fit(&problem, &ctx).and_then(|f| f.apply(&problem.data));
        let without = t.fit(&free, &ctx).and_then(|f| f.apply(&problem.data));
        let (with, without) =
            (with.map_err(|e| e.to_string())?, without.map_err(|e| e.to_string())?);
        ensure!(
            bits(&with) == bits(&without),
            "constraints change the result and reads_constraints is not declared"
        );
    }
    Ok(())
}

fn reads_constraints(t: &Plugin) -> Verdict {
    for problem in accepted(t) {
        let free = Problem { constraints: Default::default(), ..problem.clone() };
        let with = transformed(t, &problem, 7).map_err(|e| e.to_string())?;
        let without = transformed(t, &free, 7).map_err(|e| e.to_string())?;
        ensure!(
            bits(&with.data) != bits(&without.data),
            "reads_constraints is declared and constraints change nothing"
        );
    }
    Ok(())
}

fn sparse_as_dense(t: &Plugin) -> Verdict {
    let dense = transformed(t, &problem(DataKind::Dense, 1), 7).map_err(|e| e.to_string())?;
    let sparse = transformed(t, &problem(DataKind::Csr, 1), 7).map_err(|e| e.to_string())?;
    let (dense, sparse) = (dense.data.to_dense(), sparse.data.to_dense());
    ensure!(dense.dim() == sparse.dim(), "shapes {:?} and {:?}", dense.dim(), sparse.dim());
    let largest = dense.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    let off = (&dense - &sparse).iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let agree = off <= 1e-9 * largest;
    ensure!(agree, "sparse and dense differ by {off}");
    Ok(())
}
