//! The library libnuma, which knows nodes by the devices beside them.

use std::ffi::{c_char, c_int, c_uint, c_void, CString};

use libloading::Symbol;
use trackway_answers::failure::Failure;

use crate::shared_library::SharedLibrary;

const LIBRARY: &str = "libnuma.so.1";
/// Debian's package that has it.
pub const PACKAGE: &str = "libnuma1";
/// Nodes that can be named to the kernel: the bits of its masks.
const MOST_NODES: u32 = 1024;

/// Whether the library can be loaded.
pub fn is_installed() -> bool {
    // SAFETY: as in `Libnuma::load`.
    unsafe { SharedLibrary::load(LIBRARY) }.is_ok()
}

pub struct Libnuma {
    library: SharedLibrary,
}

type NodeMask = *mut c_void;

impl Libnuma {
    /// # Errors
    /// If the library is missing, or the system has no NUMA nodes.
    pub fn load(purpose: &str) -> Result<Libnuma, Failure> {
        // SAFETY: what libnuma does when it is loaded is to count nodes and processors.
        let library = unsafe { SharedLibrary::load(LIBRARY) }.map_err(|error| {
            Failure::new(format!(
                "{purpose} needs libnuma, which can't be loaded: {error}; install Debian's package {PACKAGE}"
            ))
        })?;
        // SAFETY: `int numa_available(void)`.
        let available = unsafe {
            let ask: Symbol<unsafe extern "C" fn() -> c_int> = library.symbol("numa_available")?;
            ask()
        };
        match available {
            0.. => Ok(Libnuma { library }),
            _ => Err(Failure::new(format!(
                "{purpose} needs NUMA nodes, and the system knows none, or a container forbids to ask for them"
            ))),
        }
    }

    /// The nodes that a text stands for: as those of numactl, `all`, `+0`, `netdev:eth0`, `file:/mnt/cxl`, `pci:3a:00`.
    ///
    /// # Errors
    /// If it stands for none; libnuma says on standard error why.
    pub fn nodes(&self, text: &str) -> Result<Vec<u32>, Failure> {
        let nothing = || Failure::new(format!("libnuma knows no NUMA nodes by {text:?}"));
        let written = CString::new(text).map_err(|_| nothing())?;
        // SAFETY: `struct bitmask *numa_parse_nodestring(const char *)`, whose result is asked by
        // `int numa_bitmask_isbitset(const struct bitmask *, unsigned)` and freed by `numa_bitmask_free`.
        let nodes: Vec<u32> = unsafe {
            let parse: Symbol<unsafe extern "C" fn(*const c_char) -> NodeMask> =
                self.library.symbol("numa_parse_nodestring")?;
            let is_set: Symbol<unsafe extern "C" fn(NodeMask, c_uint) -> c_int> =
                self.library.symbol("numa_bitmask_isbitset")?;
            let free: Symbol<unsafe extern "C" fn(NodeMask)> = self.library.symbol("numa_bitmask_free")?;
            let mask = parse(written.as_ptr());
            if mask.is_null() {
                return Err(nothing());
            }
            let nodes = (0..MOST_NODES).filter(|node| is_set(mask, *node) != 0).collect();
            free(mask);
            nodes
        };
        match nodes.is_empty() {
            true => Err(nothing()),
            false => Ok(nodes),
        }
    }
}
