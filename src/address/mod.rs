//! Address handles from work completions, and Ethernet addresses of GIDs.

mod from_wc;
mod gid;
mod header;
mod kern;
mod neighbour;
mod resolve;
mod rtnetlink;

use crate::abi::ibv_gid;

/// Whether a GID names a group.
pub(crate) fn is_multicast(gid: &ibv_gid) -> bool {
    // SAFETY: a GID is 16 bytes in each of its forms.
    gid::Gid(unsafe { gid.raw }).is_multicast()
}
