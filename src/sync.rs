//! What threads and processes meet by without a lock: atomics, and how they wait in a loop.
//!
//! Nothing but other names for the standard library's. The package in `models/` compiles the files
//! that use them with another `sync`, which tries all orders in which threads can run; for drd
//! (`--cfg watched`) the atomics are [others](atomic) that tell it what they order.

#[cfg(not(watched))]
pub(crate) mod atomic {
    pub(crate) use core::sync::atomic::*;
}

#[cfg(watched)]
#[path = "sync/watched.rs"]
pub(crate) mod atomic;

pub(crate) mod hint {
    pub(crate) use core::hint::spin_loop;
}

pub(crate) mod thread {
    pub(crate) use std::thread::{sleep, yield_now};

    /// A number of the calling thread, which no other has while it runs; never 0. It is the address
    /// of what the C library keeps of the thread.
    #[inline(always)]
    pub(crate) fn id() -> u64 {
        #[cfg(target_arch = "x86_64")]
        {
            let id: u64;
            // SAFETY: the first word of that block is its own address, in the ABI of the platform.
            unsafe {
                core::arch::asm!(
                    "mov {}, fs:[0]",
                    out(reg) id,
                    options(nostack, preserves_flags, readonly, pure)
                );
            }
            id
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: it always works.
        unsafe {
            libc::pthread_self() as u64
        }
    }
}

/// The frequent side of a fence between two threads, one of which makes the other pass it by
/// membarrier(2): the compiler keeps the order.
#[inline(always)]
pub(crate) fn light_fence() {
    core::sync::atomic::compiler_fence(atomic::Ordering::SeqCst);
}

pub(crate) use std::thread_local;

/// How many entries something has: `count`. Models have two, which is enough for one to be in use and
/// another one free.
pub(crate) const fn entries(count: usize) -> usize {
    count
}

/// How often a test does something with threads: `count` times; less when drd watches each of them.
#[cfg(test)]
pub(crate) const fn rounds(count: u64) -> u64 {
    if cfg!(watched) { count.div_ceil(20) } else { count }
}

/// How often to look at something before another way of waiting is taken: `count` times. Models look
/// once or twice, as it makes no difference to what can happen.
pub(crate) const fn looks(count: u32) -> u32 {
    count
}
