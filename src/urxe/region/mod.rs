//! Memory that the device may use: regions and windows, and the memory that the device has itself.
//!
//! * [`mod@check`]: what a key allows, for anybody who has the slot of its owner;
//! * [`keys`]: the owner's side of the key table;
//! * [`mr`]: regions, of ordinary memory, dma-bufs, and none; [`advise`]: prefetching;
//! * [`window`]: memory windows;
//! * [`dm`], [`buf`]: device memory and buffers, in [files] that peers can map;
//! * [`dmah`]: DMA handles; [`import`]: what another context made;
//! * [`users`]: who is using memory just now.

mod access;
pub(crate) mod advise;
pub(crate) mod buf;
pub(crate) mod check;
pub(crate) mod dm;
pub(crate) mod dmabuf;
pub(crate) mod dmah;
mod files;
mod import;
mod keys;
mod known;
pub(crate) mod mr;
mod populate;
#[cfg(test)]
pub(crate) mod testing;
mod users;
pub(crate) mod window;

pub(crate) use advise::advise_mr;
pub(crate) use buf::{alloc_buf, free_buf};
#[cfg(test)]
pub(crate) use check::Denied;
pub(crate) use check::{Place, Wanted, check};
pub(crate) use dm::{alloc_dm, dm_export_dmabuf_fd, free_dm, reg_dm_mr};
pub(crate) use dmabuf::{reg_dmabuf_mr, reg_mr_ex};
pub(crate) use dmah::{alloc_dmah, dealloc_dmah};
pub(crate) use import::{import_dm, import_mr, unimport_dm, unimport_mr};
pub(crate) use known::Known;
pub(crate) use mr::{alloc_null_mr, dereg_mr, reg_mr, rereg_mr};
pub(crate) use users::{User, using};
pub(crate) use window::{Bind, alloc_mw, dealloc_mw, next_rkey};

use crate::sys::errno::Result;
use crate::urxe::host::Host;

/// Waits for all requests of peers that are under way: what was stored before is seen by all later
/// ones.
///
/// # Errors
///
/// EIO if some do not end, as a process with one has been stopped: it may go on with it at any time.
fn pass_remote(host: &Host) -> Result<()> {
    host.pass_qp_locks()
}

/// Waits for all that is under way with any key; EIO as [`pass_remote`].
fn pass(host: &Host) -> Result<()> {
    pass_remote(host)?;
    users::pass(host);
    Ok(())
}
