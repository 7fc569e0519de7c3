//! The device, as far as it is modelled.

pub(crate) mod completion;
pub(crate) mod device;
#[path = "../../../src/urxe/gate.rs"]
pub(crate) mod gate;
pub(crate) mod gate_model;
pub(crate) mod host;
#[path = "../../../src/urxe/limits.rs"]
pub(crate) mod limits;
pub(crate) mod lock_model;
pub(crate) mod marks_model;
#[path = "../../../src/urxe/origin.rs"]
pub(crate) mod origin;
pub(crate) mod pair;
pub(crate) mod queue;
pub(crate) mod region;
#[path = "../../../src/urxe/shared/mod.rs"]
pub(crate) mod shared;
pub(crate) mod transfer;

/// As the library's; nobody reads the log of a model.
macro_rules! explain {
    ($($arg:tt)+) => {
        if false {
            let _ = format!($($arg)+);
        }
    };
}
pub(crate) use explain;
