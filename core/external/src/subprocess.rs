//! The oracle that is another program.

use std::collections::HashMap;
use std::time::Instant;

use crate::parts::child::{Child, ChildError};
use mustlink_core::nearest::around;
use mustlink_core::prelude::*;
use mustlink_core::serde_json::{self, json};

/// Asks another program, in any language, over JSON lines on its standard input and output.
///
/// # Input and output
/// First mustlink and the program each send one `hello`:
/// `{"v":1,"type":"hello","protocol":"pairwise-oracle","dataset":"iris","n":150,"replies":["must_link","cannot_link","dont_know"]}`,
/// `{"v":1,"type":"hello","name":"my-oracle"}`. Then each question
/// `{"v":1,"type":"ask","id":"q000001","i":{"index":3,"id":"row-3","display":{…}},"j":{…},"context":{"purpose":"explore","subject":3}}`
/// is answered by `{"v":1,"type":"answer","id":"q000001","reply":"cannot_link"}`, with optional `annotator`,
/// `confidence` (0.5 to 1) and `note`. At the end comes
/// `{"v":1,"type":"bye","reason":"closed"}`. With `sort` questions are sets of objects around a pair,
/// `{"v":1,"type":"sort","id":"q000001","objects":[{"index":3,"id":"row-3","display":{…}},…],"context":{…}}`, and
/// `{"v":1,"type":"sorted","id":"q000001","groups":[[3,17],[20]]}` is their answer, every index in one group; its
/// answers about other pairs are free when they are asked. The program must flush its output after every line. Its
/// standard error is passed through. Unknown fields are ignored. On Unix the
/// program runs in a process group of its own, which cannot read from the terminal.
/// # Errors
/// `BadParam` for a program that cannot be started; `Oracle` for an invalid line (with the line), for a time-out, and
/// for a program that fails. A program that ends with status 0 leaves its question open, to be asked again later.
#[options]
pub struct Subprocess {
    /// Program and its arguments: `["python3", "oracle.py"]`. Relative paths start at the configuration file.
    #[option(program = true)]
    pub command: Vec<String>,
    /// Longest wait for a line, in seconds; 0 = any time.
    #[option(min = 0.0)]
    pub timeout_seconds: f64,
    /// Number of objects (at least 3) that the program sorts together, around the pair in question. If absent, it is
    /// asked pair by pair.
    #[option(default = None, min = 3, max = 64)]
    pub sort: Option<usize>,
}

/// Version of the protocol.
const VERSION: u64 = 1;
/// Longest line taken, in bytes.
const LONGEST: usize = 1 << 20;

#[plugin("subprocess")]
impl Oracle for Subprocess {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let Some(program) = self.command.first() else {
            return Err(Error::bad_param("command", "nothing", "a program and its arguments"));
        };
        let spawned = Child::spawn(&self.command, self.timeout_seconds, scene.ctx.base());
        let mut child = spawned.map_err(|e| e.into_error("subprocess"))?;
        child.set_longest_line(LONGEST);
        if self.sort.is_some() && scene.data.is_none() {
            return Err(Error::bad_param("sort", "given", "used where the objects are known"));
        }
        let mut conversation = Conversation {
            program: program.clone(),
            scene: scene.clone(),
            child,
            failed: false,
            sort: self.sort,
            sorted: HashMap::new(),
        };
        let greeted = conversation.greet();
        conversation.failed = greeted.is_err();
        greeted.map(|()| Box::new(conversation) as Box<dyn Respondent>)
    }

    /// A person may sit behind the program.
    fn properties(&self) -> OracleProperties {
        OracleProperties {
            layer: Layer::Source,
            deterministic: false,
            noiseless: false,
            interactive: true,
            needs_labels: false,
        }
    }
}

/// Result of a wait.
enum Received {
    Line(Value),
    /// The program ended; how.
    End(String),
}

struct Conversation {
    program: String,
    scene: Scene,
    child: Child,
    /// After an error it is not known which answer belongs to what.
    failed: bool,
    /// Objects that are sorted at once.
    sort: Option<usize>,
    /// For each sorted pair, true if it belongs together.
    sorted: HashMap<(u32, u32), bool>,
}

