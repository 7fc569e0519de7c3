//! Address handles.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs::report;

/// Creates an address handle; NULL with `errno` on failure. `ibv_create_ah(3)`
pub(crate) unsafe extern "C" fn ibv_create_ah(
    pd: *mut ibv_pd,
    attr: *mut ibv_ah_attr,
) -> *mut ibv_ah {
    // SAFETY: the caller passes a PD and an address.
    unsafe { create(pd, attr) }.or_null()
}
export!(ibv_create_ah @@ "IBVERBS_1.1");

unsafe fn create(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> Result<*mut ibv_ah> {
    // SAFETY: the caller's promise; the new handle is known to nobody else.
    unsafe {
        let ah = from_null(call_op!((*pd).context, create_ah(pd, attr)))?;
        (*ah).context = (*pd).context;
        (*ah).pd = pd;
        Ok(ah)
    }
}

/// Destroys an address handle. Returns 0 or an error number. `ibv_destroy_ah(3)`
pub(crate) unsafe extern "C" fn ibv_destroy_ah(ah: *mut ibv_ah) -> c_int {
    // SAFETY: the caller passes an address handle and uses it no more.
    report(unsafe { end_op!((*ah).context, destroy_ah(ah)) })
}
export!(ibv_destroy_ah @@ "IBVERBS_1.1");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn a_new_handle_knows_its_pd() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let mut attr = ibv_ah_attr::zeroed();
        let mut ah = ibv_ah::zeroed();
        fake.answer_object(&mut ah);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_create_ah(&mut pd, &mut attr), &raw mut ah);
            assert_eq!((ah.context, ah.pd), (fake.context(), &raw mut pd));
            fake.answer(0);
            assert_eq!(ibv_destroy_ah(&mut ah), 0);
            fake.answer(libc::ENOMEM);
            assert!(ibv_create_ah(&mut pd, &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::ENOMEM);
        }
        let create = Call("create_ah", words![&raw const pd, &raw const attr]);
        assert_eq!(
            fake.calls(),
            [create.clone(), Call("destroy_ah", words![&raw const ah]), create]
        );
    }
}
