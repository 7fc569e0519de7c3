//! Queue pairs.

use super::host::Host;

#[path = "../../../../src/urxe/pair/freed.rs"]
mod freed;
#[path = "../../../../src/urxe/pair/lock.rs"]
mod lock;
pub(crate) mod model;

/// No send of a model waits.
pub(crate) fn progress(_: &Host, _: u64) {}

pub(crate) use freed::polled;
