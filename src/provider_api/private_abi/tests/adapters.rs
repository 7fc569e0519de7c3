//! The functions whose prototype or structs are others, called as older plugins call them.

use core::ffi::c_int;

use super::*;
use crate::cmd::fake::{self, ASYNC_FD, Call, Form, Reply, TestContext};
use crate::provider_api::private_abi::testing::Guarded;
use crate::uapi::*;

/// The layouts of some private ABIs.
fn of(private_abis: &[u32]) -> impl Iterator<Item = &'static Layout> {
    private_abis.iter().copied().flat_map(layouts_of)
}

/// A provider's buffer: a core struct and as many words as follow it.
#[repr(C)]
struct WithWord<Core> {
    core: Core,
    word: u64,
}

impl<Core: Plain> WithWord<Core> {
    fn new(word: u64) -> WithWord<Core> {
        WithWord { core: Core::zeroed(), word }
    }

    fn get(&mut self) -> *mut Core {
        (&raw mut *self).cast()
    }
}

/// A block of a provider with one attribute, for a method.
#[repr(C)]
struct Block {
    head: ibv_command_buffer,
    attr: ib_uverbs_attr,
}

impl Block {
    fn new(object: u16, method: u16) -> Box<Block> {
        let mut block = Box::new(Block {
            head: ibv_command_buffer::zeroed(),
            attr: ib_uverbs_attr { attr_id: 0x1005, len: 4, data: 6, ..Plain::zeroed() },
        });
        block.head.hdr.object_id = object;
        block.head.hdr.method_id = method;
        block.head.uhw_in_idx = _UHW_NO_INDEX as u8;
        block.head.uhw_out_idx = _UHW_NO_INDEX as u8;
        block.head.next_attr = (&raw mut block.attr).wrapping_add(1);
        block.head.last_attr = block.head.next_attr;
        block
    }

    fn get(&mut self) -> *mut ibv_command_buffer {
        (&raw mut *self).cast()
    }
}

/// Whether the one call since the last time had the attribute of a [`Block`].
fn had_block() -> bool {
    let [call] = <[String; 1]>::try_from(fake::calls()).expect("one call");
    call.contains(" 4101(len4")
}

#[test]
fn get_context_without_descriptors() {
    for layout in of(&[34]) {
        let context = TestContext::of_layout(Form::Write, layout);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.input(UVERBS_ATTR_UHW_IN), Some(vec![0x22; 4]));
            ioctl.output(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &4_u32);
            ioctl.output(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &3_u64);
            ioctl.output(UVERBS_ATTR_UHW_OUT, &0x77_u32);
            Reply::Done
        });
        let (mut request, mut response) = ([0x2222_2222_u32; 5], [0_u32; 3]);
        let (cmd, resp) = (request.as_mut_ptr().cast(), response.as_mut_ptr().cast());
        // SAFETY: all objects and buffers are valid.
        let status = unsafe { v34::ibv_cmd_get_context(context.extended(), cmd, 20, resp, 12) };
        assert_eq!((status, response), (0, [0, 0, 0x77]));
        assert_eq!(fake::calls(), ["ioctl 0.3: 0(len4) 1(len8) 4096(len4) 4097(len4)"]);
        // SAFETY: a live context.
        unsafe {
            let public = context.get();
            assert_eq!(((*public).num_comp_vectors, (*public).async_fd), (4, ASYNC_FD));
            assert_eq!((*context.device()).core_support, 3);
        }
    }
}

/// What a register or the stack happens to hold.
fn garbage<T>() -> *mut T {
    ptr::without_provenance_mut(0x31)
}

