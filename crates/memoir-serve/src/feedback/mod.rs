//! Decisions of coders: kept in an append-only file, on disk before they are acknowledged, each once.
//!
//! A file of lines, not a database: a line is there or it is not, anybody can read it, and the proof is
//! short. A request's lines are written and synced before its answer (`log.rs`); what a crash leaves of a
//! line that was never acknowledged is cut off when the file is opened; an id that is there already is not
//! written again (`store.rs`).

mod log;
mod record;
mod store;
pub(crate) mod table;

pub(crate) use record::{Decision, Event, Item, Progress};
pub(crate) use store::{Appended, Store};
