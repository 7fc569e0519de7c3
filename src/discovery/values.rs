//! The values in sysfs files. Pure functions on foreign bytes.

/// Drops white space at the start, as strtoul(3) and sscanf(3) do.
fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii_start()
}

/// Splits off the digits at the start; their number in the given base, if there are any and it
/// fits.
fn number(text: &[u8], radix: u32) -> Option<(u32, &[u8])> {
    let digits = text.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    let value = u32::from_str_radix(core::str::from_utf8(digits).ok()?, radix).ok()?;
    Some((value, rest))
}

/// A decimal number, as in `abi_version` and `node_type`; what follows it does not matter.
pub(crate) fn decimal(text: &[u8]) -> Option<u32> {
    number(trimmed(text), 10).map(|(value, _)| value)
}

/// Major and minor number, as in `dev`: `231:192`.
pub(crate) fn device_number(text: &[u8]) -> Option<(u32, u32)> {
    let (major, rest) = number(trimmed(text), 10)?;
    let (minor, _) = number(rest.strip_prefix(b":")?, 10)?;
    Some((major, minor))
}

/// A GUID, as in `node_guid`: four groups of four hexadecimal digits, `5054:00ff:fe12:3456`.
pub(crate) fn guid(text: &[u8]) -> Option<u64> {
    let mut rest = trimmed(text);
    let mut guid = 0u64;
    for group in 0..4 {
        if group > 0 {
            rest = rest.strip_prefix(b":")?;
        }
        let (value, after) = number(rest, 16)?;
        guid = guid << 16 | u64::from(u16::try_from(value).ok()?);
        rest = after;
    }
    Some(guid)
}

/// The name of a device or of a device file: what can be one component of a path.
pub(crate) fn name(text: &[u8]) -> Option<&[u8]> {
    let text = text.split(|byte| *byte == 0).next()?;
    let is_name = !text.is_empty() && text != b"." && text != b".." && !text.contains(&b'/');
    is_name.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::{ROUNDS, Random};

    #[test]
    fn decimals() {
        for (text, value) in [
            (&b"6"[..], Some(6)),
            (b" 12: rest", Some(12)),
            (b"1: CA", Some(1)),
            (b"4294967295", Some(u32::MAX)),
            (b"4294967296", None),
            (b"", None),
            (b"\xff", None),
            (b"-1", None),
            (b"x1", None),
        ] {
            assert_eq!(decimal(text), value, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn device_numbers() {
        assert_eq!(device_number(b"231:192"), Some((231, 192)));
        assert_eq!(device_number(b"0:1048575 "), Some((0, 1_048_575)));
        for text in [&b""[..], b"231", b"231:", b":1", b"1;2", b"1:99999999999", b"a:b"] {
            assert_eq!(device_number(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn guids() {
        assert_eq!(guid(b"5054:00ff:fe12:3456"), Some(0x5054_00ff_fe12_3456));
        assert_eq!(guid(b"0:0:0:1\n"), Some(1));
        for text in [&b""[..], b"1:2:3", b"1:2:3:", b"10000:0:0:0", b"1:2:3:g", b"1::3:4"] {
            assert_eq!(guid(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn names() {
        assert_eq!(name(b"mlx5_0"), Some(&b"mlx5_0"[..]));
        assert_eq!(name(b"a\0b"), Some(&b"a"[..]));
        for text in [&b""[..], b"\0", b".", b"..", b"../x", b"/"] {
            assert_eq!(name(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn garbage_does_not_panic() {
        let mut random = Random::new(2);
        for _ in 0..ROUNDS {
            let mut text = b"5054:00ff:fe12:3456".to_vec();
            random.mutate(&mut text);
            let _ = (decimal(&text), device_number(&text), guid(&text), name(&text));
        }
    }
}
