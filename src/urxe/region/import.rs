//! Regions and device memory of another context of this process, known by their handles.

use super::dm::Dm;
use super::{files, keys};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::heap;
use crate::urxe::device::Pd;
use crate::urxe::{explain, host};

/// `ibv_import_mr(3)`
///
/// # Errors
///
/// EINVAL for no region of the PD; ENODEV in a forked child.
pub(crate) unsafe extern "C" fn import_mr(pd: *mut ibv_pd, handle: u32) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD of this device.
    unsafe { region(pd, handle) }.or_null()
}

unsafe fn region(pd: *mut ibv_pd, handle: u32) -> Result<*mut ibv_mr> {
    heap::enough()?;
    // SAFETY: the caller's promise.
    let (domain, context) = unsafe { (Pd::of(pd), (*pd).context) };
    let found = keys::read_own(host::host()?, handle).filter(|found| found.key == handle);
    // What is bound to something is a window.
    let found = found.filter(|found| found.qp_num == 0 && found.parent == 0);
    let Some(found) = found.filter(|found| handle != 0 && found.pd == domain.number()) else {
        explain!("ibv_import_mr: {handle:#x} is not a region of PD {}", domain.number());
        return Err(Errno::EINVAL);
    };
    domain.hold();
    let mr = verbs_mr {
        ibv_mr: ibv_mr {
            context,
            pd,
            addr: core::ptr::null_mut(),
            length: found.length as usize,
            handle,
            lkey: handle,
            rkey: handle,
        },
        mr_type: IBV_MR_TYPE_IMPORTED_MR,
        access: found.access.cast_signed(),
    };
    Ok(Box::into_raw(Box::new(mr)).cast())
}

/// `ibv_unimport_mr(3)`: the region stays.
pub(crate) unsafe extern "C" fn unimport_mr(mr: *mut ibv_mr) {
    // SAFETY: the caller passes an imported region, whose PD still exists, and uses it no more.
    unsafe {
        let mr = Box::from_raw(mr.cast::<verbs_mr>());
        Pd::of(mr.ibv_mr.pd).release();
    }
}

/// `ibv_import_dm(3)`
///
/// # Errors
///
/// EINVAL for no device memory; ENODEV in a forked child.
pub(crate) unsafe extern "C" fn import_dm(context: *mut ibv_context, handle: u32) -> *mut ibv_dm {
    let file = heap::enough().and_then(|()| host::host()).and_then(|host| {
        files::find_by_number(host, handle).ok_or_else(|| {
            explain!("ibv_import_dm: {handle} is no device memory");
            Errno::EINVAL
        })
    });
    file.map(|(file, length)| Box::into_raw(Box::new(Dm::new(context, file, length, 0))).cast())
        .or_null()
}

/// `ibv_unimport_dm(3)`: the memory stays.
pub(crate) unsafe extern "C" fn unimport_dm(dm: *mut ibv_dm) {
    // SAFETY: the caller passes imported memory, in which no regions are left, and uses it no more.
    drop(unsafe { Box::from_raw(dm.cast::<Dm>()) });
}
