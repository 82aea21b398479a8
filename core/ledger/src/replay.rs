//! The answers in the lines of a ledger, and their replay.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::Serialize;

use crate::format::{Asked, Header, Id, Line, Stated, Told, bad, content, io, no_ledger, unmarked};
use mustlink_core::error::{Error, Result};
use mustlink_core::roles::{Answer, QueryId, Reply, Scene};
use mustlink_core::selection::Recorded;

/// One query with its answer, where it has one.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) asked: Asked,
    pub(super) answer: Option<Answer>,
    pub(super) retracted: bool,
    /// The first of the answers stated together with it, if it was not asked itself.
    pub(super) with: Option<QueryId>,
    /// Line of its answer.
    pub(super) line: usize,
}

/// Content of the lines of a file.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    pub(super) n: usize,
    pub(super) queries: BTreeMap<QueryId, Query>,
    /// Live replies by pair.
    pub(super) by_pair: HashMap<(u32, u32), QueryId>,
    /// Events to replay, each with its line; retractions have been carried out.
    pub(super) tape: Vec<(usize, Line)>,
    pub(super) cached: usize,
    pub(super) closed: Option<String>,
}

impl State {
    /// The query whose question ends the tape without an answer.
    fn open(&self) -> Option<QueryId> {
        match self.tape.last() {
            Some((_, Line::Asked(asked))) => Some(asked.id.0),
            _ => None,
        }
    }

    /// Takes in one line, or says why it cannot follow those before it, and stays as it was.
    pub(super) fn take(&mut self, at: usize, line: Line) -> Result<(), String> {
        let closed = self.closed.take();
        let taken = self.follow(at, line);
        if taken.is_err() {
            self.closed = closed;
        }
        taken
    }

    fn follow(&mut self, at: usize, line: Line) -> Result<(), String> {
        let closes = matches!(
            &line,
            Line::Header(_) | Line::Closed(_) | Line::Retracted(_) | Line::Stated(_)
        );
        let open = self.open();
        match (&line, open) {
            (Line::Told(told), Some(open)) if told.id.0 == open => {}
            (Line::Told(told), _) => return Err(format!("{} was not asked just before", told.id)),
            (_, Some(open)) if !closes => return Err(format!("{} is not answered yet", Id(open))),
            _ => {}
        }
        match &line {
            // Rows were appended. The selection begins again, and is served the answers so far.
            Line::Header(_) => {
                self.tape.clear();
                return Ok(());
            }
            Line::Asked(asked) => self.asked(asked)?,
            Line::Told(told) => self.told(at, told)?,
            Line::Retracted(retracted) => return self.retracted(retracted.id),
            Line::Stated(stated) => return self.stated(at, stated),
            Line::Closed(closed) => {
                self.closed = Some(closed.reason.clone());
                return Ok(());
            }
            Line::Inferred { i, j, .. } => self.object(*i).and(self.object(*j))?,
            Line::Joined { object, representative, .. } => {
                self.object(*object).and(self.object(*representative))?;
            }
            Line::Conflict { id } | Line::Corrected { id, .. }
                if !self.queries.contains_key(&id.0) =>
            {
                return Err(format!("{id} was never asked"));
            }
            Line::Conflict { .. }
            | Line::Corrected { .. }
            | Line::Clustered { .. }
            | Line::Done { .. } => {}
        }
        self.tape.push((at, line));
        Ok(())
    }

    /// The queries whose answers were not taken back.
    fn standing(&self) -> impl Iterator<Item = &Query> {
        self.by_pair.values().map(|id| &self.queries[id])
    }

    /// True if the objects of all answers that were not taken back have the ids that they had.
    pub(super) fn has_ids(&self, ids: Option<&[String]>) -> bool {
        let same =
            |object: u32, id: &Option<String>| id.as_ref() == ids.map(|ids| &ids[object as usize]);
        let mut asked = self.standing().map(|query| &query.asked);
        asked.all(|asked| same(asked.i, &asked.i_id) && same(asked.j, &asked.j_id))
    }

    fn object(&self, i: u32) -> Result<(), String> {
        if (i as usize) < self.n {
            Ok(())
        } else {
            Err(format!("object {i} does not exist, there are {}", self.n))
        }
    }

    fn asked(&mut self, asked: &Asked) -> Result<(), String> {
        self.is_pair(asked)?;
        let (s, r, id) = (asked.subject, asked.reference, asked.id.0);
        match self.queries.get(&id) {
            // Put once more and served from the cache.
            Some(_) if self.by_pair.get(&(asked.i, asked.j)) == Some(&id) => {}
            Some(_) => return Err(format!("{} was asked before", asked.id)),
            None => {
                if self.by_pair.contains_key(&(asked.i, asked.j)) {
                    return Err(format!("the pair ({s}, {r}) has its reply already"));
                }
                let (asked, answer) = (asked.clone(), None);
                let query = Query { asked, answer, retracted: false, with: None, line: 0 };
                self.queries.insert(id, query);
            }
        }
        Ok(())
    }

