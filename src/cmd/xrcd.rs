//! XRC domains.

use core::ffi::c_int;
use core::mem::offset_of;

use crate::abi::export::export_private;
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
export_private!(ibv_cmd_open_xrcd);

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
export_private!(ibv_cmd_close_xrcd);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Form, Reply, TestContext};

    fn open(context: &TestContext, xrcd: &mut verbs_xrcd, size: c_int, comp_mask: u32) -> c_int {
        let mut attr = ibv_xrcd_init_attr { comp_mask, fd: -1, oflags: libc::O_CREAT };
        let mut cmd = ibv_open_xrcd::zeroed();
        let mut resp = ib_uverbs_open_xrcd_resp::zeroed();
        let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
        let context = context.get();
        // SAFETY: all objects and buffers are valid.
        unsafe {
            ibv_cmd_open_xrcd(
                context, xrcd, size, &mut attr, &mut cmd, cmd_size, &mut resp, resp_size,
            )
        }
    }

    #[test]
    fn a_struct_with_room_gets_the_handle() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let request: ib_uverbs_open_xrcd = call.request();
            assert_eq!((request.fd, request.oflags), (u32::MAX, libc::O_CREAT as u32));
            call.respond(&ib_uverbs_open_xrcd_resp { xrcd_handle: 12, driver_data: [] });
            Reply::Done
        });
        let mut xrcd = verbs_xrcd { comp_mask: 9, handle: 9, ..Plain::zeroed() };
        assert_eq!(open(&context, &mut xrcd, 16, 3), 0);
        assert_eq!((xrcd.comp_mask, xrcd.handle), (VERBS_XRCD_HANDLE, 12));
        assert_eq!(xrcd.xrcd.context, context.get());

        for short in [15, 12, 0, -1] {
            let mut xrcd = verbs_xrcd { comp_mask: 9, handle: 9, ..Plain::zeroed() };
            assert_eq!(open(&context, &mut xrcd, short, 3), 0);
            assert_eq!((xrcd.comp_mask, xrcd.handle), (0, 9));
        }
    }

    #[test]
    fn masks_are_checked() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Done);
        let mut xrcd = verbs_xrcd::zeroed();
        for (mask, errno) in [
            (0, libc::EINVAL),
            (IBV_XRCD_INIT_ATTR_FD, libc::EINVAL),
            (IBV_XRCD_INIT_ATTR_OFLAGS, libc::EINVAL),
            (4, libc::EOPNOTSUPP),
            (7, libc::EOPNOTSUPP),
            (u32::MAX, libc::EOPNOTSUPP),
        ] {
            assert_eq!(open(&context, &mut xrcd, 16, mask), errno, "{mask:#x}");
        }
        assert!(fake::calls().is_empty());
    }
}
