//! Carrying out what is posted: one request after the other, from the head of the send queue.

use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::Arc;

use super::attempt::{Attempt, Done, Outcome};
use super::error::{enter_error, fail_with, send};
use super::fast;
use super::qp::{Qp, SendQueue};
use crate::abi::*;
use crate::urxe::completion::quick::Success;
use crate::urxe::completion::{self, Added, Cq, Entry, counter};
use crate::urxe::host::{self, Host, agent};
use crate::urxe::origin::Origin;

/// Carries out the requests of a send queue, until it is empty or the first of them has to wait.
pub(super) fn run(qp: &Qp, send: &mut SendQueue) {
    while !send.ring.is_idle() {
        match qp.state() {
            IBV_QPS_RTS => {}
            // What has begun is finished.
            IBV_QPS_SQD if send.attempt.has_begun() => {}
            IBV_QPS_SQE | IBV_QPS_ERR => {
                complete(qp, send, Done::failure(IBV_WC_WR_FLUSH_ERR, 0));
                continue;
            }
            _ => break,
        }
        if !send.attempt.has_begun() && fast::try_run(qp, send) {
            continue;
        }
        let wqe = send.ring.wqe(send.ring.head);
        match super::execute(qp, &send.attr, wqe, &mut send.attempt, &mut send.route) {
            Outcome::Done(done) => complete(qp, send, done),
            Outcome::Wait { until } => {
                send.attempt.waits(until);
                break;
            }
        }
    }
    let waits = !send.ring.is_idle() && send.attempt.has_begun();
    if waits != send.waits {
        wait(qp, send, waits);
    }
    if send.tells_drained && !waits {
        send.tells_drained = false;
        let _guard = qp.lock_record();
        self::send(qp.own(), qp.shared, IBV_EVENT_SQ_DRAINED);
    }
}

/// Takes the request at the head out of the queue, with its completion if it gets one.
pub(super) fn complete(qp: &Qp, send: &mut SendQueue, done: Done) {
    let request = *send.ring.wqe(send.ring.head).request;
    send.ring.head = send.ring.head.wrapping_add(1);
    send.attempt = Attempt::default();
    let is_good = done.status == IBV_WC_SUCCESS;
    if !is_good || request.is_signaled() {
        tell(qp, send.ring.head, request.wr_id, request.completion(), done);
    }
    let operation = match request.completion() {
        IBV_WC_SEND => IBV_QP_ATTACH_COMP_CNTR_OP_SEND,
        IBV_WC_RDMA_WRITE => IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE,
        IBV_WC_RDMA_READ => IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ,
        _ => return,
    };
    let bytes = is_good.then_some(u64::from(done.byte_len));
    counter::count(qp.host.memory(), qp.shared, operation, bytes);
}

/// Adds the completion of a request that went well, as [`tell`].
#[inline(always)]
pub(super) fn tell_success(
    qp: &Qp,
    position: u32,
    wr_id: u64,
    opcode: ibv_wc_opcode,
    byte_len: u32,
) {
    let Some(place) = qp.objects.send_cq.and_then(Cq::quick_place) else {
        return tell(qp, position, wr_id, opcode, Done::success(byte_len));
    };
    let origin = Origin::send(qp.index(), qp.generation, position);
    let success = Success {
        wr_id: Some(wr_id),
        opcode,
        byte_len,
        imm: None,
        qp_num: qp.number,
        src_qp: 0,
        sl: 0,
        slid: 0,
        origin,
    };
    place.add(success, &[]);
}

/// Adds the completion of the request before `position`, which has been taken out of the queue.
#[inline(never)]
pub(super) fn tell(qp: &Qp, position: u32, wr_id: u64, opcode: ibv_wc_opcode, done: Done) {
    let is_good = done.status == IBV_WC_SUCCESS;
    let entry = Entry {
        wr_id,
        status: done.status,
        opcode,
        vendor_err: done.vendor_err,
        byte_len: done.byte_len,
        qp_num: qp.number,
        origin: Origin::send(qp.index(), qp.generation, position),
        ..Entry::default()
    };
    let mut added = Added::Done;
    let mut add = || added = completion::add_own(qp.host, qp.own(), qp.send_cq, &entry);
    if is_good || done.status == IBV_WC_WR_FLUSH_ERR {
        add()
    } else {
        fail(qp, add)
    }
    if matches!(added, Added::Overrun | Added::Busy) && qp.state() != IBV_QPS_ERR {
        let Ok((_guard, _)) = qp.lock_record() else { return give_up(qp) };
        enter_error(qp.host, qp.own(), qp.shared, Some(IBV_EVENT_QP_FATAL));
    }
}

