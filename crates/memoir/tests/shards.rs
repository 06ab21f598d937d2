//! Several shards train the model that one process trains, to the byte: on vectors and texts, in memory and
//! on disk, with everything that training can be told, and after a shard was killed.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use memoir::catalogue::{Algorithm, Method};
use memoir::checkpoint::Checkpoints;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{DiskOptions, Examples, prepare_to_disk};
use memoir::shards::{Exchange, LocalExchange, Shard, local_group};
use memoir::text::TextSettings;
use memoir::train::{CentroidParams, FitOptions, HeldOut, SoftmaxParams, fit, fit_shard};
use memoir::{Cancel, Error, Model, Result, Session};

/// What is trained, and how.
struct Run<'a> {
    data: PathBuf,
    params: &'a [(&'a str, &'a str)],
    valid: Option<&'a Path>,
    base: Option<&'a Model>,
    budget: Option<u64>,
    checkpoints: Option<Checkpoints>,
    text: TextSettings,
}

impl Run<'_> {
    fn of(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
            params: &[],
            valid: None,
            base: None,
            budget: None,
            checkpoints: None,
            text: TextSettings::default(),
        }
    }

    fn method(&self) -> Method {
        let softmax = Algorithm::of::<SoftmaxParams>();
        softmax.configure(self.params.iter().copied()).unwrap()
    }

    fn session(&self, threads: usize) -> Session<'static> {
        Session::new(NonZeroUsize::new(threads).unwrap())
            .unwrap()
            .with_seed(7)
            .with_memory_budget(self.budget)
            .with_checkpoints(self.checkpoints.clone())
    }

    fn options<'r>(&'r self, reading: &'r ReadOptions) -> FitOptions<'r> {
        let valid = self.valid.map(|valid| {
            HeldOut::examples(Examples::Read {
                source: Source::new(valid),
                options: reading,
            })
        });
        FitOptions {
            text: self.text.clone(),
            held_out: valid.unwrap_or_default(),
            base_model: self.base,
            ..FitOptions::default()
        }
    }

    fn in_one_process(&self) -> Model {
        let reading = ReadOptions::default();
        let examples = Examples::Read {
            source: Source::new(&self.data),
            options: &reading,
        };
        let method = self.method();
        fit(&method, examples, self.options(&reading), &self.session(2)).unwrap()
    }

    /// One shard; the number of threads is another one for each.
    fn shard(&self, exchange: impl Exchange + 'static) -> Result<Option<Model>> {
        let reading = ReadOptions::default();
        let examples = Examples::Read {
            source: Source::new(&self.data),
            options: &reading,
        };
        let method = self.method();
        let shard = Shard::new(exchange);
        let session = self.session(2 - shard.index() % 2);
        fit_shard(&method, examples, self.options(&reading), &shard, &session)
    }

    fn in_shards<E: Exchange + 'static>(&self, group: Vec<E>) -> Vec<Result<Option<Model>>> {
        thread::scope(|scope| {
            let start = |exchange| scope.spawn(|| self.shard(exchange));
            let threads: Vec<_> = group.into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// Trains in one process and in several, and compares the bytes.
    fn compare(&self, what: &str, numbers: &[usize]) {
        let one = self.in_one_process().to_bytes().unwrap();
        for &shards in numbers {
            let models = self.in_shards(local_group(shards));
            assert_eq!(models.len(), shards);
            for (index, model) in models.into_iter().enumerate() {
                let model = model.unwrap_or_else(|error| panic!("{what}, shard {index}: {error}"));
                assert_eq!(model.is_some(), index == 0);
                if let Some(model) = model {
                    assert!(model.to_bytes().unwrap() == one, "{what}: {shards} shards");
                }
            }
        }
    }
}

/// Rows in libsvm form whose features depend on their classes.
fn vectors(path: &Path, rows: u32, classes: u32, labels: u32, seed: u32) {
    let mut state = u64::from(seed);
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let mut lines = String::new();
    for row in 0..rows {
        // Low classes are frequent.
        let class = if row < classes {
            row
        } else {
            next() % (1 + next() % classes)
        };
        let set: Vec<String> = (0..=next() % labels)
            .map(|i| ((class + 5 * i) % classes).to_string())
            .collect();
        lines += &set.join(",");
        let mut features: Vec<u32> = (0..5).map(|i| (class * 7 + i * (next() % 6)) % 400).collect();
        features.extend((0..4).map(|_| next() % 20));
        features.sort_unstable();
        features.dedup();
        for feature in features {
            write!(lines, " {}:{}", feature + 1, 1 + next() % 3).unwrap();
        }
        lines.push('\n');
    }
    std::fs::write(path, lines).unwrap();
}

/// Texts with labels, as CSV.
fn texts(path: &Path, rows: u32) {
    let mut lines = "label,text\n".to_owned();
    for row in 0..rows {
        let class = row * 7 % 60;
        let words = [class, class / 4 + 100, row % 9 + 200, row * 31 % 50 + 300];
        write!(lines, "c{class}").unwrap();
        for (separator, word) in [",", " ", " ", " "].iter().zip(words) {
            write!(lines, "{separator}wort{word}ung").unwrap();
        }
        lines.push('\n');
    }
    std::fs::write(path, lines).unwrap();
}

#[test]
fn vectors_with_one_label_and_with_several() {
    let folder = tempfile::tempdir().unwrap();
    let (data, valid) = (folder.path().join("rows.svm"), folder.path().join("valid.svm"));
    for labels in [1, 3] {
        // More classes than a scan looks at in one block, and rows enough for a calibration split.
        vectors(&data, 2_500, 200, labels, labels);
        vectors(&valid, 300, 200, labels, 9);
        Run::of(&data).compare("defaults", &[1, 2, 4]);
        let cached = [("rescan", "no"), ("passes", "3")];
        let run = Run {
            params: &cached,
            valid: Some(&valid),
            ..Run::of(&data)
        };
        run.compare("cached rivals, held-out rows", &[3]);
        let exact = [("search", "exact"), ("class-balance", "0.5"), ("passes", "2")];
        let run = Run {
            params: &exact,
            ..Run::of(&data)
        };
        run.compare("exact scans, reweighted", &[2]);
    }
}

#[test]
fn texts_and_their_calibration() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("texts.csv");
    texts(&data, 2_500);
    Run::of(&data).compare("texts", &[2, 4]);
    let run = Run {
        text: TextSettings::default().blocks("words,pairs:0.5/words,chars4".to_owned()),
        ..Run::of(&data)
    };
    run.compare("texts in two views", &[2]);
}

