//! Lines in the log that say why the device refused something.

/// `explain!("ibv_foo: {} is more than {}", a, b)`: a line at `VERBS_LOG_LEVEL` 2 and above that
/// says which check failed, with the numbers. The arguments are evaluated only if it is wanted.
macro_rules! explain {
    ($($arg:tt)+) => {
        if $crate::log::enabled($crate::abi::VERBS_LOG_WARN) {
            $crate::log::log!($crate::abi::VERBS_LOG_WARN, $($arg)+);
        }
    };
}
pub(crate) use explain;
