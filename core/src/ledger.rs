//! What was asked, and what was answered, so that no crash can lose it?
//!
//! A ledger is a file of JSON lines, written one event at a time and never changed. A reply is on
//! disk before a selector sees it. Resuming is replaying: the selector runs again, its questions are
//! answered from the file at no cost, and where it would do anything else than the file says, the
//! first difference is an error. A reply that a person takes back is one more line, `retracted`; the
//! selector then runs again without it, and what was answered later is served from the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::constraints::Kind;
use crate::error::{Error, Result};
use crate::roles::{
    Answer, Done, Event, Oracle, QueryId, QuerySelector, Question, Reply, RoleObject, Scene, Vote,
};

/// The version of the format.
const VERSION: u32 = 1;

/// What a ledger belongs to: its first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the data set.
    pub dataset: String,
    /// Hash of the ids of the objects and the shape of the data.
    pub fingerprint: String,
    /// Number of objects.
    pub n: usize,
    /// When it was begun, UTC.
    pub created: String,
    /// Hash of the seed path of the selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// Configuration of the selector.
    pub selector: Value,
    /// Configuration of the oracle at the beginning; another one may go on.
    pub oracle: Value,
    /// Id of each object, written beside its number.
    #[serde(skip)]
    pub ids: Option<Arc<[String]>>,
}

impl Header {
    /// The header of a selection by `selector`, run in `ctx`, asking `oracle` about `scene`.
    pub fn new(
        scene: &Scene,
        selector: &(dyn QuerySelector + 'static),
        oracle: &(dyn Oracle + 'static),
        ctx: &crate::context::Context,
    ) -> Self {
        let mut h = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            h.update(&(bytes.len() as u64).to_le_bytes());
            h.update(bytes);
        };
        part(&(scene.n as u64).to_le_bytes());
        if let Some(data) = &scene.data {
            part(data.kind().name().as_bytes());
            part(&(data.d() as u64).to_le_bytes());
        }
        for id in scene.ids.iter().flat_map(|ids| ids.iter()) {
            part(id.as_bytes());
        }
        let short = |hash: blake3::Hash| hash.to_hex()[..32].to_string();
        Header {
            dataset: scene.name.clone().unwrap_or_default(),
            fingerprint: short(h.finalize()),
            n: scene.n,
            created: utc(SystemTime::now()),
            seed: Some(short(blake3::hash(ctx.path().as_bytes()))),
            selector: selector.to_value(),
            oracle: oracle.to_value(),
            ids: scene.ids.clone(),
        }
    }

    /// What of `now` does not fit this header of an existing ledger.
    fn refuses(&self, now: &Header) -> Option<String> {
        let told = |what: &str, then: &dyn std::fmt::Display, now: &dyn std::fmt::Display| {
            Some(format!("belongs to another selection: its {what} is {then}, this one's is {now}"))
        };
        if self.n != now.n {
            return told("number of objects", &self.n, &now.n);
        }
        if self.fingerprint != now.fingerprint {
            return told("fingerprint of the data", &self.fingerprint, &now.fingerprint);
        }
        if self.selector != now.selector {
            return told("selector", &self.selector, &now.selector);
        }
        match (&self.seed, &now.seed) {
            (Some(then), Some(now)) if then != now => told("seed", then, now),
            _ => None,
        }
    }
}

/// Date and time in UTC as `2026-01-31T08:05:09Z`.
fn utc(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Days counted from 1 March 0000, so that the leap day ends a year; eras have 400 years.
    let z = day + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z",
        doy - (153 * mp + 2) / 5 + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// When a line must have reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before anything else happens: for people, whose answers are dear.
    Every,
    /// After this many lines: for simulated oracles.
    Batch(usize),
    /// When the system likes: for benchmarks.
    None,
}

/// Number of a query as the file has it: `q000017`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Id(QueryId);

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "q{:06}", self.0)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix('q').and_then(|t| t.parse().ok());
        number.map(Id).ok_or_else(|| {
            serde::de::Error::custom(format!("\"{text}\" is not the id of a query, like q000017"))
        })
    }
}

