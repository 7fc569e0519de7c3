/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers and structs of the kernel's ioctl interface for verbs that programs see too; the kernel
 * has them in rdma/ib_user_ioctl_verbs.h, which a program must not include beside this file.
 */
#ifndef IB_USER_IOCTL_VERBS_H
#define IB_USER_IOCTL_VERBS_H

#include <linux/types.h>
#include <rdma/ib_user_verbs.h>

/* A pointer of a program in a struct of the kernel, where it always has 64 bits. */
#ifndef RDMA_UAPI_PTR
#define RDMA_UAPI_PTR(_type, _name) __aligned_u64 _name
#endif

/* Kernel drivers, as named in ioctl headers and by RDMA netlink. */
enum rdma_driver_id {
	RDMA_DRIVER_UNKNOWN = 0,
	RDMA_DRIVER_MLX5 = 1,
	RDMA_DRIVER_MLX4 = 2,
	RDMA_DRIVER_CXGB3 = 3,
	RDMA_DRIVER_CXGB4 = 4,
	RDMA_DRIVER_MTHCA = 5,
	RDMA_DRIVER_BNXT_RE = 6,
	RDMA_DRIVER_OCRDMA = 7,
	RDMA_DRIVER_NES = 8,
	RDMA_DRIVER_I40IW = 9,
	RDMA_DRIVER_IRDMA = 9,
	RDMA_DRIVER_VMW_PVRDMA = 10,
	RDMA_DRIVER_QEDR = 11,
	RDMA_DRIVER_HNS = 12,
	RDMA_DRIVER_USNIC = 13,
	RDMA_DRIVER_RXE = 14,
	RDMA_DRIVER_HFI1 = 15,
	RDMA_DRIVER_QIB = 16,
	RDMA_DRIVER_EFA = 17,
	RDMA_DRIVER_SIW = 18,
	RDMA_DRIVER_ERDMA = 19,
	RDMA_DRIVER_MANA = 20,
	RDMA_DRIVER_IONIC = 21,
};

/* Features of the kernel, answer of UVERBS_METHOD_GET_CONTEXT. */
enum ib_uverbs_core_support {
	/* Access bits of IB_UVERBS_ACCESS_OPTIONAL_RANGE are ignored if not known. */
	IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS = 1 << 0,
	/* The driver checks what providers send and refuses bits it does not know. */
	IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA = 1 << 1,
};

/* The kernel's ibv_port_cap_flags, and bits that the verbs do not have. */
__extension__ enum ib_uverbs_query_port_cap_flags {
	IB_UVERBS_PCF_SM = 1 << 1,
	IB_UVERBS_PCF_NOTICE_SUP = 1 << 2,
	IB_UVERBS_PCF_TRAP_SUP = 1 << 3,
	IB_UVERBS_PCF_OPT_IPD_SUP = 1 << 4,
	IB_UVERBS_PCF_AUTO_MIGR_SUP = 1 << 5,
	IB_UVERBS_PCF_SL_MAP_SUP = 1 << 6,
	IB_UVERBS_PCF_MKEY_NVRAM = 1 << 7,
	IB_UVERBS_PCF_PKEY_NVRAM = 1 << 8,
	IB_UVERBS_PCF_LED_INFO_SUP = 1 << 9,
	IB_UVERBS_PCF_SM_DISABLED = 1 << 10,
	IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP = 1 << 11,
	IB_UVERBS_PCF_PKEY_SW_EXT_PORT_TRAP_SUP = 1 << 12,
	IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP = 1 << 14,
	IB_UVERBS_PCF_CM_SUP = 1 << 16,
	IB_UVERBS_PCF_SNMP_TUNNEL_SUP = 1 << 17,
	IB_UVERBS_PCF_REINIT_SUP = 1 << 18,
	IB_UVERBS_PCF_DEVICE_MGMT_SUP = 1 << 19,
	IB_UVERBS_PCF_VENDOR_CLASS_SUP = 1 << 20,
	IB_UVERBS_PCF_DR_NOTICE_SUP = 1 << 21,
	IB_UVERBS_PCF_CAP_MASK_NOTICE_SUP = 1 << 22,
	IB_UVERBS_PCF_BOOT_MGMT_SUP = 1 << 23,
	IB_UVERBS_PCF_LINK_LATENCY_SUP = 1 << 24,
	IB_UVERBS_PCF_CLIENT_REG_SUP = 1 << 25,
	IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP = 1 << 27,
	IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP = 1 << 28,
	IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP = 1 << 29,
	IB_UVERBS_PCF_MCAST_FDB_TOP_SUP = 1 << 30,
	IB_UVERBS_PCF_HIERARCHY_INFO_SUP = 1U << 31,
	IB_UVERBS_PCF_IP_BASED_GIDS = 1 << 26,
};

/* The kernel's ibv_port_attr.flags. */
enum ib_uverbs_query_port_flags {
	IB_UVERBS_QPF_GRH_REQUIRED = 1 << 0,
};

