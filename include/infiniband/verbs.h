/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The verbs: devices, memory, queues, and what is sent through them.
 *
 * Manual pages: section 3 has one for each function, libibverbs-rs(7) an overview. Functions return 0 or
 * an error number, or a pointer that is NULL with errno set, unless they say otherwise. Numbers in
 * network byte order are of the types __be16, __be32 and __be64; all others are in that of the host.
 *
 * What is marked "inline" in the manual is so for speed: the call goes straight to the functions of
 * the device's provider. The library also has a plain symbol for each.
 */
#ifndef INFINIBAND_VERBS_H
#define INFINIBAND_VERBS_H

#include <stdint.h>
#include <pthread.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <linux/types.h>
#include <linux/if_ether.h>
#include <sys/types.h>
#include <infiniband/verbs_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define __attribute_const __attribute__((const))
#else
#define __attribute_const
#endif

/*
 * Whether a struct of which the other side knows sz bytes has the member fld: structs grow at their
 * end, and calls pass the size that the caller was compiled with.
 */
#define vext_field_avail(type, fld, sz) (offsetof(type, fld) < (sz))

/* ibv_context.abi_compat of a context that is inside of a struct verbs_context, as all are today. */
#define __VERBS_ABI_IS_EXTENDED ((void *)UINTPTR_MAX)

/* Returned by ibv_parent_domain_init_attr.alloc: let the library allocate. */
#define IBV_ALLOCATOR_USE_DEFAULT ((void *)-1)

struct _compat_ibv_port_attr;
struct ib_uverbs_flow_action_esp;
struct ib_uverbs_flow_action_esp_encap;
struct ibv_ah;
struct ibv_alloc_dm_attr;
struct ibv_buf;
struct ibv_comp_channel;
struct ibv_context;
struct ibv_counter_attach_attr;
struct ibv_counters;
struct ibv_counters_init_attr;
struct ibv_cq;
struct ibv_cq_ex;
struct ibv_cq_init_attr_ex;
struct ibv_data_buf;
struct ibv_device;
struct ibv_device_attr;
struct ibv_device_attr_ex;
struct ibv_dm;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_flow;
struct ibv_flow_action;
struct ibv_flow_action_esp_attr;
struct ibv_flow_attr;
struct ibv_modify_cq_attr;
struct ibv_mr;
struct ibv_mr_init_attr;
struct ibv_mw;
struct ibv_mw_bind;
struct ibv_mw_bind_info;
struct ibv_ops_wr;
struct ibv_parent_domain_init_attr;
struct ibv_pd;
struct ibv_poll_cq_attr;
struct ibv_port_attr;
struct ibv_qp;
struct ibv_qp_ex;
struct ibv_qp_init_attr_ex;
struct ibv_qp_open_attr;
struct ibv_qp_rate_limit_attr;
struct ibv_query_device_ex_input;
struct ibv_recv_wr;
struct ibv_rwq_ind_table;
struct ibv_rwq_ind_table_init_attr;
struct ibv_send_wr;
struct ibv_sge;
struct ibv_srq;
struct ibv_srq_init_attr_ex;
struct ibv_td;
struct ibv_td_init_attr;
struct ibv_values_ex;
struct ibv_wc;
struct ibv_wc_tm_info;
struct ibv_wq;
struct ibv_wq_attr;
struct ibv_wq_init_attr;
struct ibv_xrcd;
struct ibv_xrcd_init_attr;
struct verbs_ex_private;

/* ---- Devices. */

/* Kind of device. */
enum ibv_node_type {
	/* Not known to the library. */
	IBV_NODE_UNKNOWN = -1,
	/* InfiniBand channel adapter; RoCE devices too. */
	IBV_NODE_CA = 1,
	/* InfiniBand switch. */
	IBV_NODE_SWITCH = 2,
	/* InfiniBand router. */
	IBV_NODE_ROUTER = 3,
	/* iWARP adapter. */
	IBV_NODE_RNIC = 4,
	/* Cisco usNIC. */
	IBV_NODE_USNIC = 5,
	/* Cisco usNIC over UDP. */
	IBV_NODE_USNIC_UDP = 6,
	/* Another transport, for example EFA. */
	IBV_NODE_UNSPECIFIED = 7,
};

/* Transport of a device, derived from its node type. */
enum ibv_transport_type {
	/* Not known to the library. */
	IBV_TRANSPORT_UNKNOWN = -1,
	/* InfiniBand, RoCE too. */
	IBV_TRANSPORT_IB = 0,
	/* iWARP. */
	IBV_TRANSPORT_IWARP = 1,
	/* Cisco usNIC. */
	IBV_TRANSPORT_USNIC = 2,
	/* Cisco usNIC over UDP. */
	IBV_TRANSPORT_USNIC_UDP = 3,
	/* Another one. */
	IBV_TRANSPORT_UNSPECIFIED = 4,
};

/* Former operations of a device; programs built long ago called them. */
struct _ibv_device_ops {
	/* NULL. */
	struct ibv_context *(*_dummy1)(struct ibv_device *device, int cmd_fd);
	/* NULL. */
	void (*_dummy2)(struct ibv_context *context);
};

/* A device found by ibv_get_device_list(3); read only for applications. */
struct ibv_device {
	/* Unused. */
	struct _ibv_device_ops _ops;
	/* Kind of device. */
	enum ibv_node_type node_type;
	/* Transport. */
	enum ibv_transport_type transport_type;
	/* Kernel name, for example mlx5_0. */
	char name[64];
	/* Name of the device file, for example uverbs0. */
	char dev_name[64];
	/* Directory of the device file in sysfs, /sys/class/infiniband_verbs/uverbs0. */
	char dev_path[256];
	/* Directory of the device in sysfs, /sys/class/infiniband/mlx5_0. */
	char ibdev_path[256];
};

/* How far atomics are atomic. */
enum ibv_atomic_cap {
	/* Not supported. */
	IBV_ATOMIC_NONE = 0,
	/* Among all operations through this device. */
	IBV_ATOMIC_HCA = 1,
	/* Also with the CPU and other devices. */
	IBV_ATOMIC_GLOB = 2,
};

/* Bits of ibv_device_attr.device_cap_flags. */
enum ibv_device_cap_flags {
	/* Queues of a QP can be resized, IBV_QP_CAP. */
	IBV_DEVICE_RESIZE_MAX_WR = 1 << 0,
	/* Ports count bad P_Keys. */
	IBV_DEVICE_BAD_PKEY_CNTR = 1 << 1,
	/* Ports count bad Q_Keys. */
	IBV_DEVICE_BAD_QKEY_CNTR = 1 << 2,
	/* Raw packet multicast. */
	IBV_DEVICE_RAW_MULTI = 1 << 3,
	/* Automatic path migration. */
	IBV_DEVICE_AUTO_PATH_MIG = 1 << 4,
	/* The port of a QP can be changed in SQD. */
	IBV_DEVICE_CHANGE_PHY_PORT = 1 << 5,
	/* The port of an address handle must be the QP's. */
	IBV_DEVICE_UD_AV_PORT_ENFORCE = 1 << 6,
	/* IBV_QP_CUR_STATE is honoured. */
	IBV_DEVICE_CURR_QP_STATE_MOD = 1 << 7,
	/* Ports can be shut down. */
	IBV_DEVICE_SHUTDOWN_PORT = 1 << 8,
	/* Ports can ask the subnet manager for a kind of initialisation. */
	IBV_DEVICE_INIT_TYPE = 1 << 9,
	/* IBV_EVENT_PORT_ACTIVE is raised. */
	IBV_DEVICE_PORT_ACTIVE_EVENT = 1 << 10,
	/* sys_image_guid is set. */
	IBV_DEVICE_SYS_IMAGE_GUID = 1 << 11,
	/* RC QPs answer receiver-not-ready. */
	IBV_DEVICE_RC_RNR_NAK_GEN = 1 << 12,
	/* SRQs can be resized, IBV_SRQ_MAX_WR. */
	IBV_DEVICE_SRQ_RESIZE = 1 << 13,
	/* CQs can raise an event after n completions. */
	IBV_DEVICE_N_NOTIFY_CQ = 1 << 14,
	/* Type 1 memory windows. */
	IBV_DEVICE_MEM_WINDOW = 1 << 17,
	/* Checksum offload on UD QPs. */
	IBV_DEVICE_UD_IP_CSUM = 1 << 18,
	/* Extended reliable connections. */
	IBV_DEVICE_XRC = 1 << 20,
	/*
	 * Local invalidation and send with invalidation (IBTA base memory management extensions).
	 */
	IBV_DEVICE_MEM_MGT_EXTENSIONS = 1 << 21,
	/* Type 2 windows, tied to a QP. */
	IBV_DEVICE_MEM_WINDOW_TYPE_2A = 1 << 23,
	/* Type 2 windows, tied to a QP and its protection domain. */
	IBV_DEVICE_MEM_WINDOW_TYPE_2B = 1 << 24,
	/* Checksum offload on RC QPs. */
	IBV_DEVICE_RC_IP_CSUM = 1 << 25,
	/* Checksum offload on raw packet QPs. */
	IBV_DEVICE_RAW_IP_CSUM = 1 << 26,
	/* Flow rules, ibv_create_flow(3). */
	IBV_DEVICE_MANAGED_FLOW_STEERING = 1 << 29,
};

/*
 * Attributes of a device, ibv_query_device(3). The max_ members are upper limits; less may be
 * available.
 */
struct ibv_device_attr {
	/* Firmware version, NUL terminated. */
	char fw_ver[64];
	/* GUID of the node, network byte order. */
	__be64 node_guid;
	/* GUID of the system image, network byte order; the same for all parts of one adapter. */
	__be64 sys_image_guid;
	/* Largest region in bytes. */
	uint64_t max_mr_size;
	/* Page sizes the device can use: bit n stands for 2^n bytes. */
	uint64_t page_size_cap;
	/* IEEE OUI of the vendor; the PCI vendor id on some devices. */
	uint32_t vendor_id;
	/* Part number, given by the vendor. */
	uint32_t vendor_part_id;
	/* Hardware revision, given by the vendor. */
	uint32_t hw_ver;
	/* QPs. */
	int max_qp;
	/* Work requests in a send or receive queue. */
	int max_qp_wr;
	/* See ibv_device_cap_flags. */
	unsigned int device_cap_flags;
	/* Scatter/gather entries per request, except RDMA reads. */
	int max_sge;
	/* Scatter/gather entries per RDMA read. */
	int max_sge_rd;
	/* CQs. */
	int max_cq;
	/* Entries in a CQ. */
	int max_cqe;
	/* Regions. */
	int max_mr;
	/* Protection domains. */
	int max_pd;
	/* RDMA reads and atomics a QP can hold as responder; limit of max_dest_rd_atomic. */
	int max_qp_rd_atom;
	/* The same for an end-to-end context; reliable datagram. */
	int max_ee_rd_atom;
	/* Responder resources of the device for RDMA reads and atomics. */
	int max_res_rd_atom;
	/* RDMA reads and atomics a QP can have outstanding; limit of max_rd_atomic. */
	int max_qp_init_rd_atom;
	/* The same for an end-to-end context; reliable datagram. */
	int max_ee_init_rd_atom;
	/* How far atomics are atomic. */
	enum ibv_atomic_cap atomic_cap;
	/* End-to-end contexts; reliable datagram. */
	int max_ee;
	/* Reliable datagram domains. */
	int max_rdd;
	/* Memory windows. */
	int max_mw;
	/* Raw IPv6 datagram QPs. */
	int max_raw_ipv6_qp;
	/* Raw Ethertype datagram QPs. */
	int max_raw_ethy_qp;
	/* Multicast groups. */
	int max_mcast_grp;
	/* QPs per multicast group. */
	int max_mcast_qp_attach;
	/* QPs attached to multicast groups in all. */
	int max_total_mcast_qp_attach;
	/* Address handles. */
	int max_ah;
	/* Fast memory regions; obsolete. */
	int max_fmr;
	/* Maps of a fast memory region between two flushes; obsolete. */
	int max_map_per_fmr;
	/* SRQs. */
	int max_srq;
	/* Work requests in an SRQ. */
	int max_srq_wr;
	/* Scatter/gather entries per request of an SRQ. */
	int max_srq_sge;
	/* P_Keys in a port's table. */
	uint16_t max_pkeys;
	/* Longest time from a packet's arrival to its acknowledgement: 4.096 us * 2^n. */
	uint8_t local_ca_ack_delay;
	/* Ports, at most 255; see phys_port_cnt_ex. */
	uint8_t phys_port_cnt;
};

