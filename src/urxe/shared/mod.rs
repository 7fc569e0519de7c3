//! The layout of the memory that processes share.
//!
//! Each process that uses the device has one file of [`FILE_SIZE`] bytes, its *slot*; its peers map
//! it too. Everything that a peer may touch lies there: the tables of queue pairs, shared receive
//! queues and keys at fixed places, and the objects themselves, which the tables name by their
//! offset in the file.
//!
//! Rules, on which the safety of all code above rests:
//!
//! * Every member is an atomic, so that a change by another process is no undefined behaviour, and
//!   any bit pattern is a valid value. Nothing read from here may index or size anything before it
//!   is checked.
//! * Records of one kind are reused for the same kind only. A peer that comes too late finds
//!   another [generation](QpShared::generation), never another struct.
//! * A change becomes visible by one store (an index, a sequence number, a key), so a process that
//!   dies between two instructions leaves either the old state or the new one. Where several words
//!   change together the [`Lock`] is held, and who takes over the lock of a dead holder repairs.
//! * A cache line is written by one side: what requesters change, what the owner changes, and what
//!   stays as it is lie on lines of their own, so that no line travels more often than a message.

mod counter;
mod cq;
mod key;
mod line;
mod lock;
mod mark;
mod patience;
mod qp;
mod queue;

use crate::sync::atomic::{AtomicU32, AtomicU64};

pub(crate) use counter::CounterShared;
pub(crate) use cq::{ARMED_NEXT, ARMED_SOLICITED, CQE_PAYLOAD, CqShared, Cqe, NOT_ARMED};
pub(crate) use key::{KeyEntry, Memory as KeyMemory};
pub(crate) use line::{Line, NewLine, will_read, will_write};
pub(crate) use lock::{Guard, Holder, Lock, TakenOver};
pub(crate) use mark::{Mark, Marked};
#[cfg(test)]
pub(crate) use patience::IN_A_HURRY;
pub(crate) use patience::{PATIENCE, Patience};
pub(crate) use qp::QpShared;
pub(crate) use queue::{QueueShared, RecvHeader, RecvSge};

/// A type that may be read and written by several processes at once: nothing but atomics.
///
/// # Safety
///
/// Every bit pattern must be valid, and every member must be atomic.
pub(crate) unsafe trait Shared {}

/// `URXE` and a format number; another format is another device, whose files are not looked at.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"URXE\0\0\0\x05");
/// Size in bytes of a slot's file. Sparse: what is not in use takes no memory.
pub(crate) const FILE_SIZE: u64 = 4 << 30;

/// Slots that there can be; slot 0 is never used, so no QP number is below [`QPS`].
pub(crate) const SLOTS: u32 = 1 << 10;
/// QPs per slot: a QP number is `slot << 14 | index`.
pub(crate) const QPS: u32 = 1 << 14;
/// Shared receive queues per slot; their numbers are made like QP numbers.
pub(crate) const SRQS: u32 = 1 << 14;
/// Keys per slot: a key is `index << 8 | tag`; index 0 is never used.
pub(crate) const KEYS: u32 = 1 << 18;

/// Place of the table of QPs: [`QPS`] offsets (`AtomicU64`) of [`QpShared`], 0 for none.
pub(crate) const QP_TABLE: u64 = 4096;
/// Place of the table of SRQs: [`SRQS`] offsets of [`QueueShared`], 0 for none.
pub(crate) const SRQ_TABLE: u64 = QP_TABLE + QPS as u64 * 8;
/// Place of the keys: [`KEYS`] times [`KeyEntry`].
pub(crate) const KEY_TABLE: u64 = 1 << 20;
/// Place of the objects, up to the end of the file.
pub(crate) const ARENA: u64 = 32 << 20;

const _: () = assert!(SRQ_TABLE + SRQS as u64 * 8 <= KEY_TABLE);
const _: () = assert!(KEY_TABLE + KEYS as u64 * size_of::<KeyEntry>() as u64 <= ARENA);
const _: () = assert!(SLOTS * QPS == 1 << 24);

/// The first page of a slot's file.
#[repr(C, align(64))]
pub(crate) struct Header {
    /// [`MAGIC`], stored last when the file is set up.
    pub(crate) magic: AtomicU64,
    /// Random, not 0: tells this use of the slot from earlier ones.
    pub(crate) epoch: AtomicU64,
    /// Process of the owner, as the owner sees it; peers in another PID namespace ask the lock.
    pub(crate) pid: AtomicU32,
    /// Whether peers may read and write the owner's memory by process_vm_readv(2), as far as the
    /// owner can tell: a value of `host::access`.
    pub(crate) access: AtomicU32,
    /// Futex on which the agent of the owner sleeps; who leaves work for it adds one and wakes.
    pub(crate) doorbell: AtomicU32,
    /// Whether the owner has an agent that listens to the doorbell.
    pub(crate) agent: AtomicU32,
    /// First free mailbox, see `host::agent`; 0 for none.
    pub(crate) mailboxes: AtomicU64,
    /// Number of devices in `devices`.
    pub(crate) device_count: AtomicU32,
    /// Entries of the key table that have their memory; those behind must not be touched.
    pub(crate) keys: AtomicU32,
    /// GIDs of the devices that the owner has open, by device number.
    pub(crate) devices: [DeviceShared; 32],
    /// Offset of the list of multicast groups, see `transfer::multicast`; 0 for none.
    pub(crate) groups: AtomicU64,
    /// 1 if the owner can make others pass a barrier before it looks at their marks; see
    /// `host::marks`.
    pub(crate) barriers: AtomicU32,
}

/// A device that the owner of a slot has open.
#[repr(C)]
pub(crate) struct DeviceShared {
    /// GID 0, link-local: 16 bytes in network order.
    pub(crate) gid0: [AtomicU64; 2],
    /// GID 1, from the IPv4 address; zero without one.
    pub(crate) gid1: [AtomicU64; 2],
    /// LID, 0 with Ethernet link layer.
    pub(crate) lid: AtomicU32,
    _reserved: AtomicU32,
}

const _: () = assert!(size_of::<Header>() <= QP_TABLE as usize);

// SAFETY: nothing but atomics.
unsafe impl Shared for Header {}
// SAFETY: nothing but atomics.
unsafe impl Shared for AtomicU32 {}
// SAFETY: nothing but atomics.
unsafe impl Shared for AtomicU64 {}
