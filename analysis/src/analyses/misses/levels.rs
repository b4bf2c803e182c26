//! The model's caches and TLBs, and their counts.

use trackway_report::{Table, TableBuilder};

use crate::model::cache::{
    CacheLevel, Caches, LevelTotals, MissClass, TlbLevel, TlbTotals, Totals, Traffic, MISS_CLASSES,
};

use crate::model::site_counts::{Estimates, SiteCounters};

/// What the tables are made from.
pub(super) struct Levels<'l> {
    pub caches: &'l Caches,
    pub totals: &'l Totals,
    /// The sum over all sites.
    pub counters: &'l SiteCounters,
    /// None unless only bursts of the run were recorded.
    pub estimates: Option<&'l Estimates>,
}

struct LevelRow {
    number: u64,
    level: CacheLevel,
    accesses: u64,
    reached: u64,
    totals: LevelTotals,
    classes: [u64; MISS_CLASSES],
}

struct TlbRow {
    number: u64,
    tlb: TlbLevel,
    reached: u64,
    totals: TlbTotals,
}

impl Levels<'_> {
    /// Tables of what was simulated; none if nothing was.
    pub fn tables(&self) -> Vec<Table> {
        if self.caches.levels().is_empty() {
            return Vec::new();
        }
        let rows = self.rows();
        let mut tables = vec![self.caches_table(&rows)];
        if self.caches.classes() {
            tables.push(classes_table(&rows, self.caches.any_shared()));
        }
        if self.caches.includes() {
            tables.push(inclusion_table(&rows));
        }
        let prefetching: Vec<LevelRow> = rows
            .into_iter()
            .filter(|row| row.level.prefetch.is_on())
            .collect();
        if !prefetching.is_empty() {
            tables.push(prefetch_table(&prefetching));
        }
        if !self.caches.tlbs().is_empty() {
            tables.push(self.tlb_table());
        }
        tables.push(self.traffic_table());
        tables
    }

    fn rows(&self) -> Vec<LevelRow> {
        let accesses = self.counters.accesses;
        let row = |(index, &level): (usize, &CacheLevel)| LevelRow {
            number: index as u64 + 1,
            level,
            accesses,
            reached: match index {
                0 => accesses,
                _ => self.totals.levels[index].lookups,
            },
            totals: self.totals.levels[index],
            classes: self.counters.outcome.classes[index],
        };
        self.caches.levels().iter().enumerate().map(row).collect()
    }

    /// Which levels threads share.
    fn sharing(&self) -> String {
        match (self.caches.any_shared(), self.caches.private_levels()) {
            (false, _) => "one set of caches per thread".into(),
            (true, 1) => "L1 per thread, the others shared".into(),
            (true, private) => format!("L1 to L{private} per thread, the others shared"),
        }
    }

    fn caches_table(&self, rows: &[LevelRow]) -> Table {
        let plain = rows.iter().all(|row| row.level.is_plain());
        let policy = if plain { "LRU, " } else { "" };
        let title = format!("Cache model: {policy}{}", self.sharing());
        let mut builder = TableBuilder::new("caches", title, rows)
            .ranked_by("misses")
            .number("level", |row| row.number)
            .bytes(("size_bytes", "size"), |row| row.level.geometry.size_bytes)
            .number("ways", |row| row.level.geometry.ways)
            .number(("line_bytes", "line"), |row| row.level.geometry.line_bytes);
        if !plain {
            builder = builder.text("model", |row| row.level.words().join(" "));
        }
        builder = builder
            .count(("reached", "reached by"), |row| row.reached)
            .count("misses", |row| row.totals.misses)
            .share("miss_ratio", |row| (row.totals.misses, row.reached));
        if let Some(estimates) = self.estimates {
            builder = builder.share(("cold_share", "perhaps cold"), |row| {
                (estimates.cold[row.number as usize - 1], row.totals.misses)
            });
        }
        builder
            .rate(("misses_per_1000_accesses", "per 1000 accesses"), |row| {
                (1000.0 * row.totals.misses as f64, row.accesses)
            })
            .count(("write_backs", "write-backs"), |row| row.totals.write_backs)
            .build()
    }

    fn tlb_table(&self) -> Table {
        let row = |(index, &tlb): (usize, &TlbLevel)| TlbRow {
            number: index as u64 + 1,
            tlb,
            reached: match index {
                0 => self.counters.accesses,
                _ => self.totals.tlbs[index].lookups,
            },
            totals: self.totals.tlbs[index],
        };
        let rows: Vec<TlbRow> = self.caches.tlbs().iter().enumerate().map(row).collect();
        TableBuilder::new("tlbs", "Data TLBs", &rows)
            .number("level", |row| row.number)
            .count("entries", |row| row.tlb.entries)
            .number("ways", |row| row.tlb.ways)
            .bytes(("page_bytes", "page"), |_| self.caches.page_bytes())
            .count(("reached", "reached by"), |row| row.reached)
            .count("misses", |row| row.totals.misses)
            .share("miss_ratio", |row| (row.totals.misses, row.reached))
            .build()
    }

    fn traffic_table(&self) -> Table {
        let rows = [self.totals.traffic];
        let builder = TableBuilder::new("memory_traffic", "Memory traffic", &rows)
            .bytes("bytes_read", |row| row.bytes_read)
            .bytes("bytes_written", |row| row.bytes_written);
        let builder = match self.caches.any_shared() {
            true => add_coherence(builder),
            false => builder,
        };
        builder.as_record().build()
    }
}

fn add_coherence(builder: TableBuilder<Traffic>) -> TableBuilder<Traffic> {
    builder
        .count(("transfers", "lines from other cores"), |row| row.transfers)
        .count(("interventions", "written back for others"), |row| {
            row.interventions
        })
        .count(("invalidations", "copies invalidated"), |row| row.invalidations)
}

fn inclusion_table(rows: &[LevelRow]) -> Table {
    TableBuilder::new("back_invalidations", "Lines lost to inclusive levels", rows)
        .number("level", |row| row.number)
        .count(("back_invalidations", "lines"), |row| {
            row.totals.back_invalidations
        })
        .build()
}

fn classes_table(rows: &[LevelRow], shared: bool) -> Table {
    let class = |class: MissClass| move |row: &LevelRow| row.classes[class as usize];
    let builder = TableBuilder::new("miss_classes", "Misses by reason", rows)
        .number("level", |row| row.number)
        .count("misses", |row| row.totals.misses)
        .count("compulsory", class(MissClass::Compulsory))
        .count("capacity", class(MissClass::Capacity))
        .count("conflict", class(MissClass::Conflict));
    let builder = match shared {
        true => builder.count("coherence", class(MissClass::Coherence)),
        false => builder,
    };
    builder.build()
}

fn prefetch_table(rows: &[LevelRow]) -> Table {
    TableBuilder::new("prefetches", "Prefetched lines", rows)
        .number("level", |row| row.number)
        .count("prefetched", |row| row.totals.prefetches)
        .count("useful", |row| row.totals.useful_prefetches)
        .count("useless", |row| row.totals.useless_prefetches)
        .share("useful_share", |row| {
            (row.totals.useful_prefetches, row.totals.prefetches)
        })
        .build()
}
