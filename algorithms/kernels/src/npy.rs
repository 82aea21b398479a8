//! How are rows read from a file that does not fit into memory?
//!
//! An NPY file is a short header and then the values, row by row. Rows are read where they stand,
//! a few at a time. A mapping of the file into memory would save a copy, but every page that was
//! looked at would count as memory of the process, up to the whole file, for schedulers too; and a
//! file that another program cuts off would end the process instead of giving an error.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use mustlink_core::{Error, Result};
use ndarray::Array2;

/// Longest header that is read.
const HEADER: usize = 1 << 16;

/// The rows of an NPY file: a matrix of little-endian `f8` or `f4` in C order.
#[derive(Debug)]
pub struct NpyRows {
    file: File,
    path: PathBuf,
    n: usize,
    d: usize,
    /// Bytes of a value: 8 or 4.
    width: usize,
    /// Where the values begin.
    offset: u64,
}

impl NpyRows {
    /// Reads the header.
    ///
    /// # Errors
    /// `Data` naming the file and what is wrong with it; `EmptyData`; `TooLarge`.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| bad(path, e))?;
        let mut start = [0; 12];
        file.read_exact(&mut start[..10]).map_err(|_| bad(path, "is not an NPY file"))?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(bad(path, "is not an NPY file"));
        }
        let (length, offset) = match start[6] {
            1 => (u16::from_le_bytes([start[8], start[9]]) as usize, 10),
            2 | 3 => {
                file.read_exact(&mut start[10..]).map_err(|e| bad(path, e))?;
                let bytes = [start[8], start[9], start[10], start[11]];
                (u32::from_le_bytes(bytes) as usize, 12)
            }
            version => return Err(bad(path, format!("NPY version {version} is not known"))),
        };
        if length > HEADER {
            return Err(bad(path, "its header is too long"));
        }
        let mut header = vec![0; length];
        file.read_exact(&mut header).map_err(|e| bad(path, e))?;
        let header = String::from_utf8_lossy(&header);
        let width = match value(&header, "descr") {
            Some(v) if v.starts_with("'<f8'") => 8,
            Some(v) if v.starts_with("'<f4'") => 4,
            other => {
                let found = other.map_or("", |v| v.split(',').next().unwrap_or(""));
                return Err(bad(path, format!("values must be '<f8' or '<f4', got {found}")));
            }
        };
        if !value(&header, "fortran_order").is_some_and(|v| v.starts_with("False")) {
            return Err(bad(path, "must be in C order: save numpy.ascontiguousarray(x)"));
        }
        let shape = value(&header, "shape")
            .and_then(|v| v.strip_prefix('(')?.split_once(')').map(|(inside, _)| inside));
        let sizes: Option<Vec<usize>> = shape.and_then(|s| {
            s.split(',').map(str::trim).filter(|v| !v.is_empty()).map(|v| v.parse().ok()).collect()
        });
        let Some(&[n, d]) = sizes.as_deref() else {
            let found = shape.unwrap_or("nothing");
            return Err(bad(path, format!("must hold a matrix of two axes, got shape ({found})")));
        };
        if n == 0 || d == 0 {
            return Err(Error::EmptyData);
        }
        if n >= u32::MAX as usize {
            return Err(Error::TooLarge { n });
        }
        let offset = (offset + length) as u64;
        let wanted = (n as u64)
            .checked_mul(d as u64)
            .and_then(|values| values.checked_mul(width as u64)?.checked_add(offset));
        let found = file.metadata().map_err(|e| bad(path, e))?.len();
        if wanted != Some(found) {
            let message = format!("{found} bytes do not hold {n} × {d} values; is it cut off?");
            return Err(bad(path, message));
        }
        Ok(NpyRows { file, path: path.into(), n, d, width, offset })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn d(&self) -> usize {
        self.d
    }

    /// The rows of a range, in order.
    ///
    /// # Errors
    /// `Data` when the file cannot be read; `NonFinite`.
    pub fn block(&mut self, rows: Range<usize>) -> Result<Array2<f64>> {
        let mut out = Vec::with_capacity(rows.len() * self.d);
        self.append(rows.clone(), &mut out)?;
        Ok(Array2::from_shape_vec((rows.len(), self.d), out).expect("rows × d values"))
    }

    /// These rows, in this order; neighbours in the list that are neighbours in the file are read
    /// together.
    ///
    /// # Errors
    /// As [`NpyRows::block`].
    pub fn rows(&mut self, rows: &[usize]) -> Result<Array2<f64>> {
        let mut out = Vec::with_capacity(rows.len() * self.d);
        let mut at = 0;
        while at < rows.len() {
            let mut end = at + 1;
            while end < rows.len() && rows[end] == rows[end - 1] + 1 {
                end += 1;
            }
            self.append(rows[at]..rows[end - 1] + 1, &mut out)?;
            at = end;
        }
        Ok(Array2::from_shape_vec((rows.len(), self.d), out).expect("rows × d values"))
    }

    fn append(&mut self, rows: Range<usize>, out: &mut Vec<f64>) -> Result<()> {
        let path = &self.path;
        let stride = self.d * self.width;
        let mut bytes = vec![0; rows.len() * stride];
        let from = self.offset + (rows.start * stride) as u64;
        self.file.seek(SeekFrom::Start(from)).map_err(|e| bad(path, e))?;
        self.file.read_exact(&mut bytes).map_err(|e| bad(path, e))?;
        let first = out.len();
        match self.width {
            8 => out.extend(
                bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes"))),
            ),
            _ => out.extend(
                bytes
                    .chunks_exact(4)
                    .map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("4 bytes")))),
            ),
        }
        match out[first..].iter().position(|v| !v.is_finite()) {
            Some(at) => Err(Error::NonFinite { row: rows.start + at / self.d, col: at % self.d }),
            None => Ok(()),
        }
    }
}

