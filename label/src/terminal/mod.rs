//! The session in a terminal.

mod mode;
mod screen;
mod text;

use std::io::{IsTerminal, Write, stdout};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::{QueueableCommand, cursor, terminal};
use mustlink_core::{Error, Result};

use crate::keys::Keys;
use crate::session::{Act, Session};
use crate::show::Objects;
use crate::terminal::mode::Face;
use crate::terminal::screen::screen;
use crate::terminal::text::{Line, Style};

/// Time between two checks for changes of the session.
const LOOK: Duration = Duration::from_millis(100);
const AT_ONCE: Duration = Duration::from_millis(2);

/// A terminal that gives every key at once, and is as before when this is dropped.
struct Taken;

impl Taken {
    fn new() -> std::io::Result<Self> {
        terminal::enable_raw_mode()?;
        let taken = Taken;
        stdout().queue(terminal::EnterAlternateScreen)?.queue(cursor::Hide)?.flush()?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let restored = stdout()
            .queue(terminal::LeaveAlternateScreen)
            .and_then(|out| out.queue(cursor::Show))
            .and_then(|out| out.flush());
        // Nothing else can be done for it.
        let _ = restored.and(terminal::disable_raw_mode());
    }
}

/// True if the program runs at a terminal.
pub fn is_there() -> bool {
    stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// Lets a person answer in this terminal until the session ends.
///
/// # Errors
/// `Usage` if the terminal cannot be read or drawn on; the session then continues.
pub fn converse(session: &Session, objects: &Objects<'_>, keys: &Keys) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::Usage(format!("the terminal cannot be used: {e}; --web shows a page instead"))
    };
    let taken = Taken::new().map_err(failed)?;
    let mut face = Face::default();
    let mut drawn = (Vec::new(), (0, 0));
    while !session.is_over() {
        let view = session.view(None, Duration::ZERO);
        let wanted = (screen(&view, &face, objects, keys, size()), size());
        if wanted != drawn {
            draw(&wanted.0).map_err(failed)?;
            drawn = wanted;
        }
        // None: the terminal was closed.
        let Some(typed) = typed().map_err(failed)? else { break };
        for key in typed {
            // What one key did is seen by the next.
            let view = session.view(None, Duration::ZERO);
            if is_interrupt(&key) {
                // Where the next question takes long, the work is interrupted.
                if session.act(view.turn, Act::Quit).is_err() {
                    interrupt();
                }
                continue;
            }
            face.press(&key, &view, session, objects, keys);
        }
    }
    drop(taken);
    Ok(())
}

/// The keys pressed in a short while; `None` where the terminal was closed.
fn typed() -> std::io::Result<Option<Vec<KeyEvent>>> {
    #[cfg(unix)]
    {
        // crossterm would wait at a closed terminal for ever.
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = std::io::stdin();
        let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
        let patience = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
        // A signal ends the wait early, perhaps of another size.
        let _ = poll(&mut waited, Some(&patience));
        let came = waited[0].revents();
        if came.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(None);
        }
    }
    // With no patience at all crossterm does not even look.
    let mut patience = if cfg!(unix) { AT_ONCE } else { LOOK };
    let mut keys = Vec::new();
    while event::poll(patience)? {
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => keys.push(key),
            _ => {}
        }
        patience = AT_ONCE;
    }
    Ok(Some(keys))
}

/// Ctrl-C, which is a key like others while this terminal is taken.
fn is_interrupt(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// The effect that Ctrl-C has elsewhere.
fn interrupt() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        // The process is there.
        let _ = kill_process(getpid(), Signal::INT);
    }
}

fn size() -> (usize, usize) {
    let (columns, rows) = terminal::size().unwrap_or((80, 24));
    (usize::from(columns).max(20), usize::from(rows).max(6))
}

fn draw(lines: &[Line]) -> std::io::Result<()> {
    let mut out = stdout();
    out.queue(terminal::BeginSynchronizedUpdate)?;
    for (row, line) in lines.iter().enumerate() {
        out.queue(cursor::MoveTo(0, row as u16))?;
        for (style, text) in &line.0 {
            let attribute = match style {
                Style::Plain => Attribute::Reset,
                Style::Bold => Attribute::Bold,
                Style::Reverse => Attribute::Reverse,
                Style::Underlined => Attribute::Underlined,
            };
            out.queue(SetAttribute(Attribute::Reset))?.queue(SetAttribute(attribute))?;
            // A line is one line, whatever an id holds.
            out.queue(Print(text.replace(char::is_control, " ")))?;
        }
        out.queue(SetAttribute(Attribute::Reset))?;
        out.queue(terminal::Clear(terminal::ClearType::UntilNewLine))?;
    }
    out.queue(terminal::Clear(terminal::ClearType::FromCursorDown))?;
    out.queue(terminal::EndSynchronizedUpdate)?.flush()
}
