//! One file per verb.

pub(crate) mod audit;
pub(crate) mod class_vocabulary;
pub(crate) mod classes;
pub(crate) mod compact;
#[cfg(unix)]
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod crosswalk;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod margins;
pub(crate) mod overrides;
pub(crate) mod predict;
pub(crate) mod prepare;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod split;
pub(crate) mod synth;
pub(crate) mod train;
pub(crate) mod tune;
pub(crate) mod vectors;
