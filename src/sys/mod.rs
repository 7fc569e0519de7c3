//! The one place for raw libc: system calls and memory behind small safe functions.

pub(crate) mod env;
pub(crate) mod errno;
pub(crate) mod fd;
pub(crate) mod file;
pub(crate) mod fork_mutex;
pub(crate) mod futex;
pub(crate) mod heap;
pub(crate) mod mutex;
pub(crate) mod netlink;
pub(crate) mod page;
pub(crate) mod valgrind;
pub(crate) mod variadic;

#[cfg(test)]
pub(crate) mod tests;
