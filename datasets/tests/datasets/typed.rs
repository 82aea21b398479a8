//! Parquet files and workbooks. Both were written by pandas and openpyxl, with the same flowers.

use mustlink_datasets::{OpenOptions, open};

fn path(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn message(name: &str, options: &OpenOptions) -> String {
    let opened = open(&path(name), options).and_then(|set| set.require_numbers());
    opened.unwrap_err().to_string().replace(&path(""), "")
}

#[test]
#[cfg(not(feature = "parquet"))]
fn parquet_needs_a_feature() {
    let said = message("flowers.parquet", &OpenOptions::default());
    let expected =
        "is a Parquet file, and this program is built without parquet; save the table as CSV";
    assert_eq!(said, format!("flowers.parquet: {expected}"));
}

#[test]
#[cfg(not(feature = "xlsx"))]
fn workbooks_need_a_feature() {
    let said = message("flowers.xlsx", &OpenOptions::default());
    let expected = "is a workbook or another ZIP archive, and this program is built without xlsx; save the sheet as CSV";
    assert_eq!(said, format!("flowers.xlsx: {expected}"));
}

#[cfg(any(feature = "parquet", feature = "xlsx"))]
mod read {
    use super::*;
    use mustlink_datasets::Dataset;

    fn options(ignore: &[&str]) -> OpenOptions {
        OpenOptions {
            id_column: Some("id".into()),
            ignore: ignore.iter().map(ToString::to_string).collect(),
            ..OpenOptions::default()
        }
    }

    /// The parts that both files share.
    fn check(set: &Dataset, last_class: &str) {
        assert_eq!((set.name.as_str(), set.n(), set.k()), ("flowers", 4, Some(3)));
        let ids: Vec<String> = (0..4).map(|i| set.id(i)).collect();
        assert_eq!(ids, ["17", "4", "9", "23"]);
        let classes = set.classes.as_ref().unwrap();
        assert_eq!((classes.of(0), classes.of(3)), (Some("setosa"), Some(last_class)));
    }

    #[test]
    #[cfg(feature = "parquet")]
    fn parquet_is_read_like_a_csv() {
        let set = open(&path("flowers.parquet"), &options(&["petal width"])).unwrap();
        check(&set, "versi\ncolor, or \"so\"");
        assert_eq!(set.feature_names, ["petal length", "half", "is_wild"]);
        let x = set.data.as_array().unwrap();
        assert_eq!(x.row(0).to_vec(), [1.4, f64::from(0.1_f32), 1.0]);
        assert_eq!(x.row(3).to_vec(), [4.5, 3.25, 1.0]);
        let said = message("flowers.parquet", &options(&[]));
        assert!(said.contains("1 value is missing: line 3, column \"petal width\""), "{said}");
        let comma = OpenOptions { decimal: Some(','), ..options(&[]) };
        let expected = "flowers.parquet: is not a CSV, and --decimal is for CSV files only";
        assert_eq!(message("flowers.parquet", &comma), expected);
        let said = message("zstd.parquet", &options(&[]));
        assert!(
            said.ends_with("save the file with the compression snappy, gzip or none"),
            "{said}"
        );
    }

    /// It is refused, not half read.
    #[test]
    #[cfg(feature = "parquet")]
    fn damaged_parquet_is_refused() {
        let whole = std::fs::read(path("flowers.parquet")).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("half.parquet");
        std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        let said = open(file.to_str().unwrap(), &OpenOptions::default()).unwrap_err().to_string();
        assert!(said.contains("half.parquet: the Parquet file is damaged"), "{said}");
    }

    #[test]
    #[cfg(feature = "xlsx")]
    fn the_first_sheet_of_a_workbook_is_read_like_a_csv() {
        let set = open(&path("flowers.xlsx"), &options(&["petal width", "picked"])).unwrap();
        check(&set, "versi\ncolor, or so");
        assert_eq!(set.feature_names, ["petal length", "is_wild"]);
        assert_eq!(set.data.as_array().unwrap().row(1).to_vec(), [1.3, 0.0]);
        let note = "the first sheet, Flowers, is read; 1 sheet is not: Notes";
        assert_eq!(set.reading.notes, [note]);
        // Lines are those of the sheet: its header is in the third.
        let said = message("flowers.xlsx", &options(&["petal width"]));
        assert!(said.starts_with("flowers.xlsx, sheet Flowers: "), "{said}");
        for cell in [
            "line 4, column \"picked\" (\"2024-01-31\")",
            "line 5, column \"picked\" (\"2024-02-01 12:30:00\")",
        ] {
            assert!(said.contains(cell), "{said}");
        }
        let said = message("flowers.xlsx", &options(&["picked"]));
        assert!(said.contains("2 values are missing: line 5, column \"petal width\""), "{said}");
    }

    #[test]
    #[cfg(feature = "xlsx")]
    fn other_archives_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.xlsx");
        std::fs::write(&file, b"PK\x03\x04 and nothing else").unwrap();
        let said = open(file.to_str().unwrap(), &OpenOptions::default()).unwrap_err().to_string();
        assert!(said.contains("a.xlsx: cannot be read as a workbook"), "{said}");
    }
}