#[test]
fn the_last_argument_of_reg_dmabuf_mr_counts_from_release_54() {
    for layout in of(&[34]) {
        let context = TestContext::of_layout(Form::Write, layout);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE), Some(5));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_OFFSET), Some(0x2000));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_LENGTH), Some(64));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_IOVA), Some(0x9000));
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_FD), Some(31));
            ioctl.set_data(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 12);
            Reply::Done
        });
        let pd = &mut ibv_pd { context: context.get(), handle: 5 };
        let mr = Guarded::new(size_of::<verbs_mr>());
        let register = |pd: *mut ibv_pd, driver| {
            // SAFETY: all objects are valid, and so is `driver` for a release that has it.
            unsafe { v34::ibv_cmd_reg_dmabuf_mr(pd, 0x2000, 64, 0x9000, 31, 7, mr.get(), driver) }
        };
        if *layout.releases.start() < 54 {
            assert_eq!(register(pd, garbage()), 0, "{layout:?}");
            assert!(!had_block());
        } else {
            assert_eq!(register(pd, ptr::null_mut()), 0);
            assert!(!had_block());
            let mut block = Block::new(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
            assert_eq!(register(pd, block.get()), 0);
            assert!(had_block());
        }
        // SAFETY: the region was filled in.
        assert_eq!(unsafe { (*mr.get::<verbs_mr>()).ibv_mr.handle }, 12);
    }
}

#[test]
fn cqs_without_a_buffer_of_the_provider() {
    fn new_kernel() {
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_CQ_CQE), Some(200));
            assert_eq!(ioctl.data(UVERBS_ATTR_UHW_IN), Some(0x1122));
            ioctl.set_data(UVERBS_ATTR_CREATE_CQ_HANDLE, 7);
            ioctl.output(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &255_u32);
            ioctl.output(UVERBS_ATTR_UHW_OUT, &0x77_u64);
            Reply::Done
        });
    }
    for layout in of(&[57, 34]) {
        let context = TestContext::of_layout(Form::Write, layout);
        let cq = Guarded::new(size_of::<verbs_cq>());
        let mut attr = ibv_cq_init_attr_ex::zeroed();
        attr.cqe = 200;
        attr.wc_flags = u64::from(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
        let mut block = Block::new(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
        for driver in [None, Some(ptr::null_mut()), Some(block.get())] {
            new_kernel();
            let mut cmd = WithWord::<ibv_create_cq_ex>::new(0x1122);
            let mut resp = WithWord::<ib_uverbs_ex_create_cq_resp>::new(0);
            let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
            let (cmd, answer) = (cmd.get(), resp.get());
            // SAFETY: all objects and buffers are valid.
            let status = unsafe {
                let (context, cq) = (context.get(), cq.get());
                match driver {
                    None => v57::ibv_cmd_create_cq_ex(
                        context, &attr, cq, cmd, cmd_size, answer, resp_size, 0,
                    ),
                    Some(driver) => v57::ibv_cmd_create_cq_ex2(
                        context, &attr, cq, cmd, cmd_size, answer, resp_size, 0, driver,
                    ),
                }
            };
            assert_eq!((status, resp.word), (0, 0x77));
            assert_eq!(had_block(), driver.is_some_and(|driver| !driver.is_null()));
            // SAFETY: the CQ was filled in.
            let (handle, cqe) =
                unsafe { ((*cq.get::<ibv_cq>()).handle, (*cq.get::<ibv_cq>()).cqe) };
            assert_eq!((handle, cqe), (7, 255));
        }
    }
}

/// How a QP comes to be.
#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    Created,
    CreatedEx2,
    Opened(usize),
}

