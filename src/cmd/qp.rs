//! Queue pairs: creation and destruction. `ibv_create_qp(3)`, `ibv_create_qp_ex(3)`,
//! `ibv_open_qp(3)`

mod new;
mod open;
mod tail;

use core::ffi::c_int;
use core::ptr;

use self::new::{Objects, Wanted};
use self::open::open;
use self::tail::Tail;
pub(crate) use self::tail::comp_mask;
use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Blocks, Buffers, Command, Kernel, method, unless_gone, wait_for_events};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Creates a plain QP. Returns 0 or the error number: EINVAL for a type that is not known or needs
/// more than the plain attributes. `driver.h: ibv_cmd_create_qp`
pub(super) unsafe extern "C" fn ibv_cmd_create_qp(
    pd: *mut ibv_pd,
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_init_attr,
    cmd: *mut ibv_create_qp,
    cmd_size: usize,
    resp: *mut ib_uverbs_create_qp_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its PD, its new QP, attributes and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create_plain(Kernel::of((*pd).context), pd, qp, attr, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_create_qp);

/// Creates a QP that may belong to an XRC domain. Returns 0 or the error number: EINVAL for
/// attributes that are not known or do not suit the type. `driver.h: ibv_cmd_create_qp_ex`
pub(crate) unsafe extern "C" fn ibv_cmd_create_qp_ex(
    context: *mut ibv_context,
    qp: *mut verbs_qp,
    attr_ex: *mut ibv_qp_init_attr_ex,
    cmd: *mut ibv_create_qp,
    cmd_size: usize,
    resp: *mut ib_uverbs_create_qp_resp,
    resp_size: usize,
) -> c_int {
    const KNOWN: u32 =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    // SAFETY: the provider passes its context, its new QP, attributes and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create_ex(Kernel::of(context), qp, attr_ex, KNOWN, buffers, Blocks::NONE)
    }
    .or_number()
}
export_private!(ibv_cmd_create_qp_ex);

/// Creates a QP with flags or over an indirection table, and with attributes of the provider.
/// Returns 0 or the error number: EINVAL for attributes that are not known or do not suit the
/// type. `driver.h: ibv_cmd_create_qp_ex2`
pub(crate) unsafe extern "C" fn ibv_cmd_create_qp_ex2(
    context: *mut ibv_context,
    qp: *mut verbs_qp,
    attr_ex: *mut ibv_qp_init_attr_ex,
    cmd: *mut ibv_create_qp_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_qp_resp,
    resp_size: usize,
    driver: *mut ibv_command_buffer,
) -> c_int {
    const KNOWN: u32 = IBV_QP_INIT_ATTR_PD
        | IBV_QP_INIT_ATTR_XRCD
        | IBV_QP_INIT_ATTR_CREATE_FLAGS
        | IBV_QP_INIT_ATTR_MAX_TSO_HEADER
        | IBV_QP_INIT_ATTR_IND_TABLE
        | IBV_QP_INIT_ATTR_RX_HASH
        | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    // SAFETY: as above; `driver` is NULL or a chain of blocks of the provider.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create_ex(Kernel::of(context), qp, attr_ex, KNOWN, buffers, Blocks::new(driver))
    }
    .or_number()
}
export_private!(ibv_cmd_create_qp_ex2 since 64);

/// Opens the XRC receive QP with a given number. `vqp_sz` is the size in bytes of the provider's
/// `verbs_qp`. Returns 0 or the error number: EOPNOTSUPP for attributes that are not known, EINVAL
/// without domain, number and type. `driver.h: ibv_cmd_open_qp`
pub(crate) unsafe extern "C" fn ibv_cmd_open_qp(
    context: *mut ibv_context,
    qp: *mut verbs_qp,
    vqp_sz: c_int,
    attr: *mut ibv_qp_open_attr,
    cmd: *mut ibv_open_qp,
    cmd_size: usize,
    resp: *mut ib_uverbs_create_qp_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, its new QP, attributes and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        open(Kernel::of(context), qp, usize::try_from(vqp_sz).unwrap_or(0), attr, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_open_qp);

/// Destroys a QP and waits until the program has acknowledged all events about it that it has
/// read. Returns 0 or the error number. `driver.h: ibv_cmd_destroy_qp`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_qp(qp: *mut ibv_qp) -> c_int {
    // SAFETY: the provider passes its QP, for the last time.
    unsafe { destroy(Kernel::of((*qp).context), qp) }.or_number()
}
export_private!(ibv_cmd_destroy_qp);

/// # Safety
///
/// As for [`create`], of a type whose public attributes have no mask.
unsafe fn create_plain(
    kernel: Kernel<'_>,
    pd: *mut ibv_pd,
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_init_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    let mut attr_ex = ibv_qp_init_attr_ex::zeroed();
    // SAFETY: the caller's promise, here and below.
    unsafe {
        attr_ex.qp_context = (*attr).qp_context;
        attr_ex.send_cq = (*attr).send_cq;
        attr_ex.recv_cq = (*attr).recv_cq;
        attr_ex.srq = (*attr).srq;
        attr_ex.cap = (*attr).cap;
        attr_ex.qp_type = (*attr).qp_type;
        attr_ex.sq_sig_all = (*attr).sq_sig_all;
    }
    attr_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr_ex.pd = pd;
    // SAFETY: see above.
    unsafe {
        create(kernel, qp, &raw mut attr_ex, buffers, Blocks::NONE)?;
        (*attr).cap = attr_ex.cap;
    }
    Ok(())
}

