//! What the library keeps per context, behind `verbs_context.priv`.

use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::mem::offset_of;

use crate::abi::*;
use crate::provider_api::private_abi::Layout;

/// Place of an operation in the table of the newest private ABI; also its bit in the memory of
/// which ioctl methods the kernel lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OpIndex(usize);

impl OpIndex {
    /// Use [`op_index!`](crate::provider_api::op_index).
    pub(crate) const fn from_offset(offset: usize) -> OpIndex {
        OpIndex(offset / size_of::<usize>())
    }

    pub(crate) const fn get(self) -> usize {
        self.0
    }
}

/// `op_index!(create_cq)`: the [`OpIndex`] of an operation of `struct verbs_context_ops`.
macro_rules! op_index {
    ($op:ident) => {
        $crate::provider_api::OpIndex::from_offset(core::mem::offset_of!(
            $crate::abi::verbs_context_ops,
            $op
        ))
    };
}
pub(crate) use op_index;

/// The private part of a context. A provider never looks inside.
pub(crate) struct ContextPrivate {
    /// Every operation, never NULL: the provider's or the default one.
    pub(crate) ops: verbs_context_ops,
    /// How the provider's structs are laid out: of this context and of every object in it.
    pub(crate) layout: &'static Layout,
    /// `enum rdma_driver_id` that the provider named; goes into each ioctl's header.
    pub(crate) driver_id: u32,
    /// Write commands go through the ioctl `INVOKE_WRITE`; else through write(2).
    pub(crate) write_by_ioctl: bool,
    /// Came from `ibv_import_device`.
    imported: AtomicBool,
    /// A bit per [`OpIndex`]: the kernel has no ioctl method for it.
    without_ioctl: [AtomicU64; 2],
}

const _: () = assert!(size_of::<verbs_context_ops>() / size_of::<usize>() <= 128);

impl ContextPrivate {
    pub(crate) fn new(
        ops: verbs_context_ops,
        layout: &'static Layout,
        driver_id: u32,
        write_by_ioctl: bool,
    ) -> ContextPrivate {
        ContextPrivate {
            ops,
            layout,
            driver_id,
            write_by_ioctl,
            imported: AtomicBool::new(false),
            without_ioctl: [const { AtomicU64::new(0) }; 2],
        }
    }

    /// Whether the kernel is known to lack the ioctl of this operation.
    pub(crate) fn lacks_ioctl(&self, op: OpIndex) -> bool {
        self.without_ioctl[op.0 / 64].load(Ordering::Relaxed) >> (op.0 % 64) & 1 == 1
    }

    /// Remembers that the kernel lacks the ioctl of this operation.
    pub(crate) fn note_lack_of_ioctl(&self, op: OpIndex) {
        self.without_ioctl[op.0 / 64].fetch_or(1 << (op.0 % 64), Ordering::Relaxed);
    }

    /// Remembers that the kernel has no RDMA ioctl at all.
    pub(crate) fn note_lack_of_all_ioctls(&self) {
        for word in &self.without_ioctl {
            word.store(u64::MAX, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_imported(&self) -> bool {
        self.imported.load(Ordering::Relaxed)
    }

    pub(crate) fn set_imported(&self) {
        self.imported.store(true, Ordering::Relaxed);
    }
}

/// The extended context around a public one, as programs that are built for the newest header reach
/// it. Not to be dereferenced, because the memory of an older provider's context begins later.
pub(crate) fn extended(context: *mut ibv_context) -> *mut verbs_context {
    context.wrapping_byte_sub(offset_of!(verbs_context, context)).cast()
}

/// Address of the member at `offset` of the extended context; `_member` gives its type.
pub(crate) fn member_at<T>(
    context: *const ibv_context,
    offset: usize,
    _member: fn(&verbs_context) -> &T,
) -> *mut T {
    let distance = offset_of!(verbs_context, context) - offset;
    context.cast_mut().wrapping_byte_sub(distance).cast()
}

/// `member!(context, priv_)`: address of a member of the extended context around a public one.
///
/// `verbs_context` grows at its front, and a provider allocates what its release knows: the member
/// must be one that the context has.
macro_rules! member {
    ($context:expr, $member:ident) => {
        $crate::provider_api::member_at(
            $context,
            core::mem::offset_of!($crate::abi::verbs_context, $member),
            |extended| &extended.$member,
        )
    };
}
pub(crate) use member;

/// The private part of a context.
///
/// # Safety
///
/// `context` must be a context that `_verbs_init_and_alloc_context` set up and that is not closed
/// while the result is in use.
pub(crate) unsafe fn private<'a>(context: *const ibv_context) -> &'a ContextPrivate {
    // SAFETY: the caller's promise; `priv` is a ContextPrivate from set-up to uninit.
    unsafe { &*member!(context, priv_).read().cast::<ContextPrivate>() }
}

/// The table of operations of a context.
///
/// # Safety
///
/// As for [`private`].
pub(crate) unsafe fn ops<'a>(context: *const ibv_context) -> &'a verbs_context_ops {
    // SAFETY: the caller's promise.
    &unsafe { private(context) }.ops
}

/// `call_op!(context, query_qp(qp, attr, mask, init))` calls an operation of the context's table.
///
/// Every slot of the table is filled, so a missing one can only be memory corruption; the caller
/// gets EOPNOTSUPP through the default table then.
macro_rules! call_op {
    ($context:expr, $op:ident($($arg:expr),* $(,)?)) => {
        $crate::provider_api::ops($context)
            .$op
            .unwrap_or($crate::provider_api::DEFAULT_OPS.$op.unwrap())($($arg),*)
    };
}
pub(crate) use call_op;
