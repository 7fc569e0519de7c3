//! DMA handles: hints for a device on a bus. Here they are checked and kept, and change nothing.

use core::cell::UnsafeCell;
use core::ffi::c_int;

use super::mr::Users;
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer};
use crate::sys::heap;
use crate::urxe::explain;

/// A handle.
#[repr(C)]
pub(crate) struct Dmah {
    verbs: UnsafeCell<verbs_dmah>,
    /// Regions that have it.
    users: InUse,
}

impl Dmah {
    /// The handle behind a C pointer.
    ///
    /// # Safety
    ///
    /// `dmah` must be a live handle of this device.
    pub(super) unsafe fn of<'a>(dmah: *mut ibv_dmah) -> &'a Dmah {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*dmah.cast::<Dmah>() }
    }

    /// Counts a region.
    pub(super) fn hold(&self) -> Users {
        // SAFETY: a handle is not freed before its count is 0.
        unsafe { Users::hold(&self.users) }
    }
}

/// `ibv_alloc_dmah(3)`
///
/// # Errors
///
/// EOPNOTSUPP for unknown members; EINVAL for a CPU that the machine does not have, a hint of more
/// than two bits, or an unknown kind of memory; EPERM for a CPU on which the process may not run.
pub(crate) unsafe extern "C" fn alloc_dmah(
    context: *mut ibv_context,
    attr: *mut ibv_dmah_init_attr,
) -> *mut ibv_dmah {
    // SAFETY: the caller passes attributes.
    let check = check(unsafe { &*attr });
    let verbs = verbs_dmah { dmah: ibv_dmah { context }, handle: 0 };
    let dmah = Dmah { verbs: UnsafeCell::new(verbs), users: InUse::none() };
    check.and_then(|()| heap::enough()).map(|()| Box::into_raw(Box::new(dmah)).cast()).or_null()
}

fn check(attr: &ibv_dmah_init_attr) -> Result<()> {
    const KNOWN: u32 = IBV_DMAH_INIT_ATTR_MASK_CPU_ID
        | IBV_DMAH_INIT_ATTR_MASK_PH
        | IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
    let has = |member| attr.comp_mask & member != 0;
    if attr.comp_mask & !KNOWN != 0 {
        explain!("ibv_alloc_dmah: unknown comp_mask {:#x}", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    if has(IBV_DMAH_INIT_ATTR_MASK_CPU_ID) {
        check_cpu(attr.cpu_id)?;
    }
    if has(IBV_DMAH_INIT_ATTR_MASK_PH) && attr.ph > 3 {
        explain!("ibv_alloc_dmah: processing hint {} has more than two bits", attr.ph);
        return Err(Errno::EINVAL);
    }
    let kinds = [IBV_TPH_MEM_TYPE_VM, IBV_TPH_MEM_TYPE_PM];
    if has(IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE) && !kinds.contains(&u32::from(attr.tph_mem_type)) {
        explain!("ibv_alloc_dmah: there is no memory of type {}", attr.tph_mem_type);
        return Err(Errno::EINVAL);
    }
    Ok(())
}

fn check_cpu(cpu: u32) -> Result<()> {
    // SAFETY: cannot fail.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    if i64::from(cpu) >= cpus {
        explain!("ibv_alloc_dmah: there is no CPU {cpu}, only {cpus}");
        return Err(Errno::EINVAL);
    }
    // SAFETY: plain data, and room for the answer; the CPU is one of the set if it fits.
    let may_run = unsafe {
        let mut allowed: libc::cpu_set_t = core::mem::zeroed();
        let status = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut allowed);
        status != 0 || cpu >= libc::CPU_SETSIZE as u32 || libc::CPU_ISSET(cpu as usize, &allowed)
    };
    if !may_run {
        explain!("ibv_alloc_dmah: the process may not run on CPU {cpu}");
        return Err(Errno::EPERM);
    }
    Ok(())
}

/// `ibv_dealloc_dmah(3)`: EBUSY while a region has it.
pub(crate) unsafe extern "C" fn dealloc_dmah(dmah: *mut ibv_dmah) -> c_int {
    // SAFETY: the caller passes a live handle.
    let users = unsafe { Dmah::of(dmah) }.users.count();
    if users != 0 {
        explain!("ibv_dealloc_dmah: {users} regions have the handle");
        return Err(Errno::EBUSY).or_number();
    }
    // SAFETY: made as a box; the caller uses it no more.
    drop(unsafe { Box::from_raw(dmah.cast::<Dmah>()) });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> ibv_dmah_init_attr {
        ibv_dmah_init_attr { comp_mask: 7, ..ibv_dmah_init_attr::zeroed() }
    }

    fn first_cpu() -> u32 {
        (0..).find(|&cpu| check_cpu(cpu) != Err(Errno::EPERM)).unwrap()
    }

    #[test]
    fn hints_are_checked() {
        let good = ibv_dmah_init_attr { cpu_id: first_cpu(), ..all() };
        assert_eq!(check(&good), Ok(()));
        for (attr, errno) in [
            (ibv_dmah_init_attr { comp_mask: 8, ..good }, Errno::EOPNOTSUPP),
            (ibv_dmah_init_attr { ph: 4, ..good }, Errno::EINVAL),
            (ibv_dmah_init_attr { cpu_id: 0xffff, ..good }, Errno::EINVAL),
            (ibv_dmah_init_attr { cpu_id: u32::MAX, ..good }, Errno::EINVAL),
            (ibv_dmah_init_attr { tph_mem_type: 2, ..good }, Errno::EINVAL),
        ] {
            assert_eq!(check(&attr), Err(errno));
        }
        let unnamed = ibv_dmah_init_attr { comp_mask: 0, cpu_id: u32::MAX, ph: 9, tph_mem_type: 9 };
        assert_eq!(check(&unnamed), Ok(()));
        let persistent = ibv_dmah_init_attr { tph_mem_type: 1, ph: 3, ..good };
        assert_eq!(check(&persistent), Ok(()));
    }

    #[test]
    fn a_handle_in_use_is_busy() {
        let mut attr = ibv_dmah_init_attr { comp_mask: 2, ph: 1, ..all() };
        // SAFETY: nothing here looks at the context.
        unsafe {
            let context = core::ptr::without_provenance_mut(0x100);
            let dmah = alloc_dmah(context, &mut attr);
            assert_eq!((*dmah).context, context);
            let user = Dmah::of(dmah).hold();
            assert_eq!(dealloc_dmah(dmah), libc::EBUSY);
            drop(user);
            assert_eq!(dealloc_dmah(dmah), 0);
            attr.ph = 4;
            assert!(alloc_dmah(context, &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
    }
}
