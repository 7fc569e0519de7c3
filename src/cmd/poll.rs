//! Polling a completion queue through the kernel. `ibv_poll_cq(3)`

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::Kernel;
use crate::cmd::work_request::completion;
use crate::sys::errno::{Errno, Result, ReturnMinusOne};
use crate::uapi::*;

/// The most completions that one response can hold: an output attribute has up to 65535 bytes.
const MAX_PER_COMMAND: usize =
    (u16::MAX as usize - size_of::<ib_uverbs_poll_cq_resp>()) / size_of::<ib_uverbs_wc>();

/// Takes up to `ne` completions from a CQ. Returns their number, or -1 with `errno`.
/// `driver.h: ibv_cmd_poll_cq`
pub(super) unsafe extern "C" fn ibv_cmd_poll_cq(
    ibcq: *mut ibv_cq,
    ne: c_int,
    wc: *mut ibv_wc,
) -> c_int {
    // SAFETY: the provider passes its CQ and room for so many completions.
    unsafe { poll(Kernel::of((*ibcq).context), (*ibcq).handle, ne, wc) }.or_minus_one()
}
export_private!(ibv_cmd_poll_cq);

/// Takes completions until there are enough or no more.
///
/// # Safety
///
/// `wc` must have room for `ne` completions.
unsafe fn poll(kernel: Kernel<'_>, handle: u32, ne: c_int, wc: *mut ibv_wc) -> Result<c_int> {
    let wanted = usize::try_from(ne).map_err(|_| Errno::EINVAL)?;
    let mut response = Vec::new();
    let room = response_words(wanted.min(MAX_PER_COMMAND));
    response.try_reserve_exact(room).map_err(|_| Errno::ENOMEM)?;
    response.resize(room, 0_u64);
    let mut taken = 0;
    loop {
        let ask = (wanted - taken).min(MAX_PER_COMMAND);
        let request = ib_uverbs_poll_cq { response: 0, cq_handle: handle, ne: ask as u32 };
        match kernel.write_into(request, &mut response[..response_words(ask)]) {
            Ok(()) => {}
            // Those that were taken before must not get lost; the next call meets the error.
            Err(_) if taken > 0 => break,
            Err(errno) => return Err(errno),
        }
        let head = response.as_ptr().cast::<ib_uverbs_poll_cq_resp>();
        // SAFETY: the response has room for its head and as many completions as were asked for;
        // the caller has room for as many more as are wanted.
        unsafe {
            let got = ((*head).count as usize).min(ask);
            let completions = head.add(1).cast::<ib_uverbs_wc>();
            for index in 0..got {
                wc.add(taken + index).write(completion(&*completions.add(index)));
            }
            taken += got;
            if got < ask || taken == wanted {
                break;
            }
        }
    }
    // No more than the `c_int` that was asked for.
    Ok(taken as c_int)
}

/// The length of a response with so many completions, in 8-byte words.
const fn response_words(completions: usize) -> usize {
    (size_of::<ib_uverbs_poll_cq_resp>() + completions * size_of::<ib_uverbs_wc>())
        / size_of::<u64>()
}
const _: () = assert!(size_of::<ib_uverbs_poll_cq_resp>().is_multiple_of(size_of::<u64>()));
const _: () = assert!(size_of::<ib_uverbs_wc>().is_multiple_of(size_of::<u64>()));

#[cfg(test)]
mod tests;
