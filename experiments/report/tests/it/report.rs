//! The report as a reader sees it.

use mustlink as _;
use std::path::Path;

use mustlink_experiments::{Experiment, RunOptions, failures, retry_cell, run};
use mustlink_report::citation::{REFERENCES, Used, own_entry};
use mustlink_report::{CANNOT_LINK, MUST_LINK, report};

const STUDY: &str = r#"
[experiment]
name = "a study"
seed = 3

[[dataset]]
id = "iris"
[[dataset]]
id = "wine"
optional = true
[[dataset]]
id = "digits"
class_sizes = { 0 = 20, 1 = 20, 2 = 20, 3 = 1, 4 = 1, 5 = 1, 6 = 1, 7 = 1, 8 = 1, 9 = 1 }

[split]
type = "kfold"
folds = 2
repeats = 3

[curve]
points = [0, 10, 20]

[scoring]
metrics = ["ari", "vi"]
scope = "all"

[plot]
baseline = "plain"

[[method]]
id = "plain"
clusterer = "kmeans"

[[method]]
id = "asked"
clusterer = "pck_means"
selector = "random_pairs"

[[method]]
id = "merged"
k = "unknown"
selector = { type = "cobra", super_instances = 4 }
"#;

fn parse(text: &str) -> Experiment {
    Experiment::parse("t.toml", text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn page_of(text: &str, dir: &Path) -> String {
    run(&parse(text), &RunOptions::to(dir)).unwrap_or_else(|e| panic!("{e}"));
    std::fs::read_to_string(report(dir).unwrap().page).unwrap()
}

#[test]
fn a_mailed_report_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(STUDY, dir.path());
    // Nothing comes from elsewhere.
    for outside in ["src=", "<link", "@import", "url(", "https://"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let figures = page.matches("<figure").count();
    assert!(figures > 10, "{figures}");
    // A link leads to a part of the page: files of numbers are on it.
    let parts: Vec<&str> =
        page.split("href=\"").skip(1).map(|l| l.split('"').next().unwrap()).collect();
    for part in parts {
        let id = part.strip_prefix('#').unwrap_or_else(|| panic!("{part} is not on the page"));
        assert!(page.contains(&format!(" id=\"{id}\"")), "{id}");
    }
    for file in
        ["summary.csv", "areas.csv", "statistics.csv", "supervision.csv", "times.csv", "tables.md"]
    {
        assert!(page.contains(&format!("<pre id=\"{file}\">")), "{file}");
    }
    assert_eq!(page.matches("<desc>").count(), page.matches("<svg xmlns").count());
    // Tables say what they are.
    assert_eq!(page.matches("<caption>").count(), page.matches("<table").count());
    assert!(page.contains("<th scope=\"row\" class=\"l\">iris</th>"));
    assert!(page.contains("data-toggle=\"2\"") && page.contains("id=\"filter\""));
    for part in [
        "We compared 3 methods on",
        "2-fold cross-validation, 3 times",
        "@misc{mustlink,",
        "\\toprule",
        "Only 3 repeats: intervals are wide",
        "seed = 3",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The hash of iris is there, and files for a paper lie beside the page.
    let data = std::fs::read_to_string(dir.path().join("data.csv")).unwrap();
    let hash = data.lines().nth(1).unwrap().rsplit(',').next().unwrap();
    assert!(hash.len() == 64 && page.contains(hash), "{data}");
    let file = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(file("tables.tex").contains("\\begin{tabular}{lrrr}"));
    assert!(file("tables.md").contains("| data set | plain | asked | merged |"));
    let figure = |name: &str| dir.path().join("figures").join(name);
    for name in ["all-ari", "iris-vi", "ranks-ari", "pairs-vi", "times", "query-bounds"] {
        assert!(figure(&format!("{name}.svg")).is_file(), "{name}");
        assert!(figure(&format!("{name}.csv")).is_file(), "{name}");
    }
    assert!(!figure("iris-vi.png").exists());
    assert!(file("figures/iris-ari.svg").contains("above 0: higher than plain"));
    // COBRA with few super-instances has few questions.
    assert!(file("figures/iris-ari.svg").contains("merged: no further question after"));
}

#[test]
fn constraints_have_the_colours_of_the_label_page() {
    let style = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../label/src/page/page.css");
    let style = std::fs::read_to_string(style).unwrap();
    assert!(style.contains(&format!("--same: {MUST_LINK}; --other: {CANNOT_LINK};")));
}

#[test]
fn labels_stand_for_ids() {
    let dir = tempfile::tempdir().unwrap();
    let with = |labels: &str| {
        let small = STUDY.replace("repeats = 3", "repeats = 2");
        small.replace(
            "baseline = \"plain\"",
            &format!("baseline = \"plain\"\nlabels = {{ {labels} }}"),
        )
    };
    let labels = "plain = \"k-means\", ari = \"adjusted Rand index\", iris = \"Iris flowers\"";
    let page = page_of(&with(labels), dir.path());
    assert!(page.contains("k-means</label>") && !page.contains("plain</label>"));
    assert!(page.contains("<h3>adjusted Rand index</h3>") && !page.contains("<h3>ari</h3>"));
    assert!(page.contains("<th scope=\"row\" class=\"l\">Iris flowers</th>"));
    let file = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(file("tables.md").contains("| data set | k-means | asked | merged |"));
    // Figures keep the names of their files, and files of numbers their ids.
    assert!(file("figures/iris-ari.svg").contains("above 0: higher than k-means"));
    assert!(file("figures/iris-ari.svg").contains(">Iris flowers</text>"));
    assert!(file("summary.csv").contains("plain") && !file("summary.csv").contains("k-means"));
    assert!(report(dir.path()).unwrap().table.contains("plain"));
    // Two intervals of two repeats would fill the figure.
    assert!(!file("figures/iris-ari.svg").contains("<polygon"));
    assert!(page.contains("no bands, because an interval needs at least 3 repeats"));
    for (labels, said) in [
        ("plan = \"x\"", "no method, metric or data set has the id \"plan\"; did you mean"),
        ("plain = \"asked\"", "\"asked\" would stand for two; choose another label"),
    ] {
        let wrong = Experiment::parse("t.toml", &with(labels), Path::new("."), &[]).unwrap_err();
        assert!(wrong.to_string().contains(said), "{wrong}");
    }
}

/// Folds are compared where their test objects are scored, and nowhere else.
#[test]
fn folds_say_what_a_next_set_brings() {
    let study = |split: &str, scope: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n\
             [[dataset]]\nid = \"fewer\"\nsource = \"iris\"\nclass_sizes = {{ Iris-setosa = 20, Iris-virginica = 30 }}\n\
             [[dataset]]\nid = \"digits\"\nclass_sizes = {{ 0 = 20, 1 = 20, 2 = 20 }}\n\
             [split]\n{split}\n[scoring]\nmetrics = [\"ari\"]\nscope = \"{scope}\"\n\
             [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n\
             [[method]]\nid = \"scaled\"\nclusterer = \"kmeans\"\ntransforms = [\"z_score\"]\n\
             [[method]]\nid = \"mixture\"\nclusterer = \"gaussian_mixture\"\n"
        )
    };
    let folded = "type = \"kfold\"\nfolds = 3\nrepeats = 2";
    for (split, scope, compared) in [
        (folded, "test", true),
        (folded, "all", false),
        ("type = \"holdout\"\ntest_fraction = 0.3\nrepeats = 4", "test", false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let page = page_of(&study(split, scope), dir.path());
        for said in ["next set: better", "hierarchical Bayesian model", "@article{Corani2017,"] {
            assert_eq!(page.contains(said), compared, "{said}: {split}, {scope}");
        }
        assert_eq!(page.contains("correlated by 1/3"), compared);
        let sums = |file: &str, names: [&str; 3]| -> Vec<Option<f64>> {
            let mut table = csv::Reader::from_path(dir.path().join(file)).unwrap();
            let head = table.headers().unwrap().clone();
            let at = names.map(|name| head.iter().position(|h| h == name).expect(name));
            let rows = table.records().map(|row| row.unwrap());
            rows.map(|row| at.iter().map(|&c| row[c].parse::<f64>().ok()).sum()).collect()
        };
        let each = sums("statistics.csv", ["next_better", "next_equal", "next_worse"]);
        let pairs = ["next_first_better", "next_equal", "next_second_better"];
        let pairs = sums("figures/pairs-ari.csv", pairs);
        // All methods but the control, and every two.
        assert_eq!(each.iter().flatten().count(), if compared { 2 } else { 0 }, "{each:?}");
        assert_eq!(pairs.iter().flatten().count(), if compared { 3 } else { 0 }, "{pairs:?}");
        assert!(each.iter().chain(&pairs).flatten().all(|sum| (sum - 1.0).abs() < 1e-9));
    }
}

#[test]
fn the_answer_comes_first_and_claims_no_more_than_the_tests() {
    let dir = tempfile::tempdir().unwrap();
    let optional = "[[dataset]]\nid = \"wine\"\noptional = true\n";
    let text = STUDY.replace("seed = 3", "seed = 3\ntitle = \"Do answers help?\"");
    let text = text.replace(optional, "");
    let page = page_of(&text, dir.path());
    assert!(page.contains("<h1>Do answers help?</h1>"), "{page}");
    let (answer, rest) =
        page.split_once("<div class=\"answer\">").unwrap().1.split_once("</div>").unwrap();
    assert!(rest.split_once("<h2").unwrap().1.starts_with(">Learning curves</h2>"), "{page}");
    for part in [
        "<p class=\"lead\">By ari: ",
        " the best mean rank, but this may be chance.</p>",
        "<b>Tests:</b> by aligned ranks the methods do not differ significantly (p ",
        " ahead of the next, ",
        ": mean ari over the whole curve ",
        "<b>Each data set alone:</b> ",
        "<b>Failed:</b> none of 36 cells.",
        "<b><a href=\"#supervision\">Answers hurt</a>:</b> ",
        "<b>By vi:</b> ",
    ] {
        assert!(answer.contains(part), "{part} is not in {answer}");
    }
    // No table over the data sets has more than seven columns, and no explanation comes twice.
    let tables = std::fs::read_to_string(dir.path().join("tables.md")).unwrap();
    let heads = tables.lines().filter(|l| l.starts_with("| method |"));
    assert!(heads.clone().count() == 2 && heads.clone().all(|l| l.matches('|').count() <= 8));
    assert_eq!(page.matches("<li>P(best): ").count(), 1);
    assert!(tables.contains("| sum | "), "{tables}");
    // One data set is tested by itself; of one run nothing is known.
    let one = |repeats: usize, metric: &str| {
        let text = format!(
            "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"holdout\"\n\
             test_fraction = 0.5\nrepeats = {repeats}\n[scoring]\nmetrics = [\"{metric}\"]\n\
             [[method]]\nid = \"good\"\nclusterer = \"kmeans\"\n[[method]]\nid = \"bad\"\n\
             clusterer = {{ type = \"kmeans\", k = 20 }}\n"
        );
        let dir = tempfile::tempdir().unwrap();
        page_of(&text, dir.path())
    };
    assert!(
        one(1, "ari")
            .contains("good has the best mean on iris, but its lead over bad may be chance.")
    );
    let said = one(6, "ari");
    assert!(said.contains("good is significantly better than the next, bad, on iris."), "{said}");
    assert!(!one(6, "k_found").contains("class=\"lead\""));
}

#[test]
fn tables_are_hidden_whole_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(STUDY, dir.path());
    // Every table that is sorted is hidden with its caption and its note where no row has the text.
    let tables =
        page.matches("<div class=\"table").count() - page.matches("<div class=\"tables").count();
    assert_eq!(tables, page.matches("<table class=\"sheet").count());
    assert!(page.contains("id=\"filtered\" role=\"status\""));
    assert!(page.contains("Bold marks, ranks, tests and the axes of figures"), "{page}");
    // Links in the head do not end under the bar.
    assert!(page.contains("h2,h3,a[id]{scroll-margin-top:"));
    // What moves sideways says so, and names of rows stay.
    assert!(page.contains(".scroll.more::before") && page.contains("<g class=\"rows\"><rect"));
    // Printed, a heading stays with its curves and the configuration is folded.
    assert!(page.contains("<div class=\"together\" data-files=\"all-ari.svg\"><h3>ari</h3>"));
    assert!(page.contains("<details class=\"screen fold file\"><summary>config.toml: "));
    // A long name of the reference does not run from panel to panel: the caption has it.
    let long = "a reference with a name that is longer than any panel is wide";
    let named = STUDY.replace("\"plain\"", &format!("\"{long}\""));
    let other = tempfile::tempdir().unwrap();
    assert!(page_of(&named, other.path()).contains(&format!("those of the reference {long};")));
    let times = std::fs::read_to_string(other.path().join("figures/times.svg")).unwrap();
    assert!(times.contains(">seconds, reference</text>") && !times.contains(&format!(", {long}<")));
    // Methods are hidden in ranks and pairs, too.
    let ranks = std::fs::read_to_string(dir.path().join("figures/ranks-ari.svg")).unwrap();
    assert!((0..3).all(|at| ranks.contains(&format!("<g data-m=\"{at}\">"))), "{ranks}");
    // With two data sets no pair can be significant, with three (wine is not everywhere) neither, and the
    // page says so.
    let says = |least: &str| page.contains(&format!("no pair can be below p = {least}"));
    assert!(says(".5 × 3 pairs = 1") || says(".25 × 3 pairs = .75"), "{page}");
}

#[test]
fn constraints_that_hurt_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(STUDY, dir.path());
    assert!(page.contains("<h2 id=\"supervision\">Where supervision hurt</h2>"), "{page}");
    assert!(page.contains("<code>&quot;informativeness&quot;</code>"));
    let all = std::fs::read_to_string(dir.path().join("supervision.csv")).unwrap();
    let of_iris =
        |method: &str| all.lines().filter(|l| l.contains(&format!("iris,{method},"))).count();
    assert_eq!((of_iris("plain"), of_iris("asked")), (0, 2), "{all}");
    // Without a point before the first question the twin is a method; or there is none.
    let later = STUDY.replace("points = [0, 10, 20]", "points = [10, 20]");
    let twin = "[[method]]\nid = \"twin\"\nclusterer = \"same:asked\"\n";
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(&format!("{later}{twin}"), dir.path());
    assert!(page.contains("<b>No twin:</b> merged."), "{page}");
    let all = std::fs::read_to_string(dir.path().join("supervision.csv")).unwrap();
    assert!(all.contains("ari,iris,asked,twin,") && !all.contains(",merged,"), "{all}");
    // Scored, what explains it stands beside.
    let scored =
        STUDY.replace("[\"ari\", \"vi\"]", "[\"ari\", \"informativeness\", \"coherence\"]");
    let dir = tempfile::tempdir().unwrap();
    page_of(&scored, dir.path());
    let all = std::fs::read_to_string(dir.path().join("supervision.csv")).unwrap();
    let line = all.lines().find(|l| l.starts_with("ari,iris,asked,")).unwrap();
    let numbers: Vec<f64> = line.split(',').skip(7).map(|n| n.parse().unwrap()).collect();
    assert!(numbers.iter().all(|n| (0.0..=1.0).contains(n)) && numbers[1] > 0.0, "{line}");
}

