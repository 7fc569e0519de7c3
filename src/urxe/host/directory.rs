//! The directory in which the processes of a user meet.

use core::ffi::CStr;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::abi::*;
use crate::log::log;
use crate::sys::env;
use crate::sys::errno::{Errno, Result, from_minus_one};

/// The directory, open. Nobody but its user can do so: it is theirs, with mode 0700.
pub(crate) struct Directory {
    fd: OwnedFd,
}

impl Directory {
    /// Opens the directory that `URXE_DIR` names, else `/dev/shm/libibverbs-rs-UID`; makes it if it
    /// is not there.
    ///
    /// # Errors
    ///
    /// What mkdir(2) and open(2) say; EPERM if it is another user's or others may enter it.
    pub(super) fn open() -> Result<Directory> {
        // SAFETY: cannot fail.
        let user = unsafe { libc::geteuid() };
        let path = match env::get(c"URXE_DIR").filter(|path| !path.is_empty()) {
            Some(path) => path,
            None => {
                let tests = if cfg!(any(test, fuzzing)) { "tests-" } else { "" };
                CString::new(format!("/dev/shm/libibverbs-rs-{tests}{user}"))
                    .map_err(|_| Errno::EINVAL)?
            }
        };
        Self::open_at(&path, user).inspect_err(|errno| {
            log!(
                VERBS_LOG_ERR,
                "urxe: cannot use the directory {}: {}; URXE_DIR names another one",
                path.to_string_lossy(),
                std::io::Error::from_raw_os_error(errno.0),
            );
        })
    }

    /// [`open`](Self::open), of a path, for a user.
    pub(super) fn open_at(path: &CStr, user: u32) -> Result<Directory> {
        // SAFETY: a path. That it exists already is the usual case; the rest open(2) will find.
        unsafe { libc::mkdir(path.as_ptr(), 0o700) };
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: a path.
        let fd = from_minus_one(unsafe { libc::open(path.as_ptr(), flags) })?;
        // SAFETY: the descriptor is new.
        let directory = Directory { fd: unsafe { OwnedFd::from_raw_fd(fd) } };
        let status = status_of(&directory.fd)?;
        if status.st_uid != user || status.st_mode & 0o077 != 0 {
            log!(
                VERBS_LOG_ERR,
                "urxe: {} has owner {} and mode {:03o}; user {user} needs it alone (mode 700)",
                path.to_string_lossy(),
                status.st_uid,
                status.st_mode & 0o777,
            );
            return Err(Errno::EPERM);
        }
        Ok(directory)
    }

