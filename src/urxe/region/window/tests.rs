use super::*;
use crate::urxe::region::testing::{dealloc_pd, free_pd, look, pd};
use crate::urxe::region::{Wanted, dereg_mr, reg_mr, rereg_mr};

const QP: u32 = 0x4001;
const WRITE: u32 = IBV_ACCESS_REMOTE_WRITE;
const READ: u32 = IBV_ACCESS_REMOTE_READ;
const BIND: u32 = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

/// A region of 4096 bytes, and a window of each type.
struct Setting {
    pd: *mut ibv_pd,
    memory: Box<[u64; 512]>,
    mr: *mut ibv_mr,
    one: *mut ibv_mw,
    two: *mut ibv_mw,
}

impl Setting {
    fn new(access: u32) -> Setting {
        let pd = pd();
        let mut memory = Box::new([0; 512]);
        let addr = memory.as_mut_ptr();
        let start = addr.expose_provenance() as u64;
        // SAFETY: a live PD, and memory that outlives the region.
        let [mr, one, two] = unsafe {
            let mr = reg_mr(pd, addr.cast(), 4096, start, access as c_int);
            [mr.cast(), alloc_mw(pd, IBV_MW_TYPE_1), alloc_mw(pd, IBV_MW_TYPE_2)]
        };
        Setting { pd, memory, mr: mr.cast(), one, two }
    }

    fn start(&self) -> u64 {
        self.memory.as_ptr().addr() as u64
    }

    fn number(&self) -> u32 {
        // SAFETY: a live PD.
        unsafe { Pd::of(self.pd) }.number()
    }

    fn info(&self, offset: u64, length: u64, access: u32) -> ibv_mw_bind_info {
        let addr = self.start() + offset;
        ibv_mw_bind_info { mr: self.mr, addr, length, mw_access_flags: access }
    }

    /// Binds a window under the next key, for the QP.
    fn bind(
        &self,
        mw: *mut ibv_mw,
        info: &ibv_mw_bind_info,
    ) -> core::result::Result<u32, NotBound> {
        // SAFETY: live objects.
        let bind = unsafe { Bind::new(mw, next_rkey((*mw).rkey), info) };
        let done = bind.carry_out(host::host().unwrap(), QP, self.number());
        // SAFETY: a live window.
        done.map(|()| unsafe { (*mw).rkey })
    }

    fn wanted(&self, access: u32, offset: u64, length: u64) -> Wanted {
        let (pd, address) = (self.number(), self.start() + offset);
        Wanted { pd, access, address, length, qp_num: QP }
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        // SAFETY: live objects, for the last time.
        unsafe {
            assert_eq!(dealloc_pd(self.pd), libc::EBUSY);
            assert_eq!(dealloc_mw(self.one), 0);
            assert_eq!(dealloc_mw(self.two), 0);
            assert_eq!(dereg_mr(self.mr.cast()), 0);
            free_pd(self.pd);
        }
    }
}

#[test]
fn there_are_two_types() {
    let pd = pd();
    for mw_type in [0, 3, u32::MAX] {
        // SAFETY: a live PD.
        assert!(unsafe { alloc_mw(pd, mw_type) }.is_null());
        assert_eq!(Errno::last(), Errno::EINVAL);
    }
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
    let setting = Setting::new(BIND);
    // SAFETY: live windows.
    let (one, two) = unsafe { (*setting.one, *setting.two) };
    assert_eq!((one.type_, two.type_), (IBV_MW_TYPE_1, IBV_MW_TYPE_2));
    assert_eq!((one.pd, one.handle), (setting.pd, one.rkey >> 8));
    assert_ne!(one.rkey, two.rkey);
    assert!(look(one.rkey, &setting.wanted(0, 0, 1)).is_err(), "not bound yet");
}

