use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

/// A request and a response with bytes of the provider behind them, as a provider declares them.
#[repr(C)]
#[derive(Clone, Copy)]
struct ProviderRequest {
    base: ibv_reg_mr,
    extra: [u32; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ProviderResponse {
    base: ib_uverbs_reg_mr_resp,
    extra: u32,
}

plain!(ProviderRequest, ProviderResponse);

fn buffers<'a>(
    request: &'a mut ProviderRequest,
    response: &'a mut ProviderResponse,
) -> Buffers<'a> {
    let (request, response) = (ptr::from_mut(request), ptr::from_mut(response));
    // SAFETY: the sizes are right; the references keep the buffers.
    unsafe {
        Buffers::new(
            request.cast::<ibv_reg_mr>(),
            size_of::<ProviderRequest>(),
            response.cast::<ib_uverbs_reg_mr_resp>(),
            size_of::<ProviderResponse>(),
        )
    }
}

fn reg_mr(start: u64) -> ib_uverbs_reg_mr {
    ib_uverbs_reg_mr { start, pd_handle: 3, ..Plain::zeroed() }
}

const RESPONSE: ib_uverbs_reg_mr_resp =
    ib_uverbs_reg_mr_resp { mr_handle: 1, lkey: 2, rkey: 3, driver_data: [] };

#[test]
fn a_request_without_buffers_is_header_and_core() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let request: ib_uverbs_reg_mr = call.request();
        assert_eq!((request.start, request.pd_handle), (0x1000, 3));
        call.respond(&RESPONSE);
        Reply::Done
    });
    let response = context.kernel().write(reg_mr(0x1000), Buffers::NONE).unwrap();
    assert_eq!((response.mr_handle, response.lkey, response.rkey), (1, 2, 3));
    assert_eq!(fake::calls(), ["write n=48 cmd=9 in=12 out=3"]);
}

#[test]
fn provider_bytes_are_sent_and_filled_in_place() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let request: ib_uverbs_reg_mr = call.request();
        call.respond(&ProviderResponse { base: RESPONSE, extra: 0x77 });
        let Call::Write(write) = call else { panic!("not a write") };
        assert_eq!(request.start, 0x1000);
        assert_eq!(write.bytes[48..], [0x22; 8]);
        Reply::Done
    });
    let mut request = ProviderRequest { extra: [0x2222_2222; 2], ..Plain::zeroed() };
    let mut response = ProviderResponse::zeroed();
    let core =
        context.kernel().write(reg_mr(0x1000), buffers(&mut request, &mut response)).unwrap();
    assert_eq!(core.rkey, 3);
    assert_eq!((response.base.rkey, response.extra), (3, 0x77));
    let header = request.base.hdr;
    assert_eq!((header.command, header.in_words, header.out_words), (9, 14, 4));
    assert_eq!(fake::calls(), ["write n=56 cmd=9 in=14 out=4"]);
}

#[test]
fn what_the_kernel_does_not_write_of_a_response_is_zero() {
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        fake::answer(|_| Reply::Done);
        let mut request = ProviderRequest::zeroed();
        let base = ib_uverbs_reg_mr_resp { mr_handle: 8, lkey: 8, rkey: 8, driver_data: [] };
        let mut response = ProviderResponse { base, extra: 0x5a5a };
        let buffers = buffers(&mut request, &mut response);
        let core = context.kernel().write(reg_mr(0x1000), buffers).unwrap();
        assert_eq!((core.mr_handle, core.rkey, response.extra), (0, 0, 0));
    }
}

#[test]
fn a_response_buffer_without_provider_bytes_is_filled_too() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        call.respond(&RESPONSE);
        Reply::Done
    });
    let mut response = ib_uverbs_reg_mr_resp::zeroed();
    // SAFETY: the buffer has this size.
    let buffers = unsafe { Buffers::response(&mut response, size_of_val(&response)) };
    context.kernel().write(reg_mr(0), buffers).unwrap();
    assert_eq!((response.mr_handle, response.lkey, response.rkey), (1, 2, 3));
    // A shorter one gets what fits.
    let mut short = [0_u32; 3];
    let place = ptr::from_mut(&mut short).cast::<ib_uverbs_reg_mr_resp>();
    // SAFETY: the buffer has at least this size.
    let buffers = unsafe { Buffers::response(place, 8) };
    context.kernel().write(reg_mr(0), buffers).unwrap();
    assert_eq!(short, [1, 2, 0]);
}

