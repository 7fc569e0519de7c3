//! Locks of objects that mostly one thread uses: send queues, receive queues, polling.
//!
//! The thread that comes first has the lock without an exchange: it marks itself, and looks whether
//! the right of the first has been withdrawn. Another thread withdraws it for good, makes all threads
//! pass a fence (membarrier(2)), and waits for the mark. From then on the lock is a word that is
//! exchanged for each use; so it is from the beginning where the system has no such barrier.

use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::time::Duration;

use crate::sync::{hint, light_fence, looks, thread};
use crate::sys::valgrind;
use crate::urxe::host::{self, Host};

/// A lock that one call can take and another give back, as `ibv_wr_start` and `ibv_wr_complete` do.
///
/// Tools that look for races in running programs see none in that. With them it is a mutex of the C
/// library, which they know.
pub(crate) struct Gate {
    /// The thread that came first, see [`thread::id`]; 0 for none.
    first: AtomicU64,
    /// 1 while that thread has the lock by right of being the first.
    busy: AtomicU32,
    /// Whether it may have it so: [`GRANTED`], [`WITHDRAWN`] or [`SHARED`].
    right: AtomicU32,
    /// 1 while a thread has the lock otherwise.
    word: AtomicU32,
    kind: Kind,
    mutex: UnsafeCell<libc::pthread_mutex_t>,
}

/// How a lock is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// By the first thread without an exchange.
    Biased,
    /// By all threads alike.
    Fair,
    /// As a mutex.
    Watched,
    /// The program has promised that there is no need to.
    Open,
}

/// [`Gate::right`]: nobody else has come yet.
const GRANTED: u32 = 0;
/// Another thread has come; the first may still have the lock.
const WITHDRAWN: u32 = 1;
/// There is no first, or it has the lock like all others.
const SHARED: u32 = 2;

// SAFETY: a mutex is made for that, and the rest is atomics.
unsafe impl Sync for Gate {}
// SAFETY: nobody holds it while it moves: it moves only before its object exists.
unsafe impl Send for Gate {}

/// Looks at the lock before the thread gives way to others.
const SPINS: u32 = looks(200);
/// Times the thread gives way before it sleeps between looks.
const YIELDS: u32 = looks(200);

impl Gate {
    /// The lock of an object of this process.
    pub(crate) fn new(host: &Host) -> Gate {
        let can = host.header().is_ok_and(|header| header.barriers.load(Ordering::Relaxed) != 0);
        Gate::of_kind(match can {
            _ if valgrind::looks_for_races() => Kind::Watched,
            true => Kind::Biased,
            false => Kind::Fair,
        })
    }

    /// No lock: the program calls from one thread at a time.
    pub(crate) fn open_to_all() -> Gate {
        Gate::of_kind(Kind::Open)
    }

    fn of_kind(kind: Kind) -> Gate {
        Gate {
            first: AtomicU64::new(0),
            busy: AtomicU32::new(0),
            right: AtomicU32::new(if kind == Kind::Biased { GRANTED } else { SHARED }),
            word: AtomicU32::new(0),
            kind,
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
        }
    }

    /// Waits for the lock. A thread that has it waits for ever.
    #[inline(always)]
    pub(crate) fn lock(&self) {
        if !self.lock_as_first() {
            self.wait();
        }
    }

    /// As [`lock`](Self::lock), for what happens seldom.
    #[cold]
    #[inline(never)]
    pub(crate) fn lock_seldom(&self) {
        self.lock();
    }

    /// Takes the lock if nobody has it.
    #[inline(never)]
    pub(crate) fn try_lock(&self) -> bool {
        self.lock_as_first()
            || match self.kind {
                Kind::Open => true,
                // SAFETY: an initialized mutex.
                Kind::Watched => unsafe { libc::pthread_mutex_trylock(self.mutex.get()) == 0 },
                Kind::Biased | Kind::Fair => {
                    !self.has_as_first() && self.try_word() && self.try_settle()
                }
            }
    }

