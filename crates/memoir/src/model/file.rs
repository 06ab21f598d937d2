//! Models to files and back: which arrays and texts a model file holds, and what they mean.
//! `docs/model-file.md` is the specification.

use std::fmt::Write;
use std::path::Path;

use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use super::class_arrays::{ClassArrays, load_classes};
use super::container::{CHECKSUMS, Container, VERSION};
use super::output::write_checked;
use super::preprocessing::StoredPreprocessing;
use super::stored_scorer::{self, collect_kinds, load_scorer};
use super::tensors::not_finite;
use super::{Calibration, Model, Origin, Overrides, Replay, ScorerKind, Tensor, TensorSource};
use crate::class_vocabulary::ClassVocabulary;
use crate::{Catalogue, Error, Result, Session};

/// The array of the rows that are kept to be repeated.
pub(super) const REHEARSAL: &str = "rehearsal.rows";

/// How much is written between two looks at the cancel flag.
const STRIDE: usize = 4 << 20;

impl Model {
    /// Opens the model file at `path`, whose scorer must be of a kind that `catalogue` knows.
    ///
    /// The file is mapped: long arrays are read when a prediction needs them. In files of more than 64 MiB
    /// these are not checked here; [`Model::verify`] does.
    ///
    /// Whoever writes into the file meanwhile (`cp` does) may end this program by a signal. Predicting many
    /// rows looks whether that happened ([`Model::check_unchanged`]); [`Model::read`] rules it out.
    /// Replacing a model by renaming another file is always safe.
    pub fn load(path: &Path, catalogue: &Catalogue) -> Result<Self> {
        load(&Container::open(path)?, catalogue.scorers())
    }

