//! The wrong answers, if answers contradict each other.
//!
//! Each way in which the answers may be correct or wrong is a world, unless it contradicts itself. The fewer answers
//! are wrong, the likelier the world. An answer on no cycle of answers contradicts nothing, and two answers without a
//! common cycle are correct or wrong independently. So worlds are listed block by block (2-connected components), and
//! their probabilities multiply.

use std::collections::{BTreeMap, HashMap, HashSet};

use mustlink_core::knowledge::Knowledge;
use mustlink_core::prelude::*;

use crate::parts::blocks::blocks;
use crate::parts::relations::{Link, Relations};
use crate::parts::world_search::{Search, World, flipped, opposite};

/// Ways to choose wrong answers in a block up to which so many are taken to be wrong at once.
const WAYS: usize = 20_000;
/// Number of wrong answers, in addition to the option, that are tried together if fewer cannot explain a
/// contradiction.
const DEEPER: usize = 2;
/// Number of worlds that decide between questions with the same score.
const COMPARED: usize = 2000;

/// Decision about the answers.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// This pair is to be asked first.
    Ask(u32, u32),
    /// These answers are taken to be these replies now.
    Corrected(Vec<(QueryId, Reply)>),
    /// They are as certain as they were to be, or nothing is left that would make them so.
    Settled,
}

/// An answer.
struct Told {
    id: QueryId,
    pair: (u32, u32),
    /// The answer as given.
    kind: Kind,
    /// The answer after correction; `None` as long as it is undecided.
    taken: Option<Kind>,
}

/// Answers that may be wrong, each with the same probability.
pub struct Worlds {
    given: Knowledge,
    /// True if anything was given.
    any_given: bool,
    odds: f64,
    order: usize,
    told: Vec<Told>,
    /// Pairs whose answer adds nothing: "don't know", or settled by what was given.
    aside: Vec<(u32, u32)>,
    asked: HashSet<(u32, u32)>,
    /// Objects that were asked about and said something of, in that order, and the node of each: what is given
    /// to belong together is one.
    objects: Vec<(u32, usize)>,
    nodes: HashMap<u32, usize>,
    /// Nodes that are given to be apart.
    apart: Vec<(usize, usize)>,
}

impl Worlds {
    /// No answers yet. `noise` is the probability that one is wrong, above 0 and below one half; `order` how
    /// many more than are corrected may be wrong at once.
    pub fn new(problem: &Problem, noise: f64, order: usize) -> Self {
        Worlds {
            given: Knowledge::new(problem.n(), &problem.constraints),
            any_given: !problem.constraints.is_empty(),
            odds: noise / (1.0 - noise),
            order,
            told: Vec::new(),
            aside: Vec::new(),
            asked: HashSet::new(),
            objects: Vec::new(),
            nodes: HashMap::new(),
            apart: Vec::new(),
        }
    }

    /// Takes an answer. One that what was given contradicts is wrong; returns the reply that is correct instead.
    pub fn tell(&mut self, id: QueryId, i: u32, j: u32, reply: Reply) -> Option<Reply> {
        let pair = (i.min(j), i.max(j));
        self.asked.insert(pair);
        let given = self.given.relation(i, j);
        let Some(kind) = reply.kind().filter(|_| given.is_none()) else {
            self.aside.push(pair);
            return given
                .filter(|&given| reply.kind().is_some_and(|said| said != given))
                .map(Reply::from);
        };
        self.enter(pair.0);
        self.enter(pair.1);
        self.told.push(Told { id, pair, kind, taken: Some(kind) });
        None
    }

    fn enter(&mut self, object: u32) {
        if self.objects.iter().any(|&(o, _)| o == object) {
            return;
        }
        let component = self.given.component(object);
        let next = self.nodes.len();
        let node = *self.nodes.entry(component).or_insert(next);
        if node == next && self.any_given {
            for (other, at) in self.objects.clone() {
                let apart = self.given.relation(object, other) == Some(Kind::CannotLink);
                if apart && self.apart.last() != Some(&(at, node)) {
                    self.apart.push((at, node));
                }
            }
        }
        self.objects.push((object, node));
    }

