//! A placement as tables.

use trackway_report::{counted, percent, Table, TableBuilder, Unit};

use super::knapsack::Method;
use super::plan::{Placed, Placement};
use crate::Findings;

impl Placement<'_> {
    /// The tables; the one of call sites has the `top` rows.
    pub fn findings(&self, top: usize) -> Findings {
        Findings {
            answer: Some(self.answer()),
            tables: vec![
                self.sites(top),
                self.tiers_table(),
                self.curve_table(),
                self.totals(),
            ],
        }
    }

    /// What makes the advice doubtful.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.too_large_bytes > 0 {
            let last = &self.tiers[self.tiers.len() - 1];
            warnings.push(format!(
                "what is left for the last tier exceeds the capacity of {} by {}; name a larger one, or one more",
                last.name,
                counted(self.too_large_bytes, "byte")
            ));
        }
        if self.placed.is_empty() {
            warnings.push(
                "no call site can be placed: record the program with --sample and --allocations".into(),
            );
        }
        warnings
    }

    fn relative(&self, weight: f64) -> f64 {
        weight / self.objects.weight.sum.max(1) as f64
    }

    fn answer(&self) -> String {
        let first = &self.tiers[0];
        let near = self.placed.iter().filter(|placed| placed.tier == 0).count();
        let last = self.tiers.len() - 1;
        format!(
            "{} in {}: {} of the measured time; all in {} would be {}, all in {} {}",
            counted(near as u64, "call site"),
            first.name,
            percent(self.relative(self.predicted)),
            first.name,
            percent(self.relative(self.weight_with(|_| 0))),
            self.tiers[last].name,
            percent(self.relative(self.weight_with(|_| last))),
        )
    }

    fn sites(&self, top: usize) -> Table {
        let shown = &self.placed[..self.placed.len().min(top)];
        let owner = |placed: &Placed| {
            self.objects
                .owners
                .get_index(placed.candidate.owner)
                .map(|(owner, _)| owner)
        };
        let last = self.tiers.len() - 1;
        let (near, far, measured) = (&self.tiers[0], &self.tiers[last], &self.tiers[self.measured_in]);
        let gain = |placed: &Placed, weight: f64| {
            let slowdowns =
                placed.candidate.gain(near, far, measured) / placed.candidate.weight.max(f64::MIN_POSITIVE);
            Some((weight * slowdowns).max(0.0).round() as u64)
        };
        TableBuilder::new("placement", "Call sites by gain for each byte", shown)
            .total_rows(self.placed.len())
            .text("name", "name", |row| {
                owner(row).map_or(String::new(), |owner| owner.name())
            })
            .path("file", "file", |row| {
                owner(row).map_or(String::new(), |owner| owner.file())
            })
            .optional_integer("line", "line", Unit::Number, |row| owner(row)?.line())
            .text("tier", "tier", |row| self.tiers[row.tier].name.clone())
            .integer("bytes", "bytes", Unit::Bytes, |row| row.candidate.bytes)
            .integer("weight", "measured ns", Unit::Count, |row| {
                row.candidate.weight as u64
            })
            .optional_real("slowdown", "in the last tier", Unit::Ratio, |row| {
                Some(far.slowdown(measured, row.candidate.streaming, row.candidate.stores))
            })
            .optional_integer("gain", "gain ns", Unit::Count, |row| {
                gain(row, row.candidate.weight)
            })
            .optional_integer("gain_low", "at least", Unit::Count, |row| {
                gain(row, row.candidate.weight_low)
            })
            .optional_integer("gain_high", "at most", Unit::Count, |row| {
                gain(row, row.candidate.weight_high)
            })
            .optional_real("gain_per_byte", "for each byte", Unit::Rate, |row| {
                Some(row.candidate.density(near, far, measured))
            })
            .optional_real("streaming", "in streams", Unit::Share, |row| {
                Some(row.candidate.streaming)
            })
            .optional_real("stores", "stores", Unit::Share, |row| Some(row.candidate.stores))
            .build()
    }

    fn tiers_table(&self) -> Table {
        let rows: Vec<usize> = (0..self.tiers.len()).collect();
        let tier = |row: &usize| &self.tiers[*row];
        TableBuilder::new("tiers", "Tiers", &rows)
            .text("tier", "tier", |row| tier(row).name.clone())
            .optional_integer("capacity", "capacity", Unit::Bytes, |row| {
                tier(row).capacity_bytes
            })
            .integer("used", "used", Unit::Bytes, |row| self.used_bytes(*row))
            .integer("sites", "call sites", Unit::Count, |row| {
                self.placed.iter().filter(|placed| placed.tier == *row).count() as u64
            })
            .optional_real("latency_ns", "ns", Unit::Rate, |row| Some(tier(row).latency_ns))
            .integer("read", "read bytes/s", Unit::Bytes, |row| {
                tier(row).read_bytes_per_s as u64
            })
            .integer("write", "written bytes/s", Unit::Bytes, |row| {
                tier(row).write_bytes_per_s as u64
            })
            .build()
    }

    fn curve_table(&self) -> Table {
        let points = self.curve();
        let title = format!("Time by capacity of {}", self.tiers[0].name);
        TableBuilder::new("placement_curve", title, &points)
            .integer("capacity", "bytes", Unit::Bytes, |point| point.0)
            .integer("predicted", "predicted ns", Unit::Count, |point| {
                point.1.round() as u64
            })
            .optional_real("relative", "of the measured", Unit::Ratio, |point| {
                Some(self.relative(point.1))
            })
            .build()
    }

    fn totals(&self) -> Table {
        let last = self.tiers.len() - 1;
        let whole = |weight: f64| weight.round().max(0.0) as u64;
        TableBuilder::new("prediction", "Prediction", &[()])
            .text("measured_in", "measured in", |()| {
                self.tiers[self.measured_in].name.clone()
            })
            .integer("measured", "measured ns", Unit::Count, |()| {
                self.objects.weight.sum
            })
            .integer("predicted", "predicted ns", Unit::Count, |()| {
                whole(self.predicted)
            })
            .optional_real("relative", "of the measured", Unit::Ratio, |()| {
                Some(self.relative(self.predicted))
            })
            .optional_integer("bound", "at best, if sites were parted", Unit::Count, |()| {
                self.bound.map(whole)
            })
            .integer("all_first", "all in the first tier", Unit::Count, |()| {
                whole(self.weight_with(|_| 0))
            })
            .integer("all_last", "all in the last tier", Unit::Count, |()| {
                whole(self.weight_with(|_| last))
            })
            .text("method", "choice", |()| match (self.method, self.tiers.len()) {
                (Method::Exact, ..=2) => "exact: no other choice of whole call sites is better",
                (Method::Exact, _) => "exact for each tier, one after the other",
                (Method::ByDensity, _) => "by gain for each byte; there may be a better one",
            })
            .as_record()
            .build()
    }
}
