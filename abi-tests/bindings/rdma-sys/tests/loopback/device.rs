//! An open device, memory of it, channels of it.

use std::cell::UnsafeCell;
use std::io;
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::RawFd;
use std::ptr::null_mut;
use std::time::Duration;

use rdma_sys::*;

/// How long a completion or an event may take.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The index of the GID that is made of the IPv4 address.
pub const GID_INDEX: u8 = 1;

/// All bits zero, as C programs begin with.
pub fn zeroed<T>() -> T {
    // SAFETY: only used for structs of C, whose fields are numbers, pointers and unions of them.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The kind of error that a number of errno stands for; none for 0.
pub fn kind(errno: i32) -> Option<io::ErrorKind> {
    (errno != 0).then(|| io::Error::from_raw_os_error(errno).kind())
}

/// An object has to go, unless the test fails anyway.
pub fn gone(errno: i32) {
    assert!(errno == 0 || std::thread::panicking(), "{:?}", kind(errno));
}

/// The functions of a device that are found behind its context. The crate's inline functions for them
/// take no context for one that has them, since they expect 32 bits of `abi_compat` to be set, not all.
pub fn extended<'a>(context: *mut ibv_context) -> &'a verbs_context {
    // SAFETY: an open device, whose context is the last part of the extended one.
    unsafe {
        assert_eq!((*context).abi_compat as usize, usize::MAX);
        &*context.byte_sub(offset_of!(verbs_context, context)).cast()
    }
}

/// An open device with a protection domain.
pub struct Device {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
}

impl Device {
    /// The device that `IBVERBS_TEST_DEVICE` names, or else the first.
    pub fn open() -> Device {
        let wanted = std::env::var("IBVERBS_TEST_DEVICE").unwrap_or_default();
        // SAFETY: the list has so many entries until it is freed, and an open device stays.
        unsafe {
            let mut count = 0;
            let list = ibv_get_device_list(&mut count);
            assert!(!list.is_null() && count > 0, "no device");
            let devices = std::slice::from_raw_parts(list, count as usize);
            let name = |device| std::ffi::CStr::from_ptr(ibv_get_device_name(device)).to_str();
            let found = devices.iter().find(|&&it| wanted.is_empty() || name(it) == Ok(&wanted));
            let context = ibv_open_device(*found.expect("the device"));
            ibv_free_device_list(list);
            assert!(!context.is_null());
            let pd = ibv_alloc_pd(context);
            assert!(!pd.is_null());
            Device { context, pd }
        }
    }

    /// An entry of the GID table of port 1.
    pub fn gid(&self, index: u8) -> ibv_gid {
        let mut gid = zeroed();
        // SAFETY: an open device, and room for the answer.
        assert_eq!(unsafe { ibv_query_gid(self.context, 1, index.into(), &mut gid) }, 0);
        gid
    }

    /// The address of this device itself.
    pub fn address(&self) -> ibv_ah_attr {
        let mut address: ibv_ah_attr = zeroed();
        (address.is_global, address.port_num) = (1, 1);
        address.grh.dgid = self.gid(GID_INDEX);
        (address.grh.sgid_index, address.grh.hop_limit) = (GID_INDEX, 64);
        address
    }

    /// Registers so many zero bytes with all rights.
    pub fn region(&self, length: usize) -> Region {
        let all = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE
            | ibv_access_flags::IBV_ACCESS_REMOTE_WRITE
            | ibv_access_flags::IBV_ACCESS_REMOTE_READ
            | ibv_access_flags::IBV_ACCESS_REMOTE_ATOMIC
            | ibv_access_flags::IBV_ACCESS_RELAXED_ORDERING;
        let words: Box<[_]> = (0..length.div_ceil(8)).map(|_| UnsafeCell::new(0_u64)).collect();
        // SAFETY: memory that lives as long as the region.
        let mr =
            unsafe { ibv_reg_mr(self.pd, words.as_ptr().cast_mut().cast(), length, all.0 as i32) };
        assert!(!mr.is_null());
        Region { mr, words, length }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: all that was made of them is gone.
        unsafe {
            gone(ibv_dealloc_pd(self.pd));
            gone(ibv_close_device(self.context));
        }
    }
}

/// Registered memory.
pub struct Region {
    pub mr: *mut ibv_mr,
    words: Box<[UnsafeCell<u64>]>,
    length: usize,
}

impl Region {
    /// A piece of it.
    pub fn piece(&self, offset: usize, length: usize) -> ibv_sge {
        assert!(offset + length <= self.length);
        // SAFETY: a live region.
        let lkey = unsafe { (*self.mr).lkey };
        ibv_sge { addr: self.address(offset), length: length as u32, lkey }
    }

    /// Key and address for others.
    pub fn remote(&self, offset: usize) -> (u32, u64) {
        // SAFETY: a live region.
        (unsafe { (*self.mr).rkey }, self.address(offset))
    }

    fn address(&self, offset: usize) -> u64 {
        self.words.as_ptr() as u64 + offset as u64
    }

    /// Its bytes, while no request uses them.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes, which nobody changes while no request uses them.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.length) }
    }

    /// Puts bytes at its beginning, before any request uses it.
    pub fn with(self, bytes: &[u8]) -> Region {
        assert!(bytes.len() <= self.length);
        let start = UnsafeCell::raw_get(self.words.as_ptr()).cast::<u8>();
        // SAFETY: there is room, and nobody looks meanwhile.
        unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: no request uses it any more.
        gone(unsafe { ibv_dereg_mr(self.mr) });
    }
}

/// A completion channel, which does not block.
pub struct Channel(pub *mut ibv_comp_channel);

impl Channel {
    pub fn new(device: &Device) -> Channel {
        // SAFETY: an open device; the file is of the channel.
        unsafe {
            let channel = ibv_create_comp_channel(device.context);
            assert!(!channel.is_null());
            let flags = libc::fcntl((*channel).fd, libc::F_GETFL);
            assert_eq!(libc::fcntl((*channel).fd, libc::F_SETFL, flags | libc::O_NONBLOCK), 0);
            Channel(channel)
        }
    }

    pub fn fd(&self) -> RawFd {
        // SAFETY: a live channel.
        unsafe { (*self.0).fd }
    }

    /// The next event, acknowledged: the context value of its completion queue; nothing if there is
    /// none now.
    pub fn event(&self) -> Option<usize> {
        let (mut cq, mut context) = (null_mut(), null_mut());
        // SAFETY: a live channel, and room for the answer.
        unsafe {
            if ibv_get_cq_event(self.0, &mut cq, &mut context) != 0 {
                assert_eq!(io::Error::last_os_error().kind(), io::ErrorKind::WouldBlock);
                return None;
            }
            ibv_ack_cq_events(cq, 1);
        }
        Some(context as usize)
    }

    /// Sleeps until there is an event, and takes it.
    pub fn wait(&self) -> usize {
        let mut file = libc::pollfd { fd: self.fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry.
        let ready = unsafe { libc::poll(&mut file, 1, PATIENCE.as_millis() as i32) };
        assert_eq!((ready, file.revents), (1, libc::POLLIN), "no event");
        self.event().expect("an event behind a file that can be read")
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: its queues are gone.
        gone(unsafe { ibv_destroy_comp_channel(self.0) });
    }
}
