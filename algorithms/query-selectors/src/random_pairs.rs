//! Random pairs: the baseline every active selector is compared with.

use std::collections::HashSet;

use mustlink_core::knowledge::{ENTAILED, Knowledge, Learned};
use mustlink_core::prelude::*;

use crate::parts::checks::not_open;

/// Uniformly random pairs of eligible objects, without replacement.
///
/// # Method
/// Pair numbers are drawn, unranked in closed form, and drawn again if used; once half of all pairs are used the rest
/// is shuffled. With `objects = m`, m random objects are drawn instead and all pairs among them are asked in
/// lexicographic order: the label-like supervision of seeded clustering. Entailed pairs that are skipped before a
/// question are logged as inferred. Entailed pairs that remain after the last question are not logged.
/// # Input and output
/// Any data: features are not used.
/// # Errors
/// `BadParam` for `objects` above the number of eligible objects.
/// # Cost and randomness
/// O(1) expected per query; O(|E|²) memory only once half of all pairs were asked.
/// # References
/// The baseline of [Basu2004] §4.
#[options]
pub struct RandomPairs {
    /// Number of random objects whose pairs are all asked. If absent, pairs of all eligible objects.
    #[option(min = 1)]
    pub objects: Option<usize>,
    /// Skip pairs whose answer follows from earlier replies, instead of asking them.
    pub skip_entailed: bool,
}

#[plugin("random_pairs", aliases = ["random"], cites = ["Basu2004"])]
impl QuerySelector for RandomPairs {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let eligible = problem.eligible_objects();
        let source = match self.objects {
            _ if eligible.len() < 2 => Source::List(Vec::new().into_iter()),
            None => Source::Draw { used: HashSet::new() },
            Some(m) if m > eligible.len() => {
                let legal = format!("between 1 and {} (the eligible objects)", eligible.len());
                return Err(Error::bad_param("objects", m, legal));
            }
            Some(m) => {
                let mut drawn: Vec<u64> = ctx
                    .stream("objects")
                    .sample(eligible.len(), m)
                    .into_iter()
                    .map(|e| e as u64)
                    .collect();
                drawn.sort_unstable();
                let later = |at: usize| drawn[at + 1..].iter().map(move |&b| (at, b));
                let pairs =
                    (0..m).flat_map(later).map(|(at, b)| rank(drawn[at], b)).collect::<Vec<_>>();
                Source::List(pairs.into_iter())
            }
        };
        let mut run = Run {
            knowledge: Knowledge::new(problem.n(), &problem.constraints),
            skip_entailed: self.skip_entailed,
            draw: ctx.stream("pairs"),
            rest: ctx.stream("remaining_pairs"),
            next_id: 0,
            open: None,
            events: Vec::new(),
            ctx: ctx.clone(),
            eligible,
            source,
        };
        run.advance()?;
        Ok(Box::new(run))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            skips_entailed: self.skip_entailed,
            accepts_sparse: true,
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let m = self.objects.unwrap_or(0).min(shape.n) as u64;
        (64 * shape.n) as u64 + 4 * m * m
    }
}

/// Number of the pair of positions a < b.
fn rank(a: u64, b: u64) -> u64 {
    b * (b - 1) / 2 + a
}

/// Positions a < b of pair `t`.
fn unrank(t: u64) -> (usize, usize) {
    let mut b = ((1.0 + (1.0 + 8.0 * t as f64).sqrt()) / 2.0) as u64;
    // The square root is off by one at most.
    while b * (b - 1) / 2 > t {
        b -= 1;
    }
    while (b + 1) * b / 2 <= t {
        b += 1;
    }
    ((t - b * (b - 1) / 2) as usize, b as usize)
}

enum Source {
    Draw { used: HashSet<u64> },
    List(std::vec::IntoIter<u64>),
}

#[derive(Clone, Copy)]
struct Open {
    id: QueryId,
    subject: u32,
    reference: u32,
}

struct Run {
    eligible: Vec<u32>,
    knowledge: Knowledge,
    skip_entailed: bool,
    source: Source,
    draw: Stream,
    /// Shuffles what is left once half of all pairs are used.
    rest: Stream,
    next_id: QueryId,
    open: Option<Open>,
    events: Vec<Event>,
    ctx: Context,
}

impl Run {
    fn next_pair(&mut self) -> Option<u64> {
        if let Source::Draw { used } = &mut self.source {
            let m = self.eligible.len() as u64;
            let all = m * (m - 1) / 2;
            if 2 * (used.len() as u64) < all {
                loop {
                    let t = self.draw.below(all as usize) as u64;
                    if used.insert(t) {
                        return Some(t);
                    }
                }
            }
            let mut pairs: Vec<u64> = (0..all).filter(|t| !used.contains(t)).collect();
            self.rest.shuffle(&mut pairs);
            self.source = Source::List(pairs.into_iter());
        }
        match &mut self.source {
            Source::List(pairs) => pairs.next(),
            Source::Draw { .. } => None,
        }
    }

    /// True if the known constraints settle every pair of eligible objects.
    fn is_settled(&mut self) -> bool {
        let knowledge = &mut self.knowledge;
        let mut parts: Vec<u32> = self.eligible.iter().map(|&i| knowledge.component(i)).collect();
        parts.sort_unstable();
        parts.dedup();
        let mut pairs = (0..parts.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.all(|(a, b)| knowledge.relation(parts[a], parts[b]).is_some())
    }

    fn advance(&mut self) -> Result<()> {
        self.open = None;
        let mut passed: Vec<(u32, u32, Kind)> = Vec::new();
        while let Some(t) = self.next_pair() {
            let (a, b) = unrank(t);
            let (i, j) = (self.eligible[a], self.eligible[b]);
            if self.skip_entailed
                && let Some(kind) = self.knowledge.relation(i, j)
            {
                self.ctx.check()?;
                passed.push((i, j, kind));
                let many = passed.len() >= self.eligible.len() && passed.len().is_power_of_two();
                if many && self.is_settled() {
                    break;
                }
                continue;
            }
            // Without a next question what was passed over is all the rest, a number of pairs that fits nowhere.
            let inferred = |(i, j, kind)| Event::Inferred { i, j, kind, rule: ENTAILED.into() };
            self.events.extend(passed.into_iter().map(inferred));
            self.open = Some(Open { id: self.next_id, subject: i, reference: j });
            self.next_id += 1;
            break;
        }
        Ok(())
    }
}

impl Inquiry for Run {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.open {
            Some(Open { id, subject, reference }) => {
                Step::Ask { id, subject, reference, purpose: "random" }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let Some(open) = self.open.filter(|o| o.id == id) else { return Err(not_open(id)) };
        if self.knowledge.tell(open.subject, open.reference, reply) == Learned::Conflict {
            self.events.push(Event::Conflict { id });
        }
        self.advance()
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_numbers_come_back() {
        for t in (0..5000).chain([u64::from(u32::MAX), 1 << 52, (1 << 53) + 1, (1 << 61) - 7]) {
            let (a, b) = unrank(t);
            assert!(a < b);
            assert_eq!(rank(a as u64, b as u64), t);
        }
    }
}
