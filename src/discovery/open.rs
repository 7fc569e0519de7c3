//! Opening a device: its file, the provider's context, the library's slots.

use core::ffi::{c_int, c_void};
use std::os::fd::IntoRawFd;

use crate::abi::*;
use crate::cmd;
use crate::discovery::{device_file, device_put, devices, text};
use crate::log::log;
use crate::provider_api::{call_op, private, private_abi, registry};
use crate::sys::errno::{Errno, Result, from_null, keep_errno};
use crate::sys::heap;
use crate::urxe;
use crate::verbs::context_slots;

/// Opens a device. `private_data` is for the provider. `ibv_open_device(3)`
///
/// # Errors
///
/// Those of [`device_file::open`] and those of the provider.
///
/// # Safety
///
/// `device` must be a live device.
pub(crate) unsafe fn open(
    device: *mut ibv_device,
    private_data: *mut c_void,
) -> Result<*mut ibv_context> {
    heap::enough()?;
    let extended = device.cast::<verbs_device>();
    // SAFETY: the caller's promise; the record lives as long as the device.
    let (ops, record) = unsafe { (&*(*extended).ops, (*extended).sysfs.as_ref()) };
    // A device without the kernel has no file.
    let file = record.filter(|record| !text(&record.sysfs_name).is_empty());
    let alloc_context = ops.alloc_context.ok_or(Errno::EOPNOTSUPP)?;
    let cmd_fd = match file {
        Some(record) => open_file(record)?,
        None => -1,
    };
    // SAFETY: the provider's own device; the descriptor is the context's from now on, even if this
    // fails.
    let context = from_null(unsafe { alloc_context(device, cmd_fd, private_data) })?;
    // SAFETY: a new context.
    unsafe { finish(public(ops, context), file.is_some()) }
}

/// Makes a context of a descriptor that another process opened. `ibv_import_device(3)`
///
/// # Errors
///
/// EINVAL for a descriptor that is no device file, ENODEV if it is none of a device of the list,
/// EOPNOTSUPP if the provider cannot do it, those of the provider.
pub(crate) fn import(cmd_fd: c_int) -> Result<*mut ibv_context> {
    // A device inside the library has no number in the kernel.
    let inside = urxe::device::device_of(cmd_fd).transpose()?;
    let number = match inside {
        Some(_) => 0,
        None => device_file::device_number(cmd_fd).map_err(|_| Errno::EINVAL)?,
    };
    let devices = devices().map_err(|_| Errno::ENODEV)?;
    // SAFETY: the list gave us a reference to each of its devices.
    let is_it = |device: &&*mut ibv_device| unsafe {
        let record = (*device.cast::<verbs_device>()).sysfs.as_ref();
        match inside {
            Some(inside) => urxe::device::is_device(**device, inside),
            None => record.is_some_and(|it| it.sysfs_cdev == number),
        }
    };
    let found = devices.iter().find(is_it).ok_or(Errno::ENODEV);
    // SAFETY: a device to which we have a reference.
    let imported = found.and_then(|device| unsafe { import_into(*device, cmd_fd) });
    for device in devices {
        // SAFETY: the reference is ours.
        keep_errno(|| unsafe { device_put(device.cast()) });
    }
    imported
}

/// # Safety
///
/// `device` must be a live device.
unsafe fn import_into(device: *mut ibv_device, cmd_fd: c_int) -> Result<*mut ibv_context> {
    // SAFETY: the caller's promise.
    let ops = unsafe { &*(*device.cast::<verbs_device>()).ops };
    let import_context = ops.import_context.ok_or(Errno::EOPNOTSUPP)?;
    // SAFETY: the provider's own device.
    let context = from_null(unsafe { import_context(device, cmd_fd) })?;
    let context = public(ops, context);
    // SAFETY: a new context.
    unsafe {
        private(context).set_imported();
        finish(context, true)
    }
}

/// Closes a context. `ibv_close_device(3)`
///
/// # Safety
///
/// `context` must be an open context, used for the last time.
pub(crate) unsafe fn close(context: *mut ibv_context) {
    // SAFETY: the caller's promise.
    unsafe { call_op!(context, free_context(context)) }
}

/// The public context in one that a provider made, by the layout of its structs.
fn public(ops: *const verbs_device_ops, context: *mut verbs_context) -> *mut ibv_context {
    let layout = registry::layout_of(ops).unwrap_or(private_abi::NEWEST);
    context.wrapping_byte_add(layout.context_offset).cast()
}

/// Sets the library's slots, and gives the context of a kernel device its descriptor for events.
///
/// # Safety
///
/// `context` must be a new context of a provider.
unsafe fn finish(context: *mut ibv_context, has_events: bool) -> Result<*mut ibv_context> {
    // SAFETY: the caller's promise.
    unsafe {
        context_slots::install(context);
        if has_events
            && (*context).async_fd == -1
            && let Err(errno) = cmd::alloc_async_fd(context)
        {
            log!(
                VERBS_LOG_ERR,
                "device {}: no descriptor for asynchronous events: {}",
                text(&(*(*context).device).name).to_string_lossy(),
                std::io::Error::from_raw_os_error(errno.0),
            );
            close(context);
            return Err(errno);
        }
        Ok(context)
    }
}

