//! Memory regions by attributes and of dma-bufs.

use core::ffi::c_int;
use core::mem::offset_of;
use core::ptr;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::mr::{Memory, reg_mr};
use crate::cmd::{Blocks, Buffers, Command, Kernel, method};
use crate::log::log;
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Registers memory or a dma-buf as its attributes say: fills in `handle`, `context`, `lkey`,
/// `rkey`, `mr_type` and `access`.
///
/// EINVAL for members that do not fit together, EOPNOTSUPP for a dma-buf or a DMA handle on a
/// kernel without the ioctl. `ibv_reg_mr_ex(3)`, `driver.h: ibv_cmd_reg_mr_ex`
pub(crate) unsafe extern "C" fn ibv_cmd_reg_mr_ex(
    pd: *mut ibv_pd,
    vmr: *mut verbs_mr,
    mr_init_attr: *mut ibv_mr_init_attr,
) -> c_int {
    // SAFETY: the provider passes its PD, its new MR and the program's attributes, with a live DMA
    // handle if the mask says so.
    unsafe {
        let attr = &without_buf(mr_init_attr);
        let dmah = attr.has(IBV_REG_MR_MASK_DMAH).then(|| (*attr.dmah.cast::<verbs_dmah>()).handle);
        reg_mr_ex(Kernel::of((*pd).context), (*pd).handle, attr, dmah, &mut *vmr)
    }
    .or_number()
}
export_private!(ibv_cmd_reg_mr_ex since 59);

/// A copy of the attributes up to `buf`, which the struct of private ABI 59 does not have and no
/// command needs.
///
/// # Safety
///
/// `attr` must point to attributes.
unsafe fn without_buf(attr: *const ibv_mr_init_attr) -> ibv_mr_init_attr {
    let mut copy = ibv_mr_init_attr::zeroed();
    // SAFETY: the caller's promise; attributes of any release are as long as this.
    unsafe {
        ptr::copy_nonoverlapping(
            attr.cast::<u8>(),
            (&raw mut copy).cast(),
            offset_of!(ibv_mr_init_attr, buf),
        );
    }
    copy
}

impl ibv_mr_init_attr {
    fn has(&self, bit: ibv_mr_init_attr_mask) -> bool {
        self.comp_mask & u64::from(bit) != 0
    }
}

fn reg_mr_ex(
    kernel: Kernel<'_>,
    pd_handle: u32,
    attr: &ibv_mr_init_attr,
    dmah: Option<u32>,
    mr: &mut verbs_mr,
) -> Result<()> {
    let from_fd = attr.has(IBV_REG_MR_MASK_FD);
    let consistent = from_fd != attr.has(IBV_REG_MR_MASK_ADDR)
        && from_fd == attr.has(IBV_REG_MR_MASK_FD_OFFSET)
        && (attr.has(IBV_REG_MR_MASK_IOVA) || !from_fd);
    if !consistent {
        log!(
            VERBS_LOG_ERR,
            "{kernel}: a region needs an address, or fd, fd_offset and iova; the mask is {:#x}",
            attr.comp_mask
        );
        return Err(Errno::EINVAL);
    }
    let address = if from_fd { ptr::null_mut() } else { attr.addr };
    let iova =
        if attr.has(IBV_REG_MR_MASK_IOVA) { attr.iova } else { address.expose_provenance() as u64 };
    let memory = Memory { address, length: attr.length, iova, access: attr.access };
    let length = memory.kernel_length(kernel)?;

    let (mut handle, mut lkey, mut rkey) = (0, 0, 0);
    let mut cmd = Command::new(method!(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR));
    if from_fd {
        cmd.u64(UVERBS_ATTR_REG_MR_FD_OFFSET, attr.fd_offset).fd(UVERBS_ATTR_REG_MR_FD, attr.fd);
    } else {
        cmd.u64(UVERBS_ATTR_REG_MR_ADDR, address.expose_provenance() as u64);
    }
    cmd.u64(UVERBS_ATTR_REG_MR_IOVA, iova)
        .new_object(UVERBS_ATTR_REG_MR_HANDLE, &mut handle)
        .output(UVERBS_ATTR_REG_MR_RESP_LKEY, &mut lkey)
        .output(UVERBS_ATTR_REG_MR_RESP_RKEY, &mut rkey)
        .object(UVERBS_ATTR_REG_MR_PD_HANDLE, pd_handle)
        .u64(UVERBS_ATTR_REG_MR_LENGTH, length)
        .u32(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, attr.access as u32);
    if let Some(dmah) = dmah {
        cmd.object(UVERBS_ATTR_REG_MR_DMA_HANDLE, dmah);
    }
    if from_fd || dmah.is_some() {
        cmd.ioctl_only();
    }
    let outcome = cmd.run(kernel, op_index!(reg_mr_ex)).inspect_err(|errno| {
        if !from_fd {
            memory.explain_failure(kernel, *errno);
        }
    })?;
    if !outcome.is_done() {
        return reg_mr(kernel, pd_handle, memory, mr, Buffers::NONE);
    }
    mr.ibv_mr.handle = handle;
    mr.ibv_mr.context = kernel.context();
    mr.ibv_mr.lkey = lkey;
    mr.ibv_mr.rkey = rkey;
    mr.mr_type = if from_fd { IBV_MR_TYPE_DMABUF_MR } else { IBV_MR_TYPE_MR };
    mr.access = attr.access;
    Ok(())
}

