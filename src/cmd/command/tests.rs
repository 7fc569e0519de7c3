use core::cell::RefCell;
use core::ptr;
use std::rc::Rc;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::method;
use crate::provider_api::op_index;

const METHOD: Method = method!(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR);

/// A block of a provider with its attributes behind it.
#[repr(C)]
struct Block<const N: usize> {
    head: ibv_command_buffer,
    attrs: [ib_uverbs_attr; N],
}

impl<const N: usize> Block<N> {
    fn new(attrs: [ib_uverbs_attr; N]) -> Box<Block<N>> {
        let mut head = ibv_command_buffer::zeroed();
        head.hdr.object_id = METHOD.object;
        head.hdr.method_id = METHOD.method;
        head.uhw_in_idx = _UHW_NO_INDEX as u8;
        head.uhw_out_idx = _UHW_NO_INDEX as u8;
        let mut block = Box::new(Block { head, attrs });
        block.head.next_attr = block.attrs.as_mut_ptr().wrapping_add(N);
        block.head.last_attr = block.head.next_attr;
        block
    }

    fn chain(&mut self) -> Blocks<'static> {
        // SAFETY: the tests keep their blocks long enough.
        unsafe { Blocks::new(ptr::from_mut(self).cast()) }
    }
}

fn optional(attr: ib_uverbs_attr) -> ib_uverbs_attr {
    ib_uverbs_attr { flags: 0, ..attr }
}

/// Answers every ioctl with `errno`.
fn fail_ioctls(errno: c_int) {
    fake::answer(move |call| match call {
        Call::Ioctl(_) => Reply::Fail(errno),
        Call::Write(_) => Reply::Done,
    });
}

#[test]
fn attributes_are_encoded_by_kind() {
    let context = TestContext::new(Form::Write);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let record = Rc::clone(&seen);
    fake::answer(move |call| {
        let Call::Ioctl(ioctl) = call else { return Reply::Done };
        *record.borrow_mut() = ioctl.attrs().to_vec();
        ioctl.output(20, &0xaabb_ccdd_u32);
        ioctl.set_data(30, 0x1_0000_0007);
        Reply::Done
    });
    let (mut out, mut handle) = (0_u32, 0);
    let (long, key) = ([1_u64, 2], [1_u8, 2, 3]);
    let mut cmd = Command::new(METHOD);
    cmd.object(1, 0xffff_ffff)
        .fd(2, 5)
        .fd(3, -1)
        .optional_fd(4, 6)
        .optional_fd(5, -1)
        .u32(6, 0x0102_0304)
        .u64(7, u64::MAX)
        .input(8, &0xab_u8)
        .input_ref(9, &long)
        .input_ref(10, &key)
        .output(20, &mut out)
        .new_object(30, &mut handle);
    // SAFETY: no bytes, three bytes.
    unsafe {
        cmd.enumerated(11, 3, ptr::null(), 0).enumerated(12, 0, key.as_ptr().cast(), 3);
    }
    cmd.execute(context.kernel()).unwrap();
    assert_eq!((out, handle), (0xaabb_ccdd, 7));

    let little = |bytes: &[u8]| {
        let mut data = [0; 8];
        data[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(data)
    };
    let seen = seen.borrow();
    let find = |id| {
        let attr = seen.iter().find(|attr| attr.attr_id == id).unwrap();
        // SAFETY: both members are plain integers of the same size.
        (attr.len, attr.flags, unsafe { attr.attr_data.enum_data.elem_id }, attr.data)
    };
    assert_eq!(find(1), (0, 1, 0, 0xffff_ffff));
    assert_eq!(find(2), (0, 1, 0, 5));
    assert_eq!(find(4), (0, 0, 0, 6));
    assert_eq!(find(6), (4, 1, 0, little(&0x0102_0304_u32.to_ne_bytes())));
    assert_eq!(find(7), (8, 1, 0, u64::MAX));
    assert_eq!(find(8), (1, 1, 0, little(&[0xab])));
    assert_eq!(find(9), (16, 1, 0, (&raw const long).addr() as u64));
    assert_eq!(find(10), (3, 1, 0, little(&key)));
    assert_eq!(find(11), (0, 1, 3, 0));
    assert_eq!(find(12), (3, 1, 0, little(&key)));
    assert_eq!(seen.len(), 12, "descriptors of -1 are left out");
}

#[test]
fn what_does_not_fit_an_attribute_is_never_sent() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    let bytes = vec![0_u8; 65536];
    let mut cmd = Command::new(METHOD);
    // SAFETY: so many bytes are there.
    unsafe { cmd.input_at(1, bytes.as_ptr().cast(), 65536) };
    assert_eq!(cmd.execute(context.kernel()), Err(Errno::EINVAL));
    let outcome = cmd.run(context.kernel(), op_index!(create_cq));
    assert_eq!(outcome.err(), Some(Errno::EINVAL));

    let mut cmd = Command::new(METHOD);
    for id in 0..33 {
        cmd.u32(id, 0);
    }
    assert_eq!(cmd.execute(context.kernel()), Err(Errno::EINVAL));
    assert!(fake::calls().is_empty());

    let mut cmd = Command::new(METHOD);
    // SAFETY: so many bytes are there.
    unsafe { cmd.input_at(1, bytes.as_ptr().cast(), 65535) };
    assert_eq!(cmd.execute(context.kernel()), Ok(()));
}

