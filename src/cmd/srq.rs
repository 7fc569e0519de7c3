//! Shared receive queues. `ibv_create_srq(3)`, `ibv_create_srq_ex(3)`, `ibv_modify_srq(3)`,
//! `ibv_query_srq(3)`

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{
    Buffers, Command, Kernel, Outcome, RequestBuffer, method, unless_gone, uverbs_abi,
    wait_for_events,
};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Creates a plain SRQ. Returns 0 or the error number. `driver.h: ibv_cmd_create_srq`
pub(super) unsafe extern "C" fn ibv_cmd_create_srq(
    pd: *mut ibv_pd,
    srq: *mut ibv_srq,
    attr: *mut ibv_srq_init_attr,
    cmd: *mut ibv_create_srq,
    cmd_size: usize,
    resp: *mut ib_uverbs_create_srq_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its PD, its new SRQ, attributes and buffers of these sizes.
    unsafe {
        let wanted = Wanted { pd, attr: &raw mut (*attr).attr, kind: Kind::Basic };
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create(Kernel::of((*pd).context), srq, &wanted, buffers).map(drop)
    }
    .or_number()
}
export_private!(ibv_cmd_create_srq);

/// Creates an SRQ of any type. Returns 0 or the error number: EOPNOTSUPP for attributes that are
/// not known, EINVAL for a type without what it needs. `driver.h: ibv_cmd_create_srq_ex`
pub(super) unsafe extern "C" fn ibv_cmd_create_srq_ex(
    context: *mut ibv_context,
    srq: *mut verbs_srq,
    attr_ex: *mut ibv_srq_init_attr_ex,
    cmd: *mut ibv_create_xsrq,
    cmd_size: usize,
    resp: *mut ib_uverbs_create_srq_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, its new SRQ, attributes and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create_ex(Kernel::of(context), srq, attr_ex, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_create_srq_ex);

/// Destroys an SRQ and waits until the program has acknowledged all events about it that it has
/// read. Returns 0 or the error number. `driver.h: ibv_cmd_destroy_srq`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_srq(srq: *mut ibv_srq) -> c_int {
    // SAFETY: the provider passes its SRQ, for the last time.
    unsafe { destroy(Kernel::of((*srq).context), srq) }.or_number()
}
export_private!(ibv_cmd_destroy_srq);

/// Changes the size or the limit of an SRQ. Returns 0 or the error number.
/// `driver.h: ibv_cmd_modify_srq`
pub(super) unsafe extern "C" fn ibv_cmd_modify_srq(
    srq: *mut ibv_srq,
    srq_attr: *mut ibv_srq_attr,
    srq_attr_mask: c_int,
    cmd: *mut ibv_modify_srq,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its SRQ, attributes and a buffer of this size.
    unsafe { modify(srq, srq_attr, srq_attr_mask.cast_unsigned(), cmd, cmd_size) }.or_number()
}
export_private!(ibv_cmd_modify_srq);

/// Asks for the attributes of an SRQ. Returns 0 or the error number.
/// `driver.h: ibv_cmd_query_srq`
pub(super) unsafe extern "C" fn ibv_cmd_query_srq(
    srq: *mut ibv_srq,
    srq_attr: *mut ibv_srq_attr,
    cmd: *mut ibv_query_srq,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its SRQ, attributes to be filled in and a buffer of this size.
    unsafe {
        let mut request = ib_uverbs_query_srq::zeroed();
        request.srq_handle = (*srq).handle;
        let buffers = Buffers::request(cmd, cmd_size);
        Kernel::of((*srq).context).write(request, buffers).map(|response| {
            let ib_uverbs_query_srq_resp { max_wr, max_sge, srq_limit, .. } = response;
            *srq_attr = ibv_srq_attr { max_wr, max_sge, srq_limit };
        })
    }
    .or_number()
}
export_private!(ibv_cmd_query_srq);

/// What a new SRQ shall be like.
struct Wanted {
    pd: *mut ibv_pd,
    /// The sizes in it are replaced by those that the SRQ got.
    attr: *mut ibv_srq_attr,
    kind: Kind,
}

/// The types of SRQs, with what each needs.
#[derive(Clone, Copy)]
enum Kind {
    Basic,
    Xrc { xrcd: *mut verbs_xrcd, cq: *mut ibv_cq },
    TagMatching { cq: *mut ibv_cq, max_num_tags: u32 },
}

impl Kind {
    fn number(self) -> ibv_srq_type {
        match self {
            Kind::Basic => IBV_SRQT_BASIC,
            Kind::Xrc { .. } => IBV_SRQT_XRC,
            Kind::TagMatching { .. } => IBV_SRQT_TM,
        }
    }

