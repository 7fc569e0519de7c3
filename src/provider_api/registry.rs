//! The list of providers, in the order in which they registered.

use crate::abi::export::export;
use crate::abi::*;
use crate::sys::mutex::Mutex;

/// A registered provider.
#[derive(Clone, Copy)]
pub(crate) struct Driver {
    /// The provider's record; static data of a plugin that is never unloaded.
    pub(crate) ops: *const verbs_device_ops,
}

// SAFETY: the record is constant data.
unsafe impl Send for Driver {}

static DRIVERS: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

/// A copy of the list.
pub(crate) fn drivers() -> Vec<Driver> {
    DRIVERS.lock().clone()
}

/// Adds a provider; a record that is registered twice counts once.
fn add(ops: *const verbs_device_ops) {
    let mut drivers = DRIVERS.lock();
    if !ops.is_null() && !drivers.iter().any(|driver| driver.ops == ops) {
        drivers.push(Driver { ops });
    }
}

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`, private ABI 65.
pub(super) unsafe extern "C" fn verbs_register_driver_65(ops: *const verbs_device_ops) {
    add(ops);
}
export!(verbs_register_driver_65 @@ "IBVERBS_PRIVATE_65");

/// What plugins before rdma-core's private ABI called; today's library keeps the symbol and
/// registers nothing.
pub(super) unsafe extern "C" fn ibv_register_driver(
    _name: *const core::ffi::c_char,
    _init: *const core::ffi::c_void,
) {
}
export!(ibv_register_driver @ "IBVERBS_1.1");
