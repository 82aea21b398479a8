//! The oracle that is another program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use mustlink_core::prelude::*;
use serde_json::{Value, json};

use crate::wrapping::objects;

/// Asks another program, in any language, over JSON lines on its standard input and output.
///
/// # Input and output
/// First `hello` goes out and one comes back:
/// `{"v":1,"type":"hello","protocol":"pairwise-oracle","dataset":"iris","n":150,"replies":["must_link","cannot_link","dont_know"]}`,
/// `{"v":1,"type":"hello","name":"my-oracle"}`. Then each question
/// `{"v":1,"type":"ask","id":"q000001","i":{"index":3,"id":"row-3","display":{…}},"j":{…},"context":{"purpose":"explore","subject":3}}`
/// is answered by `{"v":1,"type":"answer","id":"q000001","reply":"cannot_link"}`, with `annotator`,
/// `confidence` (0.5 to 1) and `note` if the program likes. At the end comes
/// `{"v":1,"type":"bye","reason":"closed"}`. The program must flush its output after every line; what it
/// writes to standard error is passed through. Fields that are not known are ignored.
/// # Errors
/// `BadParam` for a program that cannot be started; `Oracle` for a line that is none of these, naming
/// it, and for a time-out. A program that ends leaves its question open, to be asked again later.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Subprocess {
    /// Program and arguments: `["python3", "oracle.py"]`.
    pub command: Vec<String>,
    /// Longest wait for a line, in seconds; 0 = any time.
    #[schemars(range(min = 0.0))]
    pub timeout_seconds: f64,
}

register!(Oracle, Subprocess, "subprocess", references: []);

/// Version of the protocol.
const VERSION: u64 = 1;
/// Longest line taken, in bytes.
const LONGEST: u64 = 1 << 20;
/// How often a wait looks whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(50);
/// How long a program may take to end by itself.
const GRACE: Duration = Duration::from_millis(500);

