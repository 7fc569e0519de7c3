//! Protection domains, parent domains and thread domains.

use crate::sync::atomic::{AtomicU32, Ordering};
use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnNumber, ReturnPointer};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::sys::heap;
use crate::uapi::RDMA_DRIVER_UNKNOWN;
use crate::urxe::explain;
use crate::urxe::sorted::Sorted;

/// A protection domain, or a parent domain on one.
#[repr(C)]
pub(crate) struct Pd {
    pd: ibv_pd,
    number: u32,
    /// Objects that exist in it, parent domains among them.
    users: InUse,
    parent: Option<Parent>,
}

/// What a parent domain has beside a protection domain.
struct Parent {
    base: NonNull<Pd>,
    thread_domain: Option<NonNull<Td>>,
    allocators: Option<Allocators>,
    pd_context: *mut c_void,
    unprotected: bool,
}

type Alloc = unsafe extern "C" fn(*mut ibv_pd, *mut c_void, usize, usize, u64) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut ibv_pd, *mut c_void, *mut c_void, u64);

/// The program's functions for the memory of queues.
#[derive(Clone, Copy)]
struct Allocators {
    alloc: Alloc,
    free: Free,
}

/// A thread domain.
#[repr(C)]
struct Td {
    td: ibv_td,
    /// Parent domains that it is part of.
    users: InUse,
}

/// Zeroed memory of a queue that peers do not touch; see [`Pd::allocate`].
pub(crate) struct Buffer {
    address: NonNull<u8>,
    length: usize,
    alignment: usize,
    /// What frees it, if the program allocated it.
    owner: Option<(NonNull<Pd>, u64)>,
}

/// `IBV_ALLOCATOR_USE_DEFAULT`
const USE_DEFAULT: usize = usize::MAX;

/// Numbers that were given to protection domains.
static NUMBERS: AtomicU32 = AtomicU32::new(1);
/// Numbers of the protection domains that there are.
static LIVE: ForkMutex<Sorted<u32, ()>> = ForkMutex::new(Rank::Domains, Sorted::new());

impl Pd {
    fn new(context: *mut ibv_context, number: u32) -> Pd {
        let pd = ibv_pd { context, handle: number };
        Pd { pd, number, users: InUse::none(), parent: None }
    }

    /// The domain behind a C pointer.
    ///
    /// # Safety
    ///
    /// `pd` must be a live domain of this device.
    pub(crate) unsafe fn of<'a>(pd: *mut ibv_pd) -> &'a Pd {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*pd.cast::<Pd>() }
    }

    /// The number that keys are checked with; that of the domain below, for a parent domain. Never
    /// 0, and unique in this process.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Notes an object in the domain, which cannot be freed before [`Pd::release`].
    pub(crate) fn hold(&self) {
        self.users.hold();
    }

    /// Notes that an object is gone.
    pub(crate) fn release(&self) {
        self.users.release();
    }

    /// Whether this is a parent domain.
    pub(crate) fn is_parent(&self) -> bool {
        self.parent.is_some()
    }

    /// Whether one thread at a time uses the objects of this domain (`ibv_alloc_td(3)`).
    pub(crate) fn is_of_one_thread(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.thread_domain.is_some())
    }

    /// Whether `IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC` was given.
    pub(crate) fn allows_unprotected(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.unprotected)
    }

    /// The protection domain below a parent domain, else this one.
    pub(crate) fn base(&self) -> &Pd {
        // SAFETY: a parent domain keeps its protection domain alive.
        self.parent.as_ref().map_or(self, |parent| unsafe { parent.base.as_ref() })
    }

    /// Zeroed memory for a queue, from the allocator of the parent domain if it has one. `resource`
    /// is this device's code for what it is for. `ibv_alloc_parent_domain(3)`
    ///
    /// # Errors
    ///
    /// ENOMEM.
    pub(crate) fn allocate(&self, length: usize, resource: u32) -> Result<Buffer> {
        const ALIGNMENT: usize = 4096;
        let length = length.max(1);
        let resource = u64::from(RDMA_DRIVER_UNKNOWN) << 32 | u64::from(resource);
        if let Some(parent) = &self.parent
            && let Some(allocators) = parent.allocators
        {
            let this = ptr::from_ref(&self.pd).cast_mut();
            // SAFETY: the program's function, called as it is specified.
            let address =
                unsafe { (allocators.alloc)(this, parent.pd_context, length, ALIGNMENT, resource) };
            if address.addr() != USE_DEFAULT {
                let address = NonNull::new(address.cast::<u8>()).ok_or(Errno::ENOMEM)?;
                let owner = Some((NonNull::from(self), resource));
                return Ok(Buffer { address, length, alignment: ALIGNMENT, owner });
            }
        }
        let layout = std::alloc::Layout::from_size_align(length, ALIGNMENT);
        let layout = layout.map_err(|_| Errno::ENOMEM)?;
        // SAFETY: the length is not 0.
        let address = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let address = address.ok_or(Errno::ENOMEM)?;
        Ok(Buffer { address, length, alignment: ALIGNMENT, owner: None })
    }
}