    fn is_pair(&self, asked: &Asked) -> Result<(), String> {
        let (s, r) = (asked.subject, asked.reference);
        self.object(s).and(self.object(r))?;
        if s == r || (asked.i, asked.j) != (s.min(r), s.max(r)) {
            return Err(format!("{} asks about the pair ({s}, {r})", asked.id));
        }
        Ok(())
    }

    /// No part of the replay: served where the selector comes to ask it. So it takes the place of a question that
    /// is open about its pair.
    fn stated(&mut self, line: usize, stated: &Stated) -> Result<(), String> {
        let Stated { asked, answer, with } = stated.clone();
        self.is_pair(&asked)?;
        let (id, pair) = (asked.id.0, (asked.i, asked.j));
        is_cost(answer.cost)?;
        if self.queries.contains_key(&id) {
            return Err(format!("{} was asked before", asked.id));
        }
        if self.by_pair.contains_key(&pair) {
            return Err(format!("the pair ({}, {}) was answered already", pair.0, pair.1));
        }
        let about = |open: &QueryId| (self.queries[open].asked.i, self.queries[open].asked.j);
        if let Some(open) = self.open().filter(|open| about(open) == pair) {
            self.queries.remove(&open);
            self.tape.pop();
        }
        let (answer, with) = (Some(answer), Some(with.0));
        self.by_pair.insert(pair, id);
        self.queries.insert(id, Query { asked, answer, retracted: false, with, line });
        Ok(())
    }

    fn told(&mut self, line: usize, told: &Told) -> Result<(), String> {
        is_cost(told.answer.cost)?;
        let query = self.queries.get_mut(&told.id.0).ok_or("it was never asked")?;
        match (&query.answer, told.cached) {
            (Some(answer), true) if answer.reply == told.answer.reply && !query.retracted => {
                self.cached += 1;
            }
            (None, false) => {
                query.answer = Some(told.answer.clone());
                query.line = line;
                self.by_pair.insert((query.asked.i, query.asked.j), told.id.0);
            }
            (Some(_), _) => return Err(format!("{} was answered before", told.id)),
            (None, true) => return Err(format!("{} is cached and has no reply", told.id)),
        }
        Ok(())
    }

    /// The tape ends before the question whose reply is taken back; what came after it stays known.
    fn retracted(&mut self, id: Id) -> Result<(), String> {
        let query = self.queries.get_mut(&id.0).filter(|q| q.answer.is_some() && !q.retracted);
        let query = query.ok_or_else(|| format!("{id} has no reply to take back"))?;
        query.retracted = true;
        self.by_pair.remove(&(query.asked.i, query.asked.j));
        let asked = |line: &Line| matches!(line, Line::Asked(a) if a.id == id);
        if let Some(at) = self.tape.iter().position(|(_, line)| asked(line)) {
            self.tape.truncate(at);
        }
        Ok(())
    }

    /// The queries in a replay of the tape.
    pub(super) fn on_tape(&self) -> BTreeSet<QueryId> {
        let asked = self.tape.iter().filter_map(|(_, line)| match line {
            Line::Asked(asked) => Some(asked.id.0),
            _ => None,
        });
        asked.collect()
    }

    /// Every answer that was paid for, those taken back included, in the order of the queries.
    pub(super) fn answers(&self) -> Vec<Recorded> {
        let queries = self.queries.iter();
        let answered = queries.filter_map(|(&id, q)| {
            Some(Recorded {
                id,
                subject: q.asked.subject,
                reference: q.asked.reference,
                answer: q.answer.clone()?,
                retracted: q.retracted,
                with: q.with,
                line: q.line,
            })
        });
        answered.collect()
    }

