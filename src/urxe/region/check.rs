//! What a key allows: the check that comes before each access, local or remote.

use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use crate::sync::atomic::fence;
use crate::sync::{hint, looks, thread};
use core::fmt;

use crate::abi::*;
use crate::urxe::host::{Memory, Peer};
use crate::urxe::shared::{Header, KEY_TABLE, KeyEntry};

/// An access to memory by key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Number of the protection domain of the QP, or of the SRQ.
    pub(crate) pd: u32,
    /// Rights that are needed, `ibv_access_flags`; 0 for reading by the owner.
    pub(crate) access: u32,
    /// First address, as the key counts it.
    pub(crate) address: u64,
    /// Length in bytes.
    pub(crate) length: u64,
    /// The responder's QP, whose peer uses a remote key; 0 for a local key, which no window has.
    pub(crate) qp_num: u32,
}

/// Where the bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// First address in the owner's memory.
    pub(crate) address: u64,
    /// One of [`KeyMemory`](crate::urxe::shared::KeyMemory).
    pub(crate) memory: u32,
    /// Number of the shared file, if they are in one.
    pub(crate) file: u32,
    /// Offset of the first byte in that file.
    pub(crate) file_offset: u64,
    /// Rights of the key.
    pub(crate) access: u32,
}

/// Why an access is denied; to be shown in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Denied {
    /// There is no such key, or not any more.
    Unknown { key: u32 },
    /// It is of another protection domain.
    Pd { key: u32, pd: u32, wanted: u32 },
    /// It is of a window, but used locally.
    Window { key: u32 },
    /// It is not of a window of type 2, and only those can be invalidated.
    NoWindow { key: u32 },
    /// It is of a window that is bound to another QP.
    Qp { key: u32, qp_num: u32, wanted: u32 },
    /// It lacks rights.
    Access { key: u32, access: u32, wanted: u32 },
    /// Not all bytes are inside.
    Range { key: u32, start: u64, length: u64, address: u64, wanted: u64 },
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Denied::Unknown { key } => write!(f, "key {key:#x} is not known"),
            Denied::Pd { key, pd, wanted } => {
                write!(f, "key {key:#x} is of PD {pd}, not of PD {wanted}")
            }
            Denied::Window { key } => write!(f, "key {key:#x} is of a window: not a local key"),
            Denied::NoWindow { key } => {
                write!(f, "key {key:#x} is not of a window of type 2, so it cannot be invalidated")
            }
            Denied::Qp { key, qp_num, wanted } => {
                write!(f, "key {key:#x} is of a window of QP {qp_num:#x}, not of QP {wanted:#x}")
            }
            Denied::Access { key, access, wanted } => {
                write!(
                    f,
                    "key {key:#x} allows {access:#x} and lacks access {:#x}",
                    wanted & !access
                )
            }
            Denied::Range { key, start, length, address, wanted } => {
                write!(f, "key {key:#x} covers {length} bytes at {start:#x}: ")?;
                match start.checked_sub(address) {
                    Some(before) if before > 0 => {
                        write!(f, "{wanted} bytes at {address:#x} begin {before} bytes before them")
                    }
                    _ => {
                        let end = u128::from(address) + u128::from(wanted);
                        let beyond = end - (u128::from(start) + u128::from(length)).min(end);
                        write!(f, "{wanted} bytes at {address:#x} end {beyond} bytes behind them")
                    }
                }
            }
        }
    }
}

/// What an entry of the key table says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Content {
    pub(super) key: u32,
    pub(super) pd: u32,
    pub(super) access: u32,
    pub(super) iova: u64,
    pub(super) length: u64,
    pub(super) address: u64,
    pub(super) memory: u32,
    pub(super) file: u32,
    pub(super) file_offset: u64,
    pub(super) qp_num: u32,
    pub(super) parent: u32,
}

/// Looks at an entry that changes just now before it counts as one that stays so: its owner died.
const LOOKS: u32 = looks(20_000);
/// Looks before the thread gives way to others in between.
const SPINS: u32 = looks(1_000);

/// The entry of the key table that a key names, if it has its memory.
pub(super) fn entry(memory: &Memory, key: u32) -> Option<&KeyEntry> {
    let index = key >> 8;
    let keys = memory.at::<Header>(0)?.keys.load(Acquire);
    if index == 0 || index >= keys {
        return None;
    }
    memory.at::<KeyEntry>(KEY_TABLE + u64::from(index) * size_of::<KeyEntry>() as u64)
}

impl Content {
    /// Reads an entry at rest; `None` if it does not come to rest.
    pub(super) fn read(entry: &KeyEntry) -> Option<Content> {
        Self::read_numbered(entry).map(|(content, _)| content)
    }

