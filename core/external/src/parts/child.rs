//! A program in another language as a child process.
//!
//! As a child process that exchanges JSON lines: one object per line, UTF-8, on its standard input
//! and output. Its standard error is passed through, each traceback of Python once.
//! A [`Child`] never outlives its handle, nor do the processes it started (on Unix, where it leads a
//! process group of its own); waiting for it respects the time limit and the cancel flag of the run.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::parts::running;
use mustlink_core::context::Context;
use mustlink_core::error::Error;
use mustlink_core::text::visible;

/// Time between two checks of the cancel flag during a wait.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Longest time for a child to end by itself, and for its last lines on standard error to arrive.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// Number of its last lines on standard error that are kept for the message.
const TAIL: usize = 20;
/// Largest number of bytes of each of them.
const LONGEST_WORDS: usize = 400;
/// Longest line that is read from a child by default, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// Time limits of more seconds than this count as none.
const LONGEST_LIMIT: f64 = 1e9;

/// Reason why a child gave no usable reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildError {
    /// It could not be started.
    Start {
        /// The command.
        command: String,
        /// The message of the system.
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
        /// Status at its end: `exit status: 3`; absent when it still runs.
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
        /// Description of the fault.
        wrong: String,
    },
    /// The run was cancelled or is out of time.
    Stopped(Error),
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildError::Start { command, reason } => {
                write!(f, "cannot start `{command}`: {reason}")
            }
            ChildError::Silent { command, seconds } => {
                write!(f, "`{command}` gave no reply within the limit of {seconds} s")
            }
            ChildError::Ended { command, status, tail } => {
                match status {
                    Some(status) => write!(f, "`{command}` ended without a reply ({status})")?,
                    None => write!(f, "`{command}` closed its output without a reply")?,
                }
                if tail.is_empty() { Ok(()) } else { write!(f, "; its last output: {tail}") }
            }
            ChildError::Protocol { command, line, text, wrong } => {
                write!(f, "`{command}`, line {line} of its output: {wrong}; the line reads {text}")
            }
            ChildError::Stopped(error) => error.fmt(f),
        }
    }
}

