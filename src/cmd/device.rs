//! Device attributes.

use core::ffi::c_int;
use core::mem::offset_of;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel};
use crate::log::log;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Queries a device's attributes: `attr_size` bytes of them, zero where this kernel has no answer.
///
/// `resp` may be NULL; otherwise it is a buffer of `*resp_size` bytes with the provider's part
/// behind the core struct, and `*resp_size` becomes the length of the kernel's answer. EINVAL for
/// an input with unknown bits and for attributes that are too short to hold the original ones.
/// `ibv_query_device_ex(3)`, `driver.h: ibv_cmd_query_device_any`
pub(super) unsafe extern "C" fn ibv_cmd_query_device_any(
    context: *mut ibv_context,
    input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
    attr_size: usize,
    resp: *mut ib_uverbs_ex_query_device_resp,
    resp_size: *mut usize,
) -> c_int {
    // SAFETY: the provider passes its context, attributes of this size, NULL or an input, NULL or
    // a buffer and its size.
    unsafe {
        let input = input.as_ref().copied().unwrap_or(Plain::zeroed());
        query_device(Kernel::of(context), input, attr, attr_size, resp, resp_size)
    }
    .or_number()
}
export_private!(ibv_cmd_query_device_any);

unsafe fn query_device(
    kernel: Kernel<'_>,
    input: ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
    attr_size: usize,
    resp: *mut ib_uverbs_ex_query_device_resp,
    resp_size: *mut usize,
) -> Result<()> {
    if input.comp_mask != 0 || attr_size < size_of::<ibv_device_attr>() {
        log!(
            VERBS_LOG_ERR,
            "{kernel}: device query with mask {:#x} and attributes of {attr_size} bytes",
            input.comp_mask
        );
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise; what the kernel does not fill in stays 0.
    let room = unsafe {
        attr.cast::<u8>().write_bytes(0, attr_size);
        if resp.is_null() { 0 } else { *resp_size }
    };
    // SAFETY: the caller's promise.
    let buffers = unsafe {
        resp.cast::<u8>().write_bytes(0, room);
        Buffers::response(resp, room)
    };
    let extended = if attr_size > size_of::<ibv_device_attr>() {
        kernel.write(ib_uverbs_ex_query_device::zeroed(), buffers)
    } else {
        Err(Errno::EOPNOTSUPP)
    };
    let (response, attr_size) = match extended {
        Ok(response) => (response, attr_size),
        Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => {
            let mut response = ib_uverbs_ex_query_device_resp::zeroed();
            response.base = kernel.write(ib_uverbs_query_device::zeroed(), Buffers::NONE)?;
            response.response_length = size_of_val(&response.base) as u32;
            buffers.store_response(&response);
            (response, size_of::<ibv_device_attr>())
        }
        Err(errno) => return Err(errno),
    };
    let mut full = from_response(&response, attr_size);
    if attr_size >= offset_of!(ibv_device_attr_ex, phys_port_cnt_ex) + size_of::<u32>() {
        full.phys_port_cnt_ex = port_count(kernel, &response);
    }
    let size = attr_size.min(size_of_val(&full));
    // SAFETY: the caller's promise.
    unsafe {
        (&raw const full).cast::<u8>().copy_to_nonoverlapping(attr.cast(), size);
        if !resp.is_null() {
            *resp_size = response.response_length as usize;
        }
    }
    Ok(())
}

/// The number of ports: discovery's, which may be more than 255, or the kernel's answer.
fn port_count(kernel: Kernel<'_>, response: &ib_uverbs_ex_query_device_resp) -> u32 {
    // SAFETY: a context holds a reference to its device, and the device its discovery record.
    let discovered = unsafe {
        let device = (*kernel.context()).device.cast::<verbs_device>();
        device.as_ref().and_then(|device| device.sysfs.as_ref()).map_or(0, |dev| dev.num_ports)
    };
    if discovered != 0 { discovered } else { response.base.phys_port_cnt.into() }
}

/// The attributes that the kernel answered and that a struct of `attr_size` bytes has room for.
fn from_response(
    response: &ib_uverbs_ex_query_device_resp,
    attr_size: usize,
) -> ibv_device_attr_ex {
    let mut attr = ibv_device_attr_ex::zeroed();
    attr.orig_attr = original(&response.base);
    let answered = response.response_length as usize;
    /// Assigns if both structs reach the end of the member.
    macro_rules! take {
        ($to:ident from $from:ident: $value:expr) => {
            if attr_size >= offset_of!(ibv_device_attr_ex, $to) + size_of_val(&attr.$to)
                && answered
                    >= offset_of!(ib_uverbs_ex_query_device_resp, $from)
                        + size_of_val(&response.$from)
            {
                let $from = &response.$from;
                attr.$to = $value;
            }
        };
    }
    take!(odp_caps from odp_caps: ibv_odp_caps {
        general_caps: odp_caps.general_caps,
        per_transport_caps: ibv_odp_caps_per_transport_caps {
            rc_odp_caps: odp_caps.per_transport_caps.rc_odp_caps,
            uc_odp_caps: odp_caps.per_transport_caps.uc_odp_caps,
            ud_odp_caps: odp_caps.per_transport_caps.ud_odp_caps,
        },
    });
    take!(completion_timestamp_mask from timestamp_mask: *timestamp_mask);
    take!(hca_core_clock from hca_core_clock: *hca_core_clock);
    take!(device_cap_flags_ex from device_cap_flags_ex: *device_cap_flags_ex);
    // What the hash can do is the provider's to say.
    take!(rss_caps from rss_caps: ibv_rss_caps {
        supported_qpts: rss_caps.supported_qpts,
        max_rwq_indirection_tables: rss_caps.max_rwq_indirection_tables,
        max_rwq_indirection_table_size: rss_caps.max_rwq_indirection_table_size,
        ..Plain::zeroed()
    });
    take!(max_wq_type_rq from max_wq_type_rq: *max_wq_type_rq);
    take!(raw_packet_caps from raw_packet_caps: *raw_packet_caps);
    take!(tm_caps from tm_caps: ibv_tm_caps {
        max_rndv_hdr_size: tm_caps.max_rndv_hdr_size,
        max_num_tags: tm_caps.max_num_tags,
        flags: tm_caps.flags,
        max_ops: tm_caps.max_ops,
        max_sge: tm_caps.max_sge,
    });
    take!(cq_mod_caps from cq_moderation_caps: ibv_cq_moderation_caps {
        max_cq_count: cq_moderation_caps.max_cq_moderation_count,
        max_cq_period: cq_moderation_caps.max_cq_moderation_period,
    });
    take!(max_dm_size from max_dm_size: *max_dm_size);
    take!(xrc_odp_caps from xrc_odp_caps: *xrc_odp_caps);
    attr
}

/// The attributes of the original query; `fw_ver` as text is the provider's to fill in.
fn original(base: &ib_uverbs_query_device_resp) -> ibv_device_attr {
    let mut attr = ibv_device_attr::zeroed();
    macro_rules! copy {
        ($($member:ident)*) => { $(attr.$member = base.$member as _;)* };
    }
    copy!(
        node_guid sys_image_guid max_mr_size page_size_cap vendor_id vendor_part_id hw_ver max_qp
        max_qp_wr device_cap_flags max_sge max_sge_rd max_cq max_cqe max_mr max_pd max_qp_rd_atom
        max_ee_rd_atom max_res_rd_atom max_qp_init_rd_atom max_ee_init_rd_atom atomic_cap max_ee
        max_rdd max_mw max_raw_ipv6_qp max_raw_ethy_qp max_mcast_grp max_mcast_qp_attach
        max_total_mcast_qp_attach max_ah max_fmr max_map_per_fmr max_srq max_srq_wr max_srq_sge
        max_pkeys local_ca_ack_delay phys_port_cnt
    );
    attr
}

#[cfg(test)]
mod tests;
