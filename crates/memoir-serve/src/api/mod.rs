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

use crate::problem::{Answer, Problem};

/// How many items a list gives: as many as asked for, within `(usual, most)`.
fn page_length(asked: Option<usize>, (usual, most): (usize, usize)) -> Answer<usize> {
    let length = asked.unwrap_or(usual);
    if (1..=most).contains(&length) {
        return Ok(length);
    }
    Err(Problem::invalid(format!(
        "`limit` must be from 1 to {most}, but is {length}"
    )))
}
