//! Killed training goes on from its checkpoint and ends with the same bytes.

use std::time::{Duration, Instant};

use crate::support::{Workplace, vectors};

const TRAIN: &str =
    "train train.svm --model m.memoir --quiet --valid valid.svm --passes 9 --batch 200 --threads 1";

fn place() -> Workplace {
    let place = Workplace::new();
    place.file("train.svm", vectors(6000, 300));
    place.file("valid.svm", vectors(500, 300));
    place
}

fn model(place: &Workplace) -> Vec<u8> {
    std::fs::read(place.path().join("m.memoir")).expect("a model")
}

#[test]
fn twenty_kills_change_nothing() {
    let place = place();
    let start = Instant::now();
    place.stdout(TRAIN);
    let time = start.elapsed();
    let undisturbed = model(&place);
    let mut resumed = 0;
    let mut moment = 12345u64;
    let checkpoint = place.path().join("m.memoir.checkpoint");
    for number in 0..20 {
        std::fs::remove_file(place.path().join("m.memoir")).expect("removed");
        let mut child = place
            .memoir(&format!("{TRAIN} --checkpoint-every 1000"))
            .spawn()
            .expect("starts");
        // A simple generator: the moments are the same shares of a run's time each time.
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = (moment >> 33) as f64 / (1u64 << 31) as f64;
        if number % 2 == 0 {
            std::thread::sleep(Duration::from_secs_f64(time.as_secs_f64() * share));
        } else {
            // As soon as there is something to go on from: how long a run takes is hard to foresee.
            while !checkpoint.exists() && child.try_wait().expect("runs or ends").is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        child.kill().expect("killed, or at its end");
        child.wait().expect("ends");
        resumed += u32::from(checkpoint.exists());
        place.stdout(&format!("{TRAIN} --resume"));
        assert!(
            model(&place) == undisturbed,
            "killed after {share:.3} of its time"
        );
        let left = place.files();
        assert!(!left.contains(&"m.memoir.checkpoint".to_owned()), "{left:?}");
    }
    assert!(
        resumed > 0,
        "no run was killed between its first checkpoint and its end"
    );
}

#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let place = place();
    // Training that never ends by itself, so that it is killed after a checkpoint.
    let endless = TRAIN.replace("--passes 9", "--passes 1000");
    let mut child = place
        .memoir(&format!("{endless} --checkpoint-every 1"))
        .spawn()
        .expect("starts");
    let checkpoint = place.path().join("m.memoir.checkpoint");
    let start = Instant::now();
    while !checkpoint.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("killed");
    child.wait().expect("ends");
    let refused = |words: &str| {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        String::from_utf8(output.stderr).expect("text")
    };
    for (words, difference) in [
        (format!("{endless} --resume --rivals 7"), "other options"),
        (format!("{endless} --resume --seed 7"), "another seed"),
        (
            format!("{} --resume", endless.replace("--valid valid.svm ", "")),
            "other held-out rows",
        ),
    ] {
        assert_eq!(
            refused(&words),
            format!(
                "error: m.memoir.checkpoint: cannot be resumed: it was written with {difference}; to start anew, \
                 leave `--resume` out\n"
            )
        );
    }
    place.file("train.svm", vectors(6001, 300));
    assert!(refused(&format!("{endless} --resume")).contains("other rows to learn from"));
    assert!(checkpoint.exists(), "what was refused is not lost");
    assert_eq!(
        refused("train train.svm --model m.memoir --algorithm centroid --resume"),
        "error: `centroid` keeps no checkpoints; `softmax` does\n"
    );
}
