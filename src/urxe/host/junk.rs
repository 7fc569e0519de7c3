//! A directory with files that the library did not make, for the fuzzer.

use core::ops::Deref;
use std::cell::RefCell;
use std::ffi::{CString, OsStr};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;

use super::Host;
use super::directory::Directory;
use crate::sys::errno::Result;
use crate::urxe::shared::MAGIC;

/// The directory; removed in the end.
pub(crate) struct Junk {
    path: PathBuf,
    /// Whose locks are held, as if by other processes.
    locked: RefCell<Vec<std::fs::File>>,
}

impl Junk {
    pub(crate) fn new() -> Junk {
        let path = PathBuf::from(format!("/dev/shm/urxe-junk-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a new directory");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("mode");
        Junk { path, locked: RefCell::default() }
    }

    fn at(&self, name: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(name))
    }

    /// A FIFO; nothing if the name is taken, here and below.
    pub(crate) fn fifo(&self, name: &[u8]) {
        let path = CString::new(self.at(name).into_os_string().into_encoded_bytes());
        // SAFETY: a path.
        unsafe { libc::mkfifo(path.expect("no zero in it").as_ptr(), 0o600) };
    }

    pub(crate) fn folder(&self, name: &[u8]) {
        let _ = std::fs::create_dir(self.at(name));
    }

    pub(crate) fn link(&self, name: &[u8], to: &[u8]) {
        let _ = std::os::unix::fs::symlink(OsStr::from_bytes(to), self.at(name));
    }

    /// A file with bytes, locked or not.
    pub(crate) fn file(&self, name: &[u8], bytes: &[u8], is_locked: bool) {
        let mut options = std::fs::OpenOptions::new();
        let Ok(file) = options.read(true).write(true).create_new(true).open(self.at(name)) else {
            return;
        };
        file.write_all_at(bytes, 0).expect("bytes are written");
        if is_locked {
            self.lock(file);
        }
    }

    /// A file that begins as one of a slot does.
    pub(crate) fn slot(&self, name: &[u8], size: u64, epoch: u64, is_locked: bool) {
        let mut options = std::fs::OpenOptions::new();
        let Ok(file) = options.read(true).write(true).create_new(true).open(self.at(name)) else {
            return;
        };
        file.write_all_at(&MAGIC.to_ne_bytes(), 0).expect("bytes are written");
        file.write_all_at(&epoch.to_ne_bytes(), 8).expect("bytes are written");
        let _ = file.set_len(size.min(1 << 40));
        if is_locked {
            self.lock(file);
        }
    }

    /// Takes the lock of a slot as another process would: it is the description's, not this
    /// process's.
    fn lock(&self, file: std::fs::File) {
        // SAFETY: plain data.
        let mut lock: libc::flock = unsafe { core::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as _;
        lock.l_len = 1;
        // SAFETY: a lock to take.
        let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
        assert_eq!(status, 0);
        self.locked.borrow_mut().push(file);
    }

    pub(crate) fn names(&self) -> Vec<std::ffi::OsString> {
        let entries = std::fs::read_dir(&self.path).expect("the directory is there");
        entries.flatten().map(|entry| entry.file_name()).collect()
    }

    /// A host in this directory.
    pub(crate) fn host(&self) -> Result<JunkHost> {
        let path = CString::new(self.path.as_os_str().as_bytes()).expect("no zero in it");
        // SAFETY: cannot fail.
        let directory = Directory::open_at(&path, unsafe { libc::geteuid() })?;
        Ok(JunkHost(Box::into_raw(Box::new(Host::new(directory)?))))
    }

    /// The end of a host, which nothing uses any more.
    pub(crate) fn end(&self, host: JunkHost) {
        // SAFETY: made as a box, and what borrowed of it is gone.
        drop(unsafe { Box::from_raw(host.0) });
    }
}

impl Drop for Junk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// A host that ends before the process does.
pub(crate) struct JunkHost(*mut Host);

impl JunkHost {
    /// As all other code has it; nothing may keep it.
    pub(crate) fn get(&self) -> &'static Host {
        // SAFETY: it lives until `end`.
        unsafe { &*self.0 }
    }
}

impl Deref for JunkHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.get()
    }
}