impl ChildError {
    /// The error of the plugin `tag` that runs the child.
    pub fn into_error(self, tag: &str) -> Error {
        match self {
            ChildError::Stopped(error) => error,
            // The option is the place: the limit of the run itself has none.
            ChildError::Silent { seconds, .. } => Error::At {
                place: "timeout_seconds".into(),
                source: Box::new(Error::TimedOut { seconds }),
            },
            ChildError::Start { command, reason } => {
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
    longest: Arc<AtomicUsize>,
    asked_at: Instant,
    line: usize,
    text: String,
    ended: bool,
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("command", &self.command).finish_non_exhaustive()
    }
}

impl Child {
    /// Starts `command` (a program and its arguments). Every message sent restarts the clock:
    /// the reply has `timeout_seconds`, 0 = any time. The program works in the folder `base`, where
    /// relative paths in the command start; empty: the working directory of this program.
    ///
    /// # Errors
    /// [`ChildError::Start`].
    pub fn spawn(
        command: &[String],
        timeout_seconds: f64,
        base: &Path,
    ) -> Result<Self, ChildError> {
        let shown = command.join(" ");
        let fail = |reason: String| ChildError::Start { command: shown.clone(), reason };
        let (program, arguments) = command.split_first().ok_or_else(|| fail("empty".into()))?;
        let at = base.join(program);
        // A name alone is looked for along PATH. Links stay: an environment is known by its own.
        let path = Path::new(program).components().count() > 1;
        let program = match path.then(|| std::path::absolute(&at)) {
            Some(Ok(absolute)) => absolute,
            _ => program.into(),
        };
        let mut command = Command::new(program);
        if !base.as_os_str().is_empty() {
            command.current_dir(base);
        }
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = running::start(&mut command).map_err(|e| fail(e.to_string()))?;
        let streams = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            running::end(&mut process);
            return Err(fail("its streams are not open".into()));
        };
        let (input, to_write) = channel();
        let (read, output) = sync_channel(16);
        let tail: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let stderr_open = Arc::new(AtomicBool::new(true));
        let longest = Arc::new(AtomicUsize::new(LONGEST_LINE));
        // Detached: a grandchild may hold a stream open for as long as it likes.
        thread::spawn(move || write_lines(stdin, &to_write));
        let most = longest.clone();
        thread::spawn(move || read_lines(stdout, &most, &read));
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
            limit: limit(timeout_seconds),
            longest,
            asked_at: Instant::now(),
            line: 0,
            text: String::new(),
            ended: false,
        })
    }

    /// Sends one message. It never waits: a child that does not read is found out by
    /// [`Child::receive`].
    pub fn send(&mut self, message: &Value) {
        self.asked_at = Instant::now();
        if let Some(input) = &self.input {
            // Fails only when the child has ended, which `receive` reports.
            let _ = input.send(format!("{message}\n"));
        }
    }

    /// The next line of its output, as it came.
    ///
    /// # Errors
    /// `Silent`, `Ended`, `Stopped`.
    pub fn receive_line(&mut self, ctx: &Context) -> Result<Vec<u8>, ChildError> {
        loop {
            ctx.check().map_err(ChildError::Stopped)?;
            match self.output.recv_timeout(self.next_wait()?) {
                Ok(bytes) => {
                    self.line += 1;
                    return Ok(bytes);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Number of the line received last, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The next message of the child: an object with a text `type`. Empty lines are left out.
    ///
    /// # Errors
    /// All but [`ChildError::Start`].
    pub fn receive(&mut self, ctx: &Context) -> Result<Value, ChildError> {
        let bytes = loop {
            let bytes = self.receive_line(ctx)?;
            if !bytes.trim_ascii().is_empty() {
                break bytes;
            }
        };
        let text = String::from_utf8(bytes);
        self.text = match &text {
            Ok(text) => text.trim_end().into(),
            Err(e) => String::from_utf8_lossy(e.as_bytes()).trim_end().to_string(),
        };
        if text.is_err() {
            return Err(self.protocol("not UTF-8"));
        }
        let longest = self.longest.load(Ordering::Relaxed);
        if self.text.len() >= longest {
            let wrong =
                format!("longer than {longest} bytes (labels may be the path of an NPY file)");
            return Err(self.protocol(wrong));
        }
        let value: Value = serde_json::from_str(&self.text).map_err(|_| {
            let mut words = self.text.split(|c: char| !c.is_alphabetic());
            let no_number = words.any(|w| matches!(w, "NaN" | "Infinity"));
            self.protocol(if no_number && self.text.starts_with('{') {
                "NaN and Infinity are not valid JSON; leave out missing values"
            } else {
                "not a JSON object (print notes to standard error, one message per line)"
            })
        })?;
        match value.get("type").and_then(Value::as_str) {
            Some(_) => Ok(shown(value)),
            None => Err(self.protocol("no \"type\"")),
        }
    }

    /// Error if a line waits that answers no request.
    pub fn unasked(&mut self) -> Option<ChildError> {
        while let Ok(bytes) = self.output.try_recv() {
            self.line += 1;
            self.text = String::from_utf8_lossy(&bytes).trim_end().to_string();
            if !self.text.is_empty() {
                return Some(self.protocol("answers no request; each has one reply"));
            }
        }
        None
    }

    /// Time to wait for output before the next check.
    fn next_wait(&self) -> Result<Duration, ChildError> {
        let Some(seconds) = self.limit else { return Ok(POLL_INTERVAL) };
        let left = Duration::from_secs_f64(seconds).checked_sub(self.asked_at.elapsed());
        match left {
            Some(left) if !left.is_zero() => Ok(left.min(POLL_INTERVAL)),
            _ => Err(ChildError::Silent { command: self.command.clone(), seconds }),
        }
    }

    /// Error about the line received last.
    pub fn protocol(&self, wrong: impl Into<String>) -> ChildError {
        const SHOWN: usize = 160;
        let mut text: String = visible(&self.text).chars().take(SHOWN).collect();
        if self.text.chars().nth(SHOWN).is_some() {
            text.push('…');
        }
        ChildError::Protocol {
            command: self.command.clone(),
            line: self.line,
            text,
            wrong: wrong.into(),
        }
    }

    /// Exchanges `hello`: names the protocol, and refuses a child of another version. `more` is added
    /// to the message. Gives the reply of the child.
    ///
    /// # Errors
    /// Returns the errors of [`Child::receive`].
    pub fn hello(
        &mut self,
        protocol: &str,
        more: Value,
        ctx: &Context,
    ) -> Result<Value, ChildError> {
        let mut hello = json!({ "v": 1, "type": "hello", "protocol": protocol });
        if let (Value::Object(hello), Value::Object(more)) = (&mut hello, more) {
            hello.extend(more);
        }
        self.send(&hello);
        let reply = self.receive(ctx)?;
        if reply["type"] != "hello" {
            return Err(self.protocol("expected {\"v\":1,\"type\":\"hello\",…}"));
        }
        if reply["v"] != 1 {
            return Err(self.protocol("uses another version than \"v\":1"));
        }
        Ok(reply)
    }

    /// Sends `bye`, closes its input and gives the child a moment to end by itself.
    pub fn bye(&mut self, reason: &str) {
        self.send(&json!({ "v": 1, "type": "bye", "reason": reason }));
        self.input = None;
        self.wait(EXIT_GRACE);
    }

    /// True if it ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.wait(Duration::ZERO).is_some()
    }

    /// Gives every reply from now on so many seconds; 0 = as long as it takes.
    pub fn set_timeout(&mut self, seconds: f64) {
        self.limit = limit(seconds);
    }

    /// Reads lines of less than so many bytes from now on: [`Child::receive`] refuses longer ones, and
    /// [`Child::receive_line`] gives them in pieces.
    pub fn set_longest_line(&mut self, bytes: usize) {
        self.longest.store(bytes, Ordering::Relaxed);
    }

    /// The exit status, if it ends within `patience`; what it started and left behind ends with it.
    fn wait(&mut self, patience: Duration) -> Option<process::ExitStatus> {
        let end = Instant::now() + patience;
        while !self.ended && !running::has_ended(&mut self.process) {
            if Instant::now() >= end {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.finish()
    }

    /// Ends the child and all it started that did not leave its group, and takes its exit status.
    fn finish(&mut self) -> Option<process::ExitStatus> {
        // A child that was waited for has no number any more: it may be another's.
        if !self.ended {
            running::end(&mut self.process);
            self.ended = true;
        }
        self.process.wait().ok()
    }

    fn ended(&mut self) -> ChildError {
        let status = self.wait(EXIT_GRACE).map(|s| s.to_string());
        // Its last lines may still be in the pipe.
        let end = Instant::now() + EXIT_GRACE;
        while status.is_some() && self.stderr_open.load(Ordering::Acquire) && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        let tail = self.tail.lock().map(|t| t.iter().cloned().collect::<Vec<_>>().join(" | "));
        ChildError::Ended { command: self.command.clone(), status, tail: tail.unwrap_or_default() }
    }
}

fn limit(seconds: f64) -> Option<f64> {
    (seconds > 0.0 && seconds < LONGEST_LIMIT).then_some(seconds)
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        self.finish();
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Waits while the queue is full: a child that floods its output is held up.
fn read_lines(stdout: ChildStdout, longest: &AtomicUsize, lines: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        let read = match reader.fill_buf() {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
            Ok(read) => read,
        };
        let over = read.is_empty();
        let end = read.iter().position(|&b| b == b'\n').map_or(read.len(), |at| at + 1);
        // The limit may have changed while this line was waited for.
        let longest = longest.load(Ordering::Relaxed).max(1);
        let taken = end.min(longest.saturating_sub(line.len()).max(1));
        line.extend_from_slice(&read[..taken]);
        reader.consume(taken);
        let whole = over && !line.is_empty() || line.ends_with(b"\n") || line.len() >= longest;
        if whole && lines.send(std::mem::take(&mut line)).is_err() || over {
            return;
        }
    }
}

/// A message without characters that steer a terminal: its words end up in messages and in files.
fn shown(message: Value) -> Value {
    match message {
        Value::String(text) => Value::String(visible(&text)),
        Value::Object(entries) => entries.into_iter().map(|(key, v)| (key, shown(v))).collect(),
        Value::Array(all) if !all.first().is_some_and(Value::is_number) => {
            all.into_iter().map(shown).collect()
        }
        other => other,
    }
}

/// The beginning of a traceback of Python.
const TRACEBACK: &[u8] = b"Traceback (most recent call last)";
/// Number of tracebacks that are remembered.
const MOST_TRACES: usize = 100;
/// Tracebacks that were passed on. Many cells of an experiment may end with the same one, which is shown once.
static SHOWN: Mutex<BTreeSet<Vec<u8>>> = Mutex::new(BTreeSet::new());

/// Passes standard error on, each traceback once, and keeps the beginnings of its last lines. A bar that is drawn
/// over and over (`\r`) is many lines here.
fn pass_through(mut stderr: ChildStderr, tail: &Mutex<VecDeque<String>>) {
    let (mut open, mut trace) = (Vec::new(), Vec::new());
    let mut buffer = [0; 4096];
    let keep = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).trim_end().to_string();
        let Ok(mut tail) = tail.lock() else { return };
        if !text.is_empty() {
            tail.push_back(visible(&text));
        }
        if tail.len() > TAIL {
            tail.pop_front();
        }
    };
    // A closed standard error is not reported.
    let pass = |text: &[u8]| drop(std::io::stderr().write_all(text));
    let pass_once = |trace: &mut Vec<u8>| {
        let text = std::mem::take(trace);
        let is_new = SHOWN
            .lock()
            .is_ok_and(|mut shown| shown.len() >= MOST_TRACES || shown.insert(text.clone()));
        if is_new {
            pass(&text);
        }
    };
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        for part in buffer[..read].split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            if !trace.is_empty() || open.is_empty() && part.starts_with(TRACEBACK) {
                trace.extend_from_slice(part);
            } else {
                pass(part);
            }
            let room = LONGEST_WORDS.saturating_sub(open.len());
            open.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") || part.ends_with(b"\r") {
                // The lines of a traceback between its first and its last one are indented.
                if !open.starts_with(b" ") && !open.starts_with(TRACEBACK) {
                    pass_once(&mut trace);
                }
                keep(&open);
                open.clear();
            }
        }
    }
    pass_once(&mut trace);
    keep(&open);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, seconds: f64) -> Child {
        Child::spawn(&["sh".into(), "-c".into(), script.into()], seconds, Path::new("")).unwrap()
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
        let error = child.receive(&Context::new(1)).unwrap_err();
        drop(child);
        assert!(start.elapsed() < Duration::from_secs(10));
        let expected = "`sh -c sleep 60` gave no reply within the limit of 0.2 s";
        assert_eq!(error.to_string(), expected);
        assert_eq!(
            error.into_error("t").at("clusterer").to_string(),
            "clusterer.timeout_seconds: stopped after the time limit of 0.2 s"
        );
    }

    #[test]
    fn a_child_that_does_not_read_blocks_nobody() {
        let mut child = sh("sleep 60", 0.2);
        child.send(&json!({ "type": "x", "long": "x".repeat(1 << 20) }));
        assert!(matches!(child.receive(&Context::new(1)), Err(ChildError::Silent { .. })));
    }

    #[test]
    fn a_wait_ends_when_the_run_is_cancelled() {
        let flag = Arc::new(AtomicBool::new(false));
        let path = mustlink_core::random::SeedPath::new(1);
        let ctx = Context::builder(path).cancel(flag.clone()).build();
        let mut child = sh("sleep 60", 0.0);
        let raise = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
        });
        assert_eq!(child.receive(&ctx).unwrap_err().into_error("t"), Error::Cancelled);
        raise.join().unwrap();
    }

    /// True if a process exists, though its new parent may not have reaped it yet.
    fn alive(process: &str) -> bool {
        let kill = Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status();
        kill.unwrap().success()
    }

    fn is_gone(process: &str) {
        let end = Instant::now() + Duration::from_secs(10);
        while alive(process) && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!alive(process), "process {process} is still there");
    }

    #[test]
    fn what_a_child_started_dies_with_it() {
        let mut child =
            sh("sleep 600 & echo \"{\\\"type\\\":\\\"pid\\\",\\\"pid\\\":$!}\"; wait", 0.0);
        let ctx = Context::new(1);
        let grandchild = child.receive(&ctx).unwrap()["pid"].to_string();
        assert!(alive(&grandchild));
        child.set_timeout(0.2);
        child.send(&json!({ "type": "x" }));
        assert!(matches!(child.receive(&ctx), Err(ChildError::Silent { .. })));
        drop(child);
        is_gone(&grandchild);
    }

    #[test]
    fn what_a_child_leaves_behind_ends_with_it() {
        for end in ["exit 0", "kill -KILL $$"] {
            let script =
                format!("sleep 600 & echo \"{{\\\"type\\\":\\\"pid\\\",\\\"pid\\\":$!}}\"; {end}");
            let mut child = sh(&script, 10.0);
            let left = child.receive(&Context::new(1)).unwrap()["pid"].to_string();
            child.bye("done");
            is_gone(&left);
        }
    }

    #[test]
    fn a_child_begins_with_no_signal_held_back() {
        let mut termination = nix::sys::signal::SigSet::empty();
        termination.add(nix::sys::signal::Signal::SIGTERM);
        termination.thread_block().unwrap();
        let mut child = sh("kill -TERM $$; echo '{\"type\":\"alive\"}'", 10.0);
        termination.thread_unblock().unwrap();
        let ended = child.receive(&Context::new(1)).unwrap_err().to_string();
        assert!(ended.contains("signal: 15"), "{ended}");
    }

    #[test]
    fn last_words_are_the_beginnings_of_lines() {
        let script =
            "head -c 2000 /dev/zero | tr '\\0' 1 >&2; printf '\\r50%%\\r100%%\\nlast' >&2; exit 3";
        let error = sh(script, 10.0).receive(&Context::new(1)).unwrap_err();
        let ChildError::Ended { tail, .. } = error else { panic!("{error:?}") };
        assert_eq!(tail, format!("{} | 50% | 100% | last", "1".repeat(LONGEST_WORDS)));
    }

    #[test]
    fn last_words_and_status_are_shown() {
        let mut child = sh("echo 'one' >&2; printf 'two' >&2; exit 3", 10.0);
        let error = child.receive(&Context::new(1)).unwrap_err();
        let ChildError::Ended { status, tail, .. } = error else { panic!("{error:?}") };
        assert_eq!((status.as_deref(), tail.as_str()), (Some("exit status: 3"), "one | two"));
    }

    #[test]
    fn what_is_no_message_is_named_by_line() {
        let wrong = |script: &str| {
            let mut child = sh(script, 10.0);
            let first = child.receive(&Context::new(1));
            let then = first.and_then(|_| child.receive(&Context::new(1)));
            let Err(ChildError::Protocol { line, text, wrong, .. }) = then else {
                panic!("{then:?}")
            };
            (line, text, wrong)
        };
        let (line, text, what) = wrong("echo '{\"type\":\"a\"}'; echo 'epoch 1'");
        assert_eq!((line, text.as_str()), (2, "epoch 1"));
        assert!(what.starts_with("not a JSON object"));
        assert_eq!(wrong("echo '[1]'").2, "no \"type\"");
        assert_eq!(wrong("printf '\\377\\n'").2, "not UTF-8");
    }

    #[test]
    fn lines_have_a_longest_length_and_an_end() {
        let ctx = Context::new(1);
        let mut child = sh("echo '{\"type\":\"a\"}'; head -c 3000000 /dev/zero | tr '\\0' 1", 10.0);
        assert_eq!(child.receive(&ctx).unwrap()["type"], "a");
        let long = child.receive(&ctx).unwrap_err().to_string();
        assert!(long.contains("line 2 of its output: longer than 1048576 bytes"), "{long}");
        // In pieces, the last one up to its end.
        let mut child = sh("printf 'abcdefg\\nhi'", 10.0);
        child.set_longest_line(3);
        let mut pieces = Vec::new();
        while let Ok(piece) = child.receive_line(&ctx) {
            pieces.push(String::from_utf8(piece).unwrap());
        }
        assert_eq!(pieces.concat(), "abcdefg\nhi");
        let nan = sh("echo '{\"type\":\"a\",\"objective\":NaN}'", 10.0).receive(&ctx).unwrap_err();
        assert!(nan.to_string().contains("NaN and Infinity are not valid JSON"), "{nan}");
    }

    #[test]
    fn another_version_is_refused() {
        let mut child = sh("read l; echo '{\"v\":2,\"type\":\"hello\"}'", 10.0);
        let refused = child.hello("echo", Value::Null, &Context::new(1)).unwrap_err();
        assert!(refused.to_string().contains("another version"), "{refused}");
    }

    #[test]
    fn a_program_that_is_not_there_is_a_wrong_option() {
        let error = Child::spawn(&["/no/such/program".into()], 0.0, Path::new(""));
        let error = error.unwrap_err().into_error("t");
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().starts_with("command: must be a program that starts ("));
    }
}
