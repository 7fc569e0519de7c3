//! Shared receive queues: `ibv_create_srq(3)`, `ibv_create_srq_ex(3)`, `ibv_modify_srq(3)` and so
//! on.

use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr;

use super::owner::{Identity, OwnQueue, answer};
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer};
use crate::sys::heap;
use crate::urxe::completion::{self, Cq};
use crate::urxe::device::{Context, Pd, events};
use crate::urxe::explain;
use crate::urxe::host::Table;
use crate::urxe::limits::{MAX_SRQ_SGE, MAX_SRQ_WR};
use crate::urxe::pair::Xrcd;
use crate::urxe::shared::{Guard, PATIENCE, SRQS};

/// A shared receive queue.
#[repr(C)]
pub(crate) struct Srq {
    verbs: UnsafeCell<verbs_srq>,
    queue: OwnQueue,
    /// Its number for peers.
    number: u32,
    domain: &'static Pd,
    cq: Option<&'static Cq>,
    xrcd: Option<&'static Xrcd>,
    /// QPs that take receives from it.
    users: InUse,
}

// SAFETY: the public part belongs to the library and the program; the rest is safe to share.
unsafe impl Sync for Srq {}

impl Srq {
    /// The queue behind a C pointer.
    ///
    /// # Safety
    ///
    /// `srq` must be a live SRQ of this device.
    pub(crate) unsafe fn of<'a>(srq: *mut ibv_srq) -> &'a Srq {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*srq.cast::<Srq>() }
    }

    /// Offset of its record in the own slot.
    pub(crate) fn offset(&self) -> u64 {
        self.queue.offset()
    }

    /// Whether peers address it by its number.
    pub(crate) fn is_xrc(&self) -> bool {
        self.xrcd.is_some()
    }

    /// Notes a QP that takes receives from it.
    pub(crate) fn hold(&self) {
        self.users.hold();
    }

    /// Notes that a QP is gone.
    pub(crate) fn release(&self) {
        self.users.release();
    }

    /// The lock under which requesters take receives; EIO if a process that lives keeps it, or that
    /// of the CQ.
    fn lock(&self) -> Result<Guard<'static>> {
        let host = self.queue.host();
        let queue = self.queue.view().ok_or(Errno::EINVAL)?;
        let (guard, _) = host.lock(&queue.shared.lock, PATIENCE)?;
        if queue.is_torn() {
            completion::restore(host, host.own(), &queue, PATIENCE)?;
        }
        Ok(guard)
    }

    /// Puts right what a requester that died has left, before completions are forgotten; as far as
    /// that can be done.
    pub(crate) fn settle(&self) {
        let _ = self.lock();
    }

    fn check_process(&self) -> Result<()> {
        self.queue.host().check_current()
    }
}

/// `ibv_create_srq(3)`
///
/// # Errors
///
/// EINVAL for a size of 0 or beyond the limits; ENOMEM.
pub(crate) unsafe extern "C" fn create_srq(
    pd: *mut ibv_pd,
    attr: *mut ibv_srq_init_attr,
) -> *mut ibv_srq {
    // SAFETY: the caller passes a PD and attributes.
    unsafe {
        let mut all = ibv_srq_init_attr_ex {
            srq_context: (*attr).srq_context,
            attr: (*attr).attr,
            comp_mask: IBV_SRQ_INIT_ATTR_PD,
            pd,
            ..ibv_srq_init_attr_ex::zeroed()
        };
        create((*pd).context, &mut all).inspect(|_| (*attr).attr = all.attr).or_null()
    }
}

/// `ibv_create_srq_ex(3)`
///
/// # Errors
///
/// As for [`create_srq`]; EINVAL if an object is missing; EOPNOTSUPP for tag matching and unknown
/// members.
pub(crate) unsafe extern "C" fn create_srq_ex(
    context: *mut ibv_context,
    attr: *mut ibv_srq_init_attr_ex,
) -> *mut ibv_srq {
    // SAFETY: the caller passes an open context and attributes with live objects.
    unsafe { create(context, &mut *attr) }.or_null()
}

