//! Registration by attributes, and regions of dma-bufs, which are mapped.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use super::dmah::Dmah;
use super::mr::{self, Keeps, Memory, Mr};
use super::{access, files, populate};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::page;
use crate::urxe::explain;
use crate::urxe::host;
use crate::urxe::shared::KeyMemory;

/// A mapping of a dma-buf.
pub(super) struct Mapping {
    address: NonNull<c_void>,
    length: usize,
}

// SAFETY: an address and a length.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the pages of `length` bytes at `offset`; what mmap(2) says.
    fn new(fd: c_int, offset: u64, length: usize, writable: bool) -> Result<Mapping> {
        let protection =
            if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let page = page::size() as u64;
        let before = offset % page;
        let length = usize::try_from(before).ok().and_then(|before| length.checked_add(before));
        let (Some(length), Ok(first)) = (length, libc::off_t::try_from(offset - before)) else {
            return Err(Errno::EINVAL);
        };
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let address =
            unsafe { libc::mmap(ptr::null_mut(), length, protection, libc::MAP_SHARED, fd, first) };
        match NonNull::new(address) {
            Some(address) if address.as_ptr() != libc::MAP_FAILED => {
                Ok(Mapping { address, length })
            }
            _ => Err(Errno::last()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        unsafe { libc::munmap(self.address.as_ptr(), self.length) };
    }
}

/// `ibv_reg_dmabuf_mr(3)`: any file that can be mapped will do.
///
/// # Errors
///
/// EINVAL for rights that such a region does not have, a part that is not inside of the file, and an
/// `iova` that is not as far from a page as `offset`; ENOMEM; what mmap(2) says.
pub(crate) unsafe extern "C" fn reg_dmabuf_mr(
    pd: *mut ibv_pd,
    offset: u64,
    length: usize,
    iova: u64,
    fd: c_int,
    access: c_int,
) -> *mut ibv_mr {
    let part = Part { fd, offset, length, iova, access: access.cast_unsigned() };
    // SAFETY: the caller passes a PD of this device.
    unsafe { register(pd, &part, Keeps::default()) }.or_null()
}

/// A part of a dma-buf to be registered.
struct Part {
    fd: c_int,
    offset: u64,
    length: usize,
    iova: u64,
    access: u32,
}

unsafe fn register(pd: *mut ibv_pd, part: &Part, mut keeps: Keeps) -> Result<*mut ibv_mr> {
    const RIGHTS: u32 = IBV_ACCESS_LOCAL_WRITE
        | IBV_ACCESS_REMOTE_WRITE
        | IBV_ACCESS_REMOTE_READ
        | IBV_ACCESS_REMOTE_ATOMIC
        | IBV_ACCESS_OPTIONAL_RANGE;
    let &Part { fd, offset, length, iova, access } = part;
    if access & !RIGHTS != 0 {
        explain!("ibv_reg_dmabuf_mr: access {:#x} is not for dma-bufs", access & !RIGHTS);
        return Err(Errno::EINVAL);
    }
    access::check(access)?;
    let page = page::size() as u64;
    let status = files::status_of(fd)?;
    let end = offset.checked_add(length as u64);
    let is_inside = end.is_some_and(|end| end <= u64::try_from(status.st_size).unwrap_or(0));
    if length == 0 || !is_inside || iova.checked_add(length as u64).is_none() {
        explain!(
            "ibv_reg_dmabuf_mr: {length} bytes at {offset} are not inside of the file of {} bytes",
            status.st_size,
        );
        return Err(Errno::EINVAL);
    }
    if iova % page != offset % page {
        explain!("ibv_reg_dmabuf_mr: offset {offset:#x} and iova {iova:#x} differ within a page");
        return Err(Errno::EINVAL);
    }
    let host = host::host()?;
    let mut memory = Memory {
        address: 0,
        length: length as u64,
        iova,
        access,
        kind: KeyMemory::ORDINARY,
        file: 0,
        file_offset: 0,
    };
    if let Some(file) = files::find_by_fd(host, fd) {
        memory.address = file.address().expose_provenance() as u64 + offset;
        memory.kind = KeyMemory::FILE;
        (memory.file, memory.file_offset) = (file.number(), offset);
        keeps.file = Some(file);
    } else {
        let writable = access::is_writable(access);
        let mapping = Mapping::new(fd, offset, length, writable).map_err(|errno| match errno {
            // Not a file that can be mapped.
            Errno::ENODEV => Errno::EINVAL,
            errno => errno,
        })?;
        let address = mapping.address.as_ptr().expose_provenance() + (offset % page) as usize;
        if status.st_mode & libc::S_IFMT == libc::S_IFREG {
            populate::populate(address, length, writable)?;
        }
        memory.address = address as u64;
        keeps.mapping = Some(mapping);
    }
    let addr = ptr::without_provenance_mut(offset as usize);
    // SAFETY: the caller passes a PD of this device.
    unsafe { Mr::create(host, pd, addr, &memory, IBV_MR_TYPE_DMABUF_MR, keeps) }
}

/// `ibv_reg_mr_ex(3)`
///
/// # Errors
///
/// EOPNOTSUPP for members that the device does not know; EINVAL for combinations that make no
/// sense, and for a DMA handle of memory on demand; then as for the simple forms.
pub(crate) unsafe extern "C" fn reg_mr_ex(
    pd: *mut ibv_pd,
    attr: *mut ibv_mr_init_attr,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD of this device and attributes with the members they name.
    unsafe { register_by_attributes(pd, &*attr) }.or_null()
}

unsafe fn register_by_attributes(pd: *mut ibv_pd, attr: &ibv_mr_init_attr) -> Result<*mut ibv_mr> {
    const KNOWN: u32 = IBV_REG_MR_MASK_IOVA
        | IBV_REG_MR_MASK_ADDR
        | IBV_REG_MR_MASK_FD
        | IBV_REG_MR_MASK_FD_OFFSET
        | IBV_REG_MR_MASK_DMAH;
    let has = |member| attr.comp_mask & u64::from(member) != 0;
    let access = attr.access.cast_unsigned();
    if attr.comp_mask & !u64::from(KNOWN) != 0 {
        explain!("ibv_reg_mr_ex: unknown comp_mask {:#x}", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    let of_fd = has(IBV_REG_MR_MASK_FD);
    let is_complete = if of_fd {
        has(IBV_REG_MR_MASK_FD_OFFSET) && has(IBV_REG_MR_MASK_IOVA) && !has(IBV_REG_MR_MASK_ADDR)
    } else {
        has(IBV_REG_MR_MASK_ADDR) && !has(IBV_REG_MR_MASK_FD_OFFSET)
    };
    if !is_complete {
        explain!("ibv_reg_mr_ex: comp_mask {:#x} names too much or too little", attr.comp_mask);
        return Err(Errno::EINVAL);
    }
    let mut keeps = Keeps::default();
    if has(IBV_REG_MR_MASK_DMAH) {
        if attr.dmah.is_null() || access & IBV_ACCESS_ON_DEMAND != 0 {
            explain!("ibv_reg_mr_ex: no DMA handle, or one for memory on demand");
            return Err(Errno::EINVAL);
        }
        // SAFETY: the caller passes a live handle.
        keeps.dmah = Some(unsafe { Dmah::of(attr.dmah).hold() });
    }
    // SAFETY: the caller passes a PD of this device.
    unsafe {
        if of_fd {
            let part = Part {
                fd: attr.fd,
                offset: attr.fd_offset,
                length: attr.length,
                iova: attr.iova,
                access,
            };
            return register(pd, &part, keeps);
        }
        let start = attr.addr.expose_provenance() as u64;
        let iova = if has(IBV_REG_MR_MASK_IOVA) { attr.iova } else { start };
        mr::register(pd, attr.addr, attr.length, iova, access, keeps)
    }
}

#[cfg(test)]
mod tests;
