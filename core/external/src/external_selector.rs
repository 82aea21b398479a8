//! Selectors in another language.

use std::collections::BTreeMap;

use crate::parts::child::Child;
use crate::parts::exchange::{INERT_FACT, PlainValue, Scratch};
use crate::parts::kept_children;
use mustlink_core::prelude::*;
use mustlink_core::serde_json::{self, json};

const TAG: &str = "external_selector";
/// Name of the protocol in the first message.
const PROTOCOL: &str = "selector";

/// A selector in any language: a command that chooses the next pair to ask.
///
/// # Method
/// The command is started once per selection, or once for many if its greeting contains `"again":true`. Another
/// `start` may then come at any time, and ends the selection before it. The command exchanges JSON lines on its
/// standard input and output. The first message is `{"v":1,"type":"hello","protocol":"selector"}`, answered by
/// `{"v":1,"type":"hello","name":"…"}`. Then every message has one reply:
///
/// * `{"type":"start","n":…,"d":…,"k":…,"seed":…,"data":{…},"constraints":PATH,"eligible":PATH,"options":{…},…}`,
///   files as for `external_clusterer`: `{"type":"started"}`;
/// * `{"type":"step"}`: `{"type":"ask","subject":3,"reference":7,"purpose":"explore"}`, or
///   `{"type":"need_clustering","constraints":[[3,7,"must_link"]]}`, or
///   `{"type":"done","reason":"exhausted"}` (`k_found`, `all_assigned`, `target_reached`);
/// * `{"type":"tell","subject":3,"reference":7,"reply":"must_link"}` (`cannot_link`, `dont_know`):
///   `{"type":"told"}`;
/// * `{"type":"provide","k":3,"labels":PATH}`, the clustering it needed: `{"type":"provided"}`.
///
/// Replies to `start`, `tell` and `provide` may carry `"events"`: inferred pairs
/// (`{"type":"inferred","i":…,"j":…,"kind":"must_link","rule":"entailed"}`) and objects that joined a
/// neighbourhood (`{"type":"joined","object":…,"neighbourhood":…,"representative":…}`). Any reply
/// may be `{"type":"error","message":"…"}`. mustlink numbers the questions and sends `step` once per
/// question, so the command need not store its questions.
/// # Input and output
/// Dense data, sparse if `accepts_sparse`.
/// # Errors
/// `BadParam` if the command does not start; `TimedOut` at `timeout_seconds`; `Plugin` for an invalid reply (with its
/// line), an early end (with the last lines of standard error) and reported errors.
/// # Cost and randomness
/// One process and a copy of the data on disk per selection. The `start` message contains the seed, which is below
/// 2³².
#[options]
pub struct ExternalSelector {
    /// Program and its arguments: `["python3", "my_selector.py"]`. Relative paths start at the configuration file.
    #[option(program = true)]
    pub command: Vec<String>,
    /// Options of the program itself, sent with `start`: `{ step = 0.5 }`.
    #[option(kind = <BTreeMap<String, PlainValue> as Described>::KIND)]
    pub options: BTreeMap<String, Value>,
    /// Name of the program in messages. If absent, `external_selector`.
    pub name: Option<String>,
    /// Longest wait for each reply, in seconds. If 0, without limit.
    #[option(min = 0.0, inert = INERT_FACT)]
    pub timeout_seconds: f64,
    /// True if the program cannot run without k.
    #[option(inert = INERT_FACT)]
    pub needs_k: bool,
    /// True if the program requests clusterings between questions.
    #[option(inert = INERT_FACT)]
    pub needs_clustering: bool,
    /// True if the program never asks about pairs that earlier replies entail.
    #[option(inert = INERT_FACT)]
    pub skips_entailed: bool,
    /// True if the program infers memberships. This is correct only if k is the number of classes.
    #[option(inert = INERT_FACT)]
    pub infers: bool,
    /// True if the program accepts sparse data.
    #[option(inert = INERT_FACT)]
    pub accepts_sparse: bool,
}

