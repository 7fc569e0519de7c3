//! The private ABIs: what plugins of other rdma-core releases expect of the library.
//!
//! A plugin is built for one private ABI, whose number is in its file name (`librxe-rdmav34.so`)
//! and in the version node of the functions that it calls (`IBVERBS_PRIVATE_34`). The rest of the
//! library is written for the newest one. A file per private ABI holds what differs from it: the
//! [`Layout`] of the structs that plugins allocate, the symbol that plugins register with, and
//! entries for the functions whose prototype is another.

pub(super) mod v34;
pub(super) mod v57;
pub(super) mod v59;
pub(super) mod v64;
pub(super) mod v65;

use core::ops::RangeInclusive;

use crate::abi::*;
use crate::provider_api::OpIndex;

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
    /// Operations of the newest private ABI that this one's `verbs_context_ops` lacks, in the order
    /// of that table. The others are in the same order in all.
    pub(crate) absent_ops: &'static [OpIndex],
}

/// The private ABIs that the library serves, newest first.
pub(crate) const PRIVATE_ABIS: [u32; 5] = [65, 64, 59, 57, 34];

/// The layouts of each, by release.
const LAYOUTS: [&[Layout]; 5] =
    [v65::LAYOUTS, v64::LAYOUTS, v59::LAYOUTS, v57::LAYOUTS, v34::LAYOUTS];

/// The layouts of a private ABI, oldest release first; none for one that the library does not
/// serve.
pub(crate) fn layouts_of(private_abi: u32) -> impl Iterator<Item = &'static Layout> {
    LAYOUTS.into_iter().flatten().filter(move |layout| layout.private_abi == private_abi)
}

/// The layout that plugins of a release have.
pub(crate) fn layout(private_abi: u32, release: u32) -> Option<&'static Layout> {
    layouts_of(private_abi).find(|layout| layout.releases.contains(&release))
}

/// The layout of the newest private ABI.
pub(crate) const NEWEST: &Layout = &v65::LAYOUTS[0];

impl Layout {
    /// Size of `verbs_context` in bytes.
    pub(crate) const fn context_size(&self) -> usize {
        self.context_offset + size_of::<ibv_context>()
    }
}
