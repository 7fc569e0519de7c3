//! Opening the device file of a device.

use core::ffi::CStr;
use core::time::Duration;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

use crate::abi::VERBS_LOG_INFO;
use crate::discovery::record::path;
use crate::log::log;
use crate::sys::errno::{Errno, Result, keep_errno};
use crate::sys::fd::wait_readable;

/// How long udev is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where device files are.
pub(crate) struct Files<'a> {
    /// The directory of RDMA device files.
    pub(crate) directory: &'a CStr,
    /// The directory of links by device number, which udev maintains.
    pub(crate) by_number: &'a CStr,
}

/// Those of this machine.
pub(crate) const SYSTEM: Files<'static> =
    Files { directory: c"/dev/infiniband", by_number: c"/dev/char" };

/// Opens a device file for reading and writing: by its name, else by its number, for which udev is
/// given some seconds if it has not come to it yet. `number` 0 stands for any.
///
/// # Errors
///
/// What open(2) said of the file by name; ENODEV if that is not the device.
pub(crate) fn open(files: &Files<'_>, name: &CStr, number: libc::dev_t) -> Result<OwnedFd> {
    let by_name = path(&[files.directory.to_bytes(), b"/", name.to_bytes()])?;
    let first = match open_device(&by_name, number) {
        Err(errno) if number != 0 => errno,
        result => return result,
    };
    let (major, minor) = (libc::major(number), libc::minor(number));
    let link = format!("/{major}:{minor}");
    let link = path(&[files.by_number.to_bytes(), link.as_bytes()])?;
    match open_device(&link, number) {
        Err(errno) if may_come(errno) => {}
        result => return result.map_err(|_| first),
    }
    log!(
        VERBS_LOG_INFO,
        "{} cannot be opened (error {}), waiting for {}",
        by_name.to_string_lossy(),
        first.0,
        link.to_string_lossy(),
    );
    wait_for(files.by_number, &link, number).map_err(|_| first)
}

/// Whether a device file that cannot be opened for this reason may appear later. No waiting helps
/// against missing rights or memory.
fn may_come(errno: Errno) -> bool {
    matches!(errno.0, libc::ENOENT | libc::ENXIO | libc::ENODEV | libc::ENOTDIR)
}

/// Opens a device file, if it is the character device with this number (0: with any).
fn open_device(path: &CStr, number: libc::dev_t) -> Result<OwnedFd> {
    // SAFETY: the path is a C string.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(Errno::last());
    }
    // SAFETY: the descriptor is new and ours.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    match device_number(fd.as_raw_fd()) {
        Ok(found) if number == 0 || found == number => Ok(fd),
        Ok(_) | Err(Errno::EINVAL) => keep_errno(|| Err(Errno::ENODEV)),
        Err(errno) => Err(errno),
    }
}

/// The number of the character device behind a descriptor; EINVAL if it is something else.
pub(crate) fn device_number(fd: RawFd) -> Result<libc::dev_t> {
    // SAFETY: zero bytes are a valid value.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: there is room for the result.
    if unsafe { libc::fstat(fd, &raw mut stat) } < 0 {
        return Err(Errno::last());
    }
    if stat.st_mode & libc::S_IFMT != libc::S_IFCHR {
        return Err(Errno::EINVAL);
    }
    Ok(stat.st_rdev)
}

/// Opens a device file each time that something appears in its directory, until it is the right one
/// or the patience is at its end.
fn wait_for(directory: &CStr, link: &CStr, number: libc::dev_t) -> Result<OwnedFd> {
    let end = Instant::now() + PATIENCE;
    // SAFETY: no pointers are passed.
    let inotify = unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) };
    if inotify < 0 {
        return Err(Errno::last());
    }
    // SAFETY: the descriptor is new and ours.
    let inotify = unsafe { OwnedFd::from_raw_fd(inotify) };
    let events = libc::IN_CREATE | libc::IN_MOVED_TO | libc::IN_ATTRIB;
    // SAFETY: the path is a C string.
    if unsafe { libc::inotify_add_watch(inotify.as_raw_fd(), directory.as_ptr(), events) } < 0 {
        return Err(Errno::last());
    }
    loop {
        match open_device(link, number) {
            Err(errno) if may_come(errno) => {}
            result => return result,
        }
        wait_readable(inotify.as_raw_fd(), end.saturating_duration_since(Instant::now()))?;
        let mut events = [0u8; 4096];
        // What has happened does not matter; the descriptor does not block.
        // SAFETY: the buffer is valid for its length.
        while unsafe { libc::read(inotify.as_raw_fd(), events.as_mut_ptr().cast(), events.len()) }
            > 0
        {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::Folder;

    /// The null device stands for a device that can be opened.
    fn null() -> libc::dev_t {
        libc::makedev(1, 3)
    }

    fn open_in(folder: &Folder, name: &CStr, number: libc::dev_t) -> Result<libc::dev_t> {
        let (directory, by_number) = (folder.c_path("infiniband"), folder.c_path("char"));
        let files = Files { directory: &directory, by_number: &by_number };
        open(&files, name, number).and_then(|fd| device_number(fd.as_raw_fd()))
    }

    fn link(folder: &Folder, target: &str, link: &str) {
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
    }

    #[test]
    fn the_file_must_be_the_device() {
        let folder = Folder::new("files");
        folder.write("infiniband/text", b"");
        link(&folder, "/dev/null", "infiniband/uverbs0");
        assert_eq!(open_in(&folder, c"uverbs0", null()), Ok(null()));
        assert_eq!(open_in(&folder, c"uverbs0", 0), Ok(null()));
        assert_eq!(open_in(&folder, c"text", 0), Err(Errno::ENODEV));
        assert_eq!(open_in(&folder, c"missing", 0), Err(Errno::ENOENT));
        // There is no directory of links, so nothing is waited for.
        let begin = Instant::now();
        assert_eq!(open_in(&folder, c"uverbs0", libc::makedev(1, 5)), Err(Errno::ENODEV));
        assert_eq!(open_in(&folder, c"missing", null()), Err(Errno::ENOENT));
        assert!(begin.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn the_link_by_number_is_the_second_try() {
        let folder = Folder::new("links");
        folder.write("char/x", b"");
        link(&folder, "/dev/null", "char/1:3");
        link(&folder, "/dev/zero", "char/1:7");
        std::fs::create_dir(folder.path().join("infiniband")).unwrap();
        link(&folder, "/dev/zero", "infiniband/uverbs0");
        assert_eq!(open_in(&folder, c"missing", null()), Ok(null()));
        assert_eq!(open_in(&folder, c"uverbs0", null()), Ok(null()));
    }

    #[test]
    fn a_link_that_appears_is_found() {
        let folder = Folder::new("late");
        folder.write("char/x", b"");
        let late = folder.path().join("char/1:3");
        let udev = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            std::os::unix::fs::symlink("/dev/null", late).unwrap();
        });
        let begin = Instant::now();
        assert_eq!(open_in(&folder, c"uverbs0", null()), Ok(null()));
        assert!(begin.elapsed() < PATIENCE);
        udev.join().unwrap();
    }
}
