//! The commands of a method on a data set: as they are run, and as they are shown (with short paths, fit
//! to be repeated by hand and to be published).

use std::path::{Path, PathBuf};

use anyhow::bail;
use memoir_report::shell::command_line;

use crate::datasets::Shape;
use crate::experiment::{DataSet, Method, as_text};

/// What may stand in braces in the commands of an external program.
const PLACEHOLDERS: [&str; 10] = [
    "train",
    "test",
    "model",
    "predictions",
    "threads",
    "seed",
    "here",
    "classes",
    "features",
    "rows",
];

/// One step of a method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// Program and arguments.
    pub(crate) words: Vec<String>,
    /// The same for people.
    pub(crate) shown: String,
    /// Where standard output goes, if it is wanted.
    pub(crate) stdout: Option<PathBuf>,
}

/// The paths and numbers of one run.
pub(crate) struct Run<'a> {
    pub(crate) data: &'a DataSet,
    /// For external programs: the converted rows, and what they measure.
    pub(crate) converted: Option<(PathBuf, PathBuf, Shape)>,
    /// The `memoir` program.
    pub(crate) program: &'a Path,
    pub(crate) work: &'a Path,
    pub(crate) seed: u32,
    pub(crate) threads: u32,
}

/// Fails if a command holds something in braces that nothing is put in for.
pub(crate) fn check_placeholders(method: &Method) -> anyhow::Result<()> {
    for word in method.train.iter().chain(&method.predict) {
        for part in word.split('{').skip(1) {
            let name = part.split('}').next().unwrap_or(part);
            if !PLACEHOLDERS.contains(&name) {
                bail!(
                    "`{{{name}}}` in `{word}` is not a placeholder; there are: {}",
                    PLACEHOLDERS.join(", ")
                );
            }
        }
    }
    Ok(())
}

impl Run<'_> {
    fn model(&self) -> PathBuf {
        self.work.join("model")
    }

    /// Where the predictions will be.
    pub(crate) fn predictions(&self) -> PathBuf {
        self.work.join("predictions")
    }

    /// The steps that train and predict.
    pub(crate) fn steps(&self, method: &Method) -> [Step; 2] {
        match &method.algorithm {
            Some(algorithm) => self.ours(method, algorithm),
            None => self.external(method),
        }
    }

    fn ours(&self, method: &Method, algorithm: &str) -> [Step; 2] {
        let model = self.model();
        let reading = self.data.reading_arguments();
        let mut options = vec!["--algorithm".to_owned(), algorithm.to_owned()];
        for (name, value) in as_text(&method.options)
            .into_iter()
            .chain(as_text(&self.data.text))
        {
            options.extend([format!("--{name}"), value]);
        }
        if let Some(weighting) = &self.data.weighting {
            options.extend(["--weighting".to_owned(), weighting.clone()]);
        }
        options.extend(["--seed".to_owned(), self.seed.to_string()]);
        let running = [
            "--threads".to_owned(),
            self.threads.to_string(),
            "--quiet".to_owned(),
        ];
        let words = |program: &str, file: &Path, model: &Path, is_training: bool| {
            let file = file.display().to_string();
            let model = model.display().to_string();
            let mut words = vec![program.to_owned()];
            if is_training {
                words.extend(["train".to_owned(), file, "--model".to_owned(), model]);
                words.extend_from_slice(&options);
            } else {
                words.extend(["predict".to_owned(), model, file]);
                words.extend(["--top-k".to_owned(), method.depth.to_string()]);
            }
            words.extend_from_slice(&reading);
            words.extend_from_slice(&running);
            words
        };
        let program = self.program.display().to_string();
        let step = |file: &Path, is_training: bool| Step {
            words: words(&program, file, &model, is_training),
            shown: command_line(&words("memoir", &short(file), Path::new("model"), is_training)),
            stdout: (!is_training).then(|| self.predictions()),
        };
        [step(&self.data.train, true), step(&self.data.test, false)]
    }

    fn external(&self, method: &Method) -> [Step; 2] {
        let (train, test, shape) = match &self.converted {
            Some((train, test, shape)) => (train.clone(), test.clone(), *shape),
            None => Default::default(),
        };
        let path = |path: PathBuf| path.display().to_string();
        let numbers = [
            ("threads", self.threads.to_string()),
            ("seed", self.seed.to_string()),
            ("classes", shape.classes.to_string()),
            ("features", shape.features.to_string()),
            ("rows", shape.rows.to_string()),
        ];
        let paths = [
            ("train", path(short(&train)), path(train)),
            ("test", path(short(&test)), path(test)),
            ("model", "model".to_owned(), path(self.model())),
            ("predictions", "predictions".to_owned(), path(self.predictions())),
            ("here", method.here.1.clone(), path(method.here.0.clone())),
        ];
        let fill = |word: &String, is_shown: bool| {
            let mut word = word.clone();
            for (name, value) in &numbers {
                word = word.replace(&format!("{{{name}}}"), value);
            }
            for (name, shown, real) in &paths {
                word = word.replace(&format!("{{{name}}}"), if is_shown { shown } else { real });
            }
            word
        };
        [(&method.train, true), (&method.predict, false)].map(|(template, is_training)| {
            let names_output = template.iter().any(|word| word.contains("{predictions}"));
            let shown: Vec<_> = template.iter().map(|word| fill(word, true)).collect();
            Step {
                words: template.iter().map(|word| fill(word, false)).collect(),
                shown: command_line(&shown),
                stdout: (!is_training && !names_output).then(|| self.predictions()),
            }
        })
    }
}

/// The last two parts of a path: enough to know a file, nothing about the machine.
fn short(path: &Path) -> PathBuf {
    let parts: Vec<_> = path.components().collect();
    parts[parts.len().saturating_sub(2)..].iter().collect()
}
