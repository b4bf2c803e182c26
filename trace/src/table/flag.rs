//! Bits of a table's flags.

pub(crate) const ORACLE: u16 = 1;
pub(crate) const CALLS: u16 = 2;
pub(crate) const ORDER: u16 = 4;
pub(crate) const COUNTS: u16 = 8;
pub(crate) const MACHINE_CODE: u16 = 16;
pub(crate) const FLOW: u16 = 32;
pub(crate) const CHECKSUMS: u16 = 64;
pub(crate) const PACKED: u16 = 128;
pub(crate) const WORK: u16 = 256;
pub(crate) const WAITS: u16 = 512;
pub(crate) const REGIONS: u16 = 1024;

/// All of them.
pub(crate) const KNOWN: u16 =
    ORACLE | CALLS | ORDER | COUNTS | MACHINE_CODE | FLOW | CHECKSUMS | PACKED | WORK | WAITS | REGIONS;
