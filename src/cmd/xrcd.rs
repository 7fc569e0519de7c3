//! XRC domains.

use core::ffi::c_int;
use core::mem::offset_of;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, destroy, method};
use crate::log::log;
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Opens an XRC domain: fills in `context`, and `comp_mask` and `handle` if the provider's struct
/// of `vxrcd_size` bytes has them. EOPNOTSUPP for unknown mask bits, EINVAL for missing ones.
/// `ibv_open_xrcd(3)`, `driver.h: ibv_cmd_open_xrcd`
pub(super) unsafe extern "C" fn ibv_cmd_open_xrcd(
    context: *mut ibv_context,
    xrcd: *mut verbs_xrcd,
    vxrcd_size: c_int,
    attr: *mut ibv_xrcd_init_attr,
    cmd: *mut ibv_open_xrcd,
    cmd_size: usize,
    resp: *mut ib_uverbs_open_xrcd_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, its new XRC domain of this size, the program's
    // attributes and buffers of these sizes.
    unsafe {
        let kernel = Kernel::of(context);
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        open_xrcd(kernel, &*attr, buffers).map(|handle| {
            (*xrcd).xrcd.context = kernel.context();
            (*xrcd).comp_mask = 0;
            let end = offset_of!(verbs_xrcd, handle) + size_of::<u32>();
            if usize::try_from(vxrcd_size).is_ok_and(|size| size >= end) {
                (*xrcd).comp_mask = VERBS_XRCD_HANDLE;
                (*xrcd).handle = handle;
            }
        })
    }
    .or_number()
}
export!(ibv_cmd_open_xrcd @@ "IBVERBS_PRIVATE_65");

fn open_xrcd(kernel: Kernel<'_>, attr: &ibv_xrcd_init_attr, buffers: Buffers<'_>) -> Result<u32> {
    const NEEDED: u32 = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    if attr.comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED {
        log!(VERBS_LOG_ERR, "{kernel}: XRC domain with unknown mask bits {:#x}", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    if attr.comp_mask & NEEDED != NEEDED {
        log!(VERBS_LOG_ERR, "{kernel}: XRC domain without fd or oflags ({:#x})", attr.comp_mask);
        return Err(Errno::EINVAL);
    }
    let request = ib_uverbs_open_xrcd {
        // -1 means no file: all ones.
        fd: attr.fd as u32,
        oflags: attr.oflags as u32,
        ..Plain::zeroed()
    };
    Ok(kernel.write(request, buffers)?.xrcd_handle)
}

/// Closes an XRC domain. `ibv_close_xrcd(3)`, `driver.h: ibv_cmd_close_xrcd`
pub(super) unsafe extern "C" fn ibv_cmd_close_xrcd(xrcd: *mut verbs_xrcd) -> c_int {
    // SAFETY: the provider passes its XRC domain.
    let (kernel, handle) = unsafe { (Kernel::of((*xrcd).xrcd.context), (*xrcd).handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY),
        UVERBS_ATTR_DESTROY_XRCD_HANDLE,
        handle,
        op_index!(close_xrcd),
        ib_uverbs_close_xrcd { xrcd_handle: handle },
    )
    .or_number()
}
export!(ibv_cmd_close_xrcd @@ "IBVERBS_PRIVATE_65");
