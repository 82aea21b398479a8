//! Files as people have them: clustered on the right columns, or refused with the way out.

use super::support::{Bench, rows};

/// The expected outcome of a file.
enum Outcome {
    /// It is clustered on these columns.
    On(&'static [&'static str]),
    /// It is refused with these words.
    Refused(&'static [&'static str]),
}
use Outcome::{On, Refused};

fn number(class: char) -> usize {
    usize::from(class == 'q')
}

/// Name, content, further arguments, outcome.
fn files() -> Vec<(&'static str, Vec<u8>, &'static str, Outcome)> {
    let plain = rows("width,length", |_, a, b, _| format!("{a},{b}"));
    let both: &[&str] = &["width", "length"];
    let text = |text: String| text.into_bytes();
    let mut files = vec![
        ("plain", text(plain.clone()), "", On(both)),
        (
            "last class",
            text(rows("width,length,class", |_, a, b, c| format!("{a},{b},{c}"))),
            "",
            On(both),
        ),
        (
            "numeric class in front",
            text(rows("class,width,length", |_, a, b, c| format!("{},{a},{b}", number(c)))),
            "",
            Refused(&["column \"class\" looks like classes", "--class class", "--features all"]),
        ),
        (
            "named class in front",
            text(rows("class,width,length", |_, a, b, c| format!("{},{a},{b}", number(c)))),
            "--class class",
            On(both),
        ),
        (
            "numeric class last, in capitals",
            text(rows("width,length,CLASS", |_, a, b, c| format!("{a},{b},{}", number(c)))),
            "",
            Refused(&["CLASS", "--class CLASS", "--ignore CLASS"]),
        ),
        (
            "last y",
            text(rows("width,length,y", |_, a, b, c| format!("{a},{b},{}", number(c)))),
            "",
            Refused(&["column \"y\" looks like classes", "--class y"]),
        ),
        ("coordinates", text(rows("x,y", |_, a, b, _| format!("{a},{b}"))), "", On(&["x", "y"])),
        (
            "x and a class y",
            text(rows("x,y", |_, a, _, c| format!("{a},{}", number(c)))),
            "",
            Refused(&["column \"y\" looks like classes"]),
        ),
        (
            "target",
            text(rows("target,width,length", |_, a, b, c| format!("{},{a},{b}", number(c)))),
            "",
            Refused(&["--class target"]),
        ),
        (
            "Label among features",
            text(rows("width,True Label,length", |_, a, b, c| format!("{a},{},{b}", number(c)))),
            "",
            Refused(&["True Label"]),
        ),
        (
            "numeric id",
            text(rows("id,width,length", |i, a, b, _| format!("{},{a},{b}", (i * 31) % 97))),
            "",
            Refused(&["column \"id\" looks like ids", "--id id"]),
        ),
        (
            "named id",
            text(rows("id,width,length", |i, a, b, _| format!("{},{a},{b}", (i * 31) % 97))),
            "--id id",
            On(both),
        ),
        (
            "customerId",
            text(rows("width,customerId,length", |i, a, b, _| {
                format!("{a},{},{b}", (i * 31) % 97)
            })),
            "",
            Refused(&["customerId"]),
        ),
        (
            "id and class",
            text(rows("ID,width,length,target", |i, a, b, c| format!("{i},{a},{b},{}", number(c)))),
            "",
            Refused(&[
                "\"ID\" looks like ids",
                "\"target\" looks like classes",
                "--id ID --class target",
            ]),
        ),
        (
            "numbers that rise by row",
            text(rows("number,width,length", |i, a, b, _| format!("{},{a},{b}", 3 * i + 5))),
            "",
            Refused(&["column \"number\" looks like ids", "--features all"]),
        ),
        (
            "numbers that rise by row, wanted",
            text(rows("number,width,length", |i, a, b, _| format!("{},{a},{b}", 3 * i + 5))),
            "--features all",
            On(&["number", "width", "length"]),
        ),
        (
            "an index without a name",
            text(rows(",width,length", |i, a, b, _| format!("{i},{a},{b}"))),
            "",
            Refused(&["column 1 has no name", "--id '#1'"]),
        ),
        (
            "an index without a name, settled",
            text(rows(",width,length", |i, a, b, _| format!("{i},{a},{b}"))),
            "--id #1",
            On(both),
        ),
        (
            "an index that was read back",
            text(rows("Unnamed: 0,width,length", |i, a, b, _| format!("{i}.0,{a},{b}"))),
            "",
            Refused(&["Unnamed: 0"]),
        ),
        ("semicolons", text(rows("width;length", |_, a, b, _| format!("{a};{b}"))), "", On(both)),
        (
            "tabs",
            text(rows("width\tlength\tclass", |_, a, b, c| format!("{a}\t{b}\t{c}"))),
            "",
            On(both),
        ),
        (
            "semicolons read as commas",
            text(rows("width;length", |_, a, b, _| format!("{a};{b}"))),
            "--sep ,",
            Refused(&["not numbers"]),
        ),
        (
            "decimal commas",
            text(rows("width;length", |_, a, b, _| format!("{a:.3};{b:.3}").replace('.', ","))),
            "",
            Refused(&["a decimal comma is read with --decimal ,"]),
        ),
        (
            "decimal commas, settled",
            text(rows("width;length", |_, a, b, _| format!("{a:.3};{b:.3}").replace('.', ","))),
            "--decimal ,",
            On(both),
        ),
        (
            "missing values",
            text(rows(
                "width,length",
                |i, a, b, _| {
                    if i < 7 { format!("{a},") } else { format!("{a},{b}") }
                },
            )),
            "",
            Refused(&[
                "7 values are missing",
                "line 2",
                "line 6, column \"length\"; …",
                "impute_missing",
            ]),
        ),
        (
            "missing values, filled in",
            text(rows("width,length", |i, a, b, _| {
                if i % 4 == 0 { format!("{a},NA") } else { format!("{a},{b}") }
            })),
            "--set transforms=[\"impute_missing\"]",
            On(both),
        ),
        (
            "a number that stands for a missing value",
            text(rows("width,length", |i, a, b, _| {
                if i % 4 == 0 { format!("{a},-999") } else { format!("{a},{b}") }
            })),
            "--na -999",
            Refused(&["3 values are missing"]),
        ),
        (
            "words",
            text(rows("width,length,colour", |i, a, b, _| {
                format!("{a},{b},{}", ["red", "blue"][(i / 3) % 2])
            })),
            "",
            Refused(&["12 cells are not numbers", "(\"red\")", "--ignore colour", "one_hot"]),
        ),
        (
            "words, turned into columns",
            text(rows("width,length,colour", |i, a, b, _| {
                format!("{a},{b},{}", ["red", "blue"][(i / 3) % 2])
            })),
            "--set transforms=[\"one_hot\"]",
            On(&["width", "length", "colour"]),
        ),
        (
            "words, left out",
            text(rows("width,length,colour", |_, a, b, _| format!("{a},{b},red"))),
            "--ignore colour",
            On(both),
        ),
        (
            "one slip among numbers",
            text(plain.replacen("9.", "9O", 1)),
            "",
            Refused(&["1 cell is not a number", "(\"9O", "correct the cells"]),
        ),
        (
            "chosen columns",
            text(rows("id,width,length,y", |i, a, b, c| format!("{i},{a},{b},{c}"))),
            "--features length,width",
            On(&["length", "width"]),
        ),
        (
            "no header",
            text(plain.split_once('\n').unwrap().1.to_string()),
            "",
            Refused(&["the first row must name the columns"]),
        ),
        (
            "no header, whole numbers and words",
            text("5,3,setosa\n4,3,setosa\n7,3,virginica\n".into()),
            "",
            Refused(&["the first row must name the columns", "column 1 is 5"]),
        ),
        (
            "years as names",
            text(rows("land,2019,2020", |i, a, b, _| format!("l{i},{a},{b}"))),
            "--id land",
            On(&["2019", "2020"]),
        ),
        (
            "years as names that nothing calls so",
            text(rows("land,2019,2020", |i, a, b, _| format!("l{i},{a},{b}"))),
            "",
            Refused(&["column 2 is 2019", "if numbers are names here", "--id land"]),
        ),
        (
            "two columns of one name",
            text(rows("width,width", |_, a, b, _| format!("{a},{b}"))),
            "",
            Refused(&["both named \"width\""]),
        ),
        (
            "a cell too many",
            text(plain.replacen('\n', "\n1,2,3\n", 1)),
            "",
            Refused(&["line 2", "expected 2 fields as in the header, got 3"]),
        ),
        (
            "a mark in front and lines of another system",
            text(format!("\u{feff}{}", plain.replace('\n', "\r\n"))),
            "",
            On(both),
        ),
        ("blank lines", text(plain.replace('\n', "\n\n")), "", On(both)),
        (
            "quotes",
            text(rows("\"width, mm\",\"length\"", |_, a, b, _| format!("\"{a}\",\"{b}\""))),
            "",
            On(&["width, mm", "length"]),
        ),
        (
            "classes -1 and 1",
            text(rows("width,length,class", |_, a, b, c| {
                format!("{a},{b},{}", ["-1", "1"][number(c)])
            })),
            "",
            Refused(&["holds -1 and 1", "give it another name"]),
        ),
        (
            "infinite",
            text(plain.replacen("\n", "\ninf,1\n", 1)),
            "",
            Refused(&["line 2, column \"width\"", "not a finite number"]),
        ),
        ("empty", Vec::new(), "", Refused(&["the file is empty"])),
        ("a header alone", text("width,length\n".into()), "", Refused(&["a header and no rows"])),
        (
            "UTF-16",
            plain.encode_utf16().fold(vec![0xff, 0xfe], |mut out, unit| {
                out.extend(unit.to_le_bytes());
                out
            }),
            "",
            Refused(&["UTF-16", "save it as UTF-8"]),
        ),
    ];
    let latin = plain.replacen("width", "br\u{e9}", 1).chars().map(|c| c as u8).collect();
    files.push(("Latin 1", latin, "", Refused(&["line 1", "not UTF-8"])));
    files
}