#[plugin("external_selector")]
impl QuerySelector for ExternalSelector {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        if self.command.is_empty() {
            let legal = "a program and its arguments, such as [\"python3\", \"my_selector.py\"]";
            return Err(Error::bad_param("command", "[]", legal));
        }
        ctx.check()?;
        let scratch = Scratch::new()?;
        let mut request = scratch.problem(problem)?;
        request["type"] = "start".into();
        request["seed"] = (ctx.stream("seed").next_u64() >> 32).into();
        request["options"] = json!(self.options);
        let tag = self.name.clone().unwrap_or_else(|| TAG.into());
        let (command, limit) = (&self.command, self.timeout_seconds);
        let greeted = kept_children::greeted(command, limit, PROTOCOL, problem, ctx);
        let (child, again) = greeted.map_err(|e| e.into_error(&tag))?;
        let mut run = Run {
            tag,
            n: problem.n() as u32,
            child: Some(child),
            again: again.then(|| self.command.clone()),
            scratch,
            ctx: ctx.clone(),
            open: None,
            asked: 0,
            requested: 0,
            events: Vec::new(),
        };
        run.exchange(&request, "started")?;
        Ok(Box::new(run))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            needs_k: self.needs_k,
            needs_clustering: self.needs_clustering,
            skips_entailed: self.skips_entailed,
            infers: self.infers,
            accepts_sparse: self.accepts_sparse,
            needs_setup: self.command.is_empty(),
            ..SelectorProperties::default()
        }
    }
}

struct Run {
    /// The name in messages.
    tag: String,
    n: u32,
    /// Absent after a failure, or if it was returned for later use.
    child: Option<Child>,
    /// Its command, where it takes another selection after this one.
    again: Option<Vec<String>>,
    scratch: Scratch,
    ctx: Context,
    /// Last message of the child that waits for an answer.
    open: Option<Step>,
    asked: QueryId,
    requested: RequestId,
    events: Vec<Event>,
}

impl Run {
    /// Sends a message and gives what `read` makes of its reply. A child that fails is ended.
    fn ask<T>(
        &mut self,
        message: &Value,
        read: impl FnOnce(&Self, &Value) -> Result<T, String>,
    ) -> Result<T> {
        let ended = || Error::Oracle(format!("{} has failed before", self.tag));
        let mut child = self.child.take().ok_or_else(ended)?;
        child.send(message);
        let reply = child.receive(&self.ctx).map_err(|e| e.into_error(&self.tag))?;
        if reply["type"] == "error" {
            let message = reply["message"].as_str().unwrap_or("no message").to_string();
            return Err(Error::Plugin { tag: self.tag.clone(), message });
        }
        let made = read(self, &reply);
        let made = made.map_err(|wrong| child.protocol(wrong).into_error(&self.tag))?;
        self.child = Some(child);
        Ok(made)
    }

    /// Sends a message that is only acknowledged, and takes what happened.
    fn exchange(&mut self, message: &Value, wanted: &str) -> Result<()> {
        let events: Vec<Event> = self.ask(message, |run, reply| {
            if reply["type"] != wanted {
                return Err(format!("expected the type \"{wanted}\""));
            }
            match &reply["events"] {
                Value::Null => Ok(Vec::new()),
                Value::Array(events) => events.iter().map(|event| run.event(event)).collect(),
                other => Err(format!("events must be a list, got {other}")),
            }
        })?;
        self.events.extend(events);
        Ok(())
    }

    fn event(&self, value: &Value) -> Result<Event, String> {
        let event: Event = serde_json::from_value(value.clone())
            .map_err(|e| format!("the event {value} is invalid: {e}"))?;
        let fits = match &event {
            Event::Inferred { i, j, .. } => i != j && *i < self.n && *j < self.n,
            Event::Joined { object, neighbourhood, representative } => {
                *object < self.n && *neighbourhood < self.n && *representative < self.n
            }
            _ => return Err(format!("the event {value} is not \"inferred\" or \"joined\"")),
        };
        if fits {
            Ok(event)
        } else {
            Err(format!(
                "the event {value} names objects that are not between 0 and {}",
                self.n - 1
            ))
        }
    }

