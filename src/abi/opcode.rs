//! Opcodes of packets on the wire: the first byte of the base transport header
//! (`infiniband/opcode.h`; IBTA volume 1, section 9.2.1).
//!
//! The upper three bits name the transport, the lower five the operation. With each opcode stand
//! the extended headers that follow the base header.

// ---- Transports.

/// Transport: reliable connection.
pub const IBV_OPCODE_RC: u8 = 0x00;
/// Transport: unreliable connection.
pub const IBV_OPCODE_UC: u8 = 0x20;
/// Transport: reliable datagram.
pub const IBV_OPCODE_RD: u8 = 0x40;
/// Transport: unreliable datagram.
pub const IBV_OPCODE_UD: u8 = 0x60;

// ---- Operations.

/// Send, first.
pub const IBV_OPCODE_SEND_FIRST: u8 = 0x00;
/// Send, middle.
pub const IBV_OPCODE_SEND_MIDDLE: u8 = 0x01;
/// Send, last.
pub const IBV_OPCODE_SEND_LAST: u8 = 0x02;
/// Send, last with immediate.
pub const IBV_OPCODE_SEND_LAST_WITH_IMMEDIATE: u8 = 0x03;
/// Send, only.
pub const IBV_OPCODE_SEND_ONLY: u8 = 0x04;
/// Send, only with immediate.
pub const IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE: u8 = 0x05;
/// RDMA write, first.
pub const IBV_OPCODE_RDMA_WRITE_FIRST: u8 = 0x06;
/// RDMA write, middle.
pub const IBV_OPCODE_RDMA_WRITE_MIDDLE: u8 = 0x07;
/// RDMA write, last.
pub const IBV_OPCODE_RDMA_WRITE_LAST: u8 = 0x08;
/// RDMA write, last with immediate.
pub const IBV_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE: u8 = 0x09;
/// RDMA write, only.
pub const IBV_OPCODE_RDMA_WRITE_ONLY: u8 = 0x0a;
/// RDMA write, only with immediate.
pub const IBV_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE: u8 = 0x0b;
/// RDMA read request.
pub const IBV_OPCODE_RDMA_READ_REQUEST: u8 = 0x0c;
/// RDMA read response, first.
pub const IBV_OPCODE_RDMA_READ_RESPONSE_FIRST: u8 = 0x0d;
/// RDMA read response, middle.
pub const IBV_OPCODE_RDMA_READ_RESPONSE_MIDDLE: u8 = 0x0e;
/// RDMA read response, last.
pub const IBV_OPCODE_RDMA_READ_RESPONSE_LAST: u8 = 0x0f;
/// RDMA read response, only.
pub const IBV_OPCODE_RDMA_READ_RESPONSE_ONLY: u8 = 0x10;
/// Acknowledge.
pub const IBV_OPCODE_ACKNOWLEDGE: u8 = 0x11;
/// Atomic acknowledge.
pub const IBV_OPCODE_ATOMIC_ACKNOWLEDGE: u8 = 0x12;
/// Compare and swap.
pub const IBV_OPCODE_COMPARE_SWAP: u8 = 0x13;
/// Fetch and add.
pub const IBV_OPCODE_FETCH_ADD: u8 = 0x14;

// ---- Reliable connection.

/// Send, first: none.
pub const IBV_OPCODE_RC_SEND_FIRST: u8 = IBV_OPCODE_RC | IBV_OPCODE_SEND_FIRST;
/// Send, middle: none.
pub const IBV_OPCODE_RC_SEND_MIDDLE: u8 = IBV_OPCODE_RC | IBV_OPCODE_SEND_MIDDLE;
/// Send, last: none.
pub const IBV_OPCODE_RC_SEND_LAST: u8 = IBV_OPCODE_RC | IBV_OPCODE_SEND_LAST;
/// Send, last with immediate: ImmDt.
pub const IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_SEND_LAST_WITH_IMMEDIATE;
/// Send, only: none.
pub const IBV_OPCODE_RC_SEND_ONLY: u8 = IBV_OPCODE_RC | IBV_OPCODE_SEND_ONLY;
/// Send, only with immediate: ImmDt.
pub const IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE;
/// RDMA write, first: RETH.
pub const IBV_OPCODE_RC_RDMA_WRITE_FIRST: u8 = IBV_OPCODE_RC | IBV_OPCODE_RDMA_WRITE_FIRST;
/// RDMA write, middle: none.
pub const IBV_OPCODE_RC_RDMA_WRITE_MIDDLE: u8 = IBV_OPCODE_RC | IBV_OPCODE_RDMA_WRITE_MIDDLE;
/// RDMA write, last: none.
pub const IBV_OPCODE_RC_RDMA_WRITE_LAST: u8 = IBV_OPCODE_RC | IBV_OPCODE_RDMA_WRITE_LAST;
/// RDMA write, last with immediate: ImmDt.
pub const IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE;
/// RDMA write, only: RETH.
pub const IBV_OPCODE_RC_RDMA_WRITE_ONLY: u8 = IBV_OPCODE_RC | IBV_OPCODE_RDMA_WRITE_ONLY;
/// RDMA write, only with immediate: RETH, ImmDt.
pub const IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE;
/// RDMA read request: RETH.
pub const IBV_OPCODE_RC_RDMA_READ_REQUEST: u8 = IBV_OPCODE_RC | IBV_OPCODE_RDMA_READ_REQUEST;
/// RDMA read response, first: AETH.
pub const IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_RDMA_READ_RESPONSE_FIRST;
/// RDMA read response, middle: none.
pub const IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_RDMA_READ_RESPONSE_MIDDLE;
/// RDMA read response, last: AETH.
pub const IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_RDMA_READ_RESPONSE_LAST;
/// RDMA read response, only: AETH.
pub const IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY: u8 =
    IBV_OPCODE_RC | IBV_OPCODE_RDMA_READ_RESPONSE_ONLY;
