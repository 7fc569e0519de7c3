//! Queue pairs: their life, their states, and what is posted to send queues.
//!
//! * [`qp`]: a queue pair as its owner has it; [`create`]: from creation to destruction; [`open`]:
//!   further handles; [`xrc`]: XRC domains;
//! * [`states`]: which moves there are; [`modify`]: making them, and asking;
//! * [`wqe`]: send requests and the ring that holds them; [`post`] and [`extended`]: the two ways of
//!   posting;
//! * [`run`]: carrying out what is posted, and making progress with what waits; [`attempt`]: what
//!   that remembers and tells; [`registry`]: which QPs that is about;
//! * [`attach`]: what completion counters count of it;
//! * [`error`]: the error state, which peers can put a QP into too.

mod attach;
pub(crate) mod attempt;
pub(crate) mod create;
pub(crate) mod error;
mod extended;
mod fast;
mod freed;
pub(crate) mod modify;
pub(crate) mod open;
pub(crate) mod post;
pub(crate) mod qp;
mod registry;
mod run;
mod states;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod wqe;
pub(crate) mod xrc;

pub(crate) use attach::qp_attach_comp_cntr;
pub(crate) use attempt::{Attempt, Done, Outcome};
pub(crate) use create::{create_qp, create_qp_ex, destroy_qp};
pub(crate) use error::enter_error;
pub(crate) use freed::polled;
pub(crate) use modify::{modify_qp, query_qp, query_qp_data_in_order};
pub(crate) use open::open_qp;
pub(crate) use post::{bind_mw, post_recv, post_send};
pub(crate) use qp::Qp;
pub(crate) use registry::Registry;
pub(crate) use run::progress;
#[cfg(test)]
pub(crate) use wqe::Request;
pub(crate) use wqe::{Data, Target, Wqe};
pub(crate) use xrc::{Xrcd, close_xrcd, open_xrcd};

#[cfg(test)]
use testing::execute;
#[cfg(test)]
pub(crate) use testing::{done_at_once, go_the_general_way};

#[cfg(not(test))]
use crate::urxe::transfer::execute;
