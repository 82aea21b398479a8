//! The place of an object among the neighbourhoods found so far.
//!
//! Selectors that place objects one by one (`explore_consolidate`, `boundary`, `npu`) share what is here:
//! distances, the [`Neighbourhoods`] with what is known about pairs, and one routine,
//! [`Neighbourhoods::locate`], that asks about an object in a given order until it is placed,
//! known to be apart from all, or set aside. Given constraints seed the knowledge: what they entail
//! is concluded without a question; they create no neighbourhood by themselves.
//!
//! Everything is worked out as soon as a reply comes, so that a log cut after any reply holds all
//! that follows from it. Nothing is named before the first reply: a selection of budget 0 is empty.

use mustlink_core::knowledge::{ENTAILED, Knowledge, LAST_NEIGHBOURHOOD, Learned};
use mustlink_core::prelude::*;
use mustlink_core::selection::{ConstraintView, Selection};
use mustlink_kernels::distance::points::{Distortion, Points};

use crate::parts::ascending::{ascending, least};
use crate::parts::asking::{Asking, Member, Tie};
use crate::parts::checks::not_open;
use crate::parts::mean::Mean;

/// Result of locating an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It joined this neighbourhood.
    Joined(u32),
    /// It is apart from all of them; the caller creates a new one or parks it.
    Apart,
    /// Too many replies were "don't know": it was parked.
    Parked,
}

/// Next step of locating an object.
#[derive(Debug, Clone)]
pub enum Next {
    /// An answer.
    Ask(Step),
    /// Nothing: the object is settled.
    Settled(u32, Place),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Standing {
    /// Not asked yet, or "don't know" with members left to try.
    Unknown,
    /// A reply said cannot-link.
    Apart,
    /// Earlier replies or given constraints entail a cannot-link.
    EntailedApart,
    /// "Don't know" to every member tried.
    Open,
}

/// An object on its way.
#[derive(Debug, Clone)]
struct Locating {
    object: u32,
    order: Vec<u32>,
    standing: Vec<Standing>,
    tries: Vec<u8>,
    put: Put,
    infer: bool,
    purpose: &'static str,
}

/// Which members are put in questions about the object on its way.
#[derive(Debug, Clone)]
enum Put {
    /// By a rule.
    By(Member),
    /// For each neighbourhood of the order, its members as they are to be put.
    Listed(Vec<Vec<u32>>),
}

#[derive(Debug, Clone, Copy)]
struct Open {
    id: QueryId,
    /// Position in the order of the object on its way.
    at: usize,
    reference: u32,
}

/// Neighbourhoods, what is known about pairs, and the object on its way.
pub struct Neighbourhoods {
    points: Points,
    eligible: Vec<u32>,
    knowledge: Knowledge,
    members: Vec<Vec<u32>>,
    means: Vec<Mean>,
    /// For each object, true if it is in a neighbourhood or parked.
    settled: Vec<bool>,
    asking: Asking,
    member_choice: Stream,
    tie_choice: Stream,
    locating: Option<Locating>,
    open: Option<Open>,
    next_id: QueryId,
    log: Vec<Event>,
    drained: usize,
    ctx: Context,
}

impl Neighbourhoods {
    /// No neighbourhood yet; the knowledge of `problem`'s constraints.
    ///
    /// # Errors
    /// `BadParam` for `dont_know_retries`; `UnsupportedData`.
    pub fn new(
        problem: &Problem,
        ctx: &Context,
        plugin: &str,
        distortion: AutoOr<Distortion>,
        asking: Asking,
    ) -> Result<Self> {
        problem.data.require_rows(plugin)?;
        Ok(Neighbourhoods {
            points: Points::new(&problem.data, distortion)?,
            eligible: problem.eligible_objects(),
            knowledge: Knowledge::new(problem.n(), &problem.constraints),
            members: Vec::new(),
            means: Vec::new(),
            settled: vec![false; problem.n()],
            asking,
            member_choice: ctx.stream("member"),
            tie_choice: ctx.stream("tie"),
            locating: None,
            open: None,
            next_id: 0,
            log: Vec::new(),
            drained: 0,
            ctx: ctx.clone(),
        })
    }

