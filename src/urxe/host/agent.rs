//! Threads that work while the program does not call.
//!
//! The *server* does for peers what they cannot do themselves: change a word of this process so that
//! it is atomic for its own threads too, and move bytes where the system forbids peers to do so. A
//! peer puts the job into a [`Mailbox`] of this process, rings the doorbell and waits. The server
//! waits for nobody, so no circle of processes can wait for each other.
//!
//! The *pusher* tries again what this process has left in its send queues, for programs that sleep
//! until it is done.
//!
//! Both sleep on the futex [`doorbell`](crate::urxe::shared::Header::doorbell) and use no processor time when there is nothing to
//! do.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::thread;
use core::time::Duration;

use libc::iovec;

use super::copy::{Cursor, Direction, Window, copy, copy_process, is_readable};
use super::mailbox::{self, Mailbox, PIECES};
use super::{Host, Memory, Peer, access, now};
use crate::sys::errno::{Errno, Result};
use crate::sys::mutex::Mutex;
use crate::urxe::shared::{Guard, Header, PATIENCE};

/// [`agent`](crate::urxe::shared::Header::agent): there is a server.
const SERVES: u32 = 1;

/// Mailboxes of a process.
const MAILBOXES: usize = 8;
/// Bytes that a job can move.
const BUFFER: usize = 64 << 10;

const COMPARE_SWAP: u32 = 1;
const FETCH_ADD: u32 = 2;
const STORE: u32 = 3;
/// From the buffer to the pieces.
const WRITE: u32 = 4;
/// From the pieces to the buffer.
const READ: u32 = 5;

/// What to do with a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    CompareSwap { compare: u64, swap: u64 },
    FetchAdd { add: u64 },
    Store { value: u64 },
}

impl Word {
    /// Does it; what the word was before, 0 for a store.
    ///
    /// # Safety
    ///
    /// `word` must be aligned and mapped in this process, to be read and written.
    pub(crate) unsafe fn apply(self, word: *mut u64) -> u64 {
        // SAFETY: the caller's promise. What the program does to it besides is its own affair.
        let word = unsafe { AtomicU64::from_ptr(word) };
        match self {
            Word::CompareSwap { compare, swap } => {
                word.compare_exchange(compare, swap, SeqCst, SeqCst).unwrap_or_else(|now| now)
            }
            Word::FetchAdd { add } => word.fetch_add(add, SeqCst),
            Word::Store { value } => {
                word.store(value, SeqCst);
                0
            }
        }
    }

    fn encode(self) -> (u32, [u64; 2]) {
        match self {
            Word::CompareSwap { compare, swap } => (COMPARE_SWAP, [compare, swap]),
            Word::FetchAdd { add } => (FETCH_ADD, [add, 0]),
            Word::Store { value } => (STORE, [value, 0]),
        }
    }

    fn decode(job: u32, [first, second]: [u64; 2]) -> Option<Word> {
        match job {
            COMPARE_SWAP => Some(Word::CompareSwap { compare: first, swap: second }),
            FETCH_ADD => Some(Word::FetchAdd { add: first }),
            STORE => Some(Word::Store { value: first }),
            _ => None,
        }
    }
}

/// Threads of a host.
#[derive(Default)]
pub(super) struct Threads {
    serves: bool,
    pushes: bool,
    /// When the pusher is wanted next; 0: not.
    until: u64,
}

impl Threads {
    pub(super) fn new() -> Mutex<Threads> {
        Mutex::new(Threads::default())
    }
}

/// Starts the server of this process, if there is none: when peers may want atomics on ordinary
/// memory, or cannot reach memory themselves. ENOMEM; EAGAIN without room for a thread.
pub(crate) fn serve(host: &'static Host) -> Result<()> {
    let mut threads = host.threads.lock();
    if threads.serves {
        return Ok(());
    }
    let header = host.header()?;
    if header.mailboxes.load(Relaxed) == 0 {
        header.mailboxes.store(make_mailboxes(host)?, Release);
    }
    start("urxe-server", Box::new(move || server(host)))?;
    threads.serves = true;
    Ok(())
}

/// Notes that this process cannot reach the memory of a peer, which believes that it can: the peer
/// starts its server when it calls next, see [`serve_if_asked`].
pub(crate) fn ask_for_server(peer: &Peer) {
    if let Some(header) = peer.header() {
        let _ = header.access.compare_exchange(access::FREE, access::SOME, Relaxed, Relaxed);
    }
}

