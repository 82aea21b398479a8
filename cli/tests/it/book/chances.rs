//! How sure the order of the methods of the atlas is: the tables follow from the rows of the studies.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use mustlink_report::statistics::effect::{Effect, effect};
use mustlink_report::statistics::plackett_luce::{Worth, worths};
use mustlink_report::statistics::several::friedman;

use super::atlas::{Means, hold, means};
use super::{read, root};

/// Ways of choosing, which are not methods to use.
const WAYS: [&str; 3] = ["best-score-alone", "cvcp-folds", "cobs"];
/// Baseline of the effects.
const PLAIN: &str = "z-kmeans";
/// Number of methods of a study in the tables, the largest chances first.
const FIRST: usize = 4;

/// The methods of a study on its sets, in the order of their names.
struct Field {
    methods: Vec<String>,
    sets: Vec<String>,
    /// A row per set, an ARI per method.
    rows: Vec<Vec<f64>>,
}

impl Field {
    fn new(all: &Means) -> Field {
        let methods: Vec<String> =
            all.keys().filter(|m| !WAYS.contains(&m.as_str())).cloned().collect();
        let sets: Vec<String> = all["auto"].keys().cloned().collect();
        let row = |set: &String| methods.iter().map(|m| all[m][set]).collect();
        let rows = sets.iter().map(row).collect();
        Field { methods, sets, rows }
    }

    /// Its rows of the sets that `keep` names.
    fn of(&self, keep: &BTreeSet<String>) -> Vec<Vec<f64>> {
        let both = self.sets.iter().zip(&self.rows);
        both.filter(|(set, _)| keep.contains(*set)).map(|(_, row)| row.clone()).collect()
    }

    fn at(&self, method: &str) -> usize {
        self.methods.iter().position(|m| m == method).expect("a method")
    }
}

fn fields() -> [Field; 4] {
    [
        means("answers.csv", "20"),
        means("answers.csv", "50"),
        means("answers.csv", "100"),
        means("wrong-answers.csv", "100"),
    ]
    .each_ref()
    .map(Field::new)
}

fn chances(rows: &[Vec<f64>]) -> Vec<Worth> {
    worths(rows, 0.95, 1).expect("rankings")
}

/// Numbers of methods by their chance, the largest first.
fn order(chances: &[Worth]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*b].mean.total_cmp(&chances[*a].mean));
    order
}

/// The parts of each method of the study, by its name there.
fn made_of() -> BTreeMap<String, String> {
    let study = read(&root().join("experiments/atlas/answers.toml"));
    let study: toml::Table = study.parse().expect("a study");
    let name = |method: &toml::Value| {
        let clusterer = &method["clusterer"];
        let mut words: Vec<&str> = Vec::new();
        words.extend(clusterer.as_str());
        if let Some(options) = clusterer.as_table() {
            words.extend(options["type"].as_str());
            let others = options
                .iter()
                .filter(|(key, _)| ["linkage", "covariance", "metric"].contains(&key.as_str()));
            words.extend(others.filter_map(|(_, value)| value.as_str()));
        }
        let transforms = method.get("transforms").and_then(toml::Value::as_array);
        let mut steps: Vec<String> = transforms
            .into_iter()
            .flatten()
            .filter_map(|t| Some(t.as_str()?.to_string()))
            .collect();
        steps.push(words.join(" "));
        (method["id"].as_str().expect("an id").to_string(), format!("`{}`", steps.join(" + ")))
    };
    study["method"].as_array().expect("methods").iter().map(name).collect()
}

pub(crate) fn short(number: f64, digits: usize) -> String {
    format!("{number:.digits$}").replacen("0.", ".", 1)
}

#[test]
fn the_tables_of_chances_are_current() {
    let (fields, names) = (fields(), made_of());
    let chances = fields.each_ref().map(|f| chances(&f.rows));
    let mut shown: BTreeSet<&str> = BTreeSet::from([PLAIN]);
    for (field, chances) in fields.iter().zip(&chances) {
        shown.extend(order(chances)[..FIRST].iter().map(|&i| field.methods[i].as_str()));
    }
    let at = |study: usize, method: &str| chances[study][fields[study].at(method)];
    let mut lines: Vec<&str> = shown.into_iter().collect();
    lines.sort_by(|a, b| at(2, b).mean.total_cmp(&at(2, a).mean));

    let studies = "20 | 50 | 100 | 100, a tenth wrong |\n";
    let mut table = format!("| chance of being best | {studies}|---|---|---|---|---|\n");
    for method in &lines {
        let cell = |study: usize| {
            let Worth { mean, interval: (low, high) } = at(study, method);
            format!("{} [{}, {}]", short(mean, 2), short(low, 2), short(high, 2))
        };
        table += &format!("| {} | {} |\n", names[*method], [0, 1, 2, 3].map(cell).join(" | "));
    }
    hold("| chance of being best |", &table);

    let mut table = format!("| mean rank of 39; sets on which it is first | {studies}");
    table += "|---|---|---|---|---|\n";
    for method in &lines {
        let cell = |field: &Field| {
            let mine = field.at(method);
            let best = |row: &&Vec<f64>| row.iter().all(|ari| *ari <= row[mine] + 1e-9);
            let rank = friedman(&field.rows).expect("ranks").ranks[mine];
            format!("{rank:.1}; {}", field.rows.iter().filter(best).count())
        };
        table += &format!("| {} | {} |\n", names[*method], fields.each_ref().map(cell).join(" | "));
    }
    hold("| mean rank of 39;", &table);

    let mut table = format!("| ARI more than {} | {studies}", names[PLAIN]);
    table += "|---|---|---|---|---|\n";
    for method in lines.iter().filter(|m| **m != PLAIN) {
        let cell = |field: &Field| {
            let (mine, plain) = (field.at(method), field.at(PLAIN));
            let differences: Vec<f64> = field.rows.iter().map(|r| r[mine] - r[plain]).collect();
            let Effect { shift, interval, .. } = effect(&differences, 0.95).expect("differences");
            let (low, high) = interval.expect("twelve sets");
            let signed = |x: f64| format!("{x:+.2}").replacen("0.", ".", 1).replace('-', "−");
            format!("{} [{}, {}]", signed(shift), signed(low), signed(high))
        };
        table += &format!("| {} | {} |\n", names[*method], fields.each_ref().map(cell).join(" | "));
    }
    hold("| ARI more than", &table);
}

