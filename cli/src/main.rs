//! Trackway's program. The library beside it does the work, for `trackway-lake` too.

use std::process::ExitCode;

fn main() -> ExitCode {
    trackway_cli::main()
}
