//! The ledger: a file of questions and answers that survives a crash.
//!
//! A ledger is a file of JSON lines, written one event at a time and never changed. A reply is on
//! disk before a selector sees it. Resuming is replaying: the selector runs again, its questions are
//! answered from the file at no cost, and if it does anything other than the file records, the first
//! difference is an error. A reply that a person takes back is one more line, `retracted`; the selector
//! then runs again without it, and later answers are served from the file. An answer without a question
//! is `stated`: it is not part of the replay, and is served when the selector asks about its pair.

mod file;
mod format;
pub mod lock;
mod replay;

pub use file::{Durability, Ledger, sync_folder_of};
pub use format::{Header, is_ledger, utc};
pub use replay::{Report, answers, known_answers};
