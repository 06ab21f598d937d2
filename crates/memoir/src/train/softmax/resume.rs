//! Checkpoints of this algorithm: what of a run is saved, and how it is put back.

use xxhash_rust::xxh3::xxh3_64;

use super::base_weights::BaseWeights;
use super::class_slice::ClassSlice;
use super::finish::Best;
use super::params::SoftmaxParams;
use super::rival_cache::RivalCache;
use super::weights::LearnedWeights;
use crate::checkpoint::{Checkpoints, Fingerprint, SavedState, State};
use crate::dataset::Dataset;
use crate::params::Parameters;
use crate::sparse::fixed_point::Posting;
use crate::{Result, Session};

/// How far training is: the next batch is number `batch` of pass `pass`, both counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Progress {
    pub(super) pass: usize,
    pub(super) batch: usize,
}

/// What changes while training goes on.
pub(super) struct Learned<'r, 'v, P> {
    pub(super) weights: &'r mut LearnedWeights<P>,
    pub(super) cache: &'r mut Option<RivalCache>,
    pub(super) best: &'r mut Best<'v, P>,
}

/// Writes checkpoints of one run, and finds the one to start from.
pub(super) struct Keeper {
    /// Where checkpoints go, one after the other in turn. Without checkpoints, nothing is done.
    files: Vec<Checkpoints>,
    /// The file whose turn it is.
    turn: usize,
    belongs_to: Vec<Fingerprint>,
    rows: u64,
}

impl Keeper {
    pub(super) fn new<P: Posting>(
        params: &SoftmaxParams,
        base: &BaseWeights<P>,
        data: u64,
        valid: Option<&Dataset>,
        slice: &ClassSlice<'_>,
        session: &Session<'_>,
    ) -> Self {
        let (mut files, mut belongs_to) = (Vec::new(), Vec::new());
        if let Some(checkpoints) = session.checkpoints() {
            files = match slice.shard() {
                Some(shard) => checkpoints.of_shard(shard.index(), shard.shards()).to_vec(),
                None => vec![checkpoints.clone()],
            };
            let options: Vec<_> = params
                .values()
                .into_iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let options = format!("{options:?} {:?}", session.memory_budget());
            let of = |value, otherwise| Fingerprint { value, otherwise };
            belongs_to = vec![
                of(
                    xxh3_64(env!("CARGO_PKG_VERSION").as_bytes()),
                    "another version of this program",
                ),
                of(data, "other rows to learn from"),
                of(valid.map_or(0, Dataset::fingerprint), "other held-out rows"),
                of(base.fingerprint(), "another model to go on from"),
                of(xxh3_64(options.as_bytes()), "other options"),
                of(session.seed(), "another seed"),
            ];
        }
        Self {
            files,
            turn: 0,
            belongs_to,
            rows: 0,
        }
    }

    /// The checkpoint to start from, if there is one: with several shards, the newest that all of them have.
    fn load(&mut self, slice: &ClassSlice<'_>, session: &Session<'_>) -> Result<Option<SavedState>> {
        let mut saved = Vec::new();
        for (file, checkpoints) in self.files.iter().enumerate() {
            if let Some(state) = checkpoints.load(&self.belongs_to)? {
                saved.push((file, state));
            }
        }
        let mut moments: Vec<[u64; 2]> = saved.iter().filter_map(|(_, state)| moment(state)).collect();
        if !self.files.is_empty() && slice.shard().is_some() {
            let mine = bytemuck::cast_slice(&moments).to_vec();
            for theirs in slice.all_gather(&mine, session)? {
                let theirs: Vec<[u64; 2]> = theirs
                    .chunks_exact(16)
                    .map(bytemuck::pod_read_unaligned)
                    .collect();
                moments.retain(|moment| theirs.contains(moment));
            }
        }
        let newest = moments.into_iter().max();
        let chosen = saved.into_iter().find(|(_, state)| moment(state) == newest);
        let Some((file, state)) = chosen.filter(|_| newest.is_some()) else {
            return Ok(None);
        };
        // What is started from stays until all shards have written the next.
        self.turn = (file + 1) % self.files.len();
        Ok(Some(state))
    }

