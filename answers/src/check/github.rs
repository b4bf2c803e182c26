//! What a check found, in the form that GitHub's workflows read: annotations of lines, and a summary of the step.

use std::collections::hash_map::RandomState;
use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use trackway_report::{to_markdown, MarkdownFrame, Report, TextStyle, COMMENT_BYTES};

use super::values::Place;
use crate::failure::Failure;

/// GitHub sets it to the root of the repository's files.
const ROOT: &str = "GITHUB_WORKSPACE";
/// GitHub sets it to the file whose Markdown it shows below the job.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Something to show beside a line of the changed code.
#[derive(Debug, Clone)]
pub struct Annotation {
    pub is_error: bool,
    pub place: Option<Place>,
    /// The folder in which the program ran, from which relative paths start.
    pub working_directory: PathBuf,
    pub message: String,
}

impl Annotation {
    pub fn without_place(is_error: bool, message: impl Into<String>) -> Annotation {
        Annotation {
            is_error,
            place: None,
            working_directory: PathBuf::new(),
            message: message.into(),
        }
    }

    /// The command that GitHub's runner reads in a job's output.
    fn command(&self, root: &Path) -> String {
        let kind = if self.is_error { "error" } else { "warning" };
        let found = self.place.as_ref().map(|place| {
            let file = in_repository(&place.file, &self.working_directory, root);
            (place, file)
        });
        let (at, message) = match found {
            Some((place, Some(file))) => {
                let file = property(&file.to_string_lossy());
                (format!("file={file},line={},", place.line), self.message.clone())
            }
            Some((place, None)) => (
                String::new(),
                format!("{} ({}:{})", self.message, place.file, place.line),
            ),
            None => (String::new(), self.message.clone()),
        };
        format!("::{kind} {at}title=Trackway::{}\n", data(&message))
    }
}

/// The report for people, within which GitHub takes nothing for a command, and then the annotations.
pub fn text(report: &Report, annotations: &[Annotation], style: &TextStyle) -> String {
    let token = format!("{:016x}", RandomState::new().build_hasher().finish());
    let text = style.report(report);
    let commands = commands(annotations);
    format!("::stop-commands::{token}\n{text}\n::{token}::\n{commands}")
}

/// The commands that show annotations, a line for each.
pub fn commands(annotations: &[Annotation]) -> String {
    let root = root();
    let commands = annotations.iter().map(|annotation| annotation.command(&root));
    commands.collect()
}

/// Adds the report to the summary of the step, if there is one.
///
/// # Errors
/// If the file can't be written.
pub fn write_summary(report: &Report) -> Result<(), Failure> {
    let Some(path) = set(SUMMARY).map(PathBuf::from) else {
        return Ok(());
    };
    let frame = MarkdownFrame {
        marker: "trackway check".into(),
        heading: "Memory accesses: budgets".into(),
        ..MarkdownFrame::default()
    };
    let is_open = |table: &trackway_report::Table| matches!(table.name(), "budgets" | "traces");
    let markdown = to_markdown(report, &frame, COMMENT_BYTES, is_open);
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(markdown.as_bytes()));
    written.map_err(|error| Failure::about(&path, format!("{error}; {SUMMARY} names this file")))
}

fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

/// The root of the repository: where GitHub says it is, else the nearest folder with one, else the present folder.
fn root() -> PathBuf {
    let present = env::current_dir().unwrap_or_default();
    let folder = set(ROOT).map(PathBuf::from).unwrap_or_else(|| {
        let repository = present.ancestors().find(|folder| folder.join(".git").exists());
        repository.unwrap_or(&present).to_owned()
    });
    folder.canonicalize().unwrap_or(folder)
}

/// The path of a source file from the root of the repository. A file that was compiled elsewhere, such as in a container, is
/// found by the longest end of its path that the repository has.
fn in_repository(file: &str, working_directory: &Path, root: &Path) -> Option<PathBuf> {
    let path = without_dots(&working_directory.join(file));
    let real = path.canonicalize().ok();
    let inside = real.as_deref().into_iter().chain([path.as_path()]);
    let mut inside = inside.filter_map(|path| path.strip_prefix(root).ok());
    if let Some(path) = inside.find(|path| root.join(path).is_file()) {
        return Some(path.to_owned());
    }
    let parts: Vec<Component> = path.components().skip_while(|part| !is_name(part)).collect();
    let ends = (0..parts.len()).map(|first| parts[first..].iter().collect::<PathBuf>());
    ends.into_iter().find(|end| root.join(end).is_file())
}

fn is_name(part: &Component) -> bool {
    matches!(part, Component::Normal(_))
}

/// The path without `.` and `..`, as if no folder were a link.
fn without_dots(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if found.file_name().is_some() => {
                found.pop();
            }
            other => found.push(other),
        }
    }
    found
}

/// Escapes as GitHub's runner undoes them in a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The same in a property, which also ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn at(file: &str, working_directory: &Path) -> Annotation {
        Annotation {
            is_error: true,
            place: Some(Place {
                file: file.into(),
                line: 7,
            }),
            working_directory: working_directory.into(),
            message: "100 %\r\n::warning::x: a,b".into(),
        }
    }

    #[test]
    fn commands_are_one_line_with_a_path_from_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("src/a:b,c%")).unwrap();
        fs::create_dir_all(root.join("build")).unwrap();
        for file in ["src/a:b,c%/x.c", "src/y.c"] {
            fs::write(root.join(file), "").unwrap();
        }
        let message = "::100 %25%0D%0A::warning::x: a,b";
        let found = |file: &str, ran_in: &Path| at(file, ran_in).command(&root);
        let absolute = root.join("src/a:b,c%/x.c");
        assert_eq!(
            found(absolute.to_str().unwrap(), &root),
            format!("::error file=src/a%3Ab%2Cc%25/x.c,line=7,title=Trackway{message}\n")
        );
        let of_y = format!("::error file=src/y.c,line=7,title=Trackway{message}\n");
        assert_eq!(found("../src/y.c", &root.join("build")), of_y);
        assert_eq!(found("/container/repository/src/y.c", &root), of_y);
        assert_eq!(
            found("/usr/include/stdio.h", &root),
            format!("::error title=Trackway{message} (/usr/include/stdio.h:7)\n")
        );
    }

    #[test]
    fn nothing_in_the_report_is_a_command() {
        let report = Report {
            answer: "::set-env name=x::y".into(),
            warnings: Vec::new(),
            tables: Vec::new(),
        };
        let text = text(
            &report,
            &[Annotation::without_place(false, "w")],
            &TextStyle::PLAIN,
        );
        let lines: Vec<&str> = text.lines().collect();
        let token = lines[0].strip_prefix("::stop-commands::").unwrap();
        let end = lines
            .iter()
            .position(|line| *line == format!("::{token}::"))
            .unwrap();
        let inside = lines
            .iter()
            .position(|line| line.starts_with("::set-env"))
            .unwrap();
        assert!(inside < end, "{text}");
        assert_eq!(lines[end + 1..], ["::warning title=Trackway::w"]);
    }
}
