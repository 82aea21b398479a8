//! HTTP connections of the page: one request each. Limits on number, size and time apply before a sender is checked.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Maximum number of open connections; a browser opens six. A further one closes the one that has waited longest for
/// its request.
const MOST: usize = 64;
/// Longest head of a request, in bytes.
const LONGEST_HEAD: usize = 32 << 10;
/// Longest body of a request, in bytes.
const LONGEST_BODY: usize = 64 << 10;
/// Maximum number of headers of a request.
const HEADERS: usize = 100;
/// Time limit for reading a request, and for writing a response.
const PATIENCE: Duration = Duration::from_secs(10);
/// Waiting time if the system cannot provide a connection.
const BREATH: Duration = Duration::from_millis(20);

/// A complete request.
pub(crate) struct Request {
    pub method: String,
    pub target: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A response.
pub(crate) struct Response {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// Open connections.
#[derive(Default)]
struct Open {
    count: usize,
    /// Connections whose request is incomplete or rejected, oldest first.
    waiting: VecDeque<Arc<TcpStream>>,
}

/// A port of this machine at which requests arrive.
pub(crate) struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    ended: AtomicBool,
    open: Mutex<Open>,
    left: Condvar,
}

impl Listener {
    /// Listens on 127.0.0.1; port 0 means any free port.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let (address, ended) = (listener.local_addr()?, AtomicBool::new(false));
        Ok(Listener { listener, address, ended, open: Mutex::default(), left: Condvar::new() })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Ends [`Listener::serve`].
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        // A connection wakes `serve`. If the system has none left, `accept` fails, which wakes it as well.
        let _ = TcpStream::connect_timeout(&self.address, PATIENCE);
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Answers every request on a thread of its own until [`Listener::end`] is called.
    pub fn serve<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        answer: impl Fn(&Request) -> Response + Copy + Send + 'scope,
    ) {
        while !self.has_ended() {
            while self.open().count >= MOST {
                self.shed();
            }
            let Ok((stream, _)) = self.listener.accept() else {
                // No file descriptor is left, or the other side has closed the connection.
                self.shed();
                continue;
            };
            let stream = Arc::new(stream);
            {
                let mut open = self.open();
                open.count += 1;
                open.waiting.push_back(stream.clone());
            }
            let own = stream.clone();
            let spawned = Builder::new().spawn_scoped(scope, move || {
                // A client that closes the connection needs no response.
                let _ = self.exchange(&own, answer);
                self.leave(&own);
            });
            if spawned.is_err() {
                self.leave(&stream);
            }
        }
        // This ends their threads, too.
        let waiting = std::mem::take(&mut self.open().waiting);
        waiting.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }

    /// Closes the connection that has waited longest for its request, and waits a moment until it has ended.
    fn shed(&self) {
        let mut open = self.open();
        // A single waiting connection may be a browser that is still sending its request.
        if open.waiting.len() > 1
            && let Some(oldest) = open.waiting.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        drop(self.left.wait_timeout(open, BREATH));
    }

    /// Removes a connection from the waiting ones, because its request has arrived or will not arrive.
    fn stop_waiting(&self, stream: &Arc<TcpStream>) {
        self.open().waiting.retain(|other| !Arc::ptr_eq(other, stream));
    }

    fn leave(&self, stream: &Arc<TcpStream>) {
        self.stop_waiting(stream);
        let _ = stream.shutdown(Shutdown::Both);
        self.open().count -= 1;
        self.left.notify_all();
    }

    fn exchange(
        &self,
        stream: &Arc<TcpStream>,
        answer: impl Fn(&Request) -> Response,
    ) -> io::Result<()> {
        let read = read(stream)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        match read {
            Ok(request) => {
                self.stop_waiting(stream);
                write(stream, &answer(&request))
            }
            Err(status) => {
                let policy = ("Content-Security-Policy", "default-src 'none'".to_string());
                write(stream, &Response { status, headers: vec![policy], body: Vec::new() })?;
                // If the client is still sending, closing the connection now would discard the response.
                stream.shutdown(Shutdown::Write)?;
                stream.set_read_timeout(Some(BREATH))?;
                let mut rest = [0; 1 << 12];
                for _ in 0..16 {
                    if (&**stream).read(&mut rest)? == 0 {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Reads a request, or gives the status that refuses it.
fn read(stream: &TcpStream) -> io::Result<Result<Request, u16>> {
    let end = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let more = |bytes: &mut Vec<u8>| -> io::Result<()> {
        let left = end.saturating_duration_since(Instant::now());
        // The system takes zero for no limit.
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let mut part = [0; 1 << 13];
        match (&*stream).read(&mut part)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ if left.is_zero() => Err(io::ErrorKind::TimedOut.into()),
            length => {
                bytes.extend_from_slice(&part[..length]);
                Ok(())
            }
        }
    };
    let (mut request, length) = loop {
        more(&mut bytes)?;
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        match head.parse(&bytes) {
            Err(_) => return Ok(Err(400)),
            Ok(httparse::Status::Partial) if bytes.len() > LONGEST_HEAD => return Ok(Err(431)),
            Ok(httparse::Status::Partial) => {}
            Ok(httparse::Status::Complete(length)) => {
                let text = |text: Option<&str>| text.unwrap_or_default().to_string();
                let header = |h: &httparse::Header<'_>| {
                    (h.name.to_string(), String::from_utf8_lossy(h.value).into_owned())
                };
                let (method, target) = (text(head.method), text(head.path));
                let headers = head.headers.iter().map(header).collect();
                break (Request { method, target, headers, body: Vec::new() }, length);
            }
        }
    };
    if request.header("Transfer-Encoding").is_some() {
        return Ok(Err(411));
    }
    let announced = request.header("Content-Length").map_or(Ok(0), |text| text.trim().parse());
    let announced: usize = match announced {
        Ok(announced) if announced <= LONGEST_BODY => announced,
        Ok(_) => return Ok(Err(413)),
        Err(_) => return Ok(Err(400)),
    };
    let mut body = bytes.split_off(length);
    while body.len() < announced {
        more(&mut body)?;
    }
    body.truncate(announced);
    request.body = body;
    Ok(Ok(request))
}

fn write(mut stream: &TcpStream, response: &Response) -> io::Result<()> {
    let Response { status, headers, body } = response;
    // Browsers do not show the phrase after the number.
    let mut text =
        format!("HTTP/1.1 {status} -\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
    let mut bytes = (text + "\r\n").into_bytes();
    bytes.extend_from_slice(body);
    stream.write_all(&bytes)
}
