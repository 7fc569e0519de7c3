//! Device memory.

use core::ffi::{c_int, c_uint};

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Blocks, Command, Kernel, destroy_by_ioctl, method};
use crate::log::log;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Allocates device memory: fills in both `handle`s, `comp_mask` and `context`. `link` are the
/// provider's attributes, may be NULL. `ibv_alloc_dm(3)`, `driver.h: ibv_cmd_alloc_dm`
pub(super) unsafe extern "C" fn ibv_cmd_alloc_dm(
    ctx: *mut ibv_context,
    dm_attr: *const ibv_alloc_dm_attr,
    dm: *mut verbs_dm,
    link: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its context, the program's attributes, its new object and its
    // blocks.
    unsafe { alloc_dm(Kernel::of(ctx), &*dm_attr, Blocks::new(link), &mut *dm) }.or_number()
}
export_private!(ibv_cmd_alloc_dm);

fn alloc_dm(
    kernel: Kernel<'_>,
    attr: &ibv_alloc_dm_attr,
    link: Blocks<'_>,
    dm: &mut verbs_dm,
) -> Result<()> {
    let mut handle = 0;
    Command::new(method!(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC))
        .new_object(UVERBS_ATTR_ALLOC_DM_HANDLE, &mut handle)
        .u64(UVERBS_ATTR_ALLOC_DM_LENGTH, attr.length as u64)
        .u32(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, attr.log_align_req)
        .link(link)
        .execute(kernel)?;
    dm.handle = handle;
    dm.dm.handle = handle;
    dm.dm.comp_mask = IBV_DM_MASK_HANDLE;
    dm.dm.context = kernel.context();
    Ok(())
}

/// Frees device memory. `ibv_free_dm(3)`, `driver.h: ibv_cmd_free_dm`
pub(super) unsafe extern "C" fn ibv_cmd_free_dm(dm: *mut verbs_dm) -> c_int {
    // SAFETY: the provider passes its device memory.
    let (kernel, handle) = unsafe { (Kernel::of((*dm).dm.context), (*dm).handle) };
    let method = method!(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE);
    destroy_by_ioctl(kernel, method, UVERBS_ATTR_FREE_DM_HANDLE, handle).or_number()
}
export_private!(ibv_cmd_free_dm);

/// Registers a part of device memory: fills in `handle`, `context`, `lkey`, `rkey`, `length`, `pd`,
/// `mr_type`, no address. EINVAL for access that is not zero-based. `link` are the provider's
/// attributes, may be NULL. `ibv_reg_dm_mr(3)`, `driver.h: ibv_cmd_reg_dm_mr`
pub(super) unsafe extern "C" fn ibv_cmd_reg_dm_mr(
    pd: *mut ibv_pd,
    dm: *mut verbs_dm,
    offset: u64,
    length: usize,
    access: c_uint,
    vmr: *mut verbs_mr,
    link: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its PD, its device memory, its new MR and its blocks.
    unsafe {
        let part = DmPart { dm_handle: (*dm).handle, offset, length, access };
        let kernel = Kernel::of((*pd).context);
        reg_dm_mr(kernel, (*pd).handle, part, Blocks::new(link), &mut *vmr)
            .map(|()| (*vmr).ibv_mr.pd = pd)
    }
    .or_number()
}
export_private!(ibv_cmd_reg_dm_mr);

/// A part of device memory to be registered.
struct DmPart {
    dm_handle: u32,
    offset: u64,
    length: usize,
    /// Bits of `enum ibv_access_flags`.
    access: c_uint,
}

fn reg_dm_mr(
    kernel: Kernel<'_>,
    pd_handle: u32,
    part: DmPart,
    link: Blocks<'_>,
    mr: &mut verbs_mr,
) -> Result<()> {
    // The kernel knows no other addresses of device memory.
    if part.access & IBV_ACCESS_ZERO_BASED == 0 {
        log!(VERBS_LOG_ERR, "{kernel}: device memory needs IBV_ACCESS_ZERO_BASED");
        return Err(Errno::EINVAL);
    }
    let (mut handle, mut lkey, mut rkey) = (0, 0, 0);
    Command::new(method!(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG))
        .new_object(UVERBS_ATTR_REG_DM_MR_HANDLE, &mut handle)
        .output(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &mut lkey)
        .output(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &mut rkey)
        .object(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd_handle)
        .object(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, part.dm_handle)
        .u64(UVERBS_ATTR_REG_DM_MR_OFFSET, part.offset)
        .u64(UVERBS_ATTR_REG_DM_MR_LENGTH, part.length as u64)
        .u32(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, part.access)
        .link(link)
        .execute(kernel)?;
    mr.ibv_mr.handle = handle;
    mr.ibv_mr.context = kernel.context();
    mr.ibv_mr.lkey = lkey;
    mr.ibv_mr.rkey = rkey;
    mr.ibv_mr.length = part.length;
    mr.ibv_mr.addr = core::ptr::null_mut();
    mr.mr_type = IBV_MR_TYPE_MR;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

    #[test]
    fn device_memory_gets_its_handle_twice() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_ALLOC_DM_LENGTH), Some(4096));
            assert_eq!(ioctl.input(UVERBS_ATTR_ALLOC_DM_ALIGNMENT), Some(vec![6, 0, 0, 0]));
            ioctl.set_data(UVERBS_ATTR_ALLOC_DM_HANDLE, 12);
            Reply::Done
        });
        let attr = ibv_alloc_dm_attr { length: 4096, log_align_req: 6, comp_mask: 0 };
        let mut dm = verbs_dm::zeroed();
        let null = core::ptr::null_mut();
        // SAFETY: all objects are valid.
        assert_eq!(unsafe { ibv_cmd_alloc_dm(context.get(), &attr, &mut dm, null) }, 0);
        assert_eq!((dm.handle, dm.dm.handle, dm.dm.comp_mask), (12, 12, IBV_DM_MASK_HANDLE));
        assert_eq!(dm.dm.context, context.get());
    }

    #[test]
    fn a_region_of_device_memory_must_be_zero_based() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DM_MR_PD_HANDLE), Some(5));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DM_MR_DM_HANDLE), Some(6));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DM_MR_OFFSET), Some(64));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DM_MR_LENGTH), Some(128));
            ioctl.set_data(UVERBS_ATTR_REG_DM_MR_HANDLE, 12);
            ioctl.output(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &13_u32);
            ioctl.output(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &14_u32);
            Reply::Done
        });
        let mut pd = ibv_pd { context: context.get(), handle: 5 };
        let mut dm = verbs_dm { handle: 6, ..Plain::zeroed() };
        let mut mr = verbs_mr { mr_type: 99, access: 77, ..Plain::zeroed() };
        let mut register = |access| {
            let null = core::ptr::null_mut();
            // SAFETY: all objects are valid.
            unsafe { ibv_cmd_reg_dm_mr(&mut pd, &mut dm, 64, 128, access, &mut mr, null) }
        };
        assert_eq!(register(IBV_ACCESS_LOCAL_WRITE), libc::EINVAL);
        assert!(fake::calls().is_empty());
        assert_eq!(register(IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE), 0);
        let new = mr.ibv_mr;
        assert_eq!((new.handle, new.lkey, new.rkey, new.length), (12, 13, 14, 128));
        assert!(new.addr.is_null());
        assert_eq!((new.context, new.pd), (context.get(), &raw mut pd));
        assert_eq!((mr.mr_type, mr.access), (IBV_MR_TYPE_MR, 77));
    }
}
