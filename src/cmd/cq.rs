//! Completion queues: creation, destruction, resizing, moderation. `ibv_create_cq(3)`,
//! `ibv_create_cq_ex(3)`, `ibv_resize_cq(3)`, `ibv_modify_cq(3)`

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Blocks, Buffers, Command, Kernel, Outcome, method, unless_gone, wait_for_events};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Creates a CQ. Returns 0 or the error number. `driver.h: ibv_cmd_create_cq`
pub(super) unsafe extern "C" fn ibv_cmd_create_cq(
    context: *mut ibv_context,
    cqe: c_int,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
    cq: *mut ibv_cq,
    cmd: *mut ibv_create_cq,
    cmd_size: usize,
    resp: *mut ib_uverbs_create_cq_resp,
    resp_size: usize,
) -> c_int {
    let cqe = cqe.cast_unsigned();
    let comp_vector = comp_vector.cast_unsigned();
    let wanted = Wanted { cqe, channel, comp_vector, ..Wanted::default() };
    // SAFETY: the provider passes its context, a channel of it or NULL, its new CQ and buffers of
    // these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create(Kernel::of(context), cq, &wanted, buffers, Blocks::NONE)
    }
    .or_number()
}
export_private!(ibv_cmd_create_cq);

/// Creates a CQ with extended attributes; the buffer of the CQ can be the provider's, by
/// `cmd_flags` and `prov_attr`. Returns 0 or the error number: EOPNOTSUPP for attributes that are
/// not known, EINVAL for a buffer flag without a buffer. `driver.h: ibv_cmd_create_cq_ex`
pub(crate) unsafe extern "C" fn ibv_cmd_create_cq_ex(
    context: *mut ibv_context,
    cq_attr: *const ibv_cq_init_attr_ex,
    prov_attr: *mut verbs_create_cq_prov_attr,
    cq: *mut verbs_cq,
    cmd: *mut ibv_create_cq_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_cq_resp,
    resp_size: usize,
    cmd_flags: u32,
) -> c_int {
    // SAFETY: the provider passes its context, attributes, its new CQ and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create_ex(Kernel::of(context), cq, cq_attr, prov_attr, cmd_flags, buffers, Blocks::NONE)
    }
    .or_number()
}
export_private!(ibv_cmd_create_cq_ex since 59);

/// [`ibv_cmd_create_cq_ex`] with attributes of the provider. `driver.h: ibv_cmd_create_cq_ex2`
pub(crate) unsafe extern "C" fn ibv_cmd_create_cq_ex2(
    context: *mut ibv_context,
    cq_attr: *const ibv_cq_init_attr_ex,
    prov_attr: *mut verbs_create_cq_prov_attr,
    cq: *mut verbs_cq,
    cmd: *mut ibv_create_cq_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_cq_resp,
    resp_size: usize,
    cmd_flags: u32,
    driver: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: as above; `driver` is NULL or a chain of blocks of the provider.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        let blocks = Blocks::new(driver);
        create_ex(Kernel::of(context), cq, cq_attr, prov_attr, cmd_flags, buffers, blocks)
    }
    .or_number()
}
export_private!(ibv_cmd_create_cq_ex2 since 59);

/// Destroys a CQ and waits until the program has acknowledged all events about it that it has
/// read. Returns 0 or the error number. `driver.h: ibv_cmd_destroy_cq`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_cq(cq: *mut ibv_cq) -> c_int {
    // SAFETY: the provider passes its CQ, for the last time.
    unsafe { destroy(Kernel::of((*cq).context), cq) }.or_number()
}
export_private!(ibv_cmd_destroy_cq);

/// Gives a CQ room for at least `cqe` completions. Returns 0 or the error number.
/// `driver.h: ibv_cmd_resize_cq`
pub(super) unsafe extern "C" fn ibv_cmd_resize_cq(
    cq: *mut ibv_cq,
    cqe: c_int,
    cmd: *mut ibv_resize_cq,
    cmd_size: usize,
    resp: *mut ib_uverbs_resize_cq_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its CQ and buffers of these sizes.
    unsafe {
        let mut request = ib_uverbs_resize_cq::zeroed();
        request.cq_handle = (*cq).handle;
        request.cqe = cqe.cast_unsigned();
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        Kernel::of((*cq).context)
            .write(request, buffers)
            .map(|response| (*cq).cqe = response.cqe.cast_signed())
    }
    .or_number()
}
export_private!(ibv_cmd_resize_cq);

/// Asks for an event when the next completion arrives, or the next solicited one. Returns 0 or the
/// error number. `driver.h: ibv_cmd_req_notify_cq`
pub(super) unsafe extern "C" fn ibv_cmd_req_notify_cq(
    cq: *mut ibv_cq,
    solicited_only: c_int,
) -> c_int {
    // SAFETY: the provider passes its CQ.
    unsafe {
        let request = ib_uverbs_req_notify_cq {
            cq_handle: (*cq).handle,
            solicited_only: u32::from(solicited_only != 0),
        };
        Kernel::of((*cq).context).write(request, Buffers::NONE).map(drop)
    }
    .or_number()
}
export_private!(ibv_cmd_req_notify_cq);

