//! Moving bytes, within a process and into another one.
//!
//! Programs wait for a message by looking at its last byte, so bytes become visible in ascending
//! order as far as it costs nothing, and the last eight of a message after all others.

use crate::sync::atomic::{Ordering, fence};
use core::ffi::{c_int, c_void};

use libc::iovec;

use super::access;
use crate::sys::errno::{Errno, Result};

/// Bytes at the end of a message that are stored after all others.
pub(crate) const TAIL: usize = 8;
/// Entries of a list that one system call gets.
const WINDOW: usize = 64;
/// Bytes that one system call moves at most; the kernel's own limit is a little below 2 GiB.
const CALL: usize = 1 << 30;

/// Total length of a list; EINVAL if it has more bytes than there are addresses.
pub(crate) fn length_of(list: &[iovec]) -> Result<usize> {
    list.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.iov_len)).ok_or(Errno::EINVAL)
}

/// A place in a list.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    list: &'a [iovec],
    done: usize,
}

impl<'a> Cursor<'a> {
    /// The begin of a list.
    pub(super) fn new(list: &'a [iovec]) -> Cursor<'a> {
        Cursor { list, done: 0 }
    }

    /// The rest of the present entry, after those that are used up.
    fn part(&mut self) -> Option<(*mut u8, usize)> {
        loop {
            let first = self.list.first()?;
            if self.done < first.iov_len {
                let address = first.iov_base.cast::<u8>().wrapping_add(self.done);
                return Some((address, first.iov_len - self.done));
            }
            self.list = &self.list[1..];
            self.done = 0;
        }
    }

    /// Adds what comes next to a window, until that is full or has `most` bytes; returns how many it
    /// has.
    pub(super) fn fill<const N: usize>(&mut self, window: &mut Window<N>, most: usize) -> usize {
        while window.entries < N && window.bytes < most {
            let Some((address, length)) = self.part() else { break };
            let length = length.min(most - window.bytes);
            window.list[window.entries] = iovec { iov_base: address.cast(), iov_len: length };
            self.done += length;
            window.entries += 1;
            window.bytes += length;
        }
        window.bytes
    }

    /// Copies what comes next to a list, as much as fits there. Memory of this process that is not
    /// there gives EFAULT.
    ///
    /// # Safety
    ///
    /// As for [`copy`].
    pub(super) unsafe fn copy_out(&mut self, to: &[iovec]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_with(Direction::Read, to) }
    }

    /// Copies a list to what comes next; as [`copy_out`](Self::copy_out).
    ///
    /// # Safety
    ///
    /// As for [`copy`].
    pub(super) unsafe fn copy_in(&mut self, from: &[iovec]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_with(Direction::Write, from) }
    }

    unsafe fn copy_with(&mut self, direction: Direction, other: &[iovec]) -> Result<()> {
        let mut left = length_of(other)?;
        let mut other = Cursor::new(other);
        while left > 0 {
            let (mut near, mut far) = (Window::<WINDOW>::new(), Window::<WINDOW>::new());
            let bytes = self.fill(&mut far, left);
            if bytes == 0 {
                return Ok(());
            }
            other.fill(&mut near, bytes);
            // SAFETY: the caller's promise.
            unsafe { copy_carefully(direction, near.list(), far.list())? };
            left -= bytes;
        }
        Ok(())
    }

    /// Passes over bytes.
    fn skip(&mut self, mut bytes: usize) {
        while bytes > 0 {
            let Some((_, length)) = self.part() else { return };
            let step = length.min(bytes);
            self.done += step;
            bytes -= step;
        }
    }
}

/// A part of a list, for one system call.
pub(super) struct Window<const N: usize> {
    list: [iovec; N],
    entries: usize,
    bytes: usize,
}

impl<const N: usize> Window<N> {
    pub(super) fn new() -> Window<N> {
        let empty = iovec { iov_base: core::ptr::null_mut(), iov_len: 0 };
        Window { list: [empty; N], entries: 0, bytes: 0 }
    }

