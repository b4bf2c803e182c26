//! What a compiler command line asks for, as far as the wrapper has to know.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::driver_options::{OPTIONS_WITH_SEPARATE_VALUE, QUERIES};
use crate::language::Language;
use crate::response_file;

const TARGET: &[u8] = b"--target=";

/// What the compiler is going to do with a command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// Generates code from at least one source of the language's family or of LLVM IR.
    pub compiles: bool,
    /// Reads at least one source that may include headers.
    pub preprocesses: bool,
    /// Ends by linking; what it links is...
    pub links: Option<Output>,
    /// The triple that the command line names.
    pub target: Option<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Executable,
    /// Loads no shared objects (`-static`, `-static-pie`).
    StaticExecutable,
    SharedObject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputKind {
    Source,
    PreprocessedSource,
    Assembly,
    PreprocessedAssembly,
    Header,
    /// Objects, archives, libraries, linker options, and whatever clang hands to the linker for want of a better idea.
    Linker,
}

/// The last stage that the driver runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Answers a question (`-dumpmachine`, `--version`) and does nothing else.
    Query,
    Preprocess,
    Check,
    Compile,
    Link,
}

impl Invocation {
    /// Reads the arguments that follow the compiler's name; `@file`s are opened for it.
    pub fn parse(arguments: &[OsString], language: Language) -> Invocation {
        let mut reader = Reader::for_driver(language);
        reader.read(&response_file::expand(arguments));
        reader.conclude()
    }
}

struct Reader {
    driver: Language,
    stage: Stage,
    /// Set by `-x`; holds for the inputs after it.
    language: Option<InputKind>,
    inputs: Vec<InputKind>,
    shared: bool,
    is_static: bool,
    relocatable: bool,
    target: Option<OsString>,
}

impl Reader {
    fn for_driver(driver: Language) -> Self {
        Reader {
            driver,
            stage: Stage::Link,
            language: None,
            inputs: Vec::new(),
            shared: false,
            is_static: false,
            relocatable: false,
            target: None,
        }
    }

    fn read(&mut self, arguments: &[OsString]) {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_bytes() {
                b"--" => rest.by_ref().for_each(|input| self.add_input(input)),
                b"-" => self.add_input(argument),
                b"-x" | b"--language" => {
                    if let Some(language) = rest.next() {
                        self.set_language(language.as_bytes());
                    }
                }
                b"-target" => self.target = rest.next().cloned(),
                b"-Xlinker" | b"--for-linker" => {
                    self.read_linker_option(rest.next().map(|value| value.as_bytes()).unwrap_or_default());
                }
                option if option.starts_with(b"-") => {
                    if is_one_of(option, OPTIONS_WITH_SEPARATE_VALUE) {
                        rest.next();
                    } else {
                        self.read_option(option);
                    }
                }
                _ => self.add_input(argument),
            }
        }
    }

    fn read_option(&mut self, option: &[u8]) {
        match option {
            b"-c"
            | b"--compile"
            | b"-S"
            | b"--assemble"
            | b"-emit-ast"
            | b"--precompile"
            | b"-emit-merged-ifs"
            | b"-emit-interface-stubs" => self.stop_at(Stage::Compile),
            b"-E" | b"--preprocess" | b"-M" | b"-MM" | b"--dependencies" | b"--user-dependencies" => {
                self.stop_at(Stage::Preprocess);
            }
            b"-fsyntax-only"
            | b"--analyze"
            | b"-extract-api"
            | b"-rewrite-objc"
            | b"-rewrite-legacy-objc"
            | b"-module-file-info"
            | b"-verify-pch" => self.stop_at(Stage::Check),
            b"-shared" | b"--shared" => self.shared = true,
            b"-static" | b"--static" | b"-static-pie" => self.is_static = true,
            b"-r" | b"--relocatable" | b"--emit-static-lib" => self.relocatable = true,
            _ if is_query(option) => self.stop_at(Stage::Query),
            _ if option.starts_with(b"-Wl,") => {
                option[4..]
                    .split(|&byte| byte == b',')
                    .for_each(|word| self.read_linker_option(word));
            }
            _ if option.starts_with(b"-x") => self.set_language(&option[2..]),
            _ if option.starts_with(TARGET) => {
                self.target = Some(OsStr::from_bytes(&option[TARGET.len()..]).to_owned());
            }
            _ if option.starts_with(b"--language=") => self.set_language(&option["--language=".len()..]),
            _ if option.starts_with(b"-l") => self.inputs.push(InputKind::Linker),
            _ => {}
        }
    }

    fn read_linker_option(&mut self, word: &[u8]) {
        self.inputs.push(InputKind::Linker);
        match word {
            b"-shared" | b"--shared" | b"-Bshareable" => self.shared = true,
            b"-r" | b"--relocatable" | b"-i" => self.relocatable = true,
            _ => {}
        }
    }

    fn stop_at(&mut self, stage: Stage) {
        self.stage = self.stage.min(stage);
    }

    fn set_language(&mut self, language: &[u8]) {
        self.language = match language {
            b"none" => None,
            b"assembler" => Some(InputKind::Assembly),
            b"assembler-with-cpp" => Some(InputKind::PreprocessedAssembly),
            b"cpp-output" | b"c++-cpp-output" | b"ir" => Some(InputKind::PreprocessedSource),
            _ if language.ends_with(b"-header") => Some(InputKind::Header),
            _ => Some(InputKind::Source),
        };
    }

    fn add_input(&mut self, path: &OsStr) {
        let kind = self.language.unwrap_or_else(|| kind_by_name(path, self.driver));
        self.inputs.push(kind);
    }

    fn conclude(self) -> Invocation {
        let any = |kinds: &[InputKind]| self.inputs.iter().any(|kind| kinds.contains(kind));
        use InputKind::*;
        let compiles = self.stage >= Stage::Compile && any(&[Source, PreprocessedSource]);
        let preprocesses = self.stage >= Stage::Preprocess && any(&[Source, Header, PreprocessedAssembly]);
        let has_linkable = self.inputs.iter().any(|&kind| kind != Header);
        let links = self.stage == Stage::Link && !self.relocatable && has_linkable;
        let output = if self.shared {
            Output::SharedObject
        } else if self.is_static {
            Output::StaticExecutable
        } else {
            Output::Executable
        };
        Invocation {
            compiles,
            preprocesses,
            links: links.then_some(output),
            target: self.target,
        }
    }
}

