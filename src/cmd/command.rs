//! Building and sending an ioctl command, and the rule for when a write command takes its place.

use core::ffi::{c_int, c_void};

use crate::abi::*;
use crate::cmd::blocks::Blocks;
use crate::cmd::buffers::{Buffers, ProviderBytes};
use crate::cmd::kernel::Kernel;
use crate::cmd::message::{MAX_ATTRS, Message, Method, ShowAttrs, attr_in, attr_out, attr_value};
use crate::cmd::write::{Request, Write};
use crate::log::log;
use crate::provider_api::OpIndex;
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

/// Attributes that a command has room for without another copy.
const CAPACITY: usize = 32;

/// An ioctl command: attributes in the order in which the calls below name them, then the
/// provider's bytes, then the attributes of the provider's blocks.
///
/// A command without a write form is just executed:
///
/// ```ignore
/// let mut cmd = Command::new(method!(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC));
/// cmd.new_object(UVERBS_ATTR_ALLOC_DM_HANDLE, &mut handle)
///     .u64(UVERBS_ATTR_ALLOC_DM_LENGTH, length)
///     .u32(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, log_align)
///     .link(blocks);
/// cmd.execute(kernel)?;
/// // `handle` is the new object's.
/// ```
///
/// One with a write form, for kernels that lack the method, names the operation whose bit
/// remembers that lack. When the request is the same in all cases:
///
/// ```ignore
/// let mut cmd = Command::new(method!(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY));
/// cmd.output(UVERBS_ATTR_DESTROY_SRQ_RESP, &mut response).object(..);
/// if let Some(written) = cmd.execute_or_write(kernel, op_index!(destroy_srq), request)? {
///     response = written;
/// }
/// ```
///
/// and when it depends on the form:
///
/// ```ignore
/// cmd.provider_bytes(&buffers);           // `cmd, cmd_size, resp, resp_size`
/// match cmd.run(kernel, op_index!(create_cq))? {
///     Outcome::Done => {}
///     Outcome::Write(write) => response = write.send(ib_uverbs_create_cq { .. })?,
///     Outcome::WriteEx(write) => response = write.send(ib_uverbs_ex_create_cq { .. })?.base,
/// }
/// ```
///
/// Outputs are borrowed until the command is used for the last time. The kernel knows which
/// attributes of a method it reads and which it writes; the caller must use the kind of attribute
/// that `ib_user_ioctl_cmds.h` and the kernel's method tables name for each number.
pub(crate) struct Command<'a> {
    method: Method,
    message: Message<CAPACITY>,
    /// Index of the attribute for the new object, and where its number goes.
    created: Option<(usize, Created<'a>)>,
    provider: ProviderBytes<'a>,
    blocks: Blocks<'a>,
    /// The command cannot be sent: too many attributes or too long a one.
    broken: bool,
    ioctl_only: bool,
    extended_write: bool,
}

enum Created<'a> {
    Handle(&'a mut u32),
    Fd(&'a mut c_int),
}

/// What became of a command that has a write form.
pub(crate) enum Outcome<'a> {
    /// The ioctl did it; the outputs are filled in.
    Done,
    /// The write command must do it.
    Write(Write<'a>),
    /// The extended write command must do it.
    WriteEx(Write<'a>),
}

impl Outcome<'_> {
    /// Whether the ioctl did it.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Outcome::Done)
    }
}

