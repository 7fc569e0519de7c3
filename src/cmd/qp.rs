//! Queue pairs: creation and destruction. `ibv_create_qp(3)`, `ibv_create_qp_ex(3)`,
//! `ibv_open_qp(3)`

use core::ffi::c_int;
use core::mem::offset_of;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{
    Blocks, Buffers, Command, Kernel, Outcome, Write, method, unless_gone, uverbs_abi,
    wait_for_events,
};
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
export!(ibv_cmd_create_qp @@ "IBVERBS_PRIVATE_65");

/// Creates a QP that may belong to an XRC domain. Returns 0 or the error number: EINVAL for
/// attributes that are not known or do not suit the type. `driver.h: ibv_cmd_create_qp_ex`
pub(super) unsafe extern "C" fn ibv_cmd_create_qp_ex(
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
export!(ibv_cmd_create_qp_ex @@ "IBVERBS_PRIVATE_65");

/// Creates a QP with flags or over an indirection table, and with attributes of the provider.
/// Returns 0 or the error number: EINVAL for attributes that are not known or do not suit the
/// type. `driver.h: ibv_cmd_create_qp_ex2`
pub(super) unsafe extern "C" fn ibv_cmd_create_qp_ex2(
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
export!(ibv_cmd_create_qp_ex2 @@ "IBVERBS_PRIVATE_65");

/// Opens the XRC receive QP with a given number. `vqp_sz` is the size in bytes of the provider's
/// `verbs_qp`. Returns 0 or the error number: EOPNOTSUPP for attributes that are not known, EINVAL
/// without domain, number and type. `driver.h: ibv_cmd_open_qp`
pub(super) unsafe extern "C" fn ibv_cmd_open_qp(
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
export!(ibv_cmd_open_qp @@ "IBVERBS_PRIVATE_65");

/// Destroys a QP and waits until the program has acknowledged all events about it that it has
/// read. Returns 0 or the error number. `driver.h: ibv_cmd_destroy_qp`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_qp(qp: *mut ibv_qp) -> c_int {
    // SAFETY: the provider passes its QP, for the last time.
    unsafe { destroy(Kernel::of((*qp).context), qp) }.or_number()
}
export!(ibv_cmd_destroy_qp @@ "IBVERBS_PRIVATE_65");

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
/// As for [`create`]; `qp` must have the tail of its provider's private ABI.
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
        create(kernel, (&raw mut (*qp).base.qp).cast(), attr, buffers, blocks)?;
        let xrcd = if (*attr).qp_type == IBV_QPT_XRC_RECV {
            // The public XRC domain begins the provider API's.
            (*attr).xrcd.cast()
        } else {
            ptr::null_mut()
        };
        set_qp_tail(qp, (mask & IBV_QP_INIT_ATTR_XRCD != 0).then_some(xrcd));
    }
    Ok(())
}

/// Stores whether the QP belongs to an XRC domain, and to which.
///
/// The one place that knows where a provider's `verbs_qp` keeps this, behind the extended QP.
///
/// # Safety
///
/// `qp` must be a provider's new QP.
unsafe fn set_qp_tail(qp: *mut verbs_qp, xrcd: Option<*mut verbs_xrcd>) {
    // SAFETY: the caller's promise.
    unsafe {
        (*qp).comp_mask = 0;
        if let Some(xrcd) = xrcd {
            (*qp).comp_mask = VERBS_QP_XRCD;
            (*qp).xrcd = xrcd;
        }
    }
}

/// What of the objects that a new QP belongs to goes to the kernel, by their handles.
#[derive(Default)]
struct Objects {
    xrcd: Option<u32>,
    pd: Option<u32>,
    table: Option<u32>,
    send_cq: Option<u32>,
    recv_cq: Option<u32>,
    srq: Option<u32>,
}

