use core::ptr;

use super::*;
use crate::cmd::fake::{self, ASYNC_FD, Call, Form, Reply, TestContext};

/// Calls the function with four bytes of the provider on both ways.
fn get(context: &TestContext, fds: &mut ibv_fd_arr) -> (c_int, [u32; 3]) {
    let mut request = [0x2222_2222_u32; 5];
    let mut response = [0_u32; 3];
    let cmd = ptr::from_mut(&mut request).cast();
    let resp = ptr::from_mut(&mut response).cast();
    // SAFETY: all objects and buffers are valid.
    let result = unsafe { ibv_cmd_get_context::<65>(context.extended(), cmd, 20, fds, resp, 12) };
    (result, response)
}

fn core_support(context: &TestContext) -> u64 {
    // SAFETY: the device lives as long as the context.
    unsafe { (*context.device()).core_support }
}

fn vectors_and_async_fd(context: &TestContext) -> (c_int, c_int) {
    // SAFETY: the context is valid.
    unsafe { ((*context.get()).num_comp_vectors, (*context.get()).async_fd) }
}

#[test]
fn the_ioctl_names_vectors_and_support_and_takes_descriptors() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        let fds = ioctl.input(UVERBS_ATTR_GET_CONTEXT_FD_ARR);
        assert!(fds.is_none_or(|fds| fds == [[3, 0, 0, 0], [4, 0, 0, 0]].concat()));
        assert_eq!(ioctl.input(UVERBS_ATTR_UHW_IN), Some(vec![0x22; 4]));
        ioctl.output(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &4_u32);
        ioctl.output(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &3_u64);
        ioctl.output(UVERBS_ATTR_UHW_OUT, &0x77_u32);
        Reply::Done
    });
    let mut numbers = [3, 4];
    let mut fds = ibv_fd_arr { arr: numbers.as_mut_ptr(), count: 2 };
    assert_eq!(get(&context, &mut fds), (0, [0, 0, 0x77]));
    assert_eq!(vectors_and_async_fd(&context), (4, ASYNC_FD), "no async_fd yet");
    assert_eq!(core_support(&context), 3);
    let with_fds = "ioctl 0.3: 0(len4) 1(len8) 2(len8) 4096(len4) 4097(len4)";
    assert_eq!(fake::calls(), [with_fds]);

    let without_fds = ["ioctl 0.3: 0(len4) 1(len8) 4096(len4) 4097(len4)"];
    fds.count = 0;
    get(&context, &mut fds);
    assert_eq!(fake::calls(), without_fds);
    fds = ibv_fd_arr { arr: ptr::null_mut(), count: 2 };
    get(&context, &mut fds);
    assert_eq!(fake::calls(), without_fds);
}

#[test]
fn a_write_command_names_vectors_and_the_event_file() {
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        // SAFETY: the device lives as long as the context.
        unsafe { (*context.device()).core_support = 8 };
        fake::answer(|call| {
            if call.write_command().is_none() {
                return Reply::Fail(libc::ENOTTY);
            }
            let response =
                ib_uverbs_get_context_resp { async_fd: 31, num_comp_vectors: 4, driver_data: [] };
            call.respond(&response);
            Reply::Done
        });
        let mut fds = ibv_fd_arr { arr: ptr::null_mut(), count: 0 };
        let (result, response) = get(&context, &mut fds);
        assert_eq!(
            (result, response[..2].to_vec()),
            (0, vec![31, 4]),
            "in front of the provider's"
        );
        assert_eq!(vectors_and_async_fd(&context), (4, 31));
        assert_eq!(core_support(&context), 8, "not known");
        assert_eq!(fake::calls().len(), 2);
    }
}

#[test]
fn other_failures_are_returned() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Fail(libc::EACCES));
    let mut fds = ibv_fd_arr { arr: ptr::null_mut(), count: 0 };
    assert_eq!(get(&context, &mut fds).0, libc::EACCES);
    assert_eq!(vectors_and_async_fd(&context), (0, ASYNC_FD));
    assert_eq!(fake::calls().len(), 1);
}

#[test]
fn a_context_of_another_process_is_queried() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        ioctl.output(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &4_u32);
        ioctl.output(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &1_u64);
        Reply::Done
    });
    // SAFETY: the context is valid.
    assert_eq!(unsafe { ibv_cmd_query_context(context.get(), ptr::null_mut()) }, 0);
    assert_eq!(vectors_and_async_fd(&context), (4, ASYNC_FD));
    assert_eq!(core_support(&context), 1);
}

#[test]
fn the_event_file_is_stored_on_success() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Fail(libc::EMFILE));
    // SAFETY: the context is valid.
    unsafe {
        assert_eq!(alloc_async_fd(context.get()).map_err(|errno| errno.0), Err(libc::EMFILE));
        assert_eq!((*context.get()).async_fd, ASYNC_FD);
    }
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        ioctl.set_data(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 31);
        Reply::Done
    });
    // SAFETY: the context is valid.
    unsafe {
        assert_eq!(alloc_async_fd(context.get()), Ok(()));
        assert_eq!((*context.get()).async_fd, 31);
    }
    assert_eq!(fake::calls(), ["ioctl 16.0: 0(len0)"]);
}