#[test]
fn a_short_request_buffer_makes_a_short_request() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    let mut request = ibv_reg_mr::zeroed();
    // SAFETY: the buffer has at least this size.
    let buffers = unsafe { Buffers::request(&mut request, 8 + 32) };
    context.kernel().write(reg_mr(0), buffers).unwrap();
    assert_eq!(fake::calls(), ["write n=40 cmd=9 in=10 out=3"]);
}

#[test]
fn the_write_form_of_an_ioctl_needs_room_in_front_of_the_provider_bytes() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        call.respond(&ProviderResponse { base: RESPONSE, extra: 0x77 });
        Reply::Done
    });
    let mut memory = [0_u32; 16];
    let mut response = [0_u32; 4];
    let bytes = |memory: &mut [u32], at: usize| Bytes {
        start: (&raw mut memory[at]).cast(),
        len: 4,
        headroom: at * 4,
    };
    let mut send = |request_at: usize, response_at: usize| {
        let mut provider = ProviderBytes::NONE;
        provider.input = Some(bytes(&mut memory, request_at));
        provider.output = Some(bytes(&mut response, response_at));
        Write::new(context.kernel(), provider).send(reg_mr(0)).map(|response| response.lkey)
    };
    // 8 bytes of header and 40 of core; 12 of the response's core.
    assert_eq!(send(12, 3), Ok(2));
    assert_eq!(send(13, 3), Ok(2));
    assert_eq!(send(11, 3), Err(Errno::EINVAL));
    assert_eq!(send(12, 2), Err(Errno::EINVAL));
    assert_eq!(response, [1, 2, 3, 0x77]);
    assert_eq!(fake::calls(), ["write n=52 cmd=9 in=13 out=4"; 2]);
}

#[test]
fn extended_requests_count_core_and_provider_apart() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Write(write) = call else { panic!("not a write") };
        assert_eq!(write.bytes[24 + 40..], [0x22; 16]);
        assert_eq!(write.bytes[20..24], [0; 4], "reserved");
        Reply::Done
    });
    let mut request = [0x2222_2222_2222_2222_u64; 3 + 5 + 2];
    let mut response = [u64::MAX; 3 + 1];
    // SAFETY: the buffers are as long as said.
    let buffers = unsafe {
        Buffers::new(
            ptr::from_mut(&mut request).cast::<ibv_create_wq>(),
            size_of_val(&request),
            ptr::from_mut(&mut response).cast::<ib_uverbs_ex_create_wq_resp>(),
            size_of_val(&response),
        )
    };
    let wq = context.kernel().write(ib_uverbs_ex_create_wq::zeroed(), buffers).unwrap();
    assert_eq!(wq.response_length, 0);
    assert_eq!(response, [0; 4], "zeroed before the kernel sees it");
    assert_eq!(fake::calls(), ["write n=80 cmd=80000034 in=5 out=3 pin=2 pout=1"]);
}

#[test]
fn a_response_address_without_a_response_is_zero() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Write(write) = call else { panic!("not a write") };
        assert_eq!(write.bytes[8..16], [0; 8]);
        Reply::Done
    });
    context.kernel().write(ib_uverbs_ex_modify_wq::zeroed(), Buffers::NONE).unwrap();
    assert_eq!(fake::calls(), ["write n=48 cmd=80000035 in=3 out=0 pin=0 pout=0"]);
}

