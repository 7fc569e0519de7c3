//! Netlink messages and attributes (netlink(7)): building requests, reading what the kernel sent.
//!
//! Pure functions on bytes. Reading never panics, never reads outside of its input and always
//! ends, whatever the bytes are.

/// Bytes of `struct nlmsghdr`.
const MESSAGE_HEADER: usize = 16;
/// Bytes of `struct nlattr`.
const ATTRIBUTE_HEADER: usize = 4;
/// Bits of an attribute's type that are flags: `NLA_F_NESTED`, `NLA_F_NET_BYTEORDER`.
const ATTRIBUTE_FLAGS: u16 = 0xc000;

/// Messages and attributes start at multiples of four bytes.
const fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// The bytes at an offset, if there are that many.
fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// A `u16` in host order at an offset of foreign bytes, for the fixed headers of families.
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes_at(bytes, offset).map(u16::from_ne_bytes)
}

/// A `u32` in host order at an offset of foreign bytes, for the fixed headers of families.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes_at(bytes, offset).map(u32::from_ne_bytes)
}

/// A request that grows part by part: the header, the fixed header of the family if it has one,
/// then attributes.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    /// A part did not fit the 16-bit length of an attribute or the 32-bit one of the message.
    too_long: bool,
}

impl Request {
    /// A request of a message type, with `NLM_F_REQUEST` and further flags (`NLM_F_DUMP`).
    pub(crate) fn new(kind: u16, flags: u16) -> Request {
        let mut bytes = vec![0; MESSAGE_HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(flags | libc::NLM_F_REQUEST as u16).to_ne_bytes());
        Request { bytes, too_long: false }
    }

    /// Adds the fixed header of the family (`struct rtmsg`, `struct ndmsg`, ...).
    pub(crate) fn fixed(mut self, header: &[u8]) -> Request {
        self.bytes.extend_from_slice(header);
        self.bytes.resize(aligned(self.bytes.len()), 0);
        self
    }

    /// Adds an attribute.
    pub(crate) fn attribute(mut self, kind: u16, value: &[u8]) -> Request {
        let Ok(length) = u16::try_from(ATTRIBUTE_HEADER.saturating_add(value.len())) else {
            self.too_long = true;
            return self;
        };
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.resize(aligned(self.bytes.len()), 0);
        self
    }

    /// Adds an attribute that is a `u32` in host order.
    pub(crate) fn attribute_u32(self, kind: u16, value: u32) -> Request {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// Adds an attribute that is a C string.
    pub(crate) fn attribute_text(self, kind: u16, text: &core::ffi::CStr) -> Request {
        self.attribute(kind, text.to_bytes_with_nul())
    }

    /// Whether this asks for a dump: many messages, closed by `NLMSG_DONE`.
    pub(crate) fn is_dump(&self) -> bool {
        u16_at(&self.bytes, 6).is_some_and(|flags| {
            let dump = libc::NLM_F_DUMP as u16;
            flags & dump == dump
        })
    }

    /// The bytes to send under a sequence number, or nothing if a part was too long.
    pub(crate) fn finish(&mut self, sequence: u32) -> Option<&[u8]> {
        let length = u32::try_from(self.bytes.len()).ok().filter(|_| !self.too_long)?;
        self.bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        Some(&self.bytes)
    }
}

/// A message whose length does not fit into what was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

/// What a message is, apart from data of its family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Data: a message of the family's own type.
    Data,
    /// To be ignored (`NLMSG_NOOP` and the unused control types).
    Nothing,
    /// The end of a dump, with 0 or the positive error number that cut it short.
    Done(i32),
    /// An acknowledgement (0) or the positive error number of a request (`NLMSG_ERROR`).
    Status(i32),
    /// Messages were lost (`NLMSG_OVERRUN`).
    Overrun,
}

