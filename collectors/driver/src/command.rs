//! The command that the wrapper turns into.

use std::ffi::OsString;
use std::path::PathBuf;

use trackway_answers::failure::Failure;

use crate::compiler::Driver;
use crate::installation::Installation;
use crate::invocation::Invocation;
use crate::language::Language;
use crate::link;
use crate::llvm_version;
use crate::options::Options;

/// `--clang=` or `--flang=`, else what the language's variable says, else the name to look up in PATH.
pub fn compiler(
    options: &Options,
    language: Language,
    variable: impl Fn(&str) -> Option<OsString>,
) -> OsString {
    let chosen = match language {
        Language::C | Language::Cxx => options.clang.clone(),
        Language::Fortran => options.flang.clone(),
    };
    chosen
        .map(PathBuf::into_os_string)
        .or_else(|| variable(language.variable()).filter(|value| !value.is_empty()))
        .unwrap_or_else(|| language.default_compiler().into())
}

/// The compiler's arguments: the user's, with ours around them where the invocation calls for it.
pub fn arguments(
    invocation: Invocation,
    driver: &Driver,
    installation: &Installation,
    user: Vec<OsString>,
) -> Result<Vec<OsString>, Failure> {
    let &Driver {
        compiler, language, ..
    } = driver;
    let version = if invocation.compiles {
        Some(llvm_version::of_compiler(compiler, language)?)
    } else {
        None
    };
    let plugin = version
        .map(|version| installation.pass_plugin(compiler, version))
        .transpose()?;
    let mut arguments = match language {
        Language::C | Language::Cxx => {
            let pragmas = version.map(|version| installation.pragma_plugin(version));
            clang_arguments(plugin.zip(pragmas.transpose()?), &invocation, installation)
        }
        Language::Fortran => fortran_arguments(plugin, installation),
    };
    let link = link::arguments(&invocation, driver, installation)?;
    // After a `--`, the compiler takes everything for an input.
    let end_of_options = user.iter().position(|argument| argument == "--");
    let (options, inputs) = user.split_at(end_of_options.unwrap_or(user.len()));
    arguments.extend_from_slice(options);
    arguments.extend(if inputs.is_empty() {
        link
    } else {
        link::in_front_of_inputs(link)
    });
    arguments.extend_from_slice(inputs);
    Ok(arguments)
}

fn plugin_arguments(plugin: PathBuf) -> Vec<OsString> {
    let mut option = OsString::from("-fpass-plugin=");
    option.push(plugin);
    vec![option, "-g".into()]
}

/// With the folder of the module `trackway`.
fn fortran_arguments(plugin: Option<PathBuf>, installation: &Installation) -> Vec<OsString> {
    let Some(plugin) = plugin else {
        return Vec::new();
    };
    let mut arguments = plugin_arguments(plugin);
    if let Some(folder) = installation.include_folder() {
        let mut option = OsString::from("-I");
        option.push(folder.join("fortran"));
        arguments.push(option);
    }
    arguments
}

