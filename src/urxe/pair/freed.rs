//! Which requests of send queues are freed: those whose completions have been polled.
//!
//! Polling knows a QP by the origin of a completion alone, and the QP may be gone by then. So this is
//! no part of it.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::urxe::origin::same_send_generation;
use crate::urxe::shared::QPS;

/// By the index of the QP: its generation in the high half, the position behind the last request that
/// is freed in the low half.
static FREED: [AtomicU64; QPS as usize] = [const { AtomicU64::new(0) }; QPS as usize];

fn of(index: u32) -> &'static AtomicU64 {
    &FREED[(index & (QPS - 1)) as usize]
}

/// The position before which all requests are freed.
#[inline]
pub(super) fn position(index: u32) -> u32 {
    of(index).load(Acquire) as u32
}

/// Frees all requests of a QP before a position; nothing older is freed for it any more.
pub(super) fn set(index: u32, generation: u32, position: u32) {
    of(index).store(u64::from(generation) << 32 | u64::from(position), Release);
}

/// Frees the requests of a send queue up to a position: the completion of the last of them has been
/// polled. Nothing happens if the QP is gone.
#[inline]
pub(crate) fn polled(index: u32, generation: u32, position: u32) {
    let Some(freed) = FREED.get(index as usize) else { return };
    let before = freed.load(Relaxed);
    let same = same_send_generation(generation, (before >> 32) as u32);
    // Threads that poll at the same time may come here in any order.
    let is_later = position.wrapping_sub(before as u32).cast_signed() > 0;
    if same && is_later {
        let after = before & !u64::from(u32::MAX) | u64::from(position);
        if freed.compare_exchange(before, after, Release, Relaxed).is_err() {
            polled(index, generation, position);
        }
    }
}