fn is_query(option: &[u8]) -> bool {
    let with_one_dash = option
        .strip_prefix(b"-")
        .filter(|rest| rest.starts_with(b"-print"));
    let option = with_one_dash.unwrap_or(option);
    is_one_of(option, QUERIES)
        || option.starts_with(b"-print-prog-name=")
        || option.starts_with(b"-print-file-name=")
        || option.starts_with(b"--autocomplete=")
}

fn is_one_of(option: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| known.as_bytes() == option)
}

/// The kind that the driver infers from a file name. Names that it doesn't know go to the linker.
fn kind_by_name(path: &OsStr, driver: Language) -> InputKind {
    let extension = Path::new(path).extension().unwrap_or_default();
    match extension.as_bytes() {
        extension if driver == Language::Fortran && is_fortran(extension) => InputKind::Source,
        b"c" | b"C" | b"cc" | b"CC" | b"cp" | b"cpp" | b"CPP" | b"cxx" | b"CXX" | b"c++" | b"C++"
        | b"cppm" | b"ccm" | b"cxxm" | b"c++m" | b"m" | b"mm" | b"M" | b"cl" | b"cu" | b"hip" => {
            InputKind::Source
        }
        b"i" | b"ii" | b"mi" | b"mii" | b"bc" | b"ll" | b"pcm" | b"ast" | b"cui" => {
            InputKind::PreprocessedSource
        }
        b"s" => InputKind::Assembly,
        b"S" | b"asm" | b"sx" => InputKind::PreprocessedAssembly,
        b"h" | b"H" | b"hh" | b"hp" | b"hpp" | b"hxx" | b"h++" | b"iih" => InputKind::Header,
        _ => InputKind::Linker,
    }
}

