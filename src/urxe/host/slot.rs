//! The slot of a process: which file is its own, and whether others still have theirs.
//!
//! The owner of a slot holds a POSIX record lock on the first byte of its file. The kernel gives
//! such a lock back when the process ends, however it ends, and when it calls execve(2); a forked
//! child does not inherit it. It is lost as well when the process closes *any* descriptor of the
//! file, so the owner opens its own file once.
//!
//! Who takes a slot over locks the second byte: peers of the dead process that still have its file go
//! by the first one, and must not take another process for it, whose memory they would write to.

use crate::sync::atomic::Ordering;
use std::os::fd::{AsRawFd, OwnedFd};

use super::access;
use super::directory::{Directory, slot_name, status_of};
use super::memory::Memory;
use crate::abi::*;
use crate::log::log;
use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::urxe::shared::{FILE_SIZE, Header, MAGIC, SLOTS, SRQ_TABLE, SRQS};

/// A slot that this process has taken.
pub(super) struct Slot {
    pub(super) number: u32,
    pub(super) epoch: u64,
    pub(super) file: OwnedFd,
    pub(super) memory: Memory,
}

/// Who holds the lock of a slot file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// Nobody: the process has ended.
    Nobody,
    /// A process; 0 if this process cannot see it, being in another PID namespace.
    Process(i32),
}

/// Takes a slot that has no owner.
///
/// # Errors
///
/// ENOSPC if all are taken; what the system says: EMFILE, ENOMEM, ENOSPC, EFBIG, ...
pub(super) fn take(directory: &Directory) -> Result<Slot> {
    for number in 1..SLOTS {
        if let Some(file) = claim(directory, number)? {
            // First, as a dead process may have taken all memory there is.
            sweep(directory, number);
            return set_up(number, file).inspect_err(|_| {
                if let Ok(name) = slot_name(number) {
                    // An empty file is as good as none.
                    let _ = directory.remove(&name);
                }
            });
        }
    }
    Err(Errno(libc::ENOSPC))
}

/// Removes the files of processes that have ended, for the memory that is in them. `own` is the
/// slot of this process, whose file must not be opened again.
fn sweep(directory: &Directory, own: u32) {
    for number in directory.slots().into_iter().filter(|number| *number != own) {
        let Ok(name) = slot_name(number) else { continue };
        let Ok(file) = directory.open_file(&name, libc::O_RDWR) else { continue };
        let is_stale = status_of(&file).is_ok_and(|status| is_own_file(&status))
            && lock_to_take(&file).is_ok_and(|locked| locked)
            && directory.names(&name, &file);
        if is_stale {
            disown(&file);
            directory.remove_files_of(number);
            // What cannot be removed stays; nothing looks at it.
            let _ = directory.remove(&name);
        }
    }
}

/// Makes the file of a slot ours: empty, and with the lock; nothing if another has it.
fn claim(directory: &Directory, number: u32) -> Result<Option<OwnedFd>> {
    let name = slot_name(number)?;
    // Each round that is repeated follows the change of another process.
    for _ in 0..8 {
        let file = match directory.open_file(&name, libc::O_RDWR | libc::O_CREAT) {
            Ok(file) => file,
            // A link or another thing that is no file of ours: leave it alone.
            Err(Errno(libc::ELOOP | libc::EISDIR | libc::ENXIO | libc::EACCES)) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let status = status_of(&file)?;
        if !is_own_file(&status) || !lock_to_take(&file)? {
            return Ok(None);
        }
        if !directory.names(&name, &file) {
            // Its owner before has removed it meanwhile.
            continue;
        }
        if status_of(&file)?.st_size == 0 {
            return Ok(lock(&file, OWNER)?.then_some(file));
        }
        // Stale. Peers may still map it, so a new file takes its place; the lock of the old one
        // keeps others away until then. Who has it mapped sees at once that it is over.
        disown(&file);
        directory.remove_files_of(number);
        directory.remove(&name)?;
    }
    Ok(None)
}

/// Takes the mark of a slot out of a stale file.
fn disown(file: &OwnedFd) {
    let nothing = 0_u64.to_ne_bytes();
    // The mark comes first. A file that cannot be written has none.
    // SAFETY: the bytes are valid for their length.
    unsafe { libc::pwrite(file.as_raw_fd(), nothing.as_ptr().cast(), nothing.len(), 0) };
}

/// A regular file of this user.
fn is_own_file(status: &libc::stat) -> bool {
    // SAFETY: cannot fail.
    let user = unsafe { libc::geteuid() };
    status.st_mode & libc::S_IFMT == libc::S_IFREG && status.st_uid == user
}

/// Fills the file of a slot that is ours.
fn set_up(number: u32, file: OwnedFd) -> Result<Slot> {
    // Beyond the limit ftruncate(2) would send a signal.
    if file_size_limit()? < FILE_SIZE {
        log!(VERBS_LOG_ERR, "urxe: the limit of file sizes (ulimit -f) is below {FILE_SIZE} bytes");
        return Err(Errno(libc::EFBIG));
    }
    let length = i64::try_from(FILE_SIZE).map_err(|_| Errno::EINVAL)?;
    // SAFETY: changes the length of a file.
    from_minus_one(unsafe { libc::ftruncate(file.as_raw_fd(), length) })?;
    allocate(&file, 0, SRQ_TABLE + u64::from(SRQS) * size_of::<u64>() as u64)?;
    let memory = Memory::map(&file)?;
    let header: &Header = memory.at(0).ok_or(Errno::EIO)?;
    let epoch = random()?;
    header.epoch.store(epoch, Ordering::Relaxed);
    // SAFETY: cannot fail.
    header.pid.store(unsafe { libc::getpid() }.cast_unsigned(), Ordering::Relaxed);
    // Who finds the mark finds that, too: peers that see no access allowed ask for a thread.
    header.access.store(access::find_out(), Ordering::Relaxed);
    header.magic.store(MAGIC, Ordering::Release);
    Ok(Slot { number, epoch, file, memory })
}

/// `RLIMIT_FSIZE` in bytes.
pub(super) fn file_size_limit() -> Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the answer.
    from_minus_one(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) })?;
    Ok(limit.rlim_cur)
}