    fn read(&self, reply: &Value) -> Result<Step, String> {
        match reply["type"].as_str().unwrap_or_default() {
            "ask" => {
                let object = |end: &str| {
                    let object = reply[end].as_u64().filter(|&o| o < u64::from(self.n));
                    let wrong =
                        || format!("{end} {} is not between 0 and {}", reply[end], self.n - 1);
                    object.map(|o| o as u32).ok_or_else(wrong)
                };
                Ok(Step::Ask {
                    id: self.asked,
                    subject: object("subject")?,
                    reference: object("reference")?,
                    purpose: purpose(reply["purpose"].as_str().unwrap_or_default()),
                })
            }
            "need_clustering" => {
                let pairs: Vec<(usize, usize, Kind)> =
                    serde_json::from_value(reply["constraints"].clone()).map_err(|e| {
                        format!("constraints: {e}; a list of [i, j, \"must_link\"]")
                    })?;
                let pairs = pairs.into_iter().map(|(i, j, kind)| Constraint::new(i, j, kind));
                let constraints = Constraints::new(self.n as usize, pairs);
                let constraints = constraints.map_err(|e| e.to_string())?;
                Ok(Step::NeedClustering { request: self.requested, constraints })
            }
            "done" => {
                let reason = serde_json::from_value(reply["reason"].clone());
                reason.map(Step::Done).map_err(|e| format!("reason: {e}"))
            }
            other => Err(format!(
                "unknown type \"{other}\"; accepted: ask, need_clustering, done, error"
            )),
        }
    }
}

/// The words a log may say about a question; a word of the child's own is `external`.
fn purpose(word: &str) -> &'static str {
    const KNOWN: [&str; 6] = ["explore", "consolidate", "merge", "split", "random", "boundary"];
    KNOWN.into_iter().find(|known| *known == word).unwrap_or("external")
}

impl Drop for Run {
    fn drop(&mut self) {
        // One that failed is not there any more.
        match (self.again.take(), self.child.take()) {
            (Some(command), Some(child)) => {
                kept_children::put(&command, self.ctx.base(), PROTOCOL, child);
            }
            (None, Some(mut child)) => child.bye("done"),
            (_, None) => {}
        }
    }
}

impl Inquiry for Run {
    fn step(&mut self) -> Result<Step> {
        if let Some(open) = &self.open {
            return Ok(open.clone());
        }
        let step = self.ask(&json!({ "type": "step" }), Run::read)?;
        self.open = Some(step.clone());
        Ok(step)
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let not_open =
            || Err(Error::Oracle(format!("a reply to query {id}, which is not the open one")));
        let Some(Step::Ask { id: open, subject, reference, .. }) = self.open else {
            return not_open();
        };
        if id != open {
            return not_open();
        }
        let message = json!({
            "type": "tell", "subject": subject, "reference": reference, "reply": reply,
        });
        self.exchange(&message, "told")?;
        self.open = None;
        self.asked += 1;
        Ok(())
    }

    fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        match &self.open {
            Some(Step::NeedClustering { request: open, .. }) if *open == request => {}
            _ => return Err(Error::Oracle(format!("clustering {request} was not asked for"))),
        }
        let labels = clustering.labels.iter().map(|&l| u64::from(l));
        let path = self.scratch.integers("labels.npy", labels)?;
        let message = json!({ "type": "provide", "k": clustering.k, "labels": path });
        self.exchange(&message, "provided")?;
        self.open = None;
        self.requested += 1;
        Ok(())
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use mustlink_laws::{check_plugin, fixtures};

    const GREET: &str = r#"read l; echo '{"v":1,"type":"hello","name":"x"}'; read l;"#;

    fn external(words: &[&str]) -> ExternalSelector {
        let command = words.iter().map(ToString::to_string).collect();
        ExternalSelector { command, timeout_seconds: 20.0, ..ExternalSelector::default() }
    }

    /// Greets, takes the start, and says these lines, one per message.
    fn says(lines: &[&str]) -> ExternalSelector {
        let rest: Vec<String> = lines.iter().map(|l| format!("echo '{l}'; read l;")).collect();
        external(&["sh", "-c", &format!("{GREET} {}", rest.concat())])
    }

    const STARTED: &str = r#"{"type":"started"}"#;

    fn begin(selector: &ExternalSelector) -> Result<Box<dyn Inquiry>> {
        selector.start(&fixtures::dense(1).0, &Context::new(1))
    }

