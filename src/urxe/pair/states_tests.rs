//! Every state, every type and every attribute against the specification, written down a second
//! time in another form.

use super::*;

const TYPES: [ibv_qp_type; 5] =
    [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV];

/// Attributes by letters, as in the table of `expected`.
fn mask(letters: &str) -> u32 {
    letters.chars().filter(|letter| *letter != ' ').fold(0, |mask, letter| {
        mask | match letter {
            'U' => IBV_QP_CUR_STATE,
            'n' => IBV_QP_EN_SQD_ASYNC_NOTIFY,
            'a' => IBV_QP_ACCESS_FLAGS,
            'k' => IBV_QP_PKEY_INDEX,
            'p' => IBV_QP_PORT,
            'q' => IBV_QP_QKEY,
            'v' => IBV_QP_AV,
            'm' => IBV_QP_PATH_MTU,
            't' => IBV_QP_TIMEOUT,
            'c' => IBV_QP_RETRY_CNT,
            'r' => IBV_QP_RNR_RETRY,
            'R' => IBV_QP_RQ_PSN,
            'o' => IBV_QP_MAX_QP_RD_ATOMIC,
            'l' => IBV_QP_ALT_PATH,
            'i' => IBV_QP_MIN_RNR_TIMER,
            'S' => IBV_QP_SQ_PSN,
            'd' => IBV_QP_MAX_DEST_RD_ATOMIC,
            'g' => IBV_QP_PATH_MIG_STATE,
            'D' => IBV_QP_DEST_QPN,
            other => panic!("{other}"),
        }
    })
}

/// Needed and allowed attributes of RC, UC, UD, XRC_SEND, XRC_RECV; `None`: no such move.
fn expected(from: ibv_qp_state, to: ibv_qp_state) -> Option<[(&'static str, &'static str); 5]> {
    const NOTHING: [(&str, &str); 5] = [("", ""); 5];
    Some(match (from, to) {
        (0..=6, 0) | (1..=6, 6) => NOTHING,
        (0, 1) => [("kpa", ""), ("kpa", ""), ("kpq", ""), ("kpa", ""), ("kpa", "")],
        (1, 1) => [("", "kpa"), ("", "kpa"), ("", "kpq"), ("", "kpa"), ("", "kpa")],
        (1, 2) => {
            [("vmDRdi", "lak"), ("vmDR", "lak"), ("", "kq"), ("vmDR", "lak"), ("vmDRdi", "lak")]
        }
        (2, 3) => {
            [("tcrSo", "Ulaig"), ("S", "Ulag"), ("S", "Uq"), ("tcrSo", "Ulag"), ("tS", "Ulaig")]
        }
        (3 | 4, 3) => [("", "Ulaig"), ("", "Ulag"), ("", "Uq"), ("", "Ulag"), ("", "Ulaig")],
        (3, 4) => [("", "n"); 5],
        (4, 4) => {
            [("", "pvtcrodlakig"), ("", "vlakg"), ("", "kq"), ("", "pvtcrolakg"), ("", "pvtdlakig")]
        }
        (5, 3) => [("", ""), ("", "Ua"), ("", "Uq"), ("", ""), ("", "")],
        _ => return None,
    })
}

#[test]
fn each_move_takes_what_the_specification_says() {
    for (from, to) in (0..9).flat_map(|from| (0..9).map(move |to| (from, to))) {
        for (index, kind) in TYPES.into_iter().enumerate() {
            let place = format!("{} to {} of type {kind}", state_name(from), state_name(to));
            let Some(expected) = expected(from, to) else {
                for mask in [0, IBV_QP_STATE, u32::MAX] {
                    assert_eq!(check(kind, from, to, mask), Err(Refused::Move), "{place}");
                }
                continue;
            };
            let (needed, allowed) = (mask(expected[index].0), mask(expected[index].1));
            for with_state in [0, IBV_QP_STATE] {
                assert_eq!(check(kind, from, to, needed | with_state), Ok(()), "{place}");
                assert_eq!(check(kind, from, to, needed | allowed | with_state), Ok(()), "{place}");
            }
            for bit in (0..32).map(|shift| 1_u32 << shift) {
                let place = format!("{place}, {}", names(bit));
                if needed & bit != 0 {
                    let mask = needed & !bit;
                    assert_eq!(check(kind, from, to, mask), Err(Refused::Missing(bit)), "{place}");
                    let mask = mask | allowed;
                    assert_eq!(check(kind, from, to, mask), Err(Refused::Missing(bit)), "{place}");
                } else if (allowed | IBV_QP_STATE) & bit != 0 {
                    assert_eq!(check(kind, from, to, needed | bit), Ok(()), "{place}");
                } else {
                    let mask = needed | bit;
                    assert_eq!(check(kind, from, to, mask), Err(Refused::TooMany(bit)), "{place}");
                }
            }
        }
    }
}

#[test]
fn other_types_only_reset() {
    for kind in [0, 1, IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER, u32::MAX] {
        for to in 1..6 {
            assert_eq!(check(kind, IBV_QPS_RESET, to, u32::MAX), Err(Refused::Move));
        }
    }
}

#[test]
fn halves_of_a_connection_ignore_what_is_for_the_other() {
    let all = IBV_QP_RATE_LIMIT | mask("UnakpqvmtcrRolSigdD");
    assert_eq!(without_ignored(IBV_QPT_XRC_SEND, all), all & !mask("di"));
    assert_eq!(without_ignored(IBV_QPT_XRC_RECV, all), all & !mask("ocr"));
    for kind in [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, 0] {
        assert_eq!(without_ignored(kind, all), all);
    }
}

#[test]
fn masks_and_states_have_names() {
    assert_eq!(names(0), "");
    assert_eq!(names(IBV_QP_STATE | IBV_QP_DEST_QPN | 1 << 30), "STATE|DEST_QPN|0x40000000");
    assert_eq!((state_name(0), state_name(6), state_name(7)), ("RESET", "ERR", "unknown"));
}
