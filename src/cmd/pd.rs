//! Protection domains.

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, destroy, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Allocates a PD: fills in `handle` and `context`. `ibv_alloc_pd(3)`, `driver.h: ibv_cmd_alloc_pd`
pub(super) unsafe extern "C" fn ibv_cmd_alloc_pd(
    context: *mut ibv_context,
    pd: *mut ibv_pd,
    cmd: *mut ibv_alloc_pd,
    cmd_size: usize,
    resp: *mut ib_uverbs_alloc_pd_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, its new PD and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        alloc_pd(Kernel::of(context), &mut *pd, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_alloc_pd);

fn alloc_pd(kernel: Kernel<'_>, pd: &mut ibv_pd, buffers: Buffers<'_>) -> Result<()> {
    let response = kernel.write(ib_uverbs_alloc_pd::zeroed(), buffers)?;
    pd.handle = response.pd_handle;
    pd.context = kernel.context();
    Ok(())
}

/// Frees a PD. `ibv_dealloc_pd(3)`, `driver.h: ibv_cmd_dealloc_pd`
pub(super) unsafe extern "C" fn ibv_cmd_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the provider passes its PD.
    let (kernel, handle) = unsafe { (Kernel::of((*pd).context), (*pd).handle) };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY),
        UVERBS_ATTR_DESTROY_PD_HANDLE,
        handle,
        op_index!(dealloc_pd),
        ib_uverbs_dealloc_pd { pd_handle: handle },
    )
    .or_number()
}
export_private!(ibv_cmd_dealloc_pd);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
    use crate::sys::errno::Errno;

    fn alloc(context: &TestContext, pd: &mut ibv_pd) -> c_int {
        let mut cmd = ibv_alloc_pd::zeroed();
        let mut resp = ib_uverbs_alloc_pd_resp::zeroed();
        let sizes = (size_of_val(&cmd), size_of_val(&resp));
        // SAFETY: all objects and buffers are valid.
        unsafe { ibv_cmd_alloc_pd(context.get(), pd, &mut cmd, sizes.0, &mut resp, sizes.1) }
    }

    #[test]
    fn a_pd_gets_its_handle_and_context() {
        for form in [Form::Write, Form::InvokeWrite] {
            let context = TestContext::new(form);
            fake::answer(|call| {
                call.respond(&ib_uverbs_alloc_pd_resp { pd_handle: 12, driver_data: [] });
                Reply::Done
            });
            let mut pd = ibv_pd::zeroed();
            assert_eq!(alloc(&context, &mut pd), 0);
            assert_eq!((pd.handle, pd.context), (12, context.get()));
        }
    }

    #[test]
    fn a_failure_leaves_the_pd_and_sets_errno() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::ENOMEM));
        let mut pd = ibv_pd { context: core::ptr::null_mut(), handle: 5 };
        assert_eq!(alloc(&context, &mut pd), libc::ENOMEM);
        assert_eq!(Errno::last(), Errno::ENOMEM);
        assert!(pd.context.is_null() && pd.handle == 5);
    }

    #[test]
    fn destroying_reports_busy_and_forgives_a_device_that_is_gone() {
        let context = TestContext::new(Form::Write);
        let mut pd = ibv_pd { context: context.get(), handle: 5 };
        let mut dealloc = |errno| {
            fake::answer(move |call| match call {
                Call::Ioctl(ioctl) => {
                    assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_PD_HANDLE), Some(5));
                    Reply::Fail(errno)
                }
                Call::Write(_) => panic!("no reason to write"),
            });
            // SAFETY: the PD is valid.
            unsafe { ibv_cmd_dealloc_pd(&mut pd) }
        };
        assert_eq!(dealloc(libc::EBUSY), libc::EBUSY);
        assert_eq!(dealloc(libc::EIO), libc::EIO);
        fake::set_allow_disassociate_destroy(true);
        assert_eq!(dealloc(libc::EIO), 0);
        assert_eq!(dealloc(libc::EBUSY), libc::EBUSY);
    }

    #[test]
    fn a_write_command_forgives_a_device_that_is_gone_too() {
        for form in [Form::Write, Form::InvokeWrite] {
            let context = TestContext::new(form);
            let mut pd = ibv_pd { context: context.get(), handle: 5 };
            fake::answer(|call| match call.write_command() {
                None => Reply::Fail(libc::EPROTONOSUPPORT),
                Some(command) => {
                    assert_eq!(command, IB_USER_VERBS_CMD_DEALLOC_PD);
                    assert_eq!(call.request::<ib_uverbs_dealloc_pd>().pd_handle, 5);
                    Reply::Fail(libc::EIO)
                }
            });
            fake::set_allow_disassociate_destroy(false);
            // SAFETY: the PD is valid.
            assert_eq!(unsafe { ibv_cmd_dealloc_pd(&mut pd) }, libc::EIO);
            fake::set_allow_disassociate_destroy(true);
            // SAFETY: the PD is valid.
            assert_eq!(unsafe { ibv_cmd_dealloc_pd(&mut pd) }, 0);
        }
    }
}
