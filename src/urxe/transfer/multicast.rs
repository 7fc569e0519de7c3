//! Multicast groups: each process lists in its slot which of its QPs are attached to which group;
//! who sends looks at the lists of all.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicU32, AtomicU64, fence};
use crate::sync::entries as entries_of;
use core::ffi::c_int;

use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::urxe::explain;
use crate::urxe::host::{Host, Peer};
use crate::urxe::pair::Qp;
use crate::urxe::shared::{Header, QPS, SLOTS, Shared};
use crate::urxe::transfer::responder::gid;

/// A QP that is attached to a group.
#[repr(C)]
pub(super) struct Attachment {
    /// GID of the group, 16 bytes in network order.
    gid: [AtomicU64; 2],
    /// LID of the group.
    lid: AtomicU32,
    /// The number of the QP, 0 if the entry is not in use, and above it how often the entry has been.
    /// Stored last: who finds the same before and after it looked has seen one attachment.
    member: AtomicU32,
}

/// Bits of the number of a QP.
const NUMBER_BITS: u32 = 24;
const _: () = assert!(SLOTS * QPS == 1 << NUMBER_BITS);

fn number_of(member: u32) -> u32 {
    member & ((1 << NUMBER_BITS) - 1)
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Attachment {}

/// Attachments of a process.
const ENTRIES: usize = entries_of(1 << 12);
/// First LID of multicast groups.
const FIRST_LID: u16 = 0xc000;

/// A multicast group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Group {
    gid: [u8; 16],
    lid: u16,
    /// Known by its LID alone.
    by_lid: bool,
}

impl Group {
    /// The group that an address names.
    pub(super) fn of_address(address: &ibv_ah_attr) -> Group {
        // SAFETY: a GID is 16 bytes in each of its forms.
        let gid = unsafe { address.grh.dgid.raw };
        Group { gid, lid: address.dlid, by_lid: address.is_global == 0 }
    }

    fn has(&self, entry: &Attachment) -> bool {
        if self.by_lid {
            entry.lid.load(Relaxed) == u32::from(self.lid)
        } else {
            gid(&entry.gid) == self.gid
        }
    }
}

/// Calls a function for each QP of all processes that is attached to a group.
pub(super) fn for_each(host: &Host, group: &Group, mut action: impl FnMut(&Peer, u32)) {
    for peer in host.all_peers() {
        for entry in entries(&peer) {
            let member = entry.member.load(Acquire);
            if number_of(member) == 0 || !group.has(entry) {
                continue;
            }
            fence(Acquire);
            if entry.member.load(Relaxed) == member {
                action(&peer, number_of(member));
            }
        }
    }
}

fn entries(peer: &Peer) -> &[Attachment] {
    let memory = peer.memory();
    let offset = memory.at::<Header>(0).map_or(0, |header| header.groups.load(Acquire));
    if offset == 0 { &[] } else { memory.slice(offset, ENTRIES).unwrap_or_default() }
}

/// Held while the own list changes.
static CHANGING: ForkMutex<()> = ForkMutex::new(Rank::Groups, ());

/// Attaches a QP to a group; a second time changes nothing.
fn attach(host: &Host, number: u32, group: &Group) -> Result<()> {
    let _changing = CHANGING.lock();
    let header = host.header()?;
    if header.groups.load(Relaxed) == 0 {
        let length = (ENTRIES * size_of::<Attachment>()) as u64;
        header.groups.store(host.alloc(length, 64)?, Release);
    }
    let entries = entries(host.own());
    if find(entries, number, group).is_some() {
        return Ok(());
    }
    let free = entries.iter().find(|entry| number_of(entry.member.load(Relaxed)) == 0);
    let entry = free.ok_or(Errno::ENOMEM)?;
    let count = (entry.member.load(Relaxed) >> NUMBER_BITS).wrapping_add(1);
    // Who sees what is stored next sees that the entry was not in use.
    fence(Release);
    for (word, bytes) in entry.gid.iter().zip(group.gid.as_chunks().0) {
        word.store(u64::from_ne_bytes(*bytes), Relaxed);
    }
    entry.lid.store(u32::from(group.lid), Relaxed);
    entry.member.store(count << NUMBER_BITS | number, Release);
    Ok(())
}

/// Detaches a QP from a group. EINVAL if it is not attached.
fn detach(host: &Host, number: u32, group: &Group) -> Result<()> {
    let _changing = CHANGING.lock();
    let entry = find(entries(host.own()), number, group).ok_or(Errno::EINVAL)?;
    let member = entry.member.load(Relaxed);
    entry.member.store(member - number_of(member), Release);
    Ok(())
}

fn find<'a>(entries: &'a [Attachment], number: u32, group: &Group) -> Option<&'a Attachment> {
    let is_it =
        |entry: &&Attachment| number_of(entry.member.load(Relaxed)) == number && group.has(entry);
    entries.iter().find(is_it)
}

/// Whether a QP of this process is attached to a group: then it is not destroyed (EBUSY).
pub(crate) fn is_attached(host: &Host, number: u32) -> bool {
    entries(host.own()).iter().any(|entry| number_of(entry.member.load(Relaxed)) == number)
}

/// `ibv_attach_mcast(3)`
pub(crate) unsafe extern "C" fn attach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
) -> c_int {
    // SAFETY: the caller passes a QP and a GID.
    unsafe { change(qp, gid, lid, "ibv_attach_mcast", attach) }.or_number()
}

/// `ibv_detach_mcast(3)`
pub(crate) unsafe extern "C" fn detach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
) -> c_int {
    // SAFETY: the caller passes a QP and a GID.
    unsafe { change(qp, gid, lid, "ibv_detach_mcast", detach) }.or_number()
}

unsafe fn change(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
    caller: &str,
    action: impl FnOnce(&Host, u32, &Group) -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller's promise; a GID is 16 bytes in each of its forms.
    let (qp, gid) = unsafe { (Qp::of(qp), (*gid).raw) };
    if qp.kind != IBV_QPT_UD {
        explain!("{caller}: QP {:#x} is not of type UD", qp.number);
        return Err(Errno::EINVAL);
    }
    if gid[0] != 0xff || lid != 0 && lid < FIRST_LID {
        explain!("{caller}: no multicast address: GID {gid:02x?}, LID {lid:#x}");
        return Err(Errno::EINVAL);
    }
    qp.host.check_current()?;
    action(qp.host, qp.number, &Group { gid, lid, by_lid: false })
        .inspect_err(|errno| explain!("{caller}: QP {:#x}: error {}", qp.number, errno.0))
}
