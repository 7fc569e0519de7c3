//! The port of a device: its attributes, GIDs and partition keys.

use core::ffi::c_int;
use std::sync::OnceLock;

use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::sys::mutex::Mutex;
use crate::urxe::device::Context;
use crate::urxe::device::interface::{self, Interface};
use crate::urxe::device::settings::LinkLayer;
use crate::urxe::{explain, limits};

/// Number of the only port.
pub(crate) const PORT: u8 = 1;
/// The only partition key: the default partition, full membership.
pub(crate) const DEFAULT_PKEY: u16 = 0xffff;

/// Width and speed of the link: 4 lanes of EDR, 100 Gb/s. What a copy in memory is like.
const WIDTH_4X: u8 = 2;
const SPEED_EDR: u8 = 32;
/// The same in units of 100 Mb/s.
const SPEED: u64 = 1000;
const PHYSICAL_DISABLED: u8 = 3;
const PHYSICAL_LINK_UP: u8 = 5;
const LID_MASK: u32 = 0xbfff;

/// What a context knows of its port.
pub(crate) struct Port {
    link_layer: LinkLayer,
    /// The network interface as it was last seen; nothing when it is gone.
    interface: Mutex<Option<Interface>>,
    /// Number of the device, from 0.
    device: u32,
    mtu: OnceLock<ibv_mtu>,
}

impl Port {
    pub(super) fn new(interface: Interface, link_layer: LinkLayer, device: u32) -> Port {
        Port { link_layer, interface: Mutex::new(Some(interface)), device, mtu: OnceLock::new() }
    }

    pub(crate) fn is_ethernet(&self) -> bool {
        self.link_layer == LinkLayer::Ethernet
    }

    /// The LID; 0 on Ethernet. All processes have the same for a device.
    pub(crate) fn lid(&self) -> u16 {
        if self.is_ethernet() { 0 } else { ((self.device + 1) & LID_MASK) as u16 }
    }

    /// Entries of the GID table; on Ethernet most are empty, as those of an adapter.
    pub(crate) fn gid_count(&self) -> u32 {
        if self.is_ethernet() { 16 } else { 1 }
    }

    /// An entry of the GID table, whose GID is zero for an empty one; nothing behind its end.
    pub(crate) fn gid(&self, index: u32) -> Option<ibv_gid_entry> {
        if index >= self.gid_count() {
            return None;
        }
        let interface = self.interface.lock();
        let gid = match (interface.as_ref(), index) {
            (Some(interface), 0) => interface.link_local_gid(),
            (Some(interface), 1) => interface.ipv4_gid(),
            _ => ibv_gid { raw: [0; 16] },
        };
        let (gid_type, ndev_ifindex) = if self.is_ethernet() {
            (IBV_GID_TYPE_ROCE_V2, interface.as_ref().map_or(0, |interface| interface.index))
        } else {
            (IBV_GID_TYPE_IB, 0)
        };
        let port_num = u32::from(PORT);
        Some(ibv_gid_entry { gid, gid_index: index, port_num, gid_type, ndev_ifindex })
    }

    /// Largest payload of a packet, and so of a datagram.
    pub(crate) fn mtu(&self) -> ibv_mtu {
        *self.mtu.get_or_init(|| {
            if self.is_ethernet() {
                let interface = self.interface.lock();
                let mtu = interface.as_ref().map(|interface| interface::mtu(&interface.name));
                Interface::path_mtu(mtu.unwrap_or(0))
            } else {
                limits::MAX_MTU
            }
        })
    }

    /// Whether the network interface is up.
    pub(crate) fn is_active(&self) -> bool {
        self.interface.lock().as_ref().is_some_and(Interface::is_up)
    }