impl Conversation {
    fn greet(&mut self) -> Result<()> {
        let replies = [Reply::MustLink, Reply::CannotLink, Reply::DontKnow];
        let hello = json!({
            "v": VERSION, "type": "hello", "protocol": "pairwise-oracle",
            "dataset": self.scene.name, "n": self.scene.n, "replies": replies,
        });
        self.child.send(&hello);
        match self.receive()? {
            Received::Line(line) => self.expect(&line, "hello"),
            Received::End(how) => Err(self.wrong(format!("ended ({how}) before it sent hello"))),
        }
    }

    fn wrong(&self, message: impl std::fmt::Display) -> Error {
        Error::Oracle(format!("{}: {message}", self.program))
    }

    /// A complaint about the line received last.
    fn bad_line(&self, message: impl std::fmt::Display) -> Error {
        self.wrong(format!("line {} of its output: {message}", self.child.line()))
    }

    /// The next line, within the time there is.
    fn receive(&mut self) -> Result<Received> {
        let line = match self.child.receive_line(&self.scene.ctx) {
            Ok(line) => line,
            Err(ChildError::Ended { status, .. }) => {
                let how = status.unwrap_or_else(|| "its output is closed".into());
                return Ok(Received::End(how));
            }
            Err(ChildError::Silent { seconds, .. }) => {
                return Err(self.wrong(format!("sent nothing within {seconds} s")));
            }
            Err(other) => return Err(other.into_error("subprocess")),
        };
        if line.len() >= LONGEST && line.last() != Some(&b'\n') {
            return Err(self.bad_line(format!("longer than {LONGEST} bytes")));
        }
        let value: Value = serde_json::from_slice(&line).map_err(|_| {
            let text: String = String::from_utf8_lossy(&line).trim_end().chars().take(80).collect();
            self.bad_line(format!("not JSON: {text}"))
        })?;
        Ok(Received::Line(value))
    }

    fn expect(&self, line: &Value, kind: &str) -> Result<()> {
        match line.get("v").and_then(Value::as_u64) {
            Some(VERSION) => {}
            _ => {
                return Err(self.bad_line(format!("v must be {VERSION}, got {}", shown(line, "v"))));
            }
        }
        match line.get("type").and_then(Value::as_str) {
            Some(given) if given == kind => Ok(()),
            _ => {
                Err(self.bad_line(format!("type must be \"{kind}\", got {}", shown(line, "type"))))
            }
        }
    }

    fn object(&self, o: u32) -> Value {
        let at = o as usize;
        let id = self.scene.ids.as_ref().and_then(|ids| ids.get(at).cloned());
        let text = self.scene.display.as_ref().and_then(|display| display.get(at));
        let display = text.map_or_else(|| json!({}), |text| json!({ "text": text }));
        json!({ "index": o, "id": id.unwrap_or_else(|| o.to_string()), "display": display })
    }

    /// The line is of this type and about this question.
    fn about(&self, line: &Value, kind: &str, id: &str) -> Result<()> {
        self.expect(line, kind)?;
        if line.get("id").and_then(Value::as_str) != Some(id) {
            let message = format!("id must be \"{id}\", got {}", shown(line, "id"));
            return Err(self.bad_line(message));
        }
        Ok(())
    }

    /// The objects to be sorted around a pair, where that is asked for.
    fn around(&self, question: &Question) -> Option<Vec<u32>> {
        let (most, data) = (self.sort?, self.scene.data.as_ref()?);
        let pair = |a: u32, b: u32| (a.min(b), a.max(b));
        let together = |a, b| self.sorted.get(&pair(a, b)) == Some(&true);
        Some(around(data, (question.subject, question.reference), most, together))
    }