/* Answer of UVERBS_METHOD_QUERY_PORT. */
struct ib_uverbs_query_port_resp_ex {
	/* What the write command answers. */
	struct ib_uverbs_query_port_resp legacy_resp;
	/* See ibv_port_cap_flags2. */
	__u16 port_cap_flags2;
	/* 0. */
	__u8 reserved[2];
	/* Lane speed, coded; see ibv_port_attr.active_speed_ex. */
	__u32 active_speed_ex;
};

/* The kernel's ibv_gid_type. */
enum ib_uverbs_gid_type {
	IB_UVERBS_GID_TYPE_IB = 0,
	IB_UVERBS_GID_TYPE_ROCE_V1 = 1,
	IB_UVERBS_GID_TYPE_ROCE_V2 = 2,
};

/* An entry of a GID table; the form of ibv_gid_entry. */
struct ib_uverbs_gid_entry {
	/* The GID, network byte order. */
	__aligned_u64 gid[2];
	/* Index in the table of its port. */
	__u32 gid_index;
	/* Port, from 1. */
	__u32 port_num;
	/* One of ib_uverbs_gid_type. */
	__u32 gid_type;
	/* Interface index of the network device, 0 if there is none. */
	__u32 netdev_ifindex;
};

/* First optional access bit. */
#define IB_UVERBS_ACCESS_OPTIONAL_FIRST (1 << 20)

/* Last optional access bit. */
#define IB_UVERBS_ACCESS_OPTIONAL_LAST (1 << 29)

/* The kernel's ibv_access_flags. */
enum ib_uverbs_access_flags {
	IB_UVERBS_ACCESS_LOCAL_WRITE = 1 << 0,
	IB_UVERBS_ACCESS_REMOTE_WRITE = 1 << 1,
	IB_UVERBS_ACCESS_REMOTE_READ = 1 << 2,
	IB_UVERBS_ACCESS_REMOTE_ATOMIC = 1 << 3,
	IB_UVERBS_ACCESS_MW_BIND = 1 << 4,
	IB_UVERBS_ACCESS_ZERO_BASED = 1 << 5,
	IB_UVERBS_ACCESS_ON_DEMAND = 1 << 6,
	IB_UVERBS_ACCESS_HUGETLB = 1 << 7,
	IB_UVERBS_ACCESS_FLUSH_GLOBAL = 1 << 8,
	IB_UVERBS_ACCESS_FLUSH_PERSISTENT = 1 << 9,
	IB_UVERBS_ACCESS_RELAXED_ORDERING = IB_UVERBS_ACCESS_OPTIONAL_FIRST,
	/* All optional access bits. */
	IB_UVERBS_ACCESS_OPTIONAL_RANGE = (((IB_UVERBS_ACCESS_OPTIONAL_LAST << 1) - 1) & ~(IB_UVERBS_ACCESS_OPTIONAL_FIRST - 1)),
};

/* The kernel's IBV_ADVISE_MR_ADVICE_*. */
enum ib_uverbs_advise_mr_advice {
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH = 0,
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE = 1,
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT = 2,
};

/* The kernel's IBV_ADVISE_MR_FLAG_*. */
enum ib_uverbs_advise_mr_flag {
	IB_UVERBS_ADVISE_MR_FLAG_FLUSH = 1 << 0,
};

/* Kind of an ib_uverbs_buffer_desc. */
enum ib_uverbs_buffer_type {
	/* A piece of a dma-buf. */
	IB_UVERBS_BUFFER_TYPE_DMABUF = 0,
	/* A piece of the process's memory. */
	IB_UVERBS_BUFFER_TYPE_VA = 1,
};

/* Memory that user space provides for a queue, the _BUF_UMEM attributes. */
struct ib_uverbs_buffer_desc {
	/* One of ib_uverbs_buffer_type; type in C. */
	__u32 type;
	/* Descriptor of the dma-buf. */
	__s32 fd;
	/* The kernel refuses bits it does not know; none are defined. */
	__u32 flags;
	/* The kernel ignores bits it does not know; none are defined. */
	__u32 optional_flags;
	/* Address, or offset in the dma-buf. */
	__aligned_u64 addr;
	/* Length in bytes. */
	__aligned_u64 length;
};

/* The kernel's ibv_qp_type. */
enum ib_uverbs_qp_type {
	IB_UVERBS_QPT_RC = 2,
	IB_UVERBS_QPT_UC = 3,
	IB_UVERBS_QPT_UD = 4,
	IB_UVERBS_QPT_RAW_PACKET = 8,
	IB_UVERBS_QPT_XRC_INI = 9,
	IB_UVERBS_QPT_XRC_TGT = 10,
	IB_UVERBS_QPT_DRIVER = 255,
};

/* The kernel's ibv_qp_create_flags, with a bit for sq_sig_all. */
enum ib_uverbs_qp_create_flags {
	IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK = 1 << 1,
	IB_UVERBS_QP_CREATE_SCATTER_FCS = 1 << 8,
	IB_UVERBS_QP_CREATE_CVLAN_STRIPPING = 1 << 9,
	IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING = 1 << 11,
	IB_UVERBS_QP_CREATE_SQ_SIG_ALL = 1 << 12,
};

