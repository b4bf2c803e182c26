//! Figures as a TOML document.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::calibration::{Calibration, Measured, FIRST_METHOD};
use crate::costs::{
    LevelCosts, MemoryCosts, TlbCosts, DEFAULT_BLOCK_AT_HAND_CYCLES, DEFAULT_FAULT_NS,
    DEFAULT_FORWARD_CYCLES, DEFAULT_NEW_BLOCK_CYCLES, DEFAULT_WALKS, DEFAULT_WINDOW,
};
use crate::error::CostsError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    processor: String,
    ghz: f64,
    width: f64,
    window: Option<u32>,
    most_misses: u32,
    transfer_ns: Option<f64>,
    fault_ns: Option<f64>,
    forward_ns: Option<f64>,
    block_at_hand_ns: Option<f64>,
    new_block_ns: Option<f64>,
    neighbour_ns: Option<f64>,
    tlb: TlbTable,
    level: Vec<LevelTable>,
    measured: Option<MeasuredTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TlbTable {
    second_level_ns: f64,
    walk_ns: f64,
    most_walks: Option<u32>,
    /// Both or none.
    first_entries: Option<u32>,
    second_entries: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelTable {
    name: String,
    size_bytes: Option<u64>,
    found_bytes: Option<u64>,
    stay_ms: Option<f64>,
    latency_ns: f64,
    line_ns: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredTable {
    #[serde(default = "first_method")]
    method: u32,
    unix_s: u64,
    took_s: f64,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    spread: BTreeMap<String, f64>,
}

fn first_method() -> u32 {
    FIRST_METHOD
}

impl MemoryCosts {
    /// Reads a document with the fields of [`MemoryCosts`], a table `tlb`, and a table `level` for each level.
    ///
    /// # Errors
    /// If it is no such document, or a machine can't have such figures.
    pub fn from_toml(document: &str) -> Result<MemoryCosts, CostsError> {
        Ok(Calibration::from_toml(document)?.costs)
    }

    /// Writes the document that [`MemoryCosts::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        let mut text = format!(
            "# What memory costs: one core's view, times in nanoseconds.\n\
             processor = {}\nghz = {:?}\nwidth = {:?}\nwindow = {}\nmost_misses = {}\n",
            quoted(&self.processor),
            self.ghz,
            self.width,
            self.window,
            self.most_misses
        );
        let _ = writeln!(
            text,
            "fault_ns = {:?}\nforward_ns = {:?}\nblock_at_hand_ns = {:?}\nnew_block_ns = {:?}",
            self.fault_ns, self.forward_ns, self.block_at_hand_ns, self.new_block_ns
        );
        for (name, ns) in [
            ("transfer_ns", self.transfer_ns),
            ("neighbour_ns", self.neighbour_ns),
        ] {
            if let Some(ns) = ns {
                let _ = writeln!(text, "{name} = {ns:?}");
            }
        }
        let TlbCosts {
            second_level_ns,
            walk_ns,
            most_walks,
            entries,
        } = self.tlb;
        let _ = write!(
            text,
            "\n[tlb]\nsecond_level_ns = {second_level_ns:?}\nwalk_ns = {walk_ns:?}\nmost_walks = {most_walks}\n"
        );
        if let Some([first, second]) = entries {
            let _ = write!(text, "first_entries = {first}\nsecond_entries = {second}\n");
        }
        for level in &self.levels {
            let _ = write!(text, "\n[[level]]\nname = {}\n", quoted(&level.name));
            if let Some(size) = level.size_bytes {
                let _ = writeln!(text, "size_bytes = {size}");
            }
            if let Some(found) = level.found_bytes {
                let _ = writeln!(text, "found_bytes = {found}");
            }
            if let Some(stay) = level.stay_ms {
                let _ = writeln!(text, "stay_ms = {stay:?}");
            }
            let _ = write!(
                text,
                "latency_ns = {:?}\nline_ns = {:?}\n",
                level.latency_ns, level.line_ns
            );
        }
        text
    }
}