impl Objects {
    /// EINVAL for an unknown type and for objects that do not suit it.
    ///
    /// # Safety
    ///
    /// `attr` must point to attributes of which at least those are set that its mask names.
    unsafe fn of(attr: *const ibv_qp_init_attr_ex) -> Result<Objects> {
        let mut objects = Objects::default();
        // SAFETY: the caller's promise; all pointers are NULL or live objects.
        unsafe {
            let cq = |cq: *mut ibv_cq| cq.as_ref().map(|cq| cq.handle).ok_or(Errno::EINVAL);
            let mask = (*attr).comp_mask;
            let srq = || (*attr).srq.as_ref().map(|srq| srq.handle);
            match (*attr).qp_type {
                IBV_QPT_XRC_RECV => {
                    if mask & IBV_QP_INIT_ATTR_XRCD == 0 {
                        return Err(Errno::EINVAL);
                    }
                    let xrcd = (*attr).xrcd.cast::<verbs_xrcd>();
                    objects.xrcd = Some(xrcd.as_ref().ok_or(Errno::EINVAL)?.handle);
                    objects.srq = srq();
                    return Ok(objects);
                }
                IBV_QPT_RC | IBV_QPT_UC | IBV_QPT_UD | IBV_QPT_RAW_PACKET | IBV_QPT_XRC_SEND
                | IBV_QPT_DRIVER => {}
                _ => return Err(Errno::EINVAL),
            }
            if mask & IBV_QP_INIT_ATTR_PD == 0 {
                return Err(Errno::EINVAL);
            }
            objects.pd = Some((*attr).pd.as_ref().ok_or(Errno::EINVAL)?.handle);
            if mask & IBV_QP_INIT_ATTR_IND_TABLE != 0 {
                // The queues behind the table receive, not the QP.
                let cap = (*attr).cap;
                if cap.max_recv_wr != 0
                    || cap.max_recv_sge != 0
                    || !(*attr).recv_cq.is_null()
                    || !(*attr).srq.is_null()
                {
                    return Err(Errno::EINVAL);
                }
                let table = (*attr).rwq_ind_tbl.as_ref().ok_or(Errno::EINVAL)?;
                objects.table = Some(table.ind_tbl_handle.cast_unsigned());
                if cap.max_send_wr != 0 {
                    objects.send_cq = Some(cq((*attr).send_cq)?);
                }
            } else {
                objects.send_cq = Some(cq((*attr).send_cq)?);
                if (*attr).qp_type != IBV_QPT_XRC_SEND {
                    objects.recv_cq = Some(cq((*attr).recv_cq)?);
                }
                objects.srq = srq();
            }
        }
        Ok(objects)
    }
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

/// What the kernel says about a new QP.
struct Created {
    handle: u32,
    qp_num: u32,
    cap: ibv_qp_cap,
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

/// What a new QP shall be like, in the kernel's terms.
struct Wanted {
    user_handle: u64,
    async_fd: c_int,
    qp_type: ibv_qp_type,
    cap: ibv_qp_cap,
    sq_sig_all: bool,
    /// Flags were named, even if they are 0.
    has_create_flags: bool,
    create_flags: u32,
    source_qpn: Option<u32>,
    objects: Objects,
}

impl Wanted {
    fn create(
        &self,
        kernel: Kernel<'_>,
        buffers: Buffers<'_>,
        blocks: Blocks<'_>,
    ) -> Result<Created> {
        let objects = &self.objects;
        let (mut handle, mut qp_num, mut cap) = (0, 0_u32, self.cap);
        let mut cmd = Command::new(method!(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE));
        for (id, object) in [
            (UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, objects.xrcd),
            (UVERBS_ATTR_CREATE_QP_PD_HANDLE, objects.pd),
            (UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, objects.table),
            (UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, objects.send_cq),
            (UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, objects.recv_cq),
        ] {
            if let Some(handle) = object {
                cmd.object(id, handle);
            }
        }
        cmd.new_object(UVERBS_ATTR_CREATE_QP_HANDLE, &mut handle)
            .u64(UVERBS_ATTR_CREATE_QP_TYPE, u64::from(self.qp_type))
            .u64(UVERBS_ATTR_CREATE_QP_USER_HANDLE, self.user_handle)
            .input_ref(UVERBS_ATTR_CREATE_QP_CAP, &self.cap)
            .fd(UVERBS_ATTR_CREATE_QP_EVENT_FD, self.async_fd);
        if let Some(source_qpn) = self.source_qpn {
            cmd.u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, source_qpn);
        }
        let flags = self.ioctl_flags();
        if flags != 0 {
            cmd.u32(UVERBS_ATTR_CREATE_QP_FLAGS, flags);
        }
        if let Some(srq) = objects.srq {
            cmd.object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, srq);
        }
        cmd.output(UVERBS_ATTR_CREATE_QP_RESP_CAP, &mut cap)
            .output(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &mut qp_num)
            .provider_bytes(&buffers)
            .link(blocks);
        if kernel.private().is_imported() {
            cmd.ioctl_only();
        }
        if self.has_create_flags || objects.table.is_some() {
            cmd.extended_write();
        }
        match cmd.run(kernel, op_index!(create_qp))? {
            Outcome::Done => Ok(Created { handle, qp_num, cap }),
            Outcome::Write(write) => self.create_by_write(write),
            Outcome::WriteEx(write) => self.create_by_extended_write(write),
        }
    }

