//! See `urxe::fuzz` in the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ibverbs::fuzz("peer", bytes));
