//! Looks at the network interfaces while devices are open, and tells the programs of changes.
//!
//! The kernel tells of every change by rtnetlink(7). A thread waits for that, asleep, and compares
//! the interfaces of the open devices with what was known. There is one per process, from the first
//! open device to the last one; without it (RLIMIT_NPROC) no such events come.

use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread::JoinHandle;

use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::sys::mutex::Mutex;
use crate::urxe::device::Context;
use crate::urxe::device::interface::{self, Interface};
use crate::urxe::explain;
use crate::urxe::host::Host;

/// The open devices of a process.
struct Watch {
    host: *const Host,
    state: Mutex<State>,
}

struct State {
    contexts: Vec<Watched>,
    thread: Option<Thread>,
}

/// A context that is open: it is taken out of the list before it goes away.
struct Watched(*const Context);

// SAFETY: a context may be used by all threads.
unsafe impl Send for Watched {}

struct Thread {
    /// An eventfd(2); written, it ends the thread.
    stop: OwnedFd,
    handle: JoinHandle<()>,
}

/// The one of this process; a child process makes its own.
static CURRENT: AtomicPtr<Watch> = AtomicPtr::new(ptr::null_mut());

/// Watches the interface of a context, which must be [removed](remove) before it goes away.
pub(super) fn add(context: &Context) {
    let Some(watch) = current(context.host()) else { return };
    let mut state = watch.state.lock();
    state.contexts.push(Watched(context));
    if state.thread.is_none() {
        state.thread = start(watch)
            .inspect_err(|errno| {
                let error = std::io::Error::from_raw_os_error(errno.0);
                explain!("urxe: no events of ports and GIDs: {error}");
            })
            .ok();
    }
}

/// Watches the interface of a context no more.
pub(super) fn remove(context: &Context) {
    // In a child process there is nothing to remove.
    if !context.host().is_current() {
        return;
    }
    let Some(watch) = current(context.host()) else { return };
    let unused = {
        let mut state = watch.state.lock();
        state.contexts.retain(|watched| !ptr::eq(watched.0, context));
        if state.contexts.is_empty() { state.thread.take() } else { None }
    };
    if let Some(thread) = unused {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the buffer is valid; an eventfd takes it.
        unsafe { libc::write(thread.stop.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        // It ends in any case.
        let _ = thread.handle.join();
    }
}

/// The watch of this process.
fn current(host: &Host) -> Option<&'static Watch> {
    let known = CURRENT.load(Ordering::Acquire);
    // SAFETY: a watch is never freed.
    if let Some(watch) = unsafe { known.as_ref() }
        && ptr::eq(watch.host, host)
    {
        return Some(watch);
    }
    let state = State { contexts: Vec::new(), thread: None };
    let new = Box::into_raw(Box::new(Watch { host, state: Mutex::new(state) }));
    let swap = CURRENT.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire);
    let watch = match swap {
        Ok(_) => new,
        Err(first) => {
            // SAFETY: another thread was first, and nobody has seen this one.
            drop(unsafe { Box::from_raw(new) });
            first
        }
    };
    // SAFETY: a watch is never freed.
    unsafe { watch.as_ref() }
}

/// Starts the thread.
fn start(watch: &'static Watch) -> Result<Thread> {
    let changes = changes()?;
    // SAFETY: no pointers are passed.
    let stop = from_minus_one(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) })?;
    // SAFETY: the descriptor is new.
    let stop = unsafe { OwnedFd::from_raw_fd(stop) };
    let end = stop.try_clone().map_err(|_| Errno::last())?;
    let state = &watch.state;
    let handle = without_signals(|| {
        std::thread::Builder::new()
            .name("urxe-ports".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || run(state, &changes, &end))
    });
    let handle = handle.map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EAGAIN)))?;
    Ok(Thread { stop, handle })
}

/// Runs `f` with all signals blocked, so that a thread which it starts gets none of the program's.
fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: plain data, which is filled in.
    unsafe {
        let mut all: libc::sigset_t = core::mem::zeroed();
        let mut before: libc::sigset_t = core::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let value = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        value
    }
}

/// A socket that becomes readable when an interface or an address changes.
fn changes() -> Result<OwnedFd> {
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

/// What the thread does.
fn run(state: &Mutex<State>, changes: &OwnedFd, stop: &OwnedFd) {
    // What changed before the socket was there.
    look(state);
    loop {
        let entry =
            |fd: &OwnedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut entries = [entry(changes), entry(stop)];
        // SAFETY: so many entries are passed.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, -1) };
        if entries[1].revents != 0 || (ready < 0 && Errno::last() != Errno(libc::EINTR)) {
            return;
        }
        if entries[0].revents != 0 {
            read_away(changes.as_raw_fd());
            look(state);
        }
    }
}

/// Reads all messages; what is in them does not matter, nor whether some are lost.
fn read_away(fd: c_int) {
    let mut buffer = [0_u8; 8192];
    loop {
        // SAFETY: there is room for so many bytes.
        let got = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if got <= 0 && !matches!(Errno::last(), Errno(libc::EINTR | libc::ENOBUFS)) {
            return;
        }
    }
}

/// Compares the interfaces of all open devices with what was known of them.
fn look(state: &Mutex<State>) {
    let Ok(all) = interface::all() else { return };
    for watched in &state.lock().contexts {
        // SAFETY: a context is removed from the list, under the lock, before it goes away.
        let context = unsafe { &*watched.0 };
        let is_its = |it: &&Interface| it.index == context.interface();
        context.look_at(all.iter().find(is_its));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::*;
    use crate::urxe::device::context::tests::Opened;
    use crate::verbs::event::ibv_get_async_event;
    use std::process::Command;

    /// The next event: which it is.
    fn next(opened: &Opened) -> ibv_event_type {
        let mut event = ibv_async_event::zeroed();
        // SAFETY: a live context.
        assert_eq!(unsafe { ibv_get_async_event(opened.get(), &mut event) }, 0);
        event.event_type
    }

    fn ip(arguments: &str) {
        assert!(Command::new("ip").args(arguments.split(' ')).status().unwrap().success());
    }

    #[test]
    fn changes_of_the_interface_reach_the_program() {
        // In a network of its own. Other tests may have the watching thread of this process
        // already, in the network of the machine, so this one starts its own.
        // SAFETY: no pointers are passed.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            println!("SKIPPED: a network namespace needs privileges");
            return;
        }
        ip("link set lo up");
        let opened = Opened::new();
        // SAFETY: a live context.
        let context = unsafe { Context::of(opened.get()) };
        remove(context);
        let contexts = vec![Watched(context)];
        let state = Box::leak(Box::new(Mutex::new(State { contexts, thread: None })));
        let (changes, (stop, mut end)) = (changes().unwrap(), std::io::pipe().unwrap());
        let stop = OwnedFd::from(stop);
        let thread = std::thread::spawn(move || run(state, &changes, &stop));
        ip("link set lo down");
        assert_eq!(next(&opened), IBV_EVENT_PORT_ERR);
        assert!(!context.port().is_active());
        ip("link set lo up");
        assert_eq!(next(&opened), IBV_EVENT_PORT_ACTIVE);
        ip("addr add 192.0.2.77/32 dev lo");
        ip("addr del 127.0.0.1/8 dev lo");
        assert_eq!(next(&opened), IBV_EVENT_GID_CHANGE);
        std::io::Write::write_all(&mut end, b"x").unwrap();
        thread.join().unwrap();
    }
}
