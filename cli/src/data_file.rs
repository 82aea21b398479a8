//! The file next to a data set that holds its options: `NAME.toml` next to `NAME.csv`, otherwise `data.toml`.
//!
//! Options of the command line take precedence. A column that the command line uses in another way is removed from the
//! roles that the file gives it.

use std::path::{Path, PathBuf};

use mustlink::Result;
use mustlink::config::{self, Document, Node};
use mustlink::kind::{self, Described};
use mustlink::roles::Transform;
use serde_json::Value;

use crate::files::ColumnArgs;

/// The name of the file for all data sets of a folder.
const SHARED: &str = "data.toml";

/// Keys of method files and experiment files, which may have the name of a data set, too.
const OTHERS: &str =
    "experiment dataset method clusterer selector oracle consensus plugins k seed view";

/// Options of a data set. The keys are those of `[[dataset]]` in an experiment file.
#[derive(serde::Deserialize, Described)]
#[serde(deny_unknown_fields)]
struct DataFile {
    /// Column with ids.
    #[serde(default)]
    id_column: Option<String>,
    /// Column with the true classes.
    #[serde(default)]
    target: Option<String>,
    /// Column with the known classes of some objects.
    #[serde(default)]
    labels: Option<String>,
    /// Column with names of objects, to show.
    #[serde(default)]
    display: Option<String>,
    /// Columns to cluster on.
    #[serde(default)]
    features: Vec<String>,
    /// Columns to leave out.
    #[serde(default)]
    ignore: Vec<String>,
    /// Read the first row as an object.
    #[serde(default)]
    no_header: bool,
    /// Each column is an object.
    #[serde(default)]
    transpose: bool,
    /// Separator between cells.
    #[serde(default)]
    sep: Option<char>,
    /// Decimal mark of numbers.
    #[serde(default)]
    decimal: Option<char>,
    /// Cells that mean a missing value.
    #[serde(default)]
    na: Vec<String>,
    /// Transforms of a method without transforms.
    #[serde(default)]
    #[option(kind = <Vec<Box<dyn Transform>> as Described>::KIND)]
    #[expect(dead_code, reason = "used as written, without the defaults")]
    transforms: Value,
}

/// Options of the command line, completed by the file of the data set.
pub(crate) struct Completed {
    pub columns: ColumnArgs,
    /// Transforms for a method without transforms.
    pub transforms: Option<Value>,
    /// The file, if it gave something.
    pub file: Option<String>,
    /// A note about the keys that were used.
    pub note: Option<String>,
}

/// The keys of columns that only a description of known data has.
pub(crate) const OF_KNOWN_DATA: &str = "target labels features ignore transforms";

/// The keys of tables.
const OF_TABLES: &str =
    "id_column target labels display features ignore no_header transpose sep decimal na";

/// Completes the options `columns` of the data set `data`. The columns `in_use` are named by other options, and the
/// keys `unused` mean nothing to the command.
pub(crate) fn completed(
    columns: &ColumnArgs,
    data: &str,
    in_use: &[&str],
    unused: &str,
) -> Result<Completed> {
    let columns = columns.clone();
    let Some((path, document)) = find(data)? else {
        return Ok(Completed { columns, transforms: None, file: None, note: None });
    };
    let file: DataFile = config::build(document.root(), "")?;
    // Other files have no columns and no cells.
    let of_tables = if mustlink_datasets::is_table(data) { "" } else { OF_TABLES };
    let transforms = document.root().get("transforms").map(Node::to_value);
    let (given, unused) = (columns.clone(), [unused, of_tables]);
    let mut merge = Merge { given, columns, in_use, unused, taken: Vec::new() };
    merge.all(file);
    let transforms = transforms.filter(|_| merge.is_used("transforms"));
    merge.taken.extend(transforms.as_ref().map(|_| "transforms"));
    let Merge { columns, taken, .. } = merge;
    let file = (!taken.is_empty()).then(|| path.display().to_string());
    let note = file.as_ref().map(|file| format!("{file} sets {}", taken.join(", ")));
    Ok(Completed { columns, transforms, file, note })
}

