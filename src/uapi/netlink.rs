//! RDMA netlink: clients, commands and attributes (`rdma/rdma_netlink.h`).
//!
//! A message type is the client, shifted left by 10, plus the command. Attribute kinds, where
//! given: `u8` to `u64` in host byte order, `str` NUL terminated.
#![allow(missing_docs, reason = "numbers: the group says what they number")]

use core::ffi::c_uint;

// ---- Clients and groups.

// Clients.
/// Port mapper of iWARP.
pub const RDMA_NL_IWCM: u16 = 2;
pub const RDMA_NL_RSVD: u16 = 3;
/// Local service: path records from user space.
pub const RDMA_NL_LS: u16 = 4;
/// Devices and their resources.
pub const RDMA_NL_NLDEV: u16 = 5;
pub const RDMA_NL_NUM_CLIENTS: u16 = 6;

// Multicast groups.
pub const RDMA_NL_GROUP_IWPM: u16 = 2;
pub const RDMA_NL_GROUP_LS: u16 = 3;
pub const RDMA_NL_GROUP_NOTIFY: u16 = 4;
pub const RDMA_NL_NUM_GROUPS: u16 = 5;

// ---- Devices: client `RDMA_NL_NLDEV`.

// Commands.
pub const RDMA_NLDEV_CMD_UNSPEC: u16 = 0;
/// Devices; can dump.
pub const RDMA_NLDEV_CMD_GET: u16 = 1;
pub const RDMA_NLDEV_CMD_SET: u16 = 2;
pub const RDMA_NLDEV_CMD_NEWLINK: u16 = 3;
pub const RDMA_NLDEV_CMD_DELLINK: u16 = 4;
/// Ports; can dump.
pub const RDMA_NLDEV_CMD_PORT_GET: u16 = 5;
/// Settings of the system.
pub const RDMA_NLDEV_CMD_SYS_GET: u16 = 6;
pub const RDMA_NLDEV_CMD_SYS_SET: u16 = 7;
pub const RDMA_NLDEV_CMD_RES_GET: u16 = 9;
pub const RDMA_NLDEV_CMD_RES_QP_GET: u16 = 10;
pub const RDMA_NLDEV_CMD_RES_CM_ID_GET: u16 = 11;
pub const RDMA_NLDEV_CMD_RES_CQ_GET: u16 = 12;
pub const RDMA_NLDEV_CMD_RES_MR_GET: u16 = 13;
pub const RDMA_NLDEV_CMD_RES_PD_GET: u16 = 14;
/// Device file of a device.
pub const RDMA_NLDEV_CMD_GET_CHARDEV: u16 = 15;
pub const RDMA_NLDEV_CMD_STAT_SET: u16 = 16;
pub const RDMA_NLDEV_CMD_STAT_GET: u16 = 17;
pub const RDMA_NLDEV_CMD_STAT_DEL: u16 = 18;
pub const RDMA_NLDEV_CMD_RES_QP_GET_RAW: u16 = 19;
pub const RDMA_NLDEV_CMD_RES_CQ_GET_RAW: u16 = 20;
pub const RDMA_NLDEV_CMD_RES_MR_GET_RAW: u16 = 21;
pub const RDMA_NLDEV_CMD_RES_CTX_GET: u16 = 22;
pub const RDMA_NLDEV_CMD_RES_SRQ_GET: u16 = 23;
pub const RDMA_NLDEV_CMD_STAT_GET_STATUS: u16 = 24;
pub const RDMA_NLDEV_CMD_RES_SRQ_GET_RAW: u16 = 25;
pub const RDMA_NLDEV_CMD_NEWDEV: u16 = 26;
pub const RDMA_NLDEV_CMD_DELDEV: u16 = 27;
pub const RDMA_NLDEV_CMD_MONITOR: u16 = 28;
pub const RDMA_NLDEV_CMD_FRMR_POOLS_GET: u16 = 29;
pub const RDMA_NLDEV_CMD_FRMR_POOLS_SET: u16 = 30;
pub const RDMA_NLDEV_NUM_OPS: u16 = 31;

