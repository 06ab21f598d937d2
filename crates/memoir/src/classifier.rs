//! The short way: from a file or from memory to a model in one expression.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::catalogue::{AlgorithmParams, Method};
use crate::data::{MAX_FEATURES, ReadOptions, Source};
use crate::dataset::Dataset;
use crate::model::Model;
use crate::prepare::{Examples, VocabularyRequest, WeightingChoice};
use crate::text::TextSettings;
use crate::train::{
    CentroidParams, FitOptions, HeldOut, MemoirL1Params, MemoirL2Params, MemoirLshParams, SoftmaxParams, fit,
};
use crate::{Error, Result, Session};

/// An algorithm with all its settings, ready to be fitted.
///
/// ```
/// use memoir::Classifier;
///
/// let texts = ["red apple", "green apple", "blue sky", "grey sky"];
/// let labels = ["fruit", "fruit", "weather", "weather"];
/// let model = Classifier::softmax().passes(3).fit(&texts, &labels)?;
/// assert_eq!(model.predict("an apple", 1)?[0].class, "fruit");
/// # Ok::<(), memoir::Error>(())
/// ```
///
/// The algorithms of this crate have setters for their parameters. Those of other crates are given with
/// theirs: `Classifier::new(OvrParams::default().cost(2.0))`. Every value is checked when the classifier is
/// fitted, before any data is read.
#[derive(Clone)]
#[must_use = "a classifier does nothing until it is fitted"]
pub struct Classifier<'a, A> {
    params: A,
    seed: Option<u64>,
    threads: Option<usize>,
    memory_budget: Option<u64>,
    text: TextSettings,
    weighting: WeightingChoice,
    reading: ReadOptions,
    held_out: HeldOutRows,
    base_model: Option<&'a Model>,
    vocabulary: Option<VocabularyRequest>,
    session: Option<&'a Session<'a>>,
}

/// Where held-out rows come from.
#[derive(Clone)]
enum HeldOutRows {
    Nothing,
    Fraction(f64),
    File(PathBuf),
    Texts { texts: Vec<String>, about: Dataset },
    Rows(Result<Dataset, String>),
}

impl Classifier<'_, SoftmaxParams> {
    /// A softmax over each row's labels and their strongest rivals: the default, and the best in most cases.
    pub fn softmax() -> Self {
        Self::new(SoftmaxParams::default())
    }
}

impl Classifier<'_, MemoirL1Params> {
    /// The paper's Algorithm 2: an l1-regularised SVM with an inexact margin, whose models are small.
    pub fn memoir_l1() -> Self {
        Self::new(MemoirL1Params::default())
    }
}

impl Classifier<'_, MemoirL2Params> {
    /// The paper's Algorithm 1: an l2-regularised SVM with an inexact margin.
    pub fn memoir_l2() -> Self {
        Self::new(MemoirL2Params::default())
    }
}

impl Classifier<'_, MemoirLshParams> {
    /// The paper's MEMOIR-LSH: rows reduced by a truncated SVD, rivals found by `SimpleLSH`.
    pub fn memoir_lsh() -> Self {
        Self::new(MemoirLshParams::default())
    }
}

impl Classifier<'_, CentroidParams> {
    /// The class whose mean row is nearest: trains in one quick pass.
    pub fn centroid() -> Self {
        Self::new(CentroidParams::default())
    }
}

impl<'a, A: AlgorithmParams> Classifier<'a, A> {
    /// The algorithm that `params` are the parameters of.
    pub fn new(params: A) -> Self {
        Self {
            params,
            seed: None,
            threads: None,
            memory_budget: None,
            text: TextSettings::default(),
            weighting: WeightingChoice::default(),
            reading: ReadOptions::default(),
            held_out: HeldOutRows::Nothing,
            base_model: None,
            vocabulary: None,
            session: None,
        }
    }

    /// The parameters of the algorithm.
    pub fn params(&self) -> &A {
        &self.params
    }

    /// The parameters, for setters.
    pub(crate) fn map_params(mut self, change: impl FnOnce(A) -> A) -> Self {
        self.params = change(self.params);
        self
    }

