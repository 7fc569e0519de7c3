//! The kernel command layer that plugins call: `ibv_cmd_*`.
//!
//! A command function takes its C arguments apart, describes the command and stores the results;
//! how it reaches the kernel is decided below:
//!
//! * [`Kernel`]: where commands of a context go;
//! * [`Command`]: an ioctl command, and the rule for falling back to a write command;
//! * [`Kernel::write`], [`RequestBuffer`], [`Request`]: write commands in their three forms;
//! * [`Buffers`], [`Blocks`]: what a provider adds to a command;
//! * [`destroy`], [`unless_gone`], [`wait_for_events`]: what destroy commands have in common.
//!
//! A command function in full:
//!
//! ```ignore
//! /// Allocates a PD. Returns 0 or the error number. `driver.h: ibv_cmd_alloc_pd`
//! unsafe extern "C" fn ibv_cmd_alloc_pd(
//!     context: *mut ibv_context,
//!     pd: *mut ibv_pd,
//!     cmd: *mut ibv_alloc_pd,
//!     cmd_size: usize,
//!     resp: *mut ib_uverbs_alloc_pd_resp,
//!     resp_size: usize,
//! ) -> c_int {
//!     // SAFETY: the provider passes its context, its new PD and buffers of these sizes.
//!     unsafe {
//!         let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
//!         alloc_pd(Kernel::of(context), &mut *pd, buffers)
//!     }
//!     .or_number()
//! }
//! export_private!(ibv_cmd_alloc_pd);
//!
//! fn alloc_pd(kernel: Kernel<'_>, pd: &mut ibv_pd, buffers: Buffers<'_>) -> Result<()> {
//!     let response = kernel.write(ib_uverbs_alloc_pd::zeroed(), buffers)?;
//!     pd.handle = response.pd_handle;
//!     pd.context = kernel.context();
//!     Ok(())
//! }
//! ```
//!
//! [`Kernel`]: crate::cmd::Kernel
//! [`Kernel::write`]: crate::cmd::Kernel::write
//! [`Command`]: crate::cmd::Command
//! [`RequestBuffer`]: crate::cmd::RequestBuffer
//! [`Request`]: crate::cmd::Request
//! [`Buffers`]: crate::cmd::Buffers
//! [`Blocks`]: crate::cmd::Blocks
//! [`destroy`]: crate::cmd::destroy()
//! [`unless_gone`]: crate::cmd::unless_gone
//! [`wait_for_events`]: crate::cmd::wait_for_events

// The transport.
mod blocks;
mod buffers;
mod command;
mod destroy;
mod disassociate;
mod events;
mod exported;
mod kernel;
mod message;
mod request_buffer;
mod requests;
mod syscall;
mod version;
mod write;

// The objects.
mod ah;
mod comp_cntr;
mod context;
mod counters;
mod cq;
mod device;
mod dm;
mod dmabuf;
mod dmah;
mod flow;
mod flow_action;
mod flow_spec;
mod gid;
mod ind_table;
mod mcast;
mod memlock;
mod mr;
mod mr_ex;
mod mw;
mod pd;
mod poll;
mod port;
mod post;
mod qp;
mod qp_attr;
mod qp_modify;
mod srq;
mod work_request;
mod wq;
mod xrcd;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod trace;

pub(crate) use blocks::Blocks;
pub(crate) use buffers::Buffers;
pub(crate) use command::{Command, Outcome};
pub(crate) use context::{alloc_async_fd, ibv_cmd_get_context};
pub(crate) use cq::{ibv_cmd_create_cq_ex, ibv_cmd_create_cq_ex2};
pub(crate) use destroy::{destroy, destroy_by_ioctl};
pub(crate) use disassociate::{allow_disassociate_destroy, unless_gone};
pub(crate) use events::wait_for_events;
pub(crate) use gid::{query_gid_entry, query_gid_table};
pub(crate) use kernel::Kernel;
pub(crate) use message::{Method, method};
pub(crate) use mr_ex::ibv_cmd_reg_dmabuf_mr;
#[cfg(test)]
pub(crate) use mr_ex::ibv_cmd_reg_mr_ex;
#[cfg(test)]
pub(crate) use port::ibv_cmd_query_port;
pub(crate) use qp::{comp_mask, ibv_cmd_create_qp_ex2};
#[cfg(test)]
pub(crate) use qp::{ibv_cmd_create_qp_ex, ibv_cmd_open_qp};
pub(crate) use request_buffer::RequestBuffer;
use version::uverbs_abi;
pub(crate) use write::{Request, Write, probe_write_by_ioctl};
