//! What C sees: types, constants and the export macro.
//!
//! Every type here has the name and the layout that rdma-core 65.0 gives it in its headers; the
//! sibling [`crate::uapi`] holds what the kernel's headers define. There is no behaviour in either:
//! the modules hold data layouts, and `check` compares each of them at compile time with the
//! measured sizes, offsets and values.
//!
//! Anonymous C unions cannot be written in Rust; they appear as one named member (for example
//! `ibv_send_wr::imm`).
#![warn(missing_docs)]
#![allow(non_camel_case_types, non_snake_case)]

mod check;
pub(crate) mod export;
mod plain;

pub use plain::Plain;
pub(crate) use plain::plain;

macro_rules! modules {
    ($($name:ident),* $(,)?) => { $(mod $name; pub use $name::*;)* };
}

modules!(
    ah,
    command_buffer,
    context,
    counters,
    cq,
    device,
    driver,
    event,
    flow,
    kern_abi,
    memory,
    opcode,
    ops,
    port,
    qp,
    qp_ex,
    sa,
    srq,
    v1_0,
    work_request,
    wq,
);

/// The context's private part, seen from outside: only `crate::provider_api` knows what is in it.
#[repr(C)]
pub struct verbs_ex_private {
    _opaque: [u8; 0],
}