/* Input of ibv_query_device_ex(3). */
struct ibv_query_device_ex_input {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/* device_cap_flags_ex: the frame check sequence of raw packets can be delivered. */
#define IBV_DEVICE_RAW_SCATTER_FCS (1ULL << 34)

/* device_cap_flags_ex: writes of received data can be padded to a cache line. */
#define IBV_DEVICE_PCI_WRITE_END_PADDING (1ULL << 36)

/*
 * device_cap_flags_ex: in this confidential guest the device reaches only memory shared with the
 * host: use ibv_alloc_buf(3).
 */
#define IBV_DEVICE_CC_DMA_BOUNCE (1ULL << 41)

/* On-demand paging capabilities. */
struct ibv_odp_caps {
	/* See ibv_odp_general_caps. */
	uint64_t general_caps;
	/* By transport; XRC is in ibv_device_attr_ex.xrc_odp_caps. */
	struct {
		/* RC. */
		uint32_t rc_odp_caps;
		/* UC. */
		uint32_t uc_odp_caps;
		/* UD. */
		uint32_t ud_odp_caps;
	} per_transport_caps;
};

/* TCP segmentation capabilities. */
struct ibv_tso_caps {
	/* Longest stream per request in bytes; 0: not supported. */
	uint32_t max_tso;
	/* QP types: bit n stands for type n. */
	uint32_t supported_qpts;
};

/* Receive side scaling capabilities. */
struct ibv_rss_caps {
	/* QP types: bit n stands for type n. */
	uint32_t supported_qpts;
	/* Indirection tables. */
	uint32_t max_rwq_indirection_tables;
	/* Entries of an indirection table. */
	uint32_t max_rwq_indirection_table_size;
	/* Fields that can be hashed, see ibv_rx_hash_fields. */
	uint64_t rx_hash_fields_mask;
	/* Hash functions, see ibv_rx_hash_function_flags. */
	uint8_t rx_hash_function;
};

/* Packet pacing capabilities. */
struct ibv_packet_pacing_caps {
	/* Lowest limit in kbit/s. */
	uint32_t qp_rate_limit_min;
	/* Highest limit in kbit/s; 0: not supported. */
	uint32_t qp_rate_limit_max;
	/* QP types: bit n stands for type n. */
	uint32_t supported_qpts;
};

/* Tag matching capabilities. */
struct ibv_tm_caps {
	/* Longest rendezvous header in bytes. */
	uint32_t max_rndv_hdr_size;
	/* Entries of a tag list. */
	uint32_t max_num_tags;
	/* See ibv_tm_cap_flags. */
	uint32_t flags;
	/* Outstanding tag list operations. */
	uint32_t max_ops;
	/* Scatter/gather entries of a tag list entry. */
	uint32_t max_sge;
};

/* Limits of ibv_moderate_cq. */
struct ibv_cq_moderation_caps {
	/* Completions per event. */
	uint16_t max_cq_count;
	/* Delay in microseconds. */
	uint16_t max_cq_period;
};

/* Atomics the device can do in host memory over PCIe; bits of ibv_pci_atomic_op_size. */
struct ibv_pci_atomic_caps {
	/* Fetch and add. */
	uint16_t fetch_add;
	/* Swap. */
	uint16_t swap;
	/* Compare and swap. */
	uint16_t compare_swap;
};

/*
 * Attributes of a device, ibv_query_device_ex(3); what the device or the kernel does not know is 0.
 */
struct ibv_device_attr_ex {
	/* The attributes of ibv_query_device(3). */
	struct ibv_device_attr orig_attr;
	/* No bits are defined. */
	uint32_t comp_mask;
	/* On-demand paging. */
	struct ibv_odp_caps odp_caps;
	/* Valid bits of completion timestamps; 0: no timestamps. */
	uint64_t completion_timestamp_mask;
	/* Frequency of the device clock in kHz; 0: not known. */
	uint64_t hca_core_clock;
	/* Capabilities: low half as device_cap_flags, then the bits above 31. */
	uint64_t device_cap_flags_ex;
	/* TCP segmentation. */
	struct ibv_tso_caps tso_caps;
	/* Receive side scaling. */
	struct ibv_rss_caps rss_caps;
	/* Receive work queues. */
	uint32_t max_wq_type_rq;
	/* Send rate limits. */
	struct ibv_packet_pacing_caps packet_pacing_caps;
	/* See ibv_raw_packet_caps. */
	uint32_t raw_packet_caps;
	/* Tag matching. */
	struct ibv_tm_caps tm_caps;
	/* Event moderation. */
	struct ibv_cq_moderation_caps cq_mod_caps;
	/* Device memory that can be allocated, in bytes. */
	uint64_t max_dm_size;
	/* Atomics over PCIe. */
	struct ibv_pci_atomic_caps pci_atomic_caps;
	/* On-demand paging on XRC, see ibv_odp_transport_cap_bits. */
	uint32_t xrc_odp_caps;
	/* Ports, without the limit of phys_port_cnt. */
	uint32_t phys_port_cnt_ex;
};

/* Bits of ibv_odp_caps.general_caps. */
enum ibv_odp_general_caps {
	/* On-demand paging. */
	IBV_ODP_SUPPORT = 1 << 0,
	/* A region can be the whole address space. */
	IBV_ODP_SUPPORT_IMPLICIT = 1 << 1,
};

/* Operations that can work on on-demand regions. */
enum ibv_odp_transport_cap_bits {
	/* Send. */
	IBV_ODP_SUPPORT_SEND = 1 << 0,
	/* Receive. */
	IBV_ODP_SUPPORT_RECV = 1 << 1,
	/* RDMA write. */
	IBV_ODP_SUPPORT_WRITE = 1 << 2,
	/* RDMA read. */
	IBV_ODP_SUPPORT_READ = 1 << 3,
	/* Atomics. */
	IBV_ODP_SUPPORT_ATOMIC = 1 << 4,
	/* Receive through an SRQ. */
	IBV_ODP_SUPPORT_SRQ_RECV = 1 << 5,
	/* Flush. */
	IBV_ODP_SUPPORT_FLUSH = 1 << 6,
	/* Atomic write. */
	IBV_ODP_SUPPORT_ATOMIC_WRITE = 1 << 7,
};

/* Bits of ibv_device_attr_ex.raw_packet_caps. */
enum ibv_raw_packet_caps {
	/* Received VLAN tags can be stripped. */
	IBV_RAW_PACKET_CAP_CVLAN_STRIPPING = 1 << 0,
	/* The frame check sequence can be delivered. */
	IBV_RAW_PACKET_CAP_SCATTER_FCS = 1 << 1,
	/* Checksum offload. */
	IBV_RAW_PACKET_CAP_IP_CSUM = 1 << 2,
	/* Packets can wait for a receive instead of being dropped. */
	IBV_RAW_PACKET_CAP_DELAY_DROP = 1 << 3,
};

/* Bits of ibv_tm_caps.flags. */
enum ibv_tm_cap_flags {
	/* Tag matching on RC QPs. */
	IBV_TM_CAP_RC = 1 << 0,
};

/* Operand sizes of PCIe atomics. */
enum ibv_pci_atomic_op_size {
	/* 4 bytes. */
	IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP = 1 << 0,
	/* 8 bytes. */
	IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP = 1 << 1,
	/* 16 bytes. */
	IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP = 1 << 2,
};

/* Length of a MAC address in bytes. */
#define ETHERNET_LL_SIZE 6

/*
 * File descriptors given to the kernel when a context is made: capability files under
 * /dev/infiniband/ucap that extend its rights. For providers.
 */
struct ibv_fd_arr {
	/* The descriptors. */
	int *arr;
	/* Number of descriptors. */
	uint32_t count;
};

/* ---- Ports and GIDs. */

/* Logical state of a port (IBTA volume 1, PortInfo). */
enum ibv_port_state {
	/* No state. */
	IBV_PORT_NOP = 0,
	/* Link down. */
	IBV_PORT_DOWN = 1,
	/* Physical link up, waits for the subnet manager. */
	IBV_PORT_INIT = 2,
	/* Configured, waits for activation. */
	IBV_PORT_ARMED = 3,
	/* Carries traffic. */
	IBV_PORT_ACTIVE = 4,
	/* Active, but the physical link has just failed and may recover. */
	IBV_PORT_ACTIVE_DEFER = 5,
};

/* Payload size of a packet, as a code. */
enum ibv_mtu {
	/* 256 bytes. */
	IBV_MTU_256 = 1,
	/* 512 bytes. */
	IBV_MTU_512 = 2,
	/* 1024 bytes. */
	IBV_MTU_1024 = 3,
	/* 2048 bytes. */
	IBV_MTU_2048 = 4,
	/* 4096 bytes. */
	IBV_MTU_4096 = 5,
};

enum {
	/* link_layer of old kernels, to be read as InfiniBand for IBV_TRANSPORT_IB. */
	IBV_LINK_LAYER_UNSPECIFIED = 0,
	/* link_layer: InfiniBand. */
	IBV_LINK_LAYER_INFINIBAND = 1,
	/* link_layer: Ethernet: RoCE and iWARP. */
	IBV_LINK_LAYER_ETHERNET = 2,
};

/* Bits of ibv_port_attr.port_cap_flags (IBTA volume 1, PortInfo CapabilityMask). */
enum ibv_port_cap_flags {
	/* A subnet manager runs here. */
	IBV_PORT_SM = 1 << 1,
	/* Notices. */
	IBV_PORT_NOTICE_SUP = 1 << 2,
	/* Traps. */
	IBV_PORT_TRAP_SUP = 1 << 3,
	/* Optional inter packet delays. */
	IBV_PORT_OPT_IPD_SUP = 1 << 4,
	/* Automatic path migration. */
	IBV_PORT_AUTO_MIGR_SUP = 1 << 5,
	/* Service level to virtual lane mapping. */
	IBV_PORT_SL_MAP_SUP = 1 << 6,
	/* M_Key kept in non-volatile memory. */
	IBV_PORT_MKEY_NVRAM = 1 << 7,
	/* P_Keys kept in non-volatile memory. */
	IBV_PORT_PKEY_NVRAM = 1 << 8,
	/* LED control. */
	IBV_PORT_LED_INFO_SUP = 1 << 9,
	/* System image GUID. */
	IBV_PORT_SYS_IMAGE_GUID_SUP = 1 << 11,
	/* P_Key violation traps of switch external ports. */
	IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP = 1 << 12,
	/* Speeds above QDR. */
	IBV_PORT_EXTENDED_SPEEDS_SUP = 1 << 14,
	/* port_cap_flags2 exists. */
	IBV_PORT_CAP_MASK2_SUP = 1 << 15,
	/* Connection management. */
	IBV_PORT_CM_SUP = 1 << 16,
	/* SNMP tunnelling. */
	IBV_PORT_SNMP_TUNNEL_SUP = 1 << 17,
	/* Reinitialisation. */
	IBV_PORT_REINIT_SUP = 1 << 18,
	/* Device management. */
	IBV_PORT_DEVICE_MGMT_SUP = 1 << 19,
	/* Vendor classes. */
	IBV_PORT_VENDOR_CLASS_SUP = 1 << 20,
	/* Directed route notices. */
	IBV_PORT_DR_NOTICE_SUP = 1 << 21,
	/* Notice when this mask changes. */
	IBV_PORT_CAP_MASK_NOTICE_SUP = 1 << 22,
	/* Boot management. */
	IBV_PORT_BOOT_MGMT_SUP = 1 << 23,
	/* Link round trip latency measurement. */
	IBV_PORT_LINK_LATENCY_SUP = 1 << 24,
	/* Client reregistration. */
	IBV_PORT_CLIENT_REG_SUP = 1 << 25,
	/* RoCE GIDs are made from IP addresses. */
	IBV_PORT_IP_BASED_GIDS = 1 << 26,
};

/* Bits of ibv_port_attr.port_cap_flags2 (IBTA volume 1, PortInfo CapabilityMask2). */
enum ibv_port_cap_flags2 {
	/* The node description can be set. */
	IBV_PORT_SET_NODE_DESC_SUP = 1 << 0,
	/* PortInfoExtended. */
	IBV_PORT_INFO_EXT_SUP = 1 << 1,
	/* Virtualisation. */
	IBV_PORT_VIRT_SUP = 1 << 2,
	/* Switch port state table. */
	IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP = 1 << 3,
	/* Link width 2x. */
	IBV_PORT_LINK_WIDTH_2X_SUP = 1 << 4,
	/* HDR. */
	IBV_PORT_LINK_SPEED_HDR_SUP = 1 << 5,
	/* NDR. */
	IBV_PORT_LINK_SPEED_NDR_SUP = 1 << 10,
	/* XDR. */
	IBV_PORT_LINK_SPEED_XDR_SUP = 1 << 12,
};

/* Attributes of a port, ibv_query_port(3). LIDs are in host byte order, 0 on Ethernet. */
struct ibv_port_attr {
	/* Logical state. */
	enum ibv_port_state state;
	/* Largest MTU the port can do. */
	enum ibv_mtu max_mtu;
	/* MTU in use. */
	enum ibv_mtu active_mtu;
	/* Entries of the GID table. */
	int gid_tbl_len;
	/* See ibv_port_cap_flags. */
	uint32_t port_cap_flags;
	/* Longest message in bytes. */
	uint32_t max_msg_sz;
	/* Packets dropped for their P_Key. */
	uint32_t bad_pkey_cntr;
	/* Packets dropped for their Q_Key. */
	uint32_t qkey_viol_cntr;
	/* Entries of the P_Key table. */
	uint16_t pkey_tbl_len;
	/* Base LID. */
	uint16_t lid;
	/* LID of the subnet manager. */
	uint16_t sm_lid;
	/* LID mask control: the port owns 2^lmc LIDs, 0 to 7. */
	uint8_t lmc;
	/* Virtual lanes, coded: 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14. */
	uint8_t max_vl_num;
	/* Service level to reach the subnet manager. */
	uint8_t sm_sl;
	/* Longest delay through the subnet: 4.096 us * 2^n. */
	uint8_t subnet_timeout;
	/* Kind of initialisation that the subnet manager has done. */
	uint8_t init_type_reply;
	/* Link width, coded: 1 1x, 2 4x, 4 8x, 8 12x, 16 2x. */
	uint8_t active_width;
	/*
	 * Lane speed, coded: 1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR. See
	 * active_speed_ex.
	 */
	uint8_t active_speed;
	/*
	 * Physical state: 1 sleep, 2 polling, 3 disabled, 4 training, 5 up, 6 error recovery, 7
	 * test.
	 */
	uint8_t phys_state;
	/* One of IBV_LINK_LAYER_*. */
	uint8_t link_layer;
	/* IBV_QPF_GRH_REQUIRED or 0. */
	uint8_t flags;
	/* See ibv_port_cap_flags2; valid with IBV_PORT_CAP_MASK2_SUP. */
	uint16_t port_cap_flags2;
	/* Lane speed coded like active_speed, with 256 for XDR; 0: use active_speed. */
	uint32_t active_speed_ex;
};

/* A global identifier: 16 bytes in network byte order, formed like an IPv6 address. */
union ibv_gid {
	/* The bytes. */
	uint8_t raw[16];
	/* The halves. */
	struct {
		/* Upper half, network byte order. */
		__be64 subnet_prefix;
		/* Lower half, network byte order; the port GUID on InfiniBand. */
		__be64 interface_id;
	} global;
};

/* Kind of a GID table entry. */
enum ibv_gid_type {
	/* InfiniBand. */
	IBV_GID_TYPE_IB = 0,
	/* RoCE v1: the GRH directly on Ethernet. */
	IBV_GID_TYPE_ROCE_V1 = 1,
	/* RoCE v2: over UDP and IP. */
	IBV_GID_TYPE_ROCE_V2 = 2,
};

/* An entry of a GID table, ibv_query_gid_ex(3), ibv_query_gid_table(3). */
struct ibv_gid_entry {
	/* The GID. */
	union ibv_gid gid;
	/* Index in the table of its port. */
	uint32_t gid_index;
	/* Port, from 1. */
	uint32_t port_num;
	/* One of ibv_gid_type. */
	uint32_t gid_type;
	/* Interface index of the network device, 0 if there is none. */
	uint32_t ndev_ifindex;
};

/* Lowest UDP source port of RoCE v2, ibv_flow_label_to_udp_sport. */
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MIN 49152

/* Highest UDP source port of RoCE v2. */
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MAX 65535

/* ---- Asynchronous events. */

/* What has happened. In brackets the member of ibv_async_event_element that is valid. */
enum ibv_event_type {
	/* The CQ has overrun and is unusable (cq). */
	IBV_EVENT_CQ_ERR = 0,
	/* The QP has failed and is in the error state (qp). */
	IBV_EVENT_QP_FATAL = 1,
	/* The QP got a request it may not execute and is in the error state (qp). */
	IBV_EVENT_QP_REQ_ERR = 2,
	/* A request of the peer violated memory rights; the QP is in the error state (qp). */
	IBV_EVENT_QP_ACCESS_ERR = 3,
	/* A first packet arrived while the QP was in RTR (qp). */
	IBV_EVENT_COMM_EST = 4,
	/* A move to SQD has drained the send queue, with en_sqd_async_notify (qp). */
	IBV_EVENT_SQ_DRAINED = 5,
	/* The connection has moved to the alternate path (qp). */
	IBV_EVENT_PATH_MIG = 6,
	/* The connection could not move to the alternate path (qp). */
	IBV_EVENT_PATH_MIG_ERR = 7,
	/* The device has failed; all that is left is to close it (none). */
	IBV_EVENT_DEVICE_FATAL = 8,
	/* The port has become active (port_num). */
	IBV_EVENT_PORT_ACTIVE = 9,
	/* The port is no longer active (port_num). */
	IBV_EVENT_PORT_ERR = 10,
	/* The LID of the port has changed (port_num). */
	IBV_EVENT_LID_CHANGE = 11,
	/* The P_Key table of the port has changed (port_num). */
	IBV_EVENT_PKEY_CHANGE = 12,
	/* The port has another subnet manager (port_num). */
	IBV_EVENT_SM_CHANGE = 13,
	/* The SRQ has failed (srq). */
	IBV_EVENT_SRQ_ERR = 14,
	/* Fewer receives than srq_limit are left; the limit is disarmed (srq). */
	IBV_EVENT_SRQ_LIMIT_REACHED = 15,
	/* The QP is in the error state and takes nothing more from its SRQ (qp). */
	IBV_EVENT_QP_LAST_WQE_REACHED = 16,
	/* The subnet manager asks for new registrations of services and multicast (port_num). */
	IBV_EVENT_CLIENT_REREGISTER = 17,
	/* The GID table of the port has changed (port_num). */
	IBV_EVENT_GID_CHANGE = 18,
	/* The work queue has failed (wq). */
	IBV_EVENT_WQ_FATAL = 19,
	/* The speed of a port or of the device has changed (none). */
	IBV_EVENT_DEVICE_SPEED_CHANGE = 20,
};

/*
 * An asynchronous event, filled by ibv_get_async_event(3). Destroying the object waits until all
 * its events have been given to ibv_ack_async_event(3).
 */
struct ibv_async_event {
	/* Object, by event_type. */
	union {
		/* CQ events. */
		struct ibv_cq *cq;
		/* QP events. */
		struct ibv_qp *qp;
		/* SRQ events. */
		struct ibv_srq *srq;
		/* Work queue events. */
		struct ibv_wq *wq;
		/* Port events: the port, from 1. */
		int port_num;
	} element;
	/* What has happened. */
	enum ibv_event_type event_type;
};

/* ---- Address handles: the way to a peer. */

/*
 * Static rate of a path: a code, ibv_rate_to_mbps(3) gives Mbit/s. The names are the rates in
 * Gbit/s.
 */
enum ibv_rate {
	/* As fast as the port. */
	IBV_RATE_MAX = 0,
	/* 1x SDR. */
	IBV_RATE_2_5_GBPS = 2,
	/* 1x DDR. */
	IBV_RATE_5_GBPS = 5,
	/* 4x SDR, 1x QDR. */
	IBV_RATE_10_GBPS = 3,
	/* 4x DDR. */
	IBV_RATE_20_GBPS = 6,
	/* 12x SDR. */
	IBV_RATE_30_GBPS = 4,
	/* 4x QDR. */
	IBV_RATE_40_GBPS = 7,
	/* 12x DDR. */
	IBV_RATE_60_GBPS = 8,
	/* 8x QDR. */
	IBV_RATE_80_GBPS = 9,
	/* 12x QDR. */
	IBV_RATE_120_GBPS = 10,
	/* 1x FDR. */
	IBV_RATE_14_GBPS = 11,
	/* 4x FDR. */
	IBV_RATE_56_GBPS = 12,
	/* 8x FDR. */
	IBV_RATE_112_GBPS = 13,
	/* 12x FDR. */
	IBV_RATE_168_GBPS = 14,
	/* 1x EDR. */
	IBV_RATE_25_GBPS = 15,
	/* 4x EDR. */
	IBV_RATE_100_GBPS = 16,
	/* 8x EDR, 4x HDR. */
	IBV_RATE_200_GBPS = 17,
	/* 12x EDR. */
	IBV_RATE_300_GBPS = 18,
	/* 2x FDR. */
	IBV_RATE_28_GBPS = 19,
	/* 2x EDR, 1x HDR. */
	IBV_RATE_50_GBPS = 20,
	/* 8x HDR, 4x NDR. */
	IBV_RATE_400_GBPS = 21,
	/* 12x HDR. */
	IBV_RATE_600_GBPS = 22,
	/* 8x NDR, 4x XDR. */
	IBV_RATE_800_GBPS = 23,
	/* 12x NDR. */
	IBV_RATE_1200_GBPS = 24,
};

/* The 20 bits of a flow label, in ibv_global_route.flow_label and ibv_flow_label_to_udp_sport. */
#define IB_GRH_FLOWLABEL_MASK 1048575

/* The global part of a path: what goes into the GRH, or the IP header of RoCE v2. */
struct ibv_global_route {
	/* GID of the destination. */
	union ibv_gid dgid;
	/* Flow label, 20 bits, host byte order. */
	uint32_t flow_label;
	/* Index of the own GID in the port's table. */
	uint8_t sgid_index;
	/* Routers the packet may pass; the IP TTL of RoCE v2. */
	uint8_t hop_limit;
	/* Traffic class; the IP TOS byte of RoCE v2. */
	uint8_t traffic_class;
};

/* A path: argument of ibv_create_ah(3) and part of ibv_qp_attr. */
struct ibv_ah_attr {
	/* Global part, with is_global. */
	struct ibv_global_route grh;
	/* LID of the destination, host byte order; not used on Ethernet. */
	uint16_t dlid;
	/* Service level, 0 to 15; the VLAN priority is derived from it on Ethernet. */
	uint8_t sl;
	/* Low bits of the own LID to send from, within the port's LMC. */
	uint8_t src_path_bits;
	/* Rate limit for the path, one of ibv_rate. */
	uint8_t static_rate;
	/* Non-zero: grh is used; needed on Ethernet and with IBV_QPF_GRH_REQUIRED. */
	uint8_t is_global;
	/* Own port, from 1. */
	uint8_t port_num;
};

/* An address handle: a path, ready for use in sends of UD QPs; ibv_create_ah(3). */
struct ibv_ah {
	/* Device context. */
	struct ibv_context *context;
	/* Protection domain; must be that of the QP. */
	struct ibv_pd *pd;
	/* Kernel handle. */
	uint32_t handle;
};

/*
 * Global route header as received: the first 40 bytes of a UD receive with IBV_WC_GRH (IBTA volume
 * 1, section 8.3). On RoCE v2 over IPv4 the last 20 of them hold the IPv4 header.
 */
struct ibv_grh {
	/* Version 6 (4 bits), traffic class (8), flow label (20); network byte order. */
	__be32 version_tclass_flow;
	/* Bytes that follow the header, network byte order. */
	__be16 paylen;
	/* What follows: 0x1b for the InfiniBand transport. */
	uint8_t next_hdr;
	/* Hop limit. */
	uint8_t hop_limit;
	/* GID of the sender. */
	union ibv_gid sgid;
	/* GID it was sent to; the multicast GID for multicast. */
	union ibv_gid dgid;
};

/* ---- Protection domains, memory regions and windows, device memory. */

/* A protection domain, ibv_alloc_pd(3): objects work together only within one. */
struct ibv_pd {
	/* Device context. */
	struct ibv_context *context;
	/* Kernel handle, ibv_import_pd(3). */
	uint32_t handle;
};

/* Argument of ibv_alloc_td(3). */
struct ibv_td_init_attr {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/*
 * A thread domain: the caller promises that one thread at a time uses its objects, so that they
 * need no locks. It takes effect through a parent domain.
 */
struct ibv_td {
	/* Device context. */
	struct ibv_context *context;
};

/* Bits of ibv_parent_domain_init_attr.comp_mask. */
enum ibv_parent_domain_init_attr_mask {
	/* alloc and free. */
	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS = 1 << 0,
	/* pd_context. */
	IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT = 1 << 1,
	/*
	 * In a confidential guest, allow buffers in memory that is shared with the host; see
	 * IBV_DEVICE_CC_DMA_BOUNCE.
	 */
	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC = 1 << 2,
};

/*
 * Argument of ibv_alloc_parent_domain(3): a protection domain with extras, usable wherever an
 * ibv_pd is.
 */
struct ibv_parent_domain_init_attr {
	/* Protection domain it is based on; not NULL. */
	struct ibv_pd *pd;
	/* Thread domain, or NULL. */
	struct ibv_td *td;
	/* Which members below are set, see ibv_parent_domain_init_attr_mask. */
	uint32_t comp_mask;
	/*
	 * Allocates the provider's buffers: zeroed, and safe from copy-on-write by a fork. Sizes in
	 * bytes; resource_type has the driver id in its upper 32 bits and the provider's code
	 * below. Returns NULL for failure, IBV_ALLOCATOR_USE_DEFAULT (all ones) to leave it to the
	 * provider.
	 */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t
			alignment, uint64_t resource_type);
	/* Frees what alloc returned. */
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	/* The caller's pointer, passed to both functions. */
	void *pd_context;
};

/* Bits of ibv_xrcd_init_attr.comp_mask; the first two are needed. */
enum ibv_xrcd_init_attr_mask {
	/* fd. */
	IBV_XRCD_INIT_ATTR_FD = 1 << 0,
	/* oflags. */
	IBV_XRCD_INIT_ATTR_OFLAGS = 1 << 1,
	/* First undefined bit. */
	IBV_XRCD_INIT_ATTR_RESERVED = 1 << 2,
};

/* Argument of ibv_open_xrcd(3). */
struct ibv_xrcd_init_attr {
	/* Which members are set, see ibv_xrcd_init_attr_mask. */
	uint32_t comp_mask;
	/*
	 * Open file whose inode names the domain for all processes that open it, or -1 for a
	 * private one.
	 */
	int fd;
	/* O_CREAT and O_EXCL as for open(2). */
	int oflags;
};

/* An XRC domain: the XRC SRQs that a target QP can reach. */
struct ibv_xrcd {
	/* Device context. */
	struct ibv_context *context;
};

/* Rights of regions, windows and QPs, and ways to register. Local read is always allowed. */
enum ibv_access_flags {
	/* Local write; needed for receives and together with remote write or atomic. */
	IBV_ACCESS_LOCAL_WRITE = 1 << 0,
	/* RDMA write by the peer. */
	IBV_ACCESS_REMOTE_WRITE = 1 << 1,
	/* RDMA read by the peer. */
	IBV_ACCESS_REMOTE_READ = 1 << 2,
	/* Atomics by the peer. */
	IBV_ACCESS_REMOTE_ATOMIC = 1 << 3,
	/* Memory windows may be bound to the region. */
	IBV_ACCESS_MW_BIND = 1 << 4,
	/* Keys address the memory by offset from 0. */
	IBV_ACCESS_ZERO_BASED = 1 << 5,
	/* Pages are faulted in when the device needs them instead of being pinned. */
	IBV_ACCESS_ON_DEMAND = 1 << 6,
	/* All pages are huge and stay so; with IBV_ACCESS_ON_DEMAND. */
	IBV_ACCESS_HUGETLB = 1 << 7,
	/* Flush to global visibility by the peer. */
	IBV_ACCESS_FLUSH_GLOBAL = 1 << 8,
	/* Flush to persistence by the peer. */
	IBV_ACCESS_FLUSH_PERSISTENT = 1 << 9,
	/*
	 * Writes of the device may arrive in any order; only a completion says that data is there.
	 */
	IBV_ACCESS_RELAXED_ORDERING = 1 << 20,
};

/* A memory region, ibv_reg_mr(3). The provider allocates it inside its own larger struct. */
struct ibv_mr {
	/* Device context. */
	struct ibv_context *context;
	/* Protection domain. */
	struct ibv_pd *pd;
	/* First byte in the process; for a dma-buf the offset in it, for device memory NULL. */
	void *addr;
	/* Length in bytes. */
	size_t length;
	/* Kernel handle, ibv_import_mr(3). */
	uint32_t handle;
	/* Local key, for ibv_sge.lkey. */
	uint32_t lkey;
	/* Remote key, to give to peers. */
	uint32_t rkey;
};

/* Bits of ibv_mr_init_attr.comp_mask. */
enum ibv_mr_init_attr_mask {
	/* iova. */
	IBV_REG_MR_MASK_IOVA = 1 << 0,
	/* addr. */
	IBV_REG_MR_MASK_ADDR = 1 << 1,
	/* fd: a dma-buf; needs iova and fd_offset, excludes addr. */
	IBV_REG_MR_MASK_FD = 1 << 2,
	/* fd_offset. */
	IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
	/* dmah. */
	IBV_REG_MR_MASK_DMAH = 1 << 4,
	/* buf; needs addr, excludes fd and fd_offset. */
	IBV_REG_MR_MASK_BUF = 1 << 5,
};

/* What ibv_reg_mr_ex(3) registers. */
struct ibv_mr_init_attr {
	/* Length in bytes. */
	size_t length;
	/* Rights, see ibv_access_flags. */
	int access;
	/* Which members below are set, see ibv_mr_init_attr_mask. */
	uint64_t comp_mask;
	/* Address that the keys are based on; addr if not set. */
	uint64_t iova;
	/* First byte in the process. */
	void *addr;
	/* File descriptor of a dma-buf. */
	int fd;
	/* First byte in the dma-buf. */
	uint64_t fd_offset;
	/* DMA handle with hints for the device's accesses. */
	struct ibv_dmah *dmah;
	/* Buffer from ibv_alloc_buf(3) that addr lies in. */
	struct ibv_buf *buf;
};

/* What ibv_rereg_mr(3) changes. */
enum ibv_rereg_mr_flags {
	/* Address and length. */
	IBV_REREG_MR_CHANGE_TRANSLATION = 1 << 0,
	/* Protection domain. */
	IBV_REREG_MR_CHANGE_PD = 1 << 1,
	/* Rights. */
	IBV_REREG_MR_CHANGE_ACCESS = 1 << 2,
	/* All defined flags. */
	IBV_REREG_MR_FLAGS_SUPPORTED = ((IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD) | IBV_REREG_MR_CHANGE_ACCESS),
};

/* Failures of ibv_rereg_mr(3) and what they leave behind. */
enum ibv_rereg_mr_err_code {
	/* Bad arguments; the region is as before. */
	IBV_REREG_MR_ERR_INPUT = -1,
	/* The new range could not be protected from fork; the region is as before. */
	IBV_REREG_MR_ERR_DONT_FORK_NEW = -2,
	/* Changed, but the old range is still excluded from fork. */
	IBV_REREG_MR_ERR_DO_FORK_OLD = -3,
	/* The command failed; the region may only be deregistered. */
	IBV_REREG_MR_ERR_CMD = -4,
	/*
	 * The command failed, the region may only be deregistered, and the new range is still
	 * excluded from fork.
	 */
	IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW = -5,
};

/* Kind of a memory window. */
enum ibv_mw_type {
	/* Bound by ibv_bind_mw(3); works with every QP of the protection domain. */
	IBV_MW_TYPE_1 = 1,
	/* Bound by a posted IBV_WR_BIND_MW; can be invalidated by either side. */
	IBV_MW_TYPE_2 = 2,
};

/* A memory window, ibv_alloc_mw(3): a range of a region with rights and a remote key of its own. */
struct ibv_mw {
	/* Device context. */
	struct ibv_context *context;
	/* Protection domain. */
	struct ibv_pd *pd;
	/* Remote key; a type 1 bind changes it. */
	uint32_t rkey;
	/* Kernel handle. */
	uint32_t handle;
	/* Type; type in C. */
	enum ibv_mw_type type;
};

/* Range and rights of a bind. */
struct ibv_mw_bind_info {
	/* Region, registered with IBV_ACCESS_MW_BIND. */
	struct ibv_mr *mr;
	/* First byte: address or offset that the region's keys are based on. */
	uint64_t addr;
	/* Length in bytes; 0 unbinds a type 1 window. */
	uint64_t length;
	/* Remote rights, of ibv_access_flags, and IBV_ACCESS_ZERO_BASED. */
	unsigned int mw_access_flags;
};

/* Argument of ibv_bind_mw(3), type 1 windows. */
struct ibv_mw_bind {
	/* The caller's value, returned in the completion. */
	uint64_t wr_id;
	/* Of ibv_send_flags. */
	unsigned int send_flags;
	/* Range and rights. */
	struct ibv_mw_bind_info bind_info;
};

/* Argument of ibv_alloc_dm(3). */
struct ibv_alloc_dm_attr {
	/* Length in bytes, at most ibv_device_attr_ex.max_dm_size in all. */
	size_t length;
	/* Alignment, as power of two of bytes. */
	uint32_t log_align_req;
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/* Bits of ibv_dm.comp_mask. */
enum ibv_dm_mask {
	/* handle is set. */
	IBV_DM_MASK_HANDLE = 1 << 0,
};

/* Memory on the device, ibv_alloc_dm(3); registered with ibv_reg_dm_mr(3). */
struct ibv_dm {
	/* Device context. */
	struct ibv_context *context;
	/*
	 * Copy from host memory; 0 or an errno value. Lengths and offsets in bytes, some devices
	 * want multiples of 4.
	 */
	int (*memcpy_to_dm)(struct ibv_dm *dm, uint64_t dm_offset, const void
			*host_addr, size_t length);
	/* Copy to host memory; 0 or an errno value. */
	int (*memcpy_from_dm)(void *host_addr, struct ibv_dm *dm, uint64_t
			dm_offset, size_t length);
	/* Which members below are set, see ibv_dm_mask. */
	uint32_t comp_mask;
	/* Kernel handle, ibv_import_dm(3). */
	uint32_t handle;
};

/* Kind of memory that a DMA handle is for (PCIe TLP processing hints). */
enum ibv_tph_mem_type {
	/* Volatile. */
	IBV_TPH_MEM_TYPE_VM = 0,
	/* Persistent. */
	IBV_TPH_MEM_TYPE_PM = 1,
};

/* Bits of ibv_dmah_init_attr.comp_mask. */
enum ibv_dmah_init_attr_mask {
	/* cpu_id. */
	IBV_DMAH_INIT_ATTR_MASK_CPU_ID = 1 << 0,
	/* ph. */
	IBV_DMAH_INIT_ATTR_MASK_PH = 1 << 1,
	/* tph_mem_type. */
	IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE = 1 << 2,
};

/* Argument of ibv_alloc_dmah(3). */
struct ibv_dmah_init_attr {
	/* Which members are set, see ibv_dmah_init_attr_mask. */
	uint32_t comp_mask;
	/* CPU that will read the data the device writes. */
	uint32_t cpu_id;
	/* Processing hint of PCIe, 2 bits. */
	uint8_t ph;
	/* See ibv_tph_mem_type. */
	uint8_t tph_mem_type;
};

/* A DMA handle: hints for the device's accesses to a region; ibv_mr_init_attr.dmah. */
struct ibv_dmah {
	/* Device context. */
	struct ibv_context *context;
};

/* ---- Completion queues. */

/* A file descriptor that reports completion events of its CQs; ibv_create_comp_channel(3). */
struct ibv_comp_channel {
	/* Device context. */
	struct ibv_context *context;
	/* Readable when an event waits; can be polled and set non-blocking by the caller. */
	int fd;
	/*
	 * CQs that use the channel, guarded by the context's mutex; it cannot be destroyed before
	 * 0.
	 */
	int refcnt;
};

/* A completion queue, ibv_create_cq(3). The provider allocates it inside its own larger struct. */
struct ibv_cq {
	/* Device context. */
	struct ibv_context *context;
	/* Channel for completion events, or NULL. */
	struct ibv_comp_channel *channel;
	/* The caller's pointer, returned by ibv_get_cq_event(3). */
	void *cq_context;
	/* Kernel handle. */
	uint32_t handle;
	/* Completions the CQ can hold; at least what was asked for. */
	int cqe;
	/* Guards the two counters. */
	pthread_mutex_t mutex;
	/* Signalled when an event is acknowledged; ibv_destroy_cq(3) waits on it. */
	pthread_cond_t cond;
	/* Completion events acknowledged so far. */
	uint32_t comp_events_completed;
	/* Asynchronous events acknowledged so far. */
	uint32_t async_events_completed;
};

/* Completion fields that the caller will read: bits of ibv_cq_init_attr_ex.wc_flags. */
enum ibv_create_cq_wc_flags {
	/* read_byte_len. */
	IBV_WC_EX_WITH_BYTE_LEN = 1 << 0,
	/* read_imm_data: immediate data and the invalidated key. */
	IBV_WC_EX_WITH_IMM = 1 << 1,
	/* read_qp_num. */
	IBV_WC_EX_WITH_QP_NUM = 1 << 2,
	/* read_src_qp. */
	IBV_WC_EX_WITH_SRC_QP = 1 << 3,
	/* read_slid. */
	IBV_WC_EX_WITH_SLID = 1 << 4,
	/* read_sl. */
	IBV_WC_EX_WITH_SL = 1 << 5,
	/* read_dlid_path_bits. */
	IBV_WC_EX_WITH_DLID_PATH_BITS = 1 << 6,
	/* read_completion_ts. */
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 1 << 7,
	/* read_cvlan. */
	IBV_WC_EX_WITH_CVLAN = 1 << 8,
	/* read_flow_tag. */
	IBV_WC_EX_WITH_FLOW_TAG = 1 << 9,
	/* read_tm_info. */
	IBV_WC_EX_WITH_TM_INFO = 1 << 10,
	/* read_completion_wallclock_ns. */
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK = 1 << 11,
};

enum {
	/* The fields that ibv_wc has. */
	IBV_WC_STANDARD_FLAGS = (int)((((((IBV_WC_EX_WITH_BYTE_LEN | (int)IBV_WC_EX_WITH_IMM) | (int)IBV_WC_EX_WITH_QP_NUM) | (int)IBV_WC_EX_WITH_SRC_QP) | (int)IBV_WC_EX_WITH_SLID) | (int)IBV_WC_EX_WITH_SL) | (int)IBV_WC_EX_WITH_DLID_PATH_BITS),
};

enum {
	/*
	 * Every defined bit of ibv_create_cq_wc_flags; others make creation fail with EOPNOTSUPP.
	 */
	IBV_CREATE_CQ_SUP_WC_FLAGS = (int)(((((IBV_WC_STANDARD_FLAGS | (int)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) | (int)IBV_WC_EX_WITH_CVLAN) | (int)IBV_WC_EX_WITH_FLOW_TAG) | (int)IBV_WC_EX_WITH_TM_INFO) | (int)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK),
};

/* Bits of ibv_cq_init_attr_ex.comp_mask. */
enum ibv_cq_init_attr_mask {
	/* flags. */
	IBV_CQ_INIT_ATTR_MASK_FLAGS = 1 << 0,
	/* parent_domain. */
	IBV_CQ_INIT_ATTR_MASK_PD = 1 << 1,
};

/* Bits of ibv_cq_init_attr_ex.flags. */
enum ibv_create_cq_attr_flags {
	/* One thread at a time uses the CQ: no lock is needed. */
	IBV_CREATE_CQ_ATTR_SINGLE_THREADED = 1 << 0,
	/*
	 * A full CQ is no error, old completions are overwritten: the caller makes sure that it
	 * never is.
	 */
	IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN = 1 << 1,
};

/* What ibv_create_cq_ex(3) makes. */
struct ibv_cq_init_attr_ex {
	/* Completions the CQ shall hold at least. */
	uint32_t cqe;
	/* Stored in ibv_cq_ex.cq_context. */
	void *cq_context;
	/* Channel for completion events, or NULL. */
	struct ibv_comp_channel *channel;
	/* Interrupt vector, less than ibv_context.num_comp_vectors. */
	uint32_t comp_vector;
	/* Fields that will be read, see ibv_create_cq_wc_flags. */
	uint64_t wc_flags;
	/* Which members below are set, see ibv_cq_init_attr_mask. */
	uint32_t comp_mask;
	/* See ibv_create_cq_attr_flags. */
	uint32_t flags;
	/* Parent domain whose thread domain and allocators the CQ uses. */
	struct ibv_pd *parent_domain;
};

/* Argument of ibv_start_poll, kept for extensions. */
struct ibv_poll_cq_attr {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/* Outcome of a work request. After a failure the QP is, as a rule, in an error state. */
enum ibv_wc_status {
	/* Done; on RC the peer has acknowledged it. */
	IBV_WC_SUCCESS = 0,
	/* Message longer than the receive, or longer than the device or path allows. */
	IBV_WC_LOC_LEN_ERR = 1,
	/* Request that the QP cannot execute, or internal QP inconsistency. */
	IBV_WC_LOC_QP_OP_ERR = 2,
	/* End-to-end context inconsistency; reliable datagram only. */
	IBV_WC_LOC_EEC_OP_ERR = 3,
	/* Scatter/gather entry not covered by a valid region with the needed rights. */
	IBV_WC_LOC_PROT_ERR = 4,
	/* Not executed: the QP had entered an error state before. */
	IBV_WC_WR_FLUSH_ERR = 5,
	/* Memory window bind refused. */
	IBV_WC_MW_BIND_ERR = 6,
	/* The peer's answer was not one to this request. */
	IBV_WC_BAD_RESP_ERR = 7,
	/* Protection error on local memory while an RDMA write with immediate arrived. */
	IBV_WC_LOC_ACCESS_ERR = 8,
	/*
	 * The peer refused the request: not allowed on its QP, too long for its receive, or
	 * malformed.
	 */
	IBV_WC_REM_INV_REQ_ERR = 9,
	/* The peer's memory refused it: key, range or rights of the remote address. */
	IBV_WC_REM_ACCESS_ERR = 10,
	/* The peer could not complete it, for example for an error in its own receive. */
	IBV_WC_REM_OP_ERR = 11,
	/*
	 * No acknowledgement after timeout and retry_cnt: peer gone, QP not ready, or path broken.
	 */
	IBV_WC_RETRY_EXC_ERR = 12,
	/* The peer had no receive posted for longer than rnr_retry allows. */
	IBV_WC_RNR_RETRY_EXC_ERR = 13,
	/* Reliable datagram domain mismatch; reliable datagram only. */
	IBV_WC_LOC_RDD_VIOL_ERR = 14,
	/* Invalid reliable datagram request; reliable datagram only. */
	IBV_WC_REM_INV_RD_REQ_ERR = 15,
	/* The peer aborted the operation. */
	IBV_WC_REM_ABORT_ERR = 16,
	/* Invalid end-to-end context number; reliable datagram only. */
	IBV_WC_INV_EECN_ERR = 17,
	/* Invalid end-to-end context state; reliable datagram only. */
	IBV_WC_INV_EEC_STATE_ERR = 18,
	/* Fatal transport error. */
	IBV_WC_FATAL_ERR = 19,
	/* The response did not come in time. */
	IBV_WC_RESP_TIMEOUT_ERR = 20,
	/* Any other error; see vendor_err. */
	IBV_WC_GENERAL_ERR = 21,
	/*
	 * Tag list operation failed, for example removal of an entry that a message has just taken.
	 */
	IBV_WC_TM_ERR = 22,
	/* Rendezvous left for software to finish: the data has not been fetched. */
	IBV_WC_TM_RNDV_INCOMPLETE = 23,
};

/* Operation of a completion; valid with IBV_WC_SUCCESS. Receives have the bit of IBV_WC_RECV. */
enum ibv_wc_opcode {
	/* Send, with or without immediate or invalidation. */
	IBV_WC_SEND = 0,
	/* RDMA write, with or without immediate. */
	IBV_WC_RDMA_WRITE = 1,
	/* RDMA read. */
	IBV_WC_RDMA_READ = 2,
	/* Compare and swap. */
	IBV_WC_COMP_SWAP = 3,
	/* Fetch and add. */
	IBV_WC_FETCH_ADD = 4,
	/* Memory window bind. */
	IBV_WC_BIND_MW = 5,
	/* Local invalidation. */
	IBV_WC_LOCAL_INV = 6,
	/* Segmented send. */
	IBV_WC_TSO = 7,
	/* Remote flush. */
	IBV_WC_FLUSH = 8,
	/* Atomic write. */
	IBV_WC_ATOMIC_WRITE = 9,
	/* Receive of a send. */
	IBV_WC_RECV = 1 << 7,
	/* Receive consumed by an RDMA write with immediate; its memory is untouched. */
	IBV_WC_RECV_RDMA_WITH_IMM = 129,
	/* Tag added to the list. */
	IBV_WC_TM_ADD = 130,
	/* Tag removed from the list. */
	IBV_WC_TM_DEL = 131,
	/* Tag list synchronised. */
	IBV_WC_TM_SYNC = 132,
	/* Message received on a tag matching SRQ that carried a tag. */
	IBV_WC_TM_RECV = 133,
	/* Message received on a tag matching SRQ without a tag. */
	IBV_WC_TM_NO_TAG = 134,
	/* Defined by the provider. */
	IBV_WC_DRIVER1 = 135,
	/* Defined by the provider. */
	IBV_WC_DRIVER2 = 136,
	/* Defined by the provider. */
	IBV_WC_DRIVER3 = 137,
};

/*
 * A CQ whose completions are read field by field; ibv_create_cq_ex(3). It begins like ibv_cq.
 * start_poll, then next_poll as long as it returns 0, then end_poll. Each read_ function speaks of
 * the current completion and may be called only if its field was asked for at creation;
 * read_opcode, read_vendor_err and read_wc_flags need no asking. The provider sets the pointers.
 */
struct ibv_cq_ex {
	/* Device context. */
	struct ibv_context *context;
	/* Channel for completion events, or NULL. */
	struct ibv_comp_channel *channel;
	/* The caller's pointer, returned by ibv_get_cq_event(3). */
	void *cq_context;
	/* Kernel handle. */
	uint32_t handle;
	/* Completions the CQ can hold. */
	int cqe;
	/* Guards the two counters. */
	pthread_mutex_t mutex;
	/* Signalled when an event is acknowledged. */
	pthread_cond_t cond;
	/* Completion events acknowledged so far. */
	uint32_t comp_events_completed;
	/* Asynchronous events acknowledged so far. */
	uint32_t async_events_completed;
	/* No bits are defined. */
	uint32_t comp_mask;
	/* Status of the current completion. */
	enum ibv_wc_status status;
	/* wr_id of the current completion's work request. */
	uint64_t wr_id;
	/*
	 * Take the first completion of a batch: 0, ENOENT if the CQ is empty, or an error; end_poll
	 * follows only after 0.
	 */
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
	/*
	 * Go on to the next completion: 0, or ENOENT if there is none; end_poll is needed either
	 * way.
	 */
	int (*next_poll)(struct ibv_cq_ex *cq);
	/* End the batch and give the entries back to the device. */
	void (*end_poll)(struct ibv_cq_ex *cq);
	/* Operation that completed. */
	enum ibv_wc_opcode (*read_opcode)(struct ibv_cq_ex *cq);
	/* Vendor's error code of a failed completion. */
	uint32_t (*read_vendor_err)(struct ibv_cq_ex *cq);
	/* Bytes received or read, as ibv_wc.byte_len. */
	uint32_t (*read_byte_len)(struct ibv_cq_ex *cq);
	/* Immediate data in network byte order, or the invalidated key in host byte order. */
	__be32 (*read_imm_data)(struct ibv_cq_ex *cq);
	/* Number of the local QP. */
	uint32_t (*read_qp_num)(struct ibv_cq_ex *cq);
	/* QP number of the sender; UD. */
	uint32_t (*read_src_qp)(struct ibv_cq_ex *cq);
	/* See ibv_wc_flags. */
	unsigned int (*read_wc_flags)(struct ibv_cq_ex *cq);
	/* LID of the sender; UD. */
	uint32_t (*read_slid)(struct ibv_cq_ex *cq);
	/* Service level; UD. */
	uint8_t (*read_sl)(struct ibv_cq_ex *cq);
	/* Path bits of the destination LID; UD. */
	uint8_t (*read_dlid_path_bits)(struct ibv_cq_ex *cq);
	/*
	 * Time of completion in ticks of the device clock, ibv_device_attr_ex.hca_core_clock; only
	 * the bits of completion_timestamp_mask count.
	 */
	uint64_t (*read_completion_ts)(struct ibv_cq_ex *cq);
	/* Customer VLAN tag of the packet. */
	uint16_t (*read_cvlan)(struct ibv_cq_ex *cq);
	/* Tag set by the flow rule that matched, ibv_flow_spec_action_tag. */
	uint32_t (*read_flow_tag)(struct ibv_cq_ex *cq);
	/* Tag and context of a tag matching message. */
	void (*read_tm_info)(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info);
	/* Time of completion in nanoseconds of the system's real-time clock. */
	uint64_t (*read_completion_wallclock_ns)(struct ibv_cq_ex *cq);
};

/* Bits of ibv_modify_cq_attr.attr_mask. */
enum ibv_cq_attr_mask {
	/* moderate. */
	IBV_CQ_ATTR_MODERATE = 1 << 0,
	/* First undefined bit. */
	IBV_CQ_ATTR_RESERVED = 1 << 1,
};

/* Moderation: one event for several completions. Limits in ibv_cq_moderation_caps. */
struct ibv_moderate_cq {
	/* Completions per event. */
	uint16_t cq_count;
	/* Longest delay of an event in microseconds. */
	uint16_t cq_period;
};

/* Argument of ibv_modify_cq(3). */
struct ibv_modify_cq_attr {
	/* Which members are set, see ibv_cq_attr_mask. */
	uint32_t attr_mask;
	/* Event moderation. */
	struct ibv_moderate_cq moderate;
};

enum {
	/* Bit number of IBV_WC_IP_CSUM_OK. */
	IBV_WC_IP_CSUM_OK_SHIFT = 2,
};

/* Bits of ibv_wc.wc_flags; valid with IBV_WC_SUCCESS. */
enum ibv_wc_flags {
	/* The first 40 bytes of the receive hold the global route header; UD. */
	IBV_WC_GRH = 1 << 0,
	/* imm_data is set. */
	IBV_WC_WITH_IMM = 1 << 1,
	/* The device has checked the IPv4 and TCP or UDP checksums, and they are right. */
	IBV_WC_IP_CSUM_OK = 1 << IBV_WC_IP_CSUM_OK_SHIFT,
	/* invalidated_rkey is set: the sender invalidated it. */
	IBV_WC_WITH_INV = 1 << 3,
	/* The tag matching SRQ asks for an IBV_WR_TAG_SYNC. */
	IBV_WC_TM_SYNC_REQ = 1 << 4,
	/* The message has taken a tag list entry; its data may come in a later completion. */
	IBV_WC_TM_MATCH = 1 << 5,
	/* All data of the message is in the entry's memory. */
	IBV_WC_TM_DATA_VALID = 1 << 6,
};

/*
 * A completion from ibv_poll_cq(3). After an error only wr_id, status, qp_num and vendor_err are
 * valid.
 */
struct ibv_wc {
	/* Value given with the work request. */
	uint64_t wr_id;
	/* Outcome. */
	enum ibv_wc_status status;
	/* Operation. */
	enum ibv_wc_opcode opcode;
	/* Vendor's error code; its meaning depends on the device. */
	uint32_t vendor_err;
	/*
	 * Bytes received, read or fetched; not set for sends and writes. On UD the 40 bytes kept
	 * for the GRH count.
	 */
	uint32_t byte_len;
	/* Immediate data or invalidated key. */
	__extension__ union {
		/* Immediate data, network byte order. */
		__be32 imm_data;
		/* Local key that the sender invalidated, host byte order. */
		uint32_t invalidated_rkey;
	};
	/* Number of the local QP; tells the QPs of an SRQ apart. */
	uint32_t qp_num;
	/* QP number of the sender; UD. */
	uint32_t src_qp;
	/* See ibv_wc_flags. */
	unsigned int wc_flags;
	/* P_Key index; QP 1 only. */
	uint16_t pkey_index;
	/* LID of the sender, host byte order; UD. */
	uint16_t slid;
	/* Service level; UD. */
	uint8_t sl;
	/* Low bits of the LID it was sent to, within the port's LMC; UD, not with multicast. */
	uint8_t dlid_path_bits;
};

/* Header fields of a tag matching message, from ibv_wc_read_tm_info. */
struct ibv_wc_tm_info {
	/* Tag. */
	uint64_t tag;
	/* Application context, ibv_tmh.app_ctx; priv in C. */
	uint32_t priv;
};

/* ---- Shared receive queues and tag matching. */

/* Kind of an SRQ, chosen at creation. */
enum ibv_srq_type {
	/* Receives for RC, UC and UD QPs. */
	IBV_SRQT_BASIC = 0,
	/* Receives addressed by SRQ number, for XRC target QPs. */
	IBV_SRQT_XRC = 1,
	/* Basic, and a list of tagged receives that the device matches. */
	IBV_SRQT_TM = 2,
};

/*
 * A shared receive queue, ibv_create_srq(3). The provider allocates it inside its own larger
 * struct.
 */
struct ibv_srq {
	/* Device context. */
	struct ibv_context *context;
	/* The caller's pointer, as given at creation. */
	void *srq_context;
	/* Protection domain. */
	struct ibv_pd *pd;
	/* Kernel handle. */
	uint32_t handle;
	/* Guards events_completed. */
	pthread_mutex_t mutex;
	/* Signalled when an event is acknowledged; ibv_destroy_srq(3) waits on it. */
	pthread_cond_t cond;
	/* Asynchronous events of this SRQ acknowledged so far. */
	uint32_t events_completed;
};

/* Sizes of an SRQ. At creation the first two are updated to the actual ones. */
struct ibv_srq_attr {
	/* Outstanding work requests. */
	uint32_t max_wr;
	/* Scatter/gather entries per request. */
	uint32_t max_sge;
	/*
	 * IBV_EVENT_SRQ_LIMIT_REACHED is raised once when fewer requests are left; 0: no event. Not
	 * used by creation.
	 */
	uint32_t srq_limit;
};

/* What ibv_modify_srq(3) changes: members of ibv_srq_attr. */
enum ibv_srq_attr_mask {
	/* max_wr, where the device has IBV_DEVICE_SRQ_RESIZE. */
	IBV_SRQ_MAX_WR = 1 << 0,
	/* srq_limit: arms the event. */
	IBV_SRQ_LIMIT = 1 << 1,
};

/* What ibv_create_srq(3) makes. */
struct ibv_srq_init_attr {
	/* Stored in ibv_srq.srq_context. */
	void *srq_context;
	/* Sizes. */
	struct ibv_srq_attr attr;
};

/* Bits of ibv_srq_init_attr_ex.comp_mask. */
enum ibv_srq_init_attr_mask {
	/* srq_type; without it the SRQ is basic. */
	IBV_SRQ_INIT_ATTR_TYPE = 1 << 0,
	/* pd; needed. */
	IBV_SRQ_INIT_ATTR_PD = 1 << 1,
	/* xrcd; needed for XRC. */
	IBV_SRQ_INIT_ATTR_XRCD = 1 << 2,
	/* cq; needed for XRC and tag matching. */
	IBV_SRQ_INIT_ATTR_CQ = 1 << 3,
	/* tm_cap; needed for tag matching. */
	IBV_SRQ_INIT_ATTR_TM = 1 << 4,
	/* First undefined bit. */
	IBV_SRQ_INIT_ATTR_RESERVED = 1 << 5,
};

/* Size of the tag list of an SRQ; limits in ibv_tm_caps. */
struct ibv_tm_cap {
	/* Entries of the list. */
	uint32_t max_num_tags;
	/* Outstanding list operations. */
	uint32_t max_ops;
};

/* What ibv_create_srq_ex(3) makes; begins like ibv_srq_init_attr. */
struct ibv_srq_init_attr_ex {
	/* Stored in ibv_srq.srq_context. */
	void *srq_context;
	/* Sizes. */
	struct ibv_srq_attr attr;
	/* Which members below are set, see ibv_srq_init_attr_mask. */
	uint32_t comp_mask;
	/* Kind. */
	enum ibv_srq_type srq_type;
	/* Protection domain. */
	struct ibv_pd *pd;
	/* XRC domain. */
	struct ibv_xrcd *xrcd;
	/* CQ of the receives. */
	struct ibv_cq *cq;
	/* Size of the tag list. */
	struct ibv_tm_cap tm_cap;
};

/* Operation on a tag list. */
enum ibv_ops_wr_opcode {
	/* Add a tagged receive. */
	IBV_WR_TAG_ADD = 0,
	/* Remove a tagged receive. */
	IBV_WR_TAG_DEL = 1,
	/* Only tell the device how many unexpected messages have been handled. */
	IBV_WR_TAG_SYNC = 2,
};

/* Bits of ibv_ops_wr.flags. */
enum ibv_ops_flags {
	/* Write a completion to the CQ of the SRQ. */
	IBV_OPS_SIGNALED = 1 << 0,
	/* unexpected_cnt is set. */
	IBV_OPS_TM_SYNC = 1 << 1,
};

/* A tag list operation, element of the list given to ibv_post_srq_ops(3). */
struct ibv_ops_wr {
	/* The caller's value, returned in the operation's completion. */
	uint64_t wr_id;
	/* Next operation, or NULL. */
	struct ibv_ops_wr *next;
	/* Operation. */
	enum ibv_ops_wr_opcode opcode;
	/* See ibv_ops_flags. */
	int flags;
	/* Operands. */
	struct {
		/* Unexpected messages that software has handled so far, with IBV_OPS_TM_SYNC. */
		uint32_t unexpected_cnt;
		/* Entry: written by IBV_WR_TAG_ADD, read by IBV_WR_TAG_DEL. */
		uint32_t handle;
		/* Entry to add. */
		struct {
			/* wr_id of the completion of the message. */
			uint64_t recv_wr_id;
			/* Memory to fill. */
			struct ibv_sge *sg_list;
			/* Elements of sg_list. */
			int num_sge;
			/* Tag to match. */
			uint64_t tag;
			/* Bits of the tag that count. */
			uint64_t mask;
		} add;
	} tm;
};

/* Kind of a message to a tag matching SRQ: ibv_tmh.opcode. */
enum ibv_tmh_op {
	/* Not for the tag list. */
	IBV_TMH_NO_TAG = 0,
	/* Rendezvous: an ibv_rvh follows and the receiver reads the data. */
	IBV_TMH_RNDV = 1,
	/* The rendezvous data has been read. */
	IBV_TMH_FIN = 2,
	/* The data follows. */
	IBV_TMH_EAGER = 3,
};

/* ---- Work queues and receive side scaling. */

/* Kind of a work queue. */
enum ibv_wq_type {
	/* Receive queue. */
	IBV_WQT_RQ = 0,
};

/* State of a work queue, moved by ibv_modify_wq(3). */
enum ibv_wq_state {
	/* As created. */
	IBV_WQS_RESET = 0,
	/* Receives. */
	IBV_WQS_RDY = 1,
	/* Outstanding work requests are flushed. */
	IBV_WQS_ERR = 2,
	/* Not known. */
	IBV_WQS_UNKNOWN = 3,
};

/* Properties of a work queue. */
enum ibv_wq_flags {
	/* Remove the customer VLAN tag of received frames. */
	IBV_WQ_FLAGS_CVLAN_STRIPPING = 1 << 0,
	/* Deliver the frame check sequence with the data. */
	IBV_WQ_FLAGS_SCATTER_FCS = 1 << 1,
	/* Let packets wait for a receive instead of dropping them. */
	IBV_WQ_FLAGS_DELAY_DROP = 1 << 2,
	/* Pad writes of received data to a full cache line. */
	IBV_WQ_FLAGS_PCI_WRITE_END_PADDING = 1 << 3,
	/* First undefined bit. */
	IBV_WQ_FLAGS_RESERVED = 1 << 4,
};

/*
 * A receive work queue, ibv_create_wq(3). The provider allocates it inside its own larger struct.
 */
struct ibv_wq {
	/* Device context. */
	struct ibv_context *context;
	/* The caller's pointer, as given at creation. */
	void *wq_context;
	/* Protection domain. */
	struct ibv_pd *pd;
	/* CQ of the receives. */
	struct ibv_cq *cq;
	/* Number of the queue on the device. */
	uint32_t wq_num;
	/* Kernel handle. */
	uint32_t handle;
	/* State as of the last successful modify. */
	enum ibv_wq_state state;
	/* Kind. */
	enum ibv_wq_type wq_type;
	/*
	 * Posts receives; set by the provider, called by ibv_post_wq_recv. Returns 0, or an errno
	 * value with the first request that was not posted in bad_recv_wr.
	 */
	int (*post_recv)(struct ibv_wq *wq, struct ibv_recv_wr *recv_wr, struct
			ibv_recv_wr **bad_recv_wr);
	/* Guards events_completed. */
	pthread_mutex_t mutex;
	/* Signalled when an event is acknowledged; ibv_destroy_wq(3) waits on it. */
	pthread_cond_t cond;
	/* Asynchronous events of this queue acknowledged so far. */
	uint32_t events_completed;
	/* No bits are defined. */
	uint32_t comp_mask;
};

/* Bits of ibv_wq_init_attr.comp_mask. */
enum ibv_wq_init_attr_mask {
	/* create_flags. */
	IBV_WQ_INIT_ATTR_FLAGS = 1 << 0,
	/* First undefined bit. */
	IBV_WQ_INIT_ATTR_RESERVED = 1 << 1,
};

/* What ibv_create_wq(3) makes. */
struct ibv_wq_init_attr {
	/* Stored in ibv_wq.wq_context. */
	void *wq_context;
	/* Kind. */
	enum ibv_wq_type wq_type;
	/* Outstanding work requests; updated to the actual number. */
	uint32_t max_wr;
	/* Scatter/gather entries per request; updated to the actual number. */
	uint32_t max_sge;
	/* Protection domain. */
	struct ibv_pd *pd;
	/* CQ of the receives. */
	struct ibv_cq *cq;
	/* Which members below are set, see ibv_wq_init_attr_mask. */
	uint32_t comp_mask;
	/* See ibv_wq_flags. */
	uint32_t create_flags;
};

/* Bits of ibv_wq_attr.attr_mask. */
enum ibv_wq_attr_mask {
	/* wq_state. */
	IBV_WQ_ATTR_STATE = 1 << 0,
	/* curr_wq_state. */
	IBV_WQ_ATTR_CURR_STATE = 1 << 1,
	/* flags and flags_mask. */
	IBV_WQ_ATTR_FLAGS = 1 << 2,
	/* First undefined bit. */
	IBV_WQ_ATTR_RESERVED = 1 << 3,
};

/* Argument of ibv_modify_wq(3). */
struct ibv_wq_attr {
	/* Which members are set, see ibv_wq_attr_mask. */
	uint32_t attr_mask;
	/* State to move to. */
	enum ibv_wq_state wq_state;
	/* State that the caller believes the queue is in. */
	enum ibv_wq_state curr_wq_state;
	/* New values of the flags in flags_mask. */
	uint32_t flags;
	/* Flags to change, see ibv_wq_flags. */
	uint32_t flags_mask;
};

/* Bits of ibv_rwq_ind_table_init_attr.comp_mask. */
enum ibv_ind_table_init_attr_mask {
	/* First undefined bit. */
	IBV_CREATE_IND_TABLE_RESERVED = 1 << 0,
};

/* What ibv_create_rwq_ind_table(3) makes. */
struct ibv_rwq_ind_table_init_attr {
	/* Size of the table, as power of two of entries. */
	uint32_t log_ind_tbl_size;
	/* The work queues, one per entry; may repeat. */
	struct ibv_wq **ind_tbl;
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/* A table that turns the receive hash of a packet into a work queue. */
struct ibv_rwq_ind_table {
	/* Device context. */
	struct ibv_context *context;
	/* Kernel handle. */
	int ind_tbl_handle;
	/* Number of the table on the device. */
	int ind_tbl_num;
	/* No bits are defined. */
	uint32_t comp_mask;
};

/* ---- Queue pairs. */

/* Transport service of a QP, chosen at creation. */
enum ibv_qp_type {
	/* Reliable connection: one peer, ordered, acknowledged; all operations. */
	IBV_QPT_RC = 2,
	/* Unreliable connection: one peer, ordered, no acknowledgement; send and RDMA write. */
	IBV_QPT_UC = 3,
	/* Unreliable datagram: any peer, one packet per message; send only. */
	IBV_QPT_UD = 4,
	/* Whole Ethernet frames built by the application; needs CAP_NET_RAW. */
	IBV_QPT_RAW_PACKET = 8,
	/* Initiator half of an extended reliable connection: a send queue only. */
	IBV_QPT_XRC_SEND = 9,
	/*
	 * Target half of an extended reliable connection: no queues of its own, each message names
	 * the SRQ that receives it.
	 */
	IBV_QPT_XRC_RECV = 10,
	/* Vendor specific transport, made and used through the provider's own functions. */
	IBV_QPT_DRIVER = 255,
};

/*
 * State of a QP (IBTA volume 1, section 10.3.1). The caller moves it with ibv_modify_qp(3); errors
 * move it to SQE or ERR.
 */
enum ibv_qp_state {
	/* As created: posts fail, arriving packets are dropped silently. */
	IBV_QPS_RESET = 0,
	/* Receives may be posted; nothing is processed. */
	IBV_QPS_INIT = 1,
	/* Ready to receive: incoming packets are handled, sends may not be posted. */
	IBV_QPS_RTR = 2,
	/* Ready to send: fully operational. */
	IBV_QPS_RTS = 3,
	/* Send queue drain: posts are accepted but not started; attributes may be changed. */
	IBV_QPS_SQD = 4,
	/* Send queue error, UC and UD only: the send queue flushes, receives go on. */
	IBV_QPS_SQE = 5,
	/* All outstanding and new work requests are flushed with IBV_WC_WR_FLUSH_ERR. */
	IBV_QPS_ERR = 6,
	/* Not known to the library: a QP from ibv_open_qp(3) before its first query. */
	IBV_QPS_UNKNOWN = 7,
};

/*
 * Automatic path migration state (IBTA volume 1, section 17.2.8). The caller arms it, the device
 * migrates.
 */
enum ibv_mig_state {
	/* On the current path; the alternate path is not loaded. */
	IBV_MIG_MIGRATED = 0,
	/* An alternate path has been loaded and waits for the peer to agree. */
	IBV_MIG_REARM = 1,
	/* Both ends hold an alternate path; migration can happen at any time. */
	IBV_MIG_ARMED = 2,
};

/*
 * A queue pair, made by ibv_create_qp(3), ibv_create_qp_ex(3) or ibv_open_qp(3). The provider
 * allocates it inside its own larger struct.
 */
struct ibv_qp {
	/* Device context the QP belongs to. */
	struct ibv_context *context;
	/* The caller's pointer, as given at creation; the library does not use it. */
	void *qp_context;
	/* Protection domain; NULL for a QP from ibv_open_qp(3). */
	struct ibv_pd *pd;
	/* CQ of the send queue. */
	struct ibv_cq *send_cq;
	/* CQ of the receive queue. */
	struct ibv_cq *recv_cq;
	/* SRQ that replaces the receive queue, or NULL. */
	struct ibv_srq *srq;
	/* Kernel handle, valid on the context's command fd. */
	uint32_t handle;
	/* QP number on the wire, 24 bits, host byte order. */
	uint32_t qp_num;
	/* State as of the last successful modify or query through the library. */
	enum ibv_qp_state state;
	/* Transport service. */
	enum ibv_qp_type qp_type;
	/* Guards events_completed. */
	pthread_mutex_t mutex;
	/* Signalled when an event is acknowledged; ibv_destroy_qp(3) waits on it. */
	pthread_cond_t cond;
	/* Asynchronous events of this QP acknowledged so far. */
	uint32_t events_completed;
};

/*
 * Queue sizes. Input: what the caller needs; output: what it got, at least as much. Limits:
 * max_qp_wr, max_sge of ibv_device_attr.
 */
struct ibv_qp_cap {
	/* Outstanding work requests in the send queue. */
	uint32_t max_send_wr;
	/* Outstanding work requests in the receive queue; ignored with an SRQ. */
	uint32_t max_recv_wr;
	/* Scatter/gather entries per send request. */
	uint32_t max_send_sge;
	/* Scatter/gather entries per receive request; ignored with an SRQ. */
	uint32_t max_recv_sge;
	/* Bytes that can be sent with IBV_SEND_INLINE. */
	uint32_t max_inline_data;
};

/* What ibv_create_qp(3) makes; also filled by ibv_query_qp(3). */
struct ibv_qp_init_attr {
	/* Stored in ibv_qp.qp_context. */
	void *qp_context;
	/* CQ of the send queue. */
	struct ibv_cq *send_cq;
	/* CQ of the receive queue; may equal send_cq. */
	struct ibv_cq *recv_cq;
	/* Shared receive queue to take receives from, or NULL for a receive queue of its own. */
	struct ibv_srq *srq;
	/* Sizes; updated to the actual ones. */
	struct ibv_qp_cap cap;
	/* Transport service. */
	enum ibv_qp_type qp_type;
	/*
	 * Non-zero: every send request completes with an entry in the CQ. Zero: only those with
	 * IBV_SEND_SIGNALED, and failed ones.
	 */
	int sq_sig_all;
};

/* Bits of ibv_qp_init_attr_ex.comp_mask: which of the members after it are set. */
enum ibv_qp_init_attr_mask {
	/* pd; needed for every type but IBV_QPT_XRC_RECV. */
	IBV_QP_INIT_ATTR_PD = 1 << 0,
	/* xrcd; needed for IBV_QPT_XRC_RECV. */
	IBV_QP_INIT_ATTR_XRCD = 1 << 1,
	/* create_flags. */
	IBV_QP_INIT_ATTR_CREATE_FLAGS = 1 << 2,
	/* max_tso_header. */
	IBV_QP_INIT_ATTR_MAX_TSO_HEADER = 1 << 3,
	/* rwq_ind_tbl: receives are spread over work queues. */
	IBV_QP_INIT_ATTR_IND_TABLE = 1 << 4,
	/* rx_hash_conf. */
	IBV_QP_INIT_ATTR_RX_HASH = 1 << 5,
	/* send_ops_flags: the QP can be used as ibv_qp_ex. */
	IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 1 << 6,
};

/* Bits of ibv_qp_init_attr_ex.create_flags. */
enum ibv_qp_create_flags {
	/* Do not deliver multicast packets back to the QP that sent them. */
	IBV_QP_CREATE_BLOCK_SELF_MCAST_LB = 1 << 1,
	/* Deliver the Ethernet frame check sequence with the data; raw packet QP. */
	IBV_QP_CREATE_SCATTER_FCS = 1 << 8,
	/* Remove the customer VLAN tag of received frames; raw packet QP. */
	IBV_QP_CREATE_CVLAN_STRIPPING = 1 << 9,
	/* Use source_qpn on the wire; UD only. */
	IBV_QP_CREATE_SOURCE_QPN = 1 << 10,
	/* Pad writes of received data to a full cache line. */
	IBV_QP_CREATE_PCI_WRITE_END_PADDING = 1 << 11,
};

/* Receive hash of a QP with an indirection table; what a device can do is in ibv_rss_caps. */
struct ibv_rx_hash_conf {
	/* One of ibv_rx_hash_function_flags. */
	uint8_t rx_hash_function;
	/* Length of the key in bytes. */
	uint8_t rx_hash_key_len;
	/* Key of the hash function; read during creation only. */
	uint8_t *rx_hash_key;
	/* Fields to hash, see ibv_rx_hash_fields. */
	uint64_t rx_hash_fields_mask;
};

/* What ibv_create_qp_ex(3) makes; begins like ibv_qp_init_attr. */
struct ibv_qp_init_attr_ex {
	/* Stored in ibv_qp.qp_context. */
	void *qp_context;
	/* CQ of the send queue; NULL if the type has none. */
	struct ibv_cq *send_cq;
	/* CQ of the receive queue; NULL if the type has none or with an indirection table. */
	struct ibv_cq *recv_cq;
	/* Shared receive queue, or NULL. */
	struct ibv_srq *srq;
	/* Sizes; updated to the actual ones. */
	struct ibv_qp_cap cap;
	/* Transport service. */
	enum ibv_qp_type qp_type;
	/* Non-zero: every send request completes with an entry in the CQ. */
	int sq_sig_all;
	/* Which members below are set, see ibv_qp_init_attr_mask. */
	uint32_t comp_mask;
	/* Protection domain, or a parent domain. */
	struct ibv_pd *pd;
	/* XRC domain of an IBV_QPT_XRC_RECV QP. */
	struct ibv_xrcd *xrcd;
	/* See ibv_qp_create_flags. */
	uint32_t create_flags;
	/* Longest header of an IBV_WR_TSO request in bytes. */
	uint16_t max_tso_header;
	/* Indirection table that chooses the receive work queue by hash. */
	struct ibv_rwq_ind_table *rwq_ind_tbl;
	/* How the hash of a received packet is computed. */
	struct ibv_rx_hash_conf rx_hash_conf;
	/* QP number to use on the wire, with IBV_QP_CREATE_SOURCE_QPN. */
	uint32_t source_qpn;
	/*
	 * Operations that will be posted through ibv_qp_ex, see ibv_qp_create_send_ops_flags;
	 * creation fails if one is not supported.
	 */
	uint64_t send_ops_flags;
};

/* Hash functions of receive side scaling. */
enum ibv_rx_hash_function_flags {
	/* Toeplitz hash over the chosen fields. */
	IBV_RX_HASH_FUNC_TOEPLITZ = 1 << 0,
};

/* Packet fields that enter the receive hash. */
__extension__ enum ibv_rx_hash_fields {
	/* IPv4 source address. */
	IBV_RX_HASH_SRC_IPV4 = 1 << 0,
	/* IPv4 destination address. */
	IBV_RX_HASH_DST_IPV4 = 1 << 1,
	/* IPv6 source address. */
	IBV_RX_HASH_SRC_IPV6 = 1 << 2,
	/* IPv6 destination address. */
	IBV_RX_HASH_DST_IPV6 = 1 << 3,
	/* TCP source port. */
	IBV_RX_HASH_SRC_PORT_TCP = 1 << 4,
	/* TCP destination port. */
	IBV_RX_HASH_DST_PORT_TCP = 1 << 5,
	/* UDP source port. */
	IBV_RX_HASH_SRC_PORT_UDP = 1 << 6,
	/* UDP destination port. */
	IBV_RX_HASH_DST_PORT_UDP = 1 << 7,
	/* Security parameters index of an IPsec packet. */
	IBV_RX_HASH_IPSEC_SPI = 1 << 8,
	/* Take the other fields from the inner headers of a tunnelled packet. */
	IBV_RX_HASH_INNER = 1U << 31,
};

/* Bits of ibv_qp_open_attr.comp_mask. */
enum ibv_qp_open_attr_mask {
	/* qp_num; needed. */
	IBV_QP_OPEN_ATTR_NUM = 1 << 0,
	/* xrcd; needed. */
	IBV_QP_OPEN_ATTR_XRCD = 1 << 1,
	/* qp_context. */
	IBV_QP_OPEN_ATTR_CONTEXT = 1 << 2,
	/* qp_type; needed. */
	IBV_QP_OPEN_ATTR_TYPE = 1 << 3,
	/* First undefined bit. */
	IBV_QP_OPEN_ATTR_RESERVED = 1 << 4,
};

/* Names an existing XRC target QP that ibv_open_qp(3) shares with this process. */
struct ibv_qp_open_attr {
	/* Which members are set, see ibv_qp_open_attr_mask. */
	uint32_t comp_mask;
	/* Number of the QP. */
	uint32_t qp_num;
	/* XRC domain that the QP belongs to. */
	struct ibv_xrcd *xrcd;
	/* Stored in ibv_qp.qp_context. */
	void *qp_context;
	/* IBV_QPT_XRC_RECV. */
	enum ibv_qp_type qp_type;
};

/*
 * Attributes that ibv_modify_qp(3) sets and ibv_query_qp(3) is asked for: members of ibv_qp_attr.
 */
enum ibv_qp_attr_mask {
	/* qp_state. */
	IBV_QP_STATE = 1 << 0,
	/* cur_qp_state. */
	IBV_QP_CUR_STATE = 1 << 1,
	/* en_sqd_async_notify. */
	IBV_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	/* qp_access_flags. */
	IBV_QP_ACCESS_FLAGS = 1 << 3,
	/* pkey_index. */
	IBV_QP_PKEY_INDEX = 1 << 4,
	/* port_num. */
	IBV_QP_PORT = 1 << 5,
	/* qkey. */
	IBV_QP_QKEY = 1 << 6,
	/* ah_attr. */
	IBV_QP_AV = 1 << 7,
	/* path_mtu. */
	IBV_QP_PATH_MTU = 1 << 8,
	/* timeout. */
	IBV_QP_TIMEOUT = 1 << 9,
	/* retry_cnt. */
	IBV_QP_RETRY_CNT = 1 << 10,
	/* rnr_retry. */
	IBV_QP_RNR_RETRY = 1 << 11,
	/* rq_psn. */
	IBV_QP_RQ_PSN = 1 << 12,
	/* max_rd_atomic. */
	IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	/* alt_ah_attr, alt_pkey_index, alt_port_num and alt_timeout. */
	IBV_QP_ALT_PATH = 1 << 14,
	/* min_rnr_timer. */
	IBV_QP_MIN_RNR_TIMER = 1 << 15,
	/* sq_psn. */
	IBV_QP_SQ_PSN = 1 << 16,
	/* max_dest_rd_atomic. */
	IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	/* path_mig_state. */
	IBV_QP_PATH_MIG_STATE = 1 << 18,
	/* cap: resize the queues, where the device has IBV_DEVICE_RESIZE_MAX_WR. */
	IBV_QP_CAP = 1 << 19,
	/* dest_qp_num. */
	IBV_QP_DEST_QPN = 1 << 20,
	/* rate_limit, for the QP types of ibv_packet_pacing_caps; cannot be queried. */
	IBV_QP_RATE_LIMIT = 1 << 25,
};

/*
 * Attributes of a QP for ibv_modify_qp(3) and ibv_query_qp(3). All numbers are in host byte order;
 * only members named by the mask are read.
 */
struct ibv_qp_attr {
	/* State to move to; from a query, the current state. */
	enum ibv_qp_state qp_state;
	/* State that the caller believes the QP is in; optional in moves to RTS. */
	enum ibv_qp_state cur_qp_state;
	/* Largest payload of a packet on the path; connected types. */
	enum ibv_mtu path_mtu;
	/* Path migration state to enter. */
	enum ibv_mig_state path_mig_state;
	/* Q_Key that arriving datagrams must carry; UD only. */
	uint32_t qkey;
	/* First packet sequence number expected from the peer, 24 bits; connected types. */
	uint32_t rq_psn;
	/* First packet sequence number to send, 24 bits. */
	uint32_t sq_psn;
	/* QP number of the peer, 24 bits; connected types. */
	uint32_t dest_qp_num;
	/* What the peer may do, of ibv_access_flags: remote read, write, atomic and flush. */
	unsigned int qp_access_flags;
	/* Queue sizes; updated to the actual ones. */
	struct ibv_qp_cap cap;
	/* Primary path to the peer; connected types. */
	struct ibv_ah_attr ah_attr;
	/* Alternate path for automatic path migration. */
	struct ibv_ah_attr alt_ah_attr;
	/* Index into the P_Key table of the primary port. */
	uint16_t pkey_index;
	/* Index into the P_Key table of the alternate port. */
	uint16_t alt_pkey_index;
	/* Non-zero: raise IBV_EVENT_SQ_DRAINED when a move to SQD has drained the send queue. */
	uint8_t en_sqd_async_notify;
	/* Query only: non-zero while the send queue is draining; meaningful in SQD. */
	uint8_t sq_draining;
	/* RDMA reads and atomics this QP may have outstanding as initiator. */
	uint8_t max_rd_atomic;
	/* RDMA reads and atomics of the peer that this QP can hold as responder. */
	uint8_t max_dest_rd_atomic;
	/*
	 * Shortest wait this QP asks of a peer when no receive is posted: a code from 1 (0.01 ms)
	 * to 31 (491.52 ms), and 0 for 655.36 ms (IBTA volume 1, "Encoding for RNR NAK Timer
	 * Field").
	 */
	uint8_t min_rnr_timer;
	/* Primary port, from 1. */
	uint8_t port_num;
	/*
	 * Acknowledgement timeout of the primary path: 4.096 us * 2^timeout, 1 to 31; 0 waits for
	 * ever.
	 */
	uint8_t timeout;
	/* Resends after a missing acknowledgement or a sequence error, 0 to 7. */
	uint8_t retry_cnt;
	/* Resends after a receiver-not-ready answer, 0 to 6; 7 means for ever. */
	uint8_t rnr_retry;
	/* Port of the alternate path, from 1. */
	uint8_t alt_port_num;
	/* Acknowledgement timeout of the alternate path, coded like timeout. */
	uint8_t alt_timeout;
	/* Send rate limit in kbit/s; 0 is no limit. */
	uint32_t rate_limit;
};

/* Packet pacing of a QP, ibv_modify_qp_rate_limit(3); limits in ibv_packet_pacing_caps. */
struct ibv_qp_rate_limit_attr {
	/* Maximum send rate in kbit/s; 0 is no limit. */
	uint32_t rate_limit;
	/* Bytes that may leave back to back; 0 is the device's default. */
	uint32_t max_burst_sz;
	/* Usual packet size in bytes, to tune the gaps; 0 is the port's MTU. */
	uint16_t typical_pkt_sz;
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/*
 * Options of enhanced connection establishment: exchanged by connection managers, set and read with
 * ibv_set_ece(3) and ibv_query_ece(3).
 */
struct ibv_ece {
	/* IEEE OUI of the provider's vendor; 0 where ECE is not supported. */
	uint32_t vendor_id;
	/* Meaning known to the vendor only; the peer answers with the part it accepts. */
	uint32_t options;
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/* Flags of ibv_query_qp_data_in_order(3). */
enum ibv_query_qp_data_in_order_flags {
	/* Answer with a mask of ibv_query_qp_data_in_order_caps instead of 0 or 1. */
	IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS = 1 << 0,
	/*
	 * Answer for the device alone, whatever order the CPU sees; without it the answer is 0 on
	 * CPUs other than x86.
	 */
	IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY = 1 << 1,
};

/* How far the data of one message is written in order, answer of ibv_query_qp_data_in_order(3). */
enum ibv_query_qp_data_in_order_caps {
	/* Over the whole message, so that a reader may poll its last byte. */
	IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG = 1 << 0,
	/* Within each aligned block of 128 bytes. */
	IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES = 1 << 1,
};

/* ---- Work requests. */

/*
 * A piece of local memory, element of a scatter/gather list. A message is the concatenation of its
 * list.
 */
struct ibv_sge {
	/* First byte: a virtual address, or the offset in a zero based region. */
	uint64_t addr;
	/* Length in bytes, at most 2^31. */
	uint32_t length;
	/* Local key of the region that contains it; not looked at in an inline send. */
	uint32_t lkey;
};

/* A piece of memory copied at once, for ibv_wr_set_inline_data_list(3); needs no registration. */
struct ibv_data_buf {
	/* First byte. */
	void *addr;
	/* Length in bytes. */
	size_t length;
};

/*
 * Operation of a send request, ibv_post_send(3). The QP types that allow it stand in brackets;
 * XRC_SEND is like RC.
 */
enum ibv_wr_opcode {
	/* Write local memory to remote memory (RC, UC). */
	IBV_WR_RDMA_WRITE = 0,
	/*
	 * Write, and consume a receive of the peer, whose completion has the immediate data (RC,
	 * UC).
	 */
	IBV_WR_RDMA_WRITE_WITH_IMM = 1,
	/* Send a message into a receive of the peer (all). */
	IBV_WR_SEND = 2,
	/* Send with 32 bits of immediate data (RC, UC, UD). */
	IBV_WR_SEND_WITH_IMM = 3,
	/* Read remote memory into local memory (RC). */
	IBV_WR_RDMA_READ = 4,
	/* Compare and swap 8 bytes of remote memory (RC). */
	IBV_WR_ATOMIC_CMP_AND_SWP = 5,
	/* Fetch and add 8 bytes of remote memory (RC). */
	IBV_WR_ATOMIC_FETCH_AND_ADD = 6,
	/* Invalidate an own key of a type 2 window (RC, UC). */
	IBV_WR_LOCAL_INV = 7,
	/* Bind a type 2 memory window (RC, UC). */
	IBV_WR_BIND_MW = 8,
	/* Send, and invalidate a key at the peer (RC, UC). */
	IBV_WR_SEND_WITH_INV = 9,
	/* Send a TCP stream cut into segments by the device (UD, RAW_PACKET). */
	IBV_WR_TSO = 10,
	/* Reserved for an operation of the provider. */
	IBV_WR_DRIVER1 = 11,
	/* Flush remote memory to a placement domain (RC); through ibv_qp_ex only. */
	IBV_WR_FLUSH = 14,
	/* Write 8 bytes of remote memory in one piece (RC); through ibv_qp_ex only. */
	IBV_WR_ATOMIC_WRITE = 15,
};

/* Bits of ibv_send_wr.send_flags and ibv_qp_ex.wr_flags. */
enum ibv_send_flags {
	/* Start only when all earlier RDMA reads and atomics of the QP have completed; RC. */
	IBV_SEND_FENCE = 1 << 0,
	/* Write a completion on success too; for a QP without sq_sig_all. */
	IBV_SEND_SIGNALED = 1 << 1,
	/*
	 * Raise the peer's completion event even if it waits for solicited ones only; send and RDMA
	 * write with immediate.
	 */
	IBV_SEND_SOLICITED = 1 << 2,
	/*
	 * Copy the data while posting: buffers may be reused at once, keys are not looked at; send
	 * and RDMA write of up to max_inline_data bytes.
	 */
	IBV_SEND_INLINE = 1 << 3,
	/*
	 * Let the device fill in IPv4 and TCP or UDP checksums; UD and raw packet, where the device
	 * has IBV_DEVICE_UD_IP_CSUM or IBV_DEVICE_RAW_IP_CSUM.
	 */
	IBV_SEND_IP_CSUM = 1 << 4,
};

/*
 * A send request, element of the list given to ibv_post_send(3). The provider reads it during the
 * call only; the memory it names must stay until the completion.
 */
struct ibv_send_wr {
	/* The caller's value, returned in the completion. */
	uint64_t wr_id;
	/* Next request, or NULL. */
	struct ibv_send_wr *next;
	/* Local memory: source, or target of a read or atomic. */
	struct ibv_sge *sg_list;
	/* Elements of sg_list, at most max_send_sge of the QP. */
	int num_sge;
	/* Operation. */
	enum ibv_wr_opcode opcode;
	/* See ibv_send_flags. */
	unsigned int send_flags;
	/* Immediate data or key to invalidate. */
	__extension__ union {
		/* Immediate data of the _WITH_IMM operations, network byte order. */
		__be32 imm_data;
		/*
		 * Key to invalidate: at the peer with IBV_WR_SEND_WITH_INV, locally with
		 * IBV_WR_LOCAL_INV.
		 */
		uint32_t invalidate_rkey;
	};
	/* Destination. */
	union {
		/* RDMA reads and writes. */
		struct {
			/* First remote byte: address or offset that the remote key is based on. */
			uint64_t remote_addr;
			/* Remote key. */
			uint32_t rkey;
		} rdma;
		/* Atomics. */
		struct {
			/* Remote address, a multiple of 8. */
			uint64_t remote_addr;
			/* Value to compare with, or to add. */
			uint64_t compare_add;
			/* New value if the comparison holds; compare and swap only. */
			uint64_t swap;
			/* Remote key. */
			uint32_t rkey;
		} atomic;
		/* Everything on a UD QP. */
		struct {
			/* Address handle of the path, made in the QP's protection domain. */
			struct ibv_ah *ah;
			/* QP number of the receiver, 24 bits, host byte order. */
			uint32_t remote_qpn;
			/*
			 * Q_Key to send, host byte order; with the top bit set the QP's own Q_Key
			 * is sent instead.
			 */
			uint32_t remote_qkey;
		} ud;
	} wr;
	/* XRC destination. */
	union {
		/* XRC_SEND QPs, operations that consume a receive. */
		struct {
			/* Number of the peer's XRC SRQ, from ibv_get_srq_num(3). */
			uint32_t remote_srqn;
		} xrc;
	} qp_type;
	/* Operands of bind and segmentation requests. */
	__extension__ union {
		/* IBV_WR_BIND_MW. */
		struct {
			/* Type 2 memory window. */
			struct ibv_mw *mw;
			/*
			 * New remote key: the window's key with another low byte, ibv_inc_rkey(3).
			 */
			uint32_t rkey;
			/* Range and rights. */
			struct ibv_mw_bind_info bind_info;
		} bind_mw;
		/* IBV_WR_TSO. */
		struct {
			/* Headers up to and including TCP, put in front of every segment. */
			void *hdr;
			/* Length of hdr in bytes, at most max_tso_header of the QP. */
			uint16_t hdr_sz;
			/* Payload bytes per segment. */
			uint16_t mss;
		} tso;
	};
};

/*
 * A receive request, element of the list given to ibv_post_recv(3), ibv_post_srq_recv(3) or
 * ibv_post_wq_recv. On a UD QP the first 40 bytes are kept for the GRH.
 */
struct ibv_recv_wr {
	/* The caller's value, returned in the completion. */
	uint64_t wr_id;
	/* Next request, or NULL. */
	struct ibv_recv_wr *next;
	/* Memory to fill. */
	struct ibv_sge *sg_list;
	/* Elements of sg_list, at most max_recv_sge of the queue. */
	int num_sge;
};

/* ---- Queue pairs that are posted to by calls. */

/*
 * Operations asked for with ibv_qp_init_attr_ex.send_ops_flags; only these may be posted through
 * ibv_qp_ex.
 */
enum ibv_qp_create_send_ops_flags {
	/* wr_rdma_write. */
	IBV_QP_EX_WITH_RDMA_WRITE = 1 << 0,
	/* wr_rdma_write_imm. */
	IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM = 1 << 1,
	/* wr_send. */
	IBV_QP_EX_WITH_SEND = 1 << 2,
	/* wr_send_imm. */
	IBV_QP_EX_WITH_SEND_WITH_IMM = 1 << 3,
	/* wr_rdma_read. */
	IBV_QP_EX_WITH_RDMA_READ = 1 << 4,
	/* wr_atomic_cmp_swp. */
	IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP = 1 << 5,
	/* wr_atomic_fetch_add. */
	IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD = 1 << 6,
	/* wr_local_inv. */
	IBV_QP_EX_WITH_LOCAL_INV = 1 << 7,
	/* wr_bind_mw. */
	IBV_QP_EX_WITH_BIND_MW = 1 << 8,
	/* wr_send_inv. */
	IBV_QP_EX_WITH_SEND_WITH_INV = 1 << 9,
	/* wr_send_tso. */
	IBV_QP_EX_WITH_TSO = 1 << 10,
	/* wr_flush. */
	IBV_QP_EX_WITH_FLUSH = 1 << 11,
	/* wr_atomic_write. */
	IBV_QP_EX_WITH_ATOMIC_WRITE = 1 << 12,
};

/* How much wr_flush flushes (IBTA, memory placement extensions). */
enum ibv_selectivity_level {
	/* The given range. */
	IBV_FLUSH_RANGE = 0,
	/* The whole memory region of the key; the range is ignored. */
	IBV_FLUSH_MR = 1,
};

/* What a flush guarantees when it completes. */
enum ibv_placement_type {
	/* The data is visible to everything on the peer's host. */
	IBV_FLUSH_GLOBAL = 1 << 0,
	/* The data is in persistent memory. */
	IBV_FLUSH_PERSISTENT = 1 << 1,
};

/*
 * A QP whose send queue is filled by calls; from ibv_qp_to_qp_ex(3), NULL for a QP made without
 * IBV_QP_INIT_ATTR_SEND_OPS_FLAGS. The order is wr_start, then for each request wr_id and wr_flags,
 * one builder and its setters, then wr_complete. The provider sets the pointers; those of
 * operations not asked for may be NULL. Errors surface in wr_complete only.
 */
struct ibv_qp_ex {
	/* The QP itself. */
	struct ibv_qp qp_base;
	/* No bits are defined. */
	uint64_t comp_mask;
	/* Set by the caller before a builder: returned in the completion. */
	uint64_t wr_id;
	/* Set by the caller before a builder: ibv_send_flags, without IBV_SEND_INLINE. */
	unsigned int wr_flags;
	/* Builder: compare and swap 8 bytes. */
	void (*wr_atomic_cmp_swp)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t
			remote_addr, uint64_t compare, uint64_t swap);
	/* Builder: fetch and add 8 bytes. */
	void (*wr_atomic_fetch_add)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t
			remote_addr, uint64_t add);
	/* Builder: bind a type 2 window and give it rkey; no data. */
	void (*wr_bind_mw)(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *bind_info);
	/* Builder: invalidate an own key; no data. */
	void (*wr_local_inv)(struct ibv_qp_ex *qp, uint32_t invalidate_rkey);
	/* Builder: read into the memory set afterwards. */
	void (*wr_rdma_read)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
	/* Builder: write the memory set afterwards. */
	void (*wr_rdma_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr);
	/* Builder: write with immediate data, network byte order. */
	void (*wr_rdma_write_imm)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t
			remote_addr, __be32 imm_data);
	/* Builder: send the memory set afterwards. */
	void (*wr_send)(struct ibv_qp_ex *qp);
	/* Builder: send with immediate data, network byte order. */
	void (*wr_send_imm)(struct ibv_qp_ex *qp, __be32 imm_data);
	/* Builder: send, and invalidate a key at the peer. */
	void (*wr_send_inv)(struct ibv_qp_ex *qp, uint32_t invalidate_rkey);
	/* Builder: segment a TCP stream; lengths in bytes. */
	void (*wr_send_tso)(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss);
	/* Setter, needed on a UD QP: destination. */
	void (*wr_set_ud_addr)(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t
			remote_qpn, uint32_t remote_qkey);
	/* Setter, needed on an XRC_SEND QP: destination SRQ. */
	void (*wr_set_xrc_srqn)(struct ibv_qp_ex *qp, uint32_t remote_srqn);
	/* Setter: copy one piece of data into the request. */
	void (*wr_set_inline_data)(struct ibv_qp_ex *qp, void *addr, size_t length);
	/* Setter: copy several pieces of data. */
	void (*wr_set_inline_data_list)(struct ibv_qp_ex *qp, size_t num_buf, const
			struct ibv_data_buf *buf_list);
	/* Setter: one piece of registered memory. */
	void (*wr_set_sge)(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length);
	/* Setter: a scatter/gather list. */
	void (*wr_set_sge_list)(struct ibv_qp_ex *qp, size_t num_sge, const struct
			ibv_sge *sg_list);
	/* Begin a batch; takes the lock of the send queue, if it has one. */
	void (*wr_start)(struct ibv_qp_ex *qp);
	/*
	 * End the batch and hand it to the device. Returns 0, or an errno value if any call of the
	 * batch failed; then nothing of it is posted.
	 */
	int (*wr_complete)(struct ibv_qp_ex *qp);
	/* End the batch and drop it. */
	void (*wr_abort)(struct ibv_qp_ex *qp);
	/* Builder: write 8 bytes from atomic_wr in one piece. */
	void (*wr_atomic_write)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t
			remote_addr, const void *atomic_wr);
	/*
	 * Builder: flush remote memory: an ibv_placement_type and an ibv_selectivity_level; no
	 * data.
	 */
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			size_t len, uint8_t type, uint8_t level);
};

/* ---- Flow rules. */

/* Kind of a rule. */
enum ibv_flow_attr_type {
	/* What the specifications match. */
	IBV_FLOW_ATTR_NORMAL = 0,
	/* All Ethernet traffic that no other rule takes. */
	IBV_FLOW_ATTR_ALL_DEFAULT = 1,
	/* All Ethernet multicast that no other rule takes. */
	IBV_FLOW_ATTR_MC_DEFAULT = 2,
	/* A copy of all traffic of the port; no specifications. */
	IBV_FLOW_ATTR_SNIFFER = 3,
};

/* Bits of ibv_flow_attr.flags. */
enum ibv_flow_flags {
	/* The packet goes on to rules of lower priority; normal rules only. */
	IBV_FLOW_ATTR_FLAGS_DONT_TRAP = 1 << 1,
	/* Match sent packets; the QP only names the device. */
	IBV_FLOW_ATTR_FLAGS_EGRESS = 1 << 2,
};

/* A flow rule for ibv_create_flow(3); the specifications follow it. */
struct ibv_flow_attr {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
	/* Kind; type in C. */
	enum ibv_flow_attr_type type;
	/* Bytes of this struct and its specifications. */
	uint16_t size;
	/* 0 is the highest. */
	uint16_t priority;
	/* Specifications that follow. */
	uint8_t num_of_specs;
	/* Port, from 1. */
	uint8_t port;
	/* See ibv_flow_flags. */
	uint32_t flags;
};

/* A flow rule in force. */
struct ibv_flow {
	/* No bits are defined. */
	uint32_t comp_mask;
	/* Device context. */
	struct ibv_context *context;
	/* Kernel handle. */
	uint32_t handle;
};

/* Kind of a specification: a header to match or an action to take. */
enum ibv_flow_spec_type {
	/* Ethernet, ibv_flow_spec_eth. */
	IBV_FLOW_SPEC_ETH = 32,
	/* IPv4 addresses, ibv_flow_spec_ipv4. */
	IBV_FLOW_SPEC_IPV4 = 48,
	/* IPv6, ibv_flow_spec_ipv6. */
	IBV_FLOW_SPEC_IPV6 = 49,
	/* IPv4 with more fields, ibv_flow_spec_ipv4_ext. */
	IBV_FLOW_SPEC_IPV4_EXT = 50,
	/* IPsec ESP, ibv_flow_spec_esp. */
	IBV_FLOW_SPEC_ESP = 52,
	/* TCP, ibv_flow_spec_tcp_udp. */
	IBV_FLOW_SPEC_TCP = 64,
	/* UDP, ibv_flow_spec_tcp_udp. */
	IBV_FLOW_SPEC_UDP = 65,
	/* VXLAN, ibv_flow_spec_tunnel. */
	IBV_FLOW_SPEC_VXLAN_TUNNEL = 80,
	/* GRE, ibv_flow_spec_gre. */
	IBV_FLOW_SPEC_GRE = 81,
	/* MPLS, ibv_flow_spec_mpls; its place in the list is its place in the packet. */
	IBV_FLOW_SPEC_MPLS = 96,
	/* Flag: the header inside a tunnel. */
	IBV_FLOW_SPEC_INNER = 1 << 8,
	/* Tag the completion, ibv_flow_spec_action_tag. */
	IBV_FLOW_SPEC_ACTION_TAG = 4096,
	/* Drop the packet, ibv_flow_spec_action_drop. */
	IBV_FLOW_SPEC_ACTION_DROP = 4097,
	/* Carry out a flow action, ibv_flow_spec_action_handle. */
	IBV_FLOW_SPEC_ACTION_HANDLE = 4098,
	/* Count the packet, ibv_flow_spec_counter_action. */
	IBV_FLOW_SPEC_ACTION_COUNT = 4099,
};

/* Ethernet fields. */
struct ibv_flow_eth_filter {
	/* Destination. */
	uint8_t dst_mac[6];
	/* Source. */
	uint8_t src_mac[6];
	/* Type after the last VLAN tag, network byte order. */
	uint16_t ether_type;
	/* VLAN tag: priority and id, network byte order. */
	uint16_t vlan_tag;
};

/* Matches an Ethernet header. */
struct ibv_flow_spec_eth {
	/* IBV_FLOW_SPEC_ETH. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_eth_filter val;
	/* Bits that count. */
	struct ibv_flow_eth_filter mask;
};

/* IPv4 addresses, network byte order. */
struct ibv_flow_ipv4_filter {
	/* Source. */
	uint32_t src_ip;
	/* Destination. */
	uint32_t dst_ip;
};

/* Matches IPv4 addresses. */
struct ibv_flow_spec_ipv4 {
	/* IBV_FLOW_SPEC_IPV4. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_ipv4_filter val;
	/* Bits that count. */
	struct ibv_flow_ipv4_filter mask;
};

/* IPv4 fields. */
struct ibv_flow_ipv4_ext_filter {
	/* Source, network byte order. */
	uint32_t src_ip;
	/* Destination, network byte order. */
	uint32_t dst_ip;
	/* Protocol above. */
	uint8_t proto;
	/* Type of service. */
	uint8_t tos;
	/* Time to live. */
	uint8_t ttl;
	/* Fragmentation flags. */
	uint8_t flags;
};

/* Matches an IPv4 header. */
struct ibv_flow_spec_ipv4_ext {
	/* IBV_FLOW_SPEC_IPV4_EXT. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_ipv4_ext_filter val;
	/* Bits that count. */
	struct ibv_flow_ipv4_ext_filter mask;
};

/* IPv6 fields. */
struct ibv_flow_ipv6_filter {
	/* Source. */
	uint8_t src_ip[16];
	/* Destination. */
	uint8_t dst_ip[16];
	/* Flow label, network byte order. */
	uint32_t flow_label;
	/* Protocol above. */
	uint8_t next_hdr;
	/* Traffic class. */
	uint8_t traffic_class;
	/* Hop limit. */
	uint8_t hop_limit;
};

/* Matches an IPv6 header. */
struct ibv_flow_spec_ipv6 {
	/* IBV_FLOW_SPEC_IPV6. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_ipv6_filter val;
	/* Bits that count. */
	struct ibv_flow_ipv6_filter mask;
};

/* IPsec ESP fields, network byte order. */
struct ibv_flow_esp_filter {
	/* Security parameters index. */
	uint32_t spi;
	/* Sequence number. */
	uint32_t seq;
};

/* Matches an IPsec ESP header. */
struct ibv_flow_spec_esp {
	/* IBV_FLOW_SPEC_ESP. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_esp_filter val;
	/* Bits that count. */
	struct ibv_flow_esp_filter mask;
};

/* Ports, network byte order. */
struct ibv_flow_tcp_udp_filter {
	/* Destination. */
	uint16_t dst_port;
	/* Source. */
	uint16_t src_port;
};

/* Matches TCP or UDP ports. */
struct ibv_flow_spec_tcp_udp {
	/* IBV_FLOW_SPEC_TCP or IBV_FLOW_SPEC_UDP. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_tcp_udp_filter val;
	/* Bits that count. */
	struct ibv_flow_tcp_udp_filter mask;
};

/* GRE fields, network byte order. */
struct ibv_flow_gre_filter {
	/* First 16 bits of the header: flags and version. */
	uint16_t c_ks_res0_ver;
	/* Ether type of the payload. */
	uint16_t protocol;
	/* Key. */
	uint32_t key;
};

/* Matches a GRE header. */
struct ibv_flow_spec_gre {
	/* IBV_FLOW_SPEC_GRE. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_gre_filter val;
	/* Bits that count. */
	struct ibv_flow_gre_filter mask;
};

/* MPLS label stack entry. */
struct ibv_flow_mpls_filter {
	/*
	 * Label (20 bits), traffic class (3), bottom of stack (1), time to live (8); network byte
	 * order.
	 */
	uint32_t label;
};

/* Matches an MPLS label stack entry. */
struct ibv_flow_spec_mpls {
	/* IBV_FLOW_SPEC_MPLS. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_mpls_filter val;
	/* Bits that count. */
	struct ibv_flow_mpls_filter mask;
};

/* VXLAN fields. */
struct ibv_flow_tunnel_filter {
	/* Network identifier, network byte order. */
	uint32_t tunnel_id;
};

/* Matches a VXLAN header. */
struct ibv_flow_spec_tunnel {
	/* IBV_FLOW_SPEC_VXLAN_TUNNEL. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Values. */
	struct ibv_flow_tunnel_filter val;
	/* Bits that count. */
	struct ibv_flow_tunnel_filter mask;
};

/* Marks the completions of packets that match. */
struct ibv_flow_spec_action_tag {
	/* IBV_FLOW_SPEC_ACTION_TAG. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* Value for ibv_wc_read_flow_tag, host byte order. */
	uint32_t tag_id;
};

/* Drops packets that match. */
struct ibv_flow_spec_action_drop {
	/* IBV_FLOW_SPEC_ACTION_DROP. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
};

/* Applies a flow action to packets that match. */
struct ibv_flow_spec_action_handle {
	/* IBV_FLOW_SPEC_ACTION_HANDLE. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* From ibv_create_flow_action_esp(3). */
	const struct ibv_flow_action *action;
};

/* Counts packets that match. */
struct ibv_flow_spec_counter_action {
	/* IBV_FLOW_SPEC_ACTION_COUNT. */
	enum ibv_flow_spec_type type;
	/* Bytes of this struct. */
	uint16_t size;
	/* From ibv_create_counters(3). */
	struct ibv_counters *counters;
};

/* Any specification. */
__extension__ struct ibv_flow_spec {
	union {
		/* Kind and size. */
		struct {
			/* Kind; type in C. */
			enum ibv_flow_spec_type type;
			/* Bytes of the specification. */
			uint16_t size;
		} hdr;
		/* Ethernet. */
		struct ibv_flow_spec_eth eth;
		/* IPv4 addresses. */
		struct ibv_flow_spec_ipv4 ipv4;
		/* TCP or UDP. */
		struct ibv_flow_spec_tcp_udp tcp_udp;
		/* IPv4. */
		struct ibv_flow_spec_ipv4_ext ipv4_ext;
		/* IPv6. */
		struct ibv_flow_spec_ipv6 ipv6;
		/* IPsec ESP. */
		struct ibv_flow_spec_esp esp;
		/* VXLAN. */
		struct ibv_flow_spec_tunnel tunnel;
		/* GRE. */
		struct ibv_flow_spec_gre gre;
		/* MPLS. */
		struct ibv_flow_spec_mpls mpls;
		/* Tag. */
		struct ibv_flow_spec_action_tag flow_tag;
		/* Drop. */
		struct ibv_flow_spec_action_drop drop;
		/* Flow action. */
		struct ibv_flow_spec_action_handle handle;
		/* Count. */
		struct ibv_flow_spec_counter_action flow_count;
	};
};

/* An action that flow rules can carry out, ibv_create_flow_action_esp(3). */
struct ibv_flow_action {
	/* Device context. */
	struct ibv_context *context;
};

/* Bits of ibv_flow_action_esp_attr.comp_mask. */
enum ibv_flow_action_esp_mask {
	/* esn. */
	IBV_FLOW_ACTION_ESP_MASK_ESN = 1 << 0,
};

/*
 * An IPsec ESP encryption or decryption. When modifying, a NULL pointer leaves that part as it is.
 */
struct ibv_flow_action_esp_attr {
	/* Security association. */
	struct ib_uverbs_flow_action_esp *esp_attr;
	/* Kind of key material. */
	enum ib_uverbs_flow_action_esp_keymat keymat_proto;
	/* Bytes at keymat_ptr. */
	uint16_t keymat_len;
	/* Key material, ib_uverbs_flow_action_esp_keymat_aes_gcm. */
	void *keymat_ptr;
	/* Kind of replay protection; full offload only. */
	enum ib_uverbs_flow_action_esp_replay replay_proto;
	/* Bytes at replay_ptr. */
	uint16_t replay_len;
	/* Replay protection, ib_uverbs_flow_action_esp_replay_bmp. */
	void *replay_ptr;
	/* Headers around the ESP packet, for tunnel mode; full offload only. */
	struct ib_uverbs_flow_action_esp_encap *esp_encap;
	/* Which members below are set, see ibv_flow_action_esp_mask. */
	uint32_t comp_mask;
	/* Upper 32 bits of the extended sequence number to start with. */
	uint32_t esn;
};

/* ---- Counters. */

/* What a flow counter counts. */
enum ibv_counter_description {
	/* Packets that matched. */
	IBV_COUNTER_PACKETS = 0,
	/* Bytes of packets that matched. */
	IBV_COUNTER_BYTES = 1,
};

/* Argument of ibv_create_counters(3). */
struct ibv_counters_init_attr {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/*
 * A set of counters. It counts for the flow rules that carry it as an ibv_flow_spec_counter_action.
 */
struct ibv_counters {
	/* Device context. */
	struct ibv_context *context;
};

/* Adds a counter to a set, ibv_attach_counters_point_flow(3). */
struct ibv_counter_attach_attr {
	/* What it counts. */
	enum ibv_counter_description counter_desc;
	/* Its place in the array that ibv_read_counters(3) fills. */
	uint32_t index;
	/* No bits are defined; 0. */
	uint32_t comp_mask;
};

/* Flags of ibv_read_counters(3). */
enum ibv_read_counters_flags {
	/* Values that the driver holds are recent enough. */
	IBV_READ_COUNTERS_ATTR_PREFER_CACHED = 1 << 0,
};

/* What a completion counter counts. */
enum ibv_comp_cntr_type {
	/* Work requests. */
	IBV_COMP_CNTR_TYPE_WRS = 0,
	/* Bytes. */
	IBV_COMP_CNTR_TYPE_BYTES = 1,
};

/* What ibv_create_comp_cntr(3) makes. */
struct ibv_comp_cntr_init_attr {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
	/* What it counts; type in C. */
	enum ibv_comp_cntr_type type;
	/* No bits are defined; 0. */
	uint32_t flags;
};

/*
 * A completion counter: a count of successful completions and one of errors, ibv_read_comp_cntr(3)
 * and ibv_read_err_comp_cntr(3).
 */
struct ibv_comp_cntr {
	/* Device context. */
	struct ibv_context *context;
	/* Kernel handle. */
	uint32_t handle;
};

/* Completion counters of a device, ibv_query_comp_cntr_caps(3). */
struct ibv_comp_cntr_caps {
	/* Largest value; the next increment wraps to 0. */
	uint64_t max_value;
	/* Counters that can be created. */
	uint32_t max_counters;
	/* Operations that can be counted, see ibv_qp_attach_comp_cntr_op. */
	uint32_t supported_qp_attach_ops;
};

/* Operations that a counter attached to a QP counts. Each may go to one counter of the QP only. */
enum ibv_qp_attach_comp_cntr_op {
	/* Sends of the QP. */
	IBV_QP_ATTACH_COMP_CNTR_OP_SEND = 1 << 0,
	/* Receives of the QP. */
	IBV_QP_ATTACH_COMP_CNTR_OP_RECV = 1 << 1,
	/* RDMA reads of the QP. */
	IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ = 1 << 2,
	/* RDMA reads of the peer. */
	IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ = 1 << 3,
	/* RDMA writes of the QP. */
	IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE = 1 << 4,
	/* RDMA writes of the peer. */
	IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE = 1 << 5,
};

/* Argument of ibv_qp_attach_comp_cntr(3); the QP must be in RESET or INIT. */
struct ibv_qp_attach_comp_cntr_attr {
	/* No bits are defined; 0. */
	uint32_t comp_mask;
	/* See ibv_qp_attach_comp_cntr_op. */
	uint32_t op_mask;
};

/* ---- Contexts. */

enum {
	/* Size of a name in ibv_device, in bytes. */
	IBV_SYSFS_NAME_MAX = 64,
	/* Size of a path in ibv_device, in bytes. */
	IBV_SYSFS_PATH_MAX = 256,
};

/* Whether a process may fork while memory is registered, ibv_is_fork_initialized(3). */
enum ibv_fork_status {
	/* ibv_fork_init(3) has not been called: the child must not touch registered pages. */
	IBV_FORK_DISABLED = 0,
	/* Registered ranges are kept out of the child. */
	IBV_FORK_ENABLED = 1,
	/* The kernel copies registered pages when forking: nothing needs doing. */
	IBV_FORK_UNNEEDED = 2,
};

/*
 * The provider's functions behind the inline verbs. The slots named _compat_ are called only by
 * programs built against very old headers; the library keeps the matching operation there where one
 * fits.
 */
struct ibv_context_ops {
	/* ibv_query_device(3). */
	int (*_compat_query_device)(struct ibv_context *context, struct
			ibv_device_attr *device_attr);
	/* ibv_query_port(3) with the narrow struct. */
	int (*_compat_query_port)(struct ibv_context *context, uint8_t port_num,
			struct _compat_ibv_port_attr *port_attr);
	/* ibv_alloc_pd(3). */
	void *(*_compat_alloc_pd)(void);
	/* ibv_dealloc_pd(3). */
	void *(*_compat_dealloc_pd)(void);
	/* ibv_reg_mr(3). */
	void *(*_compat_reg_mr)(void);
	/* ibv_rereg_mr(3). */
	void *(*_compat_rereg_mr)(void);
	/* ibv_dereg_mr(3). */
	void *(*_compat_dereg_mr)(void);
	/* ibv_alloc_mw(3); NULL and errno on failure. */
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	/* ibv_bind_mw(3); 0 or an errno value. */
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
	/* ibv_dealloc_mw(3); 0 or an errno value. */
	int (*dealloc_mw)(struct ibv_mw *mw);
	/* ibv_create_cq(3). */
	void *(*_compat_create_cq)(void);
	/* ibv_poll_cq(3): number of completions written to wc, or negative on failure. */
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	/* ibv_req_notify_cq(3); 0 or an errno value. */
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	/* Told of each completion event. */
	void *(*_compat_cq_event)(void);
	/* ibv_resize_cq(3). */
	void *(*_compat_resize_cq)(void);
	/* ibv_destroy_cq(3). */
	void *(*_compat_destroy_cq)(void);
	/* ibv_create_srq(3). */
	void *(*_compat_create_srq)(void);
	/* ibv_modify_srq(3). */
	void *(*_compat_modify_srq)(void);
	/* ibv_query_srq(3). */
	void *(*_compat_query_srq)(void);
	/* ibv_destroy_srq(3). */
	void *(*_compat_destroy_srq)(void);
	/* ibv_post_srq_recv(3); 0, or an errno value and the first request not posted. */
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
			struct ibv_recv_wr **bad_recv_wr);
	/* ibv_create_qp(3). */
	void *(*_compat_create_qp)(void);
	/* ibv_query_qp(3). */
	void *(*_compat_query_qp)(void);
	/* ibv_modify_qp(3). */
	void *(*_compat_modify_qp)(void);
	/* ibv_destroy_qp(3). */
	void *(*_compat_destroy_qp)(void);
	/* ibv_post_send(3); 0, or an errno value and the first request not posted. */
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
	/* ibv_post_recv(3); 0, or an errno value and the first request not posted. */
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	/* ibv_create_ah(3). */
	void *(*_compat_create_ah)(void);
	/* ibv_destroy_ah(3). */
	void *(*_compat_destroy_ah)(void);
	/* ibv_attach_mcast(3). */
	void *(*_compat_attach_mcast)(void);
	/* ibv_detach_mcast(3). */
	void *(*_compat_detach_mcast)(void);
	/* Told of each asynchronous event. */
	void *(*_compat_async_event)(void);
};

/*
 * An open device, ibv_open_device(3). It is the end of a verbs_context when abi_compat is all ones.
 */
struct ibv_context {
	/* The device; stays valid as long as the context is open. */
	struct ibv_device *device;
	/* Data path functions, called by the inline verbs. */
	struct ibv_context_ops ops;
	/* Descriptor of the device file for commands. */
	int cmd_fd;
	/* Descriptor of asynchronous events, readable when one waits. */
	int async_fd;
	/* Interrupt vectors that CQs can choose from. */
	int num_comp_vectors;
	/* Guards the reference counts of completion channels. */
	pthread_mutex_t mutex;
	/* All ones: there is a verbs_context around it. */
	void *abi_compat;
};

/* Bits of ibv_values_ex.comp_mask. */
enum ibv_values_mask {
	/* raw_clock. */
	IBV_VALUES_MASK_RAW_CLOCK = 1 << 0,
	/* First undefined bit. */
	IBV_VALUES_MASK_RESERVED = 1 << 1,
};

/* Values of the moment, ibv_query_rt_values_ex(3). */
struct ibv_values_ex {
	/* In: what is asked for; out: what is set. See ibv_values_mask. */
	uint32_t comp_mask;
	/* Device clock in ticks, in tv_nsec; same clock as completion timestamps. */
	struct timespec raw_clock;
};

/*
 * The extended context: more functions of the provider, called by the inline verbs. It grows at its
 * front, so that every slot keeps its distance to context. A slot may be called if sz covers it and
 * it is not NULL. Functions return what their verb returns.
 */
struct verbs_context {
	/* ibv_free_buf(3). */
	void (*free_buf)(struct ibv_buf *buf);
	/* ibv_alloc_buf(3); size in bytes. */
	void *(*alloc_buf)(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
	/* ibv_dm_export_dmabuf_fd(3): descriptor, or -1 and errno. */
	int (*dm_export_dmabuf_fd)(struct ibv_dm *dm);
	/* ibv_reg_mr_ex(3). */
	struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);
	/* ibv_dealloc_dmah(3). */
	int (*dealloc_dmah)(struct ibv_dmah *dmah);
	/* ibv_alloc_dmah(3). */
	struct ibv_dmah *(*alloc_dmah)(struct ibv_context *context, struct
			ibv_dmah_init_attr *attr);
	/* ibv_query_port(3); port_attr_len is the size of the caller's struct. */
	int (*query_port)(struct ibv_context *context, uint8_t port_num, struct
			ibv_port_attr *port_attr, size_t port_attr_len);
	/* ibv_advise_mr(3). */
	int (*advise_mr)(struct ibv_pd *pd, enum ib_uverbs_advise_mr_advice advice,
			uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sges);
	/* ibv_alloc_null_mr(3). */
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	/* ibv_read_counters(3). */
	int (*read_counters)(struct ibv_counters *counters, uint64_t
			*counters_value, uint32_t ncounters, uint32_t flags);
	/* ibv_attach_counters_point_flow(3). */
	int (*attach_counters_point_flow)(struct ibv_counters *counters, struct
			ibv_counter_attach_attr *attr, struct ibv_flow *flow);
	/* ibv_create_counters(3). */
	struct ibv_counters *(*create_counters)(struct ibv_context *context, struct
			ibv_counters_init_attr *init_attr);
	/* ibv_destroy_counters(3). */
	int (*destroy_counters)(struct ibv_counters *counters);
	/* ibv_reg_dm_mr(3); offset and length in bytes. */
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t
			dm_offset, size_t length, unsigned int access);
	/* ibv_alloc_dm(3). */
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
	/* ibv_free_dm(3). */
	int (*free_dm)(struct ibv_dm *dm);
	/* ibv_modify_flow_action_esp(3). */
	int (*modify_flow_action_esp)(struct ibv_flow_action *action, struct
			ibv_flow_action_esp_attr *attr);
	/* ibv_destroy_flow_action(3). */
	int (*destroy_flow_action)(struct ibv_flow_action *action);
	/* ibv_create_flow_action_esp(3). */
	struct ibv_flow_action *(*create_flow_action_esp)(struct ibv_context
			*context, struct ibv_flow_action_esp_attr *attr);
	/* ibv_modify_qp_rate_limit(3). */
	int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
	/* ibv_alloc_parent_domain(3). */
	struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context, struct
			ibv_parent_domain_init_attr *attr);
	/* ibv_dealloc_td(3). */
	int (*dealloc_td)(struct ibv_td *td);
	/* ibv_alloc_td(3). */
	struct ibv_td *(*alloc_td)(struct ibv_context *context, struct ibv_td_init_attr *init_attr);
	/* ibv_modify_cq(3). */
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	/* ibv_post_srq_ops(3). */
	int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op);
	/* ibv_destroy_rwq_ind_table(3). */
	int (*destroy_rwq_ind_table)(struct ibv_rwq_ind_table *rwq_ind_table);
	/* ibv_create_rwq_ind_table(3). */
	struct ibv_rwq_ind_table *(*create_rwq_ind_table)(struct ibv_context
			*context, struct ibv_rwq_ind_table_init_attr *init_attr);
	/* ibv_destroy_wq(3). */
	int (*destroy_wq)(struct ibv_wq *wq);
	/* ibv_modify_wq(3). */
	int (*modify_wq)(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr);
	/* ibv_create_wq(3). */
	struct ibv_wq *(*create_wq)(struct ibv_context *context, struct
			ibv_wq_init_attr *wq_init_attr);
	/* ibv_query_rt_values_ex(3). */
	int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
	/* ibv_create_cq_ex(3). */
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context, struct
			ibv_cq_init_attr_ex *init_attr);
	/* The library's own part; opaque. priv in C. */
	struct verbs_ex_private *priv;
	/* ibv_query_device_ex(3); attr_size is the size of the caller's struct. */
	int (*query_device_ex)(struct ibv_context *context, const struct
			ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr, size_t
			attr_size);
	/* ibv_destroy_flow(3). */
	int (*ibv_destroy_flow)(struct ibv_flow *flow);
	/* Former place of ibv_destroy_flow; filled with the same function. */
	void (*ABI_placeholder2)(void);
	/* ibv_create_flow(3). */
	struct ibv_flow *(*ibv_create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *flow_attr);
	/* Former place of ibv_create_flow; filled with the same function. */
	void (*ABI_placeholder1)(void);
	/* ibv_open_qp(3). */
	struct ibv_qp *(*open_qp)(struct ibv_context *context, struct ibv_qp_open_attr *attr);
	/* ibv_create_qp_ex(3). */
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context, struct
			ibv_qp_init_attr_ex *qp_init_attr_ex);
	/* ibv_get_srq_num(3). */
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	/* ibv_create_srq_ex(3). */
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context, struct
			ibv_srq_init_attr_ex *srq_init_attr_ex);
	/* ibv_open_xrcd(3). */
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context, struct
			ibv_xrcd_init_attr *xrcd_init_attr);
	/* ibv_close_xrcd(3). */
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	/* Unused. */
	uint64_t _ABI_placeholder3;
	/* Size of this struct in bytes as the library knows it. */
	size_t sz;
	/* The public context. */
	struct ibv_context context;
};

