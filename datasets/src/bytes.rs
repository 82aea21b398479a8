//! The bytes of a file, packed or not, read and written.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use mustlink_core::{Error, Result};

use crate::converted::Converted;
pub use crate::converted::{bad, csv_text};

/// The message about text in another encoding.
pub(crate) const NOT_UTF8: &str = "is not UTF-8 text; convert a Windows or Latin-1 file with iconv -f WINDOWS-1252 \
                                   -t UTF-8 OLD.csv > NEW.csv";

/// A file as people write it.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Bytes that come bit by bit, unpacked if they are gzip.
pub(crate) struct Input<'a> {
    reader: Box<dyn Read + 'a>,
    packed: bool,
    unpacked: u64,
    place: String,
    /// The sheet that was read, of a workbook with several.
    note: Option<String>,
    /// Cells of types instead of a text with separators.
    is_typed: bool,
}

/// Turns the bytes of a file into CSV.
type Convert = fn(Vec<u8>) -> std::result::Result<Converted, String>;

/// The readers of files that are not texts, by the first bytes of such files.
const CONVERTERS: &[(&[u8], Convert)] = &[
    #[cfg(feature = "parquet")]
    (b"PAR1", crate::parquet_table::to_csv),
    #[cfg(feature = "xlsx")]
    (b"PK\x03\x04", crate::workbook::to_csv),
    #[cfg(feature = "xlsx")]
    (b"\xd0\xcf\x11\xe0", crate::workbook::to_csv),
];

impl<'a> Input<'a> {
    /// A file, or the standard input for `-`.
    pub fn open(path: &Path) -> Result<Input<'static>> {
        if path.as_os_str() == "-" {
            return Input::new(io::stdin(), "standard input");
        }
        let file = std::fs::File::open(path).map_err(|e| cannot_read(path, &e))?;
        Input::new(file, &shown(path))
    }

    /// Bytes in memory.
    pub fn of(content: &'a [u8], place: &str) -> Input<'a> {
        Input::plain(Box::new(content), place)
    }

    fn plain(reader: Box<dyn Read + 'a>, place: &str) -> Self {
        let (place, note) = (place.into(), None);
        Input { reader, packed: false, unpacked: 0, place, note, is_typed: false }
    }

    /// Bytes that a reader gives.
    pub fn new(source: impl Read + 'a, place: &str) -> Result<Input<'a>> {
        let mut source = BufReader::with_capacity(1 << 16, source);
        let head = source.fill_buf().map_err(|e| bad(place, e.to_string()))?;
        let packed = head.starts_with(&[0x1f, 0x8b]);
        if !packed && !head.is_empty() && place.ends_with(".gz") {
            return Err(bad(place, "is named .gz and is not gzip"));
        }
        if let Some((_, convert)) = CONVERTERS.iter().find(|(begin, _)| head.starts_with(begin)) {
            let mut content = Vec::new();
            source.read_to_end(&mut content).map_err(|e| bad(place, e.to_string()))?;
            let converted = convert(content).map_err(|message| bad(place, message))?;
            let place = match converted.part {
                Some(part) => format!("{place}, {part}"),
                None => place.to_string(),
            };
            let input = Input::plain(Box::new(io::Cursor::new(converted.text)), &place);
            return Ok(Input { note: converted.note, is_typed: true, ..input });
        }
        let reader: Box<dyn Read> =
            if packed { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) };
        Ok(Input { packed, ..Input::plain(reader, place) })
    }

    /// The note for people about what was read.
    pub fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// True for cells with types, which have no separator and no decimal mark.
    pub fn is_typed(&self) -> bool {
        self.is_typed
    }

    /// How it is called in messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Appends up to `most` bytes; `false` when there are no more.
    ///
    /// # Errors
    /// `Data` for what cannot be read, and for damaged gzip.
    pub fn more(&mut self, to: &mut Vec<u8>, most: usize) -> Result<bool> {
        let before = to.len();
        let read = (&mut self.reader).take(most as u64).read_to_end(to);
        self.unpacked += (to.len() - before) as u64;
        let read = read.map_err(|e| match (self.packed, e.kind()) {
            (true, io::ErrorKind::UnexpectedEof) => bad(
                &self.place,
                format!(
                    "the gzip file is cut off ({} bytes unpacked); copy or download it again",
                    self.unpacked
                ),
            ),
            (true, _) => bad(&self.place, format!("the gzip file is damaged: {e}")),
            (false, _) => bad(&self.place, e.to_string()),
        })?;
        Ok(read > 0)
    }
}

