//! Page sizes of mappings, from `/proc/self/smaps`.

use std::fs::File;
use std::io::{ErrorKind, Read};

/// The size in bytes of the pages behind an address, or nothing when the kernel does not say.
pub(super) fn page_size_at(address: usize) -> Option<usize> {
    page_size_in(File::open("/proc/self/smaps").ok()?, address)
}

/// As [`page_size_at`], from the text of `smaps`: the line `KernelPageSize:` after the header line
/// of the mapping that the address is in. `proc_pid_smaps(5)`
pub(super) fn page_size_in(mut smaps: impl Read, address: usize) -> Option<usize> {
    let mut buffer = [0; 4096];
    let mut filled = 0;
    // In the mapping that is looked for.
    let mut inside = false;
    // In a line that is longer than the buffer; its head has been looked at.
    let mut in_long_line = false;
    loop {
        let got = match smaps.read(buffer.get_mut(filled..)?) {
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        filled += got;
        let mut rest = buffer.get(..filled)?;
        loop {
            let (line, behind) = match rest.iter().position(|&byte| byte == b'\n') {
                Some(end) => (rest.get(..end)?, rest.get(end + 1..)?),
                None if rest.len() == buffer.len() => (rest, &[][..]),
                None => break,
            };
            let ends_here = line.len() < rest.len();
            if core::mem::replace(&mut in_long_line, !ends_here) {
                // The tail of a long line.
            } else if let Some((start, end)) = header(line) {
                inside = (start..end).contains(&address);
            } else if let (true, Some(size)) = (inside, kernel_page_size(line)) {
                return Some(size);
            }
            rest = behind;
        }
        if got == 0 {
            return None;
        }
        let kept = rest.len();
        buffer.copy_within(filled - kept..filled, 0);
        filled = kept;
    }
}

/// The addresses in the header line of a mapping: `start-end permissions ...`, in hexadecimal.
fn header(line: &[u8]) -> Option<(usize, usize)> {
    let addresses = core::str::from_utf8(line.split(|&byte| byte == b' ').next()?).ok()?;
    let (start, end) = addresses.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// The number of bytes in a line `KernelPageSize:    4 kB`.
fn kernel_page_size(line: &[u8]) -> Option<usize> {
    let text = core::str::from_utf8(line.strip_prefix(b"KernelPageSize:")?).ok()?;
    let kilobytes: usize = text.trim_start().split(' ').next()?.parse().ok()?;
    kilobytes.checked_mul(1024).filter(|size| size.is_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::{ROUNDS, Random};

    const TEXT: &[u8] = b"\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon
Size:                328 kB
KernelPageSize:        4 kB
MMUPageSize:           4 kB
VmFlags: rd ex mr mw me
7f0000000000-7f0000400000 rw-s 00000000 00:0f 1   /mnt/huge/with spaces (deleted)
Size:               4096 kB
KernelPageSize:     2048 kB
MMUPageSize:        2048 kB
7f0000400000-7f0000401000 rw-p 00000000 00:00 0
Size:                  4 kB
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
KernelPageSize:        4 kB";

    #[test]
    fn the_size_is_that_of_the_mapping() {
        let at = |address| page_size_in(TEXT, address);
        assert_eq!(at(0x40_0000), Some(4096));
        assert_eq!(at(0x45_1fff), Some(4096));
        assert_eq!(at(0x45_2000), None);
        assert_eq!(at(0x7f00_0000_0000), Some(2 << 20));
        assert_eq!(at(0x7f00_003f_ffff), Some(2 << 20));
        assert_eq!(at(0x7f00_0040_0000), None, "no size before the next mapping");
        assert_eq!(at(0xffff_ffff_ff60_0000), None, "the last line is cut off");
        assert_eq!(at(0), None);
    }

    #[test]
    fn long_lines_and_small_reads_do_not_matter() {
        struct OneByOne<'a>(&'a [u8]);
        impl Read for OneByOne<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let end = buffer.len().min(1);
                self.0.read(&mut buffer[..end])
            }
        }
        assert_eq!(page_size_in(OneByOne(TEXT), 0x7f00_0000_1000), Some(2 << 20));
        let path = "x".repeat(9000);
        let mut text = format!("1000-2000 r--p 0 0:0 0 {path}\n").into_bytes();
        text.extend(b"KernelPageSize: 8 kB\n3000-4000 r--p\nKernelPageSize: 64 kB\n");
        assert_eq!(page_size_in(&text[..], 0x1000), Some(8192));
        assert_eq!(page_size_in(&text[..], 0x3000), Some(65536));
    }

    #[test]
    fn sizes_that_cannot_be_are_ignored() {
        for size in ["0", "3", "-4", "4096000000000000000000", "", "x", "18014398509481984"] {
            let text = format!("1000-2000 r\nKernelPageSize: {size} kB\n");
            assert_eq!(page_size_in(text.as_bytes(), 0x1000), None, "{size}");
        }
    }

    #[test]
    fn any_bytes_are_survived() {
        let mut random = Random::new(7);
        for _ in 0..ROUNDS / 10 {
            let mut text = TEXT.to_vec();
            random.mutate(&mut text);
            let address = [0x40_0000, 0x7f00_0000_0000, 0, usize::MAX][random.below(4)];
            let size = page_size_in(&text[..], address);
            assert!(size.is_none_or(usize::is_power_of_two));
        }
    }

    #[test]
    fn the_running_kernel_knows_the_stack() {
        let here = 0_u8;
        let size = page_size_at((&raw const here).addr()).expect("a stack has pages");
        // SAFETY: sysconf has no preconditions.
        assert_eq!(size, unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize);
    }
}
