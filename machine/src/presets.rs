//! Figures of processors that were published.

use crate::costs::MemoryCosts;
use crate::error::CostsError;

/// The processors for which the cache model has presets, too.
const PRESETS: [(&str, &str); 4] = [
    ("skylake-server", include_str!("presets/skylake-server.toml")),
    ("skylake-client", include_str!("presets/skylake-client.toml")),
    ("zen3", include_str!("presets/zen3.toml")),
    ("neoverse-n1", include_str!("presets/neoverse-n1.toml")),
];

/// The names that [`MemoryCosts::preset`] knows.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

impl MemoryCosts {
    /// The figures of a known processor.
    ///
    /// # Errors
    /// Names the presets that there are.
    pub fn preset(name: &str) -> Result<MemoryCosts, CostsError> {
        let found = PRESETS.iter().find(|(preset, _)| *preset == name);
        let (_, document) = found.ok_or_else(|| CostsError::UnknownPreset {
            name: name.to_owned(),
            known: PRESETS.map(|(name, _)| name).join(", "),
        })?;
        MemoryCosts::from_toml(document)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn presets_are_plausible() {
        for name in preset_names() {
            let costs = MemoryCosts::preset(name).unwrap();
            for pair in costs.levels.windows(2) {
                assert!(pair[0].latency_ns * 1.5 < pair[1].latency_ns, "{name}: {pair:?}");
                assert!(pair[0].line_ns <= pair[1].line_ns, "{name}: {pair:?}");
            }
            for level in &costs.levels {
                assert!(level.line_ns < level.latency_ns, "{name}: {level:?}");
            }
            assert!(
                (3.5..5.5).contains(&costs.cycles(costs.levels[0].latency_ns)),
                "{name}"
            );
            assert!((50.0..200.0).contains(&costs.memory().latency_ns), "{name}");
            assert!(costs.tlb.second_level_ns < costs.tlb.walk_ns, "{name}");
            let transfer_ns = costs.transfer_ns.unwrap();
            let of_caches = costs.levels[1].latency_ns..costs.memory().latency_ns;
            assert!(of_caches.contains(&transfer_ns), "{name}: {transfer_ns}");
            // No core streams faster than its misses overlap, by more than what prefetchers add.
            let overlapping = costs.memory().latency_ns / f64::from(costs.most_misses);
            assert!(costs.memory().line_ns < overlapping * 1.5, "{name}");
        }
    }

    #[test]
    fn presets_differ() {
        let all: Vec<_> = preset_names()
            .map(|name| MemoryCosts::preset(name).unwrap())
            .collect();
        let names: BTreeSet<_> = all.iter().map(|costs| &costs.processor).collect();
        assert_eq!(names.len(), PRESETS.len());
        for (index, costs) in all.iter().enumerate() {
            assert!(
                !all[..index].iter().any(|other| other.levels == costs.levels),
                "{costs:?}"
            );
            let again = MemoryCosts::from_toml(&costs.to_toml()).unwrap();
            assert_eq!(again, *costs);
        }
        let error = MemoryCosts::preset("z80").unwrap_err().to_string();
        assert!(error.contains("\"z80\"") && error.contains("zen3"), "{error}");
    }
}