/// Texts of different words and lengths, most runs of which are met once.
fn varied_texts(path: &Path, rows: u32) {
    let word = |row: u32, place: u32| (row / 7 * 31 + place * place * 17) % (40 + row / 4 % 2000);
    let text = |row: u32| -> String {
        let class = row * 7 % 60;
        let pair = |place| format!("c{} w{} ", class / (place + 1), word(row, place));
        format!("c{class},{}\n", (0..row % 11).map(pair).collect::<String>())
    };
    let lines: String = (0..rows).map(text).collect();
    std::fs::write(path, "label,text\n".to_owned() + &lines).unwrap();
}

#[test]
fn texts_that_several_count() {
    let folder = tempfile::tempdir().unwrap();
    let (data, prepared) = (folder.path().join("texts.csv"), folder.path().join("set"));
    // More blocks than shards tell each other of at once.
    varied_texts(&data, 9_500);
    prepare(&data, &prepared);
    let triples = TextSettings::default().word_ngrams(3);
    let pairs = TextSettings::default().blocks("words,pairs:0.5,stem-pairs".to_owned());
    let words = TextSettings::default();
    for (data, text) in [(&data, words), (&data, triples), (&prepared, pairs)] {
        let run = Run::of(data);
        Run { text, ..run }.compare("texts that several count", &[2, 3]);
    }
}

#[test]
fn a_model_to_continue_from() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before.svm"), folder.path().join("after.svm"));
    vectors(&before, 900, 90, 1, 1);
    vectors(&after, 900, 110, 1, 2);
    let base = Run {
        params: &[("keep-rows", "50")],
        ..Run::of(&before)
    }
    .in_one_process();
    Run {
        base: Some(&base),
        ..Run::of(&after)
    }
    .compare("continued", &[3]);
}

fn prepare(data: &Path, out: &Path) {
    let (options, how) = (ReadOptions::default(), DiskOptions::default());
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    prepare_to_disk(Source::new(data), &options, out, &how, &session).unwrap();
}

