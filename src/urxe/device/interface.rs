//! Network interfaces, each of which can be a device.

use core::ffi::CStr;
use core::net::Ipv4Addr;
use core::ptr;

use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::sys::file::read_text;

/// A network interface of this machine (`getifaddrs(3)`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    /// Its number in the kernel.
    pub(super) index: u32,
    /// `IFF_*` of `netdevice(7)`.
    pub(super) flags: u32,
    /// Ethernet address; zeros for an interface without one.
    pub(super) mac: [u8; 6],
    /// First IPv4 address.
    pub(super) ipv4: Option<Ipv4Addr>,
}

impl Interface {
    fn is_loopback(&self) -> bool {
        self.flags & libc::IFF_LOOPBACK as u32 != 0
    }

    /// Up, with a carrier.
    pub(super) fn is_up(&self) -> bool {
        let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        self.flags & wanted == wanted
    }

    /// The EUI-64 that is made of the Ethernet address, in host byte order; it is the GUID of the
    /// device (RFC 4291, appendix A).
    pub(super) fn eui64(&self) -> u64 {
        // An interface without an address has its number instead.
        let [a, b, c, d, e, f] = if self.mac == [0; 6] {
            let [a, b, c, d] = self.index.to_be_bytes();
            [0, 0, a, b, c, d]
        } else {
            self.mac
        };
        u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f])
    }

    /// GID 0: link-local (`fe80::/64`).
    pub(super) fn link_local_gid(&self) -> ibv_gid {
        let bits = 0xfe80_u128 << 112 | u128::from(self.eui64());
        ibv_gid { raw: bits.to_be_bytes() }
    }

    /// GID 1: the IPv4 address as an IPv6 one (`::ffff:a.b.c.d`); zero without one.
    pub(super) fn ipv4_gid(&self) -> ibv_gid {
        let raw = self.ipv4.map_or([0; 16], |address| address.to_ipv6_mapped().octets());
        ibv_gid { raw }
    }

    /// The payload size that packets on the wire would have, so that the headers of RoCE fit too.
    pub(super) fn path_mtu(mtu: u32) -> ibv_mtu {
        /// IPv6 and UDP headers, base and largest extended transport headers, ICRC.
        const HEADERS: u32 = 40 + 8 + 12 + 28 + 4;
        match mtu.saturating_sub(HEADERS) {
            4096.. => IBV_MTU_4096,
            2048.. => IBV_MTU_2048,
            1024.. => IBV_MTU_1024,
            512.. => IBV_MTU_512,
            _ => IBV_MTU_256,
        }
    }
}

/// All interfaces, in the order of their numbers.
///
/// # Errors
///
/// What getifaddrs(3) says.
pub(super) fn all() -> Result<Vec<Interface>> {
    let mut first = ptr::null_mut();
    // SAFETY: there is room for the pointer.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(Errno::last());
    }
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut next: *const libc::ifaddrs = first;
    // SAFETY: the list is valid until it is freed, and its names are C strings.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: as above.
        unsafe { add(&mut interfaces, entry) };
        next = entry.ifa_next;
    }
    // SAFETY: the list of getifaddrs, for the last time.
    unsafe { libc::freeifaddrs(first) };
    interfaces.sort_unstable_by_key(|interface| interface.index);
    Ok(interfaces)
}

/// Adds what an entry says to its interface. The entry with the link-layer address comes first.
///
/// # Safety
///
/// `entry` must be one of `getifaddrs(3)`.
unsafe fn add(interfaces: &mut Vec<Interface>, entry: &libc::ifaddrs) {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(entry.ifa_name) };
    let Ok(name) = name.to_str() else { return };
    // SAFETY: an address is NULL or has its family.
    let family = unsafe { entry.ifa_addr.as_ref() }.map(|it| libc::c_int::from(it.sa_family));
    match family {
        Some(libc::AF_PACKET) => {
            // SAFETY: the family says what the address is; it may be unaligned.
            let link = unsafe { entry.ifa_addr.cast::<libc::sockaddr_ll>().read_unaligned() };
            let mut mac = [0; 6];
            if usize::from(link.sll_halen) == mac.len() {
                mac.copy_from_slice(&link.sll_addr[..6]);
            }
            interfaces.push(Interface {
                name: name.to_owned(),
                index: link.sll_ifindex.cast_unsigned(),
                flags: entry.ifa_flags,
                mac,
                ipv4: None,
            });
        }
        Some(libc::AF_INET) => {
            // SAFETY: the family says what the address is; it may be unaligned.
            let address = unsafe { entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            let address = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            if let Some(interface) = interfaces.iter_mut().find(|it| it.name == name) {
                interface.ipv4.get_or_insert(address);
            }
        }
        _ => {}
    }
}

