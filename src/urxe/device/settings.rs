//! What the environment says about the devices.

use core::ffi::CStr;

use std::sync::OnceLock;

use crate::sys::env;

/// Names the network interfaces that get a device, in the order of the devices: a list with `:`,
/// `,` or blanks between.
const NETDEV: &CStr = c"URXE_NETDEV";
/// `infiniband` gives ports a LID instead of RoCE.
const LINK_LAYER: &CStr = c"URXE_LINK_LAYER";

/// A switch: the device behaves as one in a confidential guest.
const CONFIDENTIAL: &CStr = c"URXE_CONFIDENTIAL";

/// Whether the device reaches only memory that is shared with the host of a confidential guest:
/// it says `IBV_DEVICE_CC_DMA_BOUNCE`, and registers dma-bufs alone.
pub(crate) fn is_confidential() -> bool {
    static CONFIDENTIAL_MODE: OnceLock<bool> = OnceLock::new();
    *CONFIDENTIAL_MODE.get_or_init(|| env::switch(CONFIDENTIAL))
}

/// The link layer of the ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LinkLayer {
    /// RoCE: peers are named by GIDs.
    Ethernet,
    /// Peers may be named by LIDs, for programs that fill in no global route.
    InfiniBand,
}

/// The interfaces that the user chose, if so.
pub(super) fn netdev() -> Option<Vec<String>> {
    let value = env::get(NETDEV)?;
    let names = names(&value.to_string_lossy());
    (!names.is_empty()).then_some(names)
}

fn names(list: &str) -> Vec<String> {
    let is_separator = |c: char| matches!(c, ':' | ',') || c.is_ascii_whitespace();
    list.split(is_separator).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The link layer that the user chose, or Ethernet.
pub(super) fn link_layer() -> LinkLayer {
    let value = env::get(LINK_LAYER);
    parse_link_layer(value.as_deref().map_or(b"", CStr::to_bytes))
}

/// `infiniband` or `ib`, in any case.
fn parse_link_layer(value: &[u8]) -> LinkLayer {
    let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
    if is("infiniband") || is("ib") { LinkLayer::InfiniBand } else { LinkLayer::Ethernet }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_a_list_of_names() {
        assert_eq!(names("eth0"), ["eth0"]);
        assert_eq!(names(" eth0,lo:wlan0 "), ["eth0", "lo", "wlan0"]);
        assert!(names(" ,:").is_empty());
    }

    #[test]
    fn ethernet_unless_infiniband_is_named() {
        for (value, wanted) in [
            (&b"infiniband"[..], LinkLayer::InfiniBand),
            (b"InfiniBand", LinkLayer::InfiniBand),
            (b"IB", LinkLayer::InfiniBand),
            (b"ethernet", LinkLayer::Ethernet),
            (b"", LinkLayer::Ethernet),
            (b"1", LinkLayer::Ethernet),
        ] {
            assert_eq!(parse_link_layer(value), wanted, "{value:?}");
        }
    }
}
