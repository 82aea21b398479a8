//! Inputs that need too much memory are rejected with an error that names the amount.

use std::process::{Command, Stdio};

use super::support::Bench;

/// Runs the program with this much address space, in KiB.
fn within(bench: &Bench, kib: u64, arguments: &str) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_mustlink");
    let done = Command::new("sh")
        .args(["-c", &format!("ulimit -v {kib} && exec {program} {arguments}")])
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

/// So many rows of two values.
fn rows(n: usize) -> String {
    let row = |i: usize| format!("{}.{},{},{}\n", i % 7, i % 1000, (i * i) % 11, i % 3);
    "a,b,class\n".to_string() + &(0..n).map(row).collect::<String>()
}

/// The same without the column of classes, whose texts count too.
fn numbers(n: usize) -> String {
    let line = |line: &str| format!("{}\n", line.rsplit_once(',').expect("a comma").0);
    rows(n).lines().map(line).collect()
}

#[test]
fn a_limit_of_address_space_is_a_limit_of_memory() {
    let bench = Bench::with("many.csv", rows(60_001));
    let (status, _, err) =
        within(&bench, 8_000_000, "cluster --data many.csv --k 3 --clusterer hierarchical");
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("memory: about 13.4 GiB is needed"), "{err}");
}

#[test]
fn no_number_of_an_option_is_allocated() {
    let bench = Bench::with("few.csv", rows(40));
    for (clusterer, option) in [
        ("kmeans", "restarts=9223372036854775807"),
        ("constrained_em", "restarts=1000000001"),
        ("dbscan", "min_points=4294967295"),
    ] {
        let line = format!(
            "cluster --data few.csv --k 3 --clusterer {clusterer} --set clusterer.{option}"
        );
        let done = bench.run(&line);
        assert_eq!(done.status, 2, "{line}: {}", done.err);
        assert!(done.err.contains("at most 1000000000, got"), "{}", done.err);
    }
}

#[test]
fn a_cell_beyond_the_limit_fails_alone() {
    let bench = Bench::with("many.csv", rows(60_001));
    bench.write(
        "e.toml",
        "[experiment]\nname = \"e\"\nseed = 1\n\
         [[dataset]]\nid = \"many\"\npath = \"many.csv\"\n\
         [[method]]\nid = \"tree\"\nclusterer = \"hierarchical\"\n\
         [[method]]\nid = \"means\"\nclusterer = { type = \"kmeans\", restarts = 1 }\n",
    );
    let (status, out, err) = within(&bench, 8_000_000, "run e.toml --out results");
    assert_eq!(status, 1, "{out}{err}");
    let cells = bench.read("results/results.csv");
    let line = |method: &str| {
        cells.lines().find(|l| l.contains(&format!(",{method},"))).expect("a cell").to_string()
    };
    assert!(line("tree").contains("13.4 GiB"), "{cells}");
    assert!(line("means").contains(",ok,"), "{cells}");
}

#[test]
fn a_cell_has_a_limit_of_its_own() {
    let bench = Bench::new();
    bench.write(
        "e.toml",
        "[experiment]\nname = \"e\"\nseed = 1\n[[dataset]]\nid = \"iris\"\n\
         [[method]]\nid = \"means\"\nclusterer = \"kmeans\"\n",
    );
    let small = bench.run("run e.toml --out r --cell-memory 1KiB --quiet");
    assert_eq!(small.status, 1, "{}", small.err);
    let rows = bench.read("r/results.csv");
    assert!(rows.contains("more than the limit 1.0 KiB; raise --cell-memory"), "{rows}");
    let refused = bench.run("run e.toml --out r --cell-memory much");
    assert_eq!(refused.status, 2, "{}", refused.err);
    // With more of it the cell is made after all, by `retry`.
    assert_eq!(bench.run("run e.toml --out r --cell-memory 1GiB --quiet").status, 1);
    let again = bench.run("retry r --quiet");
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(!bench.read("r/results.csv").contains("memory"), "{}", again.err);
    let parquet = std::fs::read(bench.path("r/results.parquet"));
    assert_eq!(parquet.is_ok(), cfg!(feature = "parquet"));
    let whole = |p: Vec<u8>| p.starts_with(b"PAR1") && p.ends_with(b"PAR1");
    assert!(parquet.is_ok_and(whole) == cfg!(feature = "parquet"));
}

