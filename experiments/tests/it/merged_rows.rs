//! Rows that the steps of a data set made one: what is said of them.

use mustlink as _;
use std::fs;
use std::path::Path;

use mustlink_experiments::{Experiment, RunOptions, Source, plan, run};
use tempfile::TempDir;

/// Two clouds on a line, the first row of the file twice.
const ROWS: [&str; 7] = ["0", "0", "1", "2", "10", "11", "12"];

/// A folder with a data set of `columns` and x, and a study of it with `keys` under `[[dataset]]`.
fn study(columns: &[(&str, [&str; 7])], keys: &str, constraints: &str) -> (TempDir, Experiment) {
    let dir = tempfile::tempdir().unwrap();
    let mut table: Vec<String> = vec!["x".into()];
    table.extend(ROWS.map(String::from));
    for (name, cells) in columns {
        table[0] += &format!(",{name}");
        table[1..].iter_mut().zip(cells).for_each(|(line, cell)| *line += &format!(",{cell}"));
    }
    fs::write(dir.path().join("line.csv"), table.join("\n") + "\n").unwrap();
    fs::write(dir.path().join("pairs.csv"), constraints).unwrap();
    let text = format!(
        "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"set\"\npath = \"line.csv\"\n\
         transforms = [\"deduplicate\"]\n{keys}\n\
         [[method]]\nid = \"m\"\nclusterer = \"cop_kmeans\"\nk = 2\n"
    );
    let experiment = Experiment::parse("t.toml", &text, dir.path(), &[]);
    let experiment = experiment.unwrap_or_else(|e| panic!("{e}"));
    (dir, experiment)
}

fn notes(experiment: &Experiment, dir: &Path) -> Vec<String> {
    plan(experiment, &Source::default(), Some(dir)).unwrap().notes
}

#[test]
fn objects_are_called_by_their_rows_in_the_file() {
    let pairs = "i,j,type\n2,3,must_link\n3,4,must_link\n2,4,cannot_link\n";
    let (dir, experiment) = study(&[], "constraints = \"pairs.csv\"", pairs);
    let outcome = run(&experiment, &RunOptions::to(dir.path().join("out"))).unwrap();
    let said = &outcome.failed[0].message;
    assert!(said.contains("cannot-link 2–4 contradicts must-links 2–3–4"), "{said}");
}

#[test]
fn objects_that_became_one_are_called_by_their_ids() {
    let ids = [("name", ["a", "b", "c", "d", "e", "f", "g"])];
    let keys = "id_column = \"name\"\nconstraints = \"pairs.csv\"";
    let (dir, experiment) = study(&ids, keys, "i,j,type\na,b,cannot_link\n");
    let error = run(&experiment, &RunOptions::to(dir.path().join("out"))).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("dataset set: constraints: cannot-link a–b: its rows are equal"),
        "{said}"
    );
}

#[test]
fn classes_that_differ_are_noted() {
    let columns = [
        ("known", ["u", "v", "", "", "v", "", ""]),
        ("class", ["p", "q", "p", "p", "q", "q", "q"]),
    ];
    let keys = "labels = \"known\"\ntarget = \"class\"";
    let (dir, experiment) = study(&columns, keys, "");
    let said = notes(&experiment, dir.path());
    for part in [
        "set: 1 merged row had objects of more than one class; the class that comes first is kept",
        "set: 1 merged row had objects that are known to be of more than one class; the class that comes first is \
         kept",
    ] {
        assert!(said.iter().any(|note| note == part), "{part:?} is not in {said:?}");
    }
}

#[test]
fn constraints_are_about_rows_of_the_file_whatever_is_left_of_it() {
    let classes = [("class", ["p", "p", "p", "p", "q", "q", "q"])];
    let keys = "target = \"class\"\nclass_sizes = { p = 2 }\nconstraints = \"pairs.csv\"";
    // Two of the first four rows are left, whichever these are.
    let pairs = "i,j,type\n0,4,cannot_link\n1,4,cannot_link\n2,4,cannot_link\n3,4,cannot_link\n\
                 4,5,must_link\n5,6,must_link\n4,6,cannot_link\n";
    let (dir, experiment) = study(&classes, keys, pairs);
    let said = notes(&experiment, dir.path());
    let left_out = "set: 2 given constraints are about objects that class_sizes leaves out";
    assert!(said.iter().any(|note| note == left_out), "{said:?}");
    let outcome = run(&experiment, &RunOptions::to(dir.path().join("out"))).unwrap();
    let said = &outcome.failed[0].message;
    assert!(said.contains("cannot-link 4–6 contradicts must-links 4–5–6"), "{said}");
}
