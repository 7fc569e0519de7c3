//! A queue pair as its owner sees it.

use crate::sync::atomic::Ordering::Acquire;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::attempt::Attempt;
use super::freed;
use super::wqe::Ring;
use super::xrc::Xrcd;
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result};
use crate::sys::mutex::Mutex;
use crate::urxe::completion::Cq;
use crate::urxe::completion::counter::Counter;
use crate::urxe::device::{Context, Pd};
use crate::urxe::gate::Gate;
use crate::urxe::host::{Host, Peer};
use crate::urxe::queue::{OwnQueue, Srq};
use crate::urxe::shared::{Guard, PATIENCE, QPS, QpShared, TakenOver};
use crate::urxe::transfer::{Fast, Route};

/// A queue pair.
///
/// It lives as long as anybody who makes its requests go on has it; for the program it ends with
/// `ibv_destroy_qp(3)`.
#[repr(C)]
pub(crate) struct Qp {
    /// What C sees.
    pub(super) verbs: UnsafeCell<verbs_qp>,
    /// Its number.
    pub(crate) number: u32,
    /// Transport service.
    pub(crate) kind: ibv_qp_type,
    /// Number of the protection domain, with which local keys are checked; 0 for XRC_RECV.
    pub(crate) pd: u32,
    /// Offset of its [`QpShared`] in the own slot.
    pub(crate) record: u64,
    /// `QpShared::generation`, while it exists.
    pub(crate) generation: u32,
    /// Number of the device in the header.
    pub(crate) device: u32,
    /// Offset of the completion queue of sends in the own slot; 0 for none.
    pub(crate) send_cq: u64,
    /// Offset of the completion queue of receives in the own slot; 0 for none.
    pub(crate) recv_cq: u64,
    /// This process.
    pub(crate) host: &'static Host,
    /// The record.
    pub(super) shared: &'static QpShared,
    pub(super) objects: Objects,
    /// Its own receive queue.
    pub(super) receives: Option<OwnQueue>,
    /// What it was created with, sizes as they are.
    pub(super) init: ibv_qp_init_attr,
    /// The QP that this one is a handle of, from `ibv_open_qp(3)`.
    pub(super) real: Option<Arc<Qp>>,
    /// How many handles of it the program has; of the real one only.
    pub(super) handles: InUse,
    /// The process that has the QP, if this is a handle of one of another process. It keeps `shared`
    /// mapped.
    pub(super) peer: Option<Arc<Peer>>,
    /// The counters that are attached to it; of the real one only.
    pub(super) counters: Mutex<Vec<&'static Counter>>,
    pub(super) lock: Gate,
    pub(super) send: UnsafeCell<SendQueue>,
}

// SAFETY: what changes is behind the lock, or made of atomics; `verbs` belongs to the program and
// the library, which uses it as that of any device. The pointers in `init` and in requests are not
// followed by threads of the library without a call of the program.
unsafe impl Sync for Qp {}
// SAFETY: as above.
unsafe impl Send for Qp {}

/// The objects that a QP was created with; they outlive it, as they are counted.
pub(super) struct Objects {
    pub(super) context: &'static Context,
    pub(super) domain: Option<&'static Pd>,
    pub(super) send_cq: Option<&'static Cq>,
    pub(super) recv_cq: Option<&'static Cq>,
    pub(super) srq: Option<&'static Srq>,
    pub(super) xrcd: Option<&'static Xrcd>,
}

impl Objects {
    /// Counts the QP at all of them.
    pub(super) fn hold(&self) {
        self.domain.inspect(|domain| domain.hold());
        self.send_cq.inspect(|cq| cq.hold());
        self.recv_cq.inspect(|cq| cq.hold());
        self.srq.inspect(|srq| srq.hold());
        self.xrcd.inspect(|xrcd| xrcd.hold());
    }

    /// Undoes [`hold`](Self::hold).
    pub(super) fn release(&self) {
        self.domain.inspect(|domain| domain.release());
        self.send_cq.inspect(|cq| cq.release());
        self.recv_cq.inspect(|cq| cq.release());
        self.srq.inspect(|srq| srq.release());
        self.xrcd.inspect(|xrcd| xrcd.release());
    }
}

