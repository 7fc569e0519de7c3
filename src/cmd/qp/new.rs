//! A new QP in the kernel's terms: what it belongs to, and the forms of the command.

use core::ffi::c_int;

use crate::abi::*;
use crate::cmd::{Blocks, Buffers, Command, Kernel, Outcome, Write, method, uverbs_abi};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

/// What of the objects that a new QP belongs to goes to the kernel, by their handles.
#[derive(Default)]
pub(super) struct Objects {
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
    pub(super) unsafe fn of(attr: *const ibv_qp_init_attr_ex) -> Result<Objects> {
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

/// What the kernel says about a new QP.
pub(super) struct Created {
    pub(super) handle: u32,
    pub(super) qp_num: u32,
    pub(super) cap: ibv_qp_cap,
}

/// What a new QP shall be like, in the kernel's terms.
pub(super) struct Wanted {
    pub(super) user_handle: u64,
    pub(super) async_fd: c_int,
    pub(super) qp_type: ibv_qp_type,
    pub(super) cap: ibv_qp_cap,
    pub(super) sq_sig_all: bool,
    /// Flags were named, even if they are 0.
    pub(super) has_create_flags: bool,
    pub(super) create_flags: u32,
    pub(super) source_qpn: Option<u32>,
    pub(super) objects: Objects,
}

impl Wanted {
    /// Creates the QP, by whichever form the kernel has.
    pub(super) fn create(
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
