//! The list of features: what each gives, what it needs, and the line that installs it.

use std::path::Path;

use trackway_driver::{InstructionSet, Language};
use trackway_recorder::{SampleChoice, MOST_HARDWARE_EVENTS};

use super::feature::{Feature, Found, Lack};
use super::machine::Machine;

const PTRACE_SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// Highest value of `perf_event_paranoid` that lets users sample their programs.
const MOST_PARANOID: i32 = 2;
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// All features; the first is the main way.
pub fn all(machine: &dyn Machine) -> Vec<Feature> {
    let mut features = vec![Feature::new(
        "cc, record",
        "every access of C programs, with field and line",
        main_way(machine),
    )];
    features.push(Feature::new(
        "c++",
        "the same of C++",
        compiles(machine, Language::Cxx),
    ));
    features.push(Feature::new(
        "fc",
        "the same of Fortran",
        compiles(machine, Language::Fortran),
    ));
    features.extend(other_clangs(machine));
    features.extend(
        InstructionSet::ALL
            .into_iter()
            .filter(|set| !set.is_host())
            .map(|set| foreign(machine, set)),
    );
    features.extend(recording(machine));
    features.extend(sampling(machine));
    features.extend(placing(machine));
    features.extend(asking(machine));
    features
}

/// Compiling and recording C.
fn main_way(machine: &dyn Machine) -> Result<Found, Lack> {
    let compiler = compiles(machine, Language::C)?;
    machine.records().map_err(Lack::new)?;
    Ok(compiler)
}

fn compiles(machine: &dyn Machine, language: Language) -> Result<Found, Lack> {
    let compiler = machine.compiler(language).to_string_lossy().into_owned();
    if !machine.has_program(&compiler) {
        let variable = language.variable();
        return Err(match compiler == language.default_compiler() {
            true => Lack::of_packages(format!("{compiler} isn't there"), &[language.package()]),
            false => Lack::with_remedy(
                format!("{variable} names {compiler}, which isn't there"),
                format!("unset {variable}"),
            ),
        });
    }
    machine.compiles(language).map_err(|said| {
        let lacks_library = said.contains("file not found") || said.contains("cannot find");
        match lacks_library {
            true => Lack::of_packages(said, &[language.library_package()]),
            false => Lack::new(said),
        }
    })?;
    Ok(compiler)
}

/// Compilers beside the usual one that the installation has a plug-in for.
fn other_clangs(machine: &dyn Machine) -> Vec<Feature> {
    let usual = Language::C.default_compiler();
    let names = machine
        .plugin_versions()
        .into_iter()
        .map(|version| format!("clang-{version}"));
    let feature = |name: String| {
        let state = match machine.has_program(&name) {
            true => Ok(format!("{name}; --clang={name} chooses it")),
            false => Err(Lack::of_packages(format!("{name} isn't there"), &[&name])),
        };
        Feature::new(format!("cc --clang={name}"), "another compiler", state)
    };
    names.filter(|name| name != usual).map(feature).collect()
}

/// Programs of another processor: libraries, linker and emulator are lacking one by one, and come by one line.
fn foreign(machine: &dyn Machine, set: InstructionSet) -> Feature {
    let triple = set.triple();
    let mut missing: Vec<(String, &str)> = Vec::new();
    if !machine.exists(&Path::new("/usr").join(triple).join("include/stdio.h")) {
        missing.push(("its C library".into(), set.package()));
    }
    if !machine.has_program("ld.lld-22") && !machine.has_program("ld.lld") {
        missing.push(("the linker ld.lld".into(), "lld-22"));
    }
    if !machine.has_program(set.emulator()) {
        missing.push((format!("the emulator {}", set.emulator()), "qemu-user"));
    }
    let state = if missing.is_empty() {
        let runtime = machine.runtime(set).map_err(Lack::new);
        runtime.map(|()| format!("libraries, linker and {}", set.emulator()))
    } else {
        let (names, packages): (Vec<String>, Vec<&str>) = missing.into_iter().unzip();
        Err(Lack::of_packages(
            format!("it lacks {}", names.join(" and ")),
            &packages,
        ))
    };
    Feature::new(
        format!("cc --target={triple}"),
        "programs of another processor, under an emulator",
        state,
    )
}

/// Ways to record that need neither compiler nor samples.
fn recording(machine: &dyn Machine) -> [Feature; 3] {
    let part = |part: Result<(), String>, found: &str| part.map(|()| found.to_owned()).map_err(Lack::new);
    let counters = machine.counters();
    let counting = match counters.obstacle {
        None => Ok(counters.available.join(", ")),
        Some(why) if counters.available.is_empty() => Err(kernel_setting(machine, why)),
        Some(why) => Ok(format!("{}; of others: {why}", counters.available.join(", "))),
    };
    [
        Feature::new(
            "record --binary",
            "every access of unmodified binaries",
            part(machine.binary_client(), "DynamoRIO and its client"),
        ),
        Feature::new(
            "record --allocations",
            "calls of allocators of any program",
            part(machine.allocation_tracer(), "preload.so"),
        ),
        Feature::new(
            "record --hardware",
            format!("up to {MOST_HARDWARE_EVENTS} counters of processor and kernel, by region"),
            counting,
        ),
    ]
}

