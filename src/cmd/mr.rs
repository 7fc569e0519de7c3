//! Memory regions of ordinary memory.

use core::ffi::{c_int, c_void};

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Command, Kernel, destroy, memlock, method};
use crate::log::log;
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Memory to be registered.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    pub(super) address: *mut c_void,
    pub(super) length: usize,
    pub(super) iova: u64,
    /// Bits of `enum ibv_access_flags`.
    pub(super) access: c_int,
}

impl Memory {
    pub(super) fn on_demand(&self) -> bool {
        self.access & IBV_ACCESS_ON_DEMAND as c_int != 0
    }

    /// The length for the kernel. The whole address space, on demand, has all ones and starts
    /// at 0.
    pub(super) fn kernel_length(&self, kernel: Kernel<'_>) -> Result<u64> {
        if self.on_demand() && self.length == usize::MAX {
            if !self.address.is_null() {
                log!(VERBS_LOG_ERR, "{kernel}: an implicit on-demand region starts at address 0");
                return Err(Errno::EINVAL);
            }
            return Ok(u64::MAX);
        }
        Ok(self.length as u64)
    }

    /// Logs what the limit on locked memory has to do with a failure.
    pub(super) fn explain_failure(&self, kernel: Kernel<'_>, errno: Errno) {
        if !self.on_demand() {
            memlock::explain(kernel, errno, self.address.addr() as u64, self.length as u64);
        }
    }
}

