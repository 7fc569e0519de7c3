//! What to tell about a device that no provider takes: one line that says what to do.

use crate::discovery::Record;
use crate::plugin::known::plugin_of;
use crate::plugin::load::Failure;
use crate::plugin::source::{Source, display};
use crate::provider_api::private_abi::{PRIVATE_ABIS, layouts_of};

/// What brings the plugins.
fn advice() -> String {
    let layouts = || PRIVATE_ABIS.into_iter().flat_map(layouts_of);
    let oldest = layouts().map(|layout| *layout.releases.start()).min().unwrap_or(0);
    let newest = layouts().map(|layout| *layout.releases.end()).max().unwrap_or(0);
    format!(
        "install the plugins of rdma-core {oldest} to {newest} (Debian: ibverbs-providers) or set \
         IBVERBS_RS_PLUGIN_PATH to their directory"
    )
}

/// The warning about a device without a provider; nothing if there is nothing to do about it and
/// `IBV_SHOW_WARNINGS` does not ask for it all the same.
pub(crate) fn complaint<S: Source>(
    record: &Record,
    source: &S,
    failures: &[Failure],
) -> Option<String> {
    let device = record.name().to_string_lossy();
    let plugin = plugin_of(record.get().driver_id);
    let of_plugin = |failure: &&Failure| plugin.is_some_and(|it| failure.name == it.as_bytes());
    if let Some(failure) = failures.iter().find(of_plugin) {
        let name = display(&failure.name);
        return Some(format!(
            "device {device} needs plugin {name}, which {}",
            reason(failure, source)
        ));
    }
    let (exists, configuration) = source.configuration();
    let configuration = configuration.display();
    if !exists {
        let wanted = plugin.map_or_else(|| "a plugin".to_owned(), |it| format!("plugin {it}"));
        return Some(format!(
            "device {device} needs {wanted}, but there is no {configuration} that names plugins: {}",
            advice(),
        ));
    }
    if let Some(failure) = failures.first() {
        let name = display(&failure.name);
        let others = match failures.len().saturating_sub(1) {
            0 => String::new(),
            others => format!(" (like {others} more)"),
        };
        return Some(format!(
            "device {device} has no provider; the configured plugin {name}{others} {}",
            reason(failure, source),
        ));
    }
    source.show_warnings().then(|| match plugin {
        Some(plugin) => format!(
            "device {device} has no provider; no file in {configuration} names its plugin {plugin}"
        ),
        None => format!("device {device} has no provider"),
    })
}

/// What is wrong with a plugin and what to do about it.
fn reason<S: Source>(failure: &Failure, source: &S) -> String {
    if !failure.faults.is_empty() {
        return format!("cannot be loaded: {}", failure.faults.join("; "));
    }
    let private_abis = PRIVATE_ABIS.map(|it| it.to_string()).join(", ");
    if let Some(file) = source.unserved(&failure.name) {
        let newest = PRIVATE_ABIS.first().is_some_and(|it| file.private_abi > *it);
        let age = if newest { "newer" } else { "older" };
        return format!(
            "is missing; {} is {age} than this library (private ABI {}, not one of {private_abis}): \
             {}",
            file.path.display(),
            file.private_abi,
            advice(),
        );
    }
    let name = display(&failure.name);
    if name.starts_with('/') {
        return format!("is missing: there is no {name}-rdmavNN.so (NN one of {private_abis})");
    }
    format!(
        "is missing: there is no lib{name}-rdmavNN.so (NN one of {private_abis}) in {} or on the \
         library path; {}",
        source.directories(),
        advice(),
    )
}
