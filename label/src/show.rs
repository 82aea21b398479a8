//! What is shown of an object?

use std::path::{Path, PathBuf};

use serde::Serialize;

/// Longest text of one cell that is shown, in characters.
const LONGEST: usize = 4000;

/// One object as a person sees it. What it holds is text, never markup.
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

/// What is known of objects for people.
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

/// The file that a cell names inside `folder`, with the kind of its image. None for one that is elsewhere,
/// also by a link, that does not exist or is no image.
pub(crate) fn image(folder: &Path, cell: &str) -> Option<(PathBuf, &'static str)> {
    let folder = folder.canonicalize().ok()?;
    let file = folder.join(cell.trim()).canonicalize().ok()?;
    let ends = file.extension()?.to_str()?.to_ascii_lowercase();
    let (_, kind) = IMAGES.into_iter().find(|(end, _)| *end == ends)?;
    (file.starts_with(&folder) && file.is_file()).then_some((file, kind))
}

/// Text in which nothing steers a terminal or turns the direction of reading, and which is not longer than
/// can be looked at: how long it was is said.
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
