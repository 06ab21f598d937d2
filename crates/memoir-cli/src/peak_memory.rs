//! How much memory the program has used at most.

/// Largest resident memory of this process so far in bytes, where the system tells.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    parse(&status)
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_high_water_mark() {
        assert_eq!(
            parse("VmPeak:\t 9 kB\nVmHWM:\t    1234 kB\nVmRSS: 1 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(parse("VmRSS: 1 kB\n"), None);
    }
}
