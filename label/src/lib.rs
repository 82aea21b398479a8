//! Questions "same or different?" for a person, in the terminal or on a page.
//!
//! The driver of a selection asks, and its ledger keeps the answers. It has a thread of its own, [`Work`], so that the
//! terminal and the page can be used while the next question is being computed. A [`Session`] shows where it is and
//! passes on what a person wants: [`converse`] in a terminal, [`serve`] on a page of this machine.

mod chain;
mod found;
mod guard;
mod http;
mod keys;
mod page;
mod rows;
mod server;
mod session;
mod share;
mod show;
mod sorting;
mod standing;
mod state;
mod terminal;
mod view;
mod wire;
mod work;

pub use chain::Link;
pub use found::Cluster;
pub use keys::Keys;
pub use rows::{Looks, called, find, shown};
pub use server::{Server, serve};
pub use session::{Act, Session, Trouble};
pub use share::Share;
pub use show::{Objects, Shown};
pub use sorting::Statement;
pub use state::{annotator, is_later, is_own};
pub use terminal::{converse, is_there};
pub use view::{Clusters, Counts, Entry, Freshness, Open, Standing, View, Written};
pub use work::{Imported, Work, open_driver};
