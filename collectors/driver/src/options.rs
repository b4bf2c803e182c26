//! The wrapper's own options, before the compiler's and from `TRACKWAY_CC_OPTIONS`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use trackway_answers::failure::Failure;

use crate::compiler::Streams;

pub const ENVIRONMENT_VARIABLE: &str = "TRACKWAY_CC_OPTIONS";

/// How to instrument; what isn't set is left to the pass's defaults.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub oracle: bool,
    /// Count accesses instead of recording them.
    pub count: bool,
    /// Functions that are regions of interest.
    pub regions: Vec<Vec<u8>>,
    /// Threads begin in the regions that are open where they are created.
    pub inherit_threads: bool,
    pub calls: Option<bool>,
    /// Whether to record what gives threads an order.
    pub order: Option<bool>,
    pub place: Option<Place>,
    pub ignore_lists: Vec<PathBuf>,
    pub allocators: Vec<PathBuf>,
    /// Whether to record what library functions read and write.
    pub library: Option<bool>,
    pub library_effects: Vec<PathBuf>,
    /// Which accesses' values to record.
    pub values: Vec<Vec<u8>>,
    pub clang: Option<PathBuf>,
    pub flang: Option<PathBuf>,
}

/// Where in the pipeline the pass runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Start,
    Early,
    Late,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Start => "start",
            Place::Early => "early",
            Place::Late => "late",
        }
    }
}

impl Options {
    /// Splits the wrapper's arguments into its options and the compiler's arguments. Options from the environment come
    /// first, so the command line has the last word.
    pub fn read(
        environment: Option<&OsStr>,
        arguments: Vec<OsString>,
    ) -> Result<(Options, Vec<OsString>), Failure> {
        let mut options = Options::default();
        if let Some(text) = environment {
            options.take_environment(text)?;
        }
        let mut own = 0;
        while own < arguments.len() && options.take(&arguments[own])? {
            own += 1;
        }
        if options.count && options.oracle {
            return Err(Failure::new(
                "--count and --oracle exclude each other: a program that counts records no accesses",
            ));
        }
        let compiler_arguments = arguments.into_iter().skip(own).collect();
        Ok((options, compiler_arguments))
    }

    fn take_environment(&mut self, text: &OsStr) -> Result<(), Failure> {
        let text = text
            .to_str()
            .ok_or_else(|| Failure::new(format!("{ENVIRONMENT_VARIABLE}: not UTF-8")))?;
        let words = shlex::split(text)
            .ok_or_else(|| Failure::new(format!("{ENVIRONMENT_VARIABLE}: a quote is not closed: {text}")))?;
        for word in words {
            if !self.take(OsStr::new(&word))? {
                return Err(Failure::new(format!(
                    "{ENVIRONMENT_VARIABLE}: no option of `trackway cc`: {word}; \
                     known: --oracle --count --region= --inherit= --calls= --order= --place= --ignorelist= --allocators= --library= --library-effects= --values= --clang= --flang="
                )));
            }
        }
        Ok(())
    }

