//! From the weights of each class to the weights of each feature, which is how a scorer keeps them.
//!
//! Classes are learned one after the other, and the weights of no feature are complete before the last of
//! them. Until then they wait on disk: they would take more memory than all that learning needs besides the
//! rows.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use half::f16;
use memoir::model::{Linear, LinearBuilder, Precision};
use memoir::{Error, Result, Session};

/// Weights of one class: features in increasing order.
pub(crate) type ClassWeights = Vec<(u32, f32)>;

/// Weights that are brought together at a time, if that takes no more than [`MOST_PANELS`] looks at all of
/// them.
const PANEL: usize = 1 << 13;

const MOST_PANELS: usize = 32;

/// Bytes that are kept in memory: a file is not worth while for fewer.
const FEW: usize = 1 << 14;

/// Bytes of a feature and its weight.
const ENTRY: usize = 8;

/// The weights of the classes so far.
pub(crate) struct ClassLists {
    entries: Entries,
    /// Number of weights of each class.
    class_sizes: Vec<usize>,
    /// Number of weights of each feature.
    feature_sizes: Vec<u32>,
    /// Error of a weight that does not matter.
    tolerated: f32,
    /// Whether rounding to 16 bits changes no weight so far by more.
    fits_halves: bool,
}

/// Features and weights, class after class.
enum Entries {
    Few(Vec<u8>),
    /// As many as there are: there is no folder for temporary files that can be written to.
    InMemory(Vec<u8>),
    OnDisk(BufWriter<File>, PathBuf),
}

impl ClassLists {
    /// No classes yet, for so many features. Weights may be rounded by as much as is `tolerated`.
    pub(crate) fn new(features: usize, tolerated: f32) -> Self {
        Self {
            entries: Entries::Few(Vec::new()),
            class_sizes: Vec::new(),
            feature_sizes: vec![0; features],
            tolerated,
            fits_halves: true,
        }
    }

    /// Appends the next class.
    pub(crate) fn push(&mut self, weights: &[(u32, f32)]) -> Result<()> {
        self.class_sizes.push(weights.len());
        for &(feature, weight) in weights {
            self.feature_sizes[feature as usize] += 1;
            self.fits_halves &= (f16::from_f32(weight).to_f32() - weight).abs() <= self.tolerated;
            let mut entry = [0; ENTRY];
            entry[..4].copy_from_slice(&feature.to_le_bytes());
            entry[4..].copy_from_slice(&weight.to_le_bytes());
            self.entries.push(entry)?;
        }
        Ok(())
    }

    /// Puts the weights of all classes together, feature by feature: in 16 bits where these do.
    pub(crate) fn linear(mut self, session: &Session<'_>) -> Result<Linear> {
        let features = self.feature_sizes.len();
        let total: usize = self.class_sizes.iter().sum();
        let most = PANEL.max(total.div_ceil(MOST_PANELS));
        let (mut builder, precision) = if self.fits_halves {
            (LinearBuilder::of_halves(self.class_sizes.len()), Precision::F16)
        } else {
            (LinearBuilder::new(self.class_sizes.len()), Precision::F32)
        };
        builder.reserve(total);
        let mut panel = Vec::new();
        let mut slots = Vec::new();
        let mut first = 0;
        while first < features {
            session.check()?;
            let mut end = first;
            let mut size = 0;
            slots.clear();
            while end < features && (size == 0 || size + self.feature_sizes[end] as usize <= most) {
                slots.push(size);
                size += self.feature_sizes[end] as usize;
                end += 1;
            }
            panel.clear();
            panel.resize(size, (0u32, 0f32));
            self.entries.visit(&self.class_sizes, |class, feature, weight| {
                if (first..end).contains(&feature) {
                    let slot = &mut slots[feature - first];
                    panel[*slot] = (class, weight);
                    *slot += 1;
                }
            })?;
            let mut start = 0;
            for &slot in &slots {
                builder.push_feature(panel[start..slot].iter().copied());
                start = slot;
            }
            first = end;
        }
        Ok(builder.finish(precision))
    }
}

impl Entries {
    fn push(&mut self, entry: [u8; ENTRY]) -> Result<()> {
        if let Self::Few(few) = self
            && few.len() >= FEW
        {
            let few = std::mem::take(few);
            *self = Self::beyond(few, &folder())?;
        }
        match self {
            Self::Few(bytes) | Self::InMemory(bytes) => bytes.extend_from_slice(&entry),
            Self::OnDisk(file, folder) => file.write_all(&entry).map_err(|reason| failed(folder, reason))?,
        }
        Ok(())
    }

    /// Moves `few` bytes to a nameless file in `folder`, if there can be one.
    fn beyond(few: Vec<u8>, folder: &Path) -> Result<Self> {
        let Ok(file) = tempfile::tempfile_in(folder) else {
            return Ok(Self::InMemory(few));
        };
        let mut file = BufWriter::with_capacity(FEW, file);
        file.write_all(&few).map_err(|reason| failed(folder, reason))?;
        Ok(Self::OnDisk(file, folder.to_owned()))
    }

    /// Calls `visit` with class, feature and weight of all entries in their order.
    fn visit(&mut self, class_sizes: &[usize], visit: impl FnMut(u32, usize, f32)) -> Result<()> {
        match self {
            Self::Few(bytes) | Self::InMemory(bytes) => visit_entries(&bytes[..], class_sizes, visit),
            Self::OnDisk(file, _) => file.rewind().and_then(|()| {
                visit_entries(BufReader::with_capacity(FEW, file.get_ref()), class_sizes, visit)
            }),
        }
        .map_err(|reason| match self {
            Self::OnDisk(_, folder) => failed(folder, reason),
            _ => failed(Path::new("memory"), reason),
        })
    }
}

