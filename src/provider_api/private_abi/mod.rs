//! The private ABIs: what plugins of other rdma-core releases expect of the library.
//!
//! A plugin is built for one private ABI, whose number is in its file name (`librxe-rdmav34.so`)
//! and in the version node of the functions that it calls (`IBVERBS_PRIVATE_34`). The rest of the
//! library is written for the newest one. A file per private ABI holds what differs from it: the
//! [`Layout`] of the structs that plugins allocate, the symbol that plugins register with, and
//! entries for the functions whose prototype is another.

use core::mem::{offset_of, transmute};
use core::ops::RangeInclusive;
use core::ptr;

use crate::abi::*;
use crate::provider_api::{OpIndex, member, op_index};

/// Releases of rdma-core whose plugins agree with the library in every struct and prototype. A
/// private ABI can have several: its number was not always changed with its structs.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The private ABI.
    pub(crate) private_abi: u32,
    /// The releases of rdma-core: 45..=48 for 45.0 to 48.x.
    pub(crate) releases: RangeInclusive<u32>,
    /// Offset of `verbs_context::context` in bytes. The struct grows at its front, so this is also
    /// how many bytes of slots may be touched before the public context.
    pub(crate) context_offset: usize,
    /// Offset of `verbs_qp::comp_mask` in bytes; `xrcd` is 8 bytes behind it.
    pub(crate) qp_tail: usize,
    /// Size of `ibv_port_attr` in bytes.
    pub(crate) port_attr_size: usize,
    /// `ibv_cmd_reg_dmabuf_mr` has its last argument, `driver`.
    pub(crate) dmabuf_mr_has_driver: bool,
}

/// The operations that the first release served does not have, and the release that added each. A
/// table of operations is in alphabetical order in every release.
const ADDED_OPS: &[(u32, OpIndex)] = &[
    (59, op_index!(alloc_dmah)),
    (59, op_index!(dealloc_dmah)),
    (59, op_index!(reg_mr_ex)),
    (62, op_index!(dm_export_dmabuf_fd)),
    (62, op_index!(query_port_speed)),
    (64, op_index!(alloc_buf)),
    (64, op_index!(free_buf)),
    (65, op_index!(create_comp_cntr)),
    (65, op_index!(destroy_comp_cntr)),
    (65, op_index!(inc_comp_cntr)),
    (65, op_index!(inc_err_comp_cntr)),
    (65, op_index!(qp_attach_comp_cntr)),
    (65, op_index!(query_comp_cntr_caps)),
    (65, op_index!(read_comp_cntr)),
    (65, op_index!(read_err_comp_cntr)),
    (65, op_index!(set_comp_cntr)),
    (65, op_index!(set_err_comp_cntr)),
];

/// The list of private ABIs. A new one is a file, its name here and a line in
/// [`export_private`](crate::abi::export::export_private).
macro_rules! private_abis {
    ($($version:ident)*) => {
        $(pub(super) mod $version;)*

        /// The private ABIs that the library serves, newest first.
        pub(crate) const PRIVATE_ABIS: [u32; [$(stringify!($version)),*].len()] =
            [$($version::LAYOUTS[0].private_abi),*];

        /// The layouts of each, by release.
        const LAYOUTS: &[&[Layout]] = &[$($version::LAYOUTS),*];
    };
}
private_abis! { v65 v64 v59 v57 v34 }

/// The layout of the newest private ABI.
pub(crate) const NEWEST: &Layout = &LAYOUTS[0][LAYOUTS[0].len() - 1];

/// The layouts of a private ABI, oldest release first; none for one that the library does not
/// serve.
pub(crate) fn layouts_of(private_abi: u32) -> impl Iterator<Item = &'static Layout> {
    LAYOUTS.iter().copied().flatten().filter(move |layout| layout.private_abi == private_abi)
}

/// The layout that plugins of a release have.
pub(crate) fn layout(private_abi: u32, release: u32) -> Option<&'static Layout> {
    layouts_of(private_abi).find(|layout| layout.releases.contains(&release))
}

// The newest is what the types say.
const _: () = {
    assert!(NEWEST.context_offset == offset_of!(verbs_context, context));
    assert!(NEWEST.qp_tail == offset_of!(verbs_qp, comp_mask));
    assert!(NEWEST.port_attr_size == size_of::<ibv_port_attr>());
};

impl Layout {
    /// Size of `verbs_context` in bytes.
    pub(crate) const fn context_size(&self) -> usize {
        self.context_offset + size_of::<ibv_context>()
    }

    /// Whether `verbs_context` has the slot that is at `offset` in the newest one.
    pub(crate) const fn has_slot(&self, offset: usize) -> bool {
        offset + self.context_offset >= NEWEST.context_offset
    }

    /// Whether `verbs_context_ops` has an operation of the newest one.
    fn has_op(&self, index: usize) -> bool {
        let oldest = *self.releases.start();
        ADDED_OPS.iter().all(|(since, op)| *since <= oldest || op.get() != index)
    }

    /// A table of operations of this layout as one of the newest.
    ///
    /// # Safety
    ///
    /// `given` must point to a `verbs_context_ops` of this layout.
    pub(crate) unsafe fn newest_ops(&self, given: *const verbs_context_ops) -> verbs_context_ops {
        let mut ops: Ops = [None; OPS];
        let mut next = given.cast::<Option<unsafe extern "C" fn()>>();
        for (index, op) in ops.iter_mut().enumerate() {
            if self.has_op(index) {
                // SAFETY: the caller's promise: a pointer for each operation that there is.
                unsafe {
                    *op = next.read();
                    next = next.add(1);
                }
            }
        }
        // SAFETY: the struct is these pointers; each is of the type of its member again.
        unsafe { transmute::<Ops, verbs_context_ops>(ops) }
    }
}

/// Number of operations of the newest private ABI.
const OPS: usize = size_of::<verbs_context_ops>() / size_of::<usize>();

/// `verbs_context_ops` without the types of its members.
type Ops = [Option<unsafe extern "C" fn()>; OPS];

/// The public context in a provider's `verbs_context`. Where it is depends on the size, which the
/// library has stored before it, if the layouts of the private ABI do not agree.
///
/// # Safety
///
/// `context` must be a set-up context of a provider of private ABI `ABI`.
pub(crate) unsafe fn public_context<const ABI: u32>(
    context: *mut verbs_context,
) -> *mut ibv_context {
    let public = |layout: &Layout| context.wrapping_byte_add(layout.context_offset).cast();
    let is_it = |layout: &&Layout| {
        // SAFETY: the caller's promise. The struct grows with time, and the oldest is tried first:
        // what it is asked for lies within it.
        unsafe { member!(public(layout), sz).read() == layout.context_size() }
    };
    layouts_of(ABI).find(is_it).or_else(|| layouts_of(ABI).last()).map_or(ptr::null_mut(), public)
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
