//! The `sync` of the models: atomics of the real size and layout, each of which stands for an atomic
//! of loom.
//!
//! An atomic is known by its address. The first time that one is touched it gets an object of loom,
//! out of those that were made when the execution began: so all that happens to it is tried in every
//! order that the memory model allows. Loom knows sequential consistency of fences alone, so a
//! `SeqCst` store or read-modify-write has a fence behind it, and a `SeqCst` load is one that
//! acquires: what x86-64 makes of them.
//!
//! A [mutation](crate::mutation) makes a line of the source weaker, and a [mortal](crate::death)
//! thread ends before one of its stores; both happen here.

use core::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::death;

/// Atomics of each size that an execution can touch.
const POOL: usize = 48;
/// Atomics that the threads of an execution can load, counted for each thread.
const ORDERS: usize = 120;

/// What stands for the atomics and mutexes of an execution.
#[derive(Default)]
struct World {
    small: Pool<Shadow<loom::sync::atomic::AtomicU32>>,
    large: Pool<Shadow<loom::sync::atomic::AtomicU64>>,
    /// For [`Shadow::loads`].
    orders: Vec<Rc<loom::sync::atomic::AtomicU32>>,
    locks: Pool<loom::sync::Mutex<()>>,
    /// Atomics that nothing depends on: they are as in an ordinary program.
    plain: Vec<usize>,
    /// See [`stores_exchange`].
    stores_exchange: bool,
}

/// What stands for an atomic.
///
/// Of all that was done to an atomic, loom looks at the last access alone when it decides which other
/// orders to try, so it misses the one in which a load comes behind the store of a thread that has
/// looked as well before it stored. So each thread that loads stores to an atomic of its own, to
/// which who stores later stores too; nobody reads it.
struct Shadow<T> {
    atomic: T,
    loads: RefCell<Vec<(loom::thread::ThreadId, Rc<loom::sync::atomic::AtomicU32>)>>,
}

impl<T> Shadow<T> {
    fn new(atomic: T) -> Self {
        Shadow { atomic, loads: RefCell::default() }
    }

    fn loads(&self) -> &T {
        let me = loom::thread::current().id();
        let known = self.loads.borrow().iter().find(|(other, _)| *other == me).cloned();
        let (_, order) = known.unwrap_or_else(|| {
            let order = WORLD.with_borrow_mut(|world| world.orders.pop());
            let order = (me, order.expect("a model loads more atomics than ORDERS"));
            self.loads.borrow_mut().push(order.clone());
            order
        });
        order.store(0, core::sync::atomic::Ordering::Relaxed);
        &self.atomic
    }

    fn stores(&self) -> &T {
        let me = loom::thread::current().id();
        let others: Vec<_> =
            self.loads.borrow().iter().filter(|(other, _)| *other != me).cloned().collect();
        for (_, order) in others {
            order.store(0, core::sync::atomic::Ordering::Relaxed);
        }
        &self.atomic
    }
}

struct Pool<T> {
    free: Vec<Rc<T>>,
    used: HashMap<usize, Rc<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { free: Vec::new(), used: HashMap::new() }
    }
}

impl<T> Pool<T> {
    fn fill(&mut self, count: usize, make: impl Fn() -> T) {
        self.used.clear();
        self.free = (0..count).map(|_| Rc::new(make())).collect();
    }

    /// The object for an address, and whether it has just got it.
    fn of(&mut self, address: usize) -> (Rc<T>, bool) {
        if let Some(known) = self.used.get(&address) {
            return (Rc::clone(known), false);
        }
        let new = self.free.pop().expect("a model touches more atomics than POOL");
        self.used.insert(address, Rc::clone(&new));
        (new, true)
    }
}

std::thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
    /// Executions that have begun, on this thread.
    static EXECUTIONS: Cell<u64> = const { Cell::new(0) };
}

/// Begins an execution: nothing has been touched.
pub(crate) fn begin() {
    EXECUTIONS.set(EXECUTIONS.get() + 1);
    WORLD.with_borrow_mut(|world| {
        world.small.fill(POOL, || Shadow::new(loom::sync::atomic::AtomicU32::new(0)));
        world.large.fill(POOL, || Shadow::new(loom::sync::atomic::AtomicU64::new(0)));
        world.locks.fill(8, || loom::sync::Mutex::new(()));
        world.orders =
            (0..ORDERS).map(|_| Rc::new(loom::sync::atomic::AtomicU32::new(0))).collect();
        world.plain.clear();
        world.stores_exchange = false;
    });
    crate::sys::futex::begin();
    death::begin();
}

