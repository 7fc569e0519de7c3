//! Files of sysfs about a port.

use core::ffi::{CStr, c_int};
use core::fmt::Write;

use crate::abi::*;
use crate::discovery::device_text;
use crate::sys::errno::{Errno, Result};

/// Reads the text of `ports/<port>/<kind>/<index>` below the device's directory into `buf`.
///
/// # Errors
///
/// EINVAL for a device that the kernel does not know; what open(2) and read(2) say; EFBIG for a
/// text that does not fit.
///
/// # Safety
///
/// `context` must be a context.
pub(super) unsafe fn port_text<'a>(
    context: *mut ibv_context,
    port: u8,
    kind: &str,
    index: c_int,
    buf: &'a mut [u8],
) -> Result<&'a [u8]> {
    let mut name = Name::new();
    write!(name, "ports/{port}/{kind}/{index}").map_err(|_| Errno::EINVAL)?;
    // SAFETY: the caller's promise; the record is there as long as the device.
    unsafe { device_text(record(context), name.as_c_str()?, buf) }
}

/// Whether `ports/<port>/<kind>` exists below the device's directory; errors as for
/// [`port_text`].
///
/// # Safety
///
/// As for [`port_text`].
pub(super) unsafe fn port_has(context: *mut ibv_context, port: u8, kind: &str) -> Result<bool> {
    // SAFETY: the caller's promise; the record is there as long as the device.
    let directory = unsafe {
        let record = record(context).as_ref().ok_or(Errno::EINVAL)?;
        CStr::from_ptr((&raw const record.ibdev_path).cast())
    };
    let mut name = Name::new();
    let directory = directory.to_str().map_err(|_| Errno::EINVAL)?;
    write!(name, "{directory}/ports/{port}/{kind}").map_err(|_| Errno::EINVAL)?;
    // SAFETY: the path is a C string.
    match unsafe { libc::access(name.as_c_str()?.as_ptr(), libc::F_OK) } {
        0 => Ok(true),
        _ => match Errno::last() {
            Errno::ENOENT => Ok(false),
            errno => Err(errno),
        },
    }
}

/// The record of the context's device; NULL for one that the kernel does not know.
unsafe fn record(context: *mut ibv_context) -> *const verbs_sysfs_dev {
    // SAFETY: the caller passes a context, whose device has the provider's part.
    unsafe { (*(*context).device.cast::<verbs_device>()).sysfs }
}

/// A file name of limited length, without allocation.
struct Name {
    bytes: [u8; 512],
    length: usize,
}

impl Name {
    const fn new() -> Name {
        Name { bytes: [0; 512], length: 0 }
    }

    fn as_c_str(&self) -> Result<&CStr> {
        CStr::from_bytes_until_nul(&self.bytes).map_err(|_| Errno(libc::ENAMETOOLONG))
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(core::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod testing {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::verbs::testing::Fake;

    /// Gives the device of a test a directory with these files.
    pub(in crate::verbs) struct DeviceFiles {
        directory: PathBuf,
        record: Box<verbs_sysfs_dev>,
        device: *mut verbs_device,
    }

    impl DeviceFiles {
        pub(in crate::verbs) fn new(fake: &Fake, files: &[(&str, &str)]) -> DeviceFiles {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let directory =
                std::env::temp_dir().join(format!("ibverbs-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            for (name, content) in files {
                let path = directory.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
            let mut record = Box::new(verbs_sysfs_dev::zeroed());
            let path = directory.to_str().unwrap().as_bytes();
            for (to, from) in record.ibdev_path.iter_mut().zip(path) {
                *to = from.cast_signed();
            }
            let device = fake.device();
            // SAFETY: a live device; the record is there until we take it away again.
            unsafe { (*device).sysfs = &raw mut *record };
            DeviceFiles { directory, record, device }
        }
    }

    impl Drop for DeviceFiles {
        fn drop(&mut self) {
            // SAFETY: the device of the test lives longer.
            unsafe {
                assert_eq!((*self.device).sysfs, &raw mut *self.record);
                (*self.device).sysfs = core::ptr::null_mut();
            }
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }

    #[test]
    fn directories_are_there_or_not() {
        let fake = Fake::new();
        let files = DeviceFiles::new(&fake, &[("ports/1/gid_attrs/types/0", "x")]);
        // SAFETY: a live context.
        unsafe {
            assert_eq!(port_has(fake.context(), 1, "gid_attrs"), Ok(true));
            assert_eq!(port_has(fake.context(), 2, "gid_attrs"), Ok(false));
            assert_eq!(
                port_has(fake.context(), 1, &"x".repeat(500)),
                Err(Errno::EINVAL),
                "no room for the name"
            );
            drop(files);
            assert_eq!(port_has(fake.context(), 1, "gid_attrs"), Err(Errno::EINVAL));
        }
    }
}
