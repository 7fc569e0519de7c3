//! This process among those that use the device.
//!
//! At first use it takes a [slot]: a file in a [directory] that only its user can
//! enter. The file holds all that others must see; a part of it belongs to each object
//! ([`arena`]). Others are [peers](peer): their slot files are mapped too, the lock of the file
//! tells whether they still run, and bytes are [copied](copy) from their memory and into it.
//! [Event files](event_file) wake a peer, [shared files](shared_file) are memory that it can map.
//!
//! A forked child has no part in its parent's slot. It gets one of its own when it makes objects of
//! its own; what it inherited is not its to use ([`Host::is_current`]).

pub(crate) mod access;
pub(crate) mod agent;
mod arena;
mod clock;
pub(crate) mod copy;
mod directory;
pub(crate) mod event_file;
mod fork;
#[cfg(fuzzing)]
mod junk;
mod mailbox;
mod marks;
mod memory;
pub(crate) mod null;
mod peer;
pub(crate) mod shared_file;
mod slot;
mod table;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub(crate) use arena::Kind;
pub(crate) use clock::{now, ticks};
#[cfg(fuzzing)]
pub(crate) use junk::Junk;
pub(crate) use marks::own_barrier;
pub(crate) use memory::{MappedFile, Memory};
pub(crate) use peer::Peer;
pub(crate) use table::Table;

use crate::sys::errno::{Errno, Result};
use crate::sys::mutex::Mutex;
use crate::urxe::explain;
use crate::urxe::pair::Registry;
use crate::urxe::queue::Queue;
use crate::urxe::shared::{
    Guard, Header, Holder, KEY_TABLE, KEYS, KeyEntry, Lock, PATIENCE, QP_TABLE, QpShared,
    QueueShared, SLOTS, SRQ_TABLE, Shared, TakenOver,
};
use arena::Arena;
use directory::Directory;
use table::Tables;

/// This process, with its slot. It lives as long as the process.
pub(crate) struct Host {
    slot: u32,
    epoch: u64,
    holder: Holder,
    file: OwnedFd,
    memory: Arc<Memory>,
    /// What the key table says of regions, at the same places, where no other process can change it.
    keys: Arc<Memory>,
    directory: Arc<Directory>,
    own: Arc<Peer>,
    arena: Mutex<Arena>,
    tables: Tables,
    peers: Mutex<Vec<Arc<Peer>>>,
    threads: Mutex<agent::Threads>,
    pairs: Registry,
    /// Of the last event file or shared file.
    number: AtomicU32,
}

/// This process among those that use the device. Its slot is taken at the first call.
///
/// # Errors
///
/// ENOSPC if there is no free slot; EPERM if the directory is not the user's alone; ENOMEM; what
/// the system says otherwise.
pub(crate) fn host() -> Result<&'static Host> {
    match fork::existing() {
        Some(host) => Ok(host),
        None => first(),
    }
}

#[cold]
fn first() -> Result<&'static Host> {
    let host = fork::current(|| Host::new(Directory::open()?))?;
    if host.header()?.access.load(Ordering::Relaxed) != access::FREE {
        agent::serve(host)?;
    }
    Ok(host)
}

impl Host {
    fn new(directory: Directory) -> Result<Host> {
        let slot = slot::take(&directory)?;
        let (memory, directory) = (Arc::new(slot.memory), Arc::new(directory));
        let header: &Header = memory.at(0).ok_or(Errno::EIO)?;
        header.barriers.store(u32::from(marks::register()), Ordering::Release);
        let keys = Memory::private(KEY_TABLE + u64::from(KEYS) * size_of::<KeyEntry>() as u64)?;
        let keys = Arc::new(keys);
        let place = (Arc::clone(&memory), Arc::clone(&keys));
        let own = Peer::own(slot.number, slot.epoch, place, Arc::clone(&directory));
        Ok(Host {
            slot: slot.number,
            epoch: slot.epoch,
            holder: Holder::new(slot.number, slot.epoch),
            file: slot.file,
            memory,
            keys,
            directory,
            own: Arc::new(own),
            arena: Mutex::new(Arena::new()),
            tables: Tables::new(),
            peers: Mutex::new(Vec::new()),
            threads: agent::Threads::new(),
            pairs: Registry::new(),
            number: AtomicU32::new(0),
        })
    }

