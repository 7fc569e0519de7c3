//! Parts of the device file as dma-bufs.

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Command, Kernel, method};
use crate::sys::errno::{Result, ReturnMinusOne};
use crate::uapi::*;

/// Exports the mapping at an offset of the device file as a dma-buf. Returns its file descriptor,
/// or -1 with `errno`. `ibv_dm_export_dmabuf_fd(3)`, `driver.h: ibv_cmd_export_dmabuf_fd`
pub(super) unsafe extern "C" fn ibv_cmd_export_dmabuf_fd(
    ctx: *mut ibv_context,
    pg_off: libc::off_t,
) -> c_int {
    // SAFETY: the provider passes its context.
    export_dmabuf_fd(unsafe { Kernel::of(ctx) }, pg_off as u64).or_minus_one()
}
export_private!(ibv_cmd_export_dmabuf_fd since 59);

fn export_dmabuf_fd(kernel: Kernel<'_>, page_offset: u64) -> Result<c_int> {
    let mut fd = -1;
    Command::new(method!(UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC))
        .new_fd(UVERBS_ATTR_ALLOC_DMABUF_HANDLE, &mut fd)
        .u64(UVERBS_ATTR_ALLOC_DMABUF_PGOFF, page_offset)
        .execute(kernel)?;
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
    use crate::sys::errno::Errno;

    #[test]
    fn the_descriptor_is_returned_or_minus_one() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            if ioctl.data(UVERBS_ATTR_ALLOC_DMABUF_PGOFF) != Some(0x1000) {
                return Reply::Fail(libc::EINVAL);
            }
            ioctl.set_data(UVERBS_ATTR_ALLOC_DMABUF_HANDLE, 31);
            Reply::Done
        });
        // SAFETY: the context is valid.
        unsafe {
            assert_eq!(ibv_cmd_export_dmabuf_fd(context.get(), 0x1000), 31);
            assert_eq!(ibv_cmd_export_dmabuf_fd(context.get(), -1), -1);
        }
        assert_eq!(Errno::last(), Errno::EINVAL);
    }
}