/// A request has failed: the QP goes into the error state; of an unreliable one, the send queue
/// alone. The state changes before `complete` tells so, and what is flushed comes behind it. IBTA
/// volume 1, section 10.10.2.
fn fail(qp: &Qp, complete: impl FnOnce()) {
    let Ok((_guard, _)) = qp.lock_record() else {
        give_up(qp);
        return complete();
    };
    if matches!(qp.kind, IBV_QPT_UC | IBV_QPT_UD) {
        // Another may have put the whole QP into error meanwhile, which stays so.
        let state = &qp.shared.state;
        let _ = state.compare_exchange(IBV_QPS_RTS, IBV_QPS_SQE, SeqCst, SeqCst);
        let _ = state.compare_exchange(IBV_QPS_SQD, IBV_QPS_SQE, SeqCst, SeqCst);
        qp.shared.change();
        complete();
    } else {
        fail_with(qp.host, qp.own(), qp.shared, None, complete);
    }
}

/// Puts a QP into the error state that a process which lives has in use and does not get done with.
/// What that has found in order before is finished if it goes on; who posts or changes the QP then
/// flushes the receives.
#[cold]
fn give_up(qp: &Qp) {
    qp.shared.state.store(IBV_QPS_ERR, SeqCst);
    qp.shared.change();
    send(qp.own(), qp.shared, IBV_EVENT_QP_FATAL);
}

/// Notes whether the request at the head waits, for those that make it go on.
#[cold]
fn wait(qp: &Qp, send: &mut SendQueue, waits: bool) {
    send.waits = waits;
    let mut waiting = qp.host.pairs().waiting.lock();
    if waits {
        // SAFETY: every QP is made by `Arc`, and the caller has one.
        let this = unsafe {
            Arc::increment_strong_count(qp);
            Arc::from_raw(qp)
        };
        waiting.push(this);
        qp.objects.send_cq.inspect(|cq| cq.await_progress());
        // A program that polls makes it go on itself, and sooner. Without a thread only that does.
        let until = send.attempt.wake().max(host::now().saturating_add(LOOK_AGAIN));
        let _ = agent::push_at(qp.host, until, progress_all);
    } else if let Some(place) = waiting.iter().position(|other| core::ptr::eq(&**other, qp)) {
        // The caller has it too, so this is not the last.
        waiting.swap_remove(place);
        qp.objects.send_cq.inspect(|cq| cq.settle());
    }
    qp.host.pairs().waiting_count.store(waiting.len() as u32, Relaxed);
}

/// Takes a QP that goes away out of those that wait.
pub(super) fn stop_waiting(qp: &Qp, send: &mut SendQueue) {
    if send.waits {
        wait(qp, send, false);
    }
}

/// Goes on with the requests that wait and complete at the queue with this record, as far as no
/// other thread is about it.
pub(crate) fn progress(host: &Host, cq: u64) {
    if host.pairs().waiting_count.load(Relaxed) != 0 && host.is_current() {
        go_on(host, |qp| qp.send_cq == cq, |_| {}, 0);
    }
}

/// Goes on with all requests that wait. When to do that again at the latest (CLOCK_MONOTONIC,
/// nanoseconds); `None` if no request waits.
fn progress_all(now: u64) -> Option<u64> {
    let mut next = None;
    let Ok(host) = host::host() else { return None };
    go_on(
        host,
        |_| true,
        |until| next = Some(next.map_or(until, |next: u64| next.min(until))),
        now,
    );
    next
}

#[cfg(test)]
use super::testing::is_for_this_thread;

/// Whether this thread makes the requests of a QP go on; tests keep some for themselves.
#[cfg(not(test))]
fn is_for_this_thread(_: &Qp) -> bool {
    true
}

/// How long the program, or another thread that is about a send queue, has to make its requests go
/// on, in nanoseconds.
const LOOK_AGAIN: u64 = 1_000_000;

#[cold]
fn go_on(host: &Host, is_wanted: impl Fn(&Qp) -> bool, mut note: impl FnMut(u64), now: u64) {
    let mut index = 0;
    loop {
        // The list changes while requests are done, so one QP at a time is taken from it; what is
        // missed has its turn the next time.
        let Some(qp) = host.pairs().waiting.lock().get(index).map(Arc::clone) else { return };
        index += 1;
        if !is_wanted(&qp) || !is_for_this_thread(&qp) {
            continue;
        }
        let Some(mut send) = qp.try_sending() else {
            note(now.saturating_add(LOOK_AGAIN));
            continue;
        };
        if !send.gone {
            run(&qp, &mut send);
            if send.waits {
                note(send.attempt.wake());
            }
        }
    }
}
