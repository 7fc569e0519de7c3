//! What the device can do at most. `ibv_query_device_ex(3)` tells these numbers, and creation
//! refuses more.

use crate::abi::*;
use crate::urxe::shared::{KEYS, QPS, SRQS};

/// QPs of a process.
pub(crate) const MAX_QP: u32 = QPS;
/// Outstanding requests of a send or receive queue; a slot number takes 15 bits.
pub(crate) const MAX_QP_WR: u32 = 1 << 15;
/// Entries of a scatter or gather list.
pub(crate) const MAX_SGE: u32 = 32;
/// Entries of the list of an RDMA read.
pub(crate) const MAX_SGE_RD: u32 = MAX_SGE;
/// Bytes of inline data of a send request.
pub(crate) const MAX_INLINE: u32 = 512;
/// Bytes of a message, except for UD.
pub(crate) const MAX_MESSAGE: u64 = 1 << 31;
/// Shared receive queues of a process.
pub(crate) const MAX_SRQ: u32 = SRQS;
/// Outstanding requests of a shared receive queue.
pub(crate) const MAX_SRQ_WR: u32 = MAX_QP_WR;
/// Entries of the list of a receive in a shared receive queue.
pub(crate) const MAX_SRQ_SGE: u32 = MAX_SGE;

/// Completion queues of a process.
pub(crate) const MAX_CQ: u32 = 1 << 16;
/// Completions that a queue can hold: 16 MiB of shared memory.
pub(crate) const MAX_CQE: u32 = 1 << 17;
/// Completion counters of a process.
pub(crate) const MAX_COUNTERS: u32 = 1 << 16;
/// Completion vectors.
pub(crate) const COMP_VECTORS: u32 = 1;

/// Regions and windows of a process; a key has 18 bits of index, and index 0 is not used.
pub(crate) const MAX_MR: u32 = KEYS - 1;
/// Memory windows of a process; they share the keys with the regions.
pub(crate) const MAX_MW: u32 = KEYS - 1;
/// Bytes of a region.
pub(crate) const MAX_MR_SIZE: u64 = u64::MAX;
/// Bytes of device memory that a process can have.
pub(crate) const MAX_DM_SIZE: u64 = 4 << 20;
/// Protection domains of a process.
pub(crate) const MAX_PD: u32 = 1 << 16;
/// Address handles of a process.
pub(crate) const MAX_AH: u32 = 1 << 20;

/// RDMA reads and atomics that a QP may have outstanding, and holds for its peer.
pub(crate) const MAX_RD_ATOMIC: u8 = 16;
/// Multicast groups.
pub(crate) const MAX_MCAST_GRP: u32 = 1 << 12;
/// QPs of a multicast group.
pub(crate) const MAX_MCAST_QP_ATTACH: u32 = 1 << 8;
/// Entries of the P_Key table.
pub(crate) const PKEYS: u16 = 1;
/// Devices of a machine; the header of a slot has room for so many.
pub(crate) const DEVICES: usize = 32;
/// Ports; the only one is number 1.
pub(crate) const PORTS: u8 = 1;
/// Largest payload of a packet: the limit of a UD message, and of `path_mtu`.
pub(crate) const MAX_MTU: ibv_mtu = IBV_MTU_4096;

/// Rights that the device knows, of a region or a QP. Those that say nothing about peers have no effect
/// at a QP, as with any device: programs pass the access of their regions.
pub(crate) const KNOWN_ACCESS: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC
    | IBV_ACCESS_MW_BIND
    | IBV_ACCESS_ZERO_BASED
    | IBV_ACCESS_ON_DEMAND
    | IBV_ACCESS_HUGETLB
    | IBV_ACCESS_FLUSH_GLOBAL
    | IBV_ACCESS_FLUSH_PERSISTENT
    | IBV_ACCESS_OPTIONAL_RANGE;
