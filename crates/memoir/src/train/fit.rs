//! From examples to a whole model, from scratch or from another model: the steps around an algorithm that
//! are the same for all of them.

use super::base_model::check_base_model;
use super::hold_out::{check_share, hold_out};
use super::name_matches::NameSearch;
use super::origin::{chosen, origin};
use super::row_weights::compare_with_usual;
use super::upper_levels::{Learning, UpperLevels};
use super::views::{Views, check_views};
use super::{BaseModel, TrainRequest, Trained};
use crate::catalogue::Method;
use crate::class_vocabulary::ClassVocabulary;
use crate::dataset::{ClassNames, Dataset};
use crate::model::calibration::{Basis, Calibration};
use crate::model::{Mixed, Model, Origin, Overrides};
use crate::params::Parameters;
use crate::prepare::{
    BaseRows, DiskData, DiskRows, Examples, PrepOptions, TrainingData, VocabularyRequest, WeightingChoice,
    prepare_described, prepare_on_disk, prepare_with, too_large_for_memory,
};
use crate::shards::Shard;
use crate::text::{Preprocessing, TextSettings};
use crate::{Error, Result, Session};

/// How a model is made of examples, beyond the method.
#[derive(Default)]
pub struct FitOptions<'a> {
    /// How text becomes features, where the examples are texts. A base model brings its own way.
    pub text: TextSettings,
    /// What the values of vectors are. A base model brings its own weighting.
    pub weighting: WeightingChoice,
    /// Rows that are not learned from.
    pub held_out: HeldOut<'a>,
    /// The model to continue from: the examples are learned in addition to what it knows. It stays as it is.
    pub base_model: Option<&'a Model>,
    /// Learn from each row once for each of its labels, as the paper does.
    pub replicate: bool,
    /// Names and relations of the classes. Names are learned from.
    pub vocabulary: Option<VocabularyRequest>,
}

/// Rows that are not learned from but used to choose when to stop and to calibrate the model (see
/// [`TrainRequest::held_out`]).
#[derive(Default)]
pub enum HeldOut<'a> {
    /// There are none. Algorithms with a calibration split are calibrated by it.
    #[default]
    Nothing,
    /// This share of the examples, between 0 and 1, chosen by the session's seed.
    Share(f64),
    /// Examples of their own. Those with a class that training does not have are used to calibrate only.
    Examples(Box<Examples<'a>>),
}

impl<'a> HeldOut<'a> {
    /// Examples of their own.
    pub fn examples(examples: Examples<'a>) -> Self {
        Self::Examples(Box::new(examples))
    }
}

/// Trains `method` on `examples`, prepared as its trainer needs them.
///
/// Whatever can be checked is checked before the examples are read. With a base model, `method` must be of
/// the algorithm that made it; its classes and features keep their numbers, new ones come behind them, and
/// without held-out rows and with too few new ones its calibration stays.
pub fn fit(
    method: &Method,
    examples: Examples<'_>,
    options: FitOptions<'_>,
    session: &Session<'_>,
) -> Result<Model> {
    prepared(method, examples, options, session)?
        .learn(method, None, session)?
        .finish(session)
}

/// As [`fit`], by one of several processes that train a model together. All are given the same method,
/// examples, options and session. The first gets the model, the others get nothing.
///
/// The model is the same, to the byte, as that of [`fit`]. With checkpoints, each shard writes its own, and
/// all start from the newest that all of them have.
pub fn fit_shard(
    method: &Method,
    examples: Examples<'_>,
    options: FitOptions<'_>,
    shard: &Shard,
    session: &Session<'_>,
) -> Result<Option<Model>> {
    if !method.trainer().support().shards {
        return Err(Error::Parameter(format!(
            "`{}` cannot be trained by several processes; `softmax` can",
            method.name()
        )));
    }
    // What is learned from is the same for all, so making it is shared out, too.
    let prepared = prepared(method, examples, options, &session.as_shard(shard))?;
    let learned = prepared.learn(method, Some(shard), session)?;
    if shard.index() > 0 {
        return Ok(None);
    }
    learned.finish(session).map(Some)
}

/// What a model is learned from.
struct Prepared<'a> {
    training: TrainingData,
    disk: Option<DiskData>,
    held_out: Option<Dataset>,
    base: Option<&'a Model>,
}

/// What was learned, and what else a model is made of.
struct Learned<'a> {
    trained: Trained,
    origin: Origin,
    classes: ClassNames,
    preprocessing: Preprocessing,
    vocabulary: Option<ClassVocabulary>,
    held_out: Option<Dataset>,
    base: Option<&'a Model>,
}