    /// Gives the lock back; by the thread that has it, or another on its behalf.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        // As long as the right is not shared nobody but the first can have the lock.
        if matches!(self.right.load(Ordering::Relaxed), GRANTED | WITHDRAWN) {
            self.busy.store(0, Ordering::Release);
        } else {
            self.unlock_word();
        }
    }

    /// Whether this thread has the lock by right of being the first.
    #[inline(always)]
    fn has_as_first(&self) -> bool {
        self.first.load(Ordering::Relaxed) == thread::id() && self.busy.load(Ordering::Relaxed) != 0
    }

    /// Takes the lock if this thread is the first, nobody else has come, and it has not got it.
    #[inline(always)]
    fn lock_as_first(&self) -> bool {
        // Another thread may have given it back on behalf of this one.
        if self.first.load(Ordering::Relaxed) != thread::id()
            || self.busy.load(Ordering::Acquire) != 0
        {
            return false;
        }
        self.busy.store(1, Ordering::Relaxed);
        light_fence();
        if self.right.load(Ordering::Relaxed) == GRANTED {
            return true;
        }
        self.busy.store(0, Ordering::Release);
        false
    }

    fn try_word(&self) -> bool {
        self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        match self.kind {
            Kind::Open => return,
            // SAFETY: an initialized mutex.
            Kind::Watched => return unsafe { _ = libc::pthread_mutex_lock(self.mutex.get()) },
            Kind::Biased | Kind::Fair => {}
        }
        let mut pause = Pause::default();
        while !self.try_word() {
            pause.next();
        }
        while !self.settle() {
            pause.next();
        }
    }

    /// With the word, makes sure that no thread has the lock as the first: this one becomes that,
    /// and gives the word back, or the right is withdrawn. False if the first is still about it.
    fn settle(&self) -> bool {
        if self.right.load(Ordering::Relaxed) == SHARED {
            return true;
        }
        if self.first.load(Ordering::Relaxed) == 0 {
            self.busy.store(1, Ordering::Relaxed);
            self.first.store(thread::id(), Ordering::Relaxed);
            self.word.store(0, Ordering::Release);
            return true;
        }
        if self.right.load(Ordering::Relaxed) == GRANTED {
            self.right.store(WITHDRAWN, Ordering::Relaxed);
            host::own_barrier();
        }
        if self.busy.load(Ordering::Acquire) != 0 {
            return false;
        }
        self.right.store(SHARED, Ordering::Relaxed);
        true
    }

    fn try_settle(&self) -> bool {
        let is_settled = self.settle();
        if !is_settled {
            self.word.store(0, Ordering::Release);
        }
        is_settled
    }

    #[inline(never)]
    fn unlock_word(&self) {
        match self.kind {
            Kind::Open => {}
            // SAFETY: an initialized mutex, which the thread has.
            Kind::Watched => unsafe { _ = libc::pthread_mutex_unlock(self.mutex.get()) },
            Kind::Biased | Kind::Fair => self.word.store(0, Ordering::Release),
        }
    }
}

/// How to wait for another thread: less and less eagerly.
#[derive(Default)]
struct Pause(u32);

impl Pause {
    fn next(&mut self) {
        self.0 = self.0.saturating_add(1);
        if self.0 < SPINS {
            hint::spin_loop();
        } else if self.0 < SPINS + YIELDS {
            thread::yield_now();
        } else {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

/// A value that one thread at a time can reach.
pub(crate) struct Gated<T> {
    gate: Gate,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only by the thread that has the lock.
unsafe impl<T: Send> Sync for Gated<T> {}

/// The right to reach the value; given back when dropped, by the thread that got it.
pub(crate) struct Inside<'a, T> {
    gated: &'a Gated<T>,
    not_send: core::marker::PhantomData<*const ()>,
}

impl<T> Gated<T> {
    pub(crate) fn new(host: &Host, value: T) -> Gated<T> {
        Gated { gate: Gate::new(host), value: UnsafeCell::new(value) }
    }

    /// Waits for the lock. A thread that has it waits for ever.
    #[inline]
    pub(crate) fn lock(&self) -> Inside<'_, T> {
        self.gate.lock();
        Inside { gated: self, not_send: core::marker::PhantomData }
    }

    /// As [`lock`](Self::lock), for what happens seldom.
    pub(crate) fn lock_seldom(&self) -> Inside<'_, T> {
        self.gate.lock_seldom();
        Inside { gated: self, not_send: core::marker::PhantomData }
    }
}

impl<T> Deref for Inside<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.gated.value.get() }
    }
}

