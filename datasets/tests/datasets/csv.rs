//! Valid CSV files, and the errors for other files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use mustlink_datasets::{Dataset, OpenOptions, open, read_constraints, write_constraints};
use proptest::prelude::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The message with the folder left out.
    fn message(&self, path: &Path, options: &OpenOptions) -> String {
        let set = open(&path.display().to_string(), options);
        let message = set.and_then(|set| set.require_numbers()).unwrap_err().to_string();
        message.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(content).unwrap();
    out.finish().unwrap()
}

fn opened(path: &Path, options: &OpenOptions) -> Dataset {
    open(&path.display().to_string(), options).unwrap()
}

fn with(class: Option<&str>, id: Option<&str>) -> OpenOptions {
    OpenOptions {
        class_column: class.map(String::from),
        id_column: id.map(String::from),
        ..OpenOptions::default()
    }
}

#[test]
fn a_last_column_named_class_is_the_class() {
    let folder = Folder::new();
    let text = "x, y ,class\n1,2.5,b\n\"3\",-4e1,a\n5,6,\n";
    for (name, content) in
        [("few.csv", text.as_bytes().to_vec()), ("few.csv.gz", gzip(text.as_bytes()))]
    {
        let set = opened(&folder.file(name, content), &OpenOptions::default());
        assert_eq!((set.name.as_str(), set.n(), set.d(), set.k()), ("few", 3, 2, Some(2)));
        assert_eq!(set.feature_names, ["x", "y"]);
        assert_eq!(set.data.to_dense().row(1).to_vec(), [3.0, -40.0]);
        let classes = set.classes.unwrap();
        assert_eq!((classes.of(0), classes.of(1), classes.of(2)), (Some("b"), Some("a"), None));
    }
}

