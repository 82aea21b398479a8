//! How does a program in another language take part?
//!
//! As a child process that speaks JSON lines: one object per line, UTF-8, on its standard input and
//! output. What it writes to its standard error is passed through. A [`Child`] never outlives its
//! handle, and waiting for it heeds the time limit and the cancel flag of the run.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Error;

/// How often a wait looks at the cancel flag.
const GLANCE: Duration = Duration::from_millis(20);
/// How long a child may take to end after it was told to, or to leave its last words.
const FAREWELL: Duration = Duration::from_secs(1);
/// How many of its last lines on standard error are kept for the message.
const TAIL: usize = 20;
/// The longest time limit that is one: more seconds than this are no limit.
const LONGEST: f64 = 1e9;

/// Why a child gave no usable reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// It could not be started.
    Start {
        /// The command.
        command: String,
        /// What the system says.
        reason: String,
    },
    /// It did not reply in time.
    Silent {
        /// The command.
        command: String,
        /// The limit.
        seconds: f64,
    },
    /// It ended, or closed its output, instead of replying.
    Ended {
        /// The command.
        command: String,
        /// How it ended: `exit status: 3`; absent when it still runs.
        status: Option<String>,
        /// The last lines of its standard error.
        tail: String,
    },
    /// Its reply is not one.
    Protocol {
        /// The command.
        command: String,
        /// Number of the line of its output, from 1.
        line: usize,
        /// The line, shortened.
        text: String,
        /// What is wrong with it.
        wrong: String,
    },
    /// The run was cancelled or is out of time.
    Stopped(Error),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Start { command, reason } => write!(f, "cannot start `{command}`: {reason}"),
            Trouble::Silent { command, seconds } => {
                write!(f, "`{command}` gave no reply within the limit of {seconds} s")
            }
            Trouble::Ended { command, status, tail } => {
                match status {
                    Some(status) => write!(f, "`{command}` ended without a reply ({status})")?,
                    None => write!(f, "`{command}` closed its output without a reply")?,
                }
                match tail.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; its last words: {tail}"),
                }
            }
            Trouble::Protocol { command, line, text, wrong } => {
                write!(f, "`{command}`, line {line} of its output: {wrong}; the line reads {text}")
            }
            Trouble::Stopped(error) => error.fmt(f),
        }
    }
}

impl Trouble {
    /// The error of the plugin `tag` that runs the child.
    pub fn into_error(self, tag: &str) -> Error {
        match self {
            Trouble::Stopped(error) => error,
            // The option is the place: the limit of the run itself has none.
            Trouble::Silent { seconds, .. } => Error::At {
                place: "timeout_seconds".into(),
                source: Box::new(Error::TimedOut { seconds }),
            },
            Trouble::Start { command, reason } => {
                Error::bad_param("command", command, format!("a program that starts ({reason})"))
            }
            other => Error::Plugin { tag: tag.into(), message: other.to_string() },
        }
    }
}

/// A running child process that speaks JSON lines.
pub struct Child {
    command: String,
    process: process::Child,
    input: Option<Sender<String>>,
    output: Receiver<Vec<u8>>,
    tail: Arc<Mutex<VecDeque<String>>>,
    stderr_open: Arc<AtomicBool>,
    limit: Option<f64>,
    asked_at: Instant,
    line: usize,
    text: String,
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("command", &self.command).finish_non_exhaustive()
    }
}

