//! Machines that lack this or that.

use std::collections::HashSet;
use std::ffi::OsString;

use trackway_place::OptionalLibrary;

use super::*;
use crate::doctor::machine::Counters;

/// A machine that has everything but what is named.
#[derive(Default)]
struct Fake {
    programs_missing: HashSet<&'static str>,
    files_missing: bool,
    compiler: Option<&'static str>,
    compile_error: Option<&'static str>,
    record_error: Option<&'static str>,
    clock_error: Option<&'static str>,
    counter_error: Option<&'static str>,
    paranoid: &'static str,
    ptrace_scope: Option<&'static str>,
    parts_missing: bool,
    is_user: bool,
}

impl Fake {
    fn part(&self, name: &str) -> Result<(), String> {
        match self.parts_missing {
            true => Err(format!("{name}: not found")),
            false => Ok(()),
        }
    }
}

fn outcome(error: Option<&str>) -> Result<(), String> {
    error.map_or(Ok(()), |error| Err(error.to_owned()))
}

impl Machine for Fake {
    fn compiler(&self, language: Language) -> OsString {
        self.compiler.unwrap_or(language.default_compiler()).into()
    }
    fn compiles(&self, _: Language) -> Result<(), String> {
        outcome(self.compile_error)
    }
    fn records(&self) -> Result<(), String> {
        outcome(self.record_error)
    }
    fn has_program(&self, name: &str) -> bool {
        !self.programs_missing.contains(name)
    }
    fn exists(&self, _: &Path) -> bool {
        !self.files_missing
    }
    fn reads(&self, path: &Path) -> Option<String> {
        let text = match path.to_str() {
            Some(PARANOID) => Some(self.paranoid),
            _ => self.ptrace_scope,
        };
        text.map(str::to_owned)
    }
    fn plugin_versions(&self) -> Vec<u32> {
        vec![19, 22]
    }
    fn runtime(&self, _: InstructionSet) -> Result<(), String> {
        self.part("libtrackway.a")
    }
    fn binary_client(&self) -> Result<(), String> {
        self.part("client.so")
    }
    fn allocation_tracer(&self) -> Result<(), String> {
        self.part("preload.so")
    }
    fn placer(&self) -> Result<(), String> {
        self.part("place.so")
    }
    fn has_lake(&self) -> bool {
        !self.parts_missing
    }
    fn libraries(&self) -> Vec<OptionalLibrary> {
        vec![OptionalLibrary {
            option: "--far-node",
            package: "libnuma1",
            is_installed: !self.files_missing,
        }]
    }
    fn sampler(&self, _: SampleChoice) -> Result<&'static str, String> {
        outcome(self.clock_error).map(|()| "clock")
    }
    fn counters(&self) -> Counters {
        Counters {
            available: if self.counter_error.is_some() {
                vec![]
            } else {
                vec!["cycles"]
            },
            obstacle: self.counter_error.map(str::to_owned),
        }
    }
    fn python_module(&self, _: &str) -> Option<String> {
        (!self.files_missing).then(|| "1.0".into())
    }
    fn is_root(&self) -> bool {
        !self.is_user
    }
}

fn lacking(machine: &Fake) -> Vec<Feature> {
    let features = all(machine);
    features
        .into_iter()
        .filter(|feature| feature.state.is_err())
        .collect()
}

/// The only feature that is lacking.
fn the_lack(machine: &Fake) -> Feature {
    let mut features = lacking(machine);
    assert_eq!(features.len(), 1, "{features:?}");
    features.remove(0)
}

#[test]
fn a_machine_that_has_everything_lacks_nothing() {
    assert_eq!(lacking(&Fake::default()), []);
    let features = all(&Fake::default());
    assert_eq!(
        (features[0].name.as_str(), features[0].finding()),
        ("cc, record", "clang-22")
    );
    let names: HashSet<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names.len(), features.len(), "each has a name of its own");
}

#[test]
fn a_missing_compiler_comes_by_its_package() {
    let fake = Fake {
        programs_missing: HashSet::from(["clang-22"]),
        ..Fake::default()
    };
    let feature = the_lack(&fake);
    assert_eq!(feature.name, "cc, record");
    assert_eq!(feature.remedy(), Some("apt-get install clang-22"));
    let fake = Fake {
        programs_missing: HashSet::from(["clang-19"]),
        ..Fake::default()
    };
    assert_eq!(the_lack(&fake).remedy(), Some("apt-get install clang-19"));
    let fake = Fake {
        programs_missing: HashSet::from(["flang-22"]),
        ..Fake::default()
    };
    assert_eq!(the_lack(&fake).remedy(), Some("apt-get install flang-22"));
}