/// Registers a part of a dma-buf: fills in `handle`, `context`, `lkey`, `rkey`, `pd`, `addr` (the
/// offset), `length` and `mr_type`. `driver` are the provider's attributes, may be NULL.
/// `ibv_reg_dmabuf_mr(3)`, `driver.h: ibv_cmd_reg_dmabuf_mr`
pub(crate) unsafe extern "C" fn ibv_cmd_reg_dmabuf_mr(
    pd: *mut ibv_pd,
    offset: u64,
    length: usize,
    iova: u64,
    fd: c_int,
    access: c_int,
    vmr: *mut verbs_mr,
    driver: *mut ibv_command_buffer,
) -> c_int {
    let part = DmabufPart { offset, length, iova, fd, access };
    // SAFETY: the provider passes its PD, its new MR and its blocks.
    unsafe {
        let kernel = Kernel::of((*pd).context);
        reg_dmabuf_mr(kernel, (*pd).handle, part, Blocks::new(driver), &mut *vmr)
            .map(|()| (*vmr).ibv_mr.pd = pd)
    }
    .or_number()
}
export_private!(ibv_cmd_reg_dmabuf_mr since 57);

/// A part of a dma-buf to be registered.
struct DmabufPart {
    offset: u64,
    length: usize,
    iova: u64,
    fd: c_int,
    /// Bits of `enum ibv_access_flags`.
    access: c_int,
}

fn reg_dmabuf_mr(
    kernel: Kernel<'_>,
    pd_handle: u32,
    part: DmabufPart,
    driver: Blocks<'_>,
    mr: &mut verbs_mr,
) -> Result<()> {
    let (mut handle, mut lkey, mut rkey) = (0, 0, 0);
    Command::new(method!(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR))
        .new_object(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, &mut handle)
        .output(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &mut lkey)
        .output(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &mut rkey)
        .object(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd_handle)
        .u64(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, part.offset)
        .u64(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, part.length as u64)
        .u64(UVERBS_ATTR_REG_DMABUF_MR_IOVA, part.iova)
        .u32(UVERBS_ATTR_REG_DMABUF_MR_FD, part.fd as u32)
        .u32(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, part.access as u32)
        .link(driver)
        .execute(kernel)?;
    mr.ibv_mr.handle = handle;
    mr.ibv_mr.context = kernel.context();
    mr.ibv_mr.lkey = lkey;
    mr.ibv_mr.rkey = rkey;
    mr.ibv_mr.addr = ptr::without_provenance_mut(part.offset as usize);
    mr.ibv_mr.length = part.length;
    mr.mr_type = IBV_MR_TYPE_DMABUF_MR;
    Ok(())
}

#[cfg(test)]
mod tests;
