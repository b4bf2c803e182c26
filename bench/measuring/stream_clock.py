"""STREAM with a clock in it: what its four kernels report."""

from . import programs
from .results import Column

NAME = "stream"
CLOCK = programs.ROOT / "bench" / "stream_clock.c"
# Arrays that each kernel reads or writes.
KERNELS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
ELEMENT_BYTES = 8
COLUMNS = (
    *(Column(kernel, kernel.capitalize(), "{:.0f}") for kernel in KERNELS),
    Column("average", "average", "{:.0f}"),
    Column("share", "of plain", "{:.3f}"),
    Column("trace_mb", "trace MB", "{:.3f}"),
    Column("write_mb_per_s", "write MB/s", "{:.2f}"),
    Column("time_s", "time s", "{:.3f}"),
    Column("total_s", "total s", "{:.3f}"),
)


def build_clock(folder):
    """The object that tells the time, which is not traced."""
    folder.mkdir(parents=True, exist_ok=True)
    programs.call("clang-22", "-O2", "-c", CLOCK, "-o", folder / "clock.o")
    return folder / "clock.o"


def build(program, compiler, clock, *flags):
    programs.call(*compiler, "-O2", "-g", "-DCLOCKED", *flags, *programs.sources_of(NAME), clock, "-o", program)
    return program


def kernels_s(clock):
    """Seconds of each kernel in all rounds but the first, and those rounds' number, from the file of the clock."""
    *sums_ns, rounds = map(int, clock.read_text().split())
    return {kernel: ns / 1e9 for kernel, ns in zip(KERNELS, sums_ns, strict=True)}, rounds


def rates(clock, elements):
    """MB/s by kernel."""
    seconds, rounds = kernels_s(clock)
    figures = {
        kernel: arrays * ELEMENT_BYTES * elements * rounds / seconds[kernel] / 1e6 for kernel, arrays in KERNELS.items()
    }
    return figures | {"average": sum(figures.values()) / len(figures)}


def add_shares(medians, plain="no trace"):
    for figures in medians.values():
        figures["share"] = figures["average"] / medians[plain]["average"]
