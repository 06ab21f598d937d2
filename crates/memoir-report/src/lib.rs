//! How results are shown to people: sizes, names, commands, charts and pages. The `memoir` program and
//! its comparisons use it.

pub mod chart;
pub mod html;
pub mod names;
pub mod shell;
pub mod sizes;
pub mod table;
