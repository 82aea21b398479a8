//! The exchange of arrays with programs in another language: NumPy files in a temporary folder.
//!
//! A [`Scratch`] is that folder, gone with its handle. [`Scratch::problem`] writes everything a
//! method may see of a problem and describes it as JSON; [`labels`] reads labels back.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use mustlink_core::kind::{self, Described};
use serde_json::{Value, json};

use crate::parts::running;
use mustlink_core::data::{DataKind, Row};
use mustlink_core::error::{Error, Result};
use mustlink_core::problem::Problem;
use mustlink_kernels::npy::{integers, write_header};

/// Reason why options of a program change nothing on the small problems of the laws.
pub(crate) const INERT_FACT: &str = "a fact that the program declares, or a limit that it keeps";

/// Value of an option that a program defines itself. A list of values gives several methods.
#[derive(Described)]
#[serde(untagged)]
#[allow(dead_code)] // Its schema is all there is to it.
pub enum PlainValue {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A folder for files that are handed to another program, removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        running::close_folder(self.path());
    }
}

fn trouble(path: &Path, e: &io::Error) -> Error {
    Error::Data { place: path.display().to_string(), message: e.to_string() }
}

impl Scratch {
    /// A new empty folder.
    ///
    /// # Errors
    /// `Data` where the system gives none.
    pub fn new() -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(running::PREFIX);
        // The data is nobody else's business.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let dir = running::open_folder(&builder).map_err(|e| trouble(&std::env::temp_dir(), &e))?;
        Ok(Scratch { dir })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    fn file(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String> {
        let path = self.dir.path().join(name);
        let write = || {
            let mut out = BufWriter::new(File::create(&path)?);
            fill(&mut out)?;
            out.flush()
        };
        write().map_err(|e| trouble(&path, &e))?;
        Ok(path.display().to_string())
    }

    /// Writes unsigned numbers as a NumPy vector of 64-bit integers; gives the path.
    ///
    /// # Errors
    /// `Data` when the file cannot be written.
    pub fn integers(
        &self,
        name: &str,
        values: impl ExactSizeIterator<Item = u64>,
    ) -> Result<String> {
        self.file(name, |out| {
            write_header(out, "<i8", &[values.len()])?;
            values.into_iter().try_for_each(|v| out.write_all(&(v as i64).to_le_bytes()))
        })
    }

    fn floats(&self, name: &str, values: &[f64]) -> Result<String> {
        self.file(name, |out| {
            write_header(out, "<f8", &[values.len()])?;
            values.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
        })
    }

    /// Writes the data of `problem`: `{"kind": "dense", "values": path}`, `distances` and
    /// `affinity` likewise, or `{"kind": "csr", "indptr", "indices", "values", "columns"}`.
    ///
    /// # Errors
    /// `Data` when a file cannot be written.
    pub fn data(&self, problem: &Problem) -> Result<Value> {
        let (data, n) = (&problem.data, problem.n());
        let kind = data.kind();
        if kind == DataKind::Csr {
            let (mut ends, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..n {
                if let Row::Sparse(c, v) = data.row(i) {
                    columns.extend(c.iter().map(|&c| u64::from(c)));
                    values.extend_from_slice(v);
                }
                ends.push(columns.len() as u64);
            }
            return Ok(json!({
                "kind": kind.name(),
                "indptr": self.integers("indptr.npy", ends.into_iter())?,
                "indices": self.integers("indices.npy", columns.into_iter())?,
                "values": self.floats("values.npy", &values)?,
                "columns": problem.d(),
            }));
        }
        let width = if kind == DataKind::Dense { problem.d() } else { n };
        let path = self.file("data.npy", |out| {
            write_header(out, "<f8", &[n, width])?;
            for i in 0..n {
                match kind {
                    DataKind::Dense => {
                        if let Row::Dense(x) = data.row(i) {
                            x.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))?;
                        }
                    }
                    _ => (0..n).try_for_each(|j| out.write_all(&data.pair(i, j).to_le_bytes()))?,
                }
            }
            Ok(())
        })?;
        Ok(json!({ "kind": kind.name(), "values": path }))
    }

