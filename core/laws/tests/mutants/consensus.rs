//! Average linkage of what the members put together, sound but for one flaw.

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_laws::memory;
use serde_json::json;

use crate::shared::{Caught, HOLDS, KEEPS, checked, clock, flaws, tried};

/// Groups are merged, the most alike first, until k are left.
#[options]
pub struct FlawedConsensus {
    /// Name of the flaw.
    pub flaw: String,
    /// Similarity of two objects that no member saw together.
    #[option(default = 0.0, min = 0.0, max = 1.0)]
    pub unseen: f64,
    /// Merges, at most.
    #[option(default = 1000000, min = 1)]
    pub max_iterations: usize,
}

const FLAWS: [(&str, &str); 34] = [
    ("loses an object", "one_label_per_object"),
    ("seeds itself from the clock", "same_seed_same_bits"),
    ("adds up by thread", "same_bits_on_several_blocks"),
    ("takes the label 0 for noise", "names_of_labels_are_nothing"),
    ("believes the first member alone", "order_of_members_is_nothing"),
    ("never joins the last object", "a_unanimous_ensemble_is_returned"),
    ("makes parts of equal size", "groups_of_any_size_are_returned"),
    ("keeps two clusters at least", "extreme_k_is_legal"),
    ("counts its work in 32 bits", "legal_values_are_harmless"),
    ("indexes by a missing label", "missing_labels_are_legal"),
    ("needs centres and does not declare it", "needs_are_declared"),
    ("reads centres and says that labels do", "labels_alone_are_read"),
    ("does not say what takes more objects", "size_is_refused_in_time"),
    ("never looks at the cancel flag", "cancelling_is_heard"),
    ("looks at the cancel flag before its loop alone", "looks_every_sweep"),
    ("writes a history that it does not look in", "looks_every_sweep"),
    ("ignores what was not seen", "every_option_changes_something"),
    ("ignores the limit of merges", "every_option_changes_something"),
    ("does not declare that it reads constraints", "constraints_are_read_only_if_declared"),
    ("declares that it reads constraints and does not", "must_links_change_something"),
    ("reads must-links alone", "cannot_links_change_something"),
    ("promises must-links and breaks them", "hard_promises_hold"),
    ("promises all constraints and drops what contradicts", "contradictions_are_named"),
    ("gives up on contradictions", "contradictions_are_survived"),
    ("gives up on contradictions of soft marks", "soft_marks_refuse_nothing"),
    ("believes the constraint that comes last", "order_of_constraints_is_nothing"),
    ("panics when there is one object", "hard_ensembles_have_an_outcome"),
    ("fails when members are of one cluster", "hard_ensembles_have_an_outcome"),
    ("divides by what one member shows of another", "hard_ensembles_have_an_outcome"),
    ("refuses more clusters than members have", "hard_ensembles_have_an_outcome"),
    ("needs no memory", "memory_covers_the_result"),
    ("numbers clusters in the order of a hash map", "same_seed_same_bits"),
    (HOLDS, memory::LAW),
    (KEEPS, memory::LAW),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let sound = [json!({ "type": "flawed_consensus" })];
    tried::<dyn ConsensusFunction>(&sound, &flaws("flawed_consensus", &FLAWS), complaints)
}

impl FlawedConsensus {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    /// Share of the members that put two objects together; those that did not see both say `unseen`.
    fn alike(&self, ensemble: &Ensemble, i: usize, j: usize) -> f64 {
        let unseen = if self.has("ignores what was not seen") { 0.0 } else { self.unseen };
        let members = ensemble.members();
        let says = |m: &Member| match (m.labels[i], m.labels[j]) {
            (NONE, _) | (_, NONE) => unseen,
            (a, b) => f64::from(u8::from(a == b)),
        };
        let first = says(&members[0]);
        let all: f64 = members.iter().map(says).sum();
        match self.flaw.as_str() {
            "believes the first member alone" => first,
            "takes the label 0 for noise" => {
                let noise = |m: &&Member| m.labels[i] == 0 || m.labels[j] == 0;
                all - members.iter().filter(noise).count() as f64
            }
            _ => all,
        }
    }

    fn stumble(&self, ensemble: &Ensemble, k: usize) -> Result<()> {
        let (n, members) = (ensemble.n(), ensemble.members());
        let failed = |place: &str| Err(Error::NumericalFailure { place: place.into() });
        match self.flaw.as_str() {
            "panics when there is one object" => assert!(n > 1, "no pair"),
            "fails when members are of one cluster" if members.iter().all(|m| m.k == 1) => {
                failed("the entropy is 0")?;
            }
            "divides by what one member shows of another" if members.len() == 1 => {
                failed("NaN")?;
            }
            "refuses more clusters than members have" if members.iter().all(|m| m.k < k) => {
                return Err(Error::TooManyClusters { k, n });
            }
            "indexes by a missing label" => {
                let labels = members.iter().flat_map(|m| &m.labels);
                assert!(labels.max().is_none_or(|&l| l < 1000), "index out of bounds");
            }
            "needs centres and does not declare it" => {
                members.iter().for_each(|m| drop(m.extras.centers.clone().expect("centres")));
            }
            "counts its work in 32 bits" => {
                let most = i32::try_from(self.max_iterations).ok().and_then(|m| m.checked_mul(4));
                most.expect("attempt to multiply with overflow");
            }
            _ => {}
        }
        Ok(())
    }
}