    /// Number of answers that do not count as they were given: they count as their opposite, or are undecided.
    pub fn corrected(&self) -> usize {
        self.told.iter().filter(|told| told.taken != Some(told.kind)).count()
    }

    /// The pair was asked.
    fn was_asked(&self, i: u32, j: u32) -> bool {
        self.asked.contains(&(i.min(j), i.max(j)))
    }

    /// The corrected or given answer about this pair; `None` if it was not asked.
    pub fn reply(&mut self, i: u32, j: u32) -> Option<Reply> {
        let pair = (i.min(j), i.max(j));
        if !self.was_asked(i, j) {
            return None;
        }
        let told = self.told.iter().find(|told| told.pair == pair);
        let kind = told.map_or_else(|| self.given.relation(i, j), |told| told.taken);
        Some(kind.map_or(Reply::DontKnow, Reply::from))
    }

    /// Knowledge that follows from the answers as corrected now.
    pub fn knowledge(&self) -> Knowledge {
        let mut known = self.given.clone();
        for told in &self.told {
            let reply = told.taken.map_or(Reply::DontKnow, Reply::from);
            known.tell(told.pair.0, told.pair.1, reply);
        }
        for &(i, j) in &self.aside {
            known.tell(i, j, Reply::DontKnow);
        }
        known
    }

    /// Decides the next step. If answers contradict each other, it finds out which of those about pairs that `matter`
    /// are wrong. Then it confirms those about pairs to be made `sure` of, until they are correct together with
    /// probability `certainty`, as far as questions can achieve it.
    ///
    /// # Errors
    /// Cancellation.
    pub fn judge(
        &mut self,
        matter: impl Fn(u32, u32) -> bool,
        sure: impl Fn(u32, u32) -> bool,
        certainty: f64,
        ctx: &Context,
    ) -> Result<Verdict> {
        let links = self.links();
        let now = Relations::of(self.nodes.len(), &links);
        let about = |pairs: &dyn Fn(u32, u32) -> bool| -> Vec<bool> {
            let told = |link: &Link| link.told.map(|at| self.told[at].pair);
            links.iter().map(|link| told(link).is_some_and(|(i, j)| pairs(i, j))).collect()
        };
        if now.contradiction() {
            let matters = about(&matter);
            return self.correct(&links, &matters, ctx);
        }
        if certainty > 0.0 {
            self.confirm(&links, &about(&sure), &now, certainty, ctx)
        } else {
            Ok(Verdict::Settled)
        }
    }

    /// The answers as they are taken, in their order, then what was given.
    fn links(&self) -> Vec<Link> {
        let node: HashMap<u32, usize> = self.objects.iter().copied().collect();
        let told = self.told.iter().enumerate().filter_map(|(at, told)| {
            let (a, b) = (node[&told.pair.0], node[&told.pair.1]);
            told.taken.map(|kind| Link { a, b, kind, told: Some(at) })
        });
        let apart = self.apart.iter();
        let apart = apart.map(|&(a, b)| Link { a, b, kind: Kind::CannotLink, told: None });
        told.chain(apart).collect()
    }

    /// Finds the likeliest world, asking while several are that differ in what matters. Answers in which the
    /// likeliest differ still are left open.
    fn correct(&mut self, links: &[Link], matters: &[bool], ctx: &Context) -> Result<Verdict> {
        let mut changed: BTreeMap<usize, Option<Kind>> = BTreeMap::new();
        for block in blocks(self.nodes.len(), links) {
            let Some(cycle) = Relations::cycle(self.nodes.len(), links, &block) else { continue };
            // Each answer that came since the contradiction was found may contradict more.
            let mut worlds = Vec::new();
            let order = self.order_in(block.len());
            for order in order..=order + DEEPER {
                if worlds.is_empty() {
                    worlds = self.worlds(links, &block, order, ctx)?;
                }
            }
            if worlds.is_empty() {
                changed.extend(cycle.iter().filter_map(|&at| links[at].told).map(|at| (at, None)));
                continue;
            }
            let least = worlds.iter().map(|world| world.more_wrong).min().unwrap_or(0);
            let likely: Vec<&World> = worlds.iter().filter(|w| w.more_wrong == least).collect();
            let relevant = |world: &World| -> Vec<usize> {
                world.flipped.iter().copied().filter(|&l| matters[l]).collect()
            };
            let kinds: HashSet<Vec<usize>> = likely.iter().map(|world| relevant(world)).collect();
            if kinds.len() > 1
                && let Some((i, j)) = self.telling(links, &likely, &worlds, &relevant, ctx)?
            {
                return Ok(Verdict::Ask(i, j));
            }
            for &at in likely.iter().flat_map(|world| &world.flipped) {
                let all = likely.iter().all(|world| world.flipped.contains(&at));
                if let Some(told) = links[at].told {
                    changed.insert(told, all.then(|| opposite(links[at].kind)));
                }
            }
        }
        let corrected = changed.into_iter().map(|(at, taken)| {
            self.told[at].taken = taken;
            (self.told[at].id, taken.map_or(Reply::DontKnow, Reply::from))
        });
        Ok(Verdict::Corrected(corrected.collect()))
    }

