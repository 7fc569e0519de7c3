//! The log (`VERBS_LOG_LEVEL`, `VERBS_LOG_FILE`) and the warnings on standard error.
//!
//! Both are for people: one line each, written with one write(2), so that lines of threads and
//! processes do not mix. Nothing here allocates for long, fails or changes `errno`.

use core::fmt::{self, Write};
use std::os::fd::RawFd;
use std::sync::OnceLock;

use crate::abi::*;
use crate::sys::env;
use crate::sys::errno::keep_errno;

/// Where the log goes and how much of it.
struct Settings {
    level: u32,
    fd: RawFd,
}

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let level = env::get(c"VERBS_LOG_LEVEL").map_or(0, |text| parse_level(text.to_bytes()));
        if level == VERBS_LOG_LEVEL_NONE {
            return Settings { level, fd: -1 };
        }
        let fd = env::get(c"VERBS_LOG_FILE").and_then(|path| {
            // SAFETY: the path is a C string.
            let fd = unsafe {
                libc::open(
                    path.as_ptr(),
                    libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC,
                    0o666,
                )
            };
            if fd < 0 {
                warning(format_args!(
                    "cannot open VERBS_LOG_FILE {}: {}; the log goes to standard error",
                    path.to_string_lossy(),
                    std::io::Error::last_os_error(),
                ));
            }
            (fd >= 0).then_some(fd)
        });
        Settings { level, fd: fd.unwrap_or(libc::STDERR_FILENO) }
    })
}

/// A number as strtol(3) reads it in base 0; 0 for what is none or is negative.
fn parse_level(text: &[u8]) -> u32 {
    let text = core::str::from_utf8(text).unwrap_or("").trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', ..] => (text, 8),
        _ => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u32::from_str_radix(&digits[..end], radix).unwrap_or(0)
}

/// Whether messages of this level are wanted.
pub(crate) fn enabled(level: u32) -> bool {
    level <= settings().level
}

/// Writes bytes to the log as they are.
pub(crate) fn write_bytes(bytes: &[u8]) {
    write_to(settings().fd, bytes);
}

fn write_to(fd: RawFd, bytes: &[u8]) {
    // SAFETY: the buffer is valid for its length; a message that cannot be written is lost.
    keep_errno(|| unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) });
}

/// Writes a line to the log if its level is wanted; use [`log!`](crate::log::log).
pub(crate) fn line(level: u32, args: fmt::Arguments<'_>) {
    if enabled(level) {
        write_to(settings().fd, Line::new("libibverbs: ", args).bytes());
    }
}

/// Writes a warning to standard error, whatever the log level: `libibverbs: Warning: ...`.
pub(crate) fn warning(args: fmt::Arguments<'_>) {
    write_to(libc::STDERR_FILENO, Line::new("libibverbs: Warning: ", args).bytes());
}

/// Writes a message about something that cannot go on to standard error.
pub(crate) fn fatal(args: fmt::Arguments<'_>) {
    write_to(libc::STDERR_FILENO, Line::new("libibverbs: Fatal: ", args).bytes());
}

/// `log!(VERBS_LOG_ERR, "format", ...)`: a line in the log.
macro_rules! log {
    ($level:expr, $($arg:tt)+) => {
        $crate::log::line($level, format_args!($($arg)+))
    };
}
pub(crate) use log;

/// A line of bounded length without allocation; what does not fit is cut off.
struct Line {
    bytes: [u8; 1024],
    length: usize,
}

impl Line {
    fn new(prefix: &str, args: fmt::Arguments<'_>) -> Line {
        let mut line = Line { bytes: [0; 1024], length: 0 };
        // Cutting off is no error to report.
        let _ = line.write_str(prefix).and_then(|()| line.write_fmt(args));
        line.bytes[line.length] = b'\n';
        line.length += 1;
        line
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.len() - 1 - self.length;
        let taken = text.len().min(room);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_as_strtol_does() {
        for (text, level) in [
            ("3", 3),
            (" 4 ", 4),
            ("0x2", 2),
            ("010", 8),
            ("+1", 1),
            ("-1", 0),
            ("", 0),
            ("debug", 0),
            ("99999999999", 0),
        ] {
            assert_eq!(parse_level(text.as_bytes()), level, "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_cut_and_end_in_a_newline() {
        let line = Line::new("prefix: ", format_args!("{}", "x".repeat(2000)));
        assert_eq!(line.bytes().len(), 1024);
        assert_eq!(line.bytes().last(), Some(&b'\n'));
    }
}
