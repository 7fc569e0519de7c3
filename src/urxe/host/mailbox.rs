//! A job that a peer leaves for the server of a process, and the doorbell that wakes it.

use core::time::Duration;

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicU32, AtomicU64, fence};
use crate::sync::{hint, looks};
use crate::sys::errno::{Errno, Result};
use crate::sys::futex::{sleep, wake};
use crate::urxe::shared::{Header, Lock, PATIENCE, Patience, Shared};

/// Pieces of memory that a job can name.
pub(super) const PIECES: usize = 8;

/// A job for the server of a process, in its slot.
#[repr(C, align(64))]
pub(super) struct Mailbox {
    /// Held by the peer, from asking until it has the answer.
    pub(super) lock: Lock,
    /// [`EMPTY`], [`POSTED`], [`WORKING`] or [`DONE`].
    state: AtomicU32,
    /// What to do: `COMPARE_SWAP` and so on.
    pub(super) job: AtomicU32,
    /// Two operands.
    pub(super) operands: [AtomicU64; 2],
    /// What the word was before.
    result: AtomicU64,
    /// 0, or an error number.
    errno: AtomicU32,
    /// Pieces in use.
    pub(super) count: AtomicU32,
    /// Offset of the buffer.
    pub(super) buffer: AtomicU64,
    /// Memory of the process: addresses and lengths.
    pub(super) pieces: [[AtomicU64; 2]; PIECES],
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Mailbox {}

const EMPTY: u32 = 0;
const POSTED: u32 = 1;
const WORKING: u32 = 2;
const DONE: u32 = 3;

/// Looks at the answer before the peer sleeps.
const SPINS: u32 = looks(2_000);
/// How long it sleeps between looks whether the process is alive.
const LOOK: Duration = Duration::from_millis(5);

impl Mailbox {
    /// Hands the job over, with the lock held; the doorbell is to be rung.
    pub(super) fn post(&self) {
        self.state.store(POSTED, SeqCst);
    }

    /// Takes the job for the server, if there is one.
    pub(super) fn take(&self) -> bool {
        self.state.compare_exchange(POSTED, WORKING, SeqCst, Relaxed).is_ok()
    }

    /// Answers the job that the server has taken.
    pub(super) fn finish(&self, answer: Result<u64>) {
        let (errno, result) = match answer {
            Ok(result) => (0, result),
            Err(errno) => (errno.0.cast_unsigned(), 0),
        };
        self.result.store(result, Relaxed);
        self.errno.store(errno, Relaxed);
        self.state.store(DONE, SeqCst);
        wake(&self.state);
    }

    /// Takes a job back that the server has not begun, with the lock held; false if it is about it, and
    /// nobody may use the mailbox yet.
    pub(super) fn withdraw(&self) -> bool {
        let swap = self.state.compare_exchange(POSTED, EMPTY, SeqCst, SeqCst);
        matches!(swap, Ok(_) | Err(EMPTY | DONE))
    }

    /// Takes the own job back; false if the server has begun it meanwhile.
    fn take_back(&self) -> bool {
        self.state.compare_exchange(POSTED, EMPTY, SeqCst, Relaxed).is_ok()
    }

    /// Waits for the answer, with the lock held: `patience` nanoseconds for the server to begin, and
    /// at most [`PATIENCE`] for the end.
    ///
    /// # Errors
    ///
    /// ESRCH if the process ends; ETIMEDOUT if the server does not begin: the job has been taken back;
    /// EIO if it does not get done with it, and may still do it at any time.
    pub(super) fn answer(&self, patience: u64, is_alive: impl Fn() -> bool) -> Result<u64> {
        let mut waiting = Patience::default();
        for look in 0_u64.. {
            let state = self.state.load(Acquire);
            if !matches!(state, POSTED | WORKING) {
                break;
            }
            if look < u64::from(SPINS) {
                hint::spin_loop();
                continue;
            }
            if !is_alive() {
                return Err(Errno(libc::ESRCH));
            }
            if state == WORKING && waiting.is_over(PATIENCE) {
                return Err(Errno::EIO);
            }
            if state == POSTED && waiting.is_over(patience) && self.take_back() {
                return Err(Errno::ETIMEDOUT);
            }
            sleep(&self.state, state, Some(LOOK));
        }
        let (errno, result) = (self.errno.load(Relaxed), self.result.load(Relaxed));
        self.state.store(EMPTY, Release);
        match errno.cast_signed() {
            0 => Ok(result),
            errno => Err(Errno(errno)),
        }
    }
}

/// [`agent`](Header::agent): the server sleeps.
const SERVER_SLEEPS: u32 = 2;
/// [`agent`](Header::agent): the pusher sleeps.
const PUSHER_SLEEPS: u32 = 4;

/// Wakes the threads of a process that sleep.
pub(super) fn ring(header: &Header) {
    header.doorbell.fetch_add(1, SeqCst);
    if header.agent.load(SeqCst) & (SERVER_SLEEPS | PUSHER_SLEEPS) != 0 {
        wake(&header.doorbell);
    }
}

/// Sleeps as the server until the doorbell rings, which was `bell` before the mailboxes were looked
/// at; not at all if a job is posted.
pub(super) fn wait_for_job(header: &Header, bell: u32, boxes: &[Mailbox]) {
    header.agent.fetch_or(SERVER_SLEEPS, SeqCst);
    fence(SeqCst);
    if !boxes.iter().any(|mailbox| mailbox.state.load(SeqCst) == POSTED) {
        sleep(&header.doorbell, bell, None);
    }
    header.agent.fetch_and(!SERVER_SLEEPS, SeqCst);
}

/// Sleeps as the pusher until the doorbell rings, which was `bell` before, or the time is over; false
/// then.
pub(super) fn wait_for_bell(header: &Header, bell: u32, time: Duration) -> bool {
    header.agent.fetch_or(PUSHER_SLEEPS, SeqCst);
    let rung = sleep(&header.doorbell, bell, Some(time));
    header.agent.fetch_and(!PUSHER_SLEEPS, SeqCst);
    rung
}