#[test]
fn a_window_opens_its_part_with_its_rights() {
    let setting = Setting::new(BIND);
    for mw in [setting.one, setting.two] {
        let key = setting.bind(mw, &setting.info(64, 128, WRITE | IBV_ACCESS_LOCAL_WRITE)).unwrap();
        let place = look(key, &setting.wanted(WRITE, 64, 128)).unwrap();
        assert_eq!((place.address, place.access), (setting.start() + 64, WRITE));
        assert!(matches!(look(key, &setting.wanted(WRITE, 64, 129)), Err(Denied::Range { .. })));
        assert!(matches!(look(key, &setting.wanted(WRITE, 63, 1)), Err(Denied::Range { .. })));
        assert!(matches!(look(key, &setting.wanted(READ, 64, 1)), Err(Denied::Access { .. })));
        let local = Wanted { qp_num: 0, ..setting.wanted(0, 64, 1) };
        assert_eq!(look(key, &local), Err(Denied::Window { key }));
        let other_pd = Wanted { pd: setting.number() + 1, ..setting.wanted(WRITE, 64, 1) };
        assert!(matches!(look(key, &other_pd), Err(Denied::Pd { .. })));
    }
}

#[test]
fn type_1_is_for_all_qps_and_gets_a_new_key_each_time() {
    let setting = Setting::new(BIND);
    let first = setting.bind(setting.one, &setting.info(0, 64, READ)).unwrap();
    let other_qp = Wanted { qp_num: QP + 1, ..setting.wanted(READ, 0, 64) };
    assert!(look(first, &other_qp).is_ok());
    let second = setting.bind(setting.one, &setting.info(64, 64, READ)).unwrap();
    assert_eq!((second >> 8, second as u8), (first >> 8, (first as u8).wrapping_add(1)));
    assert!(look(first, &other_qp).is_err());
    assert!(look(second, &setting.wanted(READ, 64, 64)).is_ok());
    // No bytes, or no region: closed.
    let third = setting.bind(setting.one, &setting.info(0, 0, 0)).unwrap();
    for key in [first, second, third] {
        assert!(look(key, &setting.wanted(0, 64, 1)).is_err());
    }
    setting.bind(setting.one, &setting.info(0, 64, READ)).unwrap();
    let none = ibv_mw_bind_info { mr: core::ptr::null_mut(), ..setting.info(0, 0, 0) };
    let key = setting.bind(setting.one, &none).unwrap();
    assert!(look(key, &setting.wanted(0, 0, 1)).is_err());
}

#[test]
fn type_2_is_for_its_qp_until_it_is_invalidated() {
    let setting = Setting::new(BIND);
    let memory = host::host().unwrap().memory();
    let key = setting.bind(setting.two, &setting.info(0, 64, READ)).unwrap();
    let other_qp = Wanted { qp_num: QP + 1, ..setting.wanted(READ, 0, 64) };
    assert!(matches!(look(key, &other_qp), Err(Denied::Qp { .. })));
    let again = setting.bind(setting.two, &setting.info(0, 64, READ));
    assert!(matches!(again, Err(NotBound::Bound { .. })));
    assert!(look(key, &setting.wanted(READ, 0, 64)).is_ok(), "as before");
    let pd = setting.number();
    let stale = key ^ 1;
    assert_eq!(invalidate(memory, stale, pd, QP), Err(Denied::Unknown { key: stale }));
    assert_eq!(invalidate(memory, 0, pd, QP), Err(Denied::Unknown { key: 0 }));
    assert!(matches!(invalidate(memory, key, pd + 1, QP), Err(Denied::Pd { .. })));
    assert!(matches!(invalidate(memory, key, pd, QP + 1), Err(Denied::Qp { .. })));
    assert_eq!(invalidate(memory, key, pd, QP), Ok(()));
    assert_eq!(look(key, &setting.wanted(READ, 0, 1)), Err(Denied::Unknown { key }));
    assert_eq!(invalidate(memory, key, pd, QP), Err(Denied::Unknown { key }));
    assert!(setting.bind(setting.two, &setting.info(0, 64, READ)).is_ok());
}

#[test]
fn regions_and_windows_of_type_1_cannot_be_invalidated() {
    let setting = Setting::new(BIND);
    let memory = host::host().unwrap().memory();
    // SAFETY: a live region.
    let region = unsafe { (*setting.mr).rkey };
    let window = setting.bind(setting.one, &setting.info(0, 64, READ)).unwrap();
    for key in [region, window] {
        let denied = invalidate(memory, key, setting.number(), QP);
        assert_eq!(denied, Err(Denied::NoWindow { key }));
    }
}

