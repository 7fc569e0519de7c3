//! Counters of flows.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{Blocks, Command, Kernel, destroy_by_ioctl, method};
use crate::log::log;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Creates counters: fills in `context` and `handle`. EOPNOTSUPP for mask bits, none of which has
/// a meaning. `link` are the provider's attributes, may be NULL. `ibv_create_counters(3)`,
/// `driver.h: ibv_cmd_create_counters`
pub(super) unsafe extern "C" fn ibv_cmd_create_counters(
    context: *mut ibv_context,
    init_attr: *mut ibv_counters_init_attr,
    vcounters: *mut verbs_counters,
    link: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its context, the program's attributes, its new counters and its
    // blocks.
    unsafe {
        let mask = (*init_attr).comp_mask;
        create_counters(Kernel::of(context), mask, Blocks::new(link), &mut *vcounters)
    }
    .or_number()
}
export!(ibv_cmd_create_counters @@ "IBVERBS_PRIVATE_65");

fn create_counters(
    kernel: Kernel<'_>,
    comp_mask: u32,
    link: Blocks<'_>,
    counters: &mut verbs_counters,
) -> Result<()> {
    if comp_mask != 0 {
        log!(VERBS_LOG_ERR, "{kernel}: counters with unknown mask bits {comp_mask:#x}");
        return Err(Errno::EOPNOTSUPP);
    }
    let mut handle = 0;
    Command::new(method!(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE))
        .new_object(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &mut handle)
        .link(link)
        .execute(kernel)?;
    counters.counters.context = kernel.context();
    counters.handle = handle;
    Ok(())
}

/// Destroys counters. `ibv_destroy_counters(3)`, `driver.h: ibv_cmd_destroy_counters`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_counters(vcounters: *mut verbs_counters) -> c_int {
    // SAFETY: the provider passes its counters.
    let (kernel, handle) =
        unsafe { (Kernel::of((*vcounters).counters.context), (*vcounters).handle) };
    let method = method!(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY);
    destroy_by_ioctl(kernel, method, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, handle).or_number()
}
export!(ibv_cmd_destroy_counters @@ "IBVERBS_PRIVATE_65");

/// Reads `ncounters` values; `flags` are bits of `enum ibv_read_counters_flags`. `link` are the
/// provider's attributes, may be NULL. `ibv_read_counters(3)`, `driver.h: ibv_cmd_read_counters`
pub(super) unsafe extern "C" fn ibv_cmd_read_counters(
    vcounters: *mut verbs_counters,
    counters_value: *mut u64,
    ncounters: u32,
    flags: u32,
    link: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its counters and its blocks, the program room for so many values.
    unsafe {
        let size = size_of::<u64>().saturating_mul(ncounters as usize);
        Command::new(method!(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ))
            .object(UVERBS_ATTR_READ_COUNTERS_HANDLE, (*vcounters).handle)
            .output_at(UVERBS_ATTR_READ_COUNTERS_BUFF, counters_value.cast(), size)
            .u32(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags)
            .link(Blocks::new(link))
            .execute(Kernel::of((*vcounters).counters.context))
    }
    .or_number()
}
export!(ibv_cmd_read_counters @@ "IBVERBS_PRIVATE_65");