#[typetag::serde(name = "subprocess")]
impl Oracle for Subprocess {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        if !(self.timeout_seconds >= 0.0 && self.timeout_seconds.is_finite()) {
            return Err(Error::bad_param("timeout_seconds", self.timeout_seconds, "finite and >= 0"));
        }
        let [program, arguments @ ..] = self.command.as_slice() else {
            return Err(Error::bad_param("command", "nothing", "a program and its arguments"));
        };
        let spawned = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn();
        let mut child = spawned.map_err(|e| {
            Error::bad_param("command", program, format!("a program that can be started ({e})"))
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(Error::Oracle(format!("{program} has no standard input and output")));
        };
        // The reader waits where nobody takes what it read: a program that floods us is held up.
        let (send, lines) = sync_channel(16);
        std::thread::spawn(move || read(output, &send));
        let mut conversation = Conversation {
            program: program.clone(),
            scene: scene.clone(),
            timeout: (self.timeout_seconds > 0.0)
                .then(|| Duration::try_from_secs_f64(self.timeout_seconds).ok())
                .flatten(),
            child,
            input: Some(input),
            lines,
            line: 0,
            failed: false,
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

/// Passes on the lines of the program until it ends or nobody listens.
fn read(output: ChildStdout, send: &SyncSender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut output).take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if send.send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}

/// What a wait brought.
enum Heard {
    Line(Value),
    End,
}

struct Conversation {
    program: String,
    scene: Scene,
    timeout: Option<Duration>,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    /// Lines heard.
    line: usize,
    /// After an error nobody knows which answer belongs to what.
    failed: bool,
}

impl Conversation {
    fn greet(&mut self) -> Result<()> {
        let replies = [Reply::MustLink, Reply::CannotLink, Reply::DontKnow];
        let hello = json!({
            "v": VERSION, "type": "hello", "protocol": "pairwise-oracle",
            "dataset": self.scene.name, "n": self.scene.n, "replies": replies,
        });
        // A program that ended cannot be written to; how it ended says more.
        let _ = self.say(&hello);
        match self.hear()? {
            Heard::Line(line) => self.expect(&line, "hello"),
            Heard::End => {
                let how = self.ended();
                Err(self.wrong(format!("ended ({how}) before it said hello")))
            }
        }
    }

    fn wrong(&self, message: impl std::fmt::Display) -> Error {
        Error::Oracle(format!("{}: {message}", self.program))
    }

    /// A complaint about the line heard last.
    fn bad_line(&self, message: impl std::fmt::Display) -> Error {
        self.wrong(format!("line {} of its output: {message}", self.line))
    }

    fn say(&mut self, message: &Value) -> Result<()> {
        let line = format!("{message}\n");
        let said = self.input.as_mut().map(|input| {
            input.write_all(line.as_bytes()).and_then(|()| input.flush())
        });
        said.unwrap_or(Ok(())).map_err(|e| self.wrong(format!("cannot be written to: {e}")))
    }

    /// The next line, within the time there is.
    fn hear(&mut self) -> Result<Heard> {
        let start = Instant::now();
        let line = loop {
            self.scene.ctx.check()?;
            let left = self.timeout.map_or(LOOK, |t| t.saturating_sub(start.elapsed()).min(LOOK));
            match self.lines.recv_timeout(left) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Disconnected) => return Ok(Heard::End),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(limit) = self.timeout.filter(|&t| start.elapsed() >= t) {
                return Err(self.wrong(format!("said nothing within {} s", limit.as_secs_f64())));
            }
        };
        self.line += 1;
        if line.len() as u64 >= LONGEST && line.last() != Some(&b'\n') {
            return Err(self.bad_line(format!("longer than {LONGEST} bytes")));
        }
        let value: Value = serde_json::from_slice(&line).map_err(|_| {
            let text: String = String::from_utf8_lossy(&line).trim_end().chars().take(80).collect();
            self.bad_line(format!("not JSON: {text}"))
        })?;
        Ok(Heard::Line(value))
    }

    fn expect(&self, line: &Value, kind: &str) -> Result<()> {
        match line.get("v").and_then(Value::as_u64) {
            Some(VERSION) => {}
            _ => return Err(self.bad_line(format!("v must be {VERSION}, got {}", shown(line, "v")))),
        }
        match line.get("type").and_then(Value::as_str) {
            Some(given) if given == kind => Ok(()),
            _ => Err(self.bad_line(format!("type must be \"{kind}\", got {}", shown(line, "type")))),
        }
    }

    fn object(&self, o: u32) -> Value {
        let at = o as usize;
        let id = self.scene.ids.as_ref().and_then(|ids| ids.get(at).cloned());
        let text = self.scene.display.as_ref().and_then(|display| display.get(at));
        let display = text.map_or_else(|| json!({}), |text| json!({ "text": text }));
        json!({ "index": o, "id": id.unwrap_or_else(|| o.to_string()), "display": display })
    }

    fn answer(&self, line: &Value, id: &str) -> Result<Answer> {
        self.expect(line, "answer")?;
        if line.get("id").and_then(Value::as_str) != Some(id) {
            let message = format!("id must be \"{id}\", got {}", shown(line, "id"));
            return Err(self.bad_line(message));
        }
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
                    self.bad_line(format!("confidence must be in 0.5..=1, got {given}"))
                })?)
            }
        };
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_string);
        Ok(Answer {
            annotator: text("annotator"),
            note: text("note"),
            confidence,
            ..Answer::of(reply)
        })
    }

    /// How the program ended, in words.
    fn ended(&mut self) -> String {
        let end = Instant::now() + GRACE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                _ => return "its output is closed".into(),
            }
        }
    }

    fn put(&mut self, question: &Question) -> Result<Outcome> {
        let id = format!("q{:06}", question.id);
        let message = json!({
            "v": VERSION, "type": "ask", "id": id,
            "i": self.object(question.i), "j": self.object(question.j),
            "context": { "purpose": question.purpose, "subject": question.subject },
        });
        let start = Instant::now();
        // A program that ended cannot be written to: what it said before may still be heard.
        let _ = self.say(&message);
        match self.hear()? {
            Heard::Line(line) => {
                let elapsed = u64::try_from(start.elapsed().as_millis()).ok();
                let answer = self.answer(&line, &id)?;
                Ok(Outcome::Answered(Answer { elapsed_ms: elapsed, ..answer }))
            }
            Heard::End => {
                let how = self.ended();
                let program = &self.program;
                self.scene.ctx.warn(format!(
                    "{program} ended ({how}) and left a question open; a ledger lets a later run go on"
                ));
                Ok(Outcome::Pending)
            }
        }
    }
}

fn shown(line: &Value, field: &str) -> String {
    line.get(field).map_or_else(|| "nothing".into(), Value::to_string)
}

impl Respondent for Conversation {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        objects(question, self.scene.n)?;
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
        // Nobody is left to hear of a failure.
        let _ = self.say(&json!({ "v": VERSION, "type": "bye", "reason": "closed" }));
        self.input = None;
        let end = Instant::now() + GRACE;
        while Instant::now() < end && !self.failed {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
