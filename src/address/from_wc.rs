//! Address handles for the sender of a received datagram (`ibv_create_ah_from_wc(3)`).

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::address::gid::Gid;
use crate::address::header;
use crate::sys::errno::{Errno, Result, ReturnMinusOne, ReturnPointer};
use crate::verbs;

/// Fills `attr` with the address of the sender of the datagram that `wc` completed on port
/// `port_num` (from 1); `grh` is the start of its receive buffer, read only if the completion says
/// that it holds a header. Returns 0, or -1 with `errno` EINVAL (to a multicast group, or no such
/// GID on the port), EPROTONOSUPPORT (a header of no RDMA transport), or what a GID query fails
/// with. `ibv_init_ah_from_wc(3)`
unsafe extern "C" fn ibv_init_ah_from_wc(
    context: *mut ibv_context,
    port_num: u8,
    wc: *mut ibv_wc,
    grh: *mut ibv_grh,
    attr: *mut ibv_ah_attr,
) -> c_int {
    // SAFETY: the caller passes a context, a completion, the header that belongs to it, and room
    // for the attributes.
    unsafe {
        attr.write(ibv_ah_attr::zeroed());
        let sender = sender(port_num, &*wc, grh, |index| gid_entry(context, port_num, index));
        sender.map(|sender| attr.write(sender)).or_minus_one()
    }
}
export!(ibv_init_ah_from_wc @@ "IBVERBS_1.1");

/// Creates an address handle for the sender of a received datagram; parameters as for
/// `ibv_init_ah_from_wc`. Returns NULL with `errno` of that or of `ibv_create_ah`.
/// `ibv_create_ah_from_wc(3)`
unsafe extern "C" fn ibv_create_ah_from_wc(
    pd: *mut ibv_pd,
    wc: *mut ibv_wc,
    grh: *mut ibv_grh,
    port_num: u8,
) -> *mut ibv_ah {
    // SAFETY: the caller passes a PD, a completion and the header that belongs to it.
    unsafe {
        let context = (*pd).context;
        match sender(port_num, &*wc, grh, |index| gid_entry(context, port_num, index)) {
            Ok(mut attr) => verbs::ah::ibv_create_ah(pd, &raw mut attr),
            Err(errno) => Err(errno).or_null(),
        }
    }
}
export!(ibv_create_ah_from_wc @@ "IBVERBS_1.1");

/// The attributes for the sender of a datagram; `gids` gives entries of the port's GID table.
///
/// # Safety
///
/// `grh` must be NULL or the start of the receive buffer if the completion has the flag
/// `IBV_WC_GRH`.
unsafe fn sender(
    port_num: u8,
    wc: &ibv_wc,
    grh: *const ibv_grh,
    gids: impl FnMut(u8) -> Result<ibv_gid_entry>,
) -> Result<ibv_ah_attr> {
    let mut attr = ibv_ah_attr::zeroed();
    attr.dlid = wc.slid;
    attr.sl = wc.sl;
    attr.src_path_bits = wc.dlid_path_bits;
    attr.port_num = port_num;
    // Without the flag the buffer holds data.
    if wc.wc_flags & IBV_WC_GRH == 0 {
        return Ok(attr);
    }
    if grh.is_null() {
        return Err(Errno::EINVAL);
    }
    // A receive buffer has no alignment.
    // SAFETY: the caller's promise.
    let bytes = unsafe { grh.cast::<[u8; header::LENGTH]>().read_unaligned() };
    let parsed = header::parse(&bytes)?;
    let index = find_gid(parsed.destination, parsed.udp, gids)?;
    attr.is_global = 1;
    attr.grh = ibv_global_route {
        dgid: ibv_gid { raw: parsed.source.0 },
        flow_label: header::flow_label(&bytes),
        sgid_index: index,
        hop_limit: parsed.hop_limit,
        traffic_class: parsed.traffic_class,
    };
    Ok(attr)
}

/// The GID and the type of an entry of a port's table.
///
/// # Safety
///
/// `context` must be a context.
unsafe fn gid_entry(context: *mut ibv_context, port_num: u8, index: u8) -> Result<ibv_gid_entry> {
    let wanted = VERBS_QUERY_GID_ATTR_GID | VERBS_QUERY_GID_ATTR_TYPE;
    // SAFETY: the caller's promise.
    unsafe { verbs::gid::entry(context, port_num, u32::from(index), wanted) }
}

