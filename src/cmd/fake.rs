//! A kernel for tests: records what the two system calls bring and answers as a test says.
//!
//! ```ignore
//! let context = TestContext::new(Form::Write);
//! fake::answer(|call| match call {
//!     Call::Ioctl(_) => Reply::Fail(libc::EPROTONOSUPPORT),
//!     Call::Write(write) => {
//!         write.respond(&ib_uverbs_alloc_pd_resp { pd_handle: 7, driver_data: [] });
//!         Reply::Done
//!     }
//! });
//! // ... call a command function with `context.get()` ...
//! assert_eq!(fake::calls(), ["write n=16 cmd=3 in=4 out=1"]);
//! ```
//!
//! Everything is per thread, so tests do not meet.

use core::cell::{Cell, RefCell};
use core::ffi::c_int;
use core::fmt::Write as _;

use crate::abi::*;
use crate::cmd::kernel::Kernel;
use crate::provider_api::private_abi::testing::Guarded;
use crate::provider_api::private_abi::{Layout, NEWEST};
use crate::provider_api::{ContextPrivate, DEFAULT_OPS, member};
use crate::sys::errno::Errno;
use crate::uapi::*;

/// The driver id of a [`TestContext`], which every ioctl must carry.
pub(crate) const DRIVER_ID: u32 = 0x5eed;
/// The file descriptors of a [`TestContext`].
pub(crate) const CMD_FD: c_int = 77;
pub(crate) const ASYNC_FD: c_int = 99;

/// What the fake kernel says to a call.
pub(crate) enum Reply {
    Done,
    /// -1 with this `errno`.
    Fail(c_int),
    /// One byte less than all of a write.
    Short,
}

/// A call in progress.
pub(crate) enum Call<'a> {
    Ioctl(Ioctl<'a>),
    Write(Written<'a>),
}

impl Call<'_> {
    /// The number of a write command in either form, extended ones with bit 31.
    pub(crate) fn write_command(&mut self) -> Option<u32> {
        match self {
            Call::Write(write) => Some(write.command()),
            Call::Ioctl(ioctl) if (ioctl.object, ioctl.method) == (0, 0) => {
                ioctl.data(UVERBS_ATTR_WRITE_CMD).map(|data| data as u32)
            }
            Call::Ioctl(_) => None,
        }
    }

    /// Fills in the response of a write command in either form.
    pub(crate) fn respond<T: Plain>(&mut self, value: &T) {
        match self {
            Call::Write(write) => write.respond(value),
            Call::Ioctl(ioctl) => ioctl.output(UVERBS_ATTR_CORE_OUT, value),
        }
    }

    /// The core request of a write command in either form, at least the beginning of it.
    pub(crate) fn request<T: Plain>(&mut self) -> T {
        let bytes = match self {
            Call::Write(write) => write.body().to_vec(),
            Call::Ioctl(ioctl) => ioctl.input(UVERBS_ATTR_CORE_IN).unwrap_or_default(),
        };
        assert!(bytes.len() >= size_of::<T>(), "the request is too short");
        // SAFETY: there are enough bytes, and any make a value.
        unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
    }
}

pub(crate) struct Ioctl<'a> {
    pub(crate) object: u16,
    pub(crate) method: u16,
    attrs: &'a mut [ib_uverbs_attr],
}