#[test]
fn a_failed_cell_has_its_command() {
    let dir = tempfile::tempdir().unwrap();
    let text = STUDY.replace("id = \"plain\"\nclusterer", "id = \"plain\"\nk = 151\nclusterer");
    let page = page_of(&text, dir.path());
    let failed = failures(dir.path()).unwrap();
    assert!(failed.len() >= 12, "{}", failed.len());
    let named = format!("<a href=\"#failed\">Failed</a>:</b> {} of ", failed.len());
    assert!(
        page.contains(&named)
            && page.contains("plain (digits, iris")
            && page.contains("<h2 id=\"failed\">"),
        "{named}"
    );
    let command = format!("mustlink retry {} --cell ", dir.path().display());
    // Below its message, which has room.
    assert!(page.contains("<td class=\"w\">") && page.contains(&format!("<code>{command}")));
    let identity = page.split(&command).nth(1).unwrap().split('<').next().unwrap();
    let lines = std::fs::read_to_string(dir.path().join("cells.csv")).unwrap();
    assert!(lines.contains(&format!("iris,plain,0,0,{identity}")), "{identity}");
    let outcome = retry_cell(dir.path(), identity, &[], &RunOptions::to(dir.path())).unwrap();
    assert_eq!((outcome.done, outcome.failed.len()), (1, 1));
    let good =
        lines.lines().find(|l| l.starts_with("iris,asked")).unwrap().rsplit(',').next().unwrap();
    let refused = |identity: &str| {
        let options = RunOptions::to(dir.path());
        retry_cell(dir.path(), identity, &[], &options).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(good).contains(&format!("has no failure in cell {good}")));
    assert!(refused("0123456789abcdef").contains("has no cell 0123456789abcdef"));
}

