//! The transport for providers that build their own ioctl commands (`cmd_ioctl.h`).

use core::ffi::{c_int, c_uint};

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::blocks::Blocks;
use crate::cmd::kernel::Kernel;
use crate::cmd::message::{MAX_ATTRS, Message};
use crate::log::log;
use crate::sys::errno::{Errno, Result, ReturnNumber};

/// Sends a provider's command: the attributes of its block, then those of the blocks linked to it.
/// What the kernel made of them is stored in the blocks. Returns 0 or the error number; `errno` is
/// set as well. `cmd_ioctl.h: execute_ioctl`
unsafe extern "C" fn execute_ioctl(
    context: *mut ibv_context,
    cmd: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its context and a command that it built.
    unsafe {
        let (object, method) = ((*cmd).hdr.object_id, (*cmd).hdr.method_id);
        execute(Kernel::of(context), object, method, Blocks::new(cmd))
    }
    .or_number()
}
export_private!(execute_ioctl);

fn execute(kernel: Kernel<'_>, object: u16, method: u16, blocks: Blocks<'_>) -> Result<()> {
    // Few commands have many attributes.
    const FEW: usize = 32;
    if blocks.attr_count() <= FEW {
        exchange(kernel, &mut Message::<FEW>::new(object, method), blocks)
    } else {
        exchange(kernel, &mut Box::new(Message::<MAX_ATTRS>::new(object, method)), blocks)
    }
}

/// Sends a message that has no attributes yet but those of the blocks.
fn exchange<const N: usize>(
    kernel: Kernel<'_>,
    message: &mut Message<N>,
    blocks: Blocks<'_>,
) -> Result<()> {
    let (object, method) = message.method();
    let mut complete =
        !blocks.has_buffer_error() && blocks.of_other_method(object, method).is_none();
    blocks.gather(|attr| complete &= message.push(attr));
    if !complete {
        log!(
            VERBS_LOG_ERR,
            "{kernel}: ioctl {object:#x}.{method:#x} of the provider: an attribute is too long, \
             there are too many, or a linked block is for another method"
        );
        return Err(Errno::EINVAL);
    }
    // SAFETY: the provider built the attributes for this method.
    unsafe { kernel.ioctl(message) }.inspect_err(|errno| {
        let reason = std::io::Error::from_raw_os_error(errno.0);
        log!(VERBS_LOG_INFO, "{kernel}: ioctl {object:#x}.{method:#x} of the provider: {reason}");
    })?;
    blocks.scatter(message.attrs().iter().copied());
    Ok(())
}

/// The number of attributes that a command with `num_attrs` of its own has when the blocks from
/// `link` on are added. `cmd_ioctl.h: __ioctl_final_num_attrs`
unsafe extern "C" fn __ioctl_final_num_attrs(
    num_attrs: c_uint,
    link: *mut ibv_command_buffer,
) -> c_uint {
    // SAFETY: the provider passes NULL or blocks that it built.
    let linked = unsafe { Blocks::new(link) }.attr_count();
    num_attrs.saturating_add(c_uint::try_from(linked).unwrap_or(c_uint::MAX))
}
export_private!(__ioctl_final_num_attrs);

#[cfg(test)]
mod tests;