/// # Safety
///
/// `context` must be an open context of this device, and the objects in `attr` live ones of it.
unsafe fn create(
    context: *mut ibv_context,
    attr: &mut ibv_srq_init_attr_ex,
) -> Result<*mut ibv_srq> {
    // SAFETY: the caller's promise.
    unsafe { Context::of(context) }.host().check_current()?;
    heap::enough()?;
    let has = |bit: u32| attr.comp_mask & bit != 0;
    let kind = if has(IBV_SRQ_INIT_ATTR_TYPE) { attr.srq_type } else { IBV_SRQT_BASIC };
    if attr.comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED
        || !matches!(kind, IBV_SRQT_BASIC | IBV_SRQT_XRC)
    {
        explain!("ibv_create_srq_ex: type {kind} or comp_mask {:#x} unknown", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    let is_xrc = kind == IBV_SRQT_XRC;
    let has_all = has(IBV_SRQ_INIT_ATTR_PD)
        && !attr.pd.is_null()
        && (!is_xrc
            || has(IBV_SRQ_INIT_ATTR_XRCD)
                && has(IBV_SRQ_INIT_ATTR_CQ)
                && !attr.xrcd.is_null()
                && !attr.cq.is_null());
    if !has_all {
        explain!("ibv_create_srq_ex: it needs a PD, and for XRC a domain and a CQ");
        return Err(Errno::EINVAL);
    }
    check_size("max_wr", attr.attr.max_wr, MAX_SRQ_WR)?;
    check_size("max_sge", attr.attr.max_sge, MAX_SRQ_SGE)?;
    // SAFETY: the caller's promise; the objects are counted, so they outlive the SRQ.
    let (context, domain, cq, xrcd) = unsafe {
        (
            Context::of(context),
            Pd::of(attr.pd),
            is_xrc.then(|| Cq::of(attr.cq)),
            is_xrc.then(|| Xrcd::of(attr.xrcd)),
        )
    };
    let host = context.host();
    host.check_current()?;
    let identity = Identity {
        pd: domain.number(),
        events: context.events().number(),
        cq: cq.map_or(0, Cq::record),
        xrcd: xrcd.map_or(0, Xrcd::id),
        in_order: false,
    };
    let queue = OwnQueue::new(host, attr.attr.max_wr, attr.attr.max_sge, identity)?;
    let index = host.table_insert(Table::Srq, queue.offset())?;
    let number = (host.slot() * SRQS) | index;
    let mut verbs = verbs_srq::zeroed();
    verbs.srq.context = context.public();
    verbs.srq.srq_context = attr.srq_context;
    verbs.srq.pd = attr.pd;
    verbs.srq.handle = number;
    verbs.srq_type = kind;
    if is_xrc {
        (verbs.xrcd, verbs.cq, verbs.srq_num) = (attr.xrcd.cast(), attr.cq, number);
    }
    let srq = Box::new(Srq {
        verbs: UnsafeCell::new(verbs),
        queue,
        number,
        domain,
        cq,
        xrcd,
        users: InUse::none(),
    });
    srq.domain.hold();
    srq.cq.inspect(|cq| cq.hold());
    srq.xrcd.inspect(|xrcd| xrcd.hold());
    let public = srq.verbs.get().cast::<ibv_srq>();
    // SAFETY: nobody else has the SRQ yet.
    unsafe {
        libc::pthread_mutex_init(&raw mut (*public).mutex, ptr::null());
        libc::pthread_cond_init(&raw mut (*public).cond, ptr::null());
    }
    if let Some(queue) = srq.queue.view() {
        events::enter(host, public.addr(), events::Kind::Srq);
        queue.shared.user_handle.store(public.expose_provenance() as u64, Relaxed);
        // With the number, requesters know it as an SRQ.
        queue.shared.srq_num.store(number, Release);
    }
    attr.attr.srq_limit = 0;
    Ok(Box::into_raw(srq).cast())
}

fn check_size(what: &str, value: u32, most: u32) -> Result<()> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    explain!("urxe: {what} of an SRQ is {value}, and can be 1 to {most}");
    Err(Errno::EINVAL)
}

/// `ibv_modify_srq(3)`
///
/// # Errors
///
/// EINVAL for an unknown bit, a limit above the size, a size of 0, beyond the limits or below the
/// receives that are outstanding; ENOMEM; ENODEV in a child process; EIO if a process that lives is
/// taking a receive and does not get done with it.
pub(crate) unsafe extern "C" fn modify_srq(
    srq: *mut ibv_srq,
    attr: *mut ibv_srq_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller passes an SRQ and attributes.
    unsafe { modify(Srq::of(srq), &*attr, mask.cast_unsigned()) }.or_number()
}

fn modify(srq: &Srq, attr: &ibv_srq_attr, mask: u32) -> Result<()> {
    srq.check_process()?;
    let has = |bit: u32| mask & bit != 0;
    if mask & !(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) != 0 {
        explain!("ibv_modify_srq: unknown mask {mask:#x}");
        return Err(Errno::EINVAL);
    }
    if has(IBV_SRQ_MAX_WR) {
        check_size("max_wr", attr.max_wr, MAX_SRQ_WR)?;
        heap::enough()?;
    }
    let (before, _) = srq.queue.caps();
    let max_wr = if has(IBV_SRQ_MAX_WR) { attr.max_wr } else { before };
    let queue = srq.queue.view().ok_or(Errno::EINVAL)?;
    let limit = if has(IBV_SRQ_LIMIT) { attr.srq_limit } else { queue.shared.limit.load(Relaxed) };
    if limit > max_wr {
        explain!("ibv_modify_srq: the limit {limit} is above the size {max_wr}");
        return Err(Errno::EINVAL);
    }
    if has(IBV_SRQ_MAX_WR) {
        srq.queue.resize(max_wr, || srq.lock()).inspect_err(|_| {
            explain!("ibv_modify_srq: cannot change the size from {before} to {max_wr}");
        })?;
    }
    if has(IBV_SRQ_LIMIT) {
        queue.shared.limit.store(limit, SeqCst);
    }
    Ok(())
}

/// `ibv_query_srq(3)`
pub(crate) unsafe extern "C" fn query_srq(srq: *mut ibv_srq, attr: *mut ibv_srq_attr) -> c_int {
    // SAFETY: the caller passes an SRQ and room for its attributes.
    unsafe {
        let srq = Srq::of(srq);
        let result = srq.check_process().map(|()| {
            let (max_wr, max_sge) = srq.queue.caps();
            let limit = srq.queue.view().map_or(0, |queue| queue.shared.limit.load(Relaxed));
            *attr = ibv_srq_attr { max_wr, max_sge, srq_limit: limit };
        });
        result.or_number()
    }
}

/// `ibv_get_srq_num(3)`
///
/// # Errors
///
/// EINVAL for an SRQ that is not of an XRC domain.
pub(crate) unsafe extern "C" fn get_srq_num(srq: *mut ibv_srq, number: *mut u32) -> c_int {
    // SAFETY: the caller passes an SRQ and room for the number.
    unsafe {
        let srq = Srq::of(srq);
        if !srq.is_xrc() {
            explain!("ibv_get_srq_num: the SRQ is not of an XRC domain");
            return Err(Errno::EINVAL).or_number();
        }
        *number = srq.number;
    }
    0
}

/// `ibv_post_srq_recv(3)`
///
/// # Errors
///
/// EINVAL for too many entries; ENOMEM if the queue is full; ENODEV in a child process. `bad` gets
/// the first request that is not posted.
pub(crate) unsafe extern "C" fn post_srq_recv(
    srq: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller passes an SRQ, a list of requests and room for a pointer.
    unsafe {
        let srq = Srq::of(srq);
        let posted = match srq.check_process() {
            Ok(()) => srq.queue.post(wr),
            Err(errno) => Err((errno, wr)),
        };
        if posted.is_err() {
            let (max_wr, max_sge) = srq.queue.caps();
            explain!(
                "urxe: SRQ {:#x} refuses a receive: {max_wr} can be outstanding, with {max_sge} \
                 entries",
                srq.number
            );
        }
        answer(posted, bad)
    }
}

/// `ibv_destroy_srq(3)`: waits until its events are acknowledged.
///
/// # Errors
///
/// EBUSY while a QP uses it.
pub(crate) unsafe extern "C" fn destroy_srq(srq: *mut ibv_srq) -> c_int {
    // SAFETY: the caller passes an SRQ and uses it no more.
    unsafe { destroy(srq) }.or_number()
}

/// # Safety
///
/// `srq` must be a live SRQ that the caller uses no more.
unsafe fn destroy(srq: *mut ibv_srq) -> Result<()> {
    // SAFETY: the caller's promise.
    let this = unsafe { Srq::of(srq) };
    let users = this.users.count();
    if users != 0 {
        explain!("ibv_destroy_srq: {users} QPs still use SRQ {:#x}", this.number);
        return Err(Errno::EBUSY);
    }
    let host = this.queue.host();
    if host.is_current() {
        host.table_remove(Table::Srq, this.number & (SRQS - 1));
        {
            // Requests that are under way to an XRC SRQ are waited for.
            let guard = this.lock();
            if guard.is_err() {
                this.queue.abandon();
            }
            if let Some(queue) = this.queue.view() {
                queue.shared.user_handle.store(0, SeqCst);
                queue.shared.limit.store(0, SeqCst);
                let generation = queue.generation();
                queue.shared.generation.store(generation.wrapping_add(1), SeqCst);
            }
        }
        this.cq.inspect(|cq| cq.forget_receives(this.offset()));
        // SAFETY: the caller's promise; peers send no more events about it.
        unsafe { events::retire_srq(srq) };
    }
    // SAFETY: made as a box; nobody waits for events any more.
    unsafe {
        libc::pthread_mutex_destroy(&raw mut (*srq).mutex);
        libc::pthread_cond_destroy(&raw mut (*srq).cond);
        let this = Box::from_raw(srq.cast::<Srq>());
        this.domain.release();
        this.cq.inspect(|cq| cq.release());
        this.xrcd.inspect(|xrcd| xrcd.release());
    }
    Ok(())
}
