//! The oracle that is several.

use std::collections::BTreeSet;

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::annotators::{BEFORE, Cast, clamped, error_rates, log_odds};

use crate::dont_know::DontKnow;
use crate::noisy::Noisy;
use crate::parts::pair_hash::PairHash;
use crate::parts::wrapping::{open_source, properties_of};

/// Asks several annotators, each with their own errors and doubts, and combines their votes into one reply.
///
/// # Method
/// An annotator is the source with noise and doubt at the rates of this annotator, drawn independently of the others.
/// With `rule = "majority"`, the kind with more (weighted) votes wins. With `rule = "weighted"`, a vote of annotator
/// a counts log((1 − e_a) / e_a) for or against. Here e_a is the rate of error, known or estimated, kept within
/// [0.01, 0.49]. Rates are estimated from all votes so far by expectation–maximisation, one rate per annotator, again
/// every 20 pairs; until then all rates are equal. A "don't know" does not count as a vote.
///
/// One question is one query; it costs the sum of its votes. With `estimate` replies depend on earlier questions.
/// # Errors
/// `BadParam` for rates, weights or numbers of votes out of range, or two annotators with the same name; a source
/// that is not allowed inside.
/// # References
/// [Dawid1979] estimates rates of error from votes alone; here with one rate per annotator.
#[options]
pub struct Crowd {
    /// Annotators that are asked. If absent, three that make no errors.
    #[option(default = vec![Annotator::default(); 3])]
    pub annotators: Vec<Annotator>,
    /// Number of votes per question, at most one per annotator; with `assign = "all"` all annotators vote.
    #[option(default = 3, min = 1)]
    pub votes: usize,
    /// Choice of the annotators that vote on a pair.
    pub assign: Assign,
    /// Rule that combines votes into a reply.
    pub rule: Rule,
    /// Action if the votes do not decide.
    pub tie: Tie,
    /// Estimate the rates of error instead of using the true ones (for `rule = "weighted"`).
    pub estimate: bool,
    /// Log-odds at which votes decide (for `rule = "weighted"`), at least 0.
    #[option(min = 0.0)]
    pub threshold: f64,
    /// Oracle whose replies the annotators repeat, with errors.
    #[option(slot = "truth")]
    pub source: Option<Box<dyn Oracle>>,
}

/// One annotator.
#[options]
pub struct Annotator {
    /// Name of the annotator. If absent, `ann-` and the position in the list, from 1.
    #[option(default = None)]
    pub id: Option<String>,
    /// Share of replies that are flipped, in [0, 1].
    #[option(min = 0.0, max = 1.0)]
    pub flip_rate: f64,
    /// Share of pairs left unanswered, in [0, 1].
    #[option(min = 0.0, max = 1.0)]
    pub dont_know_rate: f64,
    /// Weight of a vote, >= 0.
    #[option(default = 1.0, min = 0.0)]
    pub weight: f64,
}

/// Choice of the annotators that vote on a pair.
#[options]
pub enum Assign {
    /// `votes` annotators in a row, starting from one that a hash of the pair selects.
    #[default]
    Rotate,
    /// All annotators.
    All,
}

/// Rule that combines votes into a reply.
#[options]
pub enum Rule {
    /// The kind with more votes wins.
    #[default]
    Majority,
    /// Votes are weighted by each annotator's accuracy.
    Weighted,
}

/// Action if the votes do not decide.
#[options]
pub enum Tie {
    /// The reply is "don't know".
    #[default]
    DontKnow,
    /// The next annotator votes too, until the votes decide; if all have voted, "don't know".
    AskAnother,
    /// The reply is a cannot-link.
    CannotLink,
}

impl Annotator {
    fn name(&self, at: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("ann-{}", at + 1))
    }

    /// The annotator as an oracle: doubt around noise around the source, each only where there is any.
    fn open(&self, crowd: &Crowd, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let mut source = crowd.source()?.into_owned();
        if self.flip_rate > 0.0 {
            let inner = Some(source);
            source =
                Box::new(Noisy { flip_rate: self.flip_rate, source: inner, ..Noisy::default() });
        }
        if self.dont_know_rate > 0.0 {
            let rate = self.dont_know_rate;
            let inner = Some(source);
            source = Box::new(DontKnow { rate, source: inner, ..DontKnow::default() });
        }
        open_source(crowd, &*source, scene)
    }
}