    /// Flags as the ioctl wants them: the source QPN is an attribute and no flag, signalling is a
    /// flag.
    fn ioctl_flags(&self) -> u32 {
        let mut flags = self.create_flags & !IBV_QP_CREATE_SOURCE_QPN;
        if self.sq_sig_all {
            flags |= IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
        }
        flags
    }

    /// The write interface has one place for the domain of either kind.
    fn domain(&self) -> u32 {
        self.objects.xrcd.or(self.objects.pd).unwrap_or(0)
    }

    fn create_by_write(&self, write: Write<'_>) -> Result<Created> {
        let request = ib_uverbs_create_qp {
            response: 0,
            user_handle: self.user_handle,
            pd_handle: self.domain(),
            send_cq_handle: self.objects.send_cq.unwrap_or(0),
            recv_cq_handle: self.objects.recv_cq.unwrap_or(0),
            srq_handle: self.objects.srq.unwrap_or(0),
            max_send_wr: self.cap.max_send_wr,
            max_recv_wr: self.cap.max_recv_wr,
            max_send_sge: self.cap.max_send_sge,
            max_recv_sge: self.cap.max_recv_sge,
            max_inline_data: self.cap.max_inline_data,
            sq_sig_all: u8::from(self.sq_sig_all),
            // All known types fit.
            qp_type: self.qp_type as u8,
            is_srq: u8::from(self.objects.srq.is_some()),
            reserved: 0,
            driver_data: [],
        };
        match uverbs_abi() {
            0..=3 => {
                let response = write.send_for::<_, ibv_create_qp_resp_v3>(request)?;
                // A QP of the oldest interface is as large as it should be.
                let ibv_create_qp_resp_v3 { qp_handle: handle, qpn: qp_num } = response;
                Ok(Created { handle, qp_num, cap: self.cap })
            }
            4 => {
                let response = write.send_for::<_, ibv_create_qp_resp_v4>(request)?;
                let cap = ibv_qp_cap {
                    max_send_wr: response.max_send_wr,
                    max_recv_wr: response.max_recv_wr,
                    max_send_sge: response.max_send_sge,
                    max_recv_sge: response.max_recv_sge,
                    max_inline_data: response.max_inline_data,
                };
                Ok(Created { handle: response.qp_handle, qp_num: response.qpn, cap })
            }
            _ => Ok(created(&write.send(request)?)),
        }
    }

