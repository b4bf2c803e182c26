//! `trackway place`.

mod advice_file;
mod apply;
mod far_memory;
mod libnuma;
mod memkind;
mod nodes;
mod plan_file;
mod recommend;
mod shared_library;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_answers::failure::Failure;
use trackway_answers::output::{OutputArguments, QuietArgument};
use trackway_answers::placement::TierArguments;

use self::memkind::Kind;

/// A library that an option of `trackway place` uses where it is installed.
pub struct OptionalLibrary {
    pub option: &'static str,
    /// Debian's package.
    pub package: &'static str,
    pub is_installed: bool,
}

/// All of them.
pub fn optional_libraries() -> [OptionalLibrary; 2] {
    [
        OptionalLibrary {
            option: "--far-node",
            package: libnuma::PACKAGE,
            is_installed: libnuma::is_installed(),
        },
        OptionalLibrary {
            option: "--far-memkind",
            package: memkind::PACKAGE,
            is_installed: memkind::is_installed(),
        },
    ]
}

/// Say which allocations should lie in which kind of memory, or run a program with them there
///
/// Of a sampled trace: ranks call sites by the time that a byte of faster memory would save, fills tiers of given
/// capacities, predicts the time, and writes the advice to a file. With the advice and a program: runs it with the
/// allocations of the last tier's call sites on a NUMA node, in a mapped file, or in memory of a kind of the memkind
/// library. docs/verbs/place.md defines the model, and says what it can't know.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("Rows of the table of call sites; 0 for all")),
    mut_arg("csv", |csv| csv.help("Print the table of call sites as CSV")),
    override_usage = "trackway place [OPTIONS] TRACE\n       trackway place --advice FILE (--far-file PATH | --far-node NODES | --far-memkind KIND) -- PROGRAM ARGUMENTS",
    after_help = "Examples:\n  trackway place --tier dram:capacity=8G --tier cxl --advice prog.advice prog.trackway\n  \
                  trackway place --tier hbm:capacity=2G --tier dram --measured-in dram prog.trackway\n  \
                  trackway place --advice prog.advice --far-node 1 -- ./prog arguments\n  \
                  trackway place --advice prog.advice --far-file /mnt/nvme/far -- ./prog arguments\n  \
                  trackway place --advice prog.advice --far-memkind dax-kmem -- ./prog arguments\n  \
                  trackway place --advice prog.advice --far-memkind /mnt/pmem -- ./prog arguments")]
pub struct PlaceArguments {
    /// The trace
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub tiers: TierArguments,
    /// The file of the advice: written, or applied to the program
    #[arg(long, value_name = "FILE")]
    pub advice: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    pub force: bool,
    /// Put allocations of the far tier into this file, which is created, mapped, and removed when the program has ended
    #[arg(long, value_name = "PATH", conflicts_with = "far_node", requires = "command")]
    pub far_file: Option<PathBuf>,
    /// Put allocations of the far tier on these NUMA nodes: numbers, such as 1 or 2-3, or what libnuma knows them by,
    /// such as file:/mnt/cxl or pci:3a:00
    #[arg(long, value_name = "NODES", requires = "command")]
    pub far_node: Option<String>,
    /// Let the memkind library allocate those of the far tier: a kind such as dax-kmem, hbw, highest-capacity or
    /// interleave, or a folder (with a slash) for files of its own, as on persistent memory
    #[arg(long, value_name = "KIND", value_parser = Kind::parse, conflicts_with_all = ["far_file", "far_node"],
        requires = "command")]
    pub far_memkind: Option<Kind>,
    /// Bytes of far memory at most [default: 64G, or what is free on the NUMA nodes if that is less]
    #[arg(long, value_name = "SIZE", value_parser = parse_far_size, requires = "command")]
    pub far_size: Option<u64>,
    /// The tier of the advice that is far [default: its last]
    #[arg(long, value_name = "NAME", requires = "command")]
    pub far: Option<String>,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub quiet: QuietArgument,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "advice")]
    pub command: Vec<OsString>,
}

pub fn run(arguments: &PlaceArguments) -> Result<ExitCode, Failure> {
    match &arguments.trace {
        Some(trace) => recommend::run(arguments, trace),
        None => apply::run(arguments),
    }
}

fn parse_far_size(text: &str) -> Result<u64, String> {
    const PAGE: u64 = 4096;
    let size = trackway_analysis::cache::parse_size(text).filter(|size| *size >= PAGE);
    Ok(size
        .ok_or("expected a number of bytes from 4K on, such as 16G")?
        .next_multiple_of(PAGE))
}
