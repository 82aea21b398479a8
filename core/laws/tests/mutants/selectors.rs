//! All pairs in random order but what is known, sound but for one flaw.

use mustlink_core::clustering::canonical;
use mustlink_core::knowledge::{Knowledge, LAST_NEIGHBOURHOOD};
use mustlink_core::prelude::*;
use mustlink_laws::memory;
use serde_json::json;

use crate::shared::{Caught, HOLDS, KEEPS, checked, clock, flaws, tried};

/// Pairs in random order; what earlier replies entail is passed over.
#[options]
pub struct FlawedSelector {
    /// Name of the flaw.
    pub flaw: String,
    /// Times that the pairs are shuffled.
    #[option(default = 1, min = 1)]
    pub rounds: usize,
    /// Share of the pairs that are asked.
    #[option(default = 1.0, above = 0.0, max = 1.0)]
    pub share: f64,
}

const FLAWS: [(&str, &str); 37] = [
    ("runs without its setup", "missing_setup_is_named"),
    ("runs out of time", "ends_in_time"),
    ("asks about objects that are not eligible", "asks_eligible_pairs_once"),
    ("asks a pair twice", "asks_eligible_pairs_once"),
    ("asks what is entailed", "never_asks_what_is_entailed"),
    ("goes on with each step", "step_is_idempotent"),
    ("seeds itself from the clock", "same_seed_same_questions"),
    ("asks by thread", "same_questions_on_any_threads"),
    ("asks by thread about many", "same_questions_on_several_blocks"),
    ("draws at each answer", "resumes_where_it_stopped"),
    ("draws when it starts", "smaller_budget_is_a_prefix"),
    ("infers at random", "true_replies_give_true_constraints"),
    ("takes k for the number of classes", "concludes_only_if_declared"),
    ("asks a pair again the other way round", "queried_view_grows"),
    ("takes not knowing for a must-link", "dont_know_yields_nothing"),
    ("asks the one eligible object about itself", "too_few_eligible_is_done"),
    ("knows before it asks", "budget_zero_is_empty"),
    ("takes any reply", "wrong_id_is_an_error"),
    ("has no clustering after ten replies", "clustering_is_always_valid"),
    ("clusters as if without answers", "clustering_keeps_answers"),
    ("cannot read sparse rows", "takes_sparse_rows"),
    ("counts its work in 32 bits", "legal_values_are_harmless"),
    ("never looks at the cancel flag", "looks_every_sweep"),
    ("ignores the share", "every_option_changes_something"),
    ("takes distances for features", "other_kinds_are_refused"),
    ("panics on affinities", "other_kinds_are_refused"),
    ("panics when there is one object", "hard_problems_are_asked_about"),
    ("panics when all objects are must-linked", "hard_problems_are_asked_about"),
    ("divides by the free partners of an object", "hard_problems_are_asked_about"),
    ("fails on a far outlier", "hard_problems_are_asked_about"),
    ("fails on equal rows", "hard_problems_are_asked_about"),
    ("hands data that are not finite to a child", "hard_problems_are_asked_about"),
    ("fails with a cluster for each object", "hard_problems_are_asked_about"),
    ("needs no memory", "memory_covers_the_objects"),
    ("asks without end", "dont_know_yields_nothing"),
    (HOLDS, memory::LAW),
    (KEEPS, memory::LAW),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let sound = [json!({ "type": "flawed_selector" })];
    tried::<dyn QuerySelector>(&sound, &flaws("flawed_selector", &FLAWS), complaints)
}

