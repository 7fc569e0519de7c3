//! Functions of their arguments alone.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;

/// A 64-bit number in network order. `arch.h`
extern "C" fn htonll(host: u64) -> u64 {
    host.to_be()
}
export!(htonll @@ "IBVERBS_RS_1.0");

/// A 64-bit number from network order. `arch.h`
extern "C" fn ntohll(network: u64) -> u64 {
    u64::from_be(network)
}
export!(ntohll @@ "IBVERBS_RS_1.0");

/// The key with its low byte, the part that consumers own, increased by one. `ibv_inc_rkey(3)`
extern "C" fn ibv_inc_rkey(rkey: u32) -> u32 {
    (rkey & !0xff) | (rkey.wrapping_add(1) & 0xff)
}
export!(ibv_inc_rkey @@ "IBVERBS_RS_1.0");

/// Whether a QP type's bit is set in a field of capabilities. `verbs.h`
extern "C" fn ibv_is_qpt_supported(caps: u32, qp_type: ibv_qp_type) -> c_int {
    c_int::from(1_u32.checked_shl(qp_type).is_some_and(|bit| caps & bit != 0))
}
export!(ibv_is_qpt_supported @@ "IBVERBS_RS_1.0");

/// The UDP source port, in the dynamic range, for packets with a flow label (20 bits).
/// `ibv_flow_label_to_udp_sport(3)`
extern "C" fn ibv_flow_label_to_udp_sport(flow_label: u32) -> u16 {
    let folded = (flow_label & 0x3fff) ^ ((flow_label & 0xf_c000) >> 14);
    // Fourteen bits and the range's two.
    (folded | IB_ROCE_UDP_ENCAP_VALID_PORT_MIN) as u16
}
export!(ibv_flow_label_to_udp_sport @@ "IBVERBS_RS_1.0");

/// The plain CQ that an extended one begins with. `ibv_cq_ex_to_cq(3)`
extern "C" fn ibv_cq_ex_to_cq(cq: *mut ibv_cq_ex) -> *mut ibv_cq {
    cq.cast()
}
export!(ibv_cq_ex_to_cq @@ "IBVERBS_RS_1.0");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_order_is_big_endian() {
        assert_eq!(htonll(0x0102_0304_0506_0708).to_ne_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ntohll(htonll(0x1234)), 0x1234);
    }

    #[test]
    fn the_low_byte_of_a_key_wraps() {
        for (rkey, next) in [(0, 1), (0xff, 0), (0x1234_56fe, 0x1234_56ff), (u32::MAX, !0xff)] {
            assert_eq!(ibv_inc_rkey(rkey), next);
        }
    }

    #[test]
    fn a_type_has_a_bit() {
        assert_eq!(ibv_is_qpt_supported(1 << IBV_QPT_UD, IBV_QPT_UD), 1);
        assert_eq!(ibv_is_qpt_supported(!(1 << IBV_QPT_UD), IBV_QPT_UD), 0);
        assert_eq!(ibv_is_qpt_supported(1 << 31, 31), 1);
        assert_eq!(ibv_is_qpt_supported(u32::MAX, IBV_QPT_DRIVER), 0);
    }

    #[test]
    fn flow_labels_spread_over_the_dynamic_ports() {
        assert_eq!(ibv_flow_label_to_udp_sport(0), 0xc000);
        assert_eq!(ibv_flow_label_to_udp_sport(0x3fff), 0xffff);
        assert_eq!(ibv_flow_label_to_udp_sport(0xfc000), 0xc03f);
        assert_eq!(ibv_flow_label_to_udp_sport(0xf_ffff), 0xffc0);
        assert_eq!(ibv_flow_label_to_udp_sport(0xfff0_0000), 0xc000);
    }

    #[test]
    fn an_extended_cq_is_a_cq() {
        let mut cq = ibv_cq_ex::zeroed();
        assert_eq!(ibv_cq_ex_to_cq(&mut cq).addr(), (&raw const cq).addr());
    }
}