#[test]
fn texts_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (data, prepared) = (folder.path().join("texts.csv"), folder.path().join("set"));
    texts(&data, 30_000);
    prepare(&data, &prepared);
    let run = Run {
        params: &[("passes", "1")],
        // Texts would take more than a quarter of it.
        budget: Some(24_000_000),
        text: TextSettings::default().blocks("words,pairs:0.5/words,chars4".to_owned()),
        ..Run::of(&prepared)
    };
    run.compare("texts on disk", &[2]);
}

#[test]
fn rows_on_disk_and_a_budget() {
    let folder = tempfile::tempdir().unwrap();
    let (data, prepared) = (folder.path().join("rows.svm"), folder.path().join("set"));
    vectors(&data, 12_000, 200, 1, 3);
    prepare(&data, &prepared);
    Run::of(&prepared).compare("prepared", &[2]);
    for budget in [19_000_000, 17_500_000] {
        let run = Run {
            budget: Some(budget),
            ..Run::of(&prepared)
        };
        run.compare("a budget", &[2]);
    }
}

/// Fails at a certain round, as if the process had been killed; so the others lose it.
struct Killed {
    inner: LocalExchange,
    rounds_left: Option<u32>,
}

impl Exchange for Killed {
    fn index(&self) -> usize {
        self.inner.index()
    }

    fn shards(&self) -> usize {
        self.inner.shards()
    }

    fn all_gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
        if let Some(left) = &mut self.rounds_left {
            if *left == 0 {
                return Err(Error::Exchange("killed".to_owned()));
            }
            *left -= 1;
        }
        self.inner.all_gather(mine, cancel)
    }
}

#[test]
fn a_killed_shard_is_restored_from_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.svm");
    vectors(&data, 9_000, 150, 2, 5);
    let params = [("batch", "256"), ("passes", "2"), ("rescan", "no")];
    let plain = Run {
        params: &params,
        ..Run::of(&data)
    };
    let one = plain.in_one_process().to_bytes().unwrap();
    let resumed = AtomicBool::new(false);
    for (shards, moments) in [(2, &[5, 40, 45, 12][..]), (3, &[47, 12])] {
        let path = folder.path().join(format!("checkpoint-{shards}"));
        let checkpoints = Checkpoints::new(path.clone(), Some(2_000), true);
        let run = Run {
            checkpoints: Some(checkpoints.clone()),
            params: &params,
            ..Run::of(&data)
        };
        for (number, &moment) in moments.iter().enumerate() {
            let victim = number % shards;
            let group = local_group(shards).into_iter().enumerate();
            let group = group.map(|(index, inner)| Killed {
                inner,
                rounds_left: (index == victim).then_some(moment),
            });
            for result in run.in_shards(group.collect()) {
                let complaint = result.map(|_| ()).unwrap_err().to_string();
                assert!(
                    complaint == "killed" || complaint.contains(" is gone: "),
                    "{complaint}"
                );
            }
            let written = std::fs::read_dir(folder.path()).unwrap().count() > 1;
            resumed.fetch_or(written, Ordering::Relaxed);
        }
        let last = run.in_shards(local_group(shards)).remove(0).unwrap().unwrap();
        assert!(last.to_bytes().unwrap() == one, "{shards} shards");
        checkpoints.remove_shards(shards).unwrap();
    }
    assert!(resumed.into_inner());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "checkpoints are removed"
    );
}

#[test]
fn what_cannot_be_shared_out_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.svm");
    vectors(&data, 50, 3, 1, 5);
    let complaint = |run: &Run<'_>| run.in_shards(local_group(4)).remove(0).err().unwrap().to_string();
    assert_eq!(
        complaint(&Run::of(&data)),
        "there are 4 shards, but only 3 classes to share out"
    );
    let told = Run {
        params: &[("report-rivals", "on")],
        ..Run::of(&data)
    };
    assert!(complaint(&told).starts_with("`report-rivals` compares"));
    let reading = ReadOptions::default();
    let examples = Examples::Read {
        source: Source::new(&data),
        options: &reading,
    };
    let shard = Shard::new(local_group(1).remove(0));
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    let centroid = Method::new(&CentroidParams::default()).unwrap();
    let refused = fit_shard(&centroid, examples, FitOptions::default(), &shard, &session);
    assert_eq!(
        refused.err().unwrap().to_string(),
        "`centroid` cannot be trained by several processes; `softmax` can"
    );
    assert_eq!(shard.traffic().waited, Duration::ZERO);
}
