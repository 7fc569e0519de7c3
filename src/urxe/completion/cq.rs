//! The object: creation, notification, resizing, moderation, destruction.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use core::cell::UnsafeCell;
use core::ffi::c_int;

use super::add;
use super::quick;
use super::retire::{self, Recent};
use super::ring::Ring;
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer, keep_errno};
use crate::sys::heap;
use crate::urxe::device::{Buffer, Context, Pd, events};
use crate::urxe::explain;
use crate::urxe::gate::Gate;
use crate::urxe::host::{Host, Kind, Peer};
use crate::urxe::limits::{COMP_VECTORS, MAX_CQE};
use crate::urxe::origin::Place;
use crate::urxe::shared::{CqShared, Cqe, Guard, NOT_ARMED, PATIENCE, TakenOver};

/// A completion queue of this process.
#[repr(C)]
pub(crate) struct Cq {
    verbs: UnsafeCell<verbs_cq>,
    host: &'static Host,
    /// Offset of `shared` in the own slot.
    record: u64,
    shared: &'static CqShared,
    /// Held while completions are taken.
    polling: Gate,
    /// Next to take; changed with `polling` held.
    pub(super) head: AtomicU64,
    /// Offset and number of entries of the ring: the owner need not look at the record, whose cache
    /// line belongs to those who add. Changed with all locks held.
    place: AtomicU64,
    capacity: AtomicU32,
    /// Entries of the ring beyond those that may wait.
    spare: u32,
    /// What polling remembers; used with `polling` held.
    recent: UnsafeCell<Recent>,
    /// QPs and SRQs that complete here.
    users: InUse,
    /// QPs with requests that are not done, whose progress polling makes.
    pending: AtomicU32,
    /// A thread watches the time of events that are held back.
    pub(super) is_watched: AtomicBool,
    /// Parent domain, if it was created in one, and what its allocator gave.
    domain: Option<(&'static Pd, Buffer)>,
}

// SAFETY: the public part belongs to the library and the program; the rest is safe to share.
unsafe impl Sync for Cq {}

/// What a CQ is created with.
struct Wanted {
    entries: u32,
    /// Entries of the ring beyond those. One keeps the current completion of `ibv_start_poll`, while
    /// what it held is used again already.
    spare: u32,
    channel: *mut ibv_comp_channel,
    comp_vector: u32,
    flags: u32,
    single_threaded: bool,
    domain: *mut ibv_pd,
}

impl Cq {
    /// The queue behind a C pointer.
    ///
    /// # Safety
    ///
    /// `cq` must be a live CQ of this device.
    pub(crate) unsafe fn of<'a>(cq: *mut ibv_cq) -> &'a Cq {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*cq.cast::<Cq>() }
    }

    /// Offset of its [`CqShared`] in the slot of this process: what [`add`](super::add::add()) wants.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }

    /// Notes a QP or SRQ that completes here; the queue cannot be destroyed before
    /// [`release`](Self::release).
    pub(crate) fn hold(&self) {
        self.users.hold();
    }

    /// Notes that a QP or SRQ is gone.
    pub(crate) fn release(&self) {
        self.users.release();
    }

    /// Notes that a QP which completes here has requests that wait for their peer: polling makes
    /// their progress until [`settle`](Self::settle).
    pub(crate) fn await_progress(&self) {
        self.pending.fetch_add(1, SeqCst);
    }

    /// Notes that a QP has no more requests that wait.
    pub(crate) fn settle(&self) {
        self.pending.fetch_sub(1, SeqCst);
    }

