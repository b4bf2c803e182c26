//! Which accesses of a chunk are wanted.

use std::ops::Range;

use trackway_analysis::moments::Span;
use trackway_trace::Batch;

use crate::Selection;

/// Indices of accesses of a batch.
pub enum Chosen<'c> {
    Range(Range<usize>),
    Some(&'c [u32]),
}

impl Chosen<'_> {
    pub fn len(&self) -> usize {
        match self {
            Chosen::Range(range) => range.len(),
            Chosen::Some(indices) => indices.len(),
        }
    }
}

/// The wanted rows of accesses. Restrictions that leave out whole chunks are applied elsewhere.
pub struct Wanted {
    selection: Selection,
    /// Whether each site is wanted, by its number; none if all are wanted.
    sites: Option<Vec<bool>>,
    indices: Vec<u32>,
}

impl Wanted {
    pub fn new(selection: Selection, site_count: usize) -> Self {
        let sites = selection.sites.as_ref().map(|wanted| {
            let mut sites = vec![false; site_count];
            for site in wanted {
                if let Some(site) = sites.get_mut(*site as usize) {
                    *site = true;
                }
            }
            sites
        });
        Wanted {
            selection,
            sites,
            indices: Vec::new(),
        }
    }

    /// Whether single accesses of a chunk of that span may have unwanted times.
    pub fn divides(&self, span: &Span) -> bool {
        let times = &self.selection.times_ns;
        !self.selection.has_every_time() && (span.first_ns < *times.start() || span.last_ns > *times.end())
    }

    /// The accesses of a chunk, by their positions, whose times are wanted. The span must have its accesses counted.
    pub fn positions(&self, span: &Span) -> Range<u64> {
        let times = &self.selection.times_ns;
        let end = match times.end().checked_add(1) {
            Some(behind) => first_at(span, behind),
            None => span.accesses,
        };
        first_at(span, *times.start())..end
    }

    /// Whether all accesses of a range are wanted.
    pub fn takes_all(&self) -> bool {
        self.sites.is_none() && self.selection.has_every_address()
    }

    /// The wanted accesses of a range of the batch, at most `limit`.
    pub fn choose(&mut self, batch: &Batch, range: Range<usize>, limit: usize) -> Chosen<'_> {
        if self.takes_all() {
            let end = range.end.min(range.start.saturating_add(limit));
            return Chosen::Range(range.start..end);
        }
        let addresses = &self.selection.addresses;
        let sites = self.sites.as_deref();
        let is_wanted = |index: &u32| {
            let index = *index as usize;
            let site = batch.site[index].index();
            addresses.contains(&batch.address[index]) && sites.is_none_or(|sites| sites[site])
        };
        self.indices.clear();
        let range = range.start as u32..range.end as u32;
        self.indices.extend(range.filter(is_wanted).take(limit));
        Chosen::Some(&self.indices)
    }
}

/// The first access whose time is at least so late. [`Span::first_at`] doesn't handle spans without duration.
fn first_at(span: &Span, time_ns: u64) -> u64 {
    match span.first_ns == span.last_ns {
        true if time_ns <= span.first_ns => 0,
        true => span.accesses,
        false => span.first_at(time_ns),
    }
}
