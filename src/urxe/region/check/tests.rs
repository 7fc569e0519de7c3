use super::*;
use crate::urxe::shared::KeyMemory;

const KEY: u32 = 5 << 8 | 0x21;

fn region() -> Content {
    Content {
        key: KEY,
        pd: 3,
        access: IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
        iova: 0x10_0000,
        length: 0x1000,
        address: 0x7f00_0000_0000,
        memory: KeyMemory::FILE,
        file: 9,
        file_offset: 0x40,
        qp_num: 0,
        parent: 0,
    }
}

fn wanted() -> Wanted {
    Wanted { pd: 3, access: IBV_ACCESS_REMOTE_WRITE, address: 0x10_0010, length: 16, qp_num: 77 }
}

#[test]
fn an_access_inside_is_allowed_and_placed() {
    let place = region().allow(KEY, &wanted()).unwrap();
    assert_eq!((place.address, place.memory), (0x7f00_0000_0010, KeyMemory::FILE));
    assert_eq!((place.file, place.file_offset), (9, 0x50));
    assert_eq!(place.access, 3);
}

#[test]
fn each_check_has_its_answer() {
    for (content, wanted, denied) in [
        (Content { key: KEY + 1, ..region() }, wanted(), Denied::Unknown { key: KEY }),
        (Content { key: 0, ..region() }, wanted(), Denied::Unknown { key: KEY }),
        (region(), Wanted { pd: 4, ..wanted() }, Denied::Pd { key: KEY, pd: 3, wanted: 4 }),
        (
            Content { parent: 8, ..region() },
            Wanted { qp_num: 0, ..wanted() },
            Denied::Window { key: KEY },
        ),
        (
            Content { parent: 8, qp_num: 78, ..region() },
            wanted(),
            Denied::Qp { key: KEY, qp_num: 78, wanted: 77 },
        ),
        (
            region(),
            Wanted { access: IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, ..wanted() },
            Denied::Access { key: KEY, access: 3, wanted: 6 },
        ),
    ] {
        assert_eq!(content.allow(KEY, &wanted), Err(denied));
    }
    let window = Content { parent: 8, qp_num: 77, ..region() };
    assert!(window.allow(KEY, &wanted()).is_ok());
    let window = Content { parent: 8, ..region() };
    assert!(window.allow(KEY, &wanted()).is_ok());
}

#[test]
fn ranges_are_exact_and_do_not_wrap() {
    let at = |address, length| region().allow(KEY, &Wanted { address, length, ..wanted() });
    assert!(at(0x10_0000, 0x1000).is_ok());
    assert!(at(0x10_0fff, 1).is_ok());
    assert!(at(0x10_1000, 0).is_ok());
    for (address, length) in [
        (0x10_0000, 0x1001),
        (0x0f_ffff, 1),
        (0x0f_ffff, 0),
        (0x10_0fff, 2),
        (0x10_1000, 1),
        (0x10_1001, 0),
        (0x10_0001, u64::MAX),
        (u64::MAX, 2),
        (0, u64::MAX),
    ] {
        assert!(matches!(at(address, length), Err(Denied::Range { .. })), "{address:#x} {length}");
    }
    // Up to the very end of the address space.
    let top = Content { iova: u64::MAX - 7, length: 8, ..region() };
    let at = |address, length| top.allow(KEY, &Wanted { address, length, ..wanted() });
    assert!(at(u64::MAX - 7, 8).is_ok() && at(u64::MAX, 1).is_ok());
    assert!(at(u64::MAX, 2).is_err() && at(0, 1).is_err() && at(u64::MAX - 7, 9).is_err());
    // All of it.
    let all = Content { iova: 0, length: u64::MAX, ..region() };
    let at = |address, length| all.allow(KEY, &Wanted { address, length, ..wanted() });
    assert!(at(0, u64::MAX).is_ok() && at(u64::MAX - 1, 1).is_ok());
    assert!(at(1, u64::MAX).is_err());
}

#[test]
fn denials_say_why() {
    let text = |denied: Denied| denied.to_string();
    assert_eq!(text(Denied::Unknown { key: 0x521 }), "key 0x521 is not known");
    assert_eq!(
        text(Denied::Access { key: 0x521, access: 1, wanted: 6 }),
        "key 0x521 allows 0x1 and lacks access 0x6"
    );
    let range = |address, wanted| {
        text(Denied::Range { key: 0x521, start: 0x1000, length: 256, address, wanted })
    };
    assert_eq!(
        range(0x1080, 200),
        "key 0x521 covers 256 bytes at 0x1000: 200 bytes at 0x1080 end 72 bytes behind them"
    );
    assert_eq!(
        range(0xff0, 4),
        "key 0x521 covers 256 bytes at 0x1000: 4 bytes at 0xff0 begin 16 bytes before them"
    );
    assert!(range(u64::MAX, u64::MAX).contains("bytes behind them"));
}

#[test]
fn an_entry_that_never_rests_is_not_waited_for() {
    // SAFETY: atomics, for which zero is a value.
    let entry: KeyEntry = unsafe { core::mem::zeroed() };
    entry.key.store(KEY, Relaxed);
    assert_eq!(Content::read(&entry).unwrap().key, KEY);
    entry.sequence.store(1, Relaxed);
    assert_eq!(Content::read(&entry), None);
}
