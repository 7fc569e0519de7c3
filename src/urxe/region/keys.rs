//! The owner's side of the key table: giving out keys, changing what they allow, withdrawing them.
//!
//! A key is the index of its entry and an 8-bit tag. The index comes from a queue of free ones, so
//! it stays unused as long as possible; the tag is another one each time. An old key names nothing
//! for 255 rounds.

use crate::sync::atomic::Ordering::{Relaxed, Release};
use crate::sync::atomic::fence;
use std::collections::VecDeque;

use super::check::{Content, entry};
use crate::sys::errno::{Errno, Result};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::urxe::explain;
use crate::urxe::host::Host;
use crate::urxe::shared::{KEYS, KeyEntry};

/// Entries that get their memory at a time: 64 KiB.
const STEP: u32 = 1024;
/// Free entries that are kept before one is used again, as long as there are new ones.
const REST: usize = 256;

/// Who has which entry.
static TABLE: ForkMutex<Table> = ForkMutex::new(Rank::Keys, Table::new());

struct Table {
    /// The slot that it speaks of.
    epoch: u64,
    /// First entry that was never in use; entry 0 never is.
    next: u32,
    /// Entries that were in use, the longest unused first.
    free: VecDeque<u32>,
    /// Tag of the next key, by entry.
    tags: Vec<u8>,
}

impl Table {
    const fn new() -> Table {
        Table { epoch: 0, next: 1, free: VecDeque::new(), tags: Vec::new() }
    }

    /// A key of an entry that nobody has.
    fn take(&mut self, host: &Host) -> Result<u32> {
        if self.epoch != host.epoch() {
            *self = Table { epoch: host.epoch(), ..Table::new() };
        }
        let fresh = self.free.len() <= REST && self.next < KEYS;
        let index = match fresh.then(|| self.grow(host)) {
            Some(Ok(index)) => index,
            Some(Err(errno)) => self.free.pop_front().ok_or(errno)?,
            None => self.free.pop_front().ok_or(Errno::ENOMEM)?,
        };
        let tag = self.tags.get(index as usize).copied().unwrap_or(0);
        Ok(index << 8 | u32::from(tag))
    }

    /// An entry that was never in use, with its memory.
    fn grow(&mut self, host: &Host) -> Result<u32> {
        let index = self.next;
        host.back_keys((index + 1).next_multiple_of(STEP).min(KEYS))?;
        self.tags.resize(index as usize + 1, 0);
        self.next = index + 1;
        Ok(index)
    }

    /// Takes an entry back; its next key has another tag.
    fn give_back(&mut self, host: &Host, key: u32) {
        let index = key >> 8;
        if self.epoch != host.epoch() || index == 0 || index >= self.next {
            return;
        }
        if let Some(tag) = self.tags.get_mut(index as usize) {
            *tag = (key as u8).wrapping_add(1);
        }
        self.free.push_back(index);
    }
}

/// Reserves an entry; its key, which allows nothing yet. ENOMEM.
pub(super) fn reserve(host: &Host) -> Result<u32> {
    TABLE.lock().take(host).inspect_err(|_| {
        explain!("registration: no memory for a key, or all {KEYS} of them are in use");
    })
}

/// Gives an entry back, which allows nothing any more. `key` is the last one it had.
pub(super) fn give_back(host: &Host, key: u32) {
    TABLE.lock().give_back(host, key);
}

/// Stores what a key allows; the entry must be reserved. `content.key` is the key.
pub(super) fn store(host: &Host, content: &Content) -> Result<()> {
    let shared = entry(host.memory(), content.key).ok_or(Errno::EIO)?;
    // One thread at a time changes entries.
    let _table = TABLE.lock();
    // Peers invalidate windows, so those are in the table of all alone.
    if content.parent == 0
        && let Some(own) = entry(host.keys(), content.key)
    {
        write(own, content);
    }
    write(shared, content);
    Ok(())
}

/// Makes an entry allow nothing. Requests that saw what it allowed may still be under way.
pub(super) fn withdraw(host: &Host, key: u32) {
    let _table = TABLE.lock();
    for memory in [host.keys(), host.memory()] {
        if let Some(entry) = entry(memory, key) {
            write(entry, &Content::default());
        }
    }
}

/// What the entry of a key says, whatever the tag. Peers can have changed it.
pub(super) fn read(host: &Host, key: u32) -> Option<Content> {
    Content::read(entry(host.memory(), key)?)
}

/// What the key of a region of this process says, whatever the tag.
pub(super) fn read_own(host: &Host, key: u32) -> Option<Content> {
    Content::read(entry(host.keys(), key)?)
}

