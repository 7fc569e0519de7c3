//! Attributes of the device, and its clock.

use core::ffi::c_int;

use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;
use crate::urxe::device::{Context, is_confidential};
use crate::urxe::host;
use crate::urxe::limits::*;
use crate::urxe::{explain, limits};

/// Neither an IEEE OUI nor a PCI vendor: `urx`.
const VENDOR_ID: u32 = 0x75_7278;
const VENDOR_PART_ID: u32 = 1;
/// Ticks of the clock per millisecond: nanoseconds.
const CLOCK_KHZ: u64 = 1_000_000;
/// Page sizes: all from 4 KiB on.
const PAGE_SIZES: u64 = 0xffff_ffff_ffff_f000;

const FLAGS: u32 = IBV_DEVICE_UD_AV_PORT_ENFORCE
    | IBV_DEVICE_CURR_QP_STATE_MOD
    | IBV_DEVICE_PORT_ACTIVE_EVENT
    | IBV_DEVICE_SYS_IMAGE_GUID
    | IBV_DEVICE_RC_RNR_NAK_GEN
    | IBV_DEVICE_SRQ_RESIZE
    | IBV_DEVICE_MEM_WINDOW
    | IBV_DEVICE_XRC
    | IBV_DEVICE_MEM_MGT_EXTENSIONS
    | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
const EXTENDED_FLAGS: u64 = FLAGS as u64
    | IB_UVERBS_DEVICE_FLUSH_GLOBAL
    | IB_UVERBS_DEVICE_FLUSH_PERSISTENT
    | IB_UVERBS_DEVICE_ATOMIC_WRITE;

const ODP_UC: u32 = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE;
const ODP_UD: u32 = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
const ODP_RC: u32 = ODP_UC
    | ODP_UD
    | IBV_ODP_SUPPORT_READ
    | IBV_ODP_SUPPORT_ATOMIC
    | IBV_ODP_SUPPORT_FLUSH
    | IBV_ODP_SUPPORT_ATOMIC_WRITE;

/// `ibv_query_device_ex(3)`
pub(super) unsafe extern "C" fn query_device_ex(
    context: *mut ibv_context,
    input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
    attr_size: usize,
) -> c_int {
    // SAFETY: the caller passes a context, NULL or an input, and room for so many bytes.
    unsafe {
        let mask = input.as_ref().map_or(0, |input| input.comp_mask);
        query(Context::of(context), mask, attr, attr_size).or_number()
    }
}

unsafe fn query(
    context: &Context,
    mask: u32,
    attr: *mut ibv_device_attr_ex,
    attr_size: usize,
) -> Result<()> {
    if mask != 0 || attr_size < size_of::<ibv_device_attr>() {
        explain!("ibv_query_device_ex: mask {mask:#x}, attributes of {attr_size} bytes");
        return Err(Errno::EINVAL);
    }
    let full = attributes(context.guid(), cfg!(target_has_atomic = "64"));
    let size = attr_size.min(size_of_val(&full));
    // SAFETY: the caller has room for so many bytes.
    unsafe {
        attr.cast::<u8>().write_bytes(0, attr_size);
        (&raw const full).cast::<u8>().copy_to_nonoverlapping(attr.cast(), size);
    }
    Ok(())
}

/// The attributes of a device with this GUID (in host byte order).
fn attributes(guid: u64, has_atomics: bool) -> ibv_device_attr_ex {
    let mut attr = ibv_device_attr_ex::zeroed();
    attr.orig_attr = plain_attributes(guid, has_atomics);
    attr.odp_caps = ibv_odp_caps {
        general_caps: u64::from(IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT),
        per_transport_caps: ibv_odp_caps_per_transport_caps {
            rc_odp_caps: ODP_RC,
            uc_odp_caps: ODP_UC,
            ud_odp_caps: ODP_UD,
        },
    };
    attr.xrc_odp_caps = ODP_RC;
    attr.completion_timestamp_mask = u64::MAX;
    attr.hca_core_clock = CLOCK_KHZ;
    attr.device_cap_flags_ex = EXTENDED_FLAGS;
    if is_confidential() {
        attr.device_cap_flags_ex |= IBV_DEVICE_CC_DMA_BOUNCE;
    }
    attr.cq_mod_caps = ibv_cq_moderation_caps { max_cq_count: u16::MAX, max_cq_period: u16::MAX };
    attr.max_dm_size = limits::MAX_DM_SIZE;
    attr.phys_port_cnt_ex = u32::from(PORTS);
    attr
}

