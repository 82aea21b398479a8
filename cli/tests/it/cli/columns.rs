//! Columns with numbers, categories, classes or ids.

use super::support::Bench;

/// One bad cell in a column of numbers turned each number into a column of 0 and 1, without a warning.
#[test]
fn a_bad_cell_among_numbers_is_not_a_word() {
    let rows = |bad: &str| {
        let row = |i: usize| match i {
            4 => format!("{i},{bad},red\n"),
            _ => format!("{i},{}.5,{}\n", 3 * i, ["red", "blue"][i % 2]),
        };
        format!("a,b,colour\n{}", (0..30).map(row).collect::<String>())
    };
    let bench = Bench::with("good.csv", rows("12.5"));
    let line = |file: &str, steps: &str| {
        format!(
            "cluster --data {file} --features all --k 2 --clusterer kmeans --set transforms={steps}"
        )
    };
    assert_eq!(bench.run(&line("good.csv", r#"["one_hot"]"#)).status, 0);
    let cells =
        ["12o.5", "-", "#DIV/0!", "n.a.", "<0.5", "missing", "\"1,234\"", "5 %", "2024-01-31"];
    for (cell, steps) in cells
        .into_iter()
        .flat_map(|cell| [(cell, r#"["one_hot"]"#), (cell, r#"["impute_missing","one_hot"]"#)])
    {
        bench.write("bad.csv", rows(cell));
        let done = bench.run(&line("bad.csv", steps));
        let said = format!(
            "error: bad.csv: 1 cell is not a number: line 6, column \"b\" (\"{}\"); ",
            cell.trim_matches('"')
        );
        assert!(done.status == 3 && done.err.starts_with(&said), "{cell}: {}", done.err);
        assert!(!done.err.contains("colour"), "{}", done.err);
    }
    // A column of dates is not one of words, either.
    let row = |i: usize| format!("{}.5,2024-01-{:02},{}\n", i * i % 17, 1 + i, ["p", "q"][i % 2]);
    bench.write("dates.csv", format!("a,day,colour\n{}", (0..30).map(row).collect::<String>()));
    let done = bench.run(&line("dates.csv", r#"["one_hot"]"#));
    let said =
        "error: dates.csv: 30 cells are not numbers: line 2, column \"day\" (\"2024-01-01\"); ";
    assert!(done.status == 3 && done.err.starts_with(said), "{}", done.err);
    // In a study, too.
    bench.write("bad.csv", rows("12o.5"));
    let of = "[[dataset]]\nid = \"d\"\npath = \"bad.csv\"\nfeatures = [\"all\"]\ntransforms = [\"one_hot\"]\n";
    let method = "[[method]]\nid = \"m\"\nk = 2\nclusterer = \"kmeans\"\n";
    bench.write("e.toml", format!("[experiment]\nname = \"e\"\n{of}{method}"));
    let err = bench.run("run e.toml --out out --quiet").err;
    assert!(err.contains("line 6, column \"b\" (\"12o.5\")"), "{err}");
    // A column that is declared is one of words, whatever it holds.
    let way = r#"'transforms=[{type="one_hot",columns=["b"]}]'"#;
    let done = bench.run(&line("bad.csv", r#"["one_hot"]"#));
    assert!(done.err.ends_with(&format!("declare this with --set {way}\n")), "{}", done.err);
    let steps = r#"[{type="one_hot",columns=["b"]}]"#;
    assert_eq!(bench.run(&line("bad.csv", steps)).status, 0);
    let unknown = bench.run(&line("bad.csv", r#"[{type="one_hot",columns=["c"]}]"#));
    assert!(unknown.status == 3 && unknown.err.contains("no column \"c\""), "{}", unknown.err);
    let declared = bench.run(&line("iris", r#"[{type="one_hot",columns=["c"]}]"#));
    assert_ne!(declared.status, 0, "{}", declared.err);
}

/// Numbers that are codes of categories, with a word now and then.
#[test]
fn codes_are_words_beside_words_or_by_declaration() {
    let row =
        |i: usize| format!("{}.5,{},{}\n", i * i % 17, ["0", "1", "2", "3+"][i % 4], 1 + i % 3);
    let rows: String = (0..40).map(row).collect();
    let bench = Bench::with("d.csv", format!("x,children,soil\n{rows}"));
    let weights = |steps: &str| {
        let line =
            "cluster --data d.csv --features all --k 2 --clusterer lac --weights w.csv --set";
        let done = bench.run(&format!("{line} transforms={steps}"));
        assert_eq!(done.status, 0, "{}", done.err);
        bench.read("w.csv").lines().next().unwrap().to_string()
    };
    let children = "children_0,children_1,children_2,children_3+";
    assert!(weights(r#"["one_hot"]"#).ends_with(&format!("x,{children},soil")));
    let both = weights(r#"[{type="one_hot",columns=["soil"]}]"#);
    assert!(both.ends_with(&format!("x,{children},soil_1,soil_2,soil_3")), "{both}");
    // The weights of the columns themselves, which count equally.
    let line = r#"cluster --data d.csv --features all --k 2 --clusterer kmeans --weights g.csv --set transforms="#;
    let done = bench.run(&format!(r#"{line}[{{type="gower",columns=["soil"]}}]"#));
    assert_eq!(done.status, 0, "{}", done.err);
    let third = 1.0 / 3.0;
    assert_eq!(
        bench.read("g.csv"),
        format!("cluster,x,children,soil\nall,{third},{third},{third}\n")
    );
    let line = line.replace("kmeans", "k_prototypes");
    let done = bench.run(&format!(r#"{line}["one_hot"]"#));
    assert_eq!(done.status, 0, "{}", done.err);
    // Numbers count as they are. Two different words differ in two columns, so the weights of both columns count.
    let text = bench.read("g.csv");
    let weights: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((weights[1], weights[6], weights[2] == weights[5]), ("1", "1", true), "{text}");
}

#[test]
fn a_first_row_that_counts_is_said_to_be_names() {
    let bench = Bench::new();
    for (row, names) in
        [("1,2", "1,2"), ("0,1", "0,1"), ("1,2,3", "1,2,3"), ("0,1,2,3,4", "0,1,2,3,…")]
    {
        let cells = row.split(',').map(|_| "4.5").collect::<Vec<_>>().join(",");
        bench.write("f.csv", format!("{row}\n{cells}\n{cells}\n"));
        let done = bench.run("cluster --data f.csv --k 1");
        let said = format!(
            "note: the first row, {names}, names the columns; --no-header reads it as an object\n"
        );
        assert!(done.err.contains(&said), "{}", done.err);
        assert!(!bench.run("cluster --data f.csv --k 1 --no-header").err.contains("first row"));
        assert!(!bench.run("cluster --data f.csv --k 1 --ignore 1").err.contains("first row"));
    }
}

/// A file of partitions without names lost its first object, unless each of its labels occurred again.
#[test]
fn a_first_row_of_labels_is_said_to_be_names() {
    let bench = Bench::new();
    for (row, [one, other]) in
        [("0,1,2", ["3,4,2", "5,6,7"]), ("0", ["3", "5"]), ("x,u", ["x,v", "y,w"])]
    {
        bench.write("p.csv", format!("{row}\n{one}\n{one}\n{other}\n{other}\n"));
        let done = bench.run("consensus p.csv");
        let said = format!(
            "note: the first row, {row}, names the columns; if it is an object, write a row of names above\n"
        );
        assert!(done.status == 0 && done.err.contains(&said), "{row}: {}", done.err);
    }
    // A column of ids shows that they are names, and so do names that are not labels.
    bench.write("p.csv", "id,0,1\na,0,3\nb,0,4\nc,1,4\n");
    assert!(!bench.run("consensus p.csv").err.contains("first row"));
    bench.write("p.csv", "one,two\nx,7\nx,7\ny,9\n");
    assert!(!bench.run("consensus p.csv").err.contains("first row"));
}

/// Only the last column was looked at.
#[test]
fn outcomes_and_numbers_of_samples_are_noted_wherever_they_are() {
    let row = |i: usize| {
        format!(
            "{},{},{}.5,{}.25,{}\n",
            1 + i % 12,
            1 + i % 3,
            40 + i % 31,
            i % 7,
            1960 + 7 * i % 16
        )
    };
    let rows: String = (0..48).map(row).collect();
    let bench = Bench::with("d.csv", format!("Sample Number,status,age,thickness,year\n{rows}"));
    let done = bench.run("cluster --data d.csv --k 2");
    let said = "note: feature status has 3 values: a class?; feature Sample Number counts up: an id?; for example \
                --class status, or --ignore 'status,Sample Number'\n";
    assert!(done.err.contains(said), "{}", done.err);
    // A missing value says nothing against it.
    let gaps = rows.replace("\n5,2,44.5", "\n5,,44.5").replace("\n9,3,60.5", "\n,3,60.5");
    bench.write("g.csv", format!("Sample Number,status,age,thickness,year\n{gaps}"));
    let done = bench.run("cluster --data g.csv --k 2 --set transforms=[\"impute_missing\"]");
    assert!(done.err.contains(said), "{}", done.err);
    let done = bench.run("cluster --data d.csv --k 2 --ignore status");
    let said = "note: feature Sample Number counts up: an id? --id 'Sample Number', or --ignore 'Sample Number'\n";
    assert!(done.err.contains(said), "{}", done.err);
    // Next to a known class, too, which was taken for the only one.
    let with_class = |(i, row): (usize, &str)| format!("{row},{}\n", ["p", "q"][i % 2]);
    let rows: String = rows.lines().enumerate().map(with_class).collect();
    bench.write("c.csv", format!("Sample Number,status,age,thickness,year,class\n{rows}"));
    let done = bench.run("cluster --data c.csv --k 2");
    let said = "note: feature status has 3 values: an outcome?; feature Sample Number counts up: an id?; for example \
                --ignore 'status,Sample Number'\n";
    assert!(done.err.contains(said), "{}", done.err);
    let done = bench.run("cluster --data c.csv --k 2 --ignore 'Sample Number'");
    let said = "note: feature status has 3 values: an outcome? --ignore status\n";
    assert!(done.err.contains(said), "{}", done.err);
    let done = bench.run("cluster --data c.csv --k 2 --ignore 'Sample Number,status'");
    assert!(!done.err.contains("note: feature"), "{}", done.err);
}

/// The words of one column are the features. Ids and classes keep their roles, and a text may look like a number.
#[test]
fn texts_are_clustered_by_their_words() {
    let rows = "key,body,price,class\n\
                a,The striker scored in the match.,1,sport\n\
                b,The team scored; the match is over.,900,sport\n\
                c,The striker and the team lost the match.,2,sport\n\
                d,The court rejected the appeal.,901,law\n\
                e,A judge of the court reviews the appeal.,3,law\n\
                f,2024,902,\n\
                g,The judge sat in court.,4,law\n";
    let bench = Bench::with("texts.csv", rows);
    let line = "cluster --data texts.csv --id key --k 3";
    let done = bench.run(&format!("{line} --text body --out labels.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    let note = r#"note: transforms = ["count_words", "tf_idf", "l2_rows"]; --set transforms=… chooses others"#;
    assert!(done.err.lines().any(|said| said == note), "{}", done.err);
    let labels = bench.read("labels.csv");
    let of = |rows: &str| -> Vec<&str> {
        let label = |key: char| labels.lines().find(|l| l.starts_with(key)).unwrap();
        rows.chars().map(|key| &label(key)[2..]).collect()
    };
    let (sport, law) = (of("abc"), of("deg"));
    assert!(sport.iter().all(|l| *l == sport[0]) && law.iter().all(|l| *l == law[0]), "{labels}");
    assert!(sport[0] != law[0] && !of("f").contains(&law[0]), "{labels}");
    // Other transforms are those that the user names.
    let steps =
        r#"--set transforms=[{type="count_words",min_rows=2}] --weights w.csv --clusterer lac"#;
    let done = bench.run(&format!("{line} --text body {steps}"));
    assert!(done.status == 0 && !done.err.contains("chooses others"), "{}", done.err);
    let head = bench.read("w.csv").lines().next().unwrap().to_string();
    let words = ["appeal", "court", "in", "judge", "match", "scored", "striker", "team", "the"];
    let words = words.map(|word| format!("body_{word}"));
    assert!(head.ends_with(&words.join(",")), "{head}");
    let refused = |text: &str| bench.run(&format!("{line} --text {text}")).err;
    let numbers = "error: --text price: the column contains only numbers or missing values; name a column of texts\n";
    assert_eq!(refused("price"), numbers);
    let unknown = refused("bodies");
    assert!(
        unknown.starts_with("error: texts.csv: no column \"bodies\"; columns: key, body"),
        "{unknown}"
    );
    let both = refused("body --features price");
    assert!(both.starts_with("error: --text and --features both"), "{both}");
}
