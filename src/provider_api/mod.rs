//! What plugins call: registration, context set-up, `verbs_set_ops`, default operations, logging.
//!
//! A submodule per thing that a provider does, in the order in which it does them. The kernel
//! commands that plugins call (`ibv_cmd_*`) are in [`crate::cmd`].

mod buffer;
pub(crate) mod context;
mod cq;
mod defaults;
mod dmabuf_heap;
pub(crate) mod live;
mod log;
mod memory;
mod ops;
mod private;
pub(crate) mod private_abi;
pub(crate) mod registry;
#[cfg(test)]
mod tests;

pub(crate) use cq::init_cq;
pub(crate) use defaults::DEFAULT_OPS;
pub(crate) use live::end_op;
pub(crate) use ops::set_ops;
pub(crate) use private::{
    ContextPrivate, OpIndex, call_op, extended, member, member_at, op_index, ops, private,
};
