//! Any bytes as what other tools recorded: perf.data, the text of `perf script`, or entries of drmemtrace. The first byte says
//! which. What is imported is a trace that can be read.

#![no_main]

use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use trackway_interchange::{import, import_perf_data, import_perf_script, ImportOptions};
use trackway_trace::Trace;

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let folder = PathBuf::from(format!("/dev/shm/trackway-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("memory has room");
    let (file, output) = (folder.join("drmemtrace.fuzzed.00001.0001.trace"), folder.join("output"));
    fs::write(&file, bytes).expect("memory has room");
    let imported = match choice % 3 {
        0 => import_perf_data(&file, &output, true).is_ok(),
        1 => import_perf_script(&file, &output, true).is_ok(),
        _ => import(&ImportOptions {
            traces: vec![file],
            output: output.clone(),
            force: true,
            modules: None,
        })
        .is_ok(),
    };
    if imported {
        let trace = Trace::open(&output).expect("it was written just now");
        assert!(trace.damage().is_empty());
    }
    let _ = fs::remove_dir_all(&folder);
});