/// Starts the server of this process if a peer cannot do without it.
#[inline]
pub(crate) fn serve_if_asked(host: &'static Host) {
    let is_missing = |header: &Header| {
        header.access.load(Relaxed) != access::FREE && header.mailboxes.load(Relaxed) == 0
    };
    if host.header().is_ok_and(is_missing) {
        // Without a thread now, the next call tries again.
        let _ = serve(host);
    }
}

/// The mailboxes, and their buffers behind them.
fn make_mailboxes(host: &Host) -> Result<u64> {
    let length = (MAILBOXES * size_of::<Mailbox>()).next_multiple_of(64);
    let offset = host.alloc((length + MAILBOXES * BUFFER) as u64, 64)?;
    let boxes: &[Mailbox] = host.memory().slice(offset, MAILBOXES).ok_or(Errno::EIO)?;
    for (mailbox, buffer) in boxes.iter().zip((offset + length as u64..).step_by(BUFFER)) {
        mailbox.buffer.store(buffer, Relaxed);
    }
    Ok(offset)
}

/// Wants `push` to be called at a time (CLOCK_MONOTONIC, nanoseconds) or when the doorbell rings,
/// by a thread, again and again until it has nothing left to do; it returns when it wants to be
/// called next. All callers pass the same function. EAGAIN without room for a thread.
pub(crate) fn push_at(
    host: &'static Host,
    until: u64,
    push: fn(now: u64) -> Option<u64>,
) -> Result<()> {
    let mut threads = host.threads.lock();
    let sooner = threads.until == 0 || until < threads.until;
    if sooner {
        threads.until = until.max(1);
    }
    if threads.pushes {
        drop(threads);
        if sooner {
            ring(host.own());
        }
        return Ok(());
    }
    start("urxe-pusher", Box::new(move || pusher(host, push)))?;
    threads.pushes = true;
    Ok(())
}

/// Wakes the threads of a process that sleep.
pub(crate) fn ring(peer: &Peer) {
    if let Some(header) = peer.header() {
        mailbox::ring(header);
    }
}

/// Rings the doorbell of the process that has a slot, if it is there.
pub(crate) fn ring_slot(host: &Host, slot: u32) {
    if let Ok(peer) = host.peer(slot) {
        ring(&peer);
    }
}

/// Starts a thread that gets no signals of the program. EAGAIN without room for one.
#[inline(never)]
pub(crate) fn start(name: &str, body: Box<dyn FnOnce() + Send>) -> Result<()> {
    // SAFETY: plain data.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
        unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    // SAFETY: two sets of ours.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
    }
    let started = std::thread::Builder::new().name(name.into()).stack_size(256 << 10).spawn(body);
    // SAFETY: the set from before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut()) };
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err(Errno(error.raw_os_error().unwrap_or(libc::EAGAIN))),
    }
}

/// How long the server looks for more jobs before it sleeps, in nanoseconds.
const LINGER: u64 = 20_000;

fn server(host: &'static Host) {
    let Ok(header) = host.header() else { return };
    let offset = header.mailboxes.load(Relaxed);
    let Some(boxes) = host.memory().slice::<Mailbox>(offset, MAILBOXES) else { return };
    header.agent.fetch_or(SERVES, SeqCst);
    let mut last = 0;
    loop {
        let bell = header.doorbell.load(SeqCst);
        if serve_all(host, boxes) {
            last = now();
        } else if now().wrapping_sub(last) < LINGER {
            thread::yield_now();
        } else {
            mailbox::wait_for_job(header, bell, boxes);
        }
    }
}

/// Does all jobs that are posted; false if there were none.
fn serve_all(host: &Host, boxes: &[Mailbox]) -> bool {
    let mut any = false;
    for mailbox in boxes {
        if mailbox.take() {
            any = true;
            mailbox.finish(do_job(host.memory(), mailbox));
        }
    }
    any
}