impl<'a> Command<'a> {
    /// A command without attributes; see [`method!`](crate::cmd::method).
    pub(crate) fn new(method: Method) -> Command<'a> {
        Command {
            method,
            message: Message::new(method.object, method.method),
            created: None,
            provider: ProviderBytes::NONE,
            blocks: Blocks::NONE,
            broken: false,
            ioctl_only: false,
            extended_write: false,
        }
    }

    fn push(&mut self, attr: ib_uverbs_attr) -> &mut Command<'a> {
        if !self.message.push(attr) {
            log!(VERBS_LOG_ERR, "{}: too many attributes", self.method.name);
            self.broken = true;
        }
        self
    }

    fn too_long(&mut self, id: u16, len: usize) -> &mut Command<'a> {
        log!(
            VERBS_LOG_ERR,
            "{}: attribute {id} has {len} bytes, the kernel takes at most {}",
            self.method.name,
            u16::MAX
        );
        self.broken = true;
        self
    }

    /// An object that the kernel knows by `handle`.
    pub(crate) fn object(&mut self, id: u16, handle: u32) -> &mut Command<'a> {
        self.push(attr_value(id, 0, u64::from(handle)))
    }

    /// The object to be created; its handle is stored on success. One per command.
    pub(crate) fn new_object(&mut self, id: u16, handle: &'a mut u32) -> &mut Command<'a> {
        self.created = Some((self.message.attrs().len(), Created::Handle(handle)));
        self.push(attr_value(id, 0, 0))
    }

    /// A file descriptor to be created; its number is stored on success. One per command.
    pub(crate) fn new_fd(&mut self, id: u16, fd: &'a mut c_int) -> &mut Command<'a> {
        self.created = Some((self.message.attrs().len(), Created::Fd(fd)));
        self.push(attr_value(id, 0, 0))
    }

    /// A file descriptor; -1 leaves the attribute out.
    pub(crate) fn fd(&mut self, id: u16, fd: c_int) -> &mut Command<'a> {
        if fd == -1 {
            return self;
        }
        self.push(attr_value(id, 0, i64::from(fd) as u64))
    }

    /// A file descriptor that a kernel may ignore if it does not know the attribute; -1 leaves it
    /// out.
    pub(crate) fn optional_fd(&mut self, id: u16, fd: c_int) -> &mut Command<'a> {
        if fd == -1 {
            return self;
        }
        self.push(ib_uverbs_attr { flags: 0, ..attr_value(id, 0, i64::from(fd) as u64) })
    }

    /// A number of 32 bits.
    pub(crate) fn u32(&mut self, id: u16, value: u32) -> &mut Command<'a> {
        self.input(id, &value)
    }

    /// A number of 64 bits.
    pub(crate) fn u64(&mut self, id: u16, value: u64) -> &mut Command<'a> {
        self.push(attr_value(id, 8, value))
    }

    /// A value of at most eight bytes, which is copied.
    pub(crate) fn input<T: Plain>(&mut self, id: u16, value: &T) -> &mut Command<'a> {
        const { assert!(size_of::<T>() <= 8, "longer values travel by `input_ref`") };
        let bytes = (&raw const *value).cast();
        match attr_in(id, bytes, size_of::<T>()) {
            Some(attr) => self.push(attr),
            None => self.too_long(id, size_of::<T>()),
        }
    }

    /// A value of any size.
    pub(crate) fn input_ref<T: Plain>(&mut self, id: u16, value: &'a T) -> &mut Command<'a> {
        // SAFETY: the value outlives the command.
        unsafe { self.input_at(id, (&raw const *value).cast(), size_of::<T>()) }
    }

    /// An array.
    pub(crate) fn input_slice<T: Plain>(&mut self, id: u16, values: &'a [T]) -> &mut Command<'a> {
        // SAFETY: the values outlive the command.
        unsafe { self.input_at(id, values.as_ptr().cast(), size_of_val(values)) }
    }

    /// `len` bytes at `bytes`.
    ///
    /// # Safety
    ///
    /// The bytes must be readable for `'a`.
    pub(crate) unsafe fn input_at(
        &mut self,
        id: u16,
        bytes: *const c_void,
        len: usize,
    ) -> &mut Command<'a> {
        match attr_in(id, bytes.cast(), len) {
            Some(attr) => self.push(attr),
            None => self.too_long(id, len),
        }
    }

    /// An element of an enumeration, with `len` bytes at `bytes` that belong to it.
    ///
    /// # Safety
    ///
    /// The bytes must be readable for `'a`.
    pub(crate) unsafe fn enumerated(
        &mut self,
        id: u16,
        element: u8,
        bytes: *const c_void,
        len: usize,
    ) -> &mut Command<'a> {
        let Some(mut attr) = attr_in(id, bytes.cast(), len) else { return self.too_long(id, len) };
        let enum_data = ib_uverbs_attr_attr_data_enum_data { elem_id: element, reserved: 0 };
        attr.attr_data = ib_uverbs_attr_attr_data { enum_data };
        self.push(attr)
    }

    /// A value that the kernel fills in.
    pub(crate) fn output<T: Plain>(&mut self, id: u16, value: &'a mut T) -> &mut Command<'a> {
        // SAFETY: the value outlives the command, and any bytes are a valid value.
        unsafe { self.output_at(id, (&raw mut *value).cast(), size_of::<T>()) }
    }

    /// `len` bytes at `bytes` that the kernel fills in.
    ///
    /// # Safety
    ///
    /// The bytes must be writable for `'a`.
    pub(crate) unsafe fn output_at(
        &mut self,
        id: u16,
        bytes: *mut c_void,
        len: usize,
    ) -> &mut Command<'a> {
        match attr_out(id, bytes, len) {
            Some(attr) => self.push(attr),
            None => self.too_long(id, len),
        }
    }

    /// The provider's part of the buffers that came with the call.
    pub(crate) fn provider_bytes(&mut self, buffers: &Buffers<'a>) -> &mut Command<'a> {
        self.provider = buffers.provider_bytes();
        self
    }

    /// The provider's blocks.
    pub(crate) fn link(&mut self, blocks: Blocks<'a>) -> &mut Command<'a> {
        self.blocks = blocks;
        self
    }

    /// Without the ioctl nothing will do: the write form is refused with EOPNOTSUPP.
    pub(crate) fn ioctl_only(&mut self) -> &mut Command<'a> {
        self.ioctl_only = true;
        self
    }

    /// Without the ioctl only the extended write command will do.
    pub(crate) fn extended_write(&mut self) -> &mut Command<'a> {
        self.extended_write = true;
        self
    }

    /// Sends a command that has no write form.
    pub(crate) fn execute(&mut self, kernel: Kernel<'_>) -> Result<()> {
        self.ioctl(kernel).inspect_err(|errno| self.log_failure(kernel, *errno))
    }

    /// Sends a command that has a write form, unless the kernel is known to lack the method of
    /// `op`. ENOTTY says that it has no ioctl at all, EPROTONOSUPPORT that it lacks this method or
    /// a mandatory attribute; both are remembered for the context.
    pub(crate) fn run(&mut self, kernel: Kernel<'a>, op: OpIndex) -> Result<Outcome<'a>> {
        if !kernel.private().lacks_ioctl(op) {
            match self.ioctl(kernel) {
                Ok(()) => return Ok(Outcome::Done),
                Err(Errno::ENOTTY) => kernel.private().note_lack_of_all_ioctls(),
                Err(Errno::EPROTONOSUPPORT) => kernel.private().note_lack_of_ioctl(op),
                Err(errno) => {
                    self.log_failure(kernel, errno);
                    return Err(errno);
                }
            }
        }
        if self.ioctl_only || self.blocks.need_ioctl() {
            log!(
                VERBS_LOG_INFO,
                "{kernel}: the kernel lacks {} or an attribute of it",
                self.method.name
            );
            return Err(Errno::EOPNOTSUPP);
        }
        let linked = self.blocks.provider_bytes();
        let mut provider = self.provider;
        provider.input = provider.input.or(linked.input);
        provider.output = provider.output.or(linked.output);
        let write = Write::new(kernel, provider);
        if self.extended_write || self.blocks.need_extended_write() {
            Ok(Outcome::WriteEx(write))
        } else {
            Ok(Outcome::Write(write))
        }
    }

    /// [`Self::run`], and `request` if it comes to a write command, of whichever form. Nothing
    /// when the ioctl did it.
    pub(crate) fn execute_or_write<R: Request>(
        &mut self,
        kernel: Kernel<'a>,
        op: OpIndex,
        request: R,
    ) -> Result<Option<R::Response>> {
        match self.run(kernel, op)? {
            Outcome::Done => Ok(None),
            Outcome::Write(write) | Outcome::WriteEx(write) => write.send(request).map(Some),
        }
    }

    fn ioctl(&mut self, kernel: Kernel<'_>) -> Result<()> {
        let (object, method) = (self.method.object, self.method.method);
        if let Some(other) = self.blocks.of_other_method(object, method) {
            log!(VERBS_LOG_ERR, "{}: the provider's block is for {other:?}", self.method.name);
            return Err(Errno::EINVAL);
        }
        if self.broken || self.blocks.has_buffer_error() {
            return Err(Errno::EINVAL);
        }
        let own = self.message.attrs().len();
        if own + 2 + self.blocks.attr_count() <= CAPACITY {
            send(&mut self.message, kernel, self.provider, self.blocks)?;
        } else {
            let mut large = Box::new(Message::<MAX_ATTRS>::new(object, method));
            for attr in self.message.attrs() {
                // There is room for more than `CAPACITY`.
                let _ = large.push(*attr);
            }
            send(&mut large, kernel, self.provider, self.blocks)?;
            self.message.attrs_mut().copy_from_slice(&large.attrs()[..own]);
        }
        if let Some((index, created)) = &mut self.created
            && let Some(attr) = self.message.attrs().get(*index)
        {
            match created {
                Created::Handle(handle) => **handle = attr.data as u32,
                Created::Fd(fd) => **fd = attr.data as c_int,
            }
        }
        Ok(())
    }

    fn log_failure(&self, kernel: Kernel<'_>, errno: Errno) {
        let reason = std::io::Error::from_raw_os_error(errno.0);
        log!(VERBS_LOG_INFO, "{kernel}: {}: {reason}", self.method.name);
        log!(VERBS_LOG_DEBUG, "{}:{}", self.method.name, ShowAttrs(self.message.attrs()));
    }
}

