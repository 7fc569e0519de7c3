//! The key table: regions and windows that peers may use.

use crate::sync::atomic::{AtomicU32, AtomicU64};

use super::Shared;

/// A region, a window, or nothing.
///
/// The owner changes an entry with `sequence` odd; a reader that finds it odd, or changed
/// afterwards, reads again (a seqlock). Requesters read it with the lock of the responder's QP held,
/// and the owner passes through the locks of its QPs after a change, so when a region is
/// deregistered no request that saw the old entry is under way.
#[repr(C, align(64))]
pub(crate) struct KeyEntry {
    /// Even when at rest; adds two per change.
    pub(crate) sequence: AtomicU32,
    /// The whole key, index and tag; 0 if the entry is not in use.
    pub(crate) key: AtomicU32,
    /// Number of the protection domain.
    pub(crate) pd: AtomicU32,
    /// `ibv_access_flags`.
    pub(crate) access: AtomicU32,
    /// First address as peers name it; 0 for zero-based ones.
    pub(crate) iova: AtomicU64,
    /// Length in bytes.
    pub(crate) length: AtomicU64,
    /// First address in the owner's memory.
    pub(crate) address: AtomicU64,
    /// One of [`Memory`].
    pub(crate) memory: AtomicU32,
    /// Number of the shared file that the bytes are in; [`Memory::FILE`] only.
    pub(crate) file: AtomicU32,
    /// Offset of the first byte in that file.
    pub(crate) file_offset: AtomicU64,
    /// QP to which a window of type 2 is bound; 0 for all others.
    pub(crate) qp_num: AtomicU32,
    /// Key index of the region that a window is bound to; 0 for regions.
    pub(crate) parent: AtomicU32,
}

/// Kinds of memory behind a key.
pub(crate) struct Memory;

impl Memory {
    /// Ordinary memory of the owner.
    pub(crate) const ORDINARY: u32 = 0;
    /// Memory that the device allocated in a file which peers can map.
    pub(crate) const FILE: u32 = 1;
    /// Discards writes, reads as zero; `ibv_alloc_null_mr(3)`.
    pub(crate) const NULL: u32 = 2;
}

const _: () = assert!(size_of::<KeyEntry>() == 64);

// SAFETY: nothing but atomics.
unsafe impl Shared for KeyEntry {}
