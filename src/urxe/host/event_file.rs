//! Event files: FIFOs through which any process puts an event into the queue of another.
//!
//! A completion channel, or the asynchronous events of a context, is the reading end. What is
//! written are the structs that the kernel would write, in one piece.

use std::os::fd::OwnedFd;

use super::Host;
use super::directory::{EVENT, file_name};
use super::peer::Peer;
use crate::sys::errno::Result;

/// Makes an event file of this process; its number, never 0, and the end to read from, which
/// blocks and is close-on-exec.
pub(crate) fn create(host: &Host) -> Result<(u32, OwnedFd)> {
    let number = host.next_number();
    let name = file_name(EVENT, host.slot(), number)?;
    host.directory().make_fifo(&name)?;
    // Open for writing as well, it never reads as ended, and opening does not wait.
    match host.directory().open_file(&name, libc::O_RDWR) {
        Ok(fd) => Ok((number, fd)),
        Err(errno) => {
            let _ = host.directory().remove(&name);
            Err(errno)
        }
    }
}

/// Puts an event of at most 512 bytes into an event file.
///
/// # Errors
///
/// EAGAIN when it is full; ENOENT when it is gone; what open(2) says otherwise.
pub(crate) fn send(peer: &Peer, number: u32, bytes: &[u8]) -> Result<()> {
    peer.send_event(number, bytes)
}

/// Removes an event file of this process; the caller closes its end itself.
pub(crate) fn remove(host: &Host, number: u32) {
    host.own().close_event(number);
    if let Ok(name) = file_name(EVENT, host.slot(), number) {
        // It may be gone, with the directory.
        let _ = host.directory().remove(&name);
    }
}

/// Another end of an event file of this process, to read and to write, which does not block: what
/// its owner has open may block.
///
/// # Errors
///
/// ENOENT when it is gone; what open(2) says otherwise.
pub(crate) fn open_own(host: &Host, number: u32) -> Result<OwnedFd> {
    let name = file_name(EVENT, host.slot(), number)?;
    host.directory().open_file(&name, libc::O_RDWR | libc::O_NONBLOCK)
}