fn do_job(memory: &Memory, mailbox: &Mailbox) -> Result<u64> {
    let count = mailbox.count.load(Relaxed) as usize;
    let mut list = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; PIECES];
    let pieces = mailbox.pieces.get(..count).ok_or(Errno::EINVAL)?;
    for (to, [address, length]) in list.iter_mut().zip(pieces) {
        to.iov_base = core::ptr::with_exposed_provenance_mut(address.load(Relaxed) as usize);
        to.iov_len = length.load(Relaxed) as usize;
    }
    let list = &list[..count];
    let job = mailbox.job.load(Relaxed);
    let operands = [mailbox.operands[0].load(Relaxed), mailbox.operands[1].load(Relaxed)];
    if let Some(word) = Word::decode(job, operands) {
        let piece = list.first().ok_or(Errno::EINVAL)?;
        let address = piece.iov_base.cast::<u64>();
        if !address.is_aligned() || piece.iov_len != size_of::<u64>() {
            return Err(Errno::EINVAL);
        }
        if !is_readable(piece) {
            return Err(Errno::EFAULT);
        }
        // SAFETY: aligned and mapped; the peer has found it in a region for atomics.
        return Ok(unsafe { word.apply(address) });
    }
    let direction = match job {
        WRITE => Direction::Write,
        READ => Direction::Read,
        _ => return Err(Errno::EINVAL),
    };
    let buffer = memory.bytes(mailbox.buffer.load(Relaxed), BUFFER as u64).ok_or(Errno::EINVAL)?;
    let buffer = [iovec { iov_base: buffer.cast(), iov_len: BUFFER }];
    // SAFETY: the peer has found the pieces in regions for that; if they are gone, the kernel
    // notices, where it lets a process copy at all.
    unsafe {
        if access::is_possible() {
            copy_process(libc::getpid(), direction, &buffer, list)?;
        } else if direction == Direction::Write {
            copy(&buffer, list)?;
        } else {
            copy(list, &buffer)?;
        }
    }
    Ok(0)
}

/// How long the pusher stays without work, and how short it sleeps, in nanoseconds.
const IDLE: u64 = 1_000_000_000;
const NAP: u64 = 100_000;

fn pusher(host: &'static Host, push: fn(now: u64) -> Option<u64>) {
    let Ok(header) = host.header() else { return };
    loop {
        let bell = header.doorbell.load(SeqCst);
        let begin = now();
        // Who wants something from here on is heard.
        host.threads.lock().until = 0;
        let next = push(begin);
        let until = {
            let mut threads = host.threads.lock();
            let wanted = [next.unwrap_or(0), threads.until];
            threads.until = wanted.into_iter().filter(|&until| until != 0).min().unwrap_or(0);
            threads.until
        };
        let time = match until {
            0 => IDLE,
            until => until.saturating_sub(now()).clamp(NAP, IDLE),
        };
        let rung = mailbox::wait_for_bell(header, bell, Duration::from_nanos(time));
        if until == 0 && !rung {
            let mut threads = host.threads.lock();
            if threads.until == 0 {
                threads.pushes = false;
                return;
            }
        }
    }
}

/// A mailbox of a process, for the caller alone.
struct Claimed<'a> {
    mailbox: &'a Mailbox,
    peer: &'a Peer,
    _guard: Guard<'a>,
}

/// A mailbox of a process, for which the caller waits `patience` nanoseconds.
///
/// # Errors
///
/// EPERM if the process has no server; ETIMEDOUT if all mailboxes stay in use; ESRCH.
fn claim<'a>(host: &Host, peer: &'a Peer, patience: u64) -> Result<Claimed<'a>> {
    let offset = peer.header().map_or(0, |header| header.mailboxes.load(Acquire));
    if offset == 0 {
        return Err(Errno::EPERM);
    }
    let boxes: &[Mailbox] = peer.memory().slice(offset, MAILBOXES).ok_or(Errno::EPERM)?;
    for mailbox in boxes {
        // One whose last job was given up by who asked is left alone until that is done.
        if let Some(guard) = mailbox.lock.try_lock(host.holder())
            && mailbox.withdraw()
        {
            return Ok(Claimed { mailbox, peer, _guard: guard });
        }
    }
    let mailbox = boxes.get(host.slot() as usize % MAILBOXES).ok_or(Errno::EPERM)?;
    wait_for(host, peer, mailbox, patience)
}