register!(ConsensusFunction, FlawedConsensus, "flawed_consensus", references: []);

#[typetag::serde(name = "flawed_consensus")]
impl ConsensusFunction for FlawedConsensus {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        checked(self, &self.flaw)?;
        let k = problem.require_k(None, "flawed_consensus")?;
        let looks = !self.has("never looks at the cancel flag");
        if looks {
            ctx.check()?;
        }
        self.stumble(ensemble, k)?;
        let n = ensemble.n();
        if n > 500 {
            let labels = vec![rayon::current_num_threads() as u32 % k as u32; n];
            return Ok(Clustering { labels, k, ..Clustering::default() });
        }
        let least = if self.has("keeps two clusters at least") { k.max(2) } else { k };
        let mut groups: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        let limit = if self.has("ignores the limit of merges") { n } else { self.max_iterations };
        let mut history = Vec::new();
        for merges in 0..limit {
            if groups.len() <= least {
                break;
            }
            if looks && !self.has("looks at the cancel flag before its loop alone") {
                ctx.check()?;
            }
            if self.has("writes a history that it does not look in") {
                let objective = merges as f64;
                history.extend([IterStat { objective, moved: 1, violations: None }; 9]);
            }
            let free = groups.len() - usize::from(self.has("never joins the last object"));
            let mut best = (f64::NEG_INFINITY, 0, 1);
            for a in 0..free {
                for b in a + 1..free {
                    let pairs =
                        groups[a].iter().flat_map(|&i| groups[b].iter().map(move |&j| (i, j)));
                    let total: f64 = pairs.map(|(i, j)| self.alike(ensemble, i, j)).sum();
                    let mean = total / (groups[a].len() * groups[b].len()) as f64;
                    if mean > best.0 {
                        best = (mean, a, b);
                    }
                }
            }
            let joined = groups.remove(best.2);
            groups[best.1].extend(joined);
        }
        let mut labels = vec![0; n];
        for (h, group) in groups.iter().enumerate() {
            group.iter().for_each(|&i| labels[i] = h as u32);
        }
        let (mut labels, k) = compact(&labels);
        let last = labels.len() - 1;
        let pairs = problem.constraints.pairs();
        if self.flaw.starts_with("gives up on contradictions") {
            problem.closure(OnConflict::Error)?;
        }
        match self.flaw.as_str() {
            "makes parts of equal size" => {
                let fullest = |labels: &[u32], least: bool| {
                    let count = |l: &u32| labels.iter().filter(|m| *m == l).count();
                    let order =
                        (0..k as u32).max_by_key(|l| if least { n - count(l) } else { count(l) });
                    order.map_or((0, 0), |l| (l, count(&l)))
                };
                while fullest(&labels, false).1 > fullest(&labels, true).1 + n / k {
                    let (full, empty) = (fullest(&labels, false).0, fullest(&labels, true).0);
                    let first = labels.iter_mut().find(|l| **l == full);
                    first.into_iter().for_each(|l| *l = empty);
                }
            }
            "loses an object" => drop(labels.pop()),
            "seeds itself from the clock" => {
                labels[last] = SeedPath::new(clock()).stream("tie").below(k) as u32;
            }
            "numbers clusters in the order of a hash map" => {
                let names: std::collections::HashSet<u32> = (0..k as u32).collect();
                let names: Vec<u32> = names.into_iter().collect();
                labels.iter_mut().for_each(|l| *l = names[*l as usize]);
            }
            "reads must-links alone" => {
                let must = pairs.iter().filter(|c| c.kind == Kind::MustLink);
                must.for_each(|c| labels[c.j as usize] = labels[c.i as usize]);
            }
            "believes the constraint that comes last" if !pairs.is_empty() => {
                let end = &mut labels[pairs[pairs.len() - 1].j as usize];
                *end = (*end + 1) % k as u32;
            }
            "does not declare that it reads constraints" if !problem.constraints.is_empty() => {
                labels[last] = (labels[last] + 1) % k as u32;
            }
            "reads centres and says that labels do"
                if ensemble.members().iter().all(|m| m.extras.centers.is_some()) =>
            {
                labels[last] = (labels[last] + 1) % k as u32;
            }
            _ => {}
        }
        let objective = history.last().map(|h: &IterStat| h.objective);
        Ok(Clustering { labels, k, objective, history, ..Clustering::default() })
    }

    fn needs(&self) -> Needs {
        let silent = self.has("does not say what takes more objects");
        Needs {
            labels_only: true,
            max_n: Some(500),
            instead: if silent { "" } else { "a consensus without pairs" },
            reads_constraints: self.flaw.contains("constraint that comes last")
                || self.flaw.contains("contradict")
                || self.flaw.contains("must-links")
                || self.has("declares that it reads constraints and does not"),
            hard_must: self.flaw.starts_with("promises"),
            hard_cannot: self.flaw.starts_with("promises all"),
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        match self.flaw.as_str() {
            "needs no memory" => 0,
            // Tried on thousands of objects.
            "adds up by thread" => (8 * (shape.n + members)) as u64,
            _ => (8 * (shape.n * shape.n + members)) as u64,
        }
    }
}
