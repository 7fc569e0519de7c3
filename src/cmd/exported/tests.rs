use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::message::attr_value;
use crate::uapi::*;

/// A command block as C code makes it: room for `N` attributes, of which some are in use.
#[repr(C)]
struct Block<const N: usize> {
    head: ibv_command_buffer,
    attrs: [ib_uverbs_attr; N],
}

impl<const N: usize> Block<N> {
    fn new(attrs: &[ib_uverbs_attr]) -> Box<Block<N>> {
        let mut head = ibv_command_buffer::zeroed();
        head.hdr.object_id = 0x1001;
        head.hdr.method_id = 0x1002;
        head.uhw_in_idx = _UHW_NO_INDEX as u8;
        head.uhw_out_idx = _UHW_NO_INDEX as u8;
        let mut block = Box::new(Block { head, attrs: [ib_uverbs_attr::zeroed(); N] });
        block.attrs[..attrs.len()].copy_from_slice(attrs);
        block.head.next_attr = block.attrs.as_mut_ptr().wrapping_add(attrs.len());
        block.head.last_attr = block.attrs.as_mut_ptr().wrapping_add(N);
        block
    }

    fn get(&mut self) -> *mut ibv_command_buffer {
        ptr::from_mut(self).cast()
    }
}

#[test]
fn a_providers_command_is_sent_with_its_linked_blocks() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { return Reply::Done };
        assert_eq!(ioctl.input(UVERBS_ATTR_UHW_IN), Some(vec![7; 6]), "inlined for the kernel");
        ioctl.set_data(0, 99);
        ioctl.set_data(4100, 100);
        Reply::Done
    });
    let bytes = [7_u8; 6];
    let address = ptr::from_ref(&bytes).expose_provenance() as u64;
    let mut link = Block::<1>::new(&[attr_value(4100, 0, 0)]);
    let mut cmd =
        Block::<3>::new(&[attr_value(0, 0, 0), attr_value(UVERBS_ATTR_UHW_IN, 6, address)]);
    cmd.head.uhw_in_idx = 1;
    cmd.head.next = link.get();
    // SAFETY: context and blocks are valid.
    unsafe {
        assert_eq!(__ioctl_final_num_attrs(2, link.get()), 3);
        assert_eq!(__ioctl_final_num_attrs(2, cmd.get()), 5);
        assert_eq!(__ioctl_final_num_attrs(2, ptr::null_mut()), 2);
        assert_eq!(execute_ioctl(context.get(), cmd.get()), 0);
    }
    assert_eq!((cmd.attrs[0].data, link.attrs[0].data), (99, 100));
    assert_eq!(fake::calls(), ["ioctl 4097.4098: 0(len0) 4096(len6) 4100(len0)"]);
}

#[test]
fn failures_leave_the_blocks_and_set_errno() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        if let Call::Ioctl(ioctl) = call {
            ioctl.set_data(0, 99);
        }
        Reply::Fail(libc::EAGAIN)
    });
    let mut cmd = Block::<1>::new(&[attr_value(0, 0, 0)]);
    // SAFETY: context and block are valid.
    unsafe {
        assert_eq!(execute_ioctl(context.get(), cmd.get()), libc::EAGAIN);
        assert_eq!(Errno::last(), Errno(libc::EAGAIN));
        assert_eq!(cmd.attrs[0].data, 0);
        assert_eq!(fake::calls().len(), 1);

        cmd.head.flags = 1;
        assert_eq!(execute_ioctl(context.get(), cmd.get()), libc::EINVAL, "buffer_error");
        assert_eq!(Errno::last(), Errno::EINVAL);
        cmd.head.flags = 0;

        let mut link = Block::<1>::new(&[]);
        link.head.hdr.method_id = 0x1003;
        cmd.head.next = link.get();
        assert_eq!(execute_ioctl(context.get(), cmd.get()), libc::EINVAL, "another method");
    }
    assert!(fake::calls().is_empty());
}

#[test]
fn more_attributes_than_the_kernel_takes_are_refused() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    let mut cmd = Block::<255>::new(&[attr_value(0, 0, 0); 255]);
    // SAFETY: context and block are valid.
    let result = unsafe { execute_ioctl(context.get(), cmd.get()) };
    assert_eq!(result, libc::EINVAL);
    let mut cmd = Block::<254>::new(&[attr_value(0, 0, 0); 254]);
    // SAFETY: context and block are valid.
    let result = unsafe { execute_ioctl(context.get(), cmd.get()) };
    assert_eq!(result, 0);
    assert_eq!(fake::calls().len(), 1);
}
