//! What a provider does from its constructor to its last context, by the functions that it calls.

use crate::sync::atomic::{AtomicI32, Ordering};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;

use super::context::{_verbs_init_and_alloc_context, verbs_set_ops, verbs_uninit_context};
use super::cq::verbs_init_cq;
use super::ops::with_ops;
use super::private_abi::v65::verbs_register_driver_65;
use super::registry::{self, ibv_register_driver};
use super::{DEFAULT_OPS, extended, ops, private};
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::uapi::ib_uverbs_advise_mr_advice;
use crate::verbs::testing::Fake;

/// A provider's context: its own members around the library's.
#[repr(C)]
struct ProviderContext {
    own: u64,
    context: verbs_context,
    more: u64,
}

fn device() -> verbs_device {
    verbs_device {
        device: ibv_device::zeroed(),
        ops: ptr::null(),
        refcount: AtomicI32::new(1),
        entry: list_node { next: ptr::null_mut(), prev: ptr::null_mut() },
        sysfs: ptr::null_mut(),
        core_support: 0,
    }
}

/// Sets up a provider's context on a device without a file, hands it on, and takes it down.
fn with_context(test: impl FnOnce(*mut ProviderContext)) {
    let mut device = device();
    // SAFETY: a live device; the context is freed as a provider frees it.
    unsafe {
        let provider = _verbs_init_and_alloc_context::<65>(
            (&raw mut device).cast(),
            -1,
            size_of::<ProviderContext>(),
            ptr::without_provenance_mut(core::mem::offset_of!(ProviderContext, context)),
            7,
        )
        .cast::<ProviderContext>();
        assert!(!provider.is_null());
        assert_eq!(device.refcount.load(Ordering::Relaxed), 2);
        test(provider);
        verbs_uninit_context::<65>(&raw mut (*provider).context);
        libc::free(provider.cast());
    }
    assert_eq!(device.refcount.load(Ordering::Relaxed), 1);
}

#[test]
fn a_new_context_is_as_the_header_says() {
    with_context(|provider| {
        // SAFETY: the context is set up.
        unsafe {
            let context = &raw mut (*provider).context.context;
            assert_eq!((*context).cmd_fd, -1);
            assert_eq!((*context).async_fd, -1);
            // verbs_get_ctx: all bits set say that the context is extended.
            assert_eq!((*context).abi_compat.addr(), usize::MAX);
            assert_eq!((*provider).context.sz, size_of::<verbs_context>());
            assert_eq!(extended(context), &raw mut (*provider).context);
            assert_eq!(private(context).driver_id, 7);
            assert!(!private(context).is_imported());
            assert_eq!(((*provider).own, (*provider).more), (0, 0));
        }
    });
}

#[test]
fn descriptors_are_closed_with_the_context() {
    let is_open = |fd| {
        // SAFETY: asks for the flags of a descriptor, which may not be open.
        unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
    };
    let far = |fd: c_int, number: c_int| {
        // SAFETY: moves a descriptor to a number that no other test gets by chance.
        unsafe {
            let moved = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, number);
            libc::close(fd);
            moved
        }
    };
    let open = || {
        // SAFETY: opens a file.
        unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) }
    };
    let (cmd_fd, async_fd) = (far(open(), 740), far(open(), 741));
    with_context(|provider| {
        // SAFETY: the context is set up.
        unsafe {
            (*provider).context.context.cmd_fd = cmd_fd;
            (*provider).context.context.async_fd = async_fd;
        }
        assert!(is_open(cmd_fd) && is_open(async_fd));
    });
    assert!(!is_open(cmd_fd) && !is_open(async_fd));
}

#[test]
fn without_memory_the_descriptor_is_closed_and_errno_says_so() {
    let mut device = device();
    // SAFETY: a live device; the size is more than there can be.
    unsafe {
        let fd = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        let moved = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 742);
        libc::close(fd);
        let provider = _verbs_init_and_alloc_context::<65>(
            (&raw mut device).cast(),
            moved,
            isize::MAX as usize,
            ptr::null_mut(),
            0,
        );
        assert!(provider.is_null());
        assert_eq!(Errno::last(), Errno::ENOMEM);
        assert_eq!(libc::fcntl(moved, libc::F_GETFD), -1);
    }
}

/// Every operation has a default, in the library's table and where inline functions look.
#[test]
fn every_operation_has_a_default() {
    with_context(|provider| {
        // SAFETY: the context is set up.
        let (table, context) =
            unsafe { (ops(&raw const (*provider).context.context), (*provider).context) };
        macro_rules! check {
            ($($op:ident => $place:ident $($slot:ident)?;)*) => {
                $(
                    assert!(table.$op.is_some(), stringify!($op));
                    check!(@ $place $($slot)?);
                )*
            };
            (@ extended $slot:ident) => { assert!(context.$slot.is_some()) };
            (@ public $slot:ident) => { assert!(context.context.ops.$slot.is_some()) };
            (@ legacy $slot:ident) => { assert!(context.context.ops.$slot.is_some()) };
            (@ none) => {};
        }
        with_ops!(check);
    });
}

