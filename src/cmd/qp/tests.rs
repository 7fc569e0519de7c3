mod existing;
mod refusals;

use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::testing::*;

const TAIL: &str = "4096(len8) 4097(len8)";
/// What follows the parents in the command for any QP.
const REST: &str = "0(len0) 9(len8) 7(len8) 8(len20) 12(len0)";
const RESULTS: &str = "13(len20) 14(len4) 4096(len8) 4097(len8)";

fn ioctl(parents: &str, extra: &str) -> String {
    let space = if extra.is_empty() { "" } else { " " };
    format!("ioctl 4.0: {parents} {REST} {extra}{space}{RESULTS}")
}

/// The objects that a QP needs.
struct Parents {
    pd: ibv_pd,
    xrcd: verbs_xrcd,
    send_cq: ibv_cq,
    recv_cq: ibv_cq,
    srq: ibv_srq,
    table: ibv_rwq_ind_table,
}

impl Parents {
    fn new(context: &TestContext) -> Box<Parents> {
        let mut parents = Box::new(Parents {
            pd: ibv_pd { context: context.get(), handle: 11 },
            xrcd: verbs_xrcd::zeroed(),
            send_cq: ibv_cq::zeroed(),
            recv_cq: ibv_cq::zeroed(),
            srq: ibv_srq::zeroed(),
            table: ibv_rwq_ind_table::zeroed(),
        });
        parents.xrcd.handle = 12;
        parents.send_cq.handle = 13;
        parents.recv_cq.handle = 14;
        parents.srq.handle = 15;
        parents.table.ind_tbl_handle = 16;
        parents
    }

    /// Attributes with all members but the SRQ set, of which the mask names these.
    fn attr(&mut self, qp_type: ibv_qp_type, comp_mask: u32) -> ibv_qp_init_attr_ex {
        let mut attr = ibv_qp_init_attr_ex::zeroed();
        attr.qp_context = ptr::without_provenance_mut(0x99);
        attr.send_cq = &mut self.send_cq;
        attr.recv_cq = &mut self.recv_cq;
        attr.cap = cap(1);
        attr.qp_type = qp_type;
        attr.comp_mask = comp_mask;
        attr.pd = &mut self.pd;
        attr.xrcd = &mut self.xrcd.xrcd;
        attr.rwq_ind_tbl = &mut self.table;
        attr.source_qpn = 0x31;
        attr
    }
}

/// Capabilities of five numbers from `first` on.
fn cap(first: u32) -> ibv_qp_cap {
    ibv_qp_cap {
        max_send_wr: first,
        max_recv_wr: first + 1,
        max_send_sge: first + 2,
        max_recv_sge: first + 3,
        max_inline_data: first + 4,
    }
}

fn caps(cap: &ibv_qp_cap) -> [u32; 5] {
    let ibv_qp_cap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data } = *cap;
    [max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data]
}

/// A QP whose memory has been used before.
fn new_qp() -> Box<verbs_qp> {
    let mut qp = Box::new(verbs_qp::zeroed());
    // SAFETY: any bytes are a valid QP.
    unsafe { (&raw mut *qp).write_bytes(0xa5, 1) };
    qp
}

fn public(qp: &verbs_qp) -> &ibv_qp {
    // SAFETY: the plain QP begins each of the forms.
    unsafe { &qp.base.qp }
}

const GARBAGE: u32 = 0xa5a5_a5a5;

fn create_plain(parents: &mut Parents, qp: &mut verbs_qp, attr: &mut ibv_qp_init_attr) -> c_int {
    let mut cmd = WithBytes::<ibv_create_qp, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_create_qp_resp, 1>::new([0]);
    let qp = (&raw mut *qp).cast();
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_qp(
            &mut parents.pd,
            qp,
            attr,
            cmd.core(),
            cmd.size(),
            resp.core(),
            resp.size(),
        )
    }
}

fn create_ex(context: &TestContext, qp: &mut verbs_qp, attr: &mut ibv_qp_init_attr_ex) -> c_int {
    let mut cmd = WithBytes::<ibv_create_qp, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_create_qp_resp, 1>::new([0]);
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_qp_ex(
            context.get(),
            qp,
            attr,
            cmd.core(),
            cmd.size(),
            resp.core(),
            resp.size(),
        )
    }
}

