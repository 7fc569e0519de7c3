//! Which release of rdma-core a provider is of.
//!
//! Some private ABIs were not given a new number when their structs changed, and nothing in most
//! plugins says for which release they were built. So it is decided from what can be seen, in this
//! order: what the user says (`IBVERBS_RS_PLUGIN_RELEASE`); the release number in the plugin's real
//! file name; the functions that it calls, as some came with a release; the release numbers of
//! rdma-core's other files beside it. If all that is silent, the most common release is taken, and
//! a warning says so.

mod decide;
mod imports;
mod names;
#[cfg(test)]
mod tests;

use core::ffi::CStr;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::abi::*;
use crate::log::{self, log};
use crate::plugin::matching::provider_name;
use crate::provider_api::registry::{self, Driver};
use crate::sys::env;
use decide::{Subject, Unserved};

/// The variable with the releases that the user says.
const TOLD: &CStr = c"IBVERBS_RS_PLUGIN_RELEASE";

/// Finds out which layout of its private ABI a registered provider has, unless that is known. The
/// error says why the library cannot work with it.
pub(crate) fn settle(driver: &Driver) -> Result<(), String> {
    if driver.layout.is_some() || registry::layout_of(driver.ops).is_some() {
        return Ok(());
    }
    // SAFETY: the record of a registered provider.
    let provider = unsafe { provider_name(driver.ops) };
    let file = file_of(driver.ops);
    let private_abi = driver.private_abi;
    let subject = Subject { provider: provider.as_bytes(), private_abi, file: file.as_deref() };
    let told = env::get(TOLD);
    let decision = subject.decide(told.as_deref().map(CStr::to_bytes));
    let of = file.map_or_else(|| "no file".to_owned(), |file| file.display().to_string());
    let decision = match decision {
        Ok(decision) => decision,
        Err(Unserved { release, from }) => {
            return Err(format!(
                "provider {provider} ({of}) is of rdma-core {release}, which is too old for this \
                 library (known from {from}): update it"
            ));
        }
    };
    if let Some(value) = &decision.misfit {
        log::warning(format_args!(
            "IBVERBS_RS_PLUGIN_RELEASE says '{value}' of provider {provider}, which is no release \
             with its private ABI {private_abi}, and is ignored"
        ));
    }
    let (first, last) = (decision.layout.releases.start(), decision.layout.releases.end());
    if decision.is_guess {
        log::warning(format_args!(
            "cannot tell of which rdma-core release provider {provider} ({of}) is, as private ABI \
             {private_abi} has several; taking {first} to {last}: if that is wrong, set \
             IBVERBS_RS_PLUGIN_RELEASE={provider}=RELEASE"
        ));
    }
    log!(
        VERBS_LOG_INFO,
        "provider {provider} ({of}): private ABI {private_abi} as in rdma-core {first} to {last}, \
         by {}",
        decision.from,
    );
    registry::set_layout(driver.ops, decision.layout);
    Ok(())
}

/// The file that a provider's record is in; nothing if the dynamic linker does not know it.
fn file_of(ops: *const verbs_device_ops) -> Option<PathBuf> {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; the answer is written, or 0 returned.
    if unsafe { libc::dladdr(ops.cast(), info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: all fields are pointers, which were zeroed at least.
    let name = unsafe { info.assume_init() }.dli_fname;
    if name.is_null() {
        return None;
    }
    // SAFETY: a C string of the dynamic linker, which lives as long as the file is loaded.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    // What has no directory is the program as it was called.
    name.contains(&b'/').then(|| PathBuf::from(OsStr::from_bytes(name)))
}
