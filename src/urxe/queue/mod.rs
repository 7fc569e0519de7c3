//! Receive queues: those of queue pairs, and shared ones.
//!
//! * [`ring`]: a queue in the memory of any process: looking at the next receive, taking it;
//! * [`owner`]: the owner's side: creating, posting, freeing slots, resizing;
//! * [`slots`]: a queue in order, as its owner knows it;
//! * [`srq`]: shared receive queues as objects.

pub(crate) mod owner;
pub(crate) mod ring;
mod slots;
pub(crate) mod srq;
#[cfg(test)]
mod tests;

pub(crate) use owner::{OwnQueue, answer};
pub(crate) use ring::{POSITION_MASK, Queue, Receive, Taken, of_completion, polled};
pub(crate) use slots::Slots;
pub(crate) use srq::{
    Srq, create_srq, create_srq_ex, destroy_srq, get_srq_num, modify_srq, post_srq_recv, query_srq,
};
