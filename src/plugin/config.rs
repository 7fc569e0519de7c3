//! The text that names plugins: configuration files, the variables `IBV_DRIVERS` and
//! `RDMAV_DRIVERS`. Pure functions on foreign bytes.

/// The longest name of a plugin in bytes; longer ones cannot be part of a path.
const NAME_MAX: usize = 1024;

/// What a line of a configuration file says, but for empty lines and comments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// `driver NAME`.
    Driver(&'a [u8]),
    /// Something else; the word that the line begins with.
    Unknown(&'a [u8]),
}

/// The lines of a configuration file that say something, with their numbers (from 1).
///
/// A line is a word, blanks and a value; blanks at its start and what follows the value do not
/// matter, `#` at its start makes it a comment.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, Line<'_>)> {
    text.split(|byte| *byte == b'\n').enumerate().filter_map(|(index, line)| {
        let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        let mut word = || words.by_ref().find(|word| !word.is_empty());
        let first = word().filter(|first| !first.starts_with(b"#"))?;
        let said = match word() {
            Some(name) if first == b"driver" && is_name(name) => Line::Driver(name),
            _ => Line::Unknown(first),
        };
        Some((index + 1, said))
    })
}

/// The plugins that a configuration file names, in its order.
pub(crate) fn drivers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(text).filter_map(|(_, line)| match line {
        Line::Driver(name) => Some(name),
        Line::Unknown(_) => None,
    })
}

/// The plugins in the value of a variable, separated by `:` or `;`.
pub(crate) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| matches!(byte, b':' | b';')).filter(|name| is_name(name))
}

/// Whether this can be the name of a plugin or a path without its ending.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX && !name.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::{ROUNDS, Random};

    #[test]
    fn a_configuration_file() {
        let text = b"# comment\n\n  driver mlx5 # the rest does not matter\ndriver\t\t/opt/x y\r\n\
                     #driver a\ndrivers b\ndriver\ndriver \t\nDRIVER c\n\t driver rxe";
        let expected = [
            (3, Line::Driver(b"mlx5")),
            (4, Line::Driver(b"/opt/x")),
            (6, Line::Unknown(b"drivers")),
            (7, Line::Unknown(b"driver")),
            (8, Line::Unknown(b"driver")),
            (9, Line::Unknown(b"DRIVER")),
            (10, Line::Driver(b"rxe")),
        ];
        assert_eq!(lines(text).collect::<Vec<_>>(), expected);
        assert_eq!(drivers(text).collect::<Vec<_>>(), [&b"mlx5"[..], b"/opt/x", b"rxe"]);
    }

    #[test]
    fn files_that_are_none() {
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(lines(b"\n\n\r\n \t\n").count(), 0);
        let zeros = [0u8; 100];
        assert_eq!(lines(&zeros).collect::<Vec<_>>(), [(1, Line::Unknown(&zeros))]);
        assert_eq!(drivers(b"driver a\0b").count(), 0);
        let huge = [b"driver ".to_vec(), vec![b'x'; 1_000_000]].concat();
        assert_eq!(lines(&huge).collect::<Vec<_>>(), [(1, Line::Unknown(b"driver"))]);
        assert_eq!(drivers(&b"driver a\n".repeat(100_000)).count(), 100_000);
    }

    #[test]
    fn a_variable() {
        let names: Vec<_> = list(b"mlx5:;rxe;:/opt/lib/libfoo:").collect();
        assert_eq!(names, [&b"mlx5"[..], b"rxe", b"/opt/lib/libfoo"]);
        assert_eq!(list(b"").count(), 0);
    }

    #[test]
    fn garbage_does_not_panic() {
        let mut random = Random::new(3);
        let mut named = 0;
        for _ in 0..ROUNDS {
            let mut text = b"# a comment\ndriver mlx5\n driver rxe\n".to_vec();
            random.mutate(&mut text);
            for name in drivers(&text).chain(list(&text)) {
                assert!(!name.is_empty() && !name.contains(&0));
                named += 1;
            }
        }
        assert!(named > ROUNDS);
    }
}