#[test]
fn zero_based_windows_count_from_their_start() {
    let setting = Setting::new(BIND);
    let info = setting.info(100, 50, WRITE | IBV_ACCESS_ZERO_BASED);
    let key = setting.bind(setting.two, &info).unwrap();
    let at =
        |address, length| look(key, &Wanted { address, length, ..setting.wanted(WRITE, 0, 0) });
    assert_eq!(at(10, 40).unwrap().address, setting.start() + 110);
    assert!(at(10, 41).is_err() && at(setting.start() + 100, 1).is_err());
}

#[test]
fn bad_binds_change_nothing() {
    let setting = Setting::new(BIND);
    let host = host::host().unwrap();
    let number = setting.number();
    // SAFETY: a live window.
    let old = unsafe { (*setting.two).rkey };
    let attempt = |rkey, info: &ibv_mw_bind_info, qp_pd| {
        // SAFETY: live objects. The key is given back, as when a request is not posted.
        unsafe {
            let bind = Bind::new(setting.two, rkey, info);
            (*setting.two).rkey = bind.old_rkey();
            bind.carry_out(host, QP, qp_pd).unwrap_err()
        }
    };
    let (new, good) = (next_rkey(old), setting.info(0, 64, READ));
    assert_eq!(attempt(old, &good, number), NotBound::Key { old, rkey: old });
    let other_index = new + (1 << 8);
    assert_eq!(attempt(other_index, &good, number), NotBound::Key { old, rkey: other_index });
    let nothing = setting.info(0, 0, READ);
    assert_eq!(attempt(new, &nothing, number), NotBound::Empty { window: old });
    assert_eq!(attempt(new, &good, number + 1), NotBound::Pd { pd: number, qp_pd: number + 1 });
    for (offset, length) in [(4096, 1), (0, 4097), (u64::MAX, 1), (8, u64::MAX)] {
        let addr = setting.start().wrapping_add(offset);
        let outside = ibv_mw_bind_info { addr, length, ..good };
        let not_bound = attempt(new, &outside, number);
        assert!(matches!(not_bound, NotBound::Region(Denied::Range { .. })), "{offset} {length}");
    }
    assert!(look(new, &setting.wanted(0, 0, 1)).is_err());
    assert!(setting.bind(setting.two, &good).is_ok());
}

#[test]
fn the_region_must_allow_windows_and_what_they_allow() {
    for (access, window, good) in [
        (IBV_ACCESS_LOCAL_WRITE, READ, false),
        (BIND, READ | WRITE | IBV_ACCESS_REMOTE_ATOMIC, true),
        (IBV_ACCESS_MW_BIND, READ, true),
        (IBV_ACCESS_MW_BIND, WRITE, false),
        (IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_ATOMIC, false),
    ] {
        let setting = Setting::new(access);
        let bound = setting.bind(setting.one, &setting.info(0, 64, window));
        assert_eq!(bound.is_ok(), good, "{access:#x} {window:#x}");
        assert!(good || matches!(bound, Err(NotBound::Access { .. })));
    }
}

#[test]
fn a_region_with_a_window_is_busy() {
    let setting = Setting::new(BIND);
    let memory = host::host().unwrap().memory();
    let busy = || {
        let flags = IBV_REREG_MR_CHANGE_ACCESS as c_int;
        // SAFETY: a live region; a null PD is not looked at.
        unsafe {
            let null = core::ptr::null_mut();
            let status =
                rereg_mr(setting.mr.cast(), flags, null, core::ptr::null_mut(), 0, BIND as c_int);
            if status == libc::EBUSY {
                assert_eq!(dereg_mr(setting.mr.cast()), libc::EBUSY);
            }
            status
        }
    };
    assert_eq!(busy(), 0);
    let key = setting.bind(setting.two, &setting.info(0, 64, READ)).unwrap();
    assert_eq!(busy(), libc::EBUSY);
    // The peer closes it.
    invalidate(memory, key, setting.number(), QP).unwrap();
    assert_eq!(busy(), 0);
    setting.bind(setting.one, &setting.info(0, 64, READ)).unwrap();
    assert_eq!(busy(), libc::EBUSY);
    setting.bind(setting.one, &setting.info(0, 0, READ)).unwrap();
    assert_eq!(busy(), 0);
}

