//! Which plugins are loaded for which devices, and who gets a device.

use super::load::File;
use super::*;
use crate::provider_api::private_abi;
use crate::sync::atomic::{AtomicI32, Ordering};
use crate::sys::tests::keep;
use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_void};
use std::collections::BTreeMap;
use std::path::Path;

/// Devices that test providers made and that are not freed yet.
pub(crate) static LIVE_DEVICES: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn alloc_device(_: *mut verbs_sysfs_dev) -> *mut verbs_device {
    LIVE_DEVICES.fetch_add(1, Ordering::Relaxed);
    // SAFETY: calloc has no preconditions. As a provider may, this leaves garbage in the library's
    // members.
    unsafe {
        let device = libc::calloc(1, size_of::<verbs_device>()).cast::<verbs_device>();
        (*device).device.name.fill(0x55);
        (*device).refcount.store(77, Ordering::Relaxed);
        device
    }
}

unsafe extern "C" fn uninit_device(device: *mut verbs_device) {
    LIVE_DEVICES.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the device of `alloc_device`, for the last time.
    unsafe { libc::free(device.cast::<c_void>()) }
}

pub(crate) unsafe extern "C" fn no_device(_: *mut verbs_sysfs_dev) -> *mut verbs_device {
    ptr::null_mut()
}

pub(crate) unsafe extern "C" fn accept(_: *mut verbs_sysfs_dev) -> bool {
    true
}

pub(crate) fn entry(kind: u32, u: verbs_match_ent_u, vendor: u16, device: u16) -> verbs_match_ent {
    verbs_match_ent { driver_data: ptr::null_mut(), u, vendor, device, kind: kind as u8 }
}

pub(crate) fn driver_id(driver_id: u64) -> verbs_match_ent {
    entry(VERBS_MATCH_DRIVER_ID, verbs_match_ent_u { driver_id }, 0, 0)
}

pub(crate) fn pattern(pattern: &'static CStr) -> verbs_match_ent {
    entry(VERBS_MATCH_MODALIAS, verbs_match_ent_u { modalias: pattern.as_ptr() }, 0, 0)
}

pub(crate) fn pci(vendor: u16, device: u16) -> verbs_match_ent {
    entry(VERBS_MATCH_PCI, verbs_match_ent_u { driver_id: 0 }, vendor, device)
}

/// A provider with a table, as a plugin would register it.
pub(crate) fn provider(name: &'static CStr, table: &[verbs_match_ent]) -> verbs_device_ops {
    let end = entry(VERBS_MATCH_SENTINEL, verbs_match_ent_u { driver_id: 0 }, 0, 0);
    let table = [table, &[end]].concat();
    verbs_device_ops {
        name: name.as_ptr(),
        match_min_abi_version: 1,
        match_max_abi_version: 2,
        match_table: keep(table).as_ptr(),
        alloc_device: Some(alloc_device),
        uninit_device: Some(uninit_device),
        ..verbs_device_ops::zeroed()
    }
}

/// A provider as a plugin of the newest private ABI registers it.
pub(crate) fn driver(ops: *const verbs_device_ops) -> Driver {
    Driver { ops, private_abi: private_abi::NEWEST.private_abi, layout: Some(private_abi::NEWEST) }
}

/// A machine whose program brings one provider, or none if it is NULL, and that has no plugins.
pub(crate) struct OneProvider(*const verbs_device_ops);

impl OneProvider {
    pub(crate) fn plugins(ops: *const verbs_device_ops) -> Plugins<OneProvider> {
        Plugins::new(OneProvider(ops), &[])
    }
}

impl Source for OneProvider {
    fn drivers(&self) -> Vec<Driver> {
        if self.0.is_null() { Vec::new() } else { vec![driver(self.0)] }
    }

