//! What happens to a network interface.
//!
//! The kernel tells of every change by rtnetlink(7). Each context has a socket for that, which is
//! looked at when the program waits for asynchronous events, and when it asks about the port: no
//! thread is needed, and nobody waits for a program that does neither.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

use crate::sys::errno::{Errno, Result, from_minus_one};

/// Where a message of rtnetlink has the number of its interface: behind `nlmsghdr`, in `ifinfomsg`
/// and in `ifaddrmsg`.
const INDEX: u32 = 16 + 4;

/// A socket that becomes readable when an interface or an IPv4 address changes.
pub(super) fn changes() -> Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers are passed.
    let fd = from_minus_one(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    // SAFETY: the descriptor is new.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: zero bytes are a valid address.
    let mut address: libc::sockaddr_nl = unsafe { core::mem::zeroed() };
    address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
    address.nl_groups = (libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR) as u32;
    let length = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
    // SAFETY: the address is valid for the length given.
    from_minus_one(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(fd)
}

/// Lets a socket of [`changes`] take the messages about one interface alone, so that others do not
/// wake the program. Without that (a kernel without socket filters) it is woken for nothing.
pub(super) fn only(socket: &OwnedFd, interface: u32) {
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    // Loads are in network order, the messages are not.
    let mut filter = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, INDEX),
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, interface.to_be()),
        step(BPF_RET | BPF_K, 0, 0, u32::MAX),
        step(BPF_RET | BPF_K, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    let length = size_of_val(&program) as libc::socklen_t;
    // SAFETY: the program is valid for its length; the kernel copies it.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            length,
        );
    }
}

/// Reads all messages: whether there was one. What is in them does not matter, nor whether some were
/// lost.
pub(crate) fn read_away(socket: &OwnedFd) -> bool {
    let mut buffer = [0_u8; 1024];
    let mut any = false;
    loop {
        // SAFETY: there is room for so many bytes; the rest of a message is dropped.
        let got =
            unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if got < 0 && !matches!(Errno::last(), Errno(libc::EINTR | libc::ENOBUFS)) {
            return any;
        }
        any = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::*;
    use crate::urxe::device::Context;
    use crate::urxe::device::Opened;
    use crate::verbs::context::ibv_query_port;
    use crate::verbs::event::ibv_get_async_event;
    use std::os::unix::thread::JoinHandleExt;
    use std::process::Command;

    /// The next event: which it is.
    fn next(opened: &Opened) -> Result<ibv_event_type> {
        next_of(opened.get().expose_provenance())
    }

    /// As [`next`], by the address of the context.
    fn next_of(context: usize) -> Result<ibv_event_type> {
        let mut event = ibv_async_event::zeroed();
        let context = core::ptr::with_exposed_provenance_mut(context);
        // SAFETY: a live context.
        let status = unsafe { ibv_get_async_event(context, &mut event) };
        if status == 0 { Ok(event.event_type) } else { Err(Errno::last()) }
    }

    fn ip(arguments: &str) {
        assert!(Command::new("ip").args(arguments.split(' ')).status().unwrap().success());
    }

    /// A context of the loopback interface in a network of its own; none without privileges.
    fn in_own_network() -> Option<Opened> {
        // SAFETY: no pointers are passed.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            println!("SKIPPED: a network namespace needs privileges");
            return None;
        }
        ip("link set lo up");
        Some(Opened::new())
    }

    fn poll(opened: &Opened, timeout: i32) -> bool {
        // SAFETY: a live context.
        let fd = unsafe { (*opened.get()).async_fd };
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry.
        unsafe { libc::poll(&raw mut entry, 1, timeout) == 1 }
    }

    fn do_not_block(opened: &Opened) {
        // SAFETY: a descriptor of a live context.
        unsafe { libc::fcntl((*opened.get()).async_fd, libc::F_SETFL, libc::O_NONBLOCK) };
    }

    #[test]
    fn changes_of_the_interface_reach_a_program_that_waits() {
        let Some(opened) = in_own_network() else { return };
        // SAFETY: a live context.
        let port = unsafe { Context::of(opened.get()) }.port();
        let context = opened.get().expose_provenance();
        let waiter = std::thread::spawn(move || next_of(context));
        std::thread::sleep(core::time::Duration::from_millis(50));
        assert!(!waiter.is_finished());
        ip("link set lo down");
        assert_eq!(waiter.join().unwrap(), Ok(IBV_EVENT_PORT_ERR));
        assert!(!port.is_active());
        ip("link set lo up");
        assert_eq!(next(&opened), Ok(IBV_EVENT_PORT_ACTIVE));
        ip("addr add 192.0.2.77/32 dev lo");
        ip("addr del 127.0.0.1/8 dev lo");
        assert_eq!(next(&opened), Ok(IBV_EVENT_GID_CHANGE));
    }

    #[test]
    fn the_descriptor_can_be_polled_and_does_not_block_if_told_so() {
        let Some(opened) = in_own_network() else { return };
        do_not_block(&opened);
        while next(&opened).is_ok() {}
        assert_eq!(next(&opened), Err(Errno(libc::EAGAIN)));
        assert!(!poll(&opened, 0));
        ip("link set lo down");
        assert!(poll(&opened, 5000));
        assert_eq!(next(&opened), Ok(IBV_EVENT_PORT_ERR));
    }

    #[test]
    fn other_interfaces_wake_nobody() {
        let Some(opened) = in_own_network() else { return };
        // SAFETY: a live context.
        let interface = unsafe { Context::of(opened.get()) }.interface();
        let (ours, another) = (changes().unwrap(), changes().unwrap());
        only(&ours, interface);
        only(&another, interface + 1);
        ip("link set lo down");
        ip("addr add 192.0.2.78/32 dev lo");
        assert_eq!((read_away(&ours), read_away(&another)), (true, false));
    }

    #[test]
    fn who_asks_about_the_port_is_told_how_it_is_now() {
        let Some(opened) = in_own_network() else { return };
        let state = || {
            let mut attr = ibv_port_attr::zeroed();
            // SAFETY: a live context, and room.
            assert_eq!(unsafe { ibv_query_port(opened.get(), 1, (&raw mut attr).cast()) }, 0);
            attr.state
        };
        do_not_block(&opened);
        while next(&opened).is_ok() {}
        assert_eq!(state(), IBV_PORT_ACTIVE);
        ip("link set lo down");
        assert_eq!(state(), IBV_PORT_DOWN);
        // The event waits, although the message has been read.
        assert!(poll(&opened, 0));
        assert_eq!(next(&opened), Ok(IBV_EVENT_PORT_ERR));
    }

    #[test]
    fn a_signal_ends_the_wait() {
        extern "C" fn nothing(_: libc::c_int) {}
        let opened = Opened::new();
        // SAFETY: a handler that does nothing, without SA_RESTART.
        unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            libc::sigaction(libc::SIGUSR2, &raw const action, core::ptr::null_mut());
        }
        let context = opened.get().expose_provenance();
        let waiter = std::thread::spawn(move || next_of(context));
        // More than once: the first ones may come before the wait.
        while !waiter.is_finished() {
            std::thread::sleep(core::time::Duration::from_millis(20));
            // SAFETY: the thread has not been joined.
            unsafe { libc::pthread_kill(waiter.as_pthread_t(), libc::SIGUSR2) };
        }
        assert_eq!(waiter.join().unwrap(), Err(Errno(libc::EINTR)));
    }
}
