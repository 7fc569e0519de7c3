//! What a device and its ports are like.

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::call_op;
use crate::verbs::report;

/// Stores the properties of the device in `attr`. Returns 0 or an error number.
/// `ibv_query_device(3)`
pub(crate) unsafe extern "C" fn ibv_query_device(
    context: *mut ibv_context,
    attr: *mut ibv_device_attr,
) -> c_int {
    // SAFETY: the caller passes a context and room for the attributes, which the extended ones
    // begin with; the size says that there is no more.
    report(unsafe {
        call_op!(
            context,
            query_device_ex(context, ptr::null(), attr.cast(), size_of::<ibv_device_attr>())
        )
    })
}
export!(ibv_query_device @@ "IBVERBS_1.1");

/// Stores the properties of a port (counted from 1) in `attr`, which is the struct of the oldest
/// programs. Returns 0 or an error number. `ibv_query_port(3)`
pub(crate) unsafe extern "C" fn ibv_query_port(
    context: *mut ibv_context,
    port_num: u8,
    attr: *mut _compat_ibv_port_attr,
) -> c_int {
    // SAFETY: the caller passes a context and room for the attributes.
    unsafe { query_port(context, port_num, attr.cast(), size_of::<_compat_ibv_port_attr>()) }
}
export!(ibv_query_port @@ "IBVERBS_1.1");

/// As [`ibv_query_port()`], for a struct of `length` bytes: the slot `query_port` of the extended
/// context. A shorter struct than today's gets as much as it has room for; in a longer one the rest
/// is zero.
pub(crate) unsafe extern "C" fn query_port(
    context: *mut ibv_context,
    port_num: u8,
    attr: *mut ibv_port_attr,
    length: usize,
) -> c_int {
    if length >= size_of::<ibv_port_attr>() {
        // SAFETY: the caller passes a context and room for `length` bytes.
        return report(unsafe {
            attr.cast::<u8>().write_bytes(0, length);
            call_op!(context, query_port(context, port_num, attr))
        });
    }
    let mut whole = ibv_port_attr::zeroed();
    // SAFETY: the caller passes a context.
    let status = unsafe { call_op!(context, query_port(context, port_num, &raw mut whole)) };
    if status == 0 {
        // SAFETY: the caller has room for `length` bytes, and the whole is longer.
        unsafe { ptr::copy_nonoverlapping((&raw const whole).cast::<u8>(), attr.cast(), length) };
    }
    report(status)
}

/// Stores the speed of a port in `speed`, in units of 100 Mb/s. Returns 0 or an error number.
/// `ibv_query_port_speed(3)`
pub(super) unsafe extern "C" fn ibv_query_port_speed(
    context: *mut ibv_context,
    port_num: u32,
    speed: *mut u64,
) -> c_int {
    // SAFETY: the caller passes a context and room for the speed.
    report(unsafe { call_op!(context, query_port_speed(context, port_num, speed)) })
}
export!(ibv_query_port_speed @@ "IBVERBS_1.16");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Fake, words};

    unsafe extern "C" fn port_with_everything_set(
        _: *mut ibv_context,
        port: u8,
        attr: *mut ibv_port_attr,
    ) -> c_int {
        // SAFETY: the wrapper passes a whole struct.
        unsafe { attr.cast::<u8>().write_bytes(port, size_of::<ibv_port_attr>()) };
        0
    }

    #[test]
    fn a_device_query_is_one_of_the_plain_attributes() {
        let fake = Fake::new();
        let mut attr = ibv_device_attr::zeroed();
        // SAFETY: a live context and room for the result.
        let status = unsafe { ibv_query_device(fake.context(), &mut attr) };
        assert_eq!(status, 0);
        let call = &fake.calls()[0];
        assert_eq!(call.0, "query_device_ex");
        assert_eq!(call.1, words![fake.context(), 0, &raw const attr, 232]);
        fake.answer(libc::EIO);
        // SAFETY: as above.
        assert_eq!(unsafe { ibv_query_device(fake.context(), &mut attr) }, libc::EIO);
        assert_eq!(Errno::last(), Errno::EIO);
    }

    #[test]
    fn ports_are_queried_in_the_length_that_the_caller_has() {
        let fake = Fake::new();
        fake.set_ops(|ops| ops.query_port = Some(port_with_everything_set));
        // SAFETY: the slot is set.
        let slot = unsafe { (*fake.extended()).query_port }.expect("the library fills the slot");
        for length in [0, 1, 48, 52, 55, 56, 60, 64] {
            let mut room = [0xee_u8; 72];
            // SAFETY: the room is longer than the length.
            let status = unsafe { slot(fake.context(), 7, room.as_mut_ptr().cast(), length) };
            assert_eq!(status, 0);
            let filled = length.min(56);
            assert!(room[..filled].iter().all(|&byte| byte == 7), "{length}: {room:?}");
            assert!(room[filled..length].iter().all(|&byte| byte == 0), "{length}: {room:?}");
            assert!(room[length..].iter().all(|&byte| byte == 0xee), "{length}: {room:?}");
        }
    }

    #[test]
    fn the_exported_port_query_and_the_old_slot_fill_48_bytes() {
        let fake = Fake::new();
        fake.set_ops(|ops| ops.query_port = Some(port_with_everything_set));
        // SAFETY: the slot is set.
        let slot = unsafe { (*fake.context()).ops._compat_query_port };
        for query in [ibv_query_port, slot.expect("the library fills the slot")] {
            let mut room = [0xee_u8; 56];
            // SAFETY: there is room for the oldest struct.
            assert_eq!(unsafe { query(fake.context(), 2, room.as_mut_ptr().cast()) }, 0);
            assert_eq!(room[..48], [2; 48]);
            assert_eq!(room[48..], [0xee; 8]);
        }
    }

    #[test]
    fn a_failed_port_query_leaves_a_short_struct_alone() {
        let fake = Fake::new();
        fake.answer(libc::EINVAL);
        let mut room = [0xee_u8; 56];
        // SAFETY: there is room for the oldest struct.
        let status = unsafe { ibv_query_port(fake.context(), 9, room.as_mut_ptr().cast()) };
        assert_eq!((status, Errno::last()), (libc::EINVAL, Errno::EINVAL));
        assert_eq!(room, [0xee; 56]);
        assert_eq!(fake.called(), ["query_port"]);
    }

    #[test]
    fn port_speed_is_forwarded() {
        let fake = Fake::new();
        let mut speed = 0;
        // SAFETY: a live context and room for the result.
        assert_eq!(unsafe { ibv_query_port_speed(fake.context(), 300, &mut speed) }, 0);
        assert_eq!(fake.calls()[0].1, words![fake.context(), 300, &raw const speed]);
    }

    #[test]
    fn a_provider_status_below_zero_is_passed_on() {
        let fake = Fake::new();
        fake.answer(-1);
        Errno::EBUSY.store();
        let mut speed = 0;
        // SAFETY: a live context and room for the result.
        assert_eq!(unsafe { ibv_query_port_speed(fake.context(), 1, &mut speed) }, -1);
        assert_eq!(Errno::last(), Errno::EBUSY);
    }
}
