//! Several reads, or several writes, of ordinary memory by one system call: most of what a small one
//! costs is the call.
//!
//! The kernel moves the bytes of one request after those of the other, and tells how many it has
//! moved when something is not there. So it is known which requests are done, and the first of the
//! others is left to the general way, which finds out what is wrong with it.

use super::super::bytes::{List, PIECES};
use super::keys::{Keys, Kind};
use super::{Fast, Job, Link, far_place, near_piece};
use crate::abi::*;
use crate::urxe::host::Peer;
use crate::urxe::host::copy::{Direction, TAIL};
use crate::urxe::pair::Qp;
use std::sync::Arc;

/// Requests of a call at most: the last bytes of each have a piece of their own.
const REQUESTS: usize = PIECES / 2;
/// Bytes of a call of more than one request, at most: completions should not be late.
const BYTES: u64 = 1 << 20;

/// Requests on their way into a call.
struct Batch {
    near: List,
    far: List,
    /// Bytes of the requests up to each.
    ends: [u64; REQUESTS],
    count: usize,
    reads: bool,
}

impl Fast {
    /// Whether several requests are worth a call of [`run_several`](Self::run_several): the last one
    /// was for ordinary memory of another process.
    #[inline(always)]
    pub(crate) fn likes_several(&self) -> bool {
        self.several
    }

    /// Carries out requests, which are the next ones of their QP, with the lock of the send queue
    /// held, until one is not for this way; how many are done.
    #[inline(never)]
    pub(crate) fn run_several<'a>(
        &mut self,
        qp: &Qp,
        jobs: impl Iterator<Item = Job<'a>>,
    ) -> usize {
        let done = self.try_several(qp, jobs).unwrap_or(0);
        self.several = done > 0;
        done
    }

    #[inline(always)]
    fn try_several<'a>(&mut self, qp: &Qp, jobs: impl Iterator<Item = Job<'a>>) -> Option<usize> {
        let Fast { link, peer, near, far, .. } = self;
        let this = link.as_ref()?;
        let _mark = this.own.mark.set(this.fenced);
        if !this.is_current() {
            *link = None;
            return None;
        }
        let mut jobs = jobs.peekable();
        let mut batch = Batch {
            near: List::new(),
            far: List::new(),
            ends: [0; REQUESTS],
            count: 0,
            reads: jobs.peek()?.reads,
        };
        while let Some(job) = jobs.next()
            && batch.add(qp, this, peer, (&mut *near, &mut *far), &job).is_some()
        {}
        Some(batch.carry_out(peer.as_deref()?))
    }
}

impl Batch {
    /// Bytes of all requests.
    fn bytes(&self) -> u64 {
        self.count.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    /// Adds a request; `None` if it does not go with the others.
    fn add(
        &mut self,
        qp: &Qp,
        this: &Link,
        peer: &Option<Arc<Peer>>,
        (near_keys, far_keys): (&mut Keys, &mut Keys),
        job: &Job<'_>,
    ) -> Option<()> {
        let [entry] = job.list else { return None };
        let (length, before) = (u64::from(entry.length), self.bytes());
        let right = if job.reads { IBV_ACCESS_REMOTE_READ } else { IBV_ACCESS_REMOTE_WRITE };
        let fits = before == 0 || before + length <= BYTES;
        if length == 0 || !fits || job.reads != self.reads || this.access & right == 0 {
            return None;
        }
        let end = self.ends.get_mut(self.count)?;
        let near = near_piece(near_keys, qp, job, entry)?;
        let place = far_place(far_keys, peer, this, job, right, length)?;
        if place.kind != Kind::There {
            return None;
        }
        // As in `move_lists`.
        let near_tail = !job.reads && cfg!(target_arch = "x86_64");
        let far_tail = !job.reads && !near_tail;
        self.near.push_with_tail(near.address, near.length, near_tail)?;
        self.far.push_with_tail(place.address, near.length, far_tail)?;
        *end = before + length;
        self.count += 1;
        Some(())
    }

    /// Moves the bytes; the number of requests that are done.
    fn carry_out(&self, peer: &Peer) -> usize {
        let direction = if self.reads { Direction::Read } else { Direction::Write };
        // SAFETY: as in `move_lists`.
        let moved =
            unsafe { peer.copy_at_once(direction, self.near.as_slice(), self.far.as_slice()) };
        self.ends.iter().take(self.count).take_while(|end| **end <= moved as u64).count()
    }
}

impl List {
    /// Adds bytes by address; `with_tail`: the last of them as a piece of their own.
    fn push_with_tail(&mut self, address: usize, length: usize, with_tail: bool) -> Option<()> {
        match length.checked_sub(TAIL) {
            Some(body) if with_tail && body > 0 => {
                self.push(address, body)?;
                self.push(address.wrapping_add(body), TAIL)
            }
            _ => self.push(address, length),
        }
    }
}
