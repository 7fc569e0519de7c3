//! Write commands: their forms and how they reach the kernel.
//!
//! A command has a core struct that the library fills in and, on both ways, bytes of the provider
//! behind it. It is sent in one of three forms:
//!
//! * write(2): `ib_uverbs_cmd_hdr`, core, provider bytes; lengths in 4-byte words;
//! * write(2), extended: `ex_hdr`, core, provider bytes; lengths in 8-byte words, core and provider
//!   apart;
//! * ioctl `INVOKE_WRITE`: the command number and the same core structs and provider bytes as
//!   attributes, without headers; for either of the above, where the kernel has it.

use core::ptr;

use crate::abi::*;
use crate::cmd::buffers::{Buffers, Bytes, ProviderBytes};
use crate::cmd::kernel::Kernel;
use crate::cmd::message::{Message, attr_in, attr_out, attr_value};
use crate::log::log;
use crate::sys::errno::{Errno, Result, keep_errno};
use crate::uapi::*;

/// A command of the write interface.
#[derive(Clone, Copy)]
pub(crate) struct WriteCommand {
    /// Without the bit that marks extended commands.
    pub(crate) number: u32,
    pub(crate) extended: bool,
    /// The kernel's name, for messages.
    pub(crate) name: &'static str,
}

impl WriteCommand {
    const fn header_size(&self) -> usize {
        if self.extended { size_of::<ex_hdr>() } else { size_of::<ib_uverbs_cmd_hdr>() }
    }

    const fn code(&self) -> u32 {
        self.number | if self.extended { IB_USER_VERBS_CMD_FLAG_EXTENDED } else { 0 }
    }
}

/// The core struct of a request, with its command; the list is in [`crate::cmd::requests`].
pub(crate) trait Request: Plain {
    const COMMAND: WriteCommand;
    /// The core struct of the response; [`empty`] where there is none.
    type Response: Plain;

    /// Stores the address of the response, for requests that name it in the core struct.
    fn set_response(&mut self, address: u64);
}

/// The way to send the write form of an ioctl command: see
/// [`Command::run`](crate::cmd::Command::run). The provider's bytes are sent with it.
pub(crate) struct Write<'a> {
    kernel: Kernel<'a>,
    provider: ProviderBytes<'a>,
}

impl<'a> Write<'a> {
    pub(super) fn new(kernel: Kernel<'a>, provider: ProviderBytes<'a>) -> Write<'a> {
        Write { kernel, provider }
    }

    /// Sends the request and returns the core of the response.
    pub(crate) fn send<Q: Request>(self, request: Q) -> Result<Q::Response> {
        self.send_for(request)
    }

    /// [`Self::send`] for kernels whose response differs from today's.
    pub(crate) fn send_for<Q: Request, R: Plain>(self, request: Q) -> Result<R> {
        transmit(self.kernel, request, size_of::<Q>(), self.provider)
    }
}

impl Kernel<'_> {
    /// Sends a write command in its caller's buffers and returns the core of the response, which
    /// the caller's buffer gets as well.
    ///
    /// ```ignore
    /// let buffers = unsafe { Buffers::new(cmd, cmd_size, resp, resp_size) };
    /// let response = kernel.write(ib_uverbs_alloc_pd::zeroed(), buffers)?;
    /// pd.handle = response.pd_handle;
    /// ```
    ///
    /// A request buffer that ends within the core struct makes a shorter request.
    pub(crate) fn write<Q: Request>(self, request: Q, buffers: Buffers<'_>) -> Result<Q::Response> {
        self.write_for(request, buffers)
    }

    /// [`Self::write`] for kernels whose response differs from today's.
    pub(crate) fn write_for<Q: Request, R: Plain>(
        self,
        request: Q,
        buffers: Buffers<'_>,
    ) -> Result<R> {
        let len = buffers.core_request_len(Q::COMMAND.header_size(), size_of::<Q>());
        let provider = buffers.provider_bytes();
        let response = transmit(self, request, len, provider)?;
        if provider.output.is_none() {
            buffers.store_response(&response);
        }
        Ok(response)
    }

    /// Sends a write command without provider bytes whose response has a length known only now:
    /// all of `response`.
    pub(crate) fn write_into<Q: Request>(self, mut request: Q, response: &mut [u64]) -> Result<()> {
        request.set_response(response.as_mut_ptr().expose_provenance() as u64);
        let mut slot = Slot::new(request);
        let message = WriteMessage {
            command: Q::COMMAND,
            core: slot.core(),
            core_len: size_of::<Q>(),
            provider_len: 0,
            response: response.as_mut_ptr().cast(),
            response_len: size_of_val(response),
            provider_response_len: 0,
        };
        // SAFETY: the slot has room for headers, the response is writable.
        unsafe { message.send(self) }
    }
}

