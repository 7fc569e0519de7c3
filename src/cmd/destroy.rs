//! Destroy commands without a response.

use crate::cmd::command::Command;
use crate::cmd::disassociate::unless_gone;
use crate::cmd::kernel::Kernel;
use crate::cmd::message::Method;
use crate::cmd::write::Request;
use crate::provider_api::OpIndex;
use crate::sys::errno::Result;

/// Destroys an object that the kernel knows by `handle`: by the ioctl, or by the write command
/// `request` where the kernel lacks it.
///
/// ```ignore
/// let request = ib_uverbs_dealloc_pd { pd_handle: handle };
/// destroy(kernel, method!(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY),
///         UVERBS_ATTR_DESTROY_PD_HANDLE, handle, op_index!(dealloc_pd), request)
/// ```
pub(crate) fn destroy<Q: Request>(
    kernel: Kernel<'_>,
    method: Method,
    attr: u16,
    handle: u32,
    op: OpIndex,
    request: Q,
) -> Result<()> {
    let mut cmd = Command::new(method);
    cmd.object(attr, handle);
    unless_gone(cmd.execute_or_write(kernel, op, request)).map(drop)
}

/// Destroys an object of a kind that only the ioctl knows.
pub(crate) fn destroy_by_ioctl(
    kernel: Kernel<'_>,
    method: Method,
    attr: u16,
    handle: u32,
) -> Result<()> {
    let mut cmd = Command::new(method);
    cmd.object(attr, handle);
    unless_gone(cmd.execute(kernel)).map(drop)
}
