//! The lines of a ledger: how they are written and read.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use mustlink_core::constraints::Kind;
use mustlink_core::context::Context;
use mustlink_core::data::Data;
use mustlink_core::error::{Error, Result};
use mustlink_core::roles::{
    Answer, Done, Event, Oracle, QueryId, QuerySelector, Reply, RoleObject, Scene,
};

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// First bytes of every ledger.
const BEGINNING: &[u8] = br#"{"v":1,"type":"header""#;

/// True if the file at `path` begins as a ledger does.
pub fn is_ledger(path: &Path) -> bool {
    let mut first = Vec::new();
    let most = (MARK.len() + BEGINNING.len()) as u64;
    let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut first));
    read.is_ok() && unmarked(&first).starts_with(BEGINNING)
}

/// Byte-order mark that some editors write in front of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes without the mark of an editor.
pub(super) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// True if bytes without a whole line may be what was written of a header before the program was killed. Where
/// the end of it reached the disk alone, there are zeros in front.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    let first = &bytes[..bytes.len().min(BEGINNING.len())];
    BEGINNING.starts_with(first) || first.iter().all(|&b| b == 0)
}

/// Description of the selection that a ledger belongs to: its first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the data set.
    pub dataset: String,
    /// Hash of the ids of the objects and the shape of the data.
    pub fingerprint: String,
    /// Number of objects.
    pub n: usize,
    /// Hash of the values of the objects as they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// When it was begun, UTC.
    pub created: String,
    /// Hash of the seed path of the selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// Configuration of the selector.
    pub selector: Value,
    /// Configuration of the oracle at the beginning; another one may go on.
    pub oracle: Value,
    /// Id of each object, written next to its number.
    #[serde(skip)]
    pub ids: Option<Arc<[String]>>,
}

impl Header {
    /// The header of a selection by `selector`, run in `ctx`, asking `oracle` about `scene`.
    pub fn new(
        scene: &Scene,
        selector: &(dyn QuerySelector + 'static),
        oracle: &(dyn Oracle + 'static),
        ctx: &Context,
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
        Header {
            dataset: scene.name.clone().unwrap_or_default(),
            fingerprint: short(h.finalize()),
            n: scene.n,
            values: scene.read.as_ref().map(|read| first_values(read, scene.n)),
            created: utc(SystemTime::now()),
            seed: Some(short(blake3::hash(ctx.path().as_bytes()))),
            selector: selector.to_value(),
            oracle: oracle.to_value(),
            ids: scene.ids.clone(),
        }
    }

    /// True if the ledger is about the first objects of `scene`, or all of them, by their values; `None` if ledger or
    /// `scene` lacks the values that were read.
    pub fn is_about(&self, scene: &Scene) -> Option<bool> {
        let (read, values) = (scene.read.as_ref()?, self.values.as_ref()?);
        Some(self.n <= read.n() && *values == first_values(read, self.n))
    }

    /// True if `now` is the same selection of more objects, and the values are all that can differ.
    pub(super) fn grows(&self, now: &Header) -> bool {
        self.n < now.n && self.selector == now.selector
    }

    /// First difference of `now` from this header of an existing ledger, if any.
    pub(super) fn refuses(&self, now: &Header) -> Option<String> {
        let differs = |what: &str, then: &dyn std::fmt::Display, now: &dyn std::fmt::Display| {
            Some(format!("belongs to another selection: its {what} is {then}, this one's is {now}"))
        };
        if self.n != now.n {
            return differs("number of objects", &self.n, &now.n);
        }
        if self.fingerprint != now.fingerprint {
            return differs("fingerprint of the data", &self.fingerprint, &now.fingerprint);
        }
        if let (Some(then), Some(now)) = (&self.values, &now.values)
            && then != now
        {
            return differs("hash of the values of the data", then, now);
        }
        if let Some((what, then, now)) = difference("selector", &self.selector, &now.selector) {
            return differs(&what, &then, &now);
        }
        match (&self.seed, &now.seed) {
            // It comes from the seed and from what the data say.
            (Some(then), Some(now)) if then != now => {
                differs("hash of seed and values of the data", then, now)
            }
            _ => None,
        }
    }
}

/// The first option in which two configurations differ, by its path from `place`, and its two values.
fn difference(place: &str, then: &Value, now: &Value) -> Option<(String, String, String)> {
    if then == now {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (then, now) else {
        return Some((place.into(), then.to_string(), now.to_string()));
    };
    let [tag, other] = [before, after].map(|options| options.get("type").and_then(Value::as_str));
    if let (Some(tag), Some(other)) = (tag, other)
        && tag != other
    {
        return Some((place.into(), tag.into(), other.into()));
    }
    let mut options = before.keys().chain(after.keys());
    let option = options.find(|&option| before.get(option) != after.get(option))?;
    let [then, now] = [before, after].map(|options| options.get(option).unwrap_or(&Value::Null));
    difference(&format!("{place}.{option}"), then, now)
}

fn first_values(read: &Data, n: usize) -> String {
    short(read.digest_of_first(n).into())
}

fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_string()
}

/// Date and time in UTC as `2026-01-31T08:05:09Z`.
pub fn utc(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

/// The number of a query is below this, so that a next one always exists.
const MOST_QUERIES: QueryId = 1 << 53;

/// Number of a query as the file has it: `q000017`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(pub(super) QueryId);

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
        number.filter(|number| *number < MOST_QUERIES).map(Id).ok_or_else(|| {
            serde::de::Error::custom(format!("\"{text}\" is not the id of a query, like q000017"))
        })
    }
}

/// One line after its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    Header(Header),
    Asked(Asked),
    Told(Told),
    Stated(Stated),
    Inferred { i: u32, j: u32, kind: Kind, rule: String },
    Joined { object: u32, neighbourhood: u32, representative: u32 },
    Clustered { request: u64, digest: String },
    Conflict { id: Id },
    Corrected { id: Id, reply: Reply },
    Done { reason: Done },
    Retracted(Retracted),
    Closed(Closed),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) id: Id,
    pub(super) i: u32,
    pub(super) j: u32,
    pub(super) subject: u32,
    pub(super) reference: u32,
    pub(super) purpose: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) i_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) j_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) id: Id,
    #[serde(flatten)]
    pub(super) answer: Answer,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) cached: bool,
}