#[test]
fn a_request_outlives_the_objects_that_it_names() {
    let setting = Setting::new(BIND);
    let host = host::host().unwrap();
    // SAFETY: a live PD, and a window that goes before its request.
    let bind = unsafe {
        let mw = alloc_mw(setting.pd, IBV_MW_TYPE_2);
        let bind = Bind::new(mw, next_rkey((*mw).rkey), &setting.info(0, 64, READ));
        assert_eq!(dealloc_mw(mw), 0);
        bind
    };
    let gone = bind.carry_out(host, QP, setting.number());
    assert!(matches!(gone, Err(NotBound::Gone { .. })));
    let other = Setting::new(BIND);
    let info = ibv_mw_bind_info { mr: other.mr, ..other.info(0, 64, READ) };
    // SAFETY: live objects; the region is of another PD.
    let bind = unsafe { Bind::new(setting.two, next_rkey((*setting.two).rkey), &info) };
    let not_bound = bind.carry_out(host, QP, setting.number());
    assert!(matches!(not_bound, Err(NotBound::Region(Denied::Pd { .. }))));
    assert!(not_bound.unwrap_err().to_string().starts_with("region: key "));
}

#[test]
fn a_freed_window_is_closed() {
    let setting = Setting::new(BIND);
    // SAFETY: a live PD and window.
    unsafe {
        let mw = alloc_mw(setting.pd, IBV_MW_TYPE_1);
        let key = setting.bind(mw, &setting.info(0, 64, READ)).unwrap();
        assert!(look(key, &setting.wanted(READ, 0, 1)).is_ok());
        assert_eq!(dealloc_mw(mw), 0);
        assert!(look(key, &setting.wanted(READ, 0, 1)).is_err());
    }
}

#[test]
fn what_peers_write_into_the_table_of_all_is_not_believed_by_its_owner() {
    use crate::sync::atomic::Ordering::Relaxed;
    use crate::urxe::region::check::{check, check_of, entry, look_of};
    let setting = Setting::new(BIND | WRITE);
    let host = host::host().unwrap();
    let own = host.own();
    // SAFETY: a live region.
    let key = unsafe { (*setting.mr).rkey };
    let window = setting.bind(setting.two, &setting.info(64, 128, WRITE)).unwrap();
    let (region_entry, window_entry) =
        (entry(host.memory(), key).unwrap(), entry(host.memory(), window).unwrap());
    let at = |offset| setting.wanted(WRITE, offset, 8);
    let address = |key, offset| check_of(own, key, &at(offset)).map(|place| place.address);
    let start = setting.start();
    assert_eq!((address(key, 8), address(window, 64)), (Ok(start + 8), Ok(start + 64)));

    region_entry.address.store(4096, Relaxed);
    region_entry.length.store(u64::MAX, Relaxed);
    assert_eq!(address(key, 8), Ok(start + 8));
    assert!(address(key, 5000).is_err());
    assert_eq!(check(host.keys(), key, &at(8)).map(|place| place.address), Ok(start + 8));
    assert_eq!(look_of(own, key, &at(0)).unwrap().range, (start, 4096));
    region_entry.address.store(start, Relaxed);
    region_entry.length.store(4096, Relaxed);

    for (forged, length) in [(4096, 128), (start - 1, 128), (start + 64, u64::MAX)] {
        window_entry.address.store(forged, Relaxed);
        window_entry.length.store(length, Relaxed);
        assert!(look_of(own, window, &at(64)).is_none());
        let wanted = Wanted { length: length.min(4096), ..at(64) };
        assert_eq!(check_of(own, window, &wanted), Err(Denied::Unknown { key: window }));
    }
    // Without a region.
    window_entry.address.store(start + 64, Relaxed);
    window_entry.length.store(128, Relaxed);
    let parent = window_entry.parent.swap(0, Relaxed);
    assert_eq!(address(window, 64), Err(Denied::Unknown { key: window }));
    window_entry.parent.store(parent, Relaxed);
    assert_eq!(address(window, 64), Ok(start + 64));
}