    /// Takes one argument if it is an option of the wrapper; says whether it was.
    fn take(&mut self, argument: &OsStr) -> Result<bool, Failure> {
        let bytes = argument.as_bytes();
        let value = |name: &[u8]| bytes.strip_prefix(name);
        if bytes == b"--oracle" {
            self.oracle = true;
        } else if bytes == b"--count" {
            self.count = true;
        } else if let Some(glob) = value(b"--region=") {
            self.regions.push(function_glob(glob)?);
        } else if let Some(starts) = value(b"--inherit=") {
            self.inherit_threads = parse_inheriting(starts)?;
        } else if let Some(calls) = value(b"--calls=") {
            self.calls = Some(parse_switch("--calls", calls)?);
        } else if let Some(order) = value(b"--order=") {
            self.order = Some(parse_switch("--order", order)?);
        } else if let Some(place) = value(b"--place=") {
            self.place = Some(parse_place(place)?);
        } else if let Some(path) = value(b"--ignorelist=") {
            self.ignore_lists.push(existing_list("--ignorelist", path)?);
        } else if let Some(path) = value(b"--allocators=") {
            self.allocators.push(existing_list("--allocators", path)?);
        } else if let Some(library) = value(b"--library=") {
            self.library = Some(parse_switch("--library", library)?);
        } else if let Some(path) = value(b"--library-effects=") {
            self.library_effects
                .push(existing_list("--library-effects", path)?);
        } else if let Some(pattern) = value(b"--values=") {
            self.values.push(value_pattern(pattern)?);
        } else if let Some(path) = value(b"--clang=") {
            self.clang = Some(OsStr::from_bytes(path).into());
        } else if let Some(path) = value(b"--flang=") {
            self.flang = Some(OsStr::from_bytes(path).into());
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The streams that a program is linked with: ours are compiled without the oracle.
    pub fn streams(&self) -> Streams {
        match (self.oracle || self.library == Some(false), self.count) {
            (true, _) => Streams::Plain,
            (false, true) => Streams::Counting,
            (false, false) => Streams::Recording,
        }
    }

    /// The value of `TRACKWAY_PASS_OPTIONS`: `key=value` pairs separated by colons.
    pub fn for_pass(&self) -> OsString {
        let mut pairs: Vec<Vec<u8>> = Vec::new();
        if self.oracle {
            pairs.push(b"oracle=1".to_vec());
        }
        if self.count {
            pairs.push(b"count=1".to_vec());
        }
        pairs.extend(patterns("region=", &self.regions));
        if let Some(calls) = self.calls {
            pairs.push(format!("calls={}", u8::from(calls)).into_bytes());
        }
        if let Some(order) = self.order {
            pairs.push(format!("order={}", u8::from(order)).into_bytes());
        }
        if let Some(library) = self.library {
            pairs.push(format!("library={}", u8::from(library)).into_bytes());
        }
        if let Some(place) = self.place {
            pairs.push(format!("place={}", place.name()).into_bytes());
        }
        let lists = |key: &'static str, paths: &[PathBuf]| {
            paths
                .iter()
                .map(move |path| [key.as_bytes(), path.as_os_str().as_bytes()].concat())
                .collect::<Vec<_>>()
        };
        pairs.extend(lists("ignorelist=", &self.ignore_lists));
        pairs.extend(lists("allocators=", &self.allocators));
        pairs.extend(lists("library-effects=", &self.library_effects));
        pairs.extend(patterns("values=", &self.values));
        OsString::from_vec(pairs.join(&b':'))
    }
}

fn patterns<'a>(key: &'a str, patterns: &'a [Vec<u8>]) -> impl Iterator<Item = Vec<u8>> + 'a {
    patterns.iter().map(move |pattern| {
        let colons_apart: Vec<&[u8]> = pattern.split(|byte| *byte == b':').collect();
        [key.as_bytes(), &colons_apart.join(b"\\:".as_slice())].concat()
    })
}

fn function_glob(glob: &[u8]) -> Result<Vec<u8>, Failure> {
    match glob {
        b"" => Err(unknown_value("--region", glob, "a function's name, or a glob")),
        _ => Ok(glob.to_vec()),
    }
}

fn parse_inheriting(value: &[u8]) -> Result<bool, Failure> {
    match value {
        b"threads" => Ok(true),
        _ => Err(unknown_value("--inherit", value, "threads")),
    }
}

fn parse_switch(option: &'static str, value: &[u8]) -> Result<bool, Failure> {
    match value {
        b"0" => Ok(false),
        b"1" => Ok(true),
        _ => Err(unknown_value(option, value, "0 or 1")),
    }
}

fn parse_place(value: &[u8]) -> Result<Place, Failure> {
    [Place::Start, Place::Early, Place::Late]
        .into_iter()
        .find(|place| place.name().as_bytes() == value)
        .ok_or_else(|| unknown_value("--place", value, "start, early or late"))
}

fn value_pattern(pattern: &[u8]) -> Result<Vec<u8>, Failure> {
    const SUBJECTS: [&[u8]; 4] = [b"variable:", b"field:", b"type:", b"function:"];
    let names_something = |subject: &&[u8]| pattern.len() > subject.len() && pattern.starts_with(subject);
    if pattern == b"*" || SUBJECTS.iter().any(names_something) {
        return Ok(pattern.to_vec());
    }
    Err(unknown_value(
        "--values",
        pattern,
        "variable:GLOB, field:TYPE.FIELD, type:GLOB, function:GLOB or *",
    ))
}

fn unknown_value(option: &str, value: &[u8], expected: &str) -> Failure {
    Failure::new(format!(
        "{option}={}: expected {expected}",
        String::from_utf8_lossy(value)
    ))
}

fn existing_list(option: &str, path: &[u8]) -> Result<PathBuf, Failure> {
    let path = Path::new(OsStr::from_bytes(path));
    if path.as_os_str().as_bytes().contains(&b':') {
        return Err(Failure::about(
            path,
            format!("{option} takes no file name with a colon; rename the file"),
        ));
    }
    if let Err(error) = std::fs::File::open(path) {
        return Err(Failure::about(path, format!("{option}: {error}")));
    }
    Ok(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(environment: Option<&str>, arguments: &[&str]) -> Result<(Options, Vec<OsString>), Failure> {
        Options::read(
            environment.map(OsStr::new),
            arguments.iter().map(Into::into).collect(),
        )
    }

    #[test]
    fn own_options_end_at_the_first_other_argument() {
        let (options, rest) = read(None, &["--oracle", "--place=early", "-c", "--oracle", "a.c"]).unwrap();
        assert!(options.oracle);
        assert_eq!(options.for_pass(), "oracle=1:place=early");
        assert_eq!(rest, ["-c", "--oracle", "a.c"]);
    }

    #[test]
    fn streams_record_as_the_program_does() {
        let streams = |words: &[&str]| read(None, words).unwrap().0.streams();
        assert_eq!(streams(&[]), Streams::Recording);
        assert_eq!(streams(&["--count"]), Streams::Counting);
        assert_eq!(streams(&["--oracle"]), Streams::Plain);
        assert_eq!(streams(&["--library=0"]), Streams::Plain);
    }

    #[test]
    fn the_command_line_overrides_the_environment() {
        let (options, _) = read(
            Some("--calls=0 --clang='/opt/my clang'"),
            &["--calls=1", "--order=0"],
        )
        .unwrap();
        assert_eq!(options.calls, Some(true));
        assert_eq!(options.clang, Some("/opt/my clang".into()));
        assert_eq!(options.for_pass(), "calls=1:order=0");
    }

    #[test]
    fn without_options_the_pass_gets_its_defaults() {
        let (options, rest) = read(Some(""), &["a.c"]).unwrap();
        assert_eq!(options, Options::default());
        assert_eq!(options.for_pass(), "");
        assert_eq!(rest, ["a.c"]);
    }

    #[test]
    fn lists_repeat_and_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&first, "").unwrap();
        std::fs::write(&second, "").unwrap();
        let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let arguments = [
            option("ignorelist", &first),
            option("ignorelist", &second),
            option("allocators", &first),
            option("library-effects", &second),
        ];
        let (options, _) = read(None, &arguments.each_ref().map(String::as_str)).unwrap();
        let expected = format!(
            "ignorelist={0}:ignorelist={1}:allocators={0}:library-effects={1}",
            first.display(),
            second.display()
        );
        assert_eq!(options.for_pass(), expected.as_str());
        let missing = option("allocators", &folder.path().join("missing"));
        assert!(read(None, &[&missing])
            .unwrap_err()
            .to_string()
            .contains("missing"));
    }