impl Buffer {
    /// First byte; aligned to a page.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.address.as_ptr()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some((pd, resource)) = self.owner else {
            let layout = std::alloc::Layout::from_size_align(self.length, self.alignment);
            if let Ok(layout) = layout {
                // SAFETY: allocated with this layout.
                unsafe { std::alloc::dealloc(self.address.as_ptr(), layout) };
            }
            return;
        };
        // SAFETY: the object that has the buffer keeps its domain alive.
        let pd = unsafe { pd.as_ref() };
        if let Some(parent) = &pd.parent
            && let Some(allocators) = parent.allocators
        {
            let this = ptr::from_ref(&pd.pd).cast_mut();
            let address = self.address.as_ptr().cast();
            // SAFETY: the program's function, called as it is specified.
            unsafe { (allocators.free)(this, parent.pd_context, address, resource) };
        }
    }
}

/// `ibv_alloc_pd(3)`
pub(super) unsafe extern "C" fn alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    let new = || Box::into_raw(Box::new(Pd::new(context, next_number()))).cast();
    heap::enough().map(|()| new()).or_null()
}

/// A number that no protection domain has.
fn next_number() -> u32 {
    loop {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        if number != 0 && LIVE.lock().insert(number, ()) {
            return number;
        }
    }
}

/// `ibv_import_pd(3)`
///
/// # Errors
///
/// EINVAL for a handle that no protection domain has.
pub(super) unsafe extern "C" fn import_pd(context: *mut ibv_context, handle: u32) -> *mut ibv_pd {
    if !LIVE.lock().contains(handle) {
        explain!("ibv_import_pd: there is no PD {handle}");
        return Err(Errno::EINVAL).or_null();
    }
    let new = || Box::into_raw(Box::new(Pd::new(context, handle))).cast();
    heap::enough().map(|()| new()).or_null()
}

/// `ibv_unimport_pd(3)`: the domain stays.
pub(super) unsafe extern "C" fn unimport_pd(pd: *mut ibv_pd) {
    // SAFETY: the caller passes an imported domain, in which nothing is left, and uses it no more.
    drop(unsafe { Box::from_raw(pd.cast::<Pd>()) });
}

/// `ibv_dealloc_pd(3)`: EBUSY while something exists in the domain.
pub(super) unsafe extern "C" fn dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the caller passes a domain of this device.
    unsafe { dealloc(pd) }.or_number()
}

unsafe fn dealloc(pd: *mut ibv_pd) -> Result<()> {
    // SAFETY: the caller's promise.
    let this = unsafe { Pd::of(pd) };
    let users = this.users.count();
    if users != 0 {
        explain!("ibv_dealloc_pd: {users} objects of PD {} still exist", this.number);
        return Err(Errno::EBUSY);
    }
    if let Some(parent) = &this.parent {
        this.base().release();
        if let Some(domain) = parent.thread_domain {
            // SAFETY: a thread domain cannot be freed while it is part of a parent domain.
            unsafe { domain.as_ref() }.users.release();
        }
    } else {
        LIVE.lock().remove(this.number);
    }
    // SAFETY: made as a box; the caller uses it no more.
    drop(unsafe { Box::from_raw(pd.cast::<Pd>()) });
    Ok(())
}

/// `ibv_alloc_parent_domain(3)`
pub(super) unsafe extern "C" fn alloc_parent_domain(
    context: *mut ibv_context,
    attr: *mut ibv_parent_domain_init_attr,
) -> *mut ibv_pd {
    // SAFETY: the caller passes the attributes of a new domain.
    unsafe { parent_domain(context, &*attr) }.or_null()
}

