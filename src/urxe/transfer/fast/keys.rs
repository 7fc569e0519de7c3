//! The keys that a QP has used last.

use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use core::ptr::{self, NonNull};
use std::sync::Arc;

use super::Place;
use crate::abi::*;
use crate::urxe::host::{MappedFile, Peer};
use crate::urxe::region::check::{Wanted, look_of};
use crate::urxe::shared::{KeyEntry, KeyMemory};

/// Keys that are remembered, by the low bits of their index.
const WAYS: usize = 4;

/// Where the memory behind a key is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Kind {
    /// Mapped in this process.
    #[default]
    Here,
    /// Ordinary memory of the peer.
    There,
}

/// The keys. The slot files that their entries lie in stay mapped as long as they are used.
#[derive(Default)]
pub(super) struct Keys([Key; WAYS]);

struct Key {
    key: u32,
    /// Of the entry, when it said this.
    sequence: u32,
    entry: NonNull<KeyEntry>,
    /// First address as the key counts it.
    iova: u64,
    length: u64,
    /// First address of the bytes.
    address: usize,
    access: u32,
    kind: Kind,
    /// The file that the bytes are in.
    _file: Option<Arc<MappedFile>>,
}

// SAFETY: `entry` is a shared entry, made of atomics.
unsafe impl Send for Key {}

impl Default for Key {
    /// No key: it has no bytes.
    fn default() -> Key {
        Key {
            key: 0,
            sequence: 0,
            entry: NonNull::dangling(),
            iova: 0,
            length: 0,
            address: 0,
            access: 0,
            kind: Kind::default(),
            _file: None,
        }
    }
}

/// Whose keys they are.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) peer: &'a Peer,
    /// Number of the PD that they have to be of.
    pub(super) pd: u32,
    /// The QP of the owner; 0 for local keys.
    pub(super) number: u32,
}

impl Key {
    /// Whether the entry still says this.
    #[inline(always)]
    fn is_current(&self) -> bool {
        // SAFETY: a key with bytes has an entry, which is mapped.
        let entry = unsafe { self.entry.as_ref() };
        // A window that is invalidated loses its key alone.
        entry.sequence.load(Acquire) == self.sequence && entry.key.load(Relaxed) == self.key
    }

    /// The address of bytes, of which there is at least one.
    #[inline(always)]
    fn find(&self, key: u32, address: u64, length: u64, access: u32) -> Option<Place> {
        let offset = address.wrapping_sub(self.iova);
        let fits = offset <= self.length && length <= self.length - offset;
        if self.key != key || !fits || access & !self.access != 0 || !self.is_current() {
            return None;
        }
        Some(Place { address: self.address.wrapping_add(offset as usize), kind: self.kind })
    }
}

impl Keys {
    /// The place of `length` bytes, which are not none, if the key is in order and allows `access`.
    /// With the mark set.
    #[inline(always)]
    pub(super) fn find<'a>(
        &mut self,
        key: u32,
        address: u64,
        length: u64,
        access: u32,
        owner: impl FnOnce() -> Option<Owner<'a>>,
    ) -> Option<Place> {
        let place = self.0[(key >> 8) as usize % WAYS].find(key, address, length, access);
        if place.is_some() {
            return place;
        }
        self.learn(key, owner()?)?.find(key, address, length, access)
    }

    /// Looks a key up.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, key: u32, owner: Owner<'_>) -> Option<&Key> {
        // Mappings of files that are out of use are not kept.
        for old in self.0.iter_mut().filter(|old| old.length > 0 && !old.is_current()) {
            *old = Key::default();
        }
        let Owner { peer, pd, number } = owner;
        let wanted = Wanted { pd, access: 0, address: 0, length: 0, qp_num: number };
        let known = look_of(peer, key, &wanted)?;
        let (place, (iova, length)) = (known.place, known.range);
        if place.access & IBV_ACCESS_ON_DEMAND != 0 || length == 0 {
            return None;
        }
        let (address, kind, file) = match place.memory {
            KeyMemory::FILE if !peer.is_own() => {
                let file = peer.file(place.file).ok()?;
                let address = file.range(place.file_offset, length)?.addr();
                (address, Kind::Here, Some(file))
            }
            KeyMemory::FILE | KeyMemory::ORDINARY => {
                let kind = if peer.is_own() { Kind::Here } else { Kind::There };
                (place.address as usize, kind, None)
            }
            _ => return None,
        };
        let entry = NonNull::new(ptr::from_ref(known.entry).cast_mut())?;
        let (sequence, access) = (known.sequence, place.access);
        let slot = &mut self.0[(key >> 8) as usize % WAYS];
        *slot = Key { key, sequence, entry, iova, length, address, access, kind, _file: file };
        Some(slot)
    }
}