#[plugin("crowd", cites = ["Dawid1979"])]
impl Oracle for Crowd {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let all = self.annotators.len();
        if all == 0 {
            return Err(Error::bad_param("annotators", "none", "at least one annotator"));
        }
        if self.assign == Assign::Rotate && !(1..=all).contains(&self.votes) {
            let legal = format!("between 1 and {all} (the number of annotators)");
            return Err(Error::bad_param("votes", self.votes, legal));
        }
        if self.estimate && self.rule == Rule::Majority {
            scene.ctx.warn("estimate changes nothing with rule = \"majority\"");
        }
        let mut taken = BTreeSet::new();
        let mut annotators = Vec::with_capacity(all);
        for (at, annotator) in self.annotators.iter().enumerate() {
            let place = format!("annotators[{at}]");
            let name = annotator.name(at);
            if !taken.insert(name.clone()) {
                return Err(Error::bad_param(&format!("{place}.id"), name, "a name of its own"));
            }
            let own = Scene { ctx: scene.ctx.child("annotators").index(at), ..scene.clone() };
            let respondent = annotator.open(self, &own).map_err(|e| match e {
                // About the source of the whole crowd.
                Error::BadParam { ref name, .. } if name.starts_with("source") => e,
                e => e.at(&place),
            })?;
            let error = annotator.flip_rate;
            annotators.push(Voice { name, weight: annotator.weight, error, respondent });
        }
        Ok(Box::new(Asking {
            n: scene.n,
            first: PairHash::new(scene.ctx.path(), "crowd"),
            votes: if self.assign == Assign::All { all } else { self.votes },
            weighted: self.rule == Rule::Weighted,
            tie: self.tie,
            threshold: self.threshold,
            log: (self.rule == Rule::Weighted && self.estimate)
                .then(|| Log { pairs: Vec::new(), errors: vec![BEFORE; all] }),
            annotators,
        }))
    }

    fn properties(&self) -> OracleProperties {
        let inner = properties_of(Layer::Crowd, &self.source);
        let sure = self.annotators.iter().all(|a| a.flip_rate == 0.0);
        OracleProperties {
            noiseless: inner.noiseless && sure && self.tie != Tie::CannotLink,
            deterministic: inner.deterministic && !self.estimate,
            ..inner
        }
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }
}

/// Pairs between two estimates.
const EVERY: usize = 20;

struct Voice {
    name: String,
    weight: f64,
    error: f64,
    respondent: Box<dyn Respondent>,
}

/// Votes so far, for the estimate of rates.
struct Log {
    pairs: Vec<Vec<Cast>>,
    errors: Vec<f64>,
}

impl Log {
    fn push(&mut self, votes: Vec<Cast>) {
        self.pairs.push(votes);
        if self.pairs.len().is_multiple_of(EVERY) {
            let before = (self.pairs.len() > EVERY).then_some(&*self.errors);
            self.errors = error_rates(&self.pairs, self.errors.len(), before);
        }
    }
}

struct Asking {
    n: usize,
    first: PairHash,
    votes: usize,
    weighted: bool,
    tie: Tie,
    threshold: f64,
    log: Option<Log>,
    annotators: Vec<Voice>,
}

impl Asking {
    /// Place of the v-th annotator for this pair.
    fn voter(&self, question: &Question, v: usize) -> usize {
        let all = self.annotators.len();
        let first = self.first.uniform(question.i, question.j) * all as f64;
        (first as usize + v) % all
    }

