use core::ptr;

use super::*;
use crate::cmd::fake::{self, Form, TestContext};
use crate::cmd::testing::*;

fn send(opcode: ibv_wr_opcode) -> ibv_send_wr {
    let mut wr = ibv_send_wr::zeroed();
    wr.wr_id = 0x1111_2222_3333_4444;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED | 0x8000_0000;
    wr.imm.imm_data = 0x5566_7788;
    wr
}

/// The bytes of a kernel request, which has no padding.
fn words(kernel: &ib_uverbs_send_wr) -> [u64; 7] {
    // SAFETY: same size, and every byte of the struct was zeroed or set.
    unsafe { core::mem::transmute_copy(kernel) }
}

fn converted(wr: &ibv_send_wr, qp_type: ibv_qp_type) -> [u64; 7] {
    // SAFETY: the address handle, if the type counts it, is alive.
    words(&unsafe { wr.to_kernel(qp_type) }.unwrap())
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The words in front of the part that depends on opcode and type.
fn head(wr: &ibv_send_wr) -> [u64; 3] {
    [wr.wr_id, pair(wr.num_sge as u32, wr.opcode), pair(wr.send_flags, 0x5566_7788)]
}

#[test]
#[cfg(target_endian = "little")]
fn remote_memory_of_connected_types() {
    for opcode in [IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ] {
        let mut wr = send(opcode);
        wr.num_sge = 3;
        wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr: 0xabcd_0000_1234, rkey: 0x42 };
        let tail = [0xabcd_0000_1234, 0x42, 0, 0];
        assert_eq!(converted(&wr, IBV_QPT_RC), [&head(&wr)[..], &tail].concat()[..]);
    }
    for opcode in [IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD] {
        let mut wr = send(opcode);
        wr.wr.atomic =
            ibv_send_wr_wr_atomic { remote_addr: 0x88, compare_add: 0x99, swap: 0xaa, rkey: 0xbb };
        let tail = [0x88, 0x99, 0xaa, 0xbb];
        assert_eq!(converted(&wr, IBV_QPT_XRC_SEND), [&head(&wr)[..], &tail].concat()[..]);
    }
}

#[test]
#[cfg(target_endian = "little")]
fn other_opcodes_have_no_remote_part() {
    for opcode in [
        IBV_WR_SEND,
        IBV_WR_SEND_WITH_IMM,
        IBV_WR_SEND_WITH_INV,
        IBV_WR_LOCAL_INV,
        IBV_WR_BIND_MW,
        IBV_WR_TSO,
        u32::MAX,
    ] {
        let mut wr = send(opcode);
        // What is in the union belongs to nobody.
        wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr: 1, rkey: 2 };
        assert_eq!(converted(&wr, IBV_QPT_UC), [&head(&wr)[..], &[0; 4]].concat()[..]);
    }
}

#[test]
#[cfg(target_endian = "little")]
fn datagrams_have_an_address_whatever_the_opcode() {
    let mut ah = ibv_ah::zeroed();
    ah.handle = 0x77;
    for opcode in [IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE] {
        let mut wr = send(opcode);
        wr.wr.ud = ibv_send_wr_wr_ud { ah: &mut ah, remote_qpn: 0x88, remote_qkey: 0x99 };
        let tail = [pair(0x77, 0x88), 0x99, 0, 0];
        assert_eq!(converted(&wr, IBV_QPT_UD), [&head(&wr)[..], &tail].concat()[..]);
    }
    let mut wr = send(IBV_WR_SEND);
    wr.wr.ud.ah = ptr::null_mut();
    // SAFETY: there is no address handle.
    assert_eq!(unsafe { wr.to_kernel(IBV_QPT_UD) }.err(), Some(Errno::EINVAL));
}

/// Two requests with three elements in all, the second in the list is `second`.
fn recv_list(sges: &mut [ibv_sge; 3], second: &mut ibv_recv_wr) -> ibv_recv_wr {
    for (value, sge) in (1..).zip(sges.iter_mut()) {
        *sge = ibv_sge { addr: value, length: 10 * value as u32, lkey: 100 * value as u32 };
    }
    let sg_list = sges.as_mut_ptr();
    *second = ibv_recv_wr {
        wr_id: 22,
        next: ptr::null_mut(),
        sg_list: sg_list.wrapping_add(2),
        num_sge: 1,
    };
    ibv_recv_wr { wr_id: 11, next: second, sg_list, num_sge: 2 }
}

