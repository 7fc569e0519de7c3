//! Every member has a value of its own, so that a swapped, forgotten or cut one is seen.

use core::mem::MaybeUninit;

use super::*;

/// A GID of 16 different bytes from `first` on.
fn gid(first: u8) -> [u8; 16] {
    core::array::from_fn(|i| first + i as u8)
}

fn kernel_ah(first: u8) -> ib_uverbs_ah_attr {
    ib_uverbs_ah_attr {
        grh: ib_uverbs_global_route {
            dgid: gid(first),
            flow_label: 0xf0000 + u32::from(first),
            sgid_index: first + 17,
            hop_limit: first + 18,
            traffic_class: first + 19,
            reserved: 0,
        },
        dlid: 0xd100 + u16::from(first),
        sl: first + 20,
        src_path_bits: first + 21,
        static_rate: first + 22,
        is_global: first + 23,
        port_num: first + 24,
        reserved: 0,
    }
}

fn check_ah(ah: &ibv_ah_attr, first: u8) {
    // SAFETY: a GID is 16 bytes in each of its forms.
    assert_eq!(unsafe { ah.grh.dgid.raw }, gid(first));
    assert_eq!(ah.grh.flow_label, 0xf0000 + u32::from(first));
    assert_eq!(ah.grh.sgid_index, first + 17);
    assert_eq!(ah.grh.hop_limit, first + 18);
    assert_eq!(ah.grh.traffic_class, first + 19);
    assert_eq!(ah.dlid, 0xd100 + u16::from(first));
    assert_eq!(ah.sl, first + 20);
    assert_eq!(ah.src_path_bits, first + 21);
    assert_eq!(ah.static_rate, first + 22);
    assert_eq!(ah.is_global, first + 23);
    assert_eq!(ah.port_num, first + 24);
}

#[test]
fn address_attributes_from_the_kernel() {
    let mut ah = ibv_ah_attr::zeroed();
    // SAFETY: both are whole structs.
    unsafe { ibv_copy_ah_attr_from_kern(&mut ah, &kernel_ah(1)) };
    check_ah(&ah, 1);
}

#[test]
fn qp_attributes_from_the_kernel_leave_state_and_rate_limit() {
    let src = ib_uverbs_qp_attr {
        qp_attr_mask: 0xffff_ffff,
        qp_state: 0x101,
        cur_qp_state: 0x102,
        path_mtu: 0x103,
        path_mig_state: 0x104,
        qkey: 0x105,
        rq_psn: 0x106,
        sq_psn: 0x107,
        dest_qp_num: 0x108,
        qp_access_flags: 0x109,
        ah_attr: kernel_ah(0x40),
        alt_ah_attr: kernel_ah(0x80),
        max_send_wr: 0x10a,
        max_recv_wr: 0x10b,
        max_send_sge: 0x10c,
        max_recv_sge: 0x10d,
        max_inline_data: 0x10e,
        pkey_index: 0x10f,
        alt_pkey_index: 0x110,
        en_sqd_async_notify: 1,
        sq_draining: 2,
        max_rd_atomic: 3,
        max_dest_rd_atomic: 4,
        min_rnr_timer: 5,
        port_num: 6,
        timeout: 7,
        retry_cnt: 8,
        rnr_retry: 9,
        alt_port_num: 10,
        alt_timeout: 11,
        reserved: [0xff; 5],
    };
    // A program's attributes are memory from the stack with nothing but the state in it.
    let mut memory = MaybeUninit::<ibv_qp_attr>::uninit();
    // SAFETY: all bytes are set before the value is taken.
    let attr = unsafe {
        memory.as_mut_ptr().write_bytes(0xaa, 1);
        ibv_copy_qp_attr_from_kern(memory.as_mut_ptr(), &src);
        memory.assume_init()
    };
    assert_eq!(attr.qp_state, 0xaaaa_aaaa);
    assert_eq!(attr.rate_limit, 0xaaaa_aaaa);
    assert_eq!(attr.cur_qp_state, 0x102);
    assert_eq!(attr.path_mtu, 0x103);
    assert_eq!(attr.path_mig_state, 0x104);
    assert_eq!(attr.qkey, 0x105);
    assert_eq!(attr.rq_psn, 0x106);
    assert_eq!(attr.sq_psn, 0x107);
    assert_eq!(attr.dest_qp_num, 0x108);
    assert_eq!(attr.qp_access_flags, 0x109);
    assert_eq!(attr.cap.max_send_wr, 0x10a);
    assert_eq!(attr.cap.max_recv_wr, 0x10b);
    assert_eq!(attr.cap.max_send_sge, 0x10c);
    assert_eq!(attr.cap.max_recv_sge, 0x10d);
    assert_eq!(attr.cap.max_inline_data, 0x10e);
    check_ah(&attr.ah_attr, 0x40);
    check_ah(&attr.alt_ah_attr, 0x80);
    assert_eq!(attr.pkey_index, 0x10f);
    assert_eq!(attr.alt_pkey_index, 0x110);
    assert_eq!(attr.en_sqd_async_notify, 1);
    assert_eq!(attr.sq_draining, 2);
    assert_eq!(attr.max_rd_atomic, 3);
    assert_eq!(attr.max_dest_rd_atomic, 4);
    assert_eq!(attr.min_rnr_timer, 5);
    assert_eq!(attr.port_num, 6);
    assert_eq!(attr.timeout, 7);
    assert_eq!(attr.retry_cnt, 8);
    assert_eq!(attr.rnr_retry, 9);
    assert_eq!(attr.alt_port_num, 10);
    assert_eq!(attr.alt_timeout, 11);
}

