//! GID tables.
//!
//! The kernel's entries have the layout and the numbers of `struct ibv_gid_entry`. Both methods
//! came at the same time, so a lack of one is remembered for both.

use crate::abi::*;
use crate::cmd::{Command, Kernel, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

const _: () = assert!(
    size_of::<ibv_gid_entry>() == size_of::<ib_uverbs_gid_entry>()
        && IBV_GID_TYPE_IB == IB_UVERBS_GID_TYPE_IB
        && IBV_GID_TYPE_ROCE_V1 == IB_UVERBS_GID_TYPE_ROCE_V1
        && IBV_GID_TYPE_ROCE_V2 == IB_UVERBS_GID_TYPE_ROCE_V2
);

/// Queries an entry of a port's GID table. Nothing when the kernel lacks the method and sysfs must
/// be asked; ENODATA for an empty entry. `ibv_query_gid_ex(3)`
///
/// # Safety
///
/// `entry` must be writable for `entry_size` bytes.
pub(crate) unsafe fn query_gid_entry(
    kernel: Kernel<'_>,
    port_num: u32,
    gid_index: u32,
    flags: u32,
    entry: *mut ibv_gid_entry,
    entry_size: usize,
) -> Result<Option<()>> {
    let mut cmd = Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY));
    cmd.u64(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, u64::from(port_num))
        .u64(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, u64::from(gid_index))
        .u32(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags);
    // SAFETY: the caller's promise.
    unsafe { cmd.output_at(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry.cast(), entry_size) };
    let done = cmd.run(kernel, op_index!(async_event))?.is_done();
    Ok(done.then_some(()))
}

/// Queries the valid entries of all ports' GID tables, at most `max_entries`, and returns their
/// number. Nothing when the kernel lacks the method and sysfs must be asked; EINVAL when there are
/// more. `ibv_query_gid_table(3)`
///
/// # Safety
///
/// `entries` must be writable for `max_entries` entries of `entry_size` bytes.
pub(crate) unsafe fn query_gid_table(
    kernel: Kernel<'_>,
    entries: *mut ibv_gid_entry,
    max_entries: usize,
    flags: u32,
    entry_size: usize,
) -> Result<Option<usize>> {
    // An attribute cannot say more; a caller with more room than that loses nothing by it.
    let most = usize::from(u16::MAX).checked_div(entry_size).ok_or(Errno::EINVAL)?;
    let size = max_entries.min(most) * entry_size;
    let mut count = 0_u64;
    let mut cmd = Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE));
    cmd.u64(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, entry_size as u64)
        .u32(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags);
    // SAFETY: the caller's promise.
    unsafe { cmd.output_at(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries.cast(), size) };
    cmd.output(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &mut count);
    let done = cmd.run(kernel, op_index!(async_event))?.is_done();
    Ok(done.then_some(count as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

    fn entry(context: &TestContext) -> Result<Option<()>> {
        let mut entry = ibv_gid_entry::zeroed();
        let size = size_of_val(&entry);
        // SAFETY: the entry has this size.
        unsafe { query_gid_entry(context.kernel(), 1, 2, 0, &mut entry, size) }
    }

    fn table(
        context: &TestContext,
        max_entries: usize,
        entry_size: usize,
    ) -> Result<Option<usize>> {
        let mut entries = vec![ibv_gid_entry::zeroed(); max_entries];
        // SAFETY: the entries are at least of this size.
        unsafe {
            query_gid_table(context.kernel(), entries.as_mut_ptr(), max_entries, 0, entry_size)
        }
    }

    #[test]
    fn the_kernel_answers() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            if ioctl.method == UVERBS_METHOD_QUERY_GID_TABLE {
                ioctl.output(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &3_u64);
            } else if ioctl.data(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX) != Some(2) {
                return Reply::Fail(libc::ENODATA);
            }
            Reply::Done
        });
        assert_eq!(entry(&context), Ok(Some(())));
        assert_eq!(fake::calls(), ["ioctl 0.6: 0(len8) 1(len8) 2(len4) 3(len32)"]);
        assert_eq!(table(&context, 4, 32), Ok(Some(3)));
        assert_eq!(fake::calls(), ["ioctl 0.5: 0(len8) 1(len4) 2(len128) 3(len8)"]);
        // What an attribute can say at most.
        assert_eq!(table(&context, 4096, 32), Ok(Some(3)));
        assert_eq!(fake::calls(), ["ioctl 0.5: 0(len8) 1(len4) 2(len65504) 3(len8)"]);
        assert_eq!(table(&context, 1, 0), Err(Errno::EINVAL));
    }

    #[test]
    fn a_kernel_without_one_method_has_none_of_them() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::EPROTONOSUPPORT));
        assert_eq!(entry(&context), Ok(None));
        assert_eq!(table(&context, 4, 32), Ok(None));
        assert_eq!(fake::calls().len(), 1);
    }

    #[test]
    fn an_empty_entry_is_an_error() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::ENODATA));
        assert_eq!(entry(&context), Err(Errno::ENODATA));
    }
}