// Attributes.
pub const RDMA_NLDEV_ATTR_UNSPEC: u16 = 0;
pub const RDMA_NLDEV_ATTR_PAD: u16 = 0;
/// `u32`, index of the device.
pub const RDMA_NLDEV_ATTR_DEV_INDEX: u16 = 1;
/// `str`, kernel name of the device.
pub const RDMA_NLDEV_ATTR_DEV_NAME: u16 = 2;
/// `u32`, port from 1; of a device: number of its ports.
pub const RDMA_NLDEV_ATTR_PORT_INDEX: u16 = 3;
pub const RDMA_NLDEV_ATTR_CAP_FLAGS: u16 = 4;
pub const RDMA_NLDEV_ATTR_FW_VERSION: u16 = 5;
/// `u64`.
pub const RDMA_NLDEV_ATTR_NODE_GUID: u16 = 6;
pub const RDMA_NLDEV_ATTR_SYS_IMAGE_GUID: u16 = 7;
pub const RDMA_NLDEV_ATTR_SUBNET_PREFIX: u16 = 8;
pub const RDMA_NLDEV_ATTR_LID: u16 = 9;
pub const RDMA_NLDEV_ATTR_SM_LID: u16 = 10;
pub const RDMA_NLDEV_ATTR_LMC: u16 = 11;
pub const RDMA_NLDEV_ATTR_PORT_STATE: u16 = 12;
pub const RDMA_NLDEV_ATTR_PORT_PHYS_STATE: u16 = 13;
/// `u8`, one of `RDMA_NODE_*`.
pub const RDMA_NLDEV_ATTR_DEV_NODE_TYPE: u16 = 14;
pub const RDMA_NLDEV_ATTR_RES_SUMMARY: u16 = 15;
pub const RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY: u16 = 16;
pub const RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME: u16 = 17;
pub const RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR: u16 = 18;
pub const RDMA_NLDEV_ATTR_RES_QP: u16 = 19;
pub const RDMA_NLDEV_ATTR_RES_QP_ENTRY: u16 = 20;
pub const RDMA_NLDEV_ATTR_RES_LQPN: u16 = 21;
pub const RDMA_NLDEV_ATTR_RES_RQPN: u16 = 22;
pub const RDMA_NLDEV_ATTR_RES_RQ_PSN: u16 = 23;
pub const RDMA_NLDEV_ATTR_RES_SQ_PSN: u16 = 24;
pub const RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE: u16 = 25;
pub const RDMA_NLDEV_ATTR_RES_TYPE: u16 = 26;
pub const RDMA_NLDEV_ATTR_RES_STATE: u16 = 27;
pub const RDMA_NLDEV_ATTR_RES_PID: u16 = 28;
pub const RDMA_NLDEV_ATTR_RES_KERN_NAME: u16 = 29;
pub const RDMA_NLDEV_ATTR_RES_CM_ID: u16 = 30;
pub const RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY: u16 = 31;
pub const RDMA_NLDEV_ATTR_RES_PS: u16 = 32;
pub const RDMA_NLDEV_ATTR_RES_SRC_ADDR: u16 = 33;
pub const RDMA_NLDEV_ATTR_RES_DST_ADDR: u16 = 34;
pub const RDMA_NLDEV_ATTR_RES_CQ: u16 = 35;
pub const RDMA_NLDEV_ATTR_RES_CQ_ENTRY: u16 = 36;
pub const RDMA_NLDEV_ATTR_RES_CQE: u16 = 37;
pub const RDMA_NLDEV_ATTR_RES_USECNT: u16 = 38;
pub const RDMA_NLDEV_ATTR_RES_POLL_CTX: u16 = 39;
pub const RDMA_NLDEV_ATTR_RES_MR: u16 = 40;
pub const RDMA_NLDEV_ATTR_RES_MR_ENTRY: u16 = 41;
pub const RDMA_NLDEV_ATTR_RES_RKEY: u16 = 42;
pub const RDMA_NLDEV_ATTR_RES_LKEY: u16 = 43;
pub const RDMA_NLDEV_ATTR_RES_IOVA: u16 = 44;
pub const RDMA_NLDEV_ATTR_RES_MRLEN: u16 = 45;
pub const RDMA_NLDEV_ATTR_RES_PD: u16 = 46;
pub const RDMA_NLDEV_ATTR_RES_PD_ENTRY: u16 = 47;
pub const RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY: u16 = 48;
pub const RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY: u16 = 49;
pub const RDMA_NLDEV_ATTR_NDEV_INDEX: u16 = 50;
pub const RDMA_NLDEV_ATTR_NDEV_NAME: u16 = 51;
pub const RDMA_NLDEV_ATTR_DRIVER: u16 = 52;
pub const RDMA_NLDEV_ATTR_DRIVER_ENTRY: u16 = 53;
pub const RDMA_NLDEV_ATTR_DRIVER_STRING: u16 = 54;
pub const RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE: u16 = 55;
pub const RDMA_NLDEV_ATTR_DRIVER_S32: u16 = 56;
pub const RDMA_NLDEV_ATTR_DRIVER_U32: u16 = 57;
pub const RDMA_NLDEV_ATTR_DRIVER_S64: u16 = 58;
pub const RDMA_NLDEV_ATTR_DRIVER_U64: u16 = 59;
pub const RDMA_NLDEV_ATTR_RES_PDN: u16 = 60;
pub const RDMA_NLDEV_ATTR_RES_CQN: u16 = 61;
pub const RDMA_NLDEV_ATTR_RES_MRN: u16 = 62;
pub const RDMA_NLDEV_ATTR_RES_CM_IDN: u16 = 63;
pub const RDMA_NLDEV_ATTR_RES_CTXN: u16 = 64;
pub const RDMA_NLDEV_ATTR_LINK_TYPE: u16 = 65;
/// `u8`, 1: devices are shared between network name spaces.
pub const RDMA_NLDEV_SYS_ATTR_NETNS_MODE: u16 = 66;
pub const RDMA_NLDEV_ATTR_DEV_PROTOCOL: u16 = 67;
pub const RDMA_NLDEV_NET_NS_FD: u16 = 68;
/// `str`, for example `uverbs`.
pub const RDMA_NLDEV_ATTR_CHARDEV_TYPE: u16 = 69;
/// `str`, name of the device file.
pub const RDMA_NLDEV_ATTR_CHARDEV_NAME: u16 = 70;
/// `u64`, version of the driver's interface.
pub const RDMA_NLDEV_ATTR_CHARDEV_ABI: u16 = 71;
/// `u64`, number of the device file.
pub const RDMA_NLDEV_ATTR_CHARDEV: u16 = 72;
/// `u32`, one of `rdma_driver_id`.
pub const RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID: u16 = 73;
pub const RDMA_NLDEV_ATTR_STAT_MODE: u16 = 74;
pub const RDMA_NLDEV_ATTR_STAT_RES: u16 = 75;
pub const RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK: u16 = 76;
pub const RDMA_NLDEV_ATTR_STAT_COUNTER: u16 = 77;
pub const RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY: u16 = 78;
pub const RDMA_NLDEV_ATTR_STAT_COUNTER_ID: u16 = 79;
pub const RDMA_NLDEV_ATTR_STAT_HWCOUNTERS: u16 = 80;
pub const RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY: u16 = 81;
pub const RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME: u16 = 82;
pub const RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE: u16 = 83;
pub const RDMA_NLDEV_ATTR_DEV_DIM: u16 = 84;
pub const RDMA_NLDEV_ATTR_RES_RAW: u16 = 85;
pub const RDMA_NLDEV_ATTR_RES_CTX: u16 = 86;
pub const RDMA_NLDEV_ATTR_RES_CTX_ENTRY: u16 = 87;
pub const RDMA_NLDEV_ATTR_RES_SRQ: u16 = 88;
pub const RDMA_NLDEV_ATTR_RES_SRQ_ENTRY: u16 = 89;
pub const RDMA_NLDEV_ATTR_RES_SRQN: u16 = 90;
pub const RDMA_NLDEV_ATTR_MIN_RANGE: u16 = 91;
pub const RDMA_NLDEV_ATTR_MAX_RANGE: u16 = 92;
/// `u8`, 1: fork copies registered pages.
pub const RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK: u16 = 93;
pub const RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX: u16 = 94;
pub const RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC: u16 = 95;
pub const RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE: u16 = 96;
pub const RDMA_NLDEV_ATTR_DRIVER_DETAILS: u16 = 97;
pub const RDMA_NLDEV_ATTR_RES_SUBTYPE: u16 = 98;
pub const RDMA_NLDEV_ATTR_DEV_TYPE: u16 = 99;
pub const RDMA_NLDEV_ATTR_PARENT_NAME: u16 = 100;
pub const RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE: u16 = 101;
pub const RDMA_NLDEV_ATTR_EVENT_TYPE: u16 = 102;
pub const RDMA_NLDEV_SYS_ATTR_MONITOR_MODE: u16 = 103;
pub const RDMA_NLDEV_ATTR_STAT_OPCOUNTER_ENABLED: u16 = 104;
pub const RDMA_NLDEV_ATTR_FRMR_POOLS: u16 = 105;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_ENTRY: u16 = 106;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_KEY: u16 = 107;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ATS: u16 = 108;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_KEY_ACCESS_FLAGS: u16 = 109;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_KEY_VENDOR_KEY: u16 = 110;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_KEY_NUM_DMA_BLOCKS: u16 = 111;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_QUEUE_HANDLES: u16 = 112;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_MAX_IN_USE: u16 = 113;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_IN_USE: u16 = 114;
pub const RDMA_NLDEV_ATTR_FRMR_POOLS_AGING_PERIOD: u16 = 115;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_PINNED_HANDLES: u16 = 116;
pub const RDMA_NLDEV_ATTR_FRMR_POOL_KEY_KERNEL_VENDOR_KEY: u16 = 117;
pub const RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX: u16 = 118;
pub const RDMA_NLDEV_ATTR_MAX: u16 = 119;

