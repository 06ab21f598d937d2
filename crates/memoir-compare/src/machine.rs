//! What the results were measured on.

use std::fs;
use std::path::Path;

use memoir_report::sizes::{show_counted, show_size};
use serde::{Deserialize, Serialize};

/// A machine, without anything that names it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory: String,
    pub(crate) system: String,
    pub(crate) version: String,
    /// Day of the last measurement, in universal time.
    pub(crate) date: String,
}

impl Machine {
    /// This machine, today.
    pub(crate) fn here() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str, separator: char| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(separator)?.1.trim().trim_matches('"').to_owned())
        };
        let unknown = || "unknown".to_owned();
        let kilobytes = field(&read("/proc/meminfo"), "MemTotal", ':')
            .and_then(|text| text.strip_suffix(" kB")?.trim().parse::<u64>().ok());
        let distribution = field(&read("/etc/os-release"), "PRETTY_NAME", '=');
        let kernel = read("/proc/sys/kernel/osrelease");
        let seconds = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name", ':')
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: kilobytes.map_or_else(unknown, |kilobytes| show_size(kilobytes * 1024)),
            system: format!(
                "{}, {} {}",
                distribution.unwrap_or_else(unknown),
                std::env::consts::OS,
                kernel.split('-').next().unwrap_or_default().trim()
            ),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: day(seconds / 86_400),
        }
    }

    /// In one line.
    pub(crate) fn describe(&self) -> String {
        let Self {
            processor,
            cores,
            memory,
            system,
            version,
            date,
        } = self;
        let cores = show_counted(*cores as u64, "core");
        format!("{date}, memoir {version}, {cores} of {processor}, {memory} of memory, {system}")
    }
}

/// The machine of the results in `out`: this one if something is measured now, else the one that was
/// written down.
pub(crate) fn remember(out: &Path, is_new: bool) -> anyhow::Result<Machine> {
    let path = out.join("machine.json");
    let known = fs::read(&path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match known {
        Some(machine) if !is_new => Ok(machine),
        _ => {
            let machine = Machine::here();
            fs::write(path, serde_json::to_string_pretty(&machine)? + "\n")?;
            Ok(machine)
        }
    }
}

/// The date of a day counted from 1970-01-01, in the Gregorian calendar.
fn day(days: u64) -> String {
    // Years begin in March here, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(11_016), "2000-02-29");
        assert_eq!(day(20_454), "2026-01-01");
        assert_eq!(day(20_453), "2025-12-31");
    }
}