/// Acknowledge: AETH.
pub const IBV_OPCODE_RC_ACKNOWLEDGE: u8 = IBV_OPCODE_RC | IBV_OPCODE_ACKNOWLEDGE;
/// Atomic acknowledge: AETH, AtomicAckETH.
pub const IBV_OPCODE_RC_ATOMIC_ACKNOWLEDGE: u8 = IBV_OPCODE_RC | IBV_OPCODE_ATOMIC_ACKNOWLEDGE;
/// Compare and swap: AtomicETH.
pub const IBV_OPCODE_RC_COMPARE_SWAP: u8 = IBV_OPCODE_RC | IBV_OPCODE_COMPARE_SWAP;
/// Fetch and add: AtomicETH.
pub const IBV_OPCODE_RC_FETCH_ADD: u8 = IBV_OPCODE_RC | IBV_OPCODE_FETCH_ADD;

// ---- Unreliable connection.

/// Send, first: none.
pub const IBV_OPCODE_UC_SEND_FIRST: u8 = IBV_OPCODE_UC | IBV_OPCODE_SEND_FIRST;
/// Send, middle: none.
pub const IBV_OPCODE_UC_SEND_MIDDLE: u8 = IBV_OPCODE_UC | IBV_OPCODE_SEND_MIDDLE;
/// Send, last: none.
pub const IBV_OPCODE_UC_SEND_LAST: u8 = IBV_OPCODE_UC | IBV_OPCODE_SEND_LAST;
/// Send, last with immediate: ImmDt.
pub const IBV_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_UC | IBV_OPCODE_SEND_LAST_WITH_IMMEDIATE;
/// Send, only: none.
pub const IBV_OPCODE_UC_SEND_ONLY: u8 = IBV_OPCODE_UC | IBV_OPCODE_SEND_ONLY;
/// Send, only with immediate: ImmDt.
pub const IBV_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_UC | IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE;
/// RDMA write, first: RETH.
pub const IBV_OPCODE_UC_RDMA_WRITE_FIRST: u8 = IBV_OPCODE_UC | IBV_OPCODE_RDMA_WRITE_FIRST;
/// RDMA write, middle: none.
pub const IBV_OPCODE_UC_RDMA_WRITE_MIDDLE: u8 = IBV_OPCODE_UC | IBV_OPCODE_RDMA_WRITE_MIDDLE;
/// RDMA write, last: none.
pub const IBV_OPCODE_UC_RDMA_WRITE_LAST: u8 = IBV_OPCODE_UC | IBV_OPCODE_RDMA_WRITE_LAST;
/// RDMA write, last with immediate: ImmDt.
pub const IBV_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_UC | IBV_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE;
/// RDMA write, only: RETH.
pub const IBV_OPCODE_UC_RDMA_WRITE_ONLY: u8 = IBV_OPCODE_UC | IBV_OPCODE_RDMA_WRITE_ONLY;
/// RDMA write, only with immediate: RETH, ImmDt.
pub const IBV_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_UC | IBV_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE;

// ---- Reliable datagram.