#[test]
fn linked_blocks_follow_in_order_and_get_their_attributes_back() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { return Reply::Done };
        ioctl.set_data(0, 17);
        ioctl.set_data(4100, 18);
        ioctl.set_data(4102, 19);
        Reply::Done
    });
    let mut second = Block::new([attr_value(4102, 0, 0)]);
    let mut first = Block::new([attr_value(4099, 8, 5), attr_value(4100, 0, 0)]);
    first.head.next = ptr::from_mut(&mut *second).cast();
    let mut handle = 0;
    let mut cmd = Command::new(METHOD);
    cmd.new_object(0, &mut handle).link(first.chain());
    cmd.execute(context.kernel()).unwrap();
    assert_eq!(handle, 17);
    assert_eq!((first.attrs[0].data, first.attrs[1].data), (5, 18));
    assert_eq!(second.attrs[0].data, 19);
    assert_eq!(fake::calls(), ["ioctl 7.5: 0(len0) 4099(len8) 4100(len0) 4102(len0)"]);
}

#[test]
fn blocks_may_be_longer_than_a_command() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { return Reply::Done };
        assert_eq!(ioctl.attrs().len(), 203);
        ioctl.set_data(0, 17);
        ioctl.set_data(199, 18);
        Reply::Done
    });
    let mut block = Block::<200>::new(core::array::from_fn(|i| attr_value(100 + i as u16, 8, 0)));
    let mut handle = 0;
    let mut cmd = Command::new(METHOD);
    cmd.u32(1, 1).u32(2, 2).new_object(0, &mut handle).link(block.chain());
    cmd.execute(context.kernel()).unwrap();
    assert_eq!((handle, block.attrs[99].data), (17, 18));

    // The kernel takes 254 attributes.
    let mut block = Block::<254>::new([attr_value(100, 8, 0); 254]);
    cmd = Command::new(METHOD);
    cmd.u32(1, 1).link(block.chain());
    assert_eq!(cmd.execute(context.kernel()), Err(Errno::EINVAL));
    assert_eq!(fake::calls().len(), 1);
}

#[test]
fn unusable_blocks_are_refused() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    let mut block = Block::new([attr_value(4099, 8, 5)]);
    block.head.hdr.method_id += 1;
    let refused = Command::new(METHOD).link(block.chain()).execute(context.kernel());
    assert_eq!(refused, Err(Errno::EINVAL));
    let mut block = Block::new([attr_value(4099, 8, 5)]);
    block.head.flags = 1;
    let refused = Command::new(METHOD).link(block.chain()).execute(context.kernel());
    assert_eq!(refused, Err(Errno::EINVAL));
    assert!(fake::calls().is_empty());
}

#[test]
fn provider_bytes_follow_the_own_attributes() {
    let context = TestContext::new(Form::Write);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let record = Rc::clone(&seen);
    fake::answer(move |call| {
        let Call::Ioctl(ioctl) = call else { return Reply::Done };
        record.borrow_mut().push(ioctl.input(UVERBS_ATTR_UHW_IN).unwrap());
        ioctl.output(UVERBS_ATTR_UHW_OUT, &0x55_u64);
        Reply::Done
    });
    for len in [4, 8, 12] {
        let mut request = [0x11_u8; 28];
        let mut response = [0_u64; 3];
        // SAFETY: the buffers are as long as said: 16 bytes of the library's, then the provider's.
        let buffers = unsafe {
            let request = ptr::from_mut(&mut request).cast::<[u64; 2]>();
            let response = ptr::from_mut(&mut response).cast::<[u64; 2]>();
            Buffers::new(request, 16 + len, response, 24)
        };
        request[16..].fill(0x22);
        Command::new(METHOD).u32(1, 1).provider_bytes(&buffers).execute(context.kernel()).unwrap();
        assert_eq!(*seen.borrow().last().unwrap(), vec![0x22; len]);
        // The part of the library stays as it was.
        assert_eq!(response, [0, 0, 0x55]);
        assert_eq!(fake::calls(), [format!("ioctl 7.5: 1(len4) 4096(len{len}) 4097(len8)")]);
    }
    fake::answer(|_| Reply::Done);
    let mut response = [7_u64; 3];
    // SAFETY: the buffer is as long as said.
    let buffers = unsafe {
        Buffers::response(ptr::from_mut(&mut response).cast::<[u64; 2]>(), size_of_val(&response))
    };
    Command::new(METHOD).u32(1, 1).provider_bytes(&buffers).execute(context.kernel()).unwrap();
    assert_eq!(response, [7, 7, 0], "what the kernel does not write");
    fake::calls();
    // None behind the core structs: no attribute.
    let mut request = [0_u64; 2];
    // SAFETY: the buffer is as long as said.
    let buffers = unsafe { Buffers::request(&mut request, 16) };
    Command::new(METHOD).u32(1, 1).provider_bytes(&buffers).execute(context.kernel()).unwrap();
    assert_eq!(fake::calls(), ["ioctl 7.5: 1(len4)"]);
}