#[test]
fn cells_that_failed_are_counted_where_they_failed() {
    let dir = tempfile::tempdir().unwrap();
    let text = STUDY
        .replace(
            "id = \"asked\"\nclusterer = \"pck_means\"",
            "id = \"asked\"\nclusterer = \"cop_kmeans\"",
        )
        .replace(
            "\"random_pairs\"",
            "\"random_pairs\"\noracle = { type = \"noisy\", flip_rate = 0.3 }",
        )
        .replace("points = [0, 10, 20]", "points = [0, 400]");
    let page = page_of(&text, dir.path());
    assert!(page.contains("If all cells of a point failed, the line has no point there."));
    let tables = std::fs::read_to_string(dir.path().join("tables.md")).unwrap();
    let line = |head: &str| {
        let after = tables.split(&format!("**{head} ↑**")).nth(1).unwrap();
        after.lines().find(|l| l.starts_with("| iris")).unwrap().to_string()
    };
    // Without a question no answer is wrong: every cell has a score there.
    assert!(line("ari at 400").contains("| 6 failed |"), "{tables}");
    assert!(!line("ari at 0").contains("failed"), "{tables}");
    assert!(
        tables.contains("selection included. Cells that failed at this point are left out."),
        "{tables}"
    );
    // A sum over fewer data sets would look like a saving.
    let seconds = tables.split("**seconds**").nth(1).unwrap();
    let sums = seconds.lines().find(|l| l.starts_with("| sum |")).unwrap();
    let sums: Vec<&str> = sums.split('|').map(str::trim).collect();
    assert!(sums[2].parse::<f64>().is_ok_and(|s| s > 0.0) && sums[3] == "–", "{tables}");
}