/// Checks and reads what `method` is to learn from.
fn prepared<'a>(
    method: &Method,
    examples: Examples<'_>,
    options: FitOptions<'a>,
    session: &Session<'_>,
) -> Result<Prepared<'a>> {
    if session.checkpoints().is_some() && !method.trainer().support().checkpoints {
        return Err(Error::Parameter(format!(
            "`{}` keeps no checkpoints; `softmax` does",
            method.name()
        )));
    }
    if let Some(base) = options.base_model {
        check_base_model(method, base)?;
    }
    if let HeldOut::Share(share) = options.held_out {
        check_share(share)?;
    }
    let prep = PrepOptions {
        text: (&options.text).try_into()?,
        weighting: options.weighting,
        needs: method.trainer().row_needs(),
        views: method.trainer().support().views,
        held_out_share: match options.held_out {
            HeldOut::Share(share) => Some(share),
            HeldOut::Nothing | HeldOut::Examples(_) => None,
        },
    };
    check_views(method, &prep)?;
    let base_rows = options.base_model.map(|base| BaseRows {
        preprocessing: &base.preprocessing,
        classes: &base.classes,
        rows: base.origin.rows,
    });
    let name = match &examples {
        Examples::Read { source, .. } => source.name().to_owned(),
        Examples::Texts { .. } | Examples::Vectors { .. } => "the data".to_owned(),
    };
    let support = method.trainer().support();
    let is_plain = options.base_model.is_none()
        && options.vocabulary.is_none()
        && !options.replicate
        && !matches!(options.held_out, HeldOut::Share(_));
    let too_large = match &examples {
        Examples::Read { source, options } if support.rows_on_disk && is_plain => {
            match source.prepared_folder() {
                Some(folder) => {
                    let set = too_large_for_memory(folder, options, &prep.text, session)?;
                    set.map(|set| (set, options))
                }
                None => None,
            }
        }
        _ => None,
    };
    let mut disk = None;
    let mut training = if let Some((set, options)) = too_large {
        let (training, on_disk) = prepare_on_disk(set, options, &prep, session)?;
        disk = Some(on_disk);
        training
    } else {
        prepare_described(examples, &prep, base_rows.as_ref(), options.vocabulary, session)?
    };
    if training.preprocessing.text().is_none() {
        refuse_text_settings(&options.text, &name)?;
    }
    let held_out = match options.held_out {
        HeldOut::Nothing => None,
        HeldOut::Examples(examples) => {
            let (preprocessing, classes) = (&training.preprocessing, &training.data.classes);
            Some(prepare_with(*examples, preprocessing, classes, session)?)
        }
        HeldOut::Share(share) => {
            let (rest, held_out) = hold_out(&training.data, share, session)?;
            training.data = rest;
            Some(held_out)
        }
    };
    if options.replicate {
        training.data = training.data.replicated();
    }
    Ok(Prepared {
        training,
        disk,
        held_out,
        base: options.base_model,
    })
}

/// Settings for text that would do nothing are a mistake.
fn refuse_text_settings(settings: &TextSettings, name: &str) -> Result<()> {
    let (given, defaults) = (settings.values(), TextSettings::default().values());
    match given
        .iter()
        .zip(&defaults)
        .find(|(given, default)| given != default)
    {
        None => Ok(()),
        Some(((setting, _), _)) => Err(Error::Parameter(format!(
            "`{setting}` is a setting for text, but {name} holds vectors"
        ))),
    }
}

