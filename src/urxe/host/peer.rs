//! A process with a slot, as others see it; the own one too.

use crate::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use libc::iovec;

use super::access;
use super::clock::coarse;
use super::copy::{Direction, copy, copy_at_once, copy_process};
use super::directory::{Directory, EVENT, SHARE, file_name, status_of};
use super::memory::{MappedFile, Memory};
use super::slot::{self, Owner, owner};
use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::sys::mutex::Mutex;
use crate::urxe::shared::{Header, MAGIC};

/// How long a look at the lock of a peer counts, in nanoseconds; give or take a tick of the kernel.
const LOOK_COUNTS: u64 = 10_000_000;
/// Event files that are kept open.
const OPEN_EVENTS: usize = 8;

/// A process with a slot. Its memory stays mapped as long as the peer is in use, also when the
/// process has ended.
pub(crate) struct Peer {
    slot: u32,
    epoch: u64,
    memory: Arc<Memory>,
    /// The key table that it believes, of the own process: see [`Host::keys`](super::Host::keys).
    keys: Arc<Memory>,
    directory: Arc<Directory>,
    /// The slot file, whose lock tells whether the process lives; nothing for the own one.
    file: Option<OwnedFd>,
    /// Its number here; 0 if it has none.
    pid: AtomicI32,
    looked: AtomicU64,
    dead: AtomicBool,
    /// The kernel has refused access to its memory.
    refused: AtomicBool,
    /// That has been asked.
    probed: AtomicBool,
    files: Mutex<Vec<(u32, Arc<MappedFile>)>>,
    events: Mutex<Vec<(u32, OwnedFd)>>,
}

impl Peer {
    /// The own process, with its slot file and its own key table.
    pub(super) fn own(
        slot: u32,
        epoch: u64,
        (memory, keys): (Arc<Memory>, Arc<Memory>),
        directory: Arc<Directory>,
    ) -> Peer {
        // SAFETY: cannot fail.
        let pid = unsafe { libc::getpid() };
        Peer::new(slot, epoch, (memory, keys), directory, None, pid)
    }

    /// Opens a slot of another process; see [`slot::open`].
    pub(super) fn open(directory: &Arc<Directory>, number: u32) -> Result<Peer> {
        let (file, memory, epoch, owner) = slot::open(directory, number)?;
        let pid = match owner {
            Owner::Process(pid) => pid,
            Owner::Nobody => 0,
        };
        let memory = Arc::new(memory);
        let place = (Arc::clone(&memory), memory);
        Ok(Peer::new(number, epoch, place, Arc::clone(directory), Some(file), pid))
    }

    fn new(
        slot: u32,
        epoch: u64,
        (memory, keys): (Arc<Memory>, Arc<Memory>),
        directory: Arc<Directory>,
        file: Option<OwnedFd>,
        pid: i32,
    ) -> Peer {
        Peer {
            slot,
            epoch,
            memory,
            keys,
            directory,
            file,
            pid: AtomicI32::new(pid),
            looked: AtomicU64::new(coarse()),
            dead: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            probed: AtomicBool::new(false),
            files: Mutex::new(Vec::new()),
            events: Mutex::new(Vec::new()),
        }
    }

    /// Its slot file.
    #[inline]
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The key table that its addresses are to be checked with.
    pub(crate) fn keys(&self) -> &Memory {
        &self.keys
    }

    /// The first page of its slot file.
    pub(crate) fn header(&self) -> Option<&Header> {
        self.memory.at(0)
    }

    /// Number of its slot.
    #[inline]
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// Which use of the slot it is.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether it is this process.
    #[inline]
    pub(crate) fn is_own(&self) -> bool {
        self.file.is_none()
    }

