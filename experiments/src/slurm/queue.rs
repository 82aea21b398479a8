//! The cluster's own commands: what it has, what waits, a new array.

use std::io::{ErrorKind, Write};
use std::process::{Command, Output, Stdio};

use mustlink_core::registry::suggestion;
use mustlink_core::{Error, Result};

/// Largest number of tasks in an array if the cluster does not report it; Slurm's own default.
const MAX_ARRAY: usize = 1001;

/// Resources that the tasks of an array request from the cluster.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The partition; absent: the cluster's default.
    pub partition: Option<String>,
    /// The time limit of a task, as Slurm writes it.
    pub time: Option<String>,
    /// Processors of a task.
    pub cpus: usize,
    /// Bytes of a task; absent: the cluster's default.
    pub memory: Option<u64>,
}

/// State of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum State {
    /// Nothing of it waits or runs.
    Over,
    /// Tasks that wait or run, and why they wait where that is out of the ordinary.
    Queued { tasks: usize, reason: Option<String> },
    /// The cluster does not answer.
    Unknown(String),
}

fn output(program: &str, arguments: &[&str]) -> Result<Output> {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| missing(program, &e))
}

fn missing(program: &str, e: &std::io::Error) -> Error {
    let why = match e.kind() {
        ErrorKind::NotFound => "is not on PATH".to_string(),
        _ => e.to_string(),
    };
    Error::Usage(format!(
        "--executor slurm: {program} {why}; run this on a machine that submits to a Slurm cluster, or leave out \
         --executor"
    ))
}

/// Message of a command that failed, in one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    if lines.is_empty() { format!("it ended with {}", output.status) } else { lines.join("; ") }
}

/// The standard output of a command that succeeded.
fn printed(program: &str, output: &Output) -> Result<String> {
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Error::Usage(format!("--executor slurm: {program}: {}", said(output))))
    }
}

/// Checks that the cluster exists and that it has the partition; returns the largest number of tasks in an
/// array.
pub(super) fn check(request: &Request) -> Result<usize> {
    printed("sbatch", &output("sbatch", &["--version"])?)?;
    let asked = output("sinfo", &["--noheader", "--format=%P"])?;
    let text = printed("sinfo", &asked)?;
    // The default has a star.
    let mut names: Vec<&str> = text.lines().map(|line| line.trim().trim_end_matches('*')).collect();
    names.sort_unstable();
    names.dedup();
    // Several partitions may be named, parted by commas.
    for name in request.partition.iter().flat_map(|p| p.split(',')) {
        if !names.contains(&name) {
            return Err(Error::Usage(format!(
                "--partition {name}: the cluster has no such partition, but {}{}",
                names.join(", "),
                suggestion(name, names.iter().copied())
            )));
        }
    }
    let config = output("scontrol", &["show", "config"])?;
    printed("scontrol", &config).map(|config| max_array(&config))
}

/// The numbers of an array's tasks are below `MaxArraySize`.
fn max_array(config: &str) -> usize {
    let line = config.lines().find_map(|l| l.trim().strip_prefix("MaxArraySize"));
    let value = line.and_then(|l| l.trim().trim_start_matches('=').trim().parse().ok());
    value.filter(|&v| v > 0).unwrap_or(MAX_ARRAY)
}

/// Submits an array whose tasks run `script` in this directory, and gives its number.
pub(super) fn submit(
    name: &str,
    tasks: usize,
    script: &str,
    log: &str,
    request: &Request,
) -> Result<String> {
    let mut command = Command::new("sbatch");
    command
        .args(["--parsable", "--requeue", "--nodes=1", "--ntasks=1", "--open-mode=append"])
        .arg(format!("--array=0-{}", tasks - 1))
        .arg(format!("--job-name={name}"))
        .arg(format!("--cpus-per-task={}", request.cpus.max(1)))
        .arg(format!("--output={log}"));
    if let Some(partition) = &request.partition {
        command.arg(format!("--partition={partition}"));
    }
    if let Some(time) = &request.time {
        command.arg(format!("--time={time}"));
    }
    if let Some(bytes) = request.memory {
        command.arg(format!("--mem={}M", bytes.div_ceil(1 << 20)));
    }
    let started =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|e| missing("sbatch", &e))?;
    // A command that refuses its options does not read the script; why it did shows in what it says.
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(script.as_bytes());
    }
    let done = child.wait_with_output().map_err(|e| missing("sbatch", &e))?;
    let text = printed("sbatch", &done)?;
    // The number, and on clusters of clusters the name of one after a semicolon.
    Ok(text.trim().split(';').next().unwrap_or_default().to_string())
}

