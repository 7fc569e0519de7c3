//! Verbs.

pub(crate) mod mr;
