//! The least program that records: `record [--plain-small-buffers] TRACE PROGRAM [ARGUMENT...]`. Ends with the
//! program's status.

use std::process::exit;

use trackway_recorder::{record, Compression, Output, RecordOptions};

fn main() {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let plain = arguments
        .next_if(|argument| argument == "--plain-small-buffers")
        .is_some();
    let (Some(trace), Some(program)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: record [--plain-small-buffers] TRACE PROGRAM [ARGUMENT...]");
        exit(2);
    };
    let mut options = RecordOptions::new(
        program,
        Output::File {
            path: trace.into(),
            force: false,
        },
    );
    options.arguments = arguments.collect();
    if plain {
        options.compression = Compression::None;
        options.buffer_size = 16 * 1024;
    }
    match record(options) {
        Ok(summary) => {
            eprintln!("{summary:#?}");
            exit(summary.program_end.shell_status());
        }
        Err(error) => {
            eprintln!("record: {error}");
            exit(125);
        }
    }
}