fn create_ex2(context: &TestContext, qp: &mut verbs_qp, attr: &mut ibv_qp_init_attr_ex) -> c_int {
    let mut cmd = WithBytes::<ibv_create_qp_ex, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_ex_create_qp_resp, 1>::new([0]);
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_qp_ex2(
            context.get(),
            qp,
            attr,
            cmd.core(),
            cmd.size(),
            resp.core(),
            resp.size(),
            ptr::null_mut(),
        )
    }
}

/// A kernel with the ioctl, which makes QP 7 with the number 0x456 and capabilities from 100 on;
/// each attribute in `wanted` must have that value.
fn new_kernel(wanted: &'static [(u16, u64)]) {
    fake::answer(move |call| {
        let Call::Ioctl(ioctl) = call else { panic!("no write command") };
        for (id, value) in wanted {
            assert_eq!(ioctl.data(*id), Some(*value), "attribute {id}");
        }
        assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_EVENT_FD), Some(fake::ASYNC_FD as u64));
        ioctl.set_data(UVERBS_ATTR_CREATE_QP_HANDLE, 7);
        ioctl.output(UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap(100));
        ioctl.output(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &0x456_u32);
        Reply::Done
    });
}

fn created() -> ib_uverbs_create_qp_resp {
    ib_uverbs_create_qp_resp {
        qp_handle: 8,
        qpn: 0x789,
        max_send_wr: 200,
        max_recv_wr: 201,
        max_send_sge: 202,
        max_recv_sge: 203,
        max_inline_data: 204,
        reserved: 0,
        driver_data: [],
    }
}

fn created_ex() -> ib_uverbs_ex_create_qp_resp {
    ib_uverbs_ex_create_qp_resp { base: created(), comp_mask: 0, response_length: 40 }
}

fn check_qp(qp: &verbs_qp, context: &TestContext, attr: &ibv_qp_init_attr_ex, ids: (u32, u32)) {
    let qp = public(qp);
    assert_eq!((qp.handle, qp.qp_num), ids);
    assert_eq!((qp.context, qp.qp_context.addr()), (context.get(), 0x99));
    assert_eq!((qp.send_cq, qp.recv_cq, qp.srq), (attr.send_cq, attr.recv_cq, attr.srq));
    assert_eq!((qp.qp_type, qp.state, qp.events_completed), (attr.qp_type, IBV_QPS_RESET, 0));
    let pd = attr.comp_mask & IBV_QP_INIT_ATTR_PD != 0;
    assert_eq!(qp.pd, if pd { attr.pd } else { ptr::null_mut() });
    // The mutex is fresh.
    let mutex = (&raw const qp.mutex).cast_mut();
    // SAFETY: the QP is ours alone.
    unsafe {
        assert_eq!(libc::pthread_mutex_trylock(mutex), 0);
        libc::pthread_mutex_unlock(mutex);
    }
}

#[test]
fn a_plain_one_by_ioctl() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    for (srq, sq_sig_all, extra) in [
        (false, 0, ""),
        (false, 5, "10(len4)"),
        (true, 0, "3(len0)"),
        (true, 1, "10(len4) 3(len0)"),
    ] {
        let mut attr_ex = parents.attr(IBV_QPT_RC, IBV_QP_INIT_ATTR_PD);
        attr_ex.srq = if srq { &raw mut parents.srq } else { ptr::null_mut() };
        let mut attr = ibv_qp_init_attr {
            qp_context: attr_ex.qp_context,
            send_cq: attr_ex.send_cq,
            recv_cq: attr_ex.recv_cq,
            srq: attr_ex.srq,
            cap: cap(1),
            qp_type: IBV_QPT_RC,
            sq_sig_all,
        };
        let mut qp = new_qp();
        fake::answer(move |call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            let words = [1_u32, 2, 3, 4, 5].map(u32::to_ne_bytes).concat();
            assert_eq!(ioctl.input(UVERBS_ATTR_CREATE_QP_CAP), Some(words));
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_TYPE), Some(2));
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_PD_HANDLE), Some(11));
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE), Some(13));
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE), Some(14));
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE), srq.then_some(15));
            let flags = (sq_sig_all != 0).then_some(4096);
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_QP_FLAGS), flags);
            ioctl.set_data(UVERBS_ATTR_CREATE_QP_HANDLE, 7);
            ioctl.output(UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap(100));
            ioctl.output(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &0x456_u32);
            Reply::Done
        });
        assert_eq!(create_plain(&mut parents, &mut qp, &mut attr), 0);
        assert_eq!(fake::calls(), [ioctl("2(len0) 4(len0) 5(len0)", extra)]);
        check_qp(&qp, &context, &attr_ex, (7, 0x456));
        assert_eq!(caps(&attr.cap), [100, 101, 102, 103, 104]);
        // Behind a plain QP there may be nothing.
        assert_eq!(qp.comp_mask, GARBAGE);
    }
}

