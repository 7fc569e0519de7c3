//! Adding a completion to a queue of any process.

use crate::sync::atomic::Ordering::{Acquire, Relaxed};

use super::entry::Entry;
use super::moderation;
use super::ring::{Event, Put, Ring};
use crate::abi::*;
use crate::sys::errno::Result;
use crate::urxe::device::events;
use crate::urxe::explain;
use crate::urxe::host::{self, Host, Peer};
use crate::urxe::origin::Origin;
use crate::urxe::queue::{POSITION_MASK, Queue, Taken};
use crate::urxe::shared::{CqShared, Cqe, PATIENCE, TakenOver};

/// What became of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Added {
    /// It is in the queue.
    Done,
    /// It is lost, as there was no room: the queue is in error, and so is the QP now. The owner of
    /// the queue has been told, with `IBV_EVENT_CQ_ERR`, the first time.
    Overrun,
    /// There is no such queue.
    Gone,
    /// It is not, as a process that lives has the lock of the queue and does not give it back.
    Busy,
}

/// Adds a completion to the queue at this offset in the slot of a process, and sends the event that
/// its owner asked for. `me` is the calling process. Waits for the lock of the queue, `patience`
/// nanoseconds at most, after which no other is taken.
pub(crate) fn add(me: &Host, peer: &Peer, cq: u64, entry: &Entry<'_>, patience: u64) -> Added {
    let Some(shared) = peer.memory().at::<CqShared>(cq) else { return Added::Gone };
    let Ok((_guard, taken_over)) = me.lock(&shared.lock, patience) else { return Added::Busy };
    let Some(ring) = ring_of(peer, shared) else { return Added::Gone };
    if taken_over == TakenOver::FromTheDead && ring.repair() {
        send(peer, &ring);
    }
    match ring.put(entry, host::now) {
        Put::Done => {
            match ring.event(entry.is_solicited(), host::now) {
                Event::Send => send(peer, &ring),
                Event::HeldBack => moderation::held_back(shared),
                Event::No => {}
            }
            Added::Done
        }
        Put::Overrun => {
            explain!(
                "urxe: no room for a completion of QP {:#x} (wr_id {:#x}): all {} entries of its CQ \
                 are in use",
                entry.qp_num,
                entry.wr_id,
                shared.limit.load(Relaxed),
            );
            let handle = shared.user_handle.load(Relaxed);
            events::send(peer, shared.events.load(Relaxed), IBV_EVENT_CQ_ERR, handle);
            Added::Overrun
        }
        Put::OverrunBefore => Added::Overrun,
    }
}

/// Adds the completion of a request of this process to one of its queues, which there is no second
/// way to: one that cannot be used, as another process keeps its lock, is in error from then on.
pub(crate) fn add_own(me: &Host, peer: &Peer, cq: u64, entry: &Entry<'_>) -> Added {
    let added = add(me, peer, cq, entry, PATIENCE);
    if added == Added::Busy {
        give_up(peer, cq);
    }
    added
}

#[cold]
fn give_up(peer: &Peer, cq: u64) {
    // One store, which whoever has the lock does not mind.
    if let Some(shared) = peer.memory().at::<CqShared>(cq)
        && shared.overrun.swap(1, Relaxed) == 0
    {
        let handle = shared.user_handle.load(Relaxed);
        events::send(peer, shared.events.load(Relaxed), IBV_EVENT_CQ_ERR, handle);
    }
}

/// Takes the first receive of a queue, whose lock is held, and adds its completion, so that who dies
/// in between can be followed by [`restore`]. With [`Added::Busy`] nothing has happened.
pub(crate) fn receive(
    me: &Host,
    peer: &Peer,
    queue: &Queue<'_>,
    cq: u64,
    entry: &Entry<'_>,
    patience: u64,
) -> Added {
    let position = peer.memory().at::<CqShared>(cq).map_or(0, |cq| cq.tail.load(Relaxed));
    queue.begin_taking(cq, position);
    let added = add(me, peer, cq, entry, patience);
    if added == Added::Busy {
        queue.put_back();
    }
    queue.taken();
    added
}

/// Gives a receive back that somebody had taken who died before its completion was there. With the
/// lock of the queue held; its lock and no other of a CQ is taken.
///
/// # Errors
///
/// EIO if a process that lives keeps that for `patience` nanoseconds: all is as before then.
#[cold]
pub(crate) fn restore(me: &Host, peer: &Peer, queue: &Queue<'_>, patience: u64) -> Result<()> {
    if let Some(taken) = queue.torn()
        && !is_completed(me, peer, queue, taken, patience)?
    {
        queue.put_back();
    }
    queue.taken();
    Ok(())
}

/// Whether the completion of a receive has been added. One that is not in the queue any more has been
/// polled, and its slot been given back then.
fn is_completed(
    me: &Host,
    peer: &Peer,
    queue: &Queue<'_>,
    taken: Taken,
    patience: u64,
) -> Result<bool> {
    let Some(shared) = peer.memory().at::<CqShared>(taken.cq) else { return Ok(true) };
    let (_guard, taken_over) = me.lock(&shared.lock, patience)?;
    let Some(ring) = ring_of(peer, shared) else { return Ok(true) };
    if taken_over == TakenOver::FromTheDead && ring.repair() {
        send(peer, &ring);
    }
    let origin = Origin::receive(queue.offset, queue.generation(), taken.slot);
    let found = ring.has_since(taken.position, POSITION_MASK, origin);
    Ok(found.unwrap_or_else(|| queue.is_freed(taken)))
}

/// The ring of a queue that exists.
pub(super) fn ring_of<'a>(peer: &'a Peer, shared: &'a CqShared) -> Option<Ring<'a>> {
    if shared.generation.load(Acquire).is_multiple_of(2) {
        return None;
    }
    let (place, count) = (shared.ring.load(Relaxed), shared.capacity.load(Relaxed));
    let entries = peer.memory().slice::<Cqe>(place, usize::try_from(count).ok()?)?;
    Ring::new(shared, entries)
}

/// Sends the completion event that is due.
pub(super) fn send(peer: &Peer, ring: &Ring<'_>) {
    let shared = ring.shared;
    let channel = shared.channel.load(Relaxed);
    if channel != 0 {
        events::send_completion(peer, channel, shared.user_handle.load(Relaxed));
    }
    ring.sent();
}