    /// What is known of all queue pairs.
    #[inline]
    pub(crate) fn pairs(&self) -> &Registry {
        &self.pairs
    }

    /// Number of the slot, from 1.
    #[inline]
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// Which use of the slot this is; never 0.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The own slot file.
    #[inline]
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A key table of the regions of this process that only it can change: what its own addresses are
    /// checked with.
    #[inline]
    pub(crate) fn keys(&self) -> &Memory {
        &self.keys
    }

    /// The first page of the own slot file.
    pub(crate) fn header(&self) -> Result<&Header> {
        self.memory.at(0).ok_or(Errno::EIO)
    }

    /// Whether this is the host of the calling process: not in a child that inherited it. Objects
    /// remember their host, and calls from a child give ENODEV.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        fork::existing().is_some_and(|host| core::ptr::eq(host, self))
    }

    /// ENODEV in a child that inherited the object which is used.
    #[inline]
    pub(crate) fn check_current(&self) -> Result<()> {
        if self.is_current() { Ok(()) } else { Err(inherited()) }
    }

    /// A thread of this process, as holder of locks.
    #[inline]
    pub(crate) fn holder(&self) -> Holder {
        self.holder
    }

    /// A part of the own slot file, `length` bytes that read as zero; its offset, a multiple of
    /// `align` (a power of two) and of 64. ENOMEM.
    pub(crate) fn alloc(&self, length: u64, align: u64) -> Result<u64> {
        self.arena.lock().alloc(&self.file, &self.memory, length, align)
    }

    /// Takes back what [`alloc`](Self::alloc) gave.
    pub(crate) fn free(&self, offset: u64, length: u64) {
        self.arena.lock().free(&self.file, offset, length);
    }

    /// A record that stays one of its kind: zero when it is new, as it was left when it was in use
    /// before. Its offset; ENOMEM.
    pub(crate) fn new_record<T: Shared>(&self, kind: Kind) -> Result<u64> {
        self.arena.lock().new_record(&self.file, &self.memory, kind, size_of::<T>() as u64)
    }

    /// Takes back what [`new_record`](Self::new_record) gave.
    pub(crate) fn free_record(&self, kind: Kind, offset: u64) {
        self.arena.lock().free_record(kind, offset);
    }

    /// Makes the first `count` entries of the key table usable. ENOMEM.
    pub(crate) fn back_keys(&self, count: u32) -> Result<()> {
        let header = self.header()?;
        let own: &Header = self.keys.at(0).ok_or(Errno::EIO)?;
        if count <= own.keys.load(Ordering::Relaxed) {
            return Ok(());
        }
        let count = count.min(KEYS);
        let length = u64::from(count) * size_of::<KeyEntry>() as u64;
        let mut arena = self.arena.lock();
        arena.back_table(&self.file, KEY_TABLE, length)?;
        let count = own.keys.fetch_max(count, Ordering::Release).max(count);
        header.keys.store(count, Ordering::Release);
        Ok(())
    }

    /// Enters the offset of an object into a table; the index. Numbers come round as late as
    /// possible. ENOMEM if the table is full.
    pub(crate) fn table_insert(&self, table: Table, offset: u64) -> Result<u32> {
        self.tables.insert(&self.memory, table, offset)
    }

    /// Removes an entry from a table.
    pub(crate) fn table_remove(&self, table: Table, index: u32) {
        self.tables.remove(&self.memory, table, index);
    }

    /// Waits for all requests that are under way at QPs and SRQs of this process: what was stored
    /// before this call is seen by all later ones.
    ///
    /// # Errors
    ///
    /// EIO if some do not end, as a process with one has been stopped.
    pub(crate) fn pass_qp_locks(&self) -> Result<()> {
        let srqs = self.tables.used(Table::Srq);
        let is_dead = |holder| self.is_dead(holder);
        for qp in self.qps() {
            // What was good when it was posted may have changed.
            if let Some(queue) = Queue::at(&self.memory, qp.queue.load(Ordering::Relaxed)) {
                queue.distrust();
            }
            qp.lock.pass(self.holder(), PATIENCE, is_dead)?;
        }
        // Requests of XRC come by QPs of any process, but hold the lock of the SRQ.
        for srq in self.objects::<QueueShared>(SRQ_TABLE, srqs) {
            srq.lock.pass(self.holder(), PATIENCE, is_dead)?;
        }
        self.pass_marks(self.qps())
    }

    /// Waits for a lock, of this process or another one; see [`Lock::lock`].
    #[inline]
    pub(crate) fn lock<'a>(&self, lock: &'a Lock, patience: u64) -> Result<(Guard<'a>, TakenOver)> {
        match lock.try_lock(self.holder) {
            Some(guard) => Ok((guard, TakenOver::No)),
            None => self.wait_for(lock, patience),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_for<'a>(&self, lock: &'a Lock, patience: u64) -> Result<(Guard<'a>, TakenOver)> {
        lock.lock(self.holder, patience, |holder| self.is_dead(holder)).inspect_err(|_| {
            if patience >= PATIENCE {
                explain!(
                    "urxe: an object is in use by a process that lives and has not been done with \
                     it for {} s: it may be stopped",
                    PATIENCE / 1_000_000_000,
                );
            }
        })
    }

    /// The QPs of this process.
    fn qps(&self) -> impl Iterator<Item = &QpShared> + Clone {
        let used = self.tables.used(Table::Qp);
        self.objects(QP_TABLE, used)
    }

    /// The objects that are in the first entries of a table.
    fn objects<T: Shared + 'static>(
        &self,
        place: u64,
        used: u32,
    ) -> impl Iterator<Item = &T> + Clone {
        let entries = self.memory.slice::<AtomicU64>(place, used as usize).unwrap_or_default();
        let offsets = entries.iter().map(|entry| entry.load(Ordering::Acquire));
        offsets.filter(|&offset| offset != 0).filter_map(|offset| self.memory.at(offset))
    }

    /// The own process, as a peer.
    pub(crate) fn own(&self) -> &Arc<Peer> {
        &self.own
    }

    /// The process that has a slot; it was alive at most 10 ms ago.
    ///
    /// # Errors
    ///
    /// ENOENT if nobody has the slot; EPROTO if its file is not as it should be; EMFILE, ENOMEM.
    pub(crate) fn peer(&self, slot: u32) -> Result<Arc<Peer>> {
        if slot == self.slot {
            return Ok(Arc::clone(&self.own));
        }
        if slot == 0 || slot >= SLOTS {
            return Err(Errno::ENOENT);
        }
        let mut peers = self.peers.lock();
        if let Some(place) = peers.iter().position(|peer| peer.slot() == slot) {
            match peers.get(place) {
                Some(peer) if peer.is_alive() => return Ok(Arc::clone(peer)),
                _ => drop(peers.swap_remove(place)),
            }
        }
        let peer = Arc::new(Peer::open(&self.directory, slot)?);
        peers.push(Arc::clone(&peer));
        Ok(peer)
    }

    /// Closes what this process has of those that have ended, and have slots that are meant.
    pub(crate) fn forget_dead(&self, is_meant: impl Fn(u32) -> bool) {
        self.peers.lock().retain(|peer| !is_meant(peer.slot()) || peer.is_alive_now());
    }

    /// All processes that use the device, this one too.
    pub(crate) fn all_peers(&self) -> Vec<Arc<Peer>> {
        let slots = self.directory.slots();
        slots.into_iter().filter_map(|slot| self.peer(slot).ok()).collect()
    }

    /// Whether the process of a holder has ended.
    pub(crate) fn is_dead(&self, holder: Holder) -> bool {
        let slot = holder.slot();
        if slot == self.slot {
            return holder.epoch() != self.epoch as u32;
        }
        let known = self.peers.lock().iter().find(|peer| peer.slot() == slot).map(Arc::clone);
        if let Some(peer) = known
            && peer.epoch() as u32 == holder.epoch()
        {
            return !peer.is_alive_now();
        }
        match self.peer(slot) {
            Ok(peer) => peer.epoch() as u32 != holder.epoch() || !peer.is_alive_now(),
            Err(Errno(libc::ENOENT)) => true,
            Err(_) => false,
        }
    }

    fn directory(&self) -> &Directory {
        &self.directory
    }

    /// A number for a file, never used before by this process.
    fn next_number(&self) -> u32 {
        self.number.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }
}

#[cold]
fn inherited() -> Errno {
    explain!("urxe: the object is of the process that forked this one");
    Errno::ENODEV
}
