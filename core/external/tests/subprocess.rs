//! Oracles in other languages.

use std::path::Path;
use std::process::{Command, Stdio};

use mustlink_core::prelude::*;
use mustlink_external::subprocess::Subprocess;
use mustlink_oracles::truth::Truth;

fn scene() -> Scene {
    let labels = [0, 1, 0, 2, 1].map(Some).to_vec();
    let ids: Vec<String> = (0..5).map(|i| format!("row-{i}")).collect();
    let name = Some("five".into());
    Scene { ids: Some(ids.into()), name, ..Scene::with_labels(labels, Context::new(1)) }
}

fn question(i: u32, j: u32) -> Question {
    Question { id: 7, i, j, subject: j, reference: i, purpose: "test" }
}

#[test]
fn the_example_of_the_book_answers_like_truth() {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: python3 not found");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.csv");
    std::fs::write(&labels, "id,label\nrow-0,a\nrow-1,b\nrow-2,a\nrow-3,\nrow-4,b\n").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/examples/oracle.py");
    let command =
        vec!["python3".into(), script.display().to_string(), labels.display().to_string()];
    let oracle = Subprocess { command, timeout_seconds: 60.0, sort: None };
    let scene = scene();
    let (mut child, mut truth) = (oracle.open(&scene).unwrap(), Truth {}.open(&scene).unwrap());
    for i in 0..5 {
        for j in i + 1..5 {
            let q = question(i, j);
            let Outcome::Answered(answer) = child.ask(&q).unwrap() else { panic!("no answer") };
            let Outcome::Answered(expected) = truth.ask(&q).unwrap() else { panic!("no truth") };
            let unknown = i == 3 || j == 3;
            assert_eq!(answer.reply, if unknown { Reply::DontKnow } else { expected.reply });
            assert_eq!((answer.annotator.as_deref(), answer.cost), (Some("file"), 1.0));
            assert!(answer.elapsed_ms.is_some());
        }
    }
}

#[cfg(unix)]
fn shell(script: &str, timeout_seconds: f64) -> Result<Box<dyn Respondent>> {
    let command = vec!["sh".into(), "-c".into(), script.into()];
    Subprocess { command, timeout_seconds, sort: None }.open(&scene())
}

#[cfg(unix)]
const HELLO: &str = r#"read h; echo '{"v":1,"type":"hello","name":"x","mood":"fine"}'; read q; "#;

/// The message of a program that behaves like this once it is asked.
#[cfg(unix)]
fn complaint(script: &str) -> String {
    let mut child = shell(&format!("{HELLO}{script}"), 20.0).unwrap();
    let error = child.ask(&question(1, 3)).unwrap_err().to_string();
    let again = child.ask(&question(1, 3)).unwrap_err().to_string();
    assert_eq!(again, "oracle: sh: is not asked again after an error");
    error
}

