//! The files and columns that a command reads, and checks of the files that it writes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use mustlink_datasets::{OpenOptions, data_error};

use crate::failure::Failure;
use crate::options::{DataDir, PlotFormats};

/// How the columns of a CSV are read.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ColumnArgs {
    /// Column that holds ids
    ///
    /// Columns are named as in the header, or #1, #2 …
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Column that holds true classes, used only to score
    ///
    /// The default is a last column named "class". Cells with -1, NA, ? or nothing are unknown classes.
    #[arg(long, value_name = "COLUMN")]
    pub class: Option<String>,
    /// Column with classes of some objects, given to the method
    ///
    /// The classes become must-links and cannot-links. Cells with -1, NA, ? or nothing are unknown.
    #[arg(long, value_name = "COLUMN")]
    pub labels: Option<String>,
    /// Column with names of objects, to show
    ///
    /// The names are shown to the annotator, in messages and in profiles.
    #[arg(long, value_name = "COLUMN", visible_alias = "name")]
    pub display: Option<String>,
    /// Columns that are shown to people as they are.
    #[arg(skip)]
    pub shown: Vec<String>,
    /// Column of the files of images.
    #[arg(skip)]
    pub image: Option<String>,
    /// Columns to cluster on [default: all others]
    ///
    /// A column that looks like ids or classes is an error unless you name it here. all: every column without
    /// another role.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub features: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// The first row is an object; columns are called #1, #2 …
    #[arg(long)]
    pub no_header: bool,
    /// Each column is an object, each row a feature
    ///
    /// The first row names the objects, and the first column the features, as in tables of genes.
    #[arg(long, conflicts_with = "no_header")]
    pub transpose: bool,
    /// Separator of cells: a character, or tab [default: detected]
    ///
    /// mustlink detects , ; tab and |.
    #[arg(long, value_name = "CHARACTER", value_parser = separator)]
    pub sep: Option<char>,
    /// Decimal sign of numbers [default: .]
    #[arg(long, value_name = "CHARACTER", value_parser = decimal)]
    pub decimal: Option<char>,
    /// Text of missing values [default: ?, NA, N/A, NaN, null, none]
    ///
    /// Empty cells are always missing.
    #[arg(long, value_name = "TEXT", value_delimiter = ',', allow_hyphen_values = true)]
    pub na: Vec<String>,
}

impl ColumnArgs {
    /// How to open a data set.
    pub fn open_options(&self, data_dir: &DataDir) -> OpenOptions {
        OpenOptions {
            class_column: self.class.clone(),
            known_column: self.labels.clone(),
            id_column: self.id.clone(),
            display_column: self.display.clone(),
            shown_columns: self.shown.clone(),
            image_column: self.image.clone(),
            features: self.features.clone(),
            ignore: self.ignore.clone(),
            no_header: self.no_header,
            transpose: self.transpose,
            separator: self.sep,
            decimal: self.decimal,
            missing: self.na.clone(),
            ..data_dir.open_options()
        }
    }
}

fn separator(text: &str) -> Result<char, String> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err(format!("must be one character, or tab, got \"{text}\"")),
    }
}

fn decimal(text: &str) -> Result<char, String> {
    let part_of_a_number = |c: char| c.is_alphanumeric() || c.is_whitespace() || "+-".contains(c);
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) if !part_of_a_number(one) => Ok(one),
        _ => Err(format!("must be a point, a comma or another sign, got \"{text}\"")),
    }
}

/// A file by the option that names it.
pub(crate) type Named<'a> = (&'a str, Option<&'a str>);