// Node types.
pub const RDMA_NODE_IB_CA: u16 = 1;
pub const RDMA_NODE_IB_SWITCH: u16 = 2;
pub const RDMA_NODE_IB_ROUTER: u16 = 3;
pub const RDMA_NODE_RNIC: u16 = 4;
pub const RDMA_NODE_USNIC: u16 = 5;
pub const RDMA_NODE_USNIC_UDP: u16 = 6;
pub const RDMA_NODE_UNSPECIFIED: u16 = 7;

// Binding of counters to QPs.
pub const RDMA_COUNTER_MODE_NONE: u16 = 0;
pub const RDMA_COUNTER_MODE_AUTO: u16 = 1;
pub const RDMA_COUNTER_MODE_MANUAL: u16 = 2;
pub const RDMA_COUNTER_MODE_MAX: u16 = 3;

// What QPs are grouped by in automatic binding.
pub const RDMA_COUNTER_MASK_QP_TYPE: u16 = 1 << 0;
pub const RDMA_COUNTER_MASK_PID: u16 = 1 << 1;

// Kinds of sub-devices.
pub const RDMA_DEVICE_TYPE_SMI: u16 = 1;

// Who chose a device name.
pub const RDMA_NAME_ASSIGN_TYPE_UNKNOWN: u16 = 0;
pub const RDMA_NAME_ASSIGN_TYPE_USER: u16 = 1;