fn visit_entries(
    mut entries: impl Read,
    class_sizes: &[usize],
    mut visit: impl FnMut(u32, usize, f32),
) -> std::io::Result<()> {
    let mut word = [0; 4];
    for (class, &size) in class_sizes.iter().enumerate() {
        for _ in 0..size {
            entries.read_exact(&mut word)?;
            let feature = u32::from_le_bytes(word);
            entries.read_exact(&mut word)?;
            visit(class as u32, feature as usize, f32::from_le_bytes(word));
        }
    }
    Ok(())
}

/// Where large temporary files belong: on many systems `/tmp` is in memory, and nothing would be gained
/// there.
fn folder() -> PathBuf {
    let on_disk = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && on_disk.is_dir() {
        on_disk.to_owned()
    } else {
        std::env::temp_dir()
    }
}

fn failed(folder: &Path, reason: std::io::Error) -> Error {
    Error::io(folder, "cannot use a temporary file for the weights", reason)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use memoir::model::Scorer;
    use proptest::prelude::*;

    use super::*;

    fn session() -> Session<'static> {
        Session::new(NonZeroUsize::MIN).unwrap()
    }

    fn lists(classes: &[ClassWeights], features: usize) -> ClassLists {
        let mut lists = ClassLists::new(features, 0.0);
        for weights in classes {
            lists.push(weights).unwrap();
        }
        lists
    }

    #[test]
    fn every_weight_arrives_at_its_place() {
        let features = 700;
        let classes: Vec<ClassWeights> = (0..900u32)
            .map(|class| {
                let owned = (0..features as u32).filter(|feature| (feature * 7 + class) % 3 != 0);
                owned
                    .map(|feature| (feature, (feature * 1000 + class + 1) as f32))
                    .collect()
            })
            .collect();
        assert!(classes.iter().map(Vec::len).sum::<usize>() > PANEL * MOST_PANELS);
        let lists = lists(&classes, features);
        assert!(!matches!(lists.entries, Entries::Few(_)));
        let linear = lists.linear(&session()).unwrap();
        assert_eq!((linear.classes(), linear.features()), (900, features));
        for (class, weights) in classes.iter().enumerate().step_by(53) {
            assert_eq!(&linear.class_weights(class as u32).unwrap(), weights);
        }
    }

    #[test]
    fn no_weights_at_all() {
        let linear = lists(&[Vec::new(), Vec::new()], 3).linear(&session()).unwrap();
        assert_eq!(
            (linear.classes(), linear.features(), linear.stored_weights()),
            (2, 3, 0)
        );
    }

    #[test]
    fn weights_get_as_many_bits_as_they_need() {
        for (weight, tolerated, precision) in [
            (0.5, 0.0, Precision::F16),
            (0.1, 0.0, Precision::F32),
            (0.1, 0.001, Precision::F16),
            (-1234.5, 0.1, Precision::F32),
            (-1234.5, 1.0, Precision::F16),
            (70_000.0, 1.0, Precision::F32),
        ] {
            let mut lists = ClassLists::new(3, tolerated);
            lists.push(&[(0, 1.0)]).unwrap();
            lists.push(&[(0, -2.5), (2, weight)]).unwrap();
            let linear = lists.linear(&session()).unwrap();
            assert_eq!(linear.precision(), precision, "{weight}");
            let stored = linear.class_weights(1).unwrap()[1].1;
            assert!((stored - weight).abs() <= tolerated, "{stored} for {weight}");
        }
    }

    #[test]
    fn where_there_is_no_folder_weights_stay_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let few = || vec![1, 2, 3];
        let on_disk = Entries::beyond(few(), folder.path()).unwrap();
        assert!(matches!(on_disk, Entries::OnDisk(..)));
        // Nothing to clean up, whatever happens.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let in_memory = Entries::beyond(few(), &folder.path().join("missing")).unwrap();
        assert!(matches!(in_memory, Entries::InMemory(bytes) if bytes == few()));
    }

    fn entries() -> impl Strategy<Value = ClassWeights> {
        let weights = prop::collection::btree_map(0..40u32, prop::num::f32::NORMAL, 0..40);
        weights.prop_map(|weights| weights.into_iter().collect())
    }

    proptest! {
        #[test]
        fn wherever_they_wait_weights_come_back(classes in prop::collection::vec(entries(), 1..20)) {
            let plain = lists(&classes, 40);
            let Entries::Few(bytes) = &plain.entries else { unreachable!("they are few") };
            let moved = |entries| ClassLists {
                entries,
                class_sizes: plain.class_sizes.clone(),
                feature_sizes: plain.feature_sizes.clone(),
                tolerated: plain.tolerated,
                fits_halves: plain.fits_halves,
            };
            let on_disk = moved(Entries::beyond(bytes.clone(), &std::env::temp_dir()).unwrap());
            prop_assert!(matches!(on_disk.entries, Entries::OnDisk(..)));
            let in_memory = moved(Entries::InMemory(bytes.clone()));
            for lists in [on_disk, in_memory, plain] {
                let linear = lists.linear(&session()).unwrap();
                for (class, weights) in classes.iter().enumerate() {
                    prop_assert_eq!(&linear.class_weights(class as u32).unwrap(), weights);
                }
            }
        }
    }
}
