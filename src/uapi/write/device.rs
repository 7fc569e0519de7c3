//! Queries of devices and ports: QUERY_DEVICE, QUERY_PORT.

use crate::abi::*;

/// QUERY_DEVICE.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_device {
    /// Address of the answer.
    pub response: u64,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to QUERY_DEVICE; see `ibv_device_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_device_resp {
    /// Firmware version as a number, in the driver's own form.
    pub fw_ver: u64,
    /// GUID of the node, network byte order.
    pub node_guid: u64,
    /// GUID of the system image, network byte order.
    pub sys_image_guid: u64,
    /// Largest region in bytes.
    pub max_mr_size: u64,
    /// Page sizes: bit n stands for 2^n bytes.
    pub page_size_cap: u64,
    /// Vendor.
    pub vendor_id: u32,
    /// Part number.
    pub vendor_part_id: u32,
    /// Hardware revision.
    pub hw_ver: u32,
    /// QPs.
    pub max_qp: u32,
    /// Work requests per queue.
    pub max_qp_wr: u32,
    /// Low half of `ib_uverbs_device_cap_flags`.
    pub device_cap_flags: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// Scatter/gather entries per RDMA read.
    pub max_sge_rd: u32,
    /// CQs.
    pub max_cq: u32,
    /// Entries per CQ.
    pub max_cqe: u32,
    /// Regions.
    pub max_mr: u32,
    /// Protection domains.
    pub max_pd: u32,
    /// RDMA reads and atomics per QP as responder.
    pub max_qp_rd_atom: u32,
    /// The same for an end-to-end context.
    pub max_ee_rd_atom: u32,
    /// Responder resources of the device.
    pub max_res_rd_atom: u32,
    /// RDMA reads and atomics per QP as initiator.
    pub max_qp_init_rd_atom: u32,
    /// The same for an end-to-end context.
    pub max_ee_init_rd_atom: u32,
    /// One of `ibv_atomic_cap`.
    pub atomic_cap: u32,
    /// End-to-end contexts.
    pub max_ee: u32,
    /// Reliable datagram domains.
    pub max_rdd: u32,
    /// Memory windows.
    pub max_mw: u32,
    /// Raw IPv6 datagram QPs.
    pub max_raw_ipv6_qp: u32,
    /// Raw Ethertype datagram QPs.
    pub max_raw_ethy_qp: u32,
    /// Multicast groups.
    pub max_mcast_grp: u32,
    /// QPs per multicast group.
    pub max_mcast_qp_attach: u32,
    /// QPs attached to multicast groups in all.
    pub max_total_mcast_qp_attach: u32,
    /// Address handles.
    pub max_ah: u32,
    /// Obsolete.
    pub max_fmr: u32,
    /// Obsolete.
    pub max_map_per_fmr: u32,
    /// SRQs.
    pub max_srq: u32,
    /// Work requests per SRQ.
    pub max_srq_wr: u32,
    /// Scatter/gather entries per SRQ request.
    pub max_srq_sge: u32,
    /// P_Keys per port.
    pub max_pkeys: u16,
    /// 4.096 us * 2^n.
    pub local_ca_ack_delay: u8,
    /// Ports, at most 255.
    pub phys_port_cnt: u8,
    /// 0.
    pub reserved: [u8; 4],
}

/// QUERY_DEVICE, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_query_device {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// 0.
    pub reserved: u32,
}

/// On-demand paging by transport; bits of `ib_uverbs_odp_transport_cap_bits`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_odp_caps_per_transport_caps {
    /// RC.
    pub rc_odp_caps: u32,
    /// UC.
    pub uc_odp_caps: u32,
    /// UD.
    pub ud_odp_caps: u32,
}

/// On-demand paging.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_odp_caps {
    /// See `ib_uverbs_odp_general_cap_bits`.
    pub general_caps: u64,
    /// By transport.
    pub per_transport_caps: ib_uverbs_odp_caps_per_transport_caps,
    /// 0.
    pub reserved: u32,
}

/// Receive side scaling.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_rss_caps {
    /// QP types: bit n stands for type n.
    pub supported_qpts: u32,
    /// Indirection tables.
    pub max_rwq_indirection_tables: u32,
    /// Entries of an indirection table.
    pub max_rwq_indirection_table_size: u32,
    /// 0.
    pub reserved: u32,
}

/// Tag matching; see `ibv_tm_caps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_tm_caps {
    /// Longest rendezvous header in bytes.
    pub max_rndv_hdr_size: u32,
    /// Entries of a tag list.
    pub max_num_tags: u32,
    /// See `ibv_tm_cap_flags`.
    pub flags: u32,
    /// Outstanding list operations.
    pub max_ops: u32,
    /// Scatter/gather entries of a tag list entry.
    pub max_sge: u32,
    /// 0.
    pub reserved: u32,
}