#[cfg(unix)]
#[test]
fn wrong_lines_are_named() {
    let say = |line: &str| complaint(&format!("echo '{line}'; read b"));
    let start = "oracle: sh: line 2 of its output: ";
    for (line, message) in [
        ("hm", "not JSON: hm"),
        (r#"{"v":2,"type":"answer"}"#, "v must be 1, got 2"),
        (r#"{"v":1,"type":"guess"}"#, "type must be \"answer\", got \"guess\""),
        (
            r#"{"v":1,"type":"answer","id":"q000008","reply":"must_link"}"#,
            "id must be \"q000007\", got \"q000008\"",
        ),
        (
            r#"{"v":1,"type":"answer","id":"q000007","reply":"perhaps"}"#,
            "reply must be \"must_link\", \"cannot_link\" or \"dont_know\", got \"perhaps\"",
        ),
        (
            r#"{"v":1,"type":"answer","id":"q000007","reply":"must_link","confidence":0.2}"#,
            "confidence must be between 0.5 and 1, got 0.2",
        ),
    ] {
        assert_eq!(say(line), format!("{start}{message}"));
    }
}

#[cfg(unix)]
#[test]
fn questions_are_as_the_protocol_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let script = format!(
        "{HELLO} echo \"$h\" > {0}; echo \"$q\" >> {0}; \
         echo '{{\"v\":1,\"type\":\"answer\",\"id\":\"q000007\",\"reply\":\"dont_know\",\"note\":\"?\"}}'; \
         read b; echo \"$b\" >> {0}",
        file.display()
    );
    let mut child = shell(&script, 20.0).unwrap();
    let Outcome::Answered(answer) = child.ask(&question(1, 3)).unwrap() else { panic!("silent") };
    assert_eq!((answer.reply, answer.note.as_deref()), (Reply::DontKnow, Some("?")));
    drop(child);
    let heard = std::fs::read_to_string(&file).unwrap();
    let heard: Vec<Value> = heard.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let replies = ["must_link", "cannot_link", "dont_know"];
    let expected = [
        serde_json::json!({ "v": 1, "type": "hello", "protocol": "pairwise-oracle", "dataset": "five",
            "n": 5, "replies": replies }),
        serde_json::json!({ "v": 1, "type": "ask", "id": "q000007",
            "i": { "index": 1, "id": "row-1", "display": {} },
            "j": { "index": 3, "id": "row-3", "display": {} },
            "context": { "purpose": "test", "subject": 3 } }),
        serde_json::json!({ "v": 1, "type": "bye", "reason": "closed" }),
    ];
    assert_eq!(heard, expected);
}

#[cfg(unix)]
#[test]
fn sorted_objects_answer_all_of_their_pairs() {
    let data = ndarray::array![[0.0], [5.0], [0.1], [9.0], [5.1]];
    let scene = Scene { data: Some(Data::dense(data).unwrap()), ..scene() };
    let open = |groups: &str| {
        let sorted = format!(r#"{{"v":1,"type":"sorted","id":"q000007","groups":{groups}}}"#);
        let script = format!("{HELLO} echo \"$q\" >&2; echo '{sorted}'; read b");
        let command = vec!["sh".into(), "-c".into(), script];
        Subprocess { command, timeout_seconds: 20.0, sort: Some(4) }.open(&scene).unwrap()
    };
    let mut child = open("[[0,2],[1,4]]");
    let mut ask = |i, j| match child.ask(&question(i, j)).unwrap() {
        Outcome::Answered(answer) => (answer.reply, answer.cost),
        other => panic!("{other:?}"),
    };
    // One call; the nearest of both were sorted with the two, and cost nothing when they are asked.
    assert_eq!(ask(0, 1), (Reply::CannotLink, 1.0));
    assert_eq!(ask(0, 2), (Reply::MustLink, 0.0));
    assert_eq!(ask(2, 4), (Reply::CannotLink, 0.0));
    assert_eq!(ask(1, 4), (Reply::MustLink, 0.0));
    for groups in ["[[0,2],[1]]", "[[0,2],[1,4,4]]", "[[0,2],[1,3]]", "5", "null"] {
        let message = open(groups).ask(&question(0, 1)).unwrap_err().to_string();
        assert!(message.contains("each of the indices [0, 1, 2, 4] once"), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_ends_leaves_its_question_open() {
    let mut child = shell(&format!("{HELLO} exit 0"), 20.0).unwrap();
    assert_eq!(child.ask(&question(0, 1)).unwrap(), Outcome::Pending);
    assert_eq!(child.ask(&question(0, 1)).unwrap(), Outcome::Pending);
    // One that fails is a failure of the run.
    let mut child = shell(&format!("{HELLO} exit 3"), 20.0).unwrap();
    let message = child.ask(&question(0, 1)).unwrap_err().to_string();
    assert!(
        message.contains("ended (exit status: 3)") && message.contains("--ledger"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_program_that_does_not_start_is_said() {
    let message = |o: Subprocess| o.open(&scene()).err().unwrap().to_string();
    assert_eq!(
        message(Subprocess::default()),
        "command: must be a program and its arguments, got nothing"
    );
    let none = Subprocess { command: vec!["./no-such-program".into()], ..Subprocess::default() };
    assert!(message(none).starts_with("command: must be a program that starts ("));
    let ended = shell("exit 3", 20.0).err().unwrap().to_string();
    assert_eq!(ended, "oracle: sh: ended (exit status: 3) before it sent hello");
    let negative = Subprocess { command: vec!["sh".into()], timeout_seconds: -1.0, sort: None };
    assert!(message(negative).starts_with("timeout_seconds: must be at least 0"));
}

#[cfg(unix)]
#[test]
fn annotators_may_be_numbers() {
    let answer = r#"echo '{"v":1,"type":"answer","id":"q000007","reply":"must_link","annotator":7}'; read b"#;
    let mut child = shell(&format!("{HELLO} {answer}"), 60.0).unwrap();
    let Outcome::Answered(answer) = child.ask(&question(0, 1)).unwrap() else {
        panic!("no answer")
    };
    assert_eq!(answer.annotator.as_deref(), Some("7"));
}

#[cfg(unix)]
#[test]
fn a_program_that_hangs_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("echo $$ > {}; {HELLO} exec sleep 600", file.display());
    // A machine at work may be slow to greet, too.
    let greets = |seconds| Some((seconds, shell(&script, seconds).ok()?));
    let (seconds, mut child) = [0.3, 3.0, 30.0].into_iter().find_map(greets).unwrap();
    let error = child.ask(&question(0, 1)).unwrap_err().to_string();
    assert_eq!(error, format!("oracle: sh: sent nothing within {seconds} s"));
    drop(child);
    let pid = std::fs::read_to_string(&file).unwrap();
    let alive =
        Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap();
    assert!(!alive.success(), "process {pid} is still there");
}

#[cfg(unix)]
#[test]
fn a_wait_ends_when_the_run_is_cancelled() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let flag = Arc::new(AtomicBool::new(false));
    let path = SeedPath::new(1);
    let ctx = Context::builder(path).cancel(flag.clone()).build();
    let command = vec!["sh".into(), "-c".into(), format!("{HELLO} exec sleep 600")];
    let oracle = Subprocess { command, timeout_seconds: 0.0, sort: None };
    let mut child = oracle.open(&Scene { ctx, ..scene() }).unwrap();
    flag.store(true, Ordering::Relaxed);
    assert_eq!(child.ask(&question(0, 1)), Err(Error::Cancelled));
}
