//! Tools of the authors: reference pages and schematic figures of the manual, and verdicts on claims of papers.
//!
//! `cargo run -p mustlink-authors -- --help` lists them. Nothing here is part of the program or of a published crate.

mod facts;
mod kept;
mod markdown;
mod null;
mod page_of_verdicts;
mod pages;
mod theory_figures;

pub use kept::kept_verdicts;
pub use null::null;
pub use page_of_verdicts::{keep_verdicts, verdicts_page};
pub use pages::reference_pages;
pub use theory_figures::{FIGURES, draw};
