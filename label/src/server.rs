//! The session on a page of this machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
/// The server ends when no page asked for an image of its last state for this long.
const BREATH: Duration = Duration::from_millis(200);
/// Number of breaths that pages have to ask for their last state, and to load its images.
const BREATHS: (u32, u32) = (4, 25);

/// A server that can be reached from this machine only.
pub struct Server {
    http: Listener,
    /// Random word that the page's own style and script carry, so that browsers run no other.
    nonce: String,
    keys: Keys,
    seats: Vec<Seat>,
    /// Number of requests so far.
    requests: AtomicU64,
}

/// The page of one annotator.
struct Seat {
    /// Empty if there is only one annotator.
    name: String,
    guard: Guard,
    /// The page has received the last state.
    is_told: AtomicBool,
}

impl Server {
    /// Listens on 127.0.0.1 for pages with these keys: one for each of the `annotators`, or one without a name.
    /// Port 0: one that is free.
    ///
    /// # Errors
    /// `Usage` where the port is taken.
    pub fn bind(port: u16, keys: Keys, annotators: &[String]) -> Result<Self> {
        let taken = |e| Error::Usage(format!("--port {port}: {e}; 0 takes one that is free"));
        let http = Listener::bind(port).map_err(taken)?;
        let seat = |name: &str| -> Result<Seat> {
            let guard = Guard::new(http.port(), name)?;
            Ok(Seat { name: name.into(), guard, is_told: AtomicBool::new(false) })
        };
        let seats = match annotators {
            [] => vec![seat("")?],
            all => all.iter().map(|name| seat(name)).collect::<Result<_>>()?,
        };
        Ok(Server { http, nonce: guard::random()?, keys, seats, requests: AtomicU64::new(0) })
    }

    /// The addresses of the pages, with their tokens.
    pub fn addresses(&self) -> Vec<String> {
        self.seats.iter().map(|seat| seat.guard.address()).collect()
    }

    /// Shows which files were written, on the pages that are open.
    pub fn tell(&self, sessions: &[Session], written: &Written) {
        sessions.iter().for_each(|session| session.written(written.clone()));
        let (to_ask, to_load) = BREATHS;
        for breath in 1..=to_load {
            let before = self.requests.load(Ordering::Relaxed);
            std::thread::sleep(BREATH);
            let is_told = self.seats.iter().all(|seat| seat.is_told.load(Ordering::Relaxed));
            let is_idle = self.requests.load(Ordering::Relaxed) == before;
            if is_idle && (is_told || breath >= to_ask) {
                break;
            }
        }
    }

    /// Ends [`serve`].
    pub fn end(&self) {
        self.http.end();
    }
}

/// Serves the sessions about these objects, one for each page, until [`Server::end`] is called.
pub fn serve(server: &Server, sessions: &[Session], objects: &Objects<'_>) {
    let ranges = show::ranges(objects, sessions.first().map_or(0, Session::n));
    let page = |seat: &Seat| {
        let names = server.seats.iter().map(|seat| seat.name.as_str());
        let others = names.filter(|name| *name != seat.name).collect();
        page::page(&server.nonce, &server.keys, &ranges, (seat.name.as_str(), others))
    };
    let pages: Vec<String> = server.seats.iter().map(page).collect();
    std::thread::scope(|scope| {
        let answer = |request: &Request| answer(server, &pages, sessions, objects, request);
        server.http.serve(scope, answer);
    });
}

fn answer(
    server: &Server,
    pages: &[String],
    sessions: &[Session],
    objects: &Objects<'_>,
    request: &Request,
) -> Response {
    server.requests.fetch_add(1, Ordering::Relaxed);
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let changes = request.method != "GET";
    let (host, origin) = (request.header("Host"), request.header("Origin"));
    let admit = |seat: &Seat| seat.guard.admit(changes, path, host, origin);
    // A request that no seat admits is refused by all for the same reason.
    let at = server.seats.iter().position(|seat| admit(seat).is_ok()).unwrap_or_default();
    let (seat, session) = (&server.seats[at], &sessions[at]);
    let Said { status, kind, body, policy } = match (request.method.as_str(), admit(seat)) {
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
            ..Said::text(200, &pages[at])
        },
        // A page without an icon would ask for one without the token.
        ("GET", Ok("icon")) => Said::text(204, ""),
        ("GET", Ok("state")) => {
            let since = query.strip_prefix("since=").and_then(|v| v.parse().ok());
            let view = session.news(since, PATIENCE);
            seat.is_told.fetch_or(view.written.is_some(), Ordering::Relaxed);
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
                    &json!({ "says": "that is not the name of exactly one object" }),
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