    /// The question that parts the likeliest worlds best.
    fn telling(
        &self,
        links: &[Link],
        likely: &[&World],
        all: &[World],
        relevant: &dyn Fn(&World) -> Vec<usize>,
        ctx: &Context,
    ) -> Result<Option<(u32, u32)>> {
        let candidates = self.candidates();
        // Outcomes for what matters, each with its worlds one after the other.
        let mut kinds: Vec<(Vec<usize>, &World)> =
            likely.iter().map(|&world| (relevant(world), world)).collect();
        kinds.sort_by(|one, other| one.0.cmp(&other.0));
        let mut score = Scores::new(candidates.len());
        // How many outcomes each answer leaves, and the last that was counted.
        let mut left = vec![[(0usize, 0usize); 2]; candidates.len()];
        let mut outcomes = 0;
        for (place, (kind, world)) in kinds.iter().enumerate() {
            ctx.check()?;
            if place == 0 || kinds[place - 1].0 != *kind {
                outcomes += 1;
            }
            let there = Relations::of(self.nodes.len(), &flipped(links, &world.flipped));
            for (at, &(_, _, a, b)) in candidates.iter().enumerate() {
                let relation = there.between(a, b);
                // The likeliest weigh the same: their sums are the same bits in any order.
                score.add(at, relation, self.weight(world));
                // A world that says nothing about the pair is compatible with both answers.
                for (side, (count, last)) in
                    [Kind::MustLink, Kind::CannotLink].into_iter().zip(&mut left[at])
                {
                    if *last != outcomes && relation.is_none_or(|relation| relation == side) {
                        (*count, *last) = (*count + 1, outcomes);
                    }
                }
            }
        }
        // An answer that no likely world gives would rule all of them out: pairs on which they agree are asked as
        // well, evidence about all (without them ARI falls by .003 on average of experiments/noisy-answers.toml).
        let useful = |&at: &usize| {
            left[at].iter().any(|&(count, _)| count < outcomes)
                && score.must[at] + score.cannot[at] > 0.0
        };
        let useful: Vec<usize> = (0..candidates.len()).filter(useful).collect();
        let best = least(useful, |at| (score.must[at] - score.cannot[at]).abs());
        let best = self
            .closer(links, &candidates, best, all, ctx, |must, cannot, _| (must - cannot).abs())?;
        Ok(best.map(|at| (candidates[at].0, candidates[at].1)))
    }

