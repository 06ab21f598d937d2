//! Files that cannot be opened, archives that are damaged, formats that cannot be told; and archives that
//! are fine.

#[path = "common/bad_case.rs"]
mod bad_case;
mod common;

use std::io::Write;

use bad_case::{case, check, read};
use common::{bytes_source, session};
use memoir::Error;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{PrepOptions, read_training};

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A deflated file in a zip archive, without the directory behind it, which no reader of streams needs.
fn zip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    let deflated = encoder.finish().unwrap();
    let mut archive = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0".to_vec();
    archive.extend([0; 4]);
    archive.extend((deflated.len() as u32).to_le_bytes());
    archive.extend((content.len() as u32).to_le_bytes());
    archive.extend([1, 0, 0, 0, b'a']);
    archive.extend(deflated);
    archive.extend(b"PK\x01\x02");
    archive
}

fn rows() -> Vec<u8> {
    (0..3000)
        .flat_map(|row| format!("c{} {}:1 {}:2\n", row % 7, row % 90 + 1, row % 1000 + 100).into_bytes())
        .collect()
}

#[test]
fn bad_files() {
    let rows = rows();
    let half = |archive: Vec<u8>| archive[..archive.len() / 2].to_vec();
    let mut damaged = gzip(&rows);
    let middle = damaged.len() - 6;
    damaged[middle] ^= 0xff;
    check(vec![
        case("nothing", "a.svm", "", "a.svm: is empty; expected rows of data"),
        case("a byte-order mark only", "a.svm", "\u{feff}", "a.svm: is empty; expected rows of data"),
        case("blank lines only", "a.svm", "\n\r\n  \n", "a.svm: has no rows; expected at least one"),
        case("a gzip archive cut off", "a.svm.gz", half(gzip(&rows)), "a.svm.gz: the gzip archive ends too early: it is cut off, or something else follows it"),
        case(
            "a zstd archive cut off",
            "a.svm.zst",
            half(zstd::encode_all(&rows[..], 1).unwrap()),
            "a.svm.zst: the zstd archive ends too early: it is cut off, or something else follows it",
        ),
        case("an xz archive cut off", "a.svm.xz", half(xz(&rows)), "a.svm.xz: the xz archive ends too early: it is cut off, or something else follows it"),
        case(
            "junk behind an archive",
            "a.svm.gz",
            [gzip(&rows), b"junk".to_vec()].concat(),
            "a.svm.gz: the gzip archive ends too early: it is cut off, or something else follows it",
        ),
        case(
            "a damaged archive",
            "a.svm.gz",
            damaged,
            "a.svm.gz: the gzip archive is damaged: corrupt gzip stream does not have a matching checksum",
        ),
        case("a bzip2 archive cut off", "a.svm.bz2", half(bzip2(&rows)), "a.svm.bz2: the bzip2 archive ends too early: it is cut off, or something else follows it"),
        case("a zip archive cut off", "a.svm.zip", half(zip(&rows)), "a.svm.zip: the zip archive ends too early: it is cut off, or something else follows it"),
        case(
            "a zip archive of two files",
            "a.svm.zip",
            [zip(&rows), zip(&rows)].concat(),
            "a.svm.zip: cannot read: it holds several files; expected one",
        ),
        case(
            "an unknown ending",
            "a.dat",
            "x 1:1\n",
            "a.dat: cannot tell the format from the name or the first lines; give the parameter `format` with one of libsvm, \
             xmc, fasttext, csv, tsv, jsonl, lines",
        ),
        case(
            "bad rows only",
            "a.svm",
            "x 0:1\ny 0:1\n",
            "a.svm: has no good rows; the first of 2 bad ones: a.svm:1:3: expected indices that count from 1, found 0; \
             if yours count from 0, give the parameter `zero-based`",
        )
        .with(|options| options.skip_bad_rows = true),
    ]);
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &std::path::Path| read(Source::new(path), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        message(folder.path()).to_string(),
        format!(
            "{}: has no files; expected files of rows in this folder",
            folder.path().display()
        )
    );
    let missing = folder.path().join("missing.svm");
    let problem = message(&missing);
    assert!(matches!(problem, Error::Io { .. }));
    assert_eq!(
        problem.to_string(),
        format!(
            "{}: cannot open: No such file or directory (os error 2)",
            missing.display()
        )
    );
}

#[cfg(unix)]
#[test]
fn files_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let file = tempfile::Builder::new().suffix(".svm").tempfile().unwrap();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(file.path()).is_ok() {
        // The superuser may read everything, so there is nothing to see.
        return;
    }
    let problem = read(Source::new(file.path()), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        format!(
            "{}: cannot open: Permission denied (os error 13)",
            file.path().display()
        )
    );
}

#[test]
fn good_archives_are_read_whatever_they_are_called() {
    let rows = rows();
    let expected = read_training(
        bytes_source("a.svm", &rows),
        &ReadOptions::default(),
        &PrepOptions::default(),
        &session(1),
    )
    .unwrap()
    .data;
    let (first, second) = rows.split_at(rows.iter().position(|&byte| byte == b'\n').unwrap() + 1);
    let archives = [
        gzip(&rows),
        bzip2(&rows),
        [bzip2(first), bzip2(second)].concat(),
        zip(&rows),
        [gzip(first), gzip(second)].concat(),
        zstd::encode_all(&rows[..], 3).unwrap(),
        [
            zstd::encode_all(first, 1).unwrap(),
            zstd::encode_all(second, 1).unwrap(),
        ]
        .concat(),
        xz(&rows),
        [xz(first), xz(second)].concat(),
    ];
    for archive in archives {
        let source = bytes_source("a.svm", archive);
        let read = read_training(
            source,
            &ReadOptions::default(),
            &PrepOptions::default(),
            &session(2),
        )
        .unwrap();
        assert_eq!(read.data, expected);
    }
}
