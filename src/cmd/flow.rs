//! Flow rules. `ibv_create_flow(3)`

use core::ffi::{c_int, c_void};

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Kernel, RequestBuffer, destroy, flow_spec, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Creates a flow rule with the provider's bytes `ucmd`, which may be NULL. Returns 0 or the error
/// number: EINVAL and EOPNOTSUPP for specifications that are malformed or match on more than the
/// kernel can be told. `driver.h: ibv_cmd_create_flow`
pub(super) unsafe extern "C" fn ibv_cmd_create_flow(
    qp: *mut ibv_qp,
    flow_id: *mut ibv_flow,
    flow_attr: *mut ibv_flow_attr,
    ucmd: *mut c_void,
    ucmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes a QP, its new flow, attributes with their specifications behind
    // them, and NULL or so many bytes.
    unsafe {
        let provider = if ucmd.is_null() {
            &[]
        } else {
            core::slice::from_raw_parts(ucmd.cast_const().cast(), ucmd_size)
        };
        create(qp, flow_id, flow_attr, provider)
    }
    .or_number()
}
export_private!(ibv_cmd_create_flow);

/// Destroys a flow rule. Returns 0 or the error number. `driver.h: ibv_cmd_destroy_flow`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_flow(flow_id: *mut ibv_flow) -> c_int {
    // SAFETY: the provider passes its flow, for the last time.
    let (kernel, handle) = unsafe { (Kernel::of((*flow_id).context), (*flow_id).handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY),
        UVERBS_ATTR_DESTROY_FLOW_HANDLE,
        handle,
        // Kernels got this method together with that of address handles.
        op_index!(destroy_ah),
        ib_uverbs_destroy_flow { comp_mask: 0, flow_handle: handle },
    )
    .or_number()
}
export_private!(ibv_cmd_destroy_flow);

/// # Safety
///
/// As for [`flow_spec::to_kernel`]; `qp` must be a QP, `flow` a new flow.
unsafe fn create(
    qp: *const ibv_qp,
    flow: *mut ibv_flow,
    attr: *const ibv_flow_attr,
    provider: &[u8],
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let kernel = Kernel::of((*qp).context);
        let specs = flow_spec::to_kernel(attr)?;
        let head = ib_uverbs_create_flow {
            comp_mask: 0,
            qp_handle: (*qp).handle,
            flow_attr: ib_uverbs_flow_attr {
                type_: (*attr).type_,
                // 255 specifications of at most 88 bytes.
                size: specs.len() as u16,
                priority: (*attr).priority,
                num_of_specs: (*attr).num_of_specs,
                reserved: [0; 2],
                port: (*attr).port,
                flags: (*attr).flags,
                flow_specs: [],
            },
        };
        let mut request = RequestBuffer::new(head, specs.len().saturating_add(provider.len()))?;
        request.push_bytes(&specs)?;
        request.push_provider_bytes(provider)?;
        let response = request.send(kernel)?;
        (*flow).context = kernel.context();
        (*flow).handle = response.flow_handle;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
