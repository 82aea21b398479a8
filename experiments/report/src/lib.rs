//! The report: tables, figures and files for readers of results.
//!
//! [`report`] makes tables, tests, figures and a page from a results directory; everything in it can be
//! made again at any time.
//!
//! From what others build on to what is shown:
//!
//! | module | what it holds |
//! |---|---|
//! | `statistics`, `palette`, `scale` | tests of differences; colours and shapes; where numbers lie |
//! | `axis`, `marks`, `legend`, `chart` | what figures are made of; how they become SVG |
//! | `render`, `parquet_file`, `citation` | figures as pictures; rows as Parquet; whom the methods cite |
//! | `section`, `sheet`, `figure` | a part of the page; a table and a figure, however they are written |
//! | `curves`, `samples`, `columns` | means; what is compared pair by pair; what tables show |
//! | `cross_validation`, `significance`, `statistics_file` | what folds say; what differs; its numbers |
//! | `uncompared` | why methods are not compared |
//! | `supervision` | where supervision hurt |
//! | `verdicts`, `moved` | claims; what changed |
//! | `learning_curve`, `ranks`, `scatter`, `heat_map`, `drawings` | the figures of an experiment |
//! | `ensemble_figures`, `projection`, `candidates` | those of one ensemble, one clustering, one choice |
//! | `table`, `tables`, `paragraph` | the terminal's table; those of the page; the words for a paper |
//! | `labels` | labels in place of ids |
//! | `headline`, `page`, `report` | the summary of the page; the page; all of it |

mod axis;
mod candidates;
mod chart;
pub mod citation;
mod columns;
mod cross_validation;
mod curves;
mod drawings;
mod ensemble_figures;
mod figure;
mod headline;
mod heat_map;
mod labels;
mod learning_curve;
mod legend;
mod marks;
mod moved;
mod page;
mod palette;
mod paragraph;
#[cfg(feature = "parquet")]
mod parquet_file;
mod projection;
mod ranks;
mod render;
mod report;
mod samples;
mod scale;
mod scatter;
mod section;
mod sheet;
mod significance;
pub mod statistics;
mod statistics_file;
mod supervision;
mod table;
mod tables;
mod uncompared;
mod verdicts;

pub use candidates::save_candidates;
pub use curves::{CurveSummary, PointSummary};
pub use ensemble_figures::{save_distributions, save_ensemble};
pub use heat_map::near_constant_features;
pub use palette::{CANNOT_LINK, MUST_LINK};
pub use projection::Projection;
pub use render::{check_formats, save_figure};
pub use report::{Report, report};
pub use significance::{Comparison, Significance};
#[doc(hidden)]
pub use verdicts::three_digits;
pub use verdicts::{Finding, Judgement, Verdict};

// Tests build methods by name.
#[cfg(test)]
use mustlink as _;