impl Ioctl<'_> {
    fn attr(&mut self, id: u16) -> Option<&mut ib_uverbs_attr> {
        self.attrs.iter_mut().find(|attr| attr.attr_id == id)
    }

    /// All attributes.
    pub(crate) fn attrs(&self) -> &[ib_uverbs_attr] {
        self.attrs
    }

    /// The data field of an attribute.
    pub(crate) fn data(&mut self, id: u16) -> Option<u64> {
        self.attr(id).map(|attr| attr.data)
    }

    /// Changes the data field, as for a new object's handle.
    pub(crate) fn set_data(&mut self, id: u16, data: u64) {
        self.attr(id).expect("the attribute is there").data = data;
    }

    /// The bytes of an input attribute.
    pub(crate) fn input(&mut self, id: u16) -> Option<Vec<u8>> {
        let attr = self.attr(id)?;
        let len = usize::from(attr.len);
        if len <= 8 {
            return Some(attr.data.to_ne_bytes()[..len].to_vec());
        }
        // SAFETY: the attribute of the tested command points to so many bytes.
        Some(unsafe {
            core::slice::from_raw_parts(core::ptr::with_exposed_provenance(attr.data as usize), len)
                .to_vec()
        })
    }

    /// Fills in an output attribute.
    pub(crate) fn output<T: Plain>(&mut self, id: u16, value: &T) {
        let attr = self.attr(id).expect("the attribute is there");
        assert!(usize::from(attr.len) >= size_of::<T>(), "attribute {id} is too short");
        attr.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
        // SAFETY: the attribute of the tested command points to so many bytes.
        unsafe {
            core::ptr::with_exposed_provenance_mut::<T>(attr.data as usize).write_unaligned(*value);
        }
    }

    fn line(&self) -> String {
        let mut line = format!("ioctl {}.{}:", self.object, self.method);
        for attr in self.attrs.iter() {
            let optional = if attr.flags & UVERBS_ATTR_F_MANDATORY == 0 { ",opt" } else { "" };
            // SAFETY: both members of the union are plain integers of the same size.
            let element = unsafe { attr.attr_data.enum_data.elem_id };
            let element = if element != 0 { ",elem" } else { "" };
            write!(line, " {}(len{}{optional}{element})", attr.attr_id, attr.len).unwrap();
            if (self.object, self.method, attr.attr_id) == (0, 0, UVERBS_ATTR_WRITE_CMD) {
                write!(line, "=cmd {:x}", attr.data).unwrap();
            }
        }
        line
    }
}

pub(crate) struct Written<'a> {
    /// The whole message, headers included.
    pub(crate) bytes: &'a [u8],
}

impl Written<'_> {
    fn u16(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.bytes[at..at + 2].try_into().unwrap())
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }

    /// The command number; extended commands have bit 31.
    pub(crate) fn command(&self) -> u32 {
        u32::from_ne_bytes(self.bytes[..4].try_into().unwrap())
    }

    fn extended(&self) -> bool {
        self.command() & IB_USER_VERBS_CMD_FLAG_EXTENDED != 0
    }

    /// The message behind its headers.
    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[if self.extended() { 24 } else { 8 }..]
    }

    /// Fills in the response.
    pub(crate) fn respond<T: Plain>(&self, value: &T) {
        self.respond_at(0, value);
    }

    /// Fills in part of the response, at an offset in bytes.
    pub(crate) fn respond_at<T: Copy>(&self, offset: usize, value: &T) {
        let room = if self.extended() {
            (usize::from(self.u16(6)) + usize::from(self.u16(18))) * 8
        } else {
            usize::from(self.u16(6)) * 4
        };
        assert!(room >= offset + size_of::<T>(), "the response buffer is too short");
        let address = core::ptr::with_exposed_provenance_mut::<u8>(self.u64(8) as usize);
        // SAFETY: the tested command gives this address for so many bytes.
        unsafe { address.add(offset).cast::<T>().write_unaligned(*value) };
    }

    fn line(&self) -> String {
        let (command, len) = (self.command(), self.bytes.len());
        let (in_words, out_words) = (self.u16(4), self.u16(6));
        let mut line = format!("write n={len} cmd={command:x} in={in_words} out={out_words}");
        if self.extended() {
            write!(line, " pin={} pout={}", self.u16(16), self.u16(18)).unwrap();
        }
        line
    }
}

