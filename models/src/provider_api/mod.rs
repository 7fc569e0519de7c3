//! Contexts.

#[path = "../../../src/provider_api/live.rs"]
pub(crate) mod live;
pub(crate) mod live_model;