impl Calibration {
    pub(crate) fn from_toml(document: &str) -> Result<Calibration, CostsError> {
        let document: Document = toml::from_str(document)
            .map_err(|error| CostsError::Document(error.to_string().trim_end().to_owned()))?;
        // A frequency of 0 is refused below.
        let cycles = |cycles: f64| cycles / document.ghz;
        let costs = MemoryCosts {
            processor: document.processor,
            ghz: document.ghz,
            levels: document.level.into_iter().map(LevelTable::costs).collect(),
            tlb: document.tlb.costs(),
            transfer_ns: document.transfer_ns,
            fault_ns: document.fault_ns.unwrap_or(DEFAULT_FAULT_NS),
            forward_ns: document.forward_ns.unwrap_or(cycles(DEFAULT_FORWARD_CYCLES)),
            block_at_hand_ns: document
                .block_at_hand_ns
                .unwrap_or(cycles(DEFAULT_BLOCK_AT_HAND_CYCLES)),
            new_block_ns: document.new_block_ns.unwrap_or(cycles(DEFAULT_NEW_BLOCK_CYCLES)),
            neighbour_ns: document.neighbour_ns,
            most_misses: document.most_misses,
            window: document.window.unwrap_or(DEFAULT_WINDOW),
            width: document.width,
        };
        costs.check()?;
        Ok(Calibration {
            costs,
            measured: document.measured.map(MeasuredTable::measured),
        })
    }

    /// Writes the document of the figures, with a table `measured`.
    pub fn to_toml(&self) -> String {
        let mut text = self.costs.to_toml();
        let Some(measured) = &self.measured else {
            return text;
        };
        let notes: Vec<String> = measured.notes.iter().map(|note| quoted(note)).collect();
        let _ = write!(
            text,
            "\n[measured]\nmethod = {}\nunix_s = {}\ntook_s = {:?}\nnotes = [{}]\n\n[measured.spread]\n",
            measured.method,
            measured.unix_s,
            measured.took_s,
            notes.join(", ")
        );
        for (name, share) in &measured.spread {
            let _ = writeln!(text, "{} = {share:?}", quoted(name));
        }
        text
    }
}

impl TlbTable {
    fn costs(self) -> TlbCosts {
        let entries = self.first_entries.zip(self.second_entries);
        TlbCosts {
            second_level_ns: self.second_level_ns,
            walk_ns: self.walk_ns,
            most_walks: self.most_walks.unwrap_or(DEFAULT_WALKS),
            entries: entries.map(|(first, second)| [first, second]),
        }
    }
}

impl LevelTable {
    fn costs(self) -> LevelCosts {
        LevelCosts {
            name: self.name,
            size_bytes: self.size_bytes,
            found_bytes: self.found_bytes,
            stay_ms: self.stay_ms,
            latency_ns: self.latency_ns,
            line_ns: self.line_ns,
        }
    }
}

impl MeasuredTable {
    fn measured(self) -> Measured {
        Measured {
            method: self.method,
            unix_s: self.unix_s,
            took_s: self.took_s,
            notes: self.notes,
            spread: self.spread,
        }
    }
}

