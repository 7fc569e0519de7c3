//! Whether a shared object is whole. dlopen(3) maps what the headers promise and dies of SIGBUS
//! when the file ends before that. A pure function on foreign bytes.

use core::ops::Range;

/// How much of the start of a file [`is_cut_off`] wants to see, in bytes.
pub(crate) const HEAD: usize = 4096;
/// `PT_LOAD`: a segment that is mapped.
const LOAD: u32 = 1;

fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Whether a file of `length` bytes that starts with `head` is a shared object of this machine that
/// promises more than it has. What else may be wrong with it, dlopen(3) finds by itself.
pub(crate) fn is_cut_off(head: &[u8], length: u64) -> bool {
    segments(head).is_some_and(|mut segments| segments.any(|segment| segment.end > length))
}

/// The parts of the file that are mapped, as far as `head` tells; nothing if it is no 64-bit ELF
/// file in this machine's byte order (elf(5)).
fn segments(head: &[u8]) -> Option<impl Iterator<Item = Range<u64>>> {
    const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
    if !head.starts_with(&[0x7f, b'E', b'L', b'F', 2, ORDER]) {
        return None;
    }
    let table = usize::try_from(u64::from_ne_bytes(bytes_at(head, 32)?)).ok()?;
    let entry_size = usize::from(u16::from_ne_bytes(bytes_at(head, 54)?));
    let count = usize::from(u16::from_ne_bytes(bytes_at(head, 56)?));
    let entries = (0..count).map_while(move |index| {
        let offset = table.checked_add(index.checked_mul(entry_size)?)?;
        head.get(offset..)?.first_chunk::<56>()
    });
    Some(entries.filter_map(|entry| {
        let number = |offset| bytes_at(entry, offset).map(u64::from_ne_bytes);
        let start = number(8)?;
        let is_mapped = u32::from_ne_bytes(bytes_at(entry, 0)?) == LOAD;
        is_mapped.then(|| Some(start..start.saturating_add(number(32)?)))?
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::{ROUNDS, Random};

    #[test]
    fn this_program_is_whole() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let head = &file[..HEAD];
        let end = segments(head).unwrap().map(|segment| segment.end).max().unwrap();
        assert!(end > HEAD as u64 && end <= file.len() as u64);
        assert!(!is_cut_off(head, file.len() as u64));
        assert!(!is_cut_off(head, end));
        assert!(is_cut_off(head, end - 1));
        assert!(is_cut_off(head, 0));
        // Too short for its own headers, which dlopen(3) reports.
        assert!(!is_cut_off(&head[..60], 60));
    }

    #[test]
    fn other_files_are_left_to_dlopen() {
        for head in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &[0xff; 4096]] {
            assert!(!is_cut_off(head, 0));
        }
    }

    #[test]
    fn garbage_does_not_panic() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let mut random = Random::new(4);
        let mut cut_off = 0;
        for _ in 0..ROUNDS / 10 {
            let mut head = file[..700].to_vec();
            random.mutate(&mut head);
            cut_off += usize::from(is_cut_off(&head, file.len() as u64));
        }
        assert!(cut_off < ROUNDS / 10);
    }
}
