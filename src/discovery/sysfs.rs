//! Where sysfs is, and its files about devices.

use core::ffi::{CStr, c_char, c_int};
use std::ffi::CString;
use std::sync::OnceLock;

use crate::abi::export::{export, export_private};
use crate::abi::*;
use crate::sys::env;
use crate::sys::errno::{Errno, Result, ReturnMinusOne};
use crate::sys::file::read_sysfs;
use crate::sys::variadic::{self, VaList, variadic};

/// The longest file name below a device's directory that plugins may ask for, in bytes with the
/// final NUL; also the longest value of `SYSFS_PATH` that counts.
const NAME_MAX: usize = IBV_SYSFS_PATH_MAX as usize;

/// The directory on which sysfs is mounted: `/sys`, or `SYSFS_PATH` unless the program is setuid.
/// Never ends in a slash.
pub(crate) fn path() -> &'static CStr {
    static PATH: OnceLock<CString> = OnceLock::new();
    PATH.get_or_init(|| match env::get(c"SYSFS_PATH") {
        Some(path) => from_variable(path.to_bytes()),
        None => c"/sys".to_owned(),
    })
}

/// The path that the variable gives: cut to the library's longest one, without slashes at the end.
fn from_variable(value: &[u8]) -> CString {
    let mut path = value.get(..NAME_MAX).unwrap_or(value);
    while let Some((b'/', rest)) = path.split_last() {
        path = rest;
    }
    CString::new(path).unwrap_or_default()
}

/// Reads the file `name` below a device's directory `/sys/class/infiniband/NAME` into `buf`, as
/// [`read_sysfs`] does.
///
/// # Errors
///
/// EINVAL for NULL, which is a device that the kernel does not know; else those of [`read_sysfs`].
///
/// # Safety
///
/// `record` must be NULL or a live record.
pub(crate) unsafe fn read_device_file(
    record: *const verbs_sysfs_dev,
    name: &CStr,
    buf: &mut [u8],
) -> Result<usize> {
    if record.is_null() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise; the path is a C string in its array.
    let directory = unsafe { CStr::from_ptr((&raw const (*record).ibdev_path).cast()) };
    read_sysfs(directory, name, buf)
}

/// As [`read_device_file`], giving the text that was read.
///
/// # Safety
///
/// As there.
pub(crate) unsafe fn device_text<'a>(
    record: *const verbs_sysfs_dev,
    name: &CStr,
    buf: &'a mut [u8],
) -> Result<&'a [u8]> {
    // SAFETY: the caller's promise.
    let length = unsafe { read_device_file(record, name, buf) }?;
    Ok(buf.get(..length).unwrap_or_default())
}

/// The directory on which sysfs is mounted. `driver.h`
extern "C" fn ibv_get_sysfs_path() -> *const c_char {
    path().as_ptr()
}
export!(ibv_get_sysfs_path @@ "IBVERBS_1.0");

/// Reads the text file `dir/file` into `buf` of `size` bytes; a newline at its end becomes the NUL.
/// Returns its length, or -1 with `errno`. `driver.h`
unsafe extern "C" fn ibv_read_sysfs_file(
    dir: *const c_char,
    file: *const c_char,
    buf: *mut c_char,
    size: usize,
) -> c_int {
    if dir.is_null() || file.is_null() || (buf.is_null() && size != 0) {
        return Err::<c_int, _>(Errno::EINVAL).or_minus_one();
    }
    // SAFETY: the caller passes two C strings and a buffer of that size.
    let (dir, file, buf) =
        unsafe { (CStr::from_ptr(dir), CStr::from_ptr(file), buffer(buf, size)) };
    read_sysfs(dir, file, buf).map(length).or_minus_one()
}
export!(ibv_read_sysfs_file @@ "IBVERBS_1.0");

variadic! {
    /// `ibv_read_ibdev_sysfs_file(buf, size, record, format, ...)`: reads the text file with the
    /// formatted name below the directory of the record's device, as [`ibv_read_sysfs_file`] does.
    /// EINVAL for a record that is NULL or a name that is too long. `driver.h`
    fn ibv_read_ibdev_sysfs_file(4) => read_formatted
}
export_private!(ibv_read_ibdev_sysfs_file);