/// What follows a key in the header.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))?;
    header[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
}

fn bad(path: &Path, message: impl ToString) -> Error {
    Error::Data { place: path.display().to_string(), message: message.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, bytes: &[u8]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("npy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
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
        let path = written("a.npy", &file(MATRIX, &f8(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])));
        let mut npy = NpyRows::open(&path).unwrap();
        assert_eq!((npy.n(), npy.d()), (3, 2));
        assert_eq!(npy.block(1..3).unwrap(), ndarray::array![[2.0, 3.0], [4.0, 5.0]]);
        let some = npy.rows(&[2, 0, 1, 1]).unwrap();
        assert_eq!(some, ndarray::array![[4.0, 5.0], [0.0, 1.0], [2.0, 3.0], [2.0, 3.0]]);
        let single: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
        let path = written("b.npy", &file(header, &single));
        assert_eq!(
            NpyRows::open(&path).unwrap().block(0..1).unwrap(),
            ndarray::array![[1.5, -2.0]]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |name: &str, bytes: &[u8]| {
            let path = written(name, bytes);
            let error = NpyRows::open(&path).unwrap_err().to_string();
            error.replace(&path.display().to_string(), "x.npy")
        };
        assert_eq!(message("c.npy", b"PK"), "x.npy: is not an NPY file");
        let header = MATRIX.replace("<f8", "<i8");
        assert_eq!(
            message("d.npy", &file(&header, &[])),
            "x.npy: values must be '<f8' or '<f4', got '<i8'"
        );
        let header = MATRIX.replace("False", "True");
        assert_eq!(
            message("e.npy", &file(&header, &[])),
            "x.npy: must be in C order: save numpy.ascontiguousarray(x)"
        );
        let header = MATRIX.replace("(3, 2)", "(3,)");
        assert_eq!(
            message("f.npy", &file(&header, &[])),
            "x.npy: must hold a matrix of two axes, got shape (3,)"
        );
        assert_eq!(
            message("g.npy", &file(MATRIX, &f8(&[0.0; 5]))),
            "x.npy: 110 bytes do not hold 3 × 2 values; is it cut off?"
        );
        let header = MATRIX.replace("(3, 2)", "(99999999999999999, 9999999999999)");
        assert!(NpyRows::open(&written("h.npy", &file(&header, &[]))).is_err());
        let path = written("i.npy", &file(MATRIX, &f8(&[0.0, 1.0, 2.0, f64::NAN, 4.0, 5.0])));
        let error = NpyRows::open(&path).unwrap().block(1..3).unwrap_err();
        assert_eq!(error, Error::NonFinite { row: 1, col: 1 });
    }
}
