//! Events: how they reach the program, and how objects go away with events on their way.
//!
//! Events are read from FIFOs, one for the asynchronous events of a context and one for each
//! completion channel. Who causes an event writes it there, in this process or another one, in the
//! form in which the kernel would: so the library reads them as those of any device. An event names
//! its object by the address in the owner's memory.
//!
//! What a program polls for asynchronous events is readable for changes of the network interface as
//! well, which become events when it is read.

use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::Relaxed;
use core::ffi::c_int;
use core::fmt;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::*;
use crate::cmd::wait_for_events;
use crate::sys::errno::{Errno, Result, from_minus_one, from_null};
use crate::sys::heap;
use crate::sys::mutex::Mutex;
use crate::uapi::*;
use crate::urxe::device::{Context, watch};
use crate::urxe::explain;
use crate::urxe::host::{self, Host, Peer, event_file};
use crate::urxe::limits::PORTS;
use crate::urxe::sorted::Sorted;
use crate::verbs::event::read_event;

/// The events of a context.
pub(crate) struct Events {
    /// Number of the file with the asynchronous ones, and the end to read from, which does not
    /// block. The program's descriptor is an epoll(7) of this and of `changes`.
    number: u32,
    file: OwnedFd,
    /// Tells of changes of the network interface, see [`watch`].
    changes: Option<OwnedFd>,
    /// Something has changed that nobody could look at so far.
    look_again: AtomicBool,
}

/// What an event can be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Qp,
    Srq,
    Cq,
}

/// The objects of this process that events name, by their addresses. Any process of the user can
/// write into an event file, so what is read there is nothing but a number to be looked for here.
pub(crate) struct Objects(Mutex<Sorted<usize, Object>>);

/// An object, and how many events of it the program has read.
struct Object {
    kind: Kind,
    asynchronous: u32,
    completion: u32,
}

impl Objects {
    pub(crate) const fn new() -> Objects {
        Objects(Mutex::new(Sorted::new()))
    }

    /// Counts an event by `count`, if there is such an object of that kind.
    fn count(&self, address: usize, kind: Kind, count: fn(&mut Object) -> &mut u32) -> bool {
        let mut objects = self.0.lock();
        let object = objects.get(address).filter(|object| object.kind == kind);
        let Some(count) = object.map(count) else { return false };
        *count = count.wrapping_add(1);
        true
    }

    /// Takes out an object that goes away; how many asynchronous and completion events of it the
    /// program has read.
    fn leave(&self, address: usize) -> (u32, u32) {
        let object = self.0.lock().remove(address);
        object.map_or((0, 0), |object| (object.asynchronous, object.completion))
    }
}

/// Notes a new object at an address, before any event names it.
pub(crate) fn enter(host: &Host, address: usize, kind: Kind) {
    let object = || Object { kind, asynchronous: 0, completion: 0 };
    *host.pairs().objects.0.lock().entry(address, object()) = object();
}

impl Events {
    /// The events of a new context, and the descriptor for the program. What pipes and epoll(7) fail
    /// with.
    pub(super) fn new(host: &Host, changes: Option<OwnedFd>) -> Result<(Events, OwnedFd)> {
        // SAFETY: no pointers are passed.
        let all = from_minus_one(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the descriptor is new.
        let all = unsafe { OwnedFd::from_raw_fd(all) };
        let (number, file) = event_file::create(host)?;
        let result = [Some(&file), changes.as_ref()].into_iter().flatten().try_for_each(|fd| {
            let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
            let (all, fd) = (all.as_raw_fd(), fd.as_raw_fd());
            // SAFETY: the descriptors are open, the event is valid.
            unsafe {
                from_minus_one(libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK))?;
                from_minus_one(libc::epoll_ctl(all, libc::EPOLL_CTL_ADD, fd, &raw mut event))
            }
            .map(drop)
        });
        result.inspect_err(|_| event_file::remove(host, number))?;
        let look_again = AtomicBool::new(false);
        Ok((Events { number, file, changes, look_again }, all))
    }

