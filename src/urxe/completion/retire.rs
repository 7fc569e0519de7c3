//! What polling gives back to the queues, and the requests that it keeps going.

use crate::sync::atomic::Ordering::Relaxed;

use libc::iovec;

use super::cq::Cq;
use super::entry::Payload;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::explain;
use crate::urxe::host::{Host, copy};
use crate::urxe::origin::{Origin, Place};
use crate::urxe::shared::KeyMemory;
use crate::urxe::{pair, queue, region};

/// Prepares [`finished`], for a completion that is about to be taken.
#[inline]
pub(super) fn will_finish(host: &Host, origin: Origin) {
    if let Place::Receive { queue, slot, .. } = origin.place() {
        queue::will_be_polled(host.memory(), queue, slot);
    }
}

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

/// Puts a short message into the memory of the receive that it completes; false if that is no
/// longer registered, or too short.
pub(super) fn scatter(host: &Host, origin: Origin, payload: &Payload) -> bool {
    let Place::Receive { queue, generation, slot } = origin.place() else { return false };
    let queue = queue::of_completion(host.memory(), queue, generation);
    let Some((queue, receive)) = queue.and_then(|queue| Some((queue, queue.receive(slot)?))) else {
        return false;
    };
    let pd = queue.shared.pd.load(Relaxed);
    let _using = region::using(host);
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
        let place = match region::check(host.memory(), key, &wanted) {
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