    fn step_fails(reply: &str) -> String {
        begin(&says(&[STARTED, reply])).unwrap().step().unwrap_err().to_string()
    }

    #[test]
    fn the_example_keeps_the_laws() {
        use std::io::Write;
        let python = std::process::Command::new("python3").arg("--version").output();
        if !python.is_ok_and(|p| p.status.success()) {
            let _ = std::io::stderr().write_all(b"skipped: random_selector.py needs python3\n");
            return;
        }
        let path =
            format!("{}/../../book/src/examples/random_selector.py", env!("CARGO_MANIFEST_DIR"));
        // One program for hundreds of selections, as in a run.
        let _kept = kept_children::Keep::start();
        let verdicts = check_plugin::<dyn QuerySelector>(&external(&["python3", &path]));
        assert!(verdicts.len() > 10, "{verdicts:?}");
        let broken: Vec<_> = verdicts.into_iter().filter(|(_, v)| v.is_err()).collect();
        assert!(broken.is_empty(), "{broken:?}");
    }

    #[test]
    fn a_command_is_needed() {
        let nothing = ExternalSelector::default();
        let error = begin(&nothing).err().unwrap().to_string();
        assert!(error.starts_with("command: must be a program and its arguments"), "{error}");
        let verdicts = check_plugin::<dyn QuerySelector>(&nothing);
        assert_eq!(verdicts, [("missing_setup_is_named", Ok(()))]);
    }

    #[test]
    fn every_message_has_its_place() {
        let selector = says(&[
            STARTED,
            r#"{"type":"need_clustering","constraints":[[4,2,"must_link"]]}"#,
            r#"{"type":"provided"}"#,
            r#"{"type":"ask","subject":7,"reference":3,"purpose":"explore"}"#,
            r#"{"type":"told","events":[{"type":"inferred","i":1,"j":2,"kind":"must_link","rule":"entailed"}]}"#,
            r#"{"type":"ask","subject":1,"reference":3,"purpose":"a word of my own"}"#,
            r#"{"type":"told"}"#,
            r#"{"type":"done","reason":"k_found"}"#,
        ]);
        let mut inquiry = begin(&selector).unwrap();
        let Step::NeedClustering { request, constraints } = inquiry.step().unwrap() else {
            panic!("no request")
        };
        assert_eq!(constraints.pairs(), [Constraint::must(2, 4)]);
        assert!(inquiry.tell(0, Reply::MustLink).is_err());
        let clustering = Clustering::from_labels(vec![0; 45]);
        assert!(inquiry.provide(request + 1, &clustering).is_err());
        inquiry.provide(request, &clustering).unwrap();
        for _ in 0..2 {
            // The second look does not reach the program.
            let Step::Ask { id, subject, reference, purpose } = inquiry.step().unwrap() else {
                panic!("no question")
            };
            assert_eq!((id, subject, reference, purpose), (0, 7, 3, "explore"));
        }
        assert!(inquiry.tell(1, Reply::MustLink).is_err());
        inquiry.tell(0, Reply::DontKnow).unwrap();
        let inferred =
            Event::Inferred { i: 1, j: 2, kind: Kind::MustLink, rule: "entailed".into() };
        assert_eq!(inquiry.drain(), [inferred]);
        let Step::Ask { id: 1, purpose: "external", .. } = inquiry.step().unwrap() else {
            panic!("no second question")
        };
        inquiry.tell(1, Reply::CannotLink).unwrap();
        assert!(matches!(inquiry.step().unwrap(), Step::Done(Done::KFound)));
    }

