//! Static rates: the numbers of `enum ibv_rate` against link speeds (`ibv_rate_to_mbps(3)`,
//! `ibv_rate_to_mult(3)`).

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;

/// What a rate stands for.
struct Rate {
    rate: ibv_rate,
    /// Multiple of 2.5 Gbit/s, for the speeds that have one.
    mult: Option<c_int>,
    /// Megabits per second, rounded down, line coding included.
    mbps: c_int,
}

const fn rate(rate: ibv_rate, mult: Option<c_int>, mbps: c_int) -> Rate {
    Rate { rate, mult, mbps }
}

/// Every rate but `IBV_RATE_MAX`, which has no speed of its own.
static RATES: [Rate; 23] = [
    rate(IBV_RATE_2_5_GBPS, Some(1), 2_500),
    rate(IBV_RATE_5_GBPS, Some(2), 5_000),
    rate(IBV_RATE_10_GBPS, Some(4), 10_000),
    rate(IBV_RATE_20_GBPS, Some(8), 20_000),
    rate(IBV_RATE_30_GBPS, Some(12), 30_000),
    rate(IBV_RATE_40_GBPS, Some(16), 40_000),
    rate(IBV_RATE_60_GBPS, Some(24), 60_000),
    rate(IBV_RATE_80_GBPS, Some(32), 80_000),
    rate(IBV_RATE_120_GBPS, Some(48), 120_000),
    rate(IBV_RATE_14_GBPS, None, 14_062),
    rate(IBV_RATE_56_GBPS, None, 56_250),
    rate(IBV_RATE_112_GBPS, None, 112_500),
    rate(IBV_RATE_168_GBPS, None, 168_750),
    rate(IBV_RATE_25_GBPS, None, 25_781),
    rate(IBV_RATE_100_GBPS, None, 103_125),
    rate(IBV_RATE_200_GBPS, None, 206_250),
    rate(IBV_RATE_300_GBPS, None, 309_375),
    rate(IBV_RATE_28_GBPS, Some(11), 28_125),
    rate(IBV_RATE_50_GBPS, Some(20), 53_125),
    rate(IBV_RATE_400_GBPS, Some(160), 425_000),
    rate(IBV_RATE_600_GBPS, Some(240), 637_500),
    rate(IBV_RATE_800_GBPS, Some(320), 850_000),
    rate(IBV_RATE_1200_GBPS, Some(480), 1_275_000),
];

/// The rate as a multiple of 2.5 Gbit/s; -1 for a rate that has none or is not known.
/// `ibv_rate_to_mult(3)`
extern "C" fn ibv_rate_to_mult(rate: ibv_rate) -> c_int {
    RATES.iter().find(|entry| entry.rate == rate).and_then(|entry| entry.mult).unwrap_or(-1)
}
export!(ibv_rate_to_mult @@ "IBVERBS_1.0");

/// The rate that is `mult` times 2.5 Gbit/s; `IBV_RATE_MAX` when there is none.
/// `ibv_rate_to_mult(3)`
extern "C" fn mult_to_ibv_rate(mult: c_int) -> ibv_rate {
    RATES.iter().find(|entry| entry.mult == Some(mult)).map_or(IBV_RATE_MAX, |entry| entry.rate)
}
export!(mult_to_ibv_rate @@ "IBVERBS_1.0");

/// The rate in Mbit/s; -1 for a rate that is not known. `ibv_rate_to_mbps(3)`
extern "C" fn ibv_rate_to_mbps(rate: ibv_rate) -> c_int {
    RATES.iter().find(|entry| entry.rate == rate).map_or(-1, |entry| entry.mbps)
}
export!(ibv_rate_to_mbps @@ "IBVERBS_1.1");

/// The rate of exactly `mbps` Mbit/s; `IBV_RATE_MAX` when there is none. `ibv_rate_to_mbps(3)`
extern "C" fn mbps_to_ibv_rate(mbps: c_int) -> ibv_rate {
    RATES.iter().find(|entry| entry.mbps == mbps).map_or(IBV_RATE_MAX, |entry| entry.rate)
}
export!(mbps_to_ibv_rate @@ "IBVERBS_1.1");

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiple and Mbit/s of the rates 0 to 24, as rdma-core 65.0 returns them.
    const EXPECTED: [(c_int, c_int); 25] = [
        (-1, -1),
        (-1, -1),
        (1, 2500),
        (4, 10000),
        (12, 30000),
        (2, 5000),
        (8, 20000),
        (16, 40000),
        (24, 60000),
        (32, 80000),
        (48, 120000),
        (-1, 14062),
        (-1, 56250),
        (-1, 112500),
        (-1, 168750),
        (-1, 25781),
        (-1, 103125),
        (-1, 206250),
        (-1, 309375),
        (11, 28125),
        (20, 53125),
        (160, 425000),
        (240, 637500),
        (320, 850000),
        (480, 1275000),
    ];

    #[test]
    fn every_rate_has_its_numbers() {
        for (rate, (mult, mbps)) in (0..).zip(EXPECTED) {
            assert_eq!(ibv_rate_to_mult(rate), mult, "rate {rate}");
            assert_eq!(ibv_rate_to_mbps(rate), mbps, "rate {rate}");
        }
    }

    #[test]
    fn unknown_rates_are_minus_one() {
        for rate in [25, 64, i32::MAX as u32, -1_i32 as u32, -2_i32 as u32] {
            assert_eq!(ibv_rate_to_mult(rate), -1);
            assert_eq!(ibv_rate_to_mbps(rate), -1);
        }
    }

    #[test]
    fn numbers_lead_back_to_the_rate() {
        for (rate, (mult, mbps)) in (0..).zip(EXPECTED) {
            if mult > 0 {
                assert_eq!(mult_to_ibv_rate(mult), rate);
            }
            if mbps > 0 {
                assert_eq!(mbps_to_ibv_rate(mbps), rate);
            }
        }
    }

    #[test]
    fn every_other_number_is_the_maximum_rate() {
        for number in (-2..=500).filter(|n| EXPECTED.iter().all(|(mult, _)| mult != n)) {
            assert_eq!(mult_to_ibv_rate(number), IBV_RATE_MAX, "{number}");
        }
        for number in [c_int::MIN, -1, 0, 2499, 2501, 14063, 1275001, c_int::MAX] {
            assert_eq!(mbps_to_ibv_rate(number), IBV_RATE_MAX, "{number}");
        }
        assert_eq!(mult_to_ibv_rate(-1), IBV_RATE_MAX);
    }
}
