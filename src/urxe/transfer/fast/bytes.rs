//! Moving the bytes of a request.

use core::ptr;

use libc::iovec;

use super::keys::Kind;
use super::{ENTRIES, Fast, Place};
use crate::urxe::host::copy::{Direction, TAIL, copy_bytes, copy_straight};

/// Bytes of this process.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) address: usize,
    pub(super) length: usize,
}

impl Piece {
    pub(super) const EMPTY: Piece = Piece { address: 0, length: 0 };

    fn iovec(self) -> iovec {
        iovec { iov_base: ptr::with_exposed_provenance_mut(self.address), iov_len: self.length }
    }
}

/// Moves one piece from or to memory that is mapped here.
#[inline(always)]
pub(super) fn move_here(reads: bool, near: Piece, far: usize) {
    let near_bytes = ptr::with_exposed_provenance_mut::<u8>(near.address);
    let far_bytes = ptr::with_exposed_provenance_mut::<u8>(far);
    let (from, to) = if reads { (far_bytes, near_bytes) } else { (near_bytes, far_bytes) };
    // SAFETY: memory that its owner has registered for this, and keeps mapped; withdrawing the key
    // waits for the mark, which is set.
    unsafe { copy_straight(from, to, near.length) };
}

impl Fast {
    /// Moves several pieces.
    pub(super) fn move_list(
        &self,
        reads: bool,
        near: &[Piece],
        far: Place,
        length: usize,
    ) -> Option<()> {
        if far.kind == Kind::There {
            return self.move_there(reads, near, far, length);
        }
        let (last, others) = near.split_last()?;
        if last.length < TAIL && !others.is_empty() {
            // The last bytes come in several pieces.
            return None;
        }
        let mut done = 0;
        for piece in others {
            let here = ptr::with_exposed_provenance_mut::<u8>(piece.address);
            let there = ptr::with_exposed_provenance_mut::<u8>(far.address.wrapping_add(done));
            let (from, to) = if reads { (there, here) } else { (here, there) };
            // SAFETY: as above.
            unsafe { copy_bytes(from, to, piece.length) };
            done += piece.length;
        }
        move_here(reads, *last, far.address.wrapping_add(done));
        Some(())
    }

    /// Moves pieces from or to ordinary memory of the peer, by one system call.
    #[inline(never)]
    pub(super) fn move_there(
        &self,
        reads: bool,
        near: &[Piece],
        far: Place,
        length: usize,
    ) -> Option<()> {
        let mut pieces = [const { Piece::EMPTY }; ENTRIES].map(Piece::iovec);
        for (to, from) in pieces.iter_mut().zip(near) {
            *to = from.iovec();
        }
        let pieces = pieces.get(..near.len())?;
        // The last bytes of a write come after all others.
        let tail = if reads { 0 } else { TAIL.min(length) };
        let body = Piece { address: far.address, length: length - tail };
        let tail = Piece { address: far.address.wrapping_add(body.length), length: tail };
        let there = [body.iovec(), tail.iovec()];
        let direction = if reads { Direction::Read } else { Direction::Write };
        // SAFETY: as above; the kernel looks at the addresses.
        unsafe { self.peer.as_ref()?.copy_at_once(direction, pieces, &there, length) }.then_some(())
    }
}