    pub(super) fn list(&self) -> &[iovec] {
        &self.list[..self.entries]
    }
}

/// Copies from one list to another within the process, as much as both have.
///
/// # Safety
///
/// The lists must name memory of this process that may be read and written, as the application
/// promised when it registered it; others may change it meanwhile.
pub(crate) unsafe fn copy(from: &[iovec], to: &[iovec]) -> Result<()> {
    if let ([from], [to]) = (from, to) {
        // SAFETY: the caller's promise.
        unsafe { copy_piece(from, to) };
        return Ok(());
    }
    let total = length_of(from)?.min(length_of(to)?);
    let (mut from, mut to) = (Cursor::new(from), Cursor::new(to));
    let body = total.saturating_sub(TAIL);
    // SAFETY: the caller's promise.
    unsafe { step(&mut from, &mut to, body) };
    fence(Ordering::Release);
    // SAFETY: the caller's promise.
    unsafe { step(&mut from, &mut to, total - body) };
    Ok(())
}

/// Copies one piece to another, as much as both have. What is as long as the tail is one store.
///
/// # Safety
///
/// As for [`copy`].
#[inline]
unsafe fn copy_piece(from: &iovec, to: &iovec) {
    let total = from.iov_len.min(to.iov_len);
    // SAFETY: the caller's promise; so much lies within both pieces.
    unsafe { copy_straight(from.iov_base.cast(), to.iov_base.cast(), total) };
}

/// Copies bytes within the process, the last eight after all others. What fits into a word is one
/// store.
///
/// # Safety
///
/// As for [`copy`]. The ranges may overlap.
#[inline(always)]
pub(crate) unsafe fn copy_straight(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if length == TAIL {
            target.cast::<u64>().write_unaligned(source.cast::<u64>().read_unaligned());
        } else {
            copy_long(source, target, length);
        }
    }
}

/// As [`copy_straight`].
///
/// # Safety
///
/// As for [`copy_straight`].
#[inline(never)]
unsafe fn copy_long(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match length {
            4 => {
                return target.cast::<u32>().write_unaligned(source.cast::<u32>().read_unaligned());
            }
            2 => {
                return target.cast::<u16>().write_unaligned(source.cast::<u16>().read_unaligned());
            }
            1 => return target.write(source.read()),
            ..TAIL => return copy_bytes(source, target, length),
            _ => {}
        }
        let body = length - TAIL;
        // Read first, as the ranges may overlap.
        let tail = source.add(body).cast::<u64>().read_unaligned();
        copy_bytes(source, target, body);
        fence(Ordering::Release);
        target.add(body).cast::<u64>().write_unaligned(tail);
    }
}

/// Copies bytes within the process.
///
/// # Safety
///
/// As for [`copy_straight`].
#[inline]
pub(crate) unsafe fn copy_bytes(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy(source, target, length) };
}

/// As [`copy_process`], by one system call; the number of bytes that it has moved.
///
/// # Safety
///
/// As for [`copy_process`].
pub(super) unsafe fn copy_at_once(
    pid: i32,
    direction: Direction,
    local: &[iovec],
    remote: &[iovec],
) -> usize {
    call(pid, direction, local, remote).unwrap_or(0)
}

/// Copies the next `bytes`.
unsafe fn step(from: &mut Cursor<'_>, to: &mut Cursor<'_>, mut bytes: usize) {
    while bytes > 0 {
        let (Some((source, left)), Some((target, room))) = (from.part(), to.part()) else { return };
        let length = left.min(room).min(bytes);
        // The ranges may overlap, when a process sends to itself.
        // SAFETY: the caller's promise.
        unsafe { core::ptr::copy(source, target, length) };
        from.done += length;
        to.done += length;
        bytes -= length;
    }
}

/// Which way a system call moves bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// From this process into the other.
    Write,
    /// From the other process into this one.
    Read,
}

