//! The headers of a plugin's file: any bytes are whole or cut off.
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
});
