//! Options for opening a data set.

use std::path::PathBuf;

use mustlink_core::serde_json::Value;
use mustlink_core::{DataKind, Error, Result};

use crate::bytes::bad;

/// Options for opening a data set. Columns of a CSV are called by their names in its header, or by
/// `#` and their place: `#1` is the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The data directories; of two sets with one name that of the first directory is taken.
    pub data_dirs: Vec<PathBuf>,
    /// Column that holds the classes; absent means a last column named `class`.
    pub class_column: Option<String>,
    /// Column that holds what is known of the classes of some objects, for methods to see; may be that of
    /// the classes.
    pub known_column: Option<String>,
    /// Column that names for some objects the group whose members must all be apart.
    pub apart_column: Option<String>,
    /// Column with the number of times that each object counts; absent: once.
    pub weights_column: Option<String>,
    /// Column that holds the ids; absent means row numbers from 0.
    pub id_column: Option<String>,
    /// Column that holds text to show to people.
    pub display_column: Option<String>,
    /// Column that names for each object the file of its image.
    pub image_column: Option<String>,
    /// Columns whose cells are kept as they stand, to be shown to people; they may be features too.
    pub shown_columns: Vec<String>,
    /// The columns that are features; `["all"]`: all that are named as nothing else. Empty: all those,
    /// but a column that looks like ids or classes is an error.
    pub features: Vec<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Columns of categories, whose cells are words even if they look like numbers.
    pub categories: Vec<String>,
    /// The first row is an object already; columns are called `#1`, `#2` …
    pub no_header: bool,
    /// Each column of the file is an object, and each row a feature. The first column names the features, and the
    /// first row the objects. Other options see the table after rows and columns are exchanged.
    pub transpose: bool,
    /// The numbers are distances or affinities of pairs of objects: as many columns as rows, in the same order.
    pub pairs: Option<DataKind>,
    /// The separator of cells. If absent, the one of `, ; tab |` that fits.
    pub separator: Option<char>,
    /// The decimal mark of numbers. If absent, a point.
    pub decimal: Option<char>,
    /// Cells that count as missing values, in addition to empty ones. Empty: `?`, `NA`, `N/A`, `NaN`, `null`,
    /// `none`, in any case.
    pub missing: Vec<String>,
    /// Maximum size of numbers and texts in bytes. Absent: no limit.
    pub memory_limit: Option<u64>,
}

/// Refuses data that need more bytes than allowed.
pub(crate) fn within(limit: Option<u64>, needed: u64, place: &str) -> Result<()> {
    match limit {
        Some(limit) if needed > limit => Err(Error::Memory { needed, limit }.at(place)),
        _ => Ok(()),
    }
}

impl OpenOptions {
    /// The columns that the transforms `one_hot` and `gower` of a method declare to be categories.
    pub fn declared_categories(transforms: &Value) -> Vec<String> {
        let steps = transforms.as_array().map(Vec::as_slice).unwrap_or_default();
        let declared =
            steps.iter().filter(|step| ["one_hot", "gower"].iter().any(|t| step["type"] == *t));
        let names = declared.filter_map(|step| step["columns"].as_array()).flatten();
        names.filter_map(Value::as_str).map(String::from).collect()
    }

    /// The data directories that the environment names in `MUSTLINK_DATA`, as PATH names folders, and
    /// nothing else.
    pub fn from_env() -> Self {
        let dirs = std::env::var_os("MUSTLINK_DATA").filter(|v| !v.is_empty());
        let data_dirs = dirs.map(|v| std::env::split_paths(&v).collect()).unwrap_or_default();
        OpenOptions { data_dirs, ..OpenOptions::default() }
    }

    /// The columns that are asked for by name; `all` features are not.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &str> {
        let single = [
            &self.class_column,
            &self.known_column,
            &self.id_column,
            &self.display_column,
            &self.apart_column,
            &self.weights_column,
            &self.image_column,
        ];
        let lists = [&self.ignore, &self.categories, &self.features].into_iter().flatten();
        let lists = lists.filter(|name| *name != "all");
        let all = single.into_iter().flatten().chain(&self.shown_columns).chain(lists);
        all.map(String::as_str)
    }

    /// Refuses options about the text of a CSV, for cells that are not text.
    pub(crate) fn refuse_of_text(&self, place: &str) -> Result<()> {
        let ways = [("--sep", self.separator.is_some()), ("--decimal", self.decimal.is_some())];
        refuse_of_csv_alone(place, &ways)
    }

    /// Refuses options that only a CSV has, for data that is not a CSV.
    pub(crate) fn refuse_of_csv(&self, place: &str) -> Result<()> {
        if let Some(column) = self.named_columns().next() {
            let message = format!("no column \"{column}\": only a CSV has columns to choose from");
            return Err(bad(place, message));
        }
        let ways = [
            ("--no-header", self.no_header),
            ("--transpose", self.transpose),
            ("--na", !self.missing.is_empty()),
        ];
        self.refuse_of_text(place)?;
        refuse_of_csv_alone(place, &ways)
    }
}

/// Refuses options that are given, for data that is not a CSV.
fn refuse_of_csv_alone(place: &str, ways: &[(&str, bool)]) -> Result<()> {
    match ways.iter().find(|(_, given)| *given) {
        Some((way, _)) => Err(bad(place, format!("is not a CSV, and {way} is for CSV files only"))),
        None => Ok(()),
    }
}