impl<'a> Prepared<'a> {
    fn learn(self, method: &Method, shard: Option<&Shard>, session: &Session<'_>) -> Result<Learned<'a>> {
        let Self {
            training,
            disk,
            held_out,
            base,
        } = self;
        let TrainingData {
            mut data,
            preprocessing,
            described,
            bytes_before,
            ..
        } = training;
        if let Some(base) = base {
            check_base_model(method, base)?;
        }
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        if base.is_none() && preprocessing.text().is_some() && preprocessing.features() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no text holds a word".to_owned(),
            ));
        }
        let base_model = base
            .map(|base| BaseModel::new(base, &preprocessing, &data, session))
            .transpose()?;
        let stop_by = held_out
            .as_ref()
            .map(|held_out| with_known_classes(held_out.clone(), &data));
        let mut origin = origin(method, base, &data, session);
        compare_with_usual(&mut data, base);
        let classes = data.classes.clone();
        if let Some(described) = &described {
            for line in described.defects.lines() {
                session.note(line);
            }
            if !described.texts.about.is_empty() {
                let choice = described.choose(&data, session)?;
                session.note(choice.describe());
                described.texts.append_to(&mut data, choice);
                // Texts about classes weigh less or more than rows, and change what is usual.
                if base.is_none() {
                    compare_with_usual(&mut data, None);
                }
            }
        }
        let vocabulary = match (described, base) {
            (Some(described), _) => Some(described.vocabulary),
            (None, Some(base)) => base
                .vocabulary
                .as_ref()
                .map(|held| held.for_more_classes(&classes)),
            (None, None) => None,
        };
        let upper_levels = {
            let hierarchy = vocabulary
                .as_ref()
                .and_then(|vocabulary| vocabulary.hierarchy(classes.len()));
            UpperLevels::of(
                method,
                base,
                hierarchy.as_ref(),
                (&data, stop_by.as_ref()),
                session,
            )
        };
        let name_search = NameSearch::of(
            method,
            base,
            vocabulary.as_ref(),
            (&data, &preprocessing, stop_by.as_ref()),
            session,
        );
        let request = TrainRequest {
            data,
            held_out: stop_by.as_ref(),
            base_model,
            on_disk: disk.as_ref().map(|disk| DiskRows {
                disk,
                preprocessing: &preprocessing,
                view: None,
            }),
            shard,
            split_hashes: None,
            held_bytes: preprocessing.bytes() + 2 * classes.bytes(),
            file_bytes: preprocessing.file_bytes() + classes.bytes(),
            bytes_before,
        };
        let mut trained = match Views::of(&request, &preprocessing, session) {
            Some(views) => views.train(method, request, session)?,
            None => method.trainer().train(request, session)?,
        };
        let mut levels = Vec::new();
        if let Some(upper_levels) = upper_levels {
            let learning = Learning {
                method,
                held_out: stop_by.as_ref(),
                base: base.map(|base| (base, &preprocessing)),
                shard,
            };
            (trained, levels) = upper_levels.mix_in(trained, &learning, session)?;
        }
        let mut mixed = Mixed::new(trained.scorer, levels);
        if let Some(search) = name_search.filter(|_| shard.is_none_or(|shard| shard.index() == 0)) {
            let known = (&mut trained.calibration_scores, &trained.calibration_rows[..]);
            mixed = search.add_to(mixed, known, stop_by.as_ref(), session);
        }
        trained.scorer = mixed.simplified();
        origin.chosen = chosen(method, std::mem::take(&mut trained.resolved));
        Ok(Learned {
            trained,
            origin,
            classes,
            preprocessing,
            vocabulary,
            held_out,
            base,
        })
    }
}

impl Learned<'_> {
    /// Puts the model together and calibrates it.
    fn finish(self, session: &Session<'_>) -> Result<Model> {
        let (trained, classes, base) = (self.trained, self.classes, self.base);
        let vocabulary = self.vocabulary;
        let calibration = trained.calibration_scores.and_then(|scores| {
            let hierarchy = vocabulary
                .as_ref()
                .and_then(|vocabulary| vocabulary.hierarchy(classes.len()));
            session.run(|| {
                let mut calibration = Calibration::fit(&scores, Basis::CalibrationSplit)?;
                calibration.fit_sets(&scores, hierarchy.as_ref());
                Some(calibration)
            })
        });
        // Classes keep their numbers.
        let overrides = match base.and_then(Model::overrides) {
            Some(before) => Some(Overrides::new(before.iter())?),
            None => None,
        };
        let mut model = Model {
            calibration: calibration.or_else(|| base.and_then(|base| base.calibration.clone())),
            replay: trained.replay,
            vocabulary,
            overrides,
            origin: self.origin,
            classes,
            preprocessing: self.preprocessing,
            scorer: trained.scorer,
            file: None,
        };
        if let Some(held_out) = self.held_out {
            model.calibrate(&held_out, session)?;
        }
        Ok(model)
    }
}

/// `held_out` without the rows that have a class unknown to `data`.
fn with_known_classes(held_out: Dataset, data: &Dataset) -> Dataset {
    let classes = data.classes.len();
    let is_known = |labels: &[u32]| labels.iter().all(|&label| (label as usize) < classes);
    let mut known = if held_out.labels.iter().all(is_known) {
        held_out
    } else {
        held_out.subset((0..held_out.len()).filter(|&row| is_known(held_out.labels.row(row))))
    };
    known.classes = data.classes.clone();
    known
}