#[test]
fn defaults_report_in_the_form_of_their_operation() {
    // SAFETY: the defaults look at no argument.
    unsafe {
        let number = DEFAULT_OPS.dealloc_pd.unwrap()(ptr::null_mut());
        assert_eq!(number, libc::EOPNOTSUPP);

        Errno(0).store();
        assert!(DEFAULT_OPS.alloc_pd.unwrap()(ptr::null_mut()).is_null());
        assert_eq!(Errno::last(), Errno::EOPNOTSUPP);

        Errno(0).store();
        let no_fd = DEFAULT_OPS.dm_export_dmabuf_fd.unwrap()(ptr::null_mut());
        assert_eq!((no_fd, Errno::last()), (-1, Errno::EOPNOTSUPP));

        let order = DEFAULT_OPS.query_qp_data_in_order.unwrap()(ptr::null_mut(), 0, 0);
        assert_eq!(order, 0);

        Errno(0).store();
        let (null, pd) = (ptr::null_mut(), ptr::null_mut());
        let code = DEFAULT_OPS.rereg_mr.unwrap()(null, 0, pd, ptr::null_mut(), 0, 0);
        assert_eq!((code, Errno::last()), (IBV_REREG_MR_ERR_INPUT, Errno::EOPNOTSUPP));
    }
}

thread_local! {
    static ENTERED: Cell<u32> = const { Cell::new(0) };
}

unsafe extern "C" fn query_srq(_: *mut ibv_srq, _: *mut ibv_srq_attr) -> c_int {
    ENTERED.set(ENTERED.get() + 1);
    0
}

unsafe extern "C" fn bind_mw(_: *mut ibv_qp, _: *mut ibv_mw, _: *mut ibv_mw_bind) -> c_int {
    ENTERED.set(ENTERED.get() + 10);
    0
}

unsafe extern "C" fn advise_mr(
    _: *mut ibv_pd,
    _: ib_uverbs_advise_mr_advice,
    _: u32,
    _: *mut ibv_sge,
    _: u32,
) -> c_int {
    ENTERED.set(ENTERED.get() + 100);
    0
}

#[test]
fn operations_are_stored_in_every_place_and_missing_ones_leave_what_is_there() {
    with_context(|provider| {
        // SAFETY: the context is set up; the functions look at no argument.
        unsafe {
            let verbs = &raw mut (*provider).context;
            let mut first = verbs_context_ops::zeroed();
            first.query_srq = Some(query_srq);
            first.bind_mw = Some(bind_mw);
            verbs_set_ops::<65>(verbs, &first);
            let mut second = verbs_context_ops::zeroed();
            second.advise_mr = Some(advise_mr);
            verbs_set_ops::<65>(verbs, &second);

            let context = &raw mut (*verbs).context;
            ops(context).query_srq.unwrap()(ptr::null_mut(), ptr::null_mut());
            let null = ptr::null_mut();
            (*context).ops.bind_mw.unwrap()(ptr::null_mut(), ptr::null_mut(), null);
            (*verbs).advise_mr.unwrap()(ptr::null_mut(), 0, 0, ptr::null_mut(), 0);
            assert_eq!(ENTERED.get(), 111);
            // The legacy slot holds the same function under a type that hides it.
            let legacy = (*context).ops._compat_query_srq.unwrap() as *const c_void;
            assert_eq!(legacy, query_srq as *const c_void);
            // Not named by either table: still the default.
            assert_eq!(ops(context).dealloc_pd.unwrap()(ptr::null_mut()), libc::EOPNOTSUPP);
        }
    });
}

#[test]
fn a_cq_is_counted_on_its_channel() {
    let fake = Fake::new();
    let mut channel = ibv_comp_channel { context: fake.context(), fd: -1, refcnt: 3 };
    let mut cq = ibv_cq { comp_events_completed: 9, async_events_completed: 9, ..Plain::zeroed() };
    let program = ptr::without_provenance_mut(0x55);
    // SAFETY: a new CQ and live objects.
    unsafe { verbs_init_cq(&mut cq, fake.context(), &mut channel, program) };
    assert_eq!(cq.context, fake.context());
    assert_eq!(cq.channel, &raw mut channel);
    assert_eq!(cq.cq_context, program);
    assert_eq!((cq.comp_events_completed, cq.async_events_completed), (0, 0));
    assert_eq!(channel.refcnt, 4);
    // SAFETY: as above; a CQ needs no channel.
    unsafe { verbs_init_cq(&mut cq, fake.context(), ptr::null_mut(), program) };
    assert!(cq.channel.is_null());
}

#[test]
fn a_provider_that_registers_twice_counts_once() {
    static PROVIDER: AtomicI32 = AtomicI32::new(0);
    // The list keeps the address and nobody looks behind it here.
    let record = PROVIDER.as_ptr().cast::<verbs_device_ops>().cast_const();
    let count = || registry::drivers().iter().filter(|driver| driver.ops == record).count();
    // SAFETY: the list only keeps what it is given.
    unsafe {
        verbs_register_driver_65(record);
        verbs_register_driver_65(record);
        verbs_register_driver_65(ptr::null());
        ibv_register_driver(c"old".as_ptr(), ptr::null());
    }
    assert_eq!(count(), 1);
    assert!(registry::drivers().iter().all(|driver| !driver.ops.is_null()));
}
