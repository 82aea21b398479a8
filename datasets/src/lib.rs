//! Data sets: their objects, and everything that is known about them.
//!
//! A [`Dataset`] is the data that methods see, with what only people, oracles and metrics see: ids,
//! display text and classes. [`open`] finds one by name or path: a CSV, a Matrix Market file with
//! its labels, an entry of a data directory, or one of the sets built into the program. What a
//! manifest says about a set is asserted when it is opened. [`read_constraints`] and
//! [`read_labels`] read what belongs to a data set, [`read_partitions`] what others made of one.
//!
//! Every error names the file, the line, the column by its name, the value, and what is accepted.
//! Lines are counted as an editor does: the header of a CSV is line 1.

mod answers_csv;
mod builtin;
mod bytes;
mod columns;
mod constraints_csv;
mod converted;
mod dataset;
mod dates;
mod directory;
mod feature_weights;
mod files;
mod incomplete;
mod labels_csv;
mod linfa;
mod listing;
mod matrix_market;
mod open;
mod options;
mod pairs_csv;
mod pairwise;
mod parquet_table;
mod partitions;
mod records;
mod sheet;
mod steps;
mod table;
mod thousands;
mod workbook;

pub use answers_csv::{FileAnswer, read_answers, read_known_answers, write_questions};
pub use builtin::builtin_names;
#[doc(hidden)]
pub use bytes::{bad as data_error, csv_text};
pub use bytes::{check_writable, write_rows, write_text};
pub use columns::shell_word;
pub use constraints_csv::{
    read_constraints, read_constraints_and_unused, read_known_constraints, write_constraints,
};
pub use converted::NO_ROWS;
pub use dataset::{Classes, Dataset, Reading};
pub use feature_weights::{FeatureWeights, weights_csv, write_weights};
pub use incomplete::{NotNumbers, Way, typing_error};
pub use labels_csv::{LabelColumn, RENAME, read_labels, write_labels, write_labels_with};
pub use linfa::LinfaView;
pub use listing::{Listing, Origin};
pub use open::{available, check_head, check_name, column_names, is_path, is_table, open};
pub use options::OpenOptions;
pub use pairs_csv::{JudgedPairs, PairOptions, Verdict, pairs_of_text, read_pairs};
pub use partitions::{Partitions, read_partitions};
pub use steps::RowMap;
