//! Memory windows.

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, destroy, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Allocates a memory window: fills in `context`, `pd`, `rkey`, `handle` and `type`.
/// `ibv_alloc_mw(3)`, `driver.h: ibv_cmd_alloc_mw`
pub(super) unsafe extern "C" fn ibv_cmd_alloc_mw(
    pd: *mut ibv_pd,
    type_: ibv_mw_type,
    mw: *mut ibv_mw,
    cmd: *mut ibv_alloc_mw,
    cmd_size: usize,
    resp: *mut ib_uverbs_alloc_mw_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its PD, its new window and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        alloc_mw(Kernel::of((*pd).context), (*pd).handle, type_, &mut *mw, buffers)
            .map(|()| (*mw).pd = pd)
    }
    .or_number()
}
export_private!(ibv_cmd_alloc_mw);

fn alloc_mw(
    kernel: Kernel<'_>,
    pd_handle: u32,
    type_: ibv_mw_type,
    mw: &mut ibv_mw,
    buffers: Buffers<'_>,
) -> Result<()> {
    let request = ib_uverbs_alloc_mw { pd_handle, mw_type: type_ as u8, ..Plain::zeroed() };
    let response = kernel.write(request, buffers)?;
    mw.context = kernel.context();
    mw.rkey = response.rkey;
    mw.handle = response.mw_handle;
    mw.type_ = type_;
    Ok(())
}

/// Frees a memory window. `ibv_dealloc_mw(3)`, `driver.h: ibv_cmd_dealloc_mw`
pub(super) unsafe extern "C" fn ibv_cmd_dealloc_mw(mw: *mut ibv_mw) -> c_int {
    // SAFETY: the provider passes its window.
    let (kernel, handle) = unsafe { (Kernel::of((*mw).context), (*mw).handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY),
        UVERBS_ATTR_DESTROY_MW_HANDLE,
        handle,
        op_index!(dealloc_mw),
        ib_uverbs_dealloc_mw { mw_handle: handle },
    )
    .or_number()
}
export_private!(ibv_cmd_dealloc_mw);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Form, Reply, TestContext};

    #[test]
    fn a_window_gets_its_key_and_type() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let request: ib_uverbs_alloc_mw = call.request();
            assert_eq!((request.pd_handle, request.mw_type), (5, 2));
            call.respond(&ib_uverbs_alloc_mw_resp { mw_handle: 12, rkey: 13, driver_data: [] });
            Reply::Done
        });
        let mut pd = ibv_pd { context: context.get(), handle: 5 };
        let mut mw = ibv_mw::zeroed();
        let mut cmd = ibv_alloc_mw::zeroed();
        let mut resp = ib_uverbs_alloc_mw_resp::zeroed();
        let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
        // SAFETY: all objects and buffers are valid.
        let result = unsafe {
            ibv_cmd_alloc_mw(
                &mut pd,
                IBV_MW_TYPE_2,
                &mut mw,
                &mut cmd,
                cmd_size,
                &mut resp,
                resp_size,
            )
        };
        assert_eq!(result, 0);
        assert_eq!((mw.handle, mw.rkey, mw.type_), (12, 13, IBV_MW_TYPE_2));
        assert_eq!((mw.context, mw.pd), (context.get(), &raw mut pd));
    }
}
