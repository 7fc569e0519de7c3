//! Queue pairs: types and states, creation, modification and query (`infiniband/verbs.h`).
//!
//! The attributes that a transition needs besides `IBV_QP_STATE` (`ibv_modify_qp(3)`; IBTA volume
//! 1, verb Modify Queue Pair); the names are those of [`ibv_qp_attr_mask`] without `IBV_QP_`:
//!
//! | type | RESET to INIT | INIT to RTR | RTR to RTS |
//! |---|---|---|---|
//! | RC | PKEY_INDEX PORT ACCESS_FLAGS | AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER | TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC |
//! | UC | PKEY_INDEX PORT ACCESS_FLAGS | AV PATH_MTU DEST_QPN RQ_PSN | SQ_PSN |
//! | UD | PKEY_INDEX PORT QKEY | | SQ_PSN |
//! | XRC_SEND | PKEY_INDEX PORT ACCESS_FLAGS | AV PATH_MTU DEST_QPN RQ_PSN | TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC |
//! | XRC_RECV | PKEY_INDEX PORT ACCESS_FLAGS | AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER | TIMEOUT SQ_PSN |
//! | RAW_PACKET | PORT | | |

use core::ffi::{c_int, c_uint, c_void};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;

// ---- The queue pair.

/// Transport service of a QP, chosen at creation.
pub type ibv_qp_type = c_uint;
/// Reliable connection: one peer, ordered, acknowledged; all operations.
pub const IBV_QPT_RC: ibv_qp_type = 2;
/// Unreliable connection: one peer, ordered, no acknowledgement; send and RDMA write.
pub const IBV_QPT_UC: ibv_qp_type = 3;
/// Unreliable datagram: any peer, one packet per message; send only.
pub const IBV_QPT_UD: ibv_qp_type = 4;
/// Whole Ethernet frames built by the application; needs `CAP_NET_RAW`.
pub const IBV_QPT_RAW_PACKET: ibv_qp_type = 8;
/// Initiator half of an extended reliable connection: a send queue only.
pub const IBV_QPT_XRC_SEND: ibv_qp_type = 9;
/// Target half of an extended reliable connection: no queues of its own, each message names the SRQ
/// that receives it.
pub const IBV_QPT_XRC_RECV: ibv_qp_type = 10;
/// Vendor specific transport, made and used through the provider's own functions.
pub const IBV_QPT_DRIVER: ibv_qp_type = 255;

/// State of a QP (IBTA volume 1, section 10.3.1). The caller moves it with `ibv_modify_qp(3)`;
/// errors move it to SQE or ERR.
pub type ibv_qp_state = c_uint;
/// As created: posts fail, arriving packets are dropped silently.
pub const IBV_QPS_RESET: ibv_qp_state = 0;
/// Receives may be posted; nothing is processed.
pub const IBV_QPS_INIT: ibv_qp_state = 1;
/// Ready to receive: incoming packets are handled, sends may not be posted.
pub const IBV_QPS_RTR: ibv_qp_state = 2;
/// Ready to send: fully operational.
pub const IBV_QPS_RTS: ibv_qp_state = 3;
/// Send queue drain: posts are accepted but not started; attributes may be changed.
pub const IBV_QPS_SQD: ibv_qp_state = 4;
/// Send queue error, UC and UD only: the send queue flushes, receives go on.
pub const IBV_QPS_SQE: ibv_qp_state = 5;
/// All outstanding and new work requests are flushed with `IBV_WC_WR_FLUSH_ERR`.
pub const IBV_QPS_ERR: ibv_qp_state = 6;
/// Not known to the library: a QP from `ibv_open_qp(3)` before its first query.
pub const IBV_QPS_UNKNOWN: ibv_qp_state = 7;

