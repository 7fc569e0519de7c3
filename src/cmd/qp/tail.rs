//! The end of a provider's QP, behind the extended QP.

use core::mem::offset_of;

use crate::abi::*;
use crate::provider_api::private;
use crate::provider_api::private_abi::Layout;

/// Where a provider's QP has the two members behind the extended QP, whose size is not the same in
/// all layouts.
pub(super) struct Tail {
    comp_mask: *mut u32,
    xrcd: *mut *mut verbs_xrcd,
}

impl Tail {
    /// Offset of `xrcd` from the begin of the tail.
    pub(super) const XRCD: usize = offset_of!(verbs_qp, xrcd) - offset_of!(verbs_qp, comp_mask);

    /// The tail of a QP of this layout.
    pub(super) fn of(qp: *mut verbs_qp, layout: &Layout) -> Tail {
        let comp_mask = qp.wrapping_byte_add(layout.qp_tail);
        Tail { comp_mask: comp_mask.cast(), xrcd: comp_mask.wrapping_byte_add(Tail::XRCD).cast() }
    }

    /// Stores whether the QP belongs to an XRC domain, and to which.
    ///
    /// # Safety
    ///
    /// The QP must be a provider's new one, with room for `xrcd` if there is one.
    pub(super) unsafe fn store(&self, xrcd: Option<*mut verbs_xrcd>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.comp_mask.write(if xrcd.is_some() { VERBS_QP_XRCD } else { 0 });
            if let Some(xrcd) = xrcd {
                self.xrcd.write(xrcd);
            }
        }
    }
}

/// The bits of `verbs_qp_mask` of a provider's QP.
///
/// # Safety
///
/// `qp` must be a QP of an open context.
pub(crate) unsafe fn comp_mask(qp: *mut ibv_qp) -> u32 {
    // SAFETY: the caller's promise; a QP is the begin of its provider's.
    unsafe { Tail::of(qp.cast(), private((*qp).context).layout).comp_mask.read() }
}
