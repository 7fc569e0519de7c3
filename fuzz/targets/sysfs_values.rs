//! Values in sysfs files: any text is a value or is refused.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/discovery/values.rs"]
mod values;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = (values::decimal(bytes), values::device_number(bytes), values::guid(bytes));
    if let Some(name) = values::name(bytes) {
        assert!(!name.is_empty() && !name.contains(&b'/') && !name.contains(&0));
    }
});
