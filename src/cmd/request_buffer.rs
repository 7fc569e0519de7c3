//! Write commands of a length that is known only when they are made.

use crate::abi::*;
use crate::cmd::buffers::Buffers;
use crate::cmd::kernel::Kernel;
use crate::cmd::write::{Request, WriteMessage, front};
use crate::sys::errno::{Errno, Result};

/// A request whose length is known only when it is made: a core struct `Q`, more of the core
/// behind it, then bytes of the provider.
///
/// ```ignore
/// let mut request = RequestBuffer::new(head, work_requests_len)?;
/// for wr in work_requests { request.push(&wr)?; }
/// let response = request.send(kernel)?;
/// ```
pub(crate) struct RequestBuffer<Q> {
    bytes: Vec<u8>,
    head: Q,
    provider_len: usize,
}

impl<Q: Request> RequestBuffer<Q> {
    const HEAD: usize = size_of::<ex_hdr>();

    /// A request with room for `more` bytes behind the core struct. ENOMEM.
    pub(crate) fn new(head: Q, more: usize) -> Result<RequestBuffer<Q>> {
        let mut request = RequestBuffer { bytes: Vec::new(), head, provider_len: 0 };
        let size = (Self::HEAD + size_of::<Q>()).checked_add(more).ok_or(Errno::ENOMEM)?;
        request.bytes.try_reserve_exact(size).map_err(|_| Errno::ENOMEM)?;
        request.bytes.resize(Self::HEAD + size_of::<Q>(), 0);
        Ok(request)
    }

    /// Appends a struct to the core. ENOMEM.
    pub(crate) fn push<T: Plain>(&mut self, value: &T) -> Result<()> {
        let bytes = (&raw const *value).cast();
        // SAFETY: the value is readable; structs of the kernel's headers have no padding.
        self.push_bytes(unsafe { core::slice::from_raw_parts(bytes, size_of::<T>()) })
    }

    /// Appends bytes to the core. ENOMEM.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        debug_assert_eq!(self.provider_len, 0, "the core comes first");
        self.bytes.try_reserve(bytes.len()).map_err(|_| Errno::ENOMEM)?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends the provider's bytes, after everything else. ENOMEM.
    pub(crate) fn push_provider_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.try_reserve(bytes.len()).map_err(|_| Errno::ENOMEM)?;
        self.bytes.extend_from_slice(bytes);
        self.provider_len += bytes.len();
        Ok(())
    }

    /// Sends the request and returns the response.
    pub(crate) fn send(&mut self, kernel: Kernel<'_>) -> Result<Q::Response> {
        let mut response = Q::Response::zeroed();
        self.send_into(kernel, &mut response)?;
        Ok(response)
    }

    /// [`Self::send`] with a response that is of use after a failure too.
    pub(crate) fn send_into(
        &mut self,
        kernel: Kernel<'_>,
        response: &mut Q::Response,
    ) -> Result<()> {
        // SAFETY: the response is writable, and nothing follows it.
        unsafe { self.transmit(kernel, response, 0) }
    }

    /// [`Self::send`] with a response that goes to the caller's buffer, where bytes of the
    /// provider may follow it. The request is not taken from there.
    pub(crate) fn send_to(
        &mut self,
        kernel: Kernel<'_>,
        buffers: Buffers<'_>,
    ) -> Result<Q::Response> {
        let Some(bytes) = buffers.provider_bytes().output else {
            let response = self.send(kernel)?;
            buffers.store_response(&response);
            return Ok(response);
        };
        let response: *mut Q::Response =
            front(&bytes, size_of::<Q::Response>(), 0, Q::COMMAND)?.cast();
        // SAFETY: `front` found room for the struct there; any bytes are a valid response.
        unsafe {
            self.transmit(kernel, response, bytes.len)?;
            Ok(response.read_unaligned())
        }
    }

    /// # Safety
    ///
    /// `response` must be writable, and so must `provider_response_len` bytes behind it.
    unsafe fn transmit(
        &mut self,
        kernel: Kernel<'_>,
        response: *mut Q::Response,
        provider_response_len: usize,
    ) -> Result<()> {
        self.head.set_response(response.expose_provenance() as u64);
        let core_len = self.bytes.len() - Self::HEAD - self.provider_len;
        let core = self.bytes[Self::HEAD..].as_mut_ptr();
        // SAFETY: `new` made room for the struct.
        unsafe { core.cast::<Q>().write_unaligned(self.head) };
        let message = WriteMessage {
            command: Q::COMMAND,
            core: self.bytes.as_mut_ptr().wrapping_add(Self::HEAD),
            core_len,
            provider_len: self.provider_len,
            response: response.cast(),
            response_len: size_of::<Q::Response>(),
            provider_response_len,
        };
        // SAFETY: there is room for a header in front; the rest is the caller's promise.
        unsafe { message.send(kernel) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
    use crate::uapi::*;

    #[test]
    fn requests_of_variable_length() {
        for form in [Form::Write, Form::InvokeWrite] {
            let context = TestContext::new(form);
            fake::answer(|call| {
                let head: ib_uverbs_create_flow = call.request();
                assert_eq!(head.flow_attr.num_of_specs, 2);
                match call {
                    Call::Write(write) => {
                        assert_eq!(write.bytes.len(), 24 + 24 + 16 + 8);
                        assert_eq!(
                            write.body()[24..40],
                            [1, 0, 0, 0, 0, 0, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9]
                        );
                        assert_eq!(write.body()[40..], [0x22; 8]);
                    }
                    Call::Ioctl(ioctl) => {
                        assert_eq!(ioctl.input(UVERBS_ATTR_CORE_IN).unwrap().len(), 40);
                        assert_eq!(ioctl.input(UVERBS_ATTR_UHW_IN), Some(vec![0x22; 8]));
                    }
                }
                call.respond(&ib_uverbs_create_flow_resp { comp_mask: 0, flow_handle: 6 });
                Reply::Done
            });
            let mut head = ib_uverbs_create_flow::zeroed();
            head.flow_attr.num_of_specs = 2;
            let mut request = RequestBuffer::new(head, 8).unwrap();
            request.push(&1_u64.to_le()).unwrap();
            request.push_bytes(&[2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
            request.push_provider_bytes(&[0x22; 8]).unwrap();
            assert_eq!(request.send(context.kernel()).unwrap().flow_handle, 6);
        }
        assert_eq!(fake::calls(), ["ioctl 0.0: 2(len8)=cmd 80000032 0(len40) 1(len8) 4096(len8)"]);
        let huge = RequestBuffer::new(ib_uverbs_create_flow::zeroed(), usize::MAX);
        assert_eq!(huge.map(drop).err(), Some(Errno::ENOMEM));
    }

    #[test]
    fn a_response_can_go_in_front_of_provider_bytes() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            call.respond(&[12_u32, 0x77]);
            Reply::Done
        });
        let mut response = [0_u32; 2];
        let place = core::ptr::from_mut(&mut response).cast::<ib_uverbs_post_send_resp>();
        // SAFETY: the buffer has this size.
        let buffers = unsafe { Buffers::response(place, 8) };
        let mut request = RequestBuffer::new(ib_uverbs_post_send::zeroed(), 0).unwrap();
        assert_eq!(request.send_to(context.kernel(), buffers).unwrap().bad_wr, 12);
        assert_eq!(response, [12, 0x77]);
        assert_eq!(fake::calls(), ["write n=32 cmd=1c in=8 out=2"]);
    }
}
