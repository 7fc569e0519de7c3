//! Completion counters: `ibv_create_comp_cntr(3)`.
//!
//! Both counts lie in shared memory, as those who complete something are often peers. What QPs
//! count, and in which counters, is in their records; see [`pair::qp_attach_comp_cntr`].
//!
//! [`pair::qp_attach_comp_cntr`]: crate::urxe::pair::qp_attach_comp_cntr

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::cell::UnsafeCell;
use core::ffi::c_int;

use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer};
use crate::sys::heap;
use crate::urxe::device::Context;
use crate::urxe::explain;
use crate::urxe::host::{Host, Kind, Memory};
use crate::urxe::limits::MAX_COUNTERS;
use crate::urxe::shared::{CounterShared, QpShared};

/// What can be counted.
pub(crate) const OPERATIONS: u32 = IBV_QP_ATTACH_COMP_CNTR_OP_SEND
    | IBV_QP_ATTACH_COMP_CNTR_OP_RECV
    | IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ
    | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ
    | IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE
    | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;

/// A counter.
#[repr(C)]
pub(crate) struct Counter {
    verbs: UnsafeCell<ibv_comp_cntr>,
    host: &'static Host,
    /// Offset of its record in the own slot.
    record: u64,
    shared: &'static CounterShared,
    /// QPs that it is attached to.
    users: InUse,
}

// SAFETY: the public part belongs to the program; the rest is safe to share.
unsafe impl Sync for Counter {}

/// Adds to the counter that a QP, whose record is in `memory`, has for an operation: the bytes of a
/// good completion, or none for one in error. With the lock of the record held, or of the QP's send
/// queue for its own requests.
#[inline]
pub(crate) fn count(
    memory: &Memory,
    qp: &QpShared,
    operation: ibv_qp_attach_comp_cntr_op,
    bytes: Option<u64>,
) {
    if qp.counted.load(Relaxed) & operation != 0 {
        add(memory, qp, operation, bytes);
    }
}

#[cold]
fn add(memory: &Memory, qp: &QpShared, operation: u32, bytes: Option<u64>) {
    let place = qp.counters.get(operation.trailing_zeros() as usize);
    let counter = place.and_then(|place| memory.at::<CounterShared>(place.load(Acquire)));
    let Some(counter) = counter else { return };
    // Who sees the new value sees what was completed.
    match bytes {
        None => counter.failed.fetch_add(1, Release),
        Some(bytes) if counter.kind.load(Relaxed) == IBV_COMP_CNTR_TYPE_BYTES => {
            counter.completed.fetch_add(bytes, Release)
        }
        Some(_) => counter.completed.fetch_add(1, Release),
    };
}

impl Counter {
    /// The counter behind a C pointer.
    ///
    /// # Safety
    ///
    /// `counter` must be a live counter of this device.
    pub(crate) unsafe fn of<'a>(counter: *mut ibv_comp_cntr) -> &'a Counter {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*counter.cast::<Counter>() }
    }

    /// Offset of its record in the own slot.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }

    /// Notes a QP that it is attached to.
    pub(crate) fn hold(&self) {
        self.users.hold();
    }

    /// Notes that such a QP is gone.
    pub(crate) fn release(&self) {
        self.users.release();
    }

    /// ENODEV in a child of the process that made it.
    fn check_process(&self) -> Result<()> {
        self.host.check_current()
    }
}

/// `ibv_create_comp_cntr(3)`
///
/// # Errors
///
/// EINVAL for members and flags that there are not; EOPNOTSUPP for another type; ENOMEM if there are
/// as many as there can be.
pub(crate) unsafe extern "C" fn create_comp_cntr(
    context: *mut ibv_context,
    attr: *mut ibv_comp_cntr_init_attr,
) -> *mut ibv_comp_cntr {
    // SAFETY: the caller passes an open context and attributes.
    unsafe { create(context, &*attr) }.or_null()
}

