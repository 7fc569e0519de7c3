use core::ptr;

use super::*;
use crate::cmd::fake::{self, Form, Reply, TestContext};

/// A response whose member at offset `n` has bytes `n`, `n + 1`, ...
fn response(length: usize) -> ib_uverbs_ex_query_device_resp {
    let mut response = ib_uverbs_ex_query_device_resp::zeroed();
    let bytes: *mut u8 = ptr::from_mut(&mut response).cast();
    for i in 0..size_of_val(&response) {
        // SAFETY: the byte is inside the struct, and any bytes make one.
        unsafe { bytes.add(i).write(i as u8) };
    }
    response.base.phys_port_cnt = 2;
    response.response_length = length as u32;
    response
}

/// Answers the extended query by a response of some length and the plain one by its base.
fn answer_extended(length: usize) {
    fake::answer(move |call| {
        let response = response(length);
        match call.write_command() {
            Some(command) if command & IB_USER_VERBS_CMD_FLAG_EXTENDED != 0 => {
                call.respond(&response);
            }
            _ => call.respond(&response.base),
        }
        Reply::Done
    });
}

const ORIGINAL: usize = size_of::<ibv_device_attr>();
const ALL: usize = size_of::<ibv_device_attr_ex>();
const RESPONSE: usize = size_of::<ib_uverbs_ex_query_device_resp>();

/// Queries with `size` bytes of attributes; the bytes behind them must stay.
fn query(context: &TestContext, size: usize) -> (c_int, ibv_device_attr_ex) {
    let mut memory = [0xee_u8; ALL + 16];
    let attr = memory.as_mut_ptr().cast();
    let (context, null) = (context.get(), ptr::null_mut());
    // SAFETY: context and attributes are valid.
    let result = unsafe {
        ibv_cmd_query_device_any(context, ptr::null(), attr, size, null, ptr::null_mut())
    };
    assert!(memory[size..].iter().all(|byte| *byte == 0xee), "{size}");
    // SAFETY: the memory is long enough, and any bytes make the struct.
    (result, unsafe { attr.read_unaligned() })
}

#[test]
fn all_members_of_a_full_answer() {
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        answer_extended(RESPONSE);
        let (result, attr) = query(&context, ALL);
        assert_eq!(result, 0);
        let kernel = response(RESPONSE);
        let original = &attr.orig_attr;
        assert_eq!(original.fw_ver, [0; 64], "the provider's");
        assert_eq!(original.node_guid, kernel.base.node_guid);
        assert_eq!(original.sys_image_guid, kernel.base.sys_image_guid);
        assert_eq!(original.max_mr_size, kernel.base.max_mr_size);
        assert_eq!(original.page_size_cap, kernel.base.page_size_cap);
        assert_eq!(original.vendor_id, kernel.base.vendor_id);
        assert_eq!(original.vendor_part_id, kernel.base.vendor_part_id);
        assert_eq!(original.hw_ver, kernel.base.hw_ver);
        assert_eq!(original.max_qp, kernel.base.max_qp as c_int);
        assert_eq!(original.atomic_cap, kernel.base.atomic_cap);
        assert_eq!(original.max_srq_sge, kernel.base.max_srq_sge as c_int);
        assert_eq!(original.max_pkeys, kernel.base.max_pkeys);
        assert_eq!(original.local_ca_ack_delay, kernel.base.local_ca_ack_delay);
        assert_eq!(attr.comp_mask, 0);
        assert_eq!(attr.odp_caps.general_caps, kernel.odp_caps.general_caps);
        let (ours, theirs) = (attr.odp_caps.per_transport_caps, kernel.odp_caps.per_transport_caps);
        assert_eq!(ours.rc_odp_caps, theirs.rc_odp_caps);
        assert_eq!(ours.uc_odp_caps, theirs.uc_odp_caps);
        assert_eq!(ours.ud_odp_caps, theirs.ud_odp_caps);
        assert_eq!(attr.completion_timestamp_mask, kernel.timestamp_mask);
        assert_eq!(attr.hca_core_clock, kernel.hca_core_clock);
        assert_eq!(attr.device_cap_flags_ex, kernel.device_cap_flags_ex);
        let (ours, theirs) = (attr.rss_caps, kernel.rss_caps);
        assert_eq!(ours.supported_qpts, theirs.supported_qpts);
        assert_eq!(ours.max_rwq_indirection_tables, theirs.max_rwq_indirection_tables);
        assert_eq!(ours.max_rwq_indirection_table_size, theirs.max_rwq_indirection_table_size);
        assert_eq!((ours.rx_hash_fields_mask, ours.rx_hash_function), (0, 0));
        assert_eq!(attr.max_wq_type_rq, kernel.max_wq_type_rq);
        assert_eq!(attr.raw_packet_caps, kernel.raw_packet_caps);
        let (ours, theirs) = (attr.tm_caps, kernel.tm_caps);
        assert_eq!(ours.max_rndv_hdr_size, theirs.max_rndv_hdr_size);
        assert_eq!(ours.max_num_tags, theirs.max_num_tags);
        assert_eq!((ours.flags, ours.max_ops), (theirs.flags, theirs.max_ops));
        assert_eq!(ours.max_sge, theirs.max_sge);
        let (ours, theirs) = (attr.cq_mod_caps, kernel.cq_moderation_caps);
        assert_eq!(ours.max_cq_count, theirs.max_cq_moderation_count);
        assert_eq!(ours.max_cq_period, theirs.max_cq_moderation_period);
        assert_eq!(attr.max_dm_size, kernel.max_dm_size);
        assert_eq!(attr.xrc_odp_caps, kernel.xrc_odp_caps);
        assert_eq!(attr.phys_port_cnt_ex, 2);
        assert_eq!((attr.tso_caps.max_tso, attr.packet_pacing_caps.supported_qpts), (0, 0));
    }
}

