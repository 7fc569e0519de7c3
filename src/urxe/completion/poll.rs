//! Polling: `ibv_poll_cq(3)`, and what both ways of polling share.

use crate::sync::atomic::Ordering::Relaxed;
use core::ffi::c_int;

use super::cq::Cq;
use super::retire;
use super::ring::Ring;
use crate::abi::*;
use crate::urxe::host::agent;
use crate::urxe::origin::Place;
use crate::urxe::pair;
use crate::urxe::shared::Cqe;

impl Cq {
    /// The next completion, which is taken: its message is where it belongs, and what it held is
    /// given back. With `polling` held; the entry stays until the head is published.
    pub(super) fn take(&self, ring: &Ring<'static>) -> Option<Taken> {
        loop {
            let head = self.head.load(Relaxed);
            let cqe = ring.at(head)?;
            self.head.store(head.wrapping_add(1), Relaxed);
            if cqe.is_forgotten() {
                continue;
            }
            let mut taken = Taken { cqe, status: cqe.status(), wr_id: cqe.wr_id.load(Relaxed) };
            let origin = cqe.origin();
            // SAFETY: `polling` is held, and this is the only reference.
            let recent = unsafe { self.recent() };
            match origin.place() {
                Place::Receive { queue, generation, slot } => {
                    let source = recent.source(self.host(), origin, queue, generation);
                    retire::receive(self.host(), recent, source, slot, &mut taken);
                }
                Place::Send { index, generation, position } => {
                    pair::polled(index, generation, position);
                }
                Place::None => {}
            }
            return Some(taken);
        }
    }
}

/// A completion that has been taken.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) cqe: &'static Cqe,
    pub(super) status: ibv_wc_status,
    pub(super) wr_id: u64,
}

/// `ibv_poll_cq(3)`: the number of completions, up to `count`; -ENODEV in a child process.
pub(crate) unsafe extern "C" fn poll_cq(cq: *mut ibv_cq, count: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the caller passes a CQ of this device.
    let cq = unsafe { Cq::of(cq) };
    if cq.has_pending() {
        retire::progress(cq);
    }
    if cq.looks_empty() {
        if !cq.host().is_current() {
            return -libc::ENODEV;
        }
        agent::serve_if_asked(cq.host());
        return 0;
    }
    if !cq.host().is_current() {
        return -libc::ENODEV;
    }
    let _polling = cq.enter();
    let Some(ring) = cq.ring() else { return 0 };
    let mut got = 0;
    while got < count {
        let Some(taken) = cq.take(&ring) else { break };
        let new = ibv_wc { wr_id: taken.wr_id, status: taken.status, ..taken.cqe.to_wc() };
        // SAFETY: the caller has room for `count` completions.
        unsafe { wc.add(got as usize).write(new) };
        got += 1;
    }
    ring.publish(cq.head.load(Relaxed));
    got
}
