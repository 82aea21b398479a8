//! Penalised k-means, sound but for one flaw.

use mustlink_core::clustering::Tried;
use mustlink_core::error;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_core::union_find::UnionFind;
use ndarray::{Array1, Array2};
use serde_json::json;

use crate::neighbours;
use mustlink_laws::memory;

use crate::shared::{Caught, HOLDS, KEEPS, Mutant, checked, clock, flaws, tried};

/// Objects join the nearest centre, and pay for constraints they break.
#[options]
pub struct FlawedClusterer {
    /// Name of the flaw.
    pub flaw: String,
    /// Number of clusters. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Price of a broken constraint, in mean squared distances to the mean.
    #[option(default = 1.0, min = 0.0, max = 1e6)]
    pub weight: f64,
    /// Sweeps, at most.
    #[option(default = 9, min = 1)]
    pub max_iterations: usize,
    /// Must-links are kept whatever they cost.
    pub hard: bool,
    /// Which object is looked at first.
    pub order: Order,
}

/// An order of the objects.
#[options]
pub enum Order {
    /// The first one.
    #[default]
    Forwards,
    /// The last one.
    Backwards,
    /// One in the middle.
    Outwards,
}

/// True constraints of groups that are easy to distinguish do not show it.
const JOINS: &str = "joins must-linked objects that are far apart, undeclared";

const FLAWS: [(&str, &str); 64] = [
    ("runs without its setup", "missing_setup_is_named"),
    ("runs out of time", "ends_in_time"),
    ("loses an object", "one_label_per_object"),
    ("seeds itself from the clock", "same_seed_same_bits"),
    ("adds up by thread", "same_bits_on_several_blocks"),
    ("declares sparse rows and cannot read them", "every_declared_kind_is_taken"),
    ("does not declare that it needs k", "illegal_k_is_named"),
    ("divides by n - k", "extreme_k_is_legal"),
    ("makes one cluster more than it is asked for", "extreme_k_is_legal"),
    ("panics when all rows are equal", "equal_rows_are_legal"),
    ("divides by d - 1", "one_feature_is_legal"),
    ("returns another objective than its history", "objective_is_the_last_of_its_history"),
    ("reads the first half of the constraints", "order_of_constraints_is_nothing"),
    ("does not declare that it reads constraints", "constraints_are_read_only_if_declared"),
    (JOINS, "constraints_are_read_only_if_declared"),
    ("promises cannot-links and looks at none", "hard_promises_hold"),
    ("breaks a must-link among many objects", memory::LAW),
    ("gives up on a fifth must-link", "feasible_sets_are_met"),
    ("calls a contradiction infeasible", "contradictions_are_named"),
    ("takes soft marks for hard ones", "soft_marks_refuse_nothing"),
    ("obeys soft marks without a warning", "enforced_soft_marks_cause_a_warning"),
    ("fails on contradictions", "contradictions_are_survived"),
    ("returns the transposed centres", "centres_have_the_declared_shape"),
    ("keeps weights of features to itself", "learned_weights_are_declared"),
    ("tries another method undeclared", "what_was_tried_is_declared"),
    ("stores zeros of sparse rows as ones", "sparse_equals_dense"),
    ("calls all below a thousandth equal", "any_unit"),
    ("cuts values off at 30", "any_origin"),
    ("keeps twelve digits of the largest value", "far_objects_stand_alone"),
    ("never looks at the cancel flag", "cancelling_is_heard"),
    ("counts its work in 32 bits", "legal_values_are_harmless"),
    ("divides by the sweeps less one", "legal_values_are_harmless"),
    ("divides by the weight", "legal_values_are_harmless"),
    ("forgets one of its orders", "legal_values_are_harmless"),
    ("panics on its fifth sweep", "looks_every_sweep"),
    ("panics on must-links alone", "must_links_change_something"),
    ("returns what it has when cancelled", "cancelling_is_never_late"),
    ("looks at the cancel flag before its loop alone", "looks_every_sweep"),
    ("ignores the weight", "every_option_changes_something"),
    ("ignores the limit of sweeps", "every_option_changes_something"),
    ("declares that it reads groups and fails on them", "groups_are_their_pairs"),
    ("declares that it counts weights and does not", "weights_count"),
    ("ignores constraints", "must_links_change_something"),
    ("ignores constraints, too", "cannot_links_change_something"),
    ("ignores must-links", "must_links_change_something"),
    ("ignores cannot-links", "cannot_links_change_something"),
    ("panics when all objects are must-linked", "hard_problems_have_an_outcome"),
    ("panics when there is one object", "hard_problems_have_an_outcome"),
    ("wants as many must-linked groups as clusters", "hard_problems_have_an_outcome"),
    ("divides by the free partners of an object", "hard_problems_have_an_outcome"),
    ("loses its centres to a far outlier", "hard_problems_have_an_outcome"),
    ("refuses data on which it does not settle soon", "hard_problems_have_an_outcome"),
    ("hands data that are not finite to a child", "hard_problems_have_an_outcome"),
    ("fails with a cluster for each object", "hard_problems_have_an_outcome"),
    ("needs no memory", "memory_covers_the_result"),
    ("needs less memory for more objects", "memory_covers_the_result"),
    ("numbers clusters in the order of a hash map", "same_seed_same_bits"),
    ("gives a label for each thread", "same_seed_same_bits"),
    ("returns labels beyond k", "one_label_per_object"),
    ("puts the objective of a start in its history", "hard_problems_have_an_outcome"),
    ("panics on a cannot-link of two objects", "hard_problems_have_an_outcome"),
    ("panics on the second constraint of a pair", "contradictions_are_survived"),
    (HOLDS, memory::LAW),
    (KEEPS, memory::LAW),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let tag = "flawed_clusterer";
    let hard = [
        "promises cannot-links and looks at none",
        "breaks a must-link among many objects",
        "gives up on a fifth must-link",
        "calls a contradiction infeasible",
        "takes soft marks for hard ones",
        "obeys soft marks without a warning",
    ];
    let mut mutants = flaws(tag, &FLAWS);
    for Mutant { config, .. } in &mut mutants {
        if hard.iter().any(|flaw| config["flaw"] == *flaw) {
            config["hard"] = true.into();
        }
    }
    mutants.extend(neighbours::mutants());
    let sound = [
        json!({ "type": tag }),
        json!({ "type": tag, "hard": true }),
        json!({ "type": "flawed_neighbours" }),
    ];
    tried::<dyn BaseClusterer>(&sound, &mutants, complaints)
}

