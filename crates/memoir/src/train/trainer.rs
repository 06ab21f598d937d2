//! The seam that every algorithm stands behind: one request in, one result out.

use super::BaseModel;
use crate::dataset::Dataset;
use crate::model::calibration::HeldOutScores;
use crate::model::{Replay, Scorer};
use crate::params::Value;
use crate::prepare::DiskRows;
use crate::shards::Shard;
use crate::text::RowNeeds;
use crate::{Result, Session};

/// A training algorithm with its parameters: weighted rows in, a scorer out.
pub trait Trainer: Send + Sync {
    /// Learns what `request` asks for.
    ///
    /// The result depends on the request, the parameters and the session's seed and memory budget, never on
    /// the number of threads.
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained>;

    /// What the algorithm wants of its rows. Whoever prepares them asks.
    fn row_needs(&self) -> RowNeeds {
        RowNeeds::default()
    }

    /// What the algorithm can do beyond learning from rows once.
    fn support(&self) -> Support {
        Support::default()
    }
}

/// What an algorithm can do beyond learning from rows once. Requests for what it cannot do are refused
/// before it sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is a question of its own.
pub struct Support {
    /// It writes the session's checkpoints and starts from them.
    pub checkpoints: bool,
    /// It can continue from a model.
    pub continuing: bool,
    /// It can learn from rows that stay on disk.
    pub rows_on_disk: bool,
    /// Several processes can train one model together.
    pub shards: bool,
    /// Its scores mean the same whatever the classes are, so those of groups of classes can be added.
    pub upper_levels: bool,
    /// Its scores are linear and mean the same whatever the features are, so those of several views of a
    /// text can be averaged.
    pub views: bool,
}

/// What to learn.
pub struct TrainRequest<'a> {
    /// The rows to learn from, weighted as [`Trainer::row_needs`] says. They are the algorithm's own: it may
    /// free them before it puts its result together.
    pub data: Dataset,
    /// Rows that must not be learned from, with the same classes and features. They are used
    ///
    /// - to stop: the passes or iterations end when these rows are no longer answered better, and the best
    ///   weights count;
    /// - by `softmax`, to choose how long the first weights are, and instead of the calibration split: with
    ///   held-out rows, all training rows are learned from at once.
    ///
    /// [`fit`](super::fit) uses them once more, to calibrate the finished model.
    pub held_out: Option<&'a Dataset>,
    /// The model to continue from, if any: what it knows is kept and the rows are learned in addition. Its
    /// classes and features keep their numbers; the rows may have more of both.
    pub base_model: Option<BaseModel<'a>>,
    /// The rows, if they are not in `data` but stay on disk; see [`Support::rows_on_disk`].
    pub on_disk: Option<DiskRows<'a>>,
    /// This process, if it is one of several that train the model together; see [`Support::shards`]. All of
    /// them have the same request. Shard 0 gets the scorer, and the others one of their own classes.
    pub shard: Option<&'a Shard>,
    /// What the calibration split is drawn by, one number for each row; equal rows have equal numbers. If it
    /// is missing, the rows themselves tell.
    pub split_hashes: Option<&'a [u64]>,
    /// Memory, in bytes, that the caller holds all the time: names of features and classes and the like. It
    /// counts where there is a memory budget.
    pub held_bytes: u64,
    /// Memory that the part of the model file beside the weights takes while the file is checked, about.
    pub file_bytes: u64,
    /// Memory, in bytes, that the caller took at most until it had the rows, these included. With a memory
    /// budget below it there is nothing to be trained.
    pub bytes_before: u64,
}

impl TrainRequest<'_> {
    /// Learn from `data` alone.
    pub fn new(data: Dataset) -> Self {
        Self {
            data,
            held_out: None,
            base_model: None,
            on_disk: None,
            shard: None,
            split_hashes: None,
            held_bytes: 0,
            file_bytes: 0,
            bytes_before: 0,
        }
    }
}

/// What training leaves behind.
pub struct Trained {
    /// Scores rows against classes.
    pub scorer: Box<dyn Scorer>,
    /// The scores of the calibration split: rows that were scored before they were learned from.
    /// Probabilities are fitted to them where there are no held-out rows.
    pub calibration_scores: Option<HeldOutScores>,
    /// The number of the row that each of these scores is of.
    pub calibration_rows: Vec<u32>,
    /// What parameters that were `auto` became, by name.
    pub resolved: Vec<(&'static str, Value)>,
    /// A sample of the rows for the model to keep, so that continuing forgets less.
    pub replay: Option<Replay>,
}

impl Trained {
    /// A scorer and nothing else.
    pub fn new(scorer: impl Scorer + 'static) -> Self {
        Self {
            scorer: Box::new(scorer),
            calibration_scores: None,
            calibration_rows: Vec::new(),
            resolved: Vec::new(),
            replay: None,
        }
    }
}