// Events of `RDMA_NL_GROUP_NOTIFY`.
pub const RDMA_REGISTER_EVENT: u16 = 0;
pub const RDMA_UNREGISTER_EVENT: u16 = 1;
pub const RDMA_NETDEV_ATTACH_EVENT: u16 = 2;
pub const RDMA_NETDEV_DETACH_EVENT: u16 = 3;
pub const RDMA_RENAME_EVENT: u16 = 4;
pub const RDMA_NETDEV_RENAME_EVENT: u16 = 5;

// How a driver's value wants to be printed.
pub const RDMA_NLDEV_PRINT_TYPE_UNSPEC: u16 = 0;
pub const RDMA_NLDEV_PRINT_TYPE_HEX: u16 = 1;

// ---- Path records: client `RDMA_NL_LS`.

// Commands.
pub const RDMA_NL_LS_OP_RESOLVE: u16 = 0;
pub const RDMA_NL_LS_OP_SET_TIMEOUT: u16 = 1;
pub const RDMA_NL_LS_OP_IP_RESOLVE: u16 = 2;
pub const RDMA_NL_LS_NUM_OPS: u16 = 3;

// Attributes.
pub const LS_NLA_TYPE_UNSPEC: u16 = 0;
pub const LS_NLA_TYPE_PATH_RECORD: u16 = 1;
pub const LS_NLA_TYPE_TIMEOUT: u16 = 2;
pub const LS_NLA_TYPE_SERVICE_ID: u16 = 3;
pub const LS_NLA_TYPE_DGID: u16 = 4;
pub const LS_NLA_TYPE_SGID: u16 = 5;
pub const LS_NLA_TYPE_TCLASS: u16 = 6;
pub const LS_NLA_TYPE_PKEY: u16 = 7;
pub const LS_NLA_TYPE_QOS_CLASS: u16 = 8;
pub const LS_NLA_TYPE_IPV4: u16 = 9;
pub const LS_NLA_TYPE_IPV6: u16 = 10;
pub const LS_NLA_TYPE_MAX: u16 = 11;