#[test]
#[cfg(target_endian = "little")]
fn a_list_is_requests_and_then_all_elements() {
    let context = TestContext::new(Form::Write);
    let (mut sges, mut second) = ([ibv_sge::zeroed(); 3], ibv_recv_wr::zeroed());
    let first = recv_list(&mut sges, &mut second);
    old_kernel(libc::ENOTTY, ib_uverbs_post_srq_recv_resp { bad_wr: 0 });
    // SAFETY: the list and its elements are alive.
    let mut posted =
        unsafe { post_request::<ib_uverbs_post_srq_recv, _>(7, IBV_QPT_RC, &first) }.unwrap();
    assert!(posted.send(context.kernel()).is_ok());
    assert_eq!(fake::calls(), ["write n=112 cmd=24 in=28 out=1"]);
    let (core, rest) = request::<ib_uverbs_post_srq_recv>();
    assert_eq!((core.srq_handle, core.wr_count), (7, 2));
    assert_eq!((core.sge_count, core.wqe_size), (3, 16));
    let elements = [1, pair(10, 100), 2, pair(20, 200), 3, pair(30, 300)];
    assert_eq!(rest, bytes_of_words(&[&[11, 2, 22, 1][..], &elements].concat()));
}

/// Posts a list and returns how many bytes are behind the head of the command.
fn length_of(first: *const ibv_send_wr) -> Result<usize> {
    let context = TestContext::new(Form::Write);
    old_kernel(libc::ENOTTY, ib_uverbs_post_send_resp { bad_wr: 0 });
    // SAFETY: the tests' lists and elements are alive.
    unsafe { post_request::<ib_uverbs_post_send, _>(7, IBV_QPT_RC, first) }?
        .send(context.kernel())?;
    Ok(request::<ib_uverbs_post_send>().1.len())
}

#[test]
fn lists_that_cannot_be_are_refused() {
    let mut wr = send(IBV_WR_SEND);
    assert_eq!(length_of(ptr::null()), Ok(0));
    assert_eq!(length_of(&wr), Ok(56));
    for num_sge in [-1, i32::MIN, i32::MAX] {
        wr.num_sge = num_sge;
        assert_eq!(length_of(&wr), Err(Errno::EINVAL), "{num_sge} elements");
    }
    // Elements without a list.
    wr.num_sge = 1;
    assert_eq!(length_of(&wr), Err(Errno::EINVAL));
    // All of them are there, but a command has room for 65535 words.
    let mut sges = vec![ibv_sge::zeroed(); 20000];
    wr.sg_list = sges.as_mut_ptr();
    for (num_sge, wanted) in [(16378, Ok(56 + 16 * 16378)), (16379, Err(Errno::EINVAL))] {
        wr.num_sge = num_sge;
        assert_eq!(length_of(&wr), wanted);
    }
    wr.num_sge = 20000;
    assert_eq!(length_of(&wr), Err(Errno::EINVAL));
    // A list without an end.
    wr.num_sge = 0;
    wr.next = &raw mut wr;
    assert_eq!(length_of(&wr), Err(Errno::EINVAL));
}

#[test]
fn refused_requests_are_found_by_number() {
    let (mut sges, mut second) = ([ibv_sge::zeroed(); 3], ibv_recv_wr::zeroed());
    let mut first = recv_list(&mut sges, &mut second);
    let (first, second) = (&raw mut first, &raw mut second);
    for (number, wanted) in
        [(0, None), (1, Some(first)), (2, Some(second)), (3, None), (u32::MAX, None)]
    {
        // SAFETY: the list is alive.
        assert_eq!(unsafe { refused(first, number) }, wanted);
    }
    // SAFETY: there is no list.
    assert_eq!(unsafe { refused(ptr::null_mut::<ibv_send_wr>(), 1) }, None);
}

#[test]
fn completions_have_all_members() {
    let kernel = ib_uverbs_wc {
        wr_id: 0x1111_2222_3333_4444,
        status: 1,
        opcode: 0x80,
        vendor_err: 2,
        byte_len: 3,
        ex: ib_uverbs_wc_ex { imm_data: 0x5566_7788 },
        qp_num: 4,
        src_qp: 5,
        wc_flags: 6,
        pkey_index: 7,
        slid: 8,
        sl: 9,
        dlid_path_bits: 10,
        port_num: 11,
        reserved: 12,
    };
    let wc = completion(&kernel);
    assert_eq!((wc.wr_id, wc.status, wc.opcode), (0x1111_2222_3333_4444, 1, 0x80));
    assert_eq!((wc.vendor_err, wc.byte_len, wc.qp_num, wc.src_qp), (2, 3, 4, 5));
    // SAFETY: both members are four bytes.
    assert_eq!(unsafe { wc.imm.imm_data }, 0x5566_7788);
    assert_eq!((wc.wc_flags, wc.pkey_index, wc.slid), (6, 7, 8));
    assert_eq!((wc.sl, wc.dlid_path_bits), (9, 10));
}