#[test]
fn columns_are_chosen_by_name() {
    let folder = Folder::new();
    let file = folder.file("f.csv", "name,kind,x,text\nn1,u,1,\"one, two\"\nn2,v,2,three\n");
    let options =
        OpenOptions { display_column: Some("text".into()), ..with(Some("kind"), Some("name")) };
    let set = opened(&file, &options);
    assert_eq!((set.d(), set.id(0), set.id(1)), (1, "n1".into(), "n2".into()));
    assert_eq!(set.class_sizes(), [("u".to_string(), 1), ("v".into(), 1)]);
    assert_eq!(set.display.unwrap()[0], "one, two");
    // A `class` that is not the last column may be a feature or not: one has to say so.
    let file = folder.file("g.csv", "class,x\n1,2\n");
    assert!(folder.message(&file, &OpenOptions::default()).contains("--class class"));
    let all = OpenOptions { features: vec!["all".into()], ..OpenOptions::default() };
    assert_eq!((opened(&file, &all).d(), opened(&file, &all).k()), (2, None));
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let plain = OpenOptions::default();
    let of = |content: &str, options: &OpenOptions| {
        folder.message(&folder.file("bad.csv", content), options)
    };
    for (content, expected) in [
        ("", "bad.csv: the file is empty; expected a header row and one row per object"),
        (
            "\n\n",
            "bad.csv: the file has only blank lines; expected a header row and one row per object",
        ),
        ("x,y\n", "bad.csv: the file has a header and no rows"),
        (
            "class\na\n",
            "bad.csv: no column is left as a feature; methods need columns of numbers in addition to ids, classes \
             and columns that are shown or left out, for texts for example an embedding or word counts",
        ),
        ("x,y\n1,2\n3\n", "bad.csv, line 3: expected 2 fields as in the header, got 1"),
        ("x,y\n1,2\n\n\n3,4,5\n", "bad.csv, line 5: expected 2 fields as in the header, got 3"),
        (
            "x,y\n1,\"2\n3,4\n",
            "bad.csv: 1 cell is not a number: line 2, column \"y\" (\"2\n3,4\"); if the column contains classes or \
             ids, give --class y or --id y, otherwise leave it out with --ignore y, or turn it into columns of 0 \
             and 1 with --set 'transforms=[\"one_hot\",\"z_score\"]'",
        ),
        (
            "x,y,z\n1,\"2\n3,4\n",
            "bad.csv, line 2: expected 3 fields as in the header, got 2; is a quote left open?",
        ),
        (
            "x,kind\n1,red\n2,5\n3,7\n",
            "bad.csv: 1 cell is not a number: line 2, column \"kind\" (\"red\"); correct the cells, or give the \
             text of missing values with --na, or leave the column out with --ignore kind",
        ),
        (
            "x,y\n1,2\n3,\nNaN,5\n",
            "bad.csv: 2 values are missing: line 3, column \"y\"; line 4, column \"x\"; fill in with --set \
             'transforms=[\"impute_missing\"]', or drop the rows",
        ),
        (
            "x;y\n1,5;2\n2;3\n",
            "bad.csv: 1 cell is not a number: line 2, column \"x\" (\"1,5\"); a decimal comma is read with \
             --decimal ,",
        ),
        (
            "x,w\n1,12 kg\n2,\"2,5 kg\"\n3,11 kg\n",
            "bad.csv: 3 cells are not numbers: line 2, column \"w\" (\"12 kg\"); line 3, column \"w\" (\"2,5 kg\"); \
             line 4, column \"w\" (\"11 kg\"); units after numbers are not supported: write 12 kg as 12, in every \
             cell of the column and in one unit",
        ),
        (
            "x,day\n1,2024-01-31\n2,2024-02-01\n",
            "bad.csv: 2 cells are not numbers: line 2, column \"day\" (\"2024-01-31\"); line 3, column \"day\" \
             (\"2024-02-01\"); dates and times are not supported: write a number instead, for example of days, or \
             leave the column out with --ignore day",
        ),
        (
            "x,size\n1,12a\n2,3b\n",
            "bad.csv: 2 cells are not numbers: line 2, column \"size\" (\"12a\"); line 3, column \"size\" \
             (\"3b\"); if the column contains classes or ids, give --class size or --id size, otherwise leave it \
             out with --ignore size, or turn it into columns of 0 and 1 with --set \
             'transforms=[\"one_hot\",\"z_score\"]'",
        ),
        (
            "x,town\n1,Bern\n,Genf\n3,Bern\n",
            "bad.csv: add\n  --set 'transforms=[\"impute_missing\",\"one_hot\",\"z_score\"]'\nto fill in missing \
             values and turn words into columns of 0 and 1.\n1 value is missing: line 3, column \"x\"\n3 cells are \
             not numbers: line 2, column \"town\" (\"Bern\"); line 3, column \"town\" (\"Genf\"); line 4, column \
             \"town\" (\"Bern\")\nAlternatives: if the column contains classes or ids, give --class town or --id \
             town, otherwise leave it out with --ignore town",
        ),
        // A typing error is not a category.
        (
            "x,y\n1,2\n3,4o\n,6\n7,8\n",
            "bad.csv: 1 value is missing: line 4, column \"x\"; 1 cell is not a number: line 3, column \"y\" (\"4o\"); \
             fill in with --set 'transforms=[\"impute_missing\"]', or drop the rows; correct the cells, or give the \
             text of missing values with --na, or leave the column out with --ignore y",
        ),
        (
            "x,y\n1,#N/A\n2,#DIV/0!\n4,5\n",
            "bad.csv: 2 cells are not numbers: line 2, column \"y\" (\"#N/A\"); line 3, column \"y\" \
             (\"#DIV/0!\"); cells with #N/A are errors of a spreadsheet: correct them there, or read them as \
             missing with --na '#N/A,#DIV/0!'",
        ),
        (
            "x,y\n1,inf\n",
            "bad.csv, line 2, column \"y\": inf is not a finite number; --na inf reads it as missing",
        ),
        (
            "x,y\n1,1e999\n",
            "bad.csv, line 2, column \"y\": 1e999 is not a finite number; --na 1e999 reads it as missing",
        ),
        ("x,y,x\n1,2,3\n", "bad.csv, line 1: columns 1 and 3 are both named \"x\""),
        (
            ",x\n1,2\n",
            "bad.csv, line 1: column 1 has no name; refer to it by its position: --id '#1' or --ignore '#1'",
        ),
        (
            "Report of May;;\n\nname;x;y\na;1;2\n",
            "bad.csv, line 1: \"Report of May\" is alone in the first row, which must name the columns: \
             remove the rows above the names",
        ),
        (
            "5,3,setosa\n4,3,setosa\n",
            "bad.csv, line 1: the first row must name the columns, and column 1 is 5; --no-header reads a file \
             without names",
        ),
        (
            "5.1,3.5,setosa\n4.9,3.0,setosa\n",
            "bad.csv, line 1: the first row must name the columns, and column 1 is 5.1; --no-header reads a file \
             without names",
        ),
        (
            "x y\n1 2\n",
            "bad.csv: 1 cell is not a number: line 2, column \"x y\" (\"1 2\"); if the column contains classes or \
             ids, give --class 'x y' or --id 'x y', otherwise leave it out with --ignore 'x y', or turn it into \
             columns of 0 and 1 with --set 'transforms=[\"one_hot\"]'; if spaces separate the columns, add --sep ' '",
        ),
        ("x,class\n1,\n2,?\n", "bad.csv: column \"class\" holds no class"),
    ] {
        assert_eq!(of(content, &plain), expected, "{content:?}");
    }
    let content = "x,kind\n1,red\n";
    assert_eq!(
        of(content, &with(Some("knd"), None)),
        "bad.csv: no column \"knd\"; columns: x, kind; did you mean \"kind\"?"
    );
    assert_eq!(
        of(content, &with(Some("kind"), Some("kind"))),
        "bad.csv: column \"kind\" cannot be both the class and the id"
    );
    assert_eq!(
        of("x,name\n1,a\n2,b\n\n3,a\n", &with(None, Some("name"))),
        "bad.csv, line 5: the id \"a\" is also on line 2; 1 row repeats an id in all. Use a column without \
         duplicates, or --name instead of --id: rows are then numbered from 0, and the column says what they are called"
    );
    assert_eq!(
        of("x,name\n1,\n", &with(None, Some("name"))),
        "bad.csv, line 2: the id is empty; if the whole row is, as spreadsheets leave some below a table, remove it"
    );
    let file = folder.file("bytes.csv", b"x,y\n1,2\n3,\xff\n");
    assert_eq!(
        folder.message(&file, &plain),
        "bytes.csv, line 3: is not UTF-8 text; convert a Windows or Latin-1 file with iconv -f WINDOWS-1252 -t UTF-8 \
         OLD.csv > NEW.csv"
    );
}