#[test]
fn no_file_is_clustered_on_ids_or_classes() {
    let files = files();
    assert!(files.len() >= 40, "{}", files.len());
    for (name, content, arguments, outcome) in files {
        let bench = Bench::with("f.csv", content);
        let line =
            format!("cluster --data f.csv --clusterer kmeans --k 2 --format json {arguments}");
        let done = bench.run(&line);
        match outcome {
            On(features) => {
                let json = done.json();
                assert_eq!(json["data"]["features"], serde_json::json!(features), "{name}");
                assert_eq!(json["k"], 2, "{name}");
            }
            Refused(words) => {
                assert!(done.status == 2 || done.status == 3, "{name}: {}", done.err);
                assert_eq!(done.out, "", "{name}");
                for word in words {
                    assert!(done.err.contains(word), "{name}: {word} is not in {}", done.err);
                }
            }
        }
    }
}

#[test]
fn the_summary_says_what_was_read() {
    let content = rows("id,a,b,c,d,e,f,g,class", |i, a, b, c| {
        format!("n{i},{a},{b},{a},{b},{a},{b},{a},{}", if i == 3 { '?' } else { c })
    });
    let bench = Bench::with("f.csv", content);
    let done = bench.run("cluster --data f.csv --id id --ignore g --k 2");
    let line = done.out.lines().find(|l| l.starts_with("data")).unwrap();
    assert_eq!(
        line,
        "data         f: 12 objects, 6 features (a, b, c, d, e, f); ids id; classes class (2, 1 object of \
         unknown class); nothing missing; left out: g"
    );
}

