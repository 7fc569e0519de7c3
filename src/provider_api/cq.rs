//! The part of a completion queue that the library keeps.

use core::ffi::c_void;
use core::ptr;

use crate::abi::export::export_private;
use crate::abi::*;

/// Prepares the library's members of a new CQ and counts it on its channel (may be NULL).
/// `driver.h: verbs_init_cq`
pub(super) unsafe extern "C" fn verbs_init_cq(
    cq: *mut ibv_cq,
    context: *mut ibv_context,
    channel: *mut ibv_comp_channel,
    cq_context: *mut c_void,
) {
    // SAFETY: the provider passes its new CQ, which nobody else knows yet, and live objects.
    unsafe { init_cq(cq, context, channel, cq_context) }
}
export_private!(verbs_init_cq);

/// See [`verbs_init_cq`].
///
/// # Safety
///
/// `cq` must be a new CQ that nobody else uses, `context` a context, `channel` NULL or a channel of
/// it.
pub(crate) unsafe fn init_cq(
    cq: *mut ibv_cq,
    context: *mut ibv_context,
    channel: *mut ibv_comp_channel,
    cq_context: *mut c_void,
) {
    // SAFETY: the caller's promise, for all places below.
    unsafe {
        (*cq).context = context;
        (*cq).channel = channel;
        if !channel.is_null() {
            let mutex = &raw mut (*context).mutex;
            libc::pthread_mutex_lock(mutex);
            (*channel).refcnt += 1;
            libc::pthread_mutex_unlock(mutex);
        }
        (*cq).cq_context = cq_context;
        (*cq).comp_events_completed = 0;
        (*cq).async_events_completed = 0;
        libc::pthread_mutex_init(&raw mut (*cq).mutex, ptr::null());
        libc::pthread_cond_init(&raw mut (*cq).cond, ptr::null());
    }
}