/// A set of the studies: its size, features, classes, and members of its smallest class for one of its largest.
struct Set {
    name: String,
    n: f64,
    d: f64,
    classes: f64,
    balance: f64,
}

fn sets() -> Vec<Set> {
    let text = read(&root().join("experiments/atlas/sets.csv"));
    let set = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| -> f64 { cells[at].parse().expect("a number") };
        let (name, balance) = (cells[0].to_string(), number(4) / number(5));
        Set { name, n: number(1), d: number(2), classes: number(3), balance }
    };
    text.lines().skip(1).map(set).collect()
}

#[test]
fn the_table_of_chances_by_kind_is_current() {
    let (fields, names, sets) = (fields(), made_of(), sets());
    assert!(fields.iter().all(|f| f.sets.iter().eq(sets.iter().map(|s| &s.name))));
    type Kind = (&'static str, fn(&Set) -> bool);
    let kinds: [Kind; 8] = [
        ("at most 208 objects", |s| s.n <= 208.0),
        ("214 objects and more", |s| s.n >= 214.0),
        ("at most 13 features", |s| s.d <= 13.0),
        ("16 features and more", |s| s.d >= 16.0),
        ("two classes", |s| s.classes == 2.0),
        ("three classes and more", |s| s.classes > 2.0),
        ("smallest class at least .6 of the largest", |s| s.balance >= 0.6),
        ("smallest class less than .6 of it", |s| s.balance < 0.6),
    ];
    let mut table = String::from(
        "| six of the sets | 20 | 50 | 100 | 100, a tenth wrong |\n|---|---|---|---|---|\n",
    );
    for (kind, is) in kinds {
        let keep: BTreeSet<String> =
            sets.iter().filter(|s| is(s)).map(|s| s.name.clone()).collect();
        assert_eq!(keep.len(), 6, "{kind}");
        let cell = |field: &Field| {
            let chances = chances(&field.of(&keep));
            let auto = field.at("auto");
            let best = order(&chances).into_iter().find(|m| *m != auto).expect("another method");
            let chance = |m: usize| short(chances[m].mean, 2);
            format!("{}; {} {}", chance(auto), names[&field.methods[best]], chance(best))
        };
        table += &format!("| {kind} | {} |\n", fields.each_ref().map(cell).join(" | "));
    }
    hold("| six of the sets |", &table);
}

/// If the data exist, the properties of the sets are those of its manifest.
#[test]
fn the_sets_are_as_the_manifest_says() {
    let Some(folder) = std::env::var_os("MUSTLINK_DATA") else {
        let note: &[u8] = b"skipped: the atlas beside its manifest needs MUSTLINK_DATA\n";
        let _ = std::io::stderr().write_all(note);
        return;
    };
    let path = std::path::Path::new(&folder).join("MANIFEST.csv");
    let mut manifest = csv::Reader::from_path(&path).expect("a manifest");
    let listed: Vec<BTreeMap<String, String>> =
        manifest.deserialize().collect::<Result<_, _>>().expect("a table");
    for set in sets() {
        let Some(line) = listed.iter().find(|l| l["name"] == set.name) else { continue };
        let sizes = line["class_sizes"].split_whitespace();
        let sizes: Vec<f64> =
            sizes.map(|s| s.rsplit(':').next().unwrap().parse().expect("a size")).collect();
        let balance = sizes.iter().copied().fold(f64::MAX, f64::min)
            / sizes.iter().copied().fold(0.0, f64::max);
        let number = |of: &str| line[of].parse::<f64>().expect("a number");
        let found = (set.n, set.d, set.classes, set.balance);
        assert_eq!(found, (number("n"), number("d"), number("k"), balance), "{}", set.name);
    }
}
