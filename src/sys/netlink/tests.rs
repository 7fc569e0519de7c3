//! Netlink against built messages, garbage and the running kernel.

use super::parse::{Attribute, Kind, Message, Messages, Request, u32_at};
use super::{Answer, Socket};
use crate::sys::errno::Errno;
use core::time::Duration;

/// A message with a payload; the length field may lie.
fn message(length: Option<u32>, kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = length.unwrap_or(16 + payload.len() as u32);
    bytes.extend_from_slice(&length.to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(&flags.to_ne_bytes());
    bytes.extend_from_slice(&sequence.to_ne_bytes());
    bytes.extend_from_slice(&0u32.to_ne_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn only(bytes: &[u8]) -> Message<'_> {
    let messages: Vec<_> = Messages::new(bytes).collect();
    assert_eq!(messages.len(), 1);
    messages[0].unwrap()
}

#[test]
fn a_request_reads_back() {
    let mut request = Request::new(0x1401, libc::NLM_F_DUMP as u16)
        .fixed(&[1, 2, 3])
        .attribute_u32(1, 7)
        .attribute_text(69, c"uverbs")
        .attribute(5 | 0x8000, &[4, 0, 9, 0]);
    assert!(request.is_dump());
    assert!(!Request::new(1, 0).is_dump());
    let bytes = request.finish(33).unwrap().to_vec();
    let message = only(&bytes);
    assert_eq!((message.kind, message.sequence), (0x1401, 33));
    assert_eq!(message.flags, (libc::NLM_F_DUMP | libc::NLM_F_REQUEST) as u16);
    assert_eq!(message.kind(), Kind::Data);
    let attributes: Vec<_> = message.attributes(3).collect();
    assert_eq!(attributes.len(), 3);
    assert_eq!((attributes[0].kind, attributes[0].u32()), (1, Some(7)));
    assert_eq!(attributes[1].text(), Some(&b"uverbs"[..]));
    assert_eq!(attributes[2].kind, 5);
    let inner: Vec<_> = attributes[2].nested().collect();
    assert_eq!(inner, [Attribute { kind: 9, value: &[] }]);
    assert_eq!(message.attributes(3).find_kind(69), Some(attributes[1]));
    assert_eq!(message.attributes(3).find_kind(2), None);
}

#[test]
fn an_attribute_that_is_too_long_is_refused() {
    let mut request = Request::new(1, 0).attribute(1, &vec![0; 65_531]);
    assert!(request.finish(1).is_some());
    let mut request = Request::new(1, 0).attribute(1, &vec![0; 65_532]);
    assert!(request.finish(1).is_none());
}

#[test]
fn values_of_the_wrong_size_are_nothing() {
    let attribute = |value| Attribute { kind: 1, value };
    assert_eq!(attribute(&[]).u8(), None);
    assert_eq!(attribute(&[1]).u16(), None);
    assert_eq!(attribute(&[1, 2, 3]).u32(), None);
    assert_eq!(attribute(&[0; 7]).u64(), None);
    assert_eq!(attribute(&[1, 0, 0, 0, 9]).u32(), Some(u32::from_ne_bytes([1, 0, 0, 0])));
    assert_eq!(attribute(b"no end").text(), None);
    assert_eq!(attribute(b"").text(), None);
    assert_eq!(attribute(b"a\0b\0").text(), Some(&b"a"[..]));
}

#[test]
fn malformed_messages_end_the_iteration() {
    let good = message(None, 20, 0, 1, &[1, 2, 3, 4, 5]);
    for length in [0, 1, 15, 25, u32::MAX] {
        let mut bytes = good.clone();
        bytes.extend(message(Some(length), 20, 0, 1, &[0; 8]));
        let parsed: Vec<_> = Messages::new(&bytes).collect();
        assert_eq!(parsed.len(), 2, "{length}");
        assert_eq!(parsed[0].unwrap().payload, [1, 2, 3, 4, 5]);
        assert!(parsed[1].is_err());
    }
    // The padding of the last message may be missing, its end may not.
    assert!(Messages::new(&good[..21]).all(|message| message.is_ok()));
    assert!(Messages::new(&good[..20]).any(|message| message.is_err()));
    assert_eq!(Messages::new(&[]).count(), 0);
}

#[test]
fn malformed_attributes_end_the_iteration() {
    for length in [0u16, 3, 13, u16::MAX] {
        let mut payload = vec![8, 0, 1, 0, 1, 2, 3, 4];
        payload.extend_from_slice(&length.to_ne_bytes());
        payload.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let bytes = message(None, 20, 0, 1, &payload);
        let kinds: Vec<_> = only(&bytes).attributes(0).map(|attribute| attribute.kind).collect();
        assert_eq!(kinds, [1], "{length}");
        assert_eq!(only(&bytes).attributes(1000).count(), 0);
    }
}

#[test]
fn control_messages() {
    let with = |kind: i32, payload: &[u8]| {
        let bytes = message(None, kind as u16, 0, 1, payload);
        only(&bytes).kind()
    };
    let error = |number: i32| number.to_ne_bytes();
    assert_eq!(with(libc::NLMSG_ERROR, &error(0)), Kind::Status(0));
    assert_eq!(with(libc::NLMSG_ERROR, &error(-libc::EPERM)), Kind::Status(libc::EPERM));
    // Garbage is an error all the same.
    assert_eq!(with(libc::NLMSG_ERROR, &error(5)), Kind::Status(libc::EPROTO));
    assert_eq!(with(libc::NLMSG_ERROR, &error(i32::MIN)), Kind::Status(libc::EPROTO));
    assert_eq!(with(libc::NLMSG_ERROR, &[]), Kind::Status(libc::EPROTO));
    assert_eq!(with(libc::NLMSG_DONE, &[]), Kind::Done(0));
    assert_eq!(with(libc::NLMSG_DONE, &error(-libc::EINTR)), Kind::Done(libc::EINTR));
    assert_eq!(with(libc::NLMSG_NOOP, &[]), Kind::Nothing);
    assert_eq!(with(7, &[]), Kind::Nothing);
    assert_eq!(with(libc::NLMSG_OVERRUN, &[]), Kind::Overrun);
}

#[test]
fn an_answer_grows_until_it_is_complete() {
    let mut answer = Answer::new(9, true);
    let mut first = message(None, 20, libc::NLM_F_MULTI as u16, 9, &[1; 5]);
    first.extend(message(None, 20, 0, 8, &[7; 4])); // of an older request
    first.extend(message(None, 20, 0, 9, &[2; 4]));
    answer.take(&first).unwrap();
    assert!(!answer.complete);
    answer.take(&message(None, libc::NLMSG_DONE as u16, 0, 9, &[0; 4])).unwrap();
    assert!(answer.complete && !answer.spoilt);
    let payloads: Vec<_> = answer.replies.messages().map(|message| message.payload).collect();
    assert_eq!(payloads, [&[1; 5][..], &[2; 4][..]]);

    let mut answer = Answer::new(9, false);
    answer.take(&message(None, 20, 0, 9, &[])).unwrap();
    assert!(answer.complete);

    let mut answer = Answer::new(9, true);
    answer.take(&message(None, 20, libc::NLM_F_DUMP_INTR as u16, 9, &[])).unwrap();
    assert!(answer.spoilt);

    let mut answer = Answer::new(9, true);
    let refused = message(None, libc::NLMSG_ERROR as u16, 0, 9, &(-libc::EINVAL).to_ne_bytes());
    assert_eq!(answer.take(&refused), Err(Errno::EINVAL));
    assert_eq!(answer.take(&[1, 2, 3]), Err(Errno(libc::EPROTO)));
}

/// Walks everything in foreign bytes; the sum keeps the reads alive.
fn walk(bytes: &[u8], depth: usize) -> usize {
    let mut seen = 0usize;
    for message in Messages::new(bytes).flatten() {
        let _ = message.kind();
        for fixed in [0, 12] {
            for attribute in message.attributes(fixed) {
                seen += attribute.value.len() + attribute.text().map_or(0, <[u8]>::len);
                seen += usize::from(attribute.u8().is_some() && attribute.u64().is_some());
                if depth > 0 {
                    seen += attribute.nested().count();
                    seen += walk(attribute.value, depth - 1);
                }
            }
        }
    }
    seen
}

#[test]
fn garbage_ends_and_does_not_panic() {
    let mut bytes = message(None, 20, 0, 9, &[8, 0, 1, 0, 1, 2, 3, 4, 7, 0, 2, 0, b'a', b'b', 0]);
    bytes.extend(message(None, 3, 0, 9, &[0; 4]));
    let mut random = crate::sys::tests::Random::new(1);
    let mut total = 0;
    for _ in 0..crate::sys::tests::ROUNDS {
        let mut mutated = bytes.clone();
        random.mutate(&mut mutated);
        total += walk(&mutated, 2);
        let mut answer = Answer::new(9, true);
        let _ = answer.take(&mutated);
        total += answer.replies.messages().count();
    }
    assert!(total > 0);
}

/// RTM_GETLINK of the running kernel: every machine has an interface.
#[test]
fn links_of_this_machine() {
    let mut socket = Socket::open(libc::NETLINK_ROUTE).unwrap();
    for _ in 0..2 {
        let request = Request::new(libc::RTM_GETLINK, libc::NLM_F_DUMP as u16).fixed(&[0; 16]);
        let replies = socket.query(request).unwrap();
        let names: Vec<_> = replies
            .messages()
            .filter_map(|message| message.attributes(16).find_kind(libc::IFLA_IFNAME)?.text())
            .collect();
        assert!(names.contains(&&b"lo"[..]), "{names:?}");
    }
    // One link by its number, then one that does not exist.
    let mut info = [0; 16];
    info[4..8].copy_from_slice(&1u32.to_ne_bytes());
    let replies = socket.query(Request::new(libc::RTM_GETLINK, 0).fixed(&info)).unwrap();
    assert_eq!(u32_at(replies.first().unwrap().payload, 4), Some(1));
    info[4..8].copy_from_slice(&0x7fff_fff0u32.to_ne_bytes());
    let missing = socket.query(Request::new(libc::RTM_GETLINK, 0).fixed(&info));
    assert_eq!(missing.err(), Some(Errno::ENODEV));
    // A family that the kernel does not have.
    assert_eq!(Socket::open(31).err(), Some(Errno::EPROTONOSUPPORT));
    // Nothing comes by itself.
    assert_eq!(socket.receive(Duration::from_millis(1)).err(), Some(Errno::ETIMEDOUT));
}

/// A buffer that is too small grows, and the request is repeated.
#[test]
fn truncated_answers_are_asked_for_again() {
    let mut socket = Socket::open(libc::NETLINK_ROUTE).unwrap();
    socket.buffer = vec![0; 64];
    let mut info = [0; 16];
    info[4..8].copy_from_slice(&1u32.to_ne_bytes());
    let replies = socket.query(Request::new(libc::RTM_GETLINK, 0).fixed(&info)).unwrap();
    assert_eq!(replies.messages().count(), 1);
    assert!(socket.buffer.len() > 64);
    socket.buffer.truncate(64);
    let request = Request::new(libc::RTM_GETLINK, libc::NLM_F_DUMP as u16).fixed(&[0; 16]);
    assert!(socket.query(request).unwrap().first().is_some());
}

#[test]
fn groups_are_joined_by_a_new_socket() {
    let socket = Socket::open(libc::NETLINK_ROUTE).unwrap();
    assert_eq!(socket.join(0), Err(Errno::EINVAL));
    assert_eq!(socket.join(33), Err(Errno::EINVAL));
    assert_eq!(socket.join(libc::RTNLGRP_NEIGH), Ok(()));
    // SAFETY: zero bytes are a valid address; both pointers are valid for the length given.
    let address = unsafe {
        let mut address: libc::sockaddr_nl = core::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
        let fd = socket.fd();
        assert_eq!(libc::getsockname(fd, (&raw mut address).cast(), &raw mut length), 0);
        address
    };
    assert_eq!(address.nl_groups, 1 << 2);
    // Without an address the kernel would leave it out.
    assert_ne!(address.nl_pid, 0);
}