/// Automatic path migration state (IBTA volume 1, section 17.2.8). The caller arms it, the device
/// migrates.
pub type ibv_mig_state = c_uint;
/// On the current path; the alternate path is not loaded.
pub const IBV_MIG_MIGRATED: ibv_mig_state = 0;
/// An alternate path has been loaded and waits for the peer to agree.
pub const IBV_MIG_REARM: ibv_mig_state = 1;
/// Both ends hold an alternate path; migration can happen at any time.
pub const IBV_MIG_ARMED: ibv_mig_state = 2;

/// A queue pair, made by `ibv_create_qp(3)`, `ibv_create_qp_ex(3)` or `ibv_open_qp(3)`.
///
/// The provider allocates it inside its own larger struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp {
    /// Device context the QP belongs to.
    pub context: *mut ibv_context,
    /// The caller's pointer, as given at creation; the library does not use it.
    pub qp_context: *mut c_void,
    /// Protection domain; NULL for a QP from `ibv_open_qp(3)`.
    pub pd: *mut ibv_pd,
    /// CQ of the send queue.
    pub send_cq: *mut ibv_cq,
    /// CQ of the receive queue.
    pub recv_cq: *mut ibv_cq,
    /// SRQ that replaces the receive queue, or NULL.
    pub srq: *mut ibv_srq,
    /// Kernel handle, valid on the context's command fd.
    pub handle: u32,
    /// QP number on the wire, 24 bits, host byte order.
    pub qp_num: u32,
    /// State as of the last successful modify or query through the library.
    pub state: ibv_qp_state,
    /// Transport service.
    pub qp_type: ibv_qp_type,
    /// Guards `events_completed`.
    pub mutex: pthread_mutex_t,
    /// Signalled when an event is acknowledged; `ibv_destroy_qp(3)` waits on it.
    pub cond: pthread_cond_t,
    /// Asynchronous events of this QP acknowledged so far.
    pub events_completed: u32,
}

// ---- Creation.

/// Queue sizes. Input: what the caller needs; output: what it got, at least as much. Limits:
/// `max_qp_wr`, `max_sge` of `ibv_device_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_cap {
    /// Outstanding work requests in the send queue.
    pub max_send_wr: u32,
    /// Outstanding work requests in the receive queue; ignored with an SRQ.
    pub max_recv_wr: u32,
    /// Scatter/gather entries per send request.
    pub max_send_sge: u32,
    /// Scatter/gather entries per receive request; ignored with an SRQ.
    pub max_recv_sge: u32,
    /// Bytes that can be sent with `IBV_SEND_INLINE`.
    pub max_inline_data: u32,
}

/// What `ibv_create_qp(3)` makes; also filled by `ibv_query_qp(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_init_attr {
    /// Stored in `ibv_qp::qp_context`.
    pub qp_context: *mut c_void,
    /// CQ of the send queue.
    pub send_cq: *mut ibv_cq,
    /// CQ of the receive queue; may equal `send_cq`.
    pub recv_cq: *mut ibv_cq,
    /// Shared receive queue to take receives from, or NULL for a receive queue of its own.
    pub srq: *mut ibv_srq,
    /// Sizes; updated to the actual ones.
    pub cap: ibv_qp_cap,
    /// Transport service.
    pub qp_type: ibv_qp_type,
    /// Non-zero: every send request completes with an entry in the CQ. Zero: only those with
    /// `IBV_SEND_SIGNALED`, and failed ones.
    pub sq_sig_all: c_int,
}

/// Bits of `ibv_qp_init_attr_ex::comp_mask`: which of the members after it are set.
pub type ibv_qp_init_attr_mask = c_uint;
/// `pd`; needed for every type but `IBV_QPT_XRC_RECV`.
pub const IBV_QP_INIT_ATTR_PD: ibv_qp_init_attr_mask = 1 << 0;
/// `xrcd`; needed for `IBV_QPT_XRC_RECV`.
pub const IBV_QP_INIT_ATTR_XRCD: ibv_qp_init_attr_mask = 1 << 1;
/// `create_flags`.
pub const IBV_QP_INIT_ATTR_CREATE_FLAGS: ibv_qp_init_attr_mask = 1 << 2;
/// `max_tso_header`.
pub const IBV_QP_INIT_ATTR_MAX_TSO_HEADER: ibv_qp_init_attr_mask = 1 << 3;
/// `rwq_ind_tbl`: receives are spread over work queues.
pub const IBV_QP_INIT_ATTR_IND_TABLE: ibv_qp_init_attr_mask = 1 << 4;
/// `rx_hash_conf`.
pub const IBV_QP_INIT_ATTR_RX_HASH: ibv_qp_init_attr_mask = 1 << 5;
/// `send_ops_flags`: the QP can be used as `ibv_qp_ex`.
pub const IBV_QP_INIT_ATTR_SEND_OPS_FLAGS: ibv_qp_init_attr_mask = 1 << 6;

