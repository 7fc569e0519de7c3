//! Contexts: opening and closing devices, and what is asked of them.

use crate::sync::atomic::{AtomicUsize, Ordering};
use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::compat::{Wrapper, device, free_if_done, post};
use crate::sys::errno::{Result, ReturnPointer, from_null, keep_errno};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::verbs;

/// The addresses of the open contexts of this interface, for [`real_context`].
static OPEN: ForkMutex<Vec<usize>> = ForkMutex::new(Rank::OldContexts, Vec::new());
/// How many there are: none in all but very old programs, which need no lock then.
static OPEN_COUNT: AtomicUsize = AtomicUsize::new(0);

fn change_open(change: impl FnOnce(&mut Vec<usize>)) {
    let mut open = OPEN.lock();
    change(&mut open);
    OPEN_COUNT.store(open.len(), Ordering::Release);
}

/// The real context, whichever interface `context` is of.
///
/// `ibv_create_comp_channel` has one version for both, so that it can be handed either. A pointer is
/// compared, never followed, to find out.
pub(crate) fn real_context(context: *mut ibv_context) -> *mut ibv_context {
    if OPEN_COUNT.load(Ordering::Acquire) == 0 {
        return context;
    }
    let open = OPEN.lock();
    if !open.contains(&context.addr()) {
        return context;
    }
    // SAFETY: it is an open context of this interface.
    unsafe { (*context.cast::<ibv_context_1_0>()).real_context }
}

/// Opens a device; NULL with `errno` on failure. `ibv_open_device(3)`
unsafe extern "C" fn open_device(device: *mut ibv_device_1_0) -> *mut ibv_context_1_0 {
    // SAFETY: the caller passes a device of a list.
    unsafe { open(device, |real| verbs::device::ibv_open_device(real)) }.or_null()
}
export!(ibv_open_device @ "IBVERBS_1.0" as open_device);

/// # Safety
///
/// `device` must be a device of a list.
pub(super) unsafe fn open(
    device: *mut ibv_device_1_0,
    open_real: impl FnOnce(*mut ibv_device) -> *mut ibv_context,
) -> Result<*mut ibv_context_1_0> {
    let mut context = Wrapper::<ibv_context_1_0>::new()?;
    // SAFETY: the caller's promise.
    unsafe {
        let real = from_null(open_real((*device).real_device))?;
        context.device = device;
        context.real_context = real;
        context.cmd_fd = (*real).cmd_fd;
        context.async_fd = (*real).async_fd;
        context.num_comp_vectors = (*real).num_comp_vectors;
        device::get(device);
    }
    // Programs reach these through inline functions; everything else is an exported function.
    context.ops.poll_cq = Some(post::poll_cq);
    context.ops.req_notify_cq = Some(post::req_notify_cq);
    context.ops.post_send = Some(post::post_send);
    context.ops.post_recv = Some(post::post_recv);
    context.ops.post_srq_recv = Some(post::post_srq_recv);
    let context = context.hand_out();
    change_open(|open| open.push(context.addr()));
    Ok(context)
}

/// Closes a device. `ibv_close_device(3)`
unsafe extern "C" fn close_device(context: *mut ibv_context_1_0) -> c_int {
    // SAFETY: the caller passes a context and uses it no more.
    unsafe { close(context, |real| verbs::device::ibv_close_device(real)) }
}
export!(ibv_close_device @ "IBVERBS_1.0" as close_device);

/// # Safety
///
/// `context` must be open, and is not used after a success.
pub(super) unsafe fn close(
    context: *mut ibv_context_1_0,
    close_real: impl FnOnce(*mut ibv_context) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let status = close_real((*context).real_context);
        if status == 0 {
            change_open(|open| open.retain(|address| *address != context.addr()));
            keep_errno(|| device::put((*context).device));
        }
        free_if_done(context, status)
    }
}

/// Stores the properties of the device in `attr`. Returns 0 or an error number.
/// `ibv_query_device(3)`
unsafe extern "C" fn query_device(
    context: *mut ibv_context_1_0,
    attr: *mut ibv_device_attr,
) -> c_int {
    // SAFETY: the caller passes a context and room for the attributes.
    unsafe { verbs::context::ibv_query_device((*context).real_context, attr) }
}
export!(ibv_query_device @ "IBVERBS_1.0" as query_device);

/// Stores the properties of a port (counted from 1) in the 48 bytes at `attr`: the struct that
/// programs of this interface have. Returns 0 or an error number. `ibv_query_port(3)`
unsafe extern "C" fn query_port(
    context: *mut ibv_context_1_0,
    port_num: u8,
    attr: *mut ibv_port_attr,
) -> c_int {
    // SAFETY: the caller passes a context and room for the struct of its time.
    unsafe { verbs::context::ibv_query_port((*context).real_context, port_num, attr.cast()) }
}
export!(ibv_query_port @ "IBVERBS_1.0" as query_port);

