//! The unit of memory.

/// Bytes of a page; never 0. sysconf(3)
pub(crate) fn size() -> usize {
    // SAFETY: no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_or(4096, |size| size.max(1))
}