/// Bits of `ibv_qp_init_attr_ex::create_flags`.
pub type ibv_qp_create_flags = c_uint;
/// Do not deliver multicast packets back to the QP that sent them.
pub const IBV_QP_CREATE_BLOCK_SELF_MCAST_LB: ibv_qp_create_flags = 1 << 1;
/// Deliver the Ethernet frame check sequence with the data; raw packet QP.
pub const IBV_QP_CREATE_SCATTER_FCS: ibv_qp_create_flags = 1 << 8;
/// Remove the customer VLAN tag of received frames; raw packet QP.
pub const IBV_QP_CREATE_CVLAN_STRIPPING: ibv_qp_create_flags = 1 << 9;
/// Use `source_qpn` on the wire; UD only.
pub const IBV_QP_CREATE_SOURCE_QPN: ibv_qp_create_flags = 1 << 10;
/// Pad writes of received data to a full cache line.
pub const IBV_QP_CREATE_PCI_WRITE_END_PADDING: ibv_qp_create_flags = 1 << 11;

/// What `ibv_create_qp_ex(3)` makes; begins like `ibv_qp_init_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_init_attr_ex {
    /// Stored in `ibv_qp::qp_context`.
    pub qp_context: *mut c_void,
    /// CQ of the send queue; NULL if the type has none.
    pub send_cq: *mut ibv_cq,
    /// CQ of the receive queue; NULL if the type has none or with an indirection table.
    pub recv_cq: *mut ibv_cq,
    /// Shared receive queue, or NULL.
    pub srq: *mut ibv_srq,
    /// Sizes; updated to the actual ones.
    pub cap: ibv_qp_cap,
    /// Transport service.
    pub qp_type: ibv_qp_type,
    /// Non-zero: every send request completes with an entry in the CQ.
    pub sq_sig_all: c_int,
    /// Which members below are set, see `ibv_qp_init_attr_mask`.
    pub comp_mask: u32,
    /// Protection domain, or a parent domain.
    pub pd: *mut ibv_pd,
    /// XRC domain of an `IBV_QPT_XRC_RECV` QP.
    pub xrcd: *mut ibv_xrcd,
    /// See `ibv_qp_create_flags`.
    pub create_flags: u32,
    /// Longest header of an `IBV_WR_TSO` request in bytes.
    pub max_tso_header: u16,
    /// Indirection table that chooses the receive work queue by hash.
    pub rwq_ind_tbl: *mut ibv_rwq_ind_table,
    /// How the hash of a received packet is computed.
    pub rx_hash_conf: ibv_rx_hash_conf,
    /// QP number to use on the wire, with `IBV_QP_CREATE_SOURCE_QPN`.
    pub source_qpn: u32,
    /// Operations that will be posted through `ibv_qp_ex`, see `ibv_qp_create_send_ops_flags`;
    /// creation fails if one is not supported.
    pub send_ops_flags: u64,
}

/// Hash functions of receive side scaling.
pub type ibv_rx_hash_function_flags = c_uint;
/// Toeplitz hash over the chosen fields.
pub const IBV_RX_HASH_FUNC_TOEPLITZ: ibv_rx_hash_function_flags = 1 << 0;

