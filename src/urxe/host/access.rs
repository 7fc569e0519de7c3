//! Whether peers may read and write the memory of this process.
//!
//! process_vm_readv(2) asks the kernel what ptrace(2) would ask. A security module (Yama's
//! `ptrace_scope`), a filter of system calls in a container, or a process that changed its user can
//! forbid it; then the agent of the responder moves the bytes.

use std::sync::OnceLock;

use libc::iovec;

use super::copy::{Direction, copy_process};
use crate::abi::*;
use crate::log::log;
use crate::sys::env;
use crate::sys::file::read_text;

/// [`Header::access`](crate::urxe::shared::Header::access): nobody may.
pub(crate) const NONE: u32 = 0;
/// Nothing is known that would forbid it.
pub(crate) const FREE: u32 = 1;
/// Some may; who is refused turns to the agent.
pub(crate) const SOME: u32 = 2;

/// What holds for this process. `URXE_NO_ACCESS` forbids it to peers, `URXE_ALLOW_ACCESS` opens the
/// process to all of its user where Yama would not (it lets them trace it, too).
pub(super) fn find_out() -> u32 {
    if env::switch(c"URXE_NO_ACCESS") || !is_possible() {
        return NONE;
    }
    let dumpable = {
        // SAFETY: asks, no memory is passed.
        unsafe { libc::prctl(libc::PR_GET_DUMPABLE) == 1 }
    };
    if !dumpable {
        return SOME;
    }
    match ptrace_scope() {
        0 => FREE,
        1 if env::switch(c"URXE_ALLOW_ACCESS") => {
            // SAFETY: no memory is passed.
            let opened = unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
            if opened == 0 { FREE } else { SOME }
        }
        scope => {
            log!(
                VERBS_LOG_INFO,
                "urxe: kernel.yama.ptrace_scope is {scope}: bytes go through a helper thread; \
                 URXE_ALLOW_ACCESS=1 lets peers copy themselves"
            );
            SOME
        }
    }
}

/// Whether a process may use the system call on itself: no filter forbids it.
pub(crate) fn is_possible() -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    *POSSIBLE.get_or_init(probe)
}

fn probe() -> bool {
    let (mut from, mut to) = (0x5a_u8, 0_u8);
    let list = |byte: &mut u8| [iovec { iov_base: (&raw mut *byte).cast(), iov_len: 1 }];
    // SAFETY: a byte of ours.
    unsafe { copy_process(libc::getpid(), Direction::Read, &list(&mut to), &list(&mut from)) }
        .is_ok()
}

fn ptrace_scope() -> u32 {
    let mut text = [0_u8; 16];
    match read_text(c"/proc/sys/kernel/yama/ptrace_scope", &mut text) {
        Ok(length) => core::str::from_utf8(&text[..length.min(text.len())])
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0),
        Err(_) => 0,
    }
}