/*
 * The extended context around a context, or NULL. It grows at its front: programs find a member by
 * its distance from the end, and compare the struct's size with that.
 */
static inline struct verbs_context *verbs_get_ctx(struct ibv_context *ctx)
{
	if (ctx->abi_compat != __VERBS_ABI_IS_EXTENDED)
		return NULL;
	return (struct verbs_context *)(void *)((char *)ctx -
						offsetof(struct verbs_context, context));
}

/* The extended context if it has the member op, and a function there; NULL otherwise. */
#define verbs_get_ctx_op(ctx, op) \
	__extension__({ \
		struct verbs_context *__vctx = verbs_get_ctx(ctx); \
		const size_t __needed = \
			sizeof(struct verbs_context) - offsetof(struct verbs_context, op); \
		if (__vctx && (__vctx->sz < __needed || !__vctx->op)) \
			__vctx = NULL; \
		__vctx; \
	})

/* ---- Devices and contexts: functions. */

/*
 * The devices that there are now, as an array that ends with NULL and that ibv_free_device_list
 * frees; num, unless NULL, gets their number. NULL with errno on failure: ENOSYS without RDMA in
 * the kernel, ENOMEM. ibv_get_device_list(3)
 */
struct ibv_device **ibv_get_device_list(int *num);

/*
 * Frees an array of ibv_get_device_list; NULL is left alone. Devices that are open stay valid.
 * ibv_free_device_list(3)
 */
