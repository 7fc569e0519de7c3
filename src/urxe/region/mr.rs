//! Memory regions: registering, changing, deregistering.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use std::sync::Arc;

use super::check::Content;
use super::files::DeviceFile;
use super::{access, files, keys, populate, window};
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer};
use crate::sys::heap;
use crate::sys::mutex::Mutex;
use crate::urxe::device::{Pd, is_confidential};
use crate::urxe::explain;
use crate::urxe::host::{self, Host, agent};
use crate::urxe::shared::KeyMemory;

/// A region.
#[repr(C)]
pub(crate) struct Mr {
    verbs: UnsafeCell<verbs_mr>,
    host: &'static Host,
    key: u32,
    state: Mutex<State>,
}

// SAFETY: the public part belongs to the library and the program; the rest is safe to share.
unsafe impl Sync for Mr {}

/// What registering again changes.
struct State {
    pd: NonNull<Pd>,
    content: Content,
    /// What must exist as long as the region does.
    keeps: Keeps,
}

// SAFETY: a PD may be used by any thread.
unsafe impl Send for State {}

/// What a region keeps alive beside its PD.
#[derive(Default)]
pub(super) struct Keeps {
    /// The mapping of a dma-buf.
    pub(super) mapping: Option<super::dmabuf::Mapping>,
    /// The file that the bytes are in.
    pub(super) file: Option<Arc<DeviceFile>>,
    /// Device memory.
    pub(super) dm: Option<Users>,
    /// A DMA handle.
    pub(super) dmah: Option<Users>,
}

/// The use count of an object that cannot be freed while a region needs it.
pub(super) struct Users(NonNull<InUse>);

// SAFETY: an atomic may be used by any thread.
unsafe impl Send for Users {}

impl Users {
    /// Counts a region.
    ///
    /// # Safety
    ///
    /// The count must live until it is 0 again.
    pub(super) unsafe fn hold(count: &InUse) -> Users {
        count.hold();
        Users(NonNull::from(count))
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        // SAFETY: the promise to `hold`.
        unsafe { self.0.as_ref() }.release();
    }
}

/// Memory to be registered.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// First address in this process.
    pub(super) address: u64,
    pub(super) length: u64,
    /// First address as the keys count it.
    pub(super) iova: u64,
    pub(super) access: u32,
    /// One of [`KeyMemory`].
    pub(super) kind: u32,
    pub(super) file: u32,
    pub(super) file_offset: u64,
}

impl Memory {
    /// Ordinary memory of the process, or memory of the device at its address here, which is checked
    /// to be there.
    ///
    /// # Errors
    ///
    /// EINVAL for no bytes, or a range that wraps; EFAULT for memory that is not there, or cannot be
    /// written; EOPNOTSUPP for memory that a device in a confidential guest cannot reach.
    fn ordinary(
        host: &Host,
        addr: *mut c_void,
        length: usize,
        iova: u64,
        access: u32,
    ) -> Result<(Memory, Option<Arc<DeviceFile>>)> {
        if is_confidential() {
            explain!("registration: the device reaches dma-bufs alone; see ibv_alloc_buf(3)");
            return Err(Errno::EOPNOTSUPP);
        }
        let address = addr.expose_provenance();
        let mut memory = Memory {
            address: address as u64,
            length: length as u64,
            iova: if access & IBV_ACCESS_ZERO_BASED != 0 { 0 } else { iova },
            access,
            kind: KeyMemory::ORDINARY,
            file: 0,
            file_offset: 0,
        };
        let on_demand = access & IBV_ACCESS_ON_DEMAND != 0;
        // All memory there is, and will be.
        let implicit = on_demand && addr.is_null() && length == usize::MAX;
        let mut file = None;
        if !implicit {
            if length == 0 || address.checked_add(length).is_none() {
                explain!("registration: {length} bytes at {address:#x} are no range");
                return Err(Errno::EINVAL);
            }
            if memory.iova.checked_add(memory.length).is_none() {
                explain!("registration: {length} bytes at device address {iova:#x} are no range");
                return Err(Errno::EINVAL);
            }
            if let Some((found, offset)) = files::find(host, address, memory.length) {
                memory.kind = KeyMemory::FILE;
                (memory.file, memory.file_offset) = (found.number(), offset);
                file = Some(found);
            } else if !on_demand {
                populate::populate(address, length, access::is_writable(access))?;
            }
        }
        Ok((memory, file))
    }

    /// What the key table says of it.
    fn content(&self, key: u32, pd: &Pd) -> Content {
        Content {
            key,
            pd: pd.number(),
            access: self.access,
            iova: self.iova,
            length: self.length,
            address: self.address,
            memory: self.kind,
            file: self.file,
            file_offset: self.file_offset,
            qp_num: 0,
            parent: 0,
        }
    }
}