#[test]
fn lacks_of_the_kernel_are_remembered() {
    let (one, other) = (op_index!(create_cq), op_index!(unimport_pd));
    let run = |context: &TestContext, op| {
        Command::new(METHOD).u32(1, 1).run(context.kernel(), op).map(|outcome| outcome.is_done())
    };

    fail_ioctls(libc::EPROTONOSUPPORT);
    let context = TestContext::new(Form::Write);
    assert_eq!(run(&context, one), Ok(false));
    assert_eq!(fake::calls().len(), 1);
    assert_eq!(run(&context, one), Ok(false));
    assert_eq!(fake::calls().len(), 0, "not tried again");
    assert_eq!(run(&context, other), Ok(false));
    assert_eq!(fake::calls().len(), 1, "another method may be there");

    fail_ioctls(libc::ENOTTY);
    let context = TestContext::new(Form::Write);
    assert_eq!(run(&context, one), Ok(false));
    assert_eq!(run(&context, other), Ok(false));
    assert_eq!(fake::calls().len(), 1, "a kernel without RDMA ioctls has none");

    for errno in [libc::EIO, libc::EINVAL, libc::ENOMEM] {
        fail_ioctls(errno);
        let context = TestContext::new(Form::Write);
        assert_eq!(run(&context, one), Err(Errno(errno)));
        assert_eq!(run(&context, one), Err(Errno(errno)));
        assert_eq!(fake::calls().len(), 2, "no lack");
    }

    fake::answer(|_| Reply::Done);
    assert_eq!(run(&TestContext::new(Form::Write), one), Ok(true));
}

#[test]
fn the_write_form_is_refused_when_it_would_lose_something() {
    fail_ioctls(libc::EPROTONOSUPPORT);
    let context = TestContext::new(Form::Write);
    let outcome = |cmd: &mut Command<'static>| {
        // SAFETY: the context lives until the end of the test; nothing is kept.
        let kernel = unsafe { Kernel::of(context.get()) };
        cmd.run(kernel, op_index!(create_cq)).map(|outcome| match outcome {
            Outcome::Done => "done",
            Outcome::Write(_) => "write",
            Outcome::WriteEx(_) => "write-ex",
        })
    };
    let refused = Err(Errno::EOPNOTSUPP);
    assert_eq!(outcome(Command::new(METHOD).u32(1, 1)), Ok("write"));
    assert_eq!(outcome(Command::new(METHOD).u32(1, 1).extended_write()), Ok("write-ex"));
    assert_eq!(outcome(Command::new(METHOD).ioctl_only()), refused);

    let mut mandatory = Block::new([attr_value(4099, 8, 5)]);
    assert_eq!(outcome(Command::new(METHOD).link(mandatory.chain())), refused);
    let mut harmless = Block::new([
        optional(attr_value(4099, 8, 5)),
        attr_value(UVERBS_ATTR_UHW_IN, 8, 0),
        attr_value(UVERBS_ATTR_UHW_OUT, 8, 0),
    ]);
    assert_eq!(outcome(Command::new(METHOD).link(harmless.chain())), Ok("write"));
    harmless.head.flags = 1 << 1;
    assert_eq!(outcome(Command::new(METHOD).link(harmless.chain())), Ok("write-ex"));
    harmless.head.flags = 1 << 2;
    assert_eq!(outcome(Command::new(METHOD).link(harmless.chain())), refused);
    // The second block counts as well.
    let mut first = Block::new([]);
    first.head.next = ptr::from_mut(&mut *mandatory).cast();
    assert_eq!(outcome(Command::new(METHOD).link(first.chain())), refused);
}

#[test]
fn provider_bytes_of_a_block_go_with_the_write_command() {
    fake::answer(|call| match call {
        Call::Ioctl(_) => Reply::Fail(libc::EPROTONOSUPPORT),
        Call::Write(write) => {
            assert_eq!(write.bytes.len(), 12 + 8);
            assert_eq!(write.bytes[12..], [0x22; 8]);
            Reply::Done
        }
    });
    let context = TestContext::new(Form::Write);
    let mut memory = [0_u32; 5];
    memory[3..].fill(0x2222_2222);
    let bytes = (&raw mut memory[3]).expose_provenance() as u64;
    let mut block = Block::new([attr_value(UVERBS_ATTR_UHW_IN, 8, bytes)]);
    block.head.uhw_in_idx = 0;
    block.head.uhw_in_headroom_dwords = 3;
    let request = ib_uverbs_dereg_mr { mr_handle: 9 };
    let written = Command::new(METHOD)
        .link(block.chain())
        .execute_or_write(context.kernel(), op_index!(dereg_mr), request)
        .map(|response| response.is_some());
    assert_eq!(written, Ok(true));
    assert_eq!(fake::calls(), ["ioctl 7.5: 4096(len8)", "write n=20 cmd=d in=5 out=0"]);
    assert_eq!(memory[2], 9, "the request is in front of the provider's bytes");
}
