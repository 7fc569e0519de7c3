//! DMA handles: hints for the device about who will use the memory.

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Command, Kernel, destroy_by_ioctl, method};
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Allocates a DMA handle: fills in `handle` and `context`. `ibv_alloc_dmah(3)`,
/// `driver.h: ibv_cmd_alloc_dmah`
pub(super) unsafe extern "C" fn ibv_cmd_alloc_dmah(
    ctx: *mut ibv_context,
    dmah: *mut verbs_dmah,
    attr: *mut ibv_dmah_init_attr,
) -> c_int {
    // SAFETY: the provider passes its context, its new object and the program's attributes.
    unsafe { alloc_dmah(Kernel::of(ctx), &*attr, &mut *dmah) }.or_number()
}
export_private!(ibv_cmd_alloc_dmah since 59);

fn alloc_dmah(kernel: Kernel<'_>, attr: &ibv_dmah_init_attr, dmah: &mut verbs_dmah) -> Result<()> {
    let has = |bit: ibv_dmah_init_attr_mask| attr.comp_mask & bit != 0;
    let mut handle = 0;
    let mut cmd = Command::new(method!(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC));
    cmd.new_object(UVERBS_ATTR_ALLOC_DMAH_HANDLE, &mut handle);
    if has(IBV_DMAH_INIT_ATTR_MASK_CPU_ID) {
        cmd.u32(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, attr.cpu_id);
    }
    if has(IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE) {
        let element = attr.tph_mem_type;
        // SAFETY: there are no bytes to read.
        unsafe { cmd.enumerated(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, element, ptr::null(), 0) };
    }
    if has(IBV_DMAH_INIT_ATTR_MASK_PH) {
        cmd.input(UVERBS_ATTR_ALLOC_DMAH_PH, &attr.ph);
    }
    cmd.execute(kernel)?;
    dmah.handle = handle;
    dmah.dmah.context = kernel.context();
    Ok(())
}

/// Frees a DMA handle. `ibv_dealloc_dmah(3)`, `driver.h: ibv_cmd_free_dmah`
pub(super) unsafe extern "C" fn ibv_cmd_free_dmah(dmah: *mut verbs_dmah) -> c_int {
    // SAFETY: the provider passes its DMA handle.
    let (kernel, handle) = unsafe { (Kernel::of((*dmah).dmah.context), (*dmah).handle) };
    let method = method!(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE);
    destroy_by_ioctl(kernel, method, UVERBS_ATTR_FREE_DMA_HANDLE, handle).or_number()
}
export_private!(ibv_cmd_free_dmah since 59);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

    #[test]
    fn only_the_hints_that_are_given_are_sent() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            ioctl.set_data(UVERBS_ATTR_ALLOC_DMAH_HANDLE, 12);
            Reply::Done
        });
        for (comp_mask, call) in [
            (0, "ioctl 17.0: 0(len0)"),
            (IBV_DMAH_INIT_ATTR_MASK_CPU_ID, "ioctl 17.0: 0(len0) 1(len4)"),
            (IBV_DMAH_INIT_ATTR_MASK_PH, "ioctl 17.0: 0(len0) 3(len1)"),
            (IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE, "ioctl 17.0: 0(len0) 2(len0,elem)"),
        ] {
            let mut attr = ibv_dmah_init_attr { comp_mask, cpu_id: 3, ph: 2, tph_mem_type: 1 };
            let mut dmah = verbs_dmah::zeroed();
            // SAFETY: all objects are valid.
            assert_eq!(unsafe { ibv_cmd_alloc_dmah(context.get(), &mut dmah, &mut attr) }, 0);
            assert_eq!((dmah.handle, dmah.dmah.context), (12, context.get()));
            assert_eq!(fake::calls(), [call]);
        }
    }
}
