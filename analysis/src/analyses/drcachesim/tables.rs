//! The caches as a table, with the numbers that drcachesim prints.

use trackway_report::{grouped, percent, Table, TableBuilder};

use super::cache::{Cache, Counts};
use super::cores::Cores;
use super::settings::Size;
use super::Settings;

struct Row {
    name: String,
    /// Streams of the core, or `all`.
    threads: String,
    size: Size,
    counts: Counts,
}

/// One row for each cache. `threads` holds the streams of each core.
pub(super) fn caches(settings: &Settings, cores: &Cores, threads: &[Vec<u32>]) -> Table {
    let mut rows = Vec::new();
    for (core, threads) in threads.iter().enumerate() {
        let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
        let row = |kind: &str, size, cache: &Cache| Row {
            name: format!("{kind}{core}"),
            threads: threads.join(" "),
            size,
            counts: cache.counts,
        };
        rows.push(row("L1I", settings.instructions, &cores.instructions[core]));
        rows.push(row("L1D", settings.data, &cores.data[core]));
    }
    rows.push(Row {
        name: "LL".into(),
        threads: "all".into(),
        size: settings.last,
        counts: cores.last.counts,
    });
    TableBuilder::new("drcachesim", "Caches as drcachesim simulates them", &rows)
        .text("cache", |row| row.name.clone())
        .text("streams", |row| row.threads.clone())
        .bytes(("size_bytes", "size"), |row| row.size.bytes)
        .number("ways", |row| row.size.ways)
        .count("hits", |row| row.counts.hits)
        .count("misses", |row| row.counts.misses)
        .share("miss_ratio", |row| {
            (row.counts.misses, row.counts.hits + row.counts.misses)
        })
        .count(("compulsory_misses", "compulsory"), |row| {
            row.counts.compulsory_misses
        })
        .count("prefetch_hits", |row| row.counts.prefetch_hits)
        .count("prefetch_misses", |row| row.counts.prefetch_misses)
        .count("child_hits", |row| row.counts.child_hits)
        .build()
}

pub(super) fn answer(cores: &Cores) -> Option<String> {
    let counts = cores.last.counts;
    let all = counts.hits + counts.misses + counts.child_hits;
    (all > 0).then(|| {
        format!(
            "{} of {} lookups of lines miss all caches, {}",
            grouped(counts.misses),
            grouped(all),
            percent(counts.misses as f64 / all as f64)
        )
    })
}
