//! One of several processes that train a model together, in Python's hands.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memoir::checkpoint::Checkpoints;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::Examples;
use memoir::shards::{Shard as Talking, ShardAddress, TcpExchange, Token};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue;
use crate::errors::{exception, value_error};
use crate::labels::remember_kind;
use crate::options::Training;
use crate::running::{Running, open};

/// A shard: number `index` of `shards`, which know each other by `token`. One that hears nothing of another
/// for `patience` seconds gives up.
#[pyclass(frozen, module = "memoir._memoir")]
pub(crate) struct Shard {
    address: ShardAddress,
    /// Of shard 0, from when it listens until it trains.
    listener: Mutex<Option<TcpListener>>,
}

#[pymethods]
impl Shard {
    #[new]
    fn new(index: usize, shards: usize, token: &str, patience: f64) -> PyResult<Self> {
        let patience = Duration::try_from_secs_f64(patience)
            .ok()
            .filter(|patience| !patience.is_zero())
            .ok_or_else(|| value_error("`patience` must be a positive number of seconds"))?;
        Ok(Self {
            address: ShardAddress {
                index,
                shards,
                token: Token::from_hex(token).map_err(exception)?,
                patience,
            },
            listener: Mutex::new(None),
        })
    }

    /// Lets the other shards report at this machine, which others know as `host`; returns the port. Only
    /// shard 0 is reported to.
    fn listen(&self, host: &str) -> PyResult<u16> {
        let listener = TcpListener::bind((host, 0))
            .map_err(|reason| PyOSError::new_err(format!("{host}: cannot listen: {reason}")))?;
        let port = listener.local_addr()?.port();
        *open(&self.listener) = Some(listener);
        Ok(port)
    }

    /// Trains on a file or on prepared data together with the other shards, of which the first is at `host`
    /// (an address and a port). The first one writes the model to `model`. With a `checkpoint`, a path and a
    /// number of rows, every shard writes its own and starts from it. The model keeps `label_kind`, if it is
    /// given. Returns what went over the wire.
    #[pyo3(signature = (path, model, host, options, running, checkpoint=None, format=None, label_kind=None))]
    #[allow(clippy::too_many_arguments)] // Python calls it, once.
    fn train_file<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        model: PathBuf,
        host: &str,
        options: Training,
        running: Running<'_>,
        checkpoint: Option<(PathBuf, u64)>,
        format: Option<&str>,
        label_kind: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let checked = options.check(&catalogue::all()).map_err(exception)?;
        let reading = ReadOptions {
            format: format.map(str::parse).transpose().map_err(exception)?,
            ..ReadOptions::default()
        };
        let checkpoints = checkpoint.map(|(path, rows)| Checkpoints::new(path, Some(rows), true));
        let listener = open(&self.listener).take();
        let start = Instant::now();
        let traffic = running.run_keeping(py, checkpoints.clone(), |session| {
            let exchange = match &listener {
                Some(listener) => TcpExchange::host(listener, self.address, session.cancel()),
                None => TcpExchange::join(host, self.address, session.cancel()),
            };
            let shard = Talking::new(exchange?);
            let examples = Examples::Read {
                source: Source::new(&path),
                options: &reading,
            };
            let trained = options.fit_shard(examples, &checked, &shard, session)?;
            if let Some(mut trained) = trained {
                remember_kind(&mut trained, label_kind);
                trained.save_in(&model, session)?;
                if let Some(checkpoints) = &checkpoints {
                    checkpoints.remove_shards(self.address.shards)?;
                }
            }
            Ok(shard.traffic())
        })?;
        let told = PyDict::new(py);
        told.set_item("shard", self.address.index)?;
        told.set_item("seconds", start.elapsed().as_secs_f64())?;
        told.set_item("waited", traffic.waited.as_secs_f64())?;
        told.set_item("rounds", traffic.rounds)?;
        told.set_item("sent", traffic.sent)?;
        told.set_item("received", traffic.received)?;
        Ok(told)
    }
}
