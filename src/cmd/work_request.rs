//! Work requests and completions in kernel form, for devices whose queues only the kernel can
//! reach. `ibv_post_send(3)`, `ibv_post_recv(3)`, `ibv_poll_cq(3)`

use crate::abi::*;
use crate::cmd::{Request, RequestBuffer};
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

/// More than any write command has: its header has 16 bits for the number of 4-byte words.
const MAX_COMMAND: usize = u16::MAX as usize * 4;

/// A work request of a program.
pub(super) trait WorkRequest: Plain {
    /// The kernel's form of it, without its scatter-gather elements.
    type Kernel: Plain;

    fn next(&self) -> *mut Self;

    /// Address and number of its scatter-gather elements.
    fn sge_list(&self) -> (*const ibv_sge, i32);

    /// # Safety
    ///
    /// Objects that the request names must be live ones.
    unsafe fn to_kernel(&self, qp_type: ibv_qp_type) -> Result<Self::Kernel>;
}

impl WorkRequest for ibv_send_wr {
    type Kernel = ib_uverbs_send_wr;

    fn next(&self) -> *mut Self {
        self.next
    }

    fn sge_list(&self) -> (*const ibv_sge, i32) {
        (self.sg_list, self.num_sge)
    }

    unsafe fn to_kernel(&self, qp_type: ibv_qp_type) -> Result<ib_uverbs_send_wr> {
        let mut kernel = ib_uverbs_send_wr::zeroed();
        kernel.wr_id = self.wr_id;
        kernel.num_sge = self.num_sge.cast_unsigned();
        kernel.opcode = self.opcode;
        kernel.send_flags = self.send_flags;
        // SAFETY: both members are four bytes, immediate data or a key; which, the opcode says.
        kernel.ex.imm_data = unsafe { self.imm.imm_data };
        // SAFETY: the QP's type and the opcode say which members of the unions are set.
        unsafe {
            match self.opcode {
                _ if qp_type == IBV_QPT_UD => {
                    let ud = self.wr.ud;
                    let ah = ud.ah.as_ref().ok_or(Errno::EINVAL)?.handle;
                    kernel.wr.ud = ib_uverbs_send_wr_wr_ud {
                        ah,
                        remote_qpn: ud.remote_qpn,
                        remote_qkey: ud.remote_qkey,
                        reserved: 0,
                    };
                }
                IBV_WR_RDMA_WRITE | IBV_WR_RDMA_WRITE_WITH_IMM | IBV_WR_RDMA_READ => {
                    let ibv_send_wr_wr_rdma { remote_addr, rkey } = self.wr.rdma;
                    kernel.wr.rdma = ib_uverbs_send_wr_wr_rdma { remote_addr, rkey, reserved: 0 };
                }
                IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD => {
                    let ibv_send_wr_wr_atomic { remote_addr, compare_add, swap, rkey } =
                        self.wr.atomic;
                    kernel.wr.atomic = ib_uverbs_send_wr_wr_atomic {
                        remote_addr,
                        compare_add,
                        swap,
                        rkey,
                        reserved: 0,
                    };
                }
                _ => {}
            }
        }
        Ok(kernel)
    }
}

impl WorkRequest for ibv_recv_wr {
    type Kernel = ib_uverbs_recv_wr;

    fn next(&self) -> *mut Self {
        self.next
    }

    fn sge_list(&self) -> (*const ibv_sge, i32) {
        (self.sg_list, self.num_sge)
    }

    unsafe fn to_kernel(&self, _: ibv_qp_type) -> Result<ib_uverbs_recv_wr> {
        let num_sge = self.num_sge.cast_unsigned();
        Ok(ib_uverbs_recv_wr { wr_id: self.wr_id, num_sge, reserved: 0 })
    }
}

/// The requests of a list, from its head.
struct List<Wr>(*const Wr);

impl<Wr: WorkRequest> Iterator for List<Wr> {
    type Item = *const Wr;

    fn next(&mut self) -> Option<*const Wr> {
        let wr = self.0;
        if wr.is_null() {
            return None;
        }
        // SAFETY: the list's head or the link of a request; who made the list promised them.
        self.0 = unsafe { (*wr).next() };
        Some(wr)
    }
}

