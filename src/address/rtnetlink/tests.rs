use super::*;
use crate::sys::netlink::parse::Messages;

const MAC: Mac = [2, 0, 0x5e, 0, 0x53, 1];

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The bytes of a message as the kernel would send it.
fn bytes(mut message: Request) -> Vec<u8> {
    message.finish(1).unwrap().to_vec()
}

/// Reads a message with one of the readers.
fn read<T>(message: Request, reader: fn(&Message<'_>) -> Option<T>) -> Option<T> {
    let bytes = bytes(message);
    let mut messages = Messages::new(&bytes);
    let result = reader(&messages.next().unwrap().unwrap());
    assert!(messages.next().is_none());
    result
}

fn address_message(kind: u16, interface: u32) -> Request {
    let mut header = [0; ADDRESS_HEADER];
    header[4..8].copy_from_slice(&interface.to_ne_bytes());
    Request::new(kind, 0).fixed(&header)
}

#[test]
fn requests_have_the_kernel_s_form() {
    let request = bytes(own_addresses_request(ip("::1")));
    // A header of 16 bytes (length, type, flags REQUEST|DUMP, sequence, port), AF_INET6.
    assert_eq!(request.len(), 24);
    assert_eq!(request[4..8], [22, 0, 1, 3]);
    assert_eq!(request[16..], [10, 0, 0, 0, 0, 0, 0, 0]);

    let request = bytes(link_request(0x0102_0304));
    assert_eq!(request[4..8], [18, 0, 1, 0]);
    assert_eq!(request[16..24], [0, 0, 0, 0, 4, 3, 2, 1]);
    assert_eq!(request.len(), 32);

    let request = bytes(route_request(ip("192.0.2.1"), ip("192.0.2.2"), 5));
    assert_eq!(request[4..8], [26, 0, 1, 0]);
    assert_eq!(request[16..28], [2, 32, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let destination = [8, 0, 1, 0, 192, 0, 2, 1];
    let source = [8, 0, 2, 0, 192, 0, 2, 2];
    let interface = [8, 0, 4, 0, 5, 0, 0, 0];
    assert_eq!(request[28..], [destination, source, interface].concat());

    // A source of the other family chooses no route.
    let request = bytes(route_request(ip("2001:db8::1"), ip("192.0.2.2"), 5));
    assert_eq!(request[16..20], [10, 128, 0, 0]);
    assert_eq!(request.len(), 28 + 20 + 8);

    let request = bytes(neighbour_request(ip("192.0.2.1"), 5));
    assert_eq!(request[4..8], [30, 0, 1, 0]);
    assert_eq!(request[16..28], [2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(request[28..], destination);

    let request = bytes(neighbours_request(ip("192.0.2.1"), 5));
    assert_eq!(request[4..8], [30, 0, 1, 3]);
    assert_eq!(request[28..], [8, 0, 8, 0, 5, 0, 0, 0]);
}

#[test]
fn own_addresses_are_the_local_ends() {
    let message = address_message(libc::RTM_NEWADDR, 3)
        .attribute(libc::IFA_ADDRESS, &[192, 0, 2, 9])
        .attribute(0x3fff, b"unknown")
        .attribute(libc::IFA_LOCAL, &[192, 0, 2, 1]);
    let expected = OwnAddress { address: ip("192.0.2.1"), interface: 3 };
    assert_eq!(read(message, own_address), Some(expected));

    let IpAddr::V6(v6) = ip("fe80::1") else { unreachable!() };
    let message = address_message(libc::RTM_NEWADDR, 4).attribute(libc::IFA_ADDRESS, &v6.octets());
    let expected = OwnAddress { address: ip("fe80::1"), interface: 4 };
    assert_eq!(read(message, own_address), Some(expected));
}

#[test]
fn what_is_no_address_is_passed_over() {
    let other = address_message(libc::RTM_DELADDR, 3).attribute(libc::IFA_LOCAL, &[192, 0, 2, 1]);
    assert_eq!(read(other, own_address), None);
    assert_eq!(read(address_message(libc::RTM_NEWADDR, 3), own_address), None);
    for length in [0, 3, 5, 15, 17] {
        let message =
            address_message(libc::RTM_NEWADDR, 3).attribute(libc::IFA_LOCAL, &vec![1; length]);
        assert_eq!(read(message, own_address), None, "{length}");
    }
    let short = Request::new(libc::RTM_NEWADDR, 0).fixed(&[2, 24, 0, 0]);
    assert_eq!(read(short, own_address), None);
}

/// The value of a nested attribute.
fn nested(parts: &[(u16, &[u8])]) -> Vec<u8> {
    let mut request = Request::new(0, 0);
    for (kind, value) in parts {
        request = request.attribute(*kind, value);
    }
    bytes(request)[16..].to_vec()
}

fn link_message() -> Request {
    Request::new(libc::RTM_NEWLINK, 0).fixed(&[0; LINK_HEADER])
}

#[test]
fn a_vlan_is_known_by_its_kind() {
    let data = nested(&[(2, &[0; 8]), (IFLA_VLAN_ID, &123_u16.to_ne_bytes())]);
    for (kind, vlan) in
        [(&b"vlan\0"[..], Some(123)), (b"vxlan\0", None), (b"vlan", None), (b"", None)]
    {
        let info =
            nested(&[(libc::IFLA_INFO_KIND, kind), (libc::IFLA_INFO_DATA, &data), (99, b"x")]);
        // The kernel marks some nested attributes as such.
        for flag in [0, libc::NLA_F_NESTED as u16] {
            let message = link_message()
                .attribute(libc::IFLA_IFNAME, b"eth0.123\0")
                .attribute(libc::IFLA_LINKINFO | flag, &info)
                .attribute(libc::IFLA_ADDRESS, &MAC);
            assert_eq!(read(message, link), Some(Link { mac: Some(MAC), vlan }));
        }
    }
}

#[test]
fn links_without_ethernet_address_or_vlan_id() {
    assert_eq!(read(link_message(), link), Some(Link { mac: None, vlan: None }));
    let infiniband = link_message().attribute(libc::IFLA_ADDRESS, &[1; 20]);
    assert_eq!(read(infiniband, link), Some(Link { mac: None, vlan: None }));
    let kind = (libc::IFLA_INFO_KIND, &b"vlan\0"[..]);
    let short_id = nested(&[(IFLA_VLAN_ID, &[7])]);
    for info in [nested(&[kind]), nested(&[kind, (libc::IFLA_INFO_DATA, &short_id)])] {
        let message = link_message().attribute(libc::IFLA_LINKINFO, &info);
        assert_eq!(read(message, link), Some(Link { mac: None, vlan: None }));
    }
    let other = Request::new(libc::RTM_NEWROUTE, 0).fixed(&[0; LINK_HEADER]);
    assert_eq!(read(other, link), None);
}

fn route_message(kind: u8) -> Request {
    Request::new(libc::RTM_NEWROUTE, 0).fixed(&[2, 32, 0, 0, 254, 0, 0, kind, 0, 0, 0, 0])
}

#[test]
fn routes_by_type_and_gateway() {
    assert_eq!(read(route_message(libc::RTN_LOCAL), route), Some(Route::Local));
    for kind in [libc::RTN_BLACKHOLE, libc::RTN_UNREACHABLE, libc::RTN_PROHIBIT, libc::RTN_THROW] {
        assert_eq!(read(route_message(kind), route), Some(Route::Refused));
    }
    let direct = route_message(libc::RTN_UNICAST).attribute_u32(libc::RTA_OIF, 7);
    assert_eq!(read(direct, route), Some(Route::Out(None)));
    let gateway = || route_message(libc::RTN_UNICAST).attribute(libc::RTA_GATEWAY, &[192, 0, 2, 1]);
    assert_eq!(read(gateway(), route), Some(Route::Out(Some(ip("192.0.2.1")))));
    let IpAddr::V6(v6) = ip("fe80::1") else { unreachable!() };
    let via = [&10_u16.to_ne_bytes()[..], &v6.octets()].concat();
    let via = route_message(libc::RTN_UNICAST).attribute(libc::RTA_VIA, &via);
    assert_eq!(read(via, route), Some(Route::Out(Some(ip("fe80::1")))));
}

#[test]
fn garbage_in_a_route_is_no_direct_route() {
    let unicast = || route_message(libc::RTN_UNICAST);
    assert_eq!(read(unicast().attribute(libc::RTA_GATEWAY, &[1, 2, 3]), route), None);
    for via in [&[][..], &[10], &[10, 0, 1]] {
        assert_eq!(read(unicast().attribute(libc::RTA_VIA, via), route), None);
    }
    assert_eq!(read(Request::new(libc::RTM_NEWROUTE, 0).fixed(&[2, 32, 0, 0]), route), None);
    assert_eq!(read(Request::new(libc::RTM_NEWADDR, 0).fixed(&[0; 12]), route), None);
}

fn neighbour_message(kind: u16, state: u16) -> Request {
    let mut header = neighbour_header(ip("192.0.2.1"), 5);
    header[8..10].copy_from_slice(&state.to_ne_bytes());
    Request::new(kind, 0).fixed(&header)
}

#[test]
fn neighbours_count_while_their_address_holds() {
    let complete = |kind, state| {
        neighbour_message(kind, state)
            .attribute(libc::NDA_DST, &[192, 0, 2, 1])
            .attribute(libc::NDA_LLADDR, &MAC)
    };
    let expected = Neighbour { address: ip("192.0.2.1"), interface: 5, mac: MAC };
    for (state, valid) in [
        (libc::NUD_REACHABLE, true),
        (libc::NUD_STALE, true),
        (libc::NUD_DELAY, true),
        (libc::NUD_PROBE, true),
        (libc::NUD_PERMANENT, true),
        (libc::NUD_NOARP, true),
        (libc::NUD_INCOMPLETE, false),
        (libc::NUD_FAILED, false),
        (0, false),
    ] {
        let read = read(complete(libc::RTM_NEWNEIGH, state), neighbour);
        assert_eq!(read, valid.then_some(expected), "{state:#x}");
    }
    assert_eq!(read(complete(libc::RTM_DELNEIGH, libc::NUD_STALE), neighbour), None);
}

#[test]
fn neighbours_without_what_is_needed() {
    let stale = || neighbour_message(libc::RTM_NEWNEIGH, libc::NUD_STALE);
    assert_eq!(read(stale().attribute(libc::NDA_LLADDR, &MAC), neighbour), None);
    assert_eq!(read(stale().attribute(libc::NDA_DST, &[192, 0, 2, 1]), neighbour), None);
    let infiniband =
        stale().attribute(libc::NDA_DST, &[192, 0, 2, 1]).attribute(libc::NDA_LLADDR, &[1; 20]);
    assert_eq!(read(infiniband, neighbour), None);
}

#[test]
fn no_cut_makes_a_reader_fail() {
    let whole = bytes(
        neighbour_message(libc::RTM_NEWNEIGH, libc::NUD_STALE)
            .attribute(libc::NDA_DST, &[192, 0, 2, 1])
            .attribute(libc::NDA_LLADDR, &MAC),
    );
    for kind in [libc::RTM_NEWADDR, libc::RTM_NEWLINK, libc::RTM_NEWROUTE, libc::RTM_NEWNEIGH] {
        for length in 16..=whole.len() {
            let mut cut = whole[..length].to_vec();
            cut[..4].copy_from_slice(&(length as u32).to_ne_bytes());
            cut[4..6].copy_from_slice(&kind.to_ne_bytes());
            for message in Messages::new(&cut).flatten() {
                own_address(&message);
                link(&message);
                route(&message);
                assert_eq!(
                    neighbour(&message).is_some(),
                    // The Ethernet address is the last attribute; padding may be missing.
                    kind == libc::RTM_NEWNEIGH && length >= whole.len() - 2,
                );
            }
        }
    }
}