/// What the lock of a QP's send queue guards.
pub(crate) struct SendQueue {
    /// The requests.
    pub(crate) ring: Ring,
    /// What is remembered of the one at the head.
    pub(crate) attempt: Attempt,
    /// The way to the peer.
    pub(super) route: Route,
    /// What is known of the connection.
    pub(super) fast: Fast,
    /// The attributes as `ibv_modify_qp(3)` set them: path, retries and so on. The state is not kept
    /// here but in the shared record.
    pub(crate) attr: ibv_qp_attr,
    /// Requests of the series between `ibv_wr_start` and `ibv_wr_complete`, behind the tail.
    pub(super) building: u32,
    /// Why that series fails.
    pub(super) failed: Option<Errno>,
    /// The QP is among those whose requests wait.
    pub(super) waits: bool,
    /// `IBV_EVENT_SQ_DRAINED` is to be sent when nothing is under way any more.
    pub(super) tells_drained: bool,
    /// The QP has been destroyed.
    pub(super) gone: bool,
}

/// The lock of a send queue, held.
pub(super) struct Sending<'a>(&'a Qp);

impl Deref for Sending<'_> {
    type Target = SendQueue;

    fn deref(&self) -> &SendQueue {
        // SAFETY: the lock is held.
        unsafe { &*self.0.send.get() }
    }
}

impl DerefMut for Sending<'_> {
    fn deref_mut(&mut self) -> &mut SendQueue {
        // SAFETY: the lock is held, and there is one guard.
        unsafe { &mut *self.0.send.get() }
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.lock.unlock();
    }
}

impl Qp {
    /// The QP behind a C pointer.
    ///
    /// # Safety
    ///
    /// `qp` must be a live QP of this device.
    #[inline]
    pub(crate) unsafe fn of<'a>(qp: *mut ibv_qp) -> &'a Qp {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*qp.cast::<Qp>() }
    }

    /// The context that it belongs to.
    pub(crate) fn context(&self) -> &'static Context {
        self.objects.context
    }

    /// Number of its entry in the table.
    pub(super) fn index(&self) -> u32 {
        self.number & (QPS - 1)
    }

    /// The process that has the QP: this one, but for a handle of a QP of another process.
    pub(crate) fn own(&self) -> &Peer {
        self.peer.as_deref().unwrap_or_else(|| self.host.own())
    }

    /// Its state. Peers can make it the error state.
    #[inline]
    pub(crate) fn state(&self) -> ibv_qp_state {
        self.shared.state.load(Acquire)
    }

    /// Number of the context, whose event file gets its asynchronous events.
    pub(crate) fn events(&self) -> u32 {
        self.objects.context.events().number()
    }

    /// Waits for the lock of the send queue.
    #[inline]
    pub(super) fn sending(&self) -> Sending<'_> {
        self.lock.lock();
        Sending(self)
    }

    /// The lock of the send queue, if nobody has it.
    pub(super) fn try_sending(&self) -> Option<Sending<'_>> {
        self.lock.try_lock().then(|| Sending(self))
    }

    /// The lock of the send queue that an earlier call has taken and kept.
    ///
    /// # Safety
    ///
    /// The calling thread must have [kept](Sending::keep) it.
    #[inline]
    pub(super) unsafe fn kept(&self) -> Sending<'_> {
        Sending(self)
    }

    /// Waits for the lock of the record, under which requesters work. The second is whether its last
    /// holder died, so that the QP is to be put into the error state.
    ///
    /// # Errors
    ///
    /// EIO if a process that lives does not give it back.
    pub(super) fn lock_record(&self) -> Result<(Guard<'static>, TakenOver)> {
        self.host.lock(&self.shared.lock, PATIENCE)
    }

    /// EINVAL if the QP, which may be one of another process, is gone.
    pub(super) fn check_exists(&self) -> Result<()> {
        let exists = self.shared.generation.load(Acquire) == self.generation
            && self.peer.as_ref().is_none_or(|peer| peer.is_alive_now());
        if exists { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// ENODEV in a child of the process that created it.
    #[inline]
    pub(super) fn check_process(&self) -> Result<()> {
        self.host.check_current()
    }

    /// The position before which all requests are freed.
    #[inline]
    pub(super) fn freed(&self) -> u32 {
        freed::position(self.index())
    }

    /// Frees all requests before a position; nothing older is freed for this QP any more.
    pub(super) fn set_freed(&self, position: u32) {
        freed::set(self.index(), self.generation, position);
    }
}

impl Sending<'_> {
    /// Keeps the lock for a later call of this thread.
    #[inline]
    pub(super) fn keep(self) {
        core::mem::forget(self);
    }
}
