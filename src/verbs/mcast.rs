//! Multicast groups of UD and raw packet QPs.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::call_op;
use crate::verbs::report;

/// Attaches a QP to the multicast group with this GID and LID (host order). Returns 0 or an error
/// number. `ibv_attach_mcast(3)`
pub(crate) unsafe extern "C" fn ibv_attach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
) -> c_int {
    // SAFETY: the caller passes a QP and a GID.
    report(unsafe { call_op!((*qp).context, attach_mcast(qp, gid, lid)) })
}
export!(ibv_attach_mcast @@ "IBVERBS_1.1");

/// Undoes [`ibv_attach_mcast()`]. Returns 0 or an error number. `ibv_detach_mcast(3)`
pub(crate) unsafe extern "C" fn ibv_detach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
) -> c_int {
    // SAFETY: the caller passes a QP and a GID.
    report(unsafe { call_op!((*qp).context, detach_mcast(qp, gid, lid)) })
}
export!(ibv_detach_mcast @@ "IBVERBS_1.1");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn groups_are_joined_and_left_through_the_provider() {
        let fake = Fake::new();
        let mut qp = ibv_qp { context: fake.context(), ..ibv_qp::zeroed() };
        let gid = ibv_gid { raw: [0xff; 16] };
        // SAFETY: a live QP.
        unsafe {
            assert_eq!(ibv_attach_mcast(&mut qp, &gid, 0xc001), 0);
            fake.answer(libc::EINVAL);
            assert_eq!(ibv_detach_mcast(&mut qp, &gid, 0xc001), libc::EINVAL);
        }
        assert_eq!(Errno::last(), Errno::EINVAL);
        let arguments = words![&raw const qp, &raw const gid, 0xc001_u16];
        assert_eq!(
            fake.calls(),
            [Call("attach_mcast", arguments.clone()), Call("detach_mcast", arguments)]
        );
    }
}
