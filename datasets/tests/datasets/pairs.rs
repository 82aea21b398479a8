//! Matrices of distances and affinities.

use mustlink_core::DataKind;
use mustlink_datasets::{Dataset, OpenOptions, open};

/// Opens a file with this content.
fn of(name: &str, content: &str, options: OpenOptions) -> Result<Dataset, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let opened = open(path.to_str().unwrap(), &options);
    opened.map_err(|e| e.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

fn distances() -> OpenOptions {
    OpenOptions { pairs: Some(DataKind::Distances), ..OpenOptions::default() }
}

const ROWS: [&str; 3] = ["0,1,2.5", "1,0,3", "2.5,3,0"];

#[test]
fn a_matrix_of_distances_is_not_one_of_features() {
    let plain = format!("paris,rome,oslo\n{}\n", ROWS.join("\n"));
    let corner =
        format!(",paris,rome,oslo\nparis,{}\nrome,{}\noslo,{}\n", ROWS[0], ROWS[1], ROWS[2]);
    let years = format!(",1999,2001,1998\n1999,{}\n2001,{}\n1998,{}\n", ROWS[0], ROWS[1], ROWS[2]);
    let none = format!("{}\n", ROWS.join("\n"));
    let headless = OpenOptions { no_header: true, ..distances() };
    for (content, options, ids) in [
        (plain.clone(), distances(), Some(["paris", "rome", "oslo"])),
        (corner, distances(), Some(["paris", "rome", "oslo"])),
        (years, distances(), Some(["1999", "2001", "1998"])),
        (format!("0,1,2\n{none}"), distances(), None),
        (none, headless, None),
    ] {
        let set = of("d.csv", &content, options).unwrap();
        assert_eq!((set.data.kind(), set.n()), (DataKind::Distances, 3), "{content}");
        assert_eq!((set.data.pair(0, 2), set.data.pair(1, 2)), (2.5, 3.0), "{content}");
        assert_eq!(
            set.ids.as_deref(),
            ids.map(|ids| ids.map(String::from)).as_ref().map(|i| &i[..])
        );
        assert!(set.reading.notes.is_empty(), "{:?}", set.reading.notes);
        assert!(
            set.summary().starts_with("3 objects, distances of all pairs; "),
            "{}",
            set.summary()
        );
    }
    let set = of("d.csv", &plain, OpenOptions::default()).unwrap();
    assert_eq!(set.data.kind(), DataKind::Dense);
    assert!(set.reading.notes[0].contains("--distances FILE"), "{:?}", set.reading.notes);
}

#[test]
fn columns_beside_the_matrix_keep_their_roles() {
    let text = format!("town,paris,rome,oslo,land,class\n{}\n", {
        let row = |(name, row): (&str, &str)| format!("{name},{row},x,{}", &name[..1]);
        ["paris", "rome", "oslo"].into_iter().zip(ROWS).map(row).collect::<Vec<_>>().join("\n")
    });
    let options =
        OpenOptions { id_column: Some("town".into()), ignore: vec!["land".into()], ..distances() };
    let set = of("d.csv", &text, options).unwrap();
    assert_eq!((set.k(), set.id(1)), (Some(3), "rome".into()));
    let message = of("d.csv", &text, OpenOptions { id_column: Some("town".into()), ..distances() });
    assert!(message.unwrap_err().contains("\"land\""));
}

#[test]
fn what_cannot_be_distances_is_refused() {
    let limit = OpenOptions { memory_limit: Some(50), ..distances() };
    for (content, options, message) in [
        (
            ",a,b\nb,0,1\na,1,0\n",
            distances(),
            "d.csv: rows and columns must have the same order, but row 1 is b and column 1 is a",
        ),
        (
            "a,b,c\n0,1,2\n1,0,2\n",
            distances(),
            "d.csv: distances need as many columns as rows, got 2 rows and 3 columns; declare other columns with \
             --id, --class or --ignore",
        ),
        (
            "a,b\n0,NA\n1,0\n",
            distances(),
            "d.csv: 1 value is missing: line 2, column \"b\"; all distances must be known",
        ),
        ("a,b\n0,1\n2,0\n", distances(), "d.csv: "),
        ("a,b\n1,0.5\n0.5,1\n", distances(), "d.csv: "),
        ("a,b,c\n0,1,2\n1,0,3\n2,3,0\n", limit, "d.csv: "),
    ] {
        let said = of("d.csv", content, options).unwrap_err();
        assert!(said.starts_with(message), "{said}");
    }
    let sparse = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 2\n";
    let message = of("d.mtx", sparse, distances()).unwrap_err();
    assert!(message.contains("no distance for most pairs"), "{message}");
    let affinities = OpenOptions { pairs: Some(DataKind::Affinity), ..OpenOptions::default() };
    let set = of("d.mtx", sparse, affinities).unwrap();
    assert_eq!(
        (set.data.kind(), set.data.pair(1, 2), set.data.pair(0, 2)),
        (DataKind::Affinity, 2.0, 0.0)
    );
}
