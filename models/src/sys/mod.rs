//! What the models have of the library's `sys`.

#[path = "../../../src/sys/errno.rs"]
pub(crate) mod errno;

pub(crate) mod fork_mutex;
pub(crate) mod futex;
#[path = "../../../src/sys/heap.rs"]
pub(crate) mod heap;
pub(crate) mod heap_model;
pub(crate) mod mutex;

pub(crate) mod valgrind {
    /// As the library's: no model runs under such a tool.
    pub(crate) fn looks_for_races() -> bool {
        false
    }
}
