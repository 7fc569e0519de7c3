//! Which combinations of rights there are.

use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::urxe::explain;
use crate::urxe::limits::KNOWN_ACCESS;

/// Rights with which the device writes.
const WRITES: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_ATOMIC
    | IBV_ACCESS_MW_BIND;

/// Checks the rights of a region, as the kernel does for all devices: who lets peers write must
/// write itself. `rdma/ib_verbs.h: ib_check_mr_access`
///
/// # Errors
///
/// EINVAL.
pub(super) fn check(access: u32) -> Result<()> {
    if access & !KNOWN_ACCESS != 0 {
        explain!("registration: unknown access {:#x}", access & !KNOWN_ACCESS);
        return Err(Errno::EINVAL);
    }
    let writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if access & writes != 0 && access & IBV_ACCESS_LOCAL_WRITE == 0 {
        explain!("registration: access {access:#x} lets peers write without local write");
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Whether the device may write with these rights, so that the memory must be writable.
pub(super) fn is_writable(access: u32) -> bool {
    access & WRITES != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_write_needs_local_write() {
        for access in 0..1 << 10 {
            let remote = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) != 0;
            let local = access & IBV_ACCESS_LOCAL_WRITE != 0;
            assert_eq!(check(access), if remote && !local { Err(Errno::EINVAL) } else { Ok(()) });
        }
    }

    #[test]
    fn unknown_rights_are_refused_unless_optional() {
        for bit in 0..32 {
            let known = !matches!(bit, 10..20 | 30..);
            assert_eq!(check(IBV_ACCESS_LOCAL_WRITE | 1 << bit).is_ok(), known, "{bit}");
        }
    }

    #[test]
    fn who_may_only_read_needs_no_writable_memory() {
        assert!(!is_writable(0) && !is_writable(IBV_ACCESS_REMOTE_READ));
        assert!(is_writable(IBV_ACCESS_LOCAL_WRITE) && is_writable(IBV_ACCESS_MW_BIND));
    }
}
