//! Messages between the page and the session.

use mustlink_core::constraints::Kind;
use mustlink_core::roles::{QueryId, Reply};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chain::Link;
use crate::found::Cluster;
use crate::session::{Act, Session, Trouble};
use crate::show::{Objects, Shown};
use crate::sorting::{MOST, Statement};
use crate::view::{Clusters, Freshness, View};

/// Objects nearest to one that are shown.
const NEIGHBOURS: usize = 5;

/// A command of the page. `size` is how many objects it showed as belonging together.
#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Wanted {
    Reply { turn: u64, reply: Reply, note: Option<String> },
    Later { turn: u64 },
    Undo { turn: u64 },
    Change { turn: u64, id: QueryId, reply: Reply },
    Sort { turn: u64, groups: Vec<Vec<u32>> },
    Pure { turn: u64, medoid: u32, size: Option<usize> },
    Merge { turn: u64, i: u32, j: u32 },
    Split { turn: u64, i: u32, j: u32 },
    Quit { turn: u64 },
}

impl Wanted {
    pub fn act(self, session: &Session) -> (u64, Act) {
        let pair = |i, j, reply| vec![Statement { i, j, reply }];
        match self {
            Wanted::Reply { turn, reply, note } => (turn, Act::Reply { reply, note }),
            Wanted::Later { turn } => (turn, Act::Later),
            Wanted::Undo { turn } => (turn, Act::Undo),
            Wanted::Change { turn, id, reply } => (turn, Act::Change { id, reply }),
            Wanted::Sort { turn, groups } => (turn, Act::Sort { groups }),
            Wanted::Pure { turn, medoid, size } => {
                let act = session.pure(medoid);
                let objects = match &act {
                    Act::State { said, .. } => said.len() + 1,
                    _ => 0,
                };
                // What was found meanwhile was not on the page: such a turn never comes.
                let seen = size.is_none_or(|size| size == objects);
                (if seen { turn } else { u64::MAX }, act)
            }
            Wanted::Merge { turn, i, j } => {
                (turn, Act::State { purpose: "merge", said: pair(i, j, Reply::MustLink) })
            }
            Wanted::Split { turn, i, j } => {
                (turn, Act::State { purpose: "split", said: pair(i, j, Reply::CannotLink) })
            }
            Wanted::Quit { turn } => (turn, Act::Quit),
        }
    }
}

/// The part of a session that a page asks for.
#[derive(Deserialize)]
#[serde(tag = "look", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Look {
    /// Objects to be sorted.
    Sort,
    Clusters,
    Neighbours {
        object: u32,
    },
    /// Why two objects, by their ids, belong together or not.
    Why {
        i: String,
        j: String,
    },
}

/// An object with its number and its name.
#[derive(Serialize)]
struct Numbered {
    object: u32,
    name: String,
    shown: Shown,
}

impl Numbered {
    fn new(object: u32, objects: &Objects<'_>) -> Self {
        Numbered { object, name: objects.name(object), shown: (objects.shown)(object).visible() }
    }
}

/// The clusters, each with a few objects.
fn clusters(found: &Clusters, objects: &Objects<'_>) -> Value {
    let all = |list: &[u32]| list.iter().map(|&o| Numbered::new(o, objects)).collect::<Vec<_>>();
    let cluster = |c: &Cluster| {
        json!({
            "number": c.number,
            "size": c.members.len(),
            "medoid": Numbered::new(c.medoid, objects),
            "typical": all(&c.typical),
            "border": all(&c.border),
        })
    };
    let clusters: Vec<Value> = found.clusters.iter().take(CLUSTERS).map(cluster).collect();
    let more = found.clusters.len() - clusters.len();
    json!({ "clusters": clusters, "more": more, "noise": found.noise })
}

