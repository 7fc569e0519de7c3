//! The list of providers, in the order in which they registered.

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::private_abi::{self, Layout};
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

static DRIVERS: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

/// A copy of the list.
pub(crate) fn drivers() -> Vec<Driver> {
    DRIVERS.lock().clone()
}

/// Adds a provider; a record that is registered twice counts once.
pub(super) fn register(private_abi: u32, ops: *const verbs_device_ops) {
    let mut layouts = private_abi::layouts_of(private_abi);
    // The only one, if it is.
    let layout = layouts.next().filter(|_| layouts.next().is_none());
    let mut drivers = DRIVERS.lock();
    if !ops.is_null() && !drivers.iter().any(|driver| driver.ops == ops) {
        drivers.push(Driver { ops, private_abi, layout });
    }
}

/// Says which layout of its private ABI a provider has. For the time between its registration and
/// its first device.
pub(crate) fn set_layout(ops: *const verbs_device_ops, layout: &'static Layout) {
    let mut drivers = DRIVERS.lock();
    if let Some(driver) = drivers.iter_mut().find(|driver| driver.ops == ops) {
        driver.layout = Some(layout);
    }
}

/// The layout of a registered provider, once it is known: always before it gets a device.
pub(crate) fn layout_of(ops: *const verbs_device_ops) -> Option<&'static Layout> {
    DRIVERS.lock().iter().find(|driver| driver.ops == ops)?.layout
}

/// What plugins before rdma-core's private ABI called; today's library keeps the symbol and
/// registers nothing.
pub(super) unsafe extern "C" fn ibv_register_driver(
    _name: *const core::ffi::c_char,
    _init: *const core::ffi::c_void,
) {
}
export!(ibv_register_driver @ "IBVERBS_1.1");
