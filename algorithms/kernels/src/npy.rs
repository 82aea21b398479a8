//! NPY files: headers, vectors of integers, and rows of a matrix that does not fit into memory.
//!
//! An NPY file is a short header and then the values, row by row. [`NpyRows`] maps it into memory and
//! reads blocks of rows in place. Pages that were read count as memory of the process, so they are
//! given back block by block. Rows that are far apart are read by position, because the system would
//! map many pages around each (on Linux this takes three times as long).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use mmap_io::{MemoryMappedFile, MmapAdvice, MmapMode};
use ndarray::Array2;

use mustlink_core::error::{Error, Result};

/// Longest header that is read.
const LONGEST: usize = 1 << 16;
/// The quotes around a word of the header.
const QUOTES: [char; 2] = ['\'', '"'];

/// The dictionary that a file begins with.
struct Header {
    text: String,
    /// Bytes before the values.
    offset: u64,
}

impl Header {
    /// Takes it off the beginning of a file.
    ///
    /// # Errors
    /// Describes the fault in the file.
    fn read(file: &mut impl Read) -> Result<Self, String> {
        let mut start = [0; 12];
        file.read_exact(&mut start[..10]).map_err(|_| "is not an NPY file")?;
        if &start[..6] != b"\x93NUMPY" {
            return Err("is not an NPY file".into());
        }
        let (length, offset) = match start[6] {
            1 => (u16::from_le_bytes([start[8], start[9]]) as usize, 10),
            2 | 3 => {
                file.read_exact(&mut start[10..]).map_err(|e| e.to_string())?;
                let bytes = [start[8], start[9], start[10], start[11]];
                (u32::from_le_bytes(bytes) as usize, 12)
            }
            version => return Err(format!("NPY version {version} is not known")),
        };
        if length > LONGEST {
            return Err("its header is too long".into());
        }
        let mut text = vec![0; length];
        file.read_exact(&mut text).map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Header { text, offset: (offset + length) as u64 })
    }

    /// The text after a key, to the end.
    fn after(&self, key: &str) -> Option<&str> {
        let quoted = QUOTES.map(|quote| format!("{quote}{key}{quote}"));
        let (at, length) =
            quoted.iter().find_map(|q| self.text.find(q.as_str()).map(|at| (at, q.len())))?;
        self.text[at + length..].trim_start().strip_prefix(':').map(str::trim_start)
    }

    /// The type of the values as written, in quotes; empty if it is missing.
    fn descr(&self) -> &str {
        self.after("descr").map_or("", |v| v.split(',').next().unwrap_or(""))
    }

    /// The shape as it stands, without its brackets.
    fn shape_text(&self) -> Option<&str> {
        self.after("shape")?.strip_prefix('(')?.split_once(')').map(|(inside, _)| inside)
    }

    /// The length of each axis.
    fn shape(&self) -> Option<Vec<usize>> {
        let sizes = self.shape_text()?.split(',').map(str::trim);
        sizes.filter(|v| !v.is_empty()).map(|v| v.parse().ok()).collect()
    }
}