    /// The context of the selector.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// The objects under the selector's distortion.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Options for the questions about an object.
    pub fn asking(&self) -> Asking {
        self.asking
    }

    /// Number of neighbourhoods.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True if it has no neighbourhood.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The eligible objects in order.
    pub fn eligible(&self) -> &[u32] {
        &self.eligible
    }

    /// The eligible objects that are neither in a neighbourhood nor parked, in order.
    pub fn free(&self) -> Vec<u32> {
        self.eligible.iter().copied().filter(|&i| !self.settled[i as usize]).collect()
    }

    /// True if an object is in a neighbourhood or parked.
    pub fn is_settled(&self, object: u32) -> bool {
        self.settled[object as usize]
    }

    /// Members of each neighbourhood in order of joining, the founder first.
    pub fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// Mean of each neighbourhood.
    pub fn means(&self) -> &[Mean] {
        &self.means
    }

    /// Neighbourhoods by increasing distance of `object` to `means`, ties by number.
    pub fn by_distance(&self, object: u32, means: &[Mean]) -> Vec<u32> {
        ascending(means.iter().map(|mean| mean.distance(&self.points, object)).zip(0..))
    }

    /// Neighbourhoods by increasing distance of `object` to their nearest member, ties by number.
    pub fn by_nearest_member(&self, object: u32) -> Vec<u32> {
        let distance = |members: &Vec<u32>| {
            let to = |&m: &u32| self.points.between(object as usize, m as usize);
            members.iter().map(to).fold(f64::INFINITY, f64::min)
        };
        ascending(self.members.iter().map(distance).zip(0..))
    }

    /// The position of the largest score, ties by the selector's rule; `None` scores do not count.
    pub fn best(&mut self, scores: &[Option<f64>]) -> Option<usize> {
        let largest = scores.iter().flatten().copied().max_by(f64::total_cmp)?;
        let tied: Vec<usize> =
            (0..scores.len()).filter(|&at| scores[at] == Some(largest)).collect();
        self.one_of(&tied)
    }

    /// One of those that are equally good, the lowest index first, by the selector's rule.
    pub fn one_of<T: Copy>(&mut self, tied: &[T]) -> Option<T> {
        match self.asking.tie {
            Tie::Random if !tied.is_empty() => Some(tied[self.tie_choice.below(tied.len())]),
            _ => tied.first().copied(),
        }
    }

    /// A new neighbourhood with `object` as its first member.
    pub fn create(&mut self, object: u32) {
        self.members.push(Vec::new());
        self.means.push(Mean::default());
        self.join(object, self.members.len() as u32 - 1);
    }

    fn join(&mut self, object: u32, neighbourhood: u32) {
        let p = neighbourhood as usize;
        self.members[p].push(object);
        self.means[p].include(&self.points, object);
        self.means[p].update(&self.points);
        self.settled[object as usize] = true;
        let representative = self.members[p][0];
        self.log.push(Event::Joined { object, neighbourhood, representative });
    }

    /// Sets an object aside: what is known of it is kept, it is never asked about again.
    pub fn park(&mut self, object: u32) {
        self.settled[object as usize] = true;
    }

    /// Starts to ask where `object` belongs: the neighbourhoods in `order`, until a must-link.
    ///
    /// With `infer`, an object apart from all but one of them joins that one without a question;
    /// sound only when the neighbourhoods are all the classes there are.
    pub fn locate(
        &mut self,
        object: u32,
        order: Vec<u32>,
        member: Member,
        infer: bool,
        purpose: &'static str,
    ) {
        self.set_out(object, order, Put::By(member), infer, purpose);
    }

