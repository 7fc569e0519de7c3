//! The version of the kernel's interface, on which the size of some responses depends.

use crate::discovery;

/// `IB_USER_VERBS_ABI_VERSION` of the kernel: 3 to 6, 0 if no device was found yet.
pub(super) fn uverbs_abi() -> u32 {
    #[cfg(test)]
    if let Some(version) = super::fake::uverbs_abi() {
        return version;
    }
    discovery::uverbs_abi()
}
