//! What the wrapper adds where the compiler links.

use std::ffi::OsString;
use std::path::PathBuf;

use trackway_answers::failure::Failure;

use crate::compiler::Driver;
use crate::installation::Installation;
use crate::instruction_set::InstructionSet;
use crate::invocation::{Invocation, Output};
use crate::language::Language;
use crate::target;

/// Come last: an archive serves the objects before it. `-Xlinker` keeps a user's `-x c` from applying to it; flang has
/// no such option.
pub fn arguments(
    invocation: &Invocation,
    driver: &Driver,
    installation: &Installation,
) -> Result<Vec<OsString>, Failure> {
    let Some(output) = invocation.links else {
        return Ok(Vec::new());
    };
    let set = target::instruction_set(invocation.target.as_deref(), driver.compiler)?;
    let linked = parts(output, set, driver.inherits_threads, installation)?;
    let streams = match driver.language {
        Language::Cxx => installation.streams(set, driver.streams),
        Language::C | Language::Fortran => None,
    };
    let mut arguments = Vec::new();
    // The runtime comes after what needs it.
    for file in streams.into_iter().chain(linked.files) {
        if driver.language != Language::Fortran {
            arguments.push("-Xlinker".into());
        }
        arguments.push(file.into());
    }
    arguments.extend(linked.options);
    Ok(arguments)
}

/// What is linked besides the user's objects.
pub struct Linked {
    pub files: Vec<PathBuf>,
    pub options: Vec<OsString>,
}

/// What an output needs, for the compiler's own instruction set or another.
pub fn parts(
    output: Output,
    set: Option<InstructionSet>,
    inherits_threads: bool,
    installation: &Installation,
) -> Result<Linked, Failure> {
    let mut files = Vec::new();
    let mut options: Vec<OsString> = Vec::new();
    if inherits_threads {
        files.push(installation.inherit_threads(set, output == Output::StaticExecutable)?);
        options.extend(interposing(output).iter().map(Into::into));
    }
    files.push(installation.runtime(set)?);
    if output == Output::Executable {
        // So that shared objects use the executable's copy of the runtime. A static program has none, and glibc can't
        // start a static-pie program whose thread-local symbols are dynamic.
        options.push("-Wl,--export-dynamic-symbol=__trackway_*".into());
    }
    Ok(Linked { files, options })
}

/// What makes our functions that create threads stand before the C library's: for shared objects that the linker
/// doesn't see, by an executable's dynamic symbols; in a static program there is no order.
fn interposing(output: Output) -> &'static [&'static str] {
    match output {
        Output::Executable => &["-Wl,--export-dynamic-symbol=pthread_create"],
        Output::StaticExecutable => &["-Wl,--wrap=pthread_create", "-Wl,--wrap=thrd_create"],
        Output::SharedObject => &[],
    }
}

/// An archive in front of the objects that need it has to be linked whole.
pub fn in_front_of_inputs(link: Vec<OsString>) -> Vec<OsString> {
    if link.is_empty() {
        return link;
    }
    let mut arguments = vec![OsString::from("-Wl,--whole-archive")];
    arguments.extend(link);
    arguments.push("-Wl,--no-whole-archive".into());
    arguments
}
