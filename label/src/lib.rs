//! How does a person answer "same or different"?
//!
//! A [`Session`] runs a selector with its driver and its ledger on one thread and hands each question to
//! whoever holds the session on another. Taking an answer back is a line in the ledger and a replay: there
//! is no second state. [`serve`] shows a session on a page of this machine.

mod chain;
mod desk;
mod guard;
mod page;
mod server;
mod session;
mod show;
mod state;
mod view;

pub use chain::{Link, Statements};
pub use guard::{Guard, Refused};
pub use server::{Server, serve};
pub use session::{Act, Session, Trouble, Work};
pub use show::{Objects, Shown, visible};
pub use view::{Counts, Entry, Open, View};