    /// Takes note of the network interface as it is now, nothing if it is gone; what has changed,
    /// as asynchronous events.
    pub(super) fn update(&self, now: Option<&Interface>) -> Vec<ibv_event_type> {
        let mut known = self.interface.lock();
        let mut events = Vec::new();
        let was_up = known.as_ref().is_some_and(Interface::is_up);
        let is_up = now.is_some_and(Interface::is_up);
        if was_up != is_up {
            events.push(if is_up { IBV_EVENT_PORT_ACTIVE } else { IBV_EVENT_PORT_ERR });
        }
        match (known.as_ref(), now) {
            (Some(old), Some(new)) if (old.mac, old.ipv4) != (new.mac, new.ipv4) => {
                events.push(IBV_EVENT_GID_CHANGE);
            }
            (Some(_), None) => events.push(IBV_EVENT_DEVICE_FATAL),
            _ => {}
        }
        *known = now.cloned();
        events
    }

    fn attr(&self) -> ibv_port_attr {
        let (flags, link_layer) = if self.is_ethernet() {
            (IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS, IBV_LINK_LAYER_ETHERNET)
        } else {
            (IBV_PORT_CM_SUP, IBV_LINK_LAYER_INFINIBAND)
        };
        let (state, phys_state) = if self.is_active() {
            (IBV_PORT_ACTIVE, PHYSICAL_LINK_UP)
        } else {
            (IBV_PORT_DOWN, PHYSICAL_DISABLED)
        };
        ibv_port_attr {
            state,
            max_mtu: limits::MAX_MTU,
            active_mtu: self.mtu(),
            gid_tbl_len: self.gid_count().cast_signed(),
            port_cap_flags: flags,
            max_msg_sz: limits::MAX_MESSAGE as u32,
            pkey_tbl_len: limits::PKEYS,
            lid: self.lid(),
            // A LID is there because a subnet manager gave it; this is the one of the machine.
            sm_lid: u16::from(!self.is_ethernet()),
            max_vl_num: 1,
            active_width: WIDTH_4X,
            active_speed: SPEED_EDR,
            phys_state,
            link_layer: link_layer as u8,
            ..ibv_port_attr::zeroed()
        }
    }
}

/// EINVAL for a port that is not there.
fn check(port: u32, caller: &str) -> Result<()> {
    if port == u32::from(PORT) {
        return Ok(());
    }
    explain!("{caller}: port {port} of a device that has port {PORT} only");
    Err(Errno::EINVAL)
}

/// `ibv_query_port(3)`
pub(super) unsafe extern "C" fn query_port(
    context: *mut ibv_context,
    port: u8,
    attr: *mut ibv_port_attr,
) -> c_int {
    let checked = check(u32::from(port), "ibv_query_port");
    // SAFETY: the caller passes a context of this device and room for the attributes.
    checked
        .map(|()| unsafe {
            let context = Context::of(context);
            context.refresh();
            *attr = context.port().attr();
        })
        .or_number()
}

/// `ibv_query_port_speed(3)`
pub(super) unsafe extern "C" fn query_port_speed(
    _: *mut ibv_context,
    port: u32,
    speed: *mut u64,
) -> c_int {
    // SAFETY: the caller passes room for the speed.
    check(port, "ibv_query_port_speed").map(|()| unsafe { *speed = SPEED }).or_number()
}

/// An entry of the GID table of a context of this device, whose GID is zero for an empty one;
/// nothing for another device. `ibv_query_gid_ex(3)`
///
/// # Errors
///
/// EINVAL for a port or an index that is not there.
///
/// # Safety
///
/// `context` must be a context.
pub(crate) unsafe fn gid_entry(
    context: *mut ibv_context,
    port: u32,
    index: u32,
) -> Option<Result<ibv_gid_entry>> {
    // SAFETY: the caller's promise.
    let context = unsafe { Context::find(context) }?;
    let entry = check(port, "ibv_query_gid").and_then(|()| {
        context.refresh();
        context.port().gid(index).ok_or_else(|| {
            let count = context.port().gid_count();
            explain!("ibv_query_gid: index {index} of a GID table of {count} entries");
            Errno::EINVAL
        })
    });
    Some(entry)
}