#[test]
fn by_write_for_each_version() {
    let plain = "write n=72 cmd=18 in=18 out=";
    for (version, words, wanted) in [
        (3, "4", [1, 2, 3, 4, 5]),
        (4, "9", [200, 201, 202, 203, 204]),
        (5, "10", [200, 201, 202, 203, 204]),
        (6, "10", [200, 201, 202, 203, 204]),
    ] {
        for form in [Form::Write, Form::InvokeWrite] {
            let context = TestContext::new(form);
            let mut parents = Parents::new(&context);
            fake::set_uverbs_abi(version);
            let now = created();
            let v4 = ibv_create_qp_resp_v4 {
                qp_handle: now.qp_handle,
                qpn: now.qpn,
                max_send_wr: now.max_send_wr,
                max_recv_wr: now.max_recv_wr,
                max_send_sge: now.max_send_sge,
                max_recv_sge: now.max_recv_sge,
                max_inline_data: now.max_inline_data,
            };
            let size = match version {
                3 => {
                    let v3 = ibv_create_qp_resp_v3 { qp_handle: now.qp_handle, qpn: now.qpn };
                    old_kernel(libc::EPROTONOSUPPORT, v3);
                    8
                }
                4 => {
                    old_kernel(libc::EPROTONOSUPPORT, v4);
                    28
                }
                _ => {
                    old_kernel(libc::EPROTONOSUPPORT, now);
                    32
                }
            };
            let mut attr = parents.attr(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD);
            attr.srq = &mut parents.srq;
            attr.sq_sig_all = 256;
            let mut qp = new_qp();
            assert_eq!(create_ex(&context, &mut qp, &mut attr), 0);
            let line = match form {
                Form::Write => format!("{plain}{words}"),
                Form::InvokeWrite => {
                    format!("ioctl 0.0: 2(len8)=cmd 18 0(len56) 1(len{size}) {TAIL}")
                }
            };
            let first = ioctl("2(len0) 4(len0) 5(len0)", "10(len4) 3(len0)");
            assert_eq!(fake::calls(), [first, line]);
            let (core, provider) = request::<ib_uverbs_create_qp>();
            assert_eq!(core.user_handle, (&raw const *qp).addr() as u64);
            assert_eq!((core.pd_handle, core.send_cq_handle, core.recv_cq_handle), (11, 13, 14));
            assert_eq!((core.srq_handle, core.is_srq, core.sq_sig_all), (15, 1, 1));
            assert_eq!((core.max_send_wr, core.max_recv_wr, core.max_send_sge), (1, 2, 3));
            assert_eq!((core.max_recv_sge, core.max_inline_data), (4, 5));
            assert_eq!((core.qp_type, core.reserved), (4, 0));
            assert_eq!(provider, bytes_of_words(&[0x77]));
            check_qp(&qp, &context, &attr, (8, 0x789));
            assert_eq!(caps(&attr.cap), wanted, "version {version}");
            assert_eq!(qp.comp_mask, 0);
        }
    }
}