#[test]
fn a_compiler_that_a_variable_names_is_no_packages() {
    let fake = Fake {
        compiler: Some("/opt/clang"),
        programs_missing: HashSet::from(["/opt/clang"]),
        ..Fake::default()
    };
    let features = lacking(&fake);
    assert_eq!(
        features[0].finding(),
        "TRACKWAY_CLANG names /opt/clang, which isn't there"
    );
    assert_eq!(features[0].remedy(), Some("unset TRACKWAY_CLANG"));
}

#[test]
fn what_the_compiler_misses_is_told_from_what_is_wrong_with_it() {
    let remedies = |compile_error| {
        let fake = Fake {
            compile_error: Some(compile_error),
            ..Fake::default()
        };
        let remedies = lacking(&fake)
            .into_iter()
            .map(|feature| feature.state.unwrap_err().remedy);
        remedies.collect::<Vec<_>>()
    };
    let packages = ["libc6-dev", "libstdc++-12-dev", "libflang-22-dev"];
    let lines = packages.map(|package| Some(format!("apt-get install {package}")));
    assert_eq!(remedies("fatal error: 'stdio.h' file not found"), lines);
    assert_eq!(remedies("error: unable to load plugin"), [None, None, None]);
}

#[test]
fn the_main_way_needs_recording_too() {
    let fake = Fake {
        record_error: Some("memfd: not permitted"),
        ..Fake::default()
    };
    let feature = the_lack(&fake);
    assert_eq!(
        (feature.name.as_str(), feature.finding()),
        ("cc, record", "memfd: not permitted")
    );
    assert_eq!(feature.remedy(), None);
}

#[test]
fn one_line_brings_what_another_processor_needs() {
    let fake = Fake {
        programs_missing: HashSet::from(["qemu-riscv64", "ld.lld", "ld.lld-22"]),
        ..Fake::default()
    };
    let riscv = lacking(&fake)
        .into_iter()
        .find(|feature| feature.name.contains("riscv64"))
        .unwrap();
    assert_eq!(riscv.remedy(), Some("apt-get install lld-22 qemu-user"));
    assert_eq!(
        riscv.finding(),
        "it lacks the linker ld.lld and the emulator qemu-riscv64"
    );
}

#[test]
fn a_setting_of_the_kernel_is_changed_only_where_it_forbids() {
    let remedies = |paranoid| {
        let fake = Fake {
            clock_error: Some("refused"),
            counter_error: Some("forbidden"),
            paranoid,
            ..Fake::default()
        };
        let features = lacking(&fake);
        let named = |name| features.iter().find(|feature| feature.name == name).unwrap();
        ["record --sample", "record --hardware"].map(|name| named(name).remedy().map(str::to_owned))
    };
    let line = Some("sysctl kernel.perf_event_paranoid=2  # as root".to_owned());
    assert_eq!(remedies("3"), [line.clone(), line]);
    assert_eq!(remedies("2"), [None, None]);
}

#[test]
fn processes_may_be_stopped_by_root_or_where_yama_lets_them() {
    let may = |scope, is_user| {
        let fake = Fake {
            ptrace_scope: scope,
            is_user,
            ..Fake::default()
        };
        attaching(&fake).is_ok()
    };
    assert_eq!([None, Some("0")].map(|scope| may(scope, true)), [true, true]);
    assert_eq!(
        [Some("1"), Some("3")].map(|scope| may(scope, true)),
        [false, false]
    );
    assert_eq!(
        [Some("2"), Some("3")].map(|scope| may(scope, false)),
        [true, false]
    );
}

#[test]
fn parts_that_were_not_built_say_so() {
    let fake = Fake {
        parts_missing: true,
        ..Fake::default()
    };
    let features = lacking(&fake);
    let findings: Vec<&str> = features.iter().map(Feature::finding).collect();
    for part in [
        "libtrackway.a",
        "client.so",
        "preload.so",
        "place.so",
        "trackway-lake",
    ] {
        assert!(
            findings.iter().any(|finding| finding.starts_with(part)),
            "{part}: {findings:?}"
        );
    }
}

#[test]
fn files_that_are_not_there_name_their_packages() {
    let fake = Fake {
        files_missing: true,
        ..Fake::default()
    };
    let features = lacking(&fake);
    let remedies: Vec<&str> = features.iter().filter_map(Feature::remedy).collect();
    for package in ["libc6-dbg", "libnuma1", "pip install", "pyspark"] {
        assert!(
            remedies.iter().any(|line| line.contains(package)),
            "{package}: {remedies:?}"
        );
    }
}
