//! Files of advice: lines of JSON.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use trackway_analysis::placement::{AdviceHeader, AdvisedSite, Placement};
use trackway_answers::failure::Failure;

const VERSION: u32 = 1;
/// Larger files are no advice.
const MOST_BYTES: u64 = 1 << 28;

pub struct Advice {
    pub header: AdviceHeader,
    pub sites: Vec<AdvisedSite>,
}

/// What is written for a placement.
pub fn text(placement: &Placement, program: &str) -> Result<String, Failure> {
    let mut lines = vec![serde_json::to_string(&placement.advice_header(program))
        .map_err(|error| Failure::new(error.to_string()))?];
    for site in placement.advice() {
        lines.push(serde_json::to_string(&site).map_err(|error| Failure::new(error.to_string()))?);
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

pub fn read(path: &Path) -> Result<Advice, Failure> {
    let length = fs::metadata(path)
        .map_err(|error| Failure::about(path, error))?
        .len();
    if length > MOST_BYTES {
        return Err(Failure::about(path, "too large for a file of advice"));
    }
    let text = fs::read_to_string(path).map_err(|error| Failure::about(path, error))?;
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((number, first)) = lines.next() else {
        return Err(Failure::about(
            path,
            "empty; `trackway place --advice FILE TRACE` writes advice",
        ));
    };
    let header: AdviceHeader = parsed(path, number, first)?;
    if header.trackway_advice != VERSION {
        let version = header.trackway_advice;
        return Err(Failure::about(
            path,
            format!("advice of version {version}, and this trackway knows {VERSION}; write it anew"),
        ));
    }
    let sites = lines.map(|(number, line)| site(path, number, line, &header));
    let sites = sites.collect::<Result<_, Failure>>()?;
    Ok(Advice { header, sites })
}

fn site(path: &Path, number: usize, line: &str, header: &AdviceHeader) -> Result<AdvisedSite, Failure> {
    let site: AdvisedSite = parsed(path, number, line)?;
    let problem = match (
        header.tiers.contains(&site.tier),
        site.calls.iter().any(Vec::is_empty),
    ) {
        (false, _) => format!(
            "tier {:?} is none of those in line 1: {}",
            site.tier,
            header.tiers.join(", ")
        ),
        (true, true) => "a call without return addresses can't be recognised; take it out".to_owned(),
        (true, false) => return Ok(site),
    };
    Err(Failure::about(path, format!("line {}: {problem}", number + 1)))
}

fn parsed<T: DeserializeOwned>(path: &Path, number: usize, line: &str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|error| {
        let problem = "`trackway place --advice FILE TRACE` writes advice";
        Failure::about(
            path,
            format!(
                "line {}, column {}: {error}; {problem}",
                number + 1,
                error.column()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"trackway_advice":1,"program":"/p","tiers":["dram","cxl"]}"#;
    const SITE: &str = r#"{"tier":"cxl","function":"f","bytes":5,"calls":[[{"object":"/p","offset":16}]]}"#;

    fn outcome(text: &str) -> Result<Advice, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("advice");
        fs::write(&path, text).unwrap();
        read(&path).map_err(|failure| failure.to_string())
    }

    #[test]
    fn advice_is_a_header_and_call_sites() {
        let advice = outcome(&format!("{HEADER}\n\n{SITE}\n")).unwrap();
        assert_eq!(advice.header.tiers, ["dram", "cxl"]);
        assert_eq!(advice.sites[0].calls[0][0].offset, 16);
    }

    #[test]
    fn errors_name_the_line() {
        let wrong_tier = SITE.replace("cxl", "hbm");
        let no_frames = SITE.replace(r#"{"object":"/p","offset":16}"#, "");
        for (text, part) in [
            (String::new(), "empty"),
            ("{}".into(), "line 1"),
            (HEADER.replace(":1,", ":2,"), "version 2"),
            (format!("{HEADER}\n{SITE}\n{wrong_tier}"), "line 3: tier \"hbm\""),
            (format!("{HEADER}\n{no_frames}"), "line 2: a call without"),
            (format!("{HEADER}\n{{\"tier\":"), "line 2, column"),
        ] {
            let error = outcome(&text).err().unwrap_or_default();
            assert!(error.contains(part), "{part} is missing in: {error}");
        }
    }
}