#[test]
fn xrc_in_each_form() {
    fake::set_uverbs_abi(6);
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        let mut parents = Parents::new(&context);
        // The receive side has a domain and nothing else.
        let mut attr = parents.attr(IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD);
        let mut qp = new_qp();
        new_kernel(&[(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 12), (UVERBS_ATTR_CREATE_QP_TYPE, 10)]);
        assert_eq!(create_ex(&context, &mut qp, &mut attr), 0);
        assert_eq!(fake::calls(), [ioctl("1(len0)", "")]);
        check_qp(&qp, &context, &attr, (7, 0x456));
        assert_eq!((qp.comp_mask, qp.xrcd), (VERBS_QP_XRCD, &raw mut parents.xrcd));

        // The send side has no receive queue.
        let mut attr = parents.attr(IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_PD);
        let mut qp = new_qp();
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            let words = [1_u32, 0, 3, 0, 5].map(u32::to_ne_bytes).concat();
            assert_eq!(ioctl.input(UVERBS_ATTR_CREATE_QP_CAP), Some(words));
            Reply::Done
        });
        assert_eq!(create_ex(&context, &mut qp, &mut attr), 0);
        assert_eq!(fake::calls(), [ioctl("2(len0) 4(len0)", "")]);
        assert_eq!(caps(&attr.cap), [1, 0, 3, 0, 5]);
        assert_eq!(qp.comp_mask, 0);
        assert_eq!(qp.xrcd.addr() as u32, GARBAGE);

        old_kernel(libc::ENOTTY, created());
        let mut attr = parents.attr(IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD);
        assert_eq!(create_ex(&context, &mut new_qp(), &mut attr), 0);
        let (core, _) = request::<ib_uverbs_create_qp>();
        assert_eq!((core.pd_handle, core.send_cq_handle, core.recv_cq_handle), (12, 0, 0));
        assert_eq!((core.qp_type, core.srq_handle, core.is_srq), (10, 0, 0));
        let mut attr = parents.attr(IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_PD);
        assert_eq!(create_ex(&context, &mut new_qp(), &mut attr), 0);
        let (core, _) = request::<ib_uverbs_create_qp>();
        assert_eq!((core.pd_handle, core.send_cq_handle, core.recv_cq_handle), (11, 13, 0));
        assert_eq!((core.max_send_wr, core.max_recv_wr, core.max_recv_sge), (1, 0, 0));
    }
}

const PD_FLAGS: u32 = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
const ALL_FLAGS: u32 = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB
    | IBV_QP_CREATE_SCATTER_FCS
    | IBV_QP_CREATE_CVLAN_STRIPPING
    | IBV_QP_CREATE_SOURCE_QPN
    | IBV_QP_CREATE_PCI_WRITE_END_PADDING;

#[test]
fn flags_in_each_form() {
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        let mut parents = Parents::new(&context);
        let mut attr = parents.attr(IBV_QPT_UD, PD_FLAGS);
        (attr.create_flags, attr.sq_sig_all) = (ALL_FLAGS, 1);
        // The source QPN is an attribute of its own, and signalling is a flag.
        new_kernel(&[
            (UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 0x31),
            (UVERBS_ATTR_CREATE_QP_FLAGS, 0x1b02),
        ]);
        let mut qp = new_qp();
        assert_eq!(create_ex2(&context, &mut qp, &mut attr), 0);
        let first = ioctl("2(len0) 4(len0) 5(len0)", "11(len4) 10(len4)");
        assert_eq!(fake::calls(), [first.as_str()]);
        check_qp(&qp, &context, &attr, (7, 0x456));
        assert_eq!(qp.comp_mask, 0);

        attr.cap = cap(1);
        old_kernel(libc::EPROTONOSUPPORT, created_ex());
        assert_eq!(create_ex2(&context, &mut qp, &mut attr), 0);
        let line = match form {
            Form::Write => "write n=96 cmd=80000018 in=8 out=5 pin=1 pout=1".to_owned(),
            Form::InvokeWrite => {
                format!("ioctl 0.0: 2(len8)=cmd 80000018 0(len64) 1(len40) {TAIL}")
            }
        };
        assert_eq!(fake::calls(), [first, line]);
        let (core, provider) = request::<ib_uverbs_ex_create_qp>();
        assert_eq!(core.user_handle, (&raw const *qp).addr() as u64);
        assert_eq!((core.pd_handle, core.send_cq_handle, core.recv_cq_handle), (11, 13, 14));
        assert_eq!((core.srq_handle, core.is_srq, core.sq_sig_all), (0, 0, 1));
        assert_eq!((core.max_send_wr, core.max_recv_wr, core.max_send_sge), (1, 2, 3));
        assert_eq!((core.max_recv_sge, core.max_inline_data, core.qp_type), (4, 5, 4));
        assert_eq!((core.create_flags, core.source_qpn), (ALL_FLAGS, 0x31));
        assert_eq!((core.comp_mask, core.rwq_ind_tbl_handle, core.reserved), (0, 0, 0));
        assert_eq!(provider, bytes_of_words(&[0x77]));
        check_qp(&qp, &context, &attr, (8, 0x789));
        assert_eq!(caps(&attr.cap), [200, 201, 202, 203, 204]);
    }
}