impl<T> DerefMut for Inside<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock, and there is one guard of it.
        unsafe { &mut *self.gated.value.get() }
    }
}

impl<T> Drop for Inside<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.gated.gate.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::rounds;
    use crate::sys::errno::from_minus_one;
    use crate::sys::tests::keep;
    use crate::urxe::host::testing::{Child, Scratch};

    fn count_in_threads(gate: &Gate, threads: u32, turns: u32) -> u32 {
        let count = AtomicU32::new(0);
        let work = || {
            for _ in 0..turns {
                gate.lock();
                let value = count.load(Ordering::Relaxed);
                core::hint::spin_loop();
                count.store(value + 1, Ordering::Relaxed);
                gate.unlock();
            }
        };
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| _ = scope.spawn(work));
            work();
        });
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn one_thread_at_a_time() {
        // Registers the process for barriers.
        let _scratch = Scratch::new().host();
        for kind in [Kind::Biased, Kind::Fair, Kind::Watched] {
            // To drd, what has been a mutex is nothing else later on.
            let gate = keep(Gate::of_kind(kind));
            let turns = rounds(2000) as u32;
            assert_eq!(count_in_threads(gate, 4, turns), 4 * turns, "{kind:?}");
            assert!(gate.try_lock() && !gate.try_lock(), "{kind:?}");
            gate.unlock();
        }
    }

    #[test]
    fn the_right_of_the_first_is_withdrawn_many_times() {
        let _scratch = Scratch::new().host();
        for _ in 0..rounds(200) {
            let gate = Gate::of_kind(Kind::Biased);
            assert_eq!(count_in_threads(&gate, 1, 3), 3);
            assert_eq!(
                (gate.right.load(Ordering::Relaxed), count_in_threads(&gate, 2, 50)),
                (0, 100)
            );
            assert_eq!(gate.right.load(Ordering::Relaxed), SHARED);
        }
    }

    #[test]
    fn the_first_thread_exchanges_nothing_and_has_it_once() {
        let _scratch = Scratch::new().host();
        let gate = Gate::of_kind(Kind::Biased);
        gate.lock();
        assert!(!gate.try_lock());
        gate.unlock();
        for _ in 0..3 {
            assert!(gate.try_lock() && !gate.try_lock());
            assert_eq!(
                (gate.word.load(Ordering::Relaxed), gate.busy.load(Ordering::Relaxed)),
                (0, 1)
            );
            gate.unlock();
        }
        // Who only tries does not wait for the first, who goes on like all others then.
        gate.lock();
        std::thread::scope(|scope| assert!(!scope.spawn(|| gate.try_lock()).join().unwrap()));
        gate.unlock();
        std::thread::scope(|scope| {
            assert!(scope.spawn(|| gate.try_lock()).join().unwrap());
            assert!(!gate.try_lock());
            gate.unlock_word();
            assert!(gate.try_lock() && !gate.try_lock());
        });
        assert_eq!((gate.word.load(Ordering::Relaxed), gate.busy.load(Ordering::Relaxed)), (1, 0));
    }

    #[test]
    fn another_thread_may_give_it_back() {
        let _scratch = Scratch::new().host();
        for kind in [Kind::Biased, Kind::Fair] {
            let gate = Gate::of_kind(kind);
            for _ in 0..3 {
                gate.lock();
                std::thread::scope(|scope| {
                    scope.spawn(|| gate.unlock());
                });
                assert!(gate.try_lock(), "{kind:?}");
                gate.unlock();
            }
        }
    }

    /// Another thread comes while the first is about it, to `gates` locks one after the other.
    fn race_for(gates: usize) {
        const TURNS: u32 = 20;
        let gates: Vec<_> =
            (0..gates).map(|_| (Gate::of_kind(Kind::Biased), AtomicU32::new(0))).collect();
        // Waiting in loops would take minutes under valgrind, where one thread runs at a time.
        let both = std::sync::Barrier::new(2);
        let turn = |(gate, count): &(Gate, AtomicU32)| {
            gate.lock();
            let value = count.load(Ordering::Relaxed);
            count.store(value + 1, Ordering::Relaxed);
            gate.unlock();
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for gate in &gates {
                    both.wait();
                    turn(gate);
                    both.wait();
                }
            });
            for gate in &gates {
                turn(gate);
                both.wait();
                (1..TURNS).for_each(|_| turn(gate));
                both.wait();
                assert_eq!(gate.1.load(Ordering::Relaxed), TURNS + 1);
            }
        });
    }

    #[test]
    fn the_right_is_withdrawn_while_the_first_is_about_it() {
        let _scratch = Scratch::new().host();
        race_for(rounds(2000) as usize);
    }

    #[test]
    fn a_forked_child_makes_barriers_of_its_own() {
        let scratch = Scratch::new();
        let (gate, host) = (Gate::new(scratch.host()), scratch.host());
        gate.lock();
        let mut child = Child::start(|| {
            // Another host, as that of a child is.
            assert_eq!(count_in_threads(&Gate::new(host), 3, 50), 150);
            race_for(20);
            // The thread that forked is the same in the child, and has what it had.
            gate.unlock();
            assert_eq!(count_in_threads(&gate, 3, 50), 150);
        });
        child.join();
        assert!(!gate.try_lock());
        gate.unlock();
    }

    /// Makes membarrier(2) fail in this process from now on.
    fn refuse_barriers() {
        const SYSCALL: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let filter = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let mut filters = [
            filter(SYSCALL, 0, 0, 0),
            filter(EQUAL, 0, 1, libc::SYS_membarrier as u32),
            filter(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
            filter(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: filters.len() as u16, filter: filters.as_mut_ptr() };
        // SAFETY: a number, and a program that lives as long as the call.
        let (new, set) = unsafe {
            (
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
            )
        };
        from_minus_one(new).and_then(|_| from_minus_one(set)).unwrap();
    }

    #[test]
    fn barriers_may_be_refused() {
        let scratch = Scratch::new();
        let before = Gate::of_kind(Kind::Biased);
        let mut child = Child::start(|| {
            assert_eq!(count_in_threads(&before, 1, 3), 3);
            refuse_barriers();
            // It was allowed when the lock was made, and another thread comes now.
            assert_eq!(count_in_threads(&before, 3, 50), 150);
            race_for(10);
            // A process that begins so has none.
            let gate = Gate::new(scratch.host());
            assert!(gate.kind != Kind::Biased);
            assert_eq!(count_in_threads(&gate, 3, 50), 150);
        });
        child.join();
    }

    #[test]
    fn threads_that_end_leave_the_lock_to_others() {
        let _scratch = Scratch::new().host();
        let (gate, count) = (Gate::of_kind(Kind::Biased), AtomicU32::new(0));
        let turn = || {
            for _ in 0..10 {
                gate.lock();
                count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                gate.unlock();
            }
        };
        // One after the other may well be the same to the lock, or not.
        for _ in 0..20 {
            std::thread::scope(|scope| _ = scope.spawn(turn));
        }
        std::thread::scope(|scope| {
            scope.spawn(turn);
            turn();
        });
        assert_eq!(count.load(Ordering::Relaxed), 220);
    }

    #[test]
    fn a_promise_is_believed() {
        let gate = Gate::open_to_all();
        gate.lock();
        assert!(gate.try_lock());
        gate.unlock();
        gate.unlock();
    }
}