    fn in_environment(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn in_own_file(&self, _: &str) -> bool {
        false
    }

    fn in_configuration(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn configuration(&self) -> (bool, &Path) {
        (true, Path::new("/"))
    }

    fn load(&self, name: &[u8], _: Option<u32>) -> Result<u32, Failure> {
        Err(Failure { name: name.to_vec(), faults: Vec::new() })
    }

    fn unserved(&self, _: &[u8]) -> Option<File> {
        None
    }

    fn directories(&self) -> String {
        String::new()
    }

    fn settle(&self, _: &Driver) -> Result<(), String> {
        Ok(())
    }

    fn show_warnings(&self) -> bool {
        false
    }
}

/// A provider that takes every device, for the tests of the list.
pub(crate) fn any_provider() -> *const verbs_device_ops {
    leak(verbs_device_ops {
        match_max_abi_version: u32::MAX,
        match_min_abi_version: 0,
        match_device: Some(accept),
        ..provider(c"any", &[])
    })
}

fn leak(ops: verbs_device_ops) -> *const verbs_device_ops {
    keep(ops)
}

/// A record as netlink gives it, with a device file and version 1.
pub(crate) fn record(name: &[u8], driver_id: u32) -> Record {
    let mut record = Record::new(c"/nowhere", name).unwrap();
    let fields = record.get_mut();
    store(&mut fields.sysfs_name, b"uverbs0");
    fields.driver_id = driver_id;
    fields.abi_ver = 1;
    record
}

fn store(array: &mut [c_char], value: &[u8]) {
    crate::discovery::store_text(array, &[value]).unwrap();
}

/// A record with a modalias that was read already.
pub(crate) fn with_modalias(name: &[u8], modalias: &[u8]) -> Record {
    let mut record = record(name, 0);
    store(&mut record.get_mut().modalias, modalias);
    record.get_mut().flags |= VSYSFS_READ_MODALIAS;
    record
}

/// Frees a device and says which provider had it.
pub(crate) fn end(device: *mut verbs_device) -> *const verbs_device_ops {
    // SAFETY: a device of which we have the only reference.
    unsafe {
        let ops = (*device).ops;
        crate::discovery::device_put(device);
        ops
    }
}

/// A machine with plugins.
#[derive(Default)]
struct Machine {
    drivers: RefCell<Vec<Driver>>,
    /// What loading a plugin registers, newest private ABI first.
    plugins: BTreeMap<&'static str, Vec<(u32, *const verbs_device_ops)>>,
    environment: Vec<&'static str>,
    own_files: Vec<&'static str>,
    configuration: Vec<&'static str>,
    no_configuration: bool,
    /// The faults of all plugins that cannot be loaded.
    faults: Vec<&'static str>,
    /// The private ABI of all plugins that are missing.
    unserved: Option<u32>,
    /// Providers that the library cannot work with.
    unusable: Vec<*const verbs_device_ops>,
    show_warnings: bool,
    /// What was done: plugins loaded, files looked into ("file NAME"), "configuration".
    done: RefCell<Vec<String>>,
}

impl Source for Machine {
    fn drivers(&self) -> Vec<Driver> {
        self.drivers.borrow().clone()
    }

    fn in_environment(&self) -> Vec<Vec<u8>> {
        self.environment.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    fn in_own_file(&self, name: &str) -> bool {
        self.done.borrow_mut().push(format!("file {name}"));
        self.own_files.contains(&name)
    }

    fn in_configuration(&self) -> Vec<Vec<u8>> {
        self.done.borrow_mut().push("configuration".to_owned());
        self.configuration.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    fn configuration(&self) -> (bool, &Path) {
        (!self.no_configuration, Path::new("/etc/libibverbs.d"))
    }

    fn load(&self, name: &[u8], below: Option<u32>) -> Result<u32, Failure> {
        let name = core::str::from_utf8(name).unwrap();
        let files = self.plugins.get(name).into_iter().flatten();
        let mut files = files.filter(|(abi, _)| below.is_none_or(|limit| *abi < limit));
        let file = files.next();
        if below.is_none() {
            self.done.borrow_mut().push(name.to_owned());
        } else if let Some((abi, _)) = file {
            self.done.borrow_mut().push(format!("{name} {abi}"));
        }
        match file {
            Some((abi, ops)) => {
                let driver = Driver { private_abi: *abi, ..driver(*ops) };
                self.drivers.borrow_mut().push(driver);
                Ok(*abi)
            }
            None => Err(Failure {
                name: name.as_bytes().to_vec(),
                faults: self.faults.iter().copied().map(str::to_owned).collect(),
            }),
        }
    }

    fn unserved(&self, name: &[u8]) -> Option<File> {
        let file = format!("lib{}-rdmav{}.so", display(name), self.unserved?);
        let (name, private_abi) = load::parse_file_name(file.as_bytes())?;
        Some(File { name: name.to_vec(), private_abi, path: Path::new("/plugins").join(&file) })
    }

    fn directories(&self) -> String {
        "/plugins, /others".to_owned()
    }

    fn settle(&self, driver: &Driver) -> Result<(), String> {
        if self.unusable.contains(&driver.ops) { Err("of another time".to_owned()) } else { Ok(()) }
    }

    fn show_warnings(&self) -> bool {
        self.show_warnings
    }
}

impl Machine {
    /// A machine on which the configuration names every plugin in a file of its own.
    fn with(plugins: &[(&'static str, verbs_device_ops)]) -> Machine {
        let names: Vec<_> = plugins.iter().map(|(name, _)| *name).collect();
        Machine {
            plugins: plugins.iter().map(|(name, ops)| (*name, vec![(65, leak(*ops))])).collect(),
            own_files: names.clone(),
            configuration: names,
            ..Machine::default()
        }
    }
}

/// rxe by number and name, mlx5 by number, hns by modalias, as the real ones do.
fn usual() -> Machine {
    Machine::with(&[
        ("mlx5", provider(c"mlx5", &[driver_id(1)])),
        ("hns", provider(c"hns", &[pci(0x19e5, 0xa222)])),
        ("rxe", provider(c"rxe", &[driver_id(14), pattern(c"rdma_device:*Nrxe*")])),
    ])
}

/// The providers of the devices that were adopted, in order.
fn adopt(plugins: &mut Plugins<Machine>, records: Vec<Record>) -> Vec<&'static str> {
    let devices = plugins.adopt(records);
    let names = devices.into_iter().map(|device| {
        // SAFETY: test providers live for ever and have a name.
        unsafe { CStr::from_ptr((*end(device)).name) }.to_str().unwrap()
    });
    names.collect()
}

fn done(plugins: &Plugins<Machine>) -> Vec<String> {
    plugins.source.done.take()
}

#[test]
fn only_the_plugin_for_the_driver_is_loaded() {
    let mut plugins = Plugins::new(usual(), &[]);
    assert_eq!(adopt(&mut plugins, vec![]), Vec::<&str>::new());
    assert!(done(&plugins).is_empty());
    assert_eq!(adopt(&mut plugins, vec![record(b"a", 14)]), ["rxe"]);
    assert_eq!(done(&plugins), ["file rxe", "rxe"]);
    // The next one of the kind costs nothing, another kind its own plugin.
    assert_eq!(adopt(&mut plugins, vec![record(b"b", 14)]), ["rxe"]);
    assert!(done(&plugins).is_empty());
    assert_eq!(adopt(&mut plugins, vec![record(b"c", 1), record(b"d", 14)]), ["rxe", "mlx5"]);
    assert_eq!(done(&plugins), ["file mlx5", "mlx5"]);
}

#[test]
fn a_plugin_without_its_driver_in_the_table_matches_by_modalias() {
    let mut plugins = Plugins::new(usual(), &[]);
    let mut device = with_modalias(b"hns_0", b"pci:v000019E5d0000A222sv0");
    device.get_mut().driver_id = crate::uapi::RDMA_DRIVER_HNS;
    assert_eq!(adopt(&mut plugins, vec![device]), ["hns"]);
    assert_eq!(done(&plugins), ["file hns", "hns"]);
}

#[test]
fn a_kernel_that_does_not_tell_the_driver() {
    let mut plugins = Plugins::new(usual(), &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"rxe0", 0)]), ["rxe"]);
    assert_eq!(done(&plugins), ["file rxe", "rxe"]);
    let mlx5 = provider(c"mlx5", &[pci(0x15b3, 0x1017)]);
    let mlx4 = provider(c"mlx4", &[pci(0x15b3, 0x1003)]);
    let mut plugins = Plugins::new(Machine::with(&[("mlx5", mlx5), ("mlx4", mlx4)]), &[]);
    let device = || with_modalias(b"a", b"pci:v000015B3d00001003sv0");
    assert_eq!(adopt(&mut plugins, vec![device()]), ["mlx4"]);
    assert_eq!(done(&plugins), ["file mlx5", "mlx5", "file mlx4", "mlx4"]);
}

#[test]
fn everything_is_loaded_for_a_device_that_stays_alone() {
    let mut plugins = Plugins::new(usual(), &[]);
    let records = vec![record(b"rxe0", 0), record(b"b", 14), record(b"c", 77)];
    // The devices keep their order, whoever was found first.
    assert_eq!(adopt(&mut plugins, records), ["rxe", "rxe"]);
    assert_eq!(done(&plugins), ["file rxe", "rxe", "configuration", "mlx5", "hns"]);
    // Once only.
    assert_eq!(adopt(&mut plugins, vec![record(b"c", 77)]), Vec::<&str>::new());
    assert!(done(&plugins).is_empty());
}

#[test]
fn a_plugin_that_no_file_names_is_not_loaded() {
    let machine = Machine { own_files: vec![], configuration: vec!["mlx5"], ..usual() };
    let mut plugins = Plugins::new(machine, &[]);
    assert!(adopt(&mut plugins, vec![record(b"rxe0", 14)]).is_empty());
    // The plugin for another driver is of no use.
    assert_eq!(done(&plugins), ["file rxe", "configuration"]);
    assert!(adopt(&mut plugins, vec![record(b"rxe0", 14)]).is_empty());
    assert!(done(&plugins).is_empty());
    // It is when a device comes that may be for any.
    assert!(adopt(&mut plugins, vec![record(b"x", 77)]).is_empty());
    assert_eq!(done(&plugins), ["mlx5"]);
    // Another file may name it.
    let machine = Machine { own_files: vec![], configuration: vec!["mlx5", "rxe"], ..usual() };
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"rxe0", 14)]), ["rxe"]);
    assert_eq!(done(&plugins), ["file rxe", "configuration", "rxe"]);
}

