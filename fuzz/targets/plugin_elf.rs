//! A plugin's file: any bytes are whole or cut off, and name functions or none.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/plugin/elf.rs"]
mod elf;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let cut_off = elf::is_cut_off(bytes, bytes.len() as u64);
    // What is cut off stays so when it is shorter.
    assert!(!cut_off || elf::is_cut_off(bytes, 0));
    assert!(!elf::is_cut_off(bytes, u64::MAX));
    for name in elf::imports(bytes) {
        assert!(!name.is_empty() && name.len() <= 256 && !name.contains(&0));
    }
});
