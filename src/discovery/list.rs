//! The list of devices: kept between calls, so that a device has one address as long as it is
//! there.

use std::sync::LazyLock;

use crate::abi::*;
use crate::discovery::enumerate::{self, Places};
use crate::discovery::record::{Record, same_device};
use crate::discovery::{device_get, device_put, device_text, values};
use crate::init;
use crate::log::log;
use crate::plugin::{Plugins, Source, System};
use crate::sys::errno::Result;
use crate::sys::mutex::{Mutex, MutexGuard};

/// The devices and what finds them.
struct List<S = System> {
    places: Places<'static>,
    plugins: Plugins<S>,
    /// The devices in the order in which programs see them. Each holds a reference.
    devices: Vec<*mut verbs_device>,
}

// SAFETY: devices are shared by all threads; their counts are atomic.
unsafe impl<S: Send> Send for List<S> {}

impl<S: Source> List<S> {
    fn new(places: Places<'static>, plugins: Plugins<S>) -> List<S> {
        List { places, plugins, devices: Vec::new() }
    }

    /// Looks which devices there are now: devices that are gone leave the list, new ones that find
    /// a provider join it at the front. Gives the devices, with a reference each for the caller.
    ///
    /// # Errors
    ///
    /// Those of [`enumerate::find`], which leave the list as it was.
    fn refresh(&mut self) -> Result<Vec<*mut ibv_device>> {
        let mut records = self.plugins.built_in_records();
        match enumerate::find(self.places) {
            Ok(found) => records.extend(found),
            Err(errno) if records.is_empty() => return Err(errno),
            Err(_) => {}
        }
        self.devices.retain(|device| {
            // SAFETY: the list has a reference to its devices.
            let known = unsafe { (**device).sysfs.as_ref() };
            let is_known = |record: &Record| known.is_some_and(|it| same_device(it, record.get()));
            if let Some(index) = records.iter().position(is_known) {
                records.remove(index);
                return true;
            }
            // SAFETY: the list's reference, which goes with the entry.
            unsafe {
                let name = crate::discovery::text(&(**device).device.name).to_string_lossy();
                log!(VERBS_LOG_INFO, "device {name} is gone");
                device_put(*device);
            }
            false
        });
        // What was found last is offered first, and joins at the front; the first list thus comes
        // in the kernel's order.
        records.reverse();
        for device in self.plugins.adopt(records) {
            self.devices.insert(0, device);
        }
        Ok(self
            .devices
            .iter()
            .map(|device| {
                // SAFETY: the list has a reference to its devices.
                unsafe { device_get(*device) };
                device.cast()
            })
            .collect())
    }
}

/// The list of this process.
static LIST: LazyLock<Mutex<List>> =
    LazyLock::new(|| Mutex::new(List::new(Places::system(), Plugins::system())));

fn lock() -> MutexGuard<'static, List> {
    LIST.lock()
}

/// The devices that there are now, with a reference each for the caller, to be dropped by
/// [`device_put`]. The first call sets up the library. `ibv_get_device_list(3)`
///
/// # Errors
///
/// ENOSYS when the kernel has no RDMA, or speaks a version of the verbs interface that this library
/// does not.
pub(crate) fn devices() -> Result<Vec<*mut ibv_device>> {
    let mut list = lock();
    init::init_once();
    list.refresh()
}

