//! Creating, opening and destroying QPs.

use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr;
use std::sync::Arc;

use super::attempt::Attempt;
use super::extended::{check_operations, set_functions};
use super::qp::{Objects, Qp, SendQueue};
use super::run::stop_waiting;
use super::wqe::Ring;
use super::xrc::Xrcd;
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::heap;
use crate::sys::mutex::Mutex;
use crate::urxe::completion::Cq;
use crate::urxe::completion::counter::Counter;
use crate::urxe::device::{Context, Pd, events};
use crate::urxe::explain;
use crate::urxe::gate::Gate;
use crate::urxe::host::{Host, Kind, Table};
use crate::urxe::limits::{MAX_INLINE, MAX_QP_WR, MAX_SGE};
use crate::urxe::queue::owner::Identity;
use crate::urxe::queue::{OwnQueue, Srq};
use crate::urxe::shared::{QPS, QpShared};
use crate::urxe::transfer;
use crate::urxe::transfer::{Fast, Route};

/// Members of `ibv_qp_init_attr_ex` that the device knows.
const KNOWN: u32 = IBV_QP_INIT_ATTR_PD
    | IBV_QP_INIT_ATTR_XRCD
    | IBV_QP_INIT_ATTR_CREATE_FLAGS
    | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

/// `ibv_create_qp(3)`
///
/// # Errors
///
/// EINVAL for sizes beyond the limits of the device, or objects that are missing or do not fit;
/// EOPNOTSUPP for other types; ENOMEM.
pub(crate) unsafe extern "C" fn create_qp(
    pd: *mut ibv_pd,
    attr: *mut ibv_qp_init_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller passes a PD and attributes with live objects.
    unsafe {
        let given = &mut *attr;
        let mut all = ibv_qp_init_attr_ex {
            qp_context: given.qp_context,
            send_cq: given.send_cq,
            recv_cq: given.recv_cq,
            srq: given.srq,
            cap: given.cap,
            qp_type: given.qp_type,
            sq_sig_all: given.sq_sig_all,
            comp_mask: IBV_QP_INIT_ATTR_PD,
            pd,
            ..ibv_qp_init_attr_ex::zeroed()
        };
        create((*pd).context, &mut all).inspect(|_| given.cap = all.cap).or_null()
    }
}

/// `ibv_create_qp_ex(3)`
///
/// # Errors
///
/// As for [`create_qp`]; EOPNOTSUPP for members and operations that the device does not know.
pub(crate) unsafe extern "C" fn create_qp_ex(
    context: *mut ibv_context,
    attr: *mut ibv_qp_init_attr_ex,
) -> *mut ibv_qp {
    // SAFETY: the caller passes an open context and attributes with live objects.
    unsafe { create(context, &mut *attr) }.or_null()
}

/// # Safety
///
/// `context` must be an open context of this device, and the objects in `attr` NULL or live ones of
/// it.
unsafe fn create(context: *mut ibv_context, attr: &mut ibv_qp_init_attr_ex) -> Result<*mut ibv_qp> {
    // SAFETY: the caller's promise.
    unsafe { Context::of(context) }.host().check_current()?;
    heap::enough()?;
    check_members(attr)?;
    // SAFETY: the caller's promise.
    let objects = unsafe { objects(context, attr) }?;
    let cap = check_sizes(attr)?;
    let operations = if attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS != 0 {
        check_operations(attr.qp_type, attr.send_ops_flags)?;
        Some(attr.send_ops_flags)
    } else {
        None
    };
    let host = objects.context.host();
    host.check_current()?;
    let init = ibv_qp_init_attr {
        qp_context: attr.qp_context,
        send_cq: objects.send_cq.map_or(ptr::null_mut(), |_| attr.send_cq),
        recv_cq: objects.recv_cq.map_or(ptr::null_mut(), |_| attr.recv_cq),
        srq: objects.srq.map_or(ptr::null_mut(), |_| attr.srq),
        cap,
        qp_type: attr.qp_type,
        sq_sig_all: attr.sq_sig_all,
    };
    let domain = objects.domain.filter(|domain| domain.is_parent());
    let ring = Ring::new(cap.max_send_wr, cap.max_send_sge, cap.max_inline_data, domain)?;
    let has_queue = !matches!(attr.qp_type, IBV_QPT_XRC_SEND | IBV_QPT_XRC_RECV);
    let identity = Identity {
        pd: objects.domain.map_or(0, Pd::number),
        events: objects.context.events().number(),
        in_order: true,
        ..Identity::default()
    };
    let receives = (has_queue && objects.srq.is_none())
        .then(|| OwnQueue::new(host, cap.max_recv_wr, cap.max_recv_sge, identity))
        .transpose()?;
    let record = Record::new(host)?;
    let qp = Arc::new(Qp {
        verbs: UnsafeCell::new(verbs_qp::zeroed()),
        number: (host.slot() * QPS) | record.index,
        kind: attr.qp_type,
        pd: identity.pd,
        record: record.offset,
        generation: record.shared.generation.load(Relaxed).wrapping_add(1),
        device: objects.context.device(),
        send_cq: objects.send_cq.map_or(0, Cq::record),
        recv_cq: objects.recv_cq.map_or(0, Cq::record),
        host,
        shared: record.shared,
        objects,
        receives,
        init,
        real: None,
        handles: InUse::one(),
        peer: None,
        counters: Mutex::new(Vec::new()),
        lock: Gate::new(host),
        send: UnsafeCell::new(new_queue(ring)),
    });
    core::mem::forget(record);
    qp.objects.hold();
    qp.set_freed(0);
    // SAFETY: nobody else has the QP yet.
    let public = unsafe { fill(&qp, attr, operations) };
    qp.publish(public);
    super::open::enter(&qp);
    attr.cap = cap;
    Ok(Arc::into_raw(qp).cast_mut().cast())
}

