//! Completion queues.
//!
//! * [`entry`]: a completion on its way, and what polling it gives back;
//! * [`ring`]: the queue in shared memory: adding, taking, repairing;
//! * [`mod@add`]: adding from any process, with the events that follow;
//! * [`quick`]: adding where nothing else is to be done;
//! * [`cq`]: the object: creation, resizing, moderation, destruction, notification;
//! * [`poll`] and [`extended`]: the two ways of polling;
//! * [`counter`]: completion counters;
//! * [`retire`]: what polling gives back and keeps going.

pub(crate) mod add;
pub(crate) mod counter;
pub(crate) mod cq;
pub(crate) mod entry;
pub(crate) mod extended;
mod moderation;
pub(crate) mod poll;
pub(crate) mod quick;
mod retire;
mod ring;

pub(crate) use add::{Added, add_own, receive, restore};
pub(crate) use cq::{Cq, create_cq, create_cq_ex, destroy_cq, modify_cq, req_notify_cq, resize_cq};
pub(crate) use entry::Entry;
pub(crate) use poll::poll_cq;

/// Code of the memory of a CQ for the allocators of a parent domain.
const RESOURCE: u32 = 3;

#[cfg(test)]
mod tests;
