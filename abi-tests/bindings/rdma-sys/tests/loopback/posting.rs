//! Requests posted in lists, with flags, with data of their own.

use rdma_sys::*;

use crate::queue::*;

#[test]
fn batched_post() {
    let it = Loopback::rc();
    let (data, written) = (it.device.region(64).with(&[42, 43, 44]), it.device.region(64));
    let (note, received) = (it.device.region(64).with(&[1, 2]), it.device.region(64));
    it.qp.receive(100, &[received.piece(0, 2)]);
    // The first is not signaled: one completion tells of both.
    let pieces = [data.piece(0, 3)];
    let first = write(&pieces, written.remote(0));
    it.qp.start().add(101, 0, first).add(102, SIGNALED, send(&[note.piece(0, 2)])).post();
    assert_eq!(it.ids(2), [100, 102]);
    assert_eq!(
        (&written.bytes()[..4], &received.bytes()[..3]),
        (&[42, 43, 44, 0][..], &[1, 2, 0][..])
    );

    // A list that is given up does nothing.
    it.qp.start().add(103, SIGNALED, write(&[note.piece(0, 2)], written.remote(8)));
    it.qp.abort();
    it.qp.start().add(104, SIGNALED, write(&[note.piece(0, 1)], written.remote(16))).post();
    assert_eq!(it.ids(1), [104]);
    assert_eq!((written.bytes()[8], written.bytes()[16]), (0, 1));
}

#[test]
fn batched_recv() {
    let it = Loopback::rc();
    let (from, to) = (it.device.region(64).with(b"onetwo"), it.device.region(64));
    it.qp.receives(&[(1, &[to.piece(0, 3)]), (2, &[to.piece(8, 3)])]);
    it.qp.send(11, &[from.piece(0, 3)]);
    it.qp.send(12, &[from.piece(3, 3)]);
    assert_eq!(it.ids(4), [1, 2, 11, 12]);
    assert_eq!(to.bytes()[..12], *b"one\0\0\0\0\0two\0");
}

#[test]
fn send_flags() {
    let it = Loopback::rc();
    let (there, here) = (it.device.region(64).with(b"flag"), it.device.region(64));
    let to = it.device.region(64);
    it.qp.receives(&[(1, &[to.piece(0, 4)]), (2, &[to.piece(8, 4)])]);
    // What is sent behind the fence is what the read in front of it brings.
    let (key, address) = there.remote(0);
    // SAFETY: called by `add`.
    let read = |qp| unsafe { ibv_wr_rdma_read(qp, key, address) };
    let (fence, solicited) =
        (ibv_send_flags::IBV_SEND_FENCE.0, ibv_send_flags::IBV_SEND_SOLICITED.0);
    it.qp
        .start()
        .add(9, 0, with(&[here.piece(0, 4)], read))
        .add(10, SIGNALED | fence, send(&[here.piece(0, 4)]))
        .add(11, SIGNALED | solicited, send(&[there.piece(0, 4)]))
        .post();
    assert_eq!(it.ids(4), [1, 2, 10, 11]);
    assert_eq!((&here.bytes()[..4], &to.bytes()[..12]), (&b"flag"[..], &b"flag\0\0\0\0flag"[..]));
}

const INLINE: u32 = SIGNALED | ibv_send_flags::IBV_SEND_INLINE.0;

#[test]
fn inline_send() {
    let it = Loopback::rc();
    let to = it.device.region(64);
    it.qp.receive(1, &[to.piece(0, 5)]);
    let (key, address) = to.remote(32);
    let mut data = *b"inrunwxyz";
    // SAFETY: called by `add`; the data is taken before it returns.
    let send = |data: &mut [u8]| unsafe {
        ibv_wr_send(it.qp.ex);
        ibv_wr_set_inline_data(it.qp.ex, data.as_mut_ptr().cast(), data.len());
    };
    // SAFETY: as above.
    let write = |data: &mut [u8]| unsafe {
        ibv_wr_rdma_write(it.qp.ex, key, address);
        ibv_wr_set_inline_data(it.qp.ex, data.as_mut_ptr().cast(), data.len());
    };
    it.qp
        .start()
        .add(2, INLINE, |_| send(&mut data[..5]))
        .add(3, INLINE, |_| write(&mut data[5..]));
    // It is not looked at again.
    data.fill(0);
    it.qp.post();
    let done = it.cq.done(3);
    assert_eq!(done.iter().map(|done| done.id).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(done[0].length, 5);
    assert_eq!((&to.bytes()[..6], &to.bytes()[32..37]), (&b"inrun\0"[..], &b"wxyz\0"[..]));
}

#[test]
fn inline_send_list() {
    let it = Loopback::rc();
    let to = it.device.region(64);
    it.qp.receive(1, &[to.piece(0, 20)]);
    let (key, address) = to.remote(32);
    let mut parts = [*b"ab..", *b"cde.", *b"fghi"];
    let lengths = [2, 3, 4];
    let list: Vec<_> = (parts.iter_mut().zip(lengths))
        .map(|(part, length)| ibv_data_buf { addr: part.as_mut_ptr().cast(), length })
        .collect();
    // SAFETY: called by `add`; the data is taken before it returns.
    let send = |qp| unsafe {
        ibv_wr_send(qp);
        ibv_wr_set_inline_data_list(qp, list.len(), list.as_ptr());
    };
    // SAFETY: as above.
    let write = |qp| unsafe {
        ibv_wr_rdma_write(qp, key, address);
        ibv_wr_set_inline_data_list(qp, 2, list[1..].as_ptr());
    };
    it.qp.start().add(2, INLINE, send).add(3, INLINE, write).post();
    let done = it.cq.done(3);
    assert_eq!((done[0].length, done[1].id, done[2].id), (9, 2, 3));
    assert_eq!((&to.bytes()[..10], &to.bytes()[32..40]), (&b"abcdefghi\0"[..], &b"cdefghi\0"[..]));
}