/// Come first, so that the user's `-g0` wins; must not warn where the driver has no use for them.
fn clang_arguments(
    plugins: Option<(PathBuf, PathBuf)>,
    invocation: &Invocation,
    installation: &Installation,
) -> Vec<OsString> {
    let mut own = Vec::new();
    if let Some((pass, pragmas)) = plugins {
        own.extend(plugin_arguments(pass));
        let mut option = OsString::from("-fplugin=");
        option.push(pragmas);
        own.push(option);
        // Else clang leaves out classes that it expects in the debug information of another file.
        own.push("-fstandalone-debug".into());
        // Who rewrites the source must compile it in the same way.
        own.push("-grecord-command-line".into());
    }
    if invocation.preprocesses {
        own.push("-D__TRACKWAY__".into());
    }
    if let Some(folder) = installation.include_folder().filter(|_| invocation.preprocesses) {
        own.push("-idirafter".into());
        own.push(folder.into());
    }
    if let Some(folder) = installation.stdlib_headers().filter(|_| invocation.preprocesses) {
        own.push("-isystem".into());
        own.push(folder.into());
    }
    if !own.is_empty() {
        own.insert(0, "--start-no-unused-arguments".into());
        own.push("--end-no-unused-arguments".into());
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Streams;
    use crate::instruction_set::InstructionSet;
    use std::ffi::OsStr;
    use std::fs;

    fn installation_with(parts: &[&str]) -> (tempfile::TempDir, Installation) {
        let root = tempfile::tempdir().unwrap();
        for part in parts {
            let path = root.path().join(part);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let installation = Installation::at(root.path());
        (root, installation)
    }

    const PARTS: &[&str] = &[
        "lib/trackway/TrackwayPass19.so",
        "lib/trackway/TrackwayPass22.so",
        "lib/trackway/TrackwayPragma19.so",
        "lib/trackway/TrackwayPragma22.so",
        "lib/trackway/libtrackway.a",
        "lib/trackway/include/trackway.h",
    ];

    fn attempt(
        compiler: &str,
        language: Language,
        line: &str,
        installation: &Installation,
    ) -> Result<Vec<OsString>, Failure> {
        let user: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        let invocation = Invocation::parse(&user, language);
        let driver = Driver {
            compiler: OsStr::new(compiler),
            language,
            inherits_threads: false,
            streams: Streams::Recording,
        };
        arguments(invocation, &driver, installation, user)
    }

    /// The words that make threads inherit regions, of those that the linker gets.
    fn inheriting(language: Language, line: &str) -> String {
        let (root, installation) = installation_with(
            &[
                PARTS,
                &[
                    "lib/trackway/inherit_threads.o",
                    "lib/trackway/inherit_threads_static.o",
                ],
            ]
            .concat(),
        );
        let user: Vec<OsString> = line.split_whitespace().map(Into::into).collect();
        let driver = Driver {
            compiler: OsStr::new("clang-22"),
            language,
            inherits_threads: true,
            streams: Streams::Plain,
        };
        let invocation = Invocation::parse(&user, language);
        let all = words(
            arguments(invocation, &driver, &installation, user).unwrap(),
            &root,
        );
        all.strip_prefix(line).unwrap().trim_start().to_owned()
    }

    /// With the installation's folder shown as `/T`.
    fn words(arguments: Vec<OsString>, root: &tempfile::TempDir) -> String {
        let words: Vec<String> = arguments
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        words.join(" ").replace(root.path().to_str().unwrap(), "/T")
    }

    /// The command line for `line`.
    fn rewritten_for(compiler: &str, language: Language, line: &str) -> String {
        let (root, installation) = installation_with(PARTS);
        words(attempt(compiler, language, line, &installation).unwrap(), &root)
    }

    fn rewritten(line: &str) -> String {
        rewritten_for("clang-22", Language::C, line)
    }

    const COMPILE: &str = "--start-no-unused-arguments -fpass-plugin=/T/lib/trackway/TrackwayPass22.so -g \
                           -fplugin=/T/lib/trackway/TrackwayPragma22.so -fstandalone-debug \
                           -grecord-command-line -D__TRACKWAY__ -idirafter /T/lib/trackway/include --end-no-unused-arguments";
    const INCLUDE: &str =
        "--start-no-unused-arguments -D__TRACKWAY__ -idirafter /T/lib/trackway/include --end-no-unused-arguments";
    const RUNTIME: &str = "-Xlinker /T/lib/trackway/libtrackway.a";
    const EXPORT: &str = "-Wl,--export-dynamic-symbol=__trackway_*";

    #[test]
    fn compiling_gets_the_pass_before_the_users_arguments() {
        assert_eq!(rewritten("-g0 -c a.c"), format!("{COMPILE} -g0 -c a.c"));
    }

    #[test]
    fn headers_of_libstdcxx_come_first_where_they_are_installed() {
        let parts = [PARTS, &["lib/trackway/include/libstdcxx/bits/stl_tree.h"]].concat();
        let (root, installation) = installation_with(&parts);
        let line = attempt("clang++-22", Language::Cxx, "-c a.cpp", &installation).unwrap();
        let end = "-idirafter /T/lib/trackway/include -isystem /T/lib/trackway/include/libstdcxx \
                   --end-no-unused-arguments -c a.cpp";
        assert!(words(line, &root).ends_with(end));
    }

    #[test]
    fn linking_gets_the_runtime_after_them() {
        assert_eq!(rewritten("a.o -lm"), format!("a.o -lm {RUNTIME} {EXPORT}"));
        assert_eq!(rewritten("-shared a.o"), format!("-shared a.o {RUNTIME}"));
        assert_eq!(rewritten("a.c"), format!("{COMPILE} a.c {RUNTIME} {EXPORT}"));
    }

    #[test]
    fn streams_stand_before_the_runtime_in_programs_of_cxx() {
        let parts = [PARTS, &["lib/trackway/libtrackway-streams.a"]].concat();
        let (root, installation) = installation_with(&parts);
        let link = |compiler, language| {
            let line = attempt(compiler, language, "a.o", &installation).unwrap();
            words(line, &root)
        };
        let streams = "-Xlinker /T/lib/trackway/libtrackway-streams.a";
        assert_eq!(
            link("clang++-22", Language::Cxx),
            format!("a.o {streams} {RUNTIME} {EXPORT}")
        );
        assert_eq!(link("clang-22", Language::C), format!("a.o {RUNTIME} {EXPORT}"));
    }

    #[test]
    fn threads_that_inherit_are_created_by_our_functions() {
        let object = "-Xlinker /T/lib/trackway/inherit_threads.o";
        let export = "-Wl,--export-dynamic-symbol=pthread_create";
        assert_eq!(
            inheriting(Language::C, "a.o"),
            format!("{object} {RUNTIME} {export} {EXPORT}")
        );
        assert_eq!(
            inheriting(Language::Cxx, "-shared a.o"),
            format!("{object} {RUNTIME}")
        );
        assert_eq!(
            inheriting(Language::C, "-static a.o"),
            format!(
                "-Xlinker /T/lib/trackway/inherit_threads_static.o {RUNTIME} \
                 -Wl,--wrap=pthread_create -Wl,--wrap=thrd_create"
            )
        );
        assert_eq!(
            inheriting(Language::Fortran, "-shared a.o"),
            "/T/lib/trackway/inherit_threads.o /T/lib/trackway/libtrackway.a"
        );
        assert_eq!(inheriting(Language::C, "-E a.s"), "");
    }

    #[test]
    fn inputs_after_two_dashes_stay_last() {
        let expected =
            format!("{COMPILE} -O1 -Wl,--whole-archive {RUNTIME} {EXPORT} -Wl,--no-whole-archive -- a.c");
        assert_eq!(rewritten("-O1 -- a.c"), expected);
        assert_eq!(rewritten("-c -- a.c"), format!("{COMPILE} -c -- a.c"));
    }

    #[test]
    fn everything_else_is_untouched() {
        for line in [
            "--version",
            "-dumpmachine",
            "-print-search-dirs",
            "-r a.o -o b.o",
            "-c a.s",
            "-v",
            "",
        ] {
            assert_eq!(rewritten(line), line);
        }
        assert_eq!(rewritten("-E a.c"), format!("{INCLUDE} -E a.c"));
    }

    #[test]
    fn missing_parts_matter_only_when_needed() {
        let (_root, installation) = installation_with(&[]);
        let attempt = |line: &str| attempt("clang-22", Language::C, line, &installation);
        assert!(attempt("-E a.c").is_ok());
        assert!(attempt("-c a.c")
            .unwrap_err()
            .to_string()
            .contains("TrackwayPass22.so"));
        assert!(attempt("a.o").unwrap_err().to_string().contains("libtrackway.a"));
    }

    #[test]
    fn the_runtime_is_that_of_the_target() {
        let host = InstructionSet::ALL.into_iter().find(|set| set.is_host());
        let foreign = InstructionSet::ALL.into_iter().find(|set| !set.is_host());
        let (host, foreign) = (host.unwrap(), foreign.unwrap());
        let path = |triple: &str| format!("lib/trackway/{triple}/libtrackway.a");
        let (root, with) = installation_with(&["lib/trackway/libtrackway.a", &path(foreign.triple())]);
        let link = |set: InstructionSet, installation: &Installation| {
            let line = format!("--target={} a.o", set.triple());
            attempt("clang-22", Language::C, &line, installation).map(|arguments| arguments[3].clone())
        };
        assert_eq!(
            link(host, &with).unwrap(),
            root.path().join("lib/trackway/libtrackway.a")
        );
        assert_eq!(
            link(foreign, &with).unwrap(),
            root.path().join(path(foreign.triple()))
        );
        let (_root, without) = installation_with(PARTS);
        let message = link(foreign, &without).unwrap_err().to_string();
        for part in [foreign.triple(), foreign.package(), "make runtime"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn the_plugin_is_that_of_the_compilers_version() {
        assert!(rewritten_for("/opt/clang-19", Language::C, "-c a.c").contains("/TrackwayPass19.so"));
        let (_root, installation) = installation_with(PARTS);
        let message = attempt("clang-17", Language::C, "-c a.c", &installation)
            .unwrap_err()
            .to_string();
        for part in ["clang-17", "LLVM 17", "19 and 22"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(attempt("clang-17", Language::C, "a.o", &installation).is_ok());
    }

    #[test]
    fn fortran_gets_what_its_driver_understands() {
        let rewritten = |line| rewritten_for("flang-22", Language::Fortran, line);
        let compile = "-fpass-plugin=/T/lib/trackway/TrackwayPass22.so -g -I/T/lib/trackway/include/fortran";
        assert_eq!(rewritten("-O2 -c a.f90"), format!("{compile} -O2 -c a.f90"));
        let runtime = "/T/lib/trackway/libtrackway.a";
        assert_eq!(rewritten("a.o"), format!("a.o {runtime} {EXPORT}"));
        assert_eq!(rewritten("-shared a.o"), format!("-shared a.o {runtime}"));
    }

    #[test]
    fn the_compiler_is_chosen_by_option_then_environment_then_name() {
        let mut options = Options::default();
        let none = |_: &str| None;
        let set = |name: &str| (name == "TRACKWAY_CLANGXX").then(|| OsString::from("/opt/clang++"));
        assert_eq!(compiler(&options, Language::C, none), "clang-22");
        assert_eq!(compiler(&options, Language::Cxx, none), "clang++-22");
        assert_eq!(compiler(&options, Language::C, set), "clang-22");
        assert_eq!(compiler(&options, Language::Cxx, set), "/opt/clang++");
        options.clang = Some("/my/clang".into());
        assert_eq!(compiler(&options, Language::Cxx, set), "/my/clang");
        assert_eq!(compiler(&options, Language::Fortran, set), "flang-22");
        options.flang = Some("/my/flang".into());
        assert_eq!(compiler(&options, Language::Fortran, none), "/my/flang");
    }
}
