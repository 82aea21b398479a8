//! The help texts: options under headings, the common ones in `-h`, and the commands in groups.

use std::fmt::Write;

use clap::Command;

/// The commands in groups.
pub(crate) const GROUPS: [(&str, &str); 5] = [
    ("Cluster", "cluster consensus select-k predict score"),
    ("Ask", "label select impute ledger"),
    ("Compare", "init check plan run retry report verdicts merge diff verify"),
    ("Inspect", "list describe schema config cite"),
    ("Extend", "plugin completions"),
];

/// Options by heading.
const HEADINGS: [(&str, &str); 5] = [
    (
        "Data",
        "data distance_matrix affinity_matrix pairs partitions score_range constraints labels id class display features \
         ignore no_header transpose sep decimal na apart object_weights data_dir text show_text image series show truth \
         truth_column labels_column",
    ),
    (
        "Method",
        "method clusterer consensus generator sets k seed time model kappa_must kappa_cannot co_presence \
         min_presence from to draws objects metrics threshold prior join_cost unjudged",
    ),
    (
        "Questions",
        "selector oracle budget ledger selection_only questions web annotators port show_guess import keys rule \
         disagreements",
    ),
    (
        "Output",
        "out weights violations save_model plot plot_formats plot_title plot_size plot_names plot_no_constraints \
         profile out_candidates validate dry_run format quiet kinds max_pairs assign_noise open skip_bad max_far distances \
         probabilities classes",
    ),
    ("Resources", "threads memory_limit max_matrix"),
];

/// The ten options of a command with more that `-h` shows; `--help` shows all.
const COMMON: [(&str, &str); 9] = [
    ("cluster", "data constraints id class method clusterer k selector budget out"),
    ("consensus", "data constraints id class method consensus k out plot format"),
    ("select-k", "data partitions id class method clusterer from to out format"),
    ("predict", "model data id out classes distances probabilities skip_bad max_far format"),
    ("label", "data id constraints method k selector budget ledger web out"),
    ("select", "data id class constraints method k selector budget questions out"),
    ("impute", "data id class constraints method generator k kappa_must kappa_cannot out"),
    ("init", "data id class labels features ignore method out"),
    ("run", "out sets cell_timeout cell_memory shard force threads max_fails quiet executor"),
];
/// Number of options from which on a command has headings.
const MANY: usize = 10;

/// Options that a command shares with others and rejects or ignores, so that its help does not show them.
const REJECTED: [(&str, &str); 6] = [
    ("impute", "budget ledger selection_only"),
    ("init", "display"),
    ("select", "selection_only"),
    (
        "select-k",
        "k constraints apart object_weights selector oracle budget ledger selection_only labels",
    ),
    ("label", "oracle"),
    ("predict", "labels"),
];

/// The default of an option whose long help describes it, as `-h` shows it.
const DESCRIBED: &str = " [default: see --help]";

/// True if `words` has this word.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|w| w == word)
}

/// `command` and the commands below it, with arranged help.
pub(crate) fn arranged(command: Command) -> Command {
    let command = command.mut_subcommands(verb);
    let groups = groups(&command);
    command.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{}\n{{options}}",
        styled("Options:")
    ))
}

fn verb(verb: Command) -> Command {
    let verb = verb.mut_subcommands(self::verb);
    let name = verb.get_name().to_string();
    let rejected = REJECTED.iter().find(|r| r.0 == name).map_or("", |r| r.1);
    let common = COMMON.iter().find(|c| c.0 == name).map(|c| c.1);
    let has_many = verb.get_arguments().filter(|a| !a.is_positional()).count() >= MANY;
    verb.mut_args(|arg| {
        let id = arg.get_id().to_string();
        let heading = HEADINGS.iter().find(|h| has(h.1, &id));
        let arg = match has(rejected, &id) {
            true => arg.hide(true),
            false if arg.is_positional() => arg,
            false => arg.hide_short_help(common.is_some_and(|common| !has(common, &id))),
        };
        // The long help is what this text refers to.
        let long = arg.get_long_help().map(|long| long.to_string().replace(DESCRIBED, ""));
        let arg = match long {
            Some(long) => arg.long_help(long),
            None => arg,
        };
        let has_own = arg.get_help_heading().is_some() || arg.is_positional();
        match heading.filter(|_| has_many && !has_own) {
            Some((heading, _)) => arg.help_heading(*heading),
            None => arg,
        }
    })
}

/// In the style of the headings of clap.
fn styled(heading: &str) -> String {
    format!("\x1b[1m\x1b[4m{heading}\x1b[0m")
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (group, verbs) in GROUPS {
        let _ = writeln!(text, "{}", styled(&format!("{group}:")));
        for name in verbs.split(' ') {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let _ = writeln!(text, "  {name:<12} {}", about.cloned().unwrap_or_default());
        }
        text.push('\n');
    }
    text
}