    /// As [`Model::load`], but reads all of the file into memory and checks all of it. What happens to the
    /// file afterwards does not matter.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self> {
        load(&Container::read(path)?, catalogue.scorers())
    }

    /// Fails if the file that this model was loaded from was changed in place since then: another size, time
    /// of change, or other checksums. Models that are not mapped never fail.
    pub fn check_unchanged(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.check())
    }

    /// Checks every byte of the model file at `path`, its arrays and their meaning in parallel.
    pub fn verify(path: &Path, catalogue: &Catalogue, session: &Session<'_>) -> Result<()> {
        let container = Container::open(path)?;
        let (arrays, content) = session.run(|| {
            rayon::join(
                || container.verify(session),
                || {
                    let content = load(&container, catalogue.scorers())?.check_content();
                    content.map_err(|message| container.invalid(message))
                },
            )
        });
        // What is damaged need not make sense either: the damage is the news.
        arrays.and(content)
    }

    /// Writes the model to `path`: beside it first, then renamed, so that there is never half a file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_checked(path.as_ref(), || Ok(()))
    }

    /// As [`Model::save`], but stops when the session is cancelled.
    pub fn save_in(&self, path: &Path, session: &Session<'_>) -> Result<()> {
        self.save_checked(path, || session.check())
    }

    /// The bytes that [`Model::save`] writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check_unchanged()?;
        let mut bytes = Vec::new();
        self.parts(&|| Ok(()), |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        self.check_written(Container::from_bytes(&bytes), Path::new("<bytes>"))?;
        Ok(bytes)
    }

    /// The model whose file has these bytes; every one of them is checked.
    pub fn from_bytes(bytes: &[u8], catalogue: &Catalogue) -> Result<Self> {
        load(&Container::from_bytes(bytes)?, catalogue.scorers())
    }

    /// Writes the file, and looks at it as a reader would before it gets its name.
    fn save_checked(&self, path: &Path, check: impl Fn() -> Result<()>) -> Result<()> {
        self.check_unchanged()?;
        let write = |out: &mut (dyn std::io::Write + Send)| {
            self.parts(&check, |part| {
                for stride in part.chunks(STRIDE) {
                    check()?;
                    out.write_all(stride)
                        .map_err(|reason| Error::io(path, "cannot write", reason))?;
                }
                Ok(())
            })
        };
        write_checked(path, write, |written| {
            self.check_written(Container::open_unfinished(written, path), path)
        })
    }

    /// Fails if a reader would refuse the file that was just written. What is in long arrays was looked at
    /// before ([`Model::check_content`]): they are not read again.
    fn check_written(&self, container: Result<Container>, path: &Path) -> Result<()> {
        let mut kinds = Vec::new();
        collect_kinds(&*self.scorer, &mut kinds);
        let read = container.and_then(|container| load(&container, &kinds));
        match read {
            Ok(_) => Ok(()),
            Err(Error::ModelFile { message, .. }) => {
                Err(Error::input(path.display().to_string(), unwritten(&message)))
            }
            Err(other) => Err(other),
        }
    }

    /// An error in words if something that the model holds is not what a reader expects.
    fn check_content(&self) -> std::result::Result<(), String> {
        if let Some(kept) = &self.replay {
            kept.check(self.scorer.features(), self.classes.len())?;
        }
        if let Some(vocabulary) = &self.vocabulary {
            vocabulary.check_content()?;
        }
        self.scorer.check_content()
    }

    /// Hands the parts of the file to `take`, in their order.
    fn parts(&self, check: &dyn Fn() -> Result<()>, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let class_arrays = ClassArrays::new(&self.classes);
        let tensors = self.all_tensors(&class_arrays);
        let header = self.header(&tensors)?;
        self.check_content()
            .map_err(|message| Error::Mismatch(unwritten(&message)))?;
        let mut checksums = Vec::with_capacity(checksums_size(&tensors));
        for (name, tensor) in &tensors {
            check()?;
            if !tensor.is_finite() {
                return Err(Error::Mismatch(unwritten(&not_finite(name))));
            }
            checksums.extend_from_slice(&xxh3_64(tensor.bytes()).to_le_bytes());
        }
        checksums.extend_from_slice(&xxh3_64(&header).to_le_bytes());
        take(&header)?;
        for (_, tensor) in &tensors {
            take(tensor.bytes())?;
        }
        take(&checksums)
    }

    /// All arrays of the model, in the order in which they lie in a file: long elements first, which aligns
    /// all.
    pub(super) fn all_tensors<'a>(&'a self, class_arrays: &'a ClassArrays) -> Vec<(String, Tensor<'a>)> {
        let mut tensors = vec![
            ("classes.names".to_owned(), Tensor::U8(&class_arrays.names)),
            ("classes.ends".to_owned(), Tensor::U64(&class_arrays.ends)),
        ];
        if !self.origin.class_counts.is_empty() {
            let counts = Tensor::U32(&self.origin.class_counts);
            tensors.push(("classes.counts".to_owned(), counts));
        }
        if let Some(replay) = &self.replay {
            tensors.push((REHEARSAL.to_owned(), Tensor::U8(replay.bytes())));
        }
        if let Some(vocabulary) = &self.vocabulary {
            tensors.extend(vocabulary.tensors());
        }
        if let Some(overrides) = &self.overrides {
            tensors.extend(overrides.tensors());
        }
        tensors.extend(StoredPreprocessing::tensors(&self.preprocessing));
        tensors.extend(self.scorer.tensors());
        tensors.sort_by(|(left_name, left), (right_name, right)| {
            let by_size = right.element_size().cmp(&left.element_size());
            by_size.then_with(|| left_name.cmp(right_name))
        });
        tensors
    }

    /// The header, with its length in front.
    pub(super) fn header(&self, tensors: &[(String, Tensor<'_>)]) -> Result<Vec<u8>> {
        let mut texts = Vec::new();
        if let Some(calibration) = &self.calibration {
            texts.push(("calibration", json(calibration)?));
        }
        texts.extend([
            ("classes", self.classes.len().to_string()),
            ("features", self.scorer.features().to_string()),
            ("format", "memoir".to_owned()),
        ]);
        texts.extend(stored_scorer::texts(&*self.scorer)?);
        texts.extend([
            ("origin", json(&self.origin)?),
            (
                "preprocessing",
                json(&StoredPreprocessing::of(&self.preprocessing))?,
            ),
            ("scorer", self.scorer.kind().to_owned()),
            ("version", VERSION.to_string()),
        ]);
        if let Some(vocabulary) = &self.vocabulary {
            texts.push(("vocabulary", json(&vocabulary.stored())?));
        }
        let mut header = String::from("{\"__metadata__\":{");
        for (index, (name, text)) in texts.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(header, "{comma}{}:{}", json(name)?, json(text)?);
        }
        header.push('}');
        let mut end = 0;
        let size = checksums_size(tensors);
        let entries = tensors
            .iter()
            .map(|(name, tensor)| {
                (
                    name.as_str(),
                    tensor.element(),
                    tensor.len(),
                    tensor.bytes().len(),
                )
            })
            .chain(std::iter::once((CHECKSUMS, "U8", size, size)));
        for (name, element, length, size) in entries {
            let start = end;
            end += size;
            let name = json(name)?;
            let _ = write!(
                header,
                ",{name}:{{\"dtype\":\"{element}\",\"shape\":[{length}],\"data_offsets\":[{start},{end}]}}"
            );
        }
        header.push('}');
        while !header.len().is_multiple_of(8) {
            header.push(' ');
        }
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        Ok(bytes)
    }
}