#[test]
fn a_record_that_no_row_has_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{STUDY}\n[stats]\nrecords = [\"violation\", \"lower_bound\"]\n");
    page_of(&text, dir.path());
    let said = "No row has a number \"violation\"; did you mean \"violations\"?";
    let table = report(dir.path()).unwrap().table;
    assert!(
        table.contains(&format!("\n{said}\n")) && !table.contains("\"lower_bound\""),
        "{table}"
    );
    let tables = std::fs::read_to_string(dir.path().join("tables.md")).unwrap();
    assert!(tables.contains(said), "{tables}");
}

#[test]
fn areas_stand_in_a_file_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let page = page_of(STUDY, dir.path());
    assert!(page.contains("<pre id=\"areas.csv\">dataset,metric,method,mean,"));
    let means = |file: &str, line: &str, at: usize| -> Vec<f64> {
        let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
        let lines = text.lines().filter(|l| l.starts_with(line));
        lines.map(|l| l.split(',').nth(at).unwrap().parse().unwrap()).collect()
    };
    let points = means("summary.csv", "iris,ari,asked,", 4);
    let area = means("areas.csv", "iris,ari,asked,", 3);
    let expected = (points[0] + 2.0 * points[1] + points[2]) / 4.0;
    assert!(area.len() == 1 && (area[0] - expected).abs() < 1e-12, "{area:?} {points:?}");
    // A curve of one point has none.
    page_of(&STUDY.replace("points = [0, 10, 20]", "points = [10]"), dir.path());
    assert!(!dir.path().join("areas.csv").exists());
}

