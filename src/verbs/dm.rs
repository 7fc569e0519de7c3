//! Device memory.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::call_op;
use crate::sys::errno::{ReturnMinusOne, ReturnPointer, from_minus_one, from_null};

/// Makes device memory of another context of the same device known in this one, by its handle;
/// NULL with `errno` on failure. `ibv_import_dm(3)`
pub(super) unsafe extern "C" fn ibv_import_dm(
    context: *mut ibv_context,
    handle: u32,
) -> *mut ibv_dm {
    // SAFETY: the caller passes a context.
    from_null(unsafe { call_op!(context, import_dm(context, handle)) }).or_null()
}
export!(ibv_import_dm @@ "IBVERBS_1.13");

/// Forgets imported device memory; the kernel's object lives on. `ibv_unimport_dm(3)`
pub(super) unsafe extern "C" fn ibv_unimport_dm(dm: *mut ibv_dm) {
    // SAFETY: the caller passes imported device memory and uses it no more.
    unsafe { call_op!((*dm).context, unimport_dm(dm)) }
}
export!(ibv_unimport_dm @@ "IBVERBS_1.13");

/// Returns a new dma-buf descriptor for the device memory, which the caller closes, or -1 with
/// `errno`. `ibv_dm_export_dmabuf_fd(3)`
pub(super) unsafe extern "C" fn ibv_dm_export_dmabuf_fd(dm: *mut ibv_dm) -> c_int {
    // SAFETY: the caller passes device memory.
    from_minus_one(unsafe { call_op!((*dm).context, dm_export_dmabuf_fd(dm)) }).or_minus_one()
}
export!(ibv_dm_export_dmabuf_fd @@ "IBVERBS_1.16");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn device_memory_is_imported_and_exported_by_the_provider() {
        let fake = Fake::new();
        let mut dm = ibv_dm { context: fake.context(), ..ibv_dm::zeroed() };
        fake.answer_object(&mut dm);
        // SAFETY: a live context and DM.
        unsafe {
            assert_eq!(ibv_import_dm(fake.context(), 3), &raw mut dm);
            ibv_unimport_dm(&mut dm);
            fake.answer(42);
            assert_eq!(ibv_dm_export_dmabuf_fd(&mut dm), 42);
        }
        assert_eq!(
            fake.calls(),
            [
                Call("import_dm", words![fake.context(), 3]),
                Call("unimport_dm", words![&raw const dm]),
                Call("dm_export_dmabuf_fd", words![&raw const dm]),
            ]
        );
    }

    #[test]
    fn the_default_exports_nothing() {
        let fake = Fake::with_ops(&verbs_context_ops::zeroed());
        let mut dm = ibv_dm { context: fake.context(), ..ibv_dm::zeroed() };
        // SAFETY: a live context and DM.
        unsafe {
            assert_eq!(ibv_dm_export_dmabuf_fd(&mut dm), -1);
            assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
            assert!(ibv_import_dm(fake.context(), 1).is_null());
        }
    }
}