#[test]
fn labels_of_some_objects_are_known() {
    let content = rows("width,length,known", |i, a, b, c| {
        format!("{a},{b},{}", if i < 5 { c.to_string() } else { "-1".into() })
    });
    let bench = Bench::with("f.csv", content);
    let done = bench.run("cluster --data f.csv --labels known --out l.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    // The block of classes comes first, and pairs as what follows from it.
    assert!(
        done.err.contains("5 objects of 2 known classes; 10 constraints follow"),
        "{}",
        done.err
    );
    for said in ["\nknown        5 objects of 2 known classes\n", "\nconstraints  4 must-links ("] {
        assert!(done.out.contains(said), "{}", done.out);
    }
    assert!(done.err.contains("k = 2"), "{}", done.err);
    assert!(done.out.contains("2 features (width, length)"), "{}", done.out);
}

#[test]
fn points_between_thousands_and_ids_left_out_are_said() {
    let bench = Bench::with("g.csv", "a;b\n1.234,5;1,5\n2.345,5;2,5\n3.456,5;3,5\n");
    let done = bench.run("cluster --data g.csv --decimal , --k 2");
    assert!(
        done.err.contains("points between thousands are not supported: write 1.234,5 as 1234,5"),
        "{}",
        done.err
    );
    assert!(!done.err.contains("--class"), "{}", done.err);
    // Columns of 0 and 1, as words become, would make any cluster of them.
    let decimal = "a decimal comma is read with --decimal ,";
    for (text, option, said) in [
        ("a,b\n\"1,500\",1.5\n900,2.5\n\"2,000\",3.5\n", "", "write 1,500 as 1500"),
        ("a;b\n1 234,5;1\n2 345,5;2\n3 456,5;3\n", " --decimal ,", "write 1 234,5 as 1234,5"),
        ("a;b\n1.234;1,5\n2.345;2,5\n900;3,5\n", " --decimal ,", "write 1.234 as 1234"),
        ("a;b\n1'234;1\n2'345;2\n3'456;3\n", "", "apostrophes between thousands are not supported"),
        (
            "a;b\n1,500;1\n900;2\n2,000;3\n",
            "",
            "write 1,500 as 1500, in every cell of the column; a decimal",
        ),
        (
            "a;b\n0.123;1\n2.345;2\n3.4;3\n",
            " --decimal ,",
            "to read a decimal point, omit --decimal ,",
        ),
        ("a,b\n1,50%\n2,20 %\n3,7%\n", "", "write 50% as 50, in every cell of the column"),
        ("a,b\n\"1,5\",1\n\"2,5\",2\n\"3,5\",3\n", "", decimal),
    ] {
        bench.write("t.csv", text);
        let done = bench.run(&format!("cluster --data t.csv --k 2{option}"));
        assert!(done.err.contains(said) && !done.err.contains("one_hot"), "{text}: {}", done.err);
    }
    // Ids that are whole numbers, left out, and constraints that mean them.
    bench.write("p.csv", "protein,x,y\n3,1,1\n2,1,2\n1,8,9\n0,9,9\n");
    bench.write("c.csv", "i,j,type\n0,1,must_link\n");
    let done = bench.run(
        "cluster --data p.csv --ignore protein --k 2 --constraints c.csv --clusterer pck_means",
    );
    assert!(
        done.err.contains("are row numbers from 0; --id protein would make them ids"),
        "{}",
        done.err
    );
}

#[test]
fn scores_match_by_id_or_not_at_all() {
    let bench = Bench::with("truth.csv", "flower,class\na,x\nb,y\nc,y\n");
    bench.write("labels.csv", "id,label\nc,1\na,0\nb,1\n");
    let refused = bench.run("score --truth truth.csv --labels labels.csv");
    assert_eq!(refused.status, 3, "{}", refused.err);
    assert!(refused.err.contains("--id flower"), "{}", refused.err);
    let done = bench.run("score --truth truth.csv --labels labels.csv --id flower --format json");
    assert_eq!(done.json()["ari"], 1.0);
    assert!(done.err.contains("3 objects, by id: labels label, classes class"), "{}", done.err);
    let twice =
        "score --truth labels.csv --labels labels.csv --metric nmi,ari,nmi_arith --metric ari";
    assert_eq!(bench.run(twice).out, "nmi_arith 1\nari       1\n");
    bench.write("far.csv", "id,label,distance\na,0,0.5\nb,1,1.25\nc,1,2.5\n");
    let wrong = bench.run("score --truth labels.csv --labels far.csv --labels-column distance");
    let said = "warning: 0.5 is one of 3 classes: is the column a measurement?\n";
    assert!(wrong.status == 0 && wrong.err.contains(said), "{}", wrong.err);
    // A script that reads JSON gets the warnings, too.
    bench.write("far.csv", "id,label,distance\na,0,0.5\nb,1,1.25\nc,-1,2.5\n");
    let line = "score --truth labels.csv --labels far.csv --format json";
    for (column, warning) in [
        ("label", "left out: 1 object without a label (empty, or -1 for noise)"),
        ("distance", "0.5 is one of 3 classes: is the column a measurement?"),
    ] {
        let done = bench.run(&format!("{line} --labels-column {column}"));
        assert_eq!(done.json()["warnings"], serde_json::json!([warning]), "{}", done.err);
        assert!(done.err.contains(&format!("warning: {warning}\n")), "{}", done.err);
    }
}

#[test]
fn select_and_cluster_ask_the_same_questions() {
    let bench = Bench::new();
    for method in ["explore_consolidate", "npu", "min_max_selection", "random_pairs"] {
        bench.write("m.toml", format!("clusterer = \"pck_means\"\nselector = \"{method}\"\n"));
        let common = "--data iris --method m.toml --budget 20 --seed 3 --quiet";
        assert_eq!(bench.run(&format!("select {common} --ledger s.json --out p.csv")).status, 0);
        assert_eq!(bench.run(&format!("cluster {common} --ledger c.json")).status, 0);
        let asked = |file: &str| -> Vec<String> {
            let text = bench.read(file);
            let asked = text.lines().filter(|l| l.contains("\"asked\"") || l.contains("\"ask\""));
            asked.map(|l| l.split("\"at\"").next().unwrap().to_string()).collect()
        };
        assert!(!asked("s.json").is_empty(), "{}", bench.read("s.json"));
        assert_eq!(asked("s.json"), asked("c.json"), "{method}");
        std::fs::remove_file(bench.path("s.json")).unwrap();
        std::fs::remove_file(bench.path("c.json")).unwrap();
    }
    // It asks whichever option says so.
    let oracle = "{type=\"budget\",queries=5}";
    let named = format!("--selector random_pairs --oracle {oracle}");
    let set = format!("--set selector=random_pairs --set oracle={oracle}");
    let [named, set] = [named, set].map(|how| {
        let json = bench.run(&format!("cluster --data iris --format json {how}")).json();
        (json["method"].clone(), json["queries"].clone())
    });
    assert_eq!(named, set);
}

#[test]
fn names_that_people_type_lead_to_plugins() {
    let bench = Bench::new();
    for (alias, name) in [("pck", "pck_means"), ("gmm", "gaussian_mixture"), ("mpck", "mpck_means")]
    {
        let line = format!("cluster --data iris --k 3 --clusterer {alias} --format json");
        assert_eq!(bench.run(&line).json()["method"]["clusterer"]["type"], name);
    }
    let done = bench.run("describe eac");
    assert!(done.out.starts_with("evidence_accumulation:"), "{}", done.out);
    assert!(done.out.contains("Also found as: eac"), "{}", done.out);
    bench.write("l.csv", "id,label\n");
    let done = bench.run("cluster --data iris --k 3 --out l.csv");
    assert_eq!(done.status, 0);
    let done = bench.run("score --truth iris --labels l.csv --metric nmi,rand_index");
    assert!(done.out.contains("nmi_arith") && done.out.contains("rand"), "{}", done.out);
}

#[test]
fn consensus_makes_as_many_clusters_as_it_is_told_or_says_no() {
    let bench = Bench::with("p.csv", "one,two\na,1\na,1\nb,2\nb,2\nc,3\nc,3\n");
    let done = bench.run("consensus p.csv --k 2 --format json");
    assert_eq!(done.json()["k"], 2, "{}", done.err);
    let done = bench.run("consensus p.csv --k 2 --consensus voting");
    assert_eq!(done.status, 2);
    assert!(done.err.contains("voting does not accept a number of clusters"), "{}", done.err);
    assert!(done.err.contains("mcla"), "{}", done.err);
    let lifetime = "{type=\"evidence_accumulation\",cut=\"lifetime\"}";
    bench.run(&format!("consensus p.csv --k 2 --consensus {lifetime}")).failed(
        2,
        "error: k = 2: with these options, evidence_accumulation does not accept a number of clusters; leave k out, or \
         give --consensus mcla\n",
    );
}

#[test]
fn a_first_file_makes_no_words_of_numbers_and_days() {
    let bench = Bench::with("units.csv", "x,w\n1,12 kg\n2.5,13 kg\n7,12 kg\n");
    bench.write("commas.csv", "x;y\n1,5;2\n2,5;7\n1,5;9\n");
    bench.write("days.csv", "x,day\n1,2024-01-31\n2.5,2024-01-31\n7,2024-02-01\n");
    for (file, said) in [
        ("units.csv", "write 12 kg as 12, in every cell of the column and in one unit"),
        ("commas.csv", "a decimal comma is read with --decimal ,"),
        ("days.csv", "dates and times are not supported: write a number instead"),
    ] {
        let done = bench.run(&format!("init --data {file} --method"));
        assert!(done.status == 3 && done.err.contains(said), "{file}: {}", done.err);
        assert!(!done.err.contains("one_hot"), "{}", done.err);
    }
    assert_eq!(bench.run("init --data days.csv --features x --method").status, 0);
}

#[test]
fn a_column_that_holds_nothing_is_named() {
    let bench = Bench::with("gap.csv", "x,gap,z\n1,,3\n2.5,,4\n1,,\n");
    let said = "column \"gap\" is empty: leave it out with --ignore gap";
    let done = bench.run("cluster --data gap.csv --k 2");
    assert!(done.err.contains(&format!("{said}; fill in with --set")), "{}", done.err);
    assert!(!done.err.contains("--labels"), "{}", done.err);
    let line = "cluster --data gap.csv --k 2 --set transforms=[\"impute_missing\"]";
    bench.run(line).failed(3, &format!("error: gap.csv: {said}\n"));
    assert_eq!(bench.run(&format!("{line} --ignore gap")).status, 0);
    assert!(bench.run("init --data gap.csv --method").err.ends_with(&format!(": {said}\n")));
}

/// Errors spoke of column 0 and feature 1 of files whose columns have names.
#[test]
fn errors_of_fits_call_columns_by_their_names() {
    let bench = Bench::with("f.csv", "width,length\n1,5\n2,6\n3,1e200\n4,7\n");
    let clustered = |set: &str| bench.run(&format!("cluster --data f.csv --k 2 {set}")).err;
    let said = ": data: column \"length\": the largest value in size is 1e200";
    for set in ["", "--set transforms=[\"z_score\"]"] {
        let err = clustered(set);
        assert!(err.contains(said), "{err}");
    }
    let err = bench.run("select-k --data f.csv --to 3").err;
    assert!(
        err.contains("error: data: column \"length\": the largest value in size is 1e200"),
        "{err}"
    );
    bench.write("g.csv", "width,length,class\n1,5,a\n2,6,b\n3,1e200,a\n4,7,b\n");
    let asked = "--data g.csv --selector random_pairs --budget 2";
    for verb in ["select", "select --questions", "cluster --k 2"] {
        let err = bench.run(&format!("{verb} {asked}")).err;
        assert!(err.contains(&format!("error: selector{said}")), "{verb}: {err}");
    }
    // What these cannot scale is no number of theirs either.
    bench.write("h.csv", "width,length\n1,1e-200\n2,3e-200\n3,4e-200\n4,0\n");
    bench.write("i.csv", "width,length\n1,1.7e308\n2,-1.7e308\n3,4\n4,0\n");
    for (file, transform, said) in [
        ("h.csv", "z_score", "z_score cannot divide by its deviation, 0e0;"),
        ("i.csv", "min_max", "no number is as large as the range from -1.7e308 to 1.7e308;"),
    ] {
        let set = format!("--set transforms=[\"{transform}\"]");
        let err = bench.run(&format!("cluster --data {file} --k 2 {set}")).err;
        let said = format!("error: transforms[0]: data: feature \"length\": {said}");
        assert!(err.contains(&said), "{err}");
    }
    bench.write("words.csv", "width,word\n1,a\n2,b\n3,c\n4,d\n");
    let set = "--features all --set transforms=[{type=\"one_hot\",max_words=2}]";
    let err = bench.run(&format!("cluster --data words.csv --k 2 {set}")).err;
    let said = "error: transforms[0]: data: feature \"word\": 4 different words, such as \"a\",";
    assert!(err.contains(said), "{err}");
    // In a study the ways out are those of its file.
    bench.write("gap.csv", "width,gap\n1,\n2,\n3,\n4,\n");
    let of = "[[dataset]]\nid = \"d\"\npath = \"gap.csv\"\ntransforms = [\"impute_missing\"]\n";
    let method = "[[method]]\nid = \"m\"\nk = 2\nclusterer = \"kmeans\"\n";
    bench.write("e.toml", format!("[experiment]\nname = \"e\"\n{of}{method}"));
    let err = bench.run("run e.toml --out out --quiet").err;
    let said =
        "dataset d: ./gap.csv: column \"gap\" is empty: leave it out with ignore = [\"gap\"]";
    assert!(err.contains(said), "{err}");
    let of = "[curve]\npoints = [2]\n[[dataset]]\nid = \"d\"\npath = \"g.csv\"\n";
    let method = "[[method]]\nid = \"m\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";
    let split = "[split]\ntype = \"all\"\nrepeats = 1\n";
    bench.write("s.toml", format!("[experiment]\nname = \"s\"\n{of}{split}{method}k = 2\n"));
    let err = bench.run("run s.toml --out asked --quiet").err;
    assert!(err.contains("selector: data: column \"length\": the largest value"), "{err}");
}

#[test]
fn a_file_that_says_nothing_is_no_method() {
    let bench = Bench::with("part.toml", "k = 3\n");
    let part = bench.run("check part.toml").out;
    assert!(
        part.starts_with("part.toml: valid; a part of a method, without a clusterer"),
        "{part}"
    );
    for text in ["", "# nothing yet\n"] {
        bench.write("empty.toml", text);
        let done = bench.run("check empty.toml");
        let said = "error: empty.toml: is empty";
        assert!(done.status == 3 && done.err.starts_with(said), "{}", done.err);
    }
}

#[test]
fn negative_numbers_are_named() {
    let bench = Bench::new();
    let done = bench.run("cluster --data iris --budget -3");
    assert_eq!(done.status, 2);
    assert!(done.err.contains("must be a whole number of at least 0, got -3"), "{}", done.err);
    for (line, said) in [
        (
            "cluster --data iris --seed -1",
            "must be a whole number between 0 and 18446744073709551615, got -1",
        ),
        ("select-k --data iris --to -3", "must be a whole number of at least 0, got -3"),
        ("cluster --data iris --decimal 1", "must be a point, a comma or another sign, got \"1\""),
    ] {
        let done = bench.run(line);
        assert!(done.status == 2 && done.err.contains(said), "{}", done.err);
    }
}

#[test]
fn a_first_file_for_any_data_is_in_order() {
    let classes = rows("width,colour,kind", |i, a, _, c| {
        format!("{a},{},{c}", if i == 2 { "" } else { ["red", "blue"][i % 2] })
    });
    let bench = Bench::with("my.csv", classes);
    bench.write("plain.csv", rows("width,length", |_, a, b, _| format!("{a},{b}")));
    let files = [
        ("--data my.csv --class kind", "cluster --data my.csv --class kind"),
        ("--data plain.csv", "cluster --data plain.csv"),
        ("--data iris", "cluster --data iris"),
    ];
    for (at, (data, cluster)) in files.into_iter().enumerate() {
        let (e, m) = (format!("e{at}.toml"), format!("m{at}.toml"));
        let done = bench.run(&format!("init {data} --out {e}"));
        assert_eq!(done.status, 0, "{}", done.err);
        assert_eq!(bench.run(&format!("check {e}")).status, 0, "{}", bench.read(&e));
        let done = bench.run(&format!("run {e} --quiet"));
        assert_eq!(done.status, 0, "{}\n{}", done.err, bench.read(&e));
        assert_eq!(bench.run(&format!("init {data} --method --out {m}")).status, 0);
        let done = bench.run(&format!("{cluster} --method {m}"));
        assert_eq!(done.status, 0, "{}\n{}", done.err, bench.read(&m));
        let again = bench.run(&format!("init {data} --out {e}"));
        assert!(again.status == 2 && again.err.contains("exists already"), "{}", again.err);
    }
}

#[cfg(unix)]
#[test]
fn what_a_shell_hands_over_is_read_as_a_csv() {
    let bench = Bench::new();
    let text = rows("width,length", |_, a, b, _| format!("{a},{b}"));
    let done = bench.run_with("cluster --data /dev/stdin --k 2 --out -", &text);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(bench.run_with("cluster --data - --k 2 --out -", &text).out, done.out);
}

#[test]
fn names_of_several_lines_break_no_line() {
    let text = rows("\"petal\nlength\",width,\"kind of\nflower\"", |_, a, b, class| {
        format!("{a},{b},\"{class}\n{class}\"")
    });
    let bench = Bench::with("my.csv", text);
    let columns = "--data my.csv --class 'kind of\nflower'";
    let done = bench.run(&format!("cluster {columns} --k 2 --quiet"));
    let read = "2 features (petal length, width); no ids; classes kind of flower (2)";
    assert!(done.out.contains(read) && done.out.contains("p p 6\n"), "{}", done.out);
    assert_eq!(bench.run(&format!("init {columns} --out e.toml")).status, 0);
    let done = bench.run("plan e.toml");
    assert_eq!(done.status, 0, "{}\n{}", done.err, bench.read("e.toml"));
    assert_eq!(bench.run(&format!("init {columns} --method --out m.toml")).status, 0);
    let done = bench.run(&format!("cluster {columns} --method m.toml"));
    assert_eq!(done.status, 0, "{}\n{}", done.err, bench.read("m.toml"));
}
