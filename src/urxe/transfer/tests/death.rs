//! Peers that are killed in the middle of what they do.

use super::*;
use std::time::{Duration, Instant};

/// A process that sends and writes is killed after a time; its peer, which does so too, goes on
/// after that: its requests end, its QP can be destroyed, and there is no other damage.
fn one_death(place: Where, life: Duration) -> u32 {
    let options = Options { retry_cnt: 1, ..Options::new(IBV_QPT_RC) };
    let mut pair = Pair::new(place, options, options);
    for number in 0..16 {
        pair.far.receive(number, &[(0, 30_000)]);
        let list = &mut pair.near.list(&[(0, 30_000)]);
        assert_eq!(pair.near.receive(number, list), 0);
    }
    pair.far.hammer(pair.near.card());
    let begin = Instant::now();
    let mut killed = false;
    let mut received = 0;
    let (mut posted, mut completed) = (0, 0);
    let mut status = IBV_WC_SUCCESS;
    while status == IBV_WC_SUCCESS || completed < posted {
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "it hangs: {killed} {posted} {completed}"
        );
        if !killed && begin.elapsed() > life {
            pair.far.kill();
            killed = true;
        }
        while let Some(wc) = pair.near.poll(pair.near.recv_cq) {
            if wc.status == IBV_WC_SUCCESS {
                received += 1;
                let list = &mut pair.near.list(&[(0, 30_000)]);
                assert_eq!(pair.near.receive(wc.wr_id, list), 0);
            } else {
                assert_eq!(wc.status, IBV_WC_WR_FLUSH_ERR);
            }
        }
        if status == IBV_WC_SUCCESS && posted - completed < 8 {
            let opcode = if posted % 2 == 0 { IBV_WR_RDMA_WRITE } else { IBV_WR_RDMA_READ };
            pair.near
                .send(pair.rdma(posted, opcode, 40_000), &mut pair.near.list(&[(40_000, 5000)]));
            posted += 1;
        }
        while let Some(wc) = pair.near.poll(pair.near.cq) {
            assert_eq!(wc.wr_id, completed);
            completed += 1;
            if wc.status != IBV_WC_SUCCESS {
                let first = status == IBV_WC_SUCCESS;
                let expected: &[_] = match first {
                    // Flushed, if the other has died with the lock of this QP.
                    true => &[IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR],
                    false => &[IBV_WC_WR_FLUSH_ERR],
                };
                assert!(expected.contains(&wc.status), "{}", wc.status);
                status = wc.status;
            }
        }
        std::thread::yield_now();
    }
    assert!(killed);
    assert_eq!(pair.near.state(), IBV_QPS_ERR);
    assert_eq!(pair.near.destroy_qp(), 0);
    received
}

#[test]
fn killed_at_any_time() {
    let mut received = 0;
    for round in 0..24_u64 {
        let place = if round % 6 == 5 { Where::Closed } else { Where::There };
        received += one_death(place, Duration::from_micros(round * 997 % 7919));
    }
    assert!(received > 0, "the peers have done nothing");
}
