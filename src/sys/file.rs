//! Reading the small text files of sysfs.

use core::ffi::CStr;

use crate::sys::errno::{Errno, Result, keep_errno};

/// The longest path that [`read_sysfs`] opens, with its final NUL.
const PATH_MAX: usize = libc::PATH_MAX as usize;

/// Reads the file `dir/file` with one read(2) and makes C text of it in `buf`: a newline at the end
/// becomes the final NUL, else a NUL is added. Returns the length of the text; an empty file leaves
/// `buf` as it is.
///
/// # Errors
///
/// What open(2) and read(2) say; ENAMETOOLONG for a path that no kernel would take; EFBIG when the
/// text and its NUL do not fit into `buf`.
pub(crate) fn read_sysfs(dir: &CStr, file: &CStr, buf: &mut [u8]) -> Result<usize> {
    let (dir, file) = (dir.to_bytes(), file.to_bytes());
    let length = dir.len() + 1 + file.len();
    let mut path = [0u8; PATH_MAX];
    if length >= path.len() {
        return Err(Errno(libc::ENAMETOOLONG));
    }
    path[..dir.len()].copy_from_slice(dir);
    path[dir.len()] = b'/';
    path[dir.len() + 1..length].copy_from_slice(file);
    read_text(CStr::from_bytes_until_nul(&path).map_err(|_| Errno::EINVAL)?, buf)
}

/// As [`read_sysfs`], of a whole path.
pub(crate) fn read_text(path: &CStr, buf: &mut [u8]) -> Result<usize> {
    // SAFETY: the path is a C string.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(Errno::last());
    }
    // SAFETY: the buffer is writable for its length.
    let got = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
    // SAFETY: the descriptor is ours alone.
    keep_errno(|| unsafe { libc::close(fd) });
    match usize::try_from(got) {
        Err(_) => Err(Errno::last()),
        Ok(got) => terminate(buf, got),
    }
}

/// Ends the `got` bytes that were read into `buf` with a NUL; see [`read_sysfs`].
fn terminate(buf: &mut [u8], got: usize) -> Result<usize> {
    match got.checked_sub(1) {
        None => Ok(0),
        Some(last) if buf[last] == b'\n' => {
            buf[last] = 0;
            Ok(last)
        }
        Some(_) if got < buf.len() => {
            buf[got] = 0;
            Ok(got)
        }
        Some(_) => Err(Errno(libc::EFBIG)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_in_one_nul() {
        for (content, size, result, text) in [
            ("0xffff\n", 8, Ok(6), "0xffff\0x"),
            ("a\n\n", 8, Ok(2), "a\n\0xxxxx"),
            ("abc", 4, Ok(3), "abc\0"),
            ("abc\n", 4, Ok(3), "abc\0"),
            ("abcd", 4, Err(Errno(libc::EFBIG)), "abcd"),
            ("", 4, Ok(0), "xxxx"),
            ("\n", 4, Ok(0), "\0xxx"),
            ("", 0, Ok(0), ""),
        ] {
            let mut buf = vec![b'x'; size];
            buf[..content.len()].copy_from_slice(content.as_bytes());
            assert_eq!(terminate(&mut buf, content.len()), result, "{content:?}");
            assert_eq!(buf, text.as_bytes(), "{content:?}");
        }
    }

    #[test]
    fn files_are_found_below_the_directory() {
        let mut buf = [0; 64];
        let length = read_sysfs(c"/proc/self", c"comm", &mut buf).expect("every process has one");
        assert!(length > 0 && buf[length] == 0 && !buf[..length].contains(&b'\n'));
        assert_eq!(read_sysfs(c"/proc/self", c"no-such-file", &mut buf), Err(Errno::ENOENT));
        assert_eq!(read_sysfs(c"/proc", c"self", &mut buf), Err(Errno(libc::EISDIR)));
        let long = std::ffi::CString::new("x".repeat(PATH_MAX)).expect("no NUL inside");
        assert_eq!(read_sysfs(c"/", &long, &mut buf), Err(Errno(libc::ENAMETOOLONG)));
    }
}
