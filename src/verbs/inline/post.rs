//! Requests of the extended posting interface: between begin and end, a function per request and
//! one per property of it. `ibv_wr_post(3)`
//!
//! A QP has the functions that were asked for when it was created. A request for which it has none
//! fails like any other bad request: the end reports it, and nothing is posted.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::log::log;
use crate::provider_api::private;
use crate::sys::errno::Errno;

thread_local! {
    /// The QP on which this thread, since the begin, called for a function that is not there.
    static FAILED: Cell<*mut ibv_qp_ex> = const { Cell::new(ptr::null_mut()) };
}

#[cold]
fn missing(qp: *mut ibv_qp_ex, name: &str) {
    log!(VERBS_LOG_ERR, "{name}: the QP was created without this operation in its send_ops_flags");
    FAILED.set(qp);
}

/// Begins a series of requests.
pub(super) unsafe extern "C" fn ibv_wr_start(qp: *mut ibv_qp_ex) {
    FAILED.set(ptr::null_mut());
    // SAFETY: the caller passes an extended QP.
    unsafe {
        match (*qp).wr_start {
            Some(wr_start) => wr_start(qp),
            None => missing(qp, "ibv_wr_start"),
        }
    }
}
export!(ibv_wr_start @@ "IBVERBS_RS_1.0");

/// Ends a series of requests and posts it. Returns 0, or an error number if any of them was bad, and
/// posts nothing then.
pub(super) unsafe extern "C" fn ibv_wr_complete(qp: *mut ibv_qp_ex) -> c_int {
    let failed = FAILED.replace(ptr::null_mut()) == qp;
    // SAFETY: the caller passes an extended QP after the begin.
    unsafe {
        match (*qp).wr_complete {
            Some(wr_complete) if !failed => return wr_complete(qp),
            _ => {}
        }
        if let Some(wr_abort) = (*qp).wr_abort {
            wr_abort(qp);
        }
    }
    Errno::EOPNOTSUPP.store();
    libc::EOPNOTSUPP
}
export!(ibv_wr_complete @@ "IBVERBS_RS_1.0");

/// Ends a series of requests and forgets it.
pub(super) unsafe extern "C" fn ibv_wr_abort(qp: *mut ibv_qp_ex) {
    FAILED.set(ptr::null_mut());
    // SAFETY: the caller passes an extended QP after the begin.
    unsafe {
        if let Some(wr_abort) = (*qp).wr_abort {
            wr_abort(qp);
        }
    }
}
export!(ibv_wr_abort @@ "IBVERBS_RS_1.0");

/// A function of the QP at `offset`, if QPs of its provider's release have one there: behind the
/// extended QP lies what is the library's.
///
/// # Safety
///
/// `qp` must be an extended QP of an open context.
unsafe fn newer<T: Copy>(
    qp: *mut ibv_qp_ex,
    offset: usize,
    _member: fn(&ibv_qp_ex) -> &Option<T>,
) -> Option<T> {
    // SAFETY: the caller's promise; a QP is as long as its layout says.
    unsafe {
        let end = private((*qp.cast::<ibv_qp>()).context).layout.qp_tail;
        if offset < end { qp.byte_add(offset).cast::<Option<T>>().read() } else { None }
    }
}

/// Defines functions that go to a member of the QP: `fn name(arguments after the QP) => member;`,
/// or `=> newer member;` for those that older releases do not have.
macro_rules! builders {
    (@get $qp:ident $member:ident) => { (*$qp).$member };
    (@get $qp:ident newer $member:ident) => {
        newer($qp, offset_of!(ibv_qp_ex, $member), |qp| &qp.$member)
    };
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) => $($member:ident)+;)*) => {
        $(
            $(#[$doc])*
            unsafe extern "C" fn $name(qp: *mut ibv_qp_ex $(, $arg: $type)*) {
                // SAFETY: the caller passes an extended QP after the begin, and what the request
                // demands.
                unsafe {
                    match builders!(@get qp $($member)+) {
                        Some(build) => build(qp $(, $arg)*),
                        None => missing(qp, stringify!($name)),
                    }
                }
            }
            export!($name @@ "IBVERBS_RS_1.0");
        )*
    };
}