/// Opens the device file of a record, and logs why that fails.
fn open_file(record: &verbs_sysfs_dev) -> Result<c_int> {
    let name = text(&record.sysfs_name);
    let fd = device_file::open(&device_file::SYSTEM, name, record.sysfs_cdev);
    fd.map(IntoRawFd::into_raw_fd).inspect_err(|errno| {
        // SAFETY: always succeeds.
        let user = unsafe { libc::geteuid() };
        log!(
            VERBS_LOG_ERR,
            "device {}: cannot open {}/{} as user {user}: {}",
            text(&record.ibdev_name).to_string_lossy(),
            device_file::SYSTEM.directory.to_string_lossy(),
            name.to_string_lossy(),
            std::io::Error::from_raw_os_error(errno.0),
        );
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Record;
    use crate::provider_api::context::{init, uninit};
    use crate::sync::atomic::AtomicI32;
    use core::cell::Cell;
    use core::ptr;
    use std::os::fd::AsRawFd;

    thread_local! {
        static CONTEXTS: Cell<i32> = const { Cell::new(0) };
    }

    unsafe extern "C" fn alloc_context(
        device: *mut ibv_device,
        cmd_fd: c_int,
        private_data: *mut c_void,
    ) -> *mut verbs_context {
        let context = Box::into_raw(Box::new(verbs_context::zeroed()));
        CONTEXTS.set(CONTEXTS.get() + 1);
        // SAFETY: a zeroed context and a live device.
        unsafe {
            let public = &raw mut (*context).context;
            init(public, private_abi::NEWEST, device, cmd_fd, 0);
            let mut ops = verbs_context_ops::zeroed();
            ops.free_context = Some(free_context);
            crate::provider_api::set_ops(public, &ops);
            (*public).num_comp_vectors = private_data.addr() as c_int;
        }
        context
    }

    unsafe extern "C" fn free_context(context: *mut ibv_context) {
        CONTEXTS.set(CONTEXTS.get() - 1);
        // SAFETY: a context of `alloc_context`, for the last time.
        unsafe {
            uninit(context);
            drop(Box::from_raw(crate::provider_api::extended(context)));
        }
    }

    unsafe extern "C" fn no_context(
        _: *mut ibv_device,
        _: c_int,
        _: *mut c_void,
    ) -> *mut verbs_context {
        Errno(libc::EACCES).store();
        ptr::null_mut()
    }

    fn device(ops: &verbs_device_ops, sysfs: *mut verbs_sysfs_dev) -> Box<verbs_device> {
        Box::new(verbs_device {
            device: ibv_device::zeroed(),
            ops,
            refcount: AtomicI32::new(1),
            entry: list_node { next: ptr::null_mut(), prev: ptr::null_mut() },
            sysfs,
            core_support: 0,
        })
    }

    fn open_it(device: &mut verbs_device) -> Result<*mut ibv_context> {
        // SAFETY: a live device.
        unsafe { open((&raw mut *device).cast(), ptr::without_provenance_mut(7)) }
    }

    #[test]
    fn devices_without_the_kernel_have_no_descriptors() {
        let ops =
            verbs_device_ops { alloc_context: Some(alloc_context), ..verbs_device_ops::zeroed() };
        let record = Record::new(c"/sys", b"urxe0").unwrap();
        for sysfs in [ptr::null_mut(), record.as_ptr()] {
            let mut device = device(&ops, sysfs);
            let context = open_it(&mut device).unwrap();
            // SAFETY: an open context.
            unsafe {
                assert_eq!(((*context).cmd_fd, (*context).async_fd), (-1, -1));
                assert_eq!((*context).num_comp_vectors, 7);
                assert!((*context).ops._compat_query_port.is_some());
                assert_eq!(CONTEXTS.get(), 1);
                close(context);
            }
            assert_eq!(CONTEXTS.get(), 0);
            assert_eq!(*device.refcount.get_mut(), 1);
        }
    }

    #[test]
    fn failures_are_passed_on() {
        let ops =
            verbs_device_ops { alloc_context: Some(no_context), ..verbs_device_ops::zeroed() };
        assert_eq!(open_it(&mut device(&ops, ptr::null_mut())), Err(Errno(libc::EACCES)));
        let none = verbs_device_ops::zeroed();
        assert_eq!(open_it(&mut device(&none, ptr::null_mut())), Err(Errno::EOPNOTSUPP));
        // A file that is not there; the provider is not entered.
        let mut record = Record::new(c"/sys", b"none").unwrap();
        crate::discovery::store_text(&mut record.get_mut().sysfs_name, &[b"uverbs-none"]).unwrap();
        assert_eq!(open_it(&mut device(&ops, record.as_ptr())), Err(Errno::ENOENT));
    }

    #[test]
    fn only_device_files_are_imported() {
        assert_eq!(import(-1), Err(Errno::EINVAL));
        let (pipe, _writer) = std::io::pipe().unwrap();
        assert_eq!(import(pipe.as_raw_fd()), Err(Errno::EINVAL));
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(import(null.as_raw_fd()), Err(Errno::ENODEV));
    }
}