/// Gives a range of a file its memory, so that touching it cannot fail: ENOMEM if there is none.
pub(super) fn allocate(file: &OwnedFd, offset: u64, length: u64) -> Result<()> {
    let range = (i64::try_from(offset), i64::try_from(length));
    let (Ok(offset), Ok(length)) = range else { return Err(Errno::ENOMEM) };
    loop {
        // SAFETY: changes what the file occupies alone.
        match from_minus_one(unsafe { libc::fallocate(file.as_raw_fd(), 0, offset, length) }) {
            Ok(_) => return Ok(()),
            Err(Errno(libc::EINTR)) => {}
            Err(Errno(libc::ENOSPC | libc::EFBIG | libc::EDQUOT)) => return Err(Errno::ENOMEM),
            Err(errno) => return Err(errno),
        }
    }
}

/// Gives the memory of a range back; it reads as zero from then on.
pub(super) fn release(file: &OwnedFd, offset: u64, length: u64) -> Result<()> {
    let range = (i64::try_from(offset), i64::try_from(length));
    let (Ok(offset), Ok(length)) = range else { return Err(Errno::EINVAL) };
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the caller owns the range.
    from_minus_one(unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, length) }).map(drop)
}

/// A number that nobody had before, and not 0.
fn random() -> Result<u64> {
    let mut number = 0_u64;
    while number == 0 {
        // SAFETY: room for eight bytes.
        let got = unsafe { libc::getrandom((&raw mut number).cast(), size_of::<u64>(), 0) };
        match got {
            8 => {}
            _ if got < 0 && Errno::last() != Errno(libc::EINTR) => return Err(Errno::last()),
            _ => number = 0,
        }
    }
    Ok(number)
}

/// The byte of a slot file that its owner has locked.
const OWNER: u8 = 0;
/// The byte that is locked by who takes the slot.
const TAKER: u8 = 1;

/// The lock of a byte.
fn of_byte(byte: u8) -> libc::flock {
    // SAFETY: plain data.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_whence = libc::SEEK_SET as _;
    lock.l_start = byte.into();
    lock.l_len = 1;
    lock
}

/// Keeps other processes from taking a slot; false if it has an owner, or another one is about to take
/// it.
fn lock_to_take(file: &OwnedFd) -> Result<bool> {
    Ok(lock(file, TAKER)? && owner(file)? == Owner::Nobody)
}

/// Locks a byte of a slot file; false if another process has done so.
fn lock(file: &OwnedFd, byte: u8) -> Result<bool> {
    let lock = of_byte(byte);
    // SAFETY: a lock to take.
    match from_minus_one(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) }) {
        Ok(_) => Ok(true),
        Err(Errno(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Who holds the lock of a slot file that is not this process' own.
pub(super) fn owner(file: &OwnedFd) -> Result<Owner> {
    let mut lock = of_byte(OWNER);
    // SAFETY: a lock to ask for, and room for the answer.
    from_minus_one(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) })?;
    Ok(if i32::from(lock.l_type) == libc::F_UNLCK {
        Owner::Nobody
    } else {
        Owner::Process(lock.l_pid)
    })
}

/// Opens the slot file of another process, mapped: ENOENT if there is none or it has no owner;
/// EPROTO if it is not what it should be.
pub(super) fn open(directory: &Directory, number: u32) -> Result<(OwnedFd, Memory, u64, Owner)> {
    let file = directory.open_file(&slot_name(number)?, libc::O_RDWR)?;
    let status = status_of(&file)?;
    if !is_own_file(&status) {
        return Err(Errno(libc::EPROTO));
    }
    let owner = owner(&file)?;
    if owner == Owner::Nobody {
        return Err(Errno::ENOENT);
    }
    if u64::try_from(status.st_size) != Ok(FILE_SIZE) {
        return Err(Errno(libc::EPROTO));
    }
    let memory = Memory::map(&file)?;
    let header: &Header = memory.at(0).ok_or(Errno::EIO)?;
    let magic = header.magic.load(Ordering::Acquire);
    let epoch = header.epoch.load(Ordering::Relaxed);
    if magic != MAGIC || epoch == 0 {
        return Err(Errno(libc::EPROTO));
    }
    Ok((file, memory, epoch, owner))
}

#[cfg(test)]
mod tests;
