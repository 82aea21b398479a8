//! A ledger that is open for writing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::format::{
    Asked, Closed, Header, Id, Line, Retracted, Stated, VERSION, Versioned, bad, content, io,
    may_begin, told, unmarked,
};
use crate::lock::{self, Sharing};
use crate::replay::{Report, State};
use mustlink_core::error::{Error, Result};
use mustlink_core::roles::{Answer, Event, QueryId};
use mustlink_core::selection::{Record, Recorded};
use mustlink_core::text::count;

/// When a line must have reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Before anything else happens: for people, whose answers are expensive.
    Every,
    /// After this many lines: for simulated oracles.
    Batch(usize),
    /// When the system decides: for benchmarks.
    None,
}

/// Advice for a ledger of another selection.
const WAYS_OUT: &str = "choose another file; \"mustlink label --import\" takes these answers there, \"mustlink ledger \
                        merge\" makes constraints of them, and the oracle replay serves them";

/// An open ledger. Its lock is held until it is dropped.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    _lock: Lock,
    durability: Durability,
    unsynced: usize,
    /// Bytes of whole lines.
    length: u64,
    lines: usize,
    /// A line could not be written: what is in memory is ahead of the file.
    broken: bool,
    header: Header,
    state: State,
    cursor: usize,
    notices: Vec<String>,
}

impl Ledger {
    /// Begins a ledger.
    ///
    /// # Errors
    /// `Data` when the file exists, cannot be written or is locked.
    pub fn create(path: &Path, header: Header, durability: Durability) -> Result<Self> {
        if path.exists() {
            let message = "exists already; open it to go on, or choose another name";
            return Err(bad(path, 0, message));
        }
        Self::open(path, header, durability)
    }

    /// Continues a ledger, or begins one if the file does not exist.
    ///
    /// A last line that was cut off is removed; [`Ledger::notices`] reports it.
    ///
    /// # Errors
    /// `Data` when the file belongs to another selection (with the first difference), when a line other than the last
    /// is
    /// invalid, when the file has no valid line, or when another process writes it.
    pub fn open(path: &Path, header: Header, durability: Durability) -> Result<Self> {
        Self::open_grown(path, header, durability, &|_| false)
    }

