//! Every member has a value of its own, so that a swapped, forgotten or cut one is seen.

use core::mem::MaybeUninit;
use core::ptr;

use super::*;

fn gid(first: u8) -> [u8; 16] {
    core::array::from_fn(|i| first + i as u8)
}

fn dest(first: u8) -> ib_uverbs_qp_dest {
    ib_uverbs_qp_dest {
        dgid: gid(first),
        flow_label: 0xf0000 + u32::from(first),
        dlid: 0xd100 + u16::from(first),
        reserved: 0,
        sgid_index: first + 17,
        hop_limit: first + 18,
        traffic_class: first + 19,
        sl: first + 20,
        src_path_bits: first + 21,
        static_rate: first + 22,
        is_global: first + 23,
        port_num: first + 24,
    }
}

fn ah(first: u8) -> ibv_ah_attr {
    ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: gid(first) },
            flow_label: 0xf0000 + u32::from(first),
            sgid_index: first + 17,
            hop_limit: first + 18,
            traffic_class: first + 19,
        },
        dlid: 0xd100 + u16::from(first),
        sl: first + 20,
        src_path_bits: first + 21,
        static_rate: first + 22,
        is_global: first + 23,
        port_num: first + 24,
    }
}

/// Attributes with a different value in every member.
fn attr() -> ibv_qp_attr {
    ibv_qp_attr {
        qp_state: 1,
        cur_qp_state: 2,
        path_mtu: 3,
        path_mig_state: 4,
        qkey: 0x105,
        rq_psn: 0x106,
        sq_psn: 0x107,
        dest_qp_num: 0x108,
        qp_access_flags: 0x109,
        cap: ibv_qp_cap {
            max_send_wr: 0x201,
            max_recv_wr: 0x202,
            max_send_sge: 0x203,
            max_recv_sge: 0x204,
            max_inline_data: 0x205,
        },
        ah_attr: ah(0x40),
        alt_ah_attr: ah(0x80),
        pkey_index: 0x10a,
        alt_pkey_index: 0x10b,
        en_sqd_async_notify: 5,
        sq_draining: 6,
        max_rd_atomic: 7,
        max_dest_rd_atomic: 8,
        min_rnr_timer: 9,
        port_num: 10,
        timeout: 11,
        retry_cnt: 12,
        rnr_retry: 13,
        alt_port_num: 14,
        alt_timeout: 15,
        rate_limit: 0x10c,
    }
}

/// The bytes of a kernel struct, which has no padding.
fn bytes(request: &ib_uverbs_modify_qp) -> [u8; size_of::<ib_uverbs_modify_qp>()] {
    // SAFETY: same size, and every byte of the struct belongs to a member.
    unsafe { core::mem::transmute_copy(request) }
}

#[test]
fn each_mask_bit_sends_its_members_and_nothing_else() {
    type Edit = fn(&mut ib_uverbs_modify_qp);
    let edits: [(u32, Edit); 22] = [
        (IBV_QP_STATE, |r| r.qp_state = 1),
        (IBV_QP_CUR_STATE, |r| r.cur_qp_state = 2),
        (IBV_QP_EN_SQD_ASYNC_NOTIFY, |r| r.en_sqd_async_notify = 5),
        (IBV_QP_ACCESS_FLAGS, |r| r.qp_access_flags = 0x109),
        (IBV_QP_PKEY_INDEX, |r| r.pkey_index = 0x10a),
        (IBV_QP_PORT, |r| r.port_num = 10),
        (IBV_QP_QKEY, |r| r.qkey = 0x105),
        (IBV_QP_AV, |r| r.dest = dest(0x40)),
        (IBV_QP_PATH_MTU, |r| r.path_mtu = 3),
        (IBV_QP_TIMEOUT, |r| r.timeout = 11),
        (IBV_QP_RETRY_CNT, |r| r.retry_cnt = 12),
        (IBV_QP_RNR_RETRY, |r| r.rnr_retry = 13),
        (IBV_QP_RQ_PSN, |r| r.rq_psn = 0x106),
        (IBV_QP_MAX_QP_RD_ATOMIC, |r| r.max_rd_atomic = 7),
        (IBV_QP_ALT_PATH, |r| {
            r.alt_dest = dest(0x80);
            r.alt_pkey_index = 0x10b;
            r.alt_port_num = 14;
            r.alt_timeout = 15;
        }),
        (IBV_QP_MIN_RNR_TIMER, |r| r.min_rnr_timer = 9),
        (IBV_QP_SQ_PSN, |r| r.sq_psn = 0x107),
        (IBV_QP_MAX_DEST_RD_ATOMIC, |r| r.max_dest_rd_atomic = 8),
        (IBV_QP_PATH_MIG_STATE, |r| r.path_mig_state = 4),
        // Capabilities cannot be modified through the kernel's struct.
        (IBV_QP_CAP, |_| ()),
        (IBV_QP_DEST_QPN, |r| r.dest_qp_num = 0x108),
        // A bit from the future is passed on for the kernel to refuse.
        (1 << 30, |_| ()),
    ];
    let mut all = ib_uverbs_modify_qp::zeroed();
    all.qp_handle = 0x77;
    for (bit, edit) in edits {
        let mut wanted = ib_uverbs_modify_qp::zeroed();
        wanted.qp_handle = 0x77;
        wanted.attr_mask = bit;
        edit(&mut wanted);
        // SAFETY: the attributes are complete.
        let request = unsafe { modify_request(0x77, &attr(), bit) };
        assert_eq!(bytes(&request), bytes(&wanted), "mask {bit:#x}");
        all.attr_mask |= bit;
        edit(&mut all);
    }
    // SAFETY: as above.
    let request = unsafe { modify_request(0x77, &attr(), all.attr_mask) };
    assert_eq!(bytes(&request), bytes(&all));
}