/// Options of the command line while those of a file are added.
struct Merge<'a> {
    given: ColumnArgs,
    columns: ColumnArgs,
    in_use: &'a [&'a str],
    unused: [&'a str; 2],
    taken: Vec<&'static str>,
}

impl Merge<'_> {
    fn is_used(&self, key: &str) -> bool {
        !self.unused.iter().flat_map(|keys| keys.split(' ')).any(|unused| unused == key)
    }

    fn all(&mut self, file: DataFile) {
        let ColumnArgs { id, class, ignore, features, .. } = &self.given;
        let excluding: Vec<String> = ignore.iter().chain(features).chain(id).cloned().collect();
        let not_id: Vec<String> = excluding.iter().chain(class).cloned().collect();
        self.name("id_column", |c| &mut c.id, file.id_column, &not_id);
        self.name("target", |c| &mut c.class, file.target, &excluding);
        self.name("labels", |c| &mut c.labels, file.labels, &excluding);
        self.name("display", |c| &mut c.display, file.display, &[]);
        let ColumnArgs { id, class, labels, display, ignore, features, .. } = &self.given;
        let single = [id, class, labels, display].into_iter().flatten();
        let named: Vec<String> = single.chain(ignore).chain(features).cloned().collect();
        let in_use = self.in_use;
        let is_free = |name: &String| {
            let is = |used: &str| used.trim() == name.trim();
            !named.iter().any(|used| is(used)) && !in_use.iter().any(|used| is(used))
        };
        let free = |names: Vec<String>| names.into_iter().filter(is_free).collect::<Vec<_>>();
        self.list("features", |c| &mut c.features, free(file.features));
        self.list("ignore", |c| &mut c.ignore, free(file.ignore));
        self.list("na", |c| &mut c.na, file.na);
        self.set("sep", self.columns.sep.is_none() && file.sep.is_some(), |c| c.sep = file.sep);
        let decimal = self.columns.decimal.is_none() && file.decimal.is_some();
        self.set("decimal", decimal, |c| c.decimal = file.decimal);
        let (header, transpose) = (self.columns.no_header, self.columns.transpose);
        self.set("no_header", file.no_header && !header, |c| c.no_header = true);
        self.set("transpose", file.transpose && !transpose, |c| c.transpose = true);
    }

    fn set(&mut self, key: &'static str, when: bool, change: impl FnOnce(&mut ColumnArgs)) {
        if when && self.is_used(key) {
            change(&mut self.columns);
            self.taken.push(key);
        }
    }

    fn name(
        &mut self,
        key: &'static str,
        of: impl Fn(&mut ColumnArgs) -> &mut Option<String>,
        name: Option<String>,
        excluding: &[String],
    ) {
        let name = name.filter(|name| !excluding.contains(name));
        let when = name.is_some() && of(&mut self.columns).is_none();
        self.set(key, when, |columns| *of(columns) = name);
    }

    fn list(
        &mut self,
        key: &'static str,
        of: impl Fn(&mut ColumnArgs) -> &mut Vec<String>,
        names: Vec<String>,
    ) {
        let when = !names.is_empty() && of(&mut self.columns).is_empty();
        self.set(key, when, |columns| *of(columns) = names);
    }
}

/// The file for a data set, if there is one.
fn find(data: &str) -> Result<Option<(PathBuf, Document)>> {
    let path = Path::new(data);
    if !mustlink_datasets::is_path(data) || !path.is_file() {
        return Ok(None);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let own = Path::new(plain).with_extension("toml");
    for file in [path.with_file_name(own), path.with_file_name(SHARED)] {
        if !file.is_file() {
            continue;
        }
        let document = Document::read(&file)?;
        // A method or an experiment about these data.
        if !OTHERS.split(' ').any(|key| document.root().get(key).is_some()) {
            return Ok(Some((file, document)));
        }
    }
    Ok(None)
}
