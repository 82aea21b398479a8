//! The classes answer, at a price and within a number of queries, sound but for one flaw.

use std::collections::BTreeSet;
use std::sync::Arc;

use mustlink_core::prelude::*;
use serde_json::json;

use crate::shared::{Caught, Mutant, checked, clock, flaws, tried};

/// Answers by class; unknown classes are not known.
#[options]
pub struct FlawedOracle {
    /// Name of the flaw.
    pub flaw: String,
    /// Queries that are answered; absent: all.
    #[option(min = 0, max = 1000000)]
    pub queries: Option<u64>,
    /// Price of an answer.
    #[option(default = 1.0, above = 0.0, max = 100.0)]
    pub price: f64,
    /// Share of the replies that are flipped.
    #[option(min = 0.0, max = 1.0)]
    pub errors: f64,
}

/// Passes on what another oracle answers.
#[options]
pub struct FlawedWrapper {
    /// Name of the flaw.
    pub flaw: String,
    /// Oracle that answers.
    #[option(slot = "flawed_oracle")]
    pub source: Option<Box<dyn Oracle>>,
}

const FLAWS: [(&str, &str); 12] = [
    ("answers by who is named first", "both_orders_one_reply"),
    ("answers by how often it was asked", "reply_depends_on_the_pair_alone"),
    ("errs and calls itself noiseless", "noiseless_replies_are_consistent"),
    ("costs more than it says", "costs_are_announced"),
    ("is less sure than a coin", "costs_are_announced"),
    ("goes on after its budget", "refusal_is_final"),
    ("answers one query too many", "limit_is_kept"),
    ("does not announce its limit", "limit_is_kept"),
    ("forgets what was answered before", "recalled_answers_count"),
    ("opens without classes", "missing_classes_are_said"),
    ("seeds itself from the clock", "same_seed_same_replies"),
    ("ignores the price", "every_option_changes_something"),
];

const WRAPPER_FLAWS: [(&str, &str); 4] = [
    ("takes any source", "wrapping_order_is_kept"),
    ("refuses without naming the order", "wrapping_order_is_kept"),
    ("hides that a source needs classes", "wrappers_pass_facts_on"),
    ("hides its source", "wrappers_pass_facts_on"),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let mut mutants = flaws("flawed_oracle", &FLAWS);
    for Mutant { config, .. } in &mut mutants {
        if config["flaw"] == "errs and calls itself noiseless" {
            config["errors"] = 0.3.into();
        }
    }
    let wrapper = WRAPPER_FLAWS.map(|(flaw, law)| {
        let config = json!({ "type": "flawed_wrapper", "flaw": flaw });
        Mutant { config, law }
    });
    mutants.extend(wrapper);
    let sound = [json!({ "type": "flawed_oracle" }), json!({ "type": "flawed_wrapper" })];
    tried::<dyn Oracle>(&sound, &mutants, complaints)
}

impl FlawedOracle {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }
}

register!(Oracle, FlawedOracle, "flawed_oracle", references: []);

#[typetag::serde(name = "flawed_oracle")]
impl Oracle for FlawedOracle {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        checked(self, &self.flaw)?;
        let missing = || Error::Oracle("it needs the classes".into());
        let labels = match &scene.labels {
            None if self.has("opens without classes") => vec![None; scene.n].into(),
            labels => labels.clone().ok_or_else(missing)?,
        };
        let seed = if self.has("seeds itself from the clock") {
            SeedPath::new(clock())
        } else {
            scene.ctx.path().child("errors")
        };
        let errors = if self.has("seeds itself from the clock") { 0.3 } else { self.errors };
        let oracle = self.clone();
        let (told, over) = (BTreeSet::new(), false);
        Ok(Box::new(Answering { oracle, labels, seed, errors, told, answered: 0, over }))
    }

    fn properties(&self) -> OracleProperties {
        let honest = !self.has("errs and calls itself noiseless");
        OracleProperties {
            noiseless: self.errors == 0.0 || !honest,
            deterministic: !self.has("seeds itself from the clock"),
            ..OracleProperties::default()
        }
    }

    fn limit(&self) -> Option<usize> {
        let hidden = self.has("does not announce its limit");
        self.queries.filter(|_| !hidden).map(|q| q as usize)
    }
}

struct Answering {
    oracle: FlawedOracle,
    labels: Arc<[Option<u32>]>,
    seed: SeedPath,
    errors: f64,
    told: BTreeSet<(u32, u32)>,
    answered: u64,
    over: bool,
}

impl Answering {
    fn has(&self, flaw: &str) -> bool {
        self.oracle.has(flaw)
    }

    fn price(&self) -> f64 {
        if self.has("ignores the price") { 1.0 } else { self.oracle.price }
    }
}

impl Respondent for Answering {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let (i, j) = (question.i.min(question.j), question.i.max(question.j));
        let more = u64::from(self.has("answers one query too many"));
        self.over |= self.oracle.queries.is_some_and(|q| self.answered >= q + more);
        if self.over {
            self.over = !self.has("goes on after its budget");
            self.answered -= u64::from(!self.over);
            return Ok(Outcome::Refused(Refusal::BudgetExhausted));
        }
        let (one, other) = (self.labels[i as usize], self.labels[j as usize]);
        let mut same = one.zip(other).map(|(a, b)| a == b);
        let draw = self.seed.index(i as usize).index(j as usize).stream("flip").unit();
        let odd = match self.oracle.flaw.as_str() {
            "answers by who is named first" => question.i > question.j,
            "answers by how often it was asked" => self.answered % 5 == 3,
            _ => draw < self.errors,
        };
        if odd {
            same = same.map(|s| !s);
        }
        self.answered += 1;
        self.told.insert((i, j));
        let reply = match same {
            None => Reply::DontKnow,
            Some(true) => Reply::MustLink,
            Some(false) => Reply::CannotLink,
        };
        let dear = if self.has("costs more than it says") { 2.0 } else { 1.0 };
        let confidence = self.has("is less sure than a coin").then_some(0.2);
        Ok(Outcome::Answered(Answer { cost: dear * self.price(), confidence, ..Answer::of(reply) }))
    }

    fn cost(&self, _: &Question) -> f64 {
        self.price()
    }

    fn recall(&mut self, question: &Question, _: &Answer) {
        if !self.has("forgets what was answered before") {
            self.answered += 1;
            self.told.insert((question.i, question.j));
        }
    }
}

impl FlawedWrapper {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }
}

register!(Oracle, FlawedWrapper, "flawed_wrapper", references: []);

#[typetag::serde(name = "flawed_wrapper")]
impl Oracle for FlawedWrapper {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let source = mustlink_core::registry::slot::<dyn Oracle>(&self.source, "flawed_oracle")?;
        let inside = source.properties().layer > Layer::Noise;
        if !inside && !self.has("takes any source") {
            let legal = if self.has("refuses without naming the order") {
                "another oracle"
            } else {
                "inside: budget → cost → crowd → dont_know → noise → source"
            };
            return Err(Error::bad_param("source", source.typetag_name(), legal));
        }
        source.open(scene).map_err(|e| e.at("source"))
    }

    fn properties(&self) -> OracleProperties {
        let slot = mustlink_core::registry::slot::<dyn Oracle>(&self.source, "flawed_oracle");
        let inner = slot.map(|s| s.properties()).unwrap_or_default();
        let hides = self.has("hides that a source needs classes");
        OracleProperties {
            layer: Layer::Noise,
            needs_labels: inner.needs_labels && !hides,
            ..inner
        }
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref().filter(|_| !self.has("hides its source"))
    }
}