void ibv_free_device_list(struct ibv_device **list);

/* The name of a device, valid as long as the device. ibv_get_device_name(3) */
const char *ibv_get_device_name(struct ibv_device *device);

/*
 * The node GUID of a device in network byte order; 0 if it cannot be found out.
 * ibv_get_device_guid(3)
 */
__be64 ibv_get_device_guid(struct ibv_device *device);

/*
 * The kernel's number of a device, which no other device gets while the kernel runs; -1 if the
 * kernel does not tell. ibv_get_device_index(3)
 */
int ibv_get_device_index(struct ibv_device *device);

/* Opens a device. NULL with errno on failure. ibv_open_device(3) */
struct ibv_context *ibv_open_device(struct ibv_device *device);

/* Opens a device with attributes that only its provider knows. driver.h: verbs_open_device */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

/*
 * Closes a context. Objects that were made in it must be gone. Returns 0, or EBADF if it is closed
 * already and that can be told. ibv_close_device(3)
 */
int ibv_close_device(struct ibv_context *context);

/*
 * Makes a context of a descriptor of a device that another process opened and sent. NULL with errno
 * on failure: EINVAL for no device file, ENODEV for none of ours, EOPNOTSUPP if the provider cannot
 * do it. ibv_import_device(3)
 */
struct ibv_context *ibv_import_device(int cmd_fd);

