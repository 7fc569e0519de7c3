//! Memory windows: parts of regions with a remote key of their own, which a send request opens and
//! closes.
//!
//! Windows of type 1 are good for all QPs of their PD, and each bind gives them a new key. Those of
//! type 2 are good for the QP that bound them (type 2B), under a key whose tag the program chose,
//! until either side invalidates them.

use crate::sync::atomic::Ordering::SeqCst;
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::fmt;
use core::ptr::NonNull;

use super::check::{Content, Denied, entry};
use super::keys;
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::sys::heap;
use crate::urxe::device::Pd;
use crate::urxe::explain;
use crate::urxe::host::{self, Host, Memory};
use crate::urxe::sorted::Sorted;

/// Rights that a window can give to peers.
const RIGHTS: u32 = IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC
    | IBV_ACCESS_FLUSH_GLOBAL
    | IBV_ACCESS_FLUSH_PERSISTENT;

/// The windows of this process: epoch of the slot, index of the key.
static WINDOWS: ForkMutex<Sorted<(u64, u32), ()>> = ForkMutex::new(Rank::Windows, Sorted::new());

/// A window.
#[repr(C)]
pub(crate) struct Mw {
    mw: UnsafeCell<ibv_mw>,
    host: &'static Host,
    pd: NonNull<Pd>,
    /// Index of its key.
    index: u32,
}

/// `ibv_alloc_mw(3)`
///
/// # Errors
///
/// EINVAL for another type than 1 and 2; ENOMEM.
pub(crate) unsafe extern "C" fn alloc_mw(pd: *mut ibv_pd, mw_type: ibv_mw_type) -> *mut ibv_mw {
    // SAFETY: the caller passes a PD of this device.
    unsafe { allocate(pd, mw_type) }.or_null()
}

unsafe fn allocate(pd: *mut ibv_pd, mw_type: ibv_mw_type) -> Result<*mut ibv_mw> {
    if !matches!(mw_type, IBV_MW_TYPE_1 | IBV_MW_TYPE_2) {
        explain!("ibv_alloc_mw: there is no window of type {mw_type}");
        return Err(Errno::EINVAL);
    }
    heap::enough()?;
    let host = host::host()?;
    let key = keys::reserve(host)?;
    // SAFETY: the caller's promise.
    let (domain, context) = unsafe { (Pd::of(pd), (*pd).context) };
    domain.hold();
    WINDOWS.lock().insert((host.epoch(), key >> 8), ());
    let mw = ibv_mw { context, pd, rkey: key, handle: key >> 8, type_: mw_type };
    let (pd, index) = (NonNull::from(domain), key >> 8);
    let mw = Mw { mw: UnsafeCell::new(mw), host, pd, index };
    Ok(Box::into_raw(Box::new(mw)).cast())
}

/// `ibv_dealloc_mw(3)`: unbinds the window, and waits for the requests that are under way. The memory
/// is that of the region, which outlives a request that does not end.
pub(crate) unsafe extern "C" fn dealloc_mw(mw: *mut ibv_mw) -> c_int {
    // SAFETY: the caller passes a window of this device and uses it no more.
    unsafe { deallocate(mw) }.or_number()
}

unsafe fn deallocate(mw: *mut ibv_mw) -> Result<()> {
    // SAFETY: the caller's promise; made as a box.
    let this = unsafe { Box::from_raw(mw.cast::<Mw>()) };
    // SAFETY: nobody else uses it. The tag is the last one that a request gave it.
    let tag = unsafe { (*this.mw.get()).rkey } & 0xff;
    let (host, key) = (this.host, this.index << 8 | tag);
    if host.is_current() {
        WINDOWS.lock().remove((host.epoch(), this.index));
        if keys::read(host, key).is_some_and(|content| content.key != 0) {
            keys::withdraw(host, key);
            let _ = super::pass_remote(host);
        }
        keys::give_back(host, key);
    }
    // SAFETY: a PD cannot be freed while it has windows.
    unsafe { this.pd.as_ref() }.release();
    Ok(())
}

/// The key that a bind of type 1 gives to a window which has this one.
pub(crate) fn next_rkey(rkey: u32) -> u32 {
    rkey & !0xff | u32::from((rkey as u8).wrapping_add(1))
}