/// Changes the moderation of a CQ's events. Returns 0 or the error number: EINVAL for attributes
/// that are not known. `driver.h: ibv_cmd_modify_cq`
pub(super) unsafe extern "C" fn ibv_cmd_modify_cq(
    cq: *mut ibv_cq,
    attr: *mut ibv_modify_cq_attr,
    cmd: *mut ibv_modify_cq,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its CQ, attributes and a buffer of this size.
    unsafe { modify(cq, attr, Buffers::request(cmd, cmd_size)) }.or_number()
}
export_private!(ibv_cmd_modify_cq);

/// What a new CQ shall be like.
struct Wanted {
    /// The least number of entries.
    cqe: u32,
    /// NULL: no events.
    channel: *mut ibv_comp_channel,
    comp_vector: u32,
    /// `enum ib_uverbs_ex_create_cq_flags`.
    flags: u32,
    /// An old kernel may ignore the flag for timestamps: the provider reads them without it.
    timestamp_is_optional: bool,
    buffer: Option<CqBuffer>,
}

/// A buffer of the provider for the entries of a CQ.
#[derive(Clone, Copy)]
enum CqBuffer {
    Memory { address: *mut u8, length: u64 },
    DmaBuf { fd: c_int, offset: u64, length: u64 },
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted {
            cqe: 0,
            channel: core::ptr::null_mut(),
            comp_vector: 0,
            flags: 0,
            timestamp_is_optional: false,
            buffer: None,
        }
    }
}