/// A mailbox that somebody else has, as soon as he is done with it, or dead.
fn wait_for<'a>(
    host: &Host,
    peer: &'a Peer,
    mailbox: &'a Mailbox,
    patience: u64,
) -> Result<Claimed<'a>> {
    let locked = host.lock(&mailbox.lock, patience);
    let (guard, _) = locked.map_err(|_| Errno::ETIMEDOUT)?;
    let claimed = Claimed { mailbox, peer, _guard: guard };
    // The server may still be at the job of one that died, or gave it up.
    if !mailbox.withdraw()
        && let Err(errno) = claimed.answer(patience)
        && !mailbox.withdraw()
    {
        return Err(if errno == Errno::EIO { Errno::ETIMEDOUT } else { errno });
    }
    Ok(claimed)
}

impl Claimed<'_> {
    /// Has a job done; the result. See [`Mailbox::answer`].
    fn ask(&self, job: u32, operands: [u64; 2], pieces: &[iovec], patience: u64) -> Result<u64> {
        let mailbox = self.mailbox;
        mailbox.job.store(job, Relaxed);
        for (to, operand) in mailbox.operands.iter().zip(operands) {
            to.store(operand, Relaxed);
        }
        for ([address, length], piece) in mailbox.pieces.iter().zip(pieces) {
            address.store(piece.iov_base.addr() as u64, Relaxed);
            length.store(piece.iov_len as u64, Relaxed);
        }
        mailbox.count.store(pieces.len() as u32, Relaxed);
        mailbox.post();
        ring(self.peer);
        self.answer(patience)
    }

    fn answer(&self, patience: u64) -> Result<u64> {
        self.mailbox.answer(patience, || self.peer.is_alive_now())
    }
}

/// Has a word in the memory of another process changed by its server, for which the caller waits
/// `patience` nanoseconds; what the word was before.
///
/// # Errors
///
/// EFAULT if it is not mapped there; EPERM if there is no server; ESRCH; ETIMEDOUT if the server has
/// not begun: nothing has happened; EIO if it may still do it at any time.
pub(crate) fn on_word(
    host: &Host,
    peer: &Peer,
    address: u64,
    word: Word,
    patience: u64,
) -> Result<u64> {
    let piece = |address: *mut core::ffi::c_void| iovec { iov_base: address, iov_len: 8 };
    let far = piece(core::ptr::without_provenance_mut(address as usize));
    match (claim(host, peer, patience), word) {
        (Ok(claimed), _) => {
            let (job, operands) = word.encode();
            claimed.ask(job, operands, &[far], patience)
        }
        // One aligned word is stored by the kernel in one piece, too.
        (Err(Errno::EPERM), Word::Store { mut value }) => {
            let near = piece((&raw mut value).cast());
            // SAFETY: the caller has found it in a region that may be written.
            unsafe { peer.write(&[near], &[far]) }.map(|()| 0)
        }
        (Err(errno), _) => Err(errno),
    }
}

/// Moves bytes between this process and another by the server of that one, as
/// [`copy_process`] does. The server has `patience` nanoseconds to begin; what has begun is not begun
/// anew.
///
/// # Errors
///
/// EFAULT; as for [`on_word`].
///
/// # Safety
///
/// As for [`copy_process`].
pub(crate) unsafe fn copy_by_server(
    host: &Host,
    peer: &Peer,
    direction: Direction,
    near: &[iovec],
    far: &[iovec],
    mut patience: u64,
) -> Result<()> {
    let claimed = claim(host, peer, patience).inspect_err(|errno| {
        if *errno == Errno::EPERM {
            ask_for_server(peer);
        }
    })?;
    let place = claimed.mailbox.buffer.load(Relaxed);
    let buffer = peer.memory().bytes(place, BUFFER as u64).ok_or(Errno::EPERM)?;
    let (mut near, mut far) = (Cursor::new(near), Cursor::new(far));
    loop {
        let mut pieces = Window::<PIECES>::new();
        let bytes = far.fill(&mut pieces, BUFFER);
        if bytes == 0 {
            return Ok(());
        }
        let whole = [iovec { iov_base: buffer.cast(), iov_len: bytes }];
        if direction == Direction::Write {
            // SAFETY: the caller's promise; the buffer is mapped.
            unsafe { near.copy_out(&whole)? };
            claimed.ask(WRITE, [0; 2], pieces.list(), patience)?;
        } else {
            claimed.ask(READ, [0; 2], pieces.list(), patience)?;
            // SAFETY: as above.
            unsafe { near.copy_in(&whole)? };
        }
        patience = PATIENCE;
    }
}

#[cfg(test)]
mod tests;