/// # Safety
///
/// As for [`create`]; `qp` must be a `verbs_qp` of its context's layout.
unsafe fn create_ex(
    kernel: Kernel<'_>,
    qp: *mut verbs_qp,
    attr: *mut ibv_qp_init_attr_ex,
    known: u32,
    buffers: Buffers<'_>,
    blocks: Blocks<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let mask = (*attr).comp_mask;
        if mask & !known != 0 {
            return Err(Errno::EINVAL);
        }
        create(kernel, qp.cast(), attr, buffers, blocks)?;
        let xrcd = if (*attr).qp_type == IBV_QPT_XRC_RECV {
            // The public XRC domain begins the provider API's.
            (*attr).xrcd.cast()
        } else {
            ptr::null_mut()
        };
        let xrcd = (mask & IBV_QP_INIT_ATTR_XRCD != 0).then_some(xrcd);
        Tail::of(qp, kernel.private().layout).store(xrcd);
    }
    Ok(())
}

/// The flags of the attributes, 0 if the mask does not name them. EINVAL for unknown ones.
///
/// # Safety
///
/// As for [`Objects::of`].
unsafe fn create_flags(attr: *const ibv_qp_init_attr_ex) -> Result<u32> {
    const KNOWN: u32 = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB
        | IBV_QP_CREATE_SCATTER_FCS
        | IBV_QP_CREATE_CVLAN_STRIPPING
        | IBV_QP_CREATE_SOURCE_QPN
        | IBV_QP_CREATE_PCI_WRITE_END_PADDING;
    // SAFETY: the caller's promise.
    let flags = unsafe {
        if (*attr).comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS == 0 {
            return Ok(0);
        }
        (*attr).create_flags
    };
    if flags & !KNOWN == 0 { Ok(flags) } else { Err(Errno::EINVAL) }
}

/// Creates a QP, fills in the library's members of it and stores in the attributes which
/// capabilities it got.
///
/// # Safety
///
/// `qp` must be a new QP that nobody else uses; of the attributes at least those must be set that
/// the mask names, and their objects must live.
unsafe fn create(
    kernel: Kernel<'_>,
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_init_attr_ex,
    buffers: Buffers<'_>,
    blocks: Blocks<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise, here and below.
    let (objects, create_flags) = unsafe { (Objects::of(attr)?, create_flags(attr)?) };
    // SAFETY: see above.
    let created = unsafe {
        (*qp).context = kernel.context();
        let mut cap = (*attr).cap;
        if (*attr).qp_type == IBV_QPT_XRC_SEND {
            // Such a QP receives nothing.
            cap.max_recv_wr = 0;
            cap.max_recv_sge = 0;
        }
        let source_qpn = (create_flags & IBV_QP_CREATE_SOURCE_QPN != 0).then(|| (*attr).source_qpn);
        let wanted = Wanted {
            user_handle: qp.expose_provenance() as u64,
            async_fd: (*kernel.context()).async_fd,
            qp_type: (*attr).qp_type,
            cap,
            sq_sig_all: (*attr).sq_sig_all != 0,
            has_create_flags: (*attr).comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS != 0,
            create_flags,
            source_qpn,
            objects,
        };
        wanted.create(kernel, buffers, blocks)?
    };
    // SAFETY: see above.
    unsafe {
        (*attr).cap = created.cap;
        let pd =
            if (*attr).comp_mask & IBV_QP_INIT_ATTR_PD != 0 { (*attr).pd } else { ptr::null_mut() };
        (*qp).qp_context = (*attr).qp_context;
        (*qp).pd = pd;
        (*qp).send_cq = (*attr).send_cq;
        (*qp).recv_cq = (*attr).recv_cq;
        (*qp).srq = (*attr).srq;
        (*qp).handle = created.handle;
        (*qp).qp_num = created.qp_num;
        (*qp).qp_type = (*attr).qp_type;
        (*qp).state = IBV_QPS_RESET;
        init_events(qp);
    }
    Ok(())
}

/// Prepares the members that count acknowledged events.
///
/// # Safety
///
/// `qp` must be a new QP that nobody else uses.
unsafe fn init_events(qp: *mut ibv_qp) {
    // SAFETY: the caller's promise.
    unsafe {
        (*qp).events_completed = 0;
        libc::pthread_mutex_init(&raw mut (*qp).mutex, ptr::null());
        libc::pthread_cond_init(&raw mut (*qp).cond, ptr::null());
    }
}

/// # Safety
///
/// `qp` must be a QP that is set up, and whose memory lives until this returns.
unsafe fn destroy(kernel: Kernel<'_>, qp: *mut ibv_qp) -> Result<()> {
    // SAFETY: the caller's promise.
    let (handle, qp_num) = unsafe { ((*qp).handle, (*qp).qp_num) };
    let mut reported = ib_uverbs_destroy_qp_resp::zeroed();
    let mut cmd = Command::new(method!(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY));
    cmd.output(UVERBS_ATTR_DESTROY_QP_RESP, &mut reported)
        .object(UVERBS_ATTR_DESTROY_QP_HANDLE, handle);
    let request = ib_uverbs_destroy_qp { response: 0, qp_handle: handle, reserved: 0 };
    match unless_gone(cmd.execute_or_write(kernel, op_index!(destroy_qp), request))? {
        None => return Ok(()),
        Some(None) => {}
        Some(Some(response)) => reported = response,
    }
    // SAFETY: the caller's promise; the counter changes with the mutex held.
    unsafe {
        wait_for_events(
            &raw mut (*qp).mutex,
            &raw mut (*qp).cond,
            format_args!("QP {qp_num}"),
            || reported.events_reported.wrapping_sub((*qp).events_completed),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
