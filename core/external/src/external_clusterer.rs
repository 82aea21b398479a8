//! Clusterers in another language.

use std::collections::BTreeMap;

use crate::parts::child::ChildError;
use crate::parts::exchange::{self, INERT_FACT, PlainValue, Scratch};
use crate::parts::kept_children;
use mustlink_core::error::Infeasible;
use mustlink_core::prelude::*;
use mustlink_core::serde_json::json;

const TAG: &str = "external_clusterer";
/// Name of the protocol in the first message.
const PROTOCOL: &str = "clusterer";

/// A clusterer in any language: a command that gets files and replies with labels.
///
/// # Method
/// The command is started once per clustering and exchanges JSON lines on its standard input and output. The first
/// message is `{"v":1,"type":"hello","protocol":"clusterer"}`. The command answers
/// `{"v":1,"type":"hello","name":"…"}`, with `"again":true` if it accepts several requests, so that it need not be
/// started for each. Then comes one request:
/// `{"type":"cluster","n":…,"d":…,"k":…,"seed":…,"data":{"kind":"dense","values":PATH},
/// "constraints":PATH,"neighbourhoods":[…],"eligible":PATH,"directory":PATH,"options":{…}}`. Arrays are NumPy files,
/// sparse data three of them (`indptr`, `indices`, `values`), constraints a CSV `i,j,type,weight`. The reply is
/// `{"type":"clustering","labels":[…]}`, with optional `k` and `objective`; labels may be the path of a NumPy vector.
/// Before it may come `{"type":"progress","done":3,"total":10}` and
/// `{"type":"warning","message":"…"}`; instead of it `{"type":"error","message":"…"}`, or
/// `{"type":"infeasible","objects":[…]}` when constraints cannot be satisfied.
/// # Input and output
/// The kinds of data in `accepts`. One label per object.
/// # Errors
/// `BadParam` if the command does not start; `TimedOut` at `timeout_seconds`; `Plugin` for an invalid reply (with its
/// line), an early end (with the last lines of standard error) and reported errors. With `hard_must` or
/// `hard_cannot`, `InconsistentConstraints` before the command starts.
/// # Cost and randomness
/// One process, unless it accepts several requests, and a copy of the data on disk per clustering. The request
/// contains the seed, which is below 2³².
#[options]
pub struct ExternalClusterer {
    /// Program and its arguments: `["python3", "my_method.py"]`. Relative paths start at the configuration file.
    #[option(program = true)]
    pub command: Vec<String>,
    /// Options of the program itself, sent with the request: `{ step = 0.5 }`.
    #[option(kind = <BTreeMap<String, PlainValue> as Described>::KIND)]
    pub options: BTreeMap<String, Value>,
    /// Name of the program in messages. If absent, `external_clusterer`.
    pub name: Option<String>,
    /// Longest wait for each reply, in seconds. If 0, without limit.
    #[option(min = 0.0, inert = INERT_FACT)]
    pub timeout_seconds: f64,
    /// Kinds of data that the program accepts.
    #[option(default = vec![DataKind::Dense])]
    pub accepts: Vec<DataKind>,
    /// True if the program cannot run without k.
    #[option(default = true, inert = INERT_FACT)]
    pub needs_k: bool,
    /// True if the program uses constraints.
    #[option(inert = INERT_FACT)]
    pub reads_constraints: bool,
    /// True if every must-link holds in the result of the program.
    #[option(inert = INERT_FACT)]
    pub hard_must: bool,
    /// True if every cannot-link holds in the result of the program.
    #[option(inert = INERT_FACT)]
    pub hard_cannot: bool,
    /// True if the program uses the weights of constraints.
    #[option(inert = INERT_FACT)]
    pub soft_weights: bool,
}