#[test]
fn plugins_of_others_may_take_any_device() {
    let mut machine = usual();
    machine.own_files.clear();
    machine.plugins.insert("mine", vec![(65, leak(provider(c"mine", &[driver_id(14)])))]);
    machine.configuration = vec!["mlx5", "mine"];
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"rxe0", 14)]), ["mine"]);
    assert_eq!(done(&plugins), ["file rxe", "configuration", "mine"]);
}

#[test]
fn the_environment_comes_first() {
    let mut machine = usual();
    machine.environment = vec!["mine", "missing"];
    machine.plugins.insert("mine", vec![(65, leak(provider(c"mine", &[driver_id(14)])))]);
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"a", 14), record(b"b", 1)]), ["mine", "mlx5"]);
    assert_eq!(done(&plugins), ["mine", "missing", "file rxe", "rxe", "file mlx5", "mlx5"]);
}

#[test]
fn the_driver_counts_more_than_the_order() {
    let mut machine = usual();
    // A provider of the environment that would take the device by its name.
    machine.environment = vec!["mine"];
    machine
        .plugins
        .insert("mine", vec![(65, leak(provider(c"mine", &[pattern(c"rdma_device:N*")])))]);
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"a", 14), record(b"b", 0)]), ["rxe", "mine"]);
    assert_eq!(done(&plugins), ["mine", "file rxe", "rxe"]);
}