    #[test]
    fn wrong_replies_are_named() {
        let far = step_fails(r#"{"type":"ask","subject":45,"reference":3}"#);
        assert!(far.contains("line 3 of its output: subject 45 is not between 0 and 44"), "{far}");
        let odd = step_fails(r#"{"type":"question"}"#);
        assert!(odd.contains("unknown type \"question\"; accepted: ask"), "{odd}");
        let reason = step_fails(r#"{"type":"done","reason":"tired"}"#);
        assert!(reason.contains("reason: unknown variant `tired`"), "{reason}");
        let own = step_fails(r#"{"type":"error","message":"no data"}"#);
        assert_eq!(own, "external_selector: no data");
        let pairs = step_fails(r#"{"type":"need_clustering","constraints":[[1,99,"must_link"]]}"#);
        assert!(pairs.contains("object 99 does not exist"), "{pairs}");
        let event = r#"{"type":"started","events":[{"type":"joined","object":99,"neighbourhood":0,"representative":1}]}"#;
        let event = begin(&says(&[event])).err().unwrap().to_string();
        assert!(event.contains("names objects that are not between 0 and 44"), "{event}");
        let table = r#"{"type":"started","events":{"type":"joined"}}"#;
        let table = begin(&says(&[table])).err().unwrap().to_string();
        assert!(table.contains("events must be a list, got {"), "{table}");
        let early = begin(&external(&["sh", "-c", "echo oh >&2; exit 2"])).err().unwrap();
        assert!(early.to_string().contains("exit status: 2"), "{early}");
        assert!(early.to_string().ends_with("its last output: oh"), "{early}");
    }

    #[test]
    fn a_program_that_takes_several_selections_is_started_once() {
        let script = "echo x >> starts; while read l; do case \"$l\" in *'\"start\"'*) \
                      echo '{\"type\":\"started\"}';; *) echo '{\"type\":\"done\",\"reason\":\"exhausted\"}';; \
                      esac; done";
        let starts = |again: bool| {
            let dir = Scratch::new().unwrap();
            let hello =
                format!(r#"read l; echo '{{"v":1,"type":"hello","name":"x","again":{again}}}';"#);
            let selector = external(&["sh", "-c", &format!("{hello} {script}")]);
            let keep = kept_children::Keep::start();
            for seed in 0..3 {
                let path = SeedPath::new(seed);
                let ctx = Context::builder(path).base(dir.path()).build();
                let mut inquiry = selector.start(&fixtures::dense(1).0, &ctx).unwrap();
                assert!(matches!(inquiry.step().unwrap(), Step::Done(Done::Exhausted)));
            }
            drop(keep);
            std::fs::read_to_string(dir.path().join("starts")).unwrap().lines().count()
        };
        assert_eq!((starts(true), starts(false)), (1, 3));
    }

    #[test]
    fn a_program_may_end_what_it_does() {
        let dir = Scratch::new().unwrap();
        let script = format!("{GREET} echo '{STARTED}'; read l; printf '%s' \"$l\" > last");
        let ctx = Context::builder(SeedPath::new(1)).base(dir.path()).build();
        drop(external(&["sh", "-c", &script]).start(&fixtures::dense(1).0, &ctx).unwrap());
        let last = std::fs::read_to_string(dir.path().join("last")).unwrap();
        assert!(last.contains("\"type\":\"bye\""), "{last}");
    }

    #[test]
    fn clusterings_without_end_are_a_broken_contract() {
        struct Nobody;
        impl Respondent for Nobody {
            fn ask(&mut self, _: &Question) -> Result<Outcome> {
                panic!("nothing is asked")
            }
        }
        let script = r#"read l; echo '{"v":1,"type":"hello"}'; while read l; do case "$l" in
            *'"start"'*) echo '{"type":"started"}';; *'"provide"'*) echo '{"type":"provided"}';;
            *) echo '{"type":"need_clustering","constraints":[]}';; esac; done"#;
        let endless =
            ExternalSelector { needs_clustering: true, ..external(&["sh", "-c", script]) };
        let x = ndarray::array![[0.0], [1.0], [5.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let provide = |_: &Constraints, _: u64| Ok(Clustering::from_labels(vec![0, 0, 1]));
        let ctx = Context::new(1);
        let run = mustlink_core::selection::run;
        let made = run(&endless, &problem, &mut Nobody, None, &[], Some(&provide), &ctx);
        let said = made.unwrap_err().to_string();
        assert!(said.contains("asked for 8 clusterings without a question in between"), "{said}");
    }

    #[test]
    fn a_program_that_hangs_is_left() {
        let mut hangs = external(&["sh", "-c", &format!("{GREET} sleep 60")]);
        hangs.timeout_seconds = 0.2;
        let error = begin(&hangs).err().unwrap().to_string();
        assert_eq!(error, "timeout_seconds: stopped after the time limit of 0.2 s");
    }
}