    /// Asks for evidence until the answers that matter are certain enough.
    fn confirm(
        &self,
        links: &[Link],
        matters: &[bool],
        now: &Relations,
        certainty: f64,
        ctx: &Context,
    ) -> Result<Verdict> {
        let (right, doubts) = self.doubts(links, matters, now, ctx)?;
        if right >= certainty || doubts.is_empty() {
            return Ok(Verdict::Settled);
        }
        // What rules most of the likeliest doubts out, if the answers are right as they are taken.
        let least_wrong = doubts.iter().map(|world| world.more_wrong).min().unwrap_or(0);
        let candidates: Vec<Candidate> = self.candidates();
        let known: Vec<Option<Kind>> =
            candidates.iter().map(|&(_, _, a, b)| now.between(a, b)).collect();
        let mut ruled_out = vec![0.0; candidates.len()];
        for world in doubts.iter().filter(|world| world.more_wrong == least_wrong) {
            ctx.check()?;
            let there = Relations::of(self.nodes.len(), &flipped(links, &world.flipped));
            for (at, &(_, _, a, b)) in candidates.iter().enumerate() {
                if let Some(kind) = known[at]
                    && there.between(a, b) == Some(opposite(kind))
                {
                    ruled_out[at] += self.weight(world);
                }
            }
        }
        let useful = (0..candidates.len()).filter(|&at| ruled_out[at] > 0.0).collect();
        let best = least(useful, |at| -ruled_out[at]);
        let best = self.closer(links, &candidates, best, &doubts, ctx, |must, cannot, at| {
            if known[at] == Some(Kind::MustLink) { -cannot } else { -must }
        })?;
        Ok(best.map_or(Verdict::Settled, |at| Verdict::Ask(candidates[at].0, candidates[at].1)))
    }

    /// Probability that the answers that matter, and that questions can confirm, are correct together, and
    /// the worlds in which they are not.
    fn doubts(
        &self,
        links: &[Link],
        matters: &[bool],
        now: &Relations,
        ctx: &Context,
    ) -> Result<(f64, Vec<World>)> {
        let open = self.confirmable(links, now);
        let matters: Vec<bool> =
            matters.iter().zip(&open).map(|(&matters, &open)| matters && open).collect();
        let touches = |world: &World| world.flipped.iter().any(|&at| matters[at]);
        let mut right = 1.0;
        let mut doubts: Vec<World> = Vec::new();
        for block in blocks(self.nodes.len(), links) {
            if !block.iter().any(|&at| matters[at]) {
                continue;
            }
            let order = self.order_in(block.len());
            let worlds = self.worlds(links, &block, order, ctx)?;
            let all: f64 = worlds.iter().map(|world| self.weight(world)).sum();
            let wrong = worlds.iter().filter(|world| touches(world));
            right *= 1.0 - wrong.map(|world| self.weight(world)).sum::<f64>() / all;
            doubts.extend(worlds.into_iter().filter(touches));
        }
        Ok((right, doubts))
    }

    /// Among equally good candidates, the one of least score over the likeliest of these worlds; ties go to
    /// the first.
    fn closer(
        &self,
        links: &[Link],
        candidates: &[Candidate],
        best: Vec<usize>,
        worlds: &[World],
        ctx: &Context,
        score: impl Fn(f64, f64, usize) -> f64,
    ) -> Result<Option<usize>> {
        if best.len() < 2 {
            return Ok(best.first().copied());
        }
        let mut order: Vec<&World> = worlds.iter().collect();
        order.sort_by_key(|world| world.more_wrong);
        let mut over = Scores::new(best.len());
        for world in order.into_iter().take(COMPARED) {
            ctx.check()?;
            let there = Relations::of(self.nodes.len(), &flipped(links, &world.flipped));
            for (at, &candidate) in best.iter().enumerate() {
                let (_, _, a, b) = candidates[candidate];
                over.add(at, there.between(a, b), self.weight(world));
            }
        }
        let scored = |at: usize| score(over.must[at], over.cannot[at], best[at]);
        Ok(least((0..best.len()).collect(), scored).first().map(|&at| best[at]))
    }

    /// Pairs of objects asked about that were not asked themselves, with their nodes.
    fn candidates(&self) -> Vec<Candidate> {
        let apart: HashSet<(usize, usize)> = self.apart.iter().copied().collect();
        let given = |a: usize, b: usize| a == b || apart.contains(&(a.min(b), a.max(b)));
        // With which earlier objects each was asked: to look every pair up takes most of the time of a question.
        let places: HashMap<u32, usize> =
            self.objects.iter().enumerate().map(|(at, &(object, _))| (object, at)).collect();
        let mut earlier: Vec<Vec<usize>> = vec![Vec::new(); self.objects.len()];
        for (i, j) in &self.asked {
            if let (Some(&a), Some(&b)) = (places.get(i), places.get(j)) {
                earlier[a.max(b)].push(a.min(b));
            }
        }
        let mut asked_with = vec![usize::MAX; self.objects.len()];
        let mut pairs = Vec::new();
        for (at, &(j, b)) in self.objects.iter().enumerate() {
            earlier[at].iter().for_each(|&with| asked_with[with] = at);
            for (with, &(i, a)) in self.objects[..at].iter().enumerate() {
                if !given(a, b) && asked_with[with] != at {
                    pairs.push((i.min(j), i.max(j), a, b));
                }
            }
        }
        pairs
    }

