//! The buffers that providers pass with a command: their own bytes, behind the part that the
//! library fills in.

use core::marker::PhantomData;
use core::ptr;

use crate::abi::Plain;

/// Bytes of a provider, and how much space in front of them the library may overwrite.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub(super) start: *mut u8,
    pub(super) len: usize,
    pub(super) headroom: usize,
}

/// The provider's part of a request and of a response, where there is one ("UHW", user hardware
/// data).
#[derive(Clone, Copy)]
pub(crate) struct ProviderBytes<'a> {
    pub(super) input: Option<Bytes>,
    pub(super) output: Option<Bytes>,
    lifetime: PhantomData<&'a mut u8>,
}

impl ProviderBytes<'_> {
    pub(crate) const NONE: ProviderBytes<'static> =
        ProviderBytes { input: None, output: None, lifetime: PhantomData };
}

/// The `cmd, cmd_size, resp, resp_size` arguments of a command function: a request of header, core
/// struct and provider bytes, and a response of core struct and provider bytes.
#[derive(Clone, Copy)]
pub(crate) struct Buffers<'a> {
    request: Buffer,
    response: Buffer,
    lifetime: PhantomData<&'a mut u8>,
}

/// A buffer of `size` bytes, of which the first `core` are the library's.
#[derive(Clone, Copy)]
struct Buffer {
    start: *mut u8,
    size: usize,
    core: usize,
}

impl Buffer {
    const NONE: Buffer = Buffer { start: ptr::null_mut(), size: 0, core: 0 };

    fn new<Core>(start: *mut Core, size: usize) -> Buffer {
        Buffer { start: start.cast(), size, core: size_of::<Core>() }
    }

    fn provider_bytes(&self) -> Option<Bytes> {
        (!self.start.is_null() && self.size > self.core).then(|| Bytes {
            start: self.start.wrapping_add(self.core),
            len: self.size - self.core,
            headroom: self.core,
        })
    }
}

impl<'a> Buffers<'a> {
    /// No buffer.
    pub(crate) const NONE: Buffers<'static> =
        Buffers { request: Buffer::NONE, response: Buffer::NONE, lifetime: PhantomData };

    /// The buffers of a provider, of types as `kern-abi.h` gives them (the request with its
    /// header). Sizes are in bytes and of the whole buffers.
    ///
    /// # Safety
    ///
    /// Each buffer must be NULL or valid for its size and used by nobody else for `'a`.
    pub(crate) unsafe fn new<Request: Plain, Response: Plain>(
        request: *mut Request,
        request_size: usize,
        response: *mut Response,
        response_size: usize,
    ) -> Buffers<'a> {
        Buffers {
            request: Buffer::new(request, request_size),
            response: Buffer::new(response, response_size),
            lifetime: PhantomData,
        }
    }

    /// A request alone.
    ///
    /// # Safety
    ///
    /// As for [`Self::new`].
    pub(crate) unsafe fn request<Request: Plain>(
        request: *mut Request,
        request_size: usize,
    ) -> Buffers<'a> {
        Buffers { request: Buffer::new(request, request_size), ..Buffers::NONE }
    }

    /// A response alone.
    ///
    /// # Safety
    ///
    /// As for [`Self::new`].
    pub(crate) unsafe fn response<Response: Plain>(
        response: *mut Response,
        response_size: usize,
    ) -> Buffers<'a> {
        Buffers { response: Buffer::new(response, response_size), ..Buffers::NONE }
    }

    /// What is behind the core structs.
    pub(super) fn provider_bytes(&self) -> ProviderBytes<'a> {
        ProviderBytes {
            input: self.request.provider_bytes(),
            output: self.response.provider_bytes(),
            lifetime: PhantomData,
        }
    }

    /// How many bytes of a core request of `size` bytes the caller's buffer has behind a header of
    /// `header` bytes: less than all if the caller knows a shorter struct.
    pub(super) fn core_request_len(&self, header: usize, size: usize) -> usize {
        if self.request.start.is_null() {
            return size;
        }
        size.min(self.request.size.saturating_sub(header))
    }

    /// Stores a core response in the caller's buffer, as much as fits.
    pub(super) fn store_response<Response: Plain>(&self, response: &Response) {
        if !self.response.start.is_null() {
            let len = size_of::<Response>().min(self.response.size).min(self.response.core);
            let bytes = (&raw const *response).cast::<u8>();
            // SAFETY: the buffer is valid for its size and is not the library's `response`.
            unsafe { bytes.copy_to_nonoverlapping(self.response.start, len) };
        }
    }
}