#[test]
fn providers_of_the_program_need_no_loading() {
    let machine = usual();
    let ops = leak(provider(c"linked", &[driver_id(1)]));
    machine.drivers.borrow_mut().push(driver(ops));
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"a", 1)]), ["linked"]);
    assert!(done(&plugins).is_empty());
    // What is adopted first is first.
    assert_eq!(adopt(&mut plugins, vec![record(b"b", 14), record(b"a", 1)]), ["linked", "rxe"]);
}

#[test]
fn the_next_provider_gets_what_one_failed_with() {
    let mut broken = provider(c"broken", &[driver_id(14)]);
    broken.alloc_device = Some(no_device);
    let good = provider(c"good", &[driver_id(14)]);
    let mut machine = Machine::with(&[("rxe", broken), ("other", good)]);
    machine.own_files = vec!["rxe"];
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"a", 14)]), ["good"]);
    assert_eq!(plugins.told.len(), 1);
    assert_eq!(adopt(&mut plugins, vec![record(b"a", 14)]), ["good"]);
    assert_eq!(plugins.told.len(), 1);
}

/// rxe for two private ABIs, of which the newer one is for another version of the kernel's driver.
fn two_releases() -> Machine {
    let mut machine = usual();
    let name = pattern(c"rdma_device:*Nrxe*");
    let newer =
        verbs_device_ops { match_min_abi_version: 2, ..provider(c"newer", &[driver_id(14), name]) };
    let older = provider(c"older", &[driver_id(14), name]);
    machine.plugins.insert("rxe", vec![(65, leak(newer)), (34, leak(older))]);
    machine
}