/* Stores the properties of the device in attr. Returns 0 or an error number. ibv_query_device(3) */
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);

/*
 * Stores the properties of a port (counted from 1) in attr, which is the struct of the oldest
 * programs. Returns 0 or an error number. ibv_query_port(3)
 */
int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct
		_compat_ibv_port_attr *attr);

/*
 * Stores the speed of a port in speed, in units of 100 Mb/s. Returns 0 or an error number.
 * ibv_query_port_speed(3)
 */
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *speed);

/*
 * Stores the Ethernet address behind the destination GID of attr in eth_mac, and the VLAN id of the
 * interface that has the source GID in vid (0xffff for none; NULL if not wanted). Asks the network
 * if need be, for up to 3 s. Returns 0; -1 when the source GID cannot be queried; or a negative
 * error number: EINVAL for GIDs that are no addresses of the network or of this host, EHOSTUNREACH
 * when nobody answers, else what opening a socket fails with. errno is set too. verbs.h:
 * ibv_resolve_eth_l2_from_gid
 */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr
		*attr, uint8_t *eth_mac, uint16_t *vid);

/*
 * The exported function knows the attributes up to port_cap_flags2, and is what old programs call;
 * those compiled with this header get all.
 */
static inline int ___ibv_query_port(struct ibv_context *context, uint8_t port_num,
		struct ibv_port_attr *port_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_port);

	if (vctx)
		return vctx->query_port(context, port_num, port_attr, sizeof(*port_attr));
	memset(port_attr, 0, sizeof(*port_attr));
	return ibv_query_port(context, port_num, (struct _compat_ibv_port_attr *)port_attr);
}

