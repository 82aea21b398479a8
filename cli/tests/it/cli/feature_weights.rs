//! `cluster --weights`: the weights of features that a method learned.

use super::support::Bench;

#[test]
fn weights_of_features_are_written_under_their_names() {
    let bench = Bench::new();
    bench.write("line.csv", "name,x,still,y,class\na,0,7,1,p\nb,1,7,9,p\nc,20,7,2,q\nd,21,7,8,q\n");
    let method = "transforms = [\"drop_constant\"]\nclusterer = { type = \"lac\", h = 5.0 }\n";
    bench.write("lac.toml", method);
    let run = |arguments: &str| {
        bench.run(&format!("cluster --data line.csv --id name --k 2 {arguments}"))
    };
    let done = run("--method lac.toml --weights w.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("weights      w.csv\n"), "{}", done.out);
    let text = bench.read("w.csv");
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(lines[0], ["cluster", "x", "y"]);
    assert_eq!((lines[1][0], lines[2][0], lines.len()), ("0", "1", 3));
    for line in &lines[1..] {
        let (x, y): (f64, f64) = (line[1].parse().unwrap(), line[2].parse().unwrap());
        assert!(x > y && (x + y - 1.0).abs() < 1e-12, "{text}");
    }

    // A metric that a transform learned holds for all clusters, in the features before it.
    bench.write("pairs.csv", "i,j,type\na,b,must_link\nc,d,must_link\na,c,cannot_link\n");
    bench.write("rca.toml", "transforms = [\"drop_constant\", \"rca\"]\nclusterer = \"kmeans\"\n");
    let done = run("--method rca.toml --constraints pairs.csv --weights - --out l.csv --quiet");
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!((lines[0], lines.len()), ("cluster,x,y", 2), "{}", done.err);
    assert!(lines[1].starts_with("all,"));

    // A feature that hardly varies weighs most, and says nothing.
    let line = |at: usize| format!("{}.25,{}.5,0.5\n", at % 17, at * at % 23);
    bench.write("flat.csv", "x,y,lip\n".to_string() + &(0..30).map(line).collect::<String>());
    let done =
        bench.run("cluster --data flat.csv --features all --k 2 --clusterer mpck_means --weights fw.csv --quiet");
    assert!(done.err.contains("warning: --weights: lip hardly varies"), "{}", done.err);

    let files = "--out labels.csv --weights w2.csv --save-model m.json --plot figs --quiet";
    let done = run(&format!("--clusterer kmeans {files}"));
    let said = "error: --weights: kmeans learns no feature weights; lac, ";
    assert!(done.status == 2 && done.err.starts_with(said), "{}", done.err);
    assert!(!bench.path("labels.csv").exists() && !bench.path("figs").exists());
    // Without a must-link this transform learns nothing.
    let done = run(&format!("--method rca.toml {files}"));
    assert_eq!((done.status, done.out.as_str()), (2, ""));
    assert!(done.err.starts_with("error: --weights: kmeans learned no feature weights (the labels are in labels.csv); lac, "), "{}", done.err);
    assert!(!bench.path("w2.csv").exists() && bench.path("labels.csv").exists());
    // The other files are kept.
    assert!(bench.path("m.json").exists() && bench.path("figs/projection.svg").exists());
    // A consensus has the weights of the member that learned some.
    let auto = |members: &str| {
        let text = format!("clusterer = {{ type = \"auto\", candidates = [{members}] }}\n");
        bench.write("auto.toml", text);
        run("--method auto.toml --constraints pairs.csv --weights w3.csv --quiet")
    };
    let kmeans = "{ clusterer = \"kmeans\" }";
    let done = auto(&format!(
        "{kmeans}, {{ transforms = [\"drop_constant\"], clusterer = \"mpck_means\" }}"
    ));
    assert_eq!(done.status, 0, "{}", done.err);
    let note =
        "note: --weights: those that drop_constant + mpck_means learned, a part of the result\n";
    assert!(done.err.contains(note), "{}", done.err);
    assert!(bench.read("w3.csv").starts_with("cluster,"), "{}", bench.read("w3.csv"));
    let done = auto(kmeans);
    assert_eq!(done.status, 2);
    assert!(done.err.contains("--weights: auto learned no feature weights"), "{}", done.err);
    let done = run("--clusterer lac --out l.csv --weights l.csv");
    done.failed(2, "error: --weights l.csv: and --out l.csv name the same file\n");
}