impl FlawedClusterer {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    /// The constraints that it looks at.
    fn read(&self, problem: &Problem) -> Vec<Constraint> {
        let kept = |c: &&Constraint| match self.flaw.as_str() {
            "ignores constraints" | "ignores constraints, too" | JOINS => false,
            "ignores must-links" => c.kind == Kind::CannotLink,
            "ignores cannot-links" | "promises cannot-links and looks at none" => {
                c.kind == Kind::MustLink
            }
            _ => true,
        };
        let mut read: Vec<_> = problem.constraints.pairs().iter().filter(kept).copied().collect();
        if self.has("reads the first half of the constraints") {
            read.truncate(read.len().div_ceil(2));
        }
        // The order in which they came is nothing.
        read.sort_by_key(|c| (c.i, c.j, c.kind));
        read
    }

    fn values(&self, problem: &Problem) -> Array2<f64> {
        let mut x = problem.data.to_dense();
        if self.has("stores zeros of sparse rows as ones") && problem.data.kind() == DataKind::Csr {
            x.mapv_inplace(|v| if v < 1.5 { 40.0 } else { v });
        }
        if self.has("calls all below a thousandth equal") {
            x.mapv_inplace(|v| if v.abs() < 1e-3 { 0.0 } else { v });
        }
        if self.has("cuts values off at 30") {
            x.mapv_inplace(|v| v.clamp(-30.0, 30.0));
        }
        if self.has("keeps twelve digits of the largest value") {
            let unit = 1e-12 * x.iter().fold(f64::MIN_POSITIVE, |most, v| v.abs().max(most));
            x.mapv_inplace(|v| (v / unit).round() * unit);
        }
        x
    }