    /// The same for data to which rows may have been appended: `begins` is true if the data begin with those of an
    /// earlier header. The file then gets the header of now, and the selection begins again with the answers so far.
    ///
    /// # Errors
    /// Returns the errors of [`Ledger::open`]; `Data` if an object has another id now.
    pub fn open_grown(
        path: &Path,
        header: Header,
        durability: Durability,
        begins: &dyn Fn(&Header) -> bool,
    ) -> Result<Self> {
        let mut notices = Vec::new();
        if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            return Err(bad(path, 0, "its folder does not exist"));
        }
        if std::fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
            let message =
                "is not a regular file; a ledger is read and written again, so name another";
            return Err(bad(path, 0, message));
        }
        let lock = Lock::take(path, &mut notices)?;
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io(path))?;
        // The lock above is on a name, and links give one file several names. Only Unix lets others read a locked
        // file.
        #[cfg(unix)]
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "is being written by another process under another name of the file; wait for it, \
                               or end it";
                return Err(bad(path, 0, message));
            }
            Err(TryLockError::Error(e)) => return Err(io(path)(e)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io(path))?;
        // What an editor put in front stays there.
        let own = unmarked(&bytes);
        let mut content = content(own, path)?;
        content.whole += bytes.len() - own.len();
        if content.header.is_none() && !may_begin(own) {
            let message = "is not a ledger, and is left as it is; choose another file";
            return Err(bad(path, 0, message));
        }
        if content.whole < bytes.len() {
            notices.push(format!(
                "{}: the last line was cut off and is removed ({} bytes); a question without its \
                 reply is asked again",
                path.display(),
                bytes.len() - content.whole
            ));
            file.set_len(content.whole as u64).map_err(io(path))?;
            file.seek(SeekFrom::End(0)).map_err(io(path))?;
        }
        let mut ledger = Ledger {
            path: path.into(),
            file,
            _lock: lock,
            durability,
            unsynced: 0,
            length: content.whole as u64,
            lines: 0,
            broken: false,
            state: State { n: header.n, ..State::default() },
            header,
            cursor: 0,
            notices,
        };
        let mut grown = None;
        let refused = |message: &str| bad(path, 1, format!("{message}; {WAYS_OUT}"));
        match content.header {
            Some(then) => {
                ledger.lines = 1;
                match then.refuses(&ledger.header) {
                    Some(message) if then.grows(&ledger.header) => {
                        if !begins(&then) {
                            let n = then.n;
                            let why = format!("{message}, and its rows are not the first {n} here");
                            return Err(refused(&why));
                        }
                        grown = Some((message, ledger.header.n - then.n));
                    }
                    Some(message) => return Err(refused(&message)),
                    None => ledger.header = Header { ids: ledger.header.ids.take(), ..then },
                }
            }
            None => {
                ledger.write(&[Line::Header(ledger.header.clone())])?;
                if durability != Durability::None {
                    sync_folder_of(path)?;
                }
            }
        }
        for line in content.lines {
            ledger.lines += 1;
            let at = ledger.lines;
            ledger.state.take(at, line).map_err(|m| bad(path, at, m))?;
        }
        if let Some((message, rows)) = grown {
            if !ledger.state.has_ids(ledger.header.ids.as_deref()) {
                return Err(refused(&format!("{message}, and its objects have other ids here")));
            }
            ledger.append(&[Line::Header(ledger.header.clone())])?;
            ledger.notices.push(format!(
                "{}: the data have {} more than before; the answers are kept, and the selection begins again",
                path.display(),
                count(rows, "row")
            ));
        }
        Ok(ledger)
    }

    /// Events on opening that the user should know.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Description of the selection that the ledger belongs to.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The query that was answered last and not taken back.
    pub fn last(&self) -> Option<QueryId> {
        self.state.tape.iter().rev().find_map(|(_, line)| match line {
            Line::Told(told) => Some(told.id.0),
            _ => None,
        })
    }

    /// Takes a reply back. The next run of the selection goes on from before its question; the query
    /// stays counted.
    ///
    /// # Errors
    /// `Oracle` when that query has no reply to take back; `Data` when the line cannot be written.
    pub fn retract(&mut self, id: QueryId, by: Option<&str>) -> Result<()> {
        let query = self.state.queries.get(&id);
        if query.is_none_or(|q| q.answer.is_none() || q.retracted) {
            return Err(Error::Oracle(format!("{} has no reply to take back", Id(id))));
        }
        self.append(&[Line::Retracted(Retracted { id: Id(id), by: by.map(Into::into) })])?;
        self.rewind();
        Ok(())
    }

    /// Records answers that were not asked themselves, given together for this `purpose`, in addition to query `with`
    /// if that was asked. They are pairs of an object and the one it is compared with. The next run of the
    /// selection has them from its beginning, and gets them when it asks.
    ///
    /// # Errors
    /// `Data` for a pair that has its reply, and when they cannot be written; then none is kept.
    pub fn state(
        &mut self,
        purpose: &str,
        with: Option<QueryId>,
        statements: &[((u32, u32), Answer)],
    ) -> Result<()> {
        let first = self.next_id();
        let with = Id(with.unwrap_or(first));
        let stated = (first..).zip(statements).map(|(id, ((subject, reference), answer))| {
            let (asked, answer) = (self.asked(id, *subject, *reference, purpose), answer.clone());
            Line::Stated(Stated { asked, answer, with })
        });
        let stated: Vec<Line> = stated.collect();
        let before = self.state.clone();
        for (line, at) in stated.iter().zip(self.lines + 1..) {
            if let Err(message) = self.state.take(at, line.clone()) {
                self.state = before;
                return Err(bad(&self.path, at, message));
            }
        }
        self.rewind();
        self.write(&stated)
    }

    /// Lines that are one event: the disk is waited for once, after the last of them.
    ///
    /// # Errors
    /// Returns the errors of `write`, and `Data` when the disk fails.
    pub fn at_once(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let durability = std::mem::replace(&mut self.durability, Durability::Batch(usize::MAX));
        let done = write(self);
        self.durability = durability;
        done.and(self.sync())
    }

    fn next_id(&self) -> QueryId {
        self.state.queries.keys().next_back().map_or(0, |last| last + 1)
    }

    fn asked(&self, id: QueryId, subject: u32, reference: u32, purpose: &str) -> Asked {
        let (i, j) = (subject.min(reference), subject.max(reference));
        let name = |o: u32| self.header.ids.as_ref().map(|ids| ids[o as usize].clone());
        let (i_id, j_id) = (name(i), name(j));
        Asked { id: Id(id), i, j, subject, reference, purpose: purpose.into(), i_id, j_id }
    }

    /// Counts of the whole file.
    ///
    /// # Errors
    /// `Contract` when they do not add up, which would be a defect of the program.
    pub fn report(&self) -> Result<Report> {
        self.state.report()
    }

    /// Answers the open question by the reply that the file has, if it has one.
    fn serve(&mut self, id: QueryId) -> Result<(QueryId, Option<Answer>)> {
        let answer = self.state.queries[&id].answer.clone();
        if let Some(answer) = &answer {
            let served = Answer { cost: 0.0, ..Answer::of(answer.reply) };
            self.append(&[Line::Told(told(id, &served, true))])?;
        }
        self.cursor = self.state.tape.len();
        Ok((id, answer))
    }

    fn differs(&self, at: usize, then: &Line, now: &Line) -> Error {
        let message = format!(
            "the selection differs from the recorded one: recorded is \"{}\", and now it is \"{}\"; the \
             data, the method, its k or the program changed since; {WAYS_OUT}",
            then.describe(),
            now.describe()
        );
        bad(&self.path, at, message)
    }

    /// These lines up to one that cannot follow those before it, which is the error.
    fn append(&mut self, lines: &[Line]) -> Result<()> {
        let (mut taken, mut refused) = (0, Ok(()));
        for line in lines {
            let at = self.lines + 1 + taken;
            if let Err(message) = self.state.take(at, line.clone()) {
                refused = Err(bad(&self.path, at, message));
                break;
            }
            taken += 1;
        }
        self.write(&lines[..taken])?;
        refused
    }

    /// Lines with one call, all or none of them; the disk has them afterwards, as `durability` says.
    fn write(&mut self, lines: &[Line]) -> Result<()> {
        if self.broken {
            return Err(bad(&self.path, 0, "cannot be written after an earlier failure"));
        }
        // What the disk refuses is about no line.
        let failed = |e: String| bad(&self.path, 0, e);
        let mut text = String::new();
        for line in lines {
            let versioned = Versioned { v: VERSION, line };
            text += &serde_json::to_string(&versioned).map_err(|e| failed(e.to_string()))?;
            text.push('\n');
        }
        if let Err(e) = self.file.write_all(text.as_bytes()) {
            self.broken = true;
            // Half a line would make the next one unreadable.
            let restored = self.file.set_len(self.length);
            let also = restored.err().map(|e| format!(", and half a line stays: {e}"));
            return Err(failed(format!("{e}{}", also.unwrap_or_default())));
        }
        self.length += text.len() as u64;
        self.lines += lines.len();
        self.unsynced += lines.len();
        match self.durability {
            Durability::Every => self.sync(),
            Durability::Batch(lines) if self.unsynced >= lines => self.sync(),
            _ => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<()> {
        if self.unsynced > 0 && self.durability != Durability::None {
            self.file.sync_data().map_err(io(&self.path))?;
        }
        self.unsynced = 0;
        Ok(())
    }
}

/// Makes the name of a file durable. If folders cannot be opened (Windows), it does nothing.
///
/// # Errors
/// `Data` for a folder that cannot be written to disk.
pub fn sync_folder_of(path: &Path) -> Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        File::open(folder).and_then(|d| d.sync_all()).map_err(io(path))?;
    }
    Ok(())
}

