//! How good are predictions?