/// The node GUID of a device in network byte order; 0 if it cannot be found out.
/// `ibv_get_device_guid(3)`
///
/// # Safety
///
/// `device` must be a live device.
pub(crate) unsafe fn node_guid(device: *mut ibv_device) -> u64 {
    // The record is changed under the lock.
    let _list = lock();
    // SAFETY: the caller's promise; the record lives as long as the device.
    let Some(record) = (unsafe { (*device.cast::<verbs_device>()).sysfs.as_mut() }) else {
        return 0;
    };
    if record.flags & VSYSFS_READ_NODE_GUID == 0 {
        let mut buf = [0; 32];
        // SAFETY: a live record.
        let text = unsafe { device_text(record, c"node_guid", &mut buf) };
        let Some(guid) = text.ok().and_then(values::guid) else { return 0 };
        record.node_guid = guid;
        record.flags |= VSYSFS_READ_NODE_GUID;
    }
    record.node_guid.to_be()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::Tree;
    use crate::plugin::tests::{OneProvider, any_provider};
    use crate::sync::atomic::Ordering;
    use crate::sys::errno::Errno;

    /// A list of the devices of a tree, which outlives it.
    fn list(tree: &Tree) -> List<OneProvider> {
        // SAFETY: the tree lives until the end of the test.
        let places = unsafe { core::mem::transmute::<Places<'_>, Places<'static>>(tree.places()) };
        List::new(places, OneProvider::plugins(any_provider()))
    }

    /// The list of the library stays; those of tests go.
    impl<S> Drop for List<S> {
        fn drop(&mut self) {
            for device in self.devices.drain(..) {
                // SAFETY: the reference of the list.
                unsafe { device_put(device) };
            }
        }
    }

    fn names(devices: &[*mut ibv_device]) -> Vec<String> {
        // SAFETY: the caller has references to the devices.
        let name = |device: &*mut ibv_device| unsafe { crate::discovery::text(&(**device).name) };
        devices.iter().map(|device| name(device).to_string_lossy().into_owned()).collect()
    }

    fn references(device: *mut ibv_device) -> i32 {
        // SAFETY: the caller has a reference.
        unsafe { (*device.cast::<verbs_device>()).refcount.load(Ordering::Relaxed) }
    }

    fn put(devices: Vec<*mut ibv_device>) {
        for device in devices {
            // SAFETY: the references that the list gave.
            unsafe { device_put(device.cast()) };
        }
    }

    #[test]
    fn devices_keep_their_address() {
        let tree = Tree::new();
        tree.add(0, "a");
        let mut list = list(&tree);
        let first = list.refresh().unwrap();
        assert_eq!(names(&first), ["a"]);
        assert_eq!(references(first[0]), 2);
        let second = list.refresh().unwrap();
        assert_eq!(first, second);
        assert_eq!(references(first[0]), 3);
        // What comes later is in front.
        tree.add(1, "b");
        let third = list.refresh().unwrap();
        assert_eq!(names(&third), ["b", "a"]);
        assert_eq!(third[1], first[0]);
        put(first);
        put(second);
        assert_eq!((references(third[0]), references(third[1])), (2, 2));
        put(third);
    }

    #[test]
    fn a_first_list_is_in_the_order_in_which_devices_are_found() {
        let tree = Tree::new();
        for number in 0..8 {
            tree.add(number, &format!("d{number}"));
        }
        let order: Vec<_> = enumerate::find(tree.places())
            .unwrap()
            .iter()
            .map(|record| record.name().to_string_lossy().into_owned())
            .collect();
        let devices = list(&tree).refresh().unwrap();
        assert_eq!(names(&devices), order);
        put(devices);
    }

    #[test]
    fn devices_that_are_gone_live_as_long_as_they_are_held() {
        let tree = Tree::new();
        tree.add(0, "a");
        tree.add(1, "b");
        let mut list = list(&tree);
        let held = list.refresh().unwrap();
        tree.remove("sys/class/infiniband_verbs/uverbs0");
        let left = list.refresh().unwrap();
        assert_eq!(names(&left), ["b"]);
        let gone = *held.iter().find(|device| !left.contains(device)).unwrap();
        assert_eq!((names(&[gone]), references(gone)), (vec!["a".to_owned()], 1));
        // It comes back as another device, although it has the same name and the same file.
        tree.remove("sys/class/infiniband/a");
        std::thread::sleep(core::time::Duration::from_millis(20));
        tree.add(0, "a");
        let again = list.refresh().unwrap();
        assert_eq!(names(&again), ["a", "b"]);
        assert_ne!(again[0], gone);
        // Replaced between two looks: the old one leaves, the new one joins.
        tree.remove("sys/class/infiniband/a");
        std::thread::sleep(core::time::Duration::from_millis(20));
        tree.add(0, "a");
        let replaced = list.refresh().unwrap();
        assert_eq!(names(&replaced), ["a", "b"]);
        assert!(replaced[0] != again[0] && replaced[0] != gone);
        assert_eq!(references(again[0]), 1);
        for devices in [held, left, again, replaced] {
            put(devices);
        }
    }

    #[test]
    fn a_failure_leaves_the_list_alone() {
        let tree = Tree::new();
        tree.add(0, "a");
        let mut list = list(&tree);
        let first = list.refresh().unwrap();
        tree.rename("sys", "elsewhere");
        assert_eq!(list.refresh().err(), Some(Errno::ENOSYS));
        tree.rename("elsewhere", "sys");
        let second = list.refresh().unwrap();
        assert_eq!(first, second);
        put(first);
        put(second);
    }

    #[test]
    fn devices_without_a_provider_are_left_out() {
        let tree = Tree::new();
        tree.add(0, "a");
        let mut list = list(&tree);
        list.plugins = OneProvider::plugins(core::ptr::null());
        assert!(list.refresh().unwrap().is_empty());
        list.plugins = OneProvider::plugins(any_provider());
        let devices = list.refresh().unwrap();
        assert_eq!(names(&devices), ["a"]);
        put(devices);
    }
}