/// # Safety
///
/// `context` must be an open context of this device.
unsafe fn create(
    context: *mut ibv_context,
    attr: &ibv_comp_cntr_init_attr,
) -> Result<*mut ibv_comp_cntr> {
    heap::enough()?;
    let ibv_comp_cntr_init_attr { comp_mask, type_, flags } = *attr;
    if comp_mask != 0 || flags != 0 {
        explain!("ibv_create_comp_cntr: comp_mask {comp_mask:#x} and flags {flags:#x} must be 0");
        return Err(Errno::EINVAL);
    }
    if !matches!(type_, IBV_COMP_CNTR_TYPE_WRS | IBV_COMP_CNTR_TYPE_BYTES) {
        explain!("ibv_create_comp_cntr: there are no counters of type {type_}");
        return Err(Errno::EOPNOTSUPP);
    }
    // SAFETY: the caller's promise.
    let host = unsafe { Context::of(context) }.host();
    host.check_current()?;
    let count = &host.pairs().counters;
    if count.fetch_add(1, Relaxed) >= MAX_COUNTERS {
        count.fetch_sub(1, Relaxed);
        explain!("ibv_create_comp_cntr: the process has {MAX_COUNTERS} counters already");
        return Err(Errno::ENOMEM);
    }
    let record = host.new_record::<CounterShared>(Kind::Counter);
    let record = record.inspect_err(|_| _ = count.fetch_sub(1, Relaxed))?;
    let shared = host.memory().at::<CounterShared>(record).ok_or(Errno::EIO)?;
    shared.completed.store(0, Relaxed);
    shared.failed.store(0, Relaxed);
    shared.kind.store(type_, Relaxed);
    let verbs = UnsafeCell::new(ibv_comp_cntr { context, handle: record as u32 });
    let counter = Counter { verbs, host, record, shared, users: InUse::none() };
    Ok(Box::into_raw(Box::new(counter)).cast())
}

/// `ibv_destroy_comp_cntr(3)`: EBUSY while a QP has it.
///
/// In a child process that has inherited it, only memory is freed.
pub(crate) unsafe extern "C" fn destroy_comp_cntr(counter: *mut ibv_comp_cntr) -> c_int {
    // SAFETY: the caller passes a counter.
    let this = unsafe { Counter::of(counter) };
    if this.host.is_current() {
        let users = this.users.count();
        if users != 0 {
            explain!("ibv_destroy_comp_cntr: the counter is attached to {users} QPs");
            return Err::<(), _>(Errno::EBUSY).or_number();
        }
        this.host.free_record(Kind::Counter, this.record);
        this.host.pairs().counters.fetch_sub(1, Relaxed);
    }
    // SAFETY: made by `Box`; nobody uses it any more.
    drop(unsafe { Box::from_raw(counter.cast::<Counter>()) });
    0
}

/// Does something to one of the counts of a counter.
///
/// # Safety
///
/// `counter` must be a live counter of this device.
unsafe fn with(counter: *mut ibv_comp_cntr, action: impl FnOnce(&'static CounterShared)) -> c_int {
    // SAFETY: the caller's promise.
    let counter = unsafe { Counter::of(counter) };
    counter.check_process().map(|()| action(counter.shared)).or_number()
}

/// `ibv_set_comp_cntr(3)`
pub(crate) unsafe extern "C" fn set_comp_cntr(counter: *mut ibv_comp_cntr, value: u64) -> c_int {
    // SAFETY: the caller passes a counter.
    unsafe { with(counter, |shared| shared.completed.store(value, Release)) }
}

/// `ibv_set_err_comp_cntr(3)`
pub(crate) unsafe extern "C" fn set_err_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: u64,
) -> c_int {
    // SAFETY: the caller passes a counter.
    unsafe { with(counter, |shared| shared.failed.store(value, Release)) }
}

/// `ibv_inc_comp_cntr(3)`
pub(crate) unsafe extern "C" fn inc_comp_cntr(counter: *mut ibv_comp_cntr, amount: u64) -> c_int {
    // SAFETY: the caller passes a counter.
    unsafe { with(counter, |shared| _ = shared.completed.fetch_add(amount, Release)) }
}

/// `ibv_inc_err_comp_cntr(3)`
pub(crate) unsafe extern "C" fn inc_err_comp_cntr(
    counter: *mut ibv_comp_cntr,
    amount: u64,
) -> c_int {
    // SAFETY: the caller passes a counter.
    unsafe { with(counter, |shared| _ = shared.failed.fetch_add(amount, Release)) }
}

/// `ibv_read_comp_cntr(3)`
pub(crate) unsafe extern "C" fn read_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the caller passes a counter, and room for the value.
    unsafe { with(counter, |shared| value.write(read(&shared.completed))) }
}

/// `ibv_read_err_comp_cntr(3)`
pub(crate) unsafe extern "C" fn read_err_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the caller passes a counter, and room for the value.
    unsafe { with(counter, |shared| value.write(read(&shared.failed))) }
}

fn read(count: &AtomicU64) -> u64 {
    count.load(Acquire)
}

/// `ibv_query_comp_cntr_caps(3)`: EINVAL if the caller has no room for what there is.
pub(crate) unsafe extern "C" fn query_comp_cntr_caps(
    _context: *mut ibv_context,
    caps: *mut ibv_comp_cntr_caps,
    size: usize,
) -> c_int {
    let all = ibv_comp_cntr_caps {
        max_value: u64::MAX,
        max_counters: MAX_COUNTERS,
        supported_qp_attach_ops: OPERATIONS,
    };
    if size < size_of_val(&all) {
        return Err::<(), _>(Errno::EINVAL).or_number();
    }
    // SAFETY: the caller has that much room.
    unsafe { caps.write(all) };
    0
}