/// The partition key at an index, in host order; nothing for another device. `ibv_query_pkey(3)`
///
/// # Errors
///
/// EINVAL for a port or an index that is not there.
///
/// # Safety
///
/// `context` must be a context.
pub(crate) unsafe fn pkey(
    context: *mut ibv_context,
    port: u8,
    index: c_int,
) -> Option<Result<u16>> {
    // SAFETY: the caller's promise.
    unsafe { Context::find(context) }?;
    let checked = check(u32::from(port), "ibv_query_pkey");
    Some(checked.and_then(|()| {
        if index == 0 {
            return Ok(DEFAULT_PKEY);
        }
        explain!("ibv_query_pkey: index {index} of a table of one entry");
        Err(Errno::EINVAL)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    fn port(link_layer: LinkLayer, ipv4: Option<Ipv4Addr>) -> Port {
        let interface = Interface {
            name: "lo".to_owned(),
            index: 1,
            flags: (libc::IFF_UP | libc::IFF_RUNNING) as u32,
            mac: [2, 0, 0, 0, 0, 1],
            ipv4,
        };
        Port::new(interface, link_layer, 4)
    }

    #[test]
    fn an_ethernet_port_has_gids_and_no_lid() {
        let it = port(LinkLayer::Ethernet, Some(Ipv4Addr::LOCALHOST));
        let attr = it.attr();
        assert_eq!((attr.lid, attr.gid_tbl_len, attr.state), (0, 16, IBV_PORT_ACTIVE));
        assert_eq!(attr.link_layer, 2);
        let entry = it.gid(1).unwrap();
        assert_eq!((entry.gid_index, entry.ndev_ifindex), (1, 1));
        assert_eq!(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
        assert!(it.gid(16).is_none());
        // The table keeps its length without an address.
        let bare = port(LinkLayer::Ethernet, None).gid(1).unwrap();
        // SAFETY: a GID is 16 bytes in each of its forms.
        assert_eq!(unsafe { bare.gid.raw }, [0; 16]);
    }

    #[test]
    fn an_infiniband_port_has_a_lid() {
        let it = port(LinkLayer::InfiniBand, Some(Ipv4Addr::LOCALHOST));
        let attr = it.attr();
        assert_eq!((attr.lid, attr.sm_lid, attr.gid_tbl_len), (5, 1, 1));
        assert_eq!((attr.link_layer, attr.active_mtu), (1, IBV_MTU_4096));
        assert_eq!(it.gid(0).unwrap().gid_type, IBV_GID_TYPE_IB);
    }

    #[test]
    fn changes_of_the_interface_are_events() {
        let it = port(LinkLayer::Ethernet, Some(Ipv4Addr::LOCALHOST));
        let now = it.interface.lock().clone().unwrap();
        assert!(it.update(Some(&now)).is_empty());
        let down = Interface { flags: 0, ..now.clone() };
        assert_eq!(it.update(Some(&down)), [IBV_EVENT_PORT_ERR]);
        assert_eq!((it.attr().state, it.attr().phys_state), (IBV_PORT_DOWN, 3));
        let elsewhere = Interface { ipv4: Some(Ipv4Addr::BROADCAST), ..now };
        assert_eq!(it.update(Some(&elsewhere)), [IBV_EVENT_PORT_ACTIVE, IBV_EVENT_GID_CHANGE]);
        // SAFETY: a GID is 16 bytes in each of its forms.
        assert_eq!(unsafe { it.gid(1).unwrap().gid.raw }[10..], [255; 6]);
        assert_eq!(it.update(None), [IBV_EVENT_PORT_ERR, IBV_EVENT_DEVICE_FATAL]);
        assert!(it.update(None).is_empty());
        // SAFETY: as above.
        assert_eq!(unsafe { it.gid(0).unwrap().gid.raw }, [0; 16]);
    }
}
