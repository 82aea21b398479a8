//! How texts look on a terminal, and elsewhere.

use super::support::Bench;

/// Standard output and standard error of a command for which the width of the terminal is not known.
fn shown(arguments: &[&str]) -> (String, String) {
    let bench = Bench::new();
    let done = bench.command(arguments).env_remove("COLUMNS").output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(done.stdout), text(done.stderr))
}

const CLUSTER: [&str; 6] = ["cluster", "--data", "iris", "--k", "3", "--quiet"];

#[test]
fn a_summary_has_three_blocks_and_the_next_step() {
    let (out, err) = shown(&CLUSTER);
    let blocks: Vec<&str> = out.split("\n\n").collect();
    assert_eq!(blocks.len(), 4, "{out}{err}");
    let begins = ["data         iris: ", "method       kmeans\n", "clusters     3 (", "next  "];
    assert!(blocks.iter().zip(begins).all(|(block, begin)| block.starts_with(begin)), "{out}");
    let next = "mustlink cluster --data iris --k 3 --quiet --out labels.csv\n";
    assert!(out.ends_with(next), "{out}");
    // What is longer is continued below its beginning.
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(blocks[0].lines().skip(1).all(|line| line.starts_with("             ")), "{out}");
}

#[test]
fn an_error_looks_like_one_of_the_command_line() {
    let (out, err) = shown(&["list", "metrcs"]);
    assert_eq!(out, "");
    assert!(err.starts_with("error: no role \"metrcs\"; accepted: "), "{err}");
    assert!(err.ends_with("\n\n  tip: did you mean \"metrics\"?\n"), "{err}");
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    for arguments in [&CLUSTER[..], &["list", "metrcs"], &["cluster", "--dat", "iris"]] {
        let (out, err) = shown(arguments);
        assert!(!out.contains('\x1b') && !err.contains('\x1b'), "{out}{err}");
        let (out, err) = shown(&[arguments, &["--color", "always"]].concat());
        let text = if out.is_empty() { err } else { out };
        assert!(text.starts_with("\x1b[1m"), "{text}");
    }
    let (json, _) = shown(&[&CLUSTER[..], &["--color=always", "--format", "json"]].concat());
    assert!(json.starts_with('{') && !json.contains('\x1b'), "{json}");
}

#[test]
fn plugins_are_listed_by_role() {
    let (out, _) = shown(&["list"]);
    let roles: Vec<&str> = out.lines().skip(2).filter(|line| !line.starts_with("  ")).collect();
    assert_eq!(roles.len(), 8, "{out}");
    assert!(roles.contains(&" query selectors"), "{out}");
}
