//! The header that precedes a received datagram: a GRH, or an IPv4 header in its second half.
//!
//! With RoCEv2 over IPv4 the 40 bytes in front of the payload hold 20 undefined bytes and then the
//! IPv4 header (IBTA Annex A17.4.5.1). Nothing else says which of the two it is, so the bytes
//! themselves must.

use std::net::Ipv4Addr;

use crate::address::gid::Gid;
use crate::sys::errno::{Errno, Result};

/// Bytes of the header: `sizeof(struct ibv_grh)`.
pub(super) const LENGTH: usize = 40;
/// Where the IPv4 header starts.
const IPV4: usize = 20;

/// `nxtHdr` of a GRH in front of a base transport header (IBTA 8.3): InfiniBand and RoCEv1.
const NEXT_IB: u8 = 0x1b;
/// Next header of RoCEv2 over IPv6.
const NEXT_UDP: u8 = libc::IPPROTO_UDP as u8;

/// What a reply needs to know of the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// GID from which the datagram came.
    pub(super) source: Gid,
    /// GID of ours to which it came.
    pub(super) destination: Gid,
    /// It came by RoCEv2.
    pub(super) udp: bool,
    pub(super) hop_limit: u8,
    pub(super) traffic_class: u8,
}

/// The flow label in the first word, in whichever form the rest is.
pub(super) fn flow_label(bytes: &[u8; LENGTH]) -> u32 {
    first_word(bytes) & 0xf_ffff
}

/// Reads a header.
///
/// EPROTONOSUPPORT: neither version, or a next header that no RDMA transport has. EINVAL: it came
/// to a multicast GID, from which nothing can be sent.
pub(super) fn parse(bytes: &[u8; LENGTH]) -> Result<Header> {
    let header = if is_ipv4(bytes)? { ipv4(bytes) } else { grh(bytes)? };
    if header.destination.is_multicast() { Err(Errno::EINVAL) } else { Ok(header) }
}

/// Decides between the two forms. A GRH can look like an IPv4 header by its GIDs' bytes, and the
/// undefined bytes like the begin of a GRH; the checksum of the IPv4 header decides then.
fn is_ipv4(bytes: &[u8; LENGTH]) -> Result<bool> {
    let version = bytes[IPV4] >> 4;
    match first_word(bytes) >> 28 {
        // RoCEv2 allows no options, so the header is five words long.
        6 => Ok(bytes[IPV4] == 0x45 && checksum(&bytes[IPV4..]) == 0xffff),
        _ if version == 4 => Ok(true),
        _ => Err(Errno::EPROTONOSUPPORT),
    }
}

fn ipv4(bytes: &[u8; LENGTH]) -> Header {
    let address = |at: usize| Ipv4Addr::from(array(bytes, IPV4 + at));
    Header {
        source: Gid::from_ipv4(address(12)),
        destination: Gid::from_ipv4(address(16)),
        udp: true,
        hop_limit: bytes[IPV4 + 8],
        traffic_class: bytes[IPV4 + 1],
    }
}

fn grh(bytes: &[u8; LENGTH]) -> Result<Header> {
    let destination = Gid(array(bytes, 24));
    // Said first, because the next header of a multicast datagram does not matter.
    if destination.is_multicast() {
        return Err(Errno::EINVAL);
    }
    let udp = match bytes[6] {
        NEXT_UDP => true,
        NEXT_IB => false,
        _ => return Err(Errno::EPROTONOSUPPORT),
    };
    Ok(Header {
        source: Gid(array(bytes, 8)),
        destination,
        udp,
        hop_limit: bytes[7],
        traffic_class: (first_word(bytes) >> 20 & 0xff) as u8,
    })
}

/// The one's complement sum of RFC 791 over the header, its checksum included: 0xffff if right.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 =
        header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

fn first_word(bytes: &[u8; LENGTH]) -> u32 {
    u32::from_be_bytes(array(bytes, 0))
}