    /// Whether a QP has requests that wait.
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        self.pending.load(Relaxed) != 0
    }

    /// Takes the completions of a QP that goes away out of the queue, as its last ones; what they
    /// hold of a shared receive queue is given back. No lock of the QP may be held.
    pub(crate) fn forget(&self, qp_num: u32) {
        self.forget_if(|cqe| cqe.qp_num.load(Relaxed) == qp_num);
    }

    /// The same for the completions of an SRQ of XRC, whose record is at an offset.
    pub(crate) fn forget_receives(&self, srq: u64) {
        self.forget_if(
            |cqe| matches!(cqe.origin().place(), Place::Receive { queue, .. } if queue == srq),
        );
    }

    fn forget_if(&self, is_unwanted: impl Fn(&Cqe) -> bool) {
        let _polling = self.enter_seldom();
        // Without the lock the one that is just being added may be left, and is of no QP then.
        let _guard = self.lock();
        let Some(ring) = self.ring() else { return };
        let (head, tail) = (self.head.load(Relaxed), self.shared.tail.load(Acquire));
        for number in (0..tail.wrapping_sub(head)).map(|ahead| head.wrapping_add(ahead)) {
            let Some(cqe) = ring.at(number) else { break };
            if is_unwanted(cqe) && !cqe.is_forgotten() {
                retire::finished(self.host, cqe.origin());
                cqe.forget();
            }
        }
    }

    /// Whether a QP has completions here that were not taken yet.
    #[cfg(test)]
    pub(crate) fn has_completions_of(&self, qp_num: u32) -> bool {
        let _polling = self.enter_seldom();
        let Some(ring) = self.ring() else { return false };
        let head = self.head.load(Relaxed);
        (0..)
            .map_while(|ahead| ring.at(head.wrapping_add(ahead)))
            .any(|cqe| cqe.qp_num.load(Relaxed) == qp_num && !cqe.is_forgotten())
    }

    /// The host that it was created on.
    pub(crate) fn host(&self) -> &'static Host {
        self.host
    }

    pub(super) fn own(&self) -> &'static Peer {
        self.host.own()
    }

    pub(super) fn shared(&self) -> &'static CqShared {
        self.shared
    }

    pub(super) fn polling(&self) -> &Gate {
        &self.polling
    }

    /// What polling remembers.
    ///
    /// # Safety
    ///
    /// `polling` must be held, and this must be the only reference.
    #[allow(clippy::mut_from_ref)]
    pub(super) unsafe fn recent(&self) -> &mut Recent {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.recent.get() }
    }

    /// The ring; with `polling` or the lock held, it stays the same.
    #[inline]
    pub(super) fn ring(&self) -> Option<Ring<'static>> {
        let (place, count) = (self.place.load(Relaxed), self.capacity.load(Relaxed));
        Ring::new(self.shared, self.host.memory().slice::<Cqe>(place, count as usize)?)
    }

    /// The next place, if all that there is to do is to fill it.
    #[inline(always)]
    pub(crate) fn quick_place(&self) -> Option<quick::Place<'static>> {
        // The ring that is known may be an old one until the lock is held.
        let (place, count) = (self.place.load(Relaxed), self.capacity.load(Relaxed));
        let found = self.ring()?.place(self.host, false)?;
        let is_same = place == self.place.load(Relaxed) && count == self.capacity.load(Relaxed);
        is_same.then_some(found)
    }

    /// The memory of the ring.
    fn placed(&self) -> Placed {
        Placed { offset: self.place.load(Relaxed), capacity: self.capacity.load(Relaxed) }
    }

    /// Whether there is no completion to take, as far as can be told without a lock.
    #[inline]
    pub(super) fn looks_empty(&self) -> bool {
        let head = self.head.load(Relaxed);
        let (place, count) = (self.place.load(Relaxed), self.capacity.load(Relaxed));
        let index = head & u64::from(count.wrapping_sub(1));
        match self.host.memory().at::<Cqe>(place + index * size_of::<Cqe>() as u64) {
            Some(cqe) => cqe.sequence.load(Acquire) != head.wrapping_add(1),
            None => false,
        }
    }

    /// Waits for the lock under which completions are added; EIO if a process that lives does not
    /// give it back.
    fn lock(&self) -> Result<Guard<'static>> {
        let (guard, taken_over) = self.host.lock(&self.shared.lock, PATIENCE)?;
        if taken_over == TakenOver::FromTheDead
            && let Some(ring) = self.ring()
            && ring.repair()
        {
            add::send(self.own(), &ring);
        }
        Ok(guard)
    }

    /// ENODEV in a child of the process that created it.
    pub(super) fn check_process(&self) -> Result<()> {
        self.host.check_current()
    }
}

/// `ibv_create_cq(3)`
///
/// # Errors
///
/// EINVAL for a bad size or vector; ENOMEM; ENODEV for a context of a parent process.
pub(crate) unsafe extern "C" fn create_cq(
    context: *mut ibv_context,
    cqe: c_int,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
) -> *mut ibv_cq {
    let wanted = Wanted {
        entries: u32::try_from(cqe).unwrap_or(0),
        spare: 0,
        channel,
        comp_vector: comp_vector.cast_unsigned(),
        flags: 0,
        single_threaded: false,
        domain: core::ptr::null_mut(),
    };
    // SAFETY: the caller passes an open context and NULL or a channel of it.
    unsafe { create(context, &wanted) }.map(|cq| Box::into_raw(cq).cast()).or_null()
}