builders! {
    /// Compares a remote 64-bit word and swaps it if equal.
    fn ibv_wr_atomic_cmp_swp(rkey: u32, remote_addr: u64, compare: u64, swap: u64) =>
        wr_atomic_cmp_swp;
    /// Adds to a remote 64-bit word.
    fn ibv_wr_atomic_fetch_add(rkey: u32, remote_addr: u64, add: u64) => wr_atomic_fetch_add;
    /// Writes eight bytes to a remote place at once.
    fn ibv_wr_atomic_write(rkey: u32, remote_addr: u64, atomic_wr: *const c_void) =>
        newer wr_atomic_write;
    /// Binds a type 2 memory window under a new key.
    fn ibv_wr_bind_mw(mw: *mut ibv_mw, rkey: u32, bind_info: *const ibv_mw_bind_info) =>
        wr_bind_mw;
    /// Makes remote writes visible or persistent.
    fn ibv_wr_flush(rkey: u32, remote_addr: u64, len: usize, r#type: u8, level: u8) => newer wr_flush;
    /// Invalidates a key of this side.
    fn ibv_wr_local_inv(invalidate_rkey: u32) => wr_local_inv;
    /// Reads from remote memory.
    fn ibv_wr_rdma_read(rkey: u32, remote_addr: u64) => wr_rdma_read;
    /// Writes to remote memory.
    fn ibv_wr_rdma_write(rkey: u32, remote_addr: u64) => wr_rdma_write;
    /// Writes to remote memory and sends immediate data (in network order).
    fn ibv_wr_rdma_write_imm(rkey: u32, remote_addr: u64, imm_data: u32) => wr_rdma_write_imm;
    /// Sends.
    fn ibv_wr_send() => wr_send;
    /// Sends with immediate data (in network order).
    fn ibv_wr_send_imm(imm_data: u32) => wr_send_imm;
    /// Sends and invalidates a key of the receiver.
    fn ibv_wr_send_inv(invalidate_rkey: u32) => wr_send_inv;
    /// Sends as many TCP segments behind copies of a header.
    fn ibv_wr_send_tso(hdr: *mut c_void, hdr_sz: u16, mss: u16) => wr_send_tso;
    /// The destination of a UD request.
    fn ibv_wr_set_ud_addr(ah: *mut ibv_ah, remote_qpn: u32, remote_qkey: u32) => wr_set_ud_addr;
    /// The receiving SRQ of an XRC request.
    fn ibv_wr_set_xrc_srqn(remote_srqn: u32) => wr_set_xrc_srqn;
    /// Data that is copied now.
    fn ibv_wr_set_inline_data(addr: *mut c_void, length: usize) => wr_set_inline_data;
    /// Data that is copied now, from several places.
    fn ibv_wr_set_inline_data_list(num_buf: usize, buf_list: *const ibv_data_buf) =>
        wr_set_inline_data_list;
    /// Data in registered memory.
    fn ibv_wr_set_sge(lkey: u32, addr: u64, length: u32) => wr_set_sge;
    /// Data in several places of registered memory.
    fn ibv_wr_set_sge_list(num_sge: usize, sg_list: *const ibv_sge) => wr_set_sge_list;
}

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;
    use crate::provider_api::private_abi::testing::Guarded;
    use crate::provider_api::private_abi::{PRIVATE_ABIS, layouts_of};
    use crate::verbs::testing::{Call, Fake, note, recording_qp_ex};

    fn at<T>(address: usize) -> *mut T {
        ptr::without_provenance_mut(address)
    }

    #[test]
    fn requests_are_built_by_the_qp_s_functions() {
        let fake = Fake::new();
        let mut qp = recording_qp_ex();
        qp.qp_base.context = fake.context();
        let qp = &raw mut qp;
        macro_rules! build {
            ($($function:ident($($argument:expr),*) => $member:literal;)*) => {
                $({
                    let mut arguments = Vec::new();
                note(&mut arguments, qp);
                    // SAFETY: a live QP; the test's functions touch nothing.
                    unsafe { $function(qp $(, note(&mut arguments, $argument))*) };
                    assert_eq!(fake.calls(), [Call($member, arguments)]);
                })*
            };
        }
        build! {
            ibv_wr_start() => "wr_start";
            ibv_wr_atomic_cmp_swp(1, 2, 3, 4) => "wr_atomic_cmp_swp";
            ibv_wr_atomic_fetch_add(1, 2, 3) => "wr_atomic_fetch_add";
            ibv_wr_atomic_write(1, 2, at(3)) => "wr_atomic_write";
            ibv_wr_bind_mw(at(1), 2, at(3)) => "wr_bind_mw";
            ibv_wr_flush(1, 2, 3, 4, 5) => "wr_flush";
            ibv_wr_local_inv(1) => "wr_local_inv";
            ibv_wr_rdma_read(1, 2) => "wr_rdma_read";
            ibv_wr_rdma_write(1, 2) => "wr_rdma_write";
            ibv_wr_rdma_write_imm(1, 2, 3) => "wr_rdma_write_imm";
            ibv_wr_send() => "wr_send";
            ibv_wr_send_imm(1) => "wr_send_imm";
            ibv_wr_send_inv(1) => "wr_send_inv";
            ibv_wr_send_tso(at(1), 2, 3) => "wr_send_tso";
            ibv_wr_set_ud_addr(at(1), 2, 3) => "wr_set_ud_addr";
            ibv_wr_set_xrc_srqn(1) => "wr_set_xrc_srqn";
            ibv_wr_set_inline_data(at(1), 2) => "wr_set_inline_data";
            ibv_wr_set_inline_data_list(1, at(2)) => "wr_set_inline_data_list";
            ibv_wr_set_sge(1, 2, 3) => "wr_set_sge";
            ibv_wr_set_sge_list(1, at(2)) => "wr_set_sge_list";
            ibv_wr_abort() => "wr_abort";
        }
        fake.answer(44);
        // SAFETY: a live QP.
        assert_eq!(unsafe { ibv_wr_complete(qp) }, 44);
        assert_eq!(fake.called(), ["wr_complete"]);
    }

    #[test]
    fn a_request_that_a_qp_does_not_have_fails_the_series() {
        let fake = Fake::new();
        let mut qp = recording_qp_ex();
        let mut other = recording_qp_ex();
        qp.wr_rdma_read = None;
        let (qp, other) = (&raw mut qp, &raw mut other);
        // SAFETY: live QPs.
        unsafe {
            ibv_wr_start(qp);
            ibv_wr_rdma_write(qp, 1, 2);
            ibv_wr_rdma_read(qp, 1, 2);
            assert_eq!(ibv_wr_complete(qp), libc::EOPNOTSUPP);
            assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
            assert_eq!(fake.called(), ["wr_start", "wr_rdma_write", "wr_abort"]);
            // The next series is a new one, after an end as after a begin.
            assert_eq!(ibv_wr_complete(qp), 0);
            ibv_wr_rdma_read(qp, 1, 2);
            ibv_wr_start(qp);
            assert_eq!(ibv_wr_complete(qp), 0);
            ibv_wr_rdma_read(qp, 1, 2);
            ibv_wr_abort(qp);
            assert_eq!(ibv_wr_complete(qp), 0);
            fake.calls();
            // Another QP is not concerned.
            ibv_wr_rdma_read(qp, 1, 2);
            assert_eq!(ibv_wr_complete(other), 0);
        }
        assert_eq!(fake.called(), ["wr_complete"]);
    }
    /// Where an older release has no function, its QP has the provider's and the library's data.
    #[test]
    fn requests_that_a_release_does_not_know_are_not_looked_for() {
        for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
            let fake = Fake::of_layout(layout, &verbs_context_ops::zeroed());
            let mut whole = recording_qp_ex();
            whole.qp_base.context = fake.context();
            let memory = Guarded::new(layout.qp_tail);
            let qp = memory.get::<ibv_qp_ex>();
            // SAFETY: a QP that ends where its release ends it.
            unsafe {
                ptr::copy_nonoverlapping(
                    (&raw const whole).cast::<u8>(),
                    qp.cast(),
                    layout.qp_tail,
                );
                let first = *layout.releases.start();
                ibv_wr_start(qp);
                ibv_wr_atomic_write(qp, 1, 2, ptr::null());
                let status = if first < 44 { libc::EOPNOTSUPP } else { 0 };
                assert_eq!(ibv_wr_complete(qp), status, "{layout:?}");
                ibv_wr_start(qp);
                ibv_wr_flush(qp, 1, 2, 3, 4, 5);
                let status = if first < 45 { libc::EOPNOTSUPP } else { 0 };
                assert_eq!(ibv_wr_complete(qp), status, "{layout:?}");
            }
            fake.calls();
        }
    }
}