#[test]
fn flags_count_only_if_they_are_named() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    fake::set_uverbs_abi(6);
    let mut attr = parents.attr(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD);
    attr.create_flags = u32::MAX;
    old_kernel(libc::EPROTONOSUPPORT, created());
    assert_eq!(create_ex2(&context, &mut new_qp(), &mut attr), 0);
    // Without flags the plain command will do.
    let first = ioctl("2(len0) 4(len0) 5(len0)", "");
    assert_eq!(fake::calls(), [first.as_str(), "write n=72 cmd=18 in=18 out=10"]);

    // Named flags need the extended command even if there is none.
    let mut attr = parents.attr(IBV_QPT_UD, PD_FLAGS);
    old_kernel(libc::EPROTONOSUPPORT, created_ex());
    assert_eq!(create_ex2(&context, &mut new_qp(), &mut attr), 0);
    assert_eq!(fake::calls(), ["write n=96 cmd=80000018 in=8 out=5 pin=1 pout=1"]);
    let (core, _) = request::<ib_uverbs_ex_create_qp>();
    assert_eq!((core.create_flags, core.source_qpn), (0, 0));
}

#[test]
fn indirection_tables_in_each_form() {
    const MASK: u32 = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        let mut parents = Parents::new(&context);
        for max_send_wr in [0, 1] {
            let mut attr = parents.attr(IBV_QPT_RAW_PACKET, MASK);
            attr.cap = ibv_qp_cap { max_send_wr, ..ibv_qp_cap::zeroed() };
            attr.recv_cq = ptr::null_mut();
            if max_send_wr == 0 {
                attr.send_cq = ptr::null_mut();
            }
            let send_cq = if max_send_wr == 0 { "" } else { " 4(len0)" };
            let first = ioctl(&format!("2(len0) 6(len0){send_cq}"), "");
            let mut qp = new_qp();
            let newer = TestContext::new(form);
            new_kernel(&[(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, 16)]);
            assert_eq!(create_ex2(&newer, &mut qp, &mut attr), 0);
            assert_eq!(fake::calls(), [first]);
            check_qp(&qp, &newer, &attr, (7, 0x456));

            attr.cap = ibv_qp_cap { max_send_wr, ..ibv_qp_cap::zeroed() };
            old_kernel(libc::EPROTONOSUPPORT, created_ex());
            assert_eq!(create_ex2(&context, &mut qp, &mut attr), 0);
            let (core, _) = request::<ib_uverbs_ex_create_qp>();
            assert_eq!((core.comp_mask, core.rwq_ind_tbl_handle), (1, 16));
            assert_eq!((core.send_cq_handle, core.recv_cq_handle), (13 * max_send_wr, 0));
            assert_eq!((core.create_flags, core.pd_handle), (0, 11));
            check_qp(&qp, &context, &attr, (8, 0x789));
        }
    }
}

#[test]
fn a_domain_can_be_named_in_each_extended_form() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    new_kernel(&[]);
    let mut attr = parents.attr(IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD);
    let mut qp = new_qp();
    assert_eq!(create_ex2(&context, &mut qp, &mut attr), 0);
    assert_eq!(fake::calls(), [ioctl("1(len0)", "")]);
    assert_eq!((qp.comp_mask, qp.xrcd), (VERBS_QP_XRCD, &raw mut parents.xrcd));
    // Other types are not in it.
    let mut attr = parents.attr(IBV_QPT_RC, IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_PD);
    let mut qp = new_qp();
    assert_eq!(create_ex(&context, &mut qp, &mut attr), 0);
    assert_eq!((qp.comp_mask, qp.xrcd), (VERBS_QP_XRCD, ptr::null_mut()));
}

#[test]
fn bits_that_the_functions_know_are_taken() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    new_kernel(&[]);
    let mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    let mut attr = parents.attr(IBV_QPT_RC, mask);
    assert_eq!(create_ex(&context, &mut new_qp(), &mut attr), 0);
    let mut attr = parents.attr(IBV_QPT_UD, mask | IBV_QP_INIT_ATTR_MAX_TSO_HEADER);
    assert_eq!(create_ex2(&context, &mut new_qp(), &mut attr), 0);
}
