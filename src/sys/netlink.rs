//! A small netlink client (netlink(7)): a socket, a request, its replies.
//!
//! Few system calls: no bind (the kernel gives the socket an address when it first sends), no
//! socket options, one call per datagram. The kernel answers while the request is being sent, so
//! nothing waits; a kernel that stays silent costs a time-out, not a hang.

pub(crate) mod parse;
#[cfg(test)]
mod tests;

use core::ffi::c_int;
use core::mem::size_of;
use core::time::Duration;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::sys::errno::{Errno, Result};
use crate::sys::fd;
use parse::{Kind, Message, Messages, Request};

/// The first size of the receive buffer in bytes: what the kernel puts into one datagram at most,
/// but for few messages that are longer by themselves.
const BUFFER: usize = 32 * 1024;
/// The longest datagram that is accepted, in bytes.
const LONGEST: usize = 1024 * 1024;
/// How often a request is repeated whose reply was cut off or changed while it was read.
const TRIES: usize = 5;
/// How long a silent kernel is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A netlink socket of one protocol, closed when dropped.
pub(crate) struct Socket {
    fd: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

/// The data messages that answered a request.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    bytes: Vec<u8>,
}

impl Replies {
    /// The messages in the order in which they came.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        // Only whole messages were stored.
        Messages::new(&self.bytes).flatten()
    }

    /// The first message.
    pub(crate) fn first(&self) -> Option<Message<'_>> {
        self.messages().next()
    }

    fn push(&mut self, message: &Message<'_>) {
        self.bytes.extend_from_slice(message.bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

impl Socket {
    /// Opens a socket of a protocol (`NETLINK_RDMA`, `NETLINK_ROUTE`), close-on-exec.
    /// EPROTONOSUPPORT when the kernel lacks it.
    pub(crate) fn open(protocol: c_int) -> Result<Socket> {
        // SAFETY: no pointers are passed.
        let fd = unsafe {
            libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol)
        };
        if fd < 0 {
            return Err(Errno::last());
        }
        // SAFETY: the descriptor is new and ours.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Socket { fd, sequence: 0, buffer: Vec::new() })
    }

    /// The descriptor, to wait on with poll(2).
    pub(crate) fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Joins one of the first 32 multicast groups (`RTNLGRP_NEIGH`), whose messages
    /// [`Socket::receive`] then gives. For a new socket: EINVAL after a request.
    pub(crate) fn join(&self, group: u32) -> Result<()> {
        // The kernel leaves out sockets that have no address, so setting an option alone would
        // not do.
        // SAFETY: zero bytes are a valid address.
        let mut address: libc::sockaddr_nl = unsafe { core::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        address.nl_groups =
            group.checked_sub(1).and_then(|bit| 1_u32.checked_shl(bit)).ok_or(Errno::EINVAL)?;
        // SAFETY: the address is valid for the length given.
        let status = unsafe {
            libc::bind(
                self.fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_nl>() as libc::socklen_t,
            )
        };
        if status < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    /// Sends a request and gives all data messages that answer it. A request without `NLM_F_DUMP`
    /// must be one that the kernel answers with a data message or an error, or carry `NLM_F_ACK`.
    ///
    /// Fails with the kernel's error number, with EPROTO for a malformed reply, with ETIMEDOUT for
    /// none, and with what socket calls fail with.
    pub(crate) fn query(&mut self, mut request: Request) -> Result<Replies> {
        for _ in 0..TRIES {
            self.sequence = self.sequence.wrapping_add(1);
            self.send(request.finish(self.sequence).ok_or(Errno(libc::EMSGSIZE))?)?;
            let mut answer = Answer::new(self.sequence, request.is_dump());
            while !answer.complete {
                // The rest of a spoilt dump is read too, because the kernel runs one at a time.
                let patience = if answer.spoilt { Duration::ZERO } else { PATIENCE };
                match self.receive_datagram(patience) {
                    Ok(bytes) => answer.take(bytes)?,
                    Err(Errno(libc::ENOBUFS | libc::EMSGSIZE)) => answer.spoilt = true,
                    Err(Errno::ETIMEDOUT) if answer.spoilt => break,
                    Err(errno) => return Err(errno),
                }
            }
            if !answer.spoilt {
                return Ok(answer.replies);
            }
        }
        Err(Errno::EBUSY)
    }

    /// Waits for a datagram, of a joined group for instance, and gives its messages.
    ///
    /// ETIMEDOUT when none comes in time, ENOBUFS when some were lost (others may follow),
    /// EMSGSIZE when one was longer than the buffer, which has grown now.
    pub(crate) fn receive(&mut self, patience: Duration) -> Result<Messages<'_>> {
        self.receive_datagram(patience).map(Messages::new)
    }

    fn send(&self, bytes: &[u8]) -> Result<()> {
        loop {
            // Without an address the message goes to the kernel.
            // SAFETY: the buffer is valid for its length.
            let sent = unsafe { libc::send(self.fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
            match usize::try_from(sent) {
                Ok(sent) if sent == bytes.len() => return Ok(()),
                Ok(_) => return Err(Errno::EIO),
                Err(_) if Errno::last() == Errno(libc::EINTR) => {}
                Err(_) => return Err(Errno::last()),
            }
        }
    }

    /// Receives one datagram of the kernel's; those of other processes are dropped.
    fn receive_datagram(&mut self, patience: Duration) -> Result<&[u8]> {
        if self.buffer.is_empty() {
            self.buffer.resize(BUFFER, 0);
        }
        let length = loop {
            // SAFETY: zero bytes are a valid address.
            let mut sender: libc::sockaddr_nl = unsafe { core::mem::zeroed() };
            let mut sender_length = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
            // With MSG_TRUNC the result is the datagram's length even if it did not fit.
            // SAFETY: both buffers are valid for the lengths given.
            let received = unsafe {
                libc::recvfrom(
                    self.fd(),
                    self.buffer.as_mut_ptr().cast(),
                    self.buffer.len(),
                    libc::MSG_DONTWAIT | libc::MSG_TRUNC,
                    (&raw mut sender).cast(),
                    &raw mut sender_length,
                )
            };
            match usize::try_from(received) {
                Ok(length) if sender.nl_pid == 0 => break length,
                Ok(_) => {}
                Err(_) => match Errno::last() {
                    Errno(libc::EINTR) => {}
                    Errno(libc::EAGAIN) => self.wait(patience)?,
                    errno => return Err(errno),
                },
            }
        };
        if length > self.buffer.len() {
            if length <= LONGEST {
                self.buffer.resize(length, 0);
            }
            return Err(Errno(libc::EMSGSIZE));
        }
        self.buffer.get(..length).ok_or(Errno::EIO)
    }

    /// Waits until there is something to receive; ETIMEDOUT.
    fn wait(&self, patience: Duration) -> Result<()> {
        fd::wait_readable(self.fd(), patience)
    }
}

/// The answer to one request as far as it has come.
struct Answer {
    sequence: u32,
    is_dump: bool,
    /// Nothing more will come.
    complete: bool,
    /// Messages were lost, or what they describe changed meanwhile.
    spoilt: bool,
    replies: Replies,
}

impl Answer {
    fn new(sequence: u32, is_dump: bool) -> Answer {
        Answer { sequence, is_dump, complete: false, spoilt: false, replies: Replies::default() }
    }

    /// Takes in one datagram. Fails with the kernel's error number, or EPROTO.
    fn take(&mut self, datagram: &[u8]) -> Result<()> {
        for message in Messages::new(datagram) {
            let message = message.map_err(|parse::Malformed| Errno(libc::EPROTO))?;
            if message.sequence != self.sequence {
                continue;
            }
            if i32::from(message.flags) & libc::NLM_F_DUMP_INTR != 0 {
                self.spoilt = true;
            }
            match message.kind() {
                Kind::Data => {
                    self.replies.push(&message);
                    self.complete |= !self.is_dump;
                }
                Kind::Done(0) | Kind::Status(0) => self.complete = true,
                Kind::Done(error) | Kind::Status(error) => return Err(Errno(error)),
                Kind::Overrun => self.spoilt = true,
                Kind::Nothing => {}
            }
        }
        Ok(())
    }
}
