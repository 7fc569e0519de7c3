use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::testing::*;

/// WQs with handles from 100 on, and the pointers to them.
struct Queues {
    _wqs: Vec<ibv_wq>,
    pointers: Vec<*mut ibv_wq>,
}

impl Queues {
    fn new(count: usize) -> Queues {
        let mut wqs = vec![ibv_wq::zeroed(); count];
        for (handle, wq) in (100..).zip(&mut wqs) {
            wq.handle = handle;
        }
        let first = wqs.as_mut_ptr();
        let pointers = (0..count).map(|index| first.wrapping_add(index)).collect();
        Queues { _wqs: wqs, pointers }
    }

    fn attr(&mut self, log_ind_tbl_size: u32) -> ibv_rwq_ind_table_init_attr {
        let ind_tbl = self.pointers.as_mut_ptr();
        ibv_rwq_ind_table_init_attr { log_ind_tbl_size, ind_tbl, comp_mask: 0 }
    }
}

fn response(response_length: u32) -> ib_uverbs_ex_create_rwq_ind_table_resp {
    ib_uverbs_ex_create_rwq_ind_table_resp {
        comp_mask: 0,
        response_length,
        ind_tbl_handle: 8,
        ind_tbl_num: 0x789,
    }
}

/// Creates a table with a response buffer of the provider that is so long.
fn create_with(
    context: &TestContext,
    table: &mut ibv_rwq_ind_table,
    attr: &mut ibv_rwq_ind_table_init_attr,
    resp: &mut WithBytes<ib_uverbs_ex_create_rwq_ind_table_resp, 2>,
    resp_size: usize,
) -> c_int {
    // SAFETY: all is as a provider passes it.
    unsafe { ibv_cmd_create_rwq_ind_table(context.get(), attr, table, resp.core(), resp_size) }
}

fn create(
    context: &TestContext,
    table: &mut ibv_rwq_ind_table,
    attr: &mut ibv_rwq_ind_table_init_attr,
) -> c_int {
    create_with(context, table, attr, &mut WithBytes::new([0, 0]), 16)
}

#[test]
fn created_in_each_form() {
    for (log, size, words) in [(0, 16, 2), (1, 16, 2), (3, 40, 5), (13, 8 + 4 * 8192, 4097)] {
        for form in [Form::Write, Form::InvokeWrite] {
            let context = TestContext::new(form);
            let mut queues = Queues::new(1 << log);
            let mut table = ibv_rwq_ind_table::zeroed();
            old_kernel(libc::ENOTTY, response(16));
            assert_eq!(create(&context, &mut table, &mut queues.attr(log)), 0);
            let line = match form {
                Form::Write => {
                    let n = 24 + size;
                    format!("write n={n} cmd=80000037 in={words} out=2 pin=0 pout=0")
                }
                Form::InvokeWrite => {
                    format!("ioctl 0.0: 2(len8)=cmd 80000037 0(len{size}) 1(len16)")
                }
            };
            assert_eq!(fake::calls(), [line]);
            let (core, handles) = request::<ib_uverbs_ex_create_rwq_ind_table>();
            assert_eq!((core.comp_mask, core.log_ind_tbl_size), (0, log));
            let mut wanted: Vec<u8> =
                (100..100 + (1_u32 << log)).flat_map(u32::to_ne_bytes).collect();
            wanted.resize(size - 8, 0);
            assert_eq!(handles, wanted);
            assert_eq!((table.ind_tbl_handle, table.ind_tbl_num), (8, 0x789));
            assert_eq!(table.context, context.get());
        }
    }
}

