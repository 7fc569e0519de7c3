//! Contexts of providers of each release, from registration to closing.

use crate::sync::atomic::{AtomicI32, Ordering};
use core::cell::{Cell, RefCell};
use core::ffi::{c_int, c_void};

use super::*;
use crate::discovery;
use crate::provider_api::context::{
    _verbs_init_and_alloc_context, verbs_set_ops, verbs_uninit_context,
};
use crate::provider_api::{extended, op_index, ops, private, registry};
use crate::sys::tests::keep;

/// Bytes of the provider's own on either side of its `verbs_context`.
const OWN: usize = 128;

thread_local! {
    static LAYOUT: Cell<&'static Layout> = const { Cell::new(NEWEST) };
    /// The provider's structs that are open.
    static OPEN: RefCell<Vec<*mut u8>> = const { RefCell::new(Vec::new()) };
}

/// Calls a function that has the private ABI as its parameter.
macro_rules! by_abi {
    ($abi:expr, $function:ident($($arg:expr),*)) => {
        match $abi {
            34 => $function::<34>($($arg),*),
            57 => $function::<57>($($arg),*),
            59 => $function::<59>($($arg),*),
            64 => $function::<64>($($arg),*),
            65 => $function::<65>($($arg),*),
            other => panic!("private ABI {other}"),
        }
    };
}

/// What a provider of [`LAYOUT`] does when its device is opened.
unsafe extern "C" fn alloc_context(
    device: *mut ibv_device,
    cmd_fd: c_int,
    _private_data: *mut c_void,
) -> *mut verbs_context {
    let layout = LAYOUT.get();
    let (abi, size) = (layout.private_abi, layout.context_size() + 2 * OWN);
    let offset = ptr::without_provenance_mut(OWN);
    // SAFETY: the struct is as large as said; the table is of the layout.
    unsafe {
        let own: *mut u8 =
            by_abi!(abi, _verbs_init_and_alloc_context(device, cmd_fd, size, offset, 9)).cast();
        assert!(!own.is_null());
        for guard in [own, own.add(size - OWN)] {
            let bytes = core::slice::from_raw_parts(guard, OWN);
            assert!(bytes.iter().all(|byte| *byte == 0), "set-up left the context of {layout:?}");
            guard.write_bytes(0xa5, OWN);
        }
        OPEN.with_borrow_mut(|open| open.push(own));
        let context = own.add(OWN).cast::<verbs_context>();
        let of_provider = |name: &str| match name {
            "free_context" => free_context as *const () as usize,
            "query_srq" => query_srq as *const () as usize,
            "reg_mr_ex" => reg_mr_ex as *const () as usize,
            "advise_mr" => advise_mr as *const () as usize,
            _ => 0,
        };
        by_abi!(abi, verbs_set_ops(context, table(layout, of_provider).as_ptr().cast()));
        context
    }
}

unsafe extern "C" fn free_context(context: *mut ibv_context) {
    let own = OPEN.with_borrow_mut(|open| open.pop()).expect("the context is open");
    let layout = LAYOUT.get();
    let size = layout.context_size() + 2 * OWN;
    // SAFETY: the struct of `alloc_context`, for the last time.
    unsafe {
        let verbs = own.add(OWN);
        assert_eq!(verbs.add(layout.context_offset).cast(), context);
        by_abi!(layout.private_abi, verbs_uninit_context(verbs.cast()));
        let bytes = core::slice::from_raw_parts(own, size);
        let is_own = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0xa5);
        assert!(is_own(&bytes[..OWN]), "in front of the context: {layout:?}");
        assert!(is_own(&bytes[size - OWN..]), "behind the context: {layout:?}");
        libc::free(own.cast());
    }
}

unsafe extern "C" fn query_srq(_: *mut ibv_srq, _: *mut ibv_srq_attr) -> c_int {
    41
}

unsafe extern "C" fn reg_mr_ex(_: *mut ibv_pd, _: *mut ibv_mr_init_attr) -> *mut ibv_mr {
    ptr::without_provenance_mut(42)
}

unsafe extern "C" fn advise_mr() -> c_int {
    43
}

/// A device of a provider that is registered with the private ABI of a layout, or not at all.
fn device(layout: &'static Layout, registered: bool) -> verbs_device {
    let ops: &verbs_device_ops = keep(verbs_device_ops {
        name: c"old".as_ptr(),
        alloc_context: Some(alloc_context),
        ..verbs_device_ops::zeroed()
    });
    if registered {
        let register = match layout.private_abi {
            34 => v34::verbs_register_driver_34,
            57 => v57::verbs_register_driver_57,
            59 => v59::verbs_register_driver_59,
            64 => v64::verbs_register_driver_64,
            65 => v65::verbs_register_driver_65,
            other => panic!("private ABI {other}"),
        };
        // SAFETY: the record lives for ever.
        unsafe { register(ops) };
        let several = layouts_of(layout.private_abi).count() > 1;
        assert_eq!(registry::layout_of(ops).is_none(), several);
        if several {
            registry::set_layout(ops, layout);
        }
        assert!(ptr::eq(registry::layout_of(ops).unwrap(), layout));
    }
    LAYOUT.set(layout);
    verbs_device {
        device: ibv_device::zeroed(),
        ops,
        refcount: AtomicI32::new(1),
        entry: list_node { next: ptr::null_mut(), prev: ptr::null_mut() },
        sysfs: ptr::null_mut(),
        core_support: 0,
    }
}