#[test]
fn through_the_ioctl_there_are_no_headers() {
    let context = TestContext::new(Form::InvokeWrite);
    fake::answer(|call| {
        let request: ib_uverbs_reg_mr = call.request();
        assert_eq!(request.start, 0x1000);
        call.respond(&RESPONSE);
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        assert_eq!(ioctl.input(UVERBS_ATTR_UHW_IN), Some(vec![0x22; 8]));
        ioctl.output(UVERBS_ATTR_UHW_OUT, &0x77_u32);
        Reply::Done
    });
    let mut request = ProviderRequest { extra: [0x2222_2222; 2], ..Plain::zeroed() };
    let mut response = ProviderResponse::zeroed();
    let core =
        context.kernel().write(reg_mr(0x1000), buffers(&mut request, &mut response)).unwrap();
    assert_eq!((core.rkey, response.base.rkey, response.extra), (3, 3, 0x77));
    let whole = "ioctl 0.0: 2(len8)=cmd 9 0(len40) 1(len12) 4096(len8) 4097(len4)";
    assert_eq!(fake::calls(), [whole]);
    fake::answer(|_| Reply::Done);
    context.kernel().write(ib_uverbs_ex_modify_wq::zeroed(), Buffers::NONE).unwrap();
    assert_eq!(fake::calls(), ["ioctl 0.0: 2(len8)=cmd 80000035 0(len24)"]);
}

#[test]
fn failures_are_returned_and_short_writes_are_failures() {
    for form in [Form::Write, Form::InvokeWrite] {
        let context = TestContext::new(form);
        fake::answer(|_| Reply::Fail(libc::EBUSY));
        let request = ib_uverbs_dealloc_pd { pd_handle: 1 };
        let result = context.kernel().write(request, Buffers::NONE).map(drop);
        assert_eq!(result, Err(Errno::EBUSY));
    }
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Short);
    let request = ib_uverbs_dealloc_pd { pd_handle: 1 };
    assert_eq!(context.kernel().write(request, Buffers::NONE).map(drop), Err(Errno::EIO));
}

#[test]
fn lengths_that_a_header_cannot_say_are_refused() {
    let mut memory = vec![0_u8; 300_000];
    let place = memory.as_mut_ptr().cast::<ibv_reg_mr>();
    let send = |form, provider_len| {
        let context = TestContext::new(form);
        // SAFETY: the memory is longer.
        let buffers = unsafe { Buffers::request(place, size_of::<ibv_reg_mr>() + provider_len) };
        fake::answer(|_| Reply::Done);
        let result = context.kernel().write(reg_mr(0), buffers).map(drop);
        assert_eq!(fake::calls().is_empty(), result.is_err());
        result
    };
    assert_eq!(send(Form::Write, 6), Err(Errno::EINVAL), "no whole word");
    assert_eq!(send(Form::Write, 65535 * 4 - 48), Ok(()));
    assert_eq!(send(Form::Write, 65536 * 4 - 48), Err(Errno::EINVAL));
    assert_eq!(send(Form::InvokeWrite, 6), Ok(()));
    assert_eq!(send(Form::InvokeWrite, 65535), Ok(()));
    assert_eq!(send(Form::InvokeWrite, 65536), Err(Errno::EINVAL));
}

#[test]
fn responses_of_variable_length() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        call.respond(&[1_u64, 2, 3]);
        Reply::Done
    });
    let mut response = [0; 3];
    context.kernel().write_into(ib_uverbs_poll_cq::zeroed(), &mut response).unwrap();
    assert_eq!(response, [1, 2, 3]);
    assert_eq!(fake::calls(), ["write n=24 cmd=15 in=6 out=6"]);
}

#[test]
fn the_probe_tells_kernels_apart_and_keeps_errno() {
    for (errno, by_ioctl) in [
        (libc::ENOTTY, false),
        (libc::EPROTONOSUPPORT, false),
        (libc::ENOSPC, true),
        (libc::EINVAL, true),
    ] {
        fake::answer(move |_| Reply::Fail(errno));
        Errno::EBUSY.store();
        assert_eq!(probe_write_by_ioctl(fake::CMD_FD, fake::DRIVER_ID), by_ioctl);
        assert_eq!(Errno::last(), Errno::EBUSY);
        assert_eq!(fake::calls(), ["ioctl 0.0: 2(len8)=cmd 1"]);
    }
}
