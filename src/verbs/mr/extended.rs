//! Registration by attributes: memory, dma-bufs and buffers of the provider.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::call_op;
use crate::sys::errno::{Errno, Result, ReturnPointer, from_null};
use crate::verbs::mr::{fill_in, marked, without_unknown_options};
use crate::verbs::refuse;

/// Registers memory as the attributes say, which stay as they are; NULL with `errno` on failure.
/// `ibv_reg_mr_ex(3)`
pub(crate) unsafe extern "C" fn ibv_reg_mr_ex(
    pd: *mut ibv_pd,
    attr: *mut ibv_mr_init_attr,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD and attributes whose mask names the members that are there.
    unsafe {
        match named_members(attr) {
            Ok(attr) => register(pd, &attr),
            Err(errno) => Err(errno),
        }
    }
    .or_null()
}
export!(ibv_reg_mr_ex @@ "IBVERBS_1.15");

/// Registers a part of a buffer from `ibv_alloc_buf`: `length` bytes at `addr`. NULL with `errno`
/// on failure, EINVAL if the buffer is of another PD or the part not inside of it.
/// `ibv_reg_buf_mr(3)`
pub(in crate::verbs) unsafe extern "C" fn ibv_reg_buf_mr(
    pd: *mut ibv_pd,
    buf: *mut ibv_buf,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    let attr = ibv_mr_init_attr {
        length,
        access,
        comp_mask: u64::from(IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR),
        addr,
        buf,
        ..ibv_mr_init_attr::zeroed()
    };
    // SAFETY: the caller passes a PD and NULL or a buffer.
    unsafe { register(pd, &attr) }.or_null()
}
export!(ibv_reg_buf_mr @@ "IBVERBS_1.17");

fn has(attr: &ibv_mr_init_attr, member: ibv_mr_init_attr_mask) -> bool {
    attr.comp_mask & u64::from(member) != 0
}

/// A copy of the members that the mask names; the others may hold anything, and lie beyond the end
/// of the caller's struct if it is an older one. Bits that the library does not know are for the
/// provider to judge.
unsafe fn named_members(attr: *const ibv_mr_init_attr) -> Result<ibv_mr_init_attr> {
    if attr.is_null() {
        return refuse!(EINVAL, "ibv_reg_mr_ex: no attributes");
    }
    let mut named = ibv_mr_init_attr::zeroed();
    // SAFETY: the caller passes attributes with the members that their mask names.
    unsafe {
        named.length = (*attr).length;
        named.access = (*attr).access;
        named.comp_mask = (*attr).comp_mask;
        if has(&named, IBV_REG_MR_MASK_IOVA) {
            named.iova = (*attr).iova;
        }
        if has(&named, IBV_REG_MR_MASK_ADDR) {
            named.addr = (*attr).addr;
        }
        if has(&named, IBV_REG_MR_MASK_FD) {
            named.fd = (*attr).fd;
        }
        if has(&named, IBV_REG_MR_MASK_FD_OFFSET) {
            named.fd_offset = (*attr).fd_offset;
        }
        if has(&named, IBV_REG_MR_MASK_DMAH) {
            named.dmah = (*attr).dmah;
        }
        if has(&named, IBV_REG_MR_MASK_BUF) {
            named.buf = (*attr).buf;
        }
    }
    Ok(named)
}

unsafe fn register(pd: *mut ibv_pd, attr: &ibv_mr_init_attr) -> Result<*mut ibv_mr> {
    // SAFETY: the caller passes a PD and NULL or a buffer; a new region is known to nobody else.
    unsafe {
        let context = (*pd).context;
        let mut attr = if has(attr, IBV_REG_MR_MASK_BUF) {
            let buf = attr.buf.as_ref().ok_or(Errno::EINVAL)?;
            of_buffer(pd, buf, attr)?
        } else {
            *attr
        };
        attr.access = without_unknown_options(context, attr.access);
        let device_start = device_start(&attr);
        // The place of the region, as far as the program is concerned.
        let addr = if has(&attr, IBV_REG_MR_MASK_ADDR) {
            attr.addr
        } else {
            ptr::without_provenance_mut(attr.fd_offset as usize)
        };
        let of_dmabuf = has(&attr, IBV_REG_MR_MASK_FD);
        let (memory, length, access) = (attr.addr, attr.length, attr.access);
        let mut register = || {
            let mr = from_null(call_op!(context, reg_mr_ex(pd, &raw mut attr)))?;
            fill_in(mr, pd, addr, length, device_start)
        };
        if of_dmabuf { register() } else { marked(memory, length, access, register) }
    }
}

/// The address by which the device will know the region, unless it is the region's own.
fn device_start(attr: &ibv_mr_init_attr) -> Option<u64> {
    let differs = has(attr, IBV_REG_MR_MASK_FD) || attr.iova != attr.addr.addr() as u64;
    (has(attr, IBV_REG_MR_MASK_IOVA) && differs).then_some(attr.iova)
}

/// Attributes for a part of a buffer: by its address, or by its dma-buf if it has one.
///
/// # Errors
///
/// EINVAL if the buffer is of another PD, if the part is not inside of it, and for members that the
/// buffer determines.
fn of_buffer(pd: *mut ibv_pd, buf: &ibv_buf, attr: &ibv_mr_init_attr) -> Result<ibv_mr_init_attr> {
    if buf.pd != pd {
        return refuse!(EINVAL, "registration of a buffer: it was allocated in another PD");
    }
    if !has(attr, IBV_REG_MR_MASK_ADDR) {
        return refuse!(EINVAL, "registration of a buffer: no address");
    }
    if has(attr, IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET) {
        return refuse!(EINVAL, "registration of a buffer: a descriptor is given as well");
    }
    let inside =
        |offset: &usize| buf.size.checked_sub(*offset).is_some_and(|room| attr.length <= room);
    let Some(offset) = attr.addr.addr().checked_sub(buf.addr.addr()).filter(inside) else {
        return refuse!(
            EINVAL,
            "registration of a buffer: {} bytes at {:p} are not within its {} bytes at {:p}",
            attr.length,
            attr.addr,
            buf.size,
            buf.addr,
        );
    };
    let mut whole = *attr;
    whole.comp_mask &= !u64::from(IBV_REG_MR_MASK_BUF);
    if buf.dmabuf_fd < 0 {
        return Ok(whole);
    }
    if has(attr, IBV_REG_MR_MASK_IOVA) {
        return refuse!(EINVAL, "registration of a buffer: its device address is its own");
    }
    whole.comp_mask &= !u64::from(IBV_REG_MR_MASK_ADDR);
    whole.comp_mask |=
        u64::from(IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA);
    whole.fd = buf.dmabuf_fd;
    whole.fd_offset = offset as u64;
    whole.iova = attr.addr.expose_provenance() as u64;
    Ok(whole)
}

#[cfg(test)]
mod tests;
