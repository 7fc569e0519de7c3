//! Whether memory is there, and may be written: what a kernel finds out when it pins pages.

use core::ffi::c_int;
use std::sync::OnceLock;

use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::sys::page;
use crate::urxe::explain;

/// Makes sure that all pages of a range are there to be read, or to be written too.
///
/// # Errors
///
/// EFAULT if some are not; ENOMEM.
pub(super) fn populate(address: usize, length: usize, writable: bool) -> Result<()> {
    let page = page::size();
    let start = address & !(page - 1);
    let end = address.checked_add(length).and_then(|end| end.checked_next_multiple_of(page));
    let end = end.ok_or(Errno::EFAULT)?;
    let advice = if writable { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
    let result = if is_supported() {
        advise(start, end - start, advice)
    } else {
        look_into_maps(start, end, writable)
    };
    result.inspect_err(|errno| {
        let what = if writable { "written" } else { "read" };
        let reason = std::io::Error::from_raw_os_error(errno.0);
        explain!("registration: {length} bytes at {address:#x} cannot be {what}: {reason}");
    })
}

/// Faults pages in, `MADV_POPULATE_READ` or `MADV_POPULATE_WRITE`.
fn advise(start: usize, length: usize, advice: c_int) -> Result<()> {
    loop {
        let address = core::ptr::without_provenance_mut(start);
        // SAFETY: the contents of memory stay as they are, and so does what is mapped.
        match from_minus_one(unsafe { libc::madvise(address, length, advice) }) {
            Ok(_) => return Ok(()),
            Err(Errno(libc::EINTR | libc::EAGAIN)) => {}
            // ENOMEM stands for addresses without memory as well as for no memory, EINVAL for a
            // protection that does not allow it, EHWPOISON for a broken page.
            Err(_) => return Err(Errno::EFAULT),
        }
    }
}

/// Whether the kernel has the advice: since Linux 5.14.
fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        // SAFETY: an empty range: only the advice is looked at.
        unsafe { libc::madvise(core::ptr::null_mut(), 0, libc::MADV_POPULATE_READ) == 0 }
    })
}

/// Looks for a range in the process's list of mappings. If there is no list, nothing is known, and
/// the memory is taken for good.
fn look_into_maps(start: usize, end: usize, writable: bool) -> Result<()> {
    match std::fs::read_to_string("/proc/self/maps") {
        Ok(maps) if !covers(&maps, start, end, writable) => Err(Errno::EFAULT),
        _ => Ok(()),
    }
}

/// Whether lines of `/proc/self/maps` cover a range with the rights that are needed.
fn covers(maps: &str, mut start: usize, end: usize, writable: bool) -> bool {
    for line in maps.lines() {
        if start >= end {
            break;
        }
        let mut words = line.split_ascii_whitespace();
        let range = words.next().and_then(|range| range.split_once('-'));
        let (Some((from, to)), Some(rights)) = (range, words.next()) else { continue };
        let parse = |address| usize::from_str_radix(address, 16);
        let (Ok(from), Ok(to)) = (parse(from), parse(to)) else { continue };
        if (from..to).contains(&start) {
            if !rights.starts_with(if writable { "rw" } else { "r" }) {
                return false;
            }
            start = to;
        }
    }
    start >= end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mapping of pages.
    struct Pages(usize, usize);

    impl Pages {
        fn new(pages: usize, protection: c_int) -> Pages {
            Pages::at(0, pages, protection)
        }

        /// At an address, or with 0 at a place that the kernel chooses.
        fn at(address: usize, pages: usize, protection: c_int) -> Pages {
            let length = pages * page::size();
            let fixed = if address == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
            let address = core::ptr::without_provenance_mut(address);
            // SAFETY: a new mapping, which replaces no other.
            let address = unsafe { libc::mmap(address, length, protection, flags, -1, 0) };
            assert_ne!(address, libc::MAP_FAILED);
            Pages(address.expose_provenance(), length)
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the mapping is the test's own.
            unsafe { libc::munmap(core::ptr::with_exposed_provenance_mut(self.0), self.1) };
        }
    }

    /// The two ways of finding out.
    fn both(address: usize, length: usize, writable: bool) -> Result<()> {
        let result = populate(address, length, writable);
        let page = page::size();
        let (start, end) = (address & !(page - 1), (address + length).next_multiple_of(page));
        assert_eq!(look_into_maps(start, end, writable), result);
        result
    }

    #[test]
    fn memory_that_is_there_is_good() {
        let pages = Pages::new(3, libc::PROT_READ | libc::PROT_WRITE);
        assert_eq!(both(pages.0, pages.1, true), Ok(()));
        assert_eq!(both(pages.0 + 1, pages.1 - 2, false), Ok(()));
        let local = 5_u64;
        assert_eq!(both((&raw const local).addr(), 8, true), Ok(()));
    }

    #[test]
    fn memory_that_is_not_there_is_a_fault() {
        // Far from where the kernel puts the mappings of other threads, which could fill the hole.
        let pages = Pages::at(0x2000_0000_0000, 3, libc::PROT_READ | libc::PROT_WRITE);
        let page = page::size();
        // SAFETY: a page of the test's own mapping.
        unsafe { libc::munmap(core::ptr::with_exposed_provenance_mut(pages.0 + page), page) };
        assert_eq!(both(pages.0, page, true), Ok(()));
        assert_eq!(both(pages.0, page + 1, true), Err(Errno::EFAULT));
        assert_eq!(both(pages.0 + page - 1, 2, false), Err(Errno::EFAULT));
        assert_eq!(both(pages.0 + page, page, false), Err(Errno::EFAULT));
        assert_eq!(both(0, 1, false), Err(Errno::EFAULT));
        assert_eq!(populate(usize::MAX - 10, 20, false), Err(Errno::EFAULT));
    }

    #[test]
    fn memory_that_cannot_be_written_is_good_to_read() {
        let pages = Pages::new(1, libc::PROT_READ);
        assert_eq!(both(pages.0, 10, false), Ok(()));
        assert_eq!(both(pages.0, 10, true), Err(Errno::EFAULT));
        let pages = Pages::new(1, libc::PROT_NONE);
        assert_eq!(both(pages.0, 10, false), Err(Errno::EFAULT));
    }

    #[test]
    fn what_lies_behind_a_file_is_a_fault() {
        // SAFETY: a memory file of no length, mapped and closed.
        let address = unsafe {
            let fd = libc::memfd_create(c"empty".as_ptr(), libc::MFD_CLOEXEC);
            let address = libc::mmap(
                core::ptr::null_mut(),
                page::size(),
                libc::PROT_READ,
                libc::MAP_SHARED,
                fd,
                0,
            );
            libc::close(fd);
            address
        };
        let pages = Pages(address.expose_provenance(), page::size());
        if is_supported() {
            assert_eq!(populate(pages.0, 1, false), Err(Errno::EFAULT));
        }
    }

    #[test]
    fn ranges_may_span_mappings() {
        let maps = "1000-3000 r--p 00000000 00:00 0\n3000-4000 rw-p 00000000 00:00 0 [heap]\n\
                    5000-6000 rw-p 00000000 00:00 0\n";
        assert!(covers(maps, 0x1000, 0x4000, false) && covers(maps, 0x3000, 0x4000, true));
        assert!(!covers(maps, 0x1000, 0x4000, true) && !covers(maps, 0x3000, 0x6000, false));
        assert!(!covers(maps, 0, 0x2000, false) && !covers("", 0x1000, 0x2000, false));
        assert!(!covers("nonsense\n", 1, 2, false));
    }
}
