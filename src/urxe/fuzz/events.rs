//! Events: what any process may write into the files of a context and of a channel, and what the
//! kernel says about interfaces.

use core::ptr;
use std::os::fd::{AsRawFd, OwnedFd};

use super::input::Input;
use crate::abi::*;
use crate::sys::mutex::Mutex;
use crate::uapi::*;
use crate::urxe::completion::{create_cq, destroy_cq};
use crate::urxe::device::{Context, Opened, changes_read_away, events};
use crate::urxe::host::event_file;
use crate::verbs::comp_channel::{ibv_create_comp_channel, ibv_destroy_comp_channel};
use crate::verbs::event::read_event;

/// The context that all lives share.
static OPENED: Mutex<Option<Shared>> = Mutex::new(None);

struct Shared(Opened);

// SAFETY: used by one thread at a time.
unsafe impl Send for Shared {}

/// Bytes that a FIFO has at most; more would block nobody, as ends do not block, but say nothing new.
const MOST: usize = 4096;

pub(super) fn run(input: &mut Input<'_>) {
    let mut opened = OPENED.lock();
    let opened = &opened.get_or_insert_with(|| Shared(Opened::new())).0;
    match input.byte() % 3 {
        0 => asynchronous(opened, input),
        1 => completions(opened, input),
        _ => interfaces(input),
    }
}

fn write(file: &OwnedFd, bytes: &[u8]) {
    // SAFETY: the bytes are valid for their length.
    unsafe { libc::write(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
}

/// The number of bytes that wait in a FIFO.
fn waiting(file: &OwnedFd) -> usize {
    let mut count = 0;
    // SAFETY: room for a number.
    assert_eq!(unsafe { libc::ioctl(file.as_raw_fd(), libc::FIONREAD, &raw mut count) }, 0);
    count as usize
}

/// Bytes in the file of a context: whole events are read as they are, the rest ends in an error. An
/// object that goes away takes its own along and no others.
fn asynchronous(opened: &Opened, input: &mut Input<'_>) {
    // SAFETY: a live context.
    let context = unsafe { Context::of(opened.get()) };
    let (host, number) = (context.host(), context.events().number());
    let file = event_file::open_own(host, number).expect("the file is there");
    // SAFETY: a live context.
    let cq = unsafe { create_cq(opened.get(), 1, ptr::null_mut(), 0) };
    assert!(!cq.is_null());
    let mut own = 0;
    let mut whole = 0;
    for _ in 0..input.below(8) {
        if input.byte() > 100 {
            let event_type = if input.flag() { IBV_EVENT_CQ_ERR } else { input.number() as u32 };
            let is_own = input.flag();
            let element = if is_own { cq.expose_provenance() as u64 } else { input.number() };
            own += usize::from(event_type == IBV_EVENT_CQ_ERR && is_own);
            whole += 1;
            events::send(host.own(), number, event_type, element);
        }
    }
    // SAFETY: a live CQ, for the last time.
    assert_eq!(unsafe { destroy_cq(cq) }, 0);
    let size = size_of::<ib_uverbs_async_event_desc>();
    // An event may be of the object by chance of the number alone.
    assert!(waiting(&file) <= (whole - own) * size, "{own} of {whole} are the object's");
    write(&file, input.bytes(MOST));
    let left = waiting(&file);
    assert!(opened.events().len() <= left / size);
    drain(&file);
}

fn drain(file: &OwnedFd) {
    let mut room = [0_u8; MOST];
    // SAFETY: there is room for so many bytes.
    while unsafe { libc::read(file.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) } > 0 {}
}

/// Bytes in the file of a channel with a CQ on it.
fn completions(opened: &Opened, input: &mut Input<'_>) {
    // SAFETY: a live context, and what is made of it, freed in the end.
    unsafe {
        let channel = ibv_create_comp_channel(opened.get());
        assert!(!channel.is_null());
        let cq = create_cq(opened.get(), 1, channel, 0);
        assert!(!cq.is_null());
        let number = events::channel_number(channel);
        let host = Context::of(opened.get()).host();
        let file = event_file::open_own(host, number).expect("the file is there");
        let length = input_length(input);
        write(&file, input.bytes(length));
        for _ in 0..input.below(4) {
            events::send_completion(host.own(), number, cq.expose_provenance() as u64);
        }
        let size = size_of::<ib_uverbs_comp_event_desc>();
        let before = waiting(&file);
        for _ in 0..input.below(4).min(before / size) {
            let event = read_event::<ib_uverbs_comp_event_desc>((*channel).fd);
            assert!(event.is_ok(), "a whole event is there");
        }
        // Events that were read are counted when the library reads them for the program, so none is
        // to be acknowledged.
        assert_eq!(destroy_cq(cq), 0);
        assert!(waiting(&file) <= before);
        assert_eq!(ibv_destroy_comp_channel(channel), 0);
    }
}

fn input_length(input: &mut Input<'_>) -> usize {
    usize::from(input.byte())
}

/// Datagrams in the place of those of rtnetlink(7): all are read, and there is an end.
fn interfaces(input: &mut Input<'_>) {
    let mut ends = [0; 2];
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }, 0);
    // SAFETY: the descriptors are new.
    let [near, far] = ends.map(|fd| unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) });
    let (near, far): (OwnedFd, OwnedFd) = (near, far);
    let mut any = false;
    while !input.is_empty() {
        let length = input_length(input);
        // SAFETY: the bytes are valid for their length.
        let bytes = input.bytes(length);
        // SAFETY: as above.
        let sent = unsafe { libc::send(near.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        any |= sent >= 0;
    }
    assert_eq!(changes_read_away(&far), any);
    assert!(!changes_read_away(&far));
}
