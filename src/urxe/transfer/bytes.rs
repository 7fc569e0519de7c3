//! Lists of pieces of memory, in this process or in another one, and moving bytes between them.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use libc::iovec;

use super::Operation;
use super::route::Files;
use super::stop::{Reason, Stop};
use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::urxe::host::copy::{Direction, TAIL, copy, copy_carefully, is_readable};
use crate::urxe::host::{Host, Peer, agent, null};
use crate::urxe::limits::MAX_SGE;
use crate::urxe::region::check::Place;
use crate::urxe::shared::KeyMemory;

/// Pieces that a list has at most: those of a request, a header, and a tail.
pub(super) const PIECES: usize = MAX_SGE as usize + 2;

/// Pieces of memory. Room that is not in use is not touched.
pub(super) struct List {
    count: usize,
    pieces: [MaybeUninit<iovec>; PIECES],
}

impl List {
    #[inline]
    pub(super) fn new() -> List {
        List { count: 0, pieces: [const { MaybeUninit::uninit() }; PIECES] }
    }

    /// Adds a piece; EINVAL if there are too many.
    #[inline]
    pub(super) fn add(&mut self, address: *mut c_void, length: usize) -> Result<()> {
        let piece = self.pieces.get_mut(self.count).ok_or(Errno::EINVAL)?;
        piece.write(iovec { iov_base: address, iov_len: length });
        self.count += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[iovec] {
        // SAFETY: the first `count` pieces, of which there are no more than that, have been written.
        unsafe { core::slice::from_raw_parts(self.pieces.as_ptr().cast(), self.count) }
    }

    #[inline]
    fn as_slice_mut(&mut self) -> &mut [iovec] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts_mut(self.pieces.as_mut_ptr().cast(), self.count) }
    }

    /// All bytes of pieces of this process that are sure to be there, if there is room for them.
    pub(super) fn gather<'a>(&self, room: &'a mut [u8]) -> Option<&'a [u8]> {
        let mut done = 0;
        for piece in self.as_slice() {
            let part = room.get_mut(done..)?.get_mut(..piece.iov_len)?;
            // SAFETY: registered memory of this process, which its owner keeps mapped.
            unsafe { part.as_mut_ptr().copy_from(piece.iov_base.cast(), part.len()) };
            done += part.len();
        }
        room.get(..done)
    }

    /// Cuts the piece that the last [`TAIL`] bytes begin in, so that these have pieces of their own.
    /// EINVAL if there are too many pieces.
    pub(super) fn set_tail_apart(&mut self) -> Result<()> {
        let mut left = TAIL;
        for index in (0..self.count).rev() {
            let Some(piece) = self.as_slice_mut().get_mut(index) else { break };
            let length = piece.iov_len;
            if length < left {
                left -= length;
                continue;
            }
            let body = length - left;
            if body == 0 {
                break;
            }
            piece.iov_len = body;
            let tail = piece.iov_base.cast::<u8>().wrapping_add(body);
            self.add(tail.cast(), left)?;
            if let Some(behind) = self.as_slice_mut().get_mut(index + 1..) {
                behind.rotate_right(1);
            }
            break;
        }
        Ok(())
    }
}

/// Pieces of memory of this process.
pub(super) struct Local {
    list: List,
    length: u64,
    /// Whether pieces may be missing: they are copied so that this is noticed.
    careful: bool,
}

impl Local {
    #[inline]
    pub(super) fn new() -> Local {
        Local { list: List::new(), length: 0, careful: false }
    }

    /// Adds bytes by address.
    pub(super) fn add_address(&mut self, address: *mut u8, length: usize) -> Result<()> {
        self.list.add(address.cast(), length)?;
        self.length += length as u64;
        Ok(())
    }

    /// Adds a place behind one of the own keys.
    pub(super) fn add(&mut self, place: &Place, length: usize, writes: bool) -> Result<()> {
        let address = match place.memory {
            KeyMemory::NULL if writes => null::sink()?,
            KeyMemory::NULL => null::zeros()?,
            // Shared files are mapped here, at the address of the region.
            _ => core::ptr::with_exposed_provenance_mut(place.address as usize),
        };
        self.careful |= place.access & IBV_ACCESS_ON_DEMAND != 0;
        self.add_address(address, length)
    }

    /// The pieces.
    pub(super) fn list(&self) -> &[iovec] {
        self.list.as_slice()
    }

    /// Bytes in all.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// All bytes, if there is room for them and they are sure to be there.
    pub(super) fn gather<'a>(&self, room: &'a mut [u8]) -> Option<&'a [u8]> {
        if self.careful { None } else { self.list.gather(room) }
    }

    /// Puts bytes in front.
    pub(super) fn put_in_front(&mut self, front: &mut [u8]) -> Result<()> {
        self.add_address(front.as_mut_ptr(), front.len())?;
        if let Some(pieces) = self.list.pieces.get_mut(..self.list.count) {
            pieces.rotate_right(1);
        }
        Ok(())
    }

    /// Copies other pieces of this process into these.
    pub(super) fn fill_from(&self, from: &Local) -> Result<()> {
        // SAFETY: memory that is registered to be written; missing pieces are noticed.
        unsafe {
            if self.careful {
                copy_carefully(Direction::Write, from.list(), self.list())
            } else {
                copy(from.list(), self.list())
            }
        }
    }
}

const EMPTY: iovec = iovec { iov_base: core::ptr::null_mut(), iov_len: 0 };