/// The interfaces that get a device, in the order of the devices: those that are named, else those
/// that are up, and loopback when there is nothing else.
pub(super) fn choose(all: Vec<Interface>, named: Option<&[String]>) -> Vec<Interface> {
    let find = |name: &String| all.iter().find(|interface| interface.name == *name).cloned();
    if let Some(named) = named {
        return named.iter().filter_map(find).collect();
    }
    let has_mac = |it: &Interface| it.mac != [0; 6] && !it.is_loopback();
    let (wired, rest): (Vec<_>, Vec<_>) =
        all.into_iter().filter(Interface::is_up).partition(has_mac);
    if wired.is_empty() {
        return rest.into_iter().filter(Interface::is_loopback).collect();
    }
    wired
}

/// MTU of an interface in bytes, from sysfs; that of Ethernet if it cannot be read.
pub(super) fn mtu(name: &str) -> u32 {
    let mut text = [0; 16];
    let read = |path: std::ffi::CString| {
        let length = read_text(&path, &mut text).ok()?;
        core::str::from_utf8(text.get(..length)?).ok()?.trim().parse().ok()
    };
    let path = std::ffi::CString::new(format!("/sys/class/net/{name}/mtu"));
    path.ok().and_then(read).unwrap_or(1500)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, index: u32, flags: libc::c_int, mac: [u8; 6]) -> Interface {
        Interface { name: name.to_owned(), index, flags: flags as u32, mac, ipv4: None }
    }

    const UP: libc::c_int = libc::IFF_UP | libc::IFF_RUNNING;

    fn names(chosen: &[Interface]) -> Vec<&str> {
        chosen.iter().map(|interface| interface.name.as_str()).collect()
    }

    #[test]
    fn loopback_is_there_on_every_machine() {
        let all = all().unwrap();
        let loopback = all.iter().find(|it| it.name == "lo").unwrap();
        assert!(loopback.is_loopback() && loopback.index > 0);
        assert_eq!(loopback.mac, [0; 6]);
        assert!(all.is_sorted_by_key(|it| it.index));
        assert_eq!(mtu("no such interface"), 1500);
    }

    #[test]
    fn interfaces_that_are_up_get_a_device_and_loopback_alone() {
        let mac = [2, 0xfc, 0, 0, 0, 1];
        let lo = interface("lo", 1, UP | libc::IFF_LOOPBACK, [0; 6]);
        let eth = interface("eth0", 2, UP, mac);
        let down = interface("eth1", 3, 0, mac);
        let no_carrier = interface("eth2", 4, libc::IFF_UP, mac);
        let tunnel = interface("tun0", 5, UP, [0; 6]);
        let all = vec![lo.clone(), eth, down.clone(), no_carrier, tunnel.clone()];
        assert_eq!(names(&choose(all.clone(), None)), ["eth0"]);
        assert_eq!(names(&choose(vec![lo, down, tunnel], None)), ["lo"]);
        assert!(choose(Vec::new(), None).is_empty());
        let wanted = ["tun0", "none", "lo"].map(str::to_owned);
        assert_eq!(names(&choose(all, Some(&wanted))), ["tun0", "lo"]);
    }

    #[test]
    fn gids_are_made_of_the_addresses() {
        let mut it = interface("eth0", 2, UP, [2, 0xfc, 0, 0, 0, 1]);
        assert_eq!(it.eui64(), 0x00fc_00ff_fe00_0001);
        // SAFETY: a GID is 16 bytes in each of its forms.
        let gid = |gid: ibv_gid| unsafe { gid.raw };
        assert_eq!(
            gid(it.link_local_gid()),
            [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xfc, 0, 0xff, 0xfe, 0, 0, 1]
        );
        assert_eq!(gid(it.ipv4_gid()), [0; 16]);
        it.ipv4 = Some(Ipv4Addr::new(192, 0, 2, 2));
        assert_eq!(gid(it.ipv4_gid()), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2]);
        // Two interfaces without an address have two identifiers.
        let bare = [5, 6].map(|index| interface("tun", index, UP, [0; 6]).eui64());
        assert_eq!(bare, [0x0200_00ff_fe00_0005, 0x0200_00ff_fe00_0006]);
    }

    #[test]
    fn packets_fit_into_the_frames_of_the_interface() {
        for (mtu, wanted) in [
            (0, IBV_MTU_256),
            (576, IBV_MTU_256),
            (1500, IBV_MTU_1024),
            (4200, IBV_MTU_4096),
            (4187, IBV_MTU_2048),
            (65536, IBV_MTU_4096),
        ] {
            assert_eq!(Interface::path_mtu(mtu), wanted, "{mtu}");
        }
    }
}