fn cannot_read(path: &Path, e: &io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::NotFound => bad(shown(path), "no such file"),
        _ => bad(shown(path), e.to_string()),
    }
}

/// The content of a file as it is.
pub(crate) fn read_raw(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| cannot_read(path, &e))
}

/// The content, unpacked if it is gzip.
pub(crate) fn unpack(raw: &[u8], place: &str) -> Result<Vec<u8>> {
    let mut input = Input::new(raw, place)?;
    let mut out = Vec::new();
    while input.more(&mut out, usize::MAX)? {}
    Ok(out)
}

/// Lines of a text, without their ends. The empty piece after the last end does not count as a line.
pub(crate) fn lines<'a>(content: &'a [u8], place: &str) -> Result<Vec<&'a str>> {
    let text = std::str::from_utf8(content).map_err(|e| {
        let line = 1 + content[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        bad(format!("{place}, line {line}"), NOT_UTF8)
    })?;
    Ok(text.lines().collect())
}

/// Writes a file whole or not at all; `-` is the standard output, whose reader may leave early. Devices
/// and pipes are written to, links followed.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<()> {
    write_with(path, Box::new(|out| out.write_all(content)))
}

/// Makes content while it is written.
type Fill<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// The same for content that is made while it is written.
fn write_with(path: &Path, fill: Fill) -> Result<()> {
    if path.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        return match fill(&mut out).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(bad("standard output", e.to_string()))
            }
            _ => Ok(()),
        };
    }
    let fail = |e: io::Error| bad(shown(path), format!("cannot be written: {e}"));
    let before = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
    let path = match std::fs::metadata(path) {
        // Renaming onto a device or a pipe would put a file in its place.
        Ok(there) if !there.is_file() && !there.is_dir() => {
            let mut out = std::fs::OpenOptions::new().write(true).open(path).map_err(fail)?;
            return fill(&mut out).and_then(|()| out.flush()).map_err(fail);
        }
        // And onto a link, in place of the link.
        Ok(_) => &std::fs::canonicalize(path).map_err(fail)?,
        Err(_) => path,
    };
    // Beside the target, so that the last step is a rename within one file system.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mustlink-").suffix(".part");
    // A result is an ordinary file, as open to others as the umask of its owner lets it be.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut part = builder.tempfile_in(folder_of(path)).map_err(fail)?;
    if let Some(before) = before {
        // Before anything stands in it: what its owner closed to others stays closed.
        part.as_file().set_permissions(before.permissions()).map_err(fail)?;
    }
    fill(&mut part).map_err(fail)?;
    part.as_file().sync_all().map_err(fail)?;
    part.persist(path).map(drop).map_err(|e| fail(e.error))
}

/// Writes a text whole or not at all; `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_text(path: &str, text: &str) -> Result<()> {
    write(Path::new(path), text.as_bytes())
}

/// Writes rows of cells as CSV; `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_rows<R>(path: &str, rows: impl IntoIterator<Item = R>) -> Result<()>
where
    R: IntoIterator<Item: AsRef<[u8]>>,
{
    let fill = |out: &mut dyn Write| {
        let mut out = csv::Writer::from_writer(out);
        // A plain `?` would lose the kind of the error, such as a closed pipe.
        let cause = |e: csv::Error| match e.into_kind() {
            csv::ErrorKind::Io(e) => e,
            kind => io::Error::other(format!("{kind:?}")),
        };
        rows.into_iter().try_for_each(|row| out.write_record(row)).map_err(cause)?;
        out.flush()
    };
    write_with(Path::new(path), Box::new(fill))
}

/// Checks that a file with this name could be written.
///
/// # Errors
/// `Data` when it could not.
pub fn check_writable(path: &Path) -> Result<()> {
    let fail = |e: io::Error| bad(shown(path), format!("cannot be written: {e}"));
    // Opening a pipe waits for its reader.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    tempfile::tempfile_in(folder_of(path)).map(drop).map_err(fail)
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn who_may_read_a_file_is_for_its_owner_to_say() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777
        };
        let file = dir.path().join("file");
        std::fs::write(dir.path().join("usual"), "").unwrap();
        write(&file, b"new").unwrap();
        assert_eq!(mode("file"), mode("usual"));
        for own in [0o600, 0o640, 0o664] {
            std::fs::set_permissions(&file, Permissions::from_mode(own)).unwrap();
            write(&file, b"again").unwrap();
            assert_eq!(mode("file"), own, "{own:o}");
        }
    }

    #[test]
    fn a_link_and_a_pipe_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");

        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        write(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
    }
}
