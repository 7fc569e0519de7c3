//! Command numbers and limits of the write interface.
#![allow(missing_docs, reason = "a command is explained with its request")]

use core::ffi::c_uint;

/// Version of the interface that these structs belong to.
pub const IB_USER_VERBS_ABI_VERSION: c_uint = 6;
/// First number of extended commands that have no plain form.
pub const IB_USER_VERBS_CMD_THRESHOLD: c_uint = 50;
/// Bits of `ib_uverbs_cmd_hdr::command` that hold the number.
pub const IB_USER_VERBS_CMD_COMMAND_MASK: c_uint = 0xff;
/// Flag in `ib_uverbs_cmd_hdr::command`: extended command.
pub const IB_USER_VERBS_CMD_FLAG_EXTENDED: c_uint = 1 << 31;
/// Size of a kernel device name in bytes.
pub const IB_DEVICE_NAME_MAX: c_uint = 64;
/// Largest `log_ind_tbl_size`.
pub const IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE: c_uint = 0x0d;

/// Numbers of plain commands. The kernel refuses those it has no code for: MODIFY_AH, QUERY_AH,
/// REG_SMR, QUERY_MR, BIND_MW and PEEK_CQ.
pub type ib_uverbs_write_cmds = c_uint;
pub const IB_USER_VERBS_CMD_GET_CONTEXT: ib_uverbs_write_cmds = 0;
pub const IB_USER_VERBS_CMD_QUERY_DEVICE: ib_uverbs_write_cmds = 1;
pub const IB_USER_VERBS_CMD_QUERY_PORT: ib_uverbs_write_cmds = 2;
pub const IB_USER_VERBS_CMD_ALLOC_PD: ib_uverbs_write_cmds = 3;
pub const IB_USER_VERBS_CMD_DEALLOC_PD: ib_uverbs_write_cmds = 4;
pub const IB_USER_VERBS_CMD_CREATE_AH: ib_uverbs_write_cmds = 5;
pub const IB_USER_VERBS_CMD_MODIFY_AH: ib_uverbs_write_cmds = 6;
pub const IB_USER_VERBS_CMD_QUERY_AH: ib_uverbs_write_cmds = 7;
pub const IB_USER_VERBS_CMD_DESTROY_AH: ib_uverbs_write_cmds = 8;
pub const IB_USER_VERBS_CMD_REG_MR: ib_uverbs_write_cmds = 9;
pub const IB_USER_VERBS_CMD_REG_SMR: ib_uverbs_write_cmds = 10;
pub const IB_USER_VERBS_CMD_REREG_MR: ib_uverbs_write_cmds = 11;
pub const IB_USER_VERBS_CMD_QUERY_MR: ib_uverbs_write_cmds = 12;
pub const IB_USER_VERBS_CMD_DEREG_MR: ib_uverbs_write_cmds = 13;
pub const IB_USER_VERBS_CMD_ALLOC_MW: ib_uverbs_write_cmds = 14;
pub const IB_USER_VERBS_CMD_BIND_MW: ib_uverbs_write_cmds = 15;
pub const IB_USER_VERBS_CMD_DEALLOC_MW: ib_uverbs_write_cmds = 16;
pub const IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL: ib_uverbs_write_cmds = 17;
pub const IB_USER_VERBS_CMD_CREATE_CQ: ib_uverbs_write_cmds = 18;
pub const IB_USER_VERBS_CMD_RESIZE_CQ: ib_uverbs_write_cmds = 19;
pub const IB_USER_VERBS_CMD_DESTROY_CQ: ib_uverbs_write_cmds = 20;
pub const IB_USER_VERBS_CMD_POLL_CQ: ib_uverbs_write_cmds = 21;
pub const IB_USER_VERBS_CMD_PEEK_CQ: ib_uverbs_write_cmds = 22;
pub const IB_USER_VERBS_CMD_REQ_NOTIFY_CQ: ib_uverbs_write_cmds = 23;
pub const IB_USER_VERBS_CMD_CREATE_QP: ib_uverbs_write_cmds = 24;
pub const IB_USER_VERBS_CMD_QUERY_QP: ib_uverbs_write_cmds = 25;
pub const IB_USER_VERBS_CMD_MODIFY_QP: ib_uverbs_write_cmds = 26;
pub const IB_USER_VERBS_CMD_DESTROY_QP: ib_uverbs_write_cmds = 27;
pub const IB_USER_VERBS_CMD_POST_SEND: ib_uverbs_write_cmds = 28;
pub const IB_USER_VERBS_CMD_POST_RECV: ib_uverbs_write_cmds = 29;
pub const IB_USER_VERBS_CMD_ATTACH_MCAST: ib_uverbs_write_cmds = 30;
pub const IB_USER_VERBS_CMD_DETACH_MCAST: ib_uverbs_write_cmds = 31;
pub const IB_USER_VERBS_CMD_CREATE_SRQ: ib_uverbs_write_cmds = 32;
pub const IB_USER_VERBS_CMD_MODIFY_SRQ: ib_uverbs_write_cmds = 33;
pub const IB_USER_VERBS_CMD_QUERY_SRQ: ib_uverbs_write_cmds = 34;
pub const IB_USER_VERBS_CMD_DESTROY_SRQ: ib_uverbs_write_cmds = 35;
pub const IB_USER_VERBS_CMD_POST_SRQ_RECV: ib_uverbs_write_cmds = 36;
pub const IB_USER_VERBS_CMD_OPEN_XRCD: ib_uverbs_write_cmds = 37;
pub const IB_USER_VERBS_CMD_CLOSE_XRCD: ib_uverbs_write_cmds = 38;
pub const IB_USER_VERBS_CMD_CREATE_XSRQ: ib_uverbs_write_cmds = 39;
pub const IB_USER_VERBS_CMD_OPEN_QP: ib_uverbs_write_cmds = 40;

// Numbers of extended commands, without the flag.
pub const IB_USER_VERBS_EX_CMD_QUERY_DEVICE: c_uint = IB_USER_VERBS_CMD_QUERY_DEVICE;
pub const IB_USER_VERBS_EX_CMD_CREATE_CQ: c_uint = IB_USER_VERBS_CMD_CREATE_CQ;
pub const IB_USER_VERBS_EX_CMD_CREATE_QP: c_uint = IB_USER_VERBS_CMD_CREATE_QP;
pub const IB_USER_VERBS_EX_CMD_MODIFY_QP: c_uint = IB_USER_VERBS_CMD_MODIFY_QP;
pub const IB_USER_VERBS_EX_CMD_CREATE_FLOW: c_uint = IB_USER_VERBS_CMD_THRESHOLD;
pub const IB_USER_VERBS_EX_CMD_DESTROY_FLOW: c_uint = 51;
pub const IB_USER_VERBS_EX_CMD_CREATE_WQ: c_uint = 52;
pub const IB_USER_VERBS_EX_CMD_MODIFY_WQ: c_uint = 53;
pub const IB_USER_VERBS_EX_CMD_DESTROY_WQ: c_uint = 54;
pub const IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL: c_uint = 55;
pub const IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL: c_uint = 56;
pub const IB_USER_VERBS_EX_CMD_MODIFY_CQ: c_uint = 57;
