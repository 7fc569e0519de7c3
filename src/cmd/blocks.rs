//! Command blocks of a provider: `struct ibv_command_buffer` with attributes behind it, chained
//! through `next` (`cmd_ioctl.h`).

use core::marker::PhantomData;
use core::ptr;

use crate::abi::*;
use crate::cmd::buffers::{Bytes, ProviderBytes};
use crate::cmd::message::attr_in;
use crate::uapi::*;

// The bits of `ibv_command_buffer::flags`, which are bit fields in C.
/// An attribute was too long.
const BUFFER_ERROR: u8 = 1 << 0;
/// Without the ioctl only the extended write command will do.
const FALLBACK_REQUIRE_EX: u8 = 1 << 1;
/// Without the ioctl nothing will do.
const FALLBACK_IOCTL_ONLY: u8 = 1 << 2;

/// A chain of blocks that belongs to the caller of a command for `'a`; may be empty.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    first: *mut ibv_command_buffer,
    lifetime: PhantomData<&'a mut ibv_command_buffer>,
}

impl<'a> Blocks<'a> {
    /// No block.
    pub(crate) const NONE: Blocks<'static> =
        Blocks { first: ptr::null_mut(), lifetime: PhantomData };

    /// The chain that starts at `first`, which may be NULL.
    ///
    /// # Safety
    ///
    /// The blocks must be initialized as the inline functions of `cmd_ioctl.h` do it, and nobody
    /// else may use them for `'a`.
    pub(crate) unsafe fn new(first: *mut ibv_command_buffer) -> Blocks<'a> {
        Blocks { first, lifetime: PhantomData }
    }

    fn iter(self) -> impl Iterator<Item = Block> {
        // SAFETY: each block is valid, and so is its link to the next one.
        let next = |block: &*mut ibv_command_buffer| unsafe { (**block).next };
        let valid = |block: *mut ibv_command_buffer| (!block.is_null()).then_some(block);
        core::iter::successors(valid(self.first), move |block| valid(next(block))).map(Block)
    }

    /// The number of attributes in all blocks.
    pub(super) fn attr_count(self) -> usize {
        self.iter().map(|block| block.attr_count()).sum()
    }

    /// Whether an attribute of a block was longer than an attribute can be.
    pub(super) fn has_buffer_error(self) -> bool {
        self.iter().any(|block| block.flags() & BUFFER_ERROR != 0)
    }

    /// Object and method of the first block that is for another one than this.
    pub(super) fn of_other_method(self, object: u16, method: u16) -> Option<(u16, u16)> {
        self.iter().map(|block| block.method()).find(|other| *other != (object, method))
    }

    /// Copies the attributes of all blocks, in chain order.
    pub(super) fn gather(self, mut take: impl FnMut(ib_uverbs_attr)) {
        for block in self.iter() {
            for index in 0..block.attr_count() {
                let attr = block.attr(index);
                let pending = index == usize::from(block.uhw_in_index());
                take(if pending { inlined(attr) } else { attr });
            }
        }
    }

    /// Stores what the kernel made of the attributes, which come in the order of [`Self::gather`].
    pub(super) fn scatter(self, mut attrs: impl Iterator<Item = ib_uverbs_attr>) {
        for block in self.iter() {
            for index in 0..block.attr_count() {
                if let Some(attr) = attrs.next() {
                    block.set_attr(index, attr);
                }
            }
        }
    }

    /// Whether a block has an attribute that a write command cannot carry, or asks for the ioctl.
    pub(super) fn need_ioctl(self) -> bool {
        self.iter().any(|block| {
            block.flags() & FALLBACK_IOCTL_ONLY != 0
                || (0..block.attr_count()).map(|index| block.attr(index)).any(|attr| {
                    attr.flags & UVERBS_ATTR_F_MANDATORY != 0
                        && !matches!(attr.attr_id, UVERBS_ATTR_UHW_IN | UVERBS_ATTR_UHW_OUT)
                })
        })
    }

    /// Whether a block asks for the extended write command.
    pub(super) fn need_extended_write(self) -> bool {
        self.iter().any(|block| block.flags() & FALLBACK_REQUIRE_EX != 0)
    }

    /// The provider bytes that the blocks carry as attributes.
    pub(super) fn provider_bytes(self) -> ProviderBytes<'a> {
        let mut bytes = ProviderBytes::NONE;
        for block in self.iter() {
            // SAFETY: the block is valid.
            let (in_words, out_words) =
                unsafe { ((*block.0).uhw_in_headroom_dwords, (*block.0).uhw_out_headroom_dwords) };
            bytes.input = bytes.input.or(block.bytes(block.uhw_in_index(), in_words));
            bytes.output = bytes.output.or(block.bytes(block.uhw_out_index(), out_words));
        }
        bytes
    }
}

/// The attribute with its bytes in the data field if they fit: until the ioctl, the data field of
/// `UVERBS_ATTR_UHW_IN` points to the bytes, whatever their number.
fn inlined(attr: ib_uverbs_attr) -> ib_uverbs_attr {
    let bytes = ptr::with_exposed_provenance(attr.data as usize);
    let inlined = attr_in(attr.attr_id, bytes, usize::from(attr.len)).unwrap_or(attr);
    ib_uverbs_attr { flags: attr.flags, attr_data: attr.attr_data, ..inlined }
}

/// One block; never NULL.
struct Block(*mut ibv_command_buffer);

impl Block {
    fn attrs(&self) -> *mut ib_uverbs_attr {
        // SAFETY: the block is valid, its attributes follow its header.
        unsafe { (&raw mut (*self.0).hdr.attrs).cast() }
    }

    fn attr_count(&self) -> usize {
        // SAFETY: the block is valid.
        let end = unsafe { (*self.0).next_attr };
        end.addr().saturating_sub(self.attrs().addr()) / size_of::<ib_uverbs_attr>()
    }

    fn attr(&self, index: usize) -> ib_uverbs_attr {
        // SAFETY: the caller counts up to `attr_count`, so the attribute is initialized.
        unsafe { self.attrs().add(index).read() }
    }

    fn set_attr(&self, index: usize, attr: ib_uverbs_attr) {
        // SAFETY: as for `attr`; the block is ours while the command runs.
        unsafe { self.attrs().add(index).write(attr) }
    }

    fn flags(&self) -> u8 {
        // SAFETY: the block is valid.
        unsafe { (*self.0).flags }
    }

    fn method(&self) -> (u16, u16) {
        // SAFETY: the block is valid.
        unsafe { ((*self.0).hdr.object_id, (*self.0).hdr.method_id) }
    }

    fn uhw_in_index(&self) -> u8 {
        // SAFETY: the block is valid.
        unsafe { (*self.0).uhw_in_idx }
    }

    fn uhw_out_index(&self) -> u8 {
        // SAFETY: the block is valid.
        unsafe { (*self.0).uhw_out_idx }
    }

    /// The bytes behind an attribute, with so many 4-byte words of head-room in front of them.
    fn bytes(&self, index: u8, headroom_words: u8) -> Option<Bytes> {
        let index = usize::from(index);
        (index < self.attr_count()).then(|| {
            let attr = self.attr(index);
            Bytes {
                start: ptr::with_exposed_provenance_mut(attr.data as usize),
                len: usize::from(attr.len),
                headroom: usize::from(headroom_words) * 4,
            }
        })
    }
}
