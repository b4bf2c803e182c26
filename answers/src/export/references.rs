//! Exports of what the program did, access by access, written as they are read.

use std::io::{self, BufWriter, Seek, Write};

use trackway_analysis::Names;
use trackway_interchange::export::{
    export, export_drmemtrace, Access, ChampSim, Din, Executed, ExportError, Exported, Format as Written,
    Frame, Lackey, LibCacheSim, Lines, PerfScript, Ramulator, RamulatorForm, Samples, Walk,
};
use trackway_report::grouped;
use trackway_trace::{Existing, OutputFile, SiteId, Stream, Trace, TraceError};

use super::{say_library_share, ExportArguments, Format};
use crate::failure::Failure;
use crate::{output, soundness};

/// Bytes that are written together.
const BUFFER: usize = 1 << 18;

/// Writes the trace; false if the format is none of these.
pub fn write(trace: &Trace, arguments: &ExportArguments) -> Result<bool, Failure> {
    let Some(to) = arguments.to else {
        return Ok(false);
    };
    let form = match to {
        Format::Din | Format::Lackey | Format::Champsim | Format::PerfScript => None,
        Format::Ramulator => Some(RamulatorForm::Memory),
        Format::Ramulator2 => Some(RamulatorForm::LoadStore),
        Format::RamulatorCore => Some(RamulatorForm::Core),
        Format::Libcachesim | Format::Drmemtrace => None,
        _ => return Ok(false),
    };
    soundness::warnings(trace).iter().for_each(output::warn);
    let stream = chosen(trace, arguments)?;
    if to == Format::Drmemtrace {
        say_library_share(drmemtrace(trace, stream, arguments)?.share_by_library());
        return Ok(true);
    }
    let lines = lines(arguments)?;
    let path = arguments.output()?;
    let mut file = OutputFile::create(path, Existing::with_force(arguments.force))?;
    let written = write_format(trace, stream, arguments, (to, form), lines, &mut file);
    let exported = written.map_err(|error| Failure::about(path, error))?;
    file.finish()?;
    say_library_share(exported.share_by_library());
    Ok(true)
}

fn write_format(
    trace: &Trace,
    stream: Option<&Stream>,
    arguments: &ExportArguments,
    format: (Format, Option<RamulatorForm>),
    lines: Lines,
    file: &mut OutputFile,
) -> io::Result<Exported> {
    let go = |format: &mut dyn Written| over(trace, stream, arguments, |walk| export(walk, format));
    if format.0 == Format::Libcachesim {
        return libcachesim(file, lines, go);
    }
    let mut output = BufWriter::with_capacity(BUFFER, file);
    let exported = match format {
        (_, Some(form)) => go(&mut Ramulator::new(&mut output, form, lines)),
        (Format::Din, _) => go(&mut Din {
            output: &mut output,
            lines,
        }),
        (Format::Lackey, _) => go(&mut Lackey { output: &mut output }),
        (Format::Champsim, _) => go(&mut ChampSim { output: &mut output }),
        (Format::PerfScript, _) => perf_script(trace, arguments, &mut output, go),
        _ => Ok(Exported::default()),
    }?;
    output.flush()?;
    Ok(exported)
}

/// The export reads its file again, so for a pipe it writes another file and copies that.
fn libcachesim(
    output: &mut OutputFile,
    lines: Lines,
    go: impl FnOnce(&mut dyn Written) -> io::Result<Exported>,
) -> io::Result<Exported> {
    let (mut file, is_copied) = match output.random_access() {
        Some(file) => (file.try_clone()?, false),
        None => (tempfile::tempfile()?, true),
    };
    let mut format = LibCacheSim::new(file.try_clone()?, lines);
    let exported = go(&mut format)?;
    format.finish()?;
    if is_copied {
        file.rewind()?;
        io::copy(&mut file, output)?;
    }
    Ok(exported)
}