    /// As [`Neighbourhoods::locate`], with the members of each neighbourhood of `order` in the order
    /// in which they are to be put: the first, and after "don't know" those that follow.
    pub fn locate_by(
        &mut self,
        object: u32,
        order: Vec<u32>,
        references: Vec<Vec<u32>>,
        infer: bool,
        purpose: &'static str,
    ) {
        self.set_out(object, order, Put::Listed(references), infer, purpose);
    }

    fn set_out(
        &mut self,
        object: u32,
        order: Vec<u32>,
        put: Put,
        infer: bool,
        purpose: &'static str,
    ) {
        let standing = vec![Standing::Unknown; order.len()];
        let tries = vec![0; order.len()];
        self.locating = Some(Locating { object, order, standing, tries, put, infer, purpose });
    }

    /// Next step for the object that is being located; `None` if no step is left.
    pub fn proceed(&mut self) -> Option<Next> {
        let mut on = self.locating.take()?;
        let next = self.advance(&mut on);
        if matches!(next, Next::Ask(_)) {
            self.locating = Some(on);
        }
        Some(next)
    }

    fn advance(&mut self, on: &mut Locating) -> Next {
        let x = on.object;
        if self.asking.skip_entailed && self.open.is_none() {
            for at in 0..on.order.len() {
                let founder = self.members[on.order[at] as usize][0];
                if on.standing[at] == Standing::Apart {
                    continue;
                }
                match self.knowledge.relation(x, founder) {
                    Some(Kind::MustLink) => {
                        return Next::Settled(x, self.settle(on, at, Some(ENTAILED)));
                    }
                    Some(Kind::CannotLink) => on.standing[at] = Standing::EntailedApart,
                    None => {}
                }
            }
        }
        loop {
            let left: Vec<usize> = (0..on.order.len())
                .filter(|&at| matches!(on.standing[at], Standing::Unknown | Standing::Open))
                .collect();
            if on.infer && left.len() == 1 {
                let founder = self.members[on.order[left[0]] as usize][0];
                if self.knowledge.relation(x, founder) == Some(Kind::CannotLink) {
                    on.standing[left[0]] = Standing::EntailedApart;
                    continue;
                }
                self.knowledge.must(x, founder);
                return Next::Settled(x, self.settle(on, left[0], Some(LAST_NEIGHBOURHOOD)));
            }
            let unknown = left.iter().copied().find(|&at| on.standing[at] == Standing::Unknown);
            let Some(at) = unknown else {
                self.log_entailed(on);
                if left.is_empty() {
                    return Next::Settled(x, Place::Apart);
                }
                self.park(x);
                return Next::Settled(x, Place::Parked);
            };
            let open = match self.open {
                Some(open) => open,
                None => {
                    let reference = if on.tries[at] > self.asking.dont_know_retries {
                        None
                    } else {
                        self.choose_member(x, on, at)
                    };
                    let Some(reference) = reference else {
                        on.standing[at] = Standing::Open;
                        continue;
                    };
                    let open = Open { id: self.next_id, at, reference };
                    self.next_id += 1;
                    self.open = Some(open);
                    open
                }
            };
            let (id, reference, purpose) = (open.id, open.reference, on.purpose);
            return Next::Ask(Step::Ask { id, subject: x, reference, purpose });
        }
    }

    /// A member of the neighbourhood at position `at` that `x` was not compared with yet.
    fn choose_member(&mut self, x: u32, on: &Locating, at: usize) -> Option<u32> {
        let p = on.order[at] as usize;
        let members = match &on.put {
            Put::By(_) => &self.members[p],
            Put::Listed(references) => &references[at],
        };
        let candidates: Vec<u32> =
            members.iter().copied().filter(|&m| !self.knowledge.was_asked(x, m)).collect();
        let nearest =
            |distance: &dyn Fn(u32) -> f64| least(candidates.iter().map(|&m| (distance(m), m)));
        match on.put {
            _ if candidates.is_empty() => None,
            Put::By(Member::Random) => Some(candidates[self.member_choice.below(candidates.len())]),
            Put::By(Member::First) | Put::Listed(_) => Some(candidates[0]),
            Put::By(Member::Nearest) => nearest(&|m| self.points.between(x as usize, m as usize)),
            Put::By(Member::Medoid) => nearest(&|m| self.means[p].distance(&self.points, m)),
        }
    }

