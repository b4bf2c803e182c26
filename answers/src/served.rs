//! What serves the accesses of tables: the caches of `report`, and the machine of `report --time`.

use std::sync::Arc;

use trackway_analysis::served::Served;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::model::ModelArguments;
use crate::time::MachineArguments;

/// The column of accesses that needs a machine's costs.
pub const CYCLES: &str = "cycles";

/// Caches and, if cycles are wanted, the machine for that trace.
///
/// # Errors
/// If the trace is of another machine than this, and none is named.
pub fn served(
    trace: &Trace,
    model: &ModelArguments,
    machine: &MachineArguments,
    wants_cycles: bool,
    warnings: &mut Vec<String>,
) -> Result<Served, Failure> {
    let (caches, _) = model.choose(trace, true, warnings)?;
    let machine = match wants_cycles {
        true => Some(Arc::new(machine.machine(&caches, trace, warnings)?)),
        false => None,
    };
    Ok(Served {
        caches: Some(caches),
        machine,
    })
}