fn write(entry: &KeyEntry, content: &Content) {
    let sequence = entry.sequence.load(Relaxed) & !1;
    entry.sequence.store(sequence.wrapping_add(1), Relaxed);
    fence(Release);
    entry.key.store(content.key, Relaxed);
    entry.pd.store(content.pd, Relaxed);
    entry.access.store(content.access, Relaxed);
    entry.iova.store(content.iova, Relaxed);
    entry.length.store(content.length, Relaxed);
    entry.address.store(content.address, Relaxed);
    entry.memory.store(content.memory, Relaxed);
    entry.file.store(content.file, Relaxed);
    entry.file_offset.store(content.file_offset, Relaxed);
    entry.qp_num.store(content.qp_num, Relaxed);
    entry.parent.store(content.parent, Relaxed);
    entry.sequence.store(sequence.wrapping_add(2), Release);
}

#[cfg(test)]
mod tests {
    use crate::sync::atomic::AtomicBool;

    use super::*;
    use crate::sync::rounds;
    use crate::urxe::host::testing::Scratch;
    use crate::urxe::region::{Denied, Wanted, check};

    fn wanted(address: u64) -> Wanted {
        Wanted { pd: 1, access: 0, address, length: 8, qp_num: 0 }
    }

    #[test]
    fn keys_are_unique_and_have_new_tags_when_they_come_back() {
        let scratch = Scratch::new();
        let host = scratch.host();
        let mut table = Table::new();
        let first: Vec<_> = (0..2000).map(|_| table.take(host).unwrap()).collect();
        let mut sorted = first.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 2000);
        assert!(first.iter().all(|key| key >> 8 != 0));
        assert!(first.iter().all(|&key| entry(host.memory(), key).is_some()));
        assert!(entry(host.memory(), 255).is_none() && entry(host.memory(), u32::MAX).is_none());
        for &key in &first {
            table.give_back(host, key);
        }
        let again: Vec<_> = (0..500).map(|_| table.take(host).unwrap()).collect();
        for (old, new) in first.iter().zip(&again) {
            assert_eq!((old >> 8, (old + 1) as u8), (new >> 8, *new as u8));
        }
    }

    #[test]
    fn tags_come_round_after_all_others() {
        let scratch = Scratch::new();
        let host = scratch.host();
        let mut table = Table::new();
        let mut tags = Vec::new();
        for _ in 0..(REST + 2) * 256 {
            let key = table.take(host).unwrap();
            if key >> 8 == 1 {
                tags.push(key as u8);
            }
            table.give_back(host, key);
        }
        assert!(tags.len() >= 256);
        assert!(tags.windows(2).all(|pair| pair[0].wrapping_add(1) == pair[1]));
    }

    #[test]
    fn a_key_of_another_slot_is_not_given_back() {
        let scratch = Scratch::new();
        let (host, other) = (scratch.host(), scratch.host());
        let mut table = Table::new();
        let key = table.take(host).unwrap();
        table.give_back(other, key);
        table.give_back(host, 0);
        table.give_back(host, u32::MAX);
        assert!(table.free.is_empty());
        assert_eq!(table.take(other).unwrap() >> 8, 1);
    }

    #[test]
    fn what_is_stored_is_allowed_until_it_is_withdrawn() {
        let scratch = Scratch::new();
        let host = scratch.host();
        host.back_keys(16).unwrap();
        let content =
            Content { key: 3 << 8 | 7, pd: 1, length: 64, address: 0x5000, ..Content::default() };
        assert!(check(host.memory(), content.key, &wanted(0)).is_err());
        store(host, &content).unwrap();
        assert_eq!(check(host.memory(), content.key, &wanted(8)).unwrap().address, 0x5008);
        let other_tag = content.key + 1;
        assert_eq!(
            check(host.memory(), other_tag, &wanted(0)),
            Err(Denied::Unknown { key: other_tag })
        );
        assert_eq!(read(host, other_tag), Some(content));
        withdraw(host, content.key);
        assert_eq!(
            check(host.memory(), content.key, &wanted(0)),
            Err(Denied::Unknown { key: content.key })
        );
        assert_eq!(read(host, content.key), Some(Content::default()));
        // Behind the entries that have their memory.
        let behind = Content { key: 5000 << 8, ..content };
        assert_eq!(store(host, &behind), Err(Errno::EIO));
        assert!(check(host.memory(), behind.key, &wanted(0)).is_err());
    }

    #[test]
    fn readers_never_see_half_a_change() {
        let scratch = Scratch::new();
        let host = scratch.host();
        host.back_keys(16).unwrap();
        let of = |number: u64| Content {
            key: 1 << 8,
            pd: 1,
            iova: number << 32,
            length: 64,
            address: number << 32 | 0x1000,
            file_offset: number,
            ..Content::default()
        };
        store(host, &of(1)).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..rounds(20_000) {
                    store(host, &of(1 + round % 7)).unwrap();
                }
                done.store(true, Release);
            });
            while !done.load(Relaxed) {
                let seen = read(host, 1 << 8).unwrap();
                assert_eq!(seen, of(seen.file_offset));
            }
        });
    }
}