#[test]
fn what_moved_is_said_and_stays_said() {
    let dir = tempfile::tempdir().unwrap();
    let first = page_of(STUDY, dir.path());
    assert!(!first.contains("What moved since the last report"));
    let second = page_of(&STUDY.replace("repeats = 3", "repeats = 4"), dir.path());
    assert!(second.contains("What moved since the last report"));
    report(dir.path()).unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("report.html")).unwrap(), second);
}

#[test]
fn nothing_is_left_of_what_was_taken_out() {
    let claim =
        "\n[[criterion]]\nid = \"c\"\nstatement = \"s\"\ncheck = \"last(ari('plain')) > 0\"\n";
    let dir = tempfile::tempdir().unwrap();
    page_of(&format!("{STUDY}{claim}"), dir.path());
    let has = |file: &str| dir.path().join(file).exists();
    let of_several = ["verdicts.csv", "statistics.csv", "supervision.csv", "figures/ranks-ari.svg"];
    assert!(of_several.iter().all(|f| has(f)));
    std::fs::write(dir.path().join("figures/mine.svg"), "mine").unwrap();
    // Links of a page that somebody else wrote.
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    let others = "<figure data-files=\"../config.json .\"></figure>";
    std::fs::write(dir.path().join("report.html"), page + others).unwrap();
    let alone = STUDY.split("[[method]]\nid = \"asked\"").next().unwrap();
    page_of(alone, dir.path());
    assert!(of_several.iter().all(|f| !has(f)) && has("config.json"));
    assert!(
        !has("figures/ranks-ari.csv") && has("figures/iris-ari.svg") && has("figures/mine.svg")
    );
}

