//! Protection domains and memory regions.

use core::ffi::{c_int, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::compat::{Wrapper, free_if_done};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs;

/// Allocates a PD; NULL with `errno` on failure. `ibv_alloc_pd(3)`
unsafe extern "C" fn alloc_pd(context: *mut ibv_context_1_0) -> *mut ibv_pd_1_0 {
    // SAFETY: the caller passes a context.
    unsafe { new_pd(context) }.or_null()
}
export!(ibv_alloc_pd @ "IBVERBS_1.0" as alloc_pd);

unsafe fn new_pd(context: *mut ibv_context_1_0) -> Result<*mut ibv_pd_1_0> {
    let mut pd = Wrapper::<ibv_pd_1_0>::new()?;
    // SAFETY: the caller passes a context; the new PD is live.
    unsafe {
        let real = from_null(verbs::pd::ibv_alloc_pd((*context).real_context))?;
        pd.context = context;
        pd.handle = (*real).handle;
        pd.real_pd = real;
    }
    Ok(pd.hand_out())
}

/// Frees a PD. Returns 0 or an error number. `ibv_dealloc_pd(3)`
unsafe extern "C" fn dealloc_pd(pd: *mut ibv_pd_1_0) -> c_int {
    // SAFETY: the caller passes a PD and uses it no more.
    unsafe { free_if_done(pd, verbs::pd::ibv_dealloc_pd((*pd).real_pd)) }
}
export!(ibv_dealloc_pd @ "IBVERBS_1.0" as dealloc_pd);

/// Registers `length` bytes at `addr`; NULL with `errno` on failure. `ibv_reg_mr(3)`
unsafe extern "C" fn reg_mr(
    pd: *mut ibv_pd_1_0,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr_1_0 {
    // SAFETY: the caller passes a PD and its own memory.
    unsafe { new_mr(pd, addr, length, access) }.or_null()
}
export!(ibv_reg_mr @ "IBVERBS_1.0" as reg_mr);

unsafe fn new_mr(
    pd: *mut ibv_pd_1_0,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> Result<*mut ibv_mr_1_0> {
    let mut mr = Wrapper::<ibv_mr_1_0>::new()?;
    // SAFETY: the caller passes a PD and its own memory; the new MR is live.
    unsafe {
        let real = from_null(verbs::mr::ibv_reg_mr((*pd).real_pd, addr, length, access))?;
        mr.context = (*pd).context;
        mr.pd = pd;
        mr.handle = (*real).handle;
        mr.lkey = (*real).lkey;
        mr.rkey = (*real).rkey;
        mr.real_mr = real;
    }
    Ok(mr.hand_out())
}

/// Removes a registration. Returns 0 or an error number. `ibv_dereg_mr(3)`
unsafe extern "C" fn dereg_mr(mr: *mut ibv_mr_1_0) -> c_int {
    // SAFETY: the caller passes an MR and uses it no more.
    unsafe { free_if_done(mr, verbs::mr::ibv_dereg_mr((*mr).real_mr)) }
}
export!(ibv_dereg_mr @ "IBVERBS_1.0" as dereg_mr);

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;
    use crate::compat::testing::Old;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn a_pd_wraps_the_real_one_until_it_is_freed() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real = fake.pd();
        real.handle = 17;
        fake.answer_object(&mut real);
        // SAFETY: an open context; the PD is used until it is freed.
        unsafe {
            let pd = alloc_pd(old.context());
            assert_eq!(((*pd).context, (*pd).handle), (old.context(), 17));
            assert_eq!((*pd).real_pd, &raw mut real);
            fake.answer(libc::EBUSY);
            assert_eq!(dealloc_pd(pd), libc::EBUSY);
            // Still there.
            assert_eq!((*pd).real_pd, &raw mut real);
            fake.answer(0);
            assert_eq!(dealloc_pd(pd), 0);
        }
        let free = Call("dealloc_pd", words![&raw const real]);
        assert_eq!(fake.calls(), [Call("alloc_pd", words![fake.context()]), free.clone(), free]);
    }

    #[test]
    fn an_mr_shows_the_keys_of_the_real_one() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        // The library keeps more behind what programs see.
        let mut real = verbs_mr::zeroed();
        real.ibv_mr.context = fake.context();
        (real.ibv_mr.handle, real.ibv_mr.lkey, real.ibv_mr.rkey) = (5, 6, 7);
        fake.answer_object(&mut real);
        let mut memory = [0_u8; 64];
        // SAFETY: a live PD and memory of the test's; the MR is used until it is removed.
        unsafe {
            let mr = reg_mr(&mut pd, memory.as_mut_ptr().cast(), 64, 1);
            assert_eq!(((*mr).context, (*mr).pd), (old.context(), &raw mut pd));
            assert_eq!(((*mr).handle, (*mr).lkey, (*mr).rkey), (5, 6, 7));
            let arguments = words![&raw const real_pd, memory.as_ptr(), 64, memory.as_ptr(), 1];
            assert_eq!(fake.calls(), [Call("reg_mr", arguments)]);
            fake.answer(libc::EBUSY);
            assert_eq!(dereg_mr(mr), libc::EBUSY);
            assert_eq!((*mr).real_mr.cast(), &raw mut real);
            fake.answer(0);
            assert_eq!(dereg_mr(mr), 0);
        }
    }

    #[test]
    fn failures_are_null_with_their_errno() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        // SAFETY: an open context and a live PD.
        unsafe {
            fake.answer(libc::ENOMEM);
            assert!(alloc_pd(old.context()).is_null());
            assert_eq!(Errno::last(), Errno::ENOMEM);
            fake.answer(libc::EFAULT);
            assert!(reg_mr(&mut pd, ptr::null_mut(), 1, 0).is_null());
            assert_eq!(Errno::last(), Errno::EFAULT);
        }
    }
}
