//! Address handles.

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, destroy, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Creates an address handle: fills in `handle` and `context`. `ibv_create_ah(3)`,
/// `driver.h: ibv_cmd_create_ah`
pub(super) unsafe extern "C" fn ibv_cmd_create_ah(
    pd: *mut ibv_pd,
    ah: *mut ibv_ah,
    attr: *mut ibv_ah_attr,
    resp: *mut ib_uverbs_create_ah_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its PD, its new address handle, the program's attributes and a
    // buffer of this size.
    unsafe {
        let buffers = Buffers::response(resp, resp_size);
        create_ah(Kernel::of((*pd).context), (*pd).handle, &*attr, &mut *ah, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_create_ah);

fn create_ah(
    kernel: Kernel<'_>,
    pd_handle: u32,
    attr: &ibv_ah_attr,
    ah: &mut ibv_ah,
    buffers: Buffers<'_>,
) -> Result<()> {
    let user_handle = core::ptr::from_mut(ah).expose_provenance() as u64;
    let attr = to_kernel(attr);
    let request = ib_uverbs_create_ah { user_handle, pd_handle, attr, ..Plain::zeroed() };
    ah.handle = kernel.write(request, buffers)?.ah_handle;
    ah.context = kernel.context();
    Ok(())
}

fn to_kernel(attr: &ibv_ah_attr) -> ib_uverbs_ah_attr {
    ib_uverbs_ah_attr {
        grh: ib_uverbs_global_route {
            // SAFETY: a GID is 16 bytes in each of its forms.
            dgid: unsafe { attr.grh.dgid.raw },
            flow_label: attr.grh.flow_label,
            sgid_index: attr.grh.sgid_index,
            hop_limit: attr.grh.hop_limit,
            traffic_class: attr.grh.traffic_class,
            reserved: 0,
        },
        dlid: attr.dlid,
        sl: attr.sl,
        src_path_bits: attr.src_path_bits,
        static_rate: attr.static_rate,
        is_global: attr.is_global,
        port_num: attr.port_num,
        reserved: 0,
    }
}

/// Destroys an address handle. `ibv_destroy_ah(3)`, `driver.h: ibv_cmd_destroy_ah`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_ah(ah: *mut ibv_ah) -> c_int {
    // SAFETY: the provider passes its address handle.
    let (kernel, handle) = unsafe { (Kernel::of((*ah).context), (*ah).handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY),
        UVERBS_ATTR_DESTROY_AH_HANDLE,
        handle,
        op_index!(destroy_ah),
        ib_uverbs_destroy_ah { ah_handle: handle },
    )
    .or_number()
}
export_private!(ibv_cmd_destroy_ah);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Form, Reply, TestContext};

    #[test]
    fn all_of_the_address_goes_to_the_kernel() {
        let context = TestContext::new(Form::Write);
        let mut ah = ibv_ah::zeroed();
        let user_handle = (&raw mut ah).addr() as u64;
        fake::answer(move |call| {
            let request: ib_uverbs_create_ah = call.request();
            assert_eq!((request.user_handle, request.pd_handle), (user_handle, 5));
            let (attr, grh) = (request.attr, request.attr.grh);
            assert_eq!((attr.dlid, attr.sl, attr.src_path_bits, attr.static_rate), (1, 2, 3, 4));
            assert_eq!((attr.is_global, attr.port_num, attr.reserved), (1, 5, 0));
            assert_eq!((grh.dgid, grh.flow_label, grh.sgid_index), ([7; 16], 8, 9));
            assert_eq!((grh.hop_limit, grh.traffic_class, grh.reserved), (10, 11, 0));
            call.respond(&[12_u32, 13]);
            Reply::Done
        });
        let mut attr = ibv_ah_attr {
            grh: ibv_global_route {
                dgid: ibv_gid { raw: [7; 16] },
                flow_label: 8,
                sgid_index: 9,
                hop_limit: 10,
                traffic_class: 11,
            },
            dlid: 1,
            sl: 2,
            src_path_bits: 3,
            static_rate: 4,
            is_global: 1,
            port_num: 5,
        };
        let mut pd = ibv_pd { context: context.get(), handle: 5 };
        // The core response and four bytes of the provider.
        let mut resp = [0_u32; 2];
        let place = core::ptr::from_mut(&mut resp).cast();
        // SAFETY: all objects and buffers are valid.
        let result = unsafe { ibv_cmd_create_ah(&mut pd, &mut ah, &mut attr, place, 8) };
        assert_eq!(result, 0);
        assert_eq!((ah.handle, ah.context, resp), (12, context.get(), [12, 13]));
        assert_eq!(fake::calls(), ["write n=64 cmd=5 in=16 out=2"]);
    }
}