/// From here on, accesses to these bytes are not tried in all orders: another model does that.
pub(crate) fn plain<T>(value: &T) {
    let begin = core::ptr::from_ref(value).addr();
    let places = (begin..begin + size_of::<T>()).step_by(4);
    let known: Vec<_> = WORLD.with_borrow_mut(|world| {
        world.plain.extend(places.clone());
        let shadow =
            |place| (place, world.small.used.remove(&place), world.large.used.remove(&place));
        places.map(shadow).collect()
    });
    for (place, small, large) in known {
        let place: *mut u8 = core::ptr::with_exposed_provenance_mut(place);
        // SAFETY: a part of `value`, which is made of atomics.
        unsafe {
            if let Some(small) = small {
                place.cast::<u32>().write(small.atomic.load(atomic::Ordering::Relaxed));
            }
            if let Some(large) = large {
                place.cast::<u64>().write(large.atomic.load(atomic::Ordering::Relaxed));
            }
        }
    }
}

/// From here on, stores are exchanges whose result nobody looks at. Loom lets an exchange that found a
/// value override a store that came after it, so a lock that is taken by exchange and given back by a
/// store would never be free again.
pub(crate) fn stores_exchange() {
    WORLD.with_borrow_mut(|world| world.stores_exchange = true);
}

/// Executions that have begun on this thread.
pub(crate) fn executions() -> u64 {
    EXECUTIONS.get()
}

/// The mutex that stands for the one at an address.
pub(crate) fn lock_of(address: usize) -> Rc<loom::sync::Mutex<()>> {
    WORLD.with_borrow_mut(|world| world.locks.of(address).0)
}

/// As the library's `sync::entries`.
pub(crate) const fn entries(count: usize) -> usize {
    if count < 2 { count } else { 2 }
}

/// As the library's `sync::looks`: once is enough.
pub(crate) const fn looks(count: u32) -> u32 {
    if count == 0 { 0 } else { 1 }
}

/// As the standard library's, for each thread of an execution.
macro_rules! local {
    ($visible:vis static $name:ident: $value:ty = const $init:block;) => {
        loom::thread_local! { $visible static $name: $value = $init }
    };
}
pub(crate) use local as thread_local;

pub(crate) mod hint {
    pub(crate) fn spin_loop() {
        loom::thread::yield_now();
    }
}

pub(crate) mod thread {
    pub(crate) use loom::thread::yield_now;

    pub(crate) fn sleep(_: core::time::Duration) {
        loom::thread::yield_now();
    }

    /// As the library's.
    pub(crate) fn id() -> u64 {
        let name = format!("{:?}", loom::thread::current().id());
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        1 + digits.parse::<u64>().unwrap()
    }
}

/// As the library's: a fence, as if membarrier(2) came just now.
#[track_caller]
pub(crate) fn light_fence() {
    atomic::fence(atomic::Ordering::SeqCst);
}

pub(crate) mod atomic {
    use core::cell::UnsafeCell;
    use core::panic::Location;
    pub(crate) use core::sync::atomic::Ordering;
    use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

    use super::{Rc, Shadow, WORLD};
    use crate::death;
    use crate::mutation::{self, Change};

    #[track_caller]
    pub(crate) fn fence(order: Ordering) {
        if !is_over() && mutation::at(Location::caller()).is_none() {
            loom::sync::atomic::fence(order);
        }
    }

    /// Whether the thread is unwinding: it changes nothing any more.
    fn is_over() -> bool {
        std::thread::panicking()
    }

    fn full_fence(order: Ordering) {
        if order == SeqCst {
            loom::sync::atomic::fence(SeqCst);
        }
    }

    fn for_load(order: Ordering) -> Ordering {
        if order == SeqCst { Acquire } else { order }
    }

    fn for_store(order: Ordering) -> Ordering {
        if order == SeqCst { Release } else { order }
    }