/// A request on the stack, with room for the longer of the headers in front.
#[repr(C, align(8))]
struct Slot<Q> {
    room: ex_hdr,
    core: Q,
}

impl<Q> Slot<Q> {
    fn new(core: Q) -> Slot<Q> {
        const { assert!(core::mem::offset_of!(Slot<Q>, core) == size_of::<ex_hdr>()) };
        Slot { room: ex_hdr::zeroed(), core }
    }

    /// The address of the core struct, good for the room in front of it as well.
    fn core(&mut self) -> *mut u8 {
        ptr::from_mut(self).cast::<u8>().wrapping_add(size_of::<ex_hdr>())
    }
}

/// Sends the first `core_len` bytes of a request, in front of the provider's bytes where there are
/// any, else on the stack.
fn transmit<Q: Request, R: Plain>(
    kernel: Kernel<'_>,
    mut request: Q,
    core_len: usize,
    provider: ProviderBytes<'_>,
) -> Result<R> {
    let mut own_response = R::zeroed();
    let response: *mut R = match &provider.output {
        Some(bytes) => front(bytes, size_of::<R>(), 0, Q::COMMAND)?.cast(),
        None => &raw mut own_response,
    };
    request.set_response(response.expose_provenance() as u64);
    let mut slot = Slot::new(request);
    let core: *mut u8 = match &provider.input {
        Some(bytes) => {
            let core = front(bytes, size_of::<Q>(), Q::COMMAND.header_size(), Q::COMMAND)?;
            // SAFETY: `front` found room for the struct there.
            unsafe { core.cast::<Q>().write_unaligned(request) };
            core
        }
        None => slot.core(),
    };
    let message = WriteMessage {
        command: Q::COMMAND,
        core,
        core_len,
        provider_len: provider.input.map_or(0, |bytes| bytes.len),
        response: response.cast(),
        response_len: size_of::<R>(),
        provider_response_len: provider.output.map_or(0, |bytes| bytes.len),
    };
    // SAFETY: there is room for the headers in front of the request, on the stack and by `front`;
    // the provider's bytes follow request and response; any bytes are a valid response.
    unsafe {
        message.send(kernel)?;
        Ok(response.read_unaligned())
    }
}

/// The place for a struct of `size` bytes directly in front of the provider's bytes, if the
/// head-room there has space for it and a header.
pub(super) fn front(
    bytes: &Bytes,
    size: usize,
    header: usize,
    command: WriteCommand,
) -> Result<*mut u8> {
    if bytes.headroom < size + header {
        log!(
            VERBS_LOG_ERR,
            "{}: {} bytes in front of the provider's, {} needed",
            command.name,
            bytes.headroom,
            size + header
        );
        return Err(Errno::EINVAL);
    }
    Ok(bytes.start.wrapping_sub(size))
}

/// A write command laid out in memory: room for a header, then `core_len` bytes of the core
/// request, then `provider_len` bytes; and likewise, without header, the response.
pub(super) struct WriteMessage {
    pub(super) command: WriteCommand,
    pub(super) core: *mut u8,
    pub(super) core_len: usize,
    pub(super) provider_len: usize,
    pub(super) response: *mut u8,
    pub(super) response_len: usize,
    pub(super) provider_response_len: usize,
}

impl WriteMessage {
    /// Sends the command in the form that this kernel and command want.
    ///
    /// # Safety
    ///
    /// The places must be as the type says.
    pub(super) unsafe fn send(&self, kernel: Kernel<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        let result = unsafe {
            // What the kernel leaves out is zero. Memory checkers, who do not know what it writes,
            // take all of it for initialized.
            self.response.write_bytes(0, self.response_len + self.provider_response_len);
            if kernel.private().write_by_ioctl {
                self.invoke_write(kernel)
            } else if self.command.extended {
                self.write_extended(kernel)
            } else {
                self.write_plain(kernel)
            }
        };
        result.inspect_err(|errno| {
            let reason = std::io::Error::from_raw_os_error(errno.0);
            log!(VERBS_LOG_INFO, "{kernel}: {}: {reason}", self.command.name);
        })
    }