/// Registers memory: fills in `handle`, `context`, `lkey`, `rkey`, `mr_type` and `access`. EINVAL
/// for an implicit on-demand region that does not start at 0. `ibv_reg_mr(3)`,
/// `driver.h: ibv_cmd_reg_mr`
pub(super) unsafe extern "C" fn ibv_cmd_reg_mr(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    hca_va: u64,
    access: c_int,
    vmr: *mut verbs_mr,
    cmd: *mut ibv_reg_mr,
    cmd_size: usize,
    resp: *mut ib_uverbs_reg_mr_resp,
    resp_size: usize,
) -> c_int {
    let memory = Memory { address: addr, length, iova: hca_va, access };
    // SAFETY: the provider passes its PD, its new MR and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        reg_mr(Kernel::of((*pd).context), (*pd).handle, memory, &mut *vmr, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_reg_mr);

pub(super) fn reg_mr(
    kernel: Kernel<'_>,
    pd_handle: u32,
    memory: Memory,
    mr: &mut verbs_mr,
    buffers: Buffers<'_>,
) -> Result<()> {
    let request = ib_uverbs_reg_mr {
        start: memory.address.expose_provenance() as u64,
        length: memory.kernel_length(kernel)?,
        hca_va: memory.iova,
        pd_handle,
        access_flags: memory.access as u32,
        ..Plain::zeroed()
    };
    let response = kernel
        .write(request, buffers)
        .inspect_err(|errno| memory.explain_failure(kernel, *errno))?;
    mr.ibv_mr.handle = response.mr_handle;
    mr.ibv_mr.lkey = response.lkey;
    mr.ibv_mr.rkey = response.rkey;
    mr.ibv_mr.context = kernel.context();
    mr.mr_type = IBV_MR_TYPE_MR;
    mr.access = memory.access;
    Ok(())
}

/// Changes an MR as `flags` (`enum ibv_rereg_mr_flags`) say: fills in `lkey` and `rkey`, and
/// `context` with a new PD. `ibv_rereg_mr(3)`, `driver.h: ibv_cmd_rereg_mr`
pub(super) unsafe extern "C" fn ibv_cmd_rereg_mr(
    vmr: *mut verbs_mr,
    flags: u32,
    addr: *mut c_void,
    length: usize,
    hca_va: u64,
    access: c_int,
    pd: *mut ibv_pd,
    cmd: *mut ibv_rereg_mr,
    cmd_sz: usize,
    resp: *mut ib_uverbs_rereg_mr_resp,
    resp_sz: usize,
) -> c_int {
    let memory = Memory { address: addr, length, iova: hca_va, access };
    // SAFETY: the provider passes its MR, with CHANGE_PD a PD, and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_sz, resp, resp_sz);
        let new_pd = if flags & IBV_REREG_MR_CHANGE_PD != 0 { pd.as_ref() } else { None };
        rereg_mr(Kernel::of((*vmr).ibv_mr.context), &mut *vmr, flags, memory, new_pd, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_rereg_mr);

fn rereg_mr(
    kernel: Kernel<'_>,
    mr: &mut verbs_mr,
    flags: u32,
    memory: Memory,
    new_pd: Option<&ibv_pd>,
    buffers: Buffers<'_>,
) -> Result<()> {
    let request = ib_uverbs_rereg_mr {
        mr_handle: mr.ibv_mr.handle,
        flags,
        start: memory.address.expose_provenance() as u64,
        length: memory.length as u64,
        hca_va: memory.iova,
        pd_handle: new_pd.map_or(0, |pd| pd.handle),
        access_flags: memory.access as u32,
        ..Plain::zeroed()
    };
    let response = kernel.write(request, buffers).inspect_err(|errno| {
        if flags & IBV_REREG_MR_CHANGE_TRANSLATION != 0 {
            memory.explain_failure(kernel, *errno);
        }
    })?;
    mr.ibv_mr.lkey = response.lkey;
    mr.ibv_mr.rkey = response.rkey;
    if let Some(pd) = new_pd {
        mr.ibv_mr.context = pd.context;
    }
    Ok(())
}

/// Deregisters an MR of any kind. `ibv_dereg_mr(3)`, `driver.h: ibv_cmd_dereg_mr`
pub(super) unsafe extern "C" fn ibv_cmd_dereg_mr(vmr: *mut verbs_mr) -> c_int {
    // SAFETY: the provider passes its MR.
    let (kernel, handle) = unsafe { (Kernel::of((*vmr).ibv_mr.context), (*vmr).ibv_mr.handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY),
        UVERBS_ATTR_DESTROY_MR_HANDLE,
        handle,
        op_index!(dereg_mr),
        ib_uverbs_dereg_mr { mr_handle: handle },
    )
    .or_number()
}
export_private!(ibv_cmd_dereg_mr);

/// Fills in an MR that another process registered: `lkey`, `rkey`, `length`, `handle`, `context`,
/// `pd`, no address. `ibv_import_mr(3)`, `driver.h: ibv_cmd_query_mr`
pub(super) unsafe extern "C" fn ibv_cmd_query_mr(
    pd: *mut ibv_pd,
    vmr: *mut verbs_mr,
    mr_handle: u32,
) -> c_int {
    // SAFETY: the provider passes its PD and its new MR.
    unsafe {
        query_mr(Kernel::of((*pd).context), mr_handle, &mut *vmr).map(|()| (*vmr).ibv_mr.pd = pd)
    }
    .or_number()
}
export_private!(ibv_cmd_query_mr);

fn query_mr(kernel: Kernel<'_>, handle: u32, mr: &mut verbs_mr) -> Result<()> {
    let (mut lkey, mut rkey, mut length) = (0, 0, 0_u64);
    Command::new(method!(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR))
        .object(UVERBS_ATTR_QUERY_MR_HANDLE, handle)
        .output(UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mut lkey)
        .output(UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mut rkey)
        .output(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mut length)
        .execute(kernel)?;
    mr.ibv_mr.lkey = lkey;
    mr.ibv_mr.rkey = rkey;
    mr.ibv_mr.length = length as usize;
    mr.ibv_mr.handle = handle;
    mr.ibv_mr.context = kernel.context();
    mr.ibv_mr.addr = core::ptr::null_mut();
    mr.mr_type = IBV_MR_TYPE_IMPORTED_MR;
    Ok(())
}

/// Gives advice about ranges of memory regions. `ibv_advise_mr(3)`, `driver.h: ibv_cmd_advise_mr`
pub(super) unsafe extern "C" fn ibv_cmd_advise_mr(
    pd: *mut ibv_pd,
    advice: ib_uverbs_advise_mr_advice,
    flags: u32,
    sg_list: *mut ibv_sge,
    num_sge: u32,
) -> c_int {
    let ranges = if sg_list.is_null() {
        &[]
    } else {
        // SAFETY: the program passes so many ranges.
        unsafe { core::slice::from_raw_parts(sg_list, num_sge as usize) }
    };
    // SAFETY: the provider passes its PD.
    unsafe { advise_mr(Kernel::of((*pd).context), (*pd).handle, advice, flags, ranges) }.or_number()
}
export_private!(ibv_cmd_advise_mr);

fn advise_mr(
    kernel: Kernel<'_>,
    pd_handle: u32,
    advice: ib_uverbs_advise_mr_advice,
    flags: u32,
    ranges: &[ibv_sge],
) -> Result<()> {
    Command::new(method!(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR))
        .object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd_handle)
        .u64(UVERBS_ATTR_ADVISE_MR_ADVICE, u64::from(advice))
        .u32(UVERBS_ATTR_ADVISE_MR_FLAGS, flags)
        .input_slice(UVERBS_ATTR_ADVISE_MR_SGE_LIST, ranges)
        .execute(kernel)
}

#[cfg(test)]
mod tests;