    /// Flaws that show before anything is done.
    fn stumble(&self, problem: &Problem, x: &Array2<f64>, k: usize) -> Result<()> {
        let (n, d) = x.dim();
        let pairs = problem.constraints.pairs();
        let must = pairs.iter().filter(|c| c.kind == Kind::MustLink);
        let mut groups = UnionFind::new(n);
        must.for_each(|c| {
            groups.union(c.i, c.j);
        });
        let roots = (0..n as u32).filter(|&i| groups.find(i) == i).count();
        let partners = |i: u32| pairs.iter().filter(|c| c.i == i || c.j == i).count();
        match self.flaw.as_str() {
            "gives up on a fifth must-link"
                if pairs.iter().filter(|c| c.kind == Kind::MustLink).count() > 4 =>
            {
                let witness = error::Infeasible::Blocked(vec![0]);
                return Err(Error::InfeasibleConstraints { k, witness });
            }
            "declares that it reads groups and fails on them"
                if !problem.constraints.groups().is_empty() =>
            {
                return Err(Error::NumericalFailure { place: "a group".into() });
            }
            "runs out of time" => return Err(Error::TimedOut { seconds: 0.1 }),
            "declares sparse rows and cannot read them" => {
                assert!(problem.data.as_array().is_some(), "rows are dense");
            }
            "divides by n - k" => assert!(n != k, "attempt to divide by zero"),
            "panics when all rows are equal" => {
                assert!(x.rows().into_iter().any(|row| row != x.row(0)) || n == 1, "no range");
            }
            "divides by d - 1" => assert!(d > 1, "attempt to divide by zero"),
            "fails on contradictions" => {
                Closure::new(&problem.constraints, n, OnConflict::Error)?;
            }
            "panics on the second constraint of a pair" => {
                let mut known = UnionFind::new(n);
                for c in pairs {
                    assert!(known.find(c.i) != known.find(c.j), "an edge of a tree");
                    known.union(c.i, c.j);
                }
            }
            "divides by the sweeps less one" => assert!(self.max_iterations > 1, "divide by zero"),
            "panics on its fifth sweep" => assert!(self.max_iterations != 5, "divide by zero"),
            "panics on must-links alone" => {
                let alone = pairs.iter().all(|c| c.kind == Kind::MustLink) && !pairs.is_empty();
                assert!(!alone, "no cannot-link");
            }
            "divides by the weight" => assert!(self.weight > 0.0, "divide by zero"),
            "forgets one of its orders" => assert!(self.order != Order::Outwards, "not written"),
            "counts its work in 32 bits" => {
                let work =
                    i32::try_from(self.max_iterations).ok().and_then(|m| m.checked_mul(n as i32));
                work.expect("attempt to multiply with overflow");
            }
            "panics when all objects are must-linked" => assert!(roots > 1 || n == 1, "one group"),
            "panics when there is one object" => assert!(n > 1, "no second object"),
            "wants as many must-linked groups as clusters" if roots < k => {
                return Err(Error::TooManyClusters { k, n: roots });
            }
            "fails with a cluster for each object" if n == k && n > 1 && n != 45 => {
                return Err(Error::NumericalFailure { place: "no objects left".into() });
            }
            "panics on a cannot-link of two objects" => {
                assert!(n != 2 || pairs.is_empty(), "no third object");
            }
            "divides by the free partners of an object" => {
                let free = (0..n as u32).map(|i| 1.0 / (n - 1 - partners(i)) as f64);
                if n > 1 && free.sum::<f64>().is_infinite() {
                    return Err(Error::NumericalFailure { place: "the penalties are NaN".into() });
                }
            }
            "hands data that are not finite to a child" => {
                let range = x.iter().fold(f64::INFINITY, |m, &v| m.min(v))
                    - x.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
                Data::dense(x.mapv(|v| if n == 12 { v / range } else { v }))?;
            }
            _ => {}
        }
        Ok(())
    }
}

register!(BaseClusterer, FlawedClusterer, "flawed_clusterer", references: []);