fn sampling(machine: &dyn Machine) -> Vec<Feature> {
    let best = machine.sampler(SampleChoice::Best).map(|source| match source {
        "clock" => "the kernel's clock (clock); the processor offers no samples of accesses".into(),
        source => format!("source {source}"),
    });
    let tick = machine
        .sampler(SampleChoice::Tick)
        .map(|_| "the tracepoint irq_vectors:local_timer_entry".into());
    let tick = tick.map_err(|why| {
        let line = "mount -t tracefs tracefs /sys/kernel/tracing  # as root";
        Lack::with_remedy(why, line)
    });
    let names = match machine.exists(Path::new(DEBUG_FILES)) {
        true => Ok(DEBUG_FILES.into()),
        false => Err(Lack::of_packages(
            format!("{DEBUG_FILES} isn't there"),
            &["libc6-dbg"],
        )),
    };
    vec![
        Feature::new(
            "record --sample",
            "time and accesses of any program, at its own speed",
            best.map_err(|why| kernel_setting(machine, why)),
        ),
        Feature::new(
            "record --sample-source tick",
            "samples where the kernel's clock is missing",
            tick,
        ),
        Feature::new(
            "record --sample --pid",
            "windows of processes that run already",
            attaching(machine),
        ),
        Feature::new(
            "names in system libraries",
            "their functions and lines, in samples and binaries",
            names,
        ),
    ]
}

/// Where the kernel's setting is what forbids it, the line that changes that.
fn kernel_setting(machine: &dyn Machine, why: String) -> Lack {
    let level = machine
        .reads(Path::new(PARANOID))
        .and_then(|text| text.parse::<i32>().ok());
    match level {
        Some(level) if level > MOST_PARANOID => Lack::with_remedy(
            why,
            format!("sysctl kernel.perf_event_paranoid={MOST_PARANOID}  # as root"),
        ),
        _ => Lack::new(why),
    }
}

/// The right to stop processes that this one didn't start.
fn attaching(machine: &dyn Machine) -> Result<Found, Lack> {
    let scope = machine.reads(Path::new(PTRACE_SCOPE));
    let scope = scope.as_deref().unwrap_or("0");
    match (scope, machine.is_root()) {
        ("0", _) | ("1" | "2", true) => Ok("the right to stop them".into()),
        _ => Err(Lack::with_remedy(
            format!("{PTRACE_SCOPE} is {scope}"),
            "sysctl kernel.yama.ptrace_scope=0  # as root",
        )),
    }
}

fn placing(machine: &dyn Machine) -> Vec<Feature> {
    let placer = machine
        .placer()
        .map(|()| "place.so".to_owned())
        .map_err(Lack::new);
    let mut features = vec![Feature::new(
        "place --far-file",
        "allocations in another kind of memory",
        placer,
    )];
    features.extend(machine.libraries().into_iter().map(|library| {
        let state = match library.is_installed {
            true => Ok(format!("the library of {}", library.package)),
            false => Err(Lack::of_packages("its library isn't there", &[library.package])),
        };
        Feature::new(
            format!("place {}", library.option),
            "the same, by a library",
            state,
        )
    }));
    features
}

/// What answers questions outside of the command line's own analyses.
fn asking(machine: &dyn Machine) -> Vec<Feature> {
    let lake = match machine.has_lake() {
        true => Ok("trackway-lake".into()),
        false => Err(Lack::with_remedy(
            "trackway-lake isn't beside trackway",
            "make lake  # in the sources",
        )),
    };
    let python = machine.python_module("trackway");
    let python = python.map(|version| format!("trackway {version}"));
    let cargo = match machine.has_program("cargo") {
        true => Ok("cargo".into()),
        false => Err(Lack::with_remedy(
            "cargo isn't there",
            "curl --proto '=https' -sSf https://sh.rustup.rs | sh",
        )),
    };
    vec![
        Feature::new(
            "query, export --parquet, URLs",
            "SQL, folders of Parquet, object stores",
            lake,
        ),
        Feature::new(
            "import trackway (Python)",
            "tables and analyses as Arrow tables",
            python.ok_or_else(|| {
                let why = "Python's package trackway isn't there; a release has its wheel, and `make package` builds it";
                Lack::with_remedy(why, "pip install dist/trackway-*.whl")
            }),
        ),
        Feature::new("trackway.spark (Python)", "the same on Spark", spark(machine)),
        Feature::new("analyses of your own", "Rust, as in examples/never_read", cargo),
    ]
}

fn spark(machine: &dyn Machine) -> Result<Found, Lack> {
    let Some(version) = machine.python_module("pyspark") else {
        let line = "pip install 'pyspark>=4.1' 'pyarrow>=18' 'pandas>=2.2,<3'";
        return Err(Lack::with_remedy("Python's package pyspark isn't there", line));
    };
    match machine.has_program("java") {
        true => Ok(format!("pyspark {version} and java")),
        false => Err(Lack::of_packages(
            "java isn't there",
            &["openjdk-17-jre-headless"],
        )),
    }
}

#[cfg(test)]
mod tests;
