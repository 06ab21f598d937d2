//! Connections: accepted up to a limit, cut off when slow, finished before the service stops.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use memoir::Catalogue;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use crate::app::{App, Shared};
use crate::router::router;
use crate::settings::{Limits, Settings};

/// How often waiting times are taken into the metrics and free memory is given back.
const UPKEEP: Duration = Duration::from_secs(5);

/// How long to wait when the system has no more connections to give.
const BREATH: Duration = Duration::from_millis(50);

/// How often to ask whether to stop.
const STOP_EVERY: Duration = Duration::from_millis(50);

/// Room for the head of a request. One that does not fit after at most twice this is answered with 431.
const HEAD: usize = 64 << 10;

/// Why a service could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings contradict each other, or a model cannot be opened.
    #[error(transparent)]
    Library(#[from] memoir::Error),
    /// No threads can be started.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// A service that has its models and its address, and can start to answer.
pub struct Service {
    app: Shared,
    router: Router,
    listener: TcpListener,
    watch_every: Option<Duration>,
}

/// Runs a service on threads of its own until `stop` says so; calls `ready` with the address once it
/// listens.
pub fn serve(
    settings: &Settings,
    catalogue: Catalogue,
    ready: impl FnOnce(SocketAddr),
    stop: impl Fn() -> bool,
) -> Result<(), StartError> {
    keep_arenas_small();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(settings.threads.get())
        .thread_name("memoir-serve")
        .enable_all()
        .build()
        .map_err(StartError::Threads)?;
    let served = runtime.block_on(async {
        let service = Service::open(settings, catalogue).await?;
        ready(service.address().unwrap_or(settings.bind));
        let stopped = async {
            while !stop() {
                tokio::time::sleep(STOP_EVERY).await;
            }
        };
        service.run(stopped).await;
        Ok(())
    });
    // A long computation that nobody waits for any more does not hold up the end.
    runtime.shutdown_timeout(Duration::ZERO);
    served
}

/// The service without connections, for programs that have a server of their own: requests in, answers out.
/// Files are not watched, and the limits of connections are the caller's matter.
pub fn routes(settings: &Settings, catalogue: Catalogue) -> Result<Router, StartError> {
    settings.check().map_err(memoir::Error::Parameter)?;
    Ok(router(App::open(settings, catalogue)?))
}

impl Service {
    /// Opens the models and listens. Connections wait until [`Service::run`].
    pub async fn open(settings: &Settings, catalogue: Catalogue) -> Result<Self, StartError> {
        settings.check().map_err(memoir::Error::Parameter)?;
        let app = App::open(settings, catalogue)?;
        let listening = TcpListener::bind(settings.bind).await;
        let listener = listening.map_err(|source| StartError::Listen {
            address: settings.bind,
            source,
        })?;
        Ok(Self {
            router: router(Arc::clone(&app)),
            app,
            listener,
            watch_every: settings.watch_every,
        })
    }

    /// Where it listens: with port 0 in the settings, the system chose one.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The same service without connections.
    pub fn routes(&self) -> Router {
        self.router.clone()
    }

    /// Answers requests until `stop` is there; then finishes those under way, within a limit.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let upkeep = tokio::spawn(upkeep(Arc::clone(&self.app)));
        let watch = self
            .watch_every
            .map(|every| tokio::spawn(watch(Arc::clone(&self.app), every)));
        let connections = GracefulShutdown::new();
        let slots = Arc::new(Semaphore::new(self.app.limits.connections));
        tokio::pin!(stop);
        loop {
            let accepted = async {
                // Never closed, so this always gets one in the end.
                let slot = Arc::clone(&slots).acquire_owned().await;
                (self.listener.accept().await, slot)
            };
            let (accepted, slot) = tokio::select! {
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let connection = connection(stream, self.router.clone(), &self.app.limits);
                    let watched = connections.watch(connection);
                    tokio::spawn(async move {
                        // Clients go away in many ways; that is no news.
                        if let Err(error) = watched.await {
                            tracing::debug!(%error, "a connection ended");
                        }
                        drop(slot);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
        self.app.stop();
        drop(self.listener);
        tracing::info!(connections = connections.count(), "stopping");
        if tokio::time::timeout(self.app.limits.stop_time, connections.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("some requests were not finished in time");
        }
        upkeep.abort();
        if let Some(watch) = watch {
            watch.abort();
        }
    }
}

type Connection =
    http1::Connection<TokioIo<std::pin::Pin<Box<TimeoutStream<TcpStream>>>>, TowerToHyperService<Router>>;

fn connection(stream: TcpStream, router: Router, limits: &Limits) -> Connection {
    // Small answers leave at once. If this fails, they leave a little later.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_read_timeout(Some(limits.idle_time));
    stream.set_write_timeout(Some(limits.idle_time));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(HEAD)
        .half_close(false)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router))
}

async fn upkeep(app: Shared) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        ticks.tick().await;
        app.metrics.upkeep();
        let _ = tokio::task::spawn_blocking(return_free_memory).await;
    }
}

/// Makes large arrays leave the process when they are freed.
///
/// By default the GNU C library moves the bound between arrays of their own and the arenas of threads up to
/// the largest array that was ever freed, a model's weights. From then on each thread that has read a model
/// keeps that much at the top of its arena, where nothing gives it back. The service grew by the size of a
/// model every few minutes of reloading. A bound that is set does not move.
fn keep_arenas_small() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: they take numbers and are safe to call from any thread.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 1 << 20);
    }
}

/// Gives what large bodies have left in the arenas of threads back to the system.
fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: it takes a number and is safe to call from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

async fn watch(app: Shared, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let app = Arc::clone(&app);
        // Waited for: files are looked at one after the other.
        let _ = tokio::task::spawn_blocking(move || app.registry.look_at_files()).await;
    }
}