/// An answer that was not asked itself: its question and its reply on one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stated {
    #[serde(flatten)]
    pub(super) asked: Asked,
    #[serde(flatten)]
    pub(super) answer: Answer,
    /// The first of the answers that were given at once.
    pub(super) with: Id,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Retracted {
    pub(super) id: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Closed {
    pub(super) reason: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Versioned<L> {
    pub(super) v: u32,
    #[serde(flatten)]
    pub(super) line: L,
}

impl Line {
    pub(super) fn of(event: &Event) -> Option<Line> {
        Some(match event.clone() {
            Event::Inferred { i, j, kind, rule } => Line::Inferred { i, j, kind, rule },
            Event::Joined { object, neighbourhood, representative } => {
                Line::Joined { object, neighbourhood, representative }
            }
            Event::Clustered { request, digest } => Line::Clustered { request, digest },
            Event::Conflict { id } => Line::Conflict { id: Id(id) },
            Event::Corrected { id, reply } => Line::Corrected { id: Id(id), reply },
            Event::Done { reason } => Line::Done { reason },
            // Those have methods of their own.
            Event::Asked { .. } | Event::Told { .. } | Event::Retracted { .. } => return None,
        })
    }

    /// In a few words, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Line::Asked(a) => format!("asked ({}, {}) for {}", a.subject, a.reference, a.purpose),
            Line::Told(t) => format!("told {}", t.id),
            Line::Stated(s) => format!("stated {}", s.asked.id),
            other => serde_json::to_string(other).unwrap_or_default(),
        }
    }
}

pub(super) fn told(id: QueryId, answer: &Answer, cached: bool) -> Told {
    Told { id: Id(id), answer: answer.clone(), cached }
}

/// The bytes of a file, taken apart.
pub(super) struct Content {
    /// The last header: each after the first is about more rows.
    pub(super) header: Option<Header>,
    pub(super) lines: Vec<Line>,
    /// Bytes of whole lines; what follows was cut off.
    pub(super) whole: usize,
}

pub(super) fn bad(path: &Path, line: usize, message: impl Into<String>) -> Error {
    let place = match line {
        0 => path.display().to_string(),
        line => format!("{}, line {line}", path.display()),
    };
    Error::Data { place, message: message.into() }
}

pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |e| bad(path, 0, e.to_string())
}

pub(super) fn no_ledger(path: &Path) -> Error {
    bad(
        path,
        0,
        "is not a ledger; answers of a spreadsheet become one by \"mustlink label --import\"",
    )
}

pub(super) fn content(bytes: &[u8], path: &Path) -> Result<Content> {
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
    let no_json = |line: &&[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err();
    if lines.first().is_some_and(no_json) && !may_begin(bytes) {
        // Another file, and no ledger with a line that is damaged.
        return Ok(Content { header: None, lines: Vec::new(), whole: bytes.len() });
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
            (_, Line::Header(header)) => {
                if !out.header.as_ref().is_some_and(|before| before.grows(&header)) {
                    return Err(invalid("a second header".into()));
                }
                out.header = Some(header.clone());
                out.lines.push(Line::Header(header));
            }
            (_, line) => out.lines.push(line),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use mustlink_core::roles::Reply;

    #[test]
    fn a_header_begins_every_ledger() {
        let header = Header {
            dataset: "iris".into(),
            fingerprint: String::new(),
            n: 150,
            values: None,
            created: String::new(),
            seed: None,
            selector: Value::Null,
            oracle: Value::Null,
            ids: None,
        };
        let line = Versioned { v: VERSION, line: Line::Header(header) };
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.as_bytes().starts_with(BEGINNING), "{text}");
        assert!((0..=text.len()).all(|cut| may_begin(&text.as_bytes()[..cut])));
        assert!(may_begin(&[0; 4096]) && !may_begin(b"\0\0\0\x18ftypmp42, and so on"));
        assert!(!may_begin(b"{\"v\":1}") && !may_begin(b"a line of notes"));
    }

    #[test]
    fn the_option_that_differs_is_named() {
        let (then, now) = (
            serde_json::json!({ "type": "npu", "clusterer": { "type": "pck_means", "k": 3 } }),
            serde_json::json!({ "type": "npu", "clusterer": { "type": "pck_means", "k": 4 } }),
        );
        let texts = |all: [&str; 3]| Some(all.map(String::from).into());
        assert_eq!(difference("selector", &then, &now), texts(["selector.clusterer.k", "3", "4"]));
        assert_eq!(difference("selector", &then, &then), None);
        let other = serde_json::json!({ "type": "cobras" });
        assert_eq!(difference("selector", &then, &other), texts(["selector", "npu", "cobras"]));
    }

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
}