    /// # Safety
    ///
    /// `attr` must point to attributes of which at least those are set that its mask names.
    unsafe fn of(attr: *const ibv_srq_init_attr_ex) -> Result<Kind> {
        // SAFETY: the caller's promise; each member is read only if the mask names it.
        unsafe {
            let has = |bits: u32| (*attr).comp_mask & bits == bits;
            let srq_type =
                if has(IBV_SRQ_INIT_ATTR_TYPE) { (*attr).srq_type } else { IBV_SRQT_BASIC };
            match srq_type {
                IBV_SRQT_BASIC => Ok(Kind::Basic),
                IBV_SRQT_XRC if has(IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ) => {
                    let (xrcd, cq) = ((*attr).xrcd, (*attr).cq);
                    if xrcd.is_null() || cq.is_null() {
                        return Err(Errno::EINVAL);
                    }
                    // The public XRC domain begins the provider API's.
                    Ok(Kind::Xrc { xrcd: xrcd.cast(), cq })
                }
                IBV_SRQT_TM if has(IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM) => {
                    let (cq, max_num_tags) = ((*attr).cq, (*attr).tm_cap.max_num_tags);
                    if cq.is_null() || max_num_tags == 0 {
                        return Err(Errno::EINVAL);
                    }
                    Ok(Kind::TagMatching { cq, max_num_tags })
                }
                _ => Err(Errno::EINVAL),
            }
        }
    }
}

/// # Safety
///
/// As for [`create`]; `attr` must point to attributes of which at least those are set that its
/// mask names.
unsafe fn create_ex(
    kernel: Kernel<'_>,
    srq: *mut verbs_srq,
    attr: *mut ibv_srq_init_attr_ex,
    buffers: Buffers<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let mask = (*attr).comp_mask;
        if mask >= IBV_SRQ_INIT_ATTR_RESERVED {
            return Err(Errno::EOPNOTSUPP);
        }
        if mask & IBV_SRQ_INIT_ATTR_PD == 0 || (*attr).pd.is_null() {
            return Err(Errno::EINVAL);
        }
        let kind = Kind::of(attr)?;
        let wanted = Wanted { pd: (*attr).pd, attr: &raw mut (*attr).attr, kind };
        let number = create(kernel, &raw mut (*srq).srq, &wanted, buffers)?;
        // Of an SRQ with extended attributes nobody else stores it.
        (*srq).srq.srq_context = (*attr).srq_context;
        (*srq).srq_type = kind.number();
        if let Kind::Xrc { xrcd, .. } = kind {
            (*srq).srq_num = number;
            (*srq).xrcd = xrcd;
        }
        // A basic SRQ keeps it too, though the kernel is not told.
        if mask & IBV_SRQ_INIT_ATTR_CQ != 0 {
            (*srq).cq = (*attr).cq;
        }
    }
    Ok(())
}

/// Creates an SRQ, fills in the library's members of it and returns its number, which only an XRC
/// SRQ has.
///
/// # Safety
///
/// `srq` must be a new SRQ that nobody else uses, all objects in `wanted` must live.
unsafe fn create(
    kernel: Kernel<'_>,
    srq: *mut ibv_srq,
    wanted: &Wanted,
    buffers: Buffers<'_>,
) -> Result<u32> {
    // SAFETY: the caller's promise. An event can name the SRQ as soon as the kernel knows it.
    let (pd_handle, attr, async_fd) = unsafe {
        (*srq).context = kernel.context();
        (*srq).pd = wanted.pd;
        (*srq).events_completed = 0;
        libc::pthread_mutex_init(&raw mut (*srq).mutex, ptr::null());
        libc::pthread_cond_init(&raw mut (*srq).cond, ptr::null());
        ((*wanted.pd).handle, *wanted.attr, (*kernel.context()).async_fd)
    };
    // SAFETY: the caller's promise.
    let (xrcd_handle, cq_handle, max_num_tags) = unsafe {
        match wanted.kind {
            Kind::Basic => (0, 0, 0),
            Kind::Xrc { xrcd, cq } => ((*xrcd).handle, (*cq).handle, 0),
            Kind::TagMatching { cq, max_num_tags } => (0, (*cq).handle, max_num_tags),
        }
    };
    let user_handle = srq.expose_provenance() as u64;
    let srq_type = wanted.kind.number();
    let (mut handle, mut max_wr, mut max_sge, mut number) = (0, attr.max_wr, attr.max_sge, 0_u32);

    let mut cmd = Command::new(method!(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE));
    match wanted.kind {
        Kind::Basic => {}
        Kind::Xrc { .. } => {
            cmd.object(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, xrcd_handle)
                .object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, cq_handle)
                .output(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &mut number);
        }
        Kind::TagMatching { .. } => {
            cmd.object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, cq_handle)
                .u32(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, max_num_tags);
        }
    }
    cmd.new_object(UVERBS_ATTR_CREATE_SRQ_HANDLE, &mut handle)
        .u64(UVERBS_ATTR_CREATE_SRQ_TYPE, u64::from(srq_type))
        .u64(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, user_handle)
        .object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pd_handle)
        .u32(UVERBS_ATTR_CREATE_SRQ_MAX_WR, attr.max_wr)
        .u32(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, attr.max_sge)
        .u32(UVERBS_ATTR_CREATE_SRQ_LIMIT, attr.srq_limit)
        .fd(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, async_fd)
        .output(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &mut max_wr)
        .output(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &mut max_sge)
        .provider_bytes(&buffers);
    if kernel.private().is_imported() {
        cmd.ioctl_only();
    }

    match cmd.run(kernel, op_index!(create_srq))? {
        Outcome::Done => {}
        Outcome::Write(write) | Outcome::WriteEx(write) => match wanted.kind {
            Kind::Basic => {
                let request = ib_uverbs_create_srq {
                    response: 0,
                    user_handle,
                    pd_handle,
                    max_wr: attr.max_wr,
                    max_sge: attr.max_sge,
                    srq_limit: attr.srq_limit,
                    driver_data: [],
                };
                if uverbs_abi() > 5 {
                    let response = write.send(request)?;
                    handle = response.srq_handle;
                    (max_wr, max_sge) = (response.max_wr, response.max_sge);
                } else {
                    // An SRQ of the old interface is as large as it should be.
                    let response = write.send_for::<_, ibv_create_srq_resp_v5>(request)?;
                    handle = response.srq_handle;
                }
            }
            Kind::Xrc { .. } | Kind::TagMatching { .. } => {
                let response = write.send(ib_uverbs_create_xsrq {
                    response: 0,
                    user_handle,
                    srq_type,
                    pd_handle,
                    max_wr: attr.max_wr,
                    max_sge: attr.max_sge,
                    srq_limit: attr.srq_limit,
                    max_num_tags,
                    xrcd_handle,
                    cq_handle,
                    driver_data: [],
                })?;
                handle = response.srq_handle;
                (max_wr, max_sge, number) = (response.max_wr, response.max_sge, response.srqn);
            }
        },
    }
    // SAFETY: the caller's promise.
    unsafe {
        (*srq).handle = handle;
        (*wanted.attr).max_wr = max_wr;
        (*wanted.attr).max_sge = max_sge;
    }
    Ok(number)
}

