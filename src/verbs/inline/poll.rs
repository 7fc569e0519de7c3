//! Reading completions of extended CQs. `ibv_create_cq_ex(3)`

use core::ffi::{c_int, c_uint};

use crate::abi::export::export;
use crate::abi::*;
use crate::log::log;
use crate::sys::errno::Errno;
use crate::verbs::inline::unsupported;

/// Begins to read: goes to the first completion. Returns 0, ENOENT when there is none, or another
/// error number.
pub(super) unsafe extern "C" fn ibv_start_poll(
    cq: *mut ibv_cq_ex,
    attr: *mut ibv_poll_cq_attr,
) -> c_int {
    // SAFETY: the caller passes an extended CQ and attributes.
    unsafe {
        match (*cq).start_poll {
            Some(start_poll) => start_poll(cq, attr),
            None => unsupported(),
        }
    }
}
export!(ibv_start_poll @@ "IBVERBS_RS_1.0");

/// Goes to the next completion. Returns 0, ENOENT when there is none, or another error number.
pub(super) unsafe extern "C" fn ibv_next_poll(cq: *mut ibv_cq_ex) -> c_int {
    // SAFETY: the caller passes an extended CQ between begin and end.
    unsafe {
        match (*cq).next_poll {
            Some(next_poll) => next_poll(cq),
            None => unsupported(),
        }
    }
}
export!(ibv_next_poll @@ "IBVERBS_RS_1.0");

/// Ends reading.
pub(super) unsafe extern "C" fn ibv_end_poll(cq: *mut ibv_cq_ex) {
    // SAFETY: the caller passes an extended CQ between begin and end.
    unsafe {
        if let Some(end_poll) = (*cq).end_poll {
            end_poll(cq);
        }
    }
}
export!(ibv_end_poll @@ "IBVERBS_RS_1.0");

/// A CQ without the function was created without the field that it reads.
#[cold]
fn missing<T: Default>(name: &str) -> T {
    log!(VERBS_LOG_ERR, "{name}: the CQ was created without this field in its wc_flags");
    Errno::EOPNOTSUPP.store();
    T::default()
}

