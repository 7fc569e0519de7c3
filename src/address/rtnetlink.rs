//! What the resolver asks the kernel of its network, as rtnetlink(7) messages: pure functions that
//! build requests and read replies.

use std::net::IpAddr;

use crate::address::gid::Mac;
use crate::sys::netlink::parse::{Attribute, Message, Request, u16_at, u32_at};

/// `IFLA_VLAN_ID` (`linux/if_link.h`).
const IFLA_VLAN_ID: u16 = 1;
/// Bytes of `struct ifaddrmsg`, `struct ifinfomsg`, `struct rtmsg`, `struct ndmsg`.
const ADDRESS_HEADER: usize = 8;
const LINK_HEADER: usize = 16;
const ROUTE_HEADER: usize = 12;
const NEIGHBOUR_HEADER: usize = 12;

/// Neighbour states in which the Ethernet address may be used: all but those of an entry that is
/// not resolved yet or could not be.
const NUD_VALID: u16 = libc::NUD_PERMANENT
    | libc::NUD_NOARP
    | libc::NUD_REACHABLE
    | libc::NUD_PROBE
    | libc::NUD_STALE
    | libc::NUD_DELAY;

/// An IP address of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OwnAddress {
    pub(super) address: IpAddr,
    pub(super) interface: u32,
}

/// What a network interface is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link {
    /// Its address, if it is an Ethernet one.
    pub(super) mac: Option<Mac>,
    /// The VLAN id if it is a VLAN.
    pub(super) vlan: Option<u16>,
}

/// Where datagrams to a destination go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// The destination is on this host.
    Local,
    /// Out, through a gateway or (None) to the destination itself.
    Out(Option<IpAddr>),
    /// Nowhere: a route of a type that refuses.
    Refused,
}

/// An entry of the neighbour table whose Ethernet address is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Neighbour {
    pub(super) address: IpAddr,
    pub(super) interface: u32,
    pub(super) mac: Mac,
}

/// `AF_INET` or `AF_INET6`.
fn family(address: IpAddr) -> u8 {
    (if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }) as u8
}

/// An address as the kernel has it in attributes.
fn with_octets<T>(address: IpAddr, f: impl FnOnce(&[u8]) -> T) -> T {
    match address {
        IpAddr::V4(address) => f(&address.octets()),
        IpAddr::V6(address) => f(&address.octets()),
    }
}

fn address_from(octets: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).ok()
}

/// Asks for all addresses of the family of `like`.
pub(super) fn own_addresses_request(like: IpAddr) -> Request {
    let mut header = [0; ADDRESS_HEADER];
    header[0] = family(like);
    Request::new(libc::RTM_GETADDR, libc::NLM_F_DUMP as u16).fixed(&header)
}

/// Reads a message of the answer; `None` for what is no address.
pub(super) fn own_address(message: &Message<'_>) -> Option<OwnAddress> {
    if message.kind != libc::RTM_NEWADDR {
        return None;
    }
    let attributes = message.attributes(ADDRESS_HEADER);
    // On a point-to-point interface IFA_ADDRESS is the peer's.
    let address = attributes
        .find_kind(libc::IFA_LOCAL)
        .or_else(|| attributes.find_kind(libc::IFA_ADDRESS))?;
    Some(OwnAddress {
        address: address_from(address.value)?,
        interface: u32_at(message.payload, 4)?,
    })
}

/// Asks for an interface.
pub(super) fn link_request(interface: u32) -> Request {
    let mut header = [0; LINK_HEADER];
    header[4..8].copy_from_slice(&interface.to_ne_bytes());
    Request::new(libc::RTM_GETLINK, 0).fixed(&header)
}

/// Reads the answer.
pub(super) fn link(message: &Message<'_>) -> Option<Link> {
    if message.kind != libc::RTM_NEWLINK {
        return None;
    }
    let attributes = message.attributes(LINK_HEADER);
    let mac = attributes.find_kind(libc::IFLA_ADDRESS).and_then(|address| mac_from(&address));
    let vlan = attributes.find_kind(libc::IFLA_LINKINFO).and_then(|info| {
        let info = info.nested();
        if info.find_kind(libc::IFLA_INFO_KIND)?.text()? != b"vlan" {
            return None;
        }
        info.find_kind(libc::IFLA_INFO_DATA)?.nested().find_kind(IFLA_VLAN_ID)?.u16()
    });
    Some(Link { mac, vlan })
}

