//! Objects of the old interface around a test provider.

use core::ptr;

use crate::abi::*;
use crate::compat::{context, device};
use crate::verbs::testing::Fake;

/// An open context.
pub(super) struct Old {
    device: *mut ibv_device_1_0,
    context: *mut ibv_context_1_0,
}

impl Old {
    /// Opens the device of a test provider.
    pub(super) fn new(fake: &Fake) -> Old {
        let device = device::new_device(fake.device().cast()).unwrap();
        // SAFETY: the device is live.
        let context = unsafe { context::open(device, |_| fake.context()) }.unwrap();
        Old { device, context }
    }

    pub(super) fn device(&self) -> *mut ibv_device_1_0 {
        self.device
    }

    pub(super) fn context(&self) -> *mut ibv_context_1_0 {
        self.context
    }

    /// A PD of this context.
    pub(super) fn pd(&self, real: &mut ibv_pd) -> ibv_pd_1_0 {
        ibv_pd_1_0 { context: self.context, handle: real.handle, real_pd: real }
    }

    /// A QP of this context.
    pub(super) fn qp(&self, real: &mut ibv_qp) -> ibv_qp_1_0 {
        ibv_qp_1_0 { context: self.context, real_qp: real, ..ibv_qp_1_0::zeroed() }
    }

    /// A CQ of this context.
    pub(super) fn cq(&self, real: &mut ibv_cq) -> ibv_cq_1_0 {
        ibv_cq_1_0 { context: self.context, real_cq: real, ..ibv_cq_1_0::zeroed() }
    }

    /// An SRQ of this context.
    pub(super) fn srq(&self, real: &mut ibv_srq) -> ibv_srq_1_0 {
        ibv_srq_1_0 { context: self.context, real_srq: real, ..ibv_srq_1_0::zeroed() }
    }
}

impl Drop for Old {
    fn drop(&mut self) {
        // SAFETY: both are used no more.
        unsafe {
            assert_eq!(context::close(ptr::from_mut(&mut *self.context), |_| 0), 0);
            device::put(self.device);
        }
    }
}
