//! What verbs give when the provider has no function for them, and that the error numbers which only
//! providers give come out of them, each in the form that its manual page tells: the lines of
//! `abi-tests/errnos.tsv` that name this file.

use core::ffi::c_void;

use super::context::*;
use super::cq::*;
use super::flow::*;
use super::memory::*;
use super::poll::*;
use super::post::*;
use super::qp::*;
use super::srq::*;
use super::wq::*;
use super::*;
use crate::verbs::mr::extended;
use crate::verbs::testing::{Fake, recording_cq_ex, recording_qp_ex, status};
use crate::verbs::{
    ah, buf, comp_cntr, context as device, cq as queues, dm, dmah, mcast, mr, pd, qp as pairs,
    srq as shared,
};

const TABLE: &str = include_str!("../../../abi-tests/errnos.tsv");

/// How a call failed.
#[derive(PartialEq, Eq, Debug)]
enum Failed {
    /// It returned the error number, or a negative status with `errno`.
    Number(c_int),
    /// It returned NULL; the error number is in `errno`.
    Null(c_int),
    /// It succeeded, or failed in a way that it should not.
    Otherwise,
}

trait Outcome {
    fn outcome(self) -> Failed;
}

impl Outcome for c_int {
    fn outcome(self) -> Failed {
        match self {
            0 => Failed::Otherwise,
            // What a region says, and a function that returns a descriptor.
            IBV_REREG_MR_ERR_CMD | -1 => Failed::Number(Errno::last().0),
            number => Failed::Number(number.abs()),
        }
    }
}

impl<T> Outcome for *mut T {
    fn outcome(self) -> Failed {
        if self.is_null() { Failed::Null(Errno::last().0) } else { Failed::Otherwise }
    }
}

unsafe extern "C" fn copy_to(_: *mut ibv_dm, _: u64, _: *const c_void, _: usize) -> c_int {
    status()
}

unsafe extern "C" fn copy_from(_: *mut c_void, _: *mut ibv_dm, _: u64, _: usize) -> c_int {
    status()
}

unsafe extern "C" fn post(_: *mut ibv_wq, _: *mut ibv_recv_wr, _: *mut *mut ibv_recv_wr) -> c_int {
    status()
}

unsafe extern "C" fn export(_: *mut ibv_dm) -> c_int {
    Errno(status()).store();
    -1
}

/// Objects of a context, all bytes 0 but for what leads to the provider's functions.
macro_rules! objects {
    ($fake:ident, $($name:ident: $object:ident;)*) => {
        $(
            let mut $name = $object::zeroed();
            $name.context = $fake.context();
            let $name = &raw mut $name;
        )*
    };
}

/// `calls!(name; f(a, b) m::g(c))`: calls the function with the name; the outcome of that.
macro_rules! calls {
    ($wanted:ident; $($($path:ident)::+ ($($argument:expr),*))*) => {{
        $(
            if [$(stringify!($path)),+].last() == Some(&$wanted) {
                // SAFETY: live objects, or NULL for what the test's provider does not touch.
                return Some(unsafe { $($path)::+($($argument),*) }.outcome());
            }
        )*
        None
    }};
}

/// The provider of the objects that a verb is called with.
enum Provider {
    /// It has no functions.
    Bare,
    /// All its functions answer with this error number.
    Answers(c_int),
}

