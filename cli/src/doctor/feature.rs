//! A feature of the program, and what came of looking whether it works here.

use trackway_report::{wrapped, Table, TableBuilder};

/// What stands before the name of a feature.
const STATE_WIDTH: usize = 9;
/// Texts are no narrower, however narrow the terminal is.
const LEAST_WIDTH: usize = 20;

/// What a user may want to do, and whether this machine can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The verb or option.
    pub name: String,
    /// What the user gets by it.
    pub gives: String,
    pub state: Result<Found, Lack>,
}

/// What makes a feature work: the compiler, the library, the source of samples.
pub type Found = String;

/// What a feature lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    pub why: String,
    /// The line that brings it; none if no line can, such as counters that a virtual machine doesn't have.
    pub remedy: Option<String>,
}

impl Lack {
    pub fn new(why: impl Into<String>) -> Lack {
        Lack {
            why: why.into(),
            remedy: None,
        }
    }

    /// Something that Debian's packages bring.
    pub fn of_packages(why: impl Into<String>, packages: &[&str]) -> Lack {
        Lack::with_remedy(why, format!("apt-get install {}", packages.join(" ")))
    }

    pub fn with_remedy(why: impl Into<String>, remedy: impl Into<String>) -> Lack {
        Lack {
            why: why.into(),
            remedy: Some(remedy.into()),
        }
    }
}

impl Feature {
    pub fn new(name: impl Into<String>, gives: impl Into<String>, state: Result<Found, Lack>) -> Feature {
        Feature {
            name: name.into(),
            gives: gives.into(),
            state,
        }
    }

    /// `present` or `lacking`.
    pub fn word(&self) -> &'static str {
        match self.state {
            Ok(_) => "present",
            Err(_) => "lacking",
        }
    }

    /// What was found, or what is lacking.
    pub fn finding(&self) -> &str {
        match &self.state {
            Ok(found) => found,
            Err(lack) => &lack.why,
        }
    }

    /// The line that installs what is lacking.
    pub fn remedy(&self) -> Option<&str> {
        self.state.as_ref().err()?.remedy.as_deref()
    }
}

/// A row for each feature.
pub fn table(features: &[Feature]) -> Table {
    TableBuilder::new("features", "Features", features)
        .text("feature", |feature| feature.name.clone())
        .text(("gives", "what it gives"), |feature| feature.gives.clone())
        .text("state", Feature::word)
        .text(("finding", "found or lacking"), |feature| {
            feature.finding().to_owned()
        })
        .text(("install", "line to install it"), |feature| {
            feature.remedy().unwrap_or_default().to_owned()
        })
        .build()
}

/// Lines for people, of that width if there is one: what is lacking comes with the line to install it, below. That one
/// is never folded, so that it can be copied.
pub fn text(features: &[Feature], line_width: Option<usize>) -> String {
    let width = features.iter().map(|feature| feature.name.len()).max();
    let width = width.unwrap_or(0);
    let margin = STATE_WIDTH + width + 2;
    let room = line_width.map_or(usize::MAX, |width| width.saturating_sub(margin).max(LEAST_WIDTH));
    let mut text = String::new();
    for feature in features {
        let lines = wrapped(&format!("{}: {}", feature.gives, feature.finding()), room);
        let mut before = format!("{}  {:width$}  ", feature.word(), feature.name);
        for line in lines {
            text += &format!("{before}{line}\n");
            before = " ".repeat(margin);
        }
        if let Some(line) = feature.remedy() {
            let indent = match line.len() + 2 <= room {
                true => margin,
                false => STATE_WIDTH,
            };
            text += &format!("{:indent$}$ {line}\n", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_comes_with_the_line_to_install_it() {
        let features = [
            Feature::new("cc", "records C", Ok("clang-22".into())),
            Feature::new(
                "fc",
                "records Fortran",
                Err(Lack::of_packages("no flang", &["flang-22"])),
            ),
            Feature::new("--hardware", "counters", Err(Lack::new("none here"))),
        ];
        let lines = [
            "present  cc          records C: clang-22",
            "lacking  fc          records Fortran: no flang",
            "                     $ apt-get install flang-22",
            "lacking  --hardware  counters: none here",
            "",
        ];
        assert_eq!(text(&features, None), lines.join("\n"));
        let folded = [
            "present  cc          records C: clang-22",
            "lacking  fc          records Fortran: no",
            "                     flang",
            "         $ apt-get install flang-22",
            "lacking  --hardware  counters: none here",
            "",
        ];
        assert_eq!(text(&features, Some(41)), folded.join("\n"));
        assert_eq!(table(&features).row_count(), 3);
    }
}
