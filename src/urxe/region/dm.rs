//! Device memory: files that peers map, which the program reaches through the device alone.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use std::sync::Arc;

use super::access;
use super::files::{self, DeviceFile, Purpose};
use super::mr::{Keeps, Memory, Mr, Users};
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnMinusOne, ReturnNumber, ReturnPointer};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::sys::heap;
use crate::sys::page;
use crate::urxe::explain;
use crate::urxe::host;
use crate::urxe::limits::MAX_DM_SIZE;
use crate::urxe::shared::KeyMemory;

/// Copies begin and end at multiples of this, as adapters want it.
const UNIT: u64 = 4;

/// Bytes that are allocated, and the epoch of the slot to which they belong.
static ALLOCATED: ForkMutex<(u64, u64)> = ForkMutex::new(Rank::DeviceMemory, (0, 0));

/// Device memory.
#[repr(C)]
pub(crate) struct Dm {
    verbs: UnsafeCell<verbs_dm>,
    file: Arc<DeviceFile>,
    length: u64,
    epoch: u64,
    /// Regions in it.
    users: InUse,
}

impl Dm {
    /// Memory in a file. `epoch` is that of the slot whose bytes it takes, 0 for one that takes none.
    pub(super) fn new(
        context: *mut ibv_context,
        file: Arc<DeviceFile>,
        length: u64,
        epoch: u64,
    ) -> Dm {
        let handle = file.number();
        let dm = ibv_dm {
            context,
            memcpy_to_dm: Some(memcpy_to_dm),
            memcpy_from_dm: Some(memcpy_from_dm),
            comp_mask: IBV_DM_MASK_HANDLE,
            handle,
        };
        let verbs = UnsafeCell::new(verbs_dm { dm, handle });
        Dm { verbs, file, length, epoch, users: InUse::none() }
    }

    /// # Safety
    ///
    /// `dm` must be live device memory of this device.
    unsafe fn of<'a>(dm: *mut ibv_dm) -> &'a Dm {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*dm.cast::<Dm>() }
    }

    /// Whether a part is inside.
    fn has(&self, offset: u64, length: usize) -> bool {
        self.length.checked_sub(offset).is_some_and(|room| length as u64 <= room)
    }

    /// Address of a part that is to be copied. EINVAL if it is not inside, or not in whole units.
    fn part(&self, offset: u64, length: usize) -> Result<*mut u8> {
        let whole = offset.is_multiple_of(UNIT) && (length as u64).is_multiple_of(UNIT);
        if !whole || !self.has(offset, length) {
            explain!(
                "ibv_memcpy_to_dm or _from_dm: {length} bytes at {offset} are not inside of {} \
                 bytes, or not in units of {UNIT}",
                self.length,
            );
            return Err(Errno::EINVAL);
        }
        Ok(self.file.address().wrapping_add(offset as usize))
    }
}

/// `ibv_alloc_dm(3)`
///
/// # Errors
///
/// EINVAL for no bytes, unknown members, or an alignment beyond a page; ENOMEM for more than there
/// is.
pub(crate) unsafe extern "C" fn alloc_dm(
    context: *mut ibv_context,
    attr: *mut ibv_alloc_dm_attr,
) -> *mut ibv_dm {
    // SAFETY: the caller passes attributes.
    allocate(context, unsafe { &*attr }).or_null()
}

fn allocate(context: *mut ibv_context, attr: &ibv_alloc_dm_attr) -> Result<*mut ibv_dm> {
    heap::enough()?;
    let length = attr.length as u64;
    let aligned = page::size().trailing_zeros();
    if attr.comp_mask != 0 || length == 0 || attr.log_align_req > aligned {
        explain!(
            "ibv_alloc_dm: {length} bytes, alignment 2^{}, comp_mask {:#x}",
            attr.log_align_req,
            attr.comp_mask,
        );
        return Err(Errno::EINVAL);
    }
    let host = host::host()?;
    let epoch = host.epoch();
    take(epoch, length)?;
    let file = DeviceFile::new(host, length, Purpose::DeviceMemory)
        .inspect_err(|_| give_back(epoch, length))?;
    Ok(Box::into_raw(Box::new(Dm::new(context, file, length, epoch))).cast())
}

/// Counts bytes that are allocated. ENOMEM if there are not so many.
fn take(epoch: u64, length: u64) -> Result<()> {
    let mut allocated = ALLOCATED.lock();
    if allocated.0 != epoch {
        *allocated = (epoch, 0);
    }
    let left = MAX_DM_SIZE.saturating_sub(allocated.1);
    if length > left {
        explain!("ibv_alloc_dm: {length} bytes are more than the {left} that are left");
        return Err(Errno::ENOMEM);
    }
    allocated.1 += length;
    Ok(())
}

