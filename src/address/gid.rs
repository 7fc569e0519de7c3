//! What a GID says by its form: an IPv4 or IPv6 address, a multicast group, an Ethernet address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An Ethernet address.
pub(super) type Mac = [u8; 6];

/// A GID as bytes, in network order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gid(pub(super) [u8; 16]);

impl Gid {
    /// The IPv4-mapped GID, `::ffff:a.b.c.d`.
    pub(super) fn from_ipv4(address: Ipv4Addr) -> Gid {
        Gid(address.to_ipv6_mapped().octets())
    }

    /// The IP address that a RoCE GID stands for: an IPv4 one from `::ffff:a.b.c.d` and from the
    /// multicast form `ff0e::ffff:a.b.c.d`, the IPv6 one of the same bytes from others.
    pub(super) fn address(self) -> IpAddr {
        let address = Ipv6Addr::from(self.0);
        match address.segments() {
            [0 | 0xff0e, 0, 0, 0, 0, 0xffff, high, low] => {
                let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
                IpAddr::V4(Ipv4Addr::new(a, b, c, d))
            }
            _ => IpAddr::V6(address),
        }
    }

    /// Whether it names a group: a multicast GID, or an IPv4 group in mapped form.
    pub(super) fn is_multicast(self) -> bool {
        self.0[0] == 0xff || self.address().is_multicast()
    }
}

/// The Ethernet address that follows from an IP address alone: that of a multicast group (RFC
/// 1112, RFC 2464), or the one inside a link-local address made from it (RFC 4291, appendix A).
///
/// A link-local address made in another way, at random for instance, tells no Ethernet address;
/// neighbour discovery must.
pub(super) fn mac_from_address(address: IpAddr) -> Option<Mac> {
    match address {
        IpAddr::V4(address) => {
            let [_, b, c, d] = address.octets();
            address.is_multicast().then_some([0x01, 0x00, 0x5e, b & 0x7f, c, d])
        }
        IpAddr::V6(address) => match address.octets() {
            [0xff, .., a, b, c, d] => Some([0x33, 0x33, a, b, c, d]),
            // fe80::/10, then the address with ff:fe in its middle and one bit turned over. That of
            // a single interface is even.
            [0xfe, second, _, _, _, _, _, _, a, b, c, 0xff, 0xfe, d, e, f]
                if second & 0xc0 == 0x80 && a & 1 == 0 =>
            {
                Some([a ^ 2, b, c, d, e, f])
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(text: &str) -> Gid {
        Gid(text.parse::<Ipv6Addr>().unwrap().octets())
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn gids_stand_for_addresses() {
        for (text, address) in [
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("ff0e::ffff:224.1.2.3", "224.1.2.3"),
            ("ff0e::fffe:224.1.2.3", "ff0e::fffe:e001:203"),
            ("ff0e:1::ffff:224.1.2.3", "ff0e:1::ffff:e001:203"),
            ("ff02::ffff:224.1.2.3", "ff02::ffff:e001:203"),
            ("fe80::1", "fe80::1"),
            ("::1", "::1"),
            ("::", "::"),
            ("::192.0.2.1", "::c000:201"),
            ("2001:db8::ffff:192.0.2.1", "2001:db8::ffff:c000:201"),
        ] {
            assert_eq!(gid(text).address(), ip(address), "{text}");
        }
        assert_eq!(Gid::from_ipv4(Ipv4Addr::new(192, 0, 2, 1)), gid("::ffff:192.0.2.1"));
    }

    #[test]
    fn groups_are_known_in_both_forms() {
        for (text, expected) in [
            ("ff02::1", true),
            ("ff0e::ffff:224.0.0.1", true),
            ("::ffff:224.0.0.1", true),
            ("::ffff:239.255.255.255", true),
            ("::ffff:240.0.0.1", false),
            ("::ffff:223.255.255.255", false),
            ("fe80::1", false),
            ("::", false),
        ] {
            assert_eq!(gid(text).is_multicast(), expected, "{text}");
        }
    }

    #[test]
    fn ethernet_addresses_follow_from_some() {
        for (text, mac) in [
            ("224.0.0.1", Some([0x01, 0x00, 0x5e, 0, 0, 1])),
            ("239.255.254.253", Some([0x01, 0x00, 0x5e, 0x7f, 254, 253])),
            ("192.0.2.1", None),
            ("255.255.255.255", None),
            ("ff02::1:ff00:1234", Some([0x33, 0x33, 0xff, 0, 0x12, 0x34])),
            ("fe80::5054:ff:fe12:3456", Some([0x52, 0x54, 0, 0x12, 0x34, 0x56])),
            ("fe80::200:5eff:fe00:5301", Some([0, 0, 0x5e, 0, 0x53, 1])),
            ("febf::200:5eff:fe00:5301", Some([0, 0, 0x5e, 0, 0x53, 1])),
            ("fec0::200:5eff:fe00:5301", None),
            ("fe80::100:5eff:fe00:5301", None),
            ("fe80::200:5eff:ff00:5301", None),
            ("fe80::1", None),
            ("2001:db8::200:5eff:fe00:5301", None),
        ] {
            assert_eq!(mac_from_address(ip(text)), mac, "{text}");
        }
    }
}
