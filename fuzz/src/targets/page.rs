//! Requests to the page of `label`.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use mustlink::method::Method;
use mustlink::roles::QuerySelector;
use mustlink::{Constraints, registry};
use mustlink_datasets::{OpenOptions, open};
use mustlink_experiments::Single;
use mustlink_label::{Keys, Objects, Server, Session, Shown, open_driver, serve};

use super::harness::Harness;

pub(super) const WORDS: &[&str] = &[
    "GET ",
    "POST ",
    "PUT ",
    " HTTP/1.1\r\n",
    " HTTP/1.0\r\n",
    "Host: ",
    "HOST",
    "Origin: http://",
    "/TOKEN/",
    "act",
    "look",
    "state",
    "image/",
    "?since=",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: ",
    "Upgrade: ",
    "keep-alive",
    "\r\n\r\n",
    "\"act\":",
    "\"reply\"",
    "\"turn\":",
    "\"undo\"",
    "\"later\"",
    "\"change\"",
    "\"sort\"",
    "\"groups\":[[",
    "\"pure\"",
    "\"medoid\":",
    "\"merge\"",
    "\"split\"",
    "\"i\":",
    "\"j\":",
    "\"look\":\"why\"",
    "\"neighbours\"",
    "\"object\":",
    "\"clusters\"",
    "\"must_link\"",
    "\"cannot_link\"",
    "%00",
    "../",
];

/// How long an answer may take; the page of a plain request waits for nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// Inputs after which a new session is begun, so that each stays short.
const INPUTS: usize = 200;

/// A session with its server, on threads that end with it.
struct Page {
    address: String,
    end: Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Page {
    fn new() -> Self {
        let (end, ended) = channel();
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let set = open("builtin:iris", &OpenOptions::default()).expect("a built-in set");
            let selector = registry::build_default::<dyn QuerySelector>("random_pairs");
            let method = Method { selector: selector.ok(), ..Method::default() };
            let ctx = Single::context_of(&set, 7).build();
            let single = Single::new(set, method, Some(3), Constraints::default(), ctx);
            let single = single.expect("a method that fits");
            let seen = single.seen().expect("data");
            let folder = tempfile::tempdir().expect("a folder");
            let ledger = folder.path().join("answers.jsonl");
            let driver = open_driver(&single, &seen.problem, &ledger, &[]).expect("a new ledger");
            let (session, work) = Session::new(&seen.problem, Some(400));
            let server = Server::bind(0, Keys::default(), &[]).expect("a port");
            let shown = |o: u32| Shown { id: format!("o{o}"), ..Shown::default() };
            let find = |id: &str| id.strip_prefix('o')?.parse().ok().filter(|o: &u32| *o < 150);
            let objects = Objects {
                id: &|o| format!("o{o}"),
                find: &find,
                shown: &shown,
                folder: folder.path(),
            };
            std::thread::scope(|scope| {
                // Dropped before the work is waited for, which ends it.
                let sessions = [session];
                scope.spawn(|| work.run(&single, &seen, driver));
                sessions[0].view(Some(0), Duration::from_secs(2));
                std::thread::scope(|scope| {
                    scope.spawn(|| serve(&server, &sessions, &objects));
                    let _ = tell.send(server.addresses().remove(0));
                    let _ = ended.recv();
                    server.end();
                });
            });
        });
        let address = told.recv().expect("a server that listens");
        Page { address, end, thread: Some(thread) }
    }

    /// Sends `bytes` with the real host and token, and waits until the connection is closed.
    fn send(&self, bytes: &[u8]) {
        let rest = self.address.strip_prefix("http://").unwrap_or_default();
        let (host, token) = rest.split_once('/').unwrap_or_default();
        let bytes = replaced(bytes, b"HOST", host.as_bytes());
        let bytes = replaced(&bytes, b"TOKEN", token.trim_end_matches('/').as_bytes());
        if exchange(host, &bytes).is_none() {
            // Some requests wait for news, and some get no answer: others do.
            let plain = format!("GET /{token}state HTTP/1.0\r\nHost: {host}\r\n\r\n");
            let answered = (0..20).find_map(|_| exchange(host, plain.as_bytes()));
            assert!(answered.is_some_and(|a| a.starts_with(b"HTTP/1.")), "the page is silent");
        }
    }
}

/// The reply before the connection is closed; `None` if that takes too long.
fn exchange(host: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(host).expect("a server that listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    // Refused requests end the connection before all is written.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
        _ => Some(answer),
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.end.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn replaced(bytes: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let mut rest = bytes;
    while let Some(at) = rest.windows(what.len()).position(|w| w == what) {
        out.extend(&rest[..at]);
        out.extend(by);
        rest = &rest[at + what.len()..];
    }
    out.extend(rest);
    out
}

pub(super) fn request() -> Harness {
    let (mut page, mut sent) = (Page::new(), 0);
    Box::new(move |bytes| {
        if sent == INPUTS {
            (page, sent) = (Page::new(), 0);
        }
        sent += 1;
        page.send(bytes);
    })
}