/// Asks for the route from an address of ours, on an interface, to a destination.
pub(super) fn route_request(destination: IpAddr, source: IpAddr, interface: u32) -> Request {
    let mut header = [0; ROUTE_HEADER];
    header[0] = family(destination);
    header[1] = with_octets(destination, |octets| octets.len() * 8) as u8;
    // Rules may choose the route by its source.
    let source = Some(source).filter(|source| source.is_ipv4() == destination.is_ipv4());
    if source.is_some() {
        header[2] = header[1];
    }
    let mut request = Request::new(libc::RTM_GETROUTE, 0).fixed(&header);
    request = with_octets(destination, |octets| request.attribute(libc::RTA_DST, octets));
    if let Some(source) = source {
        request = with_octets(source, |octets| request.attribute(libc::RTA_SRC, octets));
    }
    request.attribute_u32(libc::RTA_OIF, interface)
}

/// Reads the answer.
pub(super) fn route(message: &Message<'_>) -> Option<Route> {
    if message.kind != libc::RTM_NEWROUTE {
        return None;
    }
    match *message.payload.get(7)? {
        libc::RTN_LOCAL => return Some(Route::Local),
        libc::RTN_BLACKHOLE | libc::RTN_UNREACHABLE | libc::RTN_PROHIBIT | libc::RTN_THROW => {
            return Some(Route::Refused);
        }
        _ => {}
    }
    let attributes = message.attributes(ROUTE_HEADER);
    let gateway = match attributes.find_kind(libc::RTA_GATEWAY) {
        Some(gateway) => Some(address_from(gateway.value)?),
        // A gateway of another family, behind the two bytes that name it.
        None => match attributes.find_kind(libc::RTA_VIA) {
            Some(via) => Some(address_from(via.value.get(2..)?)?),
            None => None,
        },
    };
    Some(Route::Out(gateway))
}

/// Asks for one entry of the neighbour table: ENOENT without one; a kernel before 5.0 answers
/// EOPNOTSUPP.
pub(super) fn neighbour_request(address: IpAddr, interface: u32) -> Request {
    let request = Request::new(libc::RTM_GETNEIGH, 0).fixed(&neighbour_header(address, interface));
    with_octets(address, |octets| request.attribute(libc::NDA_DST, octets))
}

/// Asks for the neighbour table of the family of `address`, of one interface if the kernel can
/// select that.
pub(super) fn neighbours_request(address: IpAddr, interface: u32) -> Request {
    Request::new(libc::RTM_GETNEIGH, libc::NLM_F_DUMP as u16)
        .fixed(&neighbour_header(address, 0))
        .attribute_u32(libc::NDA_IFINDEX, interface)
}

fn neighbour_header(address: IpAddr, interface: u32) -> [u8; NEIGHBOUR_HEADER] {
    let mut header = [0; NEIGHBOUR_HEADER];
    header[0] = family(address);
    header[4..8].copy_from_slice(&interface.to_ne_bytes());
    header
}

/// Reads a message of an answer or of the group `RTNLGRP_NEIGH`; `None` for an entry that is gone
/// or has no Ethernet address now.
pub(super) fn neighbour(message: &Message<'_>) -> Option<Neighbour> {
    let state = u16_at(message.payload, 8)?;
    if message.kind != libc::RTM_NEWNEIGH || state & NUD_VALID == 0 {
        return None;
    }
    let attributes = message.attributes(NEIGHBOUR_HEADER);
    Some(Neighbour {
        address: address_from(attributes.find_kind(libc::NDA_DST)?.value)?,
        interface: u32_at(message.payload, 4)?,
        mac: mac_from(&attributes.find_kind(libc::NDA_LLADDR)?)?,
    })
}

/// A link-layer address if it is an Ethernet one; that of IP over InfiniBand has 20 bytes.
fn mac_from(attribute: &Attribute<'_>) -> Option<Mac> {
    attribute.value.try_into().ok()
}

#[cfg(test)]
mod tests;