#[test]
fn small_numbers_without_bounds_have_more_decimals() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::from(
        "[experiment]\nname = \"t\"\n[scoring]\nmetrics = [\"sse\", \"ari\"]\n\
         [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n",
    );
    for (name, before, after) in [("small", "0.000", "5"), ("large", "1", ".5")] {
        let rows: String = (0..8).map(|i| format!("{before}{i}{after},{}\n", i / 4)).collect();
        std::fs::write(dir.path().join(format!("{name}.csv")), format!("x,class\n{rows}")).unwrap();
        text += &format!("[[dataset]]\nid = \"{name}\"\npath = \"{name}.csv\"\n");
    }
    let experiment = Experiment::parse("t.toml", &text, dir.path(), &[]).unwrap();
    let outcome = run(&experiment, &RunOptions::to(dir.path().join("out"))).unwrap();
    report(&outcome.out).unwrap();
    let tables = std::fs::read_to_string(outcome.out.join("tables.md")).unwrap();
    // Four values one apart on each side: a mean square of 1.25, in units of 1 and of .0001.
    for line in ["| small | 0.0000000125 |", "| large | 1.250 |", "| large | 1.000 |"] {
        assert!(tables.contains(line), "{line} is not in\n{tables}");
    }
}

#[test]
fn a_method_that_fails_everywhere_is_why_nothing_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    let bad = "[[method]]\nid = \"bad\"\nclusterer = { type = \"kmeans\", k = 200 }\n";
    let page = page_of(&format!("{STUDY}{bad}"), dir.path());
    let said = "<p>By ari methods are not compared over the data sets: on no two of them has each method a \
                score in every cell. Without one: bad (on all).</p>";
    assert!(page.contains(said), "{page}");
    assert!(!dir.path().join("statistics.csv").exists() && !page.contains("all of these numbers"));
    assert!(!page_of(STUDY, dir.path().join("good").as_path()).contains("are not compared over"));
}

#[test]
fn a_set_of_which_cells_are_missing_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    // Three sets that are embedded: one that is left by itself is not tested over sets.
    let claim =
        "\n[[criterion]]\nid = \"c\"\nstatement = \"s\"\ncheck = \"last(ari('plain')) > 0\"\n";
    page_of(&(STUDY.replace("\"wine\"\noptional = true", "\"wdbc\"") + claim), dir.path());
    let sets = || {
        let statistics = std::fs::read_to_string(dir.path().join("statistics.csv")).unwrap();
        let mut reader = csv::Reader::from_reader(statistics.as_bytes());
        let at = reader.headers().unwrap().iter().position(|h| h == "data_sets").unwrap();
        reader.records().next().unwrap().unwrap()[at].parse::<usize>().unwrap()
    };
    let before = sets();
    let unfinished = || {
        let files = ["tables.md", "tables.tex"].map(|f| dir.path().join(f));
        files.map(|f| std::fs::read_to_string(f).unwrap().matches("not finished: ").count())
    };
    assert_eq!(unfinished(), [0, 0]);
    let cells = std::fs::read_dir(dir.path().join("cells")).unwrap().map(|f| f.unwrap().path());
    let of_digits = |f: &std::path::PathBuf| {
        let text = std::fs::read_to_string(f).unwrap();
        text.contains("\"digits\"") && text.contains("\"asked\"")
    };
    std::fs::remove_file(cells.into_iter().find(of_digits).unwrap()).unwrap();
    let table = report(dir.path()).unwrap().table;
    assert_eq!(sets(), before - 1);
    // Beside claims as well, which are judged by what is there.
    let judged = "1 criteria: 1 reproduced, 0 partly, 0 not reproduced, 0 without data\n\nThe study is not finished: ";
    assert!(table.contains(judged), "{table}");
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    let criteria = page.split("Claims, judged").nth(1).unwrap();
    let criteria = criteria.split("verdicts.csv").next().unwrap();
    assert!(criteria.contains("The study is not finished: "), "{criteria}");
    // Under every table of scores, and of tests over the sets.
    let said = unfinished();
    assert!(said[0] > 3 && said[0] == said[1], "{said:?}");
}