    /// Whether something may have happened to the network interface since this was asked last.
    pub(super) fn may_have_changed(&self) -> bool {
        let has_message = self.changes.as_ref().is_some_and(watch::read_away);
        self.look_again.swap(false, Relaxed) || has_message
    }

    /// Lets [`may_have_changed`](Self::may_have_changed) say so once more.
    pub(super) fn look_again(&self) {
        self.look_again.store(true, Relaxed);
    }

    /// Number of the file of the asynchronous events, which objects tell their peers.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

/// The next asynchronous event of a context of this device, for which it waits; nothing for a context
/// of another one. `ibv_get_async_event(3)`
///
/// # Errors
///
/// EAGAIN without an event if the program's descriptor does not block; EINTR after a signal; ENODEV
/// in a child of the process that opened the device.
///
/// # Safety
///
/// `context` must be an open context.
pub(crate) unsafe fn next(context: *mut ibv_context) -> Option<Result<ib_uverbs_async_event_desc>> {
    // SAFETY: the caller's promise.
    let (this, fd) = unsafe { (Context::find(context)?, (*context).async_fd) };
    Some(loop {
        match read_event(this.events().file.as_raw_fd()) {
            Err(Errno(libc::EAGAIN)) => {}
            Ok(event) if !is_true(this.host(), &event) => {
                forged(event.element);
                continue;
            }
            result => break result,
        }
        if !this.host().is_current() {
            break Err(Errno::ENODEV);
        }
        if !this.refresh()
            && let Err(errno) = wait(fd)
        {
            break Err(errno);
        }
    })
}

/// Whether an event is about what there is: an object of this process, which is counted, or the port.
fn is_true(host: &Host, event: &ib_uverbs_async_event_desc) -> bool {
    let kind = match event.event_type {
        IBV_EVENT_CQ_ERR => Kind::Cq,
        IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => Kind::Srq,
        IBV_EVENT_QP_FATAL
        | IBV_EVENT_QP_REQ_ERR
        | IBV_EVENT_QP_ACCESS_ERR
        | IBV_EVENT_COMM_EST
        | IBV_EVENT_SQ_DRAINED
        | IBV_EVENT_QP_LAST_WQE_REACHED => Kind::Qp,
        kind => {
            let is_port = (1..=u64::from(PORTS)).contains(&event.element);
            return is_port && kind <= LAST_EVENT && !is_of_object(kind);
        }
    };
    host.pairs().objects.count(event.element as usize, kind, |object| &mut object.asynchronous)
}

/// The last of `enum ibv_event_type` that the device knows.
const LAST_EVENT: ibv_event_type = IBV_EVENT_GID_CHANGE;

#[cold]
fn forged(element: u64) {
    explain!("urxe: an event of {element:#x}, which is nothing of this process, is dropped");
}

/// The CQ of the next completion event of a channel of this device, for which it waits; nothing for a
/// channel of another one. `ibv_get_cq_event(3)`
///
/// # Errors
///
/// EAGAIN without an event if the program's descriptor does not block; EINTR after a signal.
///
/// # Safety
///
/// `channel` must be a channel of an open context.
pub(crate) unsafe fn next_completion(
    channel: *mut ibv_comp_channel,
) -> Option<Result<*mut ibv_cq>> {
    // SAFETY: the caller's promise.
    let (context, fd) = unsafe { (Context::find((*channel).context)?, (*channel).fd) };
    let objects = &context.host().pairs().objects;
    Some(loop {
        let address = match read_event::<ib_uverbs_comp_event_desc>(fd) {
            Ok(event) => event.cq_handle as usize,
            Err(errno) => break Err(errno),
        };
        if objects.count(address, Kind::Cq, |object| &mut object.completion) {
            break Ok(core::ptr::with_exposed_provenance_mut(address));
        }
        forged(address as u64);
    })
}

/// Waits until a descriptor can be read; EAGAIN if it does not block.
fn wait(fd: c_int) -> Result<()> {
    // SAFETY: no pointers are passed.
    let flags = from_minus_one(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    if flags & libc::O_NONBLOCK != 0 {
        return Err(Errno(libc::EAGAIN));
    }
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    from_minus_one(unsafe { libc::poll(&raw mut entry, 1, -1) }).map(drop)
}

/// Sends an asynchronous event to the context with this number of events in a process. `element` is
/// the address of its object there, or the port.
pub(crate) fn send(peer: &Peer, number: u32, event: ibv_event_type, element: u64) {
    let desc = ib_uverbs_async_event_desc { element, event_type: event, reserved: 0 };
    if let Err(errno) = event_file::send(peer, number, bytes_of(&desc)) {
        lost(peer, number, errno);
    }
}

/// Sends a completion event to the channel with this number in a process. `cq` is the address of
/// the CQ there.
pub(crate) fn send_completion(peer: &Peer, number: u32, cq: u64) {
    let desc = ib_uverbs_comp_event_desc { cq_handle: cq };
    if let Err(errno) = event_file::send(peer, number, bytes_of(&desc)) {
        lost(peer, number, errno);
    }
}

#[cold]
fn lost(peer: &Peer, number: u32, errno: Errno) {
    explain!(
        "urxe: an event for process slot {}, file {number}, is lost: {}",
        peer.slot(),
        std::io::Error::from_raw_os_error(errno.0),
    );
}

/// The bytes of a kernel struct, which has no padding.
fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: plain data without padding.
    unsafe { core::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// A completion channel of this device.
#[repr(C)]
struct Channel {
    channel: ibv_comp_channel,
    host: &'static Host,
    number: u32,
}

/// Creates a completion channel; freed by free(3) after [`close_channel`]. Nothing for a context of
/// another device. `ibv_create_comp_channel(3)`
///
/// # Safety
///
/// `context` must be an open context.
pub(crate) unsafe fn create_channel(
    context: *mut ibv_context,
) -> Option<Result<*mut ibv_comp_channel>> {
    // SAFETY: the caller's promise.
    unsafe { Context::find(context) }?;
    Some(heap::enough().and_then(|()| host::host()).and_then(|host| {
        let (number, file) = event_file::create(host)?;
        // SAFETY: malloc has no preconditions.
        let memory = from_null(unsafe { libc::malloc(size_of::<Channel>()) });
        let memory = memory.inspect_err(|_| event_file::remove(host, number))?.cast::<Channel>();
        let channel = ibv_comp_channel { context, fd: file.into_raw_fd(), refcnt: 0 };
        // SAFETY: the memory is ours and large enough.
        unsafe { memory.write(Channel { channel, host, number }) };
        Ok(memory.cast())
    }))
}

/// Removes what a channel of this device has beside its descriptor and its memory.
///
/// # Safety
///
/// `channel` must be a channel of an open context, for the last time.
pub(crate) unsafe fn close_channel(channel: *mut ibv_comp_channel) {
    // SAFETY: the caller's promise.
    unsafe {
        if Context::find((*channel).context).is_some() {
            let Channel { host, number, .. } = channel.cast::<Channel>().read();
            remove(host, number);
        }
    }
}

/// Removes an event file, unless it is that of the parent of this process.
pub(super) fn remove(host: &Host, number: u32) {
    if host.is_current() {
        event_file::remove(host, number);
    }
}

/// Number of the file of a channel; 0 for no channel.
///
/// # Safety
///
/// `channel` must be NULL or a channel of this device.
pub(crate) unsafe fn channel_number(channel: *mut ibv_comp_channel) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { channel.cast::<Channel>().as_ref() }.map_or(0, |channel| channel.number)
}

/// Waits until the events of a QP are acknowledged; those that were not read are forgotten. To be
/// called when peers send no more events about it, before it is freed.
///
/// # Safety
///
/// `qp` must be a live QP of this device.
pub(crate) unsafe fn retire_qp(qp: *mut ibv_qp) {
    // SAFETY: the caller's promise.
    unsafe {
        let waiter = Waiter {
            mutex: &raw mut (*qp).mutex,
            cond: &raw mut (*qp).cond,
            completed: &raw const (*qp).events_completed,
        };
        let object = format_args!("QP {:#x}", (*qp).qp_num);
        let _ = waiter.retire_asynchronous(object, (*qp).context, qp.addr());
    }
}

/// As [`retire_qp`], for an SRQ.
///
/// # Safety
///
/// `srq` must be a live SRQ of this device.
pub(crate) unsafe fn retire_srq(srq: *mut ibv_srq) {
    // SAFETY: the caller's promise.
    unsafe {
        let waiter = Waiter {
            mutex: &raw mut (*srq).mutex,
            cond: &raw mut (*srq).cond,
            completed: &raw const (*srq).events_completed,
        };
        let _ = waiter.retire_asynchronous(format_args!("an SRQ"), (*srq).context, srq.addr());
    }
}

/// As [`retire_qp`], for a CQ: its asynchronous and its completion events.
///
/// # Safety
///
/// `cq` must be a live CQ of this device.
pub(crate) unsafe fn retire_cq(cq: *mut ibv_cq) {
    // SAFETY: the caller's promise.
    unsafe {
        let (mutex, cond) = (&raw mut (*cq).mutex, &raw mut (*cq).cond);
        let completed = &raw const (*cq).async_events_completed;
        let waiter = Waiter { mutex, cond, completed };
        let read = waiter.retire_asynchronous(format_args!("a CQ"), (*cq).context, cq.addr());
        let completed = &raw const (*cq).comp_events_completed;
        if !(*cq).channel.is_null() {
            let context = Context::of((*cq).context);
            let number = channel_number((*cq).channel);
            forget(context.host(), number, |event: &ib_uverbs_comp_event_desc| {
                event.cq_handle == cq.addr() as u64
            });
            Waiter { mutex, cond, completed }.wait(format_args!("a CQ"), read);
        }
    }
}

/// How an object tells that its events are acknowledged.
struct Waiter {
    mutex: *mut pthread_mutex_t,
    cond: *mut pthread_cond_t,
    completed: *const u32,
}

impl Waiter {
    /// Takes the object out of those that events name, and waits until the asynchronous ones are
    /// acknowledged; how many completion events the program has read.
    ///
    /// # Safety
    ///
    /// The members must be those of the live object at `address` of the context.
    unsafe fn retire_asynchronous(
        &self,
        object: fmt::Arguments<'_>,
        context: *mut ibv_context,
        address: usize,
    ) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let context = Context::of(context);
            forget(
                context.host(),
                context.events().number,
                |event: &ib_uverbs_async_event_desc| {
                    is_of_object(event.event_type) && event.element == address as u64
                },
            );
            let (read, completions) = context.host().pairs().objects.leave(address);
            self.wait(object, read);
            completions
        }
    }