pub(super) fn new_queue(ring: Ring) -> SendQueue {
    SendQueue {
        ring,
        attempt: Attempt::default(),
        route: Route::default(),
        fast: Fast::default(),
        attr: ibv_qp_attr::zeroed(),
        building: 0,
        failed: None,
        waits: false,
        tells_drained: false,
        gone: false,
    }
}

fn check_members(attr: &ibv_qp_init_attr_ex) -> Result<()> {
    let flags =
        if attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS != 0 { attr.create_flags } else { 0 };
    if attr.comp_mask & !KNOWN != 0 || flags != 0 {
        let unknown = attr.comp_mask & !KNOWN;
        explain!(
            "ibv_create_qp_ex: comp_mask {unknown:#x}, create_flags {flags:#x} are not supported"
        );
        return Err(Errno::EOPNOTSUPP);
    }
    let kinds = [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV];
    if !kinds.contains(&attr.qp_type) {
        explain!("ibv_create_qp: the device has no QPs of type {}", attr.qp_type);
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(())
}

/// The objects that a QP of the type has. EINVAL if one is missing, or of another kind.
///
/// # Safety
///
/// As for [`create`].
unsafe fn objects(context: *mut ibv_context, attr: &ibv_qp_init_attr_ex) -> Result<Objects> {
    let is_target = attr.qp_type == IBV_QPT_XRC_RECV;
    let sends = !is_target;
    let receives = sends && attr.qp_type != IBV_QPT_XRC_SEND;
    let has = |bit: u32, pointer: bool| attr.comp_mask & bit != 0 && !pointer;
    let missing = |what: &str| {
        explain!("ibv_create_qp: a QP of type {} needs {what}", attr.qp_type);
        Err(Errno::EINVAL)
    };
    if sends && !has(IBV_QP_INIT_ATTR_PD, attr.pd.is_null()) {
        return missing("a PD");
    }
    if is_target && !has(IBV_QP_INIT_ATTR_XRCD, attr.xrcd.is_null()) {
        return missing("an XRC domain");
    }
    if sends && attr.send_cq.is_null() || receives && attr.recv_cq.is_null() {
        return missing("a CQ");
    }
    // SAFETY: the caller's promise; the objects are counted, so they outlive the QP.
    unsafe {
        let srq = (receives && !attr.srq.is_null()).then(|| Srq::of(attr.srq));
        if srq.is_some_and(Srq::is_xrc) {
            return missing("an SRQ that is not of an XRC domain, or none");
        }
        Ok(Objects {
            context: Context::of(context),
            domain: sends.then(|| Pd::of(attr.pd)),
            send_cq: sends.then(|| Cq::of(attr.send_cq)),
            recv_cq: receives.then(|| Cq::of(attr.recv_cq)),
            srq,
            xrcd: is_target.then(|| Xrcd::of(attr.xrcd)),
        })
    }
}

/// The sizes of the queues that a QP of the type has; EINVAL if they are beyond the limits.
fn check_sizes(attr: &ibv_qp_init_attr_ex) -> Result<ibv_qp_cap> {
    let mut cap = attr.cap;
    if attr.qp_type == IBV_QPT_XRC_RECV {
        return Ok(ibv_qp_cap::zeroed());
    }
    if attr.qp_type == IBV_QPT_XRC_SEND || !attr.srq.is_null() {
        (cap.max_recv_wr, cap.max_recv_sge) = (0, 0);
    }
    for (what, value, most) in [
        ("max_send_wr", cap.max_send_wr, MAX_QP_WR),
        ("max_recv_wr", cap.max_recv_wr, MAX_QP_WR),
        ("max_send_sge", cap.max_send_sge, MAX_SGE),
        ("max_recv_sge", cap.max_recv_sge, MAX_SGE),
        ("max_inline_data", cap.max_inline_data, MAX_INLINE),
    ] {
        if value > most {
            explain!("ibv_create_qp: {what} is {value}, and can be {most} at most");
            return Err(Errno::EINVAL);
        }
    }
    Ok(cap)
}

/// A record for a QP, with its entry in the table; given back when dropped.
struct Record {
    host: &'static Host,
    offset: u64,
    shared: &'static QpShared,
    index: u32,
}

impl Record {
    fn new(host: &'static Host) -> Result<Record> {
        let offset = host.new_record::<QpShared>(Kind::Qp)?;
        let result = match host.memory().at::<QpShared>(offset) {
            Some(shared) => insert(host, offset).map(|index| (shared, index)),
            None => Err(Errno::EIO),
        };
        match result {
            Ok((shared, index)) => Ok(Record { host, offset, shared, index }),
            Err(errno) => {
                host.free_record(Kind::Qp, offset);
                Err(errno)
            }
        }
    }
}

/// Enters a record into the table of QPs. ENOMEM if it is full.
fn insert(host: &Host, offset: u64) -> Result<u32> {
    /// In datagrams this number means a multicast group.
    const MULTICAST: u32 = 0xff_ffff;
    let index = host.table_insert(Table::Qp, offset)?;
    if (host.slot() * QPS) | index != MULTICAST {
        return Ok(index);
    }
    let other = host.table_insert(Table::Qp, offset);
    host.table_remove(Table::Qp, index);
    other
}

impl Drop for Record {
    fn drop(&mut self) {
        self.host.table_remove(Table::Qp, self.index);
        self.host.free_record(Kind::Qp, self.offset);
    }
}

/// Fills in what C sees.
///
/// # Safety
///
/// Nobody else may have the QP.
unsafe fn fill(qp: &Qp, attr: &ibv_qp_init_attr_ex, operations: Option<u64>) -> *mut ibv_qp {
    let verbs = qp.verbs.get();
    // SAFETY: the caller's promise.
    unsafe {
        let public = &mut (*verbs).base.qp;
        public.context = qp.objects.context.public();
        public.qp_context = attr.qp_context;
        public.pd = qp.objects.domain.map_or(ptr::null_mut(), |_| attr.pd);
        public.send_cq = qp.init.send_cq;
        public.recv_cq = qp.init.recv_cq;
        public.srq = qp.init.srq;
        public.handle = qp.number;
        public.qp_num = qp.number;
        public.state = IBV_QPS_RESET;
        public.qp_type = qp.kind;
        libc::pthread_mutex_init(&raw mut public.mutex, ptr::null());
        libc::pthread_cond_init(&raw mut public.cond, ptr::null());
        if let Some(operations) = operations {
            (*verbs).comp_mask |= VERBS_QP_EX;
            set_functions(&mut (*verbs).base.qp_ex, operations);
        }
        if qp.objects.xrcd.is_some() {
            (*verbs).comp_mask |= VERBS_QP_XRCD;
            (*verbs).xrcd = attr.xrcd.cast();
        }
        verbs.cast()
    }
}

impl Qp {
    /// The QP that this one is a handle of, or itself.
    pub(super) fn real(&self) -> &Qp {
        self.real.as_deref().unwrap_or(self)
    }

    /// Fills the record; from now on peers find the QP.
    fn publish(&self, public: *mut ibv_qp) {
        let shared = self.shared;
        let queue = match (&self.receives, self.objects.srq) {
            (Some(queue), _) => queue.offset(),
            (None, Some(srq)) => srq.offset(),
            (None, None) => 0,
        };
        for place in [
            &shared.state,
            &shared.dest_qp_num,
            &shared.access,
            &shared.qkey,
            &shared.min_rnr_timer,
            &shared.path_mtu,
            &shared.msn,
            &shared.flags,
            &shared.counted,
            &shared.reads,
        ] {
            place.store(0, Relaxed);
        }
        shared.peer_epoch.store(0, Relaxed);
        shared.qp_num.store(self.number, Relaxed);
        shared.qp_type.store(self.kind, Relaxed);
        shared.pd.store(self.pd, Relaxed);
        shared.queue.store(queue, Relaxed);
        shared.recv_cq.store(self.recv_cq, Relaxed);
        events::enter(self.host, public.addr(), events::Kind::Qp);
        shared.user_handle.store(public.expose_provenance() as u64, Relaxed);
        shared.device.store(self.device, Relaxed);
        shared.events.store(self.events(), Relaxed);
        shared.xrcd.store(self.objects.xrcd.map_or(0, |xrcd| xrcd.id()), Relaxed);
        shared.begin(self.generation);
    }

    /// Takes the completions that have not been polled out of the queues. No lock of the QP may be
    /// held.
    pub(super) fn forget_completions(&self) {
        self.objects.send_cq.inspect(|cq| cq.forget(self.number));
        if self.recv_cq != self.send_cq {
            self.objects.recv_cq.inspect(|cq| cq.forget(self.number));
        }
    }
}

/// `ibv_destroy_qp(3)`: waits until its events are acknowledged.
///
/// In a child process that has inherited it, only memory is freed.
pub(crate) unsafe extern "C" fn destroy_qp(qp: *mut ibv_qp) -> c_int {
    // SAFETY: made by `Arc`; the caller passes a QP and uses it no more.
    let this = unsafe { Arc::from_raw(qp.cast::<Qp>().cast_const()) };
    if this.host.is_current() && transfer::is_attached(this.host, this.number) {
        explain!("ibv_destroy_qp: QP {:#x} is attached to a multicast group", this.number);
        // The caller goes on to use it.
        core::mem::forget(this);
        Errno::EBUSY.store();
        return libc::EBUSY;
    }
    // With a QP of another process nothing happens when a handle of it goes.
    if this.host.is_current() && this.peer.is_none() {
        // No event names this pointer any more.
        let real = this.real();
        if this.real.is_none() {
            let _guard = this.lock_record();
            this.shared.user_handle.store(0, SeqCst);
        }
        // SAFETY: a live QP.
        unsafe { events::retire_qp(qp) };
        if real.handles.release() {
            real.tear_down();
        }
    }
    this.objects.release();
    // SAFETY: nobody waits for events any more.
    unsafe {
        libc::pthread_mutex_destroy(&raw mut (*qp).mutex);
        libc::pthread_cond_destroy(&raw mut (*qp).cond);
    }
    0
}

impl Qp {
    /// Takes the QP away from its peers, when nobody in this process uses it any more.
    fn tear_down(&self) {
        super::open::remove(self);
        let (dest_qp_num, is_free);
        {
            let mut send = self.sending();
            dest_qp_num = send.attr.dest_qp_num;
            stop_waiting(self, &mut send);
            send.gone = true;
            send.ring.clear();
            self.host.table_remove(Table::Qp, self.index());
            // Requests that are under way are waited for.
            let guard = self.lock_record();
            is_free = guard.is_ok() & self.stop_peer().is_ok();
            self.shared.end(self.generation);
        }
        self.counters.lock().drain(..).for_each(Counter::release);
        self.objects.srq.inspect(|srq| srq.settle());
        // Datagrams may have gone to anybody.
        let is_datagram = self.kind == IBV_QPT_UD;
        self.host.forget_dead(|slot| is_datagram || slot == dest_qp_num / QPS);
        self.forget_completions();
        if is_free {
            self.receives.as_ref().inspect(|queue| queue.close());
            self.host.free_record(Kind::Qp, self.record);
        } else {
            // The peer has been stopped in the middle of a request and may go on with it at any time:
            // what it writes to is nobody else's then.
            self.receives.as_ref().inspect(|queue| queue.abandon());
        }
    }
}
