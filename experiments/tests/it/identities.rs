//! Names of cells. Finished cells are found again only under the names that they were stored with.

use mustlink as _;
use std::fs;

use mustlink_experiments::results::{CellRows, finished};
use mustlink_experiments::{Experiment, RunOptions, run};
use serde_json::Value;

const STUDY: &str = r#"
[experiment]
name = "golden"
seed = 3
ensemble_per = "repeat"
[split]
type = "kfold"
folds = 2
[[dataset]]
id = "iris"
class_sizes = { Iris-setosa = 20, Iris-versicolor = 20 }
transforms = [{ type = "pca", components = 2 }]
[[dataset]]
id = "points"
path = "points.csv"
labels = "known"
[[method]]
id = "own k"
clusterer = { type = "kmeans", k = "classes", restarts = 1 }
[[method]]
id = "cobra"
selector = { type = "cobra", super_instances = 4 }
[curve]
points = "from_run(cobra)"
"#;

#[test]
fn cells_keep_their_names_and_methods_the_k_of_each_data_set() {
    let dir = tempfile::tempdir().unwrap();
    let points = "x,y,known,class\n0,0,a,a\n0.5,0,,a\n5,5,b,b\n5,5.5,,b\n";
    fs::write(dir.path().join("points.csv"), points).unwrap();
    let experiment = Experiment::parse("study.toml", STUDY, dir.path(), &[]).unwrap();
    let out = dir.path().join("out");
    run(&experiment, &RunOptions { threads: Some(1), ..RunOptions::to(&out) }).unwrap();
    let cells = finished(&out).unwrap().cells;
    // The name without the code that made the rows, as commit a78df2ba stored it.
    let name = |cell: &CellRows| {
        let file = out.join("cells").join(format!("{}.jsonl", cell.identity));
        let text = fs::read_to_string(file).unwrap();
        let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        head["of_any_build"].as_str().unwrap().to_string()
    };
    for (dataset, method, fold, stored, k) in [
        ("iris", "own k", 0, "cc9332ef07db1dee", 3),
        ("points", "own k", 0, "45c06ef0397063d8", 2),
        ("points", "cobra", 1, "d3c8014627025615", 2),
    ] {
        let is_wanted = |cell: &&CellRows| {
            (&*cell.dataset, &*cell.method, cell.rows[0].fold) == (dataset, method, fold)
        };
        let cell = cells.iter().find(is_wanted).unwrap();
        assert_eq!((name(cell).as_str(), cell.rows[0].k), (stored, Some(k)), "{dataset}, {method}");
    }
}
