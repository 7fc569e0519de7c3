//! Address handles and multicast groups.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::compat::{Wrapper, free_if_done};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs;

/// Creates an address handle; NULL with `errno` on failure. `ibv_create_ah(3)`
unsafe extern "C" fn create_ah(pd: *mut ibv_pd_1_0, attr: *mut ibv_ah_attr) -> *mut ibv_ah_1_0 {
    // SAFETY: the caller passes a PD and attributes.
    unsafe { new_ah(pd, attr) }.or_null()
}
export!(ibv_create_ah @ "IBVERBS_1.0" as create_ah);

unsafe fn new_ah(pd: *mut ibv_pd_1_0, attr: *mut ibv_ah_attr) -> Result<*mut ibv_ah_1_0> {
    let mut ah = Wrapper::<ibv_ah_1_0>::new()?;
    // SAFETY: the caller passes a PD and attributes; the new handle is live.
    unsafe {
        let real = from_null(verbs::ah::ibv_create_ah((*pd).real_pd, attr))?;
        ah.context = (*pd).context;
        ah.pd = pd;
        ah.handle = (*real).handle;
        ah.real_ah = real;
    }
    Ok(ah.hand_out())
}

/// Destroys an address handle. Returns 0 or an error number. `ibv_destroy_ah(3)`
unsafe extern "C" fn destroy_ah(ah: *mut ibv_ah_1_0) -> c_int {
    // SAFETY: the caller passes an address handle and uses it no more.
    unsafe { free_if_done(ah, verbs::ah::ibv_destroy_ah((*ah).real_ah)) }
}
export!(ibv_destroy_ah @ "IBVERBS_1.0" as destroy_ah);

/// Attaches a QP to a multicast group. Returns 0 or an error number. `ibv_attach_mcast(3)`
unsafe extern "C" fn attach_mcast(qp: *mut ibv_qp_1_0, gid: *mut ibv_gid, lid: u16) -> c_int {
    // SAFETY: the caller passes a QP and a GID.
    unsafe { verbs::mcast::ibv_attach_mcast((*qp).real_qp, gid, lid) }
}
export!(ibv_attach_mcast @ "IBVERBS_1.0" as attach_mcast);

/// Undoes [`attach_mcast`]. Returns 0 or an error number. `ibv_detach_mcast(3)`
unsafe extern "C" fn detach_mcast(qp: *mut ibv_qp_1_0, gid: *mut ibv_gid, lid: u16) -> c_int {
    // SAFETY: the caller passes a QP and a GID.
    unsafe { verbs::mcast::ibv_detach_mcast((*qp).real_qp, gid, lid) }
}
export!(ibv_detach_mcast @ "IBVERBS_1.0" as detach_mcast);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::testing::Old;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, new_qp, words};

    #[test]
    fn an_address_handle_wraps_the_real_one() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        let mut real = ibv_ah::zeroed();
        real.context = fake.context();
        real.handle = 9;
        let mut attr = ibv_ah_attr::zeroed();
        // SAFETY: a live PD; the handle is used until it is destroyed.
        unsafe {
            fake.answer_object(&mut real);
            let ah = create_ah(&mut pd, &mut attr);
            assert_eq!(((*ah).context, (*ah).pd, (*ah).handle), (old.context(), &raw mut pd, 9));
            assert_eq!((*ah).real_ah, &raw mut real);
            fake.answer(libc::EIO);
            assert_eq!(destroy_ah(ah), libc::EIO);
            assert_eq!((*ah).real_ah, &raw mut real);
            fake.answer(0);
            assert_eq!(destroy_ah(ah), 0);
            let create = Call("create_ah", words![&raw const real_pd, &raw const attr]);
            let destroy = Call("destroy_ah", words![&raw const real]);
            assert_eq!(fake.calls(), [create, destroy.clone(), destroy]);
            fake.answer(libc::EINVAL);
            assert!(create_ah(&mut pd, &mut attr).is_null());
        }
        assert_eq!(Errno::last(), Errno::EINVAL);
    }

    #[test]
    fn groups_are_the_real_qp_s() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real = new_qp(&fake);
        let mut qp = old.qp(&mut real);
        let mut gid = ibv_gid { raw: [0xff; 16] };
        // SAFETY: a live QP.
        unsafe {
            assert_eq!(attach_mcast(&mut qp, &mut gid, 0xc000), 0);
            fake.answer(libc::EINVAL);
            assert_eq!(detach_mcast(&mut qp, &mut gid, 0xc000), libc::EINVAL);
        }
        let arguments = words![&raw const *real, &raw const gid, 0xc000_u16];
        let calls = ["attach_mcast", "detach_mcast"].map(|name| Call(name, arguments.clone()));
        assert_eq!(fake.calls(), calls);
    }
}