impl Record for Ledger {
    fn answers(&self) -> Vec<Recorded> {
        self.state.answers()
    }

    fn rewind(&mut self) {
        self.cursor = 0;
    }

    fn has_more(&self) -> bool {
        self.cursor < self.state.tape.len() || {
            let met = self.state.on_tape();
            self.state.by_pair.values().any(|id| !met.contains(id))
        }
    }

    fn knows(&self, subject: u32, reference: u32) -> bool {
        let pair = (subject.min(reference), subject.max(reference));
        // Inside the recording another question is a difference to be reported, not one to be dropped.
        self.state.by_pair.contains_key(&pair) || self.cursor + 1 < self.state.tape.len()
    }

    fn ask(
        &mut self,
        subject: u32,
        reference: u32,
        purpose: &str,
    ) -> Result<(QueryId, Option<Answer>)> {
        let pair = (subject.min(reference), subject.max(reference));
        let asked = |id| Line::Asked(self.asked(id, subject, reference, purpose));
        if let Some((at, line)) = self.state.tape.get(self.cursor) {
            let id = match line {
                Line::Asked(a)
                    if (a.subject, a.reference, &*a.purpose) == (subject, reference, purpose) =>
                {
                    a.id.0
                }
                other => return Err(self.differs(*at, other, &asked(0))),
            };
            self.cursor += 1;
            if self.cursor == self.state.tape.len() {
                // Cut off between a question put once more and its reply, the file has that reply.
                return self.serve(id);
            }
            self.cursor += 1;
            return Ok((id, self.state.queries[&id].answer.clone()));
        }
        if let Some(&id) = self.state.by_pair.get(&pair) {
            self.append(&[asked(id)])?;
            return self.serve(id);
        }
        let id = self.next_id();
        self.append(&[asked(id)])?;
        self.cursor = self.state.tape.len();
        Ok((id, None))
    }