/// # Safety
///
/// `srq` must be an SRQ that is set up, and whose memory lives until this returns.
unsafe fn destroy(kernel: Kernel<'_>, srq: *mut ibv_srq) -> Result<()> {
    // SAFETY: the caller's promise.
    let handle = unsafe { (*srq).handle };
    let mut reported = ib_uverbs_destroy_srq_resp::zeroed();
    let mut cmd = Command::new(method!(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY));
    cmd.output(UVERBS_ATTR_DESTROY_SRQ_RESP, &mut reported)
        .object(UVERBS_ATTR_DESTROY_SRQ_HANDLE, handle);
    let request = ib_uverbs_destroy_srq { response: 0, srq_handle: handle, reserved: 0 };
    match unless_gone(cmd.execute_or_write(kernel, op_index!(destroy_srq), request))? {
        None => return Ok(()),
        Some(None) => {}
        Some(Some(response)) => reported = response,
    }
    // SAFETY: the caller's promise; the counter changes with the mutex held.
    unsafe {
        wait_for_events(
            &raw mut (*srq).mutex,
            &raw mut (*srq).cond,
            format_args!("SRQ {handle}"),
            || reported.events_reported.wrapping_sub((*srq).events_completed),
        );
    }
    Ok(())
}

/// # Safety
///
/// `srq` must be an SRQ, `attr` attributes of which at least those are set that the mask names,
/// `cmd` a buffer of the size or NULL.
unsafe fn modify(
    srq: *const ibv_srq,
    attr: *const ibv_srq_attr,
    mask: u32,
    cmd: *mut ibv_modify_srq,
    cmd_size: usize,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (kernel, handle, max_wr, srq_limit) = unsafe {
        (
            Kernel::of((*srq).context),
            (*srq).handle,
            if mask & IBV_SRQ_MAX_WR != 0 { (*attr).max_wr } else { 0 },
            if mask & IBV_SRQ_LIMIT != 0 { (*attr).srq_limit } else { 0 },
        )
    };
    if uverbs_abi() != 3 {
        let request = ib_uverbs_modify_srq {
            srq_handle: handle,
            attr_mask: mask,
            max_wr,
            srq_limit,
            driver_data: [],
        };
        // SAFETY: the caller's promise.
        let buffers = unsafe { Buffers::request(cmd, cmd_size) };
        return kernel.write(request, buffers).map(drop);
    }
    // The oldest interface has a longer struct, for which the buffer has no room.
    let provider = cmd_size.saturating_sub(size_of::<ibv_modify_srq>());
    let request = ib_uverbs_modify_srq_v3 {
        srq_handle: handle,
        attr_mask: mask,
        max_wr,
        max_sge: 0,
        srq_limit,
        reserved: 0,
    };
    let mut request = RequestBuffer::new(request, provider)?;
    if provider > 0 && !cmd.is_null() {
        // SAFETY: the caller's promise: the buffer goes on behind the struct.
        let bytes = unsafe { core::slice::from_raw_parts(cmd.add(1).cast(), provider) };
        request.push_provider_bytes(bytes)?;
    }
    request.send(kernel).map(drop)
}

#[cfg(test)]
mod tests;