    /// As [`read`](Self::read), with the sequence number that it has.
    fn read_numbered(entry: &KeyEntry) -> Option<(Content, u32)> {
        for look in 0..LOOKS {
            let before = entry.sequence.load(Acquire);
            if before.is_multiple_of(2) {
                let content = Content {
                    key: entry.key.load(Relaxed),
                    pd: entry.pd.load(Relaxed),
                    access: entry.access.load(Relaxed),
                    iova: entry.iova.load(Relaxed),
                    length: entry.length.load(Relaxed),
                    address: entry.address.load(Relaxed),
                    memory: entry.memory.load(Relaxed),
                    file: entry.file.load(Relaxed),
                    file_offset: entry.file_offset.load(Relaxed),
                    qp_num: entry.qp_num.load(Relaxed),
                    parent: entry.parent.load(Relaxed),
                };
                fence(Acquire);
                if entry.sequence.load(Relaxed) == before {
                    return Some((content, before));
                }
            }
            if look < SPINS {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        None
    }

    /// Whether it allows an access, and where the bytes are.
    pub(super) fn allow(&self, key: u32, wanted: &Wanted) -> Result<Place, Denied> {
        if self.key != key {
            return Err(Denied::Unknown { key });
        }
        if self.pd != wanted.pd {
            return Err(Denied::Pd { key, pd: self.pd, wanted: wanted.pd });
        }
        if self.parent != 0 && wanted.qp_num == 0 {
            return Err(Denied::Window { key });
        }
        if self.qp_num != 0 && self.qp_num != wanted.qp_num {
            return Err(Denied::Qp { key, qp_num: self.qp_num, wanted: wanted.qp_num });
        }
        if wanted.access & !self.access != 0 {
            return Err(Denied::Access { key, access: self.access, wanted: wanted.access });
        }
        let range = Denied::Range {
            key,
            start: self.iova,
            length: self.length,
            address: wanted.address,
            wanted: wanted.length,
        };
        let offset = wanted.address.checked_sub(self.iova).ok_or(range)?;
        let room = self.length.checked_sub(offset).ok_or(range)?;
        if wanted.length > room {
            return Err(range);
        }
        Ok(Place {
            address: self.address.wrapping_add(offset),
            memory: self.memory,
            file: self.file,
            file_offset: self.file_offset.wrapping_add(offset),
            access: self.access,
        })
    }
}

/// Whether a key of the owner of this slot allows an access, and where the bytes are.
///
/// With a remote key, the lock of the responder's QP is held, until the bytes have been moved: who
/// withdraws a key waits for those locks.
pub(crate) fn check(memory: &Memory, key: u32, wanted: &Wanted) -> Result<Place, Denied> {
    let content = entry(memory, key).and_then(Content::read);
    content.ok_or(Denied::Unknown { key })?.allow(key, wanted)
}

/// As [`check`], for a key of a process, which may be this one: then what peers may have written into
/// the table of all is not believed.
pub(crate) fn check_of(peer: &Peer, key: u32, wanted: &Wanted) -> Result<Place, Denied> {
    if !peer.is_own() {
        return check(peer.memory(), key, wanted);
    }
    match check(peer.keys(), key, wanted) {
        Err(Denied::Unknown { .. }) => {}
        known => return known,
    }
    let place = check(peer.memory(), key, wanted)?;
    let is_true = is_inside_region(peer, key, &place, wanted.length);
    is_true.then_some(place).ok_or(Denied::Unknown { key })
}

/// Whether the bytes that the key of a window of this process names are those of its region. Windows
/// are in the table of all alone, as peers invalidate them.
fn is_inside_region(own: &Peer, key: u32, place: &Place, length: u64) -> bool {
    let parent = entry(own.memory(), key).map_or(0, |entry| entry.parent.load(Relaxed));
    let region = entry(own.keys(), parent << 8).and_then(Content::read).unwrap_or_default();
    let offset = place.address.wrapping_sub(region.address);
    region.key != 0
        && place.memory == region.memory
        && offset <= region.length
        && length <= region.length - offset
}

/// A key that allowed an access, to be used again as long as its entry is as it was.
pub(crate) struct Known<'a> {
    /// The entry.
    pub(crate) entry: &'a KeyEntry,
    /// Its sequence number.
    pub(crate) sequence: u32,
    /// First address, as the key counts it, and length in bytes.
    pub(crate) range: (u64, u64),
    /// Where the first byte is.
    pub(crate) place: Place,
}

/// As [`look`], for a key of a process, which may be this one; see [`check_of`].
pub(crate) fn look_of<'a>(peer: &'a Peer, key: u32, wanted: &Wanted) -> Option<Known<'a>> {
    if !peer.is_own() {
        return look(peer.memory(), key, wanted);
    }
    look(peer.keys(), key, wanted).or_else(|| {
        let known = look(peer.memory(), key, wanted)?;
        is_inside_region(peer, key, &known.place, known.range.1).then_some(known)
    })
}

/// As [`check`], with all that the key allows.
pub(crate) fn look<'a>(memory: &'a Memory, key: u32, wanted: &Wanted) -> Option<Known<'a>> {
    let entry = entry(memory, key)?;
    let (content, sequence) = Content::read_numbered(entry)?;
    let range = (content.iova, content.length);
    let wanted = Wanted { address: content.iova, length: 0, ..*wanted };
    let place = content.allow(key, &wanted).ok()?;
    Some(Known { entry, sequence, range, place })
}

impl Wanted {
    /// An access of the owner itself: reading, or with `IBV_ACCESS_LOCAL_WRITE` writing.
    pub(crate) fn local(pd: u32, access: u32, sge: &ibv_sge) -> Wanted {
        let (address, length) = (sge.addr, u64::from(sge.length));
        Wanted { pd, access, address, length, qp_num: 0 }
    }
}

#[cfg(test)]
mod tests;
