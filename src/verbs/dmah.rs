//! DMA handles: hints for how a device reaches a memory region.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{ReturnPointer, from_null};
use crate::verbs::report;

/// Allocates a DMA handle; NULL with `errno` on failure. `ibv_alloc_dmah(3)`
pub(super) unsafe extern "C" fn ibv_alloc_dmah(
    context: *mut ibv_context,
    attr: *mut ibv_dmah_init_attr,
) -> *mut ibv_dmah {
    // SAFETY: the caller passes a context and the attributes of the handle.
    from_null(unsafe { call_op!(context, alloc_dmah(context, attr)) }).or_null()
}
export!(ibv_alloc_dmah @@ "IBVERBS_1.15");

/// Frees a DMA handle. Returns 0 or an error number. `ibv_dealloc_dmah(3)`
pub(crate) unsafe extern "C" fn ibv_dealloc_dmah(dmah: *mut ibv_dmah) -> c_int {
    // SAFETY: the caller passes a DMA handle and uses it no more.
    report(unsafe { end_op!((*dmah).context, dealloc_dmah(dmah)) })
}
export!(ibv_dealloc_dmah @@ "IBVERBS_1.15");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn handles_come_from_the_provider() {
        let fake = Fake::new();
        let mut attr = ibv_dmah_init_attr::zeroed();
        let mut dmah = ibv_dmah { context: fake.context() };
        fake.answer_object(&mut dmah);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_alloc_dmah(fake.context(), &mut attr), &raw mut dmah);
            fake.answer(libc::EBUSY);
            assert_eq!(ibv_dealloc_dmah(&mut dmah), libc::EBUSY);
            assert_eq!(Errno::last(), Errno::EBUSY);
            fake.answer(libc::EINVAL);
            assert!(ibv_alloc_dmah(fake.context(), &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
        let alloc = Call("alloc_dmah", words![fake.context(), &raw const attr]);
        assert_eq!(
            fake.calls(),
            [alloc.clone(), Call("dealloc_dmah", words![&raw const dmah]), alloc]
        );
    }
}