fn give_back(epoch: u64, length: u64) {
    let mut allocated = ALLOCATED.lock();
    if allocated.0 == epoch {
        allocated.1 = allocated.1.saturating_sub(length);
    }
}

/// `ibv_free_dm(3)`: EBUSY while a region is in it; EINVAL if it was imported.
pub(crate) unsafe extern "C" fn free_dm(dm: *mut ibv_dm) -> c_int {
    // SAFETY: the caller passes device memory.
    let this = unsafe { Dm::of(dm) };
    if this.epoch == 0 {
        explain!("ibv_free_dm: the memory was imported; see ibv_unimport_dm(3)");
        return Err(Errno::EINVAL).or_number();
    }
    let users = this.users.count();
    if users != 0 {
        explain!("ibv_free_dm: {users} regions are in the memory");
        return Err(Errno::EBUSY).or_number();
    }
    // SAFETY: made as a box; the caller uses it no more.
    let dm = unsafe { Box::from_raw(dm.cast::<Dm>()) };
    give_back(dm.epoch, dm.length);
    0
}

/// `ibv_memcpy_to_dm(3)`: EINVAL if it is not inside, or not in whole units of 4 bytes.
unsafe extern "C" fn memcpy_to_dm(
    dm: *mut ibv_dm,
    dm_offset: u64,
    host_addr: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: the caller passes device memory, and memory that can be read.
    unsafe {
        let part = Dm::of(dm).part(dm_offset, length);
        part.map(|to| ptr::copy(host_addr.cast::<u8>(), to, length)).or_number()
    }
}

/// `ibv_memcpy_from_dm(3)`: EINVAL as above.
unsafe extern "C" fn memcpy_from_dm(
    host_addr: *mut c_void,
    dm: *mut ibv_dm,
    dm_offset: u64,
    length: usize,
) -> c_int {
    // SAFETY: the caller passes device memory, and memory that can be written.
    unsafe {
        let part = Dm::of(dm).part(dm_offset, length);
        part.map(|from| ptr::copy(from, host_addr.cast::<u8>(), length)).or_number()
    }
}

/// `ibv_reg_dm_mr(3)`
///
/// # Errors
///
/// EINVAL for a part that is not inside, and for rights without `IBV_ACCESS_ZERO_BASED` or that
/// such a region does not have; ENOMEM.
pub(crate) unsafe extern "C" fn reg_dm_mr(
    pd: *mut ibv_pd,
    dm: *mut ibv_dm,
    dm_offset: u64,
    length: usize,
    access: c_uint,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD and memory of this device.
    unsafe { register(pd, Dm::of(dm), dm_offset, length, access) }.or_null()
}

unsafe fn register(
    pd: *mut ibv_pd,
    dm: &Dm,
    offset: u64,
    length: usize,
    access: u32,
) -> Result<*mut ibv_mr> {
    access::check(access)?;
    if access & IBV_ACCESS_ZERO_BASED == 0 || access & IBV_ACCESS_ON_DEMAND != 0 {
        explain!("ibv_reg_dm_mr: access {access:#x} is not zero-based, or on demand");
        return Err(Errno::EINVAL);
    }
    if !dm.has(offset, length) {
        explain!("ibv_reg_dm_mr: {length} bytes at {offset} are not inside of {} bytes", dm.length);
        return Err(Errno::EINVAL);
    }
    let host = host::host()?;
    let memory = Memory {
        address: dm.file.address().expose_provenance() as u64 + offset,
        length: length as u64,
        iova: 0,
        access,
        kind: KeyMemory::FILE,
        file: dm.file.number(),
        file_offset: offset,
    };
    // SAFETY: device memory is not freed before its count is 0.
    let dm_user = Some(unsafe { Users::hold(&dm.users) });
    let keeps = Keeps { dm: dm_user, file: Some(Arc::clone(&dm.file)), ..Keeps::default() };
    // SAFETY: the caller's promise.
    unsafe { Mr::create(host, pd, ptr::null_mut(), &memory, IBV_MR_TYPE_MR, keeps) }
}

/// `ibv_dm_export_dmabuf_fd(3)`: a descriptor that can be mapped and registered.
pub(crate) unsafe extern "C" fn dm_export_dmabuf_fd(dm: *mut ibv_dm) -> c_int {
    // SAFETY: the caller passes device memory.
    files::duplicate(unsafe { Dm::of(dm) }.file.fd()).or_minus_one()
}

#[cfg(test)]
mod tests;