/// Opens a device, hands its context on, and closes it.
fn with_context(mut device: verbs_device, test: impl FnOnce(*mut ibv_context)) {
    // SAFETY: a live device.
    unsafe {
        let context = discovery::open((&raw mut device).cast(), ptr::null_mut()).unwrap();
        test(context);
        discovery::close(context);
    }
    assert!(OPEN.with_borrow(|open| open.is_empty()));
    assert_eq!(device.refcount.load(Ordering::Relaxed), 1);
}

#[test]
fn each_release_gets_a_context_of_its_own_size() {
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        with_context(device(layout, true), |context| {
            // SAFETY: an open context.
            unsafe {
                assert_eq!((*context).abi_compat.addr(), usize::MAX);
                assert_eq!(((*context).cmd_fd, (*context).async_fd), (-1, -1));
                assert_eq!(member!(context, sz).read(), layout.context_size());
                assert!(ptr::eq(private(context).layout, layout));
                // Every slot is filled, from the first that the release has: 8 bytes each, the
                // size last, in front of it a word that nobody uses.
                let slots = context.cast::<usize>().sub(layout.context_offset / 8);
                for index in 0..layout.context_offset / 8 - 2 {
                    assert_ne!(slots.add(index).read(), 0, "slot {index} of {layout:?}");
                }
            }
        });
    }
}

#[test]
fn operations_of_each_release_are_stored_by_name() {
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        with_context(device(layout, true), |context| {
            let null = ptr::null_mut();
            // SAFETY: an open context; the functions look at nothing.
            unsafe {
                assert_eq!(ops(context).query_srq.unwrap()(ptr::null_mut(), ptr::null_mut()), 41);
                let advise = member!(context, advise_mr).read().unwrap();
                assert_eq!(advise(null, 0, 0, ptr::null_mut(), 0), 43);
                assert_eq!(ops(context).advise_mr.unwrap()(null, 0, 0, ptr::null_mut(), 0), 43);
                let registered = ops(context).reg_mr_ex.map(|op| op as usize);
                let given = Some(reg_mr_ex as *const () as usize);
                let has = layout.has_op(op_index!(reg_mr_ex).get());
                assert_eq!(registered == given, has, "{layout:?}");
                if has {
                    let slot = member!(context, reg_mr_ex).read().map(|op| op as usize);
                    assert_eq!(slot, given);
                }
                // What the provider has not given does what it does with any provider.
                assert_eq!(ops(context).dealloc_pd.unwrap()(null), libc::EOPNOTSUPP);
                assert!(ops(context).create_comp_cntr.is_some());
            }
        });
    }
}

#[test]
fn a_record_that_is_not_registered_has_the_layout_of_its_private_abi() {
    for private_abi in [57, 64, 65] {
        let layout = layouts_of(private_abi).next().unwrap();
        for _ in 0..2 {
            let device = device(layout, false);
            let ops = device.ops;
            assert!(registry::layout_of(ops).is_none());
            with_context(device, |context| {
                // SAFETY: an open context.
                assert!(ptr::eq(unsafe { private(context) }.layout, layout));
            });
            assert!(ptr::eq(registry::layout_of(ops).unwrap(), layout));
        }
    }
}

#[test]
fn a_record_that_is_not_registered_is_of_the_release_of_its_file() {
    // In the file of this test; nobody looks behind their addresses.
    static REGISTERED: AtomicI32 = AtomicI32::new(0);
    static OTHER: AtomicI32 = AtomicI32::new(0);
    let record = |place: &'static AtomicI32| place.as_ptr().cast::<verbs_device_ops>().cast_const();
    let release_44 = layout(34, 44).unwrap();
    // SAFETY: the list only keeps what it is given.
    unsafe { v34::verbs_register_driver_34(record(&REGISTERED)) };
    registry::set_layout(record(&REGISTERED), release_44);
    assert!(registry::layout_of(record(&OTHER)).is_none());
    for _ in 0..2 {
        let found = registry::layout_of_context(34, record(&OTHER)).unwrap();
        assert!(ptr::eq(found, release_44));
    }
    assert!(ptr::eq(registry::layout_of(record(&OTHER)).unwrap(), release_44));
    assert!(registry::drivers().iter().all(|driver| driver.ops != record(&OTHER)));
}

#[test]
fn a_provider_struct_without_room_is_refused() {
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        let mut device = device(layout, true);
        let device = (&raw mut device).cast();
        let size = layout.context_size() + 24;
        for (size, offset) in [(size - 1, 24), (size, 25), (0, 0), (size, usize::MAX - 8)] {
            let offset = ptr::without_provenance_mut(offset);
            // SAFETY: a live device.
            let context = unsafe {
                by_abi!(
                    layout.private_abi,
                    _verbs_init_and_alloc_context(device, -1, size, offset, 9)
                )
            };
            assert!(context.is_null());
            assert_eq!(crate::sys::errno::Errno::last(), crate::sys::errno::Errno::EINVAL);
        }
    }
}

#[test]
fn programs_of_the_newest_header_find_the_slots_that_there_are() {
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        with_context(device(layout, true), |context| {
            // What the inline functions of the header do.
            let seen = extended(context);
            assert_eq!(seen.addr() + NEWEST.context_offset, context.addr());
            // SAFETY: an open context.
            let size = unsafe { member!(context, sz).read() };
            let reaches = |offset: usize| size >= size_of::<verbs_context>() - offset;
            let first = NEWEST.context_offset - layout.context_offset;
            assert!(reaches(first) && layout.has_slot(first));
            assert!(first == 0 || (!reaches(first - 8) && !layout.has_slot(first - 8)));
        });
    }
}