/// Reads the trace with a progress bar, and reports what could not be read.
fn over<R>(
    trace: &Trace,
    stream: Option<&Stream>,
    arguments: &ExportArguments,
    go: impl FnOnce(Walk) -> R,
) -> R {
    let mut damage = |error: &TraceError| output::warn(error);
    arguments.reading.with_progress(trace, 1, |_, progress| {
        go(Walk {
            trace,
            stream,
            progress: &|accesses, bytes| progress.advance(accesses, bytes),
            damage: &mut damage,
        })
    })
}

fn drmemtrace(
    trace: &Trace,
    stream: Option<&Stream>,
    arguments: &ExportArguments,
) -> Result<Exported, Failure> {
    let path = arguments.output()?;
    let mut damage = |error: &TraceError| output::warn(error);
    let summary = arguments.reading.with_progress(trace, 1, |_, progress| {
        let progress = |accesses, bytes| progress.advance(accesses, bytes);
        export_drmemtrace(trace, stream, path, arguments.force, &progress, &mut damage)
    });
    let summary = summary.map_err(|error: ExportError| Failure::new(error.to_string()))?;
    if summary.split > 0 {
        output::warn(format!(
            "accesses of more than 32,768 bytes have become several, since entries can't say their sizes: {}",
            grouped(summary.split)
        ));
    }
    Ok(summary.exported)
}

fn chosen<'t>(trace: &'t Trace, arguments: &ExportArguments) -> Result<Option<&'t Stream>, Failure> {
    let Some(id) = arguments.thread else {
        return Ok(None);
    };
    let stream = trace.stream(id);
    let missing = || {
        format!(
            "no stream {id}; `trackway info` lists the {} streams",
            trace.streams().len()
        )
    };
    stream
        .map(Some)
        .ok_or_else(|| Failure::about(&arguments.trace, missing()))
}

fn lines(arguments: &ExportArguments) -> Result<Lines, Failure> {
    match arguments.line {
        0 => Ok(Lines { bytes: None }),
        bytes if bytes.is_power_of_two() && bytes <= 1 << 30 => Ok(Lines { bytes: Some(bytes) }),
        bytes => Err(Failure::new(format!("--line: {bytes} is no power of two"))),
    }
}

fn perf_script(
    trace: &Trace,
    arguments: &ExportArguments,
    output: &mut impl Write,
    go: impl FnOnce(&mut dyn Written) -> io::Result<Exported>,
) -> io::Result<Exported> {
    let names = Names::new(trace.program());
    let program = trace.meta().program.rsplit('/').next().unwrap_or_default();
    // The first word of a line is the program.
    let program = program.replace(|letter: char| letter.is_whitespace() || letter.is_control(), "_");
    let stack = |executed: &Executed, access: &Access| stack(trace, &names, executed, access.site);
    let samples = Samples {
        every: arguments.every.get(),
        program: if program.is_empty() { "program" } else { &program },
        stack: &stack,
    };
    go(&mut PerfScript::new(output, samples))
}

/// The function of the access and those into which it was inlined; for machine code, the instruction.
fn stack(trace: &Trace, names: &Names, executed: &Executed, site: SiteId) -> Vec<Frame> {
    let program = trace.program();
    let entry = program.site(site);
    let address = executed.code.address;
    if let Some(instruction) = program.instruction_of_site(site) {
        let object = program.instruction(instruction).object;
        return vec![Frame {
            address,
            symbol: program.place_of(instruction),
            object: one_line(program.function_name(object)),
        }];
    }
    let frame = |(depth, location)| {
        let location = program.location(location);
        let file = program.string(location.file);
        let symbol = match (depth, program.string(location.function)) {
            (0, _) => names.function_of(entry),
            _ => names.function(location.function),
        };
        Frame {
            address,
            symbol: one_line(&symbol),
            object: one_line(&format!("{file}:{}", location.line)),
        }
    };
    let frames: Vec<Frame> = program
        .inline_stack(entry.location)
        .enumerate()
        .map(frame)
        .collect();
    match frames.is_empty() {
        false => frames,
        true => vec![Frame {
            address,
            symbol: one_line(&names.function_of(entry)),
            object: "[unknown]".into(),
        }],
    }
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