    /// Writes all a method may see of `problem`: `n`, `d`, `k`, `data`, `constraints` (a CSV
    /// `i,j,type,weight`), `neighbourhoods` (lists of objects) and `eligible` (a NumPy vector of
    /// object numbers; absent: all).
    ///
    /// # Errors
    /// `Data` when a file cannot be written.
    pub fn problem(&self, problem: &Problem) -> Result<Value> {
        let constraints =
            self.file("constraints.csv", |out| {
                writeln!(out, "i,j,type,weight")?;
                problem.constraints.pairs().iter().try_for_each(|c| {
                    writeln!(out, "{},{},{},{}", c.i, c.j, c.kind.name(), c.weight)
                })
            })?;
        let eligible = match &problem.eligible {
            None => Value::Null,
            Some(_) => {
                let objects = problem.eligible_objects().into_iter().map(u64::from);
                self.integers("eligible.npy", objects)?.into()
            }
        };
        Ok(json!({
            "n": problem.n(),
            "d": problem.d(),
            "k": problem.k,
            "data": self.data(problem)?,
            "constraints": constraints,
            "neighbourhoods": problem.constraints.neighbourhoods(),
            "eligible": eligible,
            "directory": self.path().display().to_string(),
        }))
    }
}

/// Bytes in front of the numbers of a NumPy file.
const LONGEST_HEADER: u64 = 65_536;

/// The labels in a reply: a list of whole numbers, or the path of a NumPy vector of integers (seen
/// from `scratch`, and within it). One in `0..n` for each of `n` objects.
///
/// # Errors
/// Describes the fault.
pub fn labels(value: &Value, n: usize, scratch: &Path) -> Result<Vec<u32>, String> {
    let numbers: Vec<i64> = match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, v)| {
                v.as_i64().ok_or_else(|| format!("label {v} of object {i} is not an integer"))
            })
            .collect::<Result<_, _>>()?,
        Value::String(path) => {
            let path = scratch.join(path);
            read_integers(&path, n, scratch).map_err(|e| format!("{}: {e}", path.display()))?
        }
        _ => return Err("no \"labels\": a list of integers, or the path of a .npy file".into()),
    };
    if let Some((i, l)) = numbers.iter().enumerate().find(|(_, l)| !(0..n as i64).contains(l)) {
        return Err(format!(
            "label {l} of object {i} is not between 0 and {}; no label may be missing",
            n - 1
        ));
    }
    Ok(numbers.into_iter().map(|l| l as u32).collect())
}