/// Size of the array of checksums: one for each array and one for the header.
fn checksums_size(tensors: &[(String, Tensor<'_>)]) -> usize {
    8 * (tensors.len() + 1)
}

/// Size of a file with this header and these arrays.
pub(super) fn file_size(header: &[u8], tensors: &[(String, Tensor<'_>)]) -> u64 {
    let arrays: usize = tensors.iter().map(|(_, tensor)| tensor.bytes().len()).sum();
    (header.len() + arrays + checksums_size(tensors)) as u64
}

/// Why a model is not written.
fn unwritten(message: &str) -> String {
    format!("the model is not written, because no reader would accept it: {message}")
}

fn load(container: &Container, kinds: &[ScorerKind]) -> Result<Model> {
    let (class_count, feature_count) = container.shape();
    let classes = load_classes(container, class_count)?;
    let mut origin: Origin = parse(container, "origin")?;
    if container.element("classes.counts").is_some() {
        origin.class_counts = container.u32("classes.counts")?.to_vec();
        if origin.class_counts.len() != class_count {
            return Err(container.invalid(format!(
                "`classes.counts` has {} elements for {class_count} classes",
                origin.class_counts.len()
            )));
        }
    }
    let stored: StoredPreprocessing = parse(container, "preprocessing")?;
    let preprocessing = stored.load(container)?;
    let calibration = load_calibration(container)?;
    let replay = match container.element(REHEARSAL) {
        Some(_) => Some(Replay::from_bytes(container.u8(REHEARSAL)?)),
        None => None,
    };
    let vocabulary = if container.has_text("vocabulary") {
        Some(ClassVocabulary::load(
            parse(container, "vocabulary")?,
            container,
            class_count,
        )?)
    } else {
        None
    };
    let scorer = load_scorer(container, kinds)?;
    if (scorer.classes(), scorer.features()) != (class_count, feature_count) {
        return Err(container.invalid(format!(
            "its scorer has {} classes and {} features where {class_count} and {feature_count} are declared",
            scorer.classes(),
            scorer.features()
        )));
    }
    Ok(Model {
        classes,
        preprocessing,
        scorer,
        calibration,
        replay,
        vocabulary,
        overrides: Overrides::load(container)?,
        origin,
        file: container.file(),
    })
}

fn load_calibration(container: &Container) -> Result<Option<Calibration>> {
    if !container.has_text("calibration") {
        return Ok(None);
    }
    let calibration: Calibration = parse(container, "calibration")?;
    calibration
        .check()
        .map_err(|what| container.invalid(format!("`calibration` in its header has {what}")))?;
    Ok(Some(calibration))
}

/// The JSON text called `name` in the header, read as `T`.
pub(super) fn parse<T: DeserializeOwned>(container: &Container, name: &str) -> Result<T> {
    serde_json::from_str(container.text(name)?)
        .map_err(|reason| container.invalid(format!("`{name}` in its header cannot be understood: {reason}")))
}

pub(super) fn json(value: &(impl serde::Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string(value).map_err(|reason| Error::Parameter(format!("cannot be stored: {reason}")))
}
