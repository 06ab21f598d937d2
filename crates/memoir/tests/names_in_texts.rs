//! Models that look for the names of classes in texts: the same bytes after an interruption and from several
//! shards, classes without rows, promises that are kept, and smaller files.

mod common;
#[path = "common/draw.rs"]
mod draw;

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{bytes_source, session};
use draw::Draw;
use memoir::catalogue::{Algorithm, Method};
use memoir::checkpoint::Checkpoints;
use memoir::class_vocabulary::{BuilderOptions, UnmatchedVocabulary, VocabularyBuilder, read_table};
use memoir::model::calibration::SET_CANDIDATES;
use memoir::prepare::{Examples, VocabularyRequest};
use memoir::shards::{Shard, local_group};
use memoir::text::TextSettings;
use memoir::train::{FitOptions, HeldOut, SoftmaxParams, fit, fit_shard};
use memoir::{Cancel, Catalogue, Dataset, Event, Model, Observer, Scored, Session};

const CLASSES: u32 = 1500;
const GROUPS: u32 = 30;

/// Texts that open with the name of their class and end with those of others, with the number of the class.
/// Classes have few rows, so what an opening is worth is hardly learned by each for itself.
fn texts(numbers: Range<u64>) -> Vec<(u32, String)> {
    let text = |number: u64| {
        let mut draw = Draw(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        draw.below(2);
        let class = draw.below(CLASSES);
        // One text in five opens with a name that is not its own, so that answers are not too sure.
        let opening = if draw.below(5) == 0 {
            draw.below(CLASSES)
        } else {
            class
        };
        let mut text = format!("topic{opening}");
        for _ in 0..3 {
            write!(text, " shared{}x{}", class % GROUPS, draw.below(40)).unwrap();
        }
        for _ in 0..14 {
            write!(text, " word{}", draw.below(300)).unwrap();
        }
        for _ in 0..3 {
            write!(text, " topic{}", draw.below(CLASSES)).unwrap();
        }
        (class, text)
    };
    numbers.map(text).collect()
}

/// Names of all classes and of ten that no row has, each in its group.
fn vocabulary(with_groups: bool) -> UnmatchedVocabulary {
    let mut table = "id,name,broader\n".to_owned();
    for group in 0..GROUPS {
        writeln!(table, "g{group},,").unwrap();
    }
    for class in 0..CLASSES + 10 {
        let broader = if with_groups {
            format!("g{}", class % GROUPS)
        } else {
            String::new()
        };
        writeln!(table, "c{class},topic{class},{broader}").unwrap();
    }
    let mut builder = VocabularyBuilder::new();
    read_table(bytes_source("v.csv", table), &mut builder).unwrap();
    let (vocabulary, defects) = builder.finish(&BuilderOptions::default()).unwrap();
    UnmatchedVocabulary::Read(Box::new(vocabulary), defects)
}

/// What is trained.
#[derive(Clone, Copy, Default)]
struct Run {
    with_groups: bool,
    unseen_classes: bool,
    held_out: bool,
}

impl Run {
    fn options(self) -> FitOptions<'static> {
        let vocabulary = VocabularyRequest {
            unseen_classes: self.unseen_classes,
            ..VocabularyRequest::from(vocabulary(self.with_groups))
        };
        FitOptions {
            text: TextSettings {
                blocks: Some("words,opening:0.2".to_owned()),
                ..TextSettings::default()
            },
            vocabulary: Some(vocabulary),
            held_out: if self.held_out {
                HeldOut::Share(0.1)
            } else {
                HeldOut::Nothing
            },
            ..FitOptions::default()
        }
    }

    fn fit(self, session: &Session<'_>) -> memoir::Result<Model> {
        with_examples(|method, examples| fit(method, examples, self.options(), session))
    }

    fn model(self) -> Model {
        let model = self.fit(&session(2)).unwrap();
        let summary = model.summary().unwrap();
        assert_eq!(summary.scorer, "named");
        let has_levels = summary.tensors.iter().any(|array| array.name == "classes.level1");
        assert_eq!(has_levels, self.with_groups);
        model
    }
}

fn with_examples<R>(work: impl FnOnce(&Method, Examples<'_>) -> R) -> R {
    let rows = texts(0..5000);
    let mut about = Dataset::default();
    for (class, _) in &rows {
        let class = about.classes.intern(&format!("c{class}"));
        about.labels.push([class]);
    }
    let texts: Vec<&str> = rows.iter().map(|(_, text)| text.as_str()).collect();
    let params = [("batch", "200"), ("passes", "3")];
    let method = Algorithm::of::<SoftmaxParams>().configure(params).unwrap();
    work(&method, Examples::Texts { texts: &texts, about })
}

/// Interrupts training once there is a checkpoint; hears whether it was resumed.
struct Interrupter<'a> {
    checkpoint: &'a Path,
    cancel: Cancel,
    resumed: AtomicBool,
}

impl Observer for Interrupter<'_> {
    fn notice(&self, event: Event<'_>) {
        match event {
            Event::Note(text) if text.starts_with("resumed from") => {
                self.resumed.store(true, Ordering::Relaxed);
            }
            _ if self.checkpoint.exists() => self.cancel.raise(),
            _ => {}
        }
    }
}

