//! Partition keys of a port, which sysfs lists.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnMinusOne};
use crate::urxe;
use crate::verbs::sysfs::{self, parse_hexadecimal};

/// Stores the partition key at `index` of a port's table, in network order. Returns 0, or -1 with
/// `errno`. `ibv_query_pkey(3)`
pub(crate) unsafe extern "C" fn ibv_query_pkey(
    context: *mut ibv_context,
    port_num: u8,
    index: c_int,
    pkey: *mut __be16,
) -> c_int {
    // SAFETY: the caller passes a context and room for the key.
    unsafe { query(context, port_num, index).map(|key| *pkey = key.to_be()) }.or_minus_one()
}
export!(ibv_query_pkey @@ "IBVERBS_1.1");

/// Returns the index of a partition key (in network order) in a port's table, or -1 with `errno`
/// when there is none before the first entry that cannot be read. `ibv_get_pkey_index(3)`
pub(super) unsafe extern "C" fn ibv_get_pkey_index(
    context: *mut ibv_context,
    port_num: u8,
    pkey: __be16,
) -> c_int {
    let key = u16::from_be(pkey);
    let index = (0..c_int::MAX).find_map(|index| {
        // SAFETY: the caller passes a context.
        match unsafe { query(context, port_num, index) } {
            Ok(found) => (found == key).then_some(Ok(index)),
            Err(errno) => Some(Err(errno)),
        }
    });
    index.unwrap_or(Err(Errno::ENOENT)).or_minus_one()
}
export!(ibv_get_pkey_index @@ "IBVERBS_1.5");

/// The partition key at `index` of a port's table, in host order.
unsafe fn query(context: *mut ibv_context, port: u8, index: c_int) -> Result<u16> {
    // SAFETY: the caller passes a context.
    if let Some(key) = unsafe { urxe::device::pkey(context, port, index) } {
        return key;
    }
    let mut buf = [0; 8];
    // SAFETY: the caller passes a context.
    let text =
        unsafe { sysfs::text(context, format_args!("ports/{port}/pkeys/{index}"), &mut buf) };
    parse(text?).ok_or(Errno::EINVAL)
}

/// A number in hexadecimal, with or without `0x`.
fn parse(text: &[u8]) -> Option<u16> {
    let text = core::str::from_utf8(text).ok()?.trim();
    parse_hexadecimal(text.strip_prefix("0x").unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::sysfs::testing::DeviceFiles;
    use crate::verbs::testing::Fake;

    #[test]
    fn keys_are_hexadecimal_numbers() {
        for (text, key) in [
            ("0xffff", Some(0xffff)),
            ("0x0001", Some(1)),
            ("7fff", Some(0x7fff)),
            (" 0x12 ", Some(0x12)),
            ("", None),
            ("0x", None),
            ("0x1ffff", None),
            ("0xg", None),
            ("-1", None),
            ("+1", None),
        ] {
            assert_eq!(parse(text.as_bytes()), key, "{text:?}");
        }
        assert_eq!(parse(&[0xff, 0xfe]), None);
    }

    #[test]
    fn keys_are_read_in_network_order() {
        let fake = Fake::new();
        let _files = DeviceFiles::new(
            fake.device(),
            &[("ports/1/pkeys/0", "0xffff\n"), ("ports/1/pkeys/1", "0x8001\n")],
        );
        let mut pkey = 0;
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_query_pkey(fake.context(), 1, 1, &mut pkey), 0);
            assert_eq!(pkey.to_ne_bytes(), [0x80, 0x01]);
            for (port, index) in [(1, 2), (1, -1), (2, 0), (0, 0)] {
                assert_eq!(ibv_query_pkey(fake.context(), port, index, &mut pkey), -1);
                assert_eq!(Errno::last(), Errno::ENOENT);
            }
            assert_eq!(pkey.to_ne_bytes(), [0x80, 0x01]);
            assert_eq!(ibv_get_pkey_index(fake.context(), 1, 0xffff), 0);
            assert_eq!(ibv_get_pkey_index(fake.context(), 1, 0x8001_u16.to_be()), 1);
            assert_eq!(ibv_get_pkey_index(fake.context(), 1, 0x1234), -1);
            assert_eq!(Errno::last(), Errno::ENOENT);
        }
    }

    #[test]
    fn the_search_ends_at_an_entry_that_cannot_be_read() {
        let fake = Fake::new();
        let _files = DeviceFiles::new(
            fake.device(),
            &[
                ("ports/1/pkeys/0", "garbage"),
                ("ports/1/pkeys/1", "0x8001\n"),
                ("ports/2/pkeys/0", "longer than a key\n"),
            ],
        );
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_get_pkey_index(fake.context(), 1, 0x8001_u16.to_be()), -1);
            assert_eq!(Errno::last(), Errno::EINVAL);
            assert_eq!(ibv_get_pkey_index(fake.context(), 2, 0), -1);
        }
    }

    #[test]
    fn a_device_that_the_kernel_does_not_know_has_no_keys() {
        let fake = Fake::new();
        let mut pkey = 0;
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_query_pkey(fake.context(), 1, 0, &mut pkey), -1);
            assert_eq!(Errno::last(), Errno::EINVAL);
            assert_eq!(ibv_get_pkey_index(fake.context(), 1, 0xffff), -1);
        }
    }
}
