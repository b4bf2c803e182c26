//! Distances between the lines that a site asks for.

/// What a stride prefetcher knows of the lines that sites asked for: one entry for each site.
#[derive(Debug, Clone, Default)]
pub(super) struct Strides {
    of_site: Vec<Stride>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Stride {
    line: Option<u64>,
    /// Distance from the line before to this one; 0 at first.
    distance: u64,
}

impl Strides {
    /// Notes a line. Returns the distance to the site's previous line if that line had the same distance to the one
    /// before it.
    pub fn train(&mut self, site: usize, line: u64) -> Option<u64> {
        if site >= self.of_site.len() {
            self.of_site.resize(site + 1, Stride::default());
        }
        let stride = &mut self.of_site[site];
        let distance = stride.line.map_or(0, |before| line.wrapping_sub(before));
        let is_steady = distance == stride.distance && distance != 0;
        *stride = Stride {
            line: Some(line),
            distance,
        };
        is_steady.then_some(distance)
    }
}
