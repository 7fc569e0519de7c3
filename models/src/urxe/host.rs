//! The `urxe::host` of the models: a process is a piece of memory and a name for its locks. All
//! processes of a model are threads, with the same view of each memory.

use core::cell::RefCell;
use std::sync::Arc;

use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::sys::errno::{Errno, Result};
use crate::sys::mutex::Mutex;
use crate::urxe::shared::{
    Guard, Header, Holder, KEY_TABLE, KeyEntry, Lock, QP_TABLE, QPS, QpShared, Shared, TakenOver,
};

#[path = "../../../src/urxe/host/mailbox.rs"]
pub(crate) mod mailbox;
pub(crate) mod mailbox_model;
#[path = "../../../src/urxe/host/marks.rs"]
mod marks;
#[path = "../../../src/urxe/host/null.rs"]
mod null;
pub(crate) mod once;
#[path = "../../../src/urxe/host/table.rs"]
mod table;

pub(crate) use marks::own_barrier;
pub(crate) use table::Table;

/// Bytes of a process' memory: the tables, and a few objects.
const LENGTH: usize = 0x11_0000;
/// Where the objects are, in the models.
const OBJECTS: u64 = 0x10_8000;

/// As the library's, without a file.
pub(crate) struct Memory {
    base: *mut u8,
}

// SAFETY: all access is by atomics.
unsafe impl Send for Memory {}
// SAFETY: all access is by atomics.
unsafe impl Sync for Memory {}

impl Memory {
    fn new() -> Memory {
        // SAFETY: a new mapping, of zeros.
        let base = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                LENGTH,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(base, libc::MAP_FAILED);
        Memory { base: base.cast() }
    }

    pub(crate) fn at<T: Shared>(&self, offset: u64) -> Option<&T> {
        self.slice::<T>(offset, 1)?.first()
    }