/// Changes a region to which no window is bound, and none can be bound meanwhile. `what` is the
/// call, for the log.
///
/// # Errors
///
/// EBUSY if a window is bound to it; those of the change.
pub(super) fn while_unbound<T>(
    host: &Host,
    region: u32,
    what: &str,
    change: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let epoch = host.epoch();
    let windows = WINDOWS.lock();
    let mut bound = windows
        .iter()
        .filter(|((of, _), ())| *of == epoch)
        .filter_map(|((_, index), ())| keys::read(host, index << 8))
        .filter(|content| content.key != 0 && content.parent == region >> 8);
    if let Some(window) = bound.next() {
        explain!("{what}: window {:#x} is bound to region {region:#x}", window.key);
        return Err(Errno::EBUSY);
    }
    change()
}

/// A request to bind a window, independent of the objects that it names: they may be gone when it
/// is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bind {
    /// Key of the window before.
    old: u32,
    /// Key that it gets.
    rkey: u32,
    mw_type: ibv_mw_type,
    /// PD of the window.
    pd: u32,
    /// Key of the region; 0 to unbind.
    region: u32,
    address: u64,
    length: u64,
    access: u32,
}

/// Why a window is not bound; to be shown in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotBound {
    /// The window is gone.
    Gone { window: u32 },
    /// The new key is of another window, or the old one.
    Key { old: u32, rkey: u32 },
    /// A window of type 2 that is bound already.
    Bound { window: u32 },
    /// A window of type 2, but no bytes.
    Empty { window: u32 },
    /// The QP is of another PD than the window.
    Pd { pd: u32, qp_pd: u32 },
    /// The region is gone, of another PD, or the part not inside of it.
    Region(Denied),
    /// What the system says.
    System { window: u32, errno: Errno },
    /// The region lacks `IBV_ACCESS_MW_BIND`, or `IBV_ACCESS_LOCAL_WRITE` for a window that peers
    /// may write.
    Access { region: u32, access: u32, window: u32 },
}

impl fmt::Display for NotBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotBound::Gone { window } => write!(f, "window {window:#x} is gone"),
            NotBound::Key { old, rkey } => {
                write!(f, "{rkey:#x} is no new key of the window with key {old:#x}")
            }
            NotBound::Bound { window } => write!(f, "window {window:#x} is bound already"),
            NotBound::Empty { window } => {
                write!(f, "window {window:#x} is of type 2 and not bound to no bytes")
            }
            NotBound::Pd { pd, qp_pd } => {
                write!(f, "the window is of PD {pd}, the QP of PD {qp_pd}")
            }
            NotBound::Region(denied) => write!(f, "region: {denied}"),
            NotBound::System { window, errno } => {
                write!(f, "window {window:#x}: {}", std::io::Error::from_raw_os_error(errno.0))
            }
            NotBound::Access { region, access, window } => write!(
                f,
                "region {region:#x} with access {access:#x} cannot have a window with access \
                 {window:#x}"
            ),
        }
    }
}

impl Bind {
    /// A request to bind a window under a new key to what `info` says, and `mw->rkey` is that key
    /// from now on: when the request is posted.
    ///
    /// # Safety
    ///
    /// `mw` must be a live window of this device, and `info.mr` NULL or a live region of it.
    pub(crate) unsafe fn new(mw: *mut ibv_mw, rkey: u32, info: &ibv_mw_bind_info) -> Bind {
        // SAFETY: the caller's promise.
        unsafe {
            let old = core::mem::replace(&mut (*mw).rkey, rkey);
            let region = info.mr.as_ref().map_or(0, |mr| mr.lkey);
            Bind {
                old,
                rkey,
                mw_type: (*mw).type_,
                pd: Pd::of((*mw).pd).number(),
                region: if info.length == 0 { 0 } else { region },
                address: info.addr,
                length: info.length,
                access: info.mw_access_flags,
            }
        }
    }

    /// Key that the window had before, and has again if the request is not posted.
    pub(crate) fn old_rkey(&self) -> u32 {
        self.old
    }