#[test]
fn a_feature_is_nothing_else_and_counts_once() {
    let folder = Folder::new();
    let file = folder.file("f.csv", "x,y,z\n1,2,5\n3,4,5\n");
    let features = |names: &[&str]| OpenOptions {
        features: names.iter().map(ToString::to_string).collect(),
        ..OpenOptions::default()
    };
    let refused = |options: OpenOptions| folder.message(&file, &options);
    let twice = features(&["x", "y", "#1"]);
    assert_eq!(refused(twice), "f.csv: column \"x\" is named twice among the features");
    let both = |what: &str| format!("f.csv: column \"z\" cannot be both {what} and a feature");
    let known_column = Some("z".to_string());
    let labels = OpenOptions { known_column, ..features(&["x", "z"]) };
    assert_eq!(refused(labels), both("the labels"));
    let apart_column = Some("z".to_string());
    let group = OpenOptions { apart_column, ..features(&["x", "z"]) };
    assert_eq!(refused(group), both("a group"));
}

#[test]
fn a_matrix_of_pairs_is_read_with_a_note() {
    let folder = Folder::new();
    let file = folder.file("d.csv", "a,b,c\n0,1,2\n1,0,3.5\n2,3.5,0\n");
    let notes = opened(&file, &OpenOptions::default()).reading.notes;
    assert!(notes.len() == 1 && notes[0].contains("distances of pairs?"), "{notes:?}");
}