/// The figure of a refusal in MiB.
fn needed(text: &str) -> f64 {
    let figure = text.split("about ").nth(1).and_then(|rest| rest.split(" MiB").next());
    figure.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn data_beyond_the_limit_are_not_read() {
    let bench = Bench::new();
    let mut npy = Vec::new();
    mustlink_kernels::npy::write_header(&mut npy, "<f8", &[1 << 20, 1000]).unwrap();
    bench.write("large.npy", &npy);
    let file = std::fs::File::options().write(true).open(bench.path("large.npy")).unwrap();
    // Without a byte on disk.
    file.set_len(npy.len() as u64 + (8000 << 20)).unwrap();
    let refused =
        bench.run("cluster --data large.npy --k 3 --clusterer kmeans --memory-limit 1MiB");
    let said = "large.npy: memory: about 7.8 GiB is needed, more than the limit 1.0 MiB";
    assert!(refused.status == 2 && refused.err.contains(said), "{}", refused.err);
    let head = "%%MatrixMarket matrix coordinate real general\n";
    bench.write("large.mtx", format!("{head}1000 1000 1000000\n1 1 1\n"));
    bench.write("large.csv", rows(200_001));
    for file in ["large.mtx", "large.csv"] {
        let done = bench.run(&format!("cluster --data {file} --k 3 --memory-limit 1MiB"));
        let said = format!("{file}: memory: about ");
        assert!(done.status == 2 && done.err.contains(&said), "{}", done.err);
    }
}

/// Only the numbers of a CSV counted.
#[test]
fn texts_and_constraints_beyond_the_limit_are_refused() {
    let rows = |cell: &dyn Fn(usize) -> String| -> String {
        (0..20_000).map(|i| format!("{},{}.5,{}.25\n", cell(i), i % 7, i % 5)).collect()
    };
    let bench = Bench::with("ids.csv", format!("id,a,b\n{}", rows(&|i| format!("{i:040}"))));
    let word = "x".repeat(40);
    bench.write("classes.csv", format!("kind,a,b\n{}", rows(&|i| format!("{word}{}", i % 3))));
    bench.write("few.csv", "one,two,three\na,a,b\na,a,b\nb,b,b\n");
    bench.write("pairs.csv", format!("i,j,type\n{}", "0,1,must_link\n".repeat(100_000)));
    for (line, place) in [
        ("cluster --data ids.csv --id id --k 3", "ids.csv"),
        ("cluster --data classes.csv --class kind --k 3", "classes.csv"),
        ("cluster --data iris --k 3 --constraints pairs.csv", "pairs.csv"),
        ("consensus few.csv --k 2 --constraints pairs.csv", "pairs.csv"),
    ] {
        let done = bench.run(&format!("{line} --quiet --memory-limit 1MiB"));
        let said = format!("error: {place}: memory: about ");
        assert!(done.status == 2 && done.err.starts_with(&said), "{line}: {}", done.err);
    }
}

#[test]
fn constraints_of_an_experiment_beyond_the_limit_are_refused() {
    let bench = Bench::with(
        "e.toml",
        "[experiment]\nname = \"e\"\n[[dataset]]\nid = \"iris\"\nconstraints = \"pairs.csv\"\n\
         [[method]]\nid = \"means\"\nclusterer = \"pck_means\"\n",
    );
    bench.write("pairs.csv", format!("i,j,type\n{}", "0,1,must_link\n".repeat(100_000)));
    let done = bench.run("run e.toml --out results --quiet --memory-limit 1MiB");
    let place = done.err.starts_with("error: dataset iris: ");
    let said = place && done.err.contains("pairs.csv: memory: about ");
    assert!(done.status == 2 && said, "{}", done.err);
}

#[test]
fn the_limit_counts_data_transforms_and_method_together() {
    let bench = Bench::with("many.csv", numbers(60_001));
    let cluster = |limit: f64, more: &str| {
        let limit = (limit * 1024.0) as u64;
        let means = "{type=\"kmeans\",restarts=1,max_iterations=1}";
        bench.run(&format!(
            "cluster --data many.csv --k 3 --clusterer '{means}' --memory-limit {limit}KiB{more}"
        ))
    };
    let steps = " --set 'transforms=[\"min_max\"]'";
    let alone = needed(&cluster(1.5, "").err);
    assert_eq!(cluster(alone + 0.1, "").status, 0);
    // The step needs data and result; the method needs both and what it declares.
    let step = cluster(alone + 0.1, steps);
    assert!(step.status == 2 && step.err.contains("transforms[0]: memory: "), "{}", step.err);
    let method = cluster(needed(&step.err) + 0.1, steps);
    let together = needed(&method.err);
    // The data as they were read, 60 001 × 2 with a norm each.
    assert!(method.status == 2 && together > alone + 1.2, "{alone}, {together}: {}", method.err);
    assert_eq!(cluster(together + 0.1, steps).status, 0);
}

#[test]
fn partitions_and_new_objects_beyond_the_limit_are_refused() {
    let bench = Bench::with("p.csv", "one,two\n".to_string() + &"0,1\n1,0\n".repeat(100_000));
    bench.write("three.csv", "one\n0\n0\n1\n");
    bench.write("few.csv", rows(40));
    bench.write("many.csv", numbers(60_001));
    bench.write("large.csv", rows(200_001));
    let model = "cluster --data few.csv --k 3 --clusterer kmeans --set 'transforms=[\"min_max\"]' --save-model m.json";
    assert_eq!(bench.run(model).status, 0);
    for (line, place) in [
        ("consensus p.csv --memory-limit 1MiB", "p.csv"),
        ("consensus three.csv --data large.csv --memory-limit 1MiB", "large.csv"),
        ("predict --model m.json --data large.csv --memory-limit 1MiB", "large.csv"),
        // The data alone would fit.
        ("predict --model m.json --data many.csv --memory-limit 1200KiB", "steps[0]"),
    ] {
        let done = bench.run(line);
        let said = format!("error: {place}: memory: about ");
        assert!(done.status == 2 && done.err.starts_with(&said), "{line}: {}", done.err);
    }
    let done = bench.run("predict --model m.json --data many.csv --memory-limit 16MiB --out l.csv");
    assert_eq!(done.status, 0, "{}", done.err);
}

/// The largest memory of the program, in bytes.
#[cfg(target_os = "linux")]
fn peak(bench: &Bench, line: &str) -> u64 {
    let words = super::support::words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = bench.command(&words);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let (status, mut kib) = (format!("/proc/{}/status", child.id()), 0);
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let figure = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
        let now = figure.and_then(|figure| figure.trim().parse().ok());
        kib = u64::max(kib, now.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().expect("a status").success(), "{line}");
    1024 * kib
}

#[test]
#[cfg(target_os = "linux")]
fn predictions_are_written_without_memory_for_each_object() {
    let n = 300_000;
    let bench = Bench::with("few.csv", rows(40));
    bench.write("many.csv", rows(n));
    let model = "cluster --data few.csv --k 3 --clusterer kmeans --save-model m.json";
    assert_eq!(bench.run(model).status, 0);
    let predict = "predict --model m.json --data many.csv --out l.csv";
    let label = peak(&bench, predict);
    let more = peak(&bench, &format!("{predict} --classes --distances"));
    // Texts of two more columns took 112 bytes for each object.
    assert!(more < label + 40 * n as u64, "{label}, {more}");
}

#[test]
#[cfg(target_os = "linux")]
fn violations_are_written_without_memory_for_each_pair() {
    // Each of two clusters breaks the pairs inside it, half of the 719 400 of the group.
    let row = |i: usize| format!("{}.5,{}.5,one\n", i % 2 * 100, i % 7);
    let bench =
        Bench::with("g.csv", "a,b,photo\n".to_string() + &(0..1200).map(row).collect::<String>());
    let cluster = "cluster --data g.csv --apart photo --clusterer kmeans --k 2 --quiet";
    let alone = peak(&bench, cluster);
    let listed = peak(&bench, &format!("{cluster} --violations v.csv"));
    assert_eq!(bench.read("v.csv").lines().count(), 1 + 2 * (600 * 599 / 2));
    // Each pair took more than 100 bytes.
    assert!(listed < alone + (20 << 20), "{alone}, {listed}");
}
