//! `urxe/region`: the key table, and who uses memory by its keys.

use loom::thread;

use super::check::{Content, Wanted, check};
use super::{keys, users};
use crate::abi::{IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE};
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};
use crate::urxe::host::{Host, processes};
use crate::urxe::shared::{KeyEntry, PATIENCE, QpShared};

const KEYS: &str = "urxe/region/keys.rs";
const CHECK: &str = "urxe/region/check.rs";
const MARK: &str = "urxe/shared/mark.rs";
const USERS: &str = "urxe/region/users.rs";

/// Of an entry, keeps the sequence and some members as they are, first and last ones among them.
pub(crate) fn few_members(host: &Host, key: u32) {
    for memory in [host.memory(), host.keys()] {
        super::check::entry(memory, key).inspect(|entry| few_members_of(entry));
    }
}

fn few_members_of(entry: &KeyEntry) {
    for member in [&entry.pd, &entry.access, &entry.memory, &entry.file, &entry.qp_num] {
        sync::plain(member);
    }
    for member in [&entry.length, &entry.address, &entry.file_offset] {
        sync::plain(member);
    }
}

/// What a key allows that differs from others in every number.
fn content(key: u32, number: u32) -> Content {
    let wide = u64::from(number);
    Content {
        key,
        pd: number,
        access: number,
        iova: wide,
        length: wide,
        address: wide,
        memory: number,
        file: number,
        file_offset: wide,
        qp_num: number,
        parent: number,
    }
}

pub(crate) static READERS: Model = Model {
    name: "keys, readers",
    property: "who reads an entry finds one key as a whole, never parts of two",
    preemptions: Some(3),
    mortal: false,
    program: readers,
    mutations: &[
        skip(KEYS, "fence(Release);"),
        skip(CHECK, "fence(Acquire);"),
        relax(CHECK, "let before = entry.sequence.load(Acquire);"),
        relax(KEYS, "entry.sequence.store(sequence.wrapping_add(2), Release);"),
        skip(KEYS, "entry.sequence.store(sequence.wrapping_add(1), Relaxed);"),
    ],
};

fn readers() {
    let [owner] = processes();
    let key = keys::reserve(owner).unwrap();
    few_members(owner, key);
    keys::store(owner, &content(key, 1)).unwrap();
    let reader = thread::spawn(move || {
        if let Some(found) = keys::read(owner, key) {
            let numbers = [u64::from(found.pd), found.iova, u64::from(found.parent)];
            assert!(found.key == key && numbers[1] == numbers[2], "{found:?}");
        }
    });
    keys::store(owner, &content(key, 2)).unwrap();
    reader.join().unwrap();
    assert_eq!(keys::read(owner, key), Some(content(key, 2)));
    keys::give_back(owner, key);
}

/// Memory that a key names, as a word: 1 while it is used.
fn bytes(host: &Host) -> &AtomicU64 {
    &qp(host).user_handle
}

fn qp(host: &Host) -> &QpShared {
    host.memory().at(0x10_8000).unwrap()
}

/// A key of 8 bytes.
pub(crate) fn region(host: &Host) -> u32 {
    region_of(host, 8)
}

/// A key of so many bytes.
pub(crate) fn region_of(host: &Host, length: u64) -> u32 {
    let key = keys::reserve(host).unwrap();
    few_members(host, key);
    for entry in [host.memory(), host.keys()].map(|memory| super::check::entry(memory, key)) {
        entry.inspect(|entry| sync::plain(&entry.iova));
        entry.inspect(|entry| sync::plain(&entry.parent));
    }
    let access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    let content = Content { key, pd: 1, access, length, ..Content::default() };
    keys::store(host, &content).unwrap();
    key
}

/// Gives a key that nobody has to other bytes.
pub(crate) fn move_region(host: &Host, key: u32, address: u64) {
    let content = Content { key, pd: 1, access: 1, length: 8, address, ..Content::default() };
    keys::store(host, &content).unwrap();
}

/// Takes a key away, without waiting for those who use it.
pub(crate) fn withdraw(host: &Host, key: u32) {
    keys::withdraw(host, key);
}

fn use_bytes(host: &Host, key: u32, qp_num: u32) {
    let wanted = Wanted { pd: 1, access: 1, address: 0, length: 8, qp_num };
    if check(host.memory(), key, &wanted).is_ok() {
        bytes(host).store(1, Relaxed);
        bytes(host).store(0, Relaxed);
    }
}

pub(crate) static WITHDRAWAL: Model = Model {
    name: "keys, withdrawal",
    property: "when a region is deregistered no request of a peer uses it any more",
    preemptions: Some(3),
    mortal: false,
    program: withdrawal,
    mutations: &[skip("urxe/shared/lock.rs", "fence(Ordering::SeqCst);")],
};

fn withdrawal() {
    let [owner, peer] = processes();
    let key = region(owner);
    let requester = thread::spawn(move || {
        let _guard = qp(owner).lock.lock(peer.holder(), PATIENCE, |_| false).unwrap();
        use_bytes(owner, key, 5);
    });
    keys::withdraw(owner, key);
    qp(owner).lock.pass(owner.holder(), PATIENCE, |_| false).unwrap();
    assert_eq!(bytes(owner).load(Relaxed), 0, "it is used after it was deregistered");
    requester.join().unwrap();
    keys::give_back(owner, key);
}

pub(crate) static LOCAL_USE: Model = Model {
    name: "keys, local use",
    property: "when a region is deregistered no other thread of the process uses it any more",
    preemptions: Some(3),
    mortal: false,
    program: local_use,
    mutations: &[
        skip(USERS, "fence(SeqCst);"),
        skip(MARK, "            fence(Ordering::SeqCst);\n        } else {"),
        relax(MARK, "self.0.store(count.wrapping_add(1), Ordering::Release);"),
    ],
};

fn local_use() {
    let [owner] = processes();
    let key = region(owner);
    let user = thread::spawn(move || {
        let _using = users::using(owner);
        use_bytes(owner, key, 0);
    });
    keys::withdraw(owner, key);
    users::pass(owner);
    assert_eq!(bytes(owner).load(Relaxed), 0, "it is used after it was deregistered");
    user.join().unwrap();
    keys::give_back(owner, key);
}