unsafe extern "C" fn read_formatted(
    buf: *mut c_char,
    size: usize,
    record: *const verbs_sysfs_dev,
    format: *const c_char,
    args: VaList,
) -> c_int {
    if record.is_null() || format.is_null() || (buf.is_null() && size != 0) {
        return Err::<c_int, _>(Errno::EINVAL).or_minus_one();
    }
    let mut name = [0; NAME_MAX];
    // SAFETY: the provider passes a format and the arguments it wants.
    let formatted = unsafe { variadic::format(&mut name, CStr::from_ptr(format), args) };
    let name = match (formatted, CStr::from_bytes_until_nul(&name)) {
        (Some(length), Ok(text)) if length < NAME_MAX => text,
        _ => return Err::<c_int, _>(Errno::EINVAL).or_minus_one(),
    };
    // SAFETY: the provider passes a live record and a buffer of that size.
    unsafe { read_device_file(record, name, buffer(buf, size)) }.map(length).or_minus_one()
}

/// The length of a text as C returns it; buffers are far smaller than its range.
fn length(length: usize) -> c_int {
    c_int::try_from(length).unwrap_or(c_int::MAX)
}

/// # Safety
///
/// `buf` must be valid for writes of `size` bytes, or `size` be 0.
unsafe fn buffer<'a>(buf: *mut c_char, size: usize) -> &'a mut [u8] {
    if size == 0 {
        return &mut [];
    }
    // SAFETY: the caller's promise. The kernel writes it before anything is read; no object is
    // larger than isize::MAX, whatever size C says.
    unsafe { core::slice::from_raw_parts_mut(buf.cast(), size.min(isize::MAX as usize)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_cut_and_stripped() {
        assert_eq!(from_variable(b"/a/b").as_bytes(), b"/a/b");
        assert_eq!(from_variable(b"/a/b///").as_bytes(), b"/a/b");
        assert_eq!(from_variable(b"/").as_bytes(), b"");
        assert_eq!(from_variable(b"").as_bytes(), b"");
        assert_eq!(from_variable(&[b'x'; 300]).as_bytes(), [b'x'; 256]);
        let mut long = vec![b'x'; 300];
        long[255] = b'/';
        assert_eq!(from_variable(&long).as_bytes(), [b'x'; 255]);
    }

    #[test]
    fn files_are_read_as_c_text() {
        let mut buf = [0x55 as c_char; 64];
        // SAFETY: C strings and a buffer of its size.
        let read = |dir: &CStr, file: &CStr, buf: &mut [c_char]| unsafe {
            ibv_read_sysfs_file(dir.as_ptr(), file.as_ptr(), buf.as_mut_ptr(), buf.len())
        };
        let length = read(c"/proc/self", c"comm", &mut buf);
        assert!(length > 0);
        assert_eq!(buf[length as usize], 0);
        assert_eq!(read(c"/proc/self", c"none", &mut buf), -1);
        assert_eq!(Errno::last(), Errno::ENOENT);
        assert_eq!(read(c"/proc/self", c"comm", &mut buf[..2]), -1);
        assert_eq!(Errno::last(), Errno(libc::EFBIG));
        // SAFETY: NULL and 0 are allowed together.
        let status = unsafe {
            ibv_read_sysfs_file(c"/proc/self".as_ptr(), core::ptr::null(), core::ptr::null_mut(), 0)
        };
        assert_eq!(status, -1);
        assert_eq!(Errno::last(), Errno::EINVAL);
    }

    #[test]
    fn names_below_a_device_are_formatted() {
        type Variadic = unsafe extern "C" fn(
            *mut c_char,
            usize,
            *const verbs_sysfs_dev,
            *const c_char,
            ...
        ) -> c_int;
        // SAFETY: this is the type that C code sees.
        let read: Variadic =
            unsafe { core::mem::transmute(ibv_read_ibdev_sysfs_file as unsafe extern "C" fn()) };
        let mut record = verbs_sysfs_dev::zeroed();
        for (to, from) in record.ibdev_path.iter_mut().zip(b"/proc") {
            *to = *from as c_char;
        }
        let mut buf = [0; 64];
        let pid = std::process::id() as c_int;
        let format = c"%s/%d/%s/%s/%d/comm".as_ptr();
        // SAFETY: the arguments are what the format wants.
        let length = unsafe {
            read(
                buf.as_mut_ptr(),
                buf.len(),
                &record,
                format,
                c".".as_ptr(),
                pid,
                c".".as_ptr(),
                c"task".as_ptr(),
                pid,
            )
        };
        assert!(length > 0 && buf[length as usize] == 0, "{}", std::io::Error::last_os_error());
        // SAFETY: NULL for the record is allowed.
        let status = unsafe { read(buf.as_mut_ptr(), 64, core::ptr::null(), c"x".as_ptr()) };
        assert_eq!((status, Errno::last()), (-1, Errno::EINVAL));
        // SAFETY: the argument is what the format wants.
        let status = unsafe { read(buf.as_mut_ptr(), 64, &record, c"%0300d".as_ptr(), 1 as c_int) };
        assert_eq!((status, Errno::last()), (-1, Errno::EINVAL));
    }
}