/// Packet fields that enter the receive hash.
pub type ibv_rx_hash_fields = c_uint;
/// IPv4 source address.
pub const IBV_RX_HASH_SRC_IPV4: ibv_rx_hash_fields = 1 << 0;
/// IPv4 destination address.
pub const IBV_RX_HASH_DST_IPV4: ibv_rx_hash_fields = 1 << 1;
/// IPv6 source address.
pub const IBV_RX_HASH_SRC_IPV6: ibv_rx_hash_fields = 1 << 2;
/// IPv6 destination address.
pub const IBV_RX_HASH_DST_IPV6: ibv_rx_hash_fields = 1 << 3;
/// TCP source port.
pub const IBV_RX_HASH_SRC_PORT_TCP: ibv_rx_hash_fields = 1 << 4;
/// TCP destination port.
pub const IBV_RX_HASH_DST_PORT_TCP: ibv_rx_hash_fields = 1 << 5;
/// UDP source port.
pub const IBV_RX_HASH_SRC_PORT_UDP: ibv_rx_hash_fields = 1 << 6;
/// UDP destination port.
pub const IBV_RX_HASH_DST_PORT_UDP: ibv_rx_hash_fields = 1 << 7;
/// Security parameters index of an IPsec packet.
pub const IBV_RX_HASH_IPSEC_SPI: ibv_rx_hash_fields = 1 << 8;
/// Take the other fields from the inner headers of a tunnelled packet.
pub const IBV_RX_HASH_INNER: ibv_rx_hash_fields = 1 << 31;

/// Receive hash of a QP with an indirection table; what a device can do is in `ibv_rss_caps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_rx_hash_conf {
    /// One of `ibv_rx_hash_function_flags`.
    pub rx_hash_function: u8,
    /// Length of the key in bytes.
    pub rx_hash_key_len: u8,
    /// Key of the hash function; read during creation only.
    pub rx_hash_key: *mut u8,
    /// Fields to hash, see `ibv_rx_hash_fields`.
    pub rx_hash_fields_mask: u64,
}

/// Bits of `ibv_qp_open_attr::comp_mask`.
pub type ibv_qp_open_attr_mask = c_uint;
/// `qp_num`; needed.
pub const IBV_QP_OPEN_ATTR_NUM: ibv_qp_open_attr_mask = 1 << 0;
/// `xrcd`; needed.
pub const IBV_QP_OPEN_ATTR_XRCD: ibv_qp_open_attr_mask = 1 << 1;
/// `qp_context`.
pub const IBV_QP_OPEN_ATTR_CONTEXT: ibv_qp_open_attr_mask = 1 << 2;
/// `qp_type`; needed.
pub const IBV_QP_OPEN_ATTR_TYPE: ibv_qp_open_attr_mask = 1 << 3;
/// First undefined bit.
pub const IBV_QP_OPEN_ATTR_RESERVED: ibv_qp_open_attr_mask = 1 << 4;

/// Names an existing XRC target QP that `ibv_open_qp(3)` shares with this process.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_open_attr {
    /// Which members are set, see `ibv_qp_open_attr_mask`.
    pub comp_mask: u32,
    /// Number of the QP.
    pub qp_num: u32,
    /// XRC domain that the QP belongs to.
    pub xrcd: *mut ibv_xrcd,
    /// Stored in `ibv_qp::qp_context`.
    pub qp_context: *mut c_void,
    /// `IBV_QPT_XRC_RECV`.
    pub qp_type: ibv_qp_type,
}

// ---- Modification and query.