    /// The seed of every random choice. The default is 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How many threads work. The default is one for each processor; the model does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Memory in bytes that training should stay within. The default is no limit.
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.memory_budget = Some(bytes);
        self
    }

    /// How text becomes features.
    pub fn text(mut self, text: TextSettings) -> Self {
        self.text = text;
        self
    }

    /// What the values of vectors are.
    pub fn weighting(mut self, weighting: WeightingChoice) -> Self {
        self.weighting = weighting;
        self
    }

    /// How files are read: their format, their columns.
    pub fn reading(mut self, options: ReadOptions) -> Self {
        self.reading = options;
        self
    }

    /// Holds this share of the rows out, between 0 and 1, to choose when to stop and to calibrate
    /// probabilities.
    pub fn held_out_fraction(mut self, share: f64) -> Self {
        self.held_out = HeldOutRows::Fraction(share);
        self
    }

    /// Uses the labelled rows of a file as held-out rows.
    pub fn held_out_file(mut self, path: impl AsRef<Path>) -> Self {
        self.held_out = HeldOutRows::File(path.as_ref().to_owned());
        self
    }

    /// Uses these texts as held-out rows; each has one label.
    pub fn held_out(mut self, texts: &[impl AsRef<str>], labels: &[impl AsRef<str>]) -> Self {
        self.held_out = HeldOutRows::Texts {
            texts: texts.iter().map(|text| text.as_ref().to_owned()).collect(),
            about: labelled(labels.iter().map(std::slice::from_ref)),
        };
        self
    }

    /// Uses these vectors as held-out rows; each has one label.
    pub fn held_out_rows<R: IntoIterator<Item = (u32, f32)>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
        labels: &[impl AsRef<str>],
    ) -> Self {
        let about = labelled(labels.iter().map(std::slice::from_ref));
        self.held_out = HeldOutRows::Rows(vectors(rows, about));
        self
    }

    /// Continues from `model`, which stays as it is: the rows are learned in addition to what it knows. It
    /// brings its own way to read text and to weigh values.
    pub fn continue_from(mut self, model: &'a Model) -> Self {
        self.base_model = Some(model);
        self
    }

    /// Gives the classes names and relations, which answers carry. Where rows are texts, names are learned
    /// from too.
    pub fn vocabulary(mut self, vocabulary: impl Into<VocabularyRequest>) -> Self {
        self.vocabulary = Some(vocabulary.into());
        self
    }

    /// Runs in `session`, which can be watched and stopped. It brings its own seed, threads and memory
    /// budget.
    pub fn session(mut self, session: &'a Session<'a>) -> Self {
        self.session = Some(session);
        self
    }

    /// Learns from a file of labelled rows, whose format its name or its first line tells.
    pub fn fit_file(self, path: impl AsRef<Path>) -> Result<Model> {
        let options = match self.base_model {
            Some(model) => model.reading(self.reading.clone()),
            None => self.reading.clone(),
        };
        let mut model = self.fit_examples(Examples::Read {
            source: Source::new(path),
            options: &options,
        })?;
        model.remember(&options);
        Ok(model)
    }

    /// Learns from texts that have one label each.
    pub fn fit(self, texts: &[impl AsRef<str>], labels: &[impl AsRef<str>]) -> Result<Model> {
        self.fit_texts(texts, labelled(labels.iter().map(std::slice::from_ref)))
    }

    /// Learns from texts that have any number of labels each.
    pub fn fit_multi<L: AsRef<str>>(
        self,
        texts: &[impl AsRef<str>],
        label_sets: &[impl AsRef<[L]>],
    ) -> Result<Model> {
        self.fit_texts(texts, labelled(label_sets.iter().map(AsRef::as_ref)))
    }

    /// Learns from vectors that have one label each. A vector is pairs of feature and value, in any order.
    pub fn fit_rows<R: IntoIterator<Item = (u32, f32)>>(
        self,
        rows: impl IntoIterator<Item = R>,
        labels: &[impl AsRef<str>],
    ) -> Result<Model> {
        self.fit_vectors(vectors(rows, labelled(labels.iter().map(std::slice::from_ref))))
    }

    /// Learns from vectors that have any number of labels each.
    pub fn fit_rows_multi<R: IntoIterator<Item = (u32, f32)>, L: AsRef<str>>(
        self,
        rows: impl IntoIterator<Item = R>,
        label_sets: &[impl AsRef<[L]>],
    ) -> Result<Model> {
        self.fit_vectors(vectors(rows, labelled(label_sets.iter().map(AsRef::as_ref))))
    }

    fn fit_texts(self, texts: &[impl AsRef<str>], about: Dataset) -> Result<Model> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        self.fit_examples(Examples::Texts { texts: &texts, about })
    }

    fn fit_vectors(self, data: Result<Dataset, String>) -> Result<Model> {
        let data = data.map_err(Error::Mismatch)?;
        self.fit_examples(Examples::Vectors { data, first: 0 })
    }

    fn fit_examples(self, examples: Examples<'_>) -> Result<Model> {
        let method = Method::new(&self.params)?;
        let own_session;
        let session = if let Some(session) = self.session {
            self.check_session()?;
            session
        } else {
            own_session = self.own_session()?;
            &own_session
        };
        let held_out_texts: Vec<&str> = match &self.held_out {
            HeldOutRows::Texts { texts, .. } => texts.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let held_out = match &self.held_out {
            HeldOutRows::Nothing => HeldOut::Nothing,
            HeldOutRows::Fraction(share) => HeldOut::Share(*share),
            HeldOutRows::File(path) => HeldOut::examples(Examples::Read {
                source: Source::new(path),
                options: &self.reading,
            }),
            HeldOutRows::Texts { about, .. } => HeldOut::examples(Examples::Texts {
                texts: &held_out_texts,
                about: about.clone(),
            }),
            HeldOutRows::Rows(data) => HeldOut::examples(Examples::Vectors {
                data: data.clone().map_err(Error::Mismatch)?,
                first: 0,
            }),
        };
        let options = FitOptions {
            text: self.text,
            weighting: self.weighting,
            held_out,
            base_model: self.base_model,
            replicate: false,
            vocabulary: self.vocabulary,
        };
        fit(&method, examples, options, session)
    }

    fn own_session(&self) -> Result<Session<'static>> {
        let threads = match self.threads {
            None => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            Some(threads) => NonZeroUsize::new(threads).ok_or_else(|| {
                Error::Parameter("`threads` must be a whole number of at least 1, but is `0`".to_owned())
            })?,
        };
        Ok(Session::new(threads)?
            .with_seed(self.seed.unwrap_or(0))
            .with_memory_budget(self.memory_budget))
    }

    /// What a session brings cannot be given beside it.
    fn check_session(&self) -> Result<()> {
        let given = [
            ("seed", self.seed.is_some()),
            ("threads", self.threads.is_some()),
            ("memory-budget", self.memory_budget.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((name, _)) => Err(Error::Parameter(format!(
                "`{name}` is given beside a session, which has its own: set it there"
            ))),
        }
    }
}

/// Labels and classes of rows with these label sets.
fn labelled<'l, L: AsRef<str> + 'l>(sets: impl Iterator<Item = &'l [L]>) -> Dataset {
    let mut about = Dataset::default();
    for set in sets {
        let numbers: Vec<u32> = set
            .iter()
            .map(|name| about.classes.intern(name.as_ref()))
            .collect();
        about.labels.push(numbers);
    }
    about
}

/// `about` with these vectors as rows; an error in words if one holds what no model can learn from.
fn vectors<R: IntoIterator<Item = (u32, f32)>>(
    rows: impl IntoIterator<Item = R>,
    about: Dataset,
) -> Result<Dataset, String> {
    let mut data = about;
    let mut entries = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        entries.extend(row);
        for &(feature, value) in &entries {
            if feature as usize >= MAX_FEATURES {
                return Err(format!(
                    "row {number} has feature {feature}; expected features below {MAX_FEATURES}"
                ));
            }
            if !value.is_finite() {
                return Err(format!(
                    "row {number} has the value {value} at feature {feature}; expected a finite number"
                ));
            }
        }
        data.rows.push_unsorted(&mut entries);
    }
    Ok(data)
}
