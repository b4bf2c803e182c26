"""`trackway rustc` and `trackway cargo`: programs of Rust do what they do without recording, their records are complete,
and names are those of the source."""

import json
import shutil
import unittest
from pathlib import Path

from ..support import tools

SOURCE = tools.PROGRAMS / "rust_known.rs"
ANSWER = """arcs 11320001
list 124750
area 74450
map 4510
threads (500, 500)
caught true false
"""
PLUGIN = tools.BUILD / "lib" / "trackway" / "TrackwayPass22.so"
UNNAMED = ("(unknown)", "temporary", "return value", "constant", "vtable")
LIBRARY = """/// ```
/// assert_eq!(counted::twice(2), 4);
/// ```
pub fn twice(x: u32) -> u32 { x * 2 }
#[cfg(test)]
mod tests {
    #[test]
    fn numbers_double() { assert_eq!((0..100).map(super::twice).sum::<u32>(), 9900); }
}
"""
PROGRAM = """fn main() {
    let numbers: Vec<u32> = (0..1000).map(counted::twice).collect();
    println!("{} {}", numbers.iter().sum::<u32>(), env!("MADE"));
}
"""
SCRIPT = """fn main() { println!("cargo:rustc-env=MADE={}", (0..10).collect::<Vec<u32>>().len()); }\n"""
ORDERED = """use std::sync::{Arc, Condvar, Mutex};
fn main() {
    let shared = Arc::new((Mutex::new(0u32), Condvar::new()));
    let threads: Vec<_> = (0..3u32)
        .map(|number| {
            let shared = shared.clone();
            std::thread::spawn(move || {
                let mut turn = shared.0.lock().unwrap();
                while *turn % 3 != number {
                    turn = shared.1.wait(turn).unwrap();
                }
                *turn += 1;
                shared.1.notify_all();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", shared.0.lock().unwrap());
}
"""
OWN_ALLOCATOR = """use std::alloc::{GlobalAlloc, Layout, System};
struct Own;
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 { System.alloc(layout) }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) { System.dealloc(block, layout) }
}
#[global_allocator]
static OWN: Own = Own;
struct Node { value: u64 }
fn main() {
    let nodes: Vec<Box<Node>> = (0..100).map(|value| Box::new(Node { value })).collect();
    println!("{}", nodes.iter().map(|node| node.value).sum::<u64>());
}
"""
MANIFEST = '[package]\nname = "counted"\nversion = "1.0.0"\nedition = "2021"\n[workspace]\n'


def llvm_of_rustc():
    if not shutil.which("rustc"):
        return ""
    lines = tools.run("rustc", "-vV").stdout.splitlines()
    return next((line.split(": ")[1].split(".")[0] for line in lines if line.startswith("LLVM version")), "")


def compile_recording(folder, *flags):
    """Both the program that records, with the oracle, and the plain one."""
    traced, plain = Path(folder, "traced"), Path(folder, "plain")
    tools.trackway("rustc", "--oracle", *flags, SOURCE, "-o", traced)
    tools.run("rustc", *flags, SOURCE, "-o", plain)
    tools.has_plain(traced, lambda: plain)
    return traced


def sources_of_std():
    root = tools.run("rustc", "--print", "sysroot").stdout.strip()
    return Path(root, "lib/rustlib/src/rust/library/Cargo.lock").exists()


def accesses_by(report, table, key):
    sums = {}
    for row in tools.table(report, table)["rows"]:
        sums[key(row)] = sums.get(key(row), 0) + row["accesses"]
    return sums


