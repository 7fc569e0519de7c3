//! Event moderation: one event for several completions. `ibv_modify_cq(3)`
//!
//! Who adds the last of so many completions sends the event. That it does not wait longer than the
//! program wants is watched by a thread of the queue's owner, which sleeps on a futex as long as no
//! event is held back.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use core::time::Duration;

use super::add;
use super::cq::Cq;
use super::ring::Event;
use crate::sys::errno::Result;
use crate::sys::futex;
use crate::urxe::explain;
use crate::urxe::host::{self, Host, agent};
use crate::urxe::shared::{CqShared, PATIENCE};

/// Wants an event after `count` completions, and `period` microseconds after the first of them at
/// the latest; 0 for no such limit. After each completion if both are 0, or `count` is 1.
///
/// # Errors
///
/// EAGAIN without room for a thread.
pub(super) fn set(cq: &Cq, count: u16, period: u16) -> Result<()> {
    let moderation = if count == 1 { 0 } else { u32::from(count) | u32::from(period) << 16 };
    if moderation >> 16 != 0 && !cq.is_watched.swap(true, SeqCst) {
        let (host, record) = (cq.host(), cq.record());
        let generation = cq.shared().generation.load(Relaxed);
        let watch = Box::new(move || watch(host, record, generation));
        if let Err(errno) = agent::start("urxe-events", watch) {
            cq.is_watched.store(false, SeqCst);
            explain!("ibv_modify_cq: no thread to watch the time of events: errno {}", errno.0);
            return Err(errno);
        }
    }
    cq.shared().moderation.store(moderation, SeqCst);
    changed(cq.shared());
    Ok(())
}

/// Ends the moderation of a queue that goes away.
pub(super) fn stop(shared: &CqShared) {
    if shared.moderation.swap(0, SeqCst) >> 16 != 0 {
        changed(shared);
    }
}

/// Tells the owner that an event is held back, if that has a limit in time.
pub(super) fn held_back(shared: &CqShared) {
    if shared.moderation.load(Relaxed) >> 16 != 0 && shared.held_back.load(Relaxed) == 1 {
        changed(shared);
    }
}

/// Has the owner look again, who may be about to sleep just now.
#[cold]
fn changed(shared: &CqShared) {
    shared.changes.fetch_add(1, SeqCst);
    futex::wake(&shared.changes);
}

/// Sends events that were held back long enough, as long as the queue exists.
fn watch(host: &'static Host, record: u64, generation: u32) {
    let Some(shared) = host.memory().at::<CqShared>(record) else { return };
    loop {
        // Before all that is looked at.
        let changes = shared.changes.load(SeqCst);
        if shared.generation.load(Acquire) != generation {
            return;
        }
        let period = u64::from(shared.moderation.load(SeqCst) >> 16) * 1000;
        if shared.held_back.load(SeqCst) == 0 || period == 0 {
            // Who holds an event back may die before it says so: the thread looks by itself from
            // time to time.
            futex::sleep(&shared.changes, changes, Some(Duration::from_secs(1)));
            continue;
        }
        let age = host::now().saturating_sub(shared.held_back_since.load(Relaxed));
        if let Some(rest) = period.checked_sub(age).filter(|&rest| rest != 0) {
            futex::sleep(&shared.changes, changes, Some(Duration::from_nanos(rest)));
        } else {
            send(host, shared, generation, period);
        }
    }
}

/// Sends the event that is due.
fn send(host: &Host, shared: &CqShared, generation: u32, period: u64) {
    // Who keeps the lock is waited for again the next time.
    let Ok((_guard, _)) = host.lock(&shared.lock, PATIENCE) else { return };
    if shared.generation.load(Acquire) != generation {
        return;
    }
    let age = host::now().saturating_sub(shared.held_back_since.load(Relaxed));
    let is_due = shared.held_back.load(SeqCst) != 0 && age >= period;
    if is_due
        && let Some(ring) = add::ring_of(host.own(), shared)
        && ring.fire() == Event::Send
    {
        add::send(host.own(), &ring);
    }
}
