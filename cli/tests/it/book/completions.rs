//! The completion script, driven as bash drives it.

use std::process::Command;

use super::mustlink;

/// The words that bash offers after these ones; the last one is being typed.
fn offered(data_dir: Option<&std::path::Path>, words: &[&str]) -> Option<Vec<String>> {
    let folder = mustlink().parent().expect("a folder").display();
    let quoted: Vec<String> = words.iter().map(|w| format!("'{w}'")).collect();
    let script = format!(
        "PATH={folder}:$PATH\nsource <(mustlink completions bash) || exit 3\n\
         complete -p mustlink > /dev/null || exit 4\n\
         COMP_WORDS=({})\nCOMP_CWORD={}\nCOMP_TYPE=9\n\
         _clap_complete_mustlink mustlink '{}' '{}'\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        quoted.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &script]).env_remove("MUSTLINK_DATA");
    if let Some(dir) = data_dir {
        command.env("MUSTLINK_DATA", dir);
    }
    // Without bash there is nothing to try.
    let done = command.output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).expect("UTF-8");
    Some(text.lines().filter(|l| !l.is_empty()).map(|l| l.trim().to_string()).collect())
}

#[test]
#[cfg(unix)]
fn names_are_completed() {
    for (words, expected) in [
        (&["mustlink", "describe", "pck_"][..], "pck_means"),
        (&["mustlink", "describe", "ir"], "iris"),
        (&["mustlink", "cluster", "--data", "ir"], "iris"),
        (&["mustlink", "select", "--data", "iris", "--selector", "cob"], "cobra"),
        (&["mustlink", "cluster", "--data", "iris", "--clusterer", "kme"], "kmeans"),
        (&["mustlink", "schema", "exp"], "experiment"),
        (&["mustlink", "list", "base"], "base-clusterers"),
        (&["mustlink", "clus"], "cluster"),
    ] {
        let Some(offered) = offered(None, words) else { return };
        assert!(offered.iter().any(|o| o == expected), "{words:?}: {offered:?}");
        let start = words[words.len() - 1];
        assert!(offered.iter().all(|o| o.starts_with(start)), "{words:?}: {offered:?}");
    }
}

#[test]
#[cfg(unix)]
fn the_data_directory_is_looked_into() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("MANIFEST.csv"), "name,path\nirises,i.csv\n").expect("a file");
    let words = ["mustlink", "cluster", "--data", "iris"];
    let Some(mut offered) = offered(Some(dir.path()), &words) else { return };
    offered.sort();
    assert_eq!(offered, ["iris", "irises"]);
}
