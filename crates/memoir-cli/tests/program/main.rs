//! What transcripts cannot show: signals, pipes, endless input, the same bytes at any number of threads.

mod answer_files;
#[cfg(unix)]
mod browser;
mod checkpoints;
mod compact;
#[cfg(unix)]
mod compare;
mod confidence;
mod determinism;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod interrupt;
mod margins;
mod odd_files;
mod odd_kinds;
mod odd_rows;
mod odd_streams;
mod odd_tables;
mod odd_values;
#[cfg(feature = "tables")]
mod odd_workbooks;
mod overrides;
mod row_weights;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod several_files;
mod streams;
mod support;
mod tune;
mod vectors;
mod views;
