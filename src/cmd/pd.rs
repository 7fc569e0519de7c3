//! Protection domains.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, destroy, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Allocates a PD: fills in `handle` and `context`. `ibv_alloc_pd(3)`, `driver.h: ibv_cmd_alloc_pd`
pub(super) unsafe extern "C" fn ibv_cmd_alloc_pd(
    context: *mut ibv_context,
    pd: *mut ibv_pd,
    cmd: *mut ibv_alloc_pd,
    cmd_size: usize,
    resp: *mut ib_uverbs_alloc_pd_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, its new PD and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        alloc_pd(Kernel::of(context), &mut *pd, buffers)
    }
    .or_number()
}
export!(ibv_cmd_alloc_pd @@ "IBVERBS_PRIVATE_65");

fn alloc_pd(kernel: Kernel<'_>, pd: &mut ibv_pd, buffers: Buffers<'_>) -> Result<()> {
    let response = kernel.write(ib_uverbs_alloc_pd::zeroed(), buffers)?;
    pd.handle = response.pd_handle;
    pd.context = kernel.context();
    Ok(())
}

/// Frees a PD. `ibv_dealloc_pd(3)`, `driver.h: ibv_cmd_dealloc_pd`
pub(super) unsafe extern "C" fn ibv_cmd_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the provider passes its PD.
    let (kernel, handle) = unsafe { (Kernel::of((*pd).context), (*pd).handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY),
        UVERBS_ATTR_DESTROY_PD_HANDLE,
        handle,
        op_index!(dealloc_pd),
        ib_uverbs_dealloc_pd { pd_handle: handle },
    )
    .or_number()
}
export!(ibv_cmd_dealloc_pd @@ "IBVERBS_PRIVATE_65");