/// Moves bytes between this process and another, or this one itself, by process_vm_writev(2) or
/// process_vm_readv(2), as much as both lists have. Memory that is not there, on either side, is
/// EFAULT; then any part may have been moved.
///
/// # Errors
///
/// EFAULT; ESRCH when the process is gone; EPERM when this process may not do that; ENOSYS.
///
/// # Safety
///
/// What is written must be memory whose owner expects that: the application registered it.
pub(crate) unsafe fn copy_process(
    pid: i32,
    direction: Direction,
    local: &[iovec],
    remote: &[iovec],
) -> Result<()> {
    let total = length_of(local)?.min(length_of(remote)?);
    let (mut local, mut remote) = (Cursor::new(local), Cursor::new(remote));
    let mut left = total;
    while left > 0 {
        let (mut near, mut far) = (Window::<WINDOW>::new(), Window::<WINDOW>::new());
        let most = left.min(CALL);
        let mut ahead = remote;
        if direction == Direction::Write && most == left {
            // The kernel goes through the list of the other side entry by entry, so the tail gets
            // one of its own.
            ahead.fill(&mut far, most.saturating_sub(TAIL));
        }
        ahead.fill(&mut far, most);
        { local }.fill(&mut near, far.bytes);
        let moved = call(pid, direction, near.list(), far.list())?;
        if moved == 0 {
            return Err(Errno::EFAULT);
        }
        // Less than was asked for: the next call says why.
        local.skip(moved);
        remote.skip(moved);
        left -= moved.min(left);
    }
    Ok(())
}

fn call(pid: i32, direction: Direction, local: &[iovec], remote: &[iovec]) -> Result<usize> {
    let function = match direction {
        Direction::Write => libc::process_vm_writev,
        Direction::Read => libc::process_vm_readv,
    };
    loop {
        // SAFETY: two lists with their lengths; the kernel checks every address in them.
        let moved = unsafe {
            function(
                pid,
                local.as_ptr(),
                local.len() as libc::c_ulong,
                remote.as_ptr(),
                remote.len() as libc::c_ulong,
                0,
            )
        };
        match usize::try_from(moved) {
            Ok(moved) => return Ok(moved),
            Err(_) if Errno::last() == Errno(libc::EINTR) => {}
            Err(_) => return Err(Errno::last()),
        }
    }
}

/// As [`copy_process`], within this process: memory that may not be there. Where the system forbids
/// that call, as [`copy`].
///
/// # Safety
///
/// As for [`copy`].
pub(crate) unsafe fn copy_carefully(
    direction: Direction,
    near: &[iovec],
    far: &[iovec],
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if access::is_possible() {
            return copy_process(libc::getpid(), direction, near, far);
        }
        match direction {
            Direction::Write => copy(near, far),
            Direction::Read => copy(far, near),
        }
    }
}

/// Whether a range of this process can be read.
pub(crate) fn is_readable(part: &iovec) -> bool {
    let last = part.iov_base.cast::<u8>().wrapping_add(part.iov_len.saturating_sub(1));
    part.iov_len == 0 || [part.iov_base.addr(), last.addr()].into_iter().all(is_readable_at)
}

/// Whether the word around an address can be read. This must work where process_vm_readv(2) is
/// forbidden: rt_sigprocmask(2) reads a set of signals first, and then refuses what to do with it.
fn is_readable_at(address: usize) -> bool {
    /// `sizeof(sigset_t)` of the kernel.
    const SET: usize = 8;
    let word = core::ptr::with_exposed_provenance::<c_void>(address & !(SET - 1));
    let nothing = core::ptr::null_mut::<c_void>();
    // SAFETY: the kernel looks whether the word is there; nothing is changed.
    let status = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, c_int::MAX, word, nothing, SET) };
    status == 0 || Errno::last() != Errno::EFAULT
}

#[cfg(test)]
mod tests;
