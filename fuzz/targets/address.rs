//! What the address resolver reads: rtnetlink messages, headers of datagrams, GIDs.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/sys/errno.rs"]
mod errno;
#[path = "../../src/address/gid.rs"]
mod gid;
#[path = "../../src/address/header.rs"]
mod header;
#[path = "../../src/sys/netlink/parse.rs"]
mod parse;
#[path = "../../src/address/rtnetlink.rs"]
mod rtnetlink;
/// The modules under their names in the library.
mod address {
    pub(crate) use crate::gid;
}
mod sys {
    pub(crate) use crate::errno;
    pub(crate) mod netlink {
        pub(crate) use crate::parse;
    }
}

use libfuzzer_sys::fuzz_target;

/// Reads the messages with each of the readers.
fn read_messages(bytes: &[u8]) {
    for message in parse::Messages::new(bytes).flatten() {
        let found = [
            rtnetlink::own_address(&message).is_some(),
            rtnetlink::link(&message).is_some(),
            rtnetlink::route(&message).is_some(),
            rtnetlink::neighbour(&message).is_some(),
        ];
        // The type of a message says which one it is for.
        assert!(found.iter().filter(|found| **found).count() <= 1);
    }
}

/// Reads a header; what is accepted can be answered, and a group address means a group.
fn read_header(bytes: &[u8; 40]) {
    assert!(header::flow_label(bytes) < 1 << 20);
    if let Ok(header) = header::parse(bytes) {
        assert!(!header.destination.is_multicast());
        if let Some(mac) = gid::mac_from_address(header.source.address()) {
            assert_eq!(mac[0] & 1 == 1, header.source.is_multicast());
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    read_messages(bytes);
    if let Some(header) = bytes.first_chunk() {
        read_header(header);
    }
});
