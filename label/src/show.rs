//! The parts of an object that are shown.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// Longest text of one cell that is shown, in characters.
const LONGEST: usize = 4000;

/// One object as a person sees it. Its content is text, never markup.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Shown {
    /// Its id.
    pub id: String,
    /// Cells of a table: name of the column and content.
    pub cells: Vec<(String, String)>,
    /// Running text.
    pub text: Option<String>,
    /// File of its image, as the data names it.
    pub image: Option<String>,
    /// Numbers in order, to be drawn as a curve.
    pub series: Option<Vec<f64>>,
}

/// The facts about objects that people see.
pub struct Objects<'a> {
    /// The name of an object: its id, with what the annotator saw of it.
    pub id: &'a (dyn Fn(u32) -> String + Sync),
    /// The object with an id, or the only object with a name.
    pub find: &'a (dyn Fn(&str) -> Option<u32> + Sync),
    /// All that is shown of one.
    pub shown: &'a (dyn Fn(u32) -> Shown + Sync),
    /// Folder in which the images are.
    pub folder: &'a Path,
}

impl Objects<'_> {
    /// The name of an object without control characters.
    pub fn name(&self, object: u32) -> String {
        visible(&(self.id)(object))
    }
}

/// Most objects whose cells are read for the ranges of columns.
const READ: u32 = 10_000;

/// The smallest and the largest number of each column that contains numbers only. Of many objects, evenly spaced ones
/// are read.
pub(crate) fn ranges(objects: &Objects<'_>, n: u32) -> Vec<Option<(f64, f64)>> {
    let mut ranges = Vec::new();
    for object in (0..n).step_by(n.div_ceil(READ).max(1) as usize) {
        let cells = (objects.shown)(object).cells;
        ranges.resize(cells.len(), Some((f64::INFINITY, f64::NEG_INFINITY)));
        for (range, (_, cell)) in ranges.iter_mut().zip(&cells).filter(|(_, (_, c))| !c.is_empty())
        {
            let number = cell.parse().ok().filter(|v: &f64| v.is_finite());
            *range = range.zip(number).map(|((low, high), v)| (low.min(v), high.max(v)));
        }
    }
    ranges.into_iter().map(|range| range.filter(|(low, high)| low < high)).collect()
}

impl Shown {
    /// The same with nothing in any text that steers a terminal.
    pub fn visible(self) -> Self {
        let cells = self.cells.into_iter().map(|(n, c)| (visible(&n), visible(&c))).collect();
        let text = |t: Option<String>| t.as_deref().map(visible);
        let (id, image) = (visible(&self.id), text(self.image));
        Shown { id, cells, text: text(self.text), image, series: self.series }
    }
}

/// Kinds of images that are served, by how the names of their files end.
const IMAGES: [(&str, &str); 6] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("bmp", "image/bmp"),
];

/// The file that a cell names inside `folder`, with the kind of its image. `None` for a file that is elsewhere,
/// also through a link, that does not exist, or that is not an image.
pub(crate) fn image(folder: &Path, cell: &str) -> Option<(PathBuf, &'static str)> {
    let folder = folder.canonicalize().ok()?;
    let file = folder.join(cell.trim()).canonicalize().ok()?;
    let ends = file.extension()?.to_str()?.to_ascii_lowercase();
    let (_, kind) = IMAGES.into_iter().find(|(end, _)| *end == ends)?;
    (file.starts_with(&folder) && file.is_file()).then_some((file, kind))
}

/// Text without characters that steer a terminal or turn the direction of reading. Long text is cut, with its
/// full length at the end.
pub(crate) fn visible(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map(|(end, _)| end);
    let mut out = mustlink_core::text::visible(&text[..end.unwrap_or(text.len())]);
    if end.is_some() {
        out += &format!(" … ({} characters in all)", text.chars().count());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_and_nothing_is_endless() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\n<b>"), "a?[2J?b\n<b>");
        let long = visible(&"ä".repeat(10_000_000));
        assert!(long.ends_with("… (10000000 characters in all)") && long.len() < 3 * LONGEST);
    }

    #[test]
    fn columns_of_numbers_have_ranges() {
        let rows = [
            ["1.5", "red", "7", ""],
            ["-2", "3", "7", ""],
            ["", "4", "7", ""],
            ["1e2", "5", "7", "8"],
        ];
        let shown = |o: u32| {
            let cell = |c: &str| ("x".to_string(), c.to_string());
            Shown { cells: rows[o as usize].map(cell).to_vec(), ..Shown::default() }
        };
        let folder = Path::new(".");
        let objects = Objects { id: &|_| String::new(), find: &|_| None, shown: &shown, folder };
        assert_eq!(ranges(&objects, 4), [Some((-2.0, 100.0)), None, None, None]);
        let many = |o: u32| Shown { cells: vec![("x".into(), o.to_string())], ..Shown::default() };
        let objects = Objects { shown: &many, ..objects };
        assert_eq!(ranges(&objects, 25_000), [Some((0.0, 24_999.0))]);
    }

    #[test]
    fn images_are_those_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("data");
        std::fs::create_dir_all(folder.join("faces")).unwrap();
        for file in ["data/faces/a.PNG", "data/page.html", "secret.png"] {
            std::fs::write(dir.path().join(file), "x").unwrap();
        }
        let found = |cell: &str| image(&folder, cell).map(|(_, kind)| kind);
        assert_eq!(found(" faces/../faces/a.PNG"), Some("image/png"));
        let outside = dir.path().join("secret.png");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, folder.join("link.png")).unwrap();
        let outside = outside.to_str().unwrap();
        for cell in ["../secret.png", outside, "page.html", "faces", "none.png", "link.png", ""] {
            assert_eq!(found(cell), None, "{cell}");
        }
    }
}