    /// As an ioctl; the kernel's own names of these attributes are in its `INVOKE_WRITE` method.
    unsafe fn invoke_write(&self, kernel: Kernel<'_>) -> Result<()> {
        let Some(mut message) = self.as_ioctl() else { return self.too_long() };
        // SAFETY: the caller's promise.
        unsafe { kernel.ioctl(&mut message) }
    }

    /// Nothing when a part is longer than an attribute can be.
    fn as_ioctl(&self) -> Option<Message<5>> {
        let provider = self.core.wrapping_add(self.core_len);
        let provider_response = self.response.wrapping_add(self.response_len);
        let mut message = Message::new(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
        for attr in [
            Some(attr_value(UVERBS_ATTR_WRITE_CMD, 8, u64::from(self.command.code()))),
            attr_in(UVERBS_ATTR_CORE_IN, self.core, self.core_len),
            attr_out(UVERBS_ATTR_CORE_OUT, self.response.cast(), self.response_len),
            attr_in(UVERBS_ATTR_UHW_IN, provider, self.provider_len),
            attr_out(UVERBS_ATTR_UHW_OUT, provider_response.cast(), self.provider_response_len),
        ] {
            let attr = attr?;
            if attr.len > 0 && !message.push(attr) {
                return None;
            }
        }
        Some(message)
    }

    unsafe fn write_plain(&self, kernel: Kernel<'_>) -> Result<()> {
        let size = size_of::<ib_uverbs_cmd_hdr>() + self.core_len + self.provider_len;
        let (Some(in_words), Some(out_words)) =
            (words(size, 4), words(self.response_len + self.provider_response_len, 4))
        else {
            return self.too_long();
        };
        let start = self.core.wrapping_sub(size_of::<ib_uverbs_cmd_hdr>());
        let header = ib_uverbs_cmd_hdr { command: self.command.code(), in_words, out_words };
        // SAFETY: the caller's promise: there is room for the header in front.
        unsafe {
            start.cast::<ib_uverbs_cmd_hdr>().write_unaligned(header);
            kernel.write_message(start, size)
        }
    }

    unsafe fn write_extended(&self, kernel: Kernel<'_>) -> Result<()> {
        let (Some(in_words), Some(out_words), Some(provider_in_words), Some(provider_out_words)) = (
            words(self.core_len, 8),
            words(self.response_len, 8),
            words(self.provider_len, 8),
            words(self.provider_response_len, 8),
        ) else {
            return self.too_long();
        };
        let response = if self.response_len + self.provider_response_len > 0 {
            self.response.expose_provenance() as u64
        } else {
            0
        };
        let header = ex_hdr {
            hdr: ib_uverbs_cmd_hdr { command: self.command.code(), in_words, out_words },
            ex_hdr: ib_uverbs_ex_cmd_hdr {
                response,
                provider_in_words,
                provider_out_words,
                cmd_hdr_reserved: 0,
            },
        };
        let start = self.core.wrapping_sub(size_of::<ex_hdr>());
        // SAFETY: the caller's promise: there is room for the header in front.
        unsafe {
            start.cast::<ex_hdr>().write_unaligned(header);
            let size = size_of::<ex_hdr>() + self.core_len + self.provider_len;
            kernel.write_message(start, size)
        }
    }

    fn too_long(&self) -> Result<()> {
        log!(
            VERBS_LOG_ERR,
            "{}: request of {} + {} bytes, response of {} + {} bytes cannot be sent",
            self.command.name,
            self.core_len,
            self.provider_len,
            self.response_len,
            self.provider_response_len
        );
        Err(Errno::EINVAL)
    }
}

/// A length in words of `unit` bytes, if it is a whole number that a header can hold.
fn words(len: usize, unit: usize) -> Option<u16> {
    if len.is_multiple_of(unit) { u16::try_from(len / unit).ok() } else { None }
}

/// Whether write commands of this device file can go through the ioctl: a kernel that has
/// `INVOKE_WRITE` finds fault with the incomplete command, another one with the method.
pub(crate) fn probe_write_by_ioctl(cmd_fd: core::ffi::c_int, driver_id: u32) -> bool {
    let mut message = Message::<1>::new(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
    let code = u64::from(IB_USER_VERBS_CMD_QUERY_DEVICE);
    let complete = message.push(attr_value(UVERBS_ATTR_WRITE_CMD, 8, code));
    debug_assert!(complete);
    // SAFETY: the one attribute is a number.
    let answer = keep_errno(|| unsafe { message.send(cmd_fd, driver_id) });
    !matches!(answer, Err(Errno::ENOTTY | Errno::EPROTONOSUPPORT))
}

#[cfg(test)]
mod tests;
