//! Queue pairs through the verbs.

mod errors;
mod extended;
mod life;
mod modify;
mod posting;

use super::testing::{Bench, Executing, HOUR, Made, address, send_wr};
use super::*;
use crate::abi::*;
use crate::sys::errno::Errno;