/// The given files, each as written on the command line; without standard input and output.
fn given(files: &[Named<'_>]) -> Vec<(String, PathBuf)> {
    let files = files.iter().filter_map(|(option, file)| Some((*option, (*file)?)));
    let files = files.filter(|(_, file)| *file != "-");
    files.map(|(option, file)| (format!("{option} {file}"), PathBuf::from(file))).collect()
}

/// Refuses outputs that are inputs or each other, or that cannot be written: before the work, not
/// after it.
pub(crate) fn check_outputs(outputs: &[Named<'_>], inputs: &[Named<'_>]) -> Result<(), Failure> {
    let mut to_standard = outputs.iter().filter(|(_, file)| *file == Some("-"));
    if let (Some((one, _)), Some((other, _))) = (to_standard.next(), to_standard.next()) {
        let why = format!("{one} - and {other} -: only one of them can go to standard output");
        return Err(Failure::usage(why));
    }
    let (outputs, inputs) = (given(outputs), given(inputs));
    for (at, (out, path)) in outputs.iter().enumerate() {
        let refused = |why: String| Err(Failure::usage(format!("{out}: {why}")));
        // As of a variable of the shell that was never set.
        if path.as_os_str().is_empty() {
            return refused("names no file".into());
        }
        if path.is_dir() {
            return refused("is a folder; name a file".into());
        }
        // Other programs unpack what is called so, and find that it is not packed.
        if path.extension().is_some_and(|ending| ending == "gz") {
            return refused(
                "would not be compressed; leave .gz out, and run gzip on the file".into(),
            );
        }
        if let Some((input, _)) = inputs.iter().find(|(_, input)| same(path, input)) {
            return refused(format!("would overwrite the input {input}; name another file"));
        }
        if let Some((other, _)) = outputs[..at].iter().find(|(_, other)| same(path, other)) {
            return refused(format!("and {other} name the same file"));
        }
        if path.parent().is_some_and(|p| !p.as_os_str().is_empty() && !p.is_dir()) {
            return refused("its folder does not exist".into());
        }
        if let Err(e) = mustlink_datasets::check_writable(path) {
            return Err(Failure::usage(format!(
                "{} {e}",
                out.split(' ').next().unwrap_or_default()
            )));
        }
    }
    Ok(())
}

/// Refuses an `--out` that exists: the user may have edited the file since it was written.
pub(crate) fn check_new(out: &str) -> Result<(), Failure> {
    if out != "-" && Path::new(out).exists() {
        return Err(Failure::usage(format!("--out {out} exists already; name a new file")));
    }
    Ok(())
}

/// Makes a folder, unless it exists.
pub(crate) fn make_folder(folder: &Path) -> mustlink::Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|e| data_error(folder.display(), format!("cannot be made: {e}")))
}

/// A folder by the option that names it, and the files that are written into it.
pub(crate) struct Folder<'a> {
    pub option: &'a str,
    pub path: Option<&'a Path>,
    pub files: &'a [&'a str],
}

/// The files of figures of these names: their numbers, SVG, and the other formats that are asked for.
pub(crate) fn drawn(names: &[impl fmt::Display], formats: &PlotFormats) -> Vec<String> {
    let others = formats.plot_formats.iter().map(|format| format.ending());
    let kinds: BTreeSet<&str> = ["csv", "svg"].into_iter().chain(others).collect();
    let of_name = |name| kinds.iter().map(move |kind| format!("{name}.{kind}"));
    names.iter().flat_map(of_name).collect()
}

/// The checks of a verb that writes `outputs`, and figures of an ensemble named after `prefix` into the folder `plot`.
pub(crate) fn check_outputs_and_plot(
    outputs: &[Named<'_>],
    (plot, formats): (Option<&Path>, &PlotFormats),
    prefix: &str,
    inputs: &[Named<'_>],
) -> Result<(), Failure> {
    check_outputs(outputs, inputs)?;
    let names = ["co-association", "counts", "members"].map(|name| format!("{prefix}-{name}"));
    let drawn = drawn(&names, formats);
    let files: Vec<&str> = drawn.iter().map(String::as_str).collect();
    check_folders(&[Folder { option: "--plot", path: plot, files: &files }], outputs, inputs)
}

/// Refuses folders that are files, or in which an output would overwrite an input or another output: before
/// the work, not after it.
pub(crate) fn check_folders(
    folders: &[Folder<'_>],
    outputs: &[Named<'_>],
    inputs: &[Named<'_>],
) -> Result<(), Failure> {
    let (mut written, read) = (given(outputs), given(inputs));
    for Folder { option, path, files } in folders {
        let Some(folder) = path else { continue };
        let named = format!("{option} {}", folder.display());
        if folder.exists() && !folder.is_dir() {
            return Err(Failure::usage(format!("{named}: is a file; name a folder")));
        }
        for path in files.iter().map(|file| folder.join(file)) {
            let taken = |(_, other): &&(String, PathBuf)| same(&path, other);
            let read = read.iter().find(taken);
            let read = read.map(|(input, _)| format!("would overwrite the input {input}"));
            let twice = written.iter().find(taken);
            let twice = twice.map(|(other, _)| format!("{} is {other}", path.display()));
            if let Some(why) = read.or(twice) {
                return Err(Failure::usage(format!("{named}: {why}; name another folder")));
            }
            written.push((named.clone(), path));
        }
    }
    Ok(())
}

/// Most symbolic links in a row that [`place`] follows, as many as Linux does.
const MOST_LINKS: usize = 40;

/// True if two paths lead to one file. Devices and pipes may be written to twice.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    let (one, other) = (place(one), place(other));
    one.is_some() && one == other
}

/// The file that `path` leads to, which need not exist; `None` for anything but a file.
fn place(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Ok(place) = path.canonicalize() {
            return Some(place).filter(|p| p.is_file());
        }
        let folder = path.parent()?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = folder.canonicalize().ok()?;
        let place = folder.join(path.file_name()?);
        // The target may exist by the time that the link is written to: a ledger is created first.
        match place.read_link() {
            Ok(target) => path = folder.join(target),
            Err(_) => return Some(place),
        }
    }
    None
}