#[test]
fn members_outside_the_mask_are_not_read() {
    // Under Miri, reading one of the others would be an error.
    let mut memory = MaybeUninit::<ibv_qp_attr>::uninit();
    // SAFETY: only the state is set and only the state is named.
    let request = unsafe {
        (*memory.as_mut_ptr()).qp_state = IBV_QPS_ERR;
        modify_request(1, memory.as_ptr(), IBV_QP_STATE)
    };
    assert_eq!((request.qp_state, request.attr_mask), (6, IBV_QP_STATE));
    // SAFETY: nothing is named.
    let request = unsafe { modify_request(1, ptr::null(), 0) };
    assert_eq!((request.qp_handle, request.attr_mask), (1, 0));
}

fn response() -> ib_uverbs_query_qp_resp {
    ib_uverbs_query_qp_resp {
        dest: dest(0x40),
        alt_dest: dest(0x80),
        max_send_wr: 0x201,
        max_recv_wr: 0x202,
        max_send_sge: 0x203,
        max_recv_sge: 0x204,
        max_inline_data: 0x205,
        qkey: 0x105,
        rq_psn: 0x106,
        sq_psn: 0x107,
        dest_qp_num: 0x108,
        qp_access_flags: 0x109,
        pkey_index: 0x10a,
        alt_pkey_index: 0x10b,
        qp_state: 1,
        cur_qp_state: 2,
        path_mtu: 3,
        path_mig_state: 4,
        sq_draining: 6,
        max_rd_atomic: 7,
        max_dest_rd_atomic: 8,
        min_rnr_timer: 9,
        port_num: 10,
        timeout: 11,
        retry_cnt: 12,
        rnr_retry: 13,
        alt_port_num: 14,
        alt_timeout: 15,
        sq_sig_all: 1,
        reserved: [0xff; 5],
        driver_data: [],
    }
}

fn check_ah(got: &ibv_ah_attr, wanted: &ibv_ah_attr) {
    // SAFETY: a GID is 16 bytes in each of its forms.
    assert_eq!(unsafe { got.grh.dgid.raw }, unsafe { wanted.grh.dgid.raw });
    assert_eq!(got.grh.flow_label, wanted.grh.flow_label);
    assert_eq!(got.grh.sgid_index, wanted.grh.sgid_index);
    assert_eq!(got.grh.hop_limit, wanted.grh.hop_limit);
    assert_eq!(got.grh.traffic_class, wanted.grh.traffic_class);
    assert_eq!((got.dlid, got.sl), (wanted.dlid, wanted.sl));
    assert_eq!(got.src_path_bits, wanted.src_path_bits);
    assert_eq!(got.static_rate, wanted.static_rate);
    assert_eq!((got.is_global, got.port_num), (wanted.is_global, wanted.port_num));
}

fn check_cap(cap: &ibv_qp_cap) {
    assert_eq!((cap.max_send_wr, cap.max_recv_wr), (0x201, 0x202));
    assert_eq!((cap.max_send_sge, cap.max_recv_sge), (0x203, 0x204));
    assert_eq!(cap.max_inline_data, 0x205);
}

#[test]
fn a_response_fills_all_that_it_has() {
    let mut memory = MaybeUninit::<ibv_qp_attr>::uninit();
    // SAFETY: all bytes are set before the value is taken.
    let got = unsafe {
        memory.as_mut_ptr().write_bytes(0xaa, 1);
        store_attr(memory.as_mut_ptr(), &response());
        memory.assume_init()
    };
    let wanted = attr();
    assert_eq!((got.qp_state, got.cur_qp_state), (1, 2));
    assert_eq!((got.path_mtu, got.path_mig_state), (3, 4));
    assert_eq!((got.qkey, got.rq_psn, got.sq_psn), (0x105, 0x106, 0x107));
    assert_eq!((got.dest_qp_num, got.qp_access_flags), (0x108, 0x109));
    check_cap(&got.cap);
    check_ah(&got.ah_attr, &wanted.ah_attr);
    check_ah(&got.alt_ah_attr, &wanted.alt_ah_attr);
    assert_eq!((got.pkey_index, got.alt_pkey_index), (0x10a, 0x10b));
    assert_eq!((got.sq_draining, got.max_rd_atomic, got.max_dest_rd_atomic), (6, 7, 8));
    assert_eq!((got.min_rnr_timer, got.port_num, got.timeout), (9, 10, 11));
    assert_eq!((got.retry_cnt, got.rnr_retry), (12, 13));
    assert_eq!((got.alt_port_num, got.alt_timeout), (14, 15));
    // Not in the response.
    assert_eq!((got.en_sqd_async_notify, got.rate_limit), (0xaa, 0xaaaa_aaaa));
}

#[test]
fn init_attributes_come_from_the_qp_and_the_response() {
    let mut qp = ibv_qp::zeroed();
    qp.qp_context = ptr::without_provenance_mut(0x10);
    qp.send_cq = ptr::without_provenance_mut(0x20);
    qp.recv_cq = ptr::without_provenance_mut(0x30);
    qp.srq = ptr::without_provenance_mut(0x40);
    qp.qp_type = IBV_QPT_UD;
    let mut init = ibv_qp_init_attr::zeroed();
    // SAFETY: all are whole structs.
    unsafe { store_init_attr(&mut init, &qp, &response()) };
    assert_eq!(init.qp_context.addr(), 0x10);
    assert_eq!((init.send_cq.addr(), init.recv_cq.addr(), init.srq.addr()), (0x20, 0x30, 0x40));
    assert_eq!((init.qp_type, init.sq_sig_all), (IBV_QPT_UD, 1));
    check_cap(&init.cap);
}