/// Pieces of memory of a responder.
pub(super) struct Remote<'a> {
    host: &'a Host,
    peer: &'a Peer,
    /// Mappings of files of the peer.
    files: &'a Files,
    list: List,
    /// Bit per piece: it is mapped in this process.
    here: u64,
    careful: bool,
    /// Whether a piece is in a file.
    has_file: bool,
    /// How long the server of the responder has to begin, in nanoseconds.
    patience: u64,
}

const _: () = assert!(PIECES <= 64);

impl<'a> Remote<'a> {
    #[inline]
    pub(super) fn new(operation: &Operation<'a>, peer: &'a Peer) -> Remote<'a> {
        let (list, &Operation { host, files, patience, .. }) = (List::new(), operation);
        Remote { host, peer, files, list, here: 0, careful: false, has_file: false, patience }
    }

    /// Adds a place behind one of the responder's keys. `writes`: bytes go there.
    pub(super) fn add(&mut self, place: &Place, length: usize, writes: bool) -> Result<()> {
        let (address, here) = match place.memory {
            KeyMemory::NULL if writes => (null::sink()?, true),
            KeyMemory::NULL => (null::zeros()?, true),
            KeyMemory::FILE if !self.peer.is_own() => {
                let is_first = !self.has_file;
                self.has_file = true;
                (self.files.find(self.peer, place, length as u64, is_first)?.cast(), true)
            }
            _ => (core::ptr::with_exposed_provenance_mut(place.address as usize), false),
        };
        self.here |= u64::from(here) << self.list.count;
        self.careful |= place.access & IBV_ACCESS_ON_DEMAND != 0;
        self.list.add(address.cast::<c_void>(), length)
    }

    /// Whether all pieces can be reached as own memory.
    pub(super) fn is_here(&self) -> bool {
        self.peer.is_own() || self.here.count_ones() as usize == self.list.count
    }

    /// Whether the first piece, which is own memory, is there.
    pub(super) fn is_mapped(&self) -> bool {
        !self.careful || self.list().first().is_some_and(is_readable)
    }

    /// The first piece.
    pub(super) fn first(&self) -> Option<*mut u8> {
        self.list().first().map(|piece| piece.iov_base.cast())
    }

    #[inline]
    fn list(&self) -> &[iovec] {
        self.list.as_slice()
    }

    /// Moves bytes between the pieces of this process and those of the responder.
    pub(super) fn transfer(
        &self,
        direction: Direction,
        local: &Local,
    ) -> core::result::Result<(), Stop> {
        self.try_transfer(direction, local).map_err(|errno| self.stop(errno, local))
    }

    fn try_transfer(&self, direction: Direction, local: &Local) -> Result<()> {
        let careful = self.careful || local.careful;
        let here = self.here.count_ones() as usize;
        if here == 0 {
            return self.part(direction, local.list(), self.list(), false, careful);
        }
        if here == self.list.count {
            return self.part(direction, local.list(), self.list(), true, careful);
        }
        // Some are mapped here and some are not: piece by piece.
        let mut done = 0;
        for (number, piece) in self.list().iter().enumerate() {
            let mut window = [EMPTY; PIECES];
            let count = sub_list(local.list(), done, piece.iov_len, &mut window);
            let here = self.here >> number & 1 != 0;
            let near = window.get(..count).unwrap_or_default();
            self.part(direction, near, core::slice::from_ref(piece), here, careful)?;
            done += piece.iov_len;
        }
        Ok(())
    }

    fn part(
        &self,
        direction: Direction,
        near: &[iovec],
        far: &[iovec],
        here: bool,
        careful: bool,
    ) -> Result<()> {
        // SAFETY: all pieces come from keys that allow this, so their owners have registered the
        // memory for it and it is theirs to keep it mapped; where it need not be (`careful`) the
        // kernel copies and notices.
        unsafe {
            if here || self.peer.is_own() {
                if careful {
                    return copy_carefully(direction, near, far);
                }
                return match direction {
                    Direction::Write => copy(near, far),
                    Direction::Read => copy(far, near),
                };
            }
            let result = match direction {
                Direction::Write => self.peer.write(near, far),
                Direction::Read => self.peer.read(near, far),
            };
            match result {
                Err(Errno::EPERM) => {
                    let (host, peer) = (self.host, self.peer);
                    agent::copy_by_server(host, peer, direction, near, far, self.patience)
                }
                result => result,
            }
        }
    }

    /// Why bytes were not moved.
    fn stop(&self, errno: Errno, local: &Local) -> Stop {
        match errno {
            Errno::EFAULT if !local.list().iter().all(is_readable) => {
                Stop::local(IBV_WC_LOC_PROT_ERR, Reason::LocalFault)
            }
            Errno::EFAULT => Stop::remote(IBV_WC_REM_OP_ERR, Reason::RemoteFault),
            other => Stop::of_server(other),
        }
    }
}

/// The part of a list from `skip` on, `length` bytes long; its number of pieces.
fn sub_list(
    list: &[iovec],
    mut skip: usize,
    mut length: usize,
    window: &mut [iovec; PIECES],
) -> usize {
    let mut count = 0;
    for piece in list {
        if skip >= piece.iov_len {
            skip -= piece.iov_len;
            continue;
        }
        if length == 0 || count == PIECES {
            break;
        }
        let part = (piece.iov_len - skip).min(length);
        let address = piece.iov_base.cast::<u8>().wrapping_add(skip);
        window[count] = iovec { iov_base: address.cast(), iov_len: part };
        (skip, length, count) = (0, length - part, count + 1);
    }
    count
}