    /// Binds the window, for a QP of this process. When it returns, no request is under way that
    /// used the window as it was before.
    ///
    /// # Errors
    ///
    /// The reason, for a completion with `IBV_WC_MW_BIND_ERR`. The window is as before then. IBTA
    /// 10.6.7.2 and 11.2.10.4.
    pub(crate) fn carry_out(
        &self,
        host: &'static Host,
        qp_num: u32,
        qp_pd: u32,
    ) -> core::result::Result<(), NotBound> {
        let windows = WINDOWS.lock();
        if !windows.contains((host.epoch(), self.old >> 8)) {
            return Err(NotBound::Gone { window: self.old });
        }
        if self.rkey >> 8 != self.old >> 8 || self.rkey == self.old {
            return Err(NotBound::Key { old: self.old, rkey: self.rkey });
        }
        let bound = keys::read(host, self.old).is_some_and(|content| content.key != 0);
        if self.mw_type == IBV_MW_TYPE_2 {
            if bound {
                return Err(NotBound::Bound { window: self.old });
            }
            if self.region == 0 {
                return Err(NotBound::Empty { window: self.old });
            }
            if self.pd != qp_pd {
                return Err(NotBound::Pd { pd: self.pd, qp_pd });
            }
        }
        if self.region == 0 {
            keys::withdraw(host, self.old);
        } else {
            let content = self.content(host, qp_num)?;
            super::mr::serve_atomics(host, content.access, content.memory)
                .map_err(|errno| NotBound::System { window: self.old, errno })?;
            keys::store(host, &content)
                .map_err(|errno| NotBound::System { window: self.old, errno })?;
        }
        drop(windows);
        if bound {
            super::pass_remote(host)
                .map_err(|errno| NotBound::System { window: self.old, errno })?;
        }
        Ok(())
    }

    /// What the key table shall say of the window.
    fn content(&self, host: &Host, qp_num: u32) -> core::result::Result<Content, NotBound> {
        let region = keys::read_own(host, self.region).unwrap_or_default();
        let wanted = super::Wanted {
            pd: self.pd,
            access: 0,
            address: self.address,
            length: self.length,
            qp_num: 0,
        };
        let place = region.allow(self.region, &wanted).map_err(NotBound::Region)?;
        let writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
        let needs = if self.access & writes != 0 {
            IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE
        } else {
            IBV_ACCESS_MW_BIND
        };
        if region.access & needs != needs {
            let (region, access, window) = (self.region, region.access, self.access);
            return Err(NotBound::Access { region, access, window });
        }
        let is_zero_based = self.access & IBV_ACCESS_ZERO_BASED != 0;
        Ok(Content {
            key: self.rkey,
            pd: self.pd,
            access: self.access & RIGHTS,
            iova: if is_zero_based { 0 } else { self.address },
            length: self.length,
            address: place.address,
            memory: place.memory,
            file: place.file,
            file_offset: place.file_offset,
            qp_num: if self.mw_type == IBV_MW_TYPE_2 { qp_num } else { 0 },
            parent: self.region >> 8,
        })
    }
}

/// Invalidates a window of type 2 in the slot of any process, for the QP that bound it:
/// `IBV_WR_LOCAL_INV` of this QP, or `IBV_WR_SEND_WITH_INV` of its peer. The lock of that QP must be
/// held, so no other request is using the window.
///
/// # Errors
///
/// The reason: the key is not known, of another PD, not of a window of type 2, or of another QP.
pub(crate) fn invalidate(
    memory: &Memory,
    key: u32,
    pd: u32,
    qp_num: u32,
) -> core::result::Result<(), Denied> {
    let unknown = Denied::Unknown { key };
    let entry = entry(memory, key).ok_or(unknown)?;
    let content = Content::read(entry).ok_or(unknown)?;
    if content.key != key {
        return Err(unknown);
    }
    if content.pd != pd {
        return Err(Denied::Pd { key, pd: content.pd, wanted: pd });
    }
    if content.parent == 0 || content.qp_num == 0 {
        return Err(Denied::NoWindow { key });
    }
    if content.qp_num != qp_num {
        return Err(Denied::Qp { key, qp_num: content.qp_num, wanted: qp_num });
    }
    // One store takes the window away, so a process that dies here leaves it open or closed; and if
    // its owner has changed it meanwhile, it is not this window any more.
    entry.key.compare_exchange(key, 0, SeqCst, SeqCst).map(drop).map_err(|_| unknown)
}

/// Takes an [invalidation](invalidate) back, with the lock of the QP held all the time. Nothing
/// happens if the owner has bound the window anew.
pub(crate) fn restore(memory: &Memory, key: u32) {
    if let Some(entry) = entry(memory, key) {
        let _ = entry.key.compare_exchange(0, key, SeqCst, SeqCst);
    }
}

#[cfg(test)]
mod tests;
