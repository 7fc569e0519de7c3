//! Netlink answers: any bytes are messages with attributes or are refused; nothing panics, and
//! every iterator ends within the bytes.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/sys/netlink/parse.rs"]
mod parse;

use libfuzzer_sys::fuzz_target;

fn look_at(attributes: parse::Attributes<'_>, depth: usize) -> usize {
    let mut total = 0;
    for attribute in attributes {
        let _ = (attribute.u8(), attribute.u16(), attribute.u32(), attribute.u64());
        let _ = attribute.text();
        total += 4 + attribute.value.len();
        if depth < 4 {
            assert!(look_at(attribute.nested(), depth + 1) <= attribute.value.len());
        }
    }
    total
}

fuzz_target!(|bytes: &[u8]| {
    let mut total = 0;
    for message in parse::Messages::new(bytes).flatten() {
        total += message.bytes().len();
        let _ = message.kind();
        for fixed in [0, 4, 12, 16] {
            assert!(look_at(message.attributes(fixed), 0) <= message.payload.len());
        }
        let _ = message.attributes(0).find_kind(1);
    }
    assert!(total <= bytes.len());
});
