//! Datagrams: addresses, the header in front of them, multicast.

use crate::sync::atomic::Ordering::Relaxed;

use super::Operation;
use super::bytes::Local;
use super::message::Arrival;
use super::multicast::{self, Group};
use super::responder::{Connection, Responder, gid, is_address_of};
use super::stop::{Reason, Stop};
use crate::abi::*;
use crate::urxe::host::Peer;
use crate::urxe::pair::{Qp, Target};
use crate::urxe::shared::{DeviceShared, Header};

/// Bytes in front of each datagram in its receive.
pub(super) const GRH: usize = 40;
/// A Q_Key in a request that stands for that of the sending QP.
const PRIVILEGED: u32 = 1 << 31;
/// QP number of multicast datagrams.
pub(super) const MULTICAST: u32 = 0xff_ffff;
/// Bytes of a packet before and behind the payload, from the UDP header on: UDP, BTH, DETH, ICRC.
const HEADERS: usize = 8 + 12 + 8 + 4;

/// A datagram on its way.
struct Datagram<'a> {
    address: &'a ibv_ah_attr,
    qkey: u32,
    /// The header and the bytes; the bytes alone where there is no header.
    data: &'a Local,
    has_grh: bool,
    byte_len: u32,
}

impl Operation<'_> {
    /// The own device in the own slot.
    pub(super) fn own_device(&self) -> Option<&DeviceShared> {
        self.host.memory().at::<Header>(0)?.devices.get(self.qp.device as usize)
    }

    /// `IBV_WR_SEND` of UD.
    pub(super) fn send_datagram(&self) -> Result<u32, Stop> {
        let Target::Datagram { ah, qp_num, qkey } = &self.wqe.target else {
            return Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode));
        };
        let most = largest(self.qp);
        if self.wqe.length > most {
            self.explain(format_args!("{} bytes in a datagram, MTU {most}", self.wqe.length));
            return Err(Stop::local(IBV_WC_LOC_LEN_ERR, Reason::MessageLength));
        }
        let mut source = Local::new();
        self.source(&mut source)?;
        let mut header = [0; GRH];
        let has_grh = ah.is_global != 0;
        if has_grh {
            if let Some(device) = self.own_device() {
                write_grh(device, ah, self.wqe.length as usize, &mut header);
            }
            let damaged = |_| Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Damaged);
            source.put_in_front(&mut header).map_err(damaged)?;
        }
        let datagram = Datagram {
            address: ah,
            qkey: qkey_of(*qkey, self.attr),
            data: &source,
            has_grh,
            byte_len: (self.wqe.length + GRH as u64) as u32,
        };
        if *qp_num == MULTICAST {
            self.multicast(&datagram);
        } else {
            let peer = self.peer.ok_or(Stop::Silence)?;
            self.datagram_to(peer, *qp_num, &datagram, false)?;
        }
        Ok(self.byte_len())
    }

    /// Gives a datagram to a QP.
    fn datagram_to(
        &self,
        peer: &Peer,
        number: u32,
        datagram: &Datagram<'_>,
        is_multicast: bool,
    ) -> Result<(), Stop> {
        let responder = Responder::find(self.host, peer, number)?;
        let _guard = responder.lock(IBV_QPT_UD, self.patience)?;
        let device = responder.device().ok_or(Stop::Silence)?;
        if !is_multicast && !is_address_of(datagram.address, device) {
            return Err(Stop::Silence);
        }
        let qkey = responder.shared.qkey.load(Relaxed);
        if qkey != datagram.qkey {
            self.explain(format_args!(
                "QP {number:#x} has Q_Key {qkey:#x}, the datagram has {:#x}: dropped",
                datagram.qkey
            ));
            return Err(Stop::Silence);
        }
        let connection = Connection {
            responder,
            site: peer,
            pd: responder.shared.pd.load(Relaxed),
            queue: responder.queue(),
            cq: responder.shared.recv_cq.load(Relaxed),
            reliable: false,
            is_xrc: false,
        };
        let arrival = Arrival {
            opcode: IBV_WC_RECV,
            wc_flags: self.wc_flags() | if datagram.has_grh { IBV_WC_GRH } else { 0 },
            data: Some(datagram.data),
            room: if datagram.has_grh { 0 } else { GRH as u64 },
            byte_len: datagram.byte_len,
            sl: datagram.address.sl,
        };
        self.deliver(&connection, &arrival)
    }

    /// Gives a datagram to all QPs that are attached to its group. That some do not get it is nobody's
    /// concern.
    fn multicast(&self, datagram: &Datagram<'_>) {
        let group = Group::of_address(datagram.address);
        multicast::for_each(self.host, &group, |peer, number| {
            let _ = self.datagram_to(peer, number, datagram, true);
        });
    }
}

/// Largest payload of a datagram.
pub(super) fn largest(qp: &Qp) -> u64 {
    128 << qp.context().port().mtu()
}

/// The Q_Key of a datagram whose request has this one.
pub(super) fn qkey_of(qkey: u32, attr: &ibv_qp_attr) -> u32 {
    if qkey & PRIVILEGED != 0 { attr.qkey } else { qkey }
}

/// Writes what precedes a datagram of so many bytes from a device: a global route header, or for
/// addresses of IPv4 an IPv4 header in its second half (IBTA annex A17.4.5).
pub(super) fn write_grh(
    device: &DeviceShared,
    address: &ibv_ah_attr,
    length: usize,
    header: &mut [u8; GRH],
) {
    let route = &address.grh;
    let source = gid(if route.sgid_index == 0 { &device.gid0 } else { &device.gid1 });
    // SAFETY: a GID is 16 bytes in each of its forms.
    let destination = unsafe { route.dgid.raw };
    let ethernet = device.lid.load(Relaxed) == 0;
    // Payloads are padded to words.
    let length = HEADERS + length.next_multiple_of(4);
    let (class, hops) = (route.traffic_class, route.hop_limit);
    if ethernet && is_ipv4(&source) && is_ipv4(&destination) {
        let total = (20 + length) as u16;
        let ip = &mut header[20..];
        ip[..2].copy_from_slice(&[0x45, class]);
        ip[2..4].copy_from_slice(&total.to_be_bytes());
        ip[6] = 0x40;
        ip[8] = hops;
        ip[9] = libc::IPPROTO_UDP as u8;
        ip[12..16].copy_from_slice(&source[12..]);
        ip[16..20].copy_from_slice(&destination[12..]);
        let sum = checksum(ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        return;
    }
    let first = 6 << 28 | u32::from(class) << 20 | route.flow_label & 0xf_ffff;
    header[..4].copy_from_slice(&first.to_be_bytes());
    header[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    header[6] = if ethernet { libc::IPPROTO_UDP as u8 } else { 0x1b };
    header[7] = hops;
    header[8..24].copy_from_slice(&source);
    header[24..].copy_from_slice(&destination);
}

/// Whether a GID stands for an IPv4 address.
fn is_ipv4(gid: &[u8; 16]) -> bool {
    gid[..12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
}

/// The checksum of an IPv4 header whose checksum is 0. RFC 791.
fn checksum(header: &[u8]) -> u16 {
    let words = header.as_chunks::<2>().0.iter().map(|word| u32::from(u16::from_be_bytes(*word)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}
