//! Release numbers in file names. Pure functions on foreign bytes.
//!
//! rdma-core puts its version behind that of the library: `librdmacm.so.1.3.44.0` is version 1.3 of
//! release 44.0. Vendors keep the number of the release that theirs comes from, and may add to it
//! (`libionic.so.1.1.54.0-187`).

/// A shared library of rdma-core, whose file name has the number of its release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Library {
    /// `rdmacm` for `librdmacm.so.1.3.44.0`.
    pub(super) name: &'static str,
    /// The first number behind `.so.`, as in the library's other name, `librdmacm.so.1`.
    pub(super) major: u32,
    /// It is a provider, too, and has a plugin name as well: `libmlx5-rdmav34.so`.
    pub(super) is_provider: bool,
}

const fn provider(name: &'static str) -> Library {
    Library { name, major: 1, is_provider: true }
}

const fn other(name: &'static str, major: u32) -> Library {
    Library { name, major, is_provider: false }
}

/// All of them. Those that are most likely to be of the same package as a plugin come first.
pub(super) const LIBRARIES: [Library; 11] = [
    provider("mlx5"),
    provider("efa"),
    provider("mlx4"),
    provider("mana"),
    provider("hns"),
    provider("ionic"),
    other("rdmacm", 1),
    other("ibverbs", 1),
    other("ibumad", 3),
    other("ibmad", 5),
    other("ibnetdisc", 5),
];

/// What the file name of a library says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Named {
    /// Its place in [`LIBRARIES`].
    pub(super) library: usize,
    /// The release of rdma-core: 44 for 44.0 and 44.1.
    pub(super) release: u32,
}

/// A number of at most 4 digits.
fn number(digits: &[u8]) -> Option<u32> {
    let is_number = (1..=4).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let digits = is_number.then(|| core::str::from_utf8(digits).ok())??;
    digits.parse().ok()
}

/// The release in a file name, if it is that of one of [`LIBRARIES`] with all its numbers.
pub(super) fn release_in(file: &[u8]) -> Option<Named> {
    let file = file.strip_prefix(b"lib")?;
    let library = LIBRARIES.iter().position(|library| {
        file.strip_prefix(library.name.as_bytes()).is_some_and(|rest| rest.starts_with(b".so."))
    })?;
    let name = LIBRARIES.get(library)?.name;
    let version = file.strip_prefix(name.as_bytes())?.strip_prefix(b".so.")?;
    let mut parts = version.split(|byte| *byte == b'.');
    let (_major, _minor) = (number(parts.next()?)?, number(parts.next()?)?);
    let release = number(parts.next()?)?;
    // Something may follow the last number, but it has to begin with one.
    parts.next()?.first()?.is_ascii_digit().then_some(Named { library, release })
}

/// The release that the value of `IBVERBS_RS_PLUGIN_RELEASE` gives a provider: a list, separated by
/// commas, of `NAME=44` and of `44` for all others. Of several numbers for all, the first that
/// `fits` counts. The error is what was said of the provider and does not fit.
pub(super) fn told(
    value: &[u8],
    is_name: impl Fn(&[u8]) -> bool,
    fits: impl Fn(u32) -> bool,
) -> Result<Option<u32>, &[u8]> {
    let entries = || value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let parse = |text: &[u8]| {
        let mut parts = text.split(|byte| *byte == b'.');
        let release = number(parts.next()?)?;
        parts.all(|part| number(part).is_some()).then_some(release).filter(|it| fits(*it))
    };
    let is_equals = |byte: &u8| *byte == b'=';
    let of_provider = entries().find_map(|entry| {
        let at = entry.iter().position(is_equals)?;
        let (name, release) = (entry.get(..at)?, entry.get(at + 1..)?);
        is_name(name.trim_ascii()).then_some(release.trim_ascii())
    });
    if let Some(text) = of_provider {
        return parse(text).map(Some).ok_or(text);
    }
    let of_all = || entries().filter(|entry| !entry.is_empty() && !entry.iter().any(is_equals));
    match of_all().find_map(parse) {
        Some(release) => Ok(Some(release)),
        None => of_all().next().map_or(Ok(None), Err),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::{ROUNDS, Random};

    #[test]
    fn file_names_have_releases() {
        for (file, name, release) in [
            ("libmlx5.so.1.24.44.0", "mlx5", 44),
            ("libmlx5.so.1.25.56.1", "mlx5", 56),
            ("libmlx4.so.1.0.36.0", "mlx4", 36),
            ("libibverbs.so.1.14.50.0", "ibverbs", 50),
            ("libibumad.so.3.2.39.1", "ibumad", 39),
            ("libibnetdisc.so.5.1.63.0", "ibnetdisc", 63),
            ("libionic.so.1.1.54.0-187", "ionic", 54),
            ("librdmacm.so.1.3.47.0.1", "rdmacm", 47),
        ] {
            let named = release_in(file.as_bytes()).unwrap();
            assert_eq!((LIBRARIES[named.library].name, named.release), (name, release), "{file}");
        }
        for file in [
            "libmlx5.so",
            "libmlx5.so.1",
            "libmlx5.so.1.24",
            "libmlx5.so.1.24.44",
            "libmlx5.so.1.24.44.",
            "libmlx5.so.1.24.44.x",
            "libmlx5.so.1.24.2404mlnx51.0",
            "libmlx5.so.1.24..0",
            "libmlx5.so.1.24.44444.0",
            "libmlx5.so.1.24.+44.0",
            "libmlx5x.so.1.24.44.0",
            "libmlx5-rdmav34.so",
            "libz.so.1.2.44.0",
            "mlx5.so.1.24.44.0",
            "",
        ] {
            assert_eq!(release_in(file.as_bytes()), None, "{file}");
        }
    }

    #[test]
    fn the_user_can_tell() {
        let told = |value: &'static str| {
            let is_name = |name: &[u8]| name == b"rxe";
            told(value.as_bytes(), is_name, |release| (34..=56).contains(&release))
        };
        for (value, expected) in [
            ("44", Ok(Some(44))),
            (" 44.0 ", Ok(Some(44))),
            ("rxe=50", Ok(Some(50))),
            ("44,rxe=50,mlx5=39", Ok(Some(50))),
            ("mlx5=39, 60, 45.1", Ok(Some(45))),
            ("mlx5=39", Ok(None)),
            ("mlx5=39,,", Ok(None)),
            ("", Ok(None)),
            ("60", Err(&b"60"[..])),
            ("60,x", Err(b"60")),
            ("rxe=60,44", Err(b"60")),
            ("rxe=", Err(b"")),
            ("rxe = x.1", Err(b"x.1")),
            ("44.x", Err(b"44.x")),
            ("4400000000000000000", Err(b"4400000000000000000")),
        ] {
            assert_eq!(told(value), expected, "{value:?}");
        }
    }

    #[test]
    fn garbage_does_not_panic() {
        let mut random = Random::new(7);
        let mut found = 0;
        for _ in 0..ROUNDS {
            let mut name = b"libmlx5.so.1.24.44.0".to_vec();
            random.mutate(&mut name);
            found += usize::from(release_in(&name).is_some());
            let mut value = b"44,rxe=50".to_vec();
            random.mutate(&mut value);
            let release = told(&value, |name| name == b"rxe", |release| release > 33);
            assert!(release.is_ok_and(|it| it.is_none_or(|it| it > 33)) || release.is_err());
        }
        assert!(found > 100);
    }
}