    /// Puts back what the checkpoint holds, if there is one to start from, and says where to go on.
    pub(super) fn resume<P: Posting>(
        &mut self,
        learned: Learned<'_, '_, P>,
        slice: &ClassSlice<'_>,
        session: &Session<'_>,
    ) -> Result<Progress> {
        let Some(saved) = self.load(slice, session)? else {
            return Ok(Progress::default());
        };
        let misfit = || self.files[0].misfit();
        let &[pass, batch, accuracy, without_gain] = saved.numbers.as_slice() else {
            return Err(misfit());
        };
        let mut arrays = saved.arrays.into_iter();
        let mut next = || arrays.next().ok_or_else(misfit);
        let snapshot = |postings: Vec<u8>, dense: Vec<u8>| {
            let postings = postings
                .chunks_exact(size_of::<P>())
                .map(bytemuck::pod_read_unaligned);
            let dense = dense.chunks_exact(2).map(bytemuck::pod_read_unaligned);
            (postings.collect::<Vec<P>>(), dense.collect::<Vec<i16>>())
        };
        let current = snapshot(next()?, next()?);
        let remembered = next()?;
        let best = snapshot(next()?, next()?);
        let largest = next()?
            .chunks_exact(2)
            .map(bytemuck::pod_read_unaligned)
            .collect();
        let best = (!best.0.is_empty() || !best.1.is_empty()).then_some(best);
        let remembered: Vec<u32> = remembered
            .chunks_exact(4)
            .map(bytemuck::pod_read_unaligned)
            .collect();
        let Learned {
            weights,
            cache,
            best: held,
        } = learned;
        let fits = weights.fits(&current) && best.as_ref().is_none_or(|best| weights.fits(best));
        let memory_fits = match cache {
            Some(cache) => cache.restore(&remembered),
            None => remembered.is_empty(),
        };
        if !fits || !memory_fits || !weights.restore_largest(largest) {
            return Err(misfit());
        }
        weights.restore(current);
        held.put_back(f64::from_bits(accuracy), without_gain as usize, best);
        let progress = Progress {
            pass: pass as usize,
            batch: batch as usize,
        };
        session.note(format!(
            "resumed from the checkpoint: pass {}, batch {}",
            progress.pass + 1,
            progress.batch + 1
        ));
        Ok(progress)
    }

    /// Takes note of `rows` more rows; writes a checkpoint if it is time. `progress` is where training would
    /// go on.
    pub(super) fn done<P: Posting>(
        &mut self,
        rows: usize,
        progress: Progress,
        learned: Learned<'_, '_, P>,
    ) -> Result<()> {
        let Some(checkpoints) = self.files.get(self.turn) else {
            return Ok(());
        };
        self.rows += rows as u64;
        if !checkpoints.is_due(self.rows) {
            return Ok(());
        }
        self.rows = 0;
        let (accuracy, without_gain, snapshot) = learned.best.held();
        let (postings, dense) = learned.weights.values();
        let (best_postings, best_dense) = snapshot.map_or((&[][..], &[][..]), |(p, d)| (&p[..], &d[..]));
        let remembered = learned.cache.as_ref().map(RivalCache::all).unwrap_or_default();
        let state = State {
            numbers: vec![
                progress.pass as u64,
                progress.batch as u64,
                accuracy.to_bits(),
                without_gain as u64,
            ],
            arrays: vec![
                bytemuck::cast_slice(postings),
                bytemuck::cast_slice(dense),
                bytemuck::cast_slice(&remembered),
                bytemuck::cast_slice(best_postings),
                bytemuck::cast_slice(best_dense),
                bytemuck::cast_slice(learned.weights.largest()),
            ],
        };
        checkpoints.save(&self.belongs_to, &state)?;
        self.turn = (self.turn + 1) % self.files.len();
        Ok(())
    }
}

/// The pass and the batch that a checkpoint is of.
fn moment(state: &SavedState) -> Option<[u64; 2]> {
    state.numbers.first_chunk().copied()
}