    /// For each link, whether a question that was not asked yet has its answer by it: between the same two
    /// components, or inside the same one.
    fn confirmable(&self, links: &[Link], now: &Relations) -> Vec<bool> {
        let between = |a: usize, b: usize| {
            let (a, b) = (now.component(a), now.component(b));
            (a.min(b), a.max(b))
        };
        let left: HashSet<_> =
            self.candidates().into_iter().map(|(_, _, a, b)| between(a, b)).collect();
        links.iter().map(|link| left.contains(&between(link.a, link.b))).collect()
    }

    /// Number of answers, out of `answers`, that are assumed to be wrong together.
    fn order_in(&self, answers: usize) -> usize {
        let ways = |order: usize| {
            (0..order).fold(1, |ways: usize, at| ways * answers.saturating_sub(at) / (at + 1))
        };
        (1..=self.order).rev().find(|&order| ways(order) <= WAYS).unwrap_or(1)
    }

    /// The worlds of a block in which at most `order` links are another kind than they are taken to be.
    fn worlds(
        &self,
        links: &[Link],
        block: &[usize],
        order: usize,
        ctx: &Context,
    ) -> Result<Vec<World>> {
        let cost = links.iter().map(|link| self.cost(link)).collect();
        Search::new(self.nodes.len(), links, block, order, cost).worlds(ctx)
    }

    /// Number of additional wrong answers if this link is of the other kind.
    fn cost(&self, link: &Link) -> i32 {
        let as_told = |at: usize| self.told[at].kind == link.kind;
        link.told.map_or(0, |at| if as_told(at) { 1 } else { -1 })
    }

    fn weight(&self, world: &World) -> f64 {
        self.odds.powi(world.more_wrong)
    }
}

/// Two objects, the smaller first, and their nodes.
type Candidate = (u32, u32, usize, usize);

/// Weights of worlds by what they say about candidates.
struct Scores {
    must: Vec<f64>,
    cannot: Vec<f64>,
}

impl Scores {
    fn new(candidates: usize) -> Self {
        Scores { must: vec![0.0; candidates], cannot: vec![0.0; candidates] }
    }

    fn add(&mut self, at: usize, relation: Option<Kind>, weight: f64) {
        match relation {
            Some(Kind::MustLink) => self.must[at] += weight,
            Some(Kind::CannotLink) => self.cannot[at] += weight,
            None => {}
        }
    }
}

