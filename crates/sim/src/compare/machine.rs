//! Where a comparison ran.

use std::fs;
use std::thread;

use serde::Serialize;

/// What a reader needs to know of the machine. What cannot be found out is `unknown`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// How many cores this process may use.
    pub cores: usize,
    /// The operating system's kernel.
    pub kernel: String,
    /// Whether it runs in a virtual machine.
    pub virtual_machine: bool,
    /// The version of this crate.
    pub version: &'static str,
}

impl Machine {
    /// This one.
    #[must_use]
    pub fn here() -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpu.lines().find(|line| line.starts_with(name))?;
            line.split_once(':').map(|(_, value)| value.trim().to_owned())
        };
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let known =
            |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
        Self {
            processor: field("model name").unwrap_or_else(|| "unknown".to_owned()),
            cores: thread::available_parallelism().map_or(0, usize::from),
            kernel: known(kernel.trim()),
            virtual_machine: field("flags").is_some_and(|flags| flags.contains("hypervisor")),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