#[test]
fn an_older_private_abi_gets_what_the_newest_does_not_take() {
    for kernel_tells in [true, false] {
        let mut plugins = Plugins::new(two_releases(), &[]);
        let device = || record(b"rxe0", if kernel_tells { 14 } else { 0 });
        assert_eq!(adopt(&mut plugins, vec![device(), device()]), ["older", "older"]);
        let others = done(&plugins);
        assert_eq!(others.first().map(String::as_str), Some("file rxe"));
        assert_eq!(others.last().map(String::as_str), Some("rxe 34"));
        // Nothing is told, as nothing is missing. The older one stays, and gets only what it has to.
        assert!(plugins.told.is_empty());
        let mut fits = device();
        fits.get_mut().abi_ver = 2;
        assert_eq!(adopt(&mut plugins, vec![device(), fits]), ["older", "newer"]);
        assert!(done(&plugins).is_empty());
    }
}

#[test]
fn an_older_private_abi_of_any_plugin_that_is_for_the_device() {
    let mut machine = two_releases();
    let files = machine.plugins.remove("rxe").unwrap();
    machine.plugins.insert("mine", files);
    machine.configuration = vec!["mlx5", "mine"];
    let mut plugins = Plugins::new(machine, &[]);
    assert_eq!(adopt(&mut plugins, vec![record(b"rxe0", 77), record(b"rxe1", 14)]).len(), 2);
    let done = done(&plugins);
    assert_eq!(done.last().map(String::as_str), Some("mine 34"));
    assert!(!done.contains(&"mlx5 34".to_owned()));
}

#[test]
fn the_newest_private_abi_that_takes_a_device_is_enough() {
    let mut plugins = Plugins::new(two_releases(), &[]);
    let mut device = record(b"rxe0", 14);
    device.get_mut().abi_ver = 2;
    assert_eq!(adopt(&mut plugins, vec![device]), ["newer"]);
    assert_eq!(done(&plugins), ["file rxe", "rxe"]);
}

#[test]
fn a_device_that_no_private_abi_takes_is_told_of_once() {
    let mut plugins = Plugins::new(two_releases(), &[]);
    let device = || {
        let mut device = record(b"rxe0", 14);
        device.get_mut().abi_ver = 3;
        device
    };
    assert!(adopt(&mut plugins, vec![device()]).is_empty());
    assert_eq!(done(&plugins), ["file rxe", "rxe", "configuration", "rxe 34"]);
    assert_eq!((plugins.told.len(), plugins.complained.len()), (2, 0));
    assert!(adopt(&mut plugins, vec![device()]).is_empty());
    assert!(done(&plugins).is_empty());
    assert_eq!(plugins.told.len(), 2);
}

#[test]
fn a_provider_of_a_release_that_is_not_served_takes_nothing() {
    let mut machine = two_releases();
    let providers = machine.plugins.get("rxe").unwrap();
    machine.unusable = vec![providers[1].1];
    let mut plugins = Plugins::new(machine, &[]);
    assert!(adopt(&mut plugins, vec![record(b"rxe0", 14)]).is_empty());
    assert_eq!(plugins.unusable.len(), 1);
    assert!(adopt(&mut plugins, vec![record(b"rxe1", 14)]).is_empty());
    assert_eq!(plugins.unusable.len(), 1);
    // Both devices, both providers.
    assert_eq!(plugins.told.len(), 4);
}

