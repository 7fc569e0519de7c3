//! Counters of flows.

use core::ffi::c_int;

use crate::abi::export::export_private;
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
export_private!(ibv_cmd_create_counters);

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
export_private!(ibv_cmd_destroy_counters);

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
export_private!(ibv_cmd_read_counters);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

    #[test]
    fn counters_have_no_options() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            ioctl.set_data(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 12);
            Reply::Done
        });
        let mut counters = verbs_counters::zeroed();
        let null = core::ptr::null_mut();
        let mut create = |comp_mask| {
            let mut attr = ibv_counters_init_attr { comp_mask };
            // SAFETY: all objects are valid.
            unsafe { ibv_cmd_create_counters(context.get(), &mut attr, &mut counters, null) }
        };
        assert_eq!(create(1), libc::EOPNOTSUPP);
        assert!(fake::calls().is_empty());
        assert_eq!(create(0), 0);
        assert_eq!((counters.handle, counters.counters.context), (12, context.get()));
    }

    #[test]
    fn values_are_read_in_place() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_READ_COUNTERS_HANDLE), Some(6));
            assert_eq!(ioctl.input(UVERBS_ATTR_READ_COUNTERS_FLAGS), Some(vec![1, 0, 0, 0]));
            ioctl.output(UVERBS_ATTR_READ_COUNTERS_BUFF, &[21_u64, 22]);
            Reply::Done
        });
        let counters = ibv_counters { context: context.get() };
        let mut counters = verbs_counters { counters, handle: 6 };
        let mut values = [0; 2];
        let null = core::ptr::null_mut();
        let mut read = |count| {
            // SAFETY: all objects are valid; what is too long for an attribute is not sent.
            unsafe { ibv_cmd_read_counters(&mut counters, values.as_mut_ptr(), count, 1, null) }
        };
        assert_eq!(read(2), 0);
        assert_eq!(read(u32::MAX), libc::EINVAL);
        assert_eq!(read(65536 / 8), libc::EINVAL);
        assert_eq!(values, [21, 22]);
        assert_eq!(fake::calls().len(), 1);
    }
}
