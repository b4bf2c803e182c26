"""What instrumentation does to compile time and to the size of the code."""

import re

from .programs import FLAGS, OUT, call, plain_compiler, sources_of, traced_compiler
from .timing import timed


def compile_once(compiler, name):
    """CPU seconds to compile a workload's sources to objects, and the objects."""
    folder = OUT / "objects"
    folder.mkdir(parents=True, exist_ok=True)
    seconds, objects = 0.0, []
    for source in sources_of(name):
        target = folder / f"{name}_{source.stem}.o"
        command = [*compiler, "-O2", "-g", *FLAGS.get(name, []), "-c", source, "-o", target]
        seconds += timed(command)["cpu_s"]
        objects.append(target)
    return seconds, objects


def section_sizes(objects):
    """Bytes of all sections of code, and of the module tables."""
    code = tables = 0
    for line in call("size", "-A", *objects).splitlines():
        found = re.match(r"(\.text\S*|trackway_table)\s+(\d+)", line)
        if found and found.group(1) == "trackway_table":
            tables += int(found.group(2))
        elif found:
            code += int(found.group(2))
    return code, tables


def measure(name, rounds):
    """Text size and compile time of the traced objects as multiples of the plain ones'; least CPU time of the rounds."""
    seconds = {"plain": [], "traced": []}
    sizes = {}
    for _ in range(rounds):
        for variant, compiler in (("plain", plain_compiler(name)), ("traced", traced_compiler(name))):
            once, objects = compile_once(compiler, name)
            seconds[variant].append(once)
            sizes[variant] = section_sizes(objects)
    return {
        "text_ratio": sizes["traced"][0] / sizes["plain"][0],
        "plain_text_bytes": sizes["plain"][0],
        "table_bytes": sizes["traced"][1],
        "compile_ratio": min(seconds["traced"]) / min(seconds["plain"]),
        "plain_compile_cpu_s": min(seconds["plain"]),
    }
