//! An HTTP service around memoir models: answers, explanations, search, feedback, metrics, and a page for
//! people.
//!
//! [`Service::open`] opens the models and the address, [`Service::run`] answers until it is told to stop. A
//! model is read into memory and checked as a whole, so that its file may be replaced in any way while the
//! service runs.

mod api;
mod app;
mod candidate;
mod class_search;
mod engine;
mod extract;
mod feedback;
mod guard;
mod keys;
mod logging;
mod metrics;
mod openapi;
mod page;
mod problem;
mod registry;
mod router;
mod server;
mod settings;
mod watching;

pub use keys::Keys;
pub use logging::{Level, log_to_stderr};
pub use server::{Service, StartError, routes, serve};
pub use settings::{Limits, ModelFile, Settings};
