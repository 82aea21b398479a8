//! Tables with one column per object.

use mustlink_datasets::{Dataset, OpenOptions, open};
use ndarray::array;

fn of(content: &str, options: OpenOptions) -> Result<Dataset, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("genes.csv");
    std::fs::write(&path, content).unwrap();
    let opened = open(path.to_str().unwrap(), &options);
    opened.map_err(|e| e.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

fn transpose() -> OpenOptions {
    OpenOptions { transpose: true, ..OpenOptions::default() }
}

#[test]
fn columns_become_objects() {
    for content in [
        "gene,cell1,cell2,cell3\nID3,1,2.5,3\nCD8A,0,4,\"5\"\n",
        ";cell1;cell2;cell3\nID3;1;2,5;3\nCD8A;0;4;5\n",
        "\t7\t8\t9\n673\t1\t2.5\t3\n1956\t0\t4\t5\n",
    ] {
        let decimal = content.starts_with(';').then_some(',');
        let set = of(content, OpenOptions { decimal, ..transpose() }).unwrap();
        assert_eq!(set.data.as_array().unwrap(), array![[1.0, 0.0], [2.5, 4.0], [3.0, 5.0]]);
        let names: Vec<String> = (0..3).map(|i| set.id(i)).collect();
        match content.contains("cell1") {
            true => assert_eq!(
                (names.join(" "), set.feature_names.join(" ")),
                ("cell1 cell2 cell3".into(), "ID3 CD8A".into())
            ),
            false => assert_eq!(
                (names.join(" "), set.feature_names.join(" ")),
                ("7 8 9".into(), "673 1956".into())
            ),
        }
        assert!(set.summary().contains("; ids header row; "), "{}", set.summary());
        assert!(!set.summary().contains("separated"), "{}", set.summary());
    }
}

#[test]
fn rows_have_roles_as_columns_have() {
    let text = "gene,cell1,cell2,cell3\nGAPDH,9,9,8\nCD8A,0,4,5\ntype,T,B,\ncode,x7,x8,x9\n";
    let named = OpenOptions {
        class_column: Some("type".into()),
        ignore: vec!["GAPDH".into()],
        id_column: Some("code".into()),
        ..transpose()
    };
    let set = of(text, named).unwrap();
    assert_eq!(
        (set.feature_names.join(" "), set.k(), set.id(1)),
        ("CD8A".into(), Some(2), "x8".into())
    );
    let plain = "gene,cell1,cell2\nGAPDH,9,\nCD8A,0,4\n";
    let set = of(plain, transpose()).unwrap();
    let message = set.require_numbers().unwrap_err().to_string();
    assert!(
        message.contains("genes.csv, transposed: 1 value is missing: line 3, column \"GAPDH\""),
        "{message}"
    );
}

#[test]
fn unsuitable_tables_are_refused() {
    let headless = OpenOptions { no_header: true, ..transpose() };
    for (content, options, words) in [
        ("gene,a,a\nG,1,2\n", transpose(), "the id \"a\" is also on line 2"),
        ("gene,a,b\nG,1,2\nG,3,4\n", transpose(), "columns 2 and 3 are both named \"G\""),
        ("gene,a,b\n", transpose(), "the file has a header and no rows"),
        ("gene\nG\n", transpose(), "the file has a header and no rows"),
        ("gene,a,b\nG,1,2\n", headless, "leave out --no-header"),
    ] {
        let said = of(content, options).unwrap_err();
        assert!(said.starts_with("genes.csv") && said.contains(words), "{said}");
    }
    let npy = open("builtin:iris", &transpose()).unwrap_err().to_string();
    assert_eq!(npy, "iris: is not a CSV, and --transpose is for CSV files only");
}
