//! Completion queues.

#[path = "../../../src/urxe/completion/add.rs"]
pub(crate) mod add;
#[path = "../../../src/urxe/completion/counter.rs"]
pub(crate) mod counter;
pub(crate) mod counter_model;
#[path = "../../../src/urxe/completion/cq.rs"]
pub(crate) mod cq;
#[path = "../../../src/urxe/completion/entry.rs"]
pub(crate) mod entry;
pub(crate) mod model;
#[path = "../../../src/urxe/completion/moderation.rs"]
mod moderation;
pub(crate) mod moderation_model;
#[path = "../../../src/urxe/completion/poll.rs"]
pub(crate) mod poll;
#[path = "../../../src/urxe/completion/quick.rs"]
pub(crate) mod quick;
#[path = "../../../src/urxe/completion/retire.rs"]
mod retire;
#[path = "../../../src/urxe/completion/ring.rs"]
mod ring;

mod extended {
    pub(super) fn set_functions(_: &mut crate::abi::ibv_cq_ex, _: u64) {}
}

pub(crate) use add::{Added, add, add_own, receive, restore};
pub(crate) use cq::Cq;
pub(crate) use entry::Entry;

const RESOURCE: u32 = 3;
