//! What `trackway doctor` asks of a machine; tests answer in its place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use trackway_driver::{usual_compiler, Installation, InstructionSet, Language};
use trackway_place::{optional_libraries, OptionalLibrary};
use trackway_recorder::{
    available_events, found_in_path, Pace, PreparedSampler, SampleChoice, SamplerOptions, HARDWARE_EVENTS,
    USUAL_RATE, USUAL_WINDOW,
};

use super::trial::Trials;
use crate::failure::Failure;
use crate::lake;

/// Events that can be counted, and why the first of the others can't.
pub struct Counters {
    pub available: Vec<&'static str>,
    pub obstacle: Option<String>,
}

/// Errors are texts for the user.
pub trait Machine {
    /// The compiler that a call of the wrapper goes to.
    fn compiler(&self, language: Language) -> OsString;
    /// Whether a small program compiles and links.
    fn compiles(&self, language: Language) -> Result<(), String>;
    /// Whether a compiled program can be recorded; asked only if C compiles.
    fn records(&self) -> Result<(), String>;
    /// Whether PATH has a program.
    fn has_program(&self, name: &str) -> bool;
    fn exists(&self, path: &Path) -> bool;
    /// The content of a small file.
    fn reads(&self, path: &Path) -> Option<String>;
    /// The versions of LLVM that the installation has a plug-in for.
    fn plugin_versions(&self) -> Vec<u32>;
    /// Whether the installation has the runtime of an instruction set.
    fn runtime(&self, set: InstructionSet) -> Result<(), String>;
    /// Whether the installation has what records binaries.
    fn binary_client(&self) -> Result<(), String>;
    fn allocation_tracer(&self) -> Result<(), String>;
    fn placer(&self) -> Result<(), String>;
    fn has_lake(&self) -> bool;
    /// Libraries that placing may use.
    fn libraries(&self) -> Vec<OptionalLibrary>;
    /// What takes samples.
    fn sampler(&self, choice: SampleChoice) -> Result<&'static str, String>;
    fn counters(&self) -> Counters;
    /// The version of a module of Python.
    fn python_module(&self, name: &str) -> Option<String>;
    fn is_root(&self) -> bool;
}

/// The machine that this process runs on.
pub struct ThisMachine<'i> {
    installation: &'i Installation,
    trials: Trials,
    /// What each language's trial came to, by its verb.
    compiled: RefCell<BTreeMap<&'static str, Result<PathBuf, String>>>,
}

impl<'i> ThisMachine<'i> {
    /// # Errors
    /// If there is no place for temporary files.
    pub fn new(installation: &'i Installation) -> Result<Self, Failure> {
        Ok(ThisMachine {
            installation,
            trials: Trials::new()?,
            compiled: RefCell::default(),
        })
    }

    fn compiled(&self, language: Language) -> Result<PathBuf, String> {
        let key = language.variable();
        let mut compiled = self.compiled.borrow_mut();
        let trial = compiled.entry(key);
        trial.or_insert_with(|| self.trials.compile(language)).clone()
    }
}

/// Of a part of the installation only its absence matters.
fn present<T>(part: Result<T, Failure>) -> Result<(), String> {
    part.map(drop).map_err(|failure| failure.to_string())
}

impl Machine for ThisMachine<'_> {
    fn compiler(&self, language: Language) -> OsString {
        usual_compiler(language)
    }

    fn compiles(&self, language: Language) -> Result<(), String> {
        self.compiled(language).map(drop)
    }

    fn records(&self) -> Result<(), String> {
        self.trials.record(&self.compiled(Language::C)?)
    }

    fn has_program(&self, name: &str) -> bool {
        found_in_path(name.as_ref()).is_some()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn reads(&self, path: &Path) -> Option<String> {
        let text = fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned())
    }

    fn plugin_versions(&self) -> Vec<u32> {
        self.installation.plugin_versions()
    }

    fn runtime(&self, set: InstructionSet) -> Result<(), String> {
        present(self.installation.runtime(Some(set)))
    }

    fn binary_client(&self) -> Result<(), String> {
        present(self.installation.binary_client())
    }

    fn allocation_tracer(&self) -> Result<(), String> {
        present(self.installation.allocation_tracer())
    }

    fn placer(&self) -> Result<(), String> {
        present(self.installation.placer())
    }

    fn has_lake(&self) -> bool {
        Installation::program(lake::PROGRAM).is_ok_and(|program| program.exists())
    }

    fn libraries(&self) -> Vec<OptionalLibrary> {
        optional_libraries().into()
    }

    fn sampler(&self, choice: SampleChoice) -> Result<&'static str, String> {
        let options = SamplerOptions {
            pace: Pace::Hz(USUAL_RATE),
            source: choice,
            window_instructions: USUAL_WINDOW,
        };
        let prepared = PreparedSampler::new(&options).map_err(|error| error.to_string())?;
        Ok(prepared.source())
    }

    fn counters(&self) -> Counters {
        let (available, others) = available_events(&HARDWARE_EVENTS);
        Counters {
            available: available.iter().map(|event| event.name).collect(),
            obstacle: others.first().map(|other| other.reason.clone()),
        }
    }

    fn python_module(&self, name: &str) -> Option<String> {
        // The interpreter of the virtual environment that this program was installed into, if it was.
        let beside = env::current_exe().ok()?.with_file_name("python3");
        let python = if beside.exists() { beside } else { "python3".into() };
        // -P: not what the present folder has by that name.
        let asked = Command::new(python)
            .args(["-P", "-c"])
            .arg(format!(
                "import {name}, importlib.metadata as m; print(m.version('{name}'))"
            ))
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let version = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
        asked.status.success().then_some(version)
    }

    fn is_root(&self) -> bool {
        rustix::process::geteuid().is_root()
    }
}
