//! Plugins: which provider takes a device, and which files are loaded to find out.
//!
//! A device goes to the first provider that names its kernel driver, else to the first one whose
//! table or function matches it. The order of providers is that of loading: those of the program
//! itself, those of the environment, those of the configuration.
//!
//! Loading everything that the configuration names costs a process hundreds of system calls, so
//! only the plugin for the kernel driver of a device is loaded, if the configuration names it in
//! the file that goes by its name. The whole configuration is read when a device stays without a
//! provider; of rdma-core's own plugins, those for other drivers are left out then, too. The
//! outcome is the same, because rdma-core has one plugin per kernel driver.
//!
//! Of a plugin that is installed for several private ABIs the newest is loaded that can be, and an
//! older one when no provider has taken the device after that.

mod complaint;
mod config;
mod elf;
mod known;
mod load;
mod matching;
mod release;
mod source;
#[cfg(test)]
pub(crate) mod tests;

use core::ptr;
use std::ffi::CString;

use crate::abi::*;
use crate::discovery::Record;
use crate::log::{self, log};
use crate::provider_api::private_abi;
use crate::provider_api::registry::Driver;
use crate::uapi::RDMA_DRIVER_UNKNOWN;
use crate::urxe;
use known::{is_known, plugin_of, plugins_by_look};
use load::Failure;
use matching::{Refusal, names_driver, offer, pci_vendor};
use source::display;

pub(crate) use release::settle as settle_layout;
pub(crate) use source::{Source, System};

/// A provider inside the library, which needs no file and no kernel.
#[derive(Clone, Copy)]
pub(crate) struct BuiltIn {
    /// The name that asks for it in `IBV_DRIVERS` and in the configuration.
    pub(crate) name: &'static str,
    /// What a plugin would register. Its `match_device` accepts the records that `find` makes.
    pub(crate) ops: fn() -> *const verbs_device_ops,
    /// Records of the devices that there are now, without a device file.
    pub(crate) find: fn() -> Vec<Record>,
}

/// The providers inside the library.
const BUILT_IN: &[BuiltIn] = &[urxe::device::BUILT_IN];

/// The providers and what was done to find them; one per process.
pub(crate) struct Plugins<S = System> {
    source: S,
    built_in: &'static [BuiltIn],
    /// The built-in providers that were asked for; nothing before that was looked up.
    wanted: Option<Vec<BuiltIn>>,
    environment_loaded: bool,
    /// The plugins that the configuration names, once it was read as a whole.
    configured: Option<Vec<Vec<u8>>>,
    /// Plugins that were loaded, or failed to.
    attempted: Vec<Attempt>,
    failures: Vec<Failure>,
    /// Providers that this library cannot work with, and why.
    unusable: Vec<(*const verbs_device_ops, String)>,
    /// Plugins whose own configuration file does not name them.
    not_in_own_file: Vec<&'static str>,
    /// Devices and the providers that are for them and do not take them, as was told.
    told: Vec<(CString, *const verbs_device_ops)>,
    /// Devices without a provider, as was told.
    complained: Vec<CString>,
}

// SAFETY: the pointers are to constant data and only compared.
unsafe impl<S: Send> Send for Plugins<S> {}

/// A plugin that was to be loaded.
struct Attempt {
    name: Vec<u8>,
    /// The private ABI of the file that was loaded last, if one was and there may be older ones.
    loaded: Option<u32>,
    /// What its files registered.
    providers: Vec<*const verbs_device_ops>,
}

/// A device that waits for its provider.
struct Candidate {
    /// Nothing once a provider has taken it.
    record: Option<Record>,
    device: *mut verbs_device,
    /// The providers that do not take it.
    refused: Vec<*const verbs_device_ops>,
    /// Those of them that are for such devices, and why they do not take this one.
    unfit: Vec<(*const verbs_device_ops, String)>,
    /// One of them failed, which was told.
    failed: bool,
}

