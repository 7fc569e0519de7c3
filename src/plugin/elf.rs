//! Shared objects (elf(5)), as pure functions on foreign bytes: whether one is whole (dlopen(3) maps
//! what the headers promise and dies of SIGBUS when the file ends before that), and which functions
//! it takes from others.

use core::ops::Range;

/// How much of the start of a file [`is_cut_off`] wants to see, in bytes.
pub(crate) const HEAD: usize = 4096;
/// `PT_LOAD`: a segment that is mapped.
const LOAD: u32 = 1;
/// `SHT_DYNSYM`: a section with the symbols for the dynamic linker.
const DYNAMIC_SYMBOLS: u32 = 11;
/// The longest name of a symbol that is looked at, in bytes.
const LONGEST_NAME: usize = 256;

fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Whether a file of `length` bytes that starts with `head` is a shared object of this machine that
/// promises more than it has. What else may be wrong with it, dlopen(3) finds by itself.
pub(crate) fn is_cut_off(head: &[u8], length: u64) -> bool {
    segments(head).is_some_and(|mut segments| segments.any(|segment| segment.end > length))
}

/// Whether this is the start of a 64-bit ELF file in this machine's byte order.
fn is_elf(head: &[u8]) -> bool {
    const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
    head.starts_with(&[0x7f, b'E', b'L', b'F', 2, ORDER])
}

/// The names that a shared object takes from others, without their versions; none if its section of
/// symbols cannot be found.
pub(crate) fn imports(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (symbols, names) = dynamic_symbols(file).unwrap_or_default();
    symbols.chunks_exact(24).filter_map(move |symbol| {
        // Undefined is what is in no section.
        let is_undefined = bytes_at(symbol, 6)? == [0, 0];
        let name = names.get(u32::from_ne_bytes(bytes_at(symbol, 0)?) as usize..)?;
        let name = name.get(..LONGEST_NAME).unwrap_or(name);
        let name = name.get(..name.iter().position(|byte| *byte == 0)?)?;
        (is_undefined && !name.is_empty()).then_some(name)
    })
}

/// The symbols for the dynamic linker and their names.
fn dynamic_symbols(file: &[u8]) -> Option<(&[u8], &[u8])> {
    if !is_elf(file) {
        return None;
    }
    let table = usize::try_from(u64::from_ne_bytes(bytes_at(file, 40)?)).ok()?;
    let entry_size = u16::from_ne_bytes(bytes_at(file, 58)?);
    // Sections do not overlap, so that there are not more of them than fit into the file.
    let entry_size = Some(usize::from(entry_size)).filter(|size| *size >= 64)?;
    let count = usize::from(u16::from_ne_bytes(bytes_at(file, 60)?));
    let section = |index: usize| -> Option<&[u8; 64]> {
        let offset = table.checked_add(index.checked_mul(entry_size)?)?;
        file.get(offset..)?.first_chunk()
    };
    let content = |section: &[u8; 64]| {
        let number = |offset| usize::try_from(u64::from_ne_bytes(bytes_at(section, offset)?)).ok();
        file.get(number(24)?..)?.get(..number(32)?)
    };
    let is_it = |section: &&[u8; 64]| {
        bytes_at(*section, 4).map(u32::from_ne_bytes) == Some(DYNAMIC_SYMBOLS)
    };
    let symbols = (0..count).map_while(section).find(is_it)?;
    let names = u32::from_ne_bytes(bytes_at(symbols, 40)?);
    Some((content(symbols)?, content(section(usize::try_from(names).ok()?)?)?))
}

/// The parts of the file that are mapped, as far as `head` tells; nothing if it is no 64-bit ELF
/// file in this machine's byte order (elf(5)).
fn segments(head: &[u8]) -> Option<impl Iterator<Item = Range<u64>>> {
    if !is_elf(head) {
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
pub(crate) mod tests {
    use super::*;
    use crate::sys::tests::{ROUNDS, Random};

    /// A file with nothing but symbols: some that it takes from others, and one that it has.
    pub(crate) fn with_imports(names: &[&str]) -> Vec<u8> {
        let mut strings = vec![0];
        let mut symbols = vec![0; 24];
        for (name, section) in names.iter().map(|name| (*name, 0u16)).chain([("own", 7)]) {
            symbols.extend((strings.len() as u32).to_ne_bytes());
            symbols.extend([0x12, 0]);
            symbols.extend(section.to_ne_bytes());
            symbols.extend([0; 16]);
            strings.extend(name.as_bytes());
            strings.push(0);
        }
        let table = 64 + symbols.len() + strings.len();
        let header = |kind: u32, offset: usize, length: usize, link: u32| {
            let mut header = [0; 64];
            header[4..8].copy_from_slice(&kind.to_ne_bytes());
            header[24..32].copy_from_slice(&offset.to_ne_bytes());
            header[32..40].copy_from_slice(&length.to_ne_bytes());
            header[40..44].copy_from_slice(&link.to_ne_bytes());
            header
        };
        const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
        let mut file = vec![0x7f, b'E', b'L', b'F', 2, ORDER];
        file.resize(64, 0);
        file[40..48].copy_from_slice(&table.to_ne_bytes());
        file[58..60].copy_from_slice(&64u16.to_ne_bytes());
        file[60..62].copy_from_slice(&3u16.to_ne_bytes());
        let sections = [
            header(0, 0, 0, 0),
            header(DYNAMIC_SYMBOLS, 64, symbols.len(), 2),
            header(3, 64 + symbols.len(), strings.len(), 0),
        ];
        [file, symbols, strings, sections.concat()].concat()
    }

    #[test]
    fn imports_are_undefined_symbols() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let found: Vec<_> = imports(&file).collect();
        let has = |name: &str| found.contains(&name.as_bytes());
        assert!(has("epoll_create1") && has("dladdr") && !has("symbol_of_nobody") && !has(""));
        let file = with_imports(&["ibv_cmd_create_cq_ex2", "__verbs_log"]);
        let expected = [&b"ibv_cmd_create_cq_ex2"[..], b"__verbs_log"];
        assert_eq!(imports(&file).collect::<Vec<_>>(), expected);
        // A name without an end, and files without symbols.
        let long = with_imports(&[&"x".repeat(LONGEST_NAME), "y"]);
        assert_eq!(imports(&long).collect::<Vec<_>>(), [b"y"]);
        for length in 0..file.len() {
            assert!(imports(&file[..length]).count() <= 2);
        }
        assert_eq!(imports(&[0xff; 4096]).count(), 0);
    }

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
        let mut symbols = 0;
        for _ in 0..ROUNDS {
            let mut file = with_imports(&["ibv_cmd_create_cq_ex2", "__verbs_log", "malloc"]);
            random.mutate(&mut file);
            symbols += imports(&file).inspect(|name| assert!(!name.contains(&0))).count();
        }
        assert!(symbols > ROUNDS / 10);
    }
}