/// The items of least score; scores that differ only by rounding are ties.
fn least(of: Vec<usize>, score: impl Fn(usize) -> f64) -> Vec<usize> {
    let best = of.iter().map(|&at| score(at)).fold(f64::INFINITY, f64::min);
    let near = best + 1e-9 * best.abs();
    of.into_iter().filter(|&at| score(at) <= near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MUST: Reply = Reply::MustLink;
    const CANNOT: Reply = Reply::CannotLink;

    fn problem(n: usize, given: Vec<Constraint>) -> Problem {
        let data = Data::dense(ndarray::Array2::zeros((n, 1))).unwrap();
        Problem::new(data).with_constraints(Constraints::new(n, given).unwrap())
    }

    fn worlds(given: Vec<Constraint>, order: usize, answers: &[(u32, u32, Reply)]) -> Worlds {
        let mut worlds = Worlds::new(&problem(8, given), 0.1, order);
        for (id, &(i, j, reply)) in answers.iter().enumerate() {
            worlds.tell(id as u64, i, j, reply);
        }
        worlds
    }

    fn judge(worlds: &mut Worlds, certainty: f64) -> Verdict {
        worlds.judge(|_, _| true, |_, _| true, certainty, &Context::new(0)).unwrap()
    }

    #[test]
    fn of_three_that_clash_a_fourth_object_tells_which_is_wrong() {
        let clash = [(2, 3, MUST), (0, 1, MUST), (1, 2, MUST), (0, 2, CANNOT)];
        // Without a fourth object nothing tells: the three are left open.
        let mut alone = worlds(vec![], 2, &clash[1..]);
        let open = |id| (id, Reply::DontKnow);
        assert_eq!(judge(&mut alone, 0.0), Verdict::Corrected(vec![open(0), open(1), open(2)]));
        assert_eq!(alone.reply(0, 2), Some(Reply::DontKnow));
        assert_eq!(judge(&mut alone, 0.0), Verdict::Settled);
        // 3 belongs with 2. Asked with 0 or 1 it is as 2 is: "no" of both is as the second answer wrong.
        let mut worlds = worlds(vec![], 2, &clash);
        let mut asked = 4;
        while let Verdict::Ask(i, j) = judge(&mut worlds, 0.0) {
            assert_eq!(j, 3, "({i}, {j})");
            worlds.tell(asked, i, j, CANNOT);
            asked += 1;
        }
        assert_eq!(worlds.reply(1, 2), Some(CANNOT));
        assert_eq!(worlds.corrected(), 1);
        assert_eq!(worlds.knowledge().relation(1, 3), Some(Kind::CannotLink));
    }

    #[test]
    fn what_is_given_is_right() {
        let given = vec![Constraint::must(0, 1), Constraint::cannot(1, 2)];
        let mut worlds = worlds(given, 2, &[(0, 3, MUST)]);
        assert_eq!(worlds.tell(1, 0, 2, MUST), Some(CANNOT));
        assert_eq!(worlds.tell(2, 0, 2, CANNOT), None);
        // 3 with 0 and with 2, which are given to be apart: one of them is wrong, and 1, given to be with 0,
        // tells which, once it was asked about.
        worlds.tell(3, 1, 4, MUST);
        worlds.tell(4, 2, 3, MUST);
        assert_eq!(judge(&mut worlds, 0.0), Verdict::Ask(1, 3));
        worlds.tell(5, 1, 3, CANNOT);
        assert_eq!(judge(&mut worlds, 0.0), Verdict::Corrected(vec![(0, CANNOT)]));
        assert_eq!(worlds.reply(0, 2), Some(CANNOT));
    }

    #[test]
    fn one_answer_is_as_certain_as_answers_are() {
        // A pair with nothing around it cannot be confirmed: nothing is asked.
        let mut one = worlds(vec![], 2, &[(0, 1, MUST)]);
        assert_eq!(judge(&mut one, 0.95), Verdict::Settled);
        // 0–1–2: .81, and the third pair confirms both.
        let mut two = worlds(vec![], 2, &[(0, 1, MUST), (1, 2, MUST)]);
        assert_eq!(judge(&mut two, 0.8), Verdict::Settled);
        assert_eq!(judge(&mut two, 0.82), Verdict::Ask(0, 2));
    }

    /// Every way in which answers may be correct or wrong, with its weight: no contradiction by the knowledge.
    fn all_worlds(n: usize, answers: &[(u32, u32, Reply)], noise: f64) -> Vec<(u32, f64)> {
        let ways = 0u32..1 << answers.len();
        let consistent = ways.filter(|way| {
            let mut known = Knowledge::new(n, &Constraints::default());
            answers.iter().enumerate().all(|(at, &(i, j, reply))| {
                let kind = reply.kind().unwrap();
                let taken = if way >> at & 1 == 1 { opposite(kind) } else { kind };
                known.tell(i, j, taken.into()) != mustlink_core::knowledge::Learned::Conflict
            })
        });
        let odds = noise / (1.0 - noise);
        consistent.map(|way| (way, odds.powi(way.count_ones() as i32))).collect()
    }

    fn answers() -> impl Strategy<Value = Vec<(u32, u32, Reply)>> {
        prop::collection::btree_map((0u32..6, 0u32..6), any::<bool>(), 1..10).prop_map(|pairs| {
            let kept = pairs.into_iter().filter(|((i, j), _)| i < j);
            kept.map(|((i, j), must)| (i, j, if must { MUST } else { CANNOT })).collect()
        })
    }

    proptest! {
        /// Every pair of objects that was asked about and was not asked itself, in the order of the objects.
        #[test]
        fn candidates_are_the_pairs_that_were_not_asked(answers in answers(), silent in any::<u16>()) {
            let mut worlds = worlds(vec![Constraint::cannot(0, 5), Constraint::must(1, 2)], 2, &[]);
            for (at, &(i, j, reply)) in answers.iter().enumerate() {
                let unknown = silent >> at & 1 == 1;
                worlds.tell(at as u64, i, j, if unknown { Reply::DontKnow } else { reply });
            }
            let mut expected = Vec::new();
            for (at, &(j, b)) in worlds.objects.iter().enumerate() {
                for &(i, a) in &worlds.objects[..at] {
                    let known = worlds.given.clone().relation(i, j).is_some();
                    if !known && !worlds.was_asked(i, j) {
                        expected.push((i.min(j), i.max(j), a, b));
                    }
                }
            }
            prop_assert_eq!(worlds.candidates(), expected);
        }

        /// Worlds block by block give the probabilities of all worlds at once.
        #[test]
        fn blocks_multiply(answers in answers(), mask in any::<u16>()) {
            let all = all_worlds(8, &answers, 0.1);
            let mut worlds = worlds(vec![], answers.len().max(1), &answers);
            // As the likeliest way has it.
            let likeliest = all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
            for (at, told) in worlds.told.iter_mut().enumerate() {
                let wrong = likeliest >> at & 1 == 1;
                told.taken = Some(if wrong { opposite(told.kind) } else { told.kind });
            }
            let taken = worlds.told.iter().enumerate().fold(0, |m, (at, t)| m | u32::from(t.taken != Some(t.kind)) << at);
            let links = worlds.links();
            let now = Relations::of(worlds.nodes.len(), &links);
            prop_assert!(!now.contradiction());
            let matters: Vec<bool> = (0..answers.len()).map(|at| mask >> at & 1 == 1).collect();
            let open = worlds.confirmable(&links, &now);
            let counted = (0..answers.len()).filter(|&at| matters[at] && open[at]);
            let counted = counted.fold(0u32, |m, at| m | 1 << at);
            let (right, _) = worlds.doubts(&links, &matters, &now, &Context::new(0)).unwrap();
            let sum = |keep: &dyn Fn(u32) -> bool| {
                all.iter().filter(|(way, _)| keep(*way)).map(|(_, w)| w).sum::<f64>()
            };
            let expected = sum(&|way| (way ^ taken) & counted == 0) / sum(&|_| true);
            prop_assert!((right - expected).abs() < 1e-9, "{} {}", right, expected);
        }

        /// Questions end, and nothing contradicts itself then; with answers that are true nothing is corrected.
        #[test]
        fn questions_end(answers in answers(), classes in prop::collection::vec(0u32..3, 8), lies in any::<u64>()) {
            let truth = |i: u32, j: u32| {
                if classes[i as usize] == classes[j as usize] { MUST } else { CANNOT }
            };
            for lies in [0, lies & lies.rotate_left(17)] {
                let mut worlds = worlds(vec![], 2, &[]);
                let mut id = 0;
                let mut wrong = |i: u32, j: u32| {
                    id += 1;
                    let reply = truth(i, j);
                    let lie = lies >> (8 * i + j) & 1 == 1;
                    (id, if lie { opposite(reply.kind().unwrap()).into() } else { reply })
                };
                for &(i, j, _) in &answers {
                    if worlds.was_asked(i, j) {
                        continue;
                    }
                    let (id, reply) = wrong(i, j);
                    worlds.tell(id, i, j, reply);
                    loop {
                        match judge(&mut worlds, 0.9) {
                            Verdict::Ask(i, j) => {
                                prop_assert!(!worlds.was_asked(i, j));
                                let (id, reply) = wrong(i, j);
                                worlds.tell(id, i, j, reply);
                            }
                            Verdict::Corrected(answers) => {
                                prop_assert!(!answers.is_empty());
                                prop_assert!(lies != 0, "true answers are corrected");
                            }
                            Verdict::Settled => break,
                        }
                    }
                    prop_assert!(!Relations::of(worlds.nodes.len(), &worlds.links()).contradiction());
                }
            }
        }
    }
}
