//! The session on a page of this machine.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mustlink_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::json;
use tiny_http::{Header, Method, Request, Response};

use crate::guard::{self, Guard, Refused};
use crate::keys::Keys;
use crate::page;
use crate::session::Session;
use crate::show::{self, Objects};
use crate::wire::{Look, Wanted, scene, troubled};

/// Longest body of a request, in bytes.
const LONGEST: u64 = 64 << 10;
/// Longest body that a request may announce, in bytes.
const ANNOUNCED: usize = 16 << 20;
/// Longest wait for the next turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that nobody but this machine reaches.
pub struct Server {
    http: tiny_http::Server,
    guard: Guard,
    /// What the page's own style and script are known by.
    nonce: String,
    keys: Keys,
    ended: AtomicBool,
}

impl Server {
    /// Listens on 127.0.0.1 for a page with these keys; port 0: one that is free.
    ///
    /// # Errors
    /// `Usage` where the port is taken.
    pub fn bind(port: u16, keys: Keys) -> Result<Self> {
        let taken = |e| Error::Usage(format!("--port {port}: {e}; 0 takes one that is free"));
        let http = tiny_http::Server::http(("127.0.0.1", port)).map_err(taken)?;
        let port = http.server_addr().to_ip().map_or(port, |a| a.port());
        let ended = AtomicBool::new(false);
        Ok(Server { http, guard: Guard::new(port)?, nonce: guard::random()?, keys, ended })
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
    if request.body_length().is_some_and(|length| length > ANNOUNCED) {
        // Whoever drops a request reserves the memory that its body announced, and what nobody has ends the
        // program: this one keeps its connection and gets no answer.
        std::mem::forget(request);
        return;
    }
    let url = request.url().to_string();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let head = |name: &'static str| {
        let found = request.headers().iter().find(|h| h.field.equiv(name));
        found.map(|h| h.value.as_str().to_string())
    };
    let (host, origin) = (head("Host"), head("Origin"));
    let changes = *request.method() != Method::Get;
    let admitted = server.guard.admit(changes, path, host.as_deref(), origin.as_deref());
    let Said { status, kind, body, policy } = match (request.method().clone(), admitted) {
        (_, Err(Refused::Token)) => {
            Said::text(404, "no such page: the address printed holds its token")
        }
        (_, Err(Refused::Host)) => {
            Said::text(403, "this host is not served; use the address printed")
        }
        (_, Err(Refused::Origin)) => Said::text(403, "refused: another page asks"),
        (Method::Get, Ok("")) => Said {
            kind: "text/html; charset=utf-8",
            policy: page::policy(&server.nonce),
            ..Said::text(200, &page::page(&server.nonce, &server.keys))
        },
        (Method::Get, Ok("state")) => {
            let since = query.strip_prefix("since=").and_then(|v| v.parse().ok());
            Said::json(200, &scene(session.news(since, PATIENCE), objects))
        }
        (Method::Get, Ok(path)) => picture(path, session, objects),
        (Method::Post, Ok("act")) => match read::<Wanted>(&mut request) {
            Err(e) => Said::text(400, &format!("not an act: {e}")),
            Ok(wanted) => {
                let (turn, act) = wanted.act(session);
                match session.act(turn, act) {
                    Ok(()) => Said::json(200, &scene(session.view(Some(turn), PATIENCE), objects)),
                    Err(trouble) => Said::json(409, &troubled(&trouble, objects)),
                }
            }
        },
        (Method::Post, Ok("look")) => match read::<Look>(&mut request) {
            Err(e) => Said::text(400, &format!("nothing to look at: {e}")),
            Ok(look) => match look.see(session, objects) {
                Some(seen) => Said::json(200, &seen),
                None => Said::json(
                    404,
                    &json!({ "says": "that is the name of no object, or of several" }),
                ),
            },
        },
        _ => Said::text(404, "no such page"),
    };
    let mut response = Response::from_data(body).with_status_code(status);
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

/// One response.
struct Said {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
    policy: String,
}

impl Said {
    fn text(status: u16, text: &str) -> Self {
        let policy = "default-src 'none'".into();
        Said { status, kind: "text/plain; charset=utf-8", body: text.into(), policy }
    }

    fn json(status: u16, value: &serde_json::Value) -> Self {
        Said { kind: "application/json", ..Said::text(status, &value.to_string()) }
    }
}

fn read<T: DeserializeOwned>(request: &mut Request) -> std::result::Result<T, String> {
    let mut text = String::new();
    let read = request.as_reader().take(LONGEST).read_to_string(&mut text);
    read.map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

/// The image of object N under `image/N`, where the data names one and it lies in its folder.
fn picture(path: &str, session: &Session, objects: &Objects<'_>) -> Said {
    let missing = || Said::text(404, "no such image");
    let object = path.strip_prefix("image/").and_then(|o| o.parse::<u32>().ok());
    let Some(object) = object.filter(|&o| o < session.n()) else { return missing() };
    let cell = (objects.shown)(object).image;
    let Some((file, kind)) = cell.and_then(|c| show::image(objects.folder, &c)) else {
        return missing();
    };
    match std::fs::read(file) {
        Ok(body) => Said { kind, body, ..Said::text(200, "") },
        Err(_) => missing(),
    }
}