/// Writes magic, version and dictionary of a file with values of this type and shape.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_header(out: &mut dyn Write, kind: &str, shape: &[usize]) -> io::Result<()> {
    let shape = match shape {
        [n] => format!("({n},)"),
        shape => {
            format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version, length and text together are a multiple of 64 bytes.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// The content of a file that holds one dimension of little-endian integers; `None` for any other.
pub fn integers(bytes: &[u8]) -> Option<Vec<i64>> {
    let mut body = bytes;
    let header = Header::read(&mut body).ok()?;
    let &[count] = header.shape()?.as_slice() else { return None };
    let kind = header.descr().trim_start_matches(QUOTES).split(QUOTES).next()?;
    let (signed, width) = match kind {
        "|i1" => (true, 1),
        "|u1" => (false, 1),
        "<i2" => (true, 2),
        "<u2" => (false, 2),
        "<i4" => (true, 4),
        "<u4" => (false, 4),
        "<i8" => (true, 8),
        "<u8" => (false, 8),
        _ => return None,
    };
    if count.checked_mul(width)? != body.len() {
        return None;
    }
    let number = |item: &[u8]| {
        let negative = signed && item[width - 1] >= 128;
        let mut wide = [if negative { 255 } else { 0 }; 8];
        wide[..width].copy_from_slice(item);
        i64::from_le_bytes(wide)
    };
    Some(body.chunks_exact(width).map(number).collect())
}

/// From so many bytes on, neighbours are taken from the map.
const BLOCK: usize = 1 << 16;
/// Bytes of the map that are in memory at a time, unless a single row is longer.
pub const RESIDENT: usize = 8 << 20;

/// The rows of an NPY file: a matrix of little-endian `f8` or `f4` in C order.
///
/// The file must stay as it is: an error says that it was cut off before rows were asked for, but
/// cutting it off while they are copied ends the process, as with every map.
#[derive(Debug)]
pub struct NpyRows {
    map: MemoryMappedFile,
    file: File,
    path: PathBuf,
    n: usize,
    d: usize,
    /// Bytes of a value: 8 or 4.
    width: usize,
    /// The place of the first value.
    offset: u64,
}

impl NpyRows {
    /// Reads the header.
    ///
    /// # Errors
    /// `Data` naming the file and what is wrong with it; `EmptyData`; `TooLarge`.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| bad(path, e))?;
        let header = Header::read(&mut file).map_err(|message| bad(path, message))?;
        let width = match header.descr() {
            v if v.starts_with("'<f8'") => 8,
            v if v.starts_with("'<f4'") => 4,
            found => {
                let message = format!(
                    "values must be '<f8' or '<f4', got {found}: save x.astype(\"float64\")"
                );
                return Err(bad(path, message));
            }
        };
        if !header.after("fortran_order").is_some_and(|v| v.starts_with("False")) {
            return Err(bad(path, "must be in C order: save numpy.ascontiguousarray(x)"));
        }
        let Some(&[n, d]) = header.shape().as_deref() else {
            let found = header.shape_text().unwrap_or("nothing");
            let message = format!(
                "must contain a matrix with one row per object, got shape ({found}); for one feature, save \
                 x.reshape(-1, 1)"
            );
            return Err(bad(path, message));
        };
        if n == 0 || d == 0 {
            return Err(Error::EmptyData);
        }
        if n >= u32::MAX as usize {
            return Err(Error::TooLarge { n });
        }
        let offset = header.offset;
        let wanted = (n as u64)
            .checked_mul(d as u64)
            .and_then(|values| values.checked_mul(width as u64)?.checked_add(offset));
        let found = file.metadata().map_err(|e| bad(path, e))?.len();
        if wanted != Some(found) {
            let message = format!("{found} bytes do not hold {n} × {d} values; is it cut off?");
            return Err(bad(path, message));
        }
        // The file that was just read, whatever its name stands for by now.
        let same = file.try_clone().map_err(|e| bad(path, e))?;
        let map = MemoryMappedFile::from_file(same, MmapMode::ReadOnly, path);
        let map = map.map_err(|e| bad(path, e))?;
        Ok(NpyRows { map, file, path: path.into(), n, d, width, offset })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.d
    }

    /// These rows, in this order.
    ///
    /// # Errors
    /// `Data` when the file cannot be read or its length has changed; `NonFinite`.
    ///
    /// # Panics
    /// When a row does not exist.
    pub fn rows(&mut self, rows: &[usize]) -> Result<Array2<f64>> {
        let blocks = rows.chunk_by(|a, b| a + 1 == *b).map(|b| b[0]..b[0] + b.len());
        self.copied(blocks, rows.len())
    }

    /// All rows.
    ///
    /// # Errors
    /// Returns the errors of [`rows`](Self::rows).
    pub fn all(&mut self) -> Result<Array2<f64>> {
        self.copied(std::iter::once(0..self.n), self.n)
    }

    fn copied(
        &mut self,
        blocks: impl Iterator<Item = Range<usize>>,
        n: usize,
    ) -> Result<Array2<f64>> {
        self.unchanged()?;
        let (mut values, mut buffer) = (Vec::with_capacity(n * self.d), vec![]);
        let length = self.d * self.width;
        for block in blocks {
            for start in block.clone().step_by((RESIDENT / length).max(1)) {
                let part = start..block.end.min(start + (RESIDENT / length).max(1));
                let first = values.len();
                let at = self.bytes(part.clone());
                if part.len() * length < BLOCK {
                    buffer.resize(part.len() * length, 0);
                    self.file
                        .seek(SeekFrom::Start(at.start))
                        .and_then(|_| self.file.read_exact(&mut buffer))
                        .map_err(|e| bad(&self.path, e))?;
                    self.append(&buffer, &mut values);
                } else {
                    let size = at.end - at.start;
                    let mapped = self.map.as_slice_bytes(at.start, size);
                    self.append(mapped.map_err(|e| bad(&self.path, e))?, &mut values);
                    // A system without this advice holds more.
                    self.map.advise(at.start, size, MmapAdvice::DontNeed).ok();
                }
                if let Some(at) = values[first..].iter().position(|v| !v.is_finite()) {
                    let place =
                        Error::NonFinite { row: part.start + at / self.d, col: at % self.d };
                    return Err(place.at(&self.path.display().to_string()));
                }
            }
        }
        Ok(Array2::from_shape_vec((n, self.d), values).expect("rows × d values"))
    }

    fn append(&self, bytes: &[u8], values: &mut Vec<f64>) {
        match self.width {
            8 => values.extend(bytes.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b))),
            _ => {
                values.extend(bytes.as_chunks().0.iter().map(|&b| f64::from(f32::from_le_bytes(b))))
            }
        }
    }

    /// The bytes of these rows.
    fn bytes(&self, rows: Range<usize>) -> Range<u64> {
        assert!(rows.end <= self.n, "row {} of {}", rows.end - 1, self.n);
        let at = |row: usize| self.offset + (row * self.d * self.width) as u64;
        at(rows.start)..at(rows.end)
    }

    /// Checks that the file was not cut: the lost part is still in the map, but must not be read.
    fn unchanged(&self) -> Result<()> {
        let found = self.file.metadata().map_err(|e| bad(&self.path, e))?.len();
        let wanted = self.bytes(0..self.n).end;
        if found != wanted {
            let message = format!(
                "had {wanted} bytes and now has {found}; it must not change while it is read"
            );
            return Err(bad(&self.path, message));
        }
        Ok(())
    }
}

