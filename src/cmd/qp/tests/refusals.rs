//! What is refused, and what failures leave behind.

use super::*;

#[test]
fn attributes_that_do_not_suit_are_refused() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    fake::answer(|_| panic!("the kernel must not be asked"));
    type Edit = fn(&mut ibv_qp_init_attr_ex);
    let table = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE;
    let no_queue: Edit = |attr| {
        attr.cap = ibv_qp_cap::zeroed();
        attr.recv_cq = ptr::null_mut();
    };
    let cases: &[(ibv_qp_type, u32, Edit)] = &[
        (IBV_QPT_RC, 0, |_| ()),
        (IBV_QPT_RC, IBV_QP_INIT_ATTR_XRCD, |_| ()),
        (IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_PD, |_| ()),
        (IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_XRCD, |_| ()),
        (0, IBV_QP_INIT_ATTR_PD, |_| ()),
        (5, IBV_QP_INIT_ATTR_PD, |_| ()),
        (254, IBV_QP_INIT_ATTR_PD, |_| ()),
        (u32::MAX, IBV_QP_INIT_ATTR_PD, |_| ()),
        (IBV_QPT_UD, IBV_QP_INIT_ATTR_PD, |attr| attr.pd = ptr::null_mut()),
        (IBV_QPT_UD, IBV_QP_INIT_ATTR_PD, |attr| attr.send_cq = ptr::null_mut()),
        (IBV_QPT_UD, IBV_QP_INIT_ATTR_PD, |attr| attr.recv_cq = ptr::null_mut()),
        (IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD, |attr| attr.xrcd = ptr::null_mut()),
        // What receives is behind the table.
        (IBV_QPT_UD, table, |attr| attr.cap = ibv_qp_cap::zeroed()),
        (IBV_QPT_UD, table, |attr| attr.recv_cq = ptr::null_mut()),
        (IBV_QPT_UD, PD_FLAGS, |attr| attr.create_flags = 1),
        (IBV_QPT_UD, PD_FLAGS, |attr| attr.create_flags = 1 << 12),
        (IBV_QPT_UD, PD_FLAGS, |attr| attr.create_flags = u32::MAX),
    ];
    let more: &[(u32, Edit)] = &[
        (table, |attr| attr.srq = ptr::without_provenance_mut(8)),
        (table, |attr| attr.cap.max_recv_wr = 1),
        (table, |attr| attr.cap.max_recv_sge = 1),
        (table, |attr| attr.rwq_ind_tbl = ptr::null_mut()),
        (table, |attr| {
            attr.cap.max_send_wr = 1;
            attr.send_cq = ptr::null_mut();
        }),
    ];
    for (index, (qp_type, mask, edit)) in cases.iter().enumerate() {
        let mut attr = parents.attr(*qp_type, *mask);
        edit(&mut attr);
        let status = if mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 {
            create_ex2(&context, &mut new_qp(), &mut attr)
        } else {
            create_ex(&context, &mut new_qp(), &mut attr)
        };
        assert_eq!(failure(status), libc::EINVAL, "case {index}");
    }
    for (index, (mask, edit)) in more.iter().enumerate() {
        let mut attr = parents.attr(IBV_QPT_UD, *mask);
        no_queue(&mut attr);
        edit(&mut attr);
        let status = create_ex2(&context, &mut new_qp(), &mut attr);
        assert_eq!(failure(status), libc::EINVAL, "case {index} with a table");
    }
    // Masks that the function does not know.
    for bit in [IBV_QP_INIT_ATTR_CREATE_FLAGS, IBV_QP_INIT_ATTR_MAX_TSO_HEADER, 1 << 7, 1 << 31] {
        let mut attr = parents.attr(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | bit);
        let status = create_ex(&context, &mut new_qp(), &mut attr);
        assert_eq!(failure(status), libc::EINVAL, "bit {bit:#x}");
    }
    for bit in [1 << 7, 1 << 31] {
        let mut attr = parents.attr(IBV_QPT_UD, IBV_QP_INIT_ATTR_PD | bit);
        let status = create_ex2(&context, &mut new_qp(), &mut attr);
        assert_eq!(failure(status), libc::EINVAL, "bit {bit:#x}");
    }
    // The plain attributes have no domain, and they stay as they are.
    let mut attr = ibv_qp_init_attr::zeroed();
    attr.cap = cap(1);
    for qp_type in [IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND] {
        attr.qp_type = qp_type;
        let status = create_plain(&mut parents, &mut new_qp(), &mut attr);
        assert_eq!(failure(status), libc::EINVAL);
        assert_eq!(caps(&attr.cap), [1, 2, 3, 4, 5]);
    }
}

#[test]
fn failures_leave_the_qp_alone() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    fake::set_uverbs_abi(6);
    let mut qp = new_qp();
    let mut attr = parents.attr(IBV_QPT_RC, IBV_QP_INIT_ATTR_PD);
    for errno in [libc::ENOMEM, libc::EINVAL, libc::EIO] {
        fake::answer(move |_| Reply::Fail(errno));
        assert_eq!(failure(create_ex(&context, &mut qp, &mut attr)), errno);
        assert_eq!(fake::calls().len(), 1, "no fall-back");
    }
    // What is wanted is left alone, also where only a part of it counts.
    let mut send = parents.attr(IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_PD);
    assert_eq!(failure(create_ex(&context, &mut qp, &mut send)), libc::EIO);
    assert_eq!(caps(&send.cap), [1, 2, 3, 4, 5]);
    failing_kernel(libc::EPROTONOSUPPORT, created(), Some(libc::EMFILE));
    assert_eq!(failure(create_ex(&context, &mut qp, &mut attr)), libc::EMFILE);
    context.kernel().private().set_imported();
    assert_eq!(failure(create_ex(&context, &mut qp, &mut attr)), libc::EOPNOTSUPP);
    assert_eq!(requests().len(), 1);
    assert_eq!(caps(&attr.cap), [1, 2, 3, 4, 5]);
    assert_eq!((public(&qp).handle, public(&qp).qp_num, qp.comp_mask), (GARBAGE, GARBAGE, GARBAGE));
}
