//! Registrations that fail for lack of memory that may be locked: what the program's user needs
//! to know.

use core::fmt;
use core::mem::MaybeUninit;

use crate::abi::VERBS_LOG_ERR;
use crate::cmd::kernel::Kernel;
use crate::log::{self, log};
use crate::sys::errno::Errno;
use crate::sys::page;

/// Logs why the registration of `length` bytes at `address` may have failed with `errno`, if that
/// is ENOMEM.
pub(super) fn explain(kernel: Kernel<'_>, errno: Errno, address: u64, length: u64) {
    if errno == Errno::ENOMEM && log::enabled(VERBS_LOG_ERR) {
        let explanation =
            Explanation { needed: pages(address, length, page::size() as u64), limit: limit() };
        log!(VERBS_LOG_ERR, "{kernel}: {explanation}");
    }
}

struct Explanation {
    /// Bytes to be locked.
    needed: u64,
    /// `RLIMIT_MEMLOCK`, the soft limit; nothing when there is none.
    limit: Option<u64>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory to register {} more bytes: ", self.needed)?;
        match self.limit {
            Some(limit) => write!(
                f,
                "RLIMIT_MEMLOCK allows {limit} bytes to be locked in all; raise it with \
                 `ulimit -l`, in /etc/security/limits.conf or by LimitMEMLOCK= of the service"
            ),
            None => {
                f.write_str("RLIMIT_MEMLOCK is unlimited, so the device or the machine has no more")
            }
        }
    }
}

/// The bytes of all pages that a range touches.
fn pages(address: u64, length: u64, page: u64) -> u64 {
    let start = address / page;
    let end = address.saturating_add(length).div_ceil(page);
    (end - start).saturating_mul(page)
}

fn limit() -> Option<u64> {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the place is writable and read only when it is filled in.
    unsafe {
        let known = libc::getrlimit(libc::RLIMIT_MEMLOCK, limit.as_mut_ptr()) == 0;
        known.then(|| limit.assume_init().rlim_cur).filter(|limit| *limit != libc::RLIM_INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_are_locked() {
        assert_eq!(pages(0x1000, 0, 4096), 0);
        assert_eq!(pages(0x1000, 1, 4096), 4096);
        assert_eq!(pages(0x1fff, 2, 4096), 8192);
        assert_eq!(pages(0x1000, 8192, 4096), 8192);
        assert!(pages(1, u64::MAX, 4096) >= u64::MAX - 4095);
    }

    #[test]
    fn the_text_names_limit_and_need() {
        let text = Explanation { needed: 8192, limit: Some(65536) }.to_string();
        assert!(text.contains("8192 more bytes") && text.contains("allows 65536 bytes"), "{text}");
        let text = Explanation { needed: 4096, limit: None }.to_string();
        assert!(text.contains("RLIMIT_MEMLOCK is unlimited"), "{text}");
    }
}
