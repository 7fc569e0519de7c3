//! The list of providers, in the order in which they registered.

use crate::abi::export::export;
use crate::abi::*;
use crate::log::log;
use crate::plugin;
use crate::provider_api::private_abi::{self, Layout};
use crate::sys::errno::{Errno, Result};
use crate::sys::mutex::Mutex;

/// A registered provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driver {
    /// The provider's record; static data of a plugin that is never unloaded.
    pub(crate) ops: *const verbs_device_ops,
    /// The private ABI of the symbol that it registered with.
    pub(crate) private_abi: u32,
    /// How its structs are laid out. Not known at once for a private ABI that has several.
    pub(crate) layout: Option<&'static Layout>,
}

// SAFETY: the record is constant data.
unsafe impl Send for Driver {}

/// A record that gets contexts though it is not in the list, and what its structs are like.
struct Unlisted {
    ops: *const verbs_device_ops,
    layout: &'static Layout,
}

// SAFETY: the record is only compared.
unsafe impl Send for Unlisted {}

struct Registry {
    drivers: Vec<Driver>,
    unlisted: Vec<Unlisted>,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { drivers: Vec::new(), unlisted: Vec::new() });

/// A copy of the list.
pub(crate) fn drivers() -> Vec<Driver> {
    REGISTRY.lock().drivers.clone()
}

/// Adds a provider; a record that is registered twice counts once.
pub(super) fn register(private_abi: u32, ops: *const verbs_device_ops) {
    let layout = only_layout_of(private_abi);
    let drivers = &mut REGISTRY.lock().drivers;
    if !ops.is_null() && !drivers.iter().any(|driver| driver.ops == ops) {
        drivers.push(Driver { ops, private_abi, layout });
    }
}

/// Says which layout of its private ABI a provider has. For the time between its registration and
/// its first device.
pub(crate) fn set_layout(ops: *const verbs_device_ops, layout: &'static Layout) {
    let mut registry = REGISTRY.lock();
    if let Some(driver) = registry.drivers.iter_mut().find(|driver| driver.ops == ops) {
        driver.layout = Some(layout);
    } else {
        registry.unlisted.retain(|unlisted| unlisted.ops != ops);
        registry.unlisted.push(Unlisted { ops, layout });
    }
}

/// The layout of a provider; of a registered one it is known before it gets a device, of another
/// one when it has set up a context.
pub(crate) fn layout_of(ops: *const verbs_device_ops) -> Option<&'static Layout> {
    let registry = REGISTRY.lock();
    match registry.drivers.iter().find(|driver| driver.ops == ops) {
        Some(driver) => driver.layout,
        None => registry.unlisted.iter().find(|it| it.ops == ops).map(|it| it.layout),
    }
}

/// The layout of a provider that sets up a context by the functions of a private ABI.
///
/// A plugin can give its devices a record that it has not registered, as that of `mlx5` does for
/// devices without a kernel driver. Such a record has the layout of the one that is registered from
/// the same file.
///
/// # Errors
///
/// EOPNOTSUPP for a release that the library does not serve.
pub(super) fn layout_of_context(
    private_abi: u32,
    ops: *const verbs_device_ops,
) -> Result<&'static Layout> {
    if let Some(layout) = layout_of(ops).filter(|layout| layout.private_abi == private_abi) {
        return Ok(layout);
    }
    let layout = match only_layout_of(private_abi) {
        Some(layout) => layout,
        None => {
            let file = file_of(ops);
            let is_relative = |driver: &Driver| {
                driver.private_abi == private_abi && file.is_some() && file_of(driver.ops) == file
            };
            let relative = drivers().into_iter().find(is_relative);
            let driver = relative.unwrap_or(Driver { ops, private_abi, layout: None });
            plugin::settle_layout(&driver).map_err(|reason| {
                log!(VERBS_LOG_ERR, "{reason}");
                Errno::EOPNOTSUPP
            })?;
            layout_of(driver.ops).unwrap_or(private_abi::NEWEST)
        }
    };
    set_layout(ops, layout);
    Ok(layout)
}

/// The layout of a private ABI that has just one.
fn only_layout_of(private_abi: u32) -> Option<&'static Layout> {
    let mut layouts = private_abi::layouts_of(private_abi);
    layouts.next().filter(|_| layouts.next().is_none())
}

/// Where the file that holds a record is mapped; nothing for memory of no file.
fn file_of(ops: *const verbs_device_ops) -> Option<usize> {
    // SAFETY: zero bytes are a valid value; dladdr(3) accepts any address.
    unsafe {
        let mut info: libc::Dl_info = core::mem::zeroed();
        (libc::dladdr(ops.cast(), &raw mut info) != 0).then(|| info.dli_fbase.addr())
    }
}

/// What plugins before rdma-core's private ABI called; today's library keeps the symbol and
/// registers nothing.
pub(super) unsafe extern "C" fn ibv_register_driver(
    _name: *const core::ffi::c_char,
    _init: *const core::ffi::c_void,
) {
}
export!(ibv_register_driver @ "IBVERBS_1.1");