/* Stores the properties of a port, from 1, in port_attr. ibv_query_port(3) */
#define ibv_query_port(context, port_num, port_attr) \
	___ibv_query_port(context, port_num, port_attr)

/*
 * Stores the properties of a device in attr, all that are known; input is NULL or zero. EINVAL: an
 * input that is not. ibv_query_device_ex(3)
 */
static inline int ibv_query_device_ex(struct ibv_context *context,
		const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_device_ex);

	if (input && input->comp_mask)
		return EINVAL;
	if (vctx) {
		int ret = vctx->query_device_ex(context, input, attr, sizeof(*attr));

		if (ret != EOPNOTSUPP && ret != ENOSYS)
			return ret;
	}
	memset(attr, 0, sizeof(*attr));
	return ibv_query_device(context, &attr->orig_attr);
}

/* Reads the device's clock, in its own unit. ibv_query_rt_values_ex(3) */
static inline int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_rt_values);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->query_rt_values(context, values);
}

/*
 * Stores the GID at index of a port's table, which is zero for an empty entry. Returns 0, or -1
 * with errno. ibv_query_gid(3)
 */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);

/*
 * Stores the entry at gid_index of a port's table in the caller's struct of entry_size bytes.
 * Returns 0 or an error number, ENODATA for an empty entry. ibv_query_gid_ex(3)
 */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t
		gid_index, struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);

