//! What polling gives back to the queues, and the requests that it keeps going.

use crate::sync::atomic::Ordering::Relaxed;

use libc::iovec;

use super::cq::Cq;
use super::entry::Payload;
use super::poll::Taken;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::explain;
use crate::urxe::host::{Host, copy};
use crate::urxe::origin::{Origin, Place};
use crate::urxe::queue::{Queue, Receive, Slots};
use crate::urxe::region::{Known, User};
use crate::urxe::shared::{Cqe, KeyMemory};
use crate::urxe::{pair, queue, region};

/// Gives back what a polled completion held.
pub(super) fn finished(host: &Host, origin: Origin) {
    match origin.place() {
        Place::Receive { queue, generation, slot } => {
            queue::polled(host.memory(), queue, generation, slot);
        }
        Place::Send { index, generation, position } => pair::polled(index, generation, position),
        Place::None => {}
    }
}

/// What polling a queue remembers of the completion before.
#[derive(Default)]
pub(super) struct Recent {
    /// The receive queue of the last receive, if it was in order, with what origins from it have in
    /// common.
    slots: Option<(u64, Slots)>,
    /// The region that the last short message went to.
    known: Known,
    /// The thread that polls, as one that uses memory.
    user: Option<User>,
}

impl Recent {
    /// The queue that a completion belongs to, which is mostly the same as before; `None` if there is
    /// no such queue any more.
    #[inline(always)]
    pub(super) fn source(
        &mut self,
        host: &'static Host,
        origin: Origin,
        queue: u64,
        generation: u32,
    ) -> Option<Source> {
        match self.slots {
            Some((common, slots)) if common == origin.without_slot() && slots.is_current() => {
                Some(Source::Known(slots))
            }
            _ => self.learn(host, origin, queue, generation),
        }
    }

    #[inline(never)]
    fn learn(
        &mut self,
        host: &'static Host,
        origin: Origin,
        queue: u64,
        generation: u32,
    ) -> Option<Source> {
        let queue = queue::of_completion(host.memory(), queue, generation)?;
        self.slots = Slots::of(&queue).map(|slots| (origin.without_slot(), slots));
        Some(match self.slots {
            Some((_, slots)) => Source::Known(slots),
            None => Source::Any(queue),
        })
    }
}

/// A receive queue of this process.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// One in order.
    Known(Slots),
    /// An SRQ, or one whose record a peer has damaged.
    Any(Queue<'static>),
}

/// Completes a receive for its owner, with `polling` of the CQ held: its number and its message, as
/// far as they are not there yet. Its slot is free then. There may be no such queue any more.
#[inline(always)]
pub(super) fn receive(
    host: &'static Host,
    recent: &mut Recent,
    source: Option<Source>,
    slot: u32,
    taken: &mut Taken,
) {
    let needs_receive = taken.cqe.needs_receive();
    let Some(source) = source else {
        if needs_receive && taken.status == IBV_WC_SUCCESS && taken.cqe.payload_length() != 0 {
            taken.status = IBV_WC_LOC_PROT_ERR;
        }
        return;
    };
    if let Source::Any(queue) = &source {
        queue.fetch_free(slot);
    }
    if needs_receive {
        let (receive, pd) = match &source {
            Source::Known(slots) => (slots.receive(slot), slots.shared.pd.load(Relaxed)),
            Source::Any(queue) => (queue.receive(slot), queue.shared.pd.load(Relaxed)),
        };
        if let Some(receive) = &receive
            && taken.cqe.wr_id_is_there()
        {
            taken.wr_id = receive.wr_id;
        }
        if taken.status == IBV_WC_SUCCESS && !deliver(host, recent, pd, receive, taken.cqe) {
            // The memory of the receive has been deregistered since it was checked.
            taken.status = IBV_WC_LOC_PROT_ERR;
        }
    }
    match &source {
        Source::Known(slots) => slots.free(slot),
        Source::Any(queue) => queue.free(slot),
    }
}

/// Puts the short message of a completion, if it has one, into the memory of its receive; false if
/// that is no longer registered, or too short. With `polling` of the CQ held.
#[inline(always)]
fn deliver(
    host: &'static Host,
    recent: &mut Recent,
    pd: u32,
    receive: Option<Receive<'_>>,
    cqe: &Cqe,
) -> bool {
    let length = cqe.payload_length();
    if length == 0 {
        return true;
    }
    let Some(receive) = receive else { return false };
    let Recent { known, user, .. } = recent;
    let _mark = user.get_or_insert_with(|| User::new(host)).enter();
    if let [entry] = receive.list
        && !cqe.has_grh()
        && length <= entry.length.load(Relaxed)
    {
        let (key, address) = (entry.lkey.load(Relaxed), entry.addr.load(Relaxed));
        if let Some(address) = known.find(host.keys(), pd, key, address, length.into()) {
            // SAFETY: registered memory of this process, to which the program lets the device write.
            unsafe { cqe.copy_payload(length, address) };
            return true;
        }
    }
    cqe.payload().is_some_and(|payload| scatter(host, pd, &receive, &payload))
}

/// Puts a short message into the memory of a receive, with all checks.
#[cold]
#[inline(never)]
fn scatter(host: &Host, pd: u32, receive: &Receive<'_>, payload: &Payload) -> bool {
    let (mut skip, mut bytes) = (payload.offset, payload.bytes());
    for entry in receive.list {
        let length = u64::from(entry.length.load(Relaxed));
        if length <= skip {
            skip -= length;
            continue;
        }
        let (now, later) = bytes.split_at(bytes.len().min((length - skip) as usize));
        let key = entry.lkey.load(Relaxed);
        let wanted = region::Wanted {
            pd,
            access: IBV_ACCESS_LOCAL_WRITE,
            address: entry.addr.load(Relaxed).wrapping_add(skip),
            length: now.len() as u64,
            qp_num: 0,
        };
        let place = match region::check(host.keys(), key, &wanted) {
            Ok(place) => place,
            Err(denied) => {
                explain!("urxe: the memory of a receive is gone before it is polled: {denied}");
                return false;
            }
        };
        if !put(&place, now) {
            return false;
        }
        (skip, bytes) = (0, later);
        if bytes.is_empty() {
            return true;
        }
    }
    bytes.is_empty()
}

/// Stores bytes at a place in the memory of this process; false if it is not there.
fn put(place: &region::Place, bytes: &[u8]) -> bool {
    if place.memory == KeyMemory::NULL {
        return true;
    }
    let to = core::ptr::with_exposed_provenance_mut::<u8>(place.address as usize);
    if place.access & IBV_ACCESS_ON_DEMAND != 0 {
        // Nobody promised that it is mapped.
        let from = iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let into = iovec { iov_base: to.cast(), iov_len: bytes.len() };
        // SAFETY: registered memory, to which the program lets the device write.
        let result = unsafe {
            let pid = libc::getpid();
            copy::copy_process(pid, copy::Direction::Write, &[from], &[into])
        };
        match result {
            Ok(()) => return true,
            Err(Errno::EFAULT) => {
                explain!("urxe: the memory of a receive is not mapped when it is polled");
                return false;
            }
            // The process may not do that even to itself.
            Err(_) => {}
        }
    }
    // SAFETY: registered memory of this process, to which the program lets the device write.
    unsafe { bytes.as_ptr().copy_to_nonoverlapping(to, bytes.len()) };
    true
}

/// Goes on with the requests of the QPs whose sends complete at this queue.
pub(super) fn progress(cq: &Cq) {
    pair::progress(cq.host(), cq.record());
}
