//! The model's caches and TLBs, and what they came to.

use trackway_report::{Table, TableBuilder, Unit};

use crate::cache::{CacheLevel, Caches, LevelTotals, MissClass, TlbLevel, TlbTotals, Totals, MISS_CLASSES};

use super::SiteCounters;

/// What the tables are made from.
pub(super) struct Levels<'l> {
    pub caches: &'l Caches,
    pub totals: &'l Totals,
    /// The sum over all sites.
    pub counters: &'l SiteCounters,
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
            tables.push(classes_table(&rows));
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

    fn caches_table(&self, rows: &[LevelRow]) -> Table {
        let plain = rows.iter().all(|row| row.level.words().is_empty());
        let policy = if plain { "LRU, " } else { "" };
        let title = format!("Cache model: {policy}one set of caches per thread");
        let mut builder = TableBuilder::new("caches", title, rows)
            .integer("level", "level", Unit::Number, |row| row.number)
            .integer("size_bytes", "size", Unit::Bytes, |row| {
                row.level.geometry.size_bytes
            })
            .integer("ways", "ways", Unit::Number, |row| row.level.geometry.ways.into())
            .integer("line_bytes", "line", Unit::Number, |row| {
                row.level.geometry.line_bytes.into()
            });
        if !plain {
            builder = builder.text("model", "model", |row| row.level.words().join(" "));
        }
        builder
            .integer("reached", "reached by", Unit::Count, |row| row.reached)
            .integer("misses", "misses", Unit::Count, |row| row.totals.misses)
            .share("miss_ratio", "miss ratio", |row| (row.totals.misses, row.reached))
            .rate("misses_per_1000_accesses", "per 1000 accesses", |row| {
                (1000.0 * row.totals.misses as f64, row.accesses)
            })
            .integer("write_backs", "write-backs", Unit::Count, |row| {
                row.totals.write_backs
            })
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
            .integer("level", "level", Unit::Number, |row| row.number)
            .integer("entries", "entries", Unit::Count, |row| row.tlb.entries.into())
            .integer("ways", "ways", Unit::Number, |row| row.tlb.ways.into())
            .integer("page_bytes", "page", Unit::Bytes, |_| self.caches.page_bytes())
            .integer("reached", "reached by", Unit::Count, |row| row.reached)
            .integer("misses", "misses", Unit::Count, |row| row.totals.misses)
            .share("miss_ratio", "miss ratio", |row| (row.totals.misses, row.reached))
            .build()
    }

    fn traffic_table(&self) -> Table {
        let rows = [self.totals.traffic];
        TableBuilder::new("memory_traffic", "Memory traffic", &rows)
            .integer("bytes_read", "bytes read", Unit::Bytes, |row| row.bytes_read)
            .integer("bytes_written", "bytes written", Unit::Bytes, |row| {
                row.bytes_written
            })
            .as_record()
            .build()
    }
}

fn classes_table(rows: &[LevelRow]) -> Table {
    let class = |class: MissClass| move |row: &LevelRow| row.classes[class as usize];
    TableBuilder::new("miss_classes", "Misses by reason", rows)
        .integer("level", "level", Unit::Number, |row| row.number)
        .integer("misses", "misses", Unit::Count, |row| row.totals.misses)
        .integer(
            "compulsory",
            "compulsory",
            Unit::Count,
            class(MissClass::Compulsory),
        )
        .integer("capacity", "capacity", Unit::Count, class(MissClass::Capacity))
        .integer("conflict", "conflict", Unit::Count, class(MissClass::Conflict))
        .build()
}

fn prefetch_table(rows: &[LevelRow]) -> Table {
    TableBuilder::new("prefetches", "Prefetched lines", rows)
        .integer("level", "level", Unit::Number, |row| row.number)
        .integer("prefetched", "prefetched", Unit::Count, |row| {
            row.totals.prefetches
        })
        .integer("useful", "useful", Unit::Count, |row| {
            row.totals.useful_prefetches
        })
        .integer("useless", "useless", Unit::Count, |row| {
            row.totals.useless_prefetches
        })
        .share("useful_share", "useful share", |row| {
            (row.totals.useful_prefetches, row.totals.prefetches)
        })
        .build()
}
