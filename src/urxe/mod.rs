//! urxe, the software RDMA device in user space.
//!
//! It is a provider inside the library: it registers and sets its operations as a plugin does, and
//! needs neither a kernel module nor privileges. What it is made of, from the bottom up:
//!
//! * [`shared`]: the layout of the memory that processes share, and the lock in it;
//! * `host`: the files of that memory: the slot of this process, those of its peers;
//! * `region`, `completion`, `queue`, `pair`: the verbs objects (regions and windows, completion
//!   queues, receive queues, queue pairs);
//! * `transfer`: what a requester does: the operation itself, on the memory of the responder;
//! * `device`: interfaces, attributes, GIDs, the context and its events.
//!
//! Between processes of one user on one machine the requester carries out the whole operation, as
//! the DMA engine of an adapter would: it checks the responder's keys, moves the bytes once, takes
//! the receive from the responder's queue and writes the completion into the responder's completion
//! queue. The responder need not run for that.

pub(crate) mod completion;
pub(crate) mod device;
mod explain;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
pub(crate) mod gate;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod origin;
pub(crate) mod pair;
pub(crate) mod queue;
pub(crate) mod region;
pub(crate) mod shared;
mod sorted;
pub(crate) mod transfer;

pub(crate) use explain::explain;