@unittest.skipUnless(PLUGIN.exists() and llvm_of_rustc() == "22", "no rustc with LLVM 22, or no pass for it")
class Rust(unittest.TestCase):
    def recorded(self, folder, *flags):
        traced = compile_recording(folder, *flags)
        trace = f"{folder}/trace"
        done = tools.record(trace, traced, check=False)
        self.assertEqual((done.returncode, tools.program_output(done)), (3, ANSWER))
        tools.verified_accesses(trace)
        return trace

    def test_names_without_optimisation(self):
        with tools.folder() as folder:
            self.check_names(self.recorded(folder, "-C", "opt-level=0"), least_named=0.9)

    def test_optimised(self):
        with tools.folder() as folder:
            trace = self.recorded(folder, "-C", "opt-level=3")
            self.check_names(trace, least_named=0.9)
            self.check_false_sharing(trace)
            self.check_allocations(trace)

    def check_names(self, trace, least_named):
        report = tools.report(trace, "--by", "variable,field,line", "--top", "0", "--cache", "none")
        self.check_shares(report, least_named)
        self.check_arcs(report)

    def check_shares(self, report, least_named):
        """Of the accesses, those that have a line, and those that have a variable of the source or a field."""
        fields = accesses_by(report, "fields", lambda row: row["field"].split(" in ")[0])
        everything = sum(fields.values())
        unnamed = sum(fields.get(name, 0) for name in UNNAMED)
        self.assertGreaterEqual(everything - unnamed, least_named * everything, fields)
        lines = accesses_by(report, "lines", lambda row: row["line"] is not None)
        self.assertGreaterEqual(lines[True], 0.95 * everything)

    def check_arcs(self, report):
        variables = accesses_by(report, "variables", lambda row: (row["variable"], row["function"]))
        # The optimiser sees that the first round adds nothing.
        self.assertGreaterEqual(variables[("arcs[]", "rust_known::price")], 39000)
        fields = accesses_by(report, "fields", lambda row: row["field"])
        self.assertGreaterEqual(fields["rust_known::Arc.cost"], 39000)
        self.assertGreaterEqual(fields["rust_known::Node.value"], 500)
        self.assertTrue(any(field.startswith("rust_known::Shape.Square.count") for field in fields), fields)
        hot = next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith("// hot"))
        lines = accesses_by(report, "lines", lambda row: row["line"])
        self.assertGreaterEqual(lines[hot], 19000)

    def check_false_sharing(self, trace):
        report = tools.report(trace, "--by", "variable", "--top", "0")
        shared = {row["variable"] for row in tools.table(report, "variables")["rows"] if row["invalidations"] > 100}
        self.assertIn("mine", shared)

    def check_allocations(self, trace):
        allocated = tools.trackway("memory", "--json", trace).stdout
        self.assertIn("rust_known::Arc", allocated)
        self.assertIn("rust_known::Node", allocated)

    def test_ways_to_build(self):
        for flags in (["-C", "lto=fat", "-C", "strip=symbols"],
                      ["-C", "codegen-units=4", "-C", "symbol-mangling-version=v0", "-C", "target-feature=+crt-static"]):
            with self.subTest(flags=flags), tools.folder() as folder:
                self.recorded(folder, "-O", *flags)

    def test_types_behind_an_allocator_of_the_program(self):
        with tools.folder() as folder:
            source = Path(folder, "own.rs")
            source.write_text(OWN_ALLOCATOR)
            tools.trackway("rustc", "--oracle", "-O", source, "-o", f"{folder}/own")
            recorded = tools.record(f"{folder}/trace", f"{folder}/own", differs="there is no plain build")
            self.assertEqual(tools.program_output(recorded), "4950\n")
            tools.verified_accesses(f"{folder}/trace", compared_by="the known output")
            memory = json.loads(tools.trackway("memory", "--json", f"{folder}/trace").stdout)
            types = tools.table(memory, "peak_types")["rows"]
            self.assertIn(("own::Node", 100), [(row["type"], row["peak_blocks"]) for row in types])
            # What the program allocates counts once. Only the compiled part of the standard library has mallocs of its own.
            rows = tools.table(memory, "allocations")["rows"]
            by_malloc = [row["allocations"] for row in rows if row["allocator"] == "malloc"]
            self.assertEqual(sum(row["allocations"] for row in rows) - sum(by_malloc), 101)
            self.assertLess(sum(by_malloc), 10)

    def test_questions_reach_rustc(self):
        self.assertEqual(tools.trackway("rustc", "--version").stdout, tools.run("rustc", "--version").stdout)

    def test_another_target_is_refused(self):
        refused = tools.trackway("rustc", "--target", "x86_64-unknown-linux-musl", SOURCE, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("glibc", refused.stderr)


@unittest.skipUnless(PLUGIN.exists() and llvm_of_rustc() == "22", "no rustc with LLVM 22, or no pass for it")
class Cargo(unittest.TestCase):
    def package(self, folder):
        for name, text in (("Cargo.toml", MANIFEST), ("build.rs", SCRIPT), ("src/lib.rs", LIBRARY), ("src/main.rs", PROGRAM)):
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def test_what_is_built_for_the_target_records(self):
        with tools.folder() as folder:
            self.package(folder)
            tools.trackway("cargo", "--oracle", "build", cwd=folder)
            built = Path(folder, "target/trackway")
            program = next(built.glob("*-linux-gnu/debug/counted"))
            recorded = tools.record(f"{folder}/trace", program, differs="there is no plain build")
            self.assertEqual(tools.program_output(recorded), "999000 10\n")
            self.assertGreater(tools.verified_accesses(f"{folder}/trace", compared_by="the known output"), 1000)
            script = next(built.glob("debug/build/*/build-script-build")).read_bytes()
            self.assertNotIn(b"trackway_table", script)
            # Other options build again, the same ones don't.
            self.assertIn("Compiling", tools.trackway("cargo", "build", cwd=folder).stderr)
            self.assertNotIn("Compiling", tools.trackway("cargo", "build", cwd=folder).stderr)

    def test_tests_run_as_they_do_without(self):
        with tools.folder() as folder:
            self.package(folder)
            tested = tools.trackway("cargo", "test", cwd=folder).stdout
            self.assertEqual(tested.count("test result: ok. 1 passed"), 2, tested)  # the test, and the example

    def test_the_standard_library_records_as_well(self):
        if not sources_of_std():
            self.skipTest("no sources of the standard library: `rustup component add rust-src` installs them")
        with tools.folder() as folder:
            self.package(folder)
            Path(folder, "src/main.rs").write_text(ORDERED)
            tools.trackway("cargo", "--std", "--oracle", "build", "--release", cwd=folder)
            program = next(Path(folder, "target/trackway").glob("*-linux-gnu/release/counted"))
            recorded = tools.record(f"{folder}/trace", program, differs="there is no plain build")
            self.assertEqual(tools.program_output(recorded), "3\n")
            tools.verified_accesses(f"{folder}/trace", compared_by="the known output")
            functions = accesses_by(tools.report(f"{folder}/trace", "--by", "function", "--top", "0"), "functions",
                                    lambda row: row["function"])
            self.assertTrue(any("sys::thread::unix" in name for name in functions), functions)