#[test]
fn path_records_there_and_back() {
    let src = ib_user_path_rec {
        dgid: gid(1),
        sgid: gid(0x21),
        dlid: 0x101,
        slid: 0x102,
        raw_traffic: 0x8000_0103,
        flow_label: 0x104,
        reversible: 0x105,
        mtu: 0x1fe,
        pkey: 0x106,
        hop_limit: 7,
        traffic_class: 8,
        numb_path: 9,
        sl: 10,
        mtu_selector: 11,
        rate_selector: 12,
        rate: 13,
        packet_life_time_selector: 14,
        packet_life_time: 15,
        preference: 16,
    };
    let mut rec = ibv_sa_path_rec::zeroed();
    let mut back = ib_user_path_rec::zeroed();
    // SAFETY: all are whole structs.
    unsafe {
        ibv_copy_path_rec_from_kern(&mut rec, &src);
        ibv_copy_path_rec_to_kern(&mut back, &rec);
        assert_eq!((rec.dgid.raw, rec.sgid.raw), (gid(1), gid(0x21)));
    }
    assert_eq!((rec.dlid, rec.slid), (0x101, 0x102));
    assert_eq!(rec.raw_traffic, 0x8000_0103_u32.cast_signed());
    assert_eq!((rec.flow_label, rec.hop_limit, rec.traffic_class), (0x104, 7, 8));
    assert_eq!((rec.reversible, rec.numb_path, rec.pkey, rec.sl), (0x105, 9, 0x106, 10));
    assert_eq!((rec.mtu_selector, rec.mtu), (11, 0xfe));
    assert_eq!((rec.rate_selector, rec.rate), (12, 13));
    assert_eq!((rec.packet_life_time_selector, rec.packet_life_time), (14, 15));
    assert_eq!(rec.preference, 16);

    assert_eq!((back.dgid, back.sgid, back.dlid, back.slid), (gid(1), gid(0x21), 0x101, 0x102));
    assert_eq!((back.raw_traffic, back.flow_label), (0x8000_0103, 0x104));
    assert_eq!((back.reversible, back.mtu, back.pkey), (0x105, 0xfe, 0x106));
    assert_eq!((back.hop_limit, back.traffic_class, back.numb_path, back.sl), (7, 8, 9, 10));
    assert_eq!((back.mtu_selector, back.rate_selector, back.rate), (11, 12, 13));
    assert_eq!((back.packet_life_time_selector, back.packet_life_time), (14, 15));
    assert_eq!(back.preference, 16);
}