#[plugin("external_clusterer")]
impl BaseClusterer for ExternalClusterer {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        self.check()?;
        ctx.check()?;
        if self.needs_k {
            problem.require_k(None, self.tag())?;
        }
        if self.hard_must || self.hard_cannot {
            // Found here, so that every language names contradictions alike.
            problem.closure(OnConflict::Error)?;
        }
        let scratch = Scratch::new()?;
        let mut request = scratch.problem(problem)?;
        request["type"] = "cluster".into();
        request["seed"] = (ctx.stream("seed").next_u64() >> 32).into();
        request["options"] = json!(self.options);
        let (command, limit) = (&self.command, self.timeout_seconds);
        let greeted = kept_children::greeted(command, limit, PROTOCOL, problem, ctx);
        let (mut child, again) = self.talk(greeted)?;
        child.send(&request);
        loop {
            let reply = self.talk(child.receive(ctx))?;
            match reply["type"].as_str().unwrap_or_default() {
                "progress" => {
                    ctx.progress(reply["done"].as_u64().unwrap_or(0), reply["total"].as_u64());
                }
                "warning" => ctx.warn(message(&reply)),
                "error" => {
                    return Err(Error::Plugin { tag: self.tag().into(), message: message(&reply) });
                }
                "infeasible" => {
                    let objects =
                        reply["objects"].as_array().map(Vec::as_slice).unwrap_or_default();
                    let number = |o: &Value| o.as_u64().filter(|&o| o < problem.n() as u64);
                    let objects = objects.iter().filter_map(number).map(|o| o as u32).collect();
                    let k = problem.k.unwrap_or(0);
                    let witness = Infeasible::Blocked(objects);
                    return Err(Error::InfeasibleConstraints { k, witness });
                }
                "clustering" => {
                    let made = clustering(&reply, problem, &scratch);
                    let made = self.talk(made.map_err(|wrong| child.protocol(wrong)))?;
                    let (labels, n) = (made.labels.len(), problem.n());
                    let empty = made.empty_clusters();
                    if empty > 0 && problem.k != Some(made.k) {
                        ctx.warn(format!(
                            "{}: replied k = {}, and {} of these clusters have no object",
                            self.tag(),
                            made.k,
                            empty
                        ));
                    }
                    if labels != n {
                        // In the words of the framework, and where.
                        let line = child.line();
                        let broken = format!(
                            "{labels} labels for {n} objects, on line {line} of its output"
                        );
                        return Err(Error::Contract { plugin: self.tag().into(), broken });
                    }
                    if again {
                        kept_children::put(command, ctx.base(), PROTOCOL, child);
                    } else {
                        child.bye("done");
                    }
                    return Ok(made);
                }
                other => {
                    let wrong = format!(
                        "unknown type \"{other}\"; accepted: clustering, progress, warning, error, \
                         infeasible"
                    );
                    return self.talk(Err(child.protocol(wrong)));
                }
            }
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: self.accepts.clone(),
            needs_k: self.needs_k,
            reads_constraints: self.reads_constraints || self.hard_must || self.hard_cannot,
            hard_must: self.hard_must,
            hard_cannot: self.hard_cannot,
            soft_weights: self.soft_weights,
            needs_setup: self.command.is_empty(),
            ..Properties::default()
        }
    }
}

impl ExternalClusterer {
    fn check(&self) -> Result<()> {
        if self.command.is_empty() {
            let legal = "a program and its arguments, such as [\"python3\", \"my_method.py\"]";
            return Err(Error::bad_param("command", "[]", legal));
        }
        if self.accepts.is_empty() {
            return Err(Error::bad_param("accepts", "[]", "at least one kind of data"));
        }
        if self.accepts.contains(&DataKind::Table) {
            let legal =
                "\"dense\", \"csr\", \"distances\" or \"affinity\": tables are for transforms";
            return Err(Error::bad_param("accepts", "\"table\"", legal));
        }
        Ok(())
    }

    fn talk<T>(&self, said: Result<T, ChildError>) -> Result<T> {
        said.map_err(|trouble| trouble.into_error(self.tag()))
    }

    fn tag(&self) -> &str {
        self.name.as_deref().unwrap_or(TAG)
    }
}

fn message(reply: &Value) -> String {
    reply["message"].as_str().unwrap_or("no message").to_string()
}

