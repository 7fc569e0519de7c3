//! What to tell about a device that no provider takes: one line that says what to do.

use crate::discovery::Record;
use crate::plugin::known::{PRIVATE_ABI, plugin_of};
use crate::plugin::load::Failure;
use crate::plugin::source::{Source, display};

/// What brings the plugins.
const ADVICE: &str = "install the plugins of rdma-core 65 (Debian: ibverbs-providers) or set \
                      IBVERBS_RS_PLUGIN_PATH to their directory";

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
        let file = file_name(&failure.name);
        return Some(format!("device {device} needs {file}, which {}", reason(failure, source)));
    }
    let (exists, configuration) = source.configuration();
    let configuration = configuration.display();
    if !exists {
        let wanted = plugin.map_or_else(|| "a plugin".to_owned(), |it| file_name(it.as_bytes()));
        return Some(format!(
            "device {device} needs {wanted}, but there is no {configuration} that names plugins: \
             {ADVICE}"
        ));
    }
    if let Some(failure) = failures.first() {
        let file = file_name(&failure.name);
        let others = match failures.len().saturating_sub(1) {
            0 => String::new(),
            others => format!(" (like {others} more)"),
        };
        return Some(format!(
            "device {device} has no provider; the configured plugin {file}{others} {}",
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

/// The file name of a plugin, for people.
fn file_name(name: &[u8]) -> String {
    let name = display(name);
    let prefix = if name.starts_with('/') { "" } else { "lib" };
    format!("{prefix}{name}-rdmav{PRIVATE_ABI}.so")
}

/// What is wrong with a plugin and what to do about it.
fn reason<S: Source>(failure: &Failure, source: &S) -> String {
    if let Some(fault) = &failure.fault {
        return format!("cannot be loaded: {fault}");
    }
    if let Some((path, abi)) = source.other_abi(&failure.name) {
        let age = if abi < PRIVATE_ABI { "older" } else { "newer" };
        return format!(
            "is missing; {} is {age} than this library (private ABI {abi}, not \
             {PRIVATE_ABI}): {ADVICE}",
            path.display(),
        );
    }
    format!("is missing: {ADVICE}")
}