fn plain_attributes(guid: u64, has_atomics: bool) -> ibv_device_attr {
    let mut attr = ibv_device_attr {
        node_guid: guid.to_be(),
        sys_image_guid: guid.to_be(),
        max_mr_size: MAX_MR_SIZE,
        page_size_cap: PAGE_SIZES,
        vendor_id: VENDOR_ID,
        vendor_part_id: VENDOR_PART_ID,
        max_qp: number(MAX_QP),
        max_qp_wr: number(MAX_QP_WR),
        device_cap_flags: FLAGS,
        max_sge: number(MAX_SGE),
        max_sge_rd: number(MAX_SGE_RD),
        max_cq: number(MAX_CQ),
        max_cqe: number(MAX_CQE),
        max_mr: number(MAX_MR),
        max_pd: number(MAX_PD),
        max_qp_rd_atom: c_int::from(MAX_RD_ATOMIC),
        max_res_rd_atom: number(u32::from(MAX_RD_ATOMIC) * MAX_QP),
        max_qp_init_rd_atom: c_int::from(MAX_RD_ATOMIC),
        atomic_cap: if has_atomics { IBV_ATOMIC_HCA } else { IBV_ATOMIC_NONE },
        max_mw: number(MAX_MW),
        max_mcast_grp: number(MAX_MCAST_GRP),
        max_mcast_qp_attach: number(MAX_MCAST_QP_ATTACH),
        max_total_mcast_qp_attach: number(MAX_MCAST_GRP * MAX_MCAST_QP_ATTACH),
        max_ah: number(MAX_AH),
        max_srq: number(MAX_SRQ),
        max_srq_wr: number(MAX_SRQ_WR),
        max_srq_sge: number(MAX_SRQ_SGE),
        max_pkeys: PKEYS,
        local_ca_ack_delay: 15,
        phys_port_cnt: PORTS,
        ..ibv_device_attr::zeroed()
    };
    for (to, from) in attr.fw_ver.iter_mut().zip(env!("CARGO_PKG_VERSION").bytes()) {
        *to = from as core::ffi::c_char;
    }
    attr
}

/// A limit as the attributes have it.
fn number(limit: u32) -> c_int {
    c_int::try_from(limit).unwrap_or(c_int::MAX)
}

/// `ibv_query_rt_values_ex(3)`
pub(super) unsafe extern "C" fn query_rt_values(
    _: *mut ibv_context,
    values: *mut ibv_values_ex,
) -> c_int {
    // SAFETY: the caller passes values.
    let values = unsafe { &mut *values };
    if values.comp_mask & !IBV_VALUES_MASK_RAW_CLOCK != 0 {
        explain!("ibv_query_rt_values_ex: unknown comp_mask {:#x}", values.comp_mask);
        return Err(Errno::EINVAL).or_number();
    }
    if values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK != 0 {
        values.raw_clock = libc::timespec { tv_sec: 0, tv_nsec: host::now() as libc::c_long };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_accept_the_attributes() {
        let attr = attributes(0x0011_22ff_fe33_4455, true);
        let plain = attr.orig_attr;
        assert_eq!(plain.node_guid.to_ne_bytes(), [0, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55]);
        assert!(plain.max_cqe >= 32767 && plain.max_srq > 0 && plain.max_sge >= 6);
        assert!(plain.vendor_id != 0x1d0f && !(4099..=4135).contains(&plain.vendor_part_id));
        assert_eq!((plain.phys_port_cnt, attr.phys_port_cnt_ex), (1, 1));
        assert_eq!(plain.atomic_cap, IBV_ATOMIC_HCA);
        assert_eq!(attr.device_cap_flags_ex as u32, plain.device_cap_flags);
        // SAFETY: the array ends with zeros.
        let version = unsafe { core::ffi::CStr::from_ptr(plain.fw_ver.as_ptr()) };
        assert_eq!(version.to_bytes(), env!("CARGO_PKG_VERSION").as_bytes());
    }

    #[test]
    fn the_clock_runs() {
        let mut values = ibv_values_ex { comp_mask: 1, ..ibv_values_ex::zeroed() };
        let before = host::now();
        // SAFETY: the context is not looked at.
        let status = unsafe { query_rt_values(core::ptr::null_mut(), &mut values) };
        assert_eq!(status, 0);
        assert!((before..=host::now()).contains(&(values.raw_clock.tv_nsec as u64)));
        values.comp_mask = 2;
        // SAFETY: as above.
        let status = unsafe { query_rt_values(core::ptr::null_mut(), &mut values) };
        assert_eq!(status, libc::EINVAL);
    }
}
