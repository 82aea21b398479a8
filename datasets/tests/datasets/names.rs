//! Names of data sets, and the promises of a data directory.

use std::fs;
use std::path::{Path, PathBuf};

use mustlink_datasets::{OpenOptions, Origin, available, open};
use sha2::{Digest, Sha256};

fn options(dir: &Path) -> OpenOptions {
    OpenOptions { data_dirs: vec![dir.into()], ..OpenOptions::default() }
}

fn hash(content: &str) -> String {
    Sha256::digest(content).iter().map(|b| format!("{b:02x}")).collect()
}

const HEAD: &str = "name,kind,path,n,d,k,class_sizes,source,sha256,notes\n";
const FEW: &str = "x,y,class\n1,2,a\n3,4,b\n5,6,a\n";
const MATRIX: &str = "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 4\n2 3 1\n";
const LABELS: &str = "left\nright\n";

/// A data directory with a CSV and a folder, and these lines in its manifest.
fn directory(lines: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("few.csv"), FEW).unwrap();
    fs::create_dir(dir.path().join("words")).unwrap();
    fs::write(dir.path().join("words/matrix.mtx"), MATRIX).unwrap();
    fs::write(dir.path().join("words/labels.txt"), LABELS).unwrap();
    fs::write(dir.path().join("words/terms.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(dir.path().join("MANIFEST.csv"), format!("{HEAD}{lines}")).unwrap();
    dir
}

fn message(lines: &str, name: &str) -> String {
    let dir = directory(lines);
    let message = open(name, &options(dir.path())).unwrap_err().to_string();
    message.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn what_the_manifest_promises_is_asserted() {
    let good = format!(
        "few,dense,few.csv,3,2,2,a:2 b:1,somewhere,{},a note\n\
         words,text,words,2,3,2,left:1 right:1,,labels.txt:{} matrix.mtx:{},\n\
         unchecked,dense,few.csv,,,,,,,\n",
        hash(FEW),
        hash(LABELS),
        hash(MATRIX)
    );
    let dir = directory(&good);
    let few = open("few", &options(dir.path())).unwrap();
    assert_eq!((few.name.as_str(), few.provenance.as_str()), ("few", "somewhere; a note"));
    let words = open("words", &options(dir.path())).unwrap();
    assert_eq!((words.n(), words.d(), words.k()), (2, 3, Some(2)));
    assert_eq!(words.feature_names, ["one", "two", "three"]);
    assert_eq!(open("unchecked", &options(dir.path())).unwrap().digest(), few.digest());
    // The same file by path, with the columns the caller wants.
    let own = OpenOptions {
        class_column: Some("y".into()),
        features: vec!["all".into()],
        ..options(dir.path())
    };
    let file = dir.path().join("few.csv").display().to_string();
    let refused = open(&file, &own).unwrap().require_numbers().unwrap_err().to_string();
    assert!(refused.contains("cells are not numbers") && refused.contains("(\"a\")"), "{refused}");
    let folder = dir.path().join("words").display().to_string();
    assert_eq!(open(&folder, &options(dir.path())).unwrap().digest(), words.digest());
    let matrix = dir.path().join("words/matrix.mtx").display().to_string();
    assert_eq!(open(&matrix, &OpenOptions::default()).unwrap().digest(), words.digest());

    let hash = hash(FEW);
    let of = |fields: &str| message(&format!("few,dense,few.csv,{fields},\n"), "few");
    assert_eq!(of(&format!("4,2,2,a:2 b:1,,{hash}")), "MANIFEST.csv, few: n: 4 expected, 3 found");
    assert_eq!(of(&format!("3,3,2,a:2 b:1,,{hash}")), "MANIFEST.csv, few: d: 3 expected, 2 found");
    assert_eq!(of(&format!("3,2,1,a:2 b:1,,{hash}")), "MANIFEST.csv, few: k: 1 expected, 2 found");
    assert_eq!(
        of(&format!("3,2,2,a:1 b:2,,{hash}")),
        "MANIFEST.csv, few: class_sizes: a:1 b:2 expected, a:2 b:1 found"
    );
    let other = "0".repeat(64);
    assert_eq!(
        of(&format!("3,2,2,a:2 b:1,,{other}")),
        format!(
            "few.csv: the content differs from the manifest for few: sha256 {other} \
             expected, {hash} found"
        )
    );
    let line = format!("words,text,words,2,3,2,,,labels.txt:{other},\n");
    assert!(message(&line, "words").starts_with("words/labels.txt: the content differs"));
}

#[test]
fn a_mistyped_column_of_the_manifest_is_named() {
    let notes = |head: &str| {
        let dir = directory("");
        let manifest = format!("{head}\nfew,few.csv,3,\n");
        fs::write(dir.path().join("MANIFEST.csv"), manifest).unwrap();
        open("few", &options(dir.path())).unwrap().reading.notes
    };
    let said = "MANIFEST.csv: unknown column \"sha265\"; did you mean \"sha256\"?";
    assert_eq!(notes("name,path,n,sha265"), [said]);
    // What is like nothing that is read is for people.
    assert!(
        notes("name,path,n,distinct_rows").is_empty() && notes("name,path,n,sha256").is_empty()
    );
}

#[test]
fn names_of_classes_may_hold_spaces() {
    let dir = directory("wild,dense,wild.csv,3,1,2,Iris setosa:2 Iris virginica:1,,,\n");
    let rows = "a,class\n1,Iris setosa\n3,Iris virginica\n5,Iris setosa\n";
    fs::write(dir.path().join("wild.csv"), rows).unwrap();
    assert_eq!(open("wild", &options(dir.path())).unwrap().k(), Some(2));
}

#[test]
fn broken_directories_are_named() {
    let nowhere = PathBuf::from("/no/such/folder");
    assert_eq!(
        open("iris", &options(&nowhere)).unwrap_err().to_string(),
        "/no/such/folder: the data directory does not exist"
    );
    let empty = tempfile::tempdir().unwrap();
    // Without a manifest a folder names nothing, and what is built in can be had.
    assert_eq!(open("iris", &options(empty.path())).unwrap().n(), 150);
    let text = open("wine", &options(empty.path())).unwrap_err().to_string();
    assert!(
        text.contains("has no MANIFEST.csv, which names the sets of a data directory"),
        "{text}"
    );
    assert_eq!(message("few,dense,gone.csv,,,,,,,\n", "few"), "gone.csv: no such file");
    let twice = "few,dense,few.csv,,,,,,,\nfew,dense,few.csv,,,,,,,\n";
    assert_eq!(message(twice, "few"), "MANIFEST.csv: the name \"few\" occurs twice");
    let text = message("few,dense,few.csv,many,,,,,,\n", "few");
    assert_eq!(text, "MANIFEST.csv, line 2: n must be a whole number, or empty");
    let text = message("few,dense\n", "few");
    assert_eq!(text, "MANIFEST.csv, line 2: expected 10 fields as in the header, got 2");
    let dir = directory("");
    fs::write(dir.path().join("MANIFEST.csv"), "nam,path\nfew,few.csv\n").unwrap();
    let text = open("few", &options(dir.path())).unwrap_err().to_string();
    let said = "MANIFEST.csv, line 2: the columns name and path are needed, got nam, path";
    assert!(text.ends_with(said), "{text}");
    let dir = directory("words,text,words,,,,,,,\n");
    fs::write(dir.path().join("words/labels.txt"), "left\n").unwrap();
    let text = open("words", &options(dir.path())).unwrap_err().to_string();
    assert!(text.ends_with("words/labels.txt: 1 label for 2 rows of the matrix"), "{text}");
    fs::remove_file(dir.path().join("words/matrix.mtx")).unwrap();
    let text = open("words", &options(dir.path())).unwrap_err().to_string();
    assert!(text.ends_with("the folder holds neither matrix.mtx nor matrix.mtx.gz"), "{text}");
}

#[test]
fn the_directory_comes_before_what_is_built_in() {
    let dir = directory("iris,dense,few.csv,3,2,2,,,,\n");
    let options = options(dir.path());
    assert_eq!(open("iris", &options).unwrap().n(), 3);
    assert_eq!(open("builtin:iris", &options).unwrap().n(), 150);
    assert_eq!(open("digits", &options).unwrap().n(), 1797);
    let names: Vec<(String, Origin)> =
        available(&options).unwrap().into_iter().map(|l| (l.name, l.origin)).collect();
    let expected =
        [("digits", Origin::BuiltIn), ("iris", Origin::Directory), ("wdbc", Origin::BuiltIn)];
    assert_eq!(names, expected.map(|(n, o)| (n.to_string(), o)));
}

#[test]
fn unknown_names_are_answered() {
    let plain = OpenOptions::default();
    assert_eq!(
        open("irs", &plain).unwrap_err().to_string(),
        "data: no data set \"irs\"; did you mean \"iris\"? known names: digits, iris, wdbc; a data directory \
         (--data-dir or MUSTLINK_DATA) adds names; write a file as a path, such as ./irs"
    );
    // A folder of that name stands where the tests run.
    assert_eq!(
        open("src", &plain).unwrap_err().to_string(),
        "data: no data set \"src\"; known names: digits, iris, wdbc; a data directory (--data-dir or MUSTLINK_DATA) \
         adds names; write a file as a path, such as ./src"
    );
    let columns = OpenOptions { id_column: Some("name".into()), ..plain };
    assert_eq!(
        open("iris", &columns).unwrap_err().to_string(),
        "iris: no column \"name\": only a CSV has columns to choose from"
    );
}
