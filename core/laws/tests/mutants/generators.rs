//! Partitions by the nearest of k random objects, sound but for one flaw.

use mustlink_core::prelude::*;
use mustlink_laws::memory;
use serde_json::json;

use crate::shared::{Caught, HOLDS, KEEPS, checked, clock, flaws, tried};

/// Each member is the partition by the nearest of k random objects.
#[options]
pub struct FlawedGenerator {
    /// Name of the flaw.
    pub flaw: String,
    /// Members.
    #[option(default = 6, min = 1)]
    pub members: usize,
    /// Share of the features that a member sees.
    #[option(default = 1.0, above = 0.0, max = 1.0)]
    pub share: f64,
}

const FLAWS: [(&str, &str); 20] = [
    ("leaves gaps in the names of clusters", "members_are_compact"),
    ("does not say how members were made", "members_are_compact"),
    ("seeds every member alike", "members_are_not_all_the_same"),
    ("seeds itself from the clock", "same_seed_same_bits"),
    ("adds up by thread", "same_bits_on_several_blocks"),
    ("seeds members by their number", "a_shorter_ensemble_begins_a_longer_one"),
    ("does not declare that it reads constraints", "constraints_are_read_only_if_declared"),
    ("never looks at the cancel flag", "cancelling_is_heard"),
    ("counts its work in 32 bits", "legal_values_are_harmless"),
    ("looks at the cancel flag before its loop alone", "looks_at_every_member"),
    ("ignores the share", "every_option_changes_something"),
    ("declares that it reads constraints and does not", "constraints_change_something"),
    ("panics when there is one object", "hard_problems_have_an_outcome"),
    ("fails with a cluster for each object", "hard_problems_have_an_outcome"),
    ("fails on a far outlier", "hard_problems_have_an_outcome"),
    ("hands data that are not finite to a child", "hard_problems_have_an_outcome"),
    ("needs no memory", "memory_covers_the_result"),
    ("forgets the members in its memory", "memory_covers_the_result"),
    (HOLDS, memory::LAW),
    (KEEPS, memory::LAW),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let sound = [json!({ "type": "flawed_generator" })];
    tried::<dyn EnsembleGenerator>(&sound, &flaws("flawed_generator", &FLAWS), complaints)
}

impl FlawedGenerator {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    fn stumble(&self, problem: &Problem, k: usize) -> Result<()> {
        let n = problem.n();
        let far = problem.data.norm2(0) > 1e15;
        let failed = |place: &str| Err(Error::NumericalFailure { place: place.into() });
        match self.flaw.as_str() {
            "panics when there is one object" => {
                assert!(n > 1, "no second object");
                Ok(())
            }
            "fails with a cluster for each object" if n == k => failed("no objects left"),
            "fails on a far outlier" if far => failed("the distances are NaN"),
            "hands data that are not finite to a child" if far => {
                Data::dense(problem.data.to_dense() * f64::INFINITY).map(drop)
            }
            "counts its work in 32 bits" => {
                let work = i32::try_from(self.members).ok().and_then(|m| m.checked_mul(n as i32));
                work.map(drop).ok_or(()).expect("attempt to multiply with overflow");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

register!(EnsembleGenerator, FlawedGenerator, "flawed_generator", references: []);

#[typetag::serde(name = "flawed_generator")]
impl EnsembleGenerator for FlawedGenerator {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        checked(self, &self.flaw)?;
        let k = problem.require_k(None, "flawed_generator")?;
        let looks = !self.has("never looks at the cancel flag");
        if looks {
            ctx.check()?;
        }
        self.stumble(problem, k)?;
        let (n, d) = (problem.n(), problem.d());
        let share = if self.has("ignores the share") { 1.0 } else { self.share };
        let seen = ((share * d as f64).ceil() as usize).clamp(1, d);
        let x = problem.data.to_dense();
        let mut members = Vec::new();
        // Whoever does not look at the flag must end by itself.
        for t in 0..self.members.min(3000) {
            if looks && !self.has("looks at the cancel flag before its loop alone") {
                ctx.check()?;
            }
            let mut draw = match self.flaw.as_str() {
                "seeds itself from the clock" => SeedPath::new(clock()).stream("pivots"),
                "seeds every member alike" => ctx.stream("pivots"),
                "seeds members by their number" => ctx.index(self.members - t).stream("pivots"),
                "does not declare that it reads constraints" => {
                    ctx.index(t + problem.constraints.len()).stream("pivots")
                }
                "adds up by thread" if n > 1000 => {
                    ctx.index(t + 100 * rayon::current_num_threads()).stream("pivots")
                }
                _ => ctx.index(t).stream("pivots"),
            };
            let features = draw.sample(d, seen);
            let pivots = draw.sample(n, k);
            let distance = |i: usize, j: usize| -> f64 {
                features.iter().map(|&f| (x[[i, f]] - x[[j, f]]).powi(2)).sum()
            };
            let nearest = |i: usize| {
                let to = pivots.iter().enumerate().map(|(h, &p)| (distance(i, p), h as u32));
                to.min_by(|a, b| a.0.total_cmp(&b.0)).expect("k > 0").1
            };
            let labels: Vec<u32> = (0..n).map(nearest).collect();
            let mut member = Member::from_labels(&labels);
            if self.has("leaves gaps in the names of clusters") {
                member.labels.iter_mut().for_each(|l| *l *= 2);
            }
            if !self.has("does not say how members were made") {
                member.provenance = "nearest pivot".into();
            }
            members.push(member);
        }
        Ensemble::new(n, members)
    }

    fn properties(&self) -> GeneratorProperties {
        let reads_constraints = self.has("declares that it reads constraints and does not");
        GeneratorProperties { reads_constraints, ..GeneratorProperties::default() }
    }

    fn memory(&self, shape: &Shape, _: bool) -> u64 {
        let members = match self.flaw.as_str() {
            "needs no memory" => return 0,
            "forgets the members in its memory" => 1,
            _ => self.members,
        };
        (4 * shape.n * members + 16 * shape.k) as u64
    }
}