/*
 * Stores all entries that are not empty, of all ports, in the caller's array of structs of
 * entry_size bytes. Returns their number, or a negative error number, EINVAL when there are more
 * than max_entries. ibv_query_gid_table(3)
 */
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry
		*entries, size_t max_entries, uint32_t flags, size_t entry_size);

/*
 * Stores the partition key at index of a port's table, in network order. Returns 0, or -1 with
 * errno. ibv_query_pkey(3)
 */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);

/*
 * Returns the index of a partition key (in network order) in a port's table, or -1 with errno when
 * there is none before the first entry that cannot be read. ibv_get_pkey_index(3)
 */
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey);

/*
 * Waits for the next asynchronous event and stores it in event. Each event must be acknowledged.
 * Returns 0, or -1 with errno: EAGAIN without an event on a descriptor that does not block, EINTR
 * after a signal. ibv_get_async_event(3)
 */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);

/* Acknowledges an asynchronous event. ibv_ack_async_event(3) */
void ibv_ack_async_event(struct ibv_async_event *event);

/* Stores the entry gid_index of a port's GID table, flags are 0. ibv_query_gid_ex(3) */
static inline int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags)
{
	return _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, sizeof(*entry));
}

/*
 * Stores the valid GIDs of all ports, up to max_entries. Returns how many, or a negative error
 * number. ibv_query_gid_table(3)
 */
static inline ssize_t ibv_query_gid_table(struct ibv_context *context,
		struct ibv_gid_entry *entries, size_t max_entries, uint32_t flags)
{
	return _ibv_query_gid_table(context, entries, max_entries, flags, sizeof(*entries));
}

/* Whether the QP type qpt is in a mask of them, such as ibv_tso_caps.supported_qpts. */
static inline int ibv_is_qpt_supported(uint32_t caps, enum ibv_qp_type qpt)
{
	return (caps >> ((unsigned int)qpt & 31) & 1) != 0;
}

/* ---- Protection domains and memory: functions. */

/* Allocates a PD; NULL with errno on failure. ibv_alloc_pd(3) */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);

/*
 * Frees a PD or a parent domain. Returns 0 or an error number, EBUSY for instance when something in
 * the PD still exists. ibv_dealloc_pd(3)
 */
int ibv_dealloc_pd(struct ibv_pd *pd);

/*
 * Makes a PD of another context of the same device known in this one, by its handle; NULL with
 * errno on failure. ibv_import_pd(3)
 */
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle);

/* Forgets an imported PD; the kernel's object lives on. ibv_unimport_pd(3) */
void ibv_unimport_pd(struct ibv_pd *pd);

/* Registers length bytes at addr; NULL with errno on failure. ibv_reg_mr(3) */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);

/*
 * Registers memory that the device knows by the address iova; NULL with errno on failure.
 * ibv_reg_mr(3)
 */
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
		uint64_t iova, int access);

/*
 * As ibv_reg_mr_iova; programs call it when they may ask for access that is optional. ibv_reg_mr(3)
 */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
		uint64_t iova, unsigned int access);

/*
 * Registers length bytes of a dma-buf, from offset on, which the device knows by the address iova;
 * NULL with errno on failure. ibv_reg_dmabuf_mr(3)
 */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
		uint64_t iova, int fd, int access);

/*
 * Changes memory, PD or access of a region, as flags say. Returns 0 or a code of enum
 * ibv_rereg_mr_err_code, with errno. ibv_rereg_mr(3)
 */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t
		length, int access);

/*
 * Ends a registration. Returns 0 or an error number, EBUSY for instance while a memory window is
 * bound to it. ibv_dereg_mr(3)
 */
int ibv_dereg_mr(struct ibv_mr *mr);

/*
 * Makes a region of another context of the same device known in this PD, by its handle; NULL with
 * errno on failure. ibv_import_mr(3)
 */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle);

/* Forgets an imported region; the kernel's object lives on. ibv_unimport_mr(3) */
void ibv_unimport_mr(struct ibv_mr *mr);

/*
 * Registers memory as the attributes say, which stay as they are; NULL with errno on failure.
 * ibv_reg_mr_ex(3)
 */
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);

/*
 * Registers a part of a buffer from ibv_alloc_buf: length bytes at addr. NULL with errno on
 * failure, EINVAL if the buffer is of another PD or the part not inside of it. ibv_reg_buf_mr(3)
 */
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
		size_t length, int access);

/*
 * Makes device memory of another context of the same device known in this one, by its handle; NULL
 * with errno on failure. ibv_import_dm(3)
 */
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle);

/* Forgets imported device memory; the kernel's object lives on. ibv_unimport_dm(3) */
void ibv_unimport_dm(struct ibv_dm *dm);

/*
 * Returns a new dma-buf descriptor for the device memory, which the caller closes, or -1 with
 * errno. ibv_dm_export_dmabuf_fd(3)
 */
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);

/* Allocates a DMA handle; NULL with errno on failure. ibv_alloc_dmah(3) */
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);

/* Frees a DMA handle. Returns 0 or an error number. ibv_dealloc_dmah(3) */
int ibv_dealloc_dmah(struct ibv_dmah *dmah);

/*
 * Allocates size bytes as the provider of the PD thinks fit and stores the buffer's handle in buf.
 * Returns its address; NULL with errno on failure. The PD must outlive the buffer. ibv_alloc_buf(3)
 */
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);

/* Frees a buffer, which must not be registered any more; nothing for NULL. ibv_free_buf(3) */
void ibv_free_buf(struct ibv_buf *buf);

/*
 * Returns a new descriptor of the buffer's dma-buf, closed on exec, which is the caller's to close.
 * -1 with errno: ENODATA for a buffer without a dma-buf; what fcntl(2) says.
 * ibv_export_buf_dmabuf_fd(3)
 */
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);

/*
 * Asks for fork support. Returns 0, also when it is unneeded, or an error number: EINVAL when
 * memory has been registered already, ENOSYS when the kernel cannot do it, ENOMEM. ibv_fork_init(3)
 */
int ibv_fork_init(void);

/* Whether fork support is there, as enum ibv_fork_status. ibv_is_fork_initialized(3) */
enum ibv_fork_status ibv_is_fork_initialized(void);

/*
 * What ibv_reg_mr means. ibv_reg_mr_iova2 knows the access bits that a device may ignore and is not
 * in old libraries; so programs that evidently do not use these bits call the function that is.
 */
__attribute__((always_inline)) static inline struct ibv_mr *__ibv_reg_mr(struct ibv_pd *pd,
		void *addr, size_t length, unsigned int access, int is_access_const)
{
	if (is_access_const && !(access & IBV_ACCESS_OPTIONAL_RANGE))
		return ibv_reg_mr(pd, addr, length, (int)access);
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

/* Registers length bytes at addr for access, bits of enum ibv_access_flags. ibv_reg_mr(3) */
#define ibv_reg_mr(pd, addr, length, access) \
	__ibv_reg_mr(pd, addr, length, (unsigned int)(access), \
		     __builtin_constant_p(((unsigned int)(access) & IBV_ACCESS_OPTIONAL_RANGE) == 0))

/* What ibv_reg_mr_iova means, see __ibv_reg_mr. */
__attribute__((always_inline)) static inline struct ibv_mr *__ibv_reg_mr_iova(struct ibv_pd *pd,
		void *addr, size_t length, uint64_t iova, unsigned int access,
		int is_access_const)
{
	if (is_access_const && !(access & IBV_ACCESS_OPTIONAL_RANGE))
		return ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
	return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

/* Registers memory that work requests name by addresses from iova on. ibv_reg_mr_iova(3) */
#define ibv_reg_mr_iova(pd, addr, length, iova, access) \
	__ibv_reg_mr_iova(pd, addr, length, iova, (unsigned int)(access), \
			  __builtin_constant_p( \
				  ((unsigned int)(access) & IBV_ACCESS_OPTIONAL_RANGE) == 0))

/* Allocates a thread domain, for objects that one thread at a time uses. ibv_alloc_td(3) */
static inline struct ibv_td *ibv_alloc_td(struct ibv_context *context,
		struct ibv_td_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_td);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_td(context, init_attr);
}

/* Frees a thread domain. EBUSY: a parent domain uses it. ibv_alloc_td(3) */
static inline int ibv_dealloc_td(struct ibv_td *td)
{
	struct verbs_context *vctx = verbs_get_ctx_op(td->context, dealloc_td);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->dealloc_td(td);
}

/*
 * Allocates a PD that adds a thread domain or allocators to another one. ibv_dealloc_pd frees it.
 * ibv_alloc_parent_domain(3)
 */
static inline struct ibv_pd *ibv_alloc_parent_domain(struct ibv_context *context,
		struct ibv_parent_domain_init_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_parent_domain);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_parent_domain(context, attr);
}

/* Registers a region whose writes vanish and whose reads are zeros. ibv_alloc_null_mr(3) */
static inline struct ibv_mr *ibv_alloc_null_mr(struct ibv_pd *pd)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, alloc_null_mr);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_null_mr(pd);
}

/*
 * Tells what will be done with on-demand memory; flags are IBV_ADVISE_MR_FLAG_*. ibv_advise_mr(3)
 */
static inline int ibv_advise_mr(struct ibv_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, advise_mr);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->advise_mr(pd, advice, flags, sg_list, num_sge);
}

/* Allocates memory on the device. ibv_alloc_dm(3) */
static inline struct ibv_dm *ibv_alloc_dm(struct ibv_context *context,
		struct ibv_alloc_dm_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_dm);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_dm(context, attr);
}

/* Frees device memory. EBUSY: it is registered. ibv_alloc_dm(3) */
static inline int ibv_free_dm(struct ibv_dm *dm)
{
	struct verbs_context *vctx = verbs_get_ctx_op(dm->context, free_dm);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->free_dm(dm);
}

/*
 * Copies length bytes of the host to device memory, dm_offset bytes from its begin. ibv_alloc_dm(3)
 */
static inline int ibv_memcpy_to_dm(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr,
		size_t length)
{
	return dm->memcpy_to_dm(dm, dm_offset, host_addr, length);
}

/*
 * Copies length bytes of device memory, dm_offset bytes from its begin, to the host.
 * ibv_alloc_dm(3)
 */
static inline int ibv_memcpy_from_dm(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset,
		size_t length)
{
	return dm->memcpy_from_dm(host_addr, dm, dm_offset, length);
}

/* Registers a part of device memory. ibv_alloc_dm(3) */
static inline struct ibv_mr *ibv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
		size_t length, unsigned int access)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, reg_dm_mr);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->reg_dm_mr(pd, dm, dm_offset, length, access);
}

/* Allocates a memory window, IBV_MW_TYPE_1 or 2. ibv_alloc_mw(3) */
static inline struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (!pd->context->ops.alloc_mw) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return pd->context->ops.alloc_mw(pd, type);
}

/* Frees a memory window. ibv_alloc_mw(3) */
static inline int ibv_dealloc_mw(struct ibv_mw *mw)
{
	return mw->context->ops.dealloc_mw(mw);
}

/*
 * Posts a request to bind a window of type 1 to a part of a region, or with length 0 to nothing;
 * mw->rkey is the new key. EINVAL: a window of another type, or a part of no region; EPERM: a region
 * of another PD. ibv_bind_mw(3)
 */
static inline int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	const struct ibv_mw_bind_info *part = &mw_bind->bind_info;

	if (mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	if (!part->mr) {
		if (part->addr || part->length)
			return EINVAL;
	} else if (part->mr->pd != mw->pd) {
		return EPERM;
	}
	return mw->context->ops.bind_mw(qp, mw, mw_bind);
}

/* The next key of a window of type 2: the low 8 bits, which are the program's, plus 1. ibv_inc_rkey(3) */
static inline uint32_t ibv_inc_rkey(uint32_t rkey)
{
	return (rkey & ~(uint32_t)0xff) | ((rkey + 1) & 0xff);
}

/* ---- Completions: functions. */

/* Creates a completion channel; NULL with errno on failure. ibv_create_comp_channel(3) */
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);

/*
 * Destroys a completion channel. Returns 0, or EBUSY while a CQ sends its events there.
 * ibv_destroy_comp_channel(3)
 */
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);

/*
 * Waits for the next event and stores whose it is: the CQ and its cq_context. Each event must be
 * acknowledged. Returns 0, or -1 with errno: EAGAIN without an event on a descriptor that does not
 * block, EINTR after a signal. ibv_get_cq_event(3)
 */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);

/* Acknowledges events of a CQ. ibv_ack_cq_events(3) */
void ibv_ack_cq_events(struct ibv_cq *cq, uint32_t count);

/*
 * Creates a CQ for at least cqe completions, whose events go to channel (may be NULL); NULL with
 * errno on failure. ibv_create_cq(3)
 */
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
		struct ibv_comp_channel *channel, int comp_vector);

/*
 * Changes the capacity of a CQ to at least cqe completions. Returns 0 or an error number.
 * ibv_resize_cq(3)
 */
int ibv_resize_cq(struct ibv_cq *cq, int cqe);

/*
 * Destroys a CQ when all its events are acknowledged. Returns 0 or an error number, EBUSY while a
 * QP uses it. ibv_destroy_cq(3)
 */
int ibv_destroy_cq(struct ibv_cq *cq);

/*
 * Creates a CQ that is polled by calls, with the fields of completions that cq_attr asks for.
 * ibv_create_cq_ex(3)
 */
static inline struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context,
		struct ibv_cq_init_attr_ex *cq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_cq_ex);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_cq_ex(context, cq_attr);
}

/* The plain CQ that an extended one begins with. ibv_create_cq_ex(3) */
static inline struct ibv_cq *ibv_cq_ex_to_cq(struct ibv_cq_ex *cq)
{
	return (struct ibv_cq *)cq;
}

/* Changes when a CQ raises events. ibv_modify_cq(3) */
static inline int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(cq->context, modify_cq);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_cq(cq, attr);
}

/*
 * Takes up to num_entries completions off a CQ. Returns how many, or a negative number.
 * ibv_poll_cq(3)
 */
static inline int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cq->context->ops.poll_cq(cq, num_entries, wc);
}

/*
 * Asks for an event at the next completion, solicited_only: the next one that the sender marked, or
 * an error. ibv_req_notify_cq(3)
 */
static inline int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return cq->context->ops.req_notify_cq(cq, solicited_only);
}

/*
 * Polling an extended CQ: ibv_start_poll takes the first completion or returns ENOENT, ibv_next_poll
 * the next, ibv_end_poll ends what ibv_start_poll began with 0. Status and wr_id are members of the
 * CQ; all else is read by the calls below, of which those may be used whose bit was in wc_flags.
 */
/*
 * Takes the first completion; ENOENT: there is none. attr: nothing is defined. ibv_create_cq_ex(3)
 */
static inline int ibv_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return cq->start_poll(cq, attr);
}

/* Takes the next completion; ENOENT: there is none. ibv_create_cq_ex(3) */
static inline int ibv_next_poll(struct ibv_cq_ex *cq)
{
	return cq->next_poll(cq);
}

/* Ends polling. ibv_create_cq_ex(3) */
static inline void ibv_end_poll(struct ibv_cq_ex *cq)
{
	cq->end_poll(cq);
}

/* What has completed. */
static inline enum ibv_wc_opcode ibv_wc_read_opcode(struct ibv_cq_ex *cq)
{
	return cq->read_opcode(cq);
}