    /// Opens a file in the directory, never a link; close-on-exec. With O_CREAT its mode is 0600.
    pub(super) fn open_file(&self, name: &CStr, flags: i32) -> Result<OwnedFd> {
        let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NOCTTY;
        // SAFETY: a name and flags.
        let fd = from_minus_one(unsafe {
            libc::openat(self.fd.as_raw_fd(), name.as_ptr(), flags, 0o600)
        })?;
        // SAFETY: the descriptor is new.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Makes a FIFO, mode 0600.
    pub(super) fn make_fifo(&self, name: &CStr) -> Result<()> {
        // SAFETY: a name.
        from_minus_one(unsafe { libc::mkfifoat(self.fd.as_raw_fd(), name.as_ptr(), 0o600) })
            .map(drop)
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &CStr) -> Result<()> {
        // SAFETY: a name.
        from_minus_one(unsafe { libc::unlinkat(self.fd.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
    }

    /// Whether a name is that of an open file.
    pub(super) fn names(&self, name: &CStr, file: &OwnedFd) -> bool {
        let Ok(open) = status_of(file) else { return false };
        // SAFETY: plain data.
        let mut status: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: a name, and room for the answer.
        let found = unsafe {
            libc::fstatat(
                self.fd.as_raw_fd(),
                name.as_ptr(),
                &raw mut status,
                libc::AT_SYMLINK_NOFOLLOW,
            )
        };
        found == 0 && (status.st_dev, status.st_ino) == (open.st_dev, open.st_ino)
    }

    /// Removes the files of a slot that has no owner any more: events and shared memory. Only who
    /// has the lock of the slot may do so.
    pub(super) fn remove_files_of(&self, slot: u32) {
        for name in self.list() {
            let bytes = name.to_bytes();
            let of_slot = [EVENT, SHARE]
                .iter()
                .any(|kind| bytes.starts_with(format!("{kind}-{slot:04}-").as_bytes()));
            if of_slot {
                // What cannot be removed stays; nothing looks at it.
                let _ = self.remove(&name);
            }
        }
    }

    /// Numbers of the slots that have a file.
    pub(super) fn slots(&self) -> Vec<u32> {
        self.list()
            .iter()
            .filter_map(|name| name.to_str().ok()?.strip_prefix("slot-")?.parse().ok())
            .collect()
    }

    /// Names of all files.
    fn list(&self) -> Vec<CString> {
        let path = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
        entries
            .flatten()
            .filter_map(|entry| {
                CString::new(std::os::unix::ffi::OsStringExt::into_vec(entry.file_name())).ok()
            })
            .collect()
    }
}

/// First part of the names of slot files.
const SLOT: &str = "slot";
/// First part of the names of event files.
pub(super) const EVENT: &str = "event";
/// First part of the names of shared files.
pub(super) const SHARE: &str = "share";

/// The name of a slot file.
pub(super) fn slot_name(slot: u32) -> Result<CString> {
    CString::new(format!("{SLOT}-{slot:04}")).map_err(|_| Errno::EINVAL)
}

/// The name of another file of a slot.
pub(super) fn file_name(kind: &str, slot: u32, number: u32) -> Result<CString> {
    CString::new(format!("{kind}-{slot:04}-{number}")).map_err(|_| Errno::EINVAL)
}

/// fstat(2).
pub(super) fn status_of(file: &OwnedFd) -> Result<libc::stat> {
    // SAFETY: plain data.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: room for the answer.
    from_minus_one(unsafe { libc::fstat(file.as_raw_fd(), &raw mut status) })?;
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scratch;
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn me() -> u32 {
        // SAFETY: cannot fail.
        unsafe { libc::geteuid() }
    }

    fn c(path: &std::path::Path) -> CString {
        CString::new(path.to_str().unwrap()).unwrap()
    }

    #[test]
    fn only_a_directory_of_ones_own() {
        let scratch = Scratch::new();
        let new = scratch.path().join("new");
        assert!(Directory::open_at(&c(&new), me()).is_ok());
        assert_eq!(std::fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(Directory::open_at(&c(&new), me()).is_ok(), "and again");
        assert_eq!(Directory::open_at(&c(&new), me() + 1).err(), Some(Errno::EPERM));

        for mode in [0o701, 0o710, 0o777] {
            std::fs::set_permissions(&new, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(Directory::open_at(&c(&new), me()).err(), Some(Errno::EPERM), "{mode:o}");
        }

        let target = scratch.path().join("target");
        std::fs::create_dir(&target).unwrap();
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o700)).unwrap();
        let link = scratch.path().join("link");
        symlink(&target, &link).unwrap();
        assert_eq!(Directory::open_at(&c(&link), me()).err(), Some(Errno(libc::ENOTDIR)));

        let file = scratch.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(Directory::open_at(&c(&file), me()).err(), Some(Errno(libc::ENOTDIR)));
        let nowhere = scratch.path().join("no/where");
        assert_eq!(Directory::open_at(&c(&nowhere), me()).err(), Some(Errno::ENOENT));
    }

    #[test]
    fn stale_files_of_a_slot_go_and_others_stay() {
        let scratch = Scratch::new();
        let directory = scratch.directory();
        let names = ["event-0007-1", "share-0007-22", "event-0070-1", "slot-0007", "event-0007"];
        for name in names {
            std::fs::write(scratch.path().join(name), "").unwrap();
        }
        directory.remove_files_of(7);
        let left: Vec<_> = names.iter().filter(|name| scratch.path().join(name).exists()).collect();
        assert_eq!(left, [&"event-0070-1", &"slot-0007", &"event-0007"]);
    }

    #[test]
    fn links_are_not_followed() {
        let scratch = Scratch::new();
        let directory = scratch.directory();
        std::fs::write(scratch.path().join("file"), "x").unwrap();
        symlink("file", scratch.path().join("link")).unwrap();
        let open = directory.open_file(c"file", libc::O_RDWR).unwrap();
        assert!(directory.names(c"file", &open) && !directory.names(c"link", &open));
        let linked = directory.open_file(c"link", libc::O_RDWR);
        assert_eq!(linked.err(), Some(Errno(libc::ELOOP)));
        directory.remove(c"file").unwrap();
        assert!(!directory.names(c"file", &open));
        assert_eq!(directory.remove(c"file"), Err(Errno::ENOENT));
    }
}