#[test]
fn repeats_that_came_out_the_same_are_no_certainty() {
    let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\nrepeats = 3\n\
                [scoring]\nmetrics = [\"ari\"]\n[[method]]\nid = \"one\"\nclusterer = \"hierarchical\"\n\
                [[method]]\nid = \"two\"\nclusterer = { type = \"hierarchical\", linkage = \"single\" }\n";
    let holdout = text.replace("\"all\"", "\"holdout\"\ntest_fraction = 0.3");
    for (text, told) in [(text, true), (holdout.as_str(), false)] {
        let dir = tempfile::tempdir().unwrap();
        page_of(text, dir.path());
        let tables = std::fs::read_to_string(dir.path().join("tables.md")).unwrap();
        assert_eq!(tables.contains("all repeats have the same score"), told, "{tables}");
        assert!(!tables.contains("tests need more than one run"), "{tables}");
        assert!(!tables.contains("use the same objects"), "{tables}");
    }
    let dir = tempfile::tempdir().unwrap();
    page_of(&text.replace("repeats = 3", "repeats = 1"), dir.path());
    let tables = std::fs::read_to_string(dir.path().join("tables.md")).unwrap();
    assert!(tables.contains("Nothing is bold: tests need more than one run"), "{tables}");
    assert!(!tables.contains("at 5 %"), "{tables}");
    // Of one run at one point there are neither intervals nor areas.
    assert!(tables.contains("\nThe score of one run. ") && !tables.contains("area"), "{tables}");
    page_of(&text.replace("\"all\"", "\"kfold\"\nfolds = 2"), dir.path().join("k").as_path());
    let tables = std::fs::read_to_string(dir.path().join("k/tables.md")).unwrap();
    assert!(tables.contains("All repeats of a cross-validation use the same objects"), "{tables}");
}

#[test]
fn pictures_come_with_the_feature() {
    let dir = tempfile::tempdir().unwrap();
    let text = STUDY.replace("baseline = \"plain\"", "formats = [\"png\", \"pdf\"]");
    let outcome = run(&parse(&text), &RunOptions::to(dir.path())).unwrap();
    let made = report(&outcome.out);
    let file = |end: &str| std::fs::read(dir.path().join(format!("figures/iris-ari.{end}")));
    if cfg!(feature = "figures") {
        made.unwrap();
        assert!(file("png").unwrap().starts_with(b"\x89PNG"));
        assert!(file("pdf").unwrap().starts_with(b"%PDF"));
    } else {
        let said = made.map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("--features figures makes them"), "{said}");
    }
    assert!(file("svg").is_ok());
}

#[test]
fn a_baseline_is_a_method() {
    let text = STUDY.replace("baseline = \"plain\"", "baseline = \"plane\"");
    let said = Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap_err().to_string();
    assert!(
        said.contains("plot.baseline: no method has the id \"plane\"; did you mean \"plain\"?"),
        "{said}"
    );
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
fn a_tex_compiles_tables_and_references() {
    let dir = tempfile::tempdir().unwrap();
    page_of(STUDY, dir.path());
    let tables = std::fs::read_to_string(dir.path().join("tables.tex")).unwrap();
    assert!(
        tables.contains("\\caption{Scores: ari area $\\uparrow$. Mean $\\pm$ half width of the")
    );
    assert_eq!(tables.matches("\\caption{").count(), tables.matches("\\label{tab:").count());
    let tool = |name: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(name);
        command.args(arguments).current_dir(dir.path()).output()
    };
    if tool("pdflatex", &["--version"]).and(tool("bibtex", &["--version"])).is_err() {
        eprintln!("SKIPPED: there is no pdflatex with bibtex here, so nothing is compiled");
        return;
    }
    let sentence = Used::of(&parse(STUDY)).unwrap().sentence();
    let text = format!(
        "\\documentclass{{article}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage[T1]{{fontenc}}\n\
         \\usepackage{{booktabs,graphicx}}\n\\begin{{document}}\n{sentence}\n\\input{{tables}}\n\
         \\bibliographystyle{{plain}}\\bibliography{{all}}\n\\end{{document}}\n"
    );
    std::fs::write(dir.path().join("t.tex"), text).unwrap();
    std::fs::write(dir.path().join("all.bib"), own_entry() + REFERENCES).unwrap();
    for (name, arguments) in [
        ("pdflatex", &["-interaction=nonstopmode", "-halt-on-error", "t"][..]),
        ("bibtex", &["t"]),
        ("pdflatex", &["-interaction=nonstopmode", "-halt-on-error", "t"]),
    ] {
        let made = tool(name, arguments).unwrap();
        let said = String::from_utf8_lossy(&made.stdout);
        assert!(made.status.success(), "{said}");
        assert!(!said.contains("Overfull \\hbox"), "{said}");
    }
}