impl FlawedSelector {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    fn stumble(&self, problem: &Problem) -> Result<()> {
        let n = problem.n();
        let failed = |place: &str| Err(Error::NumericalFailure { place: place.into() });
        let pairs = problem.constraints.pairs();
        let kind = problem.data.kind();
        let far = kind.is_rows() && (0..n).any(|i| problem.data.norm2(i) > 1e15);
        let busy = (0..n as u32).any(|i| pairs.iter().filter(|c| c.i == i).count() == n - 1);
        let equal =
            || (1..n).all(|i| problem.data.to_dense().row(i) == problem.data.to_dense().row(0));
        match self.flaw.as_str() {
            "runs out of time" => return Err(Error::TimedOut { seconds: 0.1 }),
            "takes distances for features" if kind == DataKind::Distances => {
                return failed("a square root of a number below 0");
            }
            "panics on affinities" => assert!(kind != DataKind::Affinity, "no features"),
            "cannot read sparse rows" => assert!(kind != DataKind::Csr, "rows are dense"),
            "panics when there is one object" => assert!(n > 1, "no pair"),
            "panics when all objects are must-linked" => {
                assert!(
                    pairs.len() + 1 != n || pairs[0].kind != Kind::MustLink || n < 3,
                    "one group"
                );
            }
            "divides by the free partners of an object" if busy && n > 1 => return failed("NaN"),
            "fails on a far outlier" if far => return failed("NaN"),
            "fails on equal rows" if kind.is_rows() && n > 1 && equal() => {
                return failed("no distance");
            }
            "hands data that are not finite to a child" if far => {
                Data::dense(problem.data.to_dense() * f64::INFINITY)?;
            }
            "fails with a cluster for each object" if problem.k == Some(n) && n > 2 => {
                return failed("nothing to ask");
            }
            "counts its work in 32 bits" => {
                let work = i32::try_from(self.rounds).ok().and_then(|m| m.checked_mul(4));
                work.expect("attempt to multiply with overflow");
            }
            _ => {}
        }
        Ok(())
    }
}

register!(QuerySelector, FlawedSelector, "flawed_selector", references: []);

#[typetag::serde(name = "flawed_selector")]
impl QuerySelector for FlawedSelector {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        checked(self, &self.flaw)?;
        self.stumble(problem)?;
        let n = problem.n();
        let objects = if self.has("asks about objects that are not eligible") {
            (0..n as u32).collect()
        } else {
            problem.eligible_objects()
        };
        let mut pairs = Vec::new();
        for (at, &i) in objects.iter().enumerate() {
            pairs.extend(objects[at + 1..].iter().map(|&j| (i, j)));
            // Of very many objects the first few thousand pairs will do.
            if pairs.len() > 20_000 {
                break;
            }
        }
        let threads = rayon::current_num_threads();
        let mut draw = match self.flaw.as_str() {
            "seeds itself from the clock" | "draws when it starts" => {
                SeedPath::new(clock()).stream("pairs")
            }
            "asks by thread" => ctx.index(threads).stream("pairs"),
            "asks by thread about many" if n > 1000 => ctx.index(threads).stream("pairs"),
            _ => ctx.stream("pairs"),
        };
        let rounds = self.rounds.min(if self.rounds > 1000 { 1000 } else { self.rounds });
        for _ in 0..rounds {
            if !self.has("never looks at the cancel flag") {
                ctx.check()?;
            }
            draw.shuffle(&mut pairs);
        }
        let share = if self.has("ignores the share") { 1.0 } else { self.share };
        pairs.truncate((share * pairs.len() as f64).ceil() as usize);
        match self.flaw.as_str() {
            "asks a pair twice" => pairs.truncate(1),
            "asks the one eligible object about itself" if pairs.is_empty() => {
                pairs.extend(objects.first().map(|&i| (i, i)));
            }
            _ => {}
        }
        let twice =
            self.has("asks a pair twice") || self.has("asks a pair again the other way round");
        if twice {
            let again: Vec<_> = pairs.iter().map(|&(i, j)| (j, i)).collect();
            pairs.extend(again.into_iter().take(1));
            pairs.rotate_right(1);
        }
        let endless = self.has("asks without end");
        if endless && let Some(&pair) = pairs.first() {
            pairs.extend(std::iter::repeat_n(pair, 1000));
        }
        let entails = !twice && !endless && !self.has("asks what is entailed");
        let mut asking = Asking {
            flaw: self.flaw.clone(),
            entails,
            known: Knowledge::new(n, &problem.constraints),
            n,
            pairs,
            at: 0,
            id: 0,
            events: Vec::new(),
            two: problem.k == Some(2) && self.has("takes k for the number of classes"),
            apart: Vec::new(),
        };
        if self.has("knows before it asks") {
            asking.infer();
        }
        asking.advance();
        Ok(Box::new(asking))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            skips_entailed: true,
            accepts_sparse: true,
            self_clustering: true,
            needs_setup: self.has("runs without its setup"),
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let pairs = 24 * (shape.n * shape.n).min(21_000);
        if self.has("needs no memory") { 0 } else { (32 * shape.n + pairs) as u64 }
    }
}

