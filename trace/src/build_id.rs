//! Identifies the build of the program that a trace was recorded from.

use crate::{MappingChange, Program, Trace};

/// The build id of the program's file as it was mapped, in hexadecimal digits. That id isn't known for programs that
/// are compiled to record themselves. Then it is a hash of the tables that the compiler embedded, which changes with
/// the program's code. None if the trace has neither.
pub fn build_id(trace: &Trace) -> Option<String> {
    let (mappings, _) = trace.mappings();
    let program = &trace.meta().program;
    let mut mapped = mappings.events().iter().filter_map(|event| match &event.change {
        MappingChange::Mapped(mapping) => Some(mapping),
        _ => None,
    });
    let of_program = mapped.find(|mapping| &mapping.path == program && !mapping.build_id.is_empty());
    match of_program {
        Some(mapping) => Some(hexadecimal(&mapping.build_id)),
        None => hash_of_tables(trace.program()),
    }
}

/// Two digits for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hash of the modules' keys, whatever their order. The multiplier is that of FNV-1a.
fn hash_of_tables(program: &Program) -> Option<String> {
    let mut keys: Vec<u64> = program.modules.iter().map(|module| module.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let fold = |sum: u64, key: u64| (sum ^ key).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    let hash = keys.iter().copied().fold(0xcbf2_9ce4_8422_2325, fold);
    (!keys.is_empty()).then(|| format!("{hash:016x}"))
}