/// A study of twelve methods on fifteen small data sets, of which one method fails on the first and two learn weights.
fn large_study(dir: &Path) -> Experiment {
    let mut text = String::from(
        "[experiment]\nname = \"large\"\n[split]\ntype = \"holdout\"\ntest_fraction = 0.5\nrepeats = 3\n\
         [curve]\npoints = [0, 10, 20, 30]\n[scoring]\nmetrics = [\"ari\", \"nmi_arith\"]\nscope = \"test\"\n\
         [plot]\nbaseline = \"k-means\"\n[[method]]\nid = \"k-means\"\nclusterer = \"kmeans\"\n\
         [[method]]\nid = \"k-means, clusters of seven\"\n\
         clusterer = { type = \"size_constrained_kmeans\", min_size = 7 }\n",
    );
    let mut asks = |id: &str, clusterer: &str, selector: &str| {
        text += &format!("[[method]]\nid = \"{id}, {selector}\"\nclusterer = {clusterer}\n");
        text += &format!("selector = \"{selector}\"\n");
    };
    for name in ["mpck_means", "cop_kmeans", "seeded_kmeans", "lcvqe"] {
        asks(name, &format!("\"{name}\""), "random_pairs");
    }
    asks("mpck_means", "\"mpck_means\"", "explore_consolidate");
    for weight in ["0.1", "0.3", "1.0", "3.0", "10.0"] {
        let clusterer = format!("{{ type = \"pck_means\", weight = {weight} }}");
        asks(&format!("pck_means, weight {weight}"), &clusterer, "random_pairs");
    }
    const FEATURES: u32 = 12;
    for set in 0..15 {
        let noise = |row: u32, column: u32| f64::from((row * 71 + column * 37 + set * 53) % 100);
        let row = |row: u32| {
            // Classes overlap, the more the later the set is.
            let spread = 0.5 + f64::from(set) / 10.0;
            let x = |column| f64::from(row % 3) * 40.0 + noise(row, column) * spread;
            let values: String = (0..FEATURES).map(|column| format!("{},", x(column))).collect();
            format!("{values}{}\n", row % 3)
        };
        let rows: String = (0..if set == 0 { 18 } else { 24 }).map(row).collect();
        let names: String = (0..FEATURES).map(|column| format!("feature {column},")).collect();
        let file = format!("set{set}.csv");
        std::fs::write(dir.join(&file), format!("{names}class\n{rows}")).unwrap();
        text += &format!("[[dataset]]\nid = \"data set {set}\"\npath = \"{file}\"\n");
    }
    Experiment::parse("t.toml", &text, dir, &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_report_of_twelve_methods_on_fifteen_sets_can_be_mailed() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = run(&large_study(dir.path()), &RunOptions::to(dir.path().join("out"))).unwrap();
    assert_eq!(outcome.total, 12 * 15 * 3);
    let page = std::fs::read_to_string(report(&outcome.out).unwrap().page).unwrap();
    assert!(page.len() <= 1_500_000, "{} bytes", page.len());
    // A mark ends after its title; otherwise it would contain, and hide, the marks that follow.
    assert!(page.contains("</title></rect>") && !page.contains("</title/>"));
    // All of it is there: a curve and the confidence for each set and metric, and the weights of two methods.
    let figures = page.matches("<figure").count();
    assert!(figures >= 4 * 15 + 2 * 15, "{figures}");
    // Before the first table and figure: the best method, whether its lead may be chance, and what failed.
    let (above, _) = page.split_once("<nav").unwrap();
    assert!(!above.contains("<table") && !above.contains("<figure"));
    let (_, answer) = above.split_once("<div class=\"answer\">").unwrap();
    let lead =
        answer.split_once("<p class=\"lead\">By ari: ").unwrap().1.split_once("</p>").unwrap().0;
    assert!(lead.contains(" best m"), "{lead}");
    assert!(lead.contains("may be chance") || lead.contains("significantly better"), "{lead}");
    assert!(
        answer.contains("<b>By how much:</b> ") && answer.contains(" ahead of the next, "),
        "{answer}"
    );
    let failed = "Failed</a>:</b> 3 of 540 cells: k-means, clusters of seven (data set 0).";
    assert!(answer.contains(failed), "{answer}");
}
