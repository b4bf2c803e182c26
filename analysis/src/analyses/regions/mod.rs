//! Regions of interest of programs that count: how often and how long they ran, what they accessed and executed.
//!
//! There are no accesses to go over: [`Regions`] is made from the nodes and tables of a trace.

mod accesses;
mod answer;
mod code_tables;
mod evaluate;
mod hardware;
mod hardware_table;
pub mod live;
mod measured;
mod origins;
mod rates;
mod read;
mod scale;
mod stratum;
mod tables;
mod tally;

use std::path::{Path, PathBuf};

use trackway_report::Table;
use trackway_trace::{Trace, TraceError};

use crate::model::site_counts::Measure;
use crate::Findings;
use code_tables::CodeTables;
use tally::{Audit, Region};

/// Names of the tables, in their order.
pub const TABLES: [&str; 10] = [
    "regions",
    "regions_by_thread",
    "region_instructions",
    "region_hardware",
    "region_accesses_by_size",
    "region_lines",
    "region_variables",
    "blocks",
    "external_calls",
    "counts",
];

/// What the threads of a trace counted.
#[derive(Debug)]
pub struct Regions {
    /// The region with the most own time comes first.
    regions: Vec<Region>,
    /// Names of the events of which nodes hold sums.
    hardware_events: Vec<String>,
    audit: Audit,
    damage: Vec<TraceError>,
    source_root: Option<PathBuf>,
}

/// How the tables are ranked and cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Accesses or bytes; counts know nothing of misses.
    pub by: Measure,
    /// Rows of a table.
    pub top: usize,
}

impl Regions {
    /// Sums up what the trace's threads counted.
    pub fn read(trace: &Trace) -> Regions {
        read::regions(trace)
    }

    /// Looks for source files below this folder, too.
    pub fn with_sources_below(self, root: Option<&Path>) -> Regions {
        Regions {
            source_root: root.map(Path::to_owned),
            ..self
        }
    }

    /// What could not be read.
    pub fn damage(&self) -> &[TraceError] {
        &self.damage
    }

    /// Hardware events that were to be counted, but were around no entry of a region.
    pub fn unmeasured_events(&self) -> Option<&[String]> {
        let is_measured = |region: &Region| region.totals().hardware.measured_entries > 0;
        let has_none = !self.hardware_events.is_empty() && !self.regions.iter().any(is_measured);
        has_none.then_some(&self.hardware_events)
    }

    /// All tables.
    pub fn findings(&self, trace: &Trace, ranked: Ranked) -> Findings {
        let code = CodeTables::new(self, trace, ranked);
        let tables = TABLES.iter().filter_map(|name| self.named(&code, name));
        Findings {
            answer: Some(answer::answer(self)),
            tables: tables.collect(),
        }
    }

    /// The table of that name, one of [`TABLES`]. The hardware table exists only if events were measured.
    pub fn table(&self, trace: &Trace, name: &str, ranked: Ranked) -> Option<Table> {
        self.named(&CodeTables::new(self, trace, ranked), name)
    }

    fn named(&self, code: &CodeTables, name: &str) -> Option<Table> {
        let ranked = code.ranked();
        Some(match name {
            "regions" => tables::regions(self, ranked),
            "regions_by_thread" => tables::by_thread(self, ranked),
            "region_instructions" => tables::instructions(self, ranked),
            "region_hardware" => hardware_table::table(self, ranked)?,
            "region_accesses_by_size" => tables::by_size(self, code.program(), ranked),
            "region_lines" => code.lines(),
            "region_variables" => code.variables(),
            "blocks" => code.blocks(),
            "external_calls" => code.external_calls(),
            "counts" => tables::audit(self, code.program()),
            _ => return None,
        })
    }
}