/// Makes an XRC receive QP of a layout in memory that was used before, and says what is in its tail
/// then.
fn xrc_qp(layout: &'static Layout, how: How, in_domain: bool) -> (u32, bool) {
    let context = TestContext::of_layout(Form::Write, layout);
    let answer = ib_uverbs_create_qp_resp { qp_handle: 8, qpn: 0x789, ..Plain::zeroed() };
    fake::answer(move |call| {
        match call {
            Call::Ioctl(ioctl) => {
                ioctl.set_data(UVERBS_ATTR_CREATE_QP_HANDLE, 8);
                ioctl.output(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &0x789_u32);
            }
            // Opening has no ioctl.
            Call::Write(write) => write.respond(&answer),
        }
        Reply::Done
    });
    let qp = Guarded::new(layout.qp_tail + 16);
    qp.fill(0xa5);
    let mut domain = verbs_xrcd { comp_mask: VERBS_XRCD_HANDLE, handle: 12, ..Plain::zeroed() };
    domain.xrcd.context = context.get();
    let xrcd = &raw mut domain.xrcd;
    let mut attr = ibv_qp_init_attr_ex::zeroed();
    attr.qp_type = if in_domain { IBV_QPT_XRC_RECV } else { IBV_QPT_RC };
    let mut pd = ibv_pd { context: context.get(), handle: 5 };
    let mut cq = ibv_cq::zeroed();
    let cq = &raw mut cq;
    attr.comp_mask = if in_domain { IBV_QP_INIT_ATTR_XRCD } else { IBV_QP_INIT_ATTR_PD };
    (attr.pd, attr.xrcd, attr.send_cq, attr.recv_cq) = (&mut pd, xrcd, cq, cq);
    // SAFETY: all objects and buffers are valid.
    let status = unsafe {
        let context = context.get();
        match how {
            How::Created => {
                let mut cmd = WithWord::<ibv_create_qp>::new(0);
                let mut resp = WithWord::<ib_uverbs_create_qp_resp>::new(0);
                let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
                let (cmd, resp) = (cmd.get(), resp.get());
                cmd::ibv_cmd_create_qp_ex(
                    context,
                    qp.get(),
                    &mut attr,
                    cmd,
                    cmd_size,
                    resp,
                    resp_size,
                )
            }
            How::CreatedEx2 => {
                let mut cmd = WithWord::<ibv_create_qp_ex>::new(0);
                let mut resp = WithWord::<ib_uverbs_ex_create_qp_resp>::new(0);
                let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
                let (cmd, resp) = (cmd.get(), resp.get());
                v59::ibv_cmd_create_qp_ex2(
                    context,
                    qp.get(),
                    &mut attr,
                    cmd,
                    cmd_size,
                    resp,
                    resp_size,
                )
            }
            How::Opened(size) => {
                let mut attr = ibv_qp_open_attr::zeroed();
                attr.comp_mask =
                    IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
                (attr.qp_num, attr.qp_type, attr.xrcd) = (0x789, IBV_QPT_XRC_RECV, xrcd);
                let mut cmd = WithWord::<ibv_open_qp>::new(0);
                let mut resp = WithWord::<ib_uverbs_create_qp_resp>::new(0);
                let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
                let (cmd, resp) = (cmd.get(), resp.get());
                let size = size as c_int;
                cmd::ibv_cmd_open_qp(
                    context,
                    qp.get(),
                    size,
                    &mut attr,
                    cmd,
                    cmd_size,
                    resp,
                    resp_size,
                )
            }
        }
    };
    assert_eq!(status, 0, "{how:?} {layout:?}");
    // SAFETY: the QP was filled in, its memory has a tail.
    unsafe {
        assert_eq!((*qp.get::<ibv_qp>()).handle, 8);
        assert_eq!((*qp.get::<ibv_qp>()).qp_num, 0x789);
        // The last function of the extended QP is the provider's.
        let last = qp.get::<u8>().add(layout.qp_tail).cast::<u64>().sub(1).read();
        assert_eq!(last, 0xa5a5_a5a5_a5a5_a5a5);
        let tail = qp.get::<u8>().add(layout.qp_tail);
        let domain = tail.add(8).cast::<*mut verbs_xrcd>().read();
        (tail.cast::<u32>().read(), domain == xrcd.cast())
    }
}

