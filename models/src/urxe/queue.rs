//! Receive queues.

pub(crate) mod model;
pub(crate) mod torn_model;
#[path = "../../../src/urxe/queue/owner.rs"]
pub(crate) mod owner;
#[path = "../../../src/urxe/queue/ring.rs"]
pub(crate) mod ring;
#[path = "../../../src/urxe/queue/slots.rs"]
mod slots;

pub(crate) use owner::OwnQueue;
pub(crate) use ring::{POSITION_MASK, Queue, Receive, Taken, of_completion, polled};
pub(crate) use slots::Slots;