    /// The votes for a must-link less those against, and how sure that makes.
    fn balance(&self, votes: &[Cast]) -> (f64, f64) {
        let (mut sum, mut all) = (0.0, 0.0);
        for &(a, must) in votes {
            let voice = &self.annotators[a];
            let error = self.log.as_ref().map_or(clamped(voice.error), |log| log.errors[a]);
            let vote = voice.weight * if self.weighted { log_odds(error) } else { 1.0 };
            sum += if must { vote } else { -vote };
            all += vote;
        }
        let sure = if self.weighted {
            1.0 / (1.0 + (-sum.abs()).exp())
        } else if all > 0.0 {
            0.5 + 0.5 * sum.abs() / all
        } else {
            0.5
        };
        (sum, sure)
    }

    fn decided(&self, balance: f64) -> Option<Reply> {
        let enough = !self.weighted || balance.abs() >= self.threshold;
        match balance {
            b if b > 0.0 && enough => Some(Reply::MustLink),
            b if b < 0.0 && enough => Some(Reply::CannotLink),
            _ => None,
        }
    }
}

impl Respondent for Asking {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.n)?;
        let mut cast = Vec::with_capacity(self.votes);
        let mut votes = Vec::with_capacity(self.votes);
        let mut cost = 0.0;
        let (reply, sure) = loop {
            let a = self.voter(question, cast.len());
            let answer = match self.annotators[a].respondent.ask(question)? {
                Outcome::Answered(answer) => answer,
                other => return Ok(other),
            };
            cost += answer.cost;
            cast.push(Vote { annotator: self.annotators[a].name.clone(), reply: answer.reply });
            votes.extend(answer.reply.kind().map(|kind| (a, kind == Kind::MustLink)));
            if cast.len() < self.votes {
                continue;
            }
            let (balance, sure) = self.balance(&votes);
            let left = cast.len() < self.annotators.len();
            match (self.decided(balance), self.tie) {
                (Some(reply), _) => break (reply, Some(sure)),
                (None, Tie::AskAnother) if left => {}
                (None, Tie::DontKnow | Tie::AskAnother) => break (Reply::DontKnow, None),
                (None, Tie::CannotLink) => break (Reply::CannotLink, Some(0.5)),
            }
        };
        if let Some(log) = &mut self.log {
            log.push(votes);
        }
        let answer = Answer { cost, confidence: sure, votes: cast, ..Answer::of(reply) };
        Ok(Outcome::Answered(answer))
    }

    fn cost(&self, question: &Question) -> f64 {
        let most = match self.tie {
            Tie::AskAnother => self.annotators.len(),
            _ => self.votes,
        };
        let cost = |v| self.annotators[self.voter(question, v)].respondent.cost(question);
        (0..most).map(cost).sum()
    }

    fn recall(&mut self, question: &Question, answer: &Answer) {
        let place = |name: &str| self.annotators.iter().position(|voice| voice.name == name);
        let votes = answer.votes.iter().filter_map(|vote| {
            Some((place(&vote.annotator)?, vote.reply.kind()? == Kind::MustLink))
        });
        let votes = votes.collect();
        if let Some(log) = &mut self.log {
            log.push(votes);
        }
        for voice in &mut self.annotators {
            if let Some(vote) = answer.votes.iter().find(|vote| vote.annotator == voice.name) {
                voice.respondent.recall(question, &Answer::of(vote.reply));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_found_from_votes_alone() {
        let rates = [0.05, 0.1, 0.2, 0.3, 0.4];
        let hash = PairHash::new(&SeedPath::new(3), "votes");
        let pairs: Vec<Vec<Cast>> = (0..4000)
            .map(|p| {
                let wrong = |a: usize| hash.uniform(p, 10_000 + a as u32) < rates[a];
                (0..5).map(|a| (a, (p % 3 == 0) != wrong(a))).collect()
            })
            .collect();
        let errors = error_rates(&pairs, 5, None);
        for (error, rate) in errors.iter().zip(rates) {
            assert!((error - rate).abs() < 0.04, "{errors:?}");
        }
    }

    #[test]
    fn a_silent_annotator_keeps_the_first_guess() {
        let errors = error_rates(&[vec![(0, true)]], 2, None);
        assert!((errors[0] - 0.01).abs() < 1e-12 && errors[1] == BEFORE, "{errors:?}");
    }
}