/// `ibv_create_cq_ex(3)`
///
/// # Errors
///
/// EOPNOTSUPP for fields that the device does not have, and for unknown bits; EINVAL for a bad size
/// or vector; ENOMEM.
pub(crate) unsafe extern "C" fn create_cq_ex(
    context: *mut ibv_context,
    attr: *mut ibv_cq_init_attr_ex,
) -> *mut ibv_cq_ex {
    // SAFETY: the caller passes an open context and attributes that are right for it.
    unsafe { create_extended(context, &*attr) }.map(|cq| Box::into_raw(cq).cast()).or_null()
}

unsafe fn create_extended(
    context: *mut ibv_context,
    attr: &ibv_cq_init_attr_ex,
) -> Result<Box<Cq>> {
    const FIELDS: u32 = IBV_WC_STANDARD_FLAGS
        | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    const TIMES: u32 =
        IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    const MASK: u32 = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    const FLAGS: u32 = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    let has = |bit| attr.comp_mask & bit != 0;
    let flags = if has(IBV_CQ_INIT_ATTR_MASK_FLAGS) { attr.flags } else { 0 };
    let domain =
        if has(IBV_CQ_INIT_ATTR_MASK_PD) { attr.parent_domain } else { core::ptr::null_mut() };
    if attr.wc_flags & !u64::from(FIELDS) != 0 {
        let fields = attr.wc_flags & !u64::from(FIELDS);
        explain!("ibv_create_cq_ex: the device has no completion fields {fields:#x}");
        return Err(Errno::EOPNOTSUPP);
    }
    if attr.comp_mask & !MASK != 0 || flags & !FLAGS != 0 {
        explain!("ibv_create_cq_ex: unknown comp_mask {:#x} or flags {flags:#x}", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    // SAFETY: the caller passes NULL or a PD.
    if has(IBV_CQ_INIT_ATTR_MASK_PD) && (domain.is_null() || !unsafe { Pd::of(domain) }.is_parent())
    {
        explain!("ibv_create_cq_ex: parent_domain is not a parent domain");
        return Err(Errno::EINVAL);
    }
    let timestamps = attr.wc_flags & u64::from(TIMES) != 0;
    let ignores_overrun = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN != 0;
    let wanted = Wanted {
        entries: attr.cqe,
        spare: 1,
        channel: attr.channel,
        comp_vector: attr.comp_vector,
        flags: if timestamps { CqShared::TIMESTAMPS } else { 0 }
            | if ignores_overrun { CqShared::IGNORE_OVERRUN } else { 0 },
        single_threaded: flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED != 0,
        domain,
    };
    // SAFETY: the caller's promise.
    let cq = unsafe { create(context, &wanted) }?;
    // SAFETY: the new CQ is ours alone.
    super::extended::set_functions(unsafe { &mut (*cq.verbs.get()).cq_ex }, attr.wc_flags);
    Ok(cq)
}

unsafe fn create(context: *mut ibv_context, wanted: &Wanted) -> Result<Box<Cq>> {
    heap::enough()?;
    check_size(wanted.entries)?;
    if wanted.comp_vector >= COMP_VECTORS {
        let vector = wanted.comp_vector;
        explain!("ibv_create_cq: there are {COMP_VECTORS} completion vectors, not {vector}");
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller passes an open context of this device.
    let of = unsafe { Context::of(context) };
    let host = of.host();
    host.check_current()?;
    let domain = if wanted.domain.is_null() {
        None
    } else {
        // SAFETY: the caller passes a live domain, which it keeps until the CQ is destroyed.
        let domain: &'static Pd = unsafe { Pd::of(wanted.domain) };
        Some((domain, domain.allocate(size_of::<Cqe>(), super::RESOURCE)?))
    };
    let single_threaded = wanted.single_threaded
        || domain.as_ref().is_some_and(|(domain, _)| domain.is_of_one_thread());
    let record = host.new_record::<CqShared>(Kind::Cq)?;
    let placed = Placed::new(host, wanted.entries + wanted.spare);
    let (Some(shared), Ok(ring)) = (host.memory().at::<CqShared>(record), &placed) else {
        host.free_record(Kind::Cq, record);
        return Err(placed.err().unwrap_or(Errno::EIO));
    };
    shared.ring.store(ring.offset, Relaxed);
    shared.capacity.store(ring.capacity, Relaxed);
    shared.limit.store(wanted.entries, Relaxed);
    for place in [&shared.overrun, &shared.armed, &shared.sending, &shared.moderation] {
        place.store(0, Relaxed);
    }
    shared.held_back.store(0, Relaxed);
    shared.flags.store(wanted.flags, Relaxed);
    shared.tail.store(0, Relaxed);
    shared.seen_head.store(0, Relaxed);
    shared.head.0.store(0, Relaxed);
    // SAFETY: the caller passes NULL or a channel of the context.
    shared.channel.store(unsafe { events::channel_number(wanted.channel) }, Relaxed);
    shared.events.store(of.events().number(), Relaxed);
    let cq = Box::new(Cq {
        verbs: UnsafeCell::new(verbs_cq::zeroed()),
        host,
        record,
        shared,
        polling: if single_threaded { Gate::open_to_all() } else { Gate::new(host) },
        head: AtomicU64::new(0),
        place: AtomicU64::new(ring.offset),
        capacity: AtomicU32::new(ring.capacity),
        spare: wanted.spare,
        recent: UnsafeCell::default(),
        users: InUse::none(),
        pending: AtomicU32::new(0),
        is_watched: AtomicBool::new(false),
        domain,
    });
    if let Some((domain, _)) = &cq.domain {
        domain.hold();
    }
    // SAFETY: the new CQ is ours alone; both forms begin alike.
    unsafe {
        let public = &raw mut (*cq.verbs.get()).cq;
        (*public).context = context;
        (*public).cqe = wanted.entries.cast_signed();
        (*public).handle = (record / 64) as u32;
        events::enter(host, public.addr(), events::Kind::Cq);
        shared.user_handle.store(public.expose_provenance() as u64, Relaxed);
    }
    shared.generation.fetch_add(1, SeqCst);
    Ok(cq)
}

fn check_size(entries: u32) -> Result<()> {
    if entries == 0 || entries > MAX_CQE {
        explain!("a CQ has 1 to {MAX_CQE} entries, not {entries}");
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// The memory of a ring.
struct Placed {
    offset: u64,
    capacity: u32,
}

impl Placed {
    fn new(host: &Host, entries: u32) -> Result<Placed> {
        let capacity = entries.next_power_of_two();
        let offset = host.alloc(Self::length(capacity), align_of::<Cqe>() as u64)?;
        Ok(Placed { offset, capacity })
    }

    fn length(capacity: u32) -> u64 {
        u64::from(capacity) * size_of::<Cqe>() as u64
    }

    fn free(&self, host: &Host) {
        host.free(self.offset, Self::length(self.capacity));
    }
}

/// `ibv_destroy_cq(3)`: waits until all events that the program got are acknowledged.
///
/// # Errors
///
/// EBUSY while a QP or SRQ uses it; ENODEV in a child process.
pub(crate) unsafe extern "C" fn destroy_cq(cq: *mut ibv_cq) -> c_int {
    // SAFETY: the caller passes a CQ of this device and uses it no more.
    unsafe { destroy(cq) }.or_number()
}

unsafe fn destroy(cq: *mut ibv_cq) -> Result<()> {
    // SAFETY: the caller's promise.
    let this = unsafe { Cq::of(cq) };
    let users = this.users.count();
    if users != 0 {
        explain!("ibv_destroy_cq: {users} QPs and SRQs still use the CQ");
        return Err(Errno::EBUSY);
    }
    if this.host.is_current() {
        let (old, is_free) = {
            let guard = this.lock();
            this.shared.generation.fetch_add(1, SeqCst);
            this.shared.armed.store(NOT_ARMED, SeqCst);
            super::moderation::stop(this.shared);
            (this.placed(), guard.is_ok())
        };
        // SAFETY: the caller's promise.
        unsafe { events::retire_cq(cq) };
        // A process that has been stopped in the middle of adding to it may go on at any time; what
        // it writes to is nobody else's then.
        if is_free {
            keep_errno(|| {
                old.free(this.host);
                this.host.free_record(Kind::Cq, this.record);
            });
        }
    }
    // SAFETY: made as a box; the caller uses it no more.
    let cq = unsafe { Box::from_raw(cq.cast::<Cq>()) };
    if let Some((domain, buffer)) = cq.domain {
        drop(buffer);
        domain.release();
    }
    Ok(())
}

/// `ibv_resize_cq(3)`
///
/// # Errors
///
/// EINVAL for a bad size, or one that is less than the completions which wait; ENOMEM; EIO if a
/// process that lives is adding to the queue and does not get done with it.
pub(crate) unsafe extern "C" fn resize_cq(cq: *mut ibv_cq, cqe: c_int) -> c_int {
    // SAFETY: the caller passes a CQ of this device.
    let this = unsafe { Cq::of(cq) };
    let result = resize(this, u32::try_from(cqe).unwrap_or(0)).map(|()| {
        // SAFETY: as above; `cqe` is changed here alone.
        unsafe { (*cq).cqe = cqe };
    });
    result.or_number()
}

fn resize(cq: &Cq, entries: u32) -> Result<()> {
    check_size(entries)?;
    heap::enough()?;
    cq.check_process()?;
    let new = Placed::new(cq.host, entries + cq.spare)?;
    let replaced = {
        let _polling = cq.enter_seldom();
        cq.lock().and_then(|_guard| replace(cq, entries, &new))
    };
    let unused = replaced.as_ref().unwrap_or(&new);
    unused.free(cq.host);
    replaced.map(drop)
}

/// Puts a new ring in the place of the old one, which is returned. With all locks held.
fn replace(cq: &Cq, entries: u32, new: &Placed) -> Result<Placed> {
    let shared = cq.shared;
    let places = cq.host.memory().slice::<Cqe>(new.offset, new.capacity as usize);
    let to = places.and_then(|places| Ring::new(shared, places)).ok_or(Errno::EIO)?;
    let head = cq.head.load(Relaxed);
    let waiting = shared.tail.load(Acquire).wrapping_sub(head);
    if waiting > u64::from(entries) {
        explain!("ibv_resize_cq: {waiting} completions wait, more than {entries}");
        return Err(Errno::EINVAL);
    }
    cq.ring().and_then(|from| from.copy_to(head, &to)).ok_or(Errno::EIO)?;
    // Peers can have damaged what the record says.
    let old = cq.placed();
    // Who takes the lock over from this process finds a dead owner, whose queue nobody polls.
    shared.ring.store(new.offset, Relaxed);
    shared.capacity.store(new.capacity, Relaxed);
    shared.limit.store(entries, Relaxed);
    cq.place.store(new.offset, Relaxed);
    cq.capacity.store(new.capacity, Relaxed);
    Ok(old)
}

/// `ibv_modify_cq(3)`: event moderation.
///
/// # Errors
///
/// EINVAL for attributes that the device does not know.
pub(crate) unsafe extern "C" fn modify_cq(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int {
    // SAFETY: the caller passes a CQ of this device and attributes.
    let (this, attr) = unsafe { (Cq::of(cq), &*attr) };
    modify(this, attr).or_number()
}

fn modify(cq: &Cq, attr: &ibv_modify_cq_attr) -> Result<()> {
    if attr.attr_mask & !IBV_CQ_ATTR_MODERATE != 0 {
        explain!("ibv_modify_cq: unknown attr_mask {:#x}", attr.attr_mask);
        return Err(Errno::EINVAL);
    }
    cq.check_process()?;
    if attr.attr_mask & IBV_CQ_ATTR_MODERATE != 0 {
        let ibv_moderate_cq { cq_count, cq_period } = attr.moderate;
        super::moderation::set(cq, cq_count, cq_period)?;
    }
    Ok(())
}

/// `ibv_req_notify_cq(3)`
///
/// # Errors
///
/// ENODEV in a child process; EIO as for [`resize_cq`].
pub(crate) unsafe extern "C" fn req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
    // SAFETY: the caller passes a CQ of this device.
    let this = unsafe { Cq::of(cq) };
    this.check_process()
        .and_then(|()| this.lock())
        .map(|_guard| this.shared.arm(solicited_only != 0))
        .or_number()
}

impl Cq {
    /// Has [`polling`](Self::polling), until the value is dropped.
    #[inline]
    pub(super) fn enter(&self) -> Entered<'_> {
        self.polling.lock();
        Entered(&self.polling)
    }

    /// As [`enter`](Self::enter), for what happens seldom.
    fn enter_seldom(&self) -> Entered<'_> {
        self.polling.lock_seldom();
        Entered(&self.polling)
    }
}

/// A [`Gate`] that this thread has.
pub(super) struct Entered<'a>(&'a Gate);

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unlock();
    }
}