impl Mr {
    /// The region behind a C pointer.
    ///
    /// # Safety
    ///
    /// `mr` must be a live region of this device.
    pub(crate) unsafe fn of<'a>(mr: *mut ibv_mr) -> &'a Mr {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*mr.cast::<Mr>() }
    }

    /// Its key, both local and remote.
    #[cfg(test)]
    pub(crate) fn key(&self) -> u32 {
        self.key
    }

    /// A new region, whose key is good from now on.
    ///
    /// # Errors
    ///
    /// ENOMEM; as for [`serve_atomics`].
    ///
    /// # Safety
    ///
    /// `pd` must be a live PD of this device.
    pub(super) unsafe fn create(
        host: &'static Host,
        pd: *mut ibv_pd,
        addr: *mut c_void,
        memory: &Memory,
        mr_type: ibv_mr_type,
        keeps: Keeps,
    ) -> Result<*mut ibv_mr> {
        heap::enough()?;
        // SAFETY: the caller's promise.
        let (domain, context) = unsafe { (Pd::of(pd), (*pd).context) };
        serve_atomics(host, memory.access, memory.kind)?;
        let key = keys::reserve(host)?;
        let content = memory.content(key, domain);
        keys::store(host, &content).inspect_err(|_| keys::give_back(host, key))?;
        domain.hold();
        let ibv_mr = ibv_mr {
            context,
            pd,
            addr,
            length: memory.length as usize,
            handle: key,
            lkey: key,
            rkey: key,
        };
        let verbs = verbs_mr { ibv_mr, mr_type, access: memory.access.cast_signed() };
        let state = State { pd: NonNull::from(domain), content, keeps };
        let mr = Mr { verbs: UnsafeCell::new(verbs), host, key, state: Mutex::new(state) };
        Ok(Box::into_raw(Box::new(mr)).cast())
    }
}

/// Makes sure that there is a thread which changes words of this process for its peers, if they may
/// do atomic operations on ordinary memory.
///
/// # Errors
///
/// ENOMEM; EAGAIN without room for a thread.
pub(super) fn serve_atomics(host: &'static Host, access: u32, kind: u32) -> Result<()> {
    let served = access & IBV_ACCESS_REMOTE_ATOMIC != 0 && kind == KeyMemory::ORDINARY;
    if !served {
        return Ok(());
    }
    agent::serve(host).inspect_err(|errno| {
        let reason = std::io::Error::from_raw_os_error(errno.0);
        explain!("registration: no thread for the atomic operations of peers: {reason}");
    })
}

/// `ibv_reg_mr(3)`
///
/// # Errors
///
/// EINVAL, EFAULT, ENOMEM, EOPNOTSUPP: see [`access::check`] and [`Memory::ordinary`].
pub(crate) unsafe extern "C" fn reg_mr(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    hca_va: u64,
    access: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD of this device.
    unsafe { register(pd, addr, length, hca_va, access.cast_unsigned(), Keeps::default()) }
        .or_null()
}

/// Registers ordinary memory.
///
/// # Safety
///
/// `pd` must be a live PD of this device.
pub(super) unsafe fn register(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: u32,
    mut keeps: Keeps,
) -> Result<*mut ibv_mr> {
    access::check(access)?;
    let host = host::host()?;
    let (memory, file) = Memory::ordinary(host, addr, length, iova, access)?;
    keeps.file = file;
    // SAFETY: the caller's promise.
    unsafe { Mr::create(host, pd, addr, &memory, IBV_MR_TYPE_MR, keeps) }
}

/// `ibv_alloc_null_mr(3)`: a region of all addresses, for local use, that swallows what is written
/// and reads as zero.
pub(crate) unsafe extern "C" fn alloc_null_mr(pd: *mut ibv_pd) -> *mut ibv_mr {
    let memory = Memory {
        address: 0,
        length: u64::MAX,
        iova: 0,
        access: IBV_ACCESS_LOCAL_WRITE,
        kind: KeyMemory::NULL,
        file: 0,
        file_offset: 0,
    };
    let (addr, keeps) = (core::ptr::null_mut(), Keeps::default());
    host::host()
        // SAFETY: the caller passes a PD of this device.
        .and_then(|host| unsafe { Mr::create(host, pd, addr, &memory, IBV_MR_TYPE_NULL_MR, keeps) })
        .or_null()
}

/// `ibv_dereg_mr(3)`: waits for the requests that are under way.
///
/// # Errors
///
/// EBUSY while a window is bound to the region; EINVAL if it was imported; EIO if a request is under
/// way of a process that has been stopped, and may go on with it: then the keys are good for nothing
/// any more, and the region can be deregistered later.
pub(crate) unsafe extern "C" fn dereg_mr(mr: *mut verbs_mr) -> c_int {
    // SAFETY: the caller passes a region of this device and uses it no more.
    unsafe { deregister(mr) }.or_number()
}