    pub(crate) fn slice<T: Shared>(&self, offset: u64, count: usize) -> Option<&[T]> {
        let end = offset.checked_add(size_of::<T>().checked_mul(count)? as u64)?;
        if end > LENGTH as u64 || !offset.is_multiple_of(align_of::<T>() as u64) {
            return None;
        }
        // SAFETY: inside the memory, aligned, and atomics.
        Some(unsafe { core::slice::from_raw_parts(self.base.add(offset as usize).cast(), count) })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`.
        unsafe { libc::munmap(self.base.cast(), LENGTH) };
    }
}

/// Kinds of records.
#[derive(Clone, Copy)]
#[allow(dead_code)]
pub(crate) enum Kind {
    Qp,
    Queue,
    Cq,
    Counter,
}

/// A process.
pub(crate) struct Host {
    slot: u32,
    own: Arc<Peer>,
    tables: table::Tables,
    /// The part of the memory that is not in use.
    next: Mutex<u64>,
    dead: AtomicBool,
    pairs: Pairs,
}

/// Of the library's `pair::Registry`, what is not about queue pairs.
pub(crate) struct Pairs {
    pub(crate) counters: AtomicU32,
}

/// A process, as others see it.
pub(crate) struct Peer {
    memory: Memory,
    /// Nothing is in there, but in the model that is about it: others are about the table of all.
    keys: Memory,
    epoch: u64,
}

std::thread_local! {
    /// The processes of this execution. Boxes do not move when the list grows.
    #[allow(clippy::vec_box)]
    static HOSTS: RefCell<Vec<Box<Host>>> = const { RefCell::new(Vec::new()) };
}

/// Another one in each execution, so that nothing static is taken for that of this one.
fn epoch_of(slot: u32) -> u64 {
    crate::sync::executions() << 10 | u64::from(slot)
}

/// Begins an execution with so many processes.
pub(crate) fn processes<const N: usize>() -> [&'static Host; N] {
    HOSTS.with_borrow_mut(|hosts| {
        hosts.clear();
        core::array::from_fn(|index| {
            hosts.push(Box::new(Host {
                slot: index as u32 + 1,
                own: Arc::new(Peer {
                    memory: Memory::new(),
                    keys: Memory::new(),
                    epoch: epoch_of(index as u32 + 1),
                }),
                tables: table::Tables::new(),
                next: Mutex::new(OBJECTS),
                dead: AtomicBool::new(false),
                pairs: Pairs { counters: AtomicU32::new(0) },
            }));
            // SAFETY: boxes do not move, and live until the next execution begins.
            unsafe { &*core::ptr::from_ref(hosts[index].as_ref()) }
        })
    })
}

#[allow(dead_code)]
impl Host {
    pub(crate) fn own(&self) -> &Arc<Peer> {
        &self.own
    }

    pub(crate) fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.own.memory
    }

    pub(crate) fn keys(&self) -> &Memory {
        &self.own.keys
    }

    pub(crate) fn header(&self) -> Result<&Header> {
        self.memory().at(0).ok_or(Errno::EIO)
    }

    /// Enters a QP as the first of the table; its number.
    pub(crate) fn enter_qp(&self, place: u64) -> u32 {
        self.qp_entry().store(place, Ordering::Release);
        self.slot * QPS
    }

    pub(crate) fn qp_entry(&self) -> &AtomicU64 {
        self.memory().at(QP_TABLE).unwrap()
    }

    pub(crate) fn qps(&self) -> impl Iterator<Item = &QpShared> + Clone {
        let place = self.qp_entry().load(Ordering::Acquire);
        self.memory().at(place).filter(|_| place != 0).into_iter()
    }

    /// The part of the library's `pass_qp_locks` that is about requests without lock.
    pub(crate) fn pass_all_marks(&self) {
        self.pass_marks(self.qps()).unwrap();
    }

    pub(crate) fn lock<'a>(&self, lock: &'a Lock, patience: u64) -> Result<(Guard<'a>, TakenOver)> {
        lock.lock(self.holder(), patience, |holder| self.is_dead(holder))
    }

    pub(crate) fn table_insert(&self, table: Table, offset: u64) -> Result<u32> {
        self.tables.insert(self.memory(), table, offset)
    }

    pub(crate) fn table_remove(&self, table: Table, index: u32) {
        self.tables.remove(self.memory(), table, index);
    }

    pub(crate) fn peer(&self, slot: u32) -> Result<Arc<Peer>> {
        HOSTS.with_borrow(|hosts| {
            let host = hosts.iter().find(|host| host.slot == slot).ok_or(Errno::ENOENT)?;
            Ok(Arc::clone(&host.own))
        })
    }

    pub(crate) fn all_peers(&self) -> Vec<Arc<Peer>> {
        let slots: Vec<u32> =
            HOSTS.with_borrow(|hosts| hosts.iter().map(|host| host.slot).collect());
        slots.into_iter().map(|slot| self.peer(slot).unwrap()).collect()
    }

    pub(crate) fn holder(&self) -> Holder {
        Holder::new(self.slot, self.epoch())
    }

    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.own.epoch
    }

    pub(crate) fn is_current(&self) -> bool {
        true
    }

    pub(crate) fn check_current(&self) -> Result<()> {
        Ok(())
    }

    /// The process has ended: what it stored before is seen by who finds that out.
    pub(crate) fn ends(&self) {
        self.dead.store(true, Ordering::Release);
    }

    pub(crate) fn is_dead(&self, holder: Holder) -> bool {
        let dead = HOSTS.with_borrow(|hosts| {
            let host = hosts.iter().find(|host| host.slot == holder.slot());
            // SAFETY: as in `processes`.
            host.map(|host| unsafe { &*core::ptr::from_ref(&host.dead) })
        });
        dead.is_some_and(|dead| dead.load(Ordering::Acquire))
    }

    pub(crate) fn alloc(&self, length: u64, align: u64) -> Result<u64> {
        let mut next = self.next.lock();
        let offset = next.next_multiple_of(align.max(64));
        assert!(offset + length <= LENGTH as u64, "a model needs more memory");
        *next = offset + length;
        Ok(offset)
    }

    pub(crate) fn free(&self, _: u64, _: u64) {}

    pub(crate) fn new_record<T: Shared>(&self, _: Kind) -> Result<u64> {
        self.alloc(size_of::<T>() as u64, 64)
    }

    pub(crate) fn free_record(&self, _: Kind, _: u64) {}

    pub(crate) fn back_keys(&self, count: u32) -> Result<()> {
        let end = KEY_TABLE + u64::from(count.min(256)) * size_of::<KeyEntry>() as u64;
        assert!(end <= OBJECTS);
        self.header()?.keys.fetch_max(count.min(256), Ordering::Release);
        Ok(())
    }
}

#[allow(dead_code)]
impl Peer {
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn header(&self) -> Option<&Header> {
        self.memory.at(0)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn keys(&self) -> &Memory {
        &self.keys
    }

    pub(crate) fn file(&self, _: u32) -> Result<Arc<MappedFile>> {
        Err(Errno::ENOENT)
    }

    pub(crate) fn is_alive(&self) -> bool {
        true
    }

    pub(crate) unsafe fn copy_at_once(
        &self,
        _: copy::Direction,
        _: &[libc::iovec],
        remote: &[libc::iovec],
    ) -> usize {
        copy::use_bytes(remote)
    }

    pub(crate) fn is_own(&self) -> bool {
        false
    }

    pub(crate) fn is_alive_now(&self) -> bool {
        true
    }
}

/// A file of a peer that is mapped; there are none.
pub(crate) enum MappedFile {}

impl MappedFile {
    pub(crate) fn range(&self, _: u64, _: u64) -> Option<*mut core::ffi::c_void> {
        match *self {}
    }
}

pub(crate) use crate::sys::futex::now;

/// What the agent of a process hears.
pub(crate) mod agent {
    use super::{AtomicU32, Host, Ordering, Result};

    /// Doorbells that were rung, by slot.
    pub(crate) static BELLS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

    /// Waits until the doorbell of a process is rung.
    pub(crate) fn hear(slot: u32) {
        let bell = &BELLS[slot as usize];
        while bell.load(Ordering::SeqCst) == 0 {
            crate::sys::futex::sleep(bell, 0, None);
        }
    }

    pub(crate) fn serve_if_asked(_: &Host) {}

    pub(crate) fn start(_: &str, body: Box<dyn FnOnce() + Send>) -> Result<()> {
        loom::thread::spawn(body);
        Ok(())
    }

    pub(crate) fn ring_slot(_: &Host, slot: u32) {
        BELLS[slot as usize].fetch_add(1, Ordering::SeqCst);
        crate::sys::futex::wake(&BELLS[slot as usize]);
    }
}

/// The clock of the processor, which stands still.
pub(crate) fn ticks() -> u64 {
    1
}

pub(crate) mod copy {
    use libc::iovec;

    use crate::sync::atomic::AtomicU32;
    use crate::sync::atomic::Ordering::Relaxed;
    use crate::sys::errno::{Errno, Result};

    pub(crate) const TAIL: usize = 8;

    pub(crate) enum Direction {
        Write,
        Read,
    }

    /// 1 while memory of another process is used, and when it is too late for that.
    pub(crate) static IN_USE: AtomicU32 = AtomicU32::new(0);
    pub(crate) static OVER: AtomicU32 = AtomicU32::new(0);

    /// No model moves bytes of programs, but in this one they are used.
    pub(crate) fn use_bytes(pieces: &[iovec]) -> usize {
        IN_USE.store(1, Relaxed);
        assert_eq!(OVER.load(Relaxed), 0, "it is too late");
        IN_USE.store(0, Relaxed);
        pieces.iter().map(|piece| piece.iov_len).sum()
    }

    pub(crate) unsafe fn copy_process(
        _: i32,
        _: Direction,
        _: &[iovec],
        _: &[iovec],
    ) -> Result<()> {
        Err(Errno::EPERM)
    }

    pub(crate) unsafe fn copy(_: &[iovec], _: &[iovec]) -> Result<()> {
        Err(Errno::EPERM)
    }

    pub(crate) unsafe fn copy_straight(_: *const u8, _: *mut u8, _: usize) {
        unreachable!("no memory is mapped")
    }
}

#[allow(dead_code)]
fn unused(_: AtomicU64) {}
