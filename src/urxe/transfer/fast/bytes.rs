//! Moving the bytes of a request.

use core::ptr;

use super::super::bytes::List;
use super::keys::Kind;
use crate::urxe::host::Peer;
use crate::urxe::host::copy::{Direction, copy, copy_straight};

/// Bytes of this process.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) address: usize,
    pub(super) length: usize,
}

impl List {
    /// Adds bytes by address; `None` if there are too many pieces.
    pub(super) fn push(&mut self, address: usize, length: usize) -> Option<()> {
        self.add(ptr::with_exposed_provenance_mut(address), length).ok()
    }
}

/// Moves one piece from or to memory that is mapped here.
#[inline(always)]
pub(super) fn move_here(reads: bool, near: Piece, far: usize) {
    let near_bytes = ptr::with_exposed_provenance_mut::<u8>(near.address);
    let far_bytes = ptr::with_exposed_provenance_mut::<u8>(far);
    let (from, to) = if reads { (far_bytes, near_bytes) } else { (near_bytes, far_bytes) };
    // SAFETY: memory that its owner has registered for this, and keeps mapped; withdrawing the key
    // waits for the mark, or for the lock of the QP, that is held.
    unsafe { copy_straight(from, to, near.length) };
}

/// Moves `length` bytes between pieces of this process and pieces of the peer, which are all of one
/// kind: by one system call if they are not mapped here. `None` if not all could be moved.
#[inline(never)]
pub(super) fn move_lists(
    peer: &Peer,
    reads: bool,
    near: &mut List,
    far: &mut List,
    kind: Kind,
    length: usize,
) -> Option<()> {
    if kind == Kind::Here {
        let (near, far) = (near.as_slice(), far.as_slice());
        let (from, to) = if reads { (far, near) } else { (near, far) };
        // SAFETY: as above.
        return unsafe { copy(from, to) }.ok();
    }
    if !reads {
        // The kernel copies piece by piece. What it does for each of the other side costs more, and
        // keeps the order of stores on all processors.
        let list = if cfg!(target_arch = "x86_64") { &mut *near } else { &mut *far };
        list.set_tail_apart().ok()?;
    }
    let direction = if reads { Direction::Read } else { Direction::Write };
    // SAFETY: as above; the kernel looks at the addresses.
    let moved = unsafe { peer.copy_at_once(direction, near.as_slice(), far.as_slice()) };
    (moved == length).then_some(())
}

/// Moves one piece from or to ordinary memory of the peer, by one system call.
#[inline(never)]
pub(super) fn move_there(peer: &Peer, reads: bool, near: Piece, far: usize) -> Option<()> {
    let (mut from, mut to) = (List::new(), List::new());
    from.push(near.address, near.length)?;
    to.push(far, near.length)?;
    move_lists(peer, reads, &mut from, &mut to, Kind::There, near.length)
}