/// State of the array of this name.
pub(super) fn state(name: &str) -> State {
    let asked = output("squeue", &["--noheader", "--array", "--format=%T|%r", "--name", name]);
    match asked {
        Err(e) => State::Unknown(e.to_string()),
        Ok(asked) if !asked.status.success() => State::Unknown(said(&asked)),
        Ok(asked) => read_state(&String::from_utf8_lossy(&asked.stdout)),
    }
}

/// Reason why tasks wait, in words if they will wait forever.
pub(super) fn waits(name: &str, reason: &str) -> String {
    const FOR_EVER: [&str; 4] =
        ["PartitionConfig", "PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints"];
    if FOR_EVER.contains(&reason) {
        format!(
            "tasks wait ({reason}), because no machine of the partition accepts them; press Ctrl-C, run scancel \
             --name {name}, and start again with other --threads, --time or --partition"
        )
    } else {
        format!("tasks wait: {reason}")
    }
}

fn read_state(text: &str) -> State {
    const ORDINARY: [&str; 6] =
        ["None", "Priority", "Resources", "BeginTime", "JobArrayTaskLimit", "Cleaning"];
    let tasks: Vec<(&str, &str)> = text.lines().filter_map(|l| l.trim().split_once('|')).collect();
    if tasks.is_empty() {
        return State::Over;
    }
    let odd = tasks.iter().find(|(state, why)| *state == "PENDING" && !ORDINARY.contains(why));
    State::Queued { tasks: tasks.len(), reason: odd.map(|(_, why)| (*why).to_string()) }
}

/// Takes the array of this name out of the queue, if it is in it.
pub(super) fn cancel(name: &str) -> Result<()> {
    printed("scancel", &output("scancel", &["--name", name])?).map(drop)
}

/// Reads a time limit as Slurm writes it (`30`, `30:00`, `2:00:00`, `1-12`, `1-12:30:00`) and gives
/// its seconds.
///
/// # Errors
/// Describes the accepted values.
pub fn time_limit(text: &str) -> std::result::Result<f64, String> {
    let wrong = || {
        format!("must be a time of Slurm such as 30 (minutes), 2:00:00 or 1-12:00:00, got {text}")
    };
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u32>().map_err(|_| wrong())?, rest),
        None => (0, text),
    };
    let parts: Vec<u32> = rest
        .split(':')
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| wrong())?;
    let from_days = text.contains('-');
    let [hours, minutes, seconds] = match (parts.as_slice(), from_days) {
        (&[h], true) => [h, 0, 0],
        (&[h, m], true) => [h, m, 0],
        (&[m], false) => [0, m, 0],
        (&[m, s], false) => [0, m, s],
        (&[h, m, s], _) => [h, m, s],
        _ => return Err(wrong()),
    };
    let [d, h, m, s] = [days, hours, minutes, seconds].map(f64::from);
    let all = ((d * 24.0 + h) * 60.0 + m) * 60.0 + s;
    if all > 0.0 { Ok(all) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_as_slurm_writes_them() {
        for (text, seconds) in [
            ("30", 1800.0),
            ("1:30", 90.0),
            ("2:00:00", 7200.0),
            ("1-12", 129_600.0),
            ("1-0:30", 88_200.0),
            ("1-00:00:01", 86_401.0),
        ] {
            assert_eq!(time_limit(text), Ok(seconds), "{text}");
        }
        for wrong in ["", "0", "2h", "-3", "1:2:3:4", "1-", "1-2-3", "UNLIMITED"] {
            assert!(time_limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_size_of_an_array_is_read_from_the_configuration() {
        let config = "MailProg    = /bin/mail\nMaxArraySize            = 77\nMaxDBDMsgs = 1\n";
        assert_eq!(max_array(config), 77);
        assert_eq!(max_array("nothing"), MAX_ARRAY);
        assert_eq!(max_array("MaxArraySize = 0"), MAX_ARRAY);
    }

    #[test]
    fn what_will_not_come_is_told_with_the_way_out() {
        assert_eq!(waits("a", "JobHeldUser"), "tasks wait: JobHeldUser");
        let said = waits("mustlink-1", "PartitionTimeLimit");
        assert!(said.contains("scancel --name mustlink-1"), "{said}");
    }

    #[test]
    fn what_is_odd_about_a_queue_is_told() {
        assert_eq!(read_state(""), State::Over);
        let running = "RUNNING|None\nPENDING|Resources\n";
        assert_eq!(read_state(running), State::Queued { tasks: 2, reason: None });
        let held = "PENDING|launch failed requeued held\n";
        let reason = Some("launch failed requeued held".to_string());
        assert_eq!(read_state(held), State::Queued { tasks: 1, reason });
    }
}