    fn tell(&mut self, id: QueryId, answer: &Answer) -> Result<()> {
        self.append(&[Line::Told(told(id, answer, false))])?;
        self.cursor = self.state.tape.len();
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<()> {
        let Some(line) = Line::of(event) else { return Ok(()) };
        match self.state.tape.get(self.cursor) {
            Some((_, then)) if *then == line => {}
            Some((at, then)) => return Err(self.differs(*at, then, &line)),
            None => self.append(&[line])?,
        }
        self.cursor += 1;
        Ok(())
    }

    fn last(&self) -> Option<QueryId> {
        Ledger::last(self)
    }

    fn retract(&mut self, id: QueryId) -> Result<()> {
        Ledger::retract(self, id, None)
    }

    fn unmet(&self) -> Vec<Recorded> {
        let met = self.state.on_tape();
        self.answers().into_iter().filter(|r| !r.retracted && !met.contains(&r.id)).collect()
    }

    fn close(&mut self, reason: Option<&str>) -> Result<()> {
        if let Some(reason) = reason
            && self.state.closed.as_deref() != Some(reason)
        {
            self.append(&[Line::Closed(Closed { reason: reason.into() })])?;
        }
        self.sync()
    }

    fn verify(&self) -> Result<()> {
        self.report().map(drop)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // A failure cannot be reported from here; the lines are in the file.
        let _ = self.sync();
    }
}

/// Prevents two writers: a file next to the ledger that holds the number of its process and is
/// locked by it. The system releases the lock of a dead process.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    fn take(ledger: &Path, notices: &mut Vec<String>) -> Result<Self> {
        let mut path = ledger.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        loop {
            let (mut file, taken) = lock::try_lock(&path, Sharing::Exclusive)?;
            let mut owner = String::new();
            // A lock that also keeps readers out leaves the owner unnamed.
            let _ = file.read_to_string(&mut owner);
            let owner = owner.trim();
            if !taken {
                let who = match owner.split_whitespace().next() {
                    None => "another process".into(),
                    Some(pid) => format!("process {pid}"),
                };
                let message = format!("is being written by {who}; wait for it, or end it");
                return Err(bad(ledger, 0, message));
            }
            // The owner before may have removed the file between our opening and locking it: then
            // this lock is on a file that no other process sees.
            if !owner.is_empty() {
                file.set_len(0).map_err(io(&path))?;
                file.seek(SeekFrom::Start(0)).map_err(io(&path))?;
            }
            // With one call, so that nobody reads half of a number.
            let own = format!("{} {}\n", std::process::id(), nonce());
            file.write_all(own.as_bytes()).map_err(io(&path))?;
            let lost = match std::fs::read_to_string(&path) {
                Ok(there) => there != own,
                // Some systems forbid reading a locked file.
                Err(e) => e.kind() == std::io::ErrorKind::NotFound,
            };
            if !lost {
                if let Some(pid) = owner.split_whitespace().next() {
                    notices.push(format!(
                        "{}: taken over from process {pid}, which ended without closing it",
                        ledger.display()
                    ));
                }
                return Ok(Lock { path, file });
            }
        }
    }
}

/// Distinguishes the locks of one process.
fn nonce() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is held, so that it cannot be another's. A file left behind is taken over.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}