    fn create_by_extended_write(&self, write: Write<'_>) -> Result<Created> {
        let table = self.objects.table;
        let response = write.send(ib_uverbs_ex_create_qp {
            user_handle: self.user_handle,
            pd_handle: self.domain(),
            send_cq_handle: self.objects.send_cq.unwrap_or(0),
            recv_cq_handle: self.objects.recv_cq.unwrap_or(0),
            srq_handle: self.objects.srq.unwrap_or(0),
            max_send_wr: self.cap.max_send_wr,
            max_recv_wr: self.cap.max_recv_wr,
            max_send_sge: self.cap.max_send_sge,
            max_recv_sge: self.cap.max_recv_sge,
            max_inline_data: self.cap.max_inline_data,
            sq_sig_all: u8::from(self.sq_sig_all),
            qp_type: self.qp_type as u8,
            is_srq: u8::from(self.objects.srq.is_some()),
            reserved: 0,
            comp_mask: table.map_or(0, |_| IB_UVERBS_CREATE_QP_MASK_IND_TABLE),
            create_flags: self.create_flags,
            rwq_ind_tbl_handle: table.unwrap_or(0),
            source_qpn: self.source_qpn.unwrap_or(0),
        })?;
        Ok(created(&response.base))
    }
}

/// What today's response says.
fn created(response: &ib_uverbs_create_qp_resp) -> Created {
    let cap = ibv_qp_cap {
        max_send_wr: response.max_send_wr,
        max_recv_wr: response.max_recv_wr,
        max_send_sge: response.max_send_sge,
        max_recv_sge: response.max_recv_sge,
        max_inline_data: response.max_inline_data,
    };
    Created { handle: response.qp_handle, qp_num: response.qpn, cap }
}

/// # Safety
///
/// `qp` must be a new QP of `size` bytes that nobody else uses; of the attributes at least those
/// must be set that the mask names, and the domain must live.
unsafe fn open(
    kernel: Kernel<'_>,
    qp: *mut verbs_qp,
    size: usize,
    attr: *const ibv_qp_open_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    const NEEDED: u32 = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE;
    // SAFETY: the caller's promise.
    unsafe {
        let mask = (*attr).comp_mask;
        if mask >= IBV_QP_OPEN_ATTR_RESERVED {
            return Err(Errno::EOPNOTSUPP);
        }
        if mask & NEEDED != NEEDED || (*attr).xrcd.is_null() {
            return Err(Errno::EINVAL);
        }
        // The public XRC domain begins the provider API's.
        let xrcd = (*attr).xrcd.cast::<verbs_xrcd>();
        let mut request = ib_uverbs_open_qp::zeroed();
        request.user_handle = qp.expose_provenance() as u64;
        request.pd_handle = (*xrcd).handle;
        request.qpn = (*attr).qp_num;
        request.qp_type = u8::try_from((*attr).qp_type).map_err(|_| Errno::EINVAL)?;
        let response = kernel.write(request, buffers)?;

        let public = (&raw mut (*qp).base).cast::<ibv_qp>();
        (*public).context = kernel.context();
        (*public).qp_context =
            if mask & IBV_QP_OPEN_ATTR_CONTEXT != 0 { (*attr).qp_context } else { ptr::null_mut() };
        (*public).pd = ptr::null_mut();
        (*public).send_cq = ptr::null_mut();
        (*public).recv_cq = ptr::null_mut();
        (*public).srq = ptr::null_mut();
        (*public).handle = response.qp_handle;
        (*public).qp_num = (*attr).qp_num;
        (*public).qp_type = (*attr).qp_type;
        (*public).state = IBV_QPS_UNKNOWN;
        init_events(public);
        // A provider of old may have no room for the tail, or for the mask alone.
        if size > offset_of!(verbs_qp, comp_mask) {
            set_qp_tail(qp, (size > offset_of!(verbs_qp, xrcd)).then_some(xrcd));
        }
    }
    Ok(())
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
