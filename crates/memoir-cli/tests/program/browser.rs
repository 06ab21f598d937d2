//! The report in a real browser: no complaint on its console, a figure on the screen, tables that sort.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Workplace, vectors};

const EXPERIMENT: &str = r#"
title = "A report"

[[data]]
name = "tiny"
train = "train.svm"
test = "test.svm"

[[method]]
name = "softmax"
algorithm = "softmax"

[[method]]
name = "centroid"
algorithm = "centroid"

[[method]]
name = "always the first"
vectors = "libsvm"
train = ["sh", "-c", "head -c 5000 {train} > {model}"]
predict = ["sed", "s/.*/1/", "{test}"]
depth = 1

[[method]]
name = "fails"
vectors = "libsvm"
train = ["false"]
predict = ["false"]
"#;

/// Debian's browser: found, or installed where that is allowed without asking (root, as in continuous
/// integration).
fn chromium() -> Option<PathBuf> {
    let find = || {
        let folders = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser", "google-chrome"];
        std::env::split_paths(&folders)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())
    };
    find().or_else(|| {
        let is_root = Command::new("id").arg("-u").output().ok()?.stdout == b"0\n";
        if is_root && Path::new("/usr/bin/apt-get").exists() {
            let install = ["install", "-y", "-q", "--no-install-recommends", "chromium"];
            let _ = Command::new("apt-get").args(["update", "-q"]).output();
            let _ = Command::new("apt-get").args(install).output();
        }
        find()
    })
}

struct Browser {
    program: PathBuf,
    profile: PathBuf,
}

impl Browser {
    /// What the browser prints, and what it complains about.
    fn open(&self, address: &str, arguments: &[&str]) -> (String, String) {
        let output = Command::new("timeout")
            .arg("60")
            .arg(&self.program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .args(["--enable-logging=stderr", "--window-size=1200,900"])
            .arg(format!("--user-data-dir={}", self.profile.display()))
            .args(arguments)
            .arg(address)
            .output()
            .expect("starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    }
}

/// Width, height and bytes of the pixels of a PNG file as browsers write it: 8 bits, not interlaced.
fn pixels(png: &[u8]) -> (usize, Vec<Vec<[u8; 3]>>) {
    let decoder = png::Decoder::new(std::io::Cursor::new(png));
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut buffer = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut buffer).expect("an image");
    let width = info.width as usize;
    let channels = info.color_type.samples();
    let rows = buffer[..info.buffer_size()].chunks_exact(width * channels);
    let image = rows.map(|row| row.chunks_exact(channels).map(|p| [p[0], p[1], p[2]]).collect());
    (width, image.collect())
}

#[test]
fn the_report_opens_in_a_browser() {
    let Some(program) = chromium() else {
        eprintln!(
            "SKIPPED: no chromium on this machine, and none could be installed: the report was not opened"
        );
        return;
    };
    let place = Workplace::new();
    place.file("train.svm", vectors(400, 20));
    place.file("test.svm", vectors(60, 20));
    place.file("e.toml", EXPERIMENT);
    place.stdout("compare e.toml --out out --quiet");
    let browser = Browser {
        program,
        profile: place.path().join("profile"),
    };
    let address = format!("file://{}/out/report.html", place.path().display());

    let shot = place.path().join("shot.png");
    let (_, complaints) = browser.open(&address, &[&format!("--screenshot={}", shot.display())]);
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    let (width, image) = pixels(&fs::read(&shot).unwrap_or_else(|_| panic!("no screenshot: {complaints}")));
    // The line and the points of the Pareto front have a colour that nothing else near the top of the
    // page has.
    let front = image
        .iter()
        .flatten()
        .filter(|&&[red, green, blue]| {
            red.abs_diff(0xc2) < 6 && green.abs_diff(0x41) < 6 && blue.abs_diff(0x0c) < 6
        })
        .count();
    assert!(
        front > 200,
        "{front} pixels of a front in {width} x {}",
        image.len()
    );

    let rows = |sorted_by: &str| {
        let (page, complaints) = browser.open(&format!("{address}#sort={sorted_by}"), &["--dump-dom"]);
        assert!(!complaints.contains("CONSOLE"), "{complaints}");
        let table = page.split("class=\"sortable\"").nth(1).expect("a table");
        let body = table
            .split("<tbody>")
            .nth(1)
            .expect("a body")
            .split("</tbody>")
            .next()
            .expect("its end");
        let names = body.split("<tr>").skip(1).map(|row| {
            let cell = row.split("<td").nth(2).expect("the second cell");
            cell.split('>')
                .nth(1)
                .expect("text")
                .split('<')
                .next()
                .expect("its end")
                .to_owned()
        });
        names.collect::<Vec<_>>()
    };
    let by_accuracy = rows("accuracy");
    assert_eq!(by_accuracy.len(), 4);
    assert_eq!(
        by_accuracy[2..],
        ["always the first", "fails"],
        "the worst, then those without a value"
    );
    assert_eq!(
        rows("method"),
        ["always the first", "centroid", "fails", "softmax"]
    );
}
