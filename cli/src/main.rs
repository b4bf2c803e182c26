//! Trackway's program; what it consists of is the library beside, which `trackway-lake` uses, too.

use std::process::ExitCode;

fn main() -> ExitCode {
    trackway_cli::main()
}
