//! Protection domains.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs::report;

/// Allocates a PD; NULL with `errno` on failure. `ibv_alloc_pd(3)`
pub(crate) unsafe extern "C" fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    // SAFETY: the caller passes a context.
    unsafe { allocate(context) }.or_null()
}
export!(ibv_alloc_pd @@ "IBVERBS_1.1");

unsafe fn allocate(context: *mut ibv_context) -> Result<*mut ibv_pd> {
    // SAFETY: the caller's promise; the new PD is known to nobody else.
    unsafe {
        let pd = from_null(call_op!(context, alloc_pd(context)))?;
        (*pd).context = context;
        Ok(pd)
    }
}

/// Frees a PD or a parent domain. Returns 0 or an error number, EBUSY for instance when something
/// in the PD still exists. `ibv_dealloc_pd(3)`
pub(crate) unsafe extern "C" fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the caller passes a PD and uses it no more.
    report(unsafe { end_op!((*pd).context, dealloc_pd(pd)) })
}
export!(ibv_dealloc_pd @@ "IBVERBS_1.1");

/// Makes a PD of another context of the same device known in this one, by its handle; NULL with
/// `errno` on failure. `ibv_import_pd(3)`
pub(super) unsafe extern "C" fn ibv_import_pd(
    context: *mut ibv_context,
    handle: u32,
) -> *mut ibv_pd {
    // SAFETY: the caller passes a context.
    from_null(unsafe { call_op!(context, import_pd(context, handle)) }).or_null()
}
export!(ibv_import_pd @@ "IBVERBS_1.10");

/// Forgets an imported PD; the kernel's object lives on. `ibv_unimport_pd(3)`
pub(super) unsafe extern "C" fn ibv_unimport_pd(pd: *mut ibv_pd) {
    // SAFETY: the caller passes an imported PD and uses it no more.
    unsafe { call_op!((*pd).context, unimport_pd(pd)) }
}
export!(ibv_unimport_pd @@ "IBVERBS_1.10");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn a_new_pd_belongs_to_its_context() {
        let fake = Fake::new();
        let mut pd = ibv_pd::zeroed();
        fake.answer_object(&mut pd);
        // SAFETY: a live context.
        assert_eq!(unsafe { ibv_alloc_pd(fake.context()) }, &raw mut pd);
        assert_eq!(pd.context, fake.context());
        assert_eq!(fake.calls(), [Call("alloc_pd", words![fake.context()])]);
    }

    #[test]
    fn failures_of_the_provider_are_passed_on() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        fake.answer(libc::ENOMEM);
        // SAFETY: a live context and PD.
        unsafe {
            assert!(ibv_alloc_pd(fake.context()).is_null());
            assert_eq!(Errno::last(), Errno::ENOMEM);
            fake.answer(libc::EBUSY);
            assert_eq!(ibv_dealloc_pd(&mut pd), libc::EBUSY);
            assert_eq!(Errno::last(), Errno::EBUSY);
            fake.answer(libc::EOPNOTSUPP);
            assert!(ibv_import_pd(fake.context(), 5).is_null());
            assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
        }
        assert_eq!(fake.called(), ["alloc_pd", "dealloc_pd", "import_pd"]);
    }

    #[test]
    fn a_provider_without_the_operations_supports_nothing() {
        let fake = Fake::with_ops(&verbs_context_ops::zeroed());
        let mut pd = fake.pd();
        // SAFETY: a live context and PD.
        unsafe {
            Errno(0).store();
            assert!(ibv_alloc_pd(fake.context()).is_null());
            assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
            assert_eq!(ibv_dealloc_pd(&mut pd), libc::EOPNOTSUPP);
            ibv_unimport_pd(&mut pd);
        }
    }

    #[test]
    fn imported_pds_reach_the_provider() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        fake.answer_object(&mut pd);
        // SAFETY: a live context and PD.
        unsafe {
            assert_eq!(ibv_import_pd(fake.context(), 7), &raw mut pd);
            ibv_unimport_pd(&mut pd);
            fake.answer(0);
            assert_eq!(ibv_dealloc_pd(&mut pd), 0);
        }
        assert_eq!(
            fake.calls(),
            [
                Call("import_pd", words![fake.context(), 7]),
                Call("unimport_pd", words![&raw const pd]),
                Call("dealloc_pd", words![&raw const pd]),
            ]
        );
    }
}