impl Plugins<System> {
    /// Those of this machine. Nothing is loaded before the first device.
    pub(crate) fn system() -> Plugins<System> {
        Plugins::new(System::new(), BUILT_IN)
    }
}

impl<S: Source> Plugins<S> {
    pub(crate) fn new(source: S, built_in: &'static [BuiltIn]) -> Plugins<S> {
        Plugins {
            source,
            built_in,
            wanted: None,
            environment_loaded: false,
            configured: None,
            attempted: Vec::new(),
            failures: Vec::new(),
            unusable: Vec::new(),
            not_in_own_file: Vec::new(),
            told: Vec::new(),
            complained: Vec::new(),
        }
    }

    /// The built-in providers that the environment or the configuration asks for.
    fn wanted(&mut self) -> &[BuiltIn] {
        let (source, built_in) = (&self.source, self.built_in);
        self.wanted.get_or_insert_with(|| {
            if built_in.is_empty() {
                return Vec::new();
            }
            let named = source.in_environment();
            let is_named = |name: &str| named.iter().any(|other| other == name.as_bytes());
            let wanted = built_in.iter().copied();
            wanted.filter(|it| is_named(it.name) || source.in_own_file(it.name)).collect()
        })
    }

    /// Records of the devices that the library makes itself, as far as they are asked for.
    pub(crate) fn built_in_records(&mut self) -> Vec<Record> {
        self.wanted().iter().flat_map(|built_in| (built_in.find)()).collect()
    }

    /// Finds a provider for each of some new devices, and gives the devices that have one, in the
    /// order in which they join the list. The others are dropped.
    pub(crate) fn adopt(&mut self, records: Vec<Record>) -> Vec<*mut verbs_device> {
        let mut adopted = Vec::new();
        let (mut without_kernel, mut waiting): (Vec<_>, Vec<_>) = records
            .into_iter()
            .map(|record| Candidate {
                record: Some(record),
                device: ptr::null_mut(),
                refused: Vec::new(),
                unfit: Vec::new(),
                failed: false,
            })
            .partition(|candidate| candidate.record().is_some_and(|it| it.file().is_empty()));
        for candidate in &mut without_kernel {
            for built_in in self.wanted().to_vec() {
                let (ops, newest) = ((built_in.ops)(), private_abi::NEWEST);
                let private_abi = newest.private_abi;
                self.offer(candidate, &Driver { ops, private_abi, layout: Some(newest) });
            }
        }
        take_adopted(&mut without_kernel, &mut adopted);

        self.offer_to_all(&mut waiting);
        take_adopted(&mut waiting, &mut adopted);
        if !waiting.is_empty() {
            self.load_environment();
            for candidate in &mut waiting {
                self.offer_to_likely(candidate);
            }
            if waiting.iter().any(|candidate| candidate.record.is_some()) {
                self.load_rest(&waiting);
                self.offer_to_all(&mut waiting);
                for candidate in &mut waiting {
                    self.offer_to_older(candidate);
                }
            }
            take_adopted(&mut waiting, &mut adopted);
        }
        // In the kernel's order.
        for candidate in waiting.iter().rev() {
            self.complain(candidate);
        }
        adopted
    }

    /// Offers devices to every registered provider: first to those that name the kernel driver.
    fn offer_to_all(&mut self, candidates: &mut [Candidate]) {
        let drivers = self.source.drivers();
        for candidate in candidates {
            // SAFETY: the record of a registered provider.
            let names = |driver: &&Driver| unsafe {
                candidate.record().is_some_and(|record| names_driver(driver.ops, record))
            };
            let first: Vec<_> = drivers.iter().filter(names).collect();
            for driver in first.into_iter().chain(&drivers) {
                self.offer(candidate, driver);
            }
        }
    }

