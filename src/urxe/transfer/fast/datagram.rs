//! Datagrams to one QP. What is remembered is the destination of the last one.
//!
//! All of them take the lock of the QP that they go to, so their senders need no mark there, as
//! those on connections do.

use crate::sync::atomic::Ordering::Relaxed;

use super::super::Route;
use super::super::datagram::{GRH, MULTICAST, largest, qkey_of, write_grh};
use super::super::responder::is_address_of;
use super::send::{Front, Message};
use super::{Fast, LOOK};
use crate::abi::*;
use crate::urxe::host::ticks;
use crate::urxe::pair::Qp;

/// Where a datagram goes.
#[derive(Clone, Copy)]
pub(crate) struct Destination<'a> {
    pub(crate) address: &'a ibv_ah_attr,
    pub(crate) number: u32,
    pub(crate) qkey: u32,
}

impl Fast {
    /// As [`send`](Self::send), for a datagram.
    #[inline(never)]
    pub(crate) fn send_datagram(
        &mut self,
        qp: &Qp,
        attr: &ibv_qp_attr,
        route: &mut Route,
        message: &Message<'_>,
        to: &Destination<'_>,
    ) -> Option<u32> {
        let Destination { address, number, qkey } = *to;
        if number == MULTICAST {
            return None;
        }
        let is_known =
            |link: &super::Link| link.number == number && ticks().wrapping_sub(link.looked) <= LOOK;
        if !self.link.as_ref().is_some_and(is_known) && !self.try_connect(qp, attr, route, number) {
            return None;
        }
        let this = self.link.as_ref()?;
        let length = message.length();
        // The lock is not held, but who changes the Q_Key has changed the stamp by then.
        let is_right = is_address_of(address, this.device)
            && this.far.qkey.load(Relaxed) == qkey_of(qkey, attr)
            && length <= largest(qp);
        if !is_right {
            return None;
        }
        let mut header = [0; GRH];
        let sl = address.sl;
        if address.is_global == 0 {
            let front = Front { header: &[], room: GRH, sl, flags: 0 };
            return self.send_long(qp, message, Some(front));
        }
        let own = qp.host.header().ok()?.devices.get(qp.device as usize)?;
        write_grh(own, address, length as usize, &mut header);
        let front = Front { header: &header, room: 0, sl, flags: IBV_WC_GRH };
        self.send_long(qp, message, Some(front))
    }
}
