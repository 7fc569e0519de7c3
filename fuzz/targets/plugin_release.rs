//! Release numbers: any file name and any value of the variable has one or has none.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/plugin/release/names.rs"]
mod names;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(named) = names::release_in(bytes) {
        let library = names::LIBRARIES[named.library];
        assert!(bytes.starts_with(format!("lib{}.so.", library.name).as_bytes()));
        assert!(named.release < 10_000);
    }
    match names::told(bytes, |name| name == b"rxe", |release| (34..=56).contains(&release)) {
        Ok(Some(release)) => assert!((34..=56).contains(&release)),
        Ok(None) => {}
        Err(text) => assert!(!text.contains(&b',')),
    }
});
