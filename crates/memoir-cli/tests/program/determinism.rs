//! The same bytes whatever the number of threads.

use crate::support::{Workplace, texts, vectors};

#[test]
fn models_predictions_and_reports_do_not_depend_on_threads() {
    for (name, train, test) in [
        ("csv", texts(3000, 70), texts(700, 90)),
        ("svm", vectors(3000, 70), vectors(700, 90)),
    ] {
        let place = Workplace::new();
        place.file(&format!("train.{name}"), train);
        place.file(&format!("test.{name}"), test);
        let outcome = |threads: usize| {
            place.stdout(&format!(
                "train train.{name} --model m{threads} --threads {threads} --seed 5 --valid-fraction 0.1 --quiet"
            ));
            let predict =
                format!("predict m{threads} test.{name} --threads {threads} --top-k 5 --scores --quiet");
            let evaluate = format!("evaluate m{threads} test.{name} --threads {threads} --json --quiet");
            let json = place.stdout(&evaluate);
            let timeless: Vec<_> = json
                .lines()
                .filter(|line| !line.contains("\"seconds\""))
                .collect();
            let report = [
                timeless.join("\n"),
                place.stdout(&evaluate.replace(" --json", "")),
            ];
            let model = std::fs::read(place.path().join(format!("m{threads}"))).expect("written");
            (model, place.stdout(&predict), report)
        };
        let alone = outcome(1);
        assert_eq!(alone.1.lines().count(), 700);
        for threads in [2, 4] {
            let together = outcome(threads);
            assert!(
                alone.0 == together.0,
                "{name}: the model differs at {threads} threads"
            );
            assert_eq!(alone.1, together.1, "{name}, {threads} threads");
            assert_eq!(alone.2, together.2, "{name}, {threads} threads");
        }
    }
}

#[test]
fn explanations_and_profiles_do_not_depend_on_threads() {
    for (name, train, test) in [
        ("csv", texts(3000, 70), texts(2500, 90)),
        ("svm", vectors(3000, 70), vectors(2500, 90)),
    ] {
        let place = Workplace::new();
        place.file(&format!("train.{name}"), train);
        place.file(&format!("test.{name}"), test);
        place.stdout(&format!("train train.{name} --model m --quiet"));
        let class = if name == "csv" { "class 3" } else { "3" };
        let of_class = |verb: &str, threads: usize| {
            let mut command = place.memoir(&format!("{verb} m --json --threads {threads} --top 30"));
            let told = command.arg("--class").arg(class).output().expect("starts");
            assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
            String::from_utf8(told.stdout).expect("text")
        };
        let outcome = |threads: usize| {
            let explain = format!("explain m --data test.{name} --threads {threads} --quiet");
            [
                place.stdout(&explain),
                place.stdout(&format!("{explain} --json")),
                of_class("explain", threads),
                of_class("inspect", threads),
                place.stdout(&format!("inspect m --verify --threads {threads}")),
            ]
        };
        let alone = outcome(1);
        assert_eq!(alone[1].lines().count(), 2500);
        assert!(alone[3].matches("similarity").count() > 10, "{}", alone[3]);
        for threads in [2, 4] {
            assert!(alone == outcome(threads), "{name}: {threads} threads");
        }
    }
}

#[test]
fn the_time_of_an_evaluation_is_no_result() {
    let place = Workplace::new();
    place.file("train.csv", texts(300, 30));
    place.stdout("train train.csv --model m --quiet");
    let told = |words: &str| {
        let output = place.run(words);
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"))
    };
    let [first, time] = told("evaluate m train.csv");
    assert!(
        time.starts_with("evaluated in ") && time.ends_with(" rows a second)\n"),
        "{time}"
    );
    assert_eq!(told("evaluate m train.csv --quiet"), [first, String::new()]);
}