/// Send, first: RDETH, DETH.
pub const IBV_OPCODE_RD_SEND_FIRST: u8 = IBV_OPCODE_RD | IBV_OPCODE_SEND_FIRST;
/// Send, middle: RDETH, DETH.
pub const IBV_OPCODE_RD_SEND_MIDDLE: u8 = IBV_OPCODE_RD | IBV_OPCODE_SEND_MIDDLE;
/// Send, last: RDETH, DETH.
pub const IBV_OPCODE_RD_SEND_LAST: u8 = IBV_OPCODE_RD | IBV_OPCODE_SEND_LAST;
/// Send, last with immediate: RDETH, DETH, ImmDt.
pub const IBV_OPCODE_RD_SEND_LAST_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_SEND_LAST_WITH_IMMEDIATE;
/// Send, only: RDETH, DETH.
pub const IBV_OPCODE_RD_SEND_ONLY: u8 = IBV_OPCODE_RD | IBV_OPCODE_SEND_ONLY;
/// Send, only with immediate: RDETH, DETH, ImmDt.
pub const IBV_OPCODE_RD_SEND_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE;
/// RDMA write, first: RDETH, DETH, RETH.
pub const IBV_OPCODE_RD_RDMA_WRITE_FIRST: u8 = IBV_OPCODE_RD | IBV_OPCODE_RDMA_WRITE_FIRST;
/// RDMA write, middle: RDETH, DETH.
pub const IBV_OPCODE_RD_RDMA_WRITE_MIDDLE: u8 = IBV_OPCODE_RD | IBV_OPCODE_RDMA_WRITE_MIDDLE;
/// RDMA write, last: RDETH, DETH.
pub const IBV_OPCODE_RD_RDMA_WRITE_LAST: u8 = IBV_OPCODE_RD | IBV_OPCODE_RDMA_WRITE_LAST;
/// RDMA write, last with immediate: RDETH, DETH, ImmDt.
pub const IBV_OPCODE_RD_RDMA_WRITE_LAST_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE;
/// RDMA write, only: RDETH, DETH, RETH.
pub const IBV_OPCODE_RD_RDMA_WRITE_ONLY: u8 = IBV_OPCODE_RD | IBV_OPCODE_RDMA_WRITE_ONLY;
/// RDMA write, only with immediate: RDETH, DETH, RETH, ImmDt.
pub const IBV_OPCODE_RD_RDMA_WRITE_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE;
/// RDMA read request: RDETH, DETH, RETH.
pub const IBV_OPCODE_RD_RDMA_READ_REQUEST: u8 = IBV_OPCODE_RD | IBV_OPCODE_RDMA_READ_REQUEST;
/// RDMA read response, first: RDETH, AETH.
pub const IBV_OPCODE_RD_RDMA_READ_RESPONSE_FIRST: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_RDMA_READ_RESPONSE_FIRST;
/// RDMA read response, middle: RDETH.
pub const IBV_OPCODE_RD_RDMA_READ_RESPONSE_MIDDLE: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_RDMA_READ_RESPONSE_MIDDLE;
/// RDMA read response, last: RDETH, AETH.
pub const IBV_OPCODE_RD_RDMA_READ_RESPONSE_LAST: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_RDMA_READ_RESPONSE_LAST;
/// RDMA read response, only: RDETH, AETH.
pub const IBV_OPCODE_RD_RDMA_READ_RESPONSE_ONLY: u8 =
    IBV_OPCODE_RD | IBV_OPCODE_RDMA_READ_RESPONSE_ONLY;
/// Acknowledge: RDETH, AETH.
pub const IBV_OPCODE_RD_ACKNOWLEDGE: u8 = IBV_OPCODE_RD | IBV_OPCODE_ACKNOWLEDGE;
/// Atomic acknowledge: RDETH, AETH, AtomicAckETH.
pub const IBV_OPCODE_RD_ATOMIC_ACKNOWLEDGE: u8 = IBV_OPCODE_RD | IBV_OPCODE_ATOMIC_ACKNOWLEDGE;
/// Compare and swap: RDETH, DETH, AtomicETH.
pub const IBV_OPCODE_RD_COMPARE_SWAP: u8 = IBV_OPCODE_RD | IBV_OPCODE_COMPARE_SWAP;
/// Fetch and add: RDETH, DETH, AtomicETH.
pub const IBV_OPCODE_RD_FETCH_ADD: u8 = IBV_OPCODE_RD | IBV_OPCODE_FETCH_ADD;

// ---- Unreliable datagram.

/// Send, only: DETH.
pub const IBV_OPCODE_UD_SEND_ONLY: u8 = IBV_OPCODE_UD | IBV_OPCODE_SEND_ONLY;
/// Send, only with immediate: DETH, ImmDt.
pub const IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE: u8 =
    IBV_OPCODE_UD | IBV_OPCODE_SEND_ONLY_WITH_IMMEDIATE;
