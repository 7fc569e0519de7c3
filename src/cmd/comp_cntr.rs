//! Completion counters: objects that count completions, or failed ones, of the QPs that they are
//! attached to.

use core::ffi::c_int;

use crate::abi::export::export;
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
export!(ibv_cmd_query_comp_cntr_caps @@ "IBVERBS_PRIVATE_65");

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
export!(ibv_cmd_create_comp_cntr @@ "IBVERBS_PRIVATE_65");

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
export!(ibv_cmd_destroy_comp_cntr @@ "IBVERBS_PRIVATE_65");

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
            export!($name @@ "IBVERBS_PRIVATE_65");
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
export!(ibv_cmd_read_comp_cntr @@ "IBVERBS_PRIVATE_65");

/// Reads the number of failed completions. `ibv_read_err_comp_cntr(3)`,
/// `driver.h: ibv_cmd_read_err_comp_cntr`
pub(super) unsafe extern "C" fn ibv_cmd_read_err_comp_cntr(
    comp_cntr: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the provider passes its counter, the program a place for the value.
    unsafe { read(comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_ERR, value) }
}
export!(ibv_cmd_read_err_comp_cntr @@ "IBVERBS_PRIVATE_65");

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
export!(ibv_cmd_qp_attach_comp_cntr @@ "IBVERBS_PRIVATE_65");