    /// Takes a sorting of these objects.
    fn take(&mut self, line: &Value, id: &str, objects: &[u32]) -> Result<()> {
        self.about(line, "sorted", id)?;
        let given = line.get("groups").cloned().unwrap_or_default();
        let groups: Vec<Vec<u32>> = serde_json::from_value(given).unwrap_or_default();
        let mut all: Vec<u32> = groups.iter().flatten().copied().collect();
        let mut wanted = objects.to_vec();
        all.sort_unstable();
        wanted.sort_unstable();
        if all != wanted {
            return Err(self.bad_line(format!(
                "groups must hold each of the indices {wanted:?} once, got {}",
                shown(line, "groups")
            )));
        }
        let group = |o: u32| groups.iter().position(|g| g.contains(&o));
        for (at, &i) in wanted.iter().enumerate() {
            for &j in &wanted[at + 1..] {
                // What was said of a pair stays.
                self.sorted.entry((i, j)).or_insert(group(i) == group(j));
            }
        }
        Ok(())
    }

    fn answer(&self, line: &Value, id: &str) -> Result<Answer> {
        self.about(line, "answer", id)?;
        let given = line.get("reply").cloned().unwrap_or_default();
        let reply = serde_json::from_value::<Reply>(given).map_err(|_| {
            self.bad_line(format!(
                "reply must be \"must_link\", \"cannot_link\" or \"dont_know\", got {}",
                shown(line, "reply")
            ))
        })?;
        let confidence = match line.get("confidence") {
            None | Some(Value::Null) => None,
            Some(given) => {
                let legal = given.as_f64().filter(|c| (0.5..=1.0).contains(c));
                Some(legal.ok_or_else(|| {
                    self.bad_line(format!("confidence must be between 0.5 and 1, got {given}"))
                })?)
            }
        };
        Ok(Answer {
            annotator: text(line, "annotator"),
            note: text(line, "note"),
            confidence,
            ..Answer::of(reply)
        })
    }

    fn put(&mut self, question: &Question) -> Result<Outcome> {
        let id = format!("q{:06}", question.id);
        if let Some(&together) = self.sorted.get(&(question.i, question.j)) {
            return Ok(Outcome::Answered(Answer { cost: 0.0, ..Answer::of(reply(together)) }));
        }
        let context = json!({ "purpose": question.purpose, "subject": question.subject });
        let objects = self.around(question);
        let message = match &objects {
            Some(all) => {
                let objects: Vec<Value> = all.iter().map(|&o| self.object(o)).collect();
                json!({ "v": VERSION, "type": "sort", "id": id, "objects": objects, "context": context })
            }
            None => json!({
                "v": VERSION, "type": "ask", "id": id,
                "i": self.object(question.i), "j": self.object(question.j), "context": context,
            }),
        };
        let start = Instant::now();
        self.child.send(&message);
        match self.receive()? {
            Received::Line(line) => {
                let elapsed = u64::try_from(start.elapsed().as_millis()).ok();
                let answer = match &objects {
                    Some(objects) => {
                        self.take(&line, &id, objects)?;
                        let answer = Answer::of(reply(self.sorted[&(question.i, question.j)]));
                        Answer { annotator: text(&line, "annotator"), ..answer }
                    }
                    None => self.answer(&line, &id)?,
                };
                Ok(Outcome::Answered(Answer { elapsed_ms: elapsed, ..answer }))
            }
            Received::End(how) if how != "exit status: 0" => Err(self.wrong(format!(
                "ended ({how}) and left a question open; with a ledger (--ledger), a later run continues from there"
            ))),
            Received::End(how) => {
                let program = &self.program;
                self.scene.ctx.warn(format!(
                    "{program} ended ({how}) and left a question open; with a ledger, a later run continues"
                ));
                Ok(Outcome::Pending)
            }
        }
    }
}

fn reply(together: bool) -> Reply {
    if together { Reply::MustLink } else { Reply::CannotLink }
}

/// A text; annotators have numbers, too.
fn text(line: &Value, field: &str) -> Option<String> {
    match line.get(field)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn shown(line: &Value, field: &str) -> String {
    line.get(field).map_or_else(|| "nothing".into(), Value::to_string)
}

impl Respondent for Conversation {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.scene.n)?;
        if self.failed {
            return Err(self.wrong("is not asked again after an error"));
        }
        let outcome = self.put(question);
        self.failed = outcome.is_err();
        outcome
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // After an error the child is not waited for: it is ended when it is dropped.
        if !self.failed {
            self.child.bye("closed");
        }
    }
}
