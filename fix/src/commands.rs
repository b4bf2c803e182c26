//! How the sources were compiled: from the program's debugging information, or a database of commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trackway_answers::failure::Failure;
use trackway_names::{compiled_units, CompiledUnit};

/// A unit of translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub directory: PathBuf,
    pub source: String,
    pub compiler: OsString,
    /// Without the source, and without what asks for output.
    pub options: Vec<String>,
}

impl Command {
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.source)
    }
}

/// The units of a program that the compiler's command lines are known of.
///
/// # Errors
/// If the program can't be read, or no unit says how it was compiled.
pub fn of_program(program: &Path) -> Result<Vec<Command>, Failure> {
    let units = compiled_units(&program.to_string_lossy()).map_err(|what| Failure::about(program, what))?;
    let commands: Vec<Command> = units.iter().filter_map(of_unit).collect();
    match commands.is_empty() {
        true => Err(Failure::about(
            program,
            "doesn't say how it was compiled; compile it by this version of `trackway cc`, or name the folder of a \
             compile_commands.json by -p",
        )),
        false => Ok(commands),
    }
}

fn of_unit(unit: &CompiledUnit) -> Option<Command> {
    let words = unescaped(&unit.producer);
    // After the compiler's name and version.
    let compiler = words.iter().position(|word| word.starts_with('/'))?;
    let options = options_of(&words[compiler + 1..], &unit.source);
    Some(Command {
        directory: unit.directory.clone().into(),
        source: unit.source.clone(),
        compiler: words[compiler].clone().into(),
        options,
    })
}

/// Words that blanks separate, where a backslash makes the next letter one of the word.
fn unescaped(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => words.push(String::new()),
            '\\' => words
                .last_mut()
                .into_iter()
                .for_each(|word| word.extend(letters.next())),
            _ => words.last_mut().into_iter().for_each(|word| word.push(letter)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// An entry of compile_commands.json (clang's "JSON Compilation Database Format Specification").
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: String,
    #[serde(default)]
    arguments: Vec<String>,
    command: Option<String>,
}

/// The units of a folder's `compile_commands.json`. Its compilers are replaced by `compiler`, since they may be others.
///
/// # Errors
/// If it can't be read.
pub fn of_database(folder: &Path, compiler: &OsString) -> Result<Vec<Command>, Failure> {
    let path = folder.join("compile_commands.json");
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::about(&path, error))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| Failure::about(&path, error))?;
    let command = |entry: Entry| {
        let words = match entry.command {
            Some(line) => shlex::split(&line)
                .ok_or_else(|| Failure::about(&path, format!("a command has unbalanced quotes: {line}")))?,
            None => entry.arguments,
        };
        Ok(Command {
            options: options_of(words.get(1..).unwrap_or_default(), &entry.file),
            directory: entry.directory,
            source: entry.file,
            compiler: compiler.clone(),
        })
    };
    entries.into_iter().map(command).collect()
}

/// Options with a word of their own that say what to write or to link.
const WITH_OUTPUT: [&str; 8] = ["-o", "-MF", "-MT", "-MQ", "-MJ", "-dumpdir", "-Xlinker", "-l"];
/// Words that have no meaning for a syntax check, or would write.
const DROPPED: [&str; 9] = [
    "-c",
    "-S",
    "-E",
    "-MD",
    "-MMD",
    "-MP",
    "-M",
    "-MM",
    "-grecord-command-line",
];
/// Only the beginning of these is known.
const DROPPED_BEGINNINGS: [&str; 6] = ["-fpass-plugin=", "-fplugin=", "-Wl,", "-l", "-save-temps", "-o"];
/// What the linker takes; another source is a unit of its own.
const ENDINGS: [&str; 9] = [".o", ".a", ".so", ".c", ".cc", ".cpp", ".cxx", ".C", ".lo"];

fn options_of(words: &[String], source: &str) -> Vec<String> {
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if WITH_OUTPUT.contains(&word.as_str()) {
            words.next();
        } else if is_option(word, source) {
            options.push(word.clone());
        }
    }
    options
}

fn is_option(word: &str, source: &str) -> bool {
    let is_input = !word.starts_with('-') && ENDINGS.iter().any(|ending| word.ends_with(ending));
    word != source
        && !is_input
        && !DROPPED.contains(&word)
        && !DROPPED_BEGINNINGS
            .iter()
            .any(|beginning| word.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_units_command_has_its_options_and_no_output() {
        let unit = CompiledUnit {
            source: "a b.c".into(),
            directory: "/src".into(),
            producer:
                "Debian clang version 22.1.8 (1~deb12u1) /usr/lib/llvm-22/bin/clang -fpass-plugin=/P.so -O2 \
                       -D X=\"a\\ b\" -I include -c a\\ b.c -o x.o -Xlinker /T.a other.c -lm"
                    .into(),
        };
        let command = of_unit(&unit).unwrap();
        assert_eq!(command.compiler, "/usr/lib/llvm-22/bin/clang");
        assert_eq!(command.options, ["-O2", "-D", "X=\"a b\"", "-I", "include"]);
        assert_eq!(command.path(), Path::new("/src/a b.c"));
    }

    #[test]
    fn a_unit_without_its_command_line_gives_none() {
        let unit = CompiledUnit {
            source: "a.c".into(),
            directory: "/src".into(),
            producer: "GNU C17 12.2.0 -mtune=generic -O2".into(),
        };
        assert_eq!(of_unit(&unit), None);
    }
}
