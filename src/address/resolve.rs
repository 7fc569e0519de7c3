//! The Ethernet address and the VLAN through which a GID is reached.

use core::ffi::c_int;
use std::net::IpAddr;

use crate::abi::export::export;
use crate::abi::*;
use crate::address::gid::{Gid, Mac, mac_from_address};
use crate::address::neighbour::{self, Host};
use crate::address::rtnetlink::{self, Link, OwnAddress, Route};
use crate::log::log;
use crate::sys::errno::{Errno, Result, ReturnMinusOne};
use crate::sys::netlink::Socket;
use crate::verbs;

/// What `vid` holds when the way is through no VLAN.
const NO_VLAN: u16 = 0xffff;

/// How a destination is reached on Ethernet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Resolved {
    mac: Mac,
    vlan: Option<u16>,
}

/// Stores the Ethernet address behind the destination GID of `attr` in `eth_mac`, and the VLAN id
/// of the interface that has the source GID in `vid` (0xffff for none; NULL if not wanted). Asks
/// the network if need be, for up to 3 s.
///
/// Returns 0; -1 when the source GID cannot be queried; or a negative error number: EINVAL for GIDs
/// that are no addresses of the network or of this host, EHOSTUNREACH when nobody answers, else
/// what opening a socket fails with. `errno` is set too. `verbs.h: ibv_resolve_eth_l2_from_gid`
unsafe extern "C" fn ibv_resolve_eth_l2_from_gid(
    context: *mut ibv_context,
    attr: *mut ibv_ah_attr,
    eth_mac: *mut u8,
    vid: *mut u16,
) -> c_int {
    let wanted = VERBS_QUERY_GID_ATTR_GID | VERBS_QUERY_GID_ATTR_NDEV_IFINDEX;
    // SAFETY: the caller passes a context, attributes, room for an Ethernet address, and NULL or
    // room for a VLAN id. A GID is 16 bytes in each of its forms.
    unsafe {
        let ibv_global_route { dgid, sgid_index, .. } = (*attr).grh;
        let index = u32::from(sgid_index);
        let entry = match verbs::gid::entry(context, (*attr).port_num, index, wanted) {
            Ok(entry) => entry,
            Err(errno) => return Err::<(), _>(errno).or_minus_one(),
        };
        let (source, destination) = (Gid(entry.gid.raw), Gid(dgid.raw));
        match resolve(source.address(), entry.ndev_ifindex, destination.address()) {
            Ok(resolved) => {
                eth_mac.cast::<Mac>().write(resolved.mac);
                if !vid.is_null() {
                    vid.write(resolved.vlan.unwrap_or(NO_VLAN));
                }
                0
            }
            Err(errno) => {
                errno.store();
                errno.0.wrapping_neg()
            }
        }
    }
}
export!(ibv_resolve_eth_l2_from_gid @@ "IBVERBS_1.1");

/// Resolves a destination as seen from an address of ours, which is best looked for on the
/// interface `hint` (0: no idea).
fn resolve(source: IpAddr, hint: u32, destination: IpAddr) -> Result<Resolved> {
    let mut netlink = Socket::open(libc::NETLINK_ROUTE)?;
    let replies = netlink.query(rtnetlink::own_addresses_request(source))?;
    let own = || replies.messages().filter_map(|message| rtnetlink::own_address(&message));
    let Some(interface) = interface_of(own(), source, hint) else {
        log!(VERBS_LOG_ERR, "resolve {destination}: no interface has the source address {source}");
        return Err(Errno::EINVAL);
    };
    let known = is_own(own(), destination, interface).then_some(Route::Local);
    through(&mut netlink, source, interface, destination, known).map_err(|errno| {
        log!(
            VERBS_LOG_ERR,
            "resolve {destination} from {source} on interface {interface}: {}",
            std::io::Error::from_raw_os_error(errno.0)
        );
        Errno::EHOSTUNREACH
    })
}

/// Whether a destination is this host as seen from an interface; a link-local or a loopback address
/// of another interface is not.
fn is_own(mut own: impl Iterator<Item = OwnAddress>, destination: IpAddr, interface: u32) -> bool {
    let everywhere = match destination {
        IpAddr::V4(address) => !address.is_loopback(),
        IpAddr::V6(address) => !address.is_unicast_link_local() && !address.is_loopback(),
    };
    own.any(|own| own.address == destination && (everywhere || own.interface == interface))
}

/// The interface that has an address: the one hinted at if it is among them, because several can
/// have the same link-local address, a device and its VLANs for instance.
fn interface_of(own: impl Iterator<Item = OwnAddress>, source: IpAddr, hint: u32) -> Option<u32> {
    let mut first = None;
    for OwnAddress { interface, .. } in own.filter(|own| own.address == source) {
        if interface == hint {
            return Some(hint);
        }
        first = first.or(Some(interface));
    }
    first
}

/// Resolves a destination through an interface, by the route if that is known already.
fn through(
    netlink: &mut Socket,
    source: IpAddr,
    interface: u32,
    destination: IpAddr,
    known: Option<Route>,
) -> Result<Resolved> {
    let replies = netlink.query(rtnetlink::link_request(interface))?;
    let Link { mac: own_mac, vlan } =
        replies.messages().find_map(|message| rtnetlink::link(&message)).ok_or(Errno::ENODEV)?;
    let route = match known {
        Some(route) => route,
        None => {
            if let Some(mac) = mac_from_address(destination) {
                return Ok(Resolved { mac, vlan });
            }
            route_to(netlink, source, interface, destination)?
        }
    };
    let mac = match route {
        Route::Local => own_mac.ok_or(Errno(libc::EAFNOSUPPORT))?,
        Route::Refused => return Err(Errno(libc::ENETUNREACH)),
        Route::Out(gateway) => {
            let host = Host { address: gateway.unwrap_or(destination), interface };
            neighbour::resolve(netlink, host, source)?
        }
    };
    Ok(Resolved { mac, vlan })
}

/// What the kernel's tables say of a destination.
fn route_to(
    netlink: &mut Socket,
    source: IpAddr,
    interface: u32,
    destination: IpAddr,
) -> Result<Route> {
    // To the kernel this is the host itself, or everything.
    if destination.is_unspecified() {
        return Err(Errno(libc::ENETUNREACH));
    }
    let replies = netlink.query(rtnetlink::route_request(destination, source, interface))?;
    let route = replies.messages().find_map(|message| rtnetlink::route(&message));
    route.ok_or(Errno(libc::ENETUNREACH))
}

#[cfg(test)]
mod tests;
