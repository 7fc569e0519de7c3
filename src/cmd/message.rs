//! The message of an ioctl: a header and attributes, as the kernel reads them.

use core::ffi::{c_int, c_void};
use core::fmt;

use crate::abi::*;
use crate::cmd::syscall;
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

/// The most attributes that the kernel accepts: it takes a message of at most one page.
pub(super) const MAX_ATTRS: usize =
    (4096 - size_of::<ib_uverbs_ioctl_hdr>()) / size_of::<ib_uverbs_attr>();

/// A method of an object of the ioctl interface; use [`method!`](crate::cmd::method).
#[derive(Clone, Copy)]
pub(crate) struct Method {
    pub(super) object: u16,
    pub(super) method: u16,
    /// The kernel's name, for messages.
    pub(super) name: &'static str,
}

impl Method {
    pub(crate) const fn new(object: u16, method: u16, name: &'static str) -> Method {
        Method { object, method, name }
    }
}

/// `method!(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY)`: a [`Method`] by the kernel's names.
macro_rules! method {
    ($object:ident, $method:ident) => {
        $crate::cmd::Method::new($crate::uapi::$object, $crate::uapi::$method, stringify!($method))
    };
}
pub(crate) use method;

/// An attribute whose data field is the value itself, mandatory.
pub(super) fn attr_value(id: u16, len: u16, data: u64) -> ib_uverbs_attr {
    ib_uverbs_attr {
        attr_id: id,
        len,
        flags: UVERBS_ATTR_F_MANDATORY,
        attr_data: ib_uverbs_attr_attr_data { reserved: 0 },
        data,
    }
}

/// An attribute for bytes that the kernel reads; up to eight travel in the data field itself.
///
/// Nothing when there are more bytes than an attribute can say (65535).
pub(super) fn attr_in(id: u16, bytes: *const u8, len: usize) -> Option<ib_uverbs_attr> {
    let length = u16::try_from(len).ok()?;
    if len > size_of::<u64>() {
        return Some(attr_value(id, length, bytes.expose_provenance() as u64));
    }
    let mut data = [0; size_of::<u64>()];
    if len > 0 {
        // SAFETY: every caller has `len` readable bytes there; the data field has room for eight.
        unsafe { bytes.copy_to_nonoverlapping(data.as_mut_ptr(), len) };
    }
    Some(attr_value(id, length, u64::from_ne_bytes(data)))
}

/// An attribute for bytes that the kernel writes; nothing when there are too many.
pub(super) fn attr_out(id: u16, bytes: *mut c_void, len: usize) -> Option<ib_uverbs_attr> {
    let length = u16::try_from(len).ok()?;
    Some(attr_value(id, length, bytes.expose_provenance() as u64))
}

/// A header with room for `N` attributes behind it.
#[repr(C)]
pub(super) struct Message<const N: usize> {
    hdr: ib_uverbs_ioctl_hdr,
    attrs: [ib_uverbs_attr; N],
}

impl<const N: usize> Message<N> {
    pub(super) fn new(object: u16, method: u16) -> Message<N> {
        let mut hdr = ib_uverbs_ioctl_hdr::zeroed();
        hdr.object_id = object;
        hdr.method_id = method;
        Message { hdr, attrs: [ib_uverbs_attr::zeroed(); N] }
    }

    /// Object and method.
    pub(super) fn method(&self) -> (u16, u16) {
        (self.hdr.object_id, self.hdr.method_id)
    }

    /// Appends an attribute; false when there is no room.
    #[must_use]
    pub(super) fn push(&mut self, attr: ib_uverbs_attr) -> bool {
        let place = self.attrs.get_mut(usize::from(self.hdr.num_attrs));
        let fits = place.map(|place| *place = attr).is_some();
        self.hdr.num_attrs += u16::from(fits);
        fits
    }

    pub(super) fn attrs(&self) -> &[ib_uverbs_attr] {
        &self.attrs[..usize::from(self.hdr.num_attrs)]
    }

    pub(super) fn attrs_mut(&mut self) -> &mut [ib_uverbs_attr] {
        &mut self.attrs[..usize::from(self.hdr.num_attrs)]
    }

    /// Forgets all attributes but the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.hdr.num_attrs = self.hdr.num_attrs.min(u16::try_from(count).unwrap_or(u16::MAX));
    }

    /// Sends the message; the kernel updates the attributes.
    ///
    /// # Safety
    ///
    /// Each attribute must be valid for what the method does with it.
    pub(super) unsafe fn send(&mut self, fd: c_int, driver_id: u32) -> Result<()> {
        const { assert!(N <= MAX_ATTRS, "the kernel takes no more") };
        let length = size_of::<ib_uverbs_ioctl_hdr>() + size_of_val(self.attrs());
        self.hdr.length = length as u16;
        self.hdr.driver_id = driver_id;
        // The pointer is made from the whole message: the kernel reads past the header.
        let message = (&raw mut *self).cast();
        // SAFETY: the caller's promise; the attributes follow the header without a gap.
        if unsafe { syscall::ioctl(fd, message) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }
}

/// The attributes as "id(length)", for messages.
pub(super) struct ShowAttrs<'a>(pub(super) &'a [ib_uverbs_attr]);

impl fmt::Display for ShowAttrs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|attr| write!(f, " {}({})", attr.attr_id, attr.len))
    }
}
