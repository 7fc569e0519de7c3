//! Configuration files and variables: any text names plugins or does not.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/plugin/config.rs"]
mod config;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let line_count = bytes.split(|byte| *byte == b'\n').count();
    let mut last = 0;
    for (number, _) in config::lines(bytes) {
        assert!(number > last && number <= line_count);
        last = number;
    }
    for name in config::drivers(bytes) {
        assert!(!name.is_empty() && !name.iter().any(|byte| b"\0\n\t ".contains(byte)));
    }
    for name in config::list(bytes) {
        assert!(!name.is_empty() && !name.iter().any(|byte| b"\0:;".contains(byte)));
    }
});