impl Look {
    /// The requested part; `None` for an object that does not exist.
    pub fn see(self, session: &Session, objects: &Objects<'_>) -> Option<Value> {
        let all =
            |list: &[u32]| list.iter().map(|&o| Numbered::new(o, objects)).collect::<Vec<_>>();
        match self {
            Look::Sort => Some(json!({ "objects": all(&session.around(MOST)) })),
            Look::Clusters => Some(clusters(&session.clusters().unwrap_or_default(), objects)),
            Look::Neighbours { object } if object < session.n() => {
                let near = session.neighbours(object, NEIGHBOURS);
                Some(json!({ "of": objects.name(object), "objects": all(&near) }))
            }
            Look::Neighbours { .. } => None,
            Look::Why { i, j } => {
                let (i, j) = ((objects.find)(i.trim())?, (objects.find)(j.trim())?);
                let why = session.why(i, j).filter(|_| i != j);
                Some(match why {
                    Some((kind, chain)) => {
                        json!({ "kind": kind.name(), "chain": links(&chain, objects) })
                    }
                    None => json!({ "kind": null, "chain": [] }),
                })
            }
        }
    }
}

/// Last answers that are listed.
const ENTRIES: usize = 500;
/// Clusters that are shown.
const CLUSTERS: usize = 100;

/// A view with the objects that it mentions.
#[derive(Serialize)]
struct Scene {
    #[serde(flatten)]
    view: View,
    /// Earlier answers, which are left out.
    earlier: usize,
    subject: Option<Numbered>,
    reference: Option<Numbered>,
    /// The names of both objects of each entry.
    names: Vec<(String, String)>,
    /// The clusters of all answers, at the end; empty until they have been computed.
    found: Option<Value>,
}

pub(crate) fn scene(mut view: View, session: &Session, objects: &Objects<'_>) -> Value {
    let shown = |object| Numbered::new(object, objects);
    let name = |o| objects.name(o);
    let earlier = view.entries.len().saturating_sub(ENTRIES);
    view.entries.drain(..earlier);
    let subject = view.open.as_ref().map(|q| shown(q.subject));
    let reference = view.open.as_ref().map(|q| shown(q.reference));
    let names = view.entries.iter().map(|e| (name(e.subject), name(e.reference))).collect();
    let is_current = view.freshness == Freshness::Current;
    let current = || session.clusters().filter(|_| is_current).unwrap_or_default();
    let found = view.ended.as_ref().map(|_| clusters(&current(), objects));
    json!(Scene { view, earlier, subject, reference, names, found })
}

/// A chain in the ids of the user, each answer with its number.
fn links(chain: &[Link], objects: &Objects<'_>) -> Value {
    let link = |l: &Link| {
        let (i, j) = (objects.name(l.i), objects.name(l.j));
        let same = l.kind == Kind::MustLink;
        json!({ "i": i, "j": j, "same": same, "answer": l.answer })
    };
    chain.iter().map(link).collect()
}

pub(crate) fn troubled(trouble: &Trouble, objects: &Objects<'_>) -> Value {
    let chain = match trouble {
        Trouble::Conflict(chain) => links(chain, objects),
        _ => json!([]),
    };
    json!({ "says": trouble.says(), "chain": chain })
}

#[cfg(test)]
mod tests {
    use mustlink::ndarray::Array2;
    use mustlink_core::{Data, Problem};

    use super::*;

    #[test]
    fn a_cluster_that_has_changed_meanwhile_is_not_pure() {
        let seen = Problem::new(Data::dense(Array2::zeros((6, 1))).unwrap());
        let (session, _work) = Session::new(&seen, None);
        let turn = |text: &str| serde_json::from_str::<Wanted>(text).unwrap().act(&session).0;
        assert_eq!(turn(r#"{"act":"pure","turn":3,"medoid":2}"#), 3);
        assert_eq!(turn(r#"{"act":"pure","turn":3,"medoid":2,"size":1}"#), 3);
        assert_eq!(turn(r#"{"act":"pure","turn":3,"medoid":2,"size":4}"#), u64::MAX);
    }
}
