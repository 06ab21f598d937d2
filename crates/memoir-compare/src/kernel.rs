//! What only the kernel knows of a process: its exact cost when it ends, and what its group uses meanwhile.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// Exact cost of a process that has ended, and of all its descendants that were waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    /// Largest resident set of any one of them.
    pub(crate) peak_bytes: u64,
}

/// Asks whether the child `pid` has ended; if so, how and at what cost. The child is gone afterwards.
#[allow(unsafe_code)]
pub(crate) fn try_wait(pid: u32) -> io::Result<Option<(ExitStatus, Usage)>> {
    let mut status = 0;
    // SAFETY: `rusage` is a plain structure of integers, for which all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live local variables of the types that wait4 fills in.
    let found = unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, libc::WNOHANG, &raw mut usage) };
    match found {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => {
            let time = |value: libc::timeval| {
                Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
            };
            // Linux counts kilobytes here, macOS bytes.
            let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
            let usage = Usage {
                cpu: time(usage.ru_utime) + time(usage.ru_stime),
                peak_bytes: usage.ru_maxrss as u64 * unit,
            };
            Ok(Some((ExitStatus::from_raw(status), usage)))
        }
    }
}

/// Ends all processes of a group at once.
#[allow(unsafe_code)]
pub(crate) fn kill_group(group: u32) {
    // SAFETY: kill takes two integers; the worst outcome is an error, which means that the group is gone
    // already.
    unsafe { libc::kill(-(group as libc::pid_t), libc::SIGKILL) };
}

/// What the processes of a group use at the moment: CPU time with that of their ended children, resident
/// memory. Nothing where there is no `/proc`.
pub(crate) fn group_usage(group: u32) -> Usage {
    let (ticks_per_second, page) = units();
    let mut total = Usage {
        cpu: Duration::ZERO,
        peak_bytes: 0,
    };
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return total;
    };
    for entry in entries.flatten() {
        let is_process = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !is_process {
            continue;
        }
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        if let Some((owner, ticks, pages)) = parse_stat(&stat)
            && owner == group
        {
            total.cpu += Duration::from_secs_f64(ticks as f64 / ticks_per_second);
            total.peak_bytes += pages * page;
        }
    }
    total
}

/// Process group, ticks of CPU time, resident pages.
fn parse_stat(stat: &str) -> Option<(u32, u64, u64)> {
    // The name in parentheses may hold anything; the fields after it are numbers, except the state.
    let fields: Vec<_> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
    let number = |index: usize| fields.get(index)?.trim().parse::<u64>().ok();
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    Some((number(2)? as u32, ticks, number(21)?))
}

/// Clock ticks per second and bytes per page.
#[allow(unsafe_code)]
fn units() -> (f64, u64) {
    // SAFETY: sysconf takes an integer and returns one.
    let (ticks, page) = unsafe {
        (
            libc::sysconf(libc::_SC_CLK_TCK),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    (ticks.max(1) as f64, page.max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_read_whatever_the_name() {
        let line =
            "17 (a) b (c)) S 1 42 42 0 -1 0 0 0 0 0 10 20 3 4 20 0 1 0 5 9999 77 18446744073709551615\n";
        assert_eq!(parse_stat(line), Some((42, 37, 77)));
        assert_eq!(parse_stat("17 (a"), None);
        assert_eq!(parse_stat(""), None);
    }
}
