//! Completion counters: objects that count completions, or failed ones, of the QPs that they are
//! attached to.

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Blocks, Command, Kernel, destroy_by_ioctl, method};
use crate::log::log;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Kinds of operations that a counter can count, in both numberings, which agree.
const KNOWN_OPS: u32 = IBV_QP_ATTACH_COMP_CNTR_OP_SEND
    | IBV_QP_ATTACH_COMP_CNTR_OP_RECV
    | IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ
    | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ
    | IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE
    | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;

const _: () = assert!(
    KNOWN_OPS
        == IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND
            | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV
            | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ
            | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ
            | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE
            | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE
);

/// Queries what completion counters of the device can do. EINVAL for a struct of `caps_size` bytes
/// that is too short. `ibv_query_comp_cntr_caps(3)`, `driver.h: ibv_cmd_query_comp_cntr_caps`
pub(super) unsafe extern "C" fn ibv_cmd_query_comp_cntr_caps(
    context: *mut ibv_context,
    caps: *mut ibv_comp_cntr_caps,
    caps_size: usize,
) -> c_int {
    if caps_size < size_of::<ibv_comp_cntr_caps>() {
        log!(VERBS_LOG_ERR, "capabilities of completion counters in {caps_size} bytes");
        return Err(Errno::EINVAL).or_number();
    }
    // SAFETY: the provider passes its context and a struct of this size.
    unsafe { query_caps(Kernel::of(context)).map(|value| *caps = value) }.or_number()
}
export_private!(ibv_cmd_query_comp_cntr_caps since 65);

fn query_caps(kernel: Kernel<'_>) -> Result<ibv_comp_cntr_caps> {
    let (mut max_counters, mut max_value, mut ops) = (0, 0, 0);
    Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS))
        .output(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, &mut max_counters)
        .output(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, &mut max_value)
        .output(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, &mut ops)
        .execute(kernel)?;
    Ok(ibv_comp_cntr_caps { max_value, max_counters, supported_qp_attach_ops: ops & KNOWN_OPS })
}

/// Creates a counter: fills in `context` (before the call) and `handle`. `link` are the provider's
/// attributes, may be NULL. `ibv_create_comp_cntr(3)`, `driver.h: ibv_cmd_create_comp_cntr`
pub(super) unsafe extern "C" fn ibv_cmd_create_comp_cntr(
    context: *mut ibv_context,
    comp_cntr: *mut ibv_comp_cntr,
    link: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its context, its new counter and its blocks.
    unsafe { create(Kernel::of(context), Blocks::new(link), &mut *comp_cntr) }.or_number()
}
export_private!(ibv_cmd_create_comp_cntr since 65);

fn create(kernel: Kernel<'_>, link: Blocks<'_>, counter: &mut ibv_comp_cntr) -> Result<()> {
    counter.context = kernel.context();
    let mut handle = 0;
    Command::new(method!(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE))
        .new_object(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, &mut handle)
        .link(link)
        .execute(kernel)?;
    counter.handle = handle;
    Ok(())
}

/// Destroys a counter. `ibv_destroy_comp_cntr(3)`, `driver.h: ibv_cmd_destroy_comp_cntr`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_comp_cntr(comp_cntr: *mut ibv_comp_cntr) -> c_int {
    // SAFETY: the provider passes its counter.
    let (kernel, handle) = unsafe { (Kernel::of((*comp_cntr).context), (*comp_cntr).handle) };
    let method = method!(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY);
    destroy_by_ioctl(kernel, method, UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, handle).or_number()
}
export_private!(ibv_cmd_destroy_comp_cntr since 65);

/// # Safety
///
/// `counter` must be a live counter.
unsafe fn modify(
    counter: *const ibv_comp_cntr,
    entry: ib_uverbs_comp_cntr_entry,
    op: ib_uverbs_comp_cntr_modify_op,
    value: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    let (kernel, handle) = unsafe { (Kernel::of((*counter).context), (*counter).handle) };
    Command::new(method!(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY))
        .object(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, handle)
        .u64(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, u64::from(entry))
        .u64(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, u64::from(op))
        .u64(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, value)
        .execute(kernel)
        .or_number()
}

