//! The oracle that reads its replies from a list.

use std::collections::{BTreeMap, HashMap};

use mustlink_core::prelude::*;
use mustlink_core::registry::suggestion;

use crate::parts::table::Table;
use crate::parts::wrapping::pair;

/// Answers from a list of pairs, in the configuration or in a file.
///
/// # Input and output
/// `file` is a CSV with the columns `i`, `j` and `reply`: `must_link`, `cannot_link` or `dont_know`. With the column
/// `type` instead of `reply` it is a file of constraints. A `cannot_link_group` is then a group of pairs; a must-link
/// of an object with itself, which defines a neighbourhood, is ignored. Both lists may be given. Row numbers are
/// those after transforms that drop or merge rows; ids are the same before and after.
/// # Errors
/// `Data` and `BadParam` for objects that do not exist, a pair with itself, two different replies for one pair.
#[options]
pub struct Scripted {
    /// List of replies: `[{ i = 0, j = 3, reply = "must_link" }]`, by row number from 0.
    pub replies: Vec<Scribed>,
    /// CSV with more replies.
    #[option(file = true)]
    pub file: Option<String>,
    /// Read the objects in the file as ids, not as row numbers.
    #[option(inert = "it concerns a file that has no default")]
    pub by_id: bool,
    /// Action for a pair that is not in the list.
    pub missing: Missing,
}

/// One reply of the list.
#[derive(Debug, Clone, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct Scribed {
    /// One object, by row number from 0.
    #[option(min = 0)]
    pub i: u32,
    /// The other object.
    #[option(min = 0)]
    pub j: u32,
    /// The reply.
    pub reply: Reply,
}

/// Action for a pair that is not in the list.
#[options]
pub enum Missing {
    /// It is answered with "don't know".
    #[default]
    DontKnow,
    /// It is refused, which ends the selection.
    Refuse,
}

#[plugin("scripted")]
impl Oracle for Scripted {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let mut replies = HashMap::new();
        for (at, Scribed { i, j, reply }) in self.replies.iter().enumerate() {
            let name = format!("replies[{at}]");
            let pair = (*i.min(j), *i.max(j));
            if i == j || pair.1 as usize >= scene.n {
                let legal = format!("two different objects, 0 to {}", scene.n.saturating_sub(1));
                return Err(Error::bad_param(&name, format!("({i}, {j})"), legal));
            }
            if replies.insert(pair, *reply).is_some_and(|before| before != *reply) {
                let value = format!("another reply to ({i}, {j})");
                return Err(Error::bad_param(&name, value, "one reply per pair"));
            }
        }
        let mut groups = BTreeMap::new();
        if let Some(file) = &self.file {
            let table = Table::read(&scene.ctx.base().join(file))?;
            let reply = table.column("reply");
            let constraints = reply.is_err();
            let column = reply.or_else(|e| table.column("type").map_err(|_| e))?;
            let (i, j) = (table.column("i")?, table.column("j")?);
            let objects = table.objects(scene, self.by_id)?;
            for (line, cells) in table.filled() {
                let (line, i, j) = (*line, &*cells[i], &*cells[j]);
                let reply = match &*cells[column] {
                    "must_link" if constraints && i == j => {
                        objects.find(line, i)?;
                        continue;
                    }
                    "must_link" => Reply::MustLink,
                    "cannot_link" => Reply::CannotLink,
                    "dont_know" => Reply::DontKnow,
                    GROUP if constraints => {
                        let members: &mut Vec<u32> = groups.entry(j.to_string()).or_default();
                        members.push(objects.find(line, i)?);
                        continue;
                    }
                    other => {
                        let mut words = vec!["must_link", "cannot_link", "dont_know"];
                        words.extend(constraints.then_some(GROUP));
                        let near = suggestion(other, words.iter().copied());
                        let (name, words) = (&table.header[column], words.join(", "));
                        let message =
                            format!("{name} must be one of {words}, got \"{other}\"{near}");
                        return Err(table.bad(line, message));
                    }
                };
                let pair = objects.pair(line, i, j)?;
                if replies.insert(pair, reply).is_some_and(|before| before != reply) {
                    return Err(table.bad(line, "the pair has another reply before"));
                }
            }
        }
        if replies.is_empty() && groups.is_empty() {
            let fate = match self.missing {
                Missing::DontKnow => "every question is answered \"don't know\"",
                Missing::Refuse => "the first question is refused",
            };
            scene
                .ctx
                .warn(format!("scripted has no replies, so {fate}; give some by replies or file"));
        }
        let mut apart: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, members) in groups.into_values().enumerate() {
            members.into_iter().for_each(|o| apart.entry(o).or_default().push(at));
        }
        Ok(Box::new(Reading { n: scene.n, replies, apart, missing: self.missing }))
    }

    fn properties(&self) -> OracleProperties {
        OracleProperties { noiseless: false, needs_labels: false, ..OracleProperties::default() }
    }
}

/// The type of a row that puts an object into a group whose members are all apart.
const GROUP: &str = "cannot_link_group";

struct Reading {
    n: usize,
    replies: HashMap<(u32, u32), Reply>,
    /// The groups of each object that is in any.
    apart: HashMap<u32, Vec<usize>>,
    missing: Missing,
}

impl Reading {
    /// The reply of the list to a pair, otherwise the reply of its group.
    fn reply(&self, (i, j): (u32, u32)) -> Option<Reply> {
        let of_group = || {
            let (ours, theirs) = (self.apart.get(&i)?, self.apart.get(&j)?);
            ours.iter().any(|group| theirs.contains(group)).then_some(Reply::CannotLink)
        };
        self.replies.get(&(i, j)).copied().or_else(of_group)
    }
}

impl Respondent for Reading {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.n)?;
        Ok(match (self.reply(pair(question)), self.missing) {
            (Some(reply), _) => Outcome::Answered(Answer::of(reply)),
            (None, Missing::DontKnow) => Outcome::Answered(Answer::of(Reply::DontKnow)),
            (None, Missing::Refuse) => Outcome::Refused(Refusal::OutOfScope),
        })
    }
}
