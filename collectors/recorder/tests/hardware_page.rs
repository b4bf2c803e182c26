//! How the runtime reads a counter of the processor: on pages made by hand, since not every machine has such counters.

use std::path::Path;
use std::process::Command;

#[test]
fn pages_are_read_as_the_kernel_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("page");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiler = std::env::var_os("TRACKWAY_CLANG").unwrap_or("clang-22".into());
    let mut compile = Command::new(compiler);
    compile
        .args([
            "-std=c11",
            "-D_GNU_SOURCE",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-I",
        ])
        .arg(here.join("../runtime"))
        .arg("-I")
        .arg(here.join("../ring"))
        .arg(here.join("tests/hardware_page/page.c"))
        .arg("-o")
        .arg(&program);
    assert!(compile.status().unwrap().success());
    let status = Command::new(&program).status().unwrap();
    assert!(status.success(), "{status}: the line of page.c, plus 1");
}