fn complaint_about(machine: Machine, record: Record) -> Option<String> {
    let mut plugins = Plugins::new(machine, &[]);
    assert!(adopt(&mut plugins, vec![record]).is_empty());
    assert_eq!(plugins.complained.len(), 1);
    let record = self::record(b"mlx5_0", 1);
    complaint::complaint(&record, &plugins.source, &plugins.failures)
}

#[test]
fn complaints_say_what_to_do() {
    let missing = || Machine {
        own_files: vec!["mlx5"],
        configuration: vec!["mlx5", "mlx4"],
        ..Machine::default()
    };
    let device = || record(b"mlx5_0", 1);
    let text = complaint_about(missing(), device()).unwrap();
    let start = "device mlx5_0 needs plugin mlx5, which is missing: there is no libmlx5-rdmavNN.so \
                 (NN one of 65, 64, 59, 57, 34) in /plugins, /others or on the library path; \
                 install the plugins of rdma-core 36 to 65";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("ibverbs-providers") && text.contains("IBVERBS_RS_PLUGIN_PATH"));

    let older = Machine { unserved: Some(33), ..missing() };
    let text = complaint_about(older, device()).unwrap();
    let older = "/plugins/libmlx5-rdmav33.so is older than this library (private ABI 33, not one";
    assert!(text.contains(older), "{text}");
    let newer = Machine { unserved: Some(66), ..missing() };
    assert!(complaint_about(newer, device()).unwrap().contains("-rdmav66.so is newer"));

    let broken = Machine { faults: vec!["x.so: file too short", "y.so: no"], ..missing() };
    let text = complaint_about(broken, device()).unwrap();
    assert!(text.ends_with("which cannot be loaded: x.so: file too short; y.so: no"), "{text}");

    let none = Machine { no_configuration: true, ..Machine::default() };
    let text = complaint_about(none, device()).unwrap();
    assert!(text.contains("there is no /etc/libibverbs.d"), "{text}");

    let others = Machine { configuration: vec!["foo", "bar"], ..Machine::default() };
    let text = complaint_about(others, device()).unwrap();
    assert!(text.contains("the configured plugin foo (like 1 more) is missing"), "{text}");

    // The user took the file away.
    assert_eq!(complaint_about(Machine::default(), device()), None);
    let shown = Machine { show_warnings: true, ..Machine::default() };
    assert!(complaint_about(shown, device()).unwrap().contains("names its plugin mlx5"));
}

unsafe extern "C" fn is_built_in(record: *mut verbs_sysfs_dev) -> bool {
    // SAFETY: the record of a device that is offered.
    unsafe { crate::discovery::text(&(*record).ibdev_name) }.to_bytes().starts_with(b"urxe")
}

fn built_in_ops() -> *const verbs_device_ops {
    leak(verbs_device_ops {
        match_min_abi_version: 0,
        match_device: Some(is_built_in),
        ..provider(c"urxe", &[])
    })
}

fn built_in_devices() -> Vec<Record> {
    [&b"urxe0"[..], b"urxe1"].iter().map(|name| Record::new(c"/sys", name).unwrap()).collect()
}

const TEST_BUILT_IN: &[BuiltIn] =
    &[BuiltIn { name: "urxe", ops: built_in_ops, find: built_in_devices }];

#[test]
fn built_in_providers_appear_when_asked_for() {
    let mut plugins = Plugins::new(usual(), TEST_BUILT_IN);
    assert!(plugins.built_in_records().is_empty());
    for machine in [
        Machine { environment: vec!["urxe"], ..usual() },
        Machine { own_files: vec!["urxe"], ..usual() },
    ] {
        let mut plugins = Plugins::new(machine, TEST_BUILT_IN);
        let records = plugins.built_in_records();
        assert_eq!(records.len(), 2);
        assert_eq!(adopt(&mut plugins, records), ["urxe", "urxe"]);
        // It is no file to load, and not offered what has a device file.
        assert!(adopt(&mut plugins, vec![record(b"urxe7", 77)]).is_empty());
        assert!(!done(&plugins).contains(&"urxe".to_owned()));
    }
}