    /// Counts of the whole file.
    ///
    /// # Errors
    /// `Contract` when they do not add up, which would be a defect of the program.
    pub(super) fn report(&self) -> Result<Report> {
        let mut r = Report { cached: self.cached, ..Report::default() };
        let mut times = Vec::new();
        for query in self.queries.values() {
            let Some(answer) = &query.answer else { continue };
            r.asked += 1;
            r.cost += answer.cost;
            r.votes += answer.votes.len().max(1);
            times.extend(answer.elapsed_ms);
            match (query.retracted, answer.reply) {
                (true, _) => r.retracted += 1,
                (_, Reply::MustLink) => r.must_link += 1,
                (_, Reply::CannotLink) => r.cannot_link += 1,
                (_, Reply::DontKnow) => r.dont_know += 1,
            }
        }
        for (_, line) in &self.tape {
            match line {
                Line::Inferred { rule, .. } => *r.inferred.entry(rule.clone()).or_default() += 1,
                Line::Conflict { .. } => r.conflicts += 1,
                _ => {}
            }
        }
        times.sort_unstable();
        if !times.is_empty() {
            r.median_ms = Some(times[(times.len() - 1) / 2]);
            r.percentile_90_ms = Some(times[(times.len() * 9).div_ceil(10) - 1]);
        }
        let live = self.by_pair.len();
        let sum = r.must_link + r.cannot_link + r.dont_know;
        if sum != live || r.asked != sum + r.retracted {
            let broken = format!(
                "{} asked, {sum} replies of which {live} live, {} retracted",
                r.asked, r.retracted
            );
            return Err(Error::Contract { plugin: "ledger".into(), broken });
        }
        Ok(r)
    }
}

fn is_cost(cost: f64) -> Result<(), String> {
    let well = cost >= 0.0 && cost.is_finite();
    well.then_some(()).ok_or_else(|| format!("cost must be finite and >= 0, got {cost}"))
}

/// The header and the lines of the ledger at `path`, and warnings.
fn opened(path: &Path) -> Result<(Header, State, Vec<String>)> {
    let bytes = std::fs::read(path).map_err(io(path))?;
    let bytes = unmarked(&bytes);
    let content = content(bytes, path)?;
    let header = content.header.ok_or_else(|| no_ledger(path))?;
    let mut state = State { n: header.n, ..State::default() };
    for (at, line) in content.lines.into_iter().enumerate() {
        state.take(at + 2, line).map_err(|m| bad(path, at + 2, m))?;
    }
    let mut notices = Vec::new();
    if content.whole < bytes.len() {
        notices.push(format!(
            "{}: the last line was cut off and is left out ({} bytes); an answer in it is lost",
            path.display(),
            bytes.len() - content.whole
        ));
    }
    Ok((header, state, notices))
}

/// The answers of the ledger at `path` about objects whose ids `scene` has, as [`answers`] gives them, an unknown id of
/// each other answer, and warnings.
///
/// # Errors
/// `Data` for a file that is not a ledger, or that refers to rows by number.
pub fn known_answers(
    path: &Path,
    scene: &Scene,
) -> Result<(Vec<Recorded>, Vec<String>, Vec<String>)> {
    let (_, state, notices) = opened(path)?;
    let ids = scene.ids.as_deref().unwrap_or_default();
    let rows: HashMap<&str, u32> = ids.iter().map(String::as_str).zip(0..).collect();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for recorded in state.answers().into_iter().filter(|r| !r.retracted) {
        let asked = &state.queries[&recorded.id].asked;
        let (Some(i), Some(j)) = (&asked.i_id, &asked.j_id) else {
            let message =
                "refers to rows by number, but ids are needed. Label the records with --id COLUMN";
            return Err(bad(path, recorded.line, message));
        };
        if let Some(other) = [i, j].into_iter().find(|id| !rows.contains_key(id.as_str())) {
            unknown.push(other.clone());
            continue;
        }
        let (i, j) = (rows[i.as_str()], rows[j.as_str()]);
        let (subject, reference) = if asked.subject == asked.i { (i, j) } else { (j, i) };
        known.push(Recorded { subject, reference, ..recorded });
    }
    Ok((known, unknown, notices))
}