unsafe fn parent_domain(
    context: *mut ibv_context,
    attr: &ibv_parent_domain_init_attr,
) -> Result<*mut ibv_pd> {
    const KNOWN: u32 = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS
        | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT
        | IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
    heap::enough()?;
    if attr.comp_mask & !KNOWN != 0 {
        explain!("ibv_alloc_parent_domain: unknown comp_mask {:#x}", attr.comp_mask & !KNOWN);
        return Err(Errno::EOPNOTSUPP);
    }
    if attr.pd.is_null() {
        explain!("ibv_alloc_parent_domain: no PD");
        return Err(Errno::EINVAL);
    }
    let allocators = if attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS == 0 {
        None
    } else {
        let (Some(alloc), Some(free)) = (attr.alloc, attr.free) else {
            explain!("ibv_alloc_parent_domain: one of the two allocator functions is missing");
            return Err(Errno::EINVAL);
        };
        Some(Allocators { alloc, free })
    };
    let has_context = attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT != 0;
    // SAFETY: the caller passes a live PD.
    let base = unsafe { Pd::of(attr.pd) }.base();
    let thread_domain = NonNull::new(attr.td.cast::<Td>());
    base.hold();
    if let Some(domain) = thread_domain {
        // SAFETY: the caller passes NULL or a live thread domain.
        unsafe { domain.as_ref() }.users.hold();
    }
    let domain = Pd {
        pd: ibv_pd { context, handle: base.pd.handle },
        number: base.number,
        users: InUse::none(),
        parent: Some(Parent {
            base: NonNull::from(base),
            thread_domain,
            allocators,
            pd_context: if has_context { attr.pd_context } else { ptr::null_mut() },
            unprotected: attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC
                != 0,
        }),
    };
    Ok(Box::into_raw(Box::new(domain)).cast())
}

/// `ibv_alloc_td(3)`
pub(super) unsafe extern "C" fn alloc_td(
    context: *mut ibv_context,
    attr: *mut ibv_td_init_attr,
) -> *mut ibv_td {
    // SAFETY: the caller passes the attributes of a new domain.
    let mask = unsafe { (*attr).comp_mask };
    if mask != 0 {
        explain!("ibv_alloc_td: unknown comp_mask {mask:#x}");
        return Err(Errno::EINVAL).or_null();
    }
    let td = Td { td: ibv_td { context }, users: InUse::none() };
    heap::enough().map(|()| Box::into_raw(Box::new(td)).cast()).or_null()
}

