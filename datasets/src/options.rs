//! How a data set is to be opened.

use std::path::PathBuf;

/// How a data set is to be opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The data directory, where there is one.
    pub data_dir: Option<PathBuf>,
    /// Column of a CSV that holds the classes; absent means a last column named `class`.
    pub class_column: Option<String>,
    /// Column of a CSV that holds the ids; absent means row numbers from 0.
    pub id_column: Option<String>,
    /// Column of a CSV that holds text to show to people.
    pub display_column: Option<String>,
}

impl OpenOptions {
    /// The data directory that the environment names in `MUSTLINK_DATA`, and nothing else.
    pub fn from_env() -> Self {
        let data_dir = std::env::var_os("MUSTLINK_DATA").filter(|v| !v.is_empty());
        OpenOptions { data_dir: data_dir.map(PathBuf::from), ..OpenOptions::default() }
    }

    /// A column that is asked for by name, if any.
    pub(crate) fn wants_columns(&self) -> Option<&str> {
        [&self.class_column, &self.id_column, &self.display_column]
            .into_iter()
            .find_map(|c| c.as_deref())
    }
}
