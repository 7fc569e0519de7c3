//! Queries of devices and ports; XRC domains.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::verbs::comp_cntr::_ibv_query_comp_cntr_caps;
use crate::verbs::context::{ibv_query_device, ibv_query_port};
use crate::verbs::gid::{_ibv_query_gid_ex, _ibv_query_gid_table};
use crate::verbs::inline::{slot, through_slot};

through_slot! {
    /// Reads the device's clock. Returns 0 or an error number. `ibv_query_rt_values_ex(3)`
    fn ibv_query_rt_values_ex(context: *mut ibv_context, values: *mut ibv_values_ex) -> c_int:
        context => query_rt_values;

    /// Opens an XRC domain; NULL with `errno` on failure. `ibv_open_xrcd(3)`
    fn ibv_open_xrcd(context: *mut ibv_context, attr: *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd:
        context => open_xrcd;

    /// Closes an XRC domain. Returns 0 or an error number. `ibv_close_xrcd(3)`
    fn ibv_close_xrcd(xrcd: *mut ibv_xrcd) -> c_int: (*xrcd).context => close_xrcd;
}

/// Stores the properties of a port (counted from 1) in `attr`. Returns 0 or an error number. This
/// is what `ibv_query_port` means in C. `ibv_query_port(3)`
pub(super) unsafe extern "C" fn ___ibv_query_port(
    context: *mut ibv_context,
    port_num: u8,
    attr: *mut ibv_port_attr,
) -> c_int {
    // SAFETY: the caller passes a context and room for the attributes, which those of the oldest
    // programs are the begin of.
    unsafe {
        match slot!(context, query_port) {
            Some(query_port) => query_port(context, port_num, attr, size_of::<ibv_port_attr>()),
            None => {
                attr.write(ibv_port_attr::zeroed());
                ibv_query_port(context, port_num, attr.cast())
            }
        }
    }
}
export!(___ibv_query_port @@ "IBVERBS_RS_1.0");

/// Stores the properties of the device, with those that came after [`ibv_query_device()`], in `attr`.
/// `input` may be NULL. Returns 0 or an error number, EINVAL for an input of the future.
/// `ibv_query_device_ex(3)`
pub(super) unsafe extern "C" fn ibv_query_device_ex(
    context: *mut ibv_context,
    input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
) -> c_int {
    // SAFETY: the caller passes a context, NULL or an input, and room for the attributes.
    unsafe {
        if input.as_ref().is_some_and(|input| input.comp_mask != 0) {
            Errno::EINVAL.store();
            return libc::EINVAL;
        }
        if let Some(query) = slot!(context, query_device_ex) {
            let status = query(context, input, attr, size_of::<ibv_device_attr_ex>());
            if status != libc::EOPNOTSUPP && status != libc::ENOSYS {
                return status;
            }
        }
        attr.write(ibv_device_attr_ex::zeroed());
        ibv_query_device(context, &raw mut (*attr).orig_attr)
    }
}
export!(ibv_query_device_ex @@ "IBVERBS_RS_1.0");

/// Stores the entry at `gid_index` of a port's GID table. Returns 0 or an error number, ENODATA for
/// an empty entry. `ibv_query_gid_ex(3)`
pub(super) unsafe extern "C" fn ibv_query_gid_ex(
    context: *mut ibv_context,
    port_num: u32,
    gid_index: u32,
    entry: *mut ibv_gid_entry,
    flags: u32,
) -> c_int {
    let size = size_of::<ibv_gid_entry>();
    // SAFETY: the caller passes a context and room for the entry.
    unsafe { _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, size) }
}
export!(ibv_query_gid_ex @@ "IBVERBS_RS_1.0");

/// Stores all entries of all GID tables that are not empty. Returns their number or a negative
/// error number. `ibv_query_gid_table(3)`
pub(super) unsafe extern "C" fn ibv_query_gid_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    max_entries: usize,
    flags: u32,
) -> isize {
    let size = size_of::<ibv_gid_entry>();
    // SAFETY: the caller passes a context and room for so many entries.
    unsafe { _ibv_query_gid_table(context, entries, max_entries, flags, size) }
}
export!(ibv_query_gid_table @@ "IBVERBS_RS_1.0");

/// Stores what the device can count in completion counters. Returns 0 or an error number.
/// `ibv_query_comp_cntr_caps(3)`
pub(super) unsafe extern "C" fn ibv_query_comp_cntr_caps(
    context: *mut ibv_context,
    caps: *mut ibv_comp_cntr_caps,
) -> c_int {
    // SAFETY: the caller passes a context and room for the capabilities.
    unsafe { _ibv_query_comp_cntr_caps(context, caps, size_of::<ibv_comp_cntr_caps>()) }
}
export!(ibv_query_comp_cntr_caps @@ "IBVERBS_RS_1.0");