/// Takes the extended attributes apart and creates the CQ.
///
/// # Safety
///
/// As for [`create`]; `attr` must point to attributes of which at least those are set that its
/// mask names, and `prov_attr` to a buffer's description or be NULL.
unsafe fn create_ex(
    kernel: Kernel<'_>,
    cq: *mut verbs_cq,
    attr: *const ibv_cq_init_attr_ex,
    prov_attr: *const verbs_create_cq_prov_attr,
    cmd_flags: u32,
    buffers: Buffers<'_>,
    blocks: Blocks<'_>,
) -> Result<()> {
    const WITH_TIMESTAMP: ibv_create_cq_wc_flags =
        IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    // SAFETY: the caller's promise.
    unsafe {
        if (*attr).comp_mask & !(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        (*cq).cq.context = kernel.context();
        let mut flags = 0;
        if (*attr).wc_flags & u64::from(WITH_TIMESTAMP) != 0 {
            flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
        }
        if (*attr).comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS != 0
            && (*attr).flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN != 0
        {
            flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
        }
        let wanted = Wanted {
            cqe: (*attr).cqe,
            channel: (*attr).channel,
            comp_vector: (*attr).comp_vector,
            flags,
            timestamp_is_optional: cmd_flags & CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX != 0,
            buffer: cq_buffer(cmd_flags, prov_attr)?,
        };
        create(kernel, (&raw mut (*cq).cq).cast(), &wanted, buffers, blocks)
    }
}

/// The buffer that the flags announce. EINVAL if it is not described, or twice.
///
/// # Safety
///
/// `prov_attr` must be NULL or point to the description that the flags announce.
unsafe fn cq_buffer(
    cmd_flags: u32,
    prov_attr: *const verbs_create_cq_prov_attr,
) -> Result<Option<CqBuffer>> {
    const MEMORY: u32 = CREATE_CQ_CMD_FLAGS_WITH_MEM_VA;
    const DMABUF: u32 = CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF;
    let kind = cmd_flags & (MEMORY | DMABUF);
    if kind == 0 {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let buffer = unsafe { prov_attr.as_ref() }.ok_or(Errno::EINVAL)?.buffer;
    let length = buffer.length;
    // SAFETY: the flag says which member of the union is set.
    unsafe {
        match kind {
            MEMORY => Ok(Some(CqBuffer::Memory { address: buffer.source.ptr, length })),
            DMABUF => {
                let verbs_create_cq_prov_attr_buffer_dmabuf { offset, fd } = buffer.source.dmabuf;
                Ok(Some(CqBuffer::DmaBuf { fd, offset, length }))
            }
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Creates a CQ and stores its context, handle and size.
///
/// # Safety
///
/// `cq` must be a new CQ that nobody else uses; the channel, if any, and the provider's buffer
/// must live.
unsafe fn create(
    kernel: Kernel<'_>,
    cq: *mut ibv_cq,
    wanted: &Wanted,
    buffers: Buffers<'_>,
    blocks: Blocks<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (channel_fd, async_fd) = unsafe {
        (*cq).context = kernel.context();
        (wanted.channel.as_ref().map_or(-1, |channel| channel.fd), (*kernel.context()).async_fd)
    };
    let imported = kernel.private().is_imported();
    let user_handle = cq.expose_provenance() as u64;
    let (mut handle, mut cqe) = (0, 0_u32);

    let mut cmd = Command::new(method!(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE));
    cmd.new_object(UVERBS_ATTR_CREATE_CQ_HANDLE, &mut handle)
        .output(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &mut cqe)
        .u32(UVERBS_ATTR_CREATE_CQ_CQE, wanted.cqe)
        .u64(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, user_handle)
        .fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, channel_fd)
        .u32(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, wanted.comp_vector);
    if imported {
        // Such a context has no event file but its own, so the kernel must know the attribute.
        cmd.fd(UVERBS_ATTR_CREATE_CQ_EVENT_FD, async_fd).ioctl_only();
    } else {
        cmd.optional_fd(UVERBS_ATTR_CREATE_CQ_EVENT_FD, async_fd);
    }
    match wanted.buffer {
        None => {}
        Some(CqBuffer::Memory { address, length }) => {
            cmd.u64(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, address.expose_provenance() as u64)
                .u64(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, length)
                .ioctl_only();
        }
        Some(CqBuffer::DmaBuf { fd, offset, length }) => {
            cmd.fd(UVERBS_ATTR_CREATE_CQ_BUFFER_FD, fd)
                .u64(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, offset)
                .u64(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, length)
                .ioctl_only();
        }
    }
    if wanted.flags != 0 {
        cmd.u32(UVERBS_ATTR_CREATE_CQ_FLAGS, wanted.flags);
        let timestamp_only = wanted.flags == IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
        if !(timestamp_only && wanted.timestamp_is_optional) {
            cmd.extended_write();
        }
    }
    cmd.provider_bytes(&buffers).link(blocks);

    match cmd.run(kernel, op_index!(create_cq))? {
        Outcome::Done => {}
        Outcome::Write(write) => {
            let response = write.send(ib_uverbs_create_cq {
                response: 0,
                user_handle,
                cqe: wanted.cqe,
                comp_vector: wanted.comp_vector,
                comp_channel: channel_fd,
                reserved: 0,
                driver_data: [],
            })?;
            (handle, cqe) = (response.cq_handle, response.cqe);
        }
        Outcome::WriteEx(write) => {
            let response = write.send(ib_uverbs_ex_create_cq {
                user_handle,
                cqe: wanted.cqe,
                comp_vector: wanted.comp_vector,
                comp_channel: channel_fd,
                comp_mask: 0,
                flags: wanted.flags,
                reserved: 0,
            })?;
            (handle, cqe) = (response.base.cq_handle, response.base.cqe);
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        (*cq).handle = handle;
        (*cq).cqe = cqe.cast_signed();
    }
    Ok(())
}

/// # Safety
///
/// `cq` must be a CQ that is set up, and whose memory lives until this returns.
unsafe fn destroy(kernel: Kernel<'_>, cq: *mut ibv_cq) -> Result<()> {
    // SAFETY: the caller's promise.
    let handle = unsafe { (*cq).handle };
    let mut reported = ib_uverbs_destroy_cq_resp::zeroed();
    let mut cmd = Command::new(method!(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY));
    cmd.output(UVERBS_ATTR_DESTROY_CQ_RESP, &mut reported)
        .object(UVERBS_ATTR_DESTROY_CQ_HANDLE, handle);
    let request = ib_uverbs_destroy_cq { response: 0, cq_handle: handle, reserved: 0 };
    match unless_gone(cmd.execute_or_write(kernel, op_index!(destroy_cq), request))? {
        None => return Ok(()),
        Some(None) => {}
        Some(Some(response)) => reported = response,
    }
    // SAFETY: the caller's promise; the counters change with the mutex held.
    unsafe {
        wait_for_events(
            &raw mut (*cq).mutex,
            &raw mut (*cq).cond,
            format_args!("CQ {handle}"),
            || {
                let comp = reported.comp_events_reported.wrapping_sub((*cq).comp_events_completed);
                let other =
                    reported.async_events_reported.wrapping_sub((*cq).async_events_completed);
                comp.saturating_add(other)
            },
        );
    }
    Ok(())
}

/// # Safety
///
/// `cq` must be a CQ, `attr` attributes of which at least those are set that the mask names.
unsafe fn modify(
    cq: *const ibv_cq,
    attr: *const ibv_modify_cq_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    let mut request = ib_uverbs_ex_modify_cq::zeroed();
    // SAFETY: the caller's promise.
    unsafe {
        let mask = (*attr).attr_mask;
        if mask >= IBV_CQ_ATTR_RESERVED {
            return Err(Errno::EINVAL);
        }
        request.cq_handle = (*cq).handle;
        request.attr_mask = mask;
        if mask & IBV_CQ_ATTR_MODERATE != 0 {
            request.attr.cq_count = (*attr).moderate.cq_count;
            request.attr.cq_period = (*attr).moderate.cq_period;
        }
        Kernel::of((*cq).context).write(request, buffers).map(drop)
    }
}

#[cfg(test)]
mod tests;
