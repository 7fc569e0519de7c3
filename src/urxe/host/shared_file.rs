//! Shared files: memory that the device allocates, and that peers can map.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use super::Host;
use super::directory::{SHARE, file_name};
use super::memory::MappedFile;
use super::slot::allocate;
use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::sys::page;

/// Memory of the device in a file of its own, that reads as zero at first. Removed when dropped;
/// peers that have it mapped keep what they have.
pub(crate) struct SharedFile {
    number: u32,
    fd: OwnedFd,
    mapped: Arc<MappedFile>,
    host: &'static Host,
}

/// Makes a shared file of `length` bytes, rounded up to whole pages.
///
/// # Errors
///
/// EINVAL for a length of 0; ENOMEM; EMFILE.
pub(crate) fn create(host: &'static Host, length: u64) -> Result<SharedFile> {
    let length = length.checked_next_multiple_of(page::size() as u64).ok_or(Errno::ENOMEM)?;
    let signed = i64::try_from(length).map_err(|_| Errno::ENOMEM)?;
    if length == 0 {
        return Err(Errno::EINVAL);
    }
    let number = host.next_number();
    let name = file_name(SHARE, host.slot(), number)?;
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    let fd = host.directory().open_file(&name, flags)?;
    let map = || {
        if super::slot::file_size_limit()? < length {
            return Err(Errno::ENOMEM);
        }
        // SAFETY: changes the length of a file.
        from_minus_one(unsafe { libc::ftruncate(fd.as_raw_fd(), signed) })?;
        allocate(&fd, 0, length)?;
        MappedFile::map(&fd, length)
    };
    match map() {
        Ok(mapped) => Ok(SharedFile { number, fd, mapped: Arc::new(mapped), host }),
        Err(errno) => {
            let _ = host.directory().remove(&name);
            Err(errno)
        }
    }
}

impl SharedFile {
    /// Its number, never 0.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// First address in this process.
    pub(crate) fn address(&self) -> *mut u8 {
        self.mapped.address().cast()
    }

    /// Length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.mapped.length()
    }

    /// The file itself.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        if self.host.is_current()
            && let Ok(name) = file_name(SHARE, self.host.slot(), self.number)
        {
            let _ = self.host.directory().remove(&name);
        }
    }
}