/* The kernel's ibv_qp_cap. */
struct ib_uverbs_qp_cap {
	/* Outstanding send requests. */
	__u32 max_send_wr;
	/* Outstanding receive requests. */
	__u32 max_recv_wr;
	/* Scatter/gather entries per send request. */
	__u32 max_send_sge;
	/* Scatter/gather entries per receive request. */
	__u32 max_recv_sge;
	/* Bytes of inline data. */
	__u32 max_inline_data;
};

/* The kernel's ibv_srq_type. */
enum ib_uverbs_srq_type {
	IB_UVERBS_SRQT_BASIC = 0,
	IB_UVERBS_SRQT_XRC = 1,
	IB_UVERBS_SRQT_TM = 2,
};

/* The kernel's ibv_wq_type. */
enum ib_uverbs_wq_type {
	IB_UVERBS_WQT_RQ = 0,
};

/* The kernel's ibv_wq_flags. */
enum ib_uverbs_wq_flags {
	IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING = 1 << 0,
	IB_UVERBS_WQ_FLAGS_SCATTER_FCS = 1 << 1,
	IB_UVERBS_WQ_FLAGS_DELAY_DROP = 1 << 2,
	IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING = 1 << 3,
};

/* The kernel's ibv_read_counters_flags. */
enum ib_uverbs_read_counters_flags {
	IB_UVERBS_READ_COUNTERS_PREFER_CACHED = 1 << 0,
};

/* Which of the two values of a completion counter. */
enum ib_uverbs_comp_cntr_entry {
	/* Successful completions. */
	IB_UVERBS_COMP_CNTR_ENTRY_COMP = 0,
	/* Errors. */
	IB_UVERBS_COMP_CNTR_ENTRY_ERR = 1,
};

/* How to change a value of a completion counter. */
enum ib_uverbs_comp_cntr_modify_op {
	/* Set it. */
	IB_UVERBS_COMP_CNTR_MODIFY_OP_SET = 0,
	/* Add to it. */
	IB_UVERBS_COMP_CNTR_MODIFY_OP_INC = 1,
};

/* The kernel's ibv_qp_attach_comp_cntr_op. */
enum ib_uverbs_qp_attach_comp_cntr_op {
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND = 1 << 0,
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV = 1 << 1,
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ = 1 << 2,
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ = 1 << 3,
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE = 1 << 4,
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE = 1 << 5,
};

/*
 * Bits of ib_uverbs_flow_action_esp.flags. The names with value 0 say what the absence of their
 * counterpart means.
 */
enum ib_uverbs_flow_action_esp_flags {
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO = 0,
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD = 1 << 0,
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL = 0,
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT = 1 << 1,
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT = 0,
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT = 1 << 2,
	IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW = 1 << 3,
};

/* An IPsec security association. */
struct ib_uverbs_flow_action_esp {
	/* Security parameters index; full offload. */
	__u32 spi;
	/* Lower half of the first sequence number; full offload. */
	__u32 seq;
	/* Bytes of traffic flow confidentiality padding (RFC 4303); full offload. */
	__u32 tfc_pad;
	/* See ib_uverbs_flow_action_esp_flags. */
	__u32 flags;
	/* Packets after which all further ones are dropped; full offload. */
	__aligned_u64 hard_limit_pkts;
};

/* Kind of key material. */
enum ib_uverbs_flow_action_esp_keymat {
	IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM = 0,
};

/* How initialisation vectors are made. */
enum ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo {
	IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ = 0,
};

/* Key material of AES-GCM (RFC 4106). */
struct ib_uverbs_flow_action_esp_keymat_aes_gcm {
	/* First initialisation vector; full offload. */
	__aligned_u64 iv;
	/* One of ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo. */
	__u32 iv_algo;
	/* Salt. */
	__u32 salt;
	/* Bytes of the integrity check value. */
	__u32 icv_len;
	/* Bytes of the key: 16, 24 or 32. */
	__u32 key_len;
	/* Key. */
	__u32 aes_key[8];
};

/* Kind of replay protection. */
enum ib_uverbs_flow_action_esp_replay {
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE = 0,
	IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP = 1,
};

/* Replay protection by a sliding bit map. */
struct ib_uverbs_flow_action_esp_replay_bmp {
	/* Sequence numbers in the window. */
	__u32 size;
};

/* A header around the ESP packet, element of a list from the outside in. */
struct ib_uverbs_flow_action_esp_encap {
	/* Header, in the form of a flow filter. */
	RDMA_UAPI_PTR(void *, val_ptr);
	/* Next header, or NULL. */
	RDMA_UAPI_PTR(struct ib_uverbs_flow_action_esp_encap *, next_ptr);
	/* Bytes at val_ptr. */
	__u16 len;
	/* One of ibv_flow_spec_type; type in C. */
	__u16 type;
};

#endif
