//! The addresses of the service, a file for each group.

pub(crate) mod annif;
pub(crate) mod candidates;
pub(crate) mod classes;
pub(crate) mod explain;
pub(crate) mod feedback;
pub(crate) mod health;
pub(crate) mod inference;
pub(crate) mod models;
pub(crate) mod predict;
pub(crate) mod queue;
mod statuses;
