//! Fork support.

#[path = "../../src/fork/state.rs"]
mod state;
pub(crate) mod state_model;