/// Flag in an attribute type: the request fails if the attribute is not understood.
pub const RDMA_NLA_F_MANDATORY: c_uint = 1 << 13;

// Which of several paths are wanted.
pub const LS_RESOLVE_PATH_USE_ALL: u16 = 0;
pub const LS_RESOLVE_PATH_USE_UNIDIRECTIONAL: u16 = 1;
pub const LS_RESOLVE_PATH_USE_GMP: u16 = 2;
pub const LS_RESOLVE_PATH_USE_MAX: u16 = 3;

/// Flag in the header of an answer: failed.
pub const RDMA_NL_LS_F_ERR: c_uint = 1 << 8;
/// Size of a device name in bytes.
pub const LS_DEVICE_NAME_MAX: c_uint = 64;

// ---- Port mapper of iWARP: client `RDMA_NL_IWCM`.

/// Oldest version of the interface.
pub const IWPM_UABI_VERSION_MIN: c_uint = 3;
/// Version of the interface.
pub const IWPM_UABI_VERSION: c_uint = 4;

// Commands.
pub const RDMA_NL_IWPM_REG_PID: u16 = 0;
pub const RDMA_NL_IWPM_ADD_MAPPING: u16 = 1;
pub const RDMA_NL_IWPM_QUERY_MAPPING: u16 = 2;
pub const RDMA_NL_IWPM_REMOVE_MAPPING: u16 = 3;
pub const RDMA_NL_IWPM_REMOTE_INFO: u16 = 4;
pub const RDMA_NL_IWPM_HANDLE_ERR: u16 = 5;
pub const RDMA_NL_IWPM_MAPINFO: u16 = 6;
pub const RDMA_NL_IWPM_MAPINFO_NUM: u16 = 7;
pub const RDMA_NL_IWPM_HELLO: u16 = 8;
pub const RDMA_NL_IWPM_NUM_OPS: u16 = 9;

// Attributes of `RDMA_NL_IWPM_HELLO`.
pub const IWPM_NLA_HELLO_UNSPEC: u16 = 0;
pub const IWPM_NLA_HELLO_ABI_VERSION: u16 = 1;
pub const IWPM_NLA_HELLO_MAX: u16 = 2;

// Attributes of `RDMA_NL_IWPM_REG_PID`.
pub const IWPM_NLA_REG_PID_UNSPEC: u16 = 0;
pub const IWPM_NLA_REG_PID_SEQ: u16 = 1;
pub const IWPM_NLA_REG_IF_NAME: u16 = 2;
pub const IWPM_NLA_REG_IBDEV_NAME: u16 = 3;
pub const IWPM_NLA_REG_ULIB_NAME: u16 = 4;
pub const IWPM_NLA_REG_PID_MAX: u16 = 5;

// Attributes of the answer to `RDMA_NL_IWPM_REG_PID`.
pub const IWPM_NLA_RREG_PID_UNSPEC: u16 = 0;
pub const IWPM_NLA_RREG_PID_SEQ: u16 = 1;
pub const IWPM_NLA_RREG_IBDEV_NAME: u16 = 2;
pub const IWPM_NLA_RREG_ULIB_NAME: u16 = 3;
pub const IWPM_NLA_RREG_ULIB_VER: u16 = 4;
pub const IWPM_NLA_RREG_PID_ERR: u16 = 5;
pub const IWPM_NLA_RREG_PID_MAX: u16 = 6;

// Attributes of `RDMA_NL_IWPM_ADD_MAPPING` and `RDMA_NL_IWPM_REMOVE_MAPPING`.
pub const IWPM_NLA_MANAGE_MAPPING_UNSPEC: u16 = 0;
pub const IWPM_NLA_MANAGE_MAPPING_SEQ: u16 = 1;
pub const IWPM_NLA_MANAGE_ADDR: u16 = 2;
pub const IWPM_NLA_MANAGE_FLAGS: u16 = 3;
pub const IWPM_NLA_MANAGE_MAPPING_MAX: u16 = 4;

/// End of the attributes of `RDMA_NL_IWPM_REMOVE_MAPPING`.
pub const IWPM_NLA_REMOVE_MAPPING_MAX: c_uint = 3;

