//! What the models have of the library's `sys`.

#[path = "../../../src/sys/errno.rs"]
pub(crate) mod errno;

pub(crate) mod futex;
#[path = "../../../src/sys/heap.rs"]
pub(crate) mod heap;
pub(crate) mod mutex;
