//! Memory of the device: files that peers can map, and where they are in this process.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Weak};

use crate::sys::errno::{Result, from_minus_one};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::urxe::host::Host;
use crate::urxe::host::shared_file::{self, SharedFile};
use crate::urxe::sorted::Sorted;

/// The files, by their first address.
static FILES: ForkMutex<Sorted<usize, Weak<DeviceFile>>> =
    ForkMutex::new(Rank::Files, Sorted::new());

/// A file with memory of the device. Regions in it keep it.
pub(super) struct DeviceFile {
    file: SharedFile,
    /// Device and inode.
    identity: (u64, u64),
    /// Of the slot that it belongs to.
    epoch: u64,
    /// Bytes that were asked for.
    wanted: u64,
    purpose: Purpose,
}

/// What a file is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    DeviceMemory,
    Buffer,
}

impl DeviceFile {
    /// Makes a file of at least so many bytes, which are 0.
    ///
    /// # Errors
    ///
    /// EINVAL for no bytes; ENOMEM; EMFILE.
    pub(super) fn new(
        host: &'static Host,
        length: u64,
        purpose: Purpose,
    ) -> Result<Arc<DeviceFile>> {
        let file = shared_file::create(host, length)?;
        let status = status_of(file.fd().as_raw_fd())?;
        let identity = (status.st_dev, status.st_ino);
        let (epoch, wanted) = (host.epoch(), length);
        let file = Arc::new(DeviceFile { file, identity, epoch, wanted, purpose });
        FILES.lock().insert(file.address().addr(), Arc::downgrade(&file));
        Ok(file)
    }

    /// First address in this process; aligned to a page.
    pub(super) fn address(&self) -> *mut u8 {
        self.file.address()
    }

    /// Number by which peers find the file.
    pub(super) fn number(&self) -> u32 {
        self.file.number()
    }

    /// Bytes that are mapped.
    pub(super) fn length(&self) -> u64 {
        self.file.length()
    }

    /// Its descriptor.
    pub(super) fn fd(&self) -> RawFd {
        self.file.fd().as_raw_fd()
    }
}

impl Drop for DeviceFile {
    fn drop(&mut self) {
        FILES.lock().remove(self.address().addr());
    }
}

/// The file that holds `length` bytes from an address on, and the offset of the first one in it.
/// Files of another slot, such as those that a child inherited, do not count.
pub(super) fn find(host: &Host, address: usize, length: u64) -> Option<(Arc<DeviceFile>, u64)> {
    let (start, file) = {
        let files = FILES.lock();
        let (start, file) = files.floor(address)?;
        (*start, file.upgrade()?)
    };
    let offset = (address - start) as u64;
    let fits = file.length().checked_sub(offset).is_some_and(|room| length <= room);
    (fits && file.epoch == host.epoch()).then_some((file, offset))
}

/// The device memory with a number: its file, and its length.
pub(super) fn find_by_number(host: &Host, number: u32) -> Option<(Arc<DeviceFile>, u64)> {
    // What is dropped here is dropped without the lock.
    let files: Vec<_> = FILES.lock().iter().filter_map(|(_, file)| file.upgrade()).collect();
    let is_it = |file: &Arc<DeviceFile>| {
        let purpose = Purpose::DeviceMemory;
        file.epoch == host.epoch() && file.number() == number && file.purpose == purpose
    };
    files.into_iter().find(is_it).map(|file| (Arc::clone(&file), file.wanted))
}

/// The file that a descriptor is open on.
pub(super) fn find_by_fd(host: &Host, fd: RawFd) -> Option<Arc<DeviceFile>> {
    let status = status_of(fd).ok()?;
    // What is dropped here is dropped without the lock.
    let files: Vec<_> = FILES.lock().iter().filter_map(|(_, file)| file.upgrade()).collect();
    files
        .into_iter()
        .find(|file| file.epoch == host.epoch() && file.identity == (status.st_dev, status.st_ino))
}

/// What fstat(2) says of a descriptor.
pub(super) fn status_of(fd: RawFd) -> Result<libc::stat> {
    // SAFETY: plain data.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: room for the status.
    from_minus_one(unsafe { libc::fstat(fd, &raw mut status) })?;
    Ok(status)
}

/// A new descriptor for a file, closed on exec.
pub(super) fn duplicate(fd: RawFd) -> Result<RawFd> {
    // SAFETY: duplicating has no preconditions.
    from_minus_one(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::{FromRawFd, OwnedFd};

    use super::*;
    use crate::sys::errno::Errno;
    use crate::urxe::host::testing::Scratch;

    #[test]
    fn files_are_found_by_address_and_by_descriptor() {
        let scratch = Scratch::new();
        let (host, other) = (scratch.host(), scratch.host());
        let file = DeviceFile::new(host, 5000, Purpose::Buffer).unwrap();
        let (start, length) = (file.address().addr(), file.length());
        assert_eq!(length, 8192);
        for (address, length, offset) in [
            (start, 8192, Some(0)),
            (start + 8000, 192, Some(8000)),
            (start + 8192, 0, Some(8192)),
            (start + 8000, 193, None),
            (start, 8193, None),
            (start + 8193, 0, None),
            (start, u64::MAX, None),
        ] {
            let found = find(host, address, length);
            assert_eq!(found.as_ref().map(|(_, offset)| *offset), offset, "{length}");
            assert!(found.is_none_or(|(found, _)| Arc::ptr_eq(&found, &file)));
        }
        assert!(find(other, start, 1).is_none());
        // SAFETY: the descriptor is new.
        let copy = unsafe { OwnedFd::from_raw_fd(duplicate(file.fd()).unwrap()) };
        assert!(find_by_fd(host, copy.as_raw_fd()).is_some_and(|found| Arc::ptr_eq(&found, &file)));
        assert!(find_by_fd(other, copy.as_raw_fd()).is_none());
        assert!(find_by_fd(host, -1).is_none());
        drop(file);
        assert!(find(host, start, 1).is_none() && find_by_fd(host, copy.as_raw_fd()).is_none());
        assert_eq!(DeviceFile::new(host, 0, Purpose::Buffer).err(), Some(Errno::EINVAL));
    }
}