/// One line after its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Header(Header),
    Asked(Asked),
    Told(Told),
    Inferred { i: u32, j: u32, kind: Kind, rule: String },
    Joined { object: u32, neighbourhood: u32, representative: u32 },
    Clustered { request: u64, digest: String },
    Conflict { id: Id },
    Done { reason: Done },
    Retracted(Retracted),
    Closed(Closed),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Asked {
    id: Id,
    i: u32,
    j: u32,
    subject: u32,
    reference: u32,
    purpose: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    i_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    j_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Told {
    id: Id,
    reply: Reply,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    annotator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elapsed_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    votes: Vec<Vote>,
    cost: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Retracted {
    id: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Closed {
    reason: String,
}

#[derive(Serialize, Deserialize)]
struct Versioned<L> {
    v: u32,
    #[serde(flatten)]
    line: L,
}

impl Line {
    fn of(event: &Event) -> Option<Line> {
        Some(match event.clone() {
            Event::Inferred { i, j, kind, rule } => Line::Inferred { i, j, kind, rule },
            Event::Joined { object, neighbourhood, representative } => {
                Line::Joined { object, neighbourhood, representative }
            }
            Event::Clustered { request, digest } => Line::Clustered { request, digest },
            Event::Conflict { id } => Line::Conflict { id: Id(id) },
            Event::Done { reason } => Line::Done { reason },
            // Those have methods of their own.
            Event::Asked { .. } | Event::Told { .. } | Event::Retracted { .. } => return None,
        })
    }

    /// In a few words, for messages.
    fn describe(&self) -> String {
        match self {
            Line::Asked(a) => format!("asked ({}, {}) for {}", a.subject, a.reference, a.purpose),
            Line::Told(t) => format!("told {}", t.id),
            other => serde_json::to_string(other).unwrap_or_default(),
        }
    }
}

/// One query with its answer, where it has one.
#[derive(Debug, Clone)]
struct Query {
    asked: Asked,
    answer: Option<Answer>,
    retracted: bool,
}

/// What the lines of a file come to.
#[derive(Debug, Default)]
struct State {
    n: usize,
    queries: BTreeMap<QueryId, Query>,
    /// Live replies by pair.
    by_pair: HashMap<(u32, u32), QueryId>,
    /// What a replay does, with the line each event stands on; retractions have been carried out.
    tape: Vec<(usize, Line)>,
    cached: usize,
    closed: Option<String>,
}

impl State {
    /// The query whose question ends the tape without an answer.
    fn open(&self) -> Option<QueryId> {
        match self.tape.last() {
            Some((_, Line::Asked(asked))) => Some(asked.id.0),
            _ => None,
        }
    }

    /// Takes in one line, or says why it cannot follow those before it.
    fn take(&mut self, at: usize, line: Line) -> std::result::Result<(), String> {
        let closes = matches!(&line, Line::Closed(_) | Line::Retracted(_));
        let open = self.open();
        match (&line, open) {
            (Line::Told(told), Some(open)) if told.id.0 == open => {}
            (Line::Told(told), _) => return Err(format!("{} was not asked just before", told.id)),
            (_, Some(open)) if !closes => return Err(format!("{} is not answered yet", Id(open))),
            _ => {}
        }
        self.closed = None;
        match &line {
            Line::Header(_) => return Err("a second header".into()),
            Line::Asked(asked) => self.asked(asked)?,
            Line::Told(told) => self.told(told)?,
            Line::Retracted(retracted) => return self.retracted(retracted.id),
            Line::Closed(closed) => {
                self.closed = Some(closed.reason.clone());
                return Ok(());
            }
            Line::Inferred { i, j, .. } => self.object(*i).and(self.object(*j))?,
            Line::Joined { object, representative, .. } => {
                self.object(*object).and(self.object(*representative))?;
            }
            Line::Conflict { id } if !self.queries.contains_key(&id.0) => {
                return Err(format!("{id} was never asked"));
            }
            Line::Conflict { .. } | Line::Clustered { .. } | Line::Done { .. } => {}
        }
        self.tape.push((at, line));
        Ok(())
    }

    fn object(&self, i: u32) -> std::result::Result<(), String> {
        match (i as usize) < self.n {
            true => Ok(()),
            false => Err(format!("object {i} does not exist, there are {}", self.n)),
        }
    }

    fn asked(&mut self, asked: &Asked) -> std::result::Result<(), String> {
        let (s, r) = (asked.subject, asked.reference);
        self.object(s).and(self.object(r))?;
        if s == r || (asked.i, asked.j) != (s.min(r), s.max(r)) {
            return Err(format!("{} asks about the pair ({s}, {r})", asked.id));
        }
        let id = asked.id.0;
        match self.queries.get(&id) {
            // Put once more and served from the cache.
            Some(_) if self.by_pair.get(&(asked.i, asked.j)) == Some(&id) => {}
            Some(_) => return Err(format!("{} was asked before", asked.id)),
            None => {
                if self.by_pair.contains_key(&(asked.i, asked.j)) {
                    return Err(format!("the pair ({s}, {r}) has its reply already"));
                }
                let query = Query { asked: asked.clone(), answer: None, retracted: false };
                self.queries.insert(id, query);
            }
        }
        Ok(())
    }

    fn told(&mut self, told: &Told) -> std::result::Result<(), String> {
        if !(told.cost >= 0.0 && told.cost.is_finite()) {
            return Err(format!("cost must be finite and >= 0, got {}", told.cost));
        }
        let query = self.queries.get_mut(&told.id.0).ok_or("it was never asked")?;
        match (&query.answer, told.cached) {
            (Some(answer), true) if answer.reply == told.reply && !query.retracted => {
                self.cached += 1;
            }
            (None, false) => {
                query.answer = Some(Answer {
                    reply: told.reply,
                    cost: told.cost,
                    annotator: told.annotator.clone(),
                    confidence: told.confidence,
                    elapsed_ms: told.elapsed_ms,
                    note: told.note.clone(),
                    votes: told.votes.clone(),
                });
                self.by_pair.insert((query.asked.i, query.asked.j), told.id.0);
            }
            (Some(_), _) => return Err(format!("{} was answered before", told.id)),
            (None, true) => return Err(format!("{} is cached and has no reply", told.id)),
        }
        Ok(())
    }

    /// The tape ends before the question whose reply is taken back; what came after it stays known.
    fn retracted(&mut self, id: Id) -> std::result::Result<(), String> {
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

    /// The queries that a replay of the tape meets.
    fn on_tape(&self) -> BTreeSet<QueryId> {
        let asked = self.tape.iter().filter_map(|(_, line)| match line {
            Line::Asked(asked) => Some(asked.id.0),
            _ => None,
        });
        asked.collect()
    }
}

/// The bytes of a file, taken apart.
struct Content {
    header: Option<Header>,
    lines: Vec<Line>,
    /// Bytes of whole lines; what follows was cut off.
    whole: usize,
}

fn bad(path: &Path, line: usize, message: impl Into<String>) -> Error {
    let place = match line {
        0 => path.display().to_string(),
        line => format!("{}, line {line}", path.display()),
    };
    Error::Data { place, message: message.into() }
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |e| bad(path, 0, e.to_string())
}

fn content(bytes: &[u8], path: &Path) -> Result<Content> {
    let mut whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let mut lines: Vec<&[u8]> = bytes[..whole].split(|&b| b == b'\n').collect();
    lines.pop();
    // The end of a line may reach the disk before its beginning.
    if let Some(last) = lines.last()
        && serde_json::from_slice::<serde::de::IgnoredAny>(last).is_err()
    {
        whole -= last.len() + 1;
        lines.pop();
    }
    let mut out = Content { header: None, lines: Vec::with_capacity(lines.len()), whole };
    for (at, bytes) in lines.into_iter().enumerate() {
        let invalid = |m: String| bad(path, at + 1, format!("not a line of a ledger: {m}"));
        #[derive(Deserialize)]
        struct Version {
            v: u32,
        }
        let Version { v } = serde_json::from_slice(bytes).map_err(|e| invalid(e.to_string()))?;
        if v != VERSION {
            return Err(invalid(format!("its version is {v}, this program reads {VERSION}")));
        }
        let Versioned { line, .. } =
            serde_json::from_slice::<Versioned<Line>>(bytes).map_err(|e| invalid(e.to_string()))?;
        match (at, line) {
            (0, Line::Header(header)) => out.header = Some(header),
            (0, _) => return Err(invalid("the first line must be the header".into())),
            (_, line) => out.lines.push(line),
        }
    }
    Ok(out)
}

/// One answer of a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Number of the query.
    pub id: QueryId,
    /// The object the question was about.
    pub subject: u32,
    /// The object it was compared with.
    pub reference: u32,
    /// The answer.
    pub answer: Answer,
    /// It was taken back.
    pub retracted: bool,
}

impl Recorded {
    /// The question.
    pub fn question(&self) -> Question {
        let (subject, reference) = (self.subject, self.reference);
        let (i, j) = (subject.min(reference), subject.max(reference));
        Question { id: self.id, i, j, subject, reference, purpose: "recorded" }
    }
}

/// The answers of the ledger at `path`, in the order of their queries. The file is not changed.
///
/// Objects that were recorded with ids are looked up by id among `ids`, where given: the rows may
/// stand in another order now.
///
/// # Errors
/// `Data` for a file that is no ledger, an id that is unknown, objects beyond `n`.
pub fn answers(path: &Path, n: usize, ids: Option<&[String]>) -> Result<Vec<Recorded>> {
    let bytes = std::fs::read(path).map_err(io(path))?;
    let content = content(&bytes, path)?;
    let Some(header) = content.header else { return Err(bad(path, 0, "is not a ledger")) };
    let mut state = State { n: header.n, ..State::default() };
    for (at, line) in content.lines.into_iter().enumerate() {
        state.take(at + 2, line).map_err(|m| bad(path, at + 2, m))?;
    }
    let rows: Option<HashMap<&str, u32>> =
        ids.map(|ids| ids.iter().map(String::as_str).zip(0..).collect());
    let row = |object: u32, id: &Option<String>| match (&rows, id) {
        (Some(rows), Some(id)) => rows
            .get(id.as_str())
            .copied()
            .ok_or_else(|| bad(path, 0, format!("no object has the id \"{id}\""))),
        _ if (object as usize) < n => Ok(object),
        _ => Err(bad(path, 0, format!("object {object} does not exist, there are {n}"))),
    };
    let mut out = Vec::new();
    for (id, query) in state.queries {
        let Some(answer) = query.answer else { continue };
        let (i, j) =
            (row(query.asked.i, &query.asked.i_id)?, row(query.asked.j, &query.asked.j_id)?);
        let turned = query.asked.subject != query.asked.i;
        let (subject, reference) = if turned { (j, i) } else { (i, j) };
        out.push(Recorded { id, subject, reference, answer, retracted: query.retracted });
    }
    Ok(out)
}

/// What a selection cost and brought.
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
    /// Median time of a reply, where somebody was waited for.
    pub median_ms: Option<u64>,
    /// Nine of ten replies took at most this long.
    pub percentile_90_ms: Option<u64>,
}

/// An open ledger. Its lock is held until it is dropped.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    _lock: Lock,
    durability: Durability,
    unsynced: usize,
    /// Bytes of whole lines.
    length: u64,
    lines: usize,
    /// A line could not be written: what is in memory is ahead of the file.
    broken: bool,
    header: Header,
    state: State,
    cursor: usize,
    notices: Vec<String>,
}

impl Ledger {
    /// Begins a ledger.
    ///
    /// # Errors
    /// `Data` when the file exists, cannot be written or is locked.
    pub fn create(path: &Path, header: Header, durability: Durability) -> Result<Self> {
        if path.exists() {
            let message = "exists already; open it to go on, or choose another name";
            return Err(bad(path, 0, message));
        }
        Self::open(path, header, durability)
    }

    /// Goes on with a ledger, or begins one where there is none.
    ///
    /// A last line that was cut off is removed; [`Ledger::notices`] says so.
    ///
    /// # Errors
    /// `Data` when the file belongs to another selection (the first difference is named), when a line
    /// other than the last is no line of a ledger, when another process writes it.
    pub fn open(path: &Path, header: Header, durability: Durability) -> Result<Self> {
        let mut notices = Vec::new();
        let lock = Lock::take(path, &mut notices)?;
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io(path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io(path))?;
        let content = content(&bytes, path)?;
        if content.whole < bytes.len() {
            notices.push(format!(
                "{}: the last line was cut off and is removed ({} bytes); a question without its \
                 reply is asked again",
                path.display(),
                bytes.len() - content.whole
            ));
            file.set_len(content.whole as u64).map_err(io(path))?;
            file.seek(SeekFrom::End(0)).map_err(io(path))?;
        }
        let mut ledger = Ledger {
            path: path.into(),
            file,
            _lock: lock,
            durability,
            unsynced: 0,
            length: content.whole as u64,
            lines: 0,
            broken: false,
            state: State { n: header.n, ..State::default() },
            header,
            cursor: 0,
            notices,
        };
        match content.header {
            Some(then) => {
                if let Some(message) = then.refuses(&ledger.header) {
                    let hint = "choose another file; the oracle replay can serve these replies";
                    return Err(bad(path, 1, format!("{message}; {hint}")));
                }
                ledger.lines = 1;
                ledger.header = Header { ids: ledger.header.ids.take(), ..then };
            }
            None => {
                ledger.write(&Line::Header(ledger.header.clone()))?;
                ledger.sync_directory()?;
            }
        }
        for line in content.lines {
            ledger.lines += 1;
            let at = ledger.lines;
            ledger.state.take(at, line).map_err(|m| bad(path, at, m))?;
        }
        Ok(ledger)
    }

    /// What happened on opening that a person should know.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What the ledger belongs to.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every answer that was paid for, those taken back included, in the order of the queries.
    pub fn answers(&self) -> Vec<Recorded> {
        let queries = self.state.queries.iter();
        let answered = queries.filter_map(|(&id, q)| {
            Some(Recorded {
                id,
                subject: q.asked.subject,
                reference: q.asked.reference,
                answer: q.answer.clone()?,
                retracted: q.retracted,
            })
        });
        answered.collect()
    }

    /// The query that was answered last and not taken back.
    pub fn last(&self) -> Option<QueryId> {
        self.state.tape.iter().rev().find_map(|(_, line)| match line {
            Line::Told(told) => Some(told.id.0),
            _ => None,
        })
    }

    /// Takes a reply back. The next run of the selection goes on from before its question; the query
    /// stays counted.
    ///
    /// # Errors
    /// `Oracle` when that query has no reply to take back; `Data` when the line cannot be written.
    pub fn retract(&mut self, id: QueryId, by: Option<&str>) -> Result<()> {
        let query = self.state.queries.get(&id);
        if query.is_none_or(|q| q.answer.is_none() || q.retracted) {
            return Err(Error::Oracle(format!("{} has no reply to take back", Id(id))));
        }
        self.append(Line::Retracted(Retracted { id: Id(id), by: by.map(Into::into) }))?;
        self.rewind();
        Ok(())
    }

    /// Counts of the whole file.
    ///
    /// # Errors
    /// `Contract` when they do not add up, which would be a defect of the program.
    pub fn report(&self) -> Result<Report> {
        let mut r = Report { cached: self.state.cached, ..Report::default() };
        let mut times = Vec::new();
        for query in self.state.queries.values() {
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
        for (_, line) in &self.state.tape {
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
        let live = self.state.by_pair.len();
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

    /// The replay begins anew.
    pub(crate) fn rewind(&mut self) {
        self.cursor = 0;
    }

    /// Whether anything recorded is left to serve.
    pub(crate) fn has_more(&self) -> bool {
        self.cursor < self.state.tape.len() || {
            let met = self.state.on_tape();
            self.state.by_pair.values().any(|id| !met.contains(id))
        }
    }

    /// Whether the question that comes now will be served from the file.
    pub(crate) fn knows(&self, subject: u32, reference: u32) -> bool {
        let pair = (subject.min(reference), subject.max(reference));
        // Inside the recording another question is a difference to be told, not one to be dropped.
        self.state.by_pair.contains_key(&pair) || self.cursor + 1 < self.state.tape.len()
    }

    /// The selector asks: the number of the query, and the answer where the file has it.
    pub(crate) fn ask(
        &mut self,
        subject: u32,
        reference: u32,
        purpose: &str,
    ) -> Result<(QueryId, Option<Answer>)> {
        let (i, j) = (subject.min(reference), subject.max(reference));
        let name = |o: u32| self.header.ids.as_ref().map(|ids| ids[o as usize].clone());
        let asked = |id: QueryId| Asked {
            id: Id(id),
            i,
            j,
            subject,
            reference,
            purpose: purpose.into(),
            i_id: name(i),
            j_id: name(j),
        };
        if let Some((at, line)) = self.state.tape.get(self.cursor) {
            let id = match line {
                Line::Asked(a)
                    if (a.subject, a.reference, &*a.purpose) == (subject, reference, purpose) =>
                {
                    a.id.0
                }
                other => return Err(self.differs(*at, other, &Line::Asked(asked(0)))),
            };
            self.cursor += 1;
            if self.cursor == self.state.tape.len() {
                return Ok((id, None));
            }
            self.cursor += 1;
            return Ok((id, self.state.queries[&id].answer.clone()));
        }
        if let Some(&id) = self.state.by_pair.get(&(i, j)) {
            let answer = self.state.queries[&id].answer.clone();
            self.append(Line::Asked(asked(id)))?;
            if let Some(answer) = &answer {
                let served = Answer { cost: 0.0, ..Answer::of(answer.reply) };
                self.append(Line::Told(told(id, &served, true)))?;
            }
            self.cursor = self.state.tape.len();
            return Ok((id, answer));
        }
        let id = self.state.queries.keys().next_back().map_or(0, |last| last + 1);
        self.append(Line::Asked(asked(id)))?;
        self.cursor = self.state.tape.len();
        Ok((id, None))
    }

    /// The oracle answered the open question.
    pub(crate) fn tell(&mut self, id: QueryId, answer: &Answer) -> Result<()> {
        self.append(Line::Told(told(id, answer, false)))?;
        self.cursor = self.state.tape.len();
        Ok(())
    }

    /// The selector concluded something, asked for a clustering, or is done.
    pub(crate) fn event(&mut self, event: &Event) -> Result<()> {
        let Some(line) = Line::of(event) else { return Ok(()) };
        match self.state.tape.get(self.cursor) {
            Some((_, then)) if *then == line => {}
            Some((at, then)) => return Err(self.differs(*at, then, &line)),
            None => self.append(line)?,
        }
        self.cursor += 1;
        Ok(())
    }

    /// The replies a replay does not meet: taken back, or answered after one that was.
    pub(crate) fn unmet(&self) -> Vec<Recorded> {
        let met = self.state.on_tape();
        self.answers().into_iter().filter(|r| !met.contains(&r.id)).collect()
    }

    /// A session ends. Nothing is written when it ended for the same reason before.
    pub(crate) fn close(&mut self, reason: Option<&str>) -> Result<()> {
        if let Some(reason) = reason
            && self.state.closed.as_deref() != Some(reason)
        {
            self.append(Line::Closed(Closed { reason: reason.into() }))?;
        }
        self.sync()
    }

    fn differs(&self, at: usize, then: &Line, now: &Line) -> Error {
        let message = format!(
            "the selection takes another course here: recorded is \"{}\", and now it is \"{}\"; the \
             data, the method or the program changed since; choose another file (the oracle replay \
             can serve these replies)",
            then.describe(),
            now.describe()
        );
        bad(&self.path, at, message)
    }

    fn append(&mut self, line: Line) -> Result<()> {
        let at = self.lines + 1;
        self.state.take(at, line.clone()).map_err(|m| bad(&self.path, at, m))?;
        self.write(&line)
    }

    /// One line with one call; the disk has it afterwards, as `durability` says.
    fn write(&mut self, line: &Line) -> Result<()> {
        if self.broken {
            return Err(bad(&self.path, 0, "cannot be written after an earlier failure"));
        }
        let failed = |e: String| bad(&self.path, self.lines + 1, e);
        let mut text = serde_json::to_string(&Versioned { v: VERSION, line })
            .map_err(|e| failed(e.to_string()))?;
        text.push('\n');
        if let Err(e) = self.file.write_all(text.as_bytes()) {
            self.broken = true;
            // Half a line would make the next one unreadable.
            let restored = self.file.set_len(self.length);
            let also = restored.err().map(|e| format!(", and half a line stays: {e}"));
            return Err(failed(format!("{e}{}", also.unwrap_or_default())));
        }
        self.length += text.len() as u64;
        self.lines += 1;
        self.unsynced += 1;
        match self.durability {
            Durability::Every => self.sync(),
            Durability::Batch(lines) if self.unsynced >= lines => self.sync(),
            _ => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<()> {
        if self.unsynced > 0 && self.durability != Durability::None {
            self.file.sync_data().map_err(io(&self.path))?;
        }
        self.unsynced = 0;
        Ok(())
    }

    /// Makes the name of a new file last. Where folders cannot be opened (Windows) there is no such call.
    fn sync_directory(&self) -> Result<()> {
        if cfg!(unix) && self.durability != Durability::None {
            let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            File::open(folder).and_then(|d| d.sync_all()).map_err(io(folder))?;
        }
        Ok(())
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure; the lines are in the file.
        let _ = self.sync();
    }
}

fn told(id: QueryId, answer: &Answer, cached: bool) -> Told {
    Told {
        id: Id(id),
        reply: answer.reply,
        annotator: answer.annotator.clone(),
        confidence: answer.confidence,
        elapsed_ms: answer.elapsed_ms,
        note: answer.note.clone(),
        votes: answer.votes.clone(),
        cost: answer.cost,
        cached,
    }
}

/// Keeps two writers apart: a file beside the ledger that holds the number of its process and is
/// locked by it. The system lets go of the lock of a dead process.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    fn take(ledger: &Path, notices: &mut Vec<String>) -> Result<Self> {
        let mut path = ledger.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(io(&path))?;
            let taken = file.try_lock();
            let mut owner = String::new();
            // A lock that also keeps readers out leaves the owner unnamed.
            let _ = file.read_to_string(&mut owner);
            let owner = owner.trim();
            match taken {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let who = if owner.is_empty() {
                        "another process".into()
                    } else {
                        format!("process {owner}")
                    };
                    let message = format!("is being written by {who}; wait for it, or end it");
                    return Err(bad(ledger, 0, message));
                }
                Err(TryLockError::Error(e)) => return Err(io(&path)(e)),
            }
            // The owner before may have removed the file between our opening and locking it: then
            // this lock is one nobody else sees.
            if !owner.is_empty() {
                file.set_len(0).map_err(io(&path))?;
                file.seek(SeekFrom::Start(0)).map_err(io(&path))?;
            }
            writeln!(file, "{} {}", std::process::id(), nonce()).map_err(io(&path))?;
            file.seek(SeekFrom::Start(0)).map_err(io(&path))?;
            let mut own = String::new();
            file.read_to_string(&mut own).map_err(io(&path))?;
            let lost = match std::fs::read_to_string(&path) {
                Ok(there) => there != own,
                // Some systems let nobody read what is locked.
                Err(e) => e.kind() == std::io::ErrorKind::NotFound,
            };
            if !lost {
                if let Some(pid) = owner.split_whitespace().next() {
                    notices.push(format!(
                        "{}: taken over from process {pid}, which ended without closing it",
                        ledger.display()
                    ));
                }
                return Ok(Lock { path, file });
            }
        }
    }
}

/// Tells the locks of one process apart.
fn nonce() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is held, so that it is nobody else's. What stays is taken over.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let at = |seconds| utc(UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn lines_are_as_the_format_says() {
        let line = |line: Line| serde_json::to_string(&Versioned { v: VERSION, line }).unwrap();
        let asked = Line::Asked(Asked {
            id: Id(17),
            i: 12,
            j: 87,
            subject: 87,
            reference: 12,
            purpose: "consolidate".into(),
            i_id: None,
            j_id: None,
        });
        assert_eq!(
            line(asked),
            r#"{"v":1,"type":"asked","id":"q000017","i":12,"j":87,"subject":87,"reference":12,"purpose":"consolidate"}"#
        );
        let answer = Answer {
            annotator: Some("ann-1".into()),
            elapsed_ms: Some(5210),
            ..Answer::of(Reply::MustLink)
        };
        assert_eq!(
            line(Line::Told(told(17, &answer, false))),
            r#"{"v":1,"type":"told","id":"q000017","reply":"must_link","annotator":"ann-1","elapsed_ms":5210,"cost":1.0}"#
        );
        let retracted = Retracted { id: Id(17), by: Some("ann-1".into()) };
        assert_eq!(
            line(Line::Retracted(retracted)),
            r#"{"v":1,"type":"retracted","id":"q000017","by":"ann-1"}"#
        );
        assert_eq!(
            line(Line::Closed(Closed { reason: "budget".into() })),
            r#"{"v":1,"type":"closed","reason":"budget"}"#
        );
    }

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
