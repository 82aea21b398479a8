//! The session on a page of this machine.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mustlink_core::roles::{QueryId, Reply};
use mustlink_core::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tiny_http::{Header, Method, Request, Response};

use crate::chain::Link;
use crate::guard::{self, Guard, Refused};
use crate::page;
use crate::session::{Act, Session, Trouble};
use crate::show::{Objects, Shown};
use crate::view::View;

/// Longest body of a request, in bytes.
const LONGEST: u64 = 64 << 10;
/// Longest wait for the next turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that nobody but this machine reaches.
pub struct Server {
    http: tiny_http::Server,
    guard: Guard,
    /// What the page's own style and script are known by.
    nonce: String,
    ended: AtomicBool,
}

impl Server {
    /// Listens on 127.0.0.1; port 0: one that is free.
    ///
    /// # Errors
    /// `Usage` where the port is taken.
    pub fn bind(port: u16) -> Result<Self> {
        let taken = |e| Error::Usage(format!("--port {port}: {e}; 0 takes one that is free"));
        let http = tiny_http::Server::http(("127.0.0.1", port)).map_err(taken)?;
        let port = http.server_addr().to_ip().map_or(port, |a| a.port());
        let ended = AtomicBool::new(false);
        Ok(Server { http, guard: Guard::new(port)?, nonce: guard::random()?, ended })
    }

    /// The address of the page, with its token.
    pub fn address(&self) -> String {
        self.guard.address()
    }

    /// Ends [`serve`].
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.http.unblock();
    }
}

/// What a page asks to be done.
#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
enum Wanted {
    Reply { turn: u64, reply: Reply, note: Option<String> },
    Undo { turn: u64 },
    Change { turn: u64, id: QueryId, reply: Reply },
    Quit { turn: u64 },
}

impl Wanted {
    fn act(self) -> (u64, Act) {
        match self {
            Wanted::Reply { turn, reply, note } => (turn, Act::Reply { reply, note }),
            Wanted::Undo { turn } => (turn, Act::Undo),
            Wanted::Change { turn, id, reply } => (turn, Act::Change { id, reply }),
            Wanted::Quit { turn } => (turn, Act::Quit),
        }
    }
}

/// A view with the objects it speaks of.
#[derive(Serialize)]
struct Scene<'a> {
    #[serde(flatten)]
    view: &'a View,
    subject: Option<Shown>,
    reference: Option<Shown>,
    /// The ids of both objects of each entry.
    names: Vec<(String, String)>,
}

/// Serves `session` about these objects until [`Server::end`] is called.
pub fn serve(server: &Server, session: &Session, objects: &Objects<'_>) {
    std::thread::scope(|scope| {
        while !server.ended.load(Ordering::Relaxed) {
            // Where nobody asked or a connection broke, others may come.
            if let Ok(Some(request)) = server.http.recv_timeout(PATIENCE) {
                scope.spawn(move || answer(server, session, objects, request));
            }
        }
    });
}

fn answer(server: &Server, session: &Session, objects: &Objects<'_>, mut request: Request) {
    let url = request.url().to_string();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let head = |name: &'static str| {
        let found = request.headers().iter().find(|h| h.field.equiv(name));
        found.map(|h| h.value.as_str().to_string())
    };
    let (host, origin) = (head("Host"), head("Origin"));
    let changes = *request.method() != Method::Get;
    let admitted = server.guard.admit(changes, path, host.as_deref(), origin.as_deref());
    let say = |view: View| scene(&view, objects);
    let number = |name: &str| {
        let value = query.split('&').find_map(|p| p.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|v| v.parse::<u64>().ok())
    };
    let (status, kind, body, policy) = match (request.method().clone(), admitted) {
        (_, Err(Refused::Token)) => plain(404, "no such page: the address printed holds its token"),
        (_, Err(Refused::Host)) => plain(403, "this host is not served; use the address printed"),
        (_, Err(Refused::Origin)) => plain(403, "refused: another page asks"),
        (Method::Get, Ok("")) => {
            let nonce = &server.nonce;
            (200, "text/html; charset=utf-8", page::page(nonce), page::policy(nonce))
        }
        (Method::Get, Ok("state")) => data(200, say(session.view(number("since"), PATIENCE))),
        (Method::Post, Ok("act")) => {
            let mut text = String::new();
            let read = request.as_reader().take(LONGEST).read_to_string(&mut text);
            match read
                .map_err(|e| e.to_string())
                .and_then(|_| serde_json::from_str::<Wanted>(&text).map_err(|e| e.to_string()))
            {
                Err(e) => plain(400, &format!("not an act: {e}")),
                Ok(wanted) => {
                    let (turn, act) = wanted.act();
                    match session.act(turn, act) {
                        Ok(()) => data(200, say(session.view(Some(turn), PATIENCE))),
                        Err(trouble) => data(409, troubled(&trouble, objects)),
                    }
                }
            }
        }
        _ => plain(404, "no such page"),
    };
    let mut response = Response::from_string(body).with_status_code(status);
    for (name, value) in [
        ("Content-Type", kind),
        ("Content-Security-Policy", &policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ] {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    // A browser that left needs no answer.
    let _ = request.respond(response);
}

type Said = (u16, &'static str, String, String);

fn plain(status: u16, text: &str) -> Said {
    (status, "text/plain; charset=utf-8", text.into(), "default-src 'none'".into())
}

fn data(status: u16, value: serde_json::Value) -> Said {
    (status, "application/json", value.to_string(), "default-src 'none'".into())
}

fn scene(view: &View, objects: &Objects<'_>) -> serde_json::Value {
    let shown = |o| (objects.shown)(o).visible();
    let name = |o| objects.name(o);
    let subject = view.open.as_ref().map(|q| shown(q.subject));
    let reference = view.open.as_ref().map(|q| shown(q.reference));
    let names = view.entries.iter().map(|e| (name(e.subject), name(e.reference))).collect();
    json!(Scene { view, subject, reference, names })
}

/// A chain in the ids of the user, each answer with its number.
fn links(chain: &[Link], objects: &Objects<'_>) -> serde_json::Value {
    let link = |l: &Link| {
        let (i, j) = (objects.name(l.i), objects.name(l.j));
        json!({ "i": i, "j": j, "kind": l.kind.name(), "answer": l.answer })
    };
    chain.iter().map(link).collect()
}

fn troubled(trouble: &Trouble, objects: &Objects<'_>) -> serde_json::Value {
    match trouble {
        Trouble::Stale => json!({ "trouble": "stale" }),
        Trouble::Nothing => json!({ "trouble": "nothing" }),
        Trouble::Conflict(chain) => {
            json!({ "trouble": "conflict", "chain": links(chain, objects) })
        }
    }
}
