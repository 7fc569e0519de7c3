//! The log, which nobody reads.

/// As the library's.
macro_rules! log {
    ($level:expr, $($arg:tt)+) => {
        if false {
            let _ = ($level, format!($($arg)+));
        }
    };
}
pub(crate) use log;

/// As the library's.
pub(crate) fn warning(_: core::fmt::Arguments<'_>) {}
