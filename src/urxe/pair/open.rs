//! QPs that several parts of a program share: `ibv_open_qp(3)`.
//!
//! A handle has a public part of its own; what is done with it is done with the real QP, which lives
//! until the last of its handles in its process is destroyed. Handles of other processes reach its
//! record; they get no events of it.

use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use core::cell::UnsafeCell;
use core::{mem, ptr};
use std::sync::Arc;

use super::create::new_queue;
use super::qp::{Objects, Qp};
use super::wqe::Ring;
use super::xrc::Xrcd;
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::heap;
use crate::sys::mutex::Mutex;
use crate::urxe::device::Context;
use crate::urxe::explain;
use crate::urxe::gate::Gate;
use crate::urxe::host::{self, Host, Peer, Table};
use crate::urxe::shared::{QPS, QpShared};

/// Notes a new QP, if it can be opened.
pub(super) fn enter(qp: &Arc<Qp>) {
    if qp.kind == IBV_QPT_XRC_RECV {
        qp.host.pairs().targets.lock().push(Arc::clone(qp));
    }
}

/// Forgets a QP that goes away.
pub(super) fn remove(qp: &Qp) {
    if qp.kind == IBV_QPT_XRC_RECV {
        let mut targets = qp.host.pairs().targets.lock();
        if let Some(place) = targets.iter().position(|other| ptr::eq(&raw const **other, qp)) {
            // The caller has a reference too.
            targets.swap_remove(place);
        }
    }
}

/// A target QP, of this process or another one.
struct Found {
    /// The QP, if it is of this process; counted as one more handle.
    real: Option<Arc<Qp>>,
    /// Its process, if that is another one.
    peer: Option<Arc<Peer>>,
    shared: &'static QpShared,
    generation: u32,
}

fn find(host: &Host, number: u32, xrcd: &Xrcd) -> Option<Found> {
    if number / QPS == host.slot() {
        let targets = host.pairs().targets.lock();
        let real = targets.iter().find(|qp| {
            qp.number == number && qp.objects.xrcd.is_some_and(|other| other.id() == xrcd.id())
        })?;
        if !real.handles.hold_if_used() {
            // It is being destroyed.
            return None;
        }
        let (shared, generation) = (real.shared, real.generation);
        return Some(Found { real: Some(Arc::clone(real)), peer: None, shared, generation });
    }
    let peer = host.peer(number / QPS).ok()?;
    let offset = Table::Qp.find(peer.memory(), number)?;
    let shared: *const QpShared = peer.memory().at::<QpShared>(offset)?;
    // SAFETY: the handle keeps the peer, and with it the memory mapped, as long as it has this.
    let shared: &'static QpShared = unsafe { &*shared };
    let generation = shared.generation.load(Acquire);
    let is_it = generation & 1 != 0
        && shared.qp_num.load(Relaxed) == number
        && shared.qp_type.load(Relaxed) == IBV_QPT_XRC_RECV
        && shared.xrcd.load(Relaxed) == xrcd.id();
    is_it.then_some(Found { real: None, peer: Some(peer), shared, generation })
}

/// `ibv_open_qp(3)`
///
/// # Errors
///
/// EINVAL if a member is missing, or there is no such target QP in the domain; EOPNOTSUPP for unknown
/// members.
pub(crate) unsafe extern "C" fn open_qp(
    context: *mut ibv_context,
    attr: *mut ibv_qp_open_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller passes an open context and attributes with a live domain.
    unsafe { open(context, &*attr) }.or_null()
}

/// # Safety
///
/// `context` must be an open context of this device, and the domain in `attr` a live one of it.
unsafe fn open(context: *mut ibv_context, attr: &ibv_qp_open_attr) -> Result<*mut ibv_qp> {
    const NEEDED: u32 = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    heap::enough()?;
    if attr.comp_mask >= IBV_QP_OPEN_ATTR_RESERVED {
        explain!("ibv_open_qp: unknown comp_mask {:#x}", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    if attr.comp_mask & NEEDED != NEEDED || attr.qp_type != IBV_QPT_XRC_RECV || attr.xrcd.is_null()
    {
        explain!("ibv_open_qp: it needs number, domain and the type IBV_QPT_XRC_RECV");
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise.
    let (context, xrcd) = unsafe { (Context::of(context), Xrcd::of(attr.xrcd)) };
    context.host().check_current()?;
    let host = host::host()?;
    // Nothing fails any more when the handle is counted.
    let ring = Ring::new(0, 0, 0, None)?;
    let Some(target) = find(host, attr.qp_num, xrcd) else {
        explain!("ibv_open_qp: there is no QP {:#x} of type XRC_RECV in the domain", attr.qp_num);
        return Err(Errno::EINVAL);
    };
    let qp_context = if attr.comp_mask & IBV_QP_OPEN_ATTR_CONTEXT != 0 {
        attr.qp_context
    } else {
        ptr::null_mut()
    };
    let qp = Arc::new(Qp {
        verbs: UnsafeCell::new(verbs_qp::zeroed()),
        number: attr.qp_num,
        kind: IBV_QPT_XRC_RECV,
        pd: 0,
        record: 0,
        generation: target.generation,
        device: context.device(),
        send_cq: 0,
        recv_cq: 0,
        host,
        shared: target.shared,
        objects: Objects {
            context,
            domain: None,
            send_cq: None,
            recv_cq: None,
            srq: None,
            xrcd: Some(xrcd),
        },
        receives: None,
        init: ibv_qp_init_attr {
            qp_context,
            qp_type: IBV_QPT_XRC_RECV,
            ..ibv_qp_init_attr::zeroed()
        },
        real: target.real,
        handles: InUse::none(),
        peer: target.peer,
        counters: Mutex::new(Vec::new()),
        lock: Gate::new(host),
        send: UnsafeCell::new(new_queue(ring)),
    });
    qp.objects.hold();
    let verbs = qp.verbs.get();
    // SAFETY: nobody else has the handle yet.
    unsafe {
        let public = &mut (*verbs).base.qp;
        public.context = context.public();
        public.qp_context = qp_context;
        public.handle = qp.number;
        public.qp_num = qp.number;
        public.state = IBV_QPS_UNKNOWN;
        public.qp_type = qp.kind;
        libc::pthread_mutex_init(&raw mut public.mutex, ptr::null());
        libc::pthread_cond_init(&raw mut public.cond, ptr::null());
        (*verbs).comp_mask |= VERBS_QP_XRCD;
        (*verbs).xrcd = attr.xrcd.cast();
    }
    mem::forget(qp);
    Ok(verbs.cast())
}