#[test]
fn the_response_may_have_bytes_of_the_provider() {
    for (form, line) in [
        (Form::Write, "write n=40 cmd=80000037 in=2 out=2 pin=0 pout=2"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 80000037 0(len16) 1(len16) 4097(len16)"),
    ] {
        let context = TestContext::new(form);
        let mut queues = Queues::new(2);
        let mut table = ibv_rwq_ind_table::zeroed();
        fake::answer(|call| {
            match call {
                Call::Write(write) => {
                    write.respond(&response(16));
                    write.respond_at(16, &0x1234_u64);
                }
                Call::Ioctl(ioctl) => {
                    ioctl.output(UVERBS_ATTR_CORE_OUT, &response(16));
                    ioctl.output(UVERBS_ATTR_UHW_OUT, &0x1234_u64);
                }
            }
            Reply::Done
        });
        let mut resp = WithBytes::new([1, 1]);
        let size = resp.size();
        assert_eq!(create_with(&context, &mut table, &mut queues.attr(1), &mut resp, size), 0);
        assert_eq!(fake::calls(), [line]);
        assert_eq!(resp.bytes[0], 0x1234);
        assert_eq!((resp.core.ind_tbl_handle, resp.core.ind_tbl_num), (8, 0x789));
        assert_eq!((table.ind_tbl_handle, table.ind_tbl_num), (8, 0x789));
    }
}

#[test]
fn the_provider_sees_the_response() {
    let context = TestContext::new(Form::Write);
    let mut queues = Queues::new(2);
    let mut table = ibv_rwq_ind_table::zeroed();
    old_kernel(libc::ENOTTY, response(16));
    let mut resp = WithBytes::new([1, 1]);
    assert_eq!(create_with(&context, &mut table, &mut queues.attr(1), &mut resp, 16), 0);
    assert_eq!((resp.core.ind_tbl_handle, resp.core.response_length), (8, 16));
    assert_eq!(resp.bytes, [1, 1]);
    // A provider of old may know a shorter struct.
    let mut resp = WithBytes::new([1, 1]);
    assert_eq!(create_with(&context, &mut table, &mut queues.attr(1), &mut resp, 12), 0);
    assert_eq!((resp.core.ind_tbl_handle, resp.core.ind_tbl_num), (8, 0xa5a5_a5a5));
}

#[test]
fn a_response_without_the_table_is_an_error() {
    let context = TestContext::new(Form::Write);
    let mut queues = Queues::new(2);
    for length in [0, 8, 15] {
        let mut table = ibv_rwq_ind_table::zeroed();
        old_kernel(libc::ENOTTY, response(length));
        let status = create(&context, &mut table, &mut queues.attr(1));
        assert_eq!(failure(status), libc::EINVAL);
        assert!(table.context.is_null());
    }
}

#[test]
fn tables_that_cannot_be_are_refused() {
    let context = TestContext::new(Form::Write);
    let mut queues = Queues::new(2);
    let mut table = ibv_rwq_ind_table::zeroed();
    fake::answer(|_| panic!("the kernel must not be asked"));
    for log in [14, 31, 32, 64, u32::MAX] {
        let status = create(&context, &mut table, &mut queues.attr(log));
        assert_eq!(failure(status), libc::EINVAL);
    }
    for mask in [IBV_CREATE_IND_TABLE_RESERVED, u32::MAX] {
        let mut attr = queues.attr(1);
        attr.comp_mask = mask;
        assert_eq!(failure(create(&context, &mut table, &mut attr)), libc::EINVAL);
    }
    let mut attr = queues.attr(1);
    attr.ind_tbl = ptr::null_mut();
    assert_eq!(failure(create(&context, &mut table, &mut attr)), libc::EINVAL);
    queues.pointers[1] = ptr::null_mut();
    assert_eq!(failure(create(&context, &mut table, &mut queues.attr(1))), libc::EINVAL);
}

#[test]
fn destroyed_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=32 cmd=80000038 in=1 out=0 pin=0 pout=0"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 80000038 0(len8)"),
    ] {
        let context = TestContext::new(form);
        let mut table = ibv_rwq_ind_table::zeroed();
        (table.context, table.ind_tbl_handle) = (context.get(), 7);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE), Some(7));
            Reply::Done
        });
        // SAFETY: the table is set up.
        unsafe {
            assert_eq!(ibv_cmd_destroy_rwq_ind_table(&mut table), 0);
            assert_eq!(fake::calls(), ["ioctl 11.0: 0(len0)"]);
            old_kernel(libc::EPROTONOSUPPORT, empty {});
            assert_eq!(ibv_cmd_destroy_rwq_ind_table(&mut table), 0);
            assert_eq!(fake::calls(), ["ioctl 11.0: 0(len0)", line]);
            let (core, _) = request::<ib_uverbs_ex_destroy_rwq_ind_table>();
            assert_eq!((core.ind_tbl_handle, core.comp_mask), (7, 0));
            // Kernels that lack this method lack that of address handles too.
            assert!(context.kernel().private().lacks_ioctl(op_index!(destroy_ah)));

            failing_kernel(libc::EPROTONOSUPPORT, empty {}, Some(libc::EIO));
            fake::set_allow_disassociate_destroy(false);
            assert_eq!(failure(ibv_cmd_destroy_rwq_ind_table(&mut table)), libc::EIO);
            fake::set_allow_disassociate_destroy(true);
            assert_eq!(ibv_cmd_destroy_rwq_ind_table(&mut table), 0);
        }
    }
}