/// A string of TOML. Control characters, which names don't have, become spaces.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => quoted.push(' '),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small machine with all that a document may have.
    pub fn machine() -> MemoryCosts {
        let level = |name: &str, size_bytes, latency_ns, line_ns| LevelCosts {
            name: name.into(),
            size_bytes,
            found_bytes: None,
            stay_ms: None,
            latency_ns,
            line_ns,
        };
        MemoryCosts {
            processor: "A \"quoted\" \\ name".into(),
            ghz: 3.0,
            levels: vec![
                level("L1", Some(32 << 10), 1.25, 0.5),
                LevelCosts {
                    stay_ms: Some(12.75),
                    ..level("L2", Some(1 << 20), 4.0, 1.5)
                },
                level("memory", None, 90.0, 5.5),
            ],
            tlb: TlbCosts {
                second_level_ns: 2.0,
                walk_ns: 7.75,
                most_walks: 6,
                entries: Some([72, 3072]),
            },
            fault_ns: 640.5,
            forward_ns: 1.25,
            block_at_hand_ns: 5.5,
            new_block_ns: 15.5,
            transfer_ns: Some(50.5),
            neighbour_ns: Some(8.5),
            most_misses: 12,
            window: 224,
            width: 4.0,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let costs = machine();
        assert_eq!(MemoryCosts::from_toml(&costs.to_toml()).unwrap(), costs);
        let one_core = MemoryCosts {
            transfer_ns: None,
            neighbour_ns: None,
            ..costs.clone()
        };
        assert_eq!(MemoryCosts::from_toml(&one_core.to_toml()).unwrap(), one_core);
        let older = MemoryCosts::from_toml(&costs.to_toml().replace("forward_ns = 1.25\n", "")).unwrap();
        assert!((older.forward_ns - DEFAULT_FORWARD_CYCLES / 3.0).abs() < 1e-9);
        let older = costs
            .to_toml()
            .replace("block_at_hand_ns = 5.5\nnew_block_ns = 15.5\n", "");
        let older = MemoryCosts::from_toml(&older).unwrap();
        assert!((older.block_at_hand_ns - DEFAULT_BLOCK_AT_HAND_CYCLES / 3.0).abs() < 1e-9);
        assert!((older.new_block_ns - DEFAULT_NEW_BLOCK_CYCLES / 3.0).abs() < 1e-9);
        let calibration = Calibration {
            costs,
            measured: Some(Measured {
                method: 2,
                unix_s: 1_700_000_000,
                took_s: 4.5,
                notes: vec!["no \"huge\" pages".into()],
                spread: BTreeMap::from([("L1 latency_ns".into(), 0.03)]),
            }),
        };
        assert_eq!(
            Calibration::from_toml(&calibration.to_toml()).unwrap(),
            calibration
        );
    }

    #[test]
    fn figures_of_no_machine_are_refused() {
        let good = machine().to_toml();
        for (part, by, message) in [
            ("ghz = 3.0", "ghz = nan", "ghz = NaN; expected 0.01 to 20"),
            ("ghz = 3.0", "ghz = -3.0", "ghz = -3; expected"),
            ("ghz = 3.0", "ghz = inf", "ghz = inf; expected"),
            ("ghz = 3.0", "", "missing field `ghz`"),
            ("ghz = 3.0", "ghz = \"fast\"", "expected f64"),
            ("width = 4.0", "width = 0", "width = 0; expected"),
            ("window = 224", "window = 0", "window = 0; expected"),
            ("window = 224", "window = -1", "invalid value"),
            ("window = 224", "windows = 224", "unknown field `windows`"),
            ("most_misses = 12", "most_misses = 99999999999", "invalid value"),
            (
                "most_misses = 12",
                "most_misses = 5000",
                "most_misses = 5000; expected 1 to 1024",
            ),
            (
                "most_walks = 6",
                "most_walks = 0",
                "tlb: most_walks = 0; expected 1",
            ),
            (
                "second_entries = 3072",
                "second_entries = 0",
                "tlb: second_entries = 0; expected 1",
            ),
            (
                "walk_ns = 7.75",
                "walk_ns = -0.1",
                "tlb: walk_ns = -0.1; expected 0",
            ),
            ("latency_ns = 90.0", "latency_ns = 1e300", "memory: latency_ns = "),
            (
                "latency_ns = 90.0",
                "latency_ns = 3.5",
                "latency of memory (3.5 ns) is below that of L2 (4 ns)",
            ),
            ("latency_ns = 1.25", "latency_ns = nan", "L1: latency_ns = NaN"),
            (
                "latency_ns = 1.25",
                "latency_ns = 0.0",
                "L1: latency_ns = 0; expected",
            ),
            ("line_ns = 5.5", "line_ns = 0", "memory: line_ns = 0; expected"),
            (
                "transfer_ns = 50.5",
                "transfer_ns = -50",
                "transfer_ns = -50; expected",
            ),
            (
                "size_bytes = 1048576",
                "size_bytes = 32768",
                "L2: size_bytes = 32768; expected 32769",
            ),
            ("size_bytes = 1048576", "", "L2: lacks size_bytes"),
            ("size_bytes = 1048576", "size_bytes = -1", "invalid value"),
            (
                "name = \"memory\"",
                "name = \"L3\"\nsize_bytes = 33554432",
                "the last level is memory",
            ),
            ("name = \"memory\"", "name = \"\"", "\"\" is no name"),
            ("name = \"memory\"", "name = \"\\u001b[2J\"", "is no name"),
            (
                "forward_ns = 1.25",
                "forward_ns = -1",
                "forward_ns = -1; expected 0",
            ),
            (
                "stay_ms = 12.75",
                "stay_ms = 0",
                "L2: stay_ms = 0; expected 0.001",
            ),
            ("[tlb]", "[tlb]\nthird = 1", "unknown field `third`"),
        ] {
            assert!(good.contains(part), "{part}");
            let error = MemoryCosts::from_toml(&good.replacen(part, by, 1))
                .unwrap_err()
                .to_string();
            assert!(error.contains(message), "{part} -> {by}: {error}");
        }
        for document in ["", "\0", "level = []", &good.replace("[[level]]", "[level]")] {
            assert!(MemoryCosts::from_toml(document).is_err(), "{document}");
        }
        let many =
            "\n[[level]]\nname = \"x\"\nsize_bytes = 4096\nlatency_ns = 90.0\nline_ns = 1.0\n".repeat(9);
        let error = MemoryCosts::from_toml(&(good + &many)).unwrap_err().to_string();
        assert!(error.contains("1 to 7 caches"), "{error}");
    }
}
