//! A placement as tables.

use trackway_report::{counted, percent, Table, TableBuilder};

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
            .text("name", |row| {
                owner(row).map_or(String::new(), |owner| owner.name())
            })
            .path("file", |row| {
                owner(row).map_or(String::new(), |owner| owner.file())
            })
            .number("line", |row| owner(row)?.line())
            .text("tier", |row| self.tiers[row.tier].name.clone())
            .bytes("bytes", |row| row.candidate.bytes)
            .count(("weight", "measured ns"), |row| row.candidate.weight as u64)
            .ratio(("slowdown", "in the last tier"), |row| {
                Some(far.slowdown(measured, row.candidate.streaming, row.candidate.stores))
            })
            .count(("gain", "gain ns"), |row| gain(row, row.candidate.weight))
            .count(("gain_low", "at least"), |row| {
                gain(row, row.candidate.weight_low)
            })
            .count(("gain_high", "at most"), |row| {
                gain(row, row.candidate.weight_high)
            })
            .rate(("gain_per_byte", "for each byte"), |row| {
                Some(row.candidate.density(near, far, measured))
            })
            .share(("streaming", "in streams"), |row| Some(row.candidate.streaming))
            .share("stores", |row| Some(row.candidate.stores))
            .build()
    }

    fn tiers_table(&self) -> Table {
        let rows: Vec<usize> = (0..self.tiers.len()).collect();
        let tier = |row: &usize| &self.tiers[*row];
        TableBuilder::new("tiers", "Tiers", &rows)
            .text("tier", |row| tier(row).name.clone())
            .bytes("capacity", |row| tier(row).capacity_bytes)
            .bytes("used", |row| self.used_bytes(*row))
            .count(("sites", "call sites"), |row| {
                self.placed.iter().filter(|placed| placed.tier == *row).count()
            })
            .rate(("latency_ns", "ns"), |row| Some(tier(row).latency_ns))
            .bytes(("read", "read bytes/s"), |row| tier(row).read_bytes_per_s as u64)
            .bytes(("write", "written bytes/s"), |row| {
                tier(row).write_bytes_per_s as u64
            })
            .build()
    }

    fn curve_table(&self) -> Table {
        let points = self.curve();
        let title = format!("Time by capacity of {}", self.tiers[0].name);
        TableBuilder::new("placement_curve", title, &points)
            .bytes(("capacity", "bytes"), |point| point.0)
            .count(("predicted", "predicted ns"), |point| point.1.round() as u64)
            .ratio(("relative", "of the measured"), |point| {
                Some(self.relative(point.1))
            })
            .build()
    }

    fn totals(&self) -> Table {
        let last = self.tiers.len() - 1;
        let whole = |weight: f64| weight.round().max(0.0) as u64;
        TableBuilder::new("prediction", "Prediction", &[()])
            .text("measured_in", |()| self.tiers[self.measured_in].name.clone())
            .count(("measured", "measured ns"), |()| self.objects.weight.sum)
            .count(("predicted", "predicted ns"), |()| whole(self.predicted))
            .ratio(("relative", "of the measured"), |()| {
                Some(self.relative(self.predicted))
            })
            .count(("bound", "at best, if sites were parted"), |()| {
                self.bound.map(whole)
            })
            .count(("all_first", "all in the first tier"), |()| {
                whole(self.weight_with(|_| 0))
            })
            .count(("all_last", "all in the last tier"), |()| {
                whole(self.weight_with(|_| last))
            })
            .text(("method", "choice"), |()| match (self.method, self.tiers.len()) {
                (Method::Exact, ..=2) => "exact: no other choice of whole call sites is better",
                (Method::Exact, _) => "exact for each tier, one after the other",
                (Method::ByDensity, _) => "by gain for each byte; there may be a better one",
            })
            .as_record()
            .build()
    }
}