/// One message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// `nlmsg_type`.
    pub(crate) kind: u16,
    /// `nlmsg_flags`.
    pub(crate) flags: u16,
    /// `nlmsg_seq`: that of the request which it answers, 0 for a notification.
    pub(crate) sequence: u32,
    /// What follows the header.
    pub(crate) payload: &'a [u8],
    /// Header and payload.
    bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// What the message is. Types below `NLMSG_MIN_TYPE` belong to netlink itself.
    pub(crate) fn kind(&self) -> Kind {
        // Both carry a negative error number; a Done of old kernels may lack it.
        let error = || {
            let number = u32_at(self.payload, 0).map(|bits| bits as i32);
            number.map(|number| number.checked_neg().filter(|n| *n >= 0).unwrap_or(libc::EPROTO))
        };
        match i32::from(self.kind) {
            libc::NLMSG_ERROR => Kind::Status(error().unwrap_or(libc::EPROTO)),
            libc::NLMSG_DONE => Kind::Done(error().unwrap_or(0)),
            libc::NLMSG_OVERRUN => Kind::Overrun,
            kind if kind < libc::NLMSG_MIN_TYPE => Kind::Nothing,
            _ => Kind::Data,
        }
    }

    /// The attributes that follow the family's fixed header of so many bytes (0: there is none).
    pub(crate) fn attributes(&self, fixed: usize) -> Attributes<'a> {
        Attributes::new(self.payload.get(aligned(fixed)..).unwrap_or_default())
    }

    /// The message as it was received, header included.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// The messages in what one receive call gave; ends after the first malformed one.
#[derive(Clone, Debug)]
pub(crate) struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Messages<'a> {
        Messages { rest: bytes }
    }

    fn split_first(bytes: &'a [u8]) -> Option<(Message<'a>, &'a [u8])> {
        let length = usize::try_from(u32_at(bytes, 0)?).ok()?;
        let whole = bytes.get(..length)?;
        let message = Message {
            kind: u16_at(whole, 4)?,
            flags: u16_at(whole, 6)?,
            sequence: u32_at(whole, 8)?,
            payload: whole.get(MESSAGE_HEADER..)?,
            bytes: whole,
        };
        // The padding after the last message may be missing.
        Some((message, bytes.get(aligned(length)..).unwrap_or_default()))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match Self::split_first(self.rest) {
            Some((message, rest)) => {
                self.rest = rest;
                Some(Ok(message))
            }
            None => {
                self.rest = &[];
                Some(Err(Malformed))
            }
        }
    }
}

/// One attribute. The readers give nothing when the value is too short for what is asked; a longer
/// one is read from its start, as the kernel's own policies allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Attribute<'a> {
    /// `nla_type` without its flags.
    pub(crate) kind: u16,
    /// What follows the header, without padding.
    pub(crate) value: &'a [u8],
}

impl<'a> Attribute<'a> {
    pub(crate) fn u8(&self) -> Option<u8> {
        self.value.first().copied()
    }

    pub(crate) fn u16(&self) -> Option<u16> {
        u16_at(self.value, 0)
    }

    pub(crate) fn u32(&self) -> Option<u32> {
        u32_at(self.value, 0)
    }

    pub(crate) fn u64(&self) -> Option<u64> {
        bytes_at(self.value, 0).map(u64::from_ne_bytes)
    }

    /// A C string without its NUL; nothing when there is no NUL.
    pub(crate) fn text(&self) -> Option<&'a [u8]> {
        let end = self.value.iter().position(|byte| *byte == 0)?;
        self.value.get(..end)
    }

    /// The attributes inside.
    pub(crate) fn nested(&self) -> Attributes<'a> {
        Attributes::new(self.value)
    }
}

/// A run of attributes; ends at the first one whose length does not fit.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Attributes<'a> {
        Attributes { rest: bytes }
    }

    /// The last attribute of a type, which is the one that counts.
    pub(crate) fn find_kind(&self, kind: u16) -> Option<Attribute<'a>> {
        self.clone().filter(|attribute| attribute.kind == kind).last()
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let bytes = core::mem::take(&mut self.rest);
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)? & !ATTRIBUTE_FLAGS;
        let value = bytes.get(ATTRIBUTE_HEADER..length)?;
        self.rest = bytes.get(aligned(length)..).unwrap_or_default();
        Some(Attribute { kind, value })
    }
}
