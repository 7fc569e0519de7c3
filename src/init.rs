//! What happens once per process, before the first list of devices: settings of the environment
//! and checks of the process.

use std::sync::Once;

use crate::abi::VERBS_LOG_INFO;
use crate::cmd;
use crate::fork;
use crate::log::{self, log};
use crate::sys::env;

/// Below this limit of locked memory, in bytes, registration fails for nearly every program.
const SMALL_MEMLOCK: libc::rlim_t = 32 * 1024;

/// Sets up the library. Later calls do nothing.
///
/// No panic hook is installed: that is the program's. A panic in an exported function aborts by
/// itself, because it cannot leave a C function.
pub(crate) fn init_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fork::init_from_environment();
        let switches = [c"RDMAV_ALLOW_DISASSOC_DESTROY", c"MLX4_DEVICE_FATAL_CLEANUP"];
        if switches.iter().any(|name| env::switch(name)) {
            log!(VERBS_LOG_INFO, "destroying objects of a device that is gone counts as success");
            cmd::allow_disassociate_destroy();
        }
        check_memlock();
    });
}

/// Warns of a limit of locked memory that is too small to work with.
fn check_memlock() {
    // SAFETY: always succeeds.
    if unsafe { libc::geteuid() } == 0 {
        return;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: there is room for the result.
    if unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } != 0 {
        log::warning(format_args!(
            "the limit of locked memory is unknown: {}",
            std::io::Error::last_os_error(),
        ));
        return;
    }
    if limit.rlim_cur <= SMALL_MEMLOCK {
        log::warning(format_args!(
            "RLIMIT_MEMLOCK is {} bytes: registering more memory than that will fail; raise it by \
             'ulimit -l unlimited', in /etc/security/limits.conf, or by LimitMEMLOCK= of a service",
            limit.rlim_cur,
        ));
    }
}