#[test]
fn the_tail_of_a_qp_is_where_its_release_has_it() {
    const GARBAGE: u32 = 0xa5a5_a5a5;
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        let tail = layout.qp_tail;
        for how in [How::Created, How::CreatedEx2, How::Opened(tail + 16)] {
            assert_eq!(xrc_qp(layout, how, true), (VERBS_QP_XRCD, true), "{how:?} {layout:?}");
        }
        for how in [How::Created, How::CreatedEx2] {
            assert_eq!(xrc_qp(layout, how, false), (0, false), "{how:?} {layout:?}");
        }
        // A struct that ends before the tail, or within it.
        assert_eq!(xrc_qp(layout, How::Opened(tail), true), (GARBAGE, false));
        assert_eq!(xrc_qp(layout, How::Opened(tail + 8), true), (0, false));
    }
}

#[test]
fn a_ports_attributes_end_where_its_release_ends_them() {
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        let context = TestContext::of_layout(Form::Write, layout);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            let mut response = ib_uverbs_query_port_resp_ex::zeroed();
            response.legacy_resp.lid = 7;
            response.legacy_resp.flags = 17;
            (response.port_cap_flags2, response.active_speed_ex) = (18, 19);
            ioctl.output(UVERBS_ATTR_QUERY_PORT_RESP, &response);
            Reply::Done
        });
        let mut bytes = [0xa5_u8; size_of::<ibv_port_attr>()];
        let (attr, mut cmd) = (bytes.as_mut_ptr().cast::<ibv_port_attr>(), Plain::zeroed());
        // SAFETY: all objects are valid.
        unsafe {
            let size = size_of::<ibv_query_port>();
            let context = context.get();
            assert_eq!(cmd::ibv_cmd_query_port(context, 3, attr, &raw mut cmd, size), 0);
            let attr = attr.read_unaligned();
            assert_eq!((attr.lid, attr.flags, attr.port_cap_flags2), (7, 17, 18));
            let speed = if layout.port_attr_size == 56 { 19 } else { 0xa5a5_a5a5 };
            assert_eq!(attr.active_speed_ex, speed, "{layout:?}");
        }
    }
}

#[test]
fn attributes_of_a_region_may_end_before_the_buffer() {
    for layout in of(&[59, 64, 65]) {
        let context = TestContext::of_layout(Form::Write, layout);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_REG_MR_ADDR), Some(0x1000));
            ioctl.set_data(UVERBS_ATTR_REG_MR_HANDLE, 12);
            Reply::Done
        });
        let attr = ibv_mr_init_attr {
            length: 64,
            comp_mask: u64::from(IBV_REG_MR_MASK_ADDR),
            addr: ptr::without_provenance_mut(0x1000),
            ..Plain::zeroed()
        };
        // Sixty-four bytes at the end of what may be read.
        let page = Page::new();
        let (mut pd, mut mr) = (ibv_pd { context: context.get(), handle: 5 }, verbs_mr::zeroed());
        // SAFETY: all objects are valid; the function needs no more of the attributes.
        unsafe {
            let short = page.end().wrapping_sub(64);
            ptr::copy_nonoverlapping((&raw const attr).cast(), short, 64);
            assert_eq!(cmd::ibv_cmd_reg_mr_ex(&mut pd, &mut mr, short.cast()), 0);
        }
        assert_eq!(mr.ibv_mr.handle, 12);
    }
}

/// A page with nothing behind it.
struct Page(*mut u8);

impl Page {
    const SIZE: usize = 65536;

    fn new() -> Page {
        let (flags, none) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_NONE);
        // SAFETY: a new mapping, of which the first half becomes accessible.
        unsafe {
            let start = libc::mmap(ptr::null_mut(), 2 * Page::SIZE, none, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let all = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(start, Page::SIZE, all), 0);
            Page(start.cast())
        }
    }

    fn end(&self) -> *mut u8 {
        self.0.wrapping_add(Page::SIZE)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.0.cast(), 2 * Page::SIZE) };
    }
}