    /// Waits until as many events are acknowledged as were read.
    ///
    /// # Safety
    ///
    /// The members must be those of one live object.
    unsafe fn wait(&self, object: fmt::Arguments<'_>, read: u32) {
        // SAFETY: the caller's promise; the number is looked at with the mutex held.
        unsafe {
            wait_for_events(self.mutex, self.cond, object, || {
                read.wrapping_sub(self.completed.read())
            });
        }
    }
}

/// Whether an event is about an object, not about a port or the device.
fn is_of_object(event: ibv_event_type) -> bool {
    !matches!(
        event,
        IBV_EVENT_DEVICE_FATAL
            | IBV_EVENT_PORT_ACTIVE
            | IBV_EVENT_PORT_ERR
            | IBV_EVENT_LID_CHANGE
            | IBV_EVENT_PKEY_CHANGE
            | IBV_EVENT_SM_CHANGE
            | IBV_EVENT_CLIENT_REREGISTER
            | IBV_EVENT_GID_CHANGE
    )
}

/// Takes the events that nobody has read out of a file, and puts those back that are wanted.
fn forget<Event: Plain>(host: &Host, number: u32, is_unwanted: impl Fn(&Event) -> bool) {
    let file = match event_file::open_own(host, number) {
        Ok(file) => file,
        Err(errno) => {
            let error = std::io::Error::from_raw_os_error(errno.0);
            explain!("urxe: cannot look for events of an object that goes away: {error}");
            return;
        }
    };
    let mut kept = Vec::new();
    // New ones may come meanwhile; those of the object do not.
    for _ in 0..waiting::<Event>(&file) {
        let mut event = Event::zeroed();
        let size = size_of::<Event>();
        // SAFETY: there is room for so many bytes.
        let got = unsafe { libc::read(file.as_raw_fd(), (&raw mut event).cast(), size) };
        if usize::try_from(got) != Ok(size) {
            break;
        }
        if !is_unwanted(&event) {
            kept.push(event);
        }
    }
    for event in &kept {
        let bytes = bytes_of(event);
        // SAFETY: so many bytes are there; there is room, as they came from there.
        unsafe { libc::write(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// Events that wait in a file.
fn waiting<Event>(file: &OwnedFd) -> usize {
    let mut bytes: c_int = 0;
    // SAFETY: there is room for the number.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
    if status < 0 { 0 } else { usize::try_from(bytes).unwrap_or(0) / size_of::<Event>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::urxe::device::Opened;
    use crate::verbs::comp_channel::{
        ibv_ack_cq_events, ibv_create_comp_channel, ibv_get_cq_event,
    };
    use crate::verbs::event::{ibv_ack_async_event, ibv_get_async_event};

    fn new_qp(context: *mut ibv_context) -> Box<ibv_qp> {
        let mut qp = Box::new(ibv_qp { context, ..ibv_qp::zeroed() });
        // SAFETY: the places are ours.
        unsafe {
            libc::pthread_mutex_init(&mut qp.mutex, core::ptr::null());
            libc::pthread_cond_init(&mut qp.cond, core::ptr::null());
        }
        enter(context, (&raw const *qp).addr(), Kind::Qp);
        qp
    }

    fn enter(context: *mut ibv_context, address: usize, kind: Kind) {
        // SAFETY: a live context.
        super::enter(unsafe { Context::of(context) }.host(), address, kind);
    }

    fn peer(context: *mut ibv_context) -> (std::sync::Arc<Peer>, u32) {
        // SAFETY: a live context.
        let context = unsafe { Context::of(context) };
        (context.host().peer(context.host().slot()).unwrap(), context.events().number())
    }

    #[test]
    fn events_reach_the_program_and_are_counted() {
        let opened = Opened::new();
        let (peer, number) = peer(opened.get());
        let mut qp = new_qp(opened.get());
        let address = (&raw mut *qp).expose_provenance();
        send(&peer, number, IBV_EVENT_COMM_EST, address as u64);
        send(&peer, number, IBV_EVENT_GID_CHANGE, 1);
        let mut event = ibv_async_event::zeroed();
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
            assert_eq!((event.event_type, event.element.qp.addr()), (IBV_EVENT_COMM_EST, address));
            let mut change = ibv_async_event::zeroed();
            assert_eq!(ibv_get_async_event(opened.get(), &mut change), 0);
            assert_eq!((change.event_type, change.element.port_num), (IBV_EVENT_GID_CHANGE, 1));
            // Going away waits for the acknowledgement.
            let waiter = std::thread::spawn(move || {
                retire_qp(core::ptr::with_exposed_provenance_mut(address));
            });
            std::thread::sleep(core::time::Duration::from_millis(10));
            assert!(!waiter.is_finished());
            ibv_ack_async_event(&mut event);
            waiter.join().unwrap();
        }
    }

    #[test]
    fn unread_events_of_an_object_go_away_with_it() {
        let opened = Opened::new();
        let (peer, number) = peer(opened.get());
        let (mut gone, mut stays) = (new_qp(opened.get()), new_qp(opened.get()));
        let addresses = [&mut gone, &mut stays].map(|qp| (&raw mut **qp).expose_provenance());
        for address in [addresses[0], addresses[1], addresses[0]] {
            send(&peer, number, IBV_EVENT_SQ_DRAINED, address as u64);
        }
        let mut event = ibv_async_event::zeroed();
        // SAFETY: live objects.
        unsafe {
            retire_qp(&mut *gone);
            assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
            assert_eq!(event.element.qp.addr(), addresses[1]);
            ibv_ack_async_event(&mut event);
            let file = event_file::open_own(Context::of(opened.get()).host(), number).unwrap();
            assert_eq!(waiting::<ib_uverbs_async_event_desc>(&file), 0);
        }
    }

    #[test]
    fn completion_events_name_their_cq() {
        let opened = Opened::new();
        let (peer, _) = peer(opened.get());
        // SAFETY: live objects.
        unsafe {
            let channel = ibv_create_comp_channel(opened.get());
            let number = channel_number(channel);
            assert!(!channel.is_null() && number != 0);
            let mut cq = Box::new(ibv_cq { context: opened.get(), channel, ..ibv_cq::zeroed() });
            libc::pthread_mutex_init(&mut cq.mutex, core::ptr::null());
            libc::pthread_cond_init(&mut cq.cond, core::ptr::null());
            let address = (&raw mut *cq).expose_provenance();
            enter(opened.get(), address, Kind::Cq);
            send_completion(&peer, number, address as u64);
            send_completion(&peer, number, address as u64);
            let (mut got, mut cq_context) = (core::ptr::null_mut(), core::ptr::null_mut());
            assert_eq!(ibv_get_cq_event(channel, &mut got, &mut cq_context), 0);
            assert_eq!(got.addr(), address);
            ibv_ack_cq_events(got, 1);
            retire_cq(&mut *cq);
            let file = event_file::open_own(Context::of(opened.get()).host(), number).unwrap();
            assert_eq!(waiting::<ib_uverbs_comp_event_desc>(&file), 0);
            close_channel(channel);
            assert!(event_file::open_own(Context::of(opened.get()).host(), number).is_err());
            libc::close((*channel).fd);
            libc::free(channel.cast());
            assert_eq!(channel_number(core::ptr::null_mut()), 0);
        }
    }

    #[test]
    fn events_of_what_there_is_not_are_dropped() {
        let opened = Opened::new();
        let (peer, number) = peer(opened.get());
        let mut qp = new_qp(opened.get());
        let address = (&raw mut *qp).expose_provenance() as u64;
        for (event, element) in [
            (IBV_EVENT_QP_FATAL, 4096),
            (IBV_EVENT_QP_FATAL, address + 8),
            // An object, but of another kind.
            (IBV_EVENT_CQ_ERR, address),
            (IBV_EVENT_SRQ_LIMIT_REACHED, address),
            (IBV_EVENT_WQ_FATAL, address),
            (IBV_EVENT_PORT_ERR, 0),
            (IBV_EVENT_PORT_ERR, 2),
            (IBV_EVENT_PATH_MIG, 1),
            (ibv_event_type::MAX, 1),
            (IBV_EVENT_QP_FATAL, address),
        ] {
            send(&peer, number, event, element);
        }
        let mut event = ibv_async_event::zeroed();
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
            let found = (event.event_type, event.element.qp.addr() as u64);
            assert_eq!(found, (IBV_EVENT_QP_FATAL, address));
            ibv_ack_async_event(&mut event);
            retire_qp(&mut *qp);
            send(&peer, number, IBV_EVENT_QP_FATAL, address);
            send(&peer, number, IBV_EVENT_PORT_ACTIVE, 1);
            assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
            assert_eq!(event.event_type, IBV_EVENT_PORT_ACTIVE);

            let channel = ibv_create_comp_channel(opened.get());
            libc::fcntl((*channel).fd, libc::F_SETFL, libc::O_NONBLOCK);
            for element in [0, 4096, address] {
                send_completion(&peer, channel_number(channel), element);
            }
            let (mut got, mut cq_context) = (core::ptr::null_mut(), core::ptr::null_mut());
            assert_eq!(ibv_get_cq_event(channel, &mut got, &mut cq_context), -1);
            assert_eq!(Errno::last(), Errno(libc::EAGAIN));
            close_channel(channel);
            libc::close((*channel).fd);
            libc::free(channel.cast());
        }
    }
}