    /// Offers a device that has no provider yet to one that has not refused it.
    fn offer(&mut self, candidate: &mut Candidate, driver: &Driver) {
        let ops = driver.ops;
        if candidate.refused.contains(&ops) {
            return;
        }
        let Some(record) = candidate.record.take() else { return };
        let key = (record.name().to_owned(), ops);
        let first = !self.told.contains(&key);
        let (source, unusable) = (&self.source, &mut self.unusable);
        let settle = || {
            if let Some((_, why)) = unusable.iter().find(|(other, _)| *other == ops) {
                return Err(why.clone());
            }
            source.settle(driver).inspect_err(|why| unusable.push((ops, why.clone())))
        };
        // SAFETY: the record of a registered provider.
        match unsafe { offer(ops, record, first, settle) } {
            Ok(device) => candidate.device = device,
            Err((record, refusal)) => {
                candidate.record = Some(record);
                candidate.refused.push(ops);
                match refusal {
                    Refusal::NotFor => {}
                    Refusal::Unfit(why) => candidate.unfit.push((ops, why)),
                    Refusal::Failed => {
                        candidate.failed = true;
                        if first {
                            self.told.push(key);
                        }
                    }
                }
            }
        }
    }

    /// Loads the plugin for a device and offers it to the providers that there are then.
    fn offer_to_likely(&mut self, candidate: &mut Candidate) {
        let names = candidate.likely_plugins();
        let Some(record) = candidate.record() else { return };
        let driver_id = record.get().driver_id;
        log!(
            VERBS_LOG_INFO,
            "device {}: kernel driver {driver_id}, likely plugins {names:?}",
            record.name().to_string_lossy(),
        );
        if driver_id == RDMA_DRIVER_UNKNOWN {
            // Nothing counts but the order, in which the providers of the environment are first.
            self.offer_to_all(core::slice::from_mut(candidate));
        }
        for name in names {
            if candidate.record.is_some() && self.have(name) {
                self.offer_to_all(core::slice::from_mut(candidate));
            }
        }
    }

    /// Loads the plugins for a device for older private ABIs too, until a provider takes it.
    fn offer_to_older(&mut self, candidate: &mut Candidate) {
        // Those that were loaded for another device by now.
        self.offer_to_all(core::slice::from_mut(candidate));
        let mut names: Vec<_> =
            candidate.likely_plugins().iter().map(|name| name.as_bytes().to_vec()).collect();
        for attempt in &self.attempted {
            let is_for_it = candidate.unfit.iter().any(|(ops, _)| attempt.providers.contains(ops));
            if is_for_it && !names.contains(&attempt.name) {
                names.push(attempt.name.clone());
            }
        }
        for name in names {
            while candidate.record.is_some() && self.load_older(&name) {
                self.offer_to_all(core::slice::from_mut(candidate));
            }
        }
    }

    /// Makes sure that a plugin is loaded, if the configuration names it in the file that goes by
    /// its name.
    fn have(&mut self, name: &'static str) -> bool {
        if self.was_attempted(name.as_bytes()) {
            return !self.failures.iter().any(|failure| failure.name == name.as_bytes());
        }
        if self.not_in_own_file.contains(&name) {
            return false;
        }
        if !self.source.in_own_file(name) {
            self.not_in_own_file.push(name);
            return false;
        }
        self.load(name.as_bytes())
    }

    /// Loads the plugins of the environment, once.
    fn load_environment(&mut self) {
        if !core::mem::replace(&mut self.environment_loaded, true) {
            for name in self.source.in_environment() {
                self.load(&name);
            }
        }
    }

    /// Loads the plugins of the configuration that may be for one of these devices.
    fn load_rest(&mut self, waiting: &[Candidate]) {
        let source = &self.source;
        let configured = self.configured.get_or_insert_with(|| source.in_configuration()).clone();
        let records = || waiting.iter().filter_map(Candidate::record);
        let likely = || records().map(|record| plugin_of(record.get().driver_id));
        let is_for_all = likely().any(|plugin| plugin.is_none());
        for name in configured {
            let is_likely = || likely().flatten().any(|plugin| plugin.as_bytes() == name);
            if is_for_all || !is_known(&name) || is_likely() {
                self.load(&name);
            }
        }
    }