/// Attributes that `ibv_modify_qp(3)` sets and `ibv_query_qp(3)` is asked for: members of
/// `ibv_qp_attr`.
pub type ibv_qp_attr_mask = c_uint;
/// `qp_state`.
pub const IBV_QP_STATE: ibv_qp_attr_mask = 1 << 0;
/// `cur_qp_state`.
pub const IBV_QP_CUR_STATE: ibv_qp_attr_mask = 1 << 1;
/// `en_sqd_async_notify`.
pub const IBV_QP_EN_SQD_ASYNC_NOTIFY: ibv_qp_attr_mask = 1 << 2;
/// `qp_access_flags`.
pub const IBV_QP_ACCESS_FLAGS: ibv_qp_attr_mask = 1 << 3;
/// `pkey_index`.
pub const IBV_QP_PKEY_INDEX: ibv_qp_attr_mask = 1 << 4;
/// `port_num`.
pub const IBV_QP_PORT: ibv_qp_attr_mask = 1 << 5;
/// `qkey`.
pub const IBV_QP_QKEY: ibv_qp_attr_mask = 1 << 6;
/// `ah_attr`.
pub const IBV_QP_AV: ibv_qp_attr_mask = 1 << 7;
/// `path_mtu`.
pub const IBV_QP_PATH_MTU: ibv_qp_attr_mask = 1 << 8;
/// `timeout`.
pub const IBV_QP_TIMEOUT: ibv_qp_attr_mask = 1 << 9;
/// `retry_cnt`.
pub const IBV_QP_RETRY_CNT: ibv_qp_attr_mask = 1 << 10;
/// `rnr_retry`.
pub const IBV_QP_RNR_RETRY: ibv_qp_attr_mask = 1 << 11;
/// `rq_psn`.
pub const IBV_QP_RQ_PSN: ibv_qp_attr_mask = 1 << 12;
/// `max_rd_atomic`.
pub const IBV_QP_MAX_QP_RD_ATOMIC: ibv_qp_attr_mask = 1 << 13;
/// `alt_ah_attr`, `alt_pkey_index`, `alt_port_num` and `alt_timeout`.
pub const IBV_QP_ALT_PATH: ibv_qp_attr_mask = 1 << 14;
/// `min_rnr_timer`.
pub const IBV_QP_MIN_RNR_TIMER: ibv_qp_attr_mask = 1 << 15;
/// `sq_psn`.
pub const IBV_QP_SQ_PSN: ibv_qp_attr_mask = 1 << 16;
/// `max_dest_rd_atomic`.
pub const IBV_QP_MAX_DEST_RD_ATOMIC: ibv_qp_attr_mask = 1 << 17;
/// `path_mig_state`.
pub const IBV_QP_PATH_MIG_STATE: ibv_qp_attr_mask = 1 << 18;
/// `cap`: resize the queues, where the device has `IBV_DEVICE_RESIZE_MAX_WR`.
pub const IBV_QP_CAP: ibv_qp_attr_mask = 1 << 19;
/// `dest_qp_num`.
pub const IBV_QP_DEST_QPN: ibv_qp_attr_mask = 1 << 20;
/// `rate_limit`, for the QP types of `ibv_packet_pacing_caps`; cannot be queried.
pub const IBV_QP_RATE_LIMIT: ibv_qp_attr_mask = 1 << 25;

