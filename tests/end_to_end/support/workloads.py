"""The workloads: their names, the answers that they must print, and their builds."""

from . import tools


def names():
    return tools.run("make", "-s", "-C", tools.ROOT / "workloads", "list").stdout.split()


def known_answers():
    lines = (tools.ROOT / "workloads" / "answers.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def build(variant, name, level, options=""):
    """With options of `trackway cc`."""
    out = tools.BUILD / "tests" / "workloads" / (level.lstrip("-") + ("-values" if options else ""))
    make = ("make", "-s", "-C", tools.ROOT / "workloads", variant, f"W={name}", f"OPT={level}", f"OUT={out}")
    environment = tools.environment(TRACKWAY_CC_OPTIONS=options)
    tools.once(("workload", variant, name, level, options), lambda: tools.run(*make, env=environment))
    if variant == "oracle":
        tools.has_plain(out / variant / name, lambda: build("plain", name, level))
    return out / variant / name
