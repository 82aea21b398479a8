//! The default of the memory limit.

use std::path::Path;

/// The share of what there is that a run takes by default: the system and the program need some, and
/// what plugins declare is an estimate.
const SHARE: (u64, u64) = (8, 10);

/// The default memory limit in bytes: 80 % of the least of the machine's memory, what the control
/// groups of this process allow, and its limit of address space (`ulimit -v`). `None` where the
/// system tells nothing.
pub fn default_limit() -> Option<u64> {
    let least = [machine(), control_group(), address_space()].into_iter().flatten().min()?;
    Some(least / SHARE.1 * SHARE.0)
}

#[cfg(target_os = "linux")]
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(not(target_os = "linux"))]
fn machine() -> Option<u64> {
    None
}

/// The least limit of the groups that this process is in, of either version.
fn control_group() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    text.lines().filter_map(group_limit).min()
}

/// The limit of a line `number:controllers:path` of /proc/self/cgroup, or of a group above it.
fn group_limit(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        c if c.split(',').any(|c| c == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let limit = |group: &Path| -> Option<u64> {
        let inside = group.strip_prefix("/").unwrap_or(group);
        let file = Path::new(root).join(inside).join(file);
        // "max" where there is no limit.
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    Path::new(path).ancestors().filter_map(limit).min()
}

#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_counts() {
        let limit = default_limit().expect("the system tells");
        for of in [machine(), control_group(), address_space()].into_iter().flatten() {
            assert!(limit <= of / 10 * 8, "{limit} of {of}");
        }
        assert_eq!(group_limit("5:cpu,cpuacct:/a"), None);
        assert_eq!(group_limit("nonsense"), None);
    }
}
