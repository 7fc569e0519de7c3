//! XRC domains: `ibv_open_xrcd(3)`.
//!
//! A domain that is opened with a file is the same for all processes that open that file, so its
//! number is made of the file's device and inode. Others are of one process alone.

use crate::sync::atomic::Ordering::Relaxed;
use core::cell::UnsafeCell;
use core::ffi::c_int;

use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer, from_minus_one};
use crate::sys::heap;
use crate::urxe::device::Context;
use crate::urxe::explain;
use crate::urxe::host::{self, Host};

/// A domain.
#[repr(C)]
pub(crate) struct Xrcd {
    verbs: UnsafeCell<verbs_xrcd>,
    id: u64,
    host: &'static Host,
    /// QPs and SRQs in it.
    users: InUse,
}

// SAFETY: the public part belongs to the program; the rest is safe to share.
unsafe impl Sync for Xrcd {}

/// Set in the numbers of domains without a file.
const WITHOUT_FILE: u64 = 1 << 63;

impl Xrcd {
    /// The domain behind a C pointer.
    ///
    /// # Safety
    ///
    /// `xrcd` must be a live domain of this device.
    pub(crate) unsafe fn of<'a>(xrcd: *mut ibv_xrcd) -> &'a Xrcd {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*xrcd.cast::<Xrcd>() }
    }

    /// Its number, never 0: the same in all processes that share it.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Notes an object in it.
    pub(crate) fn hold(&self) {
        self.users.hold();
    }

    /// Notes that an object is gone.
    pub(crate) fn release(&self) {
        self.users.release();
    }
}

/// `ibv_open_xrcd(3)`
///
/// # Errors
///
/// EINVAL if a member is missing, or with `O_EXCL` if this process has the domain already; EBADF;
/// EOPNOTSUPP for unknown members.
pub(crate) unsafe extern "C" fn open_xrcd(
    context: *mut ibv_context,
    attr: *mut ibv_xrcd_init_attr,
) -> *mut ibv_xrcd {
    // SAFETY: the caller passes an open context and attributes.
    unsafe { open(Context::of(context), &*attr) }.or_null()
}

fn open(context: &Context, attr: &ibv_xrcd_init_attr) -> Result<*mut ibv_xrcd> {
    const NEEDED: u32 = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    heap::enough()?;
    if attr.comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED {
        explain!("ibv_open_xrcd: unknown comp_mask {:#x}", attr.comp_mask);
        return Err(Errno::EOPNOTSUPP);
    }
    if attr.comp_mask & NEEDED != NEEDED || attr.oflags & !(libc::O_CREAT | libc::O_EXCL) != 0 {
        explain!("ibv_open_xrcd: it needs fd, and O_CREAT, O_EXCL or nothing in oflags");
        return Err(Errno::EINVAL);
    }
    context.host().check_current()?;
    let host = host::host()?;
    let id = if attr.fd == -1 {
        let number = u64::from(host.pairs().private_domains.fetch_add(1, Relaxed));
        WITHOUT_FILE | u64::from(host.slot()) << 32 | number
    } else {
        let id = id_of(attr.fd, context.device())?;
        let mut open = host.pairs().domains.lock();
        if attr.oflags & libc::O_EXCL != 0 && open.contains(&id) {
            explain!("ibv_open_xrcd: O_EXCL, but the domain of the file is open");
            return Err(Errno::EINVAL);
        }
        open.push(id);
        id
    };
    let mut verbs = verbs_xrcd::zeroed();
    verbs.xrcd.context = context.public();
    verbs.comp_mask = VERBS_XRCD_HANDLE;
    verbs.handle = id as u32;
    let verbs = UnsafeCell::new(verbs);
    Ok(Box::into_raw(Box::new(Xrcd { verbs, id, host, users: InUse::none() })).cast())
}

/// The number of the domain that belongs to a file, on one device.
fn id_of(fd: c_int, device: u32) -> Result<u64> {
    // SAFETY: plain data.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: room for the status.
    from_minus_one(unsafe { libc::fstat(fd, &raw mut status) })?;
    Ok(mix(status.st_dev, status.st_ino, device))
}

/// One number for three, which others are as good as never the same (the finalizer of MurmurHash3).
fn mix(device: u64, inode: u64, number: u32) -> u64 {
    let step = |word: u64| {
        let word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        word ^ word >> 33
    };
    let all = step(step(step(inode).wrapping_add(device)).wrapping_add(u64::from(number)));
    (all & !WITHOUT_FILE).max(1)
}

/// `ibv_close_xrcd(3)`
///
/// # Errors
///
/// EBUSY while a QP or SRQ is in it.
pub(crate) unsafe extern "C" fn close_xrcd(xrcd: *mut ibv_xrcd) -> c_int {
    // SAFETY: the caller passes a domain and uses it no more.
    unsafe { close(xrcd) }.or_number()
}

/// # Safety
///
/// `xrcd` must be a live domain that the caller uses no more.
unsafe fn close(xrcd: *mut ibv_xrcd) -> Result<()> {
    // SAFETY: the caller's promise.
    let users = unsafe { Xrcd::of(xrcd) }.users.count();
    if users != 0 {
        explain!("ibv_close_xrcd: {users} QPs and SRQs are still in the domain");
        return Err(Errno::EBUSY);
    }
    // SAFETY: made as a box; the caller uses it no more.
    let this = unsafe { Box::from_raw(xrcd.cast::<Xrcd>()) };
    if this.id & WITHOUT_FILE == 0 && this.host.is_current() {
        let mut open = this.host.pairs().domains.lock();
        if let Some(place) = open.iter().position(|id| *id == this.id) {
            open.swap_remove(place);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_of_a_file_have_its_number() {
        let one = std::fs::File::open("/dev/null").unwrap();
        let same = std::fs::File::open("/dev/null").unwrap();
        let other = std::fs::File::open("/dev/zero").unwrap();
        let id = |file: &std::fs::File, device| {
            id_of(std::os::fd::AsRawFd::as_raw_fd(file), device).unwrap()
        };
        assert_eq!(id(&one, 0), id(&same, 0));
        assert_ne!(id(&one, 0), id(&other, 0));
        assert_ne!(id(&one, 0), id(&one, 1));
        assert_eq!(id(&one, 0) & WITHOUT_FILE, 0);
        assert_eq!(id_of(-1, 0), Err(Errno(libc::EBADF)));
    }
}
