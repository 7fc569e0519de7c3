//! Advice about memory: faulting it in before it is needed.

use core::ffi::c_int;

use super::{access, keys, populate};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;
use crate::urxe::device::Pd;
use crate::urxe::explain;
use crate::urxe::host::{self, Host};
use crate::urxe::shared::KeyMemory;

/// `ibv_advise_mr(3)`. The pages are there when it returns, whatever the flags: of any region, since
/// the device keeps no pages in memory, on demand or not.
///
/// # Errors
///
/// EOPNOTSUPP for unknown advice; EINVAL for unknown flags, and for keys of windows or of null regions;
/// ENOENT for an unknown key; EPERM for one of another PD, or without local write when prefetching for
/// writing; EFAULT for a range that is not inside of the region, or where no memory is.
pub(crate) unsafe extern "C" fn advise_mr(
    pd: *mut ibv_pd,
    advice: ib_uverbs_advise_mr_advice,
    flags: u32,
    sg_list: *mut ibv_sge,
    num_sge: u32,
) -> c_int {
    // SAFETY: the caller passes a PD of this device and a list of so many entries.
    unsafe {
        let list = if num_sge == 0 || sg_list.is_null() {
            &[]
        } else {
            core::slice::from_raw_parts(sg_list, num_sge as usize)
        };
        advise(Pd::of(pd).number(), advice, flags, list).or_number()
    }
}

fn advise(pd: u32, advice: u32, flags: u32, list: &[ibv_sge]) -> Result<()> {
    if advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT {
        explain!("ibv_advise_mr: unknown advice {advice}");
        return Err(Errno::EOPNOTSUPP);
    }
    if flags & !IBV_ADVISE_MR_FLAG_FLUSH != 0 {
        explain!("ibv_advise_mr: unknown flags {flags:#x}");
        return Err(Errno::EINVAL);
    }
    let host = host::host()?;
    for sge in list {
        let (address, length) = check(host, pd, advice, sge)?;
        // Without a fault there is nothing to do: what the process has, the device has too.
        if advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT && length != 0 {
            let writable = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
            populate::populate(address, length, writable)?;
        }
    }
    Ok(())
}

/// The memory behind an entry of the list.
fn check(host: &Host, pd: u32, advice: u32, sge: &ibv_sge) -> Result<(usize, usize)> {
    let key = sge.lkey;
    let refuse = |errno, why: &str| {
        explain!("ibv_advise_mr: key {key:#x} {why}");
        Err(errno)
    };
    let content = keys::read_own(host, key).unwrap_or_default();
    if content.key != key || key == 0 {
        return refuse(Errno::ENOENT, "is not known");
    }
    if content.pd != pd {
        return refuse(Errno::EPERM, "is of another PD");
    }
    if content.parent != 0 || content.memory == KeyMemory::NULL {
        return refuse(Errno::EINVAL, "is not of a region of memory");
    }
    if advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE && !access::is_writable(content.access) {
        return refuse(Errno::EPERM, "does not allow to write");
    }
    let wanted = super::Wanted::local(pd, 0, sge);
    match content.allow(key, &wanted) {
        Ok(place) => Ok((place.address as usize, sge.length as usize)),
        Err(denied) => {
            explain!("ibv_advise_mr: {denied}");
            Err(Errno::EFAULT)
        }
    }
}

#[cfg(test)]
mod tests;