impl Child {
    /// Starts `command` (a program and its arguments). Every message sent starts the clock anew:
    /// the reply has `timeout_seconds`, 0 = as long as it takes.
    ///
    /// # Errors
    /// [`Trouble::Start`].
    pub fn spawn(command: &[String], timeout_seconds: f64) -> Result<Self, Trouble> {
        let shown = command.join(" ");
        let fail = |reason: String| Trouble::Start { command: shown.clone(), reason };
        let (program, arguments) = command.split_first().ok_or_else(|| fail("empty".into()))?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| fail(e.to_string()))?;
        let streams = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(fail("its streams are not open".into()));
        };
        let (input, to_write) = channel();
        let (read, output) = sync_channel(16);
        let tail: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let stderr_open = Arc::new(AtomicBool::new(true));
        // Detached: a grandchild may hold a stream open longer than anyone wants to wait.
        thread::spawn(move || write_lines(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, &read));
        let (kept, open) = (tail.clone(), stderr_open.clone());
        thread::spawn(move || {
            pass_through(stderr, &kept);
            open.store(false, Ordering::Release);
        });
        Ok(Child {
            command: shown,
            process,
            input: Some(input),
            output,
            tail,
            stderr_open,
            limit: (timeout_seconds > 0.0 && timeout_seconds < LONGEST).then_some(timeout_seconds),
            asked_at: Instant::now(),
            line: 0,
            text: String::new(),
        })
    }

    /// Sends one message. It never waits: a child that does not read is found out by
    /// [`Child::receive`].
    pub fn send(&mut self, message: &Value) {
        self.asked_at = Instant::now();
        if let Some(input) = &self.input {
            // A writer that is gone means a child that is gone, which `receive` tells.
            let _ = input.send(format!("{message}\n"));
        }
    }

    /// The next message of the child: an object with a text `type`.
    ///
    /// # Errors
    /// All but [`Trouble::Start`].
    pub fn receive(&mut self, ctx: &Context) -> Result<Value, Trouble> {
        let bytes = loop {
            ctx.check().map_err(Trouble::Stopped)?;
            match self.output.recv_timeout(self.glance()?) {
                Ok(bytes) => {
                    self.line += 1;
                    if !bytes.trim_ascii().is_empty() {
                        break bytes;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        };
        let text = String::from_utf8(bytes);
        self.text = match &text {
            Ok(text) => text.trim_end().to_string(),
            Err(e) => String::from_utf8_lossy(e.as_bytes()).trim_end().to_string(),
        };
        if text.is_err() {
            return Err(self.protocol("not UTF-8"));
        }
        let value: Value = serde_json::from_str(&self.text).map_err(|_| {
            self.protocol("not a JSON object (print notes to standard error, one message per line)")
        })?;
        match value.get("type").and_then(Value::as_str) {
            Some(_) => Ok(value),
            None => Err(self.protocol("no \"type\"")),
        }
    }

    /// How long the next look at the output may take.
    fn glance(&self) -> Result<Duration, Trouble> {
        let Some(seconds) = self.limit else { return Ok(GLANCE) };
        let left = Duration::from_secs_f64(seconds).checked_sub(self.asked_at.elapsed());
        match left {
            Some(left) if !left.is_zero() => Ok(left.min(GLANCE)),
            _ => Err(Trouble::Silent { command: self.command.clone(), seconds }),
        }
    }

    /// What is wrong with the line received last.
    pub fn protocol(&self, wrong: impl Into<String>) -> Trouble {
        const SHOWN: usize = 160;
        let mut text: String = self.text.chars().take(SHOWN).collect();
        if text.len() < self.text.len() {
            text.push('…');
        }
        Trouble::Protocol {
            command: self.command.clone(),
            line: self.line,
            text,
            wrong: wrong.into(),
        }
    }

    /// Exchanges greetings: names the protocol, and refuses a child that speaks another version.
    /// `more` is added to the greeting. Gives the reply of the child.
    ///
    /// # Errors
    /// As [`Child::receive`].
    pub fn hello(&mut self, protocol: &str, more: Value, ctx: &Context) -> Result<Value, Trouble> {
        let mut greeting = json!({ "v": 1, "type": "hello", "protocol": protocol });
        if let (Value::Object(greeting), Value::Object(more)) = (&mut greeting, more) {
            greeting.extend(more);
        }
        self.send(&greeting);
        let reply = self.receive(ctx)?;
        if reply["type"] != "hello" {
            return Err(self.protocol("expected {\"v\":1,\"type\":\"hello\",…}"));
        }
        if reply["v"] != 1 {
            return Err(self.protocol("speaks another version than \"v\":1"));
        }
        Ok(reply)
    }

    /// Says goodbye and gives the child a moment to end by itself.
    pub fn bye(mut self, reason: &str) {
        self.send(&json!({ "v": 1, "type": "bye", "reason": reason }));
        self.input = None;
        self.wait(FAREWELL);
    }

    /// The exit status, if it ends within `patience`.
    fn wait(&mut self, patience: Duration) -> Option<process::ExitStatus> {
        let end = Instant::now() + patience;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }

    fn ended(&mut self) -> Trouble {
        let status = self.wait(FAREWELL).map(|s| s.to_string());
        // The last words may still be on their way.
        let end = Instant::now() + FAREWELL;
        while status.is_some() && self.stderr_open.load(Ordering::Acquire) && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        let tail = self.tail.lock().map(|t| t.iter().cloned().collect::<Vec<_>>().join(" | "));
        Trouble::Ended { command: self.command.clone(), status, tail: tail.unwrap_or_default() }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        // Both fail only where the child has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, lines: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if lines.send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}

fn pass_through(mut stderr: ChildStderr, tail: &Mutex<VecDeque<String>>) {
    let mut open = Vec::new();
    let mut buffer = [0; 4096];
    let keep = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).trim_end().to_string();
        let Ok(mut tail) = tail.lock() else { return };
        if !text.is_empty() {
            tail.push_back(text);
        }
        if tail.len() > TAIL {
            tail.pop_front();
        }
    };
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        // Nobody there to read it is no error.
        let _ = std::io::stderr().write_all(&buffer[..read]);
        open.extend_from_slice(&buffer[..read]);
        while let Some(end) = open.iter().position(|&b| b == b'\n') {
            keep(&open[..end]);
            open.drain(..=end);
        }
    }
    keep(&open);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, seconds: f64) -> Child {
        Child::spawn(&["sh".into(), "-c".into(), script.into()], seconds).unwrap()
    }

    const GREET: &str = "read l; echo '{\"v\":1,\"type\":\"hello\",\"extra\":[]}';";

    #[test]
    fn messages_go_both_ways() {
        let mut child = sh(&format!("{GREET} while read l; do echo; echo \"$l\"; done"), 10.0);
        let ctx = Context::new(1);
        child.hello("echo", json!({ "n": 3 }), &ctx).unwrap();
        for t in 0..50 {
            let message = json!({ "type": "é", "t": t });
            child.send(&message);
            assert_eq!(child.receive(&ctx).unwrap(), message);
        }
        child.bye("done");
    }

    #[test]
    fn silence_has_a_limit_that_is_named() {
        let start = Instant::now();
        let mut child = sh("sleep 60", 0.2);
        child.send(&json!({ "type": "x" }));
        let trouble = child.receive(&Context::new(1)).unwrap_err();
        drop(child);
        assert!(start.elapsed() < Duration::from_secs(10));
        let said = "`sh -c sleep 60` gave no reply within the limit of 0.2 s";
        assert_eq!(trouble.to_string(), said);
        assert_eq!(
            trouble.into_error("t").at("clusterer").to_string(),
            "clusterer.timeout_seconds: stopped after the time limit of 0.2 s"
        );
    }

    #[test]
    fn a_child_that_does_not_read_blocks_nobody() {
        let mut child = sh("sleep 60", 0.2);
        child.send(&json!({ "type": "x", "long": "x".repeat(1 << 20) }));
        assert!(matches!(child.receive(&Context::new(1)), Err(Trouble::Silent { .. })));
    }

    #[test]
    fn cancelling_is_heard_while_waiting() {
        let flag = Arc::new(AtomicBool::new(false));
        let path = crate::random::SeedPath::new(1);
        let ctx = Context::builder(path).cancel(flag.clone()).build();
        let mut child = sh("sleep 60", 0.0);
        let raise = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
        });
        assert_eq!(child.receive(&ctx).unwrap_err().into_error("t"), Error::Cancelled);
        raise.join().unwrap();
    }

    #[test]
    fn last_words_and_status_are_shown() {
        let mut child = sh("echo 'one' >&2; printf 'two' >&2; exit 3", 10.0);
        let trouble = child.receive(&Context::new(1)).unwrap_err();
        let Trouble::Ended { status, tail, .. } = trouble else { panic!("{trouble:?}") };
        assert_eq!((status.as_deref(), tail.as_str()), (Some("exit status: 3"), "one | two"));
    }

    #[test]
    fn what_is_no_message_is_named_by_line() {
        let wrong = |script: &str| {
            let mut child = sh(script, 10.0);
            let first = child.receive(&Context::new(1));
            let then = first.and_then(|_| child.receive(&Context::new(1)));
            let Err(Trouble::Protocol { line, text, wrong, .. }) = then else { panic!("{then:?}") };
            (line, text, wrong)
        };
        let (line, text, what) = wrong("echo '{\"type\":\"a\"}'; echo 'epoch 1'");
        assert_eq!((line, text.as_str()), (2, "epoch 1"));
        assert!(what.starts_with("not a JSON object"));
        assert_eq!(wrong("echo '[1]'").2, "no \"type\"");
        assert_eq!(wrong("printf '\\377\\n'").2, "not UTF-8");
    }

    #[test]
    fn another_version_is_refused() {
        let mut child = sh("read l; echo '{\"v\":2,\"type\":\"hello\"}'", 10.0);
        let refused = child.hello("echo", Value::Null, &Context::new(1)).unwrap_err();
        assert!(refused.to_string().contains("another version"), "{refused}");
    }

    #[test]
    fn a_program_that_is_not_there_is_a_wrong_option() {
        let error = Child::spawn(&["/no/such/program".into()], 0.0).unwrap_err().into_error("t");
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().starts_with("command: must be a program that starts ("));
    }
}