/// Defines functions that read a field of the current completion: `fn name -> type => member;`.
macro_rules! readers {
    ($($(#[$doc:meta])* fn $name:ident -> $ret:ty => $member:ident;)*) => {
        $(
            $(#[$doc])*
            unsafe extern "C" fn $name(cq: *mut ibv_cq_ex) -> $ret {
                // SAFETY: the caller passes an extended CQ between begin and end.
                unsafe {
                    match (*cq).$member {
                        Some(read) => read(cq),
                        None => missing(stringify!($name)),
                    }
                }
            }
            export!($name @@ "IBVERBS_RS_1.0");
        )*
    };
}

readers! {
    /// What was completed.
    fn ibv_wc_read_opcode -> ibv_wc_opcode => read_opcode;
    /// The provider's number for an error.
    fn ibv_wc_read_vendor_err -> u32 => read_vendor_err;
    /// The number of bytes transferred.
    fn ibv_wc_read_byte_len -> u32 => read_byte_len;
    /// Immediate data, in network order.
    fn ibv_wc_read_imm_data -> u32 => read_imm_data;
    /// The key that the peer invalidated: in the place of immediate data.
    fn ibv_wc_read_invalidated_rkey -> u32 => read_imm_data;
    /// The QP of the completed request.
    fn ibv_wc_read_qp_num -> u32 => read_qp_num;
    /// The QP that sent the message.
    fn ibv_wc_read_src_qp -> u32 => read_src_qp;
    /// Bits of `enum ibv_wc_flags`.
    fn ibv_wc_read_wc_flags -> c_uint => read_wc_flags;
    /// The LID of the sender.
    fn ibv_wc_read_slid -> u32 => read_slid;
    /// The service level.
    fn ibv_wc_read_sl -> u8 => read_sl;
    /// The path bits of the destination LID.
    fn ibv_wc_read_dlid_path_bits -> u8 => read_dlid_path_bits;
    /// The time of completion, in ticks of the device.
    fn ibv_wc_read_completion_ts -> u64 => read_completion_ts;
    /// The time of completion, in nanoseconds since the epoch.
    fn ibv_wc_read_completion_wallclock_ns -> u64 => read_completion_wallclock_ns;
    /// The VLAN tag.
    fn ibv_wc_read_cvlan -> u16 => read_cvlan;
    /// The tag of the flow rule.
    fn ibv_wc_read_flow_tag -> u32 => read_flow_tag;
}

/// Stores the tag and the private data of a matched message.
pub(super) unsafe extern "C" fn ibv_wc_read_tm_info(
    cq: *mut ibv_cq_ex,
    tm_info: *mut ibv_wc_tm_info,
) {
    // SAFETY: the caller passes an extended CQ between begin and end, and room for the data.
    unsafe {
        match (*cq).read_tm_info {
            Some(read_tm_info) => read_tm_info(cq, tm_info),
            None => missing("ibv_wc_read_tm_info"),
        }
    }
}
export!(ibv_wc_read_tm_info @@ "IBVERBS_RS_1.0");

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;
    use crate::verbs::testing::{Call, Fake, recording_cq_ex, words};

    fn at<T>(address: usize) -> *mut T {
        ptr::without_provenance_mut(address)
    }

    #[test]
    fn fields_of_completions_are_read_by_the_cq_s_functions() {
        let fake = Fake::new();
        let mut cq = recording_cq_ex();
        let cq = &raw mut cq;
        fake.answer(99);
        macro_rules! read {
            ($($function:ident => $member:literal;)*) => {
                // SAFETY: a live CQ.
                $(assert_eq!(unsafe { $function(cq) }, 99);
                assert_eq!(fake.calls(), [Call($member, words![cq])]);)*
            };
        }
        read! {
            ibv_next_poll => "next_poll";
            ibv_wc_read_opcode => "read_opcode";
            ibv_wc_read_vendor_err => "read_vendor_err";
            ibv_wc_read_byte_len => "read_byte_len";
            ibv_wc_read_imm_data => "read_imm_data";
            ibv_wc_read_invalidated_rkey => "read_imm_data";
            ibv_wc_read_qp_num => "read_qp_num";
            ibv_wc_read_src_qp => "read_src_qp";
            ibv_wc_read_wc_flags => "read_wc_flags";
            ibv_wc_read_slid => "read_slid";
            ibv_wc_read_sl => "read_sl";
            ibv_wc_read_dlid_path_bits => "read_dlid_path_bits";
            ibv_wc_read_completion_ts => "read_completion_ts";
            ibv_wc_read_completion_wallclock_ns => "read_completion_wallclock_ns";
            ibv_wc_read_cvlan => "read_cvlan";
            ibv_wc_read_flow_tag => "read_flow_tag";
        }
        // SAFETY: a live CQ; the test's functions touch nothing else.
        unsafe {
            assert_eq!(ibv_start_poll(cq, at(1)), 99);
            ibv_wc_read_tm_info(cq, at(2));
            ibv_end_poll(cq);
        }
        assert_eq!(
            fake.calls(),
            [
                Call("start_poll", words![cq, 1]),
                Call("read_tm_info", words![cq, 2]),
                Call("end_poll", words![cq])
            ]
        );
    }

    #[test]
    fn fields_that_a_cq_does_not_have_are_zero_with_an_error() {
        let mut cq = ibv_cq_ex::zeroed();
        let cq = &raw mut cq;
        Errno(0).store();
        // SAFETY: a live CQ.
        unsafe {
            assert_eq!(ibv_wc_read_completion_ts(cq), 0);
            assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
            assert_eq!(ibv_wc_read_sl(cq), 0);
            ibv_wc_read_tm_info(cq, ptr::null_mut());
            assert_eq!(ibv_start_poll(cq, ptr::null_mut()), libc::EOPNOTSUPP);
            assert_eq!(ibv_next_poll(cq), libc::EOPNOTSUPP);
            ibv_end_poll(cq);
        }
    }
}