unsafe fn deregister(mr: *mut verbs_mr) -> Result<()> {
    // SAFETY: the caller's promise.
    if unsafe { (*mr).mr_type } == IBV_MR_TYPE_IMPORTED_MR {
        explain!("ibv_dereg_mr: the region was imported; see ibv_unimport_mr(3)");
        return Err(Errno::EINVAL);
    }
    // SAFETY: as above.
    let this = unsafe { Mr::of(mr.cast()) };
    if this.host.is_current() {
        while_unbound(this, "ibv_dereg_mr", || {
            keys::withdraw(this.host, this.key);
            Ok(())
        })?;
        super::pass(this.host)?;
        keys::give_back(this.host, this.key);
    }
    // SAFETY: made as a box; the caller uses it no more.
    let this = unsafe { Box::from_raw(mr.cast::<Mr>()) };
    // SAFETY: a PD cannot be freed while it has regions.
    unsafe { this.state.lock().pd.as_ref() }.release();
    Ok(())
}

/// Changes a region while no window is bound to it; EBUSY if one is.
fn while_unbound<T>(mr: &Mr, what: &str, change: impl FnOnce() -> Result<T>) -> Result<T> {
    let may_have_windows = mr.state.lock().content.access & IBV_ACCESS_MW_BIND != 0;
    if !may_have_windows {
        return change();
    }
    window::while_unbound(mr.host, mr.key, what, change)
}

/// `ibv_rereg_mr(3)`. The keys stay the same, and so does the region if this fails.
///
/// # Errors
///
/// As for [`reg_mr`]; EINVAL for regions of device memory, and for null regions; EBUSY while a window
/// is bound to the region; ENODEV in a child process; EIO as for [`dereg_mr`], and the region is as
/// was wished.
pub(crate) unsafe extern "C" fn rereg_mr(
    mr: *mut verbs_mr,
    flags: c_int,
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> c_int {
    // SAFETY: the caller passes a region of this device that nobody else uses, and with
    // `IBV_REREG_MR_CHANGE_PD` a PD of this device.
    unsafe {
        reregister(mr, flags.cast_unsigned(), pd, addr, length, access.cast_unsigned()).or_number()
    }
}

unsafe fn reregister(
    mr: *mut verbs_mr,
    flags: ibv_rereg_mr_flags,
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    new_access: u32,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let this = unsafe { Mr::of(mr.cast()) };
    let has = |flag| flags & flag != 0;
    if flags == 0 || has(!IBV_REREG_MR_FLAGS_SUPPORTED) {
        explain!("ibv_rereg_mr: flags {flags:#x}");
        return Err(Errno::EINVAL);
    }
    this.host.check_current()?;
    while_unbound(this, "ibv_rereg_mr", || Ok(()))?;
    let mut state = this.state.lock();
    let old = state.content;
    if old.memory == KeyMemory::NULL || state.keeps.dm.is_some() {
        explain!("ibv_rereg_mr: the region is one of device memory, or a null region");
        return Err(Errno::EINVAL);
    }
    let access = if has(IBV_REREG_MR_CHANGE_ACCESS) { new_access } else { old.access };
    access::check(access)?;
    let moves = has(IBV_REREG_MR_CHANGE_TRANSLATION);
    let (content, file) = if !moves && !has(IBV_REREG_MR_CHANGE_ACCESS) {
        (old, state.keeps.file.clone())
    } else {
        let (addr, length, iova) = if moves {
            (addr, length, addr.expose_provenance() as u64)
        } else {
            let addr = core::ptr::with_exposed_provenance_mut(old.address as usize);
            // A region that was counted from 0 is counted by address when it ends to be so.
            let was_based = old.access & IBV_ACCESS_ZERO_BASED != 0;
            (addr, old.length as usize, if was_based { old.address } else { old.iova })
        };
        let (memory, file) = Memory::ordinary(this.host, addr, length, iova, access)?;
        // SAFETY: a PD cannot be freed while it has regions.
        (memory.content(this.key, unsafe { state.pd.as_ref() }), file)
    };
    serve_atomics(this.host, content.access, content.memory)?;
    // SAFETY: the caller's promise; NULL was refused before.
    let new_pd = has(IBV_REREG_MR_CHANGE_PD).then(|| unsafe { Pd::of(pd) });
    let content = match new_pd {
        Some(pd) => Content { pd: pd.number(), ..content },
        None => content,
    };
    window::while_unbound(this.host, this.key, "ibv_rereg_mr", || {
        keys::store(this.host, &content)
    })?;
    // Requests on the old memory end before the caller may free it. That some do not is told when
    // all else is done.
    let passed = super::pass(this.host);
    if let Some(pd) = new_pd {
        pd.hold();
        // SAFETY: a PD cannot be freed while it has regions.
        unsafe { state.pd.as_ref() }.release();
        state.pd = NonNull::from(pd);
    }
    state.keeps.file = file;
    state.content = content;
    passed
}

#[cfg(test)]
mod tests;
