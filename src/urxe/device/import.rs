//! Descriptors by which a device is imported (`ibv_import_device(3)`).
//!
//! The descriptor `cmd_fd` of a context is a file in memory that says which device it is of, and of
//! which process: objects live in the memory of their process, so only that can import them.

use core::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::urxe::explain;
use crate::urxe::host::{self, Host};

/// Begin of the file.
const MAGIC: u64 = u64::from_le_bytes(*b"urxe dev");

/// What the file says.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Description {
    magic: u64,
    /// Epoch of the slot of the process.
    epoch: u64,
    /// Number of the device.
    device: u64,
}

/// A descriptor for a context of a device.
///
/// # Errors
///
/// What memfd_create(2) says.
pub(super) fn descriptor(host: &Host, device: u32) -> Result<OwnedFd> {
    // SAFETY: the name is a C string.
    let fd = unsafe {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        libc::memfd_create(c"urxe-device".as_ptr(), flags)
    };
    from_minus_one(fd)?;
    // SAFETY: the descriptor is new.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let description = Description { magic: MAGIC, epoch: host.epoch(), device: u64::from(device) };
    let length = size_of::<Description>();
    // SAFETY: so many bytes are there.
    let written = unsafe { libc::write(fd.as_raw_fd(), (&raw const description).cast(), length) };
    if usize::try_from(written) != Ok(length) {
        return Err(Errno::last());
    }
    // Commands that are written to it by mistake fail instead of vanishing.
    let seals = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
    // SAFETY: changes what can be done with the file.
    from_minus_one(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok(fd)
}

/// The number of the device that a descriptor is of; nothing for one that is of none of ours.
///
/// # Errors
///
/// EOPNOTSUPP for one of another process.
pub(crate) fn device_of(fd: c_int) -> Option<Result<u32>> {
    let mut found = Description { magic: 0, epoch: 0, device: 0 };
    let length = size_of::<Description>();
    // SAFETY: there is room for so many bytes; any bytes make a description.
    let got = unsafe { libc::pread(fd, (&raw mut found).cast(), length, 0) };
    if usize::try_from(got) != Ok(length) || found.magic != MAGIC {
        return None;
    }
    let is_own = host::host().is_ok_and(|host| host.epoch() == found.epoch);
    if !is_own {
        explain!("ibv_import_device: the descriptor is of a context of another process");
        return Some(Err(Errno::EOPNOTSUPP));
    }
    Some(u32::try_from(found.device).map_err(|_| Errno::EINVAL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_descriptor_names_its_device() {
        let host = host::host().unwrap();
        let fd = descriptor(host, 3).unwrap();
        assert_eq!(device_of(fd.as_raw_fd()), Some(Ok(3)));
        assert_eq!(device_of(-1), None);
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(device_of(null.as_raw_fd()), None);
        let mut file = std::fs::File::from(fd);
        assert_eq!(file.write(b"command").unwrap_err().raw_os_error(), Some(libc::EPERM));
        // Another process.
        // SAFETY: a new file.
        let mut file = unsafe {
            let fd = libc::memfd_create(c"other".as_ptr(), libc::MFD_CLOEXEC);
            std::fs::File::from_raw_fd(fd)
        };
        for word in [MAGIC, !host.epoch(), 3] {
            file.write_all(&word.to_ne_bytes()).unwrap();
        }
        assert_eq!(device_of(file.as_raw_fd()), Some(Err(Errno::EOPNOTSUPP)));
    }
}