    fn was_attempted(&self, name: &[u8]) -> bool {
        self.attempted.iter().any(|other| other.name == name)
    }

    /// Loads a plugin unless that was tried before.
    fn load(&mut self, name: &[u8]) -> bool {
        let is_built_in = self.built_in.iter().any(|built_in| built_in.name.as_bytes() == name);
        if is_built_in || self.was_attempted(name) {
            return false;
        }
        self.attempted.push(Attempt { name: name.to_vec(), loaded: None, providers: Vec::new() });
        let loaded = self.load_below(name, None);
        let is_loaded = loaded.is_ok();
        self.failures.extend(loaded.err());
        is_loaded
    }

    /// Loads a plugin that was loaded before for an older private ABI too, if it is there for one.
    fn load_older(&mut self, name: &[u8]) -> bool {
        let attempt = self.attempted.iter().find(|attempt| attempt.name == name);
        let loaded = attempt.and_then(|attempt| attempt.loaded);
        loaded.is_some_and(|private_abi| self.load_below(name, Some(private_abi)).is_ok())
    }

    /// Loads a plugin of which an attempt is kept.
    fn load_below(&mut self, name: &[u8], below: Option<u32>) -> Result<(), Failure> {
        let before = self.source.drivers().len();
        let loaded = self.source.load(name, below);
        let drivers = self.source.drivers();
        let new = drivers.get(before..).unwrap_or_default();
        match &loaded {
            Ok(private_abi) => log!(
                VERBS_LOG_INFO,
                "plugin {}, private ABI {private_abi}, registers {} providers",
                display(name),
                new.len(),
            ),
            Err(failure) if failure.faults.is_empty() && below.is_none() => {
                log!(VERBS_LOG_INFO, "plugin {}: there is no such file", display(name));
            }
            Err(_) => {}
        }
        if let Some(attempt) = self.attempted.iter_mut().find(|attempt| attempt.name == name) {
            attempt.loaded = loaded.as_ref().ok().copied();
            attempt.providers.extend(new.iter().map(|driver| driver.ops));
        }
        loaded.map(|_| ())
    }

    /// Tells of a device without a provider, once.
    fn complain(&mut self, candidate: &Candidate) {
        let Some(record) = candidate.record() else { return };
        for (ops, why) in &candidate.unfit {
            let key = (record.name().to_owned(), *ops);
            if !self.told.contains(&key) {
                log::warning(format_args!("{why}"));
                self.told.push(key);
            }
        }
        let is_told = candidate.failed || !candidate.unfit.is_empty();
        if is_told || self.complained.iter().any(|name| **name == *record.name()) {
            return;
        }
        self.complained.push(record.name().to_owned());
        match complaint::complaint(record, &self.source, &self.failures) {
            Some(text) => log::warning(format_args!("{text}")),
            None => {
                let name = record.name().to_string_lossy();
                log!(VERBS_LOG_INFO, "device {name} has no provider");
            }
        }
    }
}

impl Candidate {
    fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// The plugins to look at first: the one for its kernel driver, if the kernel tells that.
    fn likely_plugins(&mut self) -> Vec<&'static str> {
        let Some(record) = &mut self.record else { return Vec::new() };
        let driver_id = record.get().driver_id;
        if driver_id == RDMA_DRIVER_UNKNOWN {
            let vendor = pci_vendor(record);
            return plugins_by_look(record.name().to_bytes(), vendor).to_vec();
        }
        Vec::from_iter(plugin_of(driver_id))
    }
}

/// Moves the devices that have a provider.
fn take_adopted(candidates: &mut Vec<Candidate>, adopted: &mut Vec<*mut verbs_device>) {
    let devices = candidates.iter().map(|candidate| candidate.device);
    adopted.extend(devices.filter(|device| !device.is_null()));
    candidates.retain(|candidate| candidate.record.is_some());
}