// Attributes of the answer to `RDMA_NL_IWPM_ADD_MAPPING`.
pub const IWPM_NLA_RMANAGE_MAPPING_UNSPEC: u16 = 0;
pub const IWPM_NLA_RMANAGE_MAPPING_SEQ: u16 = 1;
pub const IWPM_NLA_RMANAGE_ADDR: u16 = 2;
pub const IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR: u16 = 3;
pub const IWPM_NLA_MANAGE_MAPPED_LOC_ADDR: u16 = 3;
pub const IWPM_NLA_RMANAGE_MAPPING_ERR: u16 = 4;
pub const IWPM_NLA_RMANAGE_MAPPING_MAX: u16 = 5;

// Attributes of `RDMA_NL_IWPM_QUERY_MAPPING`.
pub const IWPM_NLA_QUERY_MAPPING_UNSPEC: u16 = 0;
pub const IWPM_NLA_QUERY_MAPPING_SEQ: u16 = 1;
pub const IWPM_NLA_QUERY_LOCAL_ADDR: u16 = 2;
pub const IWPM_NLA_QUERY_REMOTE_ADDR: u16 = 3;
pub const IWPM_NLA_QUERY_FLAGS: u16 = 4;
pub const IWPM_NLA_QUERY_MAPPING_MAX: u16 = 5;

// Attributes of the answer to `RDMA_NL_IWPM_QUERY_MAPPING` and of `RDMA_NL_IWPM_REMOTE_INFO`.
pub const IWPM_NLA_RQUERY_MAPPING_UNSPEC: u16 = 0;
pub const IWPM_NLA_RQUERY_MAPPING_SEQ: u16 = 1;
pub const IWPM_NLA_RQUERY_LOCAL_ADDR: u16 = 2;
pub const IWPM_NLA_RQUERY_REMOTE_ADDR: u16 = 3;
pub const IWPM_NLA_RQUERY_MAPPED_LOC_ADDR: u16 = 4;
pub const IWPM_NLA_RQUERY_MAPPED_REM_ADDR: u16 = 5;
pub const IWPM_NLA_RQUERY_MAPPING_ERR: u16 = 6;
pub const IWPM_NLA_RQUERY_MAPPING_MAX: u16 = 7;

// Attributes of the request `RDMA_NL_IWPM_MAPINFO`.
pub const IWPM_NLA_MAPINFO_REQ_UNSPEC: u16 = 0;
pub const IWPM_NLA_MAPINFO_ULIB_NAME: u16 = 1;
pub const IWPM_NLA_MAPINFO_ULIB_VER: u16 = 2;
pub const IWPM_NLA_MAPINFO_REQ_MAX: u16 = 3;

// Attributes of `RDMA_NL_IWPM_MAPINFO`.
pub const IWPM_NLA_MAPINFO_UNSPEC: u16 = 0;
pub const IWPM_NLA_MAPINFO_LOCAL_ADDR: u16 = 1;
pub const IWPM_NLA_MAPINFO_MAPPED_ADDR: u16 = 2;
pub const IWPM_NLA_MAPINFO_FLAGS: u16 = 3;
pub const IWPM_NLA_MAPINFO_MAX: u16 = 4;

// Attributes of `RDMA_NL_IWPM_MAPINFO_NUM`.
pub const IWPM_NLA_MAPINFO_NUM_UNSPEC: u16 = 0;
pub const IWPM_NLA_MAPINFO_SEQ: u16 = 1;
pub const IWPM_NLA_MAPINFO_SEND_NUM: u16 = 2;
pub const IWPM_NLA_MAPINFO_ACK_NUM: u16 = 3;
pub const IWPM_NLA_MAPINFO_NUM_MAX: u16 = 4;

/// End of the attributes that are sent.
pub const IWPM_NLA_MAPINFO_SEND_MAX: c_uint = 3;

// Attributes of `RDMA_NL_IWPM_HANDLE_ERR`.
pub const IWPM_NLA_ERR_UNSPEC: u16 = 0;
pub const IWPM_NLA_ERR_SEQ: u16 = 1;
pub const IWPM_NLA_ERR_CODE: u16 = 2;
pub const IWPM_NLA_ERR_MAX: u16 = 3;

// Flags of a mapping.
/// Do not map the port, only register it.
pub const IWPM_FLAGS_NO_PORT_MAP: u16 = 1 << 0;
