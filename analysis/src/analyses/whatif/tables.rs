//! Misses before and after.

use std::collections::HashMap;

use trackway_report::{grouped, Table, TableBuilder};

use super::headline::{self, link_name, Level};
use super::rewrite::Rewritten;
use super::{mixed_blocks, Comparison, NewLayout};
use crate::model::cache::Totals;
use crate::model::site_counts::attribution_table;
use crate::model::site_counts::group::{field_key, field_name, FieldKey};
use crate::model::site_counts::{Measure, SiteCounters};
use crate::model::Names;
use crate::Findings;

pub(super) struct Presentation<'p> {
    pub comparison: &'p Comparison<'p>,
    pub before: Vec<SiteCounters>,
    /// The last ones load and store pointers.
    pub after: Vec<SiteCounters>,
    pub totals: [Totals; 2],
    /// What was rewritten, by layout.
    pub done: Vec<Rewritten>,
}

struct FieldRow {
    name: String,
    before: SiteCounters,
    after: SiteCounters,
}

struct MemberRow<'r> {
    structure: &'r str,
    part: u64,
    offset: u64,
    size: u64,
    name: &'r str,
    old_offset: u64,
}

impl Presentation<'_> {
    pub fn findings(&self) -> Findings {
        let question = self.comparison.question;
        let rows = self.field_rows();
        let mut tables = vec![self.levels(), self.fields(&rows)];
        for (layout, done) in question.layouts.iter().zip(&self.done) {
            tables.push(self.layout(layout));
            tables.push(self.definition(layout));
            tables.push(self.rewritten(layout, done));
        }
        tables.push(attribution_table(self.comparison.trace.program(), &self.before));
        Findings {
            answer: Some(self.answer()),
            tables,
        }
    }

    fn level_count(&self) -> usize {
        let question = self.comparison.question;
        question
            .caches_before
            .levels()
            .len()
            .max(question.caches_after.levels().len())
    }

    fn answer(&self) -> String {
        let question = self.comparison.question;
        let names = question.layouts.iter().map(|layout| self.name(layout));
        let rewritten: Vec<(&str, Rewritten)> = names.zip(self.done.iter().copied()).collect();
        let what = headline::changes(question, |layout| self.name(layout));
        headline::headline(&what, &rewritten, &self.level_rows(), question.rank_by)
    }

    fn name(&self, layout: &NewLayout) -> &str {
        &self.comparison.structures.list[layout.structure].name
    }

    /// Everything that is counted of the whole program.
    fn level_rows(&self) -> Vec<Level> {
        let sums = [&self.before, &self.after].map(SiteCounters::sum);
        let level = |name: String, of: &dyn Fn(usize) -> u64| Level {
            name,
            before: of(0),
            after: of(1),
        };
        let mut rows = vec![level("accesses".into(), &|side| sums[side].accesses)];
        rows.extend((0..self.level_count()).map(|index| {
            let misses = |side: usize| self.totals[side].levels[index].misses;
            level(format!("L{} misses", index + 1), &misses)
        }));
        let question = self.comparison.question;
        let tlbs = [&question.caches_before, &question.caches_after].map(|caches| caches.tlbs().len());
        rows.extend((0..tlbs[0].max(tlbs[1])).map(|index| {
            let misses = |side: usize| self.totals[side].tlbs[index].misses;
            level(format!("TLB{} misses", index + 1), &misses)
        }));
        let traffic = |side: usize| self.totals[side].traffic;
        if question.machine_before.is_some() {
            rows.push(level("estimated cycles".into(), &|side| sums[side].cycles));
        }
        rows.push(level("bytes from memory".into(), &|side| {
            traffic(side).bytes_read
        }));
        rows.push(level("bytes to memory".into(), &|side| {
            traffic(side).bytes_written
        }));
        rows
    }

    fn levels(&self) -> Table {
        let rows = self.level_rows();
        let question = self.comparison.question;
        let title = format!(
            "Before: {}. After: {}",
            question.caches_before, question.caches_after
        );
        TableBuilder::new("levels", title, &rows)
            .text(("what", ""), |row| row.name.clone())
            .count("before", |row| row.before)
            .count("after", |row| row.after)
            .share(("ratio", "after ÷ before"), |row| (row.after, row.before))
            .build()
    }

    fn field_rows(&self) -> Vec<FieldRow> {
        let program = self.comparison.trace.program();
        let names = Names::new(program);
        let mut positions: HashMap<FieldKey, usize> = HashMap::new();
        let mut rows: Vec<FieldRow> = Vec::new();
        for (index, site) in program.sites.iter().enumerate() {
            if self.before[index].accesses == 0 {
                continue;
            }
            let key = field_key(program, site);
            let position = *positions.entry(key).or_insert_with(|| {
                rows.push(FieldRow {
                    name: field_name(&names, key),
                    before: SiteCounters::default(),
                    after: SiteCounters::default(),
                });
                rows.len() - 1
            });
            rows[position].before += &self.before[index];
            rows[position].after += &self.after[index];
        }
        let mut pointers = SiteCounters::default();
        for site in &self.after[program.sites.len()..] {
            pointers += site;
        }
        if pointers.accesses > 0 {
            rows.push(FieldRow {
                name: "(pointers to split-off parts)".into(),
                before: SiteCounters::default(),
                after: pointers,
            });
        }
        let rank_by = self.comparison.question.rank_by;
        let key = |row: &FieldRow| {
            let (before, after) = (rank_by.of(&row.before), rank_by.of(&row.after));
            std::cmp::Reverse((before.abs_diff(after), before.max(after), row.before.accesses))
        };
        rows.sort_by_key(key);
        rows
    }

    fn fields(&self, rows: &[FieldRow]) -> Table {
        let rank_by = self.comparison.question.rank_by;
        let title = format!("Fields whose {rank_by} change most");
        let mut builder = TableBuilder::top("fields", title, rows, self.comparison.question.top)
            .text("field", |row| row.name.clone())
            .count("accesses", |row| row.before.accesses);
        for level in 0..self.level_count() {
            let measure = Measure::Misses(level);
            let number = level + 1;
            let before = (format!("l{number}_misses_before"), format!("L{number} before"));
            let after = (format!("l{number}_misses_after"), format!("L{number} after"));
            builder = builder
                .count(before, |row| measure.of(&row.before))
                .count(after, |row| measure.of(&row.after));
        }
        if self.comparison.question.machine_before.is_some() {
            builder = builder
                .count(("cycles_before", "cycles before"), |row| row.before.cycles)
                .count(("cycles_after", "cycles after"), |row| row.after.cycles);
        }
        builder.build()
    }

    fn layout(&self, layout: &NewLayout) -> Table {
        let structure = &self.comparison.structures.list[layout.structure];
        let mut rows: Vec<MemberRow> = Vec::new();
        for (index, member) in structure.members.iter().enumerate() {
            let (part, offset) = layout.places[index];
            rows.push(MemberRow {
                structure: &structure.name,
                part: part as u64,
                offset,
                size: member.size,
                name: &member.name,
                old_offset: member.offset,
            });
        }
        if layout.has_pointer() {
            rows.push(MemberRow {
                structure: &structure.name,
                part: 0,
                offset: 0,
                size: 8,
                name: "(pointer to part 1)",
                old_offset: 0,
            });
        }
        rows.sort_by_key(|row| (row.part, row.offset));
        let sizes: Vec<String> = layout.parts.iter().map(|part| grouped(part.size)).collect();
        let title = format!(
            "{}: {} bytes instead of {}, {}",
            structure.name,
            sizes.join(" + "),
            grouped(structure.size),
            link_name(layout)
        );
        TableBuilder::new("layout", title, &rows)
            .number("part", |row| row.part)
            .number(("offset_bytes", "offset"), |row| row.offset)
            .number(("size_bytes", "size"), |row| row.size)
            .text("member", |row| row.name)
            .number(("old_offset_bytes", "was at"), |row| row.old_offset)
            .text(("type", "of"), |row| row.structure)
            .build()
    }

    fn definition(&self, layout: &NewLayout) -> Table {
        let name = &self.comparison.structures.list[layout.structure].name;
        let lines = layout.definition(self.comparison.structures);
        TableBuilder::new("definition", format!("{name}, to be written"), &lines)
            .source("source", |line| Some(line.clone()))
            .build()
    }

    fn rewritten(&self, layout: &NewLayout, done: &Rewritten) -> Table {
        let mixed = mixed_blocks(self.comparison.purposes);
        let all = SiteCounters::sum(&self.before).accesses;
        TableBuilder::new("rewritten", format!("Rewritten: {}", self.name(layout)), &[()])
            .share(
                ("fields_share", "accesses by its fields that were rewritten"),
                |()| done.share(),
            )
            .count(("blocks", "blocks laid out anew"), |()| done.blocks)
            .count(("objects", "objects in them"), |()| done.objects)
            .count(
                ("mixed_blocks", "blocks of several kinds of objects, left alone"),
                |()| mixed,
            )
            .count(("rewritten", "accesses rewritten"), |()| done.rewritten)
            .share(("rewritten_share", "of all accesses"), |()| (done.rewritten, all))
            .count(("by_address", "of them told by their address alone"), |()| {
                done.by_address
            })
            .count(("divided", "of them divided"), |()| done.divided)
            .count(("left", "accesses to fields that could not be rewritten"), |()| {
                done.left
            })
            .share(("left_share", "of all to this structure"), |()| {
                (done.left, done.share().1)
            })
            .count(("pointer_loads", "pointers loaded in addition"), |()| {
                done.pointer_loads
            })
            .count(("pointer_stores", "pointers set in addition"), |()| {
                done.pointer_stores
            })
            .as_record()
            .build()
    }
}
