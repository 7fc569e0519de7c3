//! Fork support: keeping registered memory out of child processes.
//!
//! A device reads and writes the physical pages that were behind an address when the memory was
//! registered. After fork(2), the first write of the parent to a page gives it a copy, and the
//! device goes on with the child's page. So the pages of registered memory are marked such that
//! children do not get them, for as long as one registration covers them.
//!
//! This is off until a program asks for it, and unneeded on kernels that copy pinned pages when a
//! process forks.

mod ranges;
mod smaps;
mod state;

use crate::sync::atomic::{AtomicBool, Ordering};
use core::ffi::{c_int, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::fork::ranges::{Advice, Ranges, Span};
use crate::fork::state::State;
use crate::log::warning;
use crate::sys::env;
use crate::sys::errno::{Errno, Result, ReturnMinusOne, ReturnNumber};
#[cfg(not(test))]
use crate::sys::fork_mutex::{Rank, keep_free};
use crate::sys::heap;
use crate::sys::mutex::{Mutex, MutexGuard};

/// Asks for fork support. Returns 0, also when it is unneeded, or an error number: EINVAL when
/// memory has been registered already, ENOSYS when the kernel cannot do it, ENOMEM.
/// `ibv_fork_init(3)`
extern "C" fn ibv_fork_init() -> c_int {
    heap::enough().and_then(|()| enable()).or_number()
}
export!(ibv_fork_init @@ "IBVERBS_1.1");

/// Whether fork support is there, as `enum ibv_fork_status`. `ibv_is_fork_initialized(3)`
extern "C" fn ibv_is_fork_initialized() -> ibv_fork_status {
    fork().status()
}
export!(ibv_is_fork_initialized @@ "IBVERBS_1.13");

/// Keeps memory that a device uses out of child processes. Called once more for the same memory, it
/// must be undone as often. Returns 0, or -1 with `errno`. `driver.h`
unsafe extern "C" fn ibv_dontfork_range(base: *mut c_void, size: usize) -> c_int {
    dontfork(base, size).or_minus_one()
}
export!(ibv_dontfork_range @@ "IBVERBS_1.1");

/// Undoes [`ibv_dontfork_range`]. Returns 0, or -1 with `errno`. `driver.h`
unsafe extern "C" fn ibv_dofork_range(base: *mut c_void, size: usize) -> c_int {
    dofork(base, size).or_minus_one()
}
export!(ibv_dofork_range @@ "IBVERBS_1.1");

/// Keeps the pages of `size` bytes at `base` out of child processes; nothing without fork support,
/// for NULL, for no bytes and for bytes that reach beyond the address space (which no device will
/// accept).
///
/// # Errors
///
/// ENOMEM; what madvise(2) says, such as ENOMEM for addresses without memory. Nothing is changed
/// then.
pub(crate) fn dontfork(base: *mut c_void, size: usize) -> Result<()> {
    heap::enough()?;
    fork().exclude(base.addr(), size)
}

/// Undoes [`dontfork`] once. ENOMEM.
pub(crate) fn dofork(base: *mut c_void, size: usize) -> Result<()> {
    fork().include(base.addr(), size)
}

/// Enables fork support if the environment asks for it: part of the library's initialization.
pub(crate) fn init_from_environment() {
    if !env::switch(c"RDMAV_FORK_SAFE") && !env::switch(c"IBV_FORK_SAFE") {
        return;
    }
    if let Err(errno) = enable() {
        warning(format_args!(
            "fork support was asked for but cannot be had: {}",
            std::io::Error::from_raw_os_error(errno.0),
        ));
    }
}

/// Enables fork support of this process. Nothing takes the mutex of the ranges before.
fn enable() -> Result<()> {
    let fork = fork();
    #[cfg(not(test))]
    keep_free(Rank::Ranges, &fork.ranges);
    fork.enable()
}

/// What fork support needs of the system.
struct System {
    copies_on_fork: fn() -> bool,
    madvise: fn(Span, Advice) -> Result<()>,
    page_size_at: fn(usize) -> Option<usize>,
}

/// Fork support of the process.
struct Fork {
    system: System,
    state: State,
    /// Memory may have pages of other sizes.
    huge_pages: AtomicBool,
    /// There once it is enabled.
    ranges: Mutex<Option<Ranges>>,
}

impl Fork {
    const fn new(system: System) -> Fork {
        Fork {
            system,
            state: State::new(),
            huge_pages: AtomicBool::new(false),
            ranges: Mutex::new(None),
        }
    }

    fn ranges(&self) -> MutexGuard<'_, Option<Ranges>> {
        self.ranges.lock()
    }

    fn status(&self) -> ibv_fork_status {
        if (self.system.copies_on_fork)() {
            IBV_FORK_UNNEEDED
        } else if self.state.page_size().is_some() {
            IBV_FORK_ENABLED
        } else {
            IBV_FORK_DISABLED
        }
    }

    fn enable(&self) -> Result<()> {
        if env::switch(c"RDMAV_HUGEPAGES_SAFE") {
            self.huge_pages.store(true, Ordering::Relaxed);
        }
        if self.state.page_size().is_some() || (self.system.copies_on_fork)() {
            return Ok(());
        }
        let mut ranges = self.ranges();
        if self.state.is_enabled()? {
            return Ok(());
        }
        // SAFETY: sysconf has no preconditions.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) });
        let page = page.ok().filter(|page| page.is_power_of_two()).ok_or(Errno::ENOSYS)?;
        self.try_out(page)?;
        *ranges = Some(Ranges::new()?);
        // Memory may have been registered meanwhile, which takes no lock.
        self.state.enable(page).inspect_err(|_| *ranges = None)
    }

    /// Whether the kernel can mark memory. ENOSYS; ENOMEM.
    fn try_out(&self, page: usize) -> Result<()> {
        // SAFETY: a new mapping.
        let memory = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(Errno::ENOMEM);
        }
        let result =
            Span::of_pages(memory.addr(), page, page).ok_or(Errno::EINVAL).and_then(|span| {
                (self.system.madvise)(span, Advice::DontFork)?;
                (self.system.madvise)(span, Advice::DoFork)
            });
        // SAFETY: the mapping is ours.
        unsafe { libc::munmap(memory, page) };
        result.map_err(|_| Errno::ENOSYS)
    }

    /// The pages of a range and their size, or nothing when there is nothing to mark.
    fn pages(&self, base: usize, size: usize) -> Option<(Span, usize)> {
        let mut page = self.state.register()?;
        if base == 0 {
            return None;
        }
        if self.huge_pages.load(Ordering::Relaxed) {
            page = (self.system.page_size_at)(base).unwrap_or(page);
        }
        Some((Span::of_pages(base, size, page)?, page))
    }

    fn exclude(&self, base: usize, size: usize) -> Result<()> {
        let Some((span, page)) = self.pages(base, size) else { return Ok(()) };
        match self.ranges().as_mut() {
            Some(ranges) => ranges.exclude(span, |part, advice| self.advise(part, advice, page)),
            None => Ok(()),
        }
    }

    fn include(&self, base: usize, size: usize) -> Result<()> {
        let Some((span, page)) = self.pages(base, size) else { return Ok(()) };
        match self.ranges().as_mut() {
            Some(ranges) => ranges.include(span, |part, advice| self.advise(part, advice, page)),
            None => Ok(()),
        }
    }

    /// Passes advice on to the kernel. Where it cannot give a part back to children as a whole,
    /// because some of it is no memory any more, it is tried page by page.
    fn advise(&self, span: Span, advice: Advice, page: usize) -> Result<()> {
        let result = (self.system.madvise)(span, advice);
        if result.is_ok() || advice == Advice::DontFork || span.length() <= page {
            return result;
        }
        let mut first = span.first;
        loop {
            let last = first | (page - 1);
            let _ = (self.system.madvise)(Span { first, last: last.min(span.last) }, advice);
            match last.checked_add(1) {
                Some(next) if last < span.last => first = next,
                _ => return Ok(()),
            }
        }
    }
}

fn madvise(span: Span, advice: Advice) -> Result<()> {
    let advice = match advice {
        Advice::DontFork => libc::MADV_DONTFORK,
        Advice::DoFork => libc::MADV_DOFORK,
    };
    let address = core::ptr::without_provenance_mut(span.first);
    // SAFETY: this advice changes nothing in this process.
    match unsafe { libc::madvise(address, span.length(), advice) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

#[cfg(not(test))]
fn fork() -> &'static Fork {
    static FORK: Fork = Fork::new(System {
        copies_on_fork: crate::discovery::copy_on_fork,
        madvise,
        page_size_at: smaps::page_size_at,
    });
    &FORK
}

#[cfg(test)]
use testing::fork;

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