/// In capitals, the source goes through the preprocessor.
fn is_fortran(extension: &[u8]) -> bool {
    const EXTENSIONS: &[&str] = &[
        "f", "f77", "for", "f90", "f95", "f03", "f08", "f18", "fpp", "ftn", "cuf",
    ];
    is_one_of(&extension.to_ascii_lowercase(), EXTENSIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_for(driver: Language, line: &str) -> Invocation {
        let arguments: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        Invocation::parse(&arguments, driver)
    }

    fn parse(line: &str) -> Invocation {
        parse_for(Language::C, line)
    }

    fn facts(line: &str) -> (bool, bool, Option<Output>) {
        let invocation = parse(line);
        (invocation.compiles, invocation.preprocesses, invocation.links)
    }

    const EXECUTABLE: Option<Output> = Some(Output::Executable);
    const SHARED: Option<Output> = Some(Output::SharedObject);

    #[test]
    fn one_step_builds_compile_and_link() {
        for line in [
            "a.c",
            "a.c b.cpp -o prog",
            "-flto a.c",
            "-x c -",
            "-xc++ -",
            "-O2 -- -a.c",
        ] {
            assert_eq!(facts(line), (true, true, EXECUTABLE), "{line}");
        }
        for line in ["-static a.C -lm", "--static a.c", "-static-pie a.c"] {
            assert_eq!(
                facts(line),
                (true, true, Some(Output::StaticExecutable)),
                "{line}"
            );
        }
        assert_eq!(facts("-shared -fPIC a.c -o liba.so"), (true, true, SHARED));
        assert_eq!(facts("-Wl,-soname,x,-shared a.c"), (true, true, SHARED));
        assert_eq!(facts("a.ll"), (true, false, EXECUTABLE));
    }

    #[test]
    fn compiling_alone_does_not_link() {
        for line in [
            "-c a.c",
            "-S a.c -o -",
            "-c a.c b.c",
            "-emit-llvm -c a.c",
            "-c -x c -",
            "-c a.c -o /dev/null",
        ] {
            assert_eq!(facts(line), (true, true, None), "{line}");
        }
        assert_eq!(facts("-c a.i"), (true, false, None));
    }

    #[test]
    fn stages_before_code_generation_are_left_alone() {
        for line in [
            "-E a.c",
            "-M a.c",
            "-MM -c a.c",
            "-fsyntax-only -c a.c",
            "-E -x c -",
            "--analyze a.c",
        ] {
            assert_eq!(facts(line), (false, true, None), "{line}");
        }
    }

    #[test]
    fn dependency_files_on_the_side_change_nothing() {
        assert_eq!(facts("-MD -MF a.d -MT a.o -c a.c"), (true, true, None));
        assert_eq!(facts("-MMD -MP -MQ x.c a.o"), (false, false, EXECUTABLE));
    }

    #[test]
    fn questions_are_left_alone() {
        for line in [
            "--version",
            "-v",
            "",
            "-dumpmachine",
            "-print-prog-name=ld",
            "--print-file-name=libc.so",
            "--help",
            "-print-search-dirs",
            "--print-resource-dir",
            "-print-target-triple a.c",
            "-### ",
            "-cc1 -S a.c",
        ] {
            assert_eq!(parse(line), Invocation::default(), "{line}");
        }
    }

    #[test]
    fn verbose_and_dry_runs_show_the_real_commands() {
        assert_eq!(facts("-v a.c"), (true, true, EXECUTABLE));
        assert_eq!(facts("-### -c a.c"), (true, true, None));
    }

    #[test]
    fn linking_of_objects_links_only() {
        for line in [
            "a.o b.o -o prog",
            "-o prog main.o -L. -lx",
            "-nostdlib a.o",
            "-lm",
            "-Wl,--version",
            "a.c.o",
        ] {
            assert_eq!(facts(line), (false, false, EXECUTABLE), "{line}");
        }
        assert_eq!(facts("-shared a.o"), (false, false, SHARED));
    }

    #[test]
    fn relocatable_output_gets_no_runtime() {
        for line in [
            "-r a.o b.o -o c.o",
            "-nostdlib -Wl,-r a.o",
            "-Xlinker --relocatable a.o",
        ] {
            assert_eq!(facts(line), (false, false, None), "{line}");
        }
    }

    #[test]
    fn assembly_is_not_instrumented_but_linked() {
        assert_eq!(facts("a.s"), (false, false, EXECUTABLE));
        assert_eq!(facts("-c a.S"), (false, true, None));
        assert_eq!(facts("-c -x assembler a.c"), (false, false, None));
    }

    #[test]
    fn fortran_sources_are_those_of_the_fortran_driver() {
        for line in ["-c a.f90", "-c a.F", "-J modules -c a.f08", "-c -Xflang x.o a.ll"] {
            let invocation = parse_for(Language::Fortran, line);
            assert!(invocation.compiles && invocation.links.is_none(), "{line}");
        }
        assert_eq!(parse_for(Language::Fortran, "a.f90 -o a").links, EXECUTABLE);
        // Which clang hands to another compiler.
        assert!(!parse("-c a.f90").compiles);
    }

    #[test]
    fn headers_precompile() {
        assert_eq!(facts("a.h -o a.h.pch").2, None);
        assert_eq!(facts("-x c++-header a.hpp").2, None);
    }

    #[test]
    fn values_of_options_are_not_inputs() {
        let without_input =
            "-include a.c -I b.c -o c.c -D x.c -isystem y.c -Xclang z.c -target t.c -MF d.c -u main.c";
        assert_eq!(facts(without_input), (false, false, None));
        assert_eq!(facts("-x c a.o -x none b.o"), (true, true, EXECUTABLE));
    }

    #[test]
    fn the_last_target_counts() {
        let target = |line: &str| parse(line).target;
        assert_eq!(target("-target a --target=b-c x.c"), Some("b-c".into()));
        assert_eq!(target("--target=b-c x.c -target a"), Some("a".into()));
        assert_eq!(target("-o --target=b x.c -- --target=c"), None);
    }

    #[test]
    fn response_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("args");
        std::fs::write(&file, "-c 'my file.c'").unwrap();
        assert_eq!(facts(&format!("@{}", file.display())), (true, true, None));
    }
}
