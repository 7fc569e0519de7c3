//! Memory regions.

mod device_address;
pub(super) mod extended;

use core::ffi::{c_int, c_uint, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::fork;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{Errno, Result, ReturnPointer, from_null};
use crate::uapi::*;
use crate::verbs::{refuse, report};

pub(super) use device_address::start as device_start;

/// Registers `length` bytes at `addr`; NULL with `errno` on failure. `ibv_reg_mr(3)`
pub(crate) unsafe extern "C" fn ibv_reg_mr(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    unsafe { register(pd, addr, length, addr.expose_provenance() as u64, access) }.or_null()
}
export!(ibv_reg_mr @@ "IBVERBS_1.1");

/// Registers memory that the device knows by the address `iova`; NULL with `errno` on failure.
/// `ibv_reg_mr(3)`
pub(crate) unsafe extern "C" fn ibv_reg_mr_iova(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    unsafe { register(pd, addr, length, iova, access) }.or_null()
}
export!(ibv_reg_mr_iova @@ "IBVERBS_1.7");

/// As [`ibv_reg_mr_iova`]; programs call it when they may ask for access that is optional.
/// `ibv_reg_mr(3)`
pub(crate) unsafe extern "C" fn ibv_reg_mr_iova2(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_uint,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    unsafe { register(pd, addr, length, iova, access.cast_signed()) }.or_null()
}
export!(ibv_reg_mr_iova2 @@ "IBVERBS_1.8");

unsafe fn register(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_int,
) -> Result<*mut ibv_mr> {
    // SAFETY: the caller's promise; a new region is known to nobody else.
    unsafe {
        let context = (*pd).context;
        let access = without_unknown_options(context, access);
        marked(addr, length, access, || {
            let mr = from_null(call_op!(context, reg_mr(pd, addr, length, iova, access)))?;
            fill_in(mr, pd, addr, length, Some(iova).filter(|&iova| iova != addr.addr() as u64))
        })
    }
}

/// Registers `length` bytes of a dma-buf, from `offset` on, which the device knows by the address
/// `iova`; NULL with `errno` on failure. `ibv_reg_dmabuf_mr(3)`
pub(in crate::verbs) unsafe extern "C" fn ibv_reg_dmabuf_mr(
    pd: *mut ibv_pd,
    offset: u64,
    length: usize,
    iova: u64,
    fd: c_int,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    unsafe { register_dmabuf(pd, offset, length, iova, fd, access) }.or_null()
}
export!(ibv_reg_dmabuf_mr @@ "IBVERBS_1.12");

unsafe fn register_dmabuf(
    pd: *mut ibv_pd,
    offset: u64,
    length: usize,
    iova: u64,
    fd: c_int,
    access: c_int,
) -> Result<*mut ibv_mr> {
    // SAFETY: the caller's promise; a new region is known to nobody else.
    unsafe {
        let mr = from_null(call_op!(
            (*pd).context,
            reg_dmabuf_mr(pd, offset, length, iova, fd, access)
        ))?;
        fill_in(mr, pd, core::ptr::without_provenance_mut(offset as usize), length, Some(iova))
    }
}

/// Access rights without the optional ones (`IBV_ACCESS_OPTIONAL_RANGE`) if the kernel is older
/// than those: it would refuse them instead of ignoring what it does not know.
unsafe fn without_unknown_options(context: *mut ibv_context, access: c_int) -> c_int {
    // SAFETY: the caller passes a context, whose device has the provider's part.
    let support = unsafe { (*(*context).device.cast::<verbs_device>()).core_support };
    if support & u64::from(IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS) != 0 {
        access
    } else {
        access & !IBV_ACCESS_OPTIONAL_RANGE.cast_signed()
    }
}

/// Whether the pages of a region are pinned, and so must be kept from child processes.
fn is_pinned(access: c_int) -> bool {
    access & IBV_ACCESS_ON_DEMAND.cast_signed() == 0
}

/// Runs a registration of memory that is kept from child processes from before it until, if it
/// fails, after it.
fn marked<T>(
    addr: *mut c_void,
    length: usize,
    access: c_int,
    register: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if !is_pinned(access) {
        return register();
    }
    fork::dontfork(addr, length)?;
    register().inspect_err(|_| {
        // The first error counts.
        let _ = fork::dofork(addr, length);
    })
}

/// Sets the library's members of a new region. `device_start` is the address by which the device
/// knows it unless that is `addr`. Destroys the region on failure (ENOMEM).
unsafe fn fill_in(
    mr: *mut ibv_mr,
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    device_start: Option<u64>,
) -> Result<*mut ibv_mr> {
    // SAFETY: the caller passes a new region of the PD.
    unsafe {
        let context = (*pd).context;
        (*mr).context = context;
        (*mr).pd = pd;
        (*mr).addr = addr;
        (*mr).length = length;
        if let Some(start) = device_start
            && let Err(errno) = device_address::record(mr, start)
        {
            call_op!(context, dereg_mr(mr.cast()));
            return Err(errno);
        }
    }
    Ok(mr)
}

/// Changes memory, PD or access of a region, as `flags` say. Returns 0 or a code of
/// `enum ibv_rereg_mr_err_code`, with `errno`. `ibv_rereg_mr(3)`
pub(in crate::verbs) unsafe extern "C" fn ibv_rereg_mr(
    mr: *mut ibv_mr,
    flags: c_int,
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> c_int {
    let new = Change { flags: flags.cast_unsigned(), pd, addr, length, access };
    // SAFETY: the caller passes a region that nobody else uses.
    match unsafe { reregister(mr, &new) } {
        Ok(()) => 0,
        Err((code, errno)) => {
            errno.store();
            code
        }
    }
}
export!(ibv_rereg_mr @@ "IBVERBS_1.1");

/// The arguments of [`ibv_rereg_mr()`].
struct Change {
    flags: c_uint,
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_int,
}

impl Change {
    fn of(&self, flag: c_uint) -> bool {
        self.flags & flag != 0
    }
}

unsafe fn reregister(
    mr: *mut ibv_mr,
    new: &Change,
) -> core::result::Result<(), (ibv_rereg_mr_err_code, Errno)> {
    // SAFETY: the caller passes a region, which is part of the provider's.
    unsafe { check_change(mr, new) }.map_err(|errno| (IBV_REREG_MR_ERR_INPUT, errno))?;
    // SAFETY: as above.
    let (context, old_addr, old_length, old_access) =
        unsafe { ((*mr).context, (*mr).addr, (*mr).length, (*mr.cast::<verbs_mr>()).access) };
    let moves = new.of(IBV_REREG_MR_CHANGE_TRANSLATION);
    let (addr, length) = if moves { (new.addr, new.length) } else { (old_addr, old_length) };
    let access = if new.of(IBV_REREG_MR_CHANGE_ACCESS) { new.access } else { old_access };
    let was_pinned = is_pinned(old_access);
    let mark_new = is_pinned(access) && (moves || !was_pinned);
    let unmark_old = was_pinned && (moves || !is_pinned(access));

    if mark_new {
        fork::dontfork(addr, length).map_err(|errno| (IBV_REREG_MR_ERR_DONT_FORK_NEW, errno))?;
    }
    // SAFETY: as above.
    let status = unsafe {
        let vmr = mr.cast();
        call_op!(
            context,
            rereg_mr(vmr, new.flags.cast_signed(), new.pd, new.addr, new.length, new.access)
        )
    };
    if status != 0 {
        let errno = if status > 0 { Errno(status) } else { Errno::last() };
        return Err(match mark_new.then(|| fork::dofork(addr, length)) {
            Some(Err(_)) => (IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW, errno),
            _ => (IBV_REREG_MR_ERR_CMD, errno),
        });
    }
    // SAFETY: as above.
    unsafe {
        if new.of(IBV_REREG_MR_CHANGE_PD) {
            (*mr).pd = new.pd;
        }
        if moves {
            (*mr).addr = addr;
            (*mr).length = length;
            device_address::forget(mr);
        }
        (*mr.cast::<verbs_mr>()).access = access;
    }
    if unmark_old {
        fork::dofork(old_addr, old_length)
            .map_err(|errno| (IBV_REREG_MR_ERR_DO_FORK_OLD, errno))?;
    }
    Ok(())
}

/// What the library itself demands of the arguments of [`ibv_rereg_mr()`].
unsafe fn check_change(mr: *mut ibv_mr, new: &Change) -> Result<()> {
    // SAFETY: the caller passes a region, which is part of the provider's.
    let mr_type = unsafe { (*mr.cast::<verbs_mr>()).mr_type };
    if mr_type != IBV_MR_TYPE_MR {
        return refuse!(EINVAL, "ibv_rereg_mr: the region is not one of ordinary memory");
    }
    if new.of(!IBV_REREG_MR_FLAGS_SUPPORTED) {
        return refuse!(EINVAL, "ibv_rereg_mr: unknown flags {:#x}", new.flags);
    }
    if new.of(IBV_REREG_MR_CHANGE_TRANSLATION) && (new.addr.is_null() || new.length == 0) {
        return refuse!(EINVAL, "ibv_rereg_mr: new translation without address or length");
    }
    if new.of(IBV_REREG_MR_CHANGE_PD) && new.pd.is_null() {
        return refuse!(EINVAL, "ibv_rereg_mr: no new PD");
    }
    if new.access != 0 && !new.of(IBV_REREG_MR_CHANGE_ACCESS) {
        return refuse!(EINVAL, "ibv_rereg_mr: access {:#x} without the flag", new.access);
    }
    Ok(())
}

/// Ends a registration. Returns 0 or an error number, EBUSY for instance while a memory window is
/// bound to it. `ibv_dereg_mr(3)`
pub(crate) unsafe extern "C" fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: the caller passes a region, which is part of the provider's, and uses it no more.
    unsafe {
        let verbs_mr { ibv_mr: ibv_mr { context, addr, length, .. }, mr_type, access } =
            mr.cast::<verbs_mr>().read();
        // The memory of the region may be that of another one as soon as the provider frees it.
        let device_start = device_address::forget(mr);
        let status = end_op!(context, dereg_mr(mr.cast()));
        if status != 0 {
            if let Some(start) = device_start {
                // There was room before.
                let _ = device_address::record(mr, start);
            }
        } else if mr_type == IBV_MR_TYPE_MR && is_pinned(access) {
            let _ = fork::dofork(addr, length);
        }
        report(status)
    }
}
export!(ibv_dereg_mr @@ "IBVERBS_1.1");

/// Makes a region of another context of the same device known in this PD, by its handle; NULL with
/// `errno` on failure. `ibv_import_mr(3)`
pub(in crate::verbs) unsafe extern "C" fn ibv_import_mr(
    pd: *mut ibv_pd,
    handle: u32,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    from_null(unsafe { call_op!((*pd).context, import_mr(pd, handle)) }).or_null()
}
export!(ibv_import_mr @@ "IBVERBS_1.10");

/// Forgets an imported region; the kernel's object lives on. `ibv_unimport_mr(3)`
pub(in crate::verbs) unsafe extern "C" fn ibv_unimport_mr(mr: *mut ibv_mr) {
    // SAFETY: the caller passes an imported region and uses it no more.
    unsafe { call_op!((*mr).context, unimport_mr(mr)) }
}
export!(ibv_unimport_mr @@ "IBVERBS_1.10");

#[cfg(test)]
mod tests;