    /// Whether the process still ran at most 10 ms ago, and has not been followed by another in its
    /// slot.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        if self.is_own() {
            return true;
        }
        if coarse().wrapping_sub(self.looked.load(Ordering::Relaxed)) < LOOK_COUNTS {
            let marked = |header: &Header| header.magic.load(Ordering::Acquire) == MAGIC;
            return !self.dead.load(Ordering::Relaxed) && self.header().is_some_and(marked);
        }
        self.is_alive_now()
    }

    /// Whether the process still runs.
    pub(crate) fn is_alive_now(&self) -> bool {
        let Some(file) = &self.file else { return true };
        if self.dead.load(Ordering::Relaxed) {
            return false;
        }
        match owner(file) {
            Ok(Owner::Nobody) => {
                self.dead.store(true, Ordering::Relaxed);
                return false;
            }
            Ok(Owner::Process(pid)) => self.pid.store(pid, Ordering::Relaxed),
            // No answer, as without memory in the kernel: nothing new.
            Err(_) => {}
        }
        self.looked.store(coarse(), Ordering::Relaxed);
        true
    }

    /// Whether its memory can be reached by process_vm_readv(2) and process_vm_writev(2), as far as
    /// is known.
    pub(crate) fn allows_access(&self) -> bool {
        let forbidden = |header: &Header| header.access.load(Ordering::Relaxed) == access::NONE;
        self.is_own()
            || self.pid.load(Ordering::Relaxed) != 0
                && !self.refused.load(Ordering::Relaxed)
                && !self.header().is_none_or(forbidden)
    }

    /// Asks the kernel, once, whether the memory of the process can be reached; `false` if not.
    pub(crate) fn probe(&self) -> bool {
        if self.is_own() || self.probed.swap(true, Ordering::Relaxed) || !self.allows_access() {
            return self.allows_access();
        }
        let mut byte = 0_u8;
        let local = [iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 }];
        // Nothing is there; that is found out after the permission.
        let remote = [iovec { iov_base: core::ptr::null_mut(), iov_len: 1 }];
        // SAFETY: a byte of ours.
        let _ = unsafe { self.copy(Direction::Read, &local, &remote) };
        self.allows_access()
    }

    /// The kernel refuses from now on.
    #[cfg(test)]
    pub(crate) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    /// Copies from memory of this process into memory of the peer; see [`copy`](super::copy).
    ///
    /// # Errors
    ///
    /// EFAULT, when memory on either side is not there; ESRCH, when the process is gone; EPERM,
    /// when its memory cannot be reached.
    ///
    /// # Safety
    ///
    /// As for [`copy`] and [`copy_process`]: both sides have registered the memory.
    pub(crate) unsafe fn write(&self, local: &[iovec], remote: &[iovec]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_own() {
                copy(local, remote)
            } else {
                self.copy(Direction::Write, local, remote)
            }
        }
    }

    /// Copies from memory of the peer into memory of this process; as [`write`](Self::write).
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write).
    pub(crate) unsafe fn read(&self, local: &[iovec], remote: &[iovec]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_own() {
                copy(remote, local)
            } else {
                self.copy(Direction::Read, local, remote)
            }
        }
    }

    /// Copies from or to another process, which is alive and lets others reach its memory.
    unsafe fn copy(&self, direction: Direction, local: &[iovec], remote: &[iovec]) -> Result<()> {
        if !self.is_alive() {
            return Err(Errno(libc::ESRCH));
        }
        if !self.allows_access() {
            return Err(Errno::EPERM);
        }
        let pid = self.pid.load(Ordering::Relaxed);
        // SAFETY: the caller's promise.
        let result = unsafe { copy_process(pid, direction, local, remote) };
        if matches!(result, Err(Errno(libc::EPERM | libc::ENOSYS))) {
            self.refused.store(true, Ordering::Relaxed);
            return Err(Errno::EPERM);
        }
        result
    }

    /// Copies from or to the peer, which is another process and alive, by one system call; the number
    /// of bytes that have been moved.
    ///
    /// # Safety
    ///
    /// As for [`write`](Self::write).
    pub(crate) unsafe fn copy_at_once(
        &self,
        direction: Direction,
        local: &[iovec],
        remote: &[iovec],
    ) -> usize {
        if !self.allows_access() {
            return 0;
        }
        let pid = self.pid.load(Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { copy_at_once(pid, direction, local, remote) }
    }

    /// A shared file of the peer ([`shared_file`](super::shared_file)), mapped once. ENOENT if there
    /// is none.
    pub(crate) fn file(&self, number: u32) -> Result<Arc<MappedFile>> {
        let mut files = self.files.lock();
        if let Some((_, file)) = files.iter().find(|(known, _)| *known == number) {
            return Ok(Arc::clone(file));
        }
        // What nobody else uses any more and is gone in the directory goes here as well.
        files.retain(|(number, file)| Arc::strong_count(file) > 1 || self.has_file(*number));
        let name = file_name(SHARE, self.slot, number)?;
        let fd = self.directory.open_file(&name, libc::O_RDWR)?;
        let status = status_of(&fd)?;
        if status.st_mode & libc::S_IFMT != libc::S_IFREG || status.st_size <= 0 {
            return Err(Errno(libc::EPROTO));
        }
        let file = Arc::new(MappedFile::map(&fd, status.st_size.cast_unsigned())?);
        files.push((number, Arc::clone(&file)));
        Ok(file)
    }

    fn has_file(&self, number: u32) -> bool {
        file_name(SHARE, self.slot, number)
            .is_ok_and(|name| self.directory.open_file(&name, libc::O_PATH).is_ok())
    }

    /// Puts an event into an event file of the peer: whole or not at all. See
    /// [`event_file`](super::event_file).
    pub(super) fn send_event(&self, number: u32, bytes: &[u8]) -> Result<()> {
        let mut events = self.events.lock();
        let place = match events.iter().position(|(known, _)| *known == number) {
            Some(place) => place,
            None => {
                // Open for reading as well, there is always a reader: no SIGPIPE.
                let flags = libc::O_RDWR | libc::O_NONBLOCK;
                let fd = self.directory.open_file(&file_name(EVENT, self.slot, number)?, flags)?;
                if status_of(&fd)?.st_mode & libc::S_IFMT != libc::S_IFIFO {
                    return Err(Errno(libc::EPROTO));
                }
                if events.len() >= OPEN_EVENTS {
                    events.remove(0);
                }
                events.push((number, fd));
                events.len() - 1
            }
        };
        let (_, fd) = events.get(place).ok_or(Errno::EIO)?;
        loop {
            // SAFETY: the bytes are valid for their length.
            let written =
                unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
            match from_minus_one(i32::try_from(written).unwrap_or(-1)) {
                Err(Errno(libc::EINTR)) => {}
                result => return result.map(drop),
            }
        }
    }

    /// Forgets an event file of the own process.
    pub(super) fn close_event(&self, number: u32) {
        self.events.lock().retain(|(known, _)| *known != number);
    }
}