/// Attributes of a QP for `ibv_modify_qp(3)` and `ibv_query_qp(3)`. All numbers are in host byte
/// order; only members named by the mask are read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_attr {
    /// State to move to; from a query, the current state.
    pub qp_state: ibv_qp_state,
    /// State that the caller believes the QP is in; optional in moves to RTS.
    pub cur_qp_state: ibv_qp_state,
    /// Largest payload of a packet on the path; connected types.
    pub path_mtu: ibv_mtu,
    /// Path migration state to enter.
    pub path_mig_state: ibv_mig_state,
    /// Q_Key that arriving datagrams must carry; UD only.
    pub qkey: u32,
    /// First packet sequence number expected from the peer, 24 bits; connected types.
    pub rq_psn: u32,
    /// First packet sequence number to send, 24 bits.
    pub sq_psn: u32,
    /// QP number of the peer, 24 bits; connected types.
    pub dest_qp_num: u32,
    /// What the peer may do, of `ibv_access_flags`: remote read, write, atomic and flush.
    pub qp_access_flags: c_uint,
    /// Queue sizes; updated to the actual ones.
    pub cap: ibv_qp_cap,
    /// Primary path to the peer; connected types.
    pub ah_attr: ibv_ah_attr,
    /// Alternate path for automatic path migration.
    pub alt_ah_attr: ibv_ah_attr,
    /// Index into the P_Key table of the primary port.
    pub pkey_index: u16,
    /// Index into the P_Key table of the alternate port.
    pub alt_pkey_index: u16,
    /// Non-zero: raise `IBV_EVENT_SQ_DRAINED` when a move to SQD has drained the send queue.
    pub en_sqd_async_notify: u8,
    /// Query only: non-zero while the send queue is draining; meaningful in SQD.
    pub sq_draining: u8,
    /// RDMA reads and atomics this QP may have outstanding as initiator.
    pub max_rd_atomic: u8,
    /// RDMA reads and atomics of the peer that this QP can hold as responder.
    pub max_dest_rd_atomic: u8,
    /// Shortest wait this QP asks of a peer when no receive is posted: a code from 1 (0.01 ms) to
    /// 31 (491.52 ms), and 0 for 655.36 ms (IBTA volume 1, "Encoding for RNR NAK Timer Field").
    pub min_rnr_timer: u8,
    /// Primary port, from 1.
    pub port_num: u8,
    /// Acknowledgement timeout of the primary path: 4.096 us * 2^timeout, 1 to 31; 0 waits for
    /// ever.
    pub timeout: u8,
    /// Resends after a missing acknowledgement or a sequence error, 0 to 7.
    pub retry_cnt: u8,
    /// Resends after a receiver-not-ready answer, 0 to 6; 7 means for ever.
    pub rnr_retry: u8,
    /// Port of the alternate path, from 1.
    pub alt_port_num: u8,
    /// Acknowledgement timeout of the alternate path, coded like `timeout`.
    pub alt_timeout: u8,
    /// Send rate limit in kbit/s; 0 is no limit.
    pub rate_limit: u32,
}

/// Packet pacing of a QP, `ibv_modify_qp_rate_limit(3)`; limits in `ibv_packet_pacing_caps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_qp_rate_limit_attr {
    /// Maximum send rate in kbit/s; 0 is no limit.
    pub rate_limit: u32,
    /// Bytes that may leave back to back; 0 is the device's default.
    pub max_burst_sz: u32,
    /// Usual packet size in bytes, to tune the gaps; 0 is the port's MTU.
    pub typical_pkt_sz: u16,
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// Options of enhanced connection establishment: exchanged by connection managers, set and read
/// with `ibv_set_ece(3)` and `ibv_query_ece(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ece {
    /// IEEE OUI of the provider's vendor; 0 where ECE is not supported.
    pub vendor_id: u32,
    /// Meaning known to the vendor only; the peer answers with the part it accepts.
    pub options: u32,
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// Flags of `ibv_query_qp_data_in_order(3)`.
pub type ibv_query_qp_data_in_order_flags = c_uint;
/// Answer with a mask of `ibv_query_qp_data_in_order_caps` instead of 0 or 1.
pub const IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS: ibv_query_qp_data_in_order_flags = 1 << 0;
/// Answer for the device alone, whatever order the CPU sees; without it the answer is 0 on CPUs
/// other than x86.
pub const IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY: ibv_query_qp_data_in_order_flags = 1 << 1;

/// How far the data of one message is written in order, answer of `ibv_query_qp_data_in_order(3)`.
pub type ibv_query_qp_data_in_order_caps = c_uint;
/// Over the whole message, so that a reader may poll its last byte.
pub const IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG: ibv_query_qp_data_in_order_caps = 1 << 0;
/// Within each aligned block of 128 bytes.
pub const IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES: ibv_query_qp_data_in_order_caps = 1 << 1;

plain! {
    ibv_qp, ibv_qp_cap, ibv_qp_init_attr, ibv_qp_init_attr_ex, ibv_rx_hash_conf,
    ibv_qp_open_attr, ibv_qp_attr, ibv_qp_rate_limit_attr, ibv_ece
}