/// The three kinds of posting, whose requests have the same head.
pub(super) trait PostRequest: Request {
    fn head(handle: u32, wr_count: u32, sge_count: u32, wqe_size: u32) -> Self;
}

macro_rules! post_requests {
    ($($request:ident of $handle:ident, $list:ident;)*) => {
        $(impl PostRequest for $request {
            fn head($handle: u32, wr_count: u32, sge_count: u32, wqe_size: u32) -> $request {
                $request { response: 0, $handle, wr_count, sge_count, wqe_size, $list: [] }
            }
        })*
    };
}
post_requests! {
    ib_uverbs_post_send of qp_handle, send_wr;
    ib_uverbs_post_recv of qp_handle, recv_wr;
    ib_uverbs_post_srq_recv of srq_handle, recv;
}

/// The command that posts a list of requests to the queue with that handle: its head, the
/// requests, then the scatter-gather elements of all of them.
///
/// EINVAL for a request that cannot be, and for a list that is longer than a command (or has no
/// end), ENOMEM.
///
/// # Safety
///
/// `first` must be NULL or the head of a list of requests with valid elements, whose objects live.
pub(super) unsafe fn post_request<Q: PostRequest, Wr: WorkRequest>(
    handle: u32,
    qp_type: ibv_qp_type,
    first: *const Wr,
) -> Result<RequestBuffer<Q>> {
    const SGE_SIZE: usize = size_of::<ib_uverbs_sge>();
    const { assert!(size_of::<ibv_sge>() == SGE_SIZE) };
    let wqe_size = size_of::<Wr::Kernel>();

    let (mut wr_count, mut sge_count, mut length) = (0_u32, 0_u32, 0);
    for wr in List(first) {
        // SAFETY: the caller's promise.
        let (address, count) = unsafe { (*wr).sge_list() };
        let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
        if count > MAX_COMMAND / SGE_SIZE || (count > 0 && address.is_null()) {
            return Err(Errno::EINVAL);
        }
        // The limits keep all numbers far from their ends.
        sge_count += count as u32;
        wr_count += 1;
        length += wqe_size + count * SGE_SIZE;
        if length > MAX_COMMAND {
            return Err(Errno::EINVAL);
        }
    }

    let mut request =
        RequestBuffer::new(Q::head(handle, wr_count, sge_count, wqe_size as u32), length)?;
    for wr in List(first) {
        // SAFETY: the caller's promise.
        request.push(&unsafe { (*wr).to_kernel(qp_type)? })?;
    }
    for wr in List(first) {
        // SAFETY: the caller's promise.
        let (address, count) = unsafe { (*wr).sge_list() };
        if count > 0 {
            let length = count as usize * SGE_SIZE;
            // SAFETY: the caller's promise; elements are 8 + 4 + 4 bytes in either form.
            let elements = unsafe { core::slice::from_raw_parts(address.cast(), length) };
            request.push_bytes(elements)?;
        }
    }
    Ok(request)
}

/// The request of a list that the kernel refused, by the number in its response, which counts
/// from 1. Nothing for 0 and for a number beyond the end.
///
/// # Safety
///
/// As for [`post_request`].
pub(super) unsafe fn refused<Wr: WorkRequest>(first: *mut Wr, number: u32) -> Option<*mut Wr> {
    let index = number.checked_sub(1)?;
    List(first.cast_const()).nth(index as usize).map(<*const Wr>::cast_mut)
}

/// The public form of a completion.
pub(super) fn completion(kernel: &ib_uverbs_wc) -> ibv_wc {
    ibv_wc {
        wr_id: kernel.wr_id,
        status: kernel.status,
        opcode: kernel.opcode,
        vendor_err: kernel.vendor_err,
        byte_len: kernel.byte_len,
        // SAFETY: both members are four bytes, immediate data or a key; which, a flag says.
        imm: ibv_wc_imm { imm_data: unsafe { kernel.ex.imm_data } },
        qp_num: kernel.qp_num,
        src_qp: kernel.src_qp,
        wc_flags: kernel.wc_flags,
        pkey_index: kernel.pkey_index,
        slid: kernel.slid,
        sl: kernel.sl,
        dlid_path_bits: kernel.dlid_path_bits,
    }
}

#[cfg(test)]
mod tests;