/* The device's own error code. */
static inline uint32_t ibv_wc_read_vendor_err(struct ibv_cq_ex *cq)
{
	return cq->read_vendor_err(cq);
}

/* Bytes that were received, read or written. */
static inline uint32_t ibv_wc_read_byte_len(struct ibv_cq_ex *cq)
{
	return cq->read_byte_len(cq);
}

/* Immediate data of the sender; with IBV_WC_WITH_IMM. */
static inline __be32 ibv_wc_read_imm_data(struct ibv_cq_ex *cq)
{
	return cq->read_imm_data(cq);
}

/* The key that the sender has invalidated; with IBV_WC_WITH_INV. */
static inline uint32_t ibv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
	return (uint32_t)cq->read_imm_data(cq);
}

/* The QP. */
static inline uint32_t ibv_wc_read_qp_num(struct ibv_cq_ex *cq)
{
	return cq->read_qp_num(cq);
}

/* The sender's QP; UD. */
static inline uint32_t ibv_wc_read_src_qp(struct ibv_cq_ex *cq)
{
	return cq->read_src_qp(cq);
}

/* Bits of enum ibv_wc_flags. */
static inline unsigned int ibv_wc_read_wc_flags(struct ibv_cq_ex *cq)
{
	return cq->read_wc_flags(cq);
}

/* The sender's LID; UD. */
static inline uint32_t ibv_wc_read_slid(struct ibv_cq_ex *cq)
{
	return cq->read_slid(cq);
}

/* Service level; UD. */
static inline uint8_t ibv_wc_read_sl(struct ibv_cq_ex *cq)
{
	return cq->read_sl(cq);
}

/* Path bits of the LID that was sent to; UD. */
static inline uint8_t ibv_wc_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return cq->read_dlid_path_bits(cq);
}

/* Time of the completion in ticks of the device's clock. */
static inline uint64_t ibv_wc_read_completion_ts(struct ibv_cq_ex *cq)
{
	return cq->read_completion_ts(cq);
}

/* Time of the completion in nanoseconds since 1970. */
static inline uint64_t ibv_wc_read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	return cq->read_completion_wallclock_ns(cq);
}

/* The VLAN tag that was taken off the packet. */
static inline uint16_t ibv_wc_read_cvlan(struct ibv_cq_ex *cq)
{
	return cq->read_cvlan(cq);
}

/* The tag of the flow rule that matched; 0: none. */
static inline uint32_t ibv_wc_read_flow_tag(struct ibv_cq_ex *cq)
{
	return cq->read_flow_tag(cq);
}

/* Stores the tag and the application's word of a tag matching message. */
static inline void ibv_wc_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	cq->read_tm_info(cq, tm_info);
}

/* ---- Queue pairs: functions. */

/* Creates a QP and stores its real size in attr; NULL with errno on failure. ibv_create_qp(3) */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/* Changes what mask names of a QP. Returns 0 or an error number. ibv_modify_qp(3) */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);

/*
 * Stores the attributes of a QP, at least those that mask names, and those of its creation. Returns
 * 0 or an error number. ibv_query_qp(3)
 */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct
		ibv_qp_init_attr *init_attr);

/*
 * Destroys a QP when all its events are acknowledged. Returns 0 or an error number.
 * ibv_destroy_qp(3)
 */
int ibv_destroy_qp(struct ibv_qp *qp);

/*
 * Whether data of an opcode arrives in order: 1 if all of a message does, else 0; with
 * IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS the bits of enum ibv_query_qp_data_in_order_caps. 0 for
 * flags of the future. ibv_query_qp_data_in_order(3)
 */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags);

/*
 * Sets the options for enhanced connection establishment, and stores those accepted. Returns 0 or
 * an error number, EOPNOTSUPP for options of no vendor. ibv_set_ece(3)
 */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/*
 * Stores the options for enhanced connection establishment. Returns 0 or an error number.
 * ibv_query_ece(3)
 */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/*
 * The extended part of a QP that was created for the extended posting interface; NULL with errno
 * EINVAL for others. ibv_qp_to_qp_ex(3)
 */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp);

/*
 * Attaches a QP to the multicast group with this GID and LID (host order). Returns 0 or an error
 * number. ibv_attach_mcast(3)
 */
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* Undoes ibv_attach_mcast(). Returns 0 or an error number. ibv_detach_mcast(3) */
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/*
 * Creates a QP with any options; with comp_mask IBV_QP_INIT_ATTR_PD alone as ibv_create_qp does,
 * which every device can. ibv_create_qp_ex(3)
 */
static inline struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context,
		struct ibv_qp_init_attr_ex *qp_init_attr_ex)
{
	struct verbs_context *vctx;

	/* The extended attributes begin like the plain ones. */
	if (qp_init_attr_ex->comp_mask == IBV_QP_INIT_ATTR_PD)
		return ibv_create_qp(qp_init_attr_ex->pd,
				     (struct ibv_qp_init_attr *)qp_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_qp_ex);
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_qp_ex(context, qp_init_attr_ex);
}

/* Opens a QP of an XRC domain that another process has created. ibv_open_qp(3) */
static inline struct ibv_qp *ibv_open_qp(struct ibv_context *context,
		struct ibv_qp_open_attr *qp_open_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_qp);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->open_qp(context, qp_open_attr);
}

/* Limits how fast a QP sends, in kbit/s. ibv_modify_qp_rate_limit(3) */
static inline int ibv_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, modify_qp_rate_limit);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_qp_rate_limit(qp, attr);
}

/* Opens an XRC domain, which processes share by a file. ibv_open_xrcd(3) */
static inline struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context,
		struct ibv_xrcd_init_attr *xrcd_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_xrcd);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->open_xrcd(context, xrcd_init_attr);
}

/* Closes an XRC domain. ibv_open_xrcd(3) */
static inline int ibv_close_xrcd(struct ibv_xrcd *xrcd)
{
	/* Only an extended context can have opened it. */
	return verbs_get_ctx(xrcd->context)->close_xrcd(xrcd);
}

/*
 * Posts a list of send requests; on an error *bad_wr is the first that was not posted.
 * ibv_post_send(3)
 */
static inline int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad_wr)
{
	return qp->context->ops.post_send(qp, wr, bad_wr);
}

/*
 * Posts a list of receives; on an error *bad_wr is the first that was not posted. ibv_post_recv(3)
 */
static inline int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	return qp->context->ops.post_recv(qp, wr, bad_wr);
}

/*
 * Posting to an extended QP: ibv_wr_start, for each request one call that says what to do and one or
 * two that say with which data and to whom, ibv_wr_complete to hand all to the device or ibv_wr_abort
 * to forget them. wr_id and wr_flags, members of the QP, count for the requests begun after they are
 * set. An error is reported by ibv_wr_complete, and none of the requests is posted then. Only
 * operations may be used whose bit was in send_ops_flags. ibv_wr_post(3)
 */
/* Begins a list of requests; no other thread may post to the QP until it ends. */
static inline void ibv_wr_start(struct ibv_qp_ex *qp)
{
	qp->wr_start(qp);
}

/* Posts the list. */
static inline int ibv_wr_complete(struct ibv_qp_ex *qp)
{
	return qp->wr_complete(qp);
}

/* Drops the list. */
static inline void ibv_wr_abort(struct ibv_qp_ex *qp)
{
	qp->wr_abort(qp);
}

/* Send. */
static inline void ibv_wr_send(struct ibv_qp_ex *qp)
{
	qp->wr_send(qp);
}

/* Send with immediate data. */
static inline void ibv_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	qp->wr_send_imm(qp, imm_data);
}

/* Send, and invalidate a key of the peer. */
static inline void ibv_wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	qp->wr_send_inv(qp, invalidate_rkey);
}

/* Send a TCP stream that the device cuts into segments of mss bytes, each behind hdr. */
static inline void ibv_wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	qp->wr_send_tso(qp, hdr, hdr_sz, mss);
}

/* Write to the peer's memory. */
static inline void ibv_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_write(qp, rkey, remote_addr);
}

/* Write to the peer's memory, and complete one of its receives with immediate data. */
static inline void ibv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		__be32 imm_data)
{
	qp->wr_rdma_write_imm(qp, rkey, remote_addr, imm_data);
}

/* Read from the peer's memory. */
static inline void ibv_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_read(qp, rkey, remote_addr);
}

/* Write swap to 8 bytes of the peer's memory if they are compare; the old value is read. */
static inline void ibv_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		uint64_t compare, uint64_t swap)
{
	qp->wr_atomic_cmp_swp(qp, rkey, remote_addr, compare, swap);
}

/* Add to 8 bytes of the peer's memory; the old value is read. */
static inline void ibv_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
		uint64_t remote_addr, uint64_t add)
{
	qp->wr_atomic_fetch_add(qp, rkey, remote_addr, add);
}

/* Write 8 bytes in one piece, from atomic_wr. */
static inline void ibv_wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		const void *atomic_wr)
{
	qp->wr_atomic_write(qp, rkey, remote_addr, atomic_wr);
}

/*
 * Make earlier writes to len bytes visible or persistent: type is of enum ibv_placement_type, level
 * of enum ibv_selectivity_level.
 */
static inline void ibv_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		size_t len, uint8_t type, uint8_t level)
{
	qp->wr_flush(qp, rkey, remote_addr, len, type, level);
}

/* Bind a window of type 2 to a part of a region, under the key rkey. */
static inline void ibv_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		const struct ibv_mw_bind_info *bind_info)
{
	qp->wr_bind_mw(qp, mw, rkey, bind_info);
}

/* Invalidate a key of an own window. */
static inline void ibv_wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	qp->wr_local_inv(qp, invalidate_rkey);
}

/* The data: one piece. */
static inline void ibv_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
		uint32_t length)
{
	qp->wr_set_sge(qp, lkey, addr, length);
}

/* The data: a list of pieces. */
static inline void ibv_wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge,
		const struct ibv_sge *sg_list)
{
	qp->wr_set_sge_list(qp, num_sge, sg_list);
}

/* The data: length bytes, copied now. */
static inline void ibv_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	qp->wr_set_inline_data(qp, addr, length);
}

/* The data: a list of pieces, copied now. */
static inline void ibv_wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
		const struct ibv_data_buf *buf_list)
{
	qp->wr_set_inline_data_list(qp, num_buf, buf_list);
}

/* The peer of a UD request. */
static inline void ibv_wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
		uint32_t remote_qkey)
{
	qp->wr_set_ud_addr(qp, ah, remote_qpn, remote_qkey);
}

/* The peer's SRQ of an XRC request. */
static inline void ibv_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	qp->wr_set_xrc_srqn(qp, remote_srqn);
}

/* ---- Shared receive queues and work queues: functions. */

/* Creates an SRQ and stores its real size in attr; NULL with errno on failure. ibv_create_srq(3) */
struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/* Changes the size or the limit of an SRQ. Returns 0 or an error number. ibv_modify_srq(3) */
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);

/* Stores size and limit of an SRQ in attr. Returns 0 or an error number. ibv_query_srq(3) */
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);

/*
 * Destroys an SRQ when all its events are acknowledged. Returns 0 or an error number, EBUSY while a
 * QP uses it. ibv_destroy_srq(3)
 */
int ibv_destroy_srq(struct ibv_srq *srq);

/*
 * Creates an SRQ of any type; with a PD and no other type than IBV_SRQT_BASIC as ibv_create_srq
 * does, which every device can. ibv_create_srq_ex(3)
 */
static inline struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context,
		struct ibv_srq_init_attr_ex *srq_init_attr_ex)
{
	const uint32_t mask = srq_init_attr_ex->comp_mask;
	struct verbs_context *vctx;

	/* The extended attributes begin like the plain ones. */
	if (mask == IBV_SRQ_INIT_ATTR_PD ||
	    (mask == (IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE) &&
	     srq_init_attr_ex->srq_type == IBV_SRQT_BASIC))
		return ibv_create_srq(srq_init_attr_ex->pd,
				      (struct ibv_srq_init_attr *)srq_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_srq_ex);
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_srq_ex(context, srq_init_attr_ex);
}

/* Stores the number by which XRC peers name an SRQ. ibv_get_srq_num(3) */
static inline int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, get_srq_num);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->get_srq_num(srq, srq_num);
}

/*
 * Posts a list of receives to an SRQ; on an error *bad_recv_wr is the first that was not posted.
 * ibv_post_srq_recv(3)
 */
static inline int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
		struct ibv_recv_wr **bad_recv_wr)
{
	return srq->context->ops.post_srq_recv(srq, recv_wr, bad_recv_wr);
}

/*
 * Posts a list of operations to a tag matching SRQ; on an error *bad_op is the first that was not
 * posted. ibv_post_srq_ops(3)
 */
static inline int ibv_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op,
		struct ibv_ops_wr **bad_op)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, post_srq_ops);

	if (!vctx) {
		*bad_op = op;
		return EOPNOTSUPP;
	}
	return vctx->post_srq_ops(srq, op, bad_op);
}

/* Creates a work queue, for an indirection table. ibv_create_wq(3) */
static inline struct ibv_wq *ibv_create_wq(struct ibv_context *context,
		struct ibv_wq_init_attr *wq_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_wq);
	struct ibv_wq *wq;

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	wq = vctx->create_wq(context, wq_init_attr);
	if (wq) {
		/* For the events of the queue, which the library counts and providers do not. */
		wq->wq_context = wq_init_attr->wq_context;
		wq->events_completed = 0;
		pthread_mutex_init(&wq->mutex, NULL);
		pthread_cond_init(&wq->cond, NULL);
	}
	return wq;
}

/* Changes state or flags of a work queue. ibv_modify_wq(3) */
static inline int ibv_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, modify_wq);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_wq(wq, wq_attr);
}

/* Destroys a work queue. EBUSY: an indirection table uses it. ibv_create_wq(3) */
static inline int ibv_destroy_wq(struct ibv_wq *wq)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, destroy_wq);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_wq(wq);
}

/*
 * Posts a list of receives to a work queue; on an error *bad_recv_wr is the first that was not
 * posted. ibv_post_wq_recv(3)
 */
static inline int ibv_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *recv_wr,
		struct ibv_recv_wr **bad_recv_wr)
{
	return wq->post_recv(wq, recv_wr, bad_recv_wr);
}

/* Creates a table of work queues over which packets are spread. ibv_create_rwq_ind_table(3) */
static inline struct ibv_rwq_ind_table *ibv_create_rwq_ind_table(struct ibv_context *context,
		struct ibv_rwq_ind_table_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_rwq_ind_table);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_rwq_ind_table(context, init_attr);
}

/* Destroys a table of work queues. EBUSY: a QP uses it. ibv_create_rwq_ind_table(3) */
static inline int ibv_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table)
{
	struct verbs_context *vctx = verbs_get_ctx_op(rwq_ind_table->context, destroy_rwq_ind_table);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_rwq_ind_table(rwq_ind_table);
}

/* ---- Address handles: functions. */

/* Creates an address handle; NULL with errno on failure. ibv_create_ah(3) */
struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);

/* Destroys an address handle. Returns 0 or an error number. ibv_destroy_ah(3) */
int ibv_destroy_ah(struct ibv_ah *ah);

/*
 * Fills attr with the address of the sender of the datagram that wc completed on port port_num
 * (from 1); grh is the start of its receive buffer, read only if the completion says that it holds
 * a header. Returns 0, or -1 with errno EINVAL (to a multicast group, or no such GID on the port),
 * EPROTONOSUPPORT (a header of no RDMA transport), or what a GID query fails with.
 * ibv_init_ah_from_wc(3)
 */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc
		*wc, struct ibv_grh *grh, struct ibv_ah_attr *attr);

/*
 * Creates an address handle for the sender of a received datagram; parameters as for
 * ibv_init_ah_from_wc. Returns NULL with errno of that or of ibv_create_ah.
 * ibv_create_ah_from_wc(3)
 */
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct
		ibv_grh *grh, uint8_t port_num);

/* ---- Flow rules: functions. */

/* Steers packets that match the rule to the QP. ibv_create_flow(3) */
static inline struct ibv_flow *ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *flow)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, ibv_create_flow);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->ibv_create_flow(qp, flow);
}

/* Ends a flow rule. ibv_create_flow(3) */
static inline int ibv_destroy_flow(struct ibv_flow *flow_id)
{
	struct verbs_context *vctx = verbs_get_ctx_op(flow_id->context, ibv_destroy_flow);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->ibv_destroy_flow(flow_id);
}

/* Creates an action that encrypts or decrypts ESP packets. ibv_flow_action(3) */
static inline struct ibv_flow_action *ibv_create_flow_action_esp(struct ibv_context *ctx,
		struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(ctx, create_flow_action_esp);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_flow_action_esp(ctx, esp);
}

/* Changes an ESP action. ibv_flow_action(3) */
static inline int ibv_modify_flow_action_esp(struct ibv_flow_action *action,
		struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, modify_flow_action_esp);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_flow_action_esp(action, esp);
}

/* Destroys an action. EBUSY: a rule uses it. ibv_flow_action(3) */
static inline int ibv_destroy_flow_action(struct ibv_flow_action *action)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, destroy_flow_action);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_flow_action(action);
}

/*
 * The UDP source port of RoCE v2 packets with the flow label fl: its upper 6 bits folded into the
 * lower 14, in the range of dynamic ports. ibv_flow_label_to_udp_sport(3)
 */
static inline uint16_t ibv_flow_label_to_udp_sport(uint32_t fl)
{
	const uint32_t low = fl & 0x3fff, high = (fl & IB_GRH_FLOWLABEL_MASK) >> 14;

	return (uint16_t)((low ^ high) | IB_ROCE_UDP_ENCAP_VALID_PORT_MIN);
}

/* ---- Counters: functions. */

/* Creates a set of counters. ibv_create_counters(3) */
static inline struct ibv_counters *ibv_create_counters(struct ibv_context *context,
		struct ibv_counters_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_counters);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_counters(context, init_attr);
}

/* Destroys a set of counters. EBUSY: a rule uses it. ibv_create_counters(3) */
static inline int ibv_destroy_counters(struct ibv_counters *counters)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, destroy_counters);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_counters(counters);
}

/*
 * Says what a counter counts, flow: at which rule, NULL: at rules that will name the counters.
 * ibv_attach_counters_point_flow(3)
 */
static inline int ibv_attach_counters_point_flow(struct ibv_counters *counters,
		struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, attach_counters_point_flow);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->attach_counters_point_flow(counters, attr, flow);
}

/* Reads ncounters counters; flags are of enum ibv_read_counters_flags. ibv_read_counters(3) */
static inline int ibv_read_counters(struct ibv_counters *counters, uint64_t *counters_value,
		uint32_t ncounters, uint32_t flags)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, read_counters);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->read_counters(counters, counters_value, ncounters, flags);
}

/* Creates a completion counter; NULL with errno on failure. ibv_create_comp_cntr(3) */
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context, struct
		ibv_comp_cntr_init_attr *attr);

/*
 * Destroys a completion counter. Returns 0 or an error number, EBUSY while a QP counts in it.
 * ibv_destroy_comp_cntr(3)
 */
int ibv_destroy_comp_cntr(struct ibv_comp_cntr *counter);

/* Sets the number of completions. Returns 0 or an error number. ibv_set_comp_cntr(3) */
int ibv_set_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value);

/*
 * Sets the number of completions in error. Returns 0 or an error number. ibv_set_err_comp_cntr(3)
 */
int ibv_set_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value);

/* Adds to the number of completions. Returns 0 or an error number. ibv_inc_comp_cntr(3) */
int ibv_inc_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount);

/*
 * Adds to the number of completions in error. Returns 0 or an error number.
 * ibv_inc_err_comp_cntr(3)
 */
int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount);

/* Stores the number of completions in value. Returns 0 or an error number. ibv_read_comp_cntr(3) */
int ibv_read_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value);

/*
 * Stores the number of completions in error in value. Returns 0 or an error number.
 * ibv_read_err_comp_cntr(3)
 */
int ibv_read_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value);

/*
 * Lets a QP count completions of the named operations in a counter. Returns 0 or an error number.
 * ibv_qp_attach_comp_cntr(3)
 */
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *counter, struct
		ibv_qp_attach_comp_cntr_attr *attr);

/*
 * Stores what the device can count in caps, of which the caller has size bytes. Returns 0 or an
 * error number. ibv_query_comp_cntr_caps(3)
 */
int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps
		*caps, size_t size);

/* Stores what completion counters of a device can do. ibv_query_comp_cntr_caps(3) */
static inline int ibv_query_comp_cntr_caps(struct ibv_context *context,
		struct ibv_comp_cntr_caps *caps)
{
	return _ibv_query_comp_cntr_caps(context, caps, sizeof(*caps));
}

/* ---- Rates and texts. */

/*
 * The rate as a multiple of 2.5 Gbit/s; -1 for a rate that has none or is not known.
 * ibv_rate_to_mult(3)
 */
int ibv_rate_to_mult(enum ibv_rate rate) __attribute_const;

/* The rate that is mult times 2.5 Gbit/s; IBV_RATE_MAX when there is none. ibv_rate_to_mult(3) */
enum ibv_rate mult_to_ibv_rate(int mult) __attribute_const;

/* The rate in Mbit/s; -1 for a rate that is not known. ibv_rate_to_mbps(3) */
int ibv_rate_to_mbps(enum ibv_rate rate) __attribute_const;

/* The rate of exactly mbps Mbit/s; IBV_RATE_MAX when there is none. ibv_rate_to_mbps(3) */
enum ibv_rate mbps_to_ibv_rate(int mbps) __attribute_const;

/* The kind of a device as text; static, never to be freed. ibv_event_type_str(3) */
const char *ibv_node_type_str(enum ibv_node_type node_type);

/* The logical state of a port as text; static, never to be freed. ibv_event_type_str(3) */
const char *ibv_port_state_str(enum ibv_port_state state);

/* An asynchronous event as text; static, never to be freed. ibv_event_type_str(3) */
const char *ibv_event_type_str(enum ibv_event_type event);

/* The status of a work completion as text; static, never to be freed. ibv_event_type_str(3) */
const char *ibv_wc_status_str(enum ibv_wc_status status);

/*
 * The opcode of a send work request as text; static, never to be freed. verbs.h: ibv_wr_opcode_str;
 * NULL for the two reserved opcodes 12 and 13.
 */
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);

#ifdef __cplusplus
}
#endif

#undef __attribute_const

#endif