fn clustering(reply: &Value, problem: &Problem, scratch: &Scratch) -> Result<Clustering, String> {
    let n = problem.n();
    let labels = exchange::labels(&reply["labels"], n, scratch.path())?;
    let used = Clustering::from_labels(labels);
    let k = match &reply["k"] {
        Value::Null => problem.k.unwrap_or(0).max(used.k),
        k => {
            let told = k.as_u64().filter(|k| (used.k as u64..=n as u64).contains(k));
            let largest = used.k.saturating_sub(1);
            let at = used.labels.iter().position(|&l| l as usize == largest);
            let wrong = || match (k.as_u64(), at) {
                (Some(k), Some(i)) if k < used.k as u64 => {
                    format!("label {largest} of object {i} is not below k = {k}; labels start at 0")
                }
                _ => format!("k = {k} is not between {} and {n}", used.k),
            };
            told.ok_or_else(wrong)? as usize
        }
    };
    let objective = match &reply["objective"] {
        Value::Null => None,
        value => Some(value.as_f64().ok_or_else(|| format!("objective {value} is not a number"))?),
    };
    Ok(Clustering { k, objective, ..used })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use mustlink_laws::{check_plugin, fixtures};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    const AGAIN: &str = r#"read l; echo '{"v":1,"type":"hello","name":"x","again":true}';"#;
    const GREET: &str = r#"read l; echo '{"v":1,"type":"hello","name":"x"}'; read l;"#;

    fn external(words: &[&str]) -> ExternalClusterer {
        let command = words.iter().map(ToString::to_string).collect();
        ExternalClusterer { command, timeout_seconds: 20.0, ..ExternalClusterer::default() }
    }

    /// Greets, takes the request, and goes on as the shell says.
    fn sh(script: &str) -> ExternalClusterer {
        external(&["sh", "-c", &format!("{GREET} {script}")])
    }

    fn fails(clusterer: &ExternalClusterer) -> String {
        let (problem, _) = fixtures::dense(1);
        clusterer.cluster(&problem, &Context::new(1)).unwrap_err().to_string()
    }

    /// An example of the manual, if Python and the imported packages exist.
    fn example(name: &str, imports: &str) -> Option<ExternalClusterer> {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let python = std::env::var("MUSTLINK_PYTHON").unwrap_or_else(|_| "python3".into());
        let mut try_it = Command::new(&python);
        try_it.args(["-c", &format!("import {imports}")]).stderr(Stdio::null());
        if !try_it.status().is_ok_and(|s| s.success()) {
            let text = format!("skipped: {name} needs {python} with {imports}\n");
            let _ = std::io::stderr().write_all(text.as_bytes());
            return None;
        }
        let path = format!("{}/../../book/src/examples/{name}", env!("CARGO_MANIFEST_DIR"));
        Some(external(&[&python, &path]))
    }

    fn keeps_all_laws(clusterer: &ExternalClusterer) {
        // One program for hundreds of requests, as in a run.
        let _kept = kept_children::Keep::start();
        let verdicts = check_plugin::<dyn BaseClusterer>(clusterer);
        assert!(verdicts.len() > 10, "{verdicts:?}");
        let broken: Vec<_> = verdicts.into_iter().filter(|(_, v)| v.is_err()).collect();
        assert!(broken.is_empty(), "{broken:?}");
    }

    #[test]
    fn the_plain_example_keeps_the_laws() {
        if let Some(clusterer) = example("random_clusterer.py", "json") {
            keeps_all_laws(&clusterer);
        }
    }

    #[test]
    fn the_scikit_learn_example_clusters() {
        let Some(clusterer) = example("sklearn_clusterer.py", "numpy, sklearn.cluster") else {
            return;
        };
        let clusterer = ExternalClusterer { timeout_seconds: 120.0, ..clusterer };
        let (problem, classes) = fixtures::dense(1);
        let c = clusterer.cluster(&problem, &Context::new(1)).unwrap();
        let same = mustlink_core::clustering::canonical;
        assert_eq!(same(&c.labels), same(&classes));
    }

    #[test]
    fn a_command_is_needed() {
        let nothing = ExternalClusterer::default();
        assert_eq!(
            fails(&nothing),
            "command: must be a program and its arguments, such as [\"python3\", \"my_method.py\"], \
             got []"
        );
        assert!(nothing.properties().needs_setup);
        let verdicts = check_plugin::<dyn BaseClusterer>(&nothing);
        assert_eq!(verdicts, [("missing_setup_is_named", Ok(()))]);
    }

    /// Tables are rejected, because words have no file format.
    #[test]
    fn tables_are_for_transforms() {
        let reads = ExternalClusterer { accepts: vec![DataKind::Table], ..sh("cat > /dev/null") };
        let x = ndarray::array![[0.0], [f64::NAN], [6.0]];
        let problem = Problem::new(Data::table(x, vec![None]).unwrap()).with_k(2);
        let said = mustlink_core::run::cluster(&reads, &problem, &Context::new(1)).unwrap_err();
        let said = said.to_string();
        assert!(said.ends_with("tables are for transforms, got \"table\""), "{said}");
    }

    #[test]
    fn what_a_program_says_is_clean_and_its_k_is_looked_at() {
        let zeros = vec!["0"; 44].join(",");
        let script = format!(
            r#"echo '{{"type":"warning","message":"a\\u001b[2Jb\\u202ec"}}'; echo '{{"type":"clustering","labels":[1,{zeros}],"k":7}}'; read l"#
        );
        let ctx = Context::new(1);
        sh(&script).cluster(&fixtures::dense(1).0, &ctx).unwrap();
        let said = "external_clusterer: replied k = 7, and 5 of these clusters have no object";
        assert_eq!(ctx.warnings(), ["a?[2Jb?c", said]);
    }

    #[test]
    fn a_program_that_takes_several_requests_is_started_once() {
        let zeros = vec!["0"; 45].join(",");
        let script = format!(
            "echo x >> starts; while read l; do \
             echo '{{\"type\":\"clustering\",\"labels\":[{zeros}]}}'; done"
        );
        let starts = |greeting: &str| {
            let dir = Scratch::new().unwrap();
            let clusterer = external(&["sh", "-c", &format!("{greeting} {script}")]);
            let keep = kept_children::Keep::start();
            for seed in 0..3 {
                let ctx = Context::builder(SeedPath::new(seed)).base(dir.path()).build();
                clusterer.cluster(&fixtures::dense(1).0, &ctx).unwrap();
            }
            drop(keep);
            std::fs::read_to_string(dir.path().join("starts")).unwrap().lines().count()
        };
        assert_eq!(starts(AGAIN), 1);
        assert_eq!(starts(&AGAIN.replace("true", "false")), 3);
    }

    /// A program that is both was asked for a clustering after it was greeted as a selector.
    #[test]
    fn a_program_that_is_kept_is_what_it_was_greeted_as() {
        let hello = r#"echo '{"v":1,"type":"hello","name":"x","again":true}'"#;
        let script = format!(
            "read h; {hello}; case \"$h\" in *'\"clusterer\"'*) \
             while read l; do echo '{{\"type\":\"clustering\",\"labels\":[0,1,1]}}'; done;; *) \
             while read l; do echo '{{\"type\":\"started\"}}'; done;; esac"
        );
        let clusterer = external(&["sh", "-c", &script]);
        let selector = crate::external_selector::ExternalSelector {
            command: clusterer.command.clone(),
            ..Default::default()
        };
        let x = ndarray::array![[0.0], [5.0], [6.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let keep = kept_children::Keep::start();
        for _ in 0..2 {
            drop(selector.start(&problem, &Context::new(1)).unwrap());
            let made = clusterer.cluster(&problem, &Context::new(1)).unwrap();
            assert_eq!(made.labels, [0, 1, 1]);
        }
        drop(keep);
    }

    #[test]
    fn a_reply_too_many_is_no_reply_to_the_next_request() {
        let reply = r#"echo '{"type":"clustering","labels":[0,1,1]}'"#;
        let twice =
            external(&["sh", "-c", &format!("{AGAIN} while read l; do {reply}; {reply}; done")]);
        let x = ndarray::array![[0.0], [5.0], [6.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let keep = kept_children::Keep::start();
        // The second line needs a moment: it may be there after one of the next requests only.
        let fails = |_| {
            std::thread::sleep(Duration::from_millis(20));
            twice.cluster(&problem, &Context::new(1)).err()
        };
        let next = (0..1000).find_map(fails).expect("a line too many").to_string();
        drop(keep);
        assert!(next.contains("answers no request; each has one reply"), "{next}");
    }

    #[test]
    fn options_and_the_name_are_handed_on() {
        let script = r#"case "$l" in *'"options":{"step":0.5}'*) m=good;; *) m=bad;; esac;
                        echo "{\"type\":\"error\",\"message\":\"$m\"}""#;
        let options = BTreeMap::from([("step".to_string(), json!(0.5))]);
        let named = ExternalClusterer { options, name: Some("mine".into()), ..sh(script) };
        assert_eq!(fails(&named), "mine: good");
    }

    #[test]
    fn silence_and_cancelling_end_a_run() {
        let slow = ExternalClusterer { timeout_seconds: 0.2, ..sh("sleep 60") };
        assert_eq!(fails(&slow), "timeout_seconds: stopped after the time limit of 0.2 s");
        let flag = Arc::new(AtomicBool::new(false));
        let ctx = Context::builder(SeedPath::new(1)).cancel(flag.clone()).build();
        let endless = ExternalClusterer { timeout_seconds: 0.0, ..sh("sleep 60") };
        let start = Instant::now();
        let raise = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, Ordering::Relaxed);
        });
        let ended = endless.cluster(&fixtures::dense(1).0, &ctx);
        assert_eq!(ended.unwrap_err(), Error::Cancelled);
        assert!(start.elapsed() < Duration::from_secs(10));
        raise.join().unwrap();
        let limited = Context::builder(SeedPath::new(1)).time_limit(Some(0.2)).build();
        let ended = endless.cluster(&fixtures::dense(1).0, &limited);
        assert_eq!(ended.unwrap_err(), Error::TimedOut { seconds: 0.2 });
    }

    #[test]
    fn wrong_replies_are_named_by_line() {
        let says = |reply: &str| fails(&sh(&format!("echo '{reply}'")));
        let short = says("epoch 1 of 10");
        assert!(short.contains("line 2 of its output: not a JSON object"), "{short}");
        assert!(short.ends_with("the line reads epoch 1 of 10"), "{short}");
        let unknown = says(r#"{"type":"labels"}"#);
        assert!(unknown.contains("unknown type \"labels\"; accepted: clustering, progress"));
        let noise = says(r#"{"type":"clustering","labels":[0,-1]}"#);
        assert!(noise.contains("label -1 of object 1 is not between 0 and 44"), "{noise}");
        let few = says(r#"{"type":"clustering","labels":[0,2]}"#);
        assert!(few.contains("2 labels for 45 objects, on line 2 of its output"), "{few}");
        let large = says(r#"{"type":"clustering","labels":[0,2],"k":2}"#);
        assert!(large.contains("label 2 of object 1 is not below k = 2; labels start at 0"));
        let many = says(r#"{"type":"clustering","labels":[0,2],"k":46}"#);
        assert!(many.contains("k = 46 is not between 3 and 45"), "{many}");
        let none = says(r#"{"type":"clustering"}"#);
        assert!(none.contains("no \"labels\""), "{none}");
        assert_eq!(
            says(r#"{"type":"error","message":"singular matrix"}"#),
            "external_clusterer: singular matrix"
        );
    }

    #[test]
    fn an_early_end_shows_the_last_words() {
        let text = fails(&sh("echo 'ValueError: no' >&2; exit 3"));
        assert!(text.contains("ended without a reply (exit status: 3)"), "{text}");
        assert!(text.ends_with("its last output: ValueError: no"), "{text}");
    }

    #[test]
    fn progress_warnings_and_facts_arrive() {
        let zeros = vec!["0"; 45].join(",");
        let script = format!(
            "echo '{}'; echo '{}'; echo '{}'",
            r#"{"type":"progress","done":1,"total":2}"#,
            r#"{"type":"warning","message":"one cluster is empty"}"#,
            format_args!(r#"{{"type":"clustering","labels":[{zeros}],"objective":1.5,"later":1}}"#),
        );
        let ctx = Context::new(1);
        let c = sh(&script).cluster(&fixtures::dense(1).0, &ctx).unwrap();
        assert_eq!((c.k, c.objective, c.labels.len()), (3, Some(1.5), 45));
        assert_eq!(ctx.warnings(), ["one cluster is empty"]);
    }

    #[test]
    fn hard_promises_are_checked_and_contradictions_named_first() {
        let all = vec!["0"; 45].join(",");
        let reply = format!(r#"echo '{{"type":"clustering","labels":[{all}]}}'"#);
        let liar = ExternalClusterer { hard_cannot: true, ..sh(&reply) };
        let (problem, _) = fixtures::dense(1);
        let apart = Constraints::new(45, [Constraint::cannot(3, 7)]).unwrap();
        let problem = problem.with_constraints(apart);
        let broken = mustlink_core::run::cluster(&liar, &problem, &Context::new(1)).unwrap_err();
        assert!(matches!(broken, Error::Contract { .. }), "{broken}");
        let gives_up = ExternalClusterer {
            hard_cannot: true,
            ..sh(r#"echo '{"type":"infeasible","objects":[3,7,99]}'"#)
        };
        assert_eq!(
            gives_up.cluster(&problem, &Context::new(1)).unwrap_err(),
            Error::InfeasibleConstraints { k: 3, witness: Infeasible::Blocked(vec![3, 7]) }
        );
        let of_none = sh(r#"echo '{"type":"infeasible"}'"#);
        let said = of_none.cluster(&problem, &Context::new(1)).unwrap_err().to_string();
        assert_eq!(
            said,
            "constraints: no admissible cluster among 3 for some objects that the program did not list"
        );
        let pairs = [Constraint::must(3, 5), Constraint::must(5, 7), Constraint::cannot(3, 7)];
        let problem = problem.with_constraints(Constraints::new(45, pairs).unwrap());
        let never = ExternalClusterer { hard_must: true, ..external(&["/no/such/program"]) };
        let named = never.cluster(&problem, &Context::new(1)).unwrap_err();
        assert!(matches!(named, Error::InconsistentConstraints(_)), "{named}");
    }
}