#[test]
fn an_interrupted_training_ends_with_the_same_bytes() {
    for held_out in [false, true] {
        let run = Run {
            held_out,
            ..Run::default()
        };
        let undisturbed = run.model().to_bytes().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        let checkpoints = Checkpoints::new(path.clone(), Some(1000), true);
        let session = |interrupter: &Interrupter<'_>| {
            let session = session(1).with_checkpoints(Some(checkpoints.clone()));
            session.with_cancel(interrupter.cancel.clone())
        };
        let interrupter = |checkpoint| Interrupter {
            checkpoint,
            cancel: Cancel::default(),
            resumed: AtomicBool::new(false),
        };
        let first = interrupter(&path);
        assert!(run.fit(&session(&first).with_observer(&first)).is_err());
        assert!(path.exists());
        let second = interrupter(Path::new("/nothing/here"));
        let model = run.fit(&session(&second).with_observer(&second)).unwrap();
        assert!(second.resumed.into_inner());
        assert!(model.to_bytes().unwrap() == undisturbed, "held out: {held_out}");
    }
}

#[test]
fn shards_train_the_same_bytes() {
    let runs = [(false, false), (false, true), (true, false)];
    for (with_groups, held_out) in runs {
        let run = Run {
            with_groups,
            held_out,
            ..Run::default()
        };
        let one = run.model().to_bytes().unwrap();
        let shard = |exchange| {
            let shard = Shard::new(exchange);
            with_examples(|method, examples| {
                fit_shard(method, examples, run.options(), &shard, &session(1)).unwrap()
            })
        };
        let models: Vec<Option<Model>> = thread::scope(|scope| {
            let start = |exchange| scope.spawn(move || shard(exchange));
            let threads: Vec<_> = local_group(3).into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let several = models[0].as_ref().unwrap().to_bytes().unwrap();
        assert!(several == one, "groups: {with_groups}, held out: {held_out}");
    }
}

#[test]
fn classes_without_rows_are_found_by_their_names() {
    let run = Run {
        unseen_classes: true,
        ..Run::default()
    };
    let model = run.model();
    assert!(model.classes().len() as u32 >= CLASSES + 10);
    let bytes = model.to_bytes().unwrap();
    let model = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
    let mut predictor = model.predictor();
    for class in CLASSES..CLASSES + 10 {
        let best = predictor.text(&format!("topic{class} word7 word9"), 1).unwrap();
        assert_eq!(model.classes().name(best[0].class), format!("c{class}"));
    }
}

/// The best classes with probabilities and the right one, of rows that training does not have.
fn answers(model: &Model) -> Vec<(Vec<Scored>, u32)> {
    let mut predictor = model.predictor().with_probabilities().unwrap();
    let rows = texts(5000..8000).into_iter();
    let known = rows.filter_map(|(class, text)| Some((model.classes().find(&format!("c{class}"))?, text)));
    known
        .map(|(class, text)| {
            let best = predictor.text(&text, SET_CANDIDATES).unwrap();
            (best.to_vec(), class)
        })
        .collect()
}

#[test]
fn promises_are_kept() {
    for held_out in [false, true] {
        let run = Run {
            with_groups: true,
            held_out,
            ..Run::default()
        };
        let model = run.model();
        let hierarchy = model.vocabulary().unwrap().hierarchy(model.classes().len());
        let hierarchy = hierarchy.as_ref().unwrap();
        let sets = model.calibration().unwrap().sets.as_ref().unwrap();
        let answers = answers(&model);
        let has = |class: u32, depth: u16, node: u32| match depth {
            0 => node == class,
            _ => hierarchy.nodes(class).iter().any(|(above, _)| *above == node),
        };

        let coverage = 0.9;
        let rule = sets.rule(coverage, Some(hierarchy)).unwrap();
        let held = answers.iter().filter(|(best, class)| {
            let set = rule.set(best, Some(hierarchy));
            set.iter().any(|node| has(*class, rule.depth, node.node))
        });
        let share = held.count() as f32 / answers.len() as f32;
        assert!((share - coverage).abs() < 0.05, "{share} at depth {}", rule.depth);

        let precision = 0.9;
        let from = sets.back_off_from(precision).unwrap();
        let (mut answered, mut right, mut buffer) = (0.0, 0.0, Vec::new());
        for (best, class) in &answers {
            if let Some(answer) = hierarchy.back_off(best, from, &mut buffer) {
                answered += 1.0;
                right += f32::from(u8::from(has(*class, 1, answer.node)));
            }
        }
        assert!(
            (right / answered - precision).abs() < 0.05,
            "{right} of {answered}"
        );
    }
}

#[test]
fn smaller_files_keep_the_names() {
    let model = Run::default().model();
    let whole = model.to_bytes().unwrap();
    let most = whole.len() as u64 * 4 / 5;
    let smaller = model.shrink(most, &session(1)).unwrap();
    let bytes = smaller.to_bytes().unwrap();
    assert!(bytes.len() as u64 <= most, "{} of {}", bytes.len(), whole.len());
    let loaded = Model::from_bytes(&bytes, &Catalogue::new()).unwrap();
    assert_eq!(loaded.summary().unwrap().scorer, "named");
    let right = answers(&loaded)
        .iter()
        .filter(|(best, class)| best[0].class == *class)
        .count();
    assert!(right > 1500, "{right}");
    let refused = loaded.shrink(1000, &session(1)).err().unwrap().to_string();
    assert!(refused.contains("one weight per class"), "{refused}");
}