/// Reads a vector of `n` numbers: an ordinary file of its size within `scratch`, so that nothing waits for
/// a pipe, reads a device, or fills the memory.
fn read_integers(path: &Path, n: usize, scratch: &Path) -> Result<Vec<i64>, String> {
    let inside = |path: &Path| {
        let (path, scratch) = (path.canonicalize()?, scratch.canonicalize()?);
        Ok(path.starts_with(&scratch).then_some(path))
    };
    let Some(path) = inside(path).map_err(|e: io::Error| e.to_string())? else {
        return Err(format!("lies outside of the folder for it, {}", scratch.display()));
    };
    let facts = path.metadata().map_err(|e| e.to_string())?;
    if !facts.is_file() {
        return Err("is not a regular file".into());
    }
    let most = 8 * n as u64 + LONGEST_HEADER;
    if facts.len() > most {
        return Err(format!("{} bytes, more than the {most} of {n} labels", facts.len()));
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|f| f.take(most).read_to_end(&mut bytes));
    read.map_err(|e| e.to_string())?;
    integers(&bytes).ok_or_else(|| "not a NumPy vector of little-endian integers".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::constraints::{Constraint, Constraints};
    use mustlink_core::data::{Csr, Data};
    use ndarray::array;

    #[test]
    fn integers_come_back() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.integers("x.npy", [0, 3, 1].into_iter()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len() % 8, 0);
        assert_eq!((bytes.len() - 24) % 64, 0);
        assert_eq!(integers(&bytes), Some(vec![0, 3, 1]));
        assert_eq!(labels(&json!("x.npy"), 4, scratch.path()), Ok(vec![0, 3, 1]));
        for cut in 0..bytes.len() {
            assert_eq!(integers(&bytes[..cut]), None, "{cut} bytes");
        }
        let narrow: Vec<u8> = bytes.iter().copied().take(bytes.len() - 24).collect();
        let text = String::from_utf8_lossy(&narrow[10..]).replace("<i8", "|i1");
        let mut one_byte = narrow[..10].to_vec();
        one_byte.extend(text.bytes());
        one_byte.extend([255, 0, 127]);
        assert_eq!(integers(&one_byte), Some(vec![-1, 0, 127]));
        let gone = scratch.path().to_path_buf();
        drop(scratch);
        assert!(!gone.exists());
    }

    #[test]
    fn wrong_labels_are_named() {
        let wrong = |value: Value| labels(&value, 3, Path::new(".")).unwrap_err();
        assert_eq!(
            wrong(json!([0, -1])),
            "label -1 of object 1 is not between 0 and 2; no label may be missing"
        );
        assert_eq!(wrong(json!([0, 0.5])), "label 0.5 of object 1 is not an integer");
        assert!(wrong(json!([4_000_000_000_u64])).contains("not between 0 and 2"));
        assert!(wrong(Value::Null).starts_with("no \"labels\""));
        assert!(wrong(json!("no/such.npy")).starts_with("./no/such.npy: "));
    }

    #[cfg(unix)]
    #[test]
    fn only_ordinary_files_of_the_folder_are_read() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let scratch = Scratch::new().unwrap();
        let here = scratch.path();
        assert_eq!(here.metadata().unwrap().mode() & 0o777, 0o700);
        let wrong = |value: &str| labels(&json!(value), 3, here).unwrap_err();
        assert!(wrong("/dev/zero").contains("lies outside of the folder"));
        symlink("/dev/zero", here.join("link.npy")).unwrap();
        assert!(wrong("link.npy").contains("lies outside of the folder"));
        assert!(wrong("../").contains("lies outside of the folder"));
        let pipe = here.join("pipe.npy");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(wrong("pipe.npy").contains("is not a regular file"));
        File::create(here.join("large.npy")).unwrap().set_len(1 << 40).unwrap();
        assert!(wrong("large.npy").contains("more than the 65560 of 3 labels"));
    }

    #[test]
    fn a_problem_is_described() {
        let scratch = Scratch::new().unwrap();
        let x = array![[1.0, 2.0], [3.0, 4.5], [5.0, 6.0]];
        let constraints = Constraints::new(3, [Constraint::cannot(2, 0).weighing(0.5)]).unwrap();
        let problem = Problem::new(Data::dense(x).unwrap())
            .with_k(2)
            .with_constraints(constraints.with_neighbourhoods(vec![vec![1]]))
            .with_eligible(vec![true, false, true])
            .subset(&[0, 2]);
        let told = scratch.problem(&problem).unwrap();
        assert_eq!((&told["n"], &told["d"], &told["k"]), (&json!(2), &json!(2), &json!(2)));
        let read = |v: &Value| std::fs::read(v.as_str().unwrap()).unwrap();
        let csv = String::from_utf8(read(&told["constraints"])).unwrap();
        assert_eq!(csv, "i,j,type,weight\n0,1,cannot_link,0.5\n");
        let bytes = read(&told["data"]["values"]);
        let values: Vec<f64> = bytes[bytes.len() - 32..]
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
            .collect();
        assert_eq!(values, [1.0, 2.0, 5.0, 6.0]);
        assert!(String::from_utf8_lossy(&bytes).contains("'shape': (2, 2), }"));
        assert_eq!(integers(&read(&told["eligible"])), Some(vec![0, 1]));
    }

    #[test]
    fn sparse_rows_are_three_vectors() {
        let scratch = Scratch::new().unwrap();
        let x = Csr {
            indptr: vec![0, 1, 1, 3],
            indices: vec![4, 0, 2],
            values: vec![1.5, 2.5, 3.5],
            columns: 5,
        };
        let told = scratch.data(&Problem::new(Data::csr(x).unwrap()).subset(&[2, 1])).unwrap();
        let read = |v: &Value| integers(&std::fs::read(v.as_str().unwrap()).unwrap()).unwrap();
        assert_eq!(read(&told["indptr"]), [0, 2, 2]);
        assert_eq!(read(&told["indices"]), [0, 2]);
        assert_eq!((&told["kind"], &told["columns"]), (&json!("csr"), &json!(5)));
    }
}
