//! The error state, which a QP of any process can be put into.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use crate::abi::*;
use crate::urxe::completion::{self, Added, Entry, counter};
use crate::urxe::device::events;
use crate::urxe::host::{Host, Peer};
use crate::urxe::limits::MAX_QP_WR;
use crate::urxe::origin::Origin;
use crate::urxe::queue::Queue;
use crate::urxe::shared::{PATIENCE, QpShared};

/// Puts a QP of any process into the error state, with the lock of its record held: its receives are
/// flushed, or the last receive of its SRQ has been taken (`IBV_EVENT_QP_LAST_WQE_REACHED`). Its
/// owner flushes the sends when it polls or posts next. `event` is sent first, if this call has
/// changed the state. A QP that has been reset meanwhile stays so.
///
/// IBTA volume 1, sections 10.3.1.7 and 10.10.2.
pub(crate) fn enter_error(me: &Host, peer: &Peer, qp: &QpShared, event: Option<ibv_event_type>) {
    fail_with(me, peer, qp, event, || {});
}

/// As [`enter_error`], with the completion of what has failed written by `complete`: after the state
/// has changed, and before what else is flushed.
pub(super) fn fail_with(
    me: &Host,
    peer: &Peer,
    qp: &QpShared,
    event: Option<ibv_event_type>,
    complete: impl FnOnce(),
) {
    // Nobody changes it without the lock.
    let is_changed = !matches!(qp.state.load(Relaxed), IBV_QPS_RESET | IBV_QPS_ERR);
    if is_changed {
        qp.state.store(IBV_QPS_ERR, SeqCst);
        qp.change();
    }
    complete();
    if !is_changed {
        return;
    }
    if let Some(event) = event {
        send(peer, qp, event);
    }
    flush_receives(me, peer, qp);
    if Queue::at(peer.memory(), qp.queue.load(Relaxed))
        .is_some_and(|queue| queue.shared.srq_num.load(Relaxed) != 0)
    {
        send(peer, qp, IBV_EVENT_QP_LAST_WQE_REACHED);
    }
}

/// Sends an asynchronous event about a QP, with the lock of its record held: its owner takes the
/// handle away under it before it frees the object.
pub(crate) fn send(peer: &Peer, qp: &QpShared, event: ibv_event_type) {
    let (events, handle) = (qp.events.load(Relaxed), qp.user_handle.load(Relaxed));
    if handle != 0 {
        events::send(peer, events, event, handle);
    }
}

/// Completes all receives of a QP in the error state that has a receive queue of its own, with the
/// lock of its record held.
pub(super) fn flush_receives(me: &Host, peer: &Peer, qp: &QpShared) {
    let Some(queue) = Queue::at(peer.memory(), qp.queue.load(Acquire)) else { return };
    if queue.shared.srq_num.load(Relaxed) != 0 {
        return;
    }
    let cq = qp.recv_cq.load(Relaxed);
    // A queue of completions that somebody keeps gets no more.
    if queue.is_torn() && completion::restore(me, peer, &queue, PATIENCE).is_err() {
        return;
    }
    // No queue has more than that, whatever its numbers say.
    for _ in 0..MAX_QP_WR {
        let Some(receive) = queue.first() else { return };
        let entry = Entry {
            wr_id: receive.wr_id,
            status: IBV_WC_WR_FLUSH_ERR,
            opcode: IBV_WC_RECV,
            qp_num: qp.qp_num.load(Relaxed),
            origin: Origin::receive(queue.offset, queue.generation(), receive.slot),
            ..Entry::default()
        };
        let added = completion::receive(me, peer, &queue, cq, &entry, PATIENCE);
        if matches!(added, Added::Gone | Added::Busy) {
            return;
        }
        counter::count(peer.memory(), qp, IBV_QP_ATTACH_COMP_CNTR_OP_RECV, None);
    }
}