#[test]
fn damaged_gzip_is_named() {
    let folder = Folder::new();
    let plain = OpenOptions::default();
    let rows: String = (0..2000).map(|i| format!("{},{}\n", i * i, i % 7)).collect();
    let whole = gzip(format!("x,y\n{rows}").as_bytes());
    let cut = folder.file("cut.csv.gz", &whole[..whole.len() / 2]);
    let message = folder.message(&cut, &plain);
    assert!(message.starts_with("cut.csv.gz: the gzip file is cut off ("), "{message}");
    assert!(message.ends_with(" bytes unpacked); copy or download it again"), "{message}");
    // Even the last byte of the checksum counts.
    let cut = folder.file("tail.csv.gz", &whole[..whole.len() - 1]);
    assert!(folder.message(&cut, &plain).contains("cut off"));
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x55;
    let flipped = folder.file("flip.csv.gz", flipped);
    assert!(folder.message(&flipped, &plain).starts_with("flip.csv.gz: the gzip file is "));
    let fake = folder.file("fake.csv.gz", "x,y\n1,2\n");
    assert_eq!(folder.message(&fake, &plain), "fake.csv.gz: is named .gz and is not gzip");
}

#[test]
fn other_paths_are_named() {
    let folder = Folder::new();
    let plain = OpenOptions::default();
    let gone = folder.0.path().join("gone.csv");
    assert_eq!(folder.message(&gone, &plain), "gone.csv: no such file");
    assert_eq!(
        folder.message(&folder.0.path().join("gone.arff"), &plain),
        "gone.arff: no such file"
    );
    let other = folder.file("a.arff", "");
    assert_eq!(
        folder.message(&other, &plain),
        "a.arff: unknown kind of file; accepted are .csv, .tsv, .txt and .mtx, also with .gz; .npy, .parquet, \
         .xlsx, .ods; folders with matrix.mtx"
    );
}

#[test]
fn tables_with_tabs() {
    let folder = Folder::new();
    for name in ["t.tsv", "t.txt"] {
        let set = opened(
            &folder.file(name, "x\ty\tclass\n1,5\t2\ta, b\n1\t4\tc\n"),
            &OpenOptions { decimal: Some(','), ..OpenOptions::default() },
        );
        assert_eq!((set.name.as_str(), set.n(), set.d(), set.k()), ("t", 2, 2, Some(2)));
    }
}

#[test]
fn constraints_go_to_a_file_and_back() {
    let folder = Folder::new();
    let file = folder.file("f.csv", "x,id\n1,a\n2,b\n3,c\n");
    let set = opened(&file, &with(None, Some("id")));
    let links = folder.file("links.csv", "i,j,type\nc,a,cannot_link\n");
    let given = read_constraints(&links.display().to_string(), &set, true).unwrap();
    let out = folder.0.path().join("out.csv");
    write_constraints(&out.display().to_string(), &given, &set, false).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), "i,j,type,weight\n0,2,cannot_link,1\n");
    let nowhere = folder.0.path().join("no/folder/out.csv");
    assert!(write_constraints(&nowhere.display().to_string(), &given, &set, false).is_err());
    let left: Vec<_> =
        fs::read_dir(folder.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No content panics, whatever is asked of it.
    #[test]
    fn no_content_panics(text in "[ a-c0-9,.\"\n\r?-]{0,60}", column in "[a-c]?") {
        let folder = Folder::new();
        let file = folder.file("any.csv", &text);
        let name = Some(column.as_str()).filter(|c| !c.is_empty());
        let _ = open(&file.display().to_string(), &with(name, None));
        let _ = open(&file.display().to_string(), &with(None, name));
    }

    /// Values come back as they were written.
    #[test]
    fn values_come_back(values in proptest::collection::vec(proptest::num::f64::NORMAL, 1..20)) {
        let folder = Folder::new();
        let rows: String = values.iter().map(|v| format!("{v},{v:e}\n")).collect();
        let set = opened(&folder.file("v.csv", format!("x,y\n{rows}")), &OpenOptions::default());
        for (i, v) in values.iter().enumerate() {
            prop_assert_eq!(set.data.to_dense().row(i).to_vec(), vec![*v, *v]);
        }
    }
}
