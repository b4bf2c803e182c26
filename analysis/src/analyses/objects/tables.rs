//! Owners of memory as tables.

use std::cmp::Reverse;

use trackway_report::{counted, duration, grouped, percent, Table, TableBuilder};
use trackway_trace::AddressClass;

use super::estimate::Weight;
use super::owner::Owner;
use super::ranks::Ranks;
use super::totals::{Objects, OwnerTotals};
use crate::analyses::samples::interval::SampledShare;
use crate::analyses::samples::tables::{bias, too_few};
use crate::Findings;

type Row<'a> = (&'a Owner, &'a OwnerTotals);
type Builder<'a, 'r> = TableBuilder<'a, Row<'r>>;

impl Objects {
    /// The tables; the one of owners has the `top` rows.
    pub fn findings(&self, top: usize) -> Findings {
        let rows = self.ranked();
        Findings {
            answer: Some(self.answer(&rows)),
            tables: vec![
                self.owners_table(&rows, top),
                self.accesses(&rows, top),
                self.phases(&rows, top),
                self.tenths(&rows, top),
                self.classes_table(),
                self.totals(),
            ],
        }
    }

    /// What took most time comes first, then what was largest.
    fn ranked(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row> = self.owners.iter().collect();
        rows.sort_by_key(|(_, totals)| (Reverse(totals.weight.sum), Reverse(totals.peak_bytes)));
        rows
    }

    fn answer(&self, rows: &[Row]) -> String {
        if let Some(too_few) = too_few(self.weight.samples) {
            return too_few;
        }
        let memory = rows
            .iter()
            .find(|(owner, totals)| owner.is_memory() && totals.weight.samples > 0);
        let measure = self.measure();
        match memory.and_then(|(owner, totals)| Some((owner, totals.weight.share_of(&self.weight)?))) {
            Some((owner, share)) => format!(
                "{} has {} of the {measure} ({} to {})",
                owner.label(),
                percent(share.share),
                percent(share.low),
                percent(share.high)
            ),
            None => format!(
                "No sample of {} says which memory it accessed",
                grouped(self.weight.samples)
            ),
        }
    }

    /// What samples stand for.
    fn measure(&self) -> &str {
        match (self.weighs_time(), self.unit.as_str()) {
            (true, _) => "time",
            (false, "") => "samples",
            (false, unit) => unit,
        }
    }

