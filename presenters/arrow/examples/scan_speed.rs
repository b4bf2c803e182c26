//! How many accesses a second of CPU time one thread reads from a trace as record batches: counts of sites, and rows of
//! some columns. Prints a line for each.
//!
//! Usage: scan_speed TRACE

use std::path::Path;
use std::time::Instant;

use trackway_arrow::{partitions, Relation, Selection, TraceTables};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: scan_speed TRACE")?;
    for (relation, columns) in [
        (Relation::SiteCounts, vec!["variable", "accesses"]),
        (
            Relation::SiteCounts,
            vec!["variable", "accesses", "bytes", "lowest_address"],
        ),
        (Relation::Accesses, vec!["variable"]),
        (Relation::Accesses, vec!["address"]),
        (Relation::Accesses, vec!["variable", "address", "size", "thread"]),
        (Relation::Accesses, vec!["time_ns"]),
    ] {
        let tables = TraceTables::open(Path::new(&path))?;
        let schema = relation.schema();
        let columns: Result<Vec<usize>, _> = columns.iter().map(|name| schema.index_of(name)).collect();
        let selection = Selection {
            columns: Some(columns?),
            ..Selection::default()
        };
        let started = Instant::now();
        let mut rows = 0;
        for part in partitions(&tables, relation, &selection, 1) {
            for batch in tables
                .scan(relation, part, selection.clone())
                .with_batch_rows(1 << 15)
            {
                rows += batch?.num_rows();
            }
        }
        let fields = selection.columns.unwrap_or_default();
        let names: Vec<&str> = fields
            .iter()
            .map(|index| schema.field(*index).name().as_str())
            .collect();
        println!(
            "{} ({}): {rows} rows in {:?}",
            relation.name(),
            names.join(", "),
            started.elapsed()
        );
    }
    Ok(())
}