/// # Safety
///
/// `counter` must be a live counter, `value` writable.
unsafe fn read(
    counter: *const ibv_comp_cntr,
    entry: ib_uverbs_comp_cntr_entry,
    value: *mut u64,
) -> c_int {
    // SAFETY: the caller's promise.
    let (kernel, handle) = unsafe { (Kernel::of((*counter).context), (*counter).handle) };
    let mut current = 0;
    Command::new(method!(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ))
        .object(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, handle)
        .u64(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, u64::from(entry))
        .output(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, &mut current)
        .execute(kernel)
        // SAFETY: the caller's promise.
        .map(|()| unsafe { *value = current })
        .or_number()
}

/// Functions that change a counter's value.
macro_rules! modifiers {
    ($($(#[$doc:meta])* $name:ident = $entry:ident, $op:ident;)*) => {
        $(
            $(#[$doc])*
            pub(super) unsafe extern "C" fn $name(comp_cntr: *mut ibv_comp_cntr, value: u64) -> c_int {
                // SAFETY: the provider passes its counter.
                unsafe { modify(comp_cntr, $entry, $op, value) }
            }
            export_private!($name since 65);
        )*
    };
}

modifiers! {
    /// Sets the number of completions. `ibv_set_comp_cntr(3)`,
    /// `driver.h: ibv_cmd_set_comp_cntr`
    ibv_cmd_set_comp_cntr = IB_UVERBS_COMP_CNTR_ENTRY_COMP, IB_UVERBS_COMP_CNTR_MODIFY_OP_SET;
    /// Sets the number of failed completions. `ibv_set_err_comp_cntr(3)`,
    /// `driver.h: ibv_cmd_set_err_comp_cntr`
    ibv_cmd_set_err_comp_cntr = IB_UVERBS_COMP_CNTR_ENTRY_ERR, IB_UVERBS_COMP_CNTR_MODIFY_OP_SET;
    /// Adds to the number of completions. `ibv_inc_comp_cntr(3)`,
    /// `driver.h: ibv_cmd_inc_comp_cntr`
    ibv_cmd_inc_comp_cntr = IB_UVERBS_COMP_CNTR_ENTRY_COMP, IB_UVERBS_COMP_CNTR_MODIFY_OP_INC;
    /// Adds to the number of failed completions. `ibv_inc_err_comp_cntr(3)`,
    /// `driver.h: ibv_cmd_inc_err_comp_cntr`
    ibv_cmd_inc_err_comp_cntr = IB_UVERBS_COMP_CNTR_ENTRY_ERR, IB_UVERBS_COMP_CNTR_MODIFY_OP_INC;
}

/// Reads the number of completions. `ibv_read_comp_cntr(3)`, `driver.h: ibv_cmd_read_comp_cntr`
pub(super) unsafe extern "C" fn ibv_cmd_read_comp_cntr(
    comp_cntr: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the provider passes its counter, the program a place for the value.
    unsafe { read(comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_COMP, value) }
}
export_private!(ibv_cmd_read_comp_cntr since 65);

/// Reads the number of failed completions. `ibv_read_err_comp_cntr(3)`,
/// `driver.h: ibv_cmd_read_err_comp_cntr`
pub(super) unsafe extern "C" fn ibv_cmd_read_err_comp_cntr(
    comp_cntr: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the provider passes its counter, the program a place for the value.
    unsafe { read(comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_ERR, value) }
}
export_private!(ibv_cmd_read_err_comp_cntr since 65);

/// Attaches a counter to a QP for the kinds of operations in `attr->op_mask`; unknown ones are not
/// passed on. `ibv_qp_attach_comp_cntr(3)`, `driver.h: ibv_cmd_qp_attach_comp_cntr`
pub(super) unsafe extern "C" fn ibv_cmd_qp_attach_comp_cntr(
    qp: *mut ibv_qp,
    comp_cntr: *mut ibv_comp_cntr,
    attr: *mut ibv_qp_attach_comp_cntr_attr,
) -> c_int {
    // SAFETY: the provider passes its QP and its counter, the program the attributes.
    let (kernel, qp_handle, handle, ops) =
        unsafe { (Kernel::of((*qp).context), (*qp).handle, (*comp_cntr).handle, (*attr).op_mask) };
    Command::new(method!(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR))
        .object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, qp_handle)
        .object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, handle)
        .u32(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, ops & KNOWN_OPS)
        .execute(kernel)
        .or_number()
}
export_private!(ibv_cmd_qp_attach_comp_cntr since 65);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn capabilities_name_known_operations_only() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            ioctl.output(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, &7_u32);
            ioctl.output(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, &u64::MAX);
            ioctl.output(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, &u32::MAX);
            Reply::Done
        });
        let mut caps = ibv_comp_cntr_caps::zeroed();
        // SAFETY: all objects are valid.
        unsafe {
            let context = context.get();
            assert_eq!(ibv_cmd_query_comp_cntr_caps(context, &mut caps, 15), libc::EINVAL);
            assert!(fake::calls().is_empty());
            assert_eq!(ibv_cmd_query_comp_cntr_caps(context, &mut caps, 16), 0);
        }
        assert_eq!((caps.max_counters, caps.max_value), (7, u64::MAX));
        assert_eq!(caps.supported_qp_attach_ops, 0x3f);
    }

    #[test]
    fn a_counter_knows_its_context_even_without_success() {
        let context = TestContext::new(Form::Write);
        let mut counter = ibv_comp_cntr { context: core::ptr::null_mut(), handle: 99 };
        fake::answer(|_| Reply::Fail(libc::ENOMEM));
        let null = core::ptr::null_mut();
        // SAFETY: all objects are valid.
        let result = unsafe { ibv_cmd_create_comp_cntr(context.get(), &mut counter, null) };
        assert_eq!(result, libc::ENOMEM);
        assert_eq!((counter.context, counter.handle), (context.get(), 99));
    }

    #[test]
    fn entry_and_operation_of_each_function() {
        let context = TestContext::new(Form::Write);
        let seen = Rc::new(RefCell::new(Vec::new()));
        let record = Rc::clone(&seen);
        fake::answer(move |call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(0), Some(6));
            let call = (ioctl.data(1), ioctl.data(2), ioctl.data(3));
            if ioctl.method == UVERBS_METHOD_COMP_CNTR_READ {
                ioctl.output(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, &(call.0.unwrap() + 40));
            } else {
                record.borrow_mut().push(call);
            }
            Reply::Done
        });
        let mut counter = ibv_comp_cntr { context: context.get(), handle: 6 };
        let (mut completions, mut errors) = (0, 0);
        // SAFETY: all objects are valid.
        unsafe {
            assert_eq!(ibv_cmd_set_comp_cntr(&mut counter, 21), 0);
            assert_eq!(ibv_cmd_set_err_comp_cntr(&mut counter, 22), 0);
            assert_eq!(ibv_cmd_inc_comp_cntr(&mut counter, 23), 0);
            assert_eq!(ibv_cmd_inc_err_comp_cntr(&mut counter, 24), 0);
            assert_eq!(ibv_cmd_read_comp_cntr(&mut counter, &mut completions), 0);
            assert_eq!(ibv_cmd_read_err_comp_cntr(&mut counter, &mut errors), 0);
        }
        let call = |entry, op, value| (Some(entry), Some(op), Some(value));
        let expected = [call(0, 0, 21), call(1, 0, 22), call(0, 1, 23), call(1, 1, 24)];
        assert_eq!(*seen.borrow(), expected);
        assert_eq!((completions, errors), (40, 41));
    }

    #[test]
    fn a_counter_is_attached_for_known_operations() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!((ioctl.data(0), ioctl.data(1)), (Some(5), Some(6)));
            let mask = ioctl.input(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK);
            assert_eq!(mask, Some(vec![0x21, 0, 0, 0]));
            Reply::Done
        });
        let mut qp = ibv_qp { context: context.get(), handle: 5, ..Plain::zeroed() };
        let mut counter = ibv_comp_cntr { context: context.get(), handle: 6 };
        let mut attr = ibv_qp_attach_comp_cntr_attr { comp_mask: 0, op_mask: 0x8000_0061 };
        // SAFETY: all objects are valid.
        let result = unsafe { ibv_cmd_qp_attach_comp_cntr(&mut qp, &mut counter, &mut attr) };
        assert_eq!(result, 0);
    }
}
