//! What the tests of commands on objects share: provider buffers, and kernels that lack the ioctl
//! methods.

use core::cell::RefCell;
use core::ffi::c_int;

use crate::abi::Plain;
use crate::cmd::fake::{self, Call, Reply};
use crate::sys::errno::Errno;
use crate::uapi::*;

/// A buffer of a provider: a core struct (of a request with its header) and bytes behind it.
#[repr(C)]
pub(super) struct WithBytes<Core, const WORDS: usize> {
    pub(super) core: Core,
    pub(super) bytes: [u64; WORDS],
}

impl<Core: Plain, const WORDS: usize> WithBytes<Core, WORDS> {
    /// The core struct is filled with garbage: providers do not clear it.
    pub(super) fn new(bytes: [u64; WORDS]) -> Self {
        let mut core = Core::zeroed();
        // SAFETY: any bytes are a valid core struct.
        unsafe { (&raw mut core).write_bytes(0xa5, 1) };
        WithBytes { core, bytes }
    }

    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
    }

    /// The core struct, good for the bytes behind it as well.
    pub(super) fn core(&mut self) -> *mut Core {
        (&raw mut *self).cast()
    }
}

thread_local! {
    static REQUESTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A kernel without ioctl methods, which says so by `errno`. It answers every write command by
/// `response`, sent by write(2) or by `INVOKE_WRITE`.
pub(super) fn old_kernel<Response: Plain + 'static>(errno: c_int, response: Response) {
    failing_kernel(errno, response, None);
}

/// [`old_kernel`], whose write commands answer and then fail with `failure`.
pub(super) fn failing_kernel<Response: Plain + 'static>(
    errno: c_int,
    response: Response,
    failure: Option<c_int>,
) {
    REQUESTS.take();
    fake::answer(move |call| {
        let mut request = Vec::new();
        match call {
            Call::Write(write) => {
                request.extend_from_slice(write.body());
                if size_of::<Response>() > 0 {
                    write.respond(&response);
                }
            }
            Call::Ioctl(ioctl)
                if (ioctl.object, ioctl.method)
                    == (UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE) =>
            {
                for id in [UVERBS_ATTR_CORE_IN, UVERBS_ATTR_UHW_IN] {
                    request.extend(ioctl.input(id).unwrap_or_default());
                }
                if size_of::<Response>() > 0 {
                    ioctl.output(UVERBS_ATTR_CORE_OUT, &response);
                }
            }
            Call::Ioctl(_) => return Reply::Fail(errno),
        }
        REQUESTS.with_borrow_mut(|requests| requests.push(request));
        failure.map_or(Reply::Done, Reply::Fail)
    });
}

/// The bodies of the write commands since [`old_kernel`]: core struct and provider bytes.
pub(super) fn requests() -> Vec<Vec<u8>> {
    REQUESTS.take()
}

/// The body of the one write command since [`old_kernel`], whose first `size_of::<Core>()` bytes
/// are the core struct.
pub(super) fn request<Core: Plain>() -> (Core, Vec<u8>) {
    let [body] = <[Vec<u8>; 1]>::try_from(requests()).expect("one write command");
    assert!(body.len() >= size_of::<Core>(), "{} bytes are too few", body.len());
    let (core, rest) = body.split_at(size_of::<Core>());
    // SAFETY: the bytes are there, and any bytes are a valid core struct.
    (unsafe { core.as_ptr().cast::<Core>().read_unaligned() }, rest.to_vec())
}

/// The bytes of 8-byte words.
pub(super) fn bytes_of_words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The positive status of a command that must have failed; `errno` must say the same.
#[track_caller]
pub(super) fn failure(status: c_int) -> c_int {
    assert!(status > 0, "status {status}");
    assert_eq!(Errno::last(), Errno(status), "errno");
    status
}