/// Completes a message by the provider's bytes and blocks, sends it and gives the blocks the
/// updated attributes.
fn send<const N: usize>(
    message: &mut Message<N>,
    kernel: Kernel<'_>,
    provider: ProviderBytes<'_>,
    blocks: Blocks<'_>,
) -> Result<()> {
    let own = message.attrs().len();
    let mut complete = true;
    if let Some(bytes) = provider.input {
        let attr = attr_in(UVERBS_ATTR_UHW_IN, bytes.start, bytes.len);
        complete &= attr.is_some_and(|attr| message.push(attr));
    }
    if let Some(bytes) = provider.output {
        // As with write commands, what the kernel leaves out is zero.
        // SAFETY: the provider's bytes are its to be written.
        unsafe { bytes.start.write_bytes(0, bytes.len) };
        let attr = attr_out(UVERBS_ATTR_UHW_OUT, bytes.start.cast(), bytes.len);
        complete &= attr.is_some_and(|attr| message.push(attr));
    }
    let first_linked = message.attrs().len();
    blocks.gather(|attr| complete &= message.push(attr));
    if !complete {
        log!(VERBS_LOG_ERR, "{kernel}: too many attributes or provider bytes for an ioctl");
        return Err(Errno::EINVAL);
    }
    // SAFETY: inputs and outputs are valid as their types and the makers of the blocks promise.
    unsafe { kernel.ioctl(message) }?;
    blocks.scatter(message.attrs()[first_linked..].iter().copied());
    message.truncate(own);
    Ok(())
}

#[cfg(test)]
mod tests;
