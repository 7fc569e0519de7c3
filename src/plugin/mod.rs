//! Finding, loading and matching provider plugins.
