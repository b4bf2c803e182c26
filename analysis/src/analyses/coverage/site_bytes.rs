//! Bytes of each site, but for those on stacks.

/// Counts by the number of the site.
#[derive(Debug, Clone, Default)]
pub(super) struct SiteBytes(Vec<u64>);

impl SiteBytes {
    pub fn add(&mut self, site: usize, bytes: u64) {
        if site >= self.0.len() {
            self.0.resize(site + 1, 0);
        }
        self.0[site] = self.0[site].saturating_add(bytes);
    }

    pub fn merge(&mut self, other: &SiteBytes) {
        for (site, &bytes) in other.0.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            self.add(site, bytes);
        }
    }

    /// Those sites that moved any.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = self.0.iter().copied().enumerate();
        all.filter(|(_, bytes)| *bytes > 0)
    }
}