/// The index of a GID of a port, of the type RoCEv2 or of another one. `query` gives the entry at
/// an index: zero for an empty one, an error behind the end of the table. EINVAL if there is none.
fn find_gid(gid: Gid, udp: bool, mut query: impl FnMut(u8) -> Result<ibv_gid_entry>) -> Result<u8> {
    // An address handle cannot name an index above 255.
    for index in 0..=u8::MAX {
        let entry = query(index)?;
        // SAFETY: a GID is 16 bytes in each of its forms.
        let same = unsafe { entry.gid.raw } == gid.0;
        if same && (entry.gid_type == IBV_GID_TYPE_ROCE_V2) == udp {
            return Ok(index);
        }
    }
    Err(Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Gid = Gid([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 1]);
    const B: Gid = Gid([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 2]);

    fn entry(gid: Gid, gid_type: u32) -> Result<ibv_gid_entry> {
        let mut entry = ibv_gid_entry::zeroed();
        entry.gid.raw = gid.0;
        entry.gid_type = gid_type;
        Ok(entry)
    }

    /// A table with holes, as RoCE devices have: each GID in two types.
    fn table(index: u8) -> Result<ibv_gid_entry> {
        match index {
            0 => entry(B, IBV_GID_TYPE_ROCE_V1),
            1 => entry(B, IBV_GID_TYPE_ROCE_V2),
            2 => Ok(ibv_gid_entry::zeroed()),
            3 => entry(A, IBV_GID_TYPE_ROCE_V2),
            4 => entry(A, IBV_GID_TYPE_IB),
            _ => Err(Errno::EINVAL),
        }
    }

    #[test]
    fn a_gid_is_found_with_its_type() {
        assert_eq!(find_gid(B, false, table), Ok(0));
        assert_eq!(find_gid(B, true, table), Ok(1));
        assert_eq!(find_gid(A, true, table), Ok(3));
        assert_eq!(find_gid(A, false, table), Ok(4));
        assert_eq!(find_gid(Gid([1; 16]), true, table), Err(Errno::EINVAL));
    }

    #[test]
    fn a_search_ends_where_an_index_does() {
        let mut asked = 0;
        let endless = |_| {
            asked += 1;
            Ok(ibv_gid_entry::zeroed())
        };
        assert_eq!(find_gid(A, true, endless), Err(Errno::EINVAL));
        assert_eq!(asked, 256);
        let last = |index| if index == 255 { entry(A, 2) } else { entry(B, 2) };
        assert_eq!(find_gid(A, true, last), Ok(255));
    }

    fn completion(wc_flags: u32) -> ibv_wc {
        let mut wc = ibv_wc::zeroed();
        wc.wc_flags = wc_flags;
        wc.slid = 0x1234;
        wc.sl = 5;
        wc.dlid_path_bits = 0x7f;
        wc
    }

    /// A header from `A` to `B` behind one byte, so that it is not aligned.
    fn buffer(next: u8) -> [u8; 41] {
        let mut buffer = [0; 41];
        buffer[1..5].copy_from_slice(&0x6123_4567_u32.to_be_bytes());
        buffer[7] = next;
        buffer[8] = 64;
        buffer[9..25].copy_from_slice(&A.0);
        buffer[25..].copy_from_slice(&B.0);
        buffer
    }

    #[test]
    fn without_a_header_the_lid_is_all() {
        for grh in [core::ptr::null(), buffer(17)[1..].as_ptr().cast()] {
            // SAFETY: without the flag the header is not read.
            let attr = unsafe { sender(3, &completion(IBV_WC_WITH_IMM), grh, table) };
            let attr = attr.unwrap();
            assert_eq!((attr.dlid, attr.sl, attr.src_path_bits), (0x1234, 5, 0x7f));
            assert_eq!((attr.port_num, attr.is_global, attr.static_rate), (3, 0, 0));
            assert_eq!((attr.grh.flow_label, attr.grh.hop_limit), (0, 0));
        }
        // SAFETY: NULL is not read.
        let missing = unsafe { sender(3, &completion(IBV_WC_GRH), core::ptr::null(), table) };
        assert_eq!(missing.err(), Some(Errno::EINVAL));
    }

    #[test]
    fn the_header_says_where_to_answer() {
        for (next, index) in [(0x1b, 0), (17, 1)] {
            let buffer = buffer(next);
            // SAFETY: the buffer holds a header.
            let attr =
                unsafe { sender(1, &completion(IBV_WC_GRH), buffer[1..].as_ptr().cast(), table) };
            let attr = attr.unwrap();
            assert_eq!((attr.is_global, attr.grh.sgid_index, attr.grh.hop_limit), (1, index, 64));
            assert_eq!((attr.grh.traffic_class, attr.grh.flow_label), (0x12, 0x3_4567));
            // SAFETY: a GID is 16 bytes in each of its forms.
            assert_eq!(unsafe { attr.grh.dgid.raw }, A.0);
            assert_eq!((attr.dlid, attr.port_num), (0x1234, 1));
        }
    }

    #[test]
    fn failures_zero_the_attributes_and_set_errno() {
        let mut attr = ibv_ah_attr::zeroed();
        attr.dlid = 7;
        let mut buffer = buffer(6);
        // SAFETY: the completion and the header are valid, and the context is not reached.
        let status = unsafe {
            ibv_init_ah_from_wc(
                core::ptr::null_mut(),
                1,
                &mut completion(IBV_WC_GRH),
                buffer[1..].as_mut_ptr().cast(),
                &mut attr,
            )
        };
        assert_eq!((status, Errno::last(), attr.dlid), (-1, Errno::EPROTONOSUPPORT, 0));
    }
}