struct Asking {
    flaw: String,
    entails: bool,
    known: Knowledge,
    n: usize,
    pairs: Vec<(u32, u32)>,
    at: usize,
    id: QueryId,
    events: Vec<Event>,
    /// Assumes that objects apart from the same object are together.
    two: bool,
    apart: Vec<(u32, u32)>,
}

impl Asking {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    fn infer(&mut self) {
        if self.n > 5 {
            let rule = LAST_NEIGHBOURHOOD.to_string();
            self.events.push(Event::Inferred { i: 0, j: 1, kind: Kind::MustLink, rule });
        }
    }

    fn conclude(&mut self, i: u32, j: u32) {
        let met = self.apart.iter().find(|(a, b)| *a == i || *b == i);
        let far = met.map(|&(a, b)| if a == i { b } else { a });
        if let Some(far) = far.filter(|&far| far != j) {
            let (kind, rule) = (Kind::MustLink, LAST_NEIGHBOURHOOD.to_string());
            self.events.push(Event::Inferred { i: far.min(j), j: far.max(j), kind, rule });
        }
        self.apart.push((i, j));
    }

    fn advance(&mut self) {
        while self.entails
            && let Some(&(i, j)) = self.pairs.get(self.at)
            && i != j
            && self.known.relation(i, j).is_some()
        {
            self.at += 1;
        }
    }
}

impl Inquiry for Asking {
    fn step(&mut self) -> Result<Step> {
        if self.has("goes on with each step") {
            self.at += 1;
        }
        Ok(match self.pairs.get(self.at) {
            Some(&(reference, subject)) => {
                Step::Ask { id: self.id, subject, reference, purpose: "all" }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let open = self.pairs.get(self.at).copied().filter(|_| id == self.id);
        let Some((i, j)) = open.or(self.has("takes any reply").then_some((0, 1))) else {
            return Err(Error::Oracle(format!("query {id} is not the open one")));
        };
        let reply = match (self.flaw.as_str(), reply) {
            ("takes not knowing for a must-link", Reply::DontKnow) => {
                let (kind, rule) = (Kind::MustLink, LAST_NEIGHBOURHOOD.into());
                self.events.push(Event::Inferred { i: i.min(j), j: i.max(j), kind, rule });
                Reply::MustLink
            }
            (_, reply) => reply,
        };
        if i != j {
            self.known.tell(i, j, reply);
        }
        if self.has("infers at random") {
            self.infer();
        }
        if self.two && reply == Reply::CannotLink {
            self.conclude(i, j);
        }
        if self.has("draws at each answer") {
            let rest = &mut self.pairs[self.at + 1..];
            SeedPath::new(clock()).stream("rest").shuffle(rest);
        }
        self.at += 1;
        self.id += 1;
        self.advance();
        Ok(())
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn clustering(&self) -> Option<Clustering> {
        let none = self.id > 10 && self.has("has no clustering after ten replies");
        let mut known = self.known.clone();
        let name = |i: u32| {
            if self.has("clusters as if without answers") { 0 } else { known.component(i) }
        };
        let labels: Vec<u32> = (0..self.n as u32).map(name).collect();
        (!none).then(|| Clustering::from_labels(canonical(&labels)))
    }
}
