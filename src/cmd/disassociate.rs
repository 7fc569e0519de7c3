//! Devices that went away: whether destroying what was on them counts as success.

use crate::sync::atomic::{AtomicBool, Ordering};

use crate::abi::export::export_private;
use crate::sys::errno::{Errno, Result};

/// A provider reads this object too, as a C `bool`. `driver.h: verbs_allow_disassociate_destroy`
static ALLOW_DISASSOCIATE_DESTROY: AtomicBool = AtomicBool::new(false);
export_private!(data verbs_allow_disassociate_destroy as ALLOW_DISASSOCIATE_DESTROY, 1);
const _: () = assert!(size_of::<AtomicBool>() == 1);

/// From now on a destroy command that finds the device gone succeeds. The set-up of the library
/// calls this when `RDMAV_ALLOW_DISASSOC_DESTROY` or `MLX4_DEVICE_FATAL_CLEANUP` asks for it.
pub(crate) fn allow_disassociate_destroy() {
    ALLOW_DISASSOCIATE_DESTROY.store(true, Ordering::Relaxed);
}

#[cfg(not(test))]
fn allowed() -> bool {
    ALLOW_DISASSOCIATE_DESTROY.load(Ordering::Relaxed)
}

#[cfg(test)]
use crate::cmd::fake::allow_disassociate_destroy as allowed;

/// The result of a destroy command, in which EIO says that the kernel disassociated the device and
/// has destroyed everything on it: nothing when that counts as success. There is no response then,
/// and no event to wait for.
///
/// ```ignore
/// let Some(response) = unless_gone(destroy(kernel, ..))? else { return Ok(()) };
/// wait_for_events(..);
/// ```
pub(crate) fn unless_gone<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Errno::EIO) if allowed() => Ok(None),
        Err(errno) => Err(errno),
        Ok(value) => Ok(Some(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake;

    #[test]
    fn a_device_that_is_gone_counts_only_by_consent() {
        fake::set_allow_disassociate_destroy(false);
        assert_eq!(unless_gone::<()>(Err(Errno::EIO)), Err(Errno::EIO));
        fake::set_allow_disassociate_destroy(true);
        assert_eq!(unless_gone::<()>(Err(Errno::EIO)), Ok(None));
        assert_eq!(unless_gone::<()>(Err(Errno::EBUSY)), Err(Errno::EBUSY));
        assert_eq!(unless_gone(Ok(5)), Ok(Some(5)));
    }

    #[test]
    fn the_object_is_one_byte_of_0_or_1() {
        let object = &raw const ALLOW_DISASSOCIATE_DESTROY;
        // SAFETY: providers read the object so.
        assert_eq!(unsafe { object.cast::<u8>().read_volatile() }, 0);
        allow_disassociate_destroy();
        // SAFETY: see above.
        assert_eq!(unsafe { object.cast::<u8>().read_volatile() }, 1);
    }
}