/// Limits of event moderation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_cq_moderation_caps {
    /// Completions per event.
    pub max_cq_moderation_count: u16,
    /// Delay in microseconds.
    pub max_cq_moderation_period: u16,
    /// 0.
    pub reserved: u32,
}

/// Answer to the extended QUERY_DEVICE. `response_length` says how far this kernel fills it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_query_device_resp {
    /// Answer to the plain command.
    pub base: ib_uverbs_query_device_resp,
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
    /// On-demand paging.
    pub odp_caps: ib_uverbs_odp_caps,
    /// Valid bits of completion timestamps.
    pub timestamp_mask: u64,
    /// Frequency of the device clock in kHz.
    pub hca_core_clock: u64,
    /// See `ib_uverbs_device_cap_flags`.
    pub device_cap_flags_ex: u64,
    /// Receive side scaling.
    pub rss_caps: ib_uverbs_rss_caps,
    /// Receive work queues.
    pub max_wq_type_rq: u32,
    /// See `ib_uverbs_raw_packet_caps`.
    pub raw_packet_caps: u32,
    /// Tag matching.
    pub tm_caps: ib_uverbs_tm_caps,
    /// Event moderation.
    pub cq_moderation_caps: ib_uverbs_cq_moderation_caps,
    /// Device memory in bytes.
    pub max_dm_size: u64,
    /// On-demand paging on XRC.
    pub xrc_odp_caps: u32,
    /// 0.
    pub reserved: u32,
}

/// QUERY_PORT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_port {
    /// Address of the answer.
    pub response: u64,
    /// Port, from 1.
    pub port_num: u8,
    /// 0.
    pub reserved: [u8; 7],
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to QUERY_PORT; see `ibv_port_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_port_resp {
    /// See `ib_uverbs_query_port_cap_flags`.
    pub port_cap_flags: u32,
    /// Longest message in bytes.
    pub max_msg_sz: u32,
    /// P_Key violations.
    pub bad_pkey_cntr: u32,
    /// Q_Key violations.
    pub qkey_viol_cntr: u32,
    /// Entries of the GID table.
    pub gid_tbl_len: u32,
    /// Entries of the P_Key table.
    pub pkey_tbl_len: u16,
    /// Base LID.
    pub lid: u16,
    /// LID of the subnet manager.
    pub sm_lid: u16,
    /// One of `ibv_port_state`.
    pub state: u8,
    /// One of `ibv_mtu`.
    pub max_mtu: u8,
    /// One of `ibv_mtu`.
    pub active_mtu: u8,
    /// LID mask control.
    pub lmc: u8,
    /// Virtual lanes, coded.
    pub max_vl_num: u8,
    /// Service level to the subnet manager.
    pub sm_sl: u8,
    /// 4.096 us * 2^n.
    pub subnet_timeout: u8,
    /// Initialisation done.
    pub init_type_reply: u8,
    /// Link width, coded.
    pub active_width: u8,
    /// Lane speed, coded.
    pub active_speed: u8,
    /// Physical state, coded.
    pub phys_state: u8,
    /// One of `IBV_LINK_LAYER_*`.
    pub link_layer: u8,
    /// See `ib_uverbs_query_port_flags`.
    pub flags: u8,
    /// 0.
    pub reserved: u8,
}

plain! {
    ib_uverbs_query_device, ib_uverbs_query_device_resp, ib_uverbs_ex_query_device,
    ib_uverbs_odp_caps_per_transport_caps, ib_uverbs_odp_caps, ib_uverbs_rss_caps,
    ib_uverbs_tm_caps, ib_uverbs_cq_moderation_caps, ib_uverbs_ex_query_device_resp,
    ib_uverbs_query_port, ib_uverbs_query_port_resp
}