    fn for_both(order: Ordering) -> Ordering {
        if order == SeqCst { AcqRel } else { order }
    }

    macro_rules! atomic {
        ($name:ident, $value:ty, $word:ty, $shadow:ident, $pool:ident, $to:expr, $from:expr) => {
            /// As that of the standard library.
            #[repr(transparent)]
            pub(crate) struct $name(UnsafeCell<$value>);

            // SAFETY: all threads of an execution are one of the system.
            unsafe impl Sync for $name {}
            // SAFETY: as above.
            unsafe impl Send for $name {}

            impl Drop for $name {
                fn drop(&mut self) {
                    let address = self.0.get().addr();
                    let _ = WORLD.try_with(|world| {
                        if let Ok(mut world) = world.try_borrow_mut() {
                            world.$pool.used.remove(&address);
                        }
                    });
                }
            }

            #[allow(dead_code)]
            impl $name {
                pub(crate) const fn new(value: $value) -> $name {
                    $name(UnsafeCell::new(value))
                }

                pub(crate) fn as_ptr(&self) -> *mut $value {
                    self.0.get()
                }

                fn is_plain(&self) -> bool {
                    let address = self.0.get().addr();
                    WORLD.with_borrow(|world| world.plain.contains(&address))
                }

                fn shadow(&self) -> Rc<Shadow<loom::sync::atomic::$shadow>> {
                    let address = self.0.get().addr();
                    let (shadow, is_new) = WORLD.with_borrow_mut(|world| world.$pool.of(address));
                    // SAFETY: nobody changes the value itself.
                    let value = ($to)(unsafe { *self.0.get() });
                    if is_new && value != 0 {
                        shadow.atomic.store(value, Relaxed);
                    }
                    shadow
                }

                fn value(&self) -> $value {
                    // SAFETY: as above.
                    unsafe { *self.0.get() }
                }

                #[track_caller]
                pub(crate) fn load(&self, order: Ordering) -> $value {
                    if is_over() || self.is_plain() {
                        return self.value();
                    }
                    let order = match mutation::at(Location::caller()) {
                        Some(_) => Relaxed,
                        None => order,
                    };
                    ($from)(self.shadow().loads().load(for_load(order)))
                }

                #[track_caller]
                pub(crate) fn store(&self, value: $value, order: Ordering) {
                    if is_over() {
                        return;
                    }
                    death::before_store();
                    if self.is_plain() {
                        // SAFETY: all threads of an execution are one of the system.
                        unsafe { *self.0.get() = value };
                        return;
                    }
                    let order = match mutation::at(Location::caller()) {
                        Some(Change::Skip) => return,
                        Some(Change::Relax) => Relaxed,
                        None => order,
                    };
                    let (shadow, value) = (self.shadow(), ($to)(value));
                    if WORLD.with_borrow(|world| world.stores_exchange) {
                        shadow.stores().swap(value, for_store(order));
                    } else {
                        shadow.stores().store(value, for_store(order));
                    }
                    full_fence(order);
                }

                #[track_caller]
                fn change(
                    &self,
                    order: Ordering,
                    apply: impl Fn(&loom::sync::atomic::$shadow, Ordering) -> $word,
                ) -> $value {
                    if is_over() {
                        return self.value();
                    }
                    death::before_store();
                    let order = match mutation::at(Location::caller()) {
                        Some(Change::Skip) => return ($from)(self.shadow().loads().load(Relaxed)),
                        Some(Change::Relax) => Relaxed,
                        None => order,
                    };
                    let before = apply(self.shadow().stores(), for_both(order));
                    full_fence(order);
                    ($from)(before)
                }

                #[track_caller]
                pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                    self.change(order, |shadow, order| shadow.swap(($to)(value), order))
                }

                #[track_caller]
                pub(crate) fn compare_exchange(
                    &self,
                    old: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    if is_over() {
                        return Err(self.value());
                    }
                    death::before_store();
                    let (success, failure) = match mutation::at(Location::caller()) {
                        Some(Change::Skip) => return Ok(old),
                        Some(Change::Relax) => (Relaxed, Relaxed),
                        None => (success, failure),
                    };
                    let swap = self.shadow().stores().compare_exchange(
                        ($to)(old),
                        ($to)(new),
                        for_both(success),
                        for_load(failure),
                    );
                    if swap.is_ok() {
                        full_fence(success);
                    }
                    swap.map($from).map_err($from)
                }

                #[track_caller]
                pub(crate) fn compare_exchange_weak(
                    &self,
                    old: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    self.compare_exchange(old, new, success, failure)
                }
            }
        };
    }

    macro_rules! arithmetic {
        ($name:ident, $value:ty, $word:ty, $($function:ident)*) => {
            #[allow(dead_code)]
            impl $name {
                $(
                    #[track_caller]
                    pub(crate) fn $function(&self, value: $value, order: Ordering) -> $value {
                        self.change(order, |shadow, order| shadow.$function(value as $word, order))
                    }
                )*

                #[track_caller]
                pub(crate) fn fetch_update(
                    &self,
                    set: Ordering,
                    fetch: Ordering,
                    mut update: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    let mut before = self.load(fetch);
                    while let Some(new) = update(before) {
                        match self.compare_exchange(before, new, set, fetch) {
                            Ok(_) => return Ok(before),
                            Err(now) => before = now,
                        }
                    }
                    Err(before)
                }
            }
        };
    }

    atomic!(AtomicU32, u32, u32, AtomicU32, small, |value: u32| value, |word: u32| word);
    atomic!(AtomicU64, u64, u64, AtomicU64, large, |value: u64| value, |word: u64| word);
    atomic!(AtomicUsize, usize, u64, AtomicU64, large, |v: usize| v as u64, |w: u64| w as usize);
    atomic!(AtomicI32, i32, u32, AtomicU32, small, |value: i32| value as u32, |w: u32| w as i32);
    atomic!(AtomicU8, u8, u32, AtomicU32, small, |value: u8| u32::from(value), |w: u32| w as u8);
    atomic!(AtomicBool, bool, u32, AtomicU32, small, |value: bool| u32::from(value), |w: u32| w
        != 0);
    arithmetic!(AtomicU32, u32, u32, fetch_add fetch_sub fetch_and fetch_or fetch_max);
    arithmetic!(AtomicU64, u64, u64, fetch_add fetch_sub fetch_and fetch_or fetch_max);
    arithmetic!(AtomicUsize, usize, u64, fetch_add fetch_sub fetch_and fetch_or fetch_max);
    arithmetic!(AtomicI32, i32, u32, fetch_add fetch_sub);

    impl AtomicU64 {
        /// As that of the standard library.
        ///
        /// # Safety
        ///
        /// The same.
        pub(crate) unsafe fn from_ptr<'a>(place: *mut u64) -> &'a AtomicU64 {
            // SAFETY: the caller's promise; the type has the same layout.
            unsafe { &*place.cast() }
        }
    }

    /// As that of the standard library.
    #[repr(transparent)]
    pub(crate) struct AtomicPtr<T>(AtomicUsize, core::marker::PhantomData<*mut T>);

    // SAFETY: it is an address.
    unsafe impl<T> Sync for AtomicPtr<T> {}
    // SAFETY: it is an address.
    unsafe impl<T> Send for AtomicPtr<T> {}

    #[allow(dead_code)]
    impl<T> AtomicPtr<T> {
        pub(crate) const fn new(pointer: *mut T) -> AtomicPtr<T> {
            // Models have no other pointer at compile time.
            assert!(pointer.is_null());
            AtomicPtr(AtomicUsize::new(0), core::marker::PhantomData)
        }

        #[track_caller]
        pub(crate) fn load(&self, order: Ordering) -> *mut T {
            core::ptr::with_exposed_provenance_mut(self.0.load(order))
        }

        #[track_caller]
        pub(crate) fn store(&self, pointer: *mut T, order: Ordering) {
            self.0.store(pointer.expose_provenance(), order);
        }

        #[track_caller]
        pub(crate) fn compare_exchange(
            &self,
            old: *mut T,
            new: *mut T,
            success: Ordering,
            failure: Ordering,
        ) -> Result<*mut T, *mut T> {
            let (old, new) = (old.expose_provenance(), new.expose_provenance());
            self.0
                .compare_exchange(old, new, success, failure)
                .map(core::ptr::with_exposed_provenance_mut)
                .map_err(core::ptr::with_exposed_provenance_mut)
        }
    }
}