type Answer = Box<dyn FnMut(&mut Call<'_>) -> Reply>;

thread_local! {
    static ANSWER: RefCell<Answer> = RefCell::new(Box::new(|_| Reply::Done));
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static ALLOW_DISASSOCIATE_DESTROY: Cell<bool> = const { Cell::new(false) };
    static UVERBS_ABI: Cell<Option<u32>> = const { Cell::new(None) };
}

/// From now on the kernel of this thread answers like this; the record starts anew.
pub(crate) fn answer(answer: impl FnMut(&mut Call<'_>) -> Reply + 'static) {
    ANSWER.set(Box::new(answer));
    CALLS.take();
}

/// The calls since the last time, one line each, in the format of `testdata/cmd-trace-65.txt`.
pub(crate) fn calls() -> Vec<String> {
    CALLS.take()
}

/// Says for this thread whether a device may be gone, in place of the process-wide setting.
pub(crate) fn set_allow_disassociate_destroy(allow: bool) {
    ALLOW_DISASSOCIATE_DESTROY.set(allow);
}

pub(super) fn allow_disassociate_destroy() -> bool {
    ALLOW_DISASSOCIATE_DESTROY.get()
}

/// Replaces the kernel's interface version for this thread.
pub(crate) fn set_uverbs_abi(version: u32) {
    UVERBS_ABI.set(Some(version));
}

pub(super) fn uverbs_abi() -> Option<u32> {
    UVERBS_ABI.get()
}

fn ask(call: &mut Call<'_>, done: isize) -> isize {
    let line = match call {
        Call::Ioctl(ioctl) => ioctl.line(),
        Call::Write(write) => write.line(),
    };
    CALLS.with_borrow_mut(|calls| calls.push(line));
    match ANSWER.with_borrow_mut(|answer| answer(call)) {
        Reply::Done => done,
        Reply::Short => done - 1,
        Reply::Fail(errno) => {
            Errno(errno).store();
            -1
        }
    }
}

pub(super) unsafe fn ioctl(fd: c_int, message: *mut ib_uverbs_ioctl_hdr) -> c_int {
    assert_eq!(fd, CMD_FD);
    // SAFETY: the tested code passes a header with its attributes behind it.
    let (hdr, attrs) = unsafe {
        let hdr = message.read();
        let attrs = message.add(1).cast::<ib_uverbs_attr>();
        (hdr, core::slice::from_raw_parts_mut(attrs, usize::from(hdr.num_attrs)))
    };
    assert_eq!(usize::from(hdr.length), 24 + 16 * attrs.len());
    assert_eq!((hdr.driver_id, hdr.reserved1, hdr.reserved2), (DRIVER_ID, 0, 0));
    let (object, method) = (hdr.object_id, hdr.method_id);
    ask(&mut Call::Ioctl(Ioctl { object, method, attrs }), 0) as c_int
}

pub(super) unsafe fn write(fd: c_int, message: *const u8, length: usize) -> isize {
    assert_eq!(fd, CMD_FD);
    // SAFETY: the tested code passes a message of this length.
    let bytes = unsafe { core::slice::from_raw_parts(message, length) };
    ask(&mut Call::Write(Written { bytes }), length as isize)
}

/// How write commands of a [`TestContext`] go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Write,
    InvokeWrite,
}

/// A set-up context without a device file.
pub(crate) struct TestContext {
    memory: Guarded,
    layout: &'static Layout,
    device: *mut verbs_device,
}

impl TestContext {
    pub(crate) fn new(form: Form) -> TestContext {
        TestContext::of_layout(form, NEWEST)
    }

    /// A context of a provider of an older release.
    pub(crate) fn of_layout(form: Form, layout: &'static Layout) -> TestContext {
        let write_by_ioctl = form == Form::InvokeWrite;
        let private = ContextPrivate::new(DEFAULT_OPS, layout, DRIVER_ID, write_by_ioctl);
        // SAFETY: zero bytes are a valid device.
        let device: Box<verbs_device> = unsafe { Box::new(core::mem::zeroed()) };
        let device = Box::into_raw(device);
        let memory = Guarded::context(layout);
        let context = memory.public(layout);
        // SAFETY: the memory is a zeroed context of this layout.
        unsafe {
            member!(context, priv_).write(Box::into_raw(Box::new(private)).cast());
            member!(context, sz).write(layout.context_size());
            (*context).cmd_fd = CMD_FD;
            (*context).async_fd = ASYNC_FD;
            (*context).device = device.cast();
        }
        TestContext { memory, layout, device }
    }

    /// The public context.
    pub(crate) fn get(&self) -> *mut ibv_context {
        self.memory.public(self.layout)
    }

    /// The context as the provider has it: a struct of its layout.
    pub(crate) fn extended(&self) -> *mut verbs_context {
        self.memory.get()
    }

    pub(crate) fn device(&self) -> *mut verbs_device {
        self.device
    }

    pub(crate) fn kernel(&self) -> Kernel<'_> {
        // SAFETY: the context is set up and lives as long as the result.
        unsafe { Kernel::of(self.get()) }
    }
}

impl Drop for TestContext {
    fn drop(&mut self) {
        // SAFETY: `of_layout` made both of boxes.
        unsafe {
            drop(Box::from_raw(member!(self.get(), priv_).read().cast::<ContextPrivate>()));
            drop(Box::from_raw(self.device));
        }
    }
}
