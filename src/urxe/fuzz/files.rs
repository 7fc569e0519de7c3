//! The directory of the slots, with files in it that the library did not make, or not so.

use super::input::Input;
use crate::sys::errno::Errno;
use crate::urxe::host::Junk;
use crate::urxe::host::{event_file, shared_file};

/// Files in one directory.
const FILES: usize = 6;

pub(super) fn run(input: &mut Input<'_>) {
    let junk = Junk::new();
    for _ in 0..input.below(FILES + 1) {
        let name = name(input);
        match input.byte() % 8 {
            0 => junk.fifo(&name),
            1 => junk.folder(&name),
            2 => junk.link(&name, &self::name(input)),
            3 => junk.slot(&name, input.number(), input.number(), input.flag()),
            4 => junk.slot(&name, crate::urxe::shared::FILE_SIZE, input.number(), input.flag()),
            _ => {
                let size = input.byte() as usize;
                junk.file(&name, input.bytes(size), input.flag());
            }
        }
    }
    let before = junk.names();
    // A slot is found, or all that could be one are in the way.
    let host = match junk.host() {
        Ok(host) => host,
        Err(errno) => panic!("{errno:?} with {before:?}"),
    };
    assert!((1..crate::urxe::shared::SLOTS).contains(&host.slot()));
    assert!(host.all_peers().iter().any(|peer| peer.is_own()), "{:?}", junk.names());
    for number in [0, 1, 2, 3, 1023, 1024, u32::MAX, input.word()] {
        if let Ok(peer) = host.peer(number) {
            assert_eq!(peer.slot(), number);
            let _ = peer.file(input.byte().into());
            let _ = event_file::send(&peer, input.byte().into(), &[1; 16]);
            let _ = peer.is_alive_now();
            let mut byte = 0_u8;
            let list = [libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 }];
            if !peer.is_own() {
                // SAFETY: a byte of ours; what holds the lock has no process of this kind.
                let copied = unsafe { peer.write(&list, &list) };
                assert!(copied.is_err());
            }
        }
        host.forget_dead(|slot| slot == number);
        let holder = crate::urxe::shared::Holder::new(number, input.number());
        let _ = host.is_dead(holder);
    }
    match event_file::create(host.get()) {
        Ok((number, file)) => {
            assert_eq!(event_file::send(host.own(), number, b"12345678"), Ok(()));
            drop(file);
            event_file::remove(host.get(), number);
        }
        // A file of that name is in the way.
        Err(errno) => assert_eq!(errno, Errno(libc::EEXIST)),
    }
    match shared_file::create(host.get(), 100) {
        Ok(file) => assert_eq!(file.length() % 4096, 0),
        Err(errno) => assert_eq!(errno, Errno(libc::EEXIST)),
    }
    junk.end(host);
}

/// A name as the library makes them, or nearly so.
fn name(input: &mut Input<'_>) -> Vec<u8> {
    let slot = input.below(5);
    let mut name = match input.byte() % 5 {
        0 | 1 => format!("slot-{slot:04}").into_bytes(),
        2 => format!("event-{slot:04}-{}", input.below(4)).into_bytes(),
        3 => format!("share-{slot:04}-{}", input.below(4)).into_bytes(),
        _ => input.bytes(12).to_vec(),
    };
    if input.byte() > 200 {
        let at = input.below(name.len());
        if let Some(byte) = name.get_mut(at) {
            *byte = input.byte();
        }
    }
    name.retain(|byte| !matches!(byte, 0 | b'/'));
    if name.is_empty() || name == b"." || name == b".." { b"slot-".to_vec() } else { name }
}