/// Stores an entry of a port's GID table, zero for an empty one. Returns 0, or -1 with `errno`.
/// `ibv_query_gid(3)`
unsafe extern "C" fn query_gid(
    context: *mut ibv_context_1_0,
    port_num: u8,
    index: c_int,
    gid: *mut ibv_gid,
) -> c_int {
    // SAFETY: the caller passes a context and room for a GID.
    unsafe { verbs::gid::ibv_query_gid((*context).real_context, port_num, index, gid) }
}
export!(ibv_query_gid @ "IBVERBS_1.0" as query_gid);

/// Stores an entry of a port's P_Key table, in network order. Returns 0, or -1 with `errno`.
/// `ibv_query_pkey(3)`
unsafe extern "C" fn query_pkey(
    context: *mut ibv_context_1_0,
    port_num: u8,
    index: c_int,
    pkey: *mut u16,
) -> c_int {
    // SAFETY: the caller passes a context and room for a P_Key.
    unsafe { verbs::pkey::ibv_query_pkey((*context).real_context, port_num, index, pkey) }
}
export!(ibv_query_pkey @ "IBVERBS_1.0" as query_pkey);

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;
    use crate::compat::testing::Old;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn an_open_context_shows_what_the_real_one_has() {
        let fake = Fake::new();
        // SAFETY: a live context.
        unsafe { (*fake.context()).num_comp_vectors = 7 };
        let old = Old::new(&fake);
        // SAFETY: an open context.
        unsafe {
            let context = &*old.context();
            assert_eq!(context.real_context, fake.context());
            assert_eq!(context.device, old.device());
            assert_eq!((context.cmd_fd, context.async_fd, context.num_comp_vectors), (-1, -1, 7));
            assert!(context.ops.poll_cq.is_some() && context.ops.req_notify_cq.is_some());
            assert!(context.ops.post_send.is_some() && context.ops.post_recv.is_some());
            assert!(context.ops.post_srq_recv.is_some() && context.ops.alloc_pd.is_none());
        }
    }

    #[test]
    fn a_failed_open_leaves_nothing() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let fail = |_| {
            Errno(libc::EACCES).store();
            ptr::null_mut()
        };
        // SAFETY: the device is live.
        assert_eq!(unsafe { open(old.device(), fail) }, Err(Errno(libc::EACCES)));
    }

    #[test]
    fn a_failed_close_leaves_the_context_open() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        // SAFETY: the context stays open.
        let status = unsafe { close(old.context(), |_| libc::EBUSY) };
        assert_eq!(status, libc::EBUSY);
        assert_eq!(real_context(old.context().cast()), fake.context());
    }

    #[test]
    fn contexts_of_both_interfaces_lead_to_the_real_one() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        assert_eq!(real_context(old.context().cast()), fake.context());
        assert_eq!(real_context(fake.context()), fake.context());
        assert_eq!(real_context(ptr::null_mut()), ptr::null_mut());
    }

    #[test]
    fn a_closed_context_is_not_followed() {
        // On the stack, so that no other test can have a context there.
        let mut real = ibv_context::zeroed();
        let mut context = ibv_context_1_0 { real_context: &mut real, ..ibv_context_1_0::zeroed() };
        let address = &raw mut context;
        change_open(|open| open.push(address.addr()));
        assert_eq!(real_context(address.cast()), &raw mut real);
        change_open(|open| open.retain(|open| *open != address.addr()));
        assert_eq!(real_context(address.cast()), address.cast());
    }

    #[test]
    fn queries_reach_the_real_context() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut attr = ibv_device_attr::zeroed();
        // SAFETY: an open context and room for the results.
        unsafe {
            assert_eq!(query_device(old.context(), &mut attr), 0);
            let calls = fake.calls();
            assert_eq!(calls[0].0, "query_device_ex");
            assert_eq!(calls[0].1[..3], words![fake.context(), 0, &raw const attr]);
            fake.answer(libc::EINVAL);
            let mut room = [0xee_u8; 56];
            assert_eq!(query_port(old.context(), 3, room.as_mut_ptr().cast()), libc::EINVAL);
            let [Call("query_port", arguments)] = &fake.calls()[..] else { panic!() };
            assert_eq!(arguments[..2], words![fake.context(), 3]);
        }
    }

    #[test]
    fn a_port_query_fills_48_bytes() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut room = [0xee_u8; 56];
        // SAFETY: an open context and room for the old struct.
        assert_eq!(unsafe { query_port(old.context(), 1, room.as_mut_ptr().cast()) }, 0);
        assert_eq!((room[..48].to_vec(), room[48..].to_vec()), (vec![0; 48], vec![0xee; 8]));
    }
}
