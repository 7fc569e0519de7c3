//! Waiting for requests that take no lock.
//!
//! A read or a write of a connection that was found in order goes by the [stamp](QpShared::stamp) of
//! the peer's QP and the sequence numbers of keys. It is under way as long as the
//! [mark](QpShared::mark) of its QP is set. Who changes a QP, or withdraws a key, waits for the marks
//! of those who may have seen what was before: a barrier makes sure that marks which are being set
//! are seen, or their owners see the change.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use crate::sync::atomic::fence;
use std::time::Duration;

use super::{Host, Table};
use crate::sys::errno::{Result, from_minus_one};
use crate::urxe::shared::{PATIENCE, QPS, QpShared};

/// How long a store stays unseen at the very most, with a margin of many times that.
const SETTLES: Duration = Duration::from_millis(2);

/// Registers this process for the barriers of others; whether it can make barriers itself.
pub(super) fn register() -> bool {
    membarrier(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
}

/// Makes all threads of all processes that are registered pass a full fence.
fn barrier() {
    fence(SeqCst);
    if !membarrier(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED) {
        // It was allowed when the process began, and is not any more.
        std::thread::sleep(SETTLES);
    }
}

/// Makes all threads of this process pass a full fence. The system refuses that to a process that is
/// not registered, so none is taken for granted that did not happen; registering can wait until then.
pub(crate) fn own_barrier() {
    fence(SeqCst);
    let make = || membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    let is_made = make() || membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && make();
    if !is_made {
        // As above.
        std::thread::sleep(SETTLES);
    }
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: a command without arguments.
    from_minus_one(unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } as i32).is_ok()
}

impl Host {
    /// Whether a requester of this process need not fence its marks, when it goes to the process of
    /// `peer`: both can make barriers, and pass those of others.
    pub(crate) fn has_barriers_with(&self, peer: &super::Peer) -> bool {
        let can = |header: &crate::urxe::shared::Header| header.barriers.load(Relaxed) != 0;
        self.header().is_ok_and(can) && peer.header().is_some_and(can)
    }

    /// Waits for the requests without lock that are under way at QPs of this process, and for those
    /// of this process. What was stored before is seen by all later ones. EIO if some do not end.
    pub(super) fn pass_marks<'a>(
        &self,
        qps: impl Iterator<Item = &'a QpShared> + Clone,
    ) -> Result<()> {
        fence(SeqCst);
        const ANY: u32 = QpShared::PEER_MARKS | QpShared::MARKS;
        let mut marked = qps.filter(|qp| qp.flags.load(SeqCst) & ANY != 0).peekable();
        if marked.peek().is_none() {
            return Ok(());
        }
        barrier();
        for qp in marked {
            qp.mark.wait(PATIENCE, &|| false)?;
            self.wait_for_peer_of(qp)?;
        }
        Ok(())
    }

    /// Waits for the requests without lock that are under way at a QP of this process, after a
    /// change of it. EIO if one does not end.
    pub(crate) fn pass_marks_of(&self, qp: &QpShared) -> Result<()> {
        fence(SeqCst);
        if qp.flags.load(SeqCst) & QpShared::PEER_MARKS == 0 {
            return Ok(());
        }
        barrier();
        self.wait_for_peer_of(qp)
    }

    /// Waits until the QP that is connected to this one has no request under way that takes no lock.
    fn wait_for_peer_of(&self, qp: &QpShared) -> Result<()> {
        if qp.flags.load(SeqCst) & QpShared::PEER_MARKS == 0 {
            return Ok(());
        }
        let number = qp.dest_qp_num.load(Relaxed);
        // Whoever is not found has gone, and its requests with it.
        let Ok(peer) = self.peer(number / QPS) else { return Ok(()) };
        let is_it = peer.epoch() == qp.peer_epoch.load(Relaxed);
        let record = Table::Qp.find(peer.memory(), number);
        let other = record.and_then(|record| peer.memory().at::<QpShared>(record));
        match other.filter(|other| is_it && other.qp_num.load(Acquire) == number) {
            Some(other) => other.mark.wait(PATIENCE, &|| !peer.is_alive_now()),
            None => Ok(()),
        }
    }

    /// Makes all requesters look again whether they are connected with QPs of this process.
    pub(crate) fn change_qps(&self) {
        for qp in self.qps() {
            // One whose lock cannot be had counts the change as well; nothing else depends on it.
            let _guard = self.lock(&qp.lock, PATIENCE);
            qp.change();
        }
    }
}
