//! Data sets: files of objects, constraints, labels and partitions.
//!
//! [`open`] reads CSV, Matrix Market and NumPy files. [`builtin_names`] lists the data sets that are part of the
//! program.

#[doc(hidden)]
pub use mustlink_datasets::*;

/// A data set: objects and, if they are known, their ids, classes and names of features.
///
/// ```
/// use mustlink::datasets::{Classes, Dataset, OpenOptions, Reading, open};
///
/// # fn main() -> mustlink::Result<()> {
/// let iris: Dataset = open("iris", &OpenOptions::default())?;
/// assert_eq!((iris.n(), iris.d(), iris.k()), (150, 4, Some(3)));
/// let classes: &Classes = iris.classes.as_ref().expect("they are known");
/// assert_eq!(classes.sizes(), [50, 50, 50]);
///
/// // A file of one's own.
/// let path = std::env::temp_dir().join(format!("mine-{}.csv", std::process::id()));
/// std::fs::write(&path, "name,x,y,kind\na,1,2,p\nb,3,4,q\nc,5,6,p\n").expect("a file");
/// let options = OpenOptions {
///     id_column: Some("name".into()),
///     class_column: Some("kind".into()),
///     ..OpenOptions::default()
/// };
/// let mine = open(&path.display().to_string(), &options)?;
/// assert_eq!((mine.n(), mine.d(), mine.id(2)), (3, 2, "c".to_string()));
/// let Reading { class, .. } = &mine.reading;
/// assert_eq!(class.as_deref(), Some("kind"));
/// std::fs::remove_file(&path).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_datasets::Dataset;
#[doc(inline)]
pub use mustlink_datasets::{Classes, OpenOptions, Reading, open};

/// Lists the data sets that can be opened by name.
///
/// ```
/// use mustlink::datasets::{Listing, OpenOptions, Origin, available};
///
/// # fn main() -> mustlink::Result<()> {
/// let sets: Vec<Listing> = available(&OpenOptions::default())?;
/// let iris = sets.iter().find(|set| set.name == "iris").expect("it is built in");
/// assert!(matches!(iris.origin, Origin::BuiltIn));
/// assert_eq!(iris.n, Some(150));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_datasets::available;
#[doc(inline)]
pub use mustlink_datasets::{Listing, Origin};

/// Lists the built-in data sets.
///
/// ```
/// assert!(mustlink::datasets::builtin_names().any(|name| name == "wdbc"));
/// ```
#[doc(inline)]
pub use mustlink_datasets::builtin_names;

/// Reads constraints from a CSV file.
///
/// ```
/// use mustlink::datasets::{OpenOptions, open, read_constraints, write_constraints};
/// use mustlink::{Constraint, Constraints};
///
/// # fn main() -> mustlink::Result<()> {
/// let iris = open("iris", &OpenOptions::default())?;
/// let known = Constraints::new(150, [Constraint::must(0, 1), Constraint::cannot(1, 149)])?;
/// let path = std::env::temp_dir().join(format!("constraints-{}.csv", std::process::id()));
/// let path = path.display().to_string();
/// write_constraints(&path, &known, &iris, false)?;
/// assert_eq!(read_constraints(&path, &iris, false)?.pairs(), known.pairs());
/// std::fs::remove_file(&path).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_datasets::read_constraints;
#[doc(inline)]
pub use mustlink_datasets::write_constraints;

/// Reads one label per object from a CSV file.
///
/// ```
/// use mustlink::datasets::{LabelColumn, OpenOptions, open, read_labels, write_labels};
///
/// # fn main() -> mustlink::Result<()> {
/// let iris = open("iris", &OpenOptions::default())?;
/// let path = std::env::temp_dir().join(format!("labels-{}.csv", std::process::id()));
/// let path = path.display().to_string();
/// let labels: Vec<Option<u32>> = (0..150).map(|i| Some(i / 50)).collect();
/// write_labels(&path, &iris, &labels)?;
/// let read: LabelColumn = read_labels(&path, None, None)?;
/// assert_eq!(read.labels.sizes(), [50, 50, 50]);
/// std::fs::remove_file(&path).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_datasets::read_labels;
#[doc(inline)]
pub use mustlink_datasets::{LabelColumn, write_labels};

#[doc(inline)]
pub use mustlink_datasets::Partitions;
/// Reads an ensemble from a CSV file that has one partition per column.
///
/// ```
/// use mustlink::datasets::{Partitions, read_partitions};
///
/// # fn main() -> mustlink::Result<()> {
/// let path = std::env::temp_dir().join(format!("partitions-{}.csv", std::process::id()));
/// std::fs::write(&path, "a,b\n0,x\n0,x\n1,\n").expect("a file");
/// let Partitions { ensemble, .. } = read_partitions(&path.display().to_string(), None, None, &[], None)?;
/// assert_eq!((ensemble.n(), ensemble.len()), (3, 2));
/// std::fs::remove_file(&path).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_datasets::read_partitions;
