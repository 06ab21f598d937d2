//! The file: one JSON line for each record, appended and synced in groups.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::record::Record;

/// An open feedback file. Nobody else may write to it meanwhile.
pub(super) struct Log {
    file: File,
    /// Bytes that are whole and synced.
    length: u64,
    /// Whether a failed write may have left something behind `length`.
    broken: bool,
}

impl Log {
    /// Opens or makes the file at `path` and reads its records. What a crash left of the last group is cut
    /// off.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<Record>)> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        file.try_lock()
            .map_err(|_| io::Error::other("another process has it open"))?;
        sync_folder(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (records, length) = recover(&bytes).map_err(io::Error::other)?;
        if length < bytes.len() as u64 {
            file.set_len(length)?;
            file.sync_data()?;
        }
        let log = Self {
            file,
            length,
            broken: false,
        };
        Ok((log, records))
    }

    /// Writes `records` and waits until they are on disk. After an error none of them counts.
    pub(super) fn append(&mut self, records: &[Record]) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        if self.broken {
            self.file.set_len(self.length)?;
            self.broken = false;
        }
        self.broken = true;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&lines)?;
        self.file.sync_data()?;
        self.broken = false;
        self.length += lines.len() as u64;
        Ok(())
    }
}

/// The records in `bytes`, and how many bytes of them are whole.
///
/// A group of records is written only when the one before is on disk. So what a crash spoils belongs to the
/// last group, and nobody was told that it is there. Spoilt lines with a later group behind them mean other
/// damage, which is an error.
fn recover(bytes: &[u8]) -> Result<(Vec<Record>, u64), String> {
    let mut records: Vec<Record> = Vec::new();
    let (mut length, mut spoilt) = (0u64, None);
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        let record = line
            .strip_suffix(b"\n")
            .and_then(|line| serde_json::from_slice::<Record>(line).ok());
        match (record, spoilt) {
            (Some(record), None) => {
                length += line.len() as u64;
                records.push(record);
            }
            (None, None) => spoilt = Some(number),
            (Some(record), Some(spoilt)) => {
                let last = records.last().map_or(0, |record| record.group);
                if record.group > last + 1 {
                    return Err(format!(
                        "line {spoilt} is no feedback record, but there are later ones: the file is damaged"
                    ));
                }
            }
            (None, Some(_)) => {}
        }
    }
    Ok((records, length))
}

/// A new file is there after a crash only if its folder was synced.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::record::Event;
    use super::*;

    fn record(group: u64, id: &str) -> Record {
        Record {
            id: id.to_owned(),
            at: 1,
            group,
            event: Event::Queued {
                text: format!("text of {id}"),
            },
        }
    }

    fn lines(records: &[Record]) -> Vec<u8> {
        let line = |record| serde_json::to_string(record).unwrap() + "\n";
        records.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn what_was_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        let (mut log, none) = Log::open(&path).unwrap();
        assert!(none.is_empty());
        log.append(&[record(1, "a"), record(1, "b")]).unwrap();
        log.append(&[record(2, "c")]).unwrap();
        assert!(Log::open(&path).is_err(), "two may write at once");
        drop(log);
        let (_, records) = Log::open(&path).unwrap();
        assert_eq!(records, [record(1, "a"), record(1, "b"), record(2, "c")]);
    }

    #[test]
    fn a_cut_at_any_byte_loses_only_what_was_cut() {
        let all = [record(1, "a"), record(2, "b"), record(2, "c")];
        let bytes = lines(&all);
        let ends: Vec<usize> = (1..=3).map(|count| lines(&all[..count]).len()).collect();
        for cut in 0..=bytes.len() {
            let (records, length) = recover(&bytes[..cut]).unwrap();
            let whole = ends.iter().filter(|&&end| end <= cut).count();
            assert_eq!(records, all[..whole]);
            assert_eq!(length as usize, if whole == 0 { 0 } else { ends[whole - 1] });
        }
    }

    #[test]
    fn zeros_in_the_last_group_are_cut_off_and_elsewhere_refused() {
        let all = [record(1, "a"), record(2, "b"), record(2, "c"), record(3, "d")];
        let spoil = |count: usize, spoilt: usize| {
            let mut bytes = lines(&all[..count]);
            let start = lines(&all[..spoilt]).len();
            bytes[start..start + 20].fill(0);
            recover(&bytes)
        };
        assert_eq!(spoil(3, 1).unwrap().0, all[..1]);
        assert_eq!(spoil(3, 2).unwrap().0, all[..2]);
        assert!(spoil(4, 1).unwrap_err().contains("line 2"));
    }
}