fn bad(path: &Path, message: impl ToString) -> Error {
    Error::Data { place: path.display().to_string(), message: message.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is removed with the handle.
    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn file(header: &str, values: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = format!("{header:<53}\n");
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    fn f8(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    const MATRIX: &str = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }";

    #[test]
    fn rows_are_read_where_they_stand() {
        let source = written(&file(MATRIX, &f8(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])));
        let mut npy = NpyRows::open(source.path()).unwrap();
        assert_eq!((npy.n(), npy.d()), (3, 2));
        assert_eq!(npy.rows(&[1, 2]).unwrap(), ndarray::array![[2.0, 3.0], [4.0, 5.0]]);
        let some = npy.rows(&[2, 0, 1, 1]).unwrap();
        assert_eq!(some, ndarray::array![[4.0, 5.0], [0.0, 1.0], [2.0, 3.0], [2.0, 3.0]]);
        let single: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
        let source = written(&file(header, &single));
        assert_eq!(
            NpyRows::open(source.path()).unwrap().rows(&[0]).unwrap(),
            ndarray::array![[1.5, -2.0]]
        );
    }

    /// A matrix of 16 columns, whose values count up.
    fn counting(rows: usize) -> (tempfile::NamedTempFile, NpyRows) {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 16), }}");
        let values: Vec<f64> = (0..16 * rows).map(|v| v as f64).collect();
        let file = written(&file(&header, &f8(&values)));
        let npy = NpyRows::open(file.path()).unwrap();
        (file, npy)
    }

    #[test]
    fn more_rows_than_are_held_at_a_time() {
        let n = 2 * RESIDENT / 128;
        let (_file, mut npy) = counting(n);
        let apart: Vec<usize> = (0..n).step_by(7).chain([n - 1, 0]).collect();
        for rows in [(0..n).collect(), apart] {
            let found = npy.rows(&rows).unwrap();
            assert_eq!(found.nrows(), rows.len());
            for (i, row) in rows.iter().zip(found.rows()) {
                assert!(row.iter().enumerate().all(|(f, &v)| v == (16 * i + f) as f64), "{i}");
            }
        }
    }

    #[test]
    fn pages_are_given_back() {
        // KiB of files in the memory of this process, where the system tells.
        let held = || -> Option<usize> {
            let status = std::fs::read_to_string("/proc/self/status").ok()?;
            let line = status.lines().find_map(|l| l.strip_prefix("RssFile:"))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let n = 4 * RESIDENT / 128;
        let (_file, mut npy) = counting(n);
        let all: Vec<usize> = (0..n).collect();
        let before = held();
        npy.rows(&all).unwrap();
        // Code of other tests that became resident counts too.
        if let (Some(before), Some(after)) = (before, held()) {
            assert!(after < before + 2 * RESIDENT / 1024, "{before} {after}");
        }
    }

    // Elsewhere a file that is mapped cannot be cut off.
    #[cfg(unix)]
    #[test]
    fn a_file_that_changes_its_length_is_an_error() {
        let (_file, mut npy) = counting(100);
        let whole = npy.bytes(0..100).end;
        let file = std::fs::OpenOptions::new().write(true).open(&npy.path).unwrap();
        for length in [whole - 1, whole + 8, 0] {
            file.set_len(length).unwrap();
            let error = npy.rows(&[3]).unwrap_err().to_string();
            let message = format!(
                "had {whole} bytes and now has {length}; it must not change while it is read"
            );
            assert_eq!(error, format!("{}: {message}", npy.path.display()));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |bytes: &[u8]| {
            let source = written(bytes);
            let error = NpyRows::open(source.path()).unwrap_err().to_string();
            error.replace(&source.path().display().to_string(), "x.npy")
        };
        assert_eq!(message(b"PK"), "x.npy: is not an NPY file");
        let header = MATRIX.replace("<f8", "<i8");
        assert_eq!(
            message(&file(&header, &[])),
            "x.npy: values must be '<f8' or '<f4', got '<i8': save x.astype(\"float64\")"
        );
        let header = MATRIX.replace("False", "True");
        assert_eq!(
            message(&file(&header, &[])),
            "x.npy: must be in C order: save numpy.ascontiguousarray(x)"
        );
        let header = MATRIX.replace("(3, 2)", "(3,)");
        assert_eq!(
            message(&file(&header, &[])),
            "x.npy: must contain a matrix with one row per object, got shape (3,); for one feature, save \
             x.reshape(-1, 1)"
        );
        assert_eq!(
            message(&file(MATRIX, &f8(&[0.0; 5]))),
            "x.npy: 110 bytes do not hold 3 × 2 values; is it cut off?"
        );
        let header = MATRIX.replace("(3, 2)", "(99999999999999999, 9999999999999)");
        assert!(NpyRows::open(written(&file(&header, &[])).path()).is_err());
        let source = written(&file(MATRIX, &f8(&[0.0, 1.0, 2.0, f64::NAN, 4.0, 5.0])));
        let error = NpyRows::open(source.path()).unwrap().rows(&[1, 2]).unwrap_err();
        assert_eq!(*error.root(), Error::NonFinite { row: 1, col: 1 });
    }
}