/// `ibv_dealloc_td(3)`: EBUSY while it is part of a parent domain.
pub(super) unsafe extern "C" fn dealloc_td(td: *mut ibv_td) -> c_int {
    // SAFETY: the caller passes a live thread domain.
    let users = unsafe { &*td.cast::<Td>() }.users.count();
    if users != 0 {
        explain!("ibv_dealloc_td: {users} parent domains still have the thread domain");
        return Err(Errno::EBUSY).or_number();
    }
    // SAFETY: made as a box; the caller uses it no more.
    drop(unsafe { Box::from_raw(td.cast::<Td>()) });
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn context() -> *mut ibv_context {
        ptr::without_provenance_mut(0x1000)
    }

    fn attr(pd: *mut ibv_pd) -> ibv_parent_domain_init_attr {
        ibv_parent_domain_init_attr { pd, ..ibv_parent_domain_init_attr::zeroed() }
    }

    #[test]
    fn a_domain_with_objects_is_busy() {
        // SAFETY: nothing here looks at the context.
        unsafe {
            let (one, other) = (alloc_pd(context()), alloc_pd(context()));
            assert_ne!(Pd::of(one).number(), Pd::of(other).number());
            assert_ne!(Pd::of(one).number(), 0);
            Pd::of(one).hold();
            assert_eq!(dealloc_pd(one), libc::EBUSY);
            assert_eq!(dealloc_pd(other), 0);
            Pd::of(one).release();
            assert_eq!(dealloc_pd(one), 0);
        }
    }

    #[test]
    fn a_domain_is_imported_by_its_number() {
        // SAFETY: nothing here looks at the context.
        unsafe {
            let pd = alloc_pd(context());
            let (number, handle) = (Pd::of(pd).number(), (*pd).handle);
            let imported = import_pd(context(), handle);
            assert_eq!(Pd::of(imported).number(), number);
            unimport_pd(imported);
            assert_eq!(dealloc_pd(pd), 0);
            assert!(import_pd(context(), handle).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
    }

    #[test]
    fn a_parent_domain_keeps_its_parts() {
        // SAFETY: nothing here looks at the context.
        unsafe {
            let pd = alloc_pd(context());
            let td = alloc_td(context(), &mut ibv_td_init_attr { comp_mask: 0 });
            let mut attr = ibv_parent_domain_init_attr { td, ..attr(pd) };
            let parent = alloc_parent_domain(context(), &mut attr);
            assert_eq!(Pd::of(parent).number(), Pd::of(pd).number());
            assert!(Pd::of(parent).is_parent() && Pd::of(parent).is_of_one_thread());
            assert!(!Pd::of(pd).is_parent() && !Pd::of(pd).is_of_one_thread());
            assert!(!Pd::of(parent).allows_unprotected());
            assert_eq!((dealloc_pd(pd), dealloc_td(td)), (libc::EBUSY, libc::EBUSY));
            // A parent domain on a parent domain is one on its protection domain.
            attr.pd = parent;
            attr.td = ptr::null_mut();
            attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
            let other = alloc_parent_domain(context(), &mut attr);
            assert!(Pd::of(other).allows_unprotected() && !Pd::of(other).is_of_one_thread());
            assert_eq!(dealloc_pd(parent), 0);
            assert_eq!((dealloc_pd(pd), dealloc_td(td)), (libc::EBUSY, 0));
            assert_eq!((dealloc_pd(other), dealloc_pd(pd)), (0, 0));
        }
    }

    #[test]
    fn attributes_are_checked() {
        // SAFETY: nothing here looks at the context.
        unsafe {
            let pd = alloc_pd(context());
            for (mut attr, errno) in [
                (attr(ptr::null_mut()), Errno::EINVAL),
                (ibv_parent_domain_init_attr { comp_mask: 1 << 3, ..attr(pd) }, Errno::EOPNOTSUPP),
                (ibv_parent_domain_init_attr { comp_mask: 1, ..attr(pd) }, Errno::EINVAL),
            ] {
                assert!(alloc_parent_domain(context(), &mut attr).is_null());
                assert_eq!(Errno::last(), errno);
            }
            assert!(alloc_td(context(), &mut ibv_td_init_attr { comp_mask: 1 }).is_null());
            assert_eq!(dealloc_pd(pd), 0);
        }
    }

    thread_local! {
        static CALLS: RefCell<Vec<(&'static str, usize, u64)>> = const { RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn alloc(
        _: *mut ibv_pd,
        pd_context: *mut c_void,
        size: usize,
        alignment: usize,
        resource: u64,
    ) -> *mut c_void {
        CALLS.with_borrow_mut(|calls| calls.push(("alloc", size, resource)));
        match pd_context.addr() {
            0 => ptr::null_mut(),
            1 => ptr::without_provenance_mut(USE_DEFAULT),
            // SAFETY: the test passes such a pointer.
            _ => unsafe {
                assert!(size <= 8192 - alignment);
                let address = pd_context.cast::<u8>();
                address.add(address.align_offset(alignment)).cast()
            },
        }
    }

    unsafe extern "C" fn free(_: *mut ibv_pd, _: *mut c_void, address: *mut c_void, resource: u64) {
        CALLS.with_borrow_mut(|calls| calls.push(("free", address.addr(), resource)));
    }

    #[test]
    fn queues_come_from_the_programs_allocator() {
        let mut memory = vec![0_u8; 8192];
        // SAFETY: nothing here looks at the context.
        unsafe {
            let pd = alloc_pd(context());
            let buffer = Pd::of(pd).allocate(100, 3).unwrap();
            assert_eq!((buffer.as_ptr().addr() % 4096, buffer.length), (0, 100));
            drop(buffer);
            let mut attr = ibv_parent_domain_init_attr {
                comp_mask: 3,
                alloc: Some(alloc),
                free: Some(free),
                pd_context: memory.as_mut_ptr().cast(),
                ..attr(pd)
            };
            let parent = alloc_parent_domain(context(), &mut attr);
            let buffer = Pd::of(parent).allocate(100, 3).unwrap();
            let address = buffer.as_ptr().addr();
            assert!(memory.as_ptr_range().contains(&buffer.as_ptr().cast_const()));
            drop(buffer);
            assert_eq!(CALLS.take(), [("alloc", 100, 3), ("free", address, 3)]);
            dealloc_pd(parent);
            for (pd_context, works) in [(0, false), (1, true)] {
                attr.pd_context = ptr::without_provenance_mut(pd_context);
                let parent = alloc_parent_domain(context(), &mut attr);
                assert_eq!(Pd::of(parent).allocate(100, 3).is_ok(), works);
                assert_eq!(CALLS.take(), [("alloc", 100, 3)]);
                dealloc_pd(parent);
            }
            dealloc_pd(pd);
        }
    }
}