    /// What makes the numbers incomplete or doubtful.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.damage.iter().map(ToString::to_string).collect();
        let samples = self.weight.samples;
        let whole = (samples + self.lost).max(1) as f64;
        if self.lost > 0 {
            let lost = grouped(self.lost);
            warnings.push(format!(
                "{lost} samples ({}) were lost: what ran then has too small a share",
                percent(self.lost as f64 / whole)
            ));
        }
        if self.left_out > 0 {
            warnings.push(format!(
                "{} stand for something else than {}, and are left out",
                counted(self.left_out, "sample"),
                self.measure()
            ));
        }
        let of = |owner: &Owner| self.owners.get(owner).map_or(0, |totals| totals.weight.sum);
        let without = of(&Owner::NoAddress);
        if without > 0 {
            warnings.push(format!(
                "of {} of the {} it isn't known which memory was accessed: the shares of all owners are too small by it",
                percent(without as f64 / self.weight.sum.max(1) as f64),
                self.measure()
            ));
        }
        if !self.knows_allocations {
            warnings.push(
                "calls of allocators were not recorded: blocks have no names; record with --sample and --allocations"
                    .into(),
            );
        }
        warnings.extend(bias(&self.sampling, &self.window_weights));
        warnings
    }

    fn shown_us(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns) / 1000
    }

    fn owners_table(&self, rows: &[Row], top: usize) -> Table {
        let shown = &rows[..rows.len().min(top)];
        let share = |row: &Row| row.1.weight.share_of(&self.weight);
        let border = |share: f64| (share * self.weight.sum as f64).round() as u64;
        let title = format!("Memory by {}", self.measure());
        let unit = if self.weighs_time() { " (ns)" } else { "" };
        let (low, high) = (format!("at least{unit}"), format!("at most{unit}"));
        let ranks = Ranks::of(self);
        named(TableBuilder::new("objects", title, shown))
            .total_rows(rows.len())
            .ranked_by("weight")
            .text(("data_type", "type"), |row| row.1.data_type())
            .count("allocations", |row| row.1.allocations)
            .bytes(("peak_bytes", "most live"), |row| row.1.peak_bytes)
            .count("samples", |row| row.1.weight.samples)
            .count(("weight", &self.weight_title()), |row| row.1.weight.sum)
            .count(("weight_low", &low), |row| Some(border(share(row)?.low)))
            .count(("weight_high", &high), |row| Some(border(share(row)?.high)))
            .share("share", |row| Some(share(row)?.share))
            .number(("rank_best", "rank from"), |row| {
                Some(ranks.range(row.0, row.1, self)?.best)
            })
            .number(("rank_worst", "to"), |row| {
                Some(ranks.range(row.0, row.1, self)?.worst)
            })
            .rate(("weight_per_byte", "per byte"), |row| {
                (row.1.weight.sum as f64, row.1.peak_bytes)
            })
            .count("first_us", |row| Some(self.shown_us(row.1.first_ns?)))
            .count("last_us", |row| {
                row.1.first_ns.map(|_| self.shown_us(row.1.last_ns))
            })
            .build()
    }

    pub(super) fn weight_title(&self) -> String {
        match self.weighs_time() {
            true => "time (ns)".to_owned(),
            false => self.measure().to_owned(),
        }
    }

    fn accesses(&self, rows: &[Row], top: usize) -> Table {
        let mut rows: Vec<Row> = rows
            .iter()
            .copied()
            .filter(|row| row.1.clusters.seen > 0)
            .collect();
        let share = |row: &Row| row.1.clusters.share_of(&self.windows);
        let rank = |row: &Row| share(row).map_or(0.0, |share| share.share);
        rows.sort_by(|left, right| rank(right).total_cmp(&rank(left)));
        let shown = &rows[..rows.len().min(top)];
        let real = |number: fn(SampledShare) -> f64| move |row: &Row| share(row).map(number);
        named(TableBuilder::new(
            "object_accesses",
            "Memory by accesses that follow samples",
            shown,
        ))
        .total_rows(rows.len())
        .ranked_by("access_share")
        .count("accesses", |row| row.1.clusters.seen)
        .share(("access_share", "share"), real(|share| share.share))
        .share(("access_share_low", "at least"), real(|share| share.low))
        .share(("access_share_high", "at most"), real(|share| share.high))
        .text("confidence", |row| self.confidence(row.1).name())
        .count("reads", |row| row.1.window_loads)
        .count("writes", |row| row.1.window_stores)
        .share(("streaming", "in streams"), |row| row.1.streaming_share())
        .count("windows", |row| row.1.clusters.windows)
        .build()
    }

    fn phases(&self, rows: &[Row], top: usize) -> Table {
        let cells: Vec<(Row, usize, u64)> = rows
            .iter()
            .take(top)
            .flat_map(|row| {
                let parts = row.1.series.iter().enumerate().filter(|(_, weight)| **weight > 0);
                parts.map(move |(bin, weight)| (*row, bin, *weight))
            })
            .collect();
        let from_ns = |bin: usize| self.bins.start_ns(bin, 0).saturating_sub(self.start_ns);
        TableBuilder::new("object_phases", "Memory by parts of time", &cells)
            .text("kind", |cell| cell.0 .0.kind())
            .text("name", |cell| cell.0 .0.name())
            .path("file", |cell| cell.0 .0.file())
            .number("line", |cell| cell.0 .0.line())
            .number("from_us", |cell| from_ns(cell.1) / 1000)
            .number(("width_us", "us"), |_| self.bins.width_ns() / 1000)
            .count(("weight", &self.weight_title()), |cell| cell.2)
            .share(("share", "share of its own"), |cell| {
                (cell.2, cell.0 .1.weight.sum)
            })
            .build()
    }

    fn tenths(&self, rows: &[Row], top: usize) -> Table {
        let cells: Vec<(Row, usize, u64)> = rows
            .iter()
            .take(top)
            .flat_map(|row| {
                let parts = row.1.tenths.iter().enumerate().filter(|(_, weight)| **weight > 0);
                parts.map(move |(tenth, weight)| (*row, tenth, *weight))
            })
            .collect();
        TableBuilder::new("object_tenths", "Memory by tenths of the run", &cells)
            .text("kind", |cell| cell.0 .0.kind())
            .text("name", |cell| cell.0 .0.name())
            .path("file", |cell| cell.0 .0.file())
            .number("line", |cell| cell.0 .0.line())
            .number("tenth", |cell| cell.1 as u64 + 1)
            .count(("weight", &self.weight_title()), |cell| cell.2)
            .build()
    }

    fn classes_table(&self) -> Table {
        let all = AddressClass::KNOWN.into_iter().chain([AddressClass::None]);
        let rows: Vec<(AddressClass, Weight)> = all
            .filter_map(|class| Some((class, *self.classes.get(&class)?)))
            .collect();
        TableBuilder::new("address_classes", "How addresses of samples are known", &rows)
            .text(("class", "address"), |row| row.0.name())
            .count("samples", |row| row.1.samples)
            .count(("weight", &self.weight_title()), |row| row.1.sum)
            .share("share", |row| (row.1.sum, self.weight.sum))
            .build()
    }

    fn totals(&self) -> Table {
        let of = |owner: &Owner| self.owners.get(owner).map_or(0, |totals| totals.weight.sum);
        let whole = self.weight.sum;
        let named = |(owner, totals): Row| if owner.is_memory() { totals.weight.sum } else { 0 };
        let memory: u64 = self.owners.iter().map(named).fold(0, u64::saturating_add);
        let seconds = self.bins.last_ns - self.bins.first_ns;
        TableBuilder::new("sampled", "Samples", &[()])
            .count("samples", |()| self.weight.samples)
            .count(("weight", &self.weight_title()), |()| whole)
            .count(("lost", "lost samples"), |()| self.lost)
            .count(("left_out", "of other events"), |()| self.left_out)
            .share(("memory", "at known memory"), |()| (memory, whole))
            .share(("no_address", "at unknown addresses"), |()| {
                (of(&Owner::NoAddress), whole)
            })
            .share(("no_access", "at instructions without access"), |()| {
                (of(&Owner::NoAccess), whole)
            })
            .count("windows", |()| self.windows.windows)
            .share(("paced", "of known speed"), |()| {
                (self.window_weights.paced, self.window_weights.windows)
            })
            .count(("window_accesses", "their accesses"), |()| self.windows.seen)
            .count(("unknown_window_accesses", "of unknown address"), |()| {
                self.unknown_window_accesses
            })
            .text(("span", "from first to last"), |()| duration(seconds))
            .as_record()
            .build()
    }
}

fn named<'a, 'r>(builder: Builder<'a, 'r>) -> Builder<'a, 'r> {
    builder
        .text("kind", |row| row.0.kind())
        .text("name", |row| row.0.name())
        .path("file", |row| row.0.file())
        .number("line", |row| row.0.line())
}