#[test]
fn members_beyond_either_end_stay_zero() {
    let context = TestContext::new(Form::Write);
    // The kernel's answer ends in the middle of the RSS capabilities.
    answer_extended(offset_of!(ib_uverbs_ex_query_device_resp, rss_caps) + 8);
    let (result, attr) = query(&context, ALL);
    assert_eq!(result, 0);
    assert_ne!(attr.device_cap_flags_ex, 0);
    assert_eq!((attr.rss_caps.supported_qpts, attr.max_dm_size, attr.xrc_odp_caps), (0, 0, 0));
    assert_eq!(attr.phys_port_cnt_ex, 2, "not of the extended answer");

    // The program's struct ends in the middle of the ODP capabilities.
    answer_extended(RESPONSE);
    let (result, attr) = query(&context, offset_of!(ibv_device_attr_ex, odp_caps) + 8);
    assert_eq!(result, 0);
    assert_ne!(attr.orig_attr.node_guid, 0);
    assert_eq!(attr.odp_caps.general_caps, 0);
    // A program of the future has a longer struct.
    let (result, attr) = query(&context, ALL + 16);
    assert_eq!((result, attr.phys_port_cnt_ex), (0, 2));
    // And so may the kernel.
    answer_extended(100_000);
    assert_ne!(query(&context, ALL).1.xrc_odp_caps, 0);
}

#[test]
fn a_plain_query_for_the_original_attributes_or_an_old_kernel() {
    let context = TestContext::new(Form::Write);
    answer_extended(RESPONSE);
    let (result, attr) = query(&context, ORIGINAL);
    assert_eq!((result, attr.orig_attr.node_guid), (0, response(0).base.node_guid));
    assert_eq!(fake::calls(), ["write n=16 cmd=1 in=4 out=44"]);

    for errno in [libc::EOPNOTSUPP, libc::ENOSYS] {
        fake::answer(move |call| {
            if call.write_command() != Some(IB_USER_VERBS_CMD_QUERY_DEVICE) {
                return Reply::Fail(errno);
            }
            call.respond(&response(0).base);
            Reply::Done
        });
        let (result, attr) = query(&context, ALL);
        assert_eq!((result, attr.orig_attr.node_guid), (0, response(0).base.node_guid));
        assert_eq!((attr.device_cap_flags_ex, attr.phys_port_cnt_ex), (0, 0));
        assert_eq!(fake::calls().len(), 2);
    }

    fake::answer(|_| Reply::Fail(libc::EIO));
    let (result, attr) = query(&context, ALL);
    assert_eq!((result, attr.orig_attr.node_guid), (libc::EIO, 0));
    assert_eq!(fake::calls().len(), 1);
}

#[test]
fn the_providers_buffer_gets_the_response_and_its_length() {
    let context = TestContext::new(Form::Write);
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Full {
        base: ib_uverbs_ex_query_device_resp,
        extra: u64,
    }
    plain!(Full);
    let query = |size: usize| {
        let mut resp = Full { extra: 5, ..Plain::zeroed() };
        let (mut attr, mut resp_size) = (ibv_device_attr_ex::zeroed(), size_of_val(&resp));
        let place = ptr::from_mut(&mut resp).cast();
        // SAFETY: context, attributes and buffer are valid.
        let result = unsafe {
            let input = ptr::null();
            ibv_cmd_query_device_any(context.get(), input, &mut attr, size, place, &mut resp_size)
        };
        assert_eq!(result, 0);
        (resp, resp_size)
    };
    fake::answer(|call| {
        call.respond(&Full { base: response(RESPONSE + 8), extra: 0x77 });
        Reply::Done
    });
    let (resp, size) = query(ALL);
    assert_eq!(
        (size, resp.extra, resp.base.base.node_guid),
        (312, 0x77, response(0).base.node_guid)
    );
    assert_eq!(fake::calls(), ["write n=32 cmd=80000001 in=1 out=38 pin=0 pout=1"]);

    answer_extended(0);
    let (resp, size) = query(ORIGINAL);
    assert_eq!((size, resp.base.response_length, resp.extra), (176, 176, 0));
    assert_eq!(resp.base.base.node_guid, response(0).base.node_guid);
}

#[test]
fn inputs_of_the_future_and_short_structs_are_refused() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    let mut attr = ibv_device_attr_ex::zeroed();
    attr.comp_mask = 5;
    let mut query = |comp_mask, size| {
        let (input, null) = (ibv_query_device_ex_input { comp_mask }, ptr::null_mut());
        // SAFETY: context and attributes are valid.
        unsafe {
            let size_place = ptr::null_mut();
            ibv_cmd_query_device_any(context.get(), &input, &mut attr, size, null, size_place)
        }
    };
    assert_eq!(query(1, ALL), libc::EINVAL);
    assert_eq!(query(0, ORIGINAL - 1), libc::EINVAL);
    assert!(fake::calls().is_empty());
    assert_eq!(query(0, ALL), 0);
    assert_eq!(attr.comp_mask, 0);
}

#[test]
fn discovery_knows_of_more_ports() {
    let context = TestContext::new(Form::Write);
    answer_extended(RESPONSE);
    let mut record = verbs_sysfs_dev { num_ports: 300, ..Plain::zeroed() };
    // SAFETY: the device lives as long as the context.
    unsafe { (*context.device()).sysfs = &mut record };
    assert_eq!(query(&context, ALL).1.phys_port_cnt_ex, 300);
}
