//! Waiting on file descriptors.

use core::time::Duration;
use std::os::fd::RawFd;
use std::time::Instant;

use crate::sys::errno::{Errno, Result};

/// Waits with poll(2) until a descriptor is readable or in error; ETIMEDOUT. Signals do not cut
/// the wait short, nor do they prolong it.
pub(crate) fn wait_readable(fd: RawFd, patience: Duration) -> Result<()> {
    let end = Instant::now().checked_add(patience);
    loop {
        let left = end.map_or(patience, |end| end.saturating_duration_since(Instant::now()));
        // Rounded up, so that the last round does not spin.
        let milliseconds = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry is passed.
        match unsafe { libc::poll(&raw mut entry, 1, milliseconds) } {
            0 => return Err(Errno::ETIMEDOUT),
            1.. => return Ok(()),
            _ if Errno::last() == Errno(libc::EINTR) => {}
            _ => return Err(Errno::last()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    #[test]
    fn waiting_ends_with_data_or_with_time() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let short = Duration::from_millis(5);
        let begin = Instant::now();
        assert_eq!(wait_readable(reader.as_raw_fd(), short), Err(Errno::ETIMEDOUT));
        assert!(begin.elapsed() >= short);
        assert_eq!(wait_readable(reader.as_raw_fd(), Duration::ZERO), Err(Errno::ETIMEDOUT));
        writer.write_all(b"x").unwrap();
        assert_eq!(wait_readable(reader.as_raw_fd(), Duration::MAX), Ok(()));
    }
}