    #[test]
    fn values_are_chosen_by_patterns() {
        let (options, _) = read(
            Some("--values='type:arc *'"),
            &["--values=*", "--values=field:ns::a.b"],
        )
        .unwrap();
        assert_eq!(
            options.for_pass(),
            r"values=type\:arc *:values=*:values=field\:ns\:\:a.b"
        );
    }

    #[test]
    fn regions_are_globs_of_functions() {
        let (options, _) = read(None, &["--count", "--region=ns::f*", "--region=main"]).unwrap();
        assert_eq!(options.for_pass(), r"count=1:region=ns\:\:f*:region=main");
    }

    #[test]
    fn threads_inherit_regions_if_asked_to() {
        let (options, rest) = read(None, &["--count", "--inherit=threads", "a.c"]).unwrap();
        assert!(options.inherit_threads);
        assert_eq!(options.for_pass(), "count=1");
        assert_eq!(rest, ["a.c"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (environment, argument, part) in [
            (None, "--calls=2", "0 or 1"),
            (None, "--order=yes", "0 or 1"),
            (None, "--library=strings", "0 or 1"),
            (None, "--place=middle", "start, early or late"),
            (None, "--ignorelist=a:b", "colon"),
            (None, "--region=", "glob"),
            (None, "--inherit=tasks", "expected threads"),
            (Some("--count"), "--oracle", "exclude"),
            (None, "--values=arc.ident", "field:TYPE.FIELD"),
            (None, "--values=type:", "field:TYPE.FIELD"),
            (Some("--fast"), "a.c", "--fast"),
            (Some("'"), "a.c", "quote"),
        ] {
            let message = read(environment, &[argument]).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