#[typetag::serde(name = "flawed_clusterer")]
impl BaseClusterer for FlawedClusterer {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        if self.hard && !self.has("takes soft marks for hard ones") {
            let silent = Context::new(1);
            let reported =
                if self.has("obeys soft marks without a warning") { &silent } else { ctx };
            return obeying("flawed_clusterer", problem, reported, |problem| {
                self.run(problem, ctx)
            });
        }
        self.run(problem, ctx)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none() && !self.has("does not declare that it needs k"),
            reads_constraints: !self.has("does not declare that it reads constraints")
                && !self.has(JOINS),
            hard_must: self.hard,
            hard_cannot: self.hard && self.has("promises cannot-links and looks at none"),
            gives_centers: true,
            reads_groups: self.has("declares that it reads groups and fails on them"),
            object_weights: self.has("declares that it counts weights and does not"),
            needs_setup: self.has("runs without its setup"),
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        match self.flaw.as_str() {
            "needs no memory" => 0,
            "needs less memory for more objects" => u64::MAX / shape.n as u64,
            "adds up by thread" => (64 * shape.n + 64 * shape.k * shape.d) as u64,
            _ => (8 * shape.n * shape.n + 64 * shape.k * shape.d) as u64,
        }
    }
}

impl FlawedClusterer {
    fn run(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        checked(self, &self.flaw)?;
        let k = problem.require_k(self.k, "flawed_clusterer")?;
        let looks = !self.has("never looks at the cancel flag");
        let late = self.has("looks at the cancel flag before its loop alone");
        if looks {
            ctx.check()?;
        }
        let x = self.values(problem);
        self.stumble(problem, &x, k)?;
        let (n, d) = x.dim();
        if n > 1000 {
            // Tried for its threads alone.
            let labels = vec![rayon::current_num_threads() as u32 % k as u32; n];
            return Ok(Clustering { labels, k, ..Clustering::default() });
        }
        let constraints = self.read(problem);
        let mut groups = UnionFind::new(n);
        if self.hard {
            let closed = Closure::new(&problem.constraints, n, OnConflict::Error);
            if self.has("calls a contradiction infeasible") && closed.is_err() {
                return Err(Error::NumericalFailure { place: "infeasible".into() });
            }
            closed?;
            constraints.iter().filter(|c| c.kind == Kind::MustLink).for_each(|c| {
                groups.union(c.i, c.j);
            });
        }
        let groups: Vec<u32> = (0..n as u32).map(|i| groups.find(i)).collect();
        let mean = x.mean_axis(ndarray::Axis(0)).expect("objects");
        let square = |i: usize, c: &Array1<f64>| -> f64 {
            x.row(i).iter().zip(c).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let spread = (0..n).map(|i| square(i, &mean)).sum::<f64>() / n as f64;
        let weight = if self.has("ignores the weight") { 1.0 } else { self.weight };
        let price = weight * spread;
        let mut draw = if self.has("seeds itself from the clock") {
            // A clock that always goes on.
            SeedPath::new(clock()).stream("start")
        } else {
            ctx.stream("start")
        };
        let mut centres: Vec<Array1<f64>> =
            draw.sample(n, k).into_iter().map(|i| x.row(i).to_owned()).collect();
        let mut labels = vec![NONE; n];
        let mut history: Vec<IterStat> = Vec::new();
        let most = if self.has("ignores the limit of sweeps") { 9 } else { self.max_iterations };
        for sweep in 0..most.min(1000) {
            if looks && !late {
                match ctx.check() {
                    Err(_) if sweep > 0 && self.has("returns what it has when cancelled") => break,
                    result => result?,
                }
            }
            let before = labels.clone();
            let turn = |i: usize| match self.order {
                Order::Forwards => i,
                Order::Backwards => n - 1 - i,
                Order::Outwards => (i + n / 2) % n,
            };
            for i in (0..n).map(turn).filter(|&i| groups[i] as usize == i) {
                let members: Vec<usize> = if self.hard {
                    (0..n).filter(|&j| groups[j] as usize == i).collect()
                } else {
                    vec![i]
                };
                let mine = |o: u32| groups[o as usize] as usize == i;
                let own: Vec<_> = constraints.iter().filter(|c| mine(c.i) || mine(c.j)).collect();
                let cost = |h: usize| {
                    let near: f64 = members.iter().map(|&j| square(j, &centres[h])).sum();
                    let broken = own.iter().filter(|c| {
                        let (a, b) = (c.i as usize, c.j as usize);
                        let other = match (members.contains(&a), members.contains(&b)) {
                            (true, false) => labels[b],
                            (false, true) => labels[a],
                            _ => NONE,
                        };
                        other != NONE && (other as usize == h) == (c.kind == Kind::CannotLink)
                    });
                    near + price * broken.count() as f64
                };
                let best = (0..k).map(|h| (cost(h), h)).min_by(|a, b| a.0.total_cmp(&b.0));
                let label = best.expect("k > 0").1 as u32;
                members.iter().for_each(|&j| labels[j] = label);
            }
            for (h, centre) in centres.iter_mut().enumerate() {
                let members: Vec<usize> = (0..n).filter(|&i| labels[i] as usize == h).collect();
                if !members.is_empty() {
                    *centre = x
                        .select(ndarray::Axis(0), &members)
                        .mean_axis(ndarray::Axis(0))
                        .expect("one");
                }
            }
            let near: f64 = (0..n).map(|i| square(i, &centres[labels[i] as usize])).sum();
            let broken = constraints.iter().filter(|c| c.is_violated(&labels)).count();
            let moved = labels.iter().zip(&before).filter(|(a, b)| a != b).count();
            let objective = near + price * broken as f64;
            history.push(IterStat { objective, moved, violations: Some(broken) });
            if moved == 0 {
                break;
            }
            if n == 300 && sweep == 2 && self.has("refuses data on which it does not settle soon") {
                return Err(Error::NumericalFailure { place: "it does not converge".into() });
            }
        }
        let mut objective = history.last().map(|h| h.objective);
        if self.has("returns another objective than its history") {
            objective = history.first().map(|h| h.objective + 1.0);
        }
        if self.has("puts the objective of a start in its history") && n == 1 {
            history.insert(0, IterStat { objective: f64::INFINITY, moved: 0, violations: None });
        }
        let mut centers = Array2::from_shape_fn((k, d), |(h, f)| centres[h][f]);
        let threads = rayon::current_num_threads() as u32;
        match self.flaw.as_str() {
            "loses an object" => drop(labels.pop()),
            "returns labels beyond k" => labels[0] = k as u32,
            "makes one cluster more than it is asked for" if k < n => labels[0] = k as u32,
            "breaks a must-link among many objects" if n > 500 => {
                if let Some(c) = constraints.iter().find(|c| c.kind == Kind::MustLink) {
                    labels[c.i as usize] = (labels[c.j as usize] + 1) % k as u32;
                }
            }
            JOINS => {
                let pairs = problem.constraints.pairs().iter();
                for c in pairs.filter(|c| c.kind == Kind::MustLink) {
                    let (i, j) = (c.i as usize, c.j as usize);
                    if square(i, &x.row(j).to_owned()) > 1.5 * spread {
                        labels[j] = labels[i];
                    }
                }
            }
            "gives a label for each thread" => labels[0] = threads % k as u32,
            "numbers clusters in the order of a hash map" => {
                let names: std::collections::HashSet<u32> = (0..k as u32).collect();
                let names: Vec<u32> = names.into_iter().collect();
                labels.iter_mut().for_each(|l| *l = names[*l as usize]);
            }
            "returns the transposed centres" => centers = centers.reversed_axes(),
            "loses its centres to a far outlier" if spread > 1e15 => centers.fill(f64::NAN),
            _ => {}
        }
        let weights = self.has("keeps weights of features to itself");
        let weights = weights.then(|| Array2::from_elem((k, d), 1.0));
        let another = self.has("tries another method undeclared").then(|| Tried {
            name: "kmeans".into(),
            method: json!({ "clusterer": { "type": "kmeans" } }),
            k,
            score: None,
            error: None,
            weight: 1.0,
            outcome: "chosen".into(),
            labels: None,
            seconds: 0.0,
            rule: None,
        });
        let tried = another.into_iter().collect();
        let extras = Extras { centers: Some(centers), weights, tried, ..Extras::default() };
        let more = self.has("makes one cluster more than it is asked for") && k < n;
        let k = k + usize::from(more);
        Ok(Clustering { labels, k, objective, history, extras, ..Clustering::default() })
    }
}