/// `N` bytes from an offset at which that many are, which every caller's constants say.
fn array<const N: usize>(bytes: &[u8; LENGTH], at: usize) -> [u8; N] {
    core::array::from_fn(|i| bytes[at + i])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 192.0.2.1 to 198.51.100.7, TOS 0x68, TTL 63, UDP, with its checksum.
    fn ipv4_header() -> [u8; 20] {
        let mut header =
            [0x45, 0x68, 0, 60, 0x12, 0x34, 0x40, 0, 63, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7];
        let sum = !checksum(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    }

    fn with_ipv4(front: u8) -> [u8; LENGTH] {
        let mut bytes = [front; LENGTH];
        bytes[IPV4..].copy_from_slice(&ipv4_header());
        bytes
    }

    const SOURCE: Gid = Gid([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 1]);
    const DESTINATION: Gid =
        Gid([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 2]);

    fn with_grh(next: u8) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        // Version 6, class 0xab, label 0xcdef1.
        bytes[..4].copy_from_slice(&0x6abc_def1_u32.to_be_bytes());
        bytes[6] = next;
        bytes[7] = 5;
        bytes[8..24].copy_from_slice(&SOURCE.0);
        bytes[24..].copy_from_slice(&DESTINATION.0);
        bytes
    }

    #[test]
    fn a_checksum_known_from_elsewhere() {
        // The example that textbooks use: the sum of the words is 0x2479c, the checksum 0xb861.
        let header = [
            0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8,
            0, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xffff);
    }

    #[test]
    fn ipv4_is_known_by_its_version_or_by_its_checksum() {
        let expected = Header {
            source: Gid::from_ipv4(Ipv4Addr::new(192, 0, 2, 1)),
            destination: Gid::from_ipv4(Ipv4Addr::new(198, 51, 100, 7)),
            udp: true,
            hop_limit: 63,
            traffic_class: 0x68,
        };
        assert_eq!(parse(&with_ipv4(0)), Ok(expected));
        // The undefined bytes look like a GRH's.
        assert_eq!(parse(&with_ipv4(0x60)), Ok(expected));
        // Without the look of a GRH the checksum does not matter.
        let mut wrong_sum = with_ipv4(0);
        wrong_sum[IPV4 + 10] ^= 1;
        assert_eq!(parse(&wrong_sum), Ok(expected));
    }

    #[test]
    fn a_grh_whose_gid_looks_like_ipv4_stays_a_grh() {
        let mut bytes = with_grh(NEXT_UDP);
        // Inside the source GID: the first byte of an IPv4 header, no checksum.
        bytes[IPV4] = 0x45;
        let mut source = SOURCE;
        source.0[12] = 0x45;
        let header = parse(&bytes).unwrap();
        assert_eq!((header.source, header.destination), (source, DESTINATION));
        // Options in the IPv4 header, which RoCE does not have.
        let mut bytes = with_ipv4(0x60);
        bytes[IPV4] = 0x46;
        bytes[6] = NEXT_UDP;
        assert_eq!(parse(&bytes).map(|header| header.traffic_class), Ok(0x06));
    }

    #[test]
    fn every_member_of_a_grh_is_read() {
        for (next, udp) in [(NEXT_UDP, true), (NEXT_IB, false)] {
            let bytes = with_grh(next);
            let header = Header {
                source: SOURCE,
                destination: DESTINATION,
                udp,
                hop_limit: 5,
                traffic_class: 0xab,
            };
            assert_eq!(parse(&bytes), Ok(header));
            assert_eq!(flow_label(&bytes), 0xc_def1);
        }
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        assert_eq!(parse(&with_grh(6)), Err(Errno::EPROTONOSUPPORT));
        assert_eq!(parse(&[0; LENGTH]), Err(Errno::EPROTONOSUPPORT));
        assert_eq!(parse(&[0xff; LENGTH]), Err(Errno::EPROTONOSUPPORT));
        let mut multicast = with_grh(6);
        multicast[24] = 0xff;
        assert_eq!(parse(&multicast), Err(Errno::EINVAL));
        for (first, error) in
            [(223, None), (224, Some(Errno::EINVAL)), (239, Some(Errno::EINVAL)), (240, None)]
        {
            let mut multicast = with_ipv4(0);
            multicast[IPV4 + 16] = first;
            assert_eq!(parse(&multicast).err(), error, "{first}");
        }
    }
}
