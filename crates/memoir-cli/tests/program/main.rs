//! What transcripts cannot show: signals, pipes, endless input, the same bytes at any number of threads.

#[cfg(unix)]
mod browser;
mod checkpoints;
mod compact;
#[cfg(unix)]
mod compare;
mod confidence;
mod determinism;
#[cfg(unix)]
mod interrupt;
mod margins;
mod odd_files;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod streams;
mod support;