/// The answers of the ledger at `path` about the objects of `scene`, in the order of their queries, without those that
/// were taken back; and warnings. The file is not changed.
///
/// Objects that were recorded with ids are looked up by id, so rows may have another order now. Others are row numbers:
/// of all objects, or of the first ones if others were appended.
///
/// # Errors
/// `Data` for a file that is not a ledger, an unknown id, ids if `scene` has none, row numbers of another number of
/// objects unless their values are those of the first ones.
pub fn answers(path: &Path, scene: &Scene) -> Result<(Vec<Recorded>, Vec<String>)> {
    let (header, state, mut notices) = opened(path)?;
    let (n, ids) = (scene.n, scene.ids.as_deref());
    let numbered = state.standing().any(|query| query.asked.i_id.is_none());
    // Row numbers say nothing of rows that were added or left out, whatever ids there are now.
    if ids.is_none() || numbered {
        let same = header.is_about(scene);
        if header.n != n && (header.n > n || same != Some(true)) {
            return Err(bad(path, 0, other_objects(&header, n, same, path)));
        }
        if numbered && same == Some(false) {
            notices.push(format!(
                "{}: refers to rows by number, but its rows had other values; check that the rows are the same, or \
                 use ids (--id)",
                path.display()
            ));
        }
    }
    let rows: Option<HashMap<&str, u32>> =
        ids.map(|ids| ids.iter().map(String::as_str).zip(0..).collect());
    let gone = "\"mustlink ledger merge\" with the earlier data writes a CSV, and you can remove its pairs there";
    let row = |object: u32, id: &Option<String>, line: usize| match (&rows, id) {
        (Some(rows), Some(id)) => {
            let unknown = || bad(path, line, format!("no object has the id \"{id}\"; {gone}"));
            rows.get(id.as_str()).copied().ok_or_else(unknown)
        }
        (None, Some(id)) => {
            let message = format!(
                "refers to objects by ids, such as \"{id}\", but these data have no ids; name the column of ids \
                 (--id)"
            );
            Err(bad(path, 0, message))
        }
        _ if (object as usize) < n => Ok(object),
        _ => Err(bad(path, 0, format!("object {object} does not exist, there are {n}"))),
    };
    let mut out = Vec::new();
    for recorded in state.answers().into_iter().filter(|r| !r.retracted) {
        let asked = &state.queries[&recorded.id].asked;
        let i = row(asked.i, &asked.i_id, recorded.line)?;
        let j = row(asked.j, &asked.j_id, recorded.line)?;
        let (subject, reference) = if asked.subject == asked.i { (i, j) } else { (j, i) };
        out.push(Recorded { subject, reference, ..recorded });
    }
    Ok((out, notices))
}

/// The message about row numbers of other objects than the `n` of now.
fn other_objects(header: &Header, n: usize, same: Option<bool>, path: &Path) -> String {
    let mut message =
        format!("is about {} objects (data set {}), not {n}", header.n, header.dataset);
    if header.n < n {
        if same == Some(false) {
            message += &format!(", and the first {} rows had other values then", header.n);
        }
        message += &format!(
            "; if its session dropped or merged rows, as deduplicate does, \"mustlink select\" with the \
             options of that session, --oracle none and --ledger {} writes its constraints",
            path.display()
        );
    }
    message
}

/// Costs and results of a selection.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Questions that were answered, those taken back included.
    pub asked: usize,
    /// Must-link replies.
    pub must_link: usize,
    /// Cannot-link replies.
    pub cannot_link: usize,
    /// "Don't know" replies.
    pub dont_know: usize,
    /// Replies taken back.
    pub retracted: usize,
    /// Questions served once more from the file.
    pub cached: usize,
    /// Conclusions that cost nothing, by rule.
    pub inferred: BTreeMap<String, usize>,
    /// Votes collected where several annotators were asked; 1 for every other reply.
    pub votes: usize,
    /// Total cost.
    pub cost: f64,
    /// Replies that contradicted what was known.
    pub conflicts: usize,
    /// Median time of a reply, if a person answered.
    pub median_ms: Option<u64>,
    /// Nine of ten replies took at most this long.
    pub percentile_90_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Retracted, told};

    #[test]
    fn what_cannot_follow_is_refused() {
        let asked = |id, s: u32, r: u32| {
            let (i, j) = (s.min(r), s.max(r));
            let purpose = "test".into();
            let (i_id, j_id) = (None, None);
            Line::Asked(Asked { id: Id(id), i, j, subject: s, reference: r, purpose, i_id, j_id })
        };
        let reply = |id| Line::Told(told(id, &Answer::of(Reply::MustLink), false));
        let free = |cost| Answer { cost, ..Answer::of(Reply::MustLink) };
        let cases: [(Vec<Line>, &str); 8] = [
            (vec![asked(0, 0, 9)], "object 9 does not exist, there are 5"),
            (vec![asked(0, 2, 2)], "q000000 asks about the pair (2, 2)"),
            (vec![reply(0)], "q000000 was not asked just before"),
            (vec![asked(0, 0, 1), asked(1, 0, 2)], "q000000 is not answered yet"),
            (vec![asked(0, 0, 1), reply(0), asked(0, 1, 2)], "q000000 was asked before"),
            (
                vec![asked(0, 0, 1), reply(0), asked(1, 1, 0)],
                "the pair (1, 0) has its reply already",
            ),
            (
                vec![asked(0, 0, 1), Line::Told(told(0, &free(-1.0), false))],
                "cost must be finite and >= 0, got -1",
            ),
            (
                vec![asked(0, 0, 1), Line::Retracted(Retracted { id: Id(0), by: None })],
                "q000000 has no reply to take back",
            ),
        ];
        for (lines, expected) in cases {
            let mut state = State { n: 5, ..State::default() };
            let mut verdict = Ok(());
            for (at, line) in lines.into_iter().enumerate() {
                assert_eq!(verdict, Ok(()));
                verdict = state.take(at + 2, line);
            }
            assert_eq!(verdict, Err(expected.to_string()));
        }
    }
}
