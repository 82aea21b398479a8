//! `select-k --partitions`: how many clusters existing partitions support.

use super::support::Bench;

/// Three groups of three objects. The partitions with 2 clusters join different groups; those with 3 clusters differ in
/// object f alone.
const SEVERAL: &str = "id,two_a,two_b,three_a,three_b,three_c\n\
a,0,x,1,1,1\nb,0,x,1,1,1\nc,0,x,1,1,1\nd,0,y,2,2,2\ne,0,y,2,2,2\nf,0,y,2,2,3\ng,1,y,3,3,3\nh,1,y,3,3,3\n\
i,1,y,3,3,3\n";

#[test]
fn numbers_of_clusters_are_compared_by_partitions() {
    let bench = Bench::with("p.csv", SEVERAL);
    let done = bench.run("select-k --partitions p.csv --out k.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "result The partitions clearly support 3 clusters: 13.9 % of the pairs are ambiguous, compared with \
                50.0 % for 2 clusters, the next best number. next mustlink consensus p.csv --k 3 --out labels.csv";
    assert!(words.ends_with(said), "{}", done.out);
    let compared = "\ncompared     the partitions with k clusters, for each k\n";
    assert!(done.out.contains(compared), "{}", done.out);
    // Of 36 pairs, 18 are ambiguous with 2 clusters: those of neighbouring groups. With 3 clusters, 5 pairs of f are.
    let table = bench.read("k.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0].join(","), "k,partitions,within,between,area,change,pac,agreement,lifetime");
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    assert_eq!((rows[1][..2].join(","), rows[2][..2].join(",")), ("2,2".into(), "3,3".into()));
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    assert!(near(number(1, 6), 0.5) && near(number(2, 6), 5.0 / 36.0), "{table}");
    // 9 pairs at 0, 18 at 1/2, 9 at 1 are below 100, 51 and 1 ends of bins.
    let two = (9.0 * 100.0 + 18.0 * 51.0 + 9.0) / 3600.0;
    // 24 pairs at 0, 3 at 1/3, 2 at 2/3, 7 at 1.
    let three = (24.0 * 100.0 + 3.0 * 67.0 + 2.0 * 34.0 + 7.0) / 3600.0;
    assert!(near(number(1, 4), two) && near(number(2, 4), three), "{table}");
    assert!(near(number(1, 5), two) && near(number(2, 5), three / two - 1.0), "{table}");
    assert!(near(number(2, 2), 25.0 / 27.0) && near(number(2, 3), 3.0 / 81.0), "{table}");
    // The same numbers on any number of threads, with the distribution.
    let json = |threads: usize| {
        let line = format!("select-k --partitions p.csv --threads {threads} --format json");
        let json = bench.run(&line).json();
        assert_eq!((&json["k"], &json["reading"]), (&3.into(), &"each_number".into()));
        json["found"].clone()
    };
    assert_eq!(json(1), json(3));
    let cdf = json(1)[0]["cdf"].clone();
    assert_eq!(
        (&cdf[0], &cdf[49], &cdf[50], &cdf[100]),
        (&0.25.into(), &0.25.into(), &0.75.into(), &1.0.into())
    );
    // Only one partition has 9 clusters, and a range can leave only one number.
    let more = |line: &str| format!("{line},{}", line.chars().next().unwrap());
    bench.write(
        "more.csv",
        SEVERAL.lines().map(more).collect::<Vec<_>>().join("\n") + "\nj,1,y,3,3,3,a\n",
    );
    let done = bench.run("select-k --partitions more.csv --from 3");
    assert!(
        done.out.contains("left out     9 clusters, because only one partition has them\n"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("result       Only one number of clusters was tried.\n"),
        "{}",
        done.out
    );
}

#[test]
fn partitions_with_one_number_of_clusters_make_one_matrix() {
    let rows = "0,0,0,1\n0,0,0,1\n1,1,1,1\n1,1,1,1\n2,2,2,2\n2,2,2,2\n";
    let bench = Bench::with("p.csv", format!("one,two,three,four\n{rows}"));
    let done = bench.run("select-k --partitions p.csv --to 4");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains(" k   within   between   lifetime"), "{}", done.out);
    // The two first groups meet in one of four partitions: in 4 of 48 comparisons.
    assert!(done.out.contains(" 3   1.000    0.083     0.750"), "{}", done.out);
    assert!(done.out.contains("matrix       area "), "{}", done.out);
    let said = "The partitions clearly support 3 clusters: their lifetime is 0.75,";
    assert!(done.out.contains(said), "{}", done.out);
}

#[test]
fn figures_of_partitions_come_with_their_numbers() {
    let bench = Bench::with("p.csv", SEVERAL);
    let done = bench.run("select-k --partitions p.csv --plot figures --quiet");
    assert_eq!(done.status, 0, "{}", done.err);
    for name in ["distribution", "co-association", "counts", "members"] {
        let svg = bench.read(&format!("figures/select-k-{name}.svg"));
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{name}");
    }
    let numbers = bench.read("figures/select-k-distribution.csv");
    assert_eq!(numbers.lines().count(), 1 + 2 * 101);
    assert!(numbers.contains("\n2,0.5,0.75\n") && numbers.contains("\n3,1,1\n"), "{numbers}");
    let svg = bench.read("figures/select-k-distribution.svg");
    assert!(svg.contains(">2 clusters<") && svg.contains(">3 clusters<"), "{svg}");
    // The heat map has the objects in the order of the consensus: f is with d and e.
    let map = bench.read("figures/select-k-co-association.csv");
    assert!(
        map.lines().count() == 1 + 81 && map.contains("\n3,5,1,1,0.6666666666666666\n"),
        "{map}"
    );
    let done = bench.run("select-k --data iris --plot figures");
    assert!(done.status == 2 && done.err.contains("--plot"), "{}", done.err);
}

#[test]
fn what_partitions_do_not_support_is_said() {
    let bench = Bench::with("p.csv", SEVERAL);
    for option in ["--data iris", "--clusterer kmeans", "--k 3", "--draws 5", "--set clusterer.k=3"]
    {
        let done = bench.run(&format!("select-k --partitions p.csv {option}"));
        assert!(
            done.status == 2 && done.err.contains("cannot be used with"),
            "{option}: {}",
            done.err
        );
    }
    let done = bench.run("select-k");
    assert!(done.status == 2 && done.err.contains("--data <DATA>"), "{}", done.err);
    let done = bench.run("select-k --partitions p.csv --to 9");
    done.failed(
        2,
        "error: --to: must be from 2 to 3, the largest number of clusters in a partition, got 9\n",
    );
    bench.write("one.csv", "one\na\na\nb\n");
    let done = bench.run("select-k --partitions one.csv");
    let said = "error: --partitions: must be at least 2, because partitions are compared with each other, got 1\n";
    done.failed(2, said);
    let done = bench.run("select-k --partitions p.csv --out p.csv");
    assert!(done.status == 2 && done.err.contains("p.csv"), "{}", done.err);
    // Partitions that cross each other.
    let row = |i: usize| format!("{},{},{},{}\n", i / 8, i % 2, i / 4, i % 4);
    bench.write("cross.csv", format!("a,b,c,d\n{}", (0..16).map(row).collect::<String>()));
    let done = bench.run("select-k --partitions cross.csv");
    let said = "result       The partitions do not support a number of clusters: with 4 clusters,";
    assert!(done.status == 0 && done.out.contains(said), "{}{}", done.out, done.err);
    assert!(!done.out.contains("next "), "{}", done.out);
}
