//! Files of sysfs below a device's directory.

use core::ffi::CStr;
use core::fmt::{self, Write};

use crate::abi::*;
use crate::discovery::device_text;
use crate::sys::errno::{Errno, Result};

/// Reads the text of a file below the device's directory into `buf`.
///
/// # Errors
///
/// EINVAL for a device that the kernel does not know; what open(2) and read(2) say; EFBIG for a
/// text that does not fit.
///
/// # Safety
///
/// `context` must be a context.
pub(super) unsafe fn text<'a>(
    context: *mut ibv_context,
    file: fmt::Arguments<'_>,
    buf: &'a mut [u8],
) -> Result<&'a [u8]> {
    let name = Name::new(file)?;
    // SAFETY: the caller's promise; the record is there as long as the device.
    unsafe { device_text(record(context), name.as_c_str()?, buf) }
}

/// Whether a file exists below the device's directory; errors as for [`text`].
///
/// # Safety
///
/// As for [`text`].
pub(super) unsafe fn exists(context: *mut ibv_context, file: fmt::Arguments<'_>) -> Result<bool> {
    // SAFETY: the caller's promise; the record is there as long as the device.
    let directory = unsafe {
        let record = record(context).as_ref().ok_or(Errno::EINVAL)?;
        CStr::from_ptr((&raw const record.ibdev_path).cast())
    };
    let directory = directory.to_str().map_err(|_| Errno::EINVAL)?;
    let name = Name::new(format_args!("{directory}/{file}"))?;
    // SAFETY: the path is a C string.
    match unsafe { libc::access(name.as_c_str()?.as_ptr(), libc::F_OK) } {
        0 => Ok(true),
        _ => match Errno::last() {
            Errno::ENOENT => Ok(false),
            errno => Err(errno),
        },
    }
}

/// A number of hexadecimal digits alone.
pub(super) fn parse_hexadecimal(digits: &str) -> Option<u16> {
    // A sign would be taken too.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
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
    fn new(text: fmt::Arguments<'_>) -> Result<Name> {
        let mut name = Name { bytes: [0; 512], length: 0 };
        name.write_fmt(text).map_err(|_| Errno(libc::ENAMETOOLONG))?;
        Ok(name)
    }

    fn as_c_str(&self) -> Result<&CStr> {
        CStr::from_bytes_until_nul(&self.bytes).map_err(|_| Errno(libc::ENAMETOOLONG))
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod testing {
    use crate::sync::atomic::{AtomicU32, Ordering};
    use std::path::PathBuf;

    use super::*;
    use crate::verbs::testing::Fake;

    /// Gives the device of a test a directory with these files.
    pub(in crate::verbs) struct DeviceFiles {
        directory: PathBuf,
        record: Box<verbs_sysfs_dev>,
        device: *mut verbs_device,
    }

    impl DeviceFiles {
        pub(in crate::verbs) fn new(
            device: *mut verbs_device,
            files: &[(&str, &str)],
        ) -> DeviceFiles {
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
    fn files_are_there_or_not() {
        let fake = Fake::new();
        let files = DeviceFiles::new(fake.device(), &[("ports/1/gid_attrs/types/0", "x\n")]);
        let long = "x".repeat(600);
        let mut buf = [0; 8];
        // SAFETY: a live context.
        unsafe {
            let context = fake.context();
            let file = format_args!("ports/{}/gid_attrs/types/0", 1);
            assert_eq!(text(context, file, &mut buf), Ok(&b"x"[..]));
            assert_eq!(exists(context, file), Ok(true));
            assert_eq!(exists(context, format_args!("ports/1/gid_attrs")), Ok(true));
            let missing = format_args!("ports/2/gid_attrs");
            assert_eq!(text(context, missing, &mut buf), Err(Errno::ENOENT));
            assert_eq!(exists(context, missing), Ok(false));
            let long = format_args!("{long}");
            assert_eq!(text(context, long, &mut buf), Err(Errno(libc::ENAMETOOLONG)));
            assert_eq!(exists(context, long), Err(Errno(libc::ENAMETOOLONG)));
            drop(files);
            assert_eq!(text(context, file, &mut buf), Err(Errno::EINVAL));
            assert_eq!(exists(context, file), Err(Errno::EINVAL));
        }
    }
}