/// Calls the function with a name.
fn call(name: &str, provider: &Provider) -> Option<Failed> {
    let fake = match provider {
        Provider::Bare => Fake::with_ops(&verbs_context_ops::zeroed()),
        Provider::Answers(_) => Fake::new(),
    };
    let ctx = fake.context();
    objects! { fake,
        domain: ibv_pd; window: ibv_mw; memory: ibv_dm; td: ibv_td; dma: ibv_dmah;
        address: ibv_ah; srq: ibv_srq; pair: ibv_qp; cq: ibv_cq; wq: ibv_wq; xrcd: ibv_xrcd;
        table: ibv_rwq_ind_table; flow: ibv_flow; action: ibv_flow_action; counters: ibv_counters;
        counter: ibv_comp_cntr;
    }
    let mut ece = ibv_ece { vendor_id: 1, ..ibv_ece::zeroed() };
    let mut cq_ex = ibv_cq_ex::zeroed();
    let mut qp_ex = ibv_qp_ex::zeroed();
    let mut all = ibv_device_attr_ex::zeroed();
    let mut caps = ibv_comp_cntr_caps::zeroed();
    let mut port = ibv_port_attr::zeroed();
    let mut buffer = core::ptr::null_mut();
    let mut cq_attr = ibv_cq_init_attr_ex::zeroed();
    let mut qp_attr = ibv_qp_init_attr_ex::zeroed();
    let mut srq_attr = ibv_srq_init_attr_ex::zeroed();
    let mut mr_attr = ibv_mr_init_attr::zeroed();
    let (none, length) = (core::ptr::null_mut(), 8);
    if let Provider::Answers(errno) = *provider {
        fake.set_ops(|ops| ops.dm_export_dmabuf_fd = Some(export));
        cq_ex = recording_cq_ex();
        qp_ex = recording_qp_ex();
        // SAFETY: live objects.
        unsafe {
            (*memory).memcpy_to_dm = Some(copy_to);
            (*memory).memcpy_from_dm = Some(copy_from);
            (*wq).post_recv = Some(post);
        }
        fake.answer(if name == "ibv_poll_cq" { -errno } else { errno });
    }
    let mut whole = verbs_mr::zeroed();
    (whole.ibv_mr.context, whole.ibv_mr.pd) = (ctx, domain);
    whole.mr_type = IBV_MR_TYPE_MR;
    let region = &raw mut whole.ibv_mr;
    let mut whole_buffer = ibv_buf { pd: domain, size: 8, dmabuf_fd: -1, ..ibv_buf::zeroed() };
    calls! { name;
        ah::ibv_create_ah(domain, null())
        ah::ibv_destroy_ah(address)
        buf::ibv_alloc_buf(domain, length, &raw mut buffer)
        comp_cntr::ibv_create_comp_cntr(ctx, null())
        comp_cntr::ibv_destroy_comp_cntr(counter)
        comp_cntr::ibv_set_comp_cntr(counter, 1)
        comp_cntr::ibv_set_err_comp_cntr(counter, 1)
        comp_cntr::ibv_inc_comp_cntr(counter, 1)
        comp_cntr::ibv_inc_err_comp_cntr(counter, 1)
        comp_cntr::ibv_read_comp_cntr(counter, null())
        comp_cntr::ibv_read_err_comp_cntr(counter, null())
        comp_cntr::ibv_qp_attach_comp_cntr(pair, counter, null())
        ibv_query_comp_cntr_caps(ctx, &raw mut caps)
        comp_cntr::_ibv_query_comp_cntr_caps(ctx, &raw mut caps, size_of_val(&caps))
        device::ibv_query_device(ctx, &raw mut all.orig_attr)
        ibv_query_device_ex(ctx, core::ptr::null(), &raw mut all)
        device::ibv_query_port(ctx, 1, (&raw mut port).cast())
        ___ibv_query_port(ctx, 1, &raw mut port)
        device::ibv_query_port_speed(ctx, 1, null())
        ibv_query_rt_values_ex(ctx, null())
        ibv_open_xrcd(ctx, null())
        ibv_close_xrcd(xrcd)
        queues::ibv_create_cq(ctx, 1, null(), null(), 0)
        ibv_create_cq_ex(ctx, &raw mut cq_attr)
        queues::ibv_resize_cq(cq, 1)
        queues::ibv_destroy_cq(cq)
        ibv_modify_cq(cq, null())
        ibv_poll_cq(cq, 1, null())
        ibv_req_notify_cq(cq, 0)
        ibv_start_poll(&raw mut cq_ex, null())
        ibv_next_poll(&raw mut cq_ex)
        dm::ibv_import_dm(ctx, 1)
        dm::ibv_dm_export_dmabuf_fd(memory)
        ibv_alloc_dm(ctx, null())
        ibv_free_dm(memory)
        ibv_memcpy_to_dm(memory, 0, none, length)
        ibv_memcpy_from_dm(none, memory, 0, length)
        ibv_reg_dm_mr(domain, memory, 0, length, 0)
        dmah::ibv_alloc_dmah(ctx, null())
        dmah::ibv_dealloc_dmah(dma)
        mcast::ibv_attach_mcast(pair, null(), 0)
        mcast::ibv_detach_mcast(pair, null(), 0)
        mr::ibv_reg_mr(domain, none, length, 0)
        mr::ibv_reg_mr_iova(domain, none, length, 0, 0)
        mr::ibv_reg_mr_iova2(domain, none, length, 0, 0)
        __ibv_reg_mr(domain, none, length, 0, 0)
        __ibv_reg_mr_iova(domain, none, length, 0, 0, 0)
        extended::ibv_reg_mr_ex(domain, &raw mut mr_attr)
        extended::ibv_reg_buf_mr(domain, &raw mut whole_buffer, none, length, 0)
        mr::ibv_reg_dmabuf_mr(domain, 0, length, 0, 0, 0)
        mr::ibv_rereg_mr(region, 4, domain, none, 0, 0)
        mr::ibv_dereg_mr(region)
        mr::ibv_import_mr(domain, 1)
        ibv_advise_mr(domain, 0, 0, null(), 0)
        ibv_alloc_null_mr(domain)
        ibv_alloc_mw(domain, 1)
        ibv_dealloc_mw(window)
        pd::ibv_alloc_pd(ctx)
        pd::ibv_dealloc_pd(domain)
        pd::ibv_import_pd(ctx, 1)
        ibv_alloc_parent_domain(ctx, null())
        ibv_alloc_td(ctx, null())
        ibv_dealloc_td(td)
        pairs::ibv_create_qp(domain, null())
        ibv_create_qp_ex(ctx, &raw mut qp_attr)
        pairs::ibv_modify_qp(pair, null(), 0)
        pairs::ibv_query_qp(pair, null(), 0, null())
        pairs::ibv_destroy_qp(pair)
        pairs::ibv_set_ece(pair, &raw mut ece)
        pairs::ibv_query_ece(pair, &raw mut ece)
        ibv_open_qp(ctx, null())
        ibv_modify_qp_rate_limit(pair, null())
        ibv_post_send(pair, null(), null())
        ibv_post_recv(pair, null(), null())
        ibv_wr_complete(&raw mut qp_ex)
        shared::ibv_create_srq(domain, null())
        ibv_create_srq_ex(ctx, &raw mut srq_attr)
        shared::ibv_modify_srq(srq, null(), 0)
        shared::ibv_query_srq(srq, null())
        shared::ibv_destroy_srq(srq)
        ibv_get_srq_num(srq, null())
        ibv_post_srq_recv(srq, null(), null())
        ibv_post_srq_ops(srq, null(), null())
        ibv_create_wq(ctx, null())
        ibv_modify_wq(wq, null())
        ibv_destroy_wq(wq)
        ibv_post_wq_recv(wq, null(), null())
        ibv_create_rwq_ind_table(ctx, null())
        ibv_destroy_rwq_ind_table(table)
        ibv_create_flow(pair, null())
        ibv_destroy_flow(flow)
        ibv_create_flow_action_esp(ctx, null())
        ibv_modify_flow_action_esp(action, null())
        ibv_destroy_flow_action(action)
        ibv_create_counters(ctx, null())
        ibv_destroy_counters(counters)
        ibv_attach_counters_point_flow(counters, null(), flow)
        ibv_read_counters(counters, null(), 0, 0)
    }
}