    fn log_entailed(&mut self, on: &Locating) {
        for (at, &p) in on.order.iter().enumerate() {
            if on.standing[at] == Standing::EntailedApart {
                let founder = self.members[p as usize][0];
                self.log_inferred(on.object, founder, Kind::CannotLink, ENTAILED);
            }
        }
    }

    fn log_inferred(&mut self, i: u32, j: u32, kind: Kind, rule: &str) {
        self.log.push(Event::Inferred { i, j, kind, rule: rule.into() });
    }

    /// The object on its way joins the neighbourhood at position `at`, by a reply or for free.
    fn settle(&mut self, on: &Locating, at: usize, rule: Option<&str>) -> Place {
        self.log_entailed(on);
        let p = on.order[at];
        if let Some(rule) = rule {
            self.log_inferred(on.object, self.members[p as usize][0], Kind::MustLink, rule);
        }
        self.join(on.object, p);
        Place::Joined(p)
    }

    /// Takes the reply to the open question; says whether that settled the object.
    ///
    /// # Errors
    /// An id that is not the open one; nothing changes then.
    pub fn tell(&mut self, id: QueryId, reply: Reply) -> Result<Option<(u32, Place)>> {
        let (Some(open), Some(mut on)) = (self.open, self.locating.take()) else {
            return Err(not_open(id));
        };
        if open.id != id {
            self.locating = Some(on);
            return Err(not_open(id));
        }
        self.open = None;
        let (x, r) = (on.object, open.reference);
        let asked = Event::Asked { id, subject: x, reference: r, purpose: on.purpose.into() };
        self.log.push(asked);
        self.log.push(Event::Told { id, reply, cost: 1.0 });
        if self.knowledge.tell(x, r, reply) == Learned::Conflict {
            self.log.push(Event::Conflict { id });
        }
        let stands = match reply {
            Reply::DontKnow => None,
            // After a conflict the first statement stands, not the reply.
            _ => self.knowledge.relation(x, r),
        };
        match stands {
            Some(Kind::MustLink) => return Ok(Some((x, self.settle(&on, open.at, None)))),
            Some(Kind::CannotLink) => on.standing[open.at] = Standing::Apart,
            None => on.tries[open.at] += 1,
        }
        self.locating = Some(on);
        Ok(None)
    }

    /// The constraints so far, given ones included, with the neighbourhoods by name.
    ///
    /// # Errors
    /// Returns the errors of [`Constraints::union`].
    pub fn constraints(&self, problem: &Problem) -> Result<Constraints> {
        let n = problem.n();
        let asked = self.log.iter().any(|e| matches!(e, Event::Told { .. }));
        let log = if asked { self.log.clone() } else { Vec::new() };
        let selected =
            Selection::from_events(n, log).at(usize::MAX, ConstraintView::Neighbourhood)?;
        problem.constraints.union(&selected, n)
    }

    /// Events since the last call. They are held back until there was a reply or all is `done`.
    pub fn drain(&mut self, done: bool) -> Vec<Event> {
        let is_message = |e: &Event| matches!(e, Event::Asked { .. } | Event::Told { .. });
        if !done && !self.log.iter().any(is_message) {
            return Vec::new();
        }
        let fresh = self.log[self.drained..].iter().filter(|e| !is_message(e)).cloned().collect();
        self.drained = self.log.len();
        fresh
    }
}
