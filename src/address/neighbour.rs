//! The Ethernet address of a neighbour: from the kernel's table, or by making the kernel ask for
//! it.
//!
//! Only privileged programs may ask the kernel to resolve an address, but whoever sends a datagram
//! to one makes it do so.

use core::ffi::{c_int, c_void};
use core::time::Duration;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Instant;

use crate::address::gid::Mac;
use crate::address::rtnetlink::{self, Neighbour};
use crate::sys::errno::{Errno, Result};
use crate::sys::netlink::Socket;

/// How many datagrams are sent at most, and for how long an answer is waited for altogether.
const TRIES: u32 = 11;
const PATIENCE: Duration = Duration::from_millis(3000);
/// The discard service, which nobody runs.
const PORT: u16 = 9;

/// A host on the link of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Host {
    pub(super) address: IpAddr,
    pub(super) interface: u32,
}

impl Host {
    fn is(&self, neighbour: &Neighbour) -> bool {
        neighbour.address == self.address && neighbour.interface == self.interface
    }
}

/// The Ethernet address of a host, asked for from an address of ours. ETIMEDOUT when it does not
/// answer, or what socket calls fail with.
pub(super) fn resolve(netlink: &mut Socket, host: Host, source: IpAddr) -> Result<Mac> {
    if let Some(mac) = known(netlink, host)? {
        return Ok(mac);
    }
    // Before the datagram, so that the answer is not missed.
    let mut events = Socket::open(libc::NETLINK_ROUTE)?;
    events.join(libc::RTNLGRP_NEIGH)?;
    let prober = Prober::new(host, source)?;
    let begin = Instant::now();
    for turn in 1..=TRIES {
        prober.send()?;
        let end = begin + PATIENCE * turn / TRIES;
        if let Some(mac) = wait_for(&mut events, host, end)? {
            return Ok(mac);
        }
        // Events are lost when many come at once, and there is none for an entry that became
        // known before the group was joined.
        if let Some(mac) = known(netlink, host)? {
            return Ok(mac);
        }
    }
    Err(Errno::ETIMEDOUT)
}

/// What the kernel's table says now.
fn known(netlink: &mut Socket, host: Host) -> Result<Option<Mac>> {
    let request = rtnetlink::neighbour_request(host.address, host.interface);
    let replies = match netlink.query(request) {
        Err(Errno::ENOENT) => return Ok(None),
        Err(Errno::EOPNOTSUPP | Errno::EINVAL) => {
            netlink.query(rtnetlink::neighbours_request(host.address, host.interface))?
        }
        replies => replies?,
    };
    let mut neighbours = replies.messages().filter_map(|message| rtnetlink::neighbour(&message));
    Ok(neighbours.find(|neighbour| host.is(neighbour)).map(|neighbour| neighbour.mac))
}

/// Waits until a moment for the kernel to tell the address of a host.
fn wait_for(events: &mut Socket, host: Host, end: Instant) -> Result<Option<Mac>> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match events.receive(left) {
            Ok(messages) => {
                let mut neighbours =
                    messages.flatten().filter_map(|message| rtnetlink::neighbour(&message));
                if let Some(neighbour) = neighbours.find(|neighbour| host.is(neighbour)) {
                    return Ok(Some(neighbour.mac));
                }
            }
            Err(Errno::ETIMEDOUT) => return Ok(None),
            // Some were lost, or one was too long to be of use.
            Err(Errno(libc::ENOBUFS | libc::EMSGSIZE)) => {}
            Err(errno) => return Err(errno),
        }
        // A network with much to tell must not prolong the wait.
        if left.is_zero() {
            return Ok(None);
        }
    }
}

/// Sends datagrams to a host, so that the kernel needs its Ethernet address.
struct Prober {
    socket: UdpSocket,
    target: SocketAddr,
}

impl Prober {
    fn new(host: Host, source: IpAddr) -> Result<Prober> {
        let own = match (host.address, source) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => source,
            // A gateway of the other family: any address of ours will do.
            (IpAddr::V4(_), IpAddr::V6(_)) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            (IpAddr::V6(_), IpAddr::V4(_)) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let own = on_interface(own, 0, host.interface);
        let target = on_interface(host.address, PORT, host.interface);
        let socket = UdpSocket::bind(own).map_err(errno_of)?;
        socket.set_nonblocking(true).map_err(errno_of)?;
        // A link-local address of either end says the interface already.
        if !is_scoped(&own) && !is_scoped(&target) {
            send_by(&socket, host)?;
        }
        Ok(Prober { socket, target })
    }

    fn send(&self) -> Result<()> {
        match self.socket.send_to(&[b'?', 0], self.target).map_err(errno_of) {
            Ok(_) => Ok(()),
            // Of the moment, or the fate of an earlier one.
            Err(Errno(
                libc::EAGAIN
                | libc::EINTR
                | libc::ENOBUFS
                | libc::ECONNREFUSED
                | libc::EHOSTUNREACH,
            )) => Ok(()),
            Err(errno) => Err(errno),
        }
    }
}

/// A socket address; a link-local one says on which interface.
fn on_interface(address: IpAddr, port: u16, interface: u32) -> SocketAddr {
    match address {
        IpAddr::V4(address) => SocketAddr::V4(SocketAddrV4::new(address, port)),
        IpAddr::V6(address) => {
            let scope = if address.is_unicast_link_local() { interface } else { 0 };
            SocketAddr::V6(SocketAddrV6::new(address, port, 0, scope))
        }
    }
}

fn is_scoped(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(address) if address.scope_id() != 0)
}

/// Makes a socket send through an interface, which needs no privilege, unlike binding it to one.
fn send_by(socket: &UdpSocket, host: Host) -> Result<()> {
    let (level, option): (c_int, c_int) = match host.address {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_UNICAST_IF),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_IF),
    };
    let index = host.interface.to_be();
    // SAFETY: the option's value is the number behind the pointer.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const index).cast::<c_void>(),
            size_of::<u32>() as libc::socklen_t,
        )
    };
    if status < 0 { Err(Errno::last()) } else { Ok(()) }
}

fn errno_of(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