fn null<T>() -> *mut T {
    ptr::null_mut()
}

/// The error numbers that pages list, by name.
const ERRNOS: &[(&str, c_int)] = &[
    ("EACCES", libc::EACCES),
    ("EAGAIN", libc::EAGAIN),
    ("EBADF", libc::EBADF),
    ("EBUSY", libc::EBUSY),
    ("EEXIST", libc::EEXIST),
    ("EFAULT", libc::EFAULT),
    ("EINVAL", libc::EINVAL),
    ("EIO", libc::EIO),
    ("ENODEV", libc::ENODEV),
    ("ENOENT", libc::ENOENT),
    ("ENOMEM", libc::ENOMEM),
    ("ENOSPC", libc::ENOSPC),
    ("EOPNOTSUPP", libc::EOPNOTSUPP),
    ("EOVERFLOW", libc::EOVERFLOW),
    ("EPERM", libc::EPERM),
];

/// Calls the functions of the lines of the table that name this file and `test`; how many.
#[track_caller]
fn lines_of(test: &str, provider: impl Fn(c_int) -> Provider) -> usize {
    let ending = format!("\tsrc/verbs/inline/errnos.rs\t{test}");
    let mut count = 0;
    for line in TABLE.lines().filter(|line| line.ends_with(&ending)) {
        let mut columns = line.split('\t');
        let (function, errno) = (columns.next().unwrap(), columns.next().unwrap());
        let (_, number) = *ERRNOS.iter().find(|(name, _)| *name == errno).expect(errno);
        match call(function, &provider(number)).expect(function) {
            Failed::Number(got) | Failed::Null(got) => assert_eq!(got, number, "{function}"),
            Failed::Otherwise => panic!("{function} did not fail"),
        }
        count += 1;
    }
    count
}

#[test]
fn what_a_provider_answers_comes_out() {
    assert!(lines_of("what_a_provider_answers_comes_out", Provider::Answers) > 0);
}

#[test]
fn what_a_provider_does_not_have_is_not_supported() {
    let count = lines_of("what_a_provider_does_not_have_is_not_supported", |_| Provider::Bare);
    assert!(count > 0);
}
