//! The session on a page of this machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mustlink_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::guard::{self, Guard, Refused};
use crate::http::{Listener, Request, Response};
use crate::keys::Keys;
use crate::page;
use crate::session::Session;
use crate::show::{self, Objects};
use crate::view::Written;
use crate::wire::{Look, Wanted, scene, troubled};

/// Longest wait for the next turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time that a page has to load the images of its last state.
const BREATH: Duration = Duration::from_millis(200);

/// A server that can be reached from this machine only.
pub struct Server {
    http: Listener,
    guard: Guard,
    /// Random word that the page's own style and script carry, so that browsers run no other.
    nonce: String,
    keys: Keys,
    /// A page has received the last state.
    is_told: AtomicBool,
}

impl Server {
    /// Listens on 127.0.0.1 for a page with these keys; port 0: one that is free.
    ///
    /// # Errors
    /// `Usage` where the port is taken.
    pub fn bind(port: u16, keys: Keys) -> Result<Self> {
        let taken = |e| Error::Usage(format!("--port {port}: {e}; 0 takes one that is free"));
        let http = Listener::bind(port).map_err(taken)?;
        let guard = Guard::new(http.port())?;
        Ok(Server { http, guard, nonce: guard::random()?, keys, is_told: AtomicBool::new(false) })
    }

    /// The address of the page, with its token.
    pub fn address(&self) -> String {
        self.guard.address()
    }

    /// Shows which files were written, if a page is open.
    pub fn tell(&self, session: &Session, written: Written) {
        session.written(written);
        for _ in 0..4 {
            std::thread::sleep(BREATH);
            if self.is_told.load(Ordering::Relaxed) {
                break;
            }
        }
    }

    /// Ends [`serve`].
    pub fn end(&self) {
        self.http.end();
    }
}

/// Serves `session` about these objects until [`Server::end`] is called.
pub fn serve(server: &Server, session: &Session, objects: &Objects<'_>) {
    let ranges = show::ranges(objects, session.n());
    let page = page::page(&server.nonce, &server.keys, &ranges);
    std::thread::scope(|scope| {
        let answer = |request: &Request| answer(server, &page, session, objects, request);
        server.http.serve(scope, answer);
    });
}

fn answer(
    server: &Server,
    page: &str,
    session: &Session,
    objects: &Objects<'_>,
    request: &Request,
) -> Response {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let changes = request.method != "GET";
    let (host, origin) = (request.header("Host"), request.header("Origin"));
    let admitted = server.guard.admit(changes, path, host, origin);
    let Said { status, kind, body, policy } = match (request.method.as_str(), admitted) {
        (_, Err(Refused::Token)) => {
            Said::text(404, "no such page: the address printed holds its token")
        }
        (_, Err(Refused::Host)) => {
            Said::text(403, "this host is not served; use the address printed")
        }
        (_, Err(Refused::Origin)) => Said::text(403, "refused: another page asks"),
        ("GET", Ok("")) => Said {
            kind: "text/html; charset=utf-8",
            policy: page::policy(&server.nonce),
            ..Said::text(200, page)
        },
        // A page without an icon would ask for one without the token.
        ("GET", Ok("icon")) => Said::text(204, ""),
        ("GET", Ok("state")) => {
            let since = query.strip_prefix("since=").and_then(|v| v.parse().ok());
            let view = session.news(since, PATIENCE);
            server.is_told.fetch_or(view.written.is_some(), Ordering::Relaxed);
            Said::json(200, &scene(view, session, objects))
        }
        ("GET", Ok(path)) => picture(path, session, objects),
        ("POST", Ok("act")) => match read::<Wanted>(request) {
            Err(e) => Said::text(400, &format!("not an act: {e}")),
            Ok(wanted) => {
                let (turn, act) = wanted.act(session);
                match session.act(turn, act) {
                    Ok(()) => {
                        let view = session.view(Some(turn), PATIENCE);
                        Said::json(200, &scene(view, session, objects))
                    }
                    Err(trouble) => Said::json(409, &troubled(&trouble, objects)),
                }
            }
        },
        ("POST", Ok("look")) => match read::<Look>(request) {
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
    let headers = vec![
        ("Content-Type", kind.to_string()),
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff".into()),
        ("Referrer-Policy", "no-referrer".into()),
        ("Cache-Control", "no-store".into()),
    ];
    Response { status, headers, body }
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

fn read<T: DeserializeOwned>(request: &Request) -> std::result::Result<T, String> {
    serde_json::from_slice(&request.body).map_err(|e| e.to_string())
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
