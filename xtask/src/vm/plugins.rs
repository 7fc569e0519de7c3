//! A provider plugin of another rdma-core release in the place of a suite's own one.

use std::path::Path;

use super::{Suite, Vm, rootfs};
use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// Where Debian's libraries are.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// The plugin that the virtual machine's devices need.
const PLUGIN: &str = "rxe";

/// The plugins of the release in `of`, in a second directory of plugins, from which `rxe` has to
/// come because the release in `machine` has lost its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherPlugins {
    pub(super) machine: Suite,
    pub(super) of: Suite,
}

impl OtherPlugins {
    /// The name of the file with the outcomes that differ from those with the own plugin: lines
    /// as in a file of outcomes, and behind another tab the reason.
    pub(super) fn differences(self) -> String {
        let (machine, of) = (self.machine.rdma_core(), self.of.rdma_core());
        format!("rdma-core-{machine}-tests-with-plugin-{of}.tsv")
    }

    /// What the differences are about.
    pub(super) fn title(self) -> String {
        format!(
            "with the plugin of {} instead of that of {}",
            self.of.rdma_core(),
            self.machine.rdma_core()
        )
    }

    /// Copies the other release's plugins, and the libraries that they are or that stand beside
    /// them, to the share; hides the own plugin from the guest.
    pub(super) fn install(self, vm: Vm, share: &Path) -> Result<Vm> {
        let libraries = rootfs::root(self.of)?.join(LIBRARIES);
        let release = format!(".{}", self.of.rdma_core());
        let to = paths::make_dir(share.join("other"))?;
        let beside = paths::list(&libraries)?.into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(&release) && !name.starts_with("libibverbs.so")
        });
        Cmd::new("cp")
            .arg("--archive")
            .arg(libraries.join("libibverbs"))
            .args(beside)
            .arg(to)
            .quiet()
            .run()?;
        Ok(vm.hide(&format!("/{LIBRARIES}/libibverbs/{}", file_name(self.machine))))
    }

    /// Shell commands that make the library look in the other directory, and load all plugins
    /// that the configuration names.
    pub(super) fn environment(self) -> String {
        "export IBVERBS_RS_PLUGIN_PATH=/share/other/libibverbs\n\
         names=$(sed -n 's/^driver //p' /etc/libibverbs.d/*.driver)\n\
         export IBV_DRIVERS=$(echo $names | tr ' ' ':')\n\
         VERBS_LOG_LEVEL=3 LD_PRELOAD=$preload ibv_devices\n"
            .to_owned()
    }

    /// A line if `output`, the guest's, with the library's log in it, does not say that rxe's plugin
    /// was taken for one of the right release.
    pub(super) fn wrong_release(self, output: &str) -> Option<String> {
        let release = self.of.rdma_core().split('.').next().unwrap_or_default();
        let told = format!(
            "provider {PLUGIN} (/share/other/libibverbs/{}): private ABI {} as in rdma-core {release} ",
            file_name(self.of),
            self.of.private_abi(),
        );
        (!output.contains(&told)).then(|| format!("the log does not say: {told}"))
    }

    /// A line for each plugin that is not among the files `mapped` into the tests' process, or
    /// that is but should not be: of the other release only rxe's, of the own one all others.
    pub(super) fn wrong_plugins(self, mapped: &str) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for suite in [self.machine, self.of] {
            let folder = rootfs::root(suite)?.join(LIBRARIES).join("libibverbs");
            let from = if suite == self.machine {
                format!("/{LIBRARIES}/")
            } else {
                "/share/other/".into()
            };
            for plugin in paths::list(&folder)? {
                let wanted = plugin.ends_with(file_name(suite)) == (suite == self.of);
                // In memory a file has its real name.
                let real = plugin
                    .canonicalize()
                    .map_err(|error| Error::new(format!("{}: {error}", plugin.display())))?;
                let name = format!("/{}", real.file_name().unwrap_or_default().to_string_lossy());
                let is_mapped =
                    mapped.lines().any(|path| path.starts_with(&from) && path.ends_with(&name));
                if wanted != is_mapped {
                    let how = if is_mapped { "is loaded" } else { "is not loaded" };
                    problems.push(format!("{} of {} {how}", &name[1..], suite.rdma_core()));
                }
            }
        }
        Ok(problems)
    }
}

/// The file of rxe's plugin in the release of `suite`.
fn file_name(suite: Suite) -> String {
    format!("lib{PLUGIN}-rdmav{}.so", suite.private_abi())
}
