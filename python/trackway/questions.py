"""The analyses: each method asks what the verb of the command line asks, with the same options.

Options that are not given have the verb's defaults, but `top`: tables have all rows. `threads` is how many threads work,
by default as many as there are processors. `progress` is called now and then, from the calling thread, with the bytes of
records that were read and those to be read; an exception of it ends the analysis, and so does Ctrl-C. `slice` stands for the
options of `SliceOptions`, by which an analysis looks at a part of the trace.
"""

from __future__ import annotations

import inspect
import keyword
import os
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, TypedDict, Unpack

from . import _native
from .tables import CheckReport, Report

Progress: TypeAlias = Callable[[int, int], object]
Grouping: TypeAlias = Literal[
    "field", "variable", "type", "line", "function", "file", "kind", "site", "instruction", "thread"
]
Option: TypeAlias = "str | int | float | bool | os.PathLike[str] | Sequence[str] | Sequence[int] | None"

ALL_ROWS = 0


class SliceOptions(TypedDict, total=False):
    """What of the trace is looked at. A time is a duration since the beginning of the recording such as `1.5ms`, a part of
    the recording such as `10%`, or a mark as `mark:TEXT`.
    """

    from_: str | None
    """Only from this time on."""
    to: str | None
    """Only up to this time."""
    after_mark: str | None
    """Only from the first mark of that text on."""
    windows: Sequence[str]
    """Only these windows, in which recording was on: their numbers, N or N-M."""
    thread: Sequence[int]
    """Only these threads, by the numbers that reports show."""
    function: Sequence[str]
    """Only accesses by code of functions whose name matches such a pattern of * and ?."""
    region: Sequence[str]
    """Only what threads did in regions of interest whose name matches such a pattern."""
    without_library: bool
    """Without the accesses that functions of libraries make for the program's calls."""


def words_of(options: dict[str, Option]) -> list[str]:
    """Options as the words of a command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            words.extend(f"{option}={item}" for item in value)
        else:
            words.append(f"{option}={value}")
    return words


def options_of(slice_options: SliceOptions) -> dict[str, Option]:
    """The same as options of any kind."""
    return {name: value for name, value in slice_options.items() if isinstance(value, (str, bool, Sequence))}


class Questions:
    """What can be asked of a trace."""

    _native: _native.NativeTrace

    def ask(self, verb: str, *, progress: Progress | None = None, **options: Option) -> Report:
        """Asks by the name of the verb; the other methods are this one with types.

        Raises:
            QuestionError: an option is unknown or wrong, or this trace doesn't hold what the question is about.
        """
        # Numbers at full resolution, as `--json` has them.
        words = ["--json", *words_of(options)]
        return Report(_native.ask(self._native, verb, words, progress))

    def misses(
        self,
        *,
        by: Sequence[Grouping] = (),
        sort: str | None = None,
        cache: str | None = None,
        drcachesim: str | None = None,
        time: bool = False,
        machine: str | os.PathLike[str] | None = None,
        source_root: str | os.PathLike[str] | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """What causes the cache misses: `trackway report`.

        Args:
            by: the tables to make; by default fields, variables, lines and functions.
            sort: what to rank by: accesses, bytes, or misses in L1, L2, ...
            cache: caches to simulate: `L1=SIZE,WAYS,LINE:L2=...`, `preset:NAME`, `FILE.toml` or `none`.
            drcachesim: of a trace of machine code, the settings of DynamoRIO's simulator instead.
            time: estimate cycles, too, and rank by them.
            machine: whose time is estimated: a preset, or a file of `trackway calibrate --output`; by default this machine's.
            source_root: a folder in which to look for source files, too.
        """
        options: dict[str, Option] = {
            "by": by,
            "time": time,
            "machine": machine,
            "sort": sort,
            "cache": cache,
            "drcachesim": drcachesim,
            "source_root": source_root,
        }
        return self.ask("report", progress=progress, top=top, threads=threads, **options, **options_of(slice))

    def regions(
        self,
        *,
        by: Sequence[Grouping] = (),
        sort: str | None = None,
        source_root: str | os.PathLike[str] | None = None,
        top: int = ALL_ROWS,
    ) -> Report:
        """What a program that counts did in its regions of interest: `trackway report` of such a trace."""
        return self.ask("report", by=by, sort=sort, source_root=source_root, top=top)

    def sharing(
        self,
        *,
        by: Sequence[Literal["field", "variable", "type", "line", "function", "file"]] = (),
        line_size: int | str | None = None,
        time: bool = False,
        machine: str | os.PathLike[str] | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """Which cache lines threads take from each other: `trackway sharing`.

        Args:
            by: tables of what takes lines; by default fields and lines.
            line_size: bytes of a cache line, a power of two; by default that of the machine that recorded.
            time: estimate cycles, too, and rank by them.
            machine: whose time is estimated: a preset, or a file of `trackway calibrate --output`; by default this machine's.
        """
        asked: dict[str, Option] = {"by": by, "line_size": line_size, "time": time, "machine": machine}
        return self.ask("sharing", progress=progress, top=top, threads=threads, **asked, **options_of(slice))

    def layout(
        self,
        *,
        type: str | None = None,
        window: int | None = None,
        sort: str | None = None,
        cache: str | None = None,
        no_simulate: bool = False,
        time: bool = False,
        machine: str | os.PathLike[str] | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """How structures are laid out, which fields are used together, and which changes save misses: `trackway layout`.

        Args:
            type: only this structure.
            window: fields are used together if no more accesses of their thread than this lie between; default 100.
            sort: what to rank by.
            cache: caches to simulate.
            no_simulate: show all proposals, not only those that save misses when they are simulated.
            time: estimate cycles, too, and rank by them.
            machine: whose time is estimated: a preset, or a file of `trackway calibrate --output`; by default this machine's.
        """
        options: dict[str, Option] = {"type": type, "window": window, "sort": sort, "cache": cache}
        options.update({"no_simulate": no_simulate, "time": time, "machine": machine})
        return self.ask("layout", progress=progress, top=top, threads=threads, **options, **options_of(slice))

    def reuse(
        self,
        *,
        sample: float | None = None,
        sample_lines: int | None = None,
        merged: bool = False,
        by: Sequence[Literal["field", "variable", "allocation"]] = (),
        line_size: int | str | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """How soon lines are used again, and the miss ratio of caches of each size: `trackway reuse`.

        Args:
            sample: measure only this share of the lines, above 0 and up to 1.
            sample_lines: measure no more lines than this at a time, of each thread.
            merged: all threads in one order, as if they shared a cache.
            by: tables of groups; by default all three.
            line_size: bytes of a line.
        """
        options: dict[str, Option] = {"sample": sample, "sample_lines": sample_lines, "merged": merged, "by": by}
        return self.ask("reuse", progress=progress, line_size=line_size, top=top, threads=threads, **options, **options_of(slice))

    def patterns(
        self,
        *,
        merged: bool = False,
        by: Sequence[Literal["pattern", "site", "field", "line", "kind"]] = (),
        line_size: int | str | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """How each site moves through memory, and working sets over time: `trackway patterns`.

        Args:
            merged: the working set of all threads together, in one order.
            by: tables of patterns; by default patterns and sites.
            line_size: bytes of a line.
        """
        options: dict[str, Option] = {"merged": merged, "by": by, "line_size": line_size}
        return self.ask("patterns", progress=progress, top=top, threads=threads, **options, **options_of(slice))

    def last(
        self,
        *,
        top: int = 8,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """The last `top` accesses of each thread, and where a program that crashed stopped: `trackway last`."""
        return self.ask("last", progress=progress, top=top, threads=threads, **options_of(slice))

    def memory(
        self,
        *,
        short_life: int | None = None,
        by: Sequence[Literal["allocation", "type"]] = (),
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """What memory was allocated, when, for how long, and what was done with it: `trackway memory`.

        Args:
            short_life: a block that is released before so many accesses of all threads is short-lived.
            by: tables of what was allocated; by default both.
        """
        options: dict[str, Option] = {"short_life": short_life, "by": by, **options_of(slice)}
        return self.ask("memory", progress=progress, top=top, threads=threads, **options)

    def map(
        self,
        *,
        measure: str | None = None,
        cache: str | None = None,
        machine: str | os.PathLike[str] | None = None,
        address: tuple[int, int] | str | None = None,
        allocation: str | None = None,
        level: int | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """Which memory was accessed when: `trackway map`.

        Args:
            measure: accesses (default), bytes, misses, the misses of a level: L1, L2, ..., or estimated cycles.
            cache: caches to simulate for misses and cycles.
            machine: whose cycles are estimated: a preset, or a file of `trackway calibrate --output`.
            address: only these addresses, the first and the last one.
            allocation: only memory of that name: a variable, a type, a function, `FILE:LINE`, stack, or other.
            level: the finest resolution, 0 for all of it; by default the finest with up to 20,000 cells.
        """
        addresses = "-".join(map(str, address)) if isinstance(address, tuple) else address
        options: dict[str, Option] = {"measure": measure, "cache": cache, "level": level, **options_of(slice)}
        options["machine"] = machine
        asked = {"address": addresses, "allocation": allocation, "top": top, "threads": threads, **options}
        return self.ask("map", progress=progress, **asked)

    def calls(
        self,
        *,
        cache: str | None = None,
        time: bool = False,
        machine: str | os.PathLike[str] | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """What functions cost by the path on which they were called: `trackway diff --analysis calls` compares it.

        Args:
            cache: caches to simulate.
            time: estimate cycles, too.
            machine: whose time is estimated: a preset, or a file of `trackway calibrate --output`; by default this machine's.
        """
        asked: dict[str, Option] = {"cache": cache, "time": time, "machine": machine}
        return self.ask("calls", progress=progress, top=top, threads=threads, **asked)

    def advise(
        self,
        *,
        machine: str | os.PathLike[str] | None = None,
        cache: str | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """What to change, and what each change would gain in time: `trackway advise`.

        Args:
            machine: whose time is estimated: a preset, or a file of `trackway calibrate --output`; by default this machine's.
            cache: caches to simulate; by default those of the machine that recorded.
        """
        asked: dict[str, Option] = {"machine": machine, "cache": cache}
        return self.ask("advise", progress=progress, top=top, threads=threads, **asked, **options_of(slice))

    def whatif(
        self,
        *,
        split: Sequence[str] = (),
        link: Literal["pointer", "index"] | None = None,
        reorder: Sequence[str] = (),
        pad: Sequence[str] = (),
        align: Sequence[str] = (),
        soa: Sequence[str] = (),
        huge_pages: bool = False,
        cache: str | None = None,
        cache_before: str | None = None,
        sort: str | None = None,
        time: bool = False,
        machine: str | os.PathLike[str] | None = None,
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """What another layout, other pages or other caches would gain: `trackway whatif`.

        Args:
            split: `TYPE:MEMBER,...`: these members stay, the others go to a part of their own.
            link: how the parts of split objects find each other.
            reorder: `TYPE:MEMBER,...`: these members first, in this order.
            pad: `TYPE:BYTES` behind each object, or `TYPE.MEMBER` on cache lines of its own.
            align: `TYPE:BYTES`: objects begin at multiples of so many bytes.
            soa: types whose members go to an array each.
            huge_pages: pages of 2 MiB.
            cache: caches after the change.
            cache_before: caches before it.
            sort: what to rank by.
            time: estimate cycles, too, and rank by them.
            machine: whose time is estimated: a preset, or a file of `trackway calibrate --output`; by default this machine's.
        """
        layouts: dict[str, Option] = {"split": split, "reorder": reorder, "pad": pad, "align": align, "soa": soa}
        models: dict[str, Option] = {"cache": cache, "cache_before": cache_before, "sort": sort, "link": link}
        options: dict[str, Option] = {**layouts, **models, "huge_pages": huge_pages, "time": time, "machine": machine}
        return self.ask("whatif", progress=progress, top=top, threads=threads, **options, **options_of(slice))

    def branches(
        self,
        *,
        predictor: Sequence[str] = (),
        by: Sequence[Literal["branch", "line", "function"]] = (),
        top: int = ALL_ROWS,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """Which branches a processor would predict wrongly: `trackway branches`.

        Args:
            predictor: predictors, such as `gshare=64K` or `tage-sc-l`; by default all.
            by: tables of branches; by default branches and lines.
        """
        return self.ask("branches", progress=progress, predictor=predictor, by=by, top=top, threads=threads, **options_of(slice))

    def samples(
        self,
        *,
        by: Sequence[Literal["function", "line", "instruction"]] = (),
        top: int = ALL_ROWS,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """Where a sampled program spends its time, and where it makes its accesses: `trackway samples`.

        Args:
            by: tables of places; by default lines and instructions.
        """
        return self.ask("samples", progress=None, by=by, top=top, **options_of(slice))

    def allocations(
        self,
        *,
        sort: Literal["allocations", "bytes", "peak", "leaked"] | None = None,
        depth: int | None = None,
        by: Sequence[Literal["site", "function"]] = (),
        top: int = ALL_ROWS,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """Which calls allocated memory, of a trace of `record --allocations`: `trackway allocations`.

        Args:
            sort: by what call sites are ranked; default peak.
            depth: frames by which call sites are told apart, from the innermost one on; default 3.
            by: tables of calls; by default call sites.
        """
        return self.ask("allocations", progress=None, sort=sort, depth=depth, by=by, top=top, **options_of(slice))

    def objects(
        self,
        *,
        slices: int | None = None,
        by: Sequence[Literal["object", "kind", "type"]] = (),
        top: int = ALL_ROWS,
        **slice: Unpack[SliceOptions],
    ) -> Report:
        """Whose memory the time of a sampled program goes to: `trackway objects`.

        Args:
            slices: parts of time in the tables of phases, at most; default 64.
            by: tables of memory; by default objects.
        """
        return self.ask("objects", progress=None, slices=slices, by=by, top=top, **options_of(slice))

    def placement(
        self, *, tier: Sequence[str] = (), measured_in: str | None = None, top: int = ALL_ROWS
    ) -> Report:
        """Which allocations should lie in which kind of memory: `trackway place`, without its file of advice.

        Args:
            tier: kinds of memory, the first to be filled first, such as `dram:capacity=8G`; by default dram and cxl.
            measured_in: the tier in which the program's allocations lay when it was recorded; by default the first.
        """
        return self.ask("place", tier=tier, measured_in=measured_in, top=top)

    def check(
        self,
        budget: str | os.PathLike[str],
        *,
        baseline: str | os.PathLike[str] | None = None,
        cache: str | None = None,
        line_size: int | str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        **slice: Unpack[SliceOptions],
    ) -> CheckReport:
        """Whether the trace keeps to budgets: `trackway check`. A broken budget is no error: see `CheckReport.holds`.

        Args:
            budget: the file of budgets, in TOML (docs/verbs/check.md).
            baseline: the trace or saved report to which `max-ratio` refers; by default that which the file names.
            cache: caches to simulate; by default those of the budget file, or of the machine that recorded.
            line_size: bytes of a cache line for hand-overs; by default as in the budget file, or of that machine.

        Raises:
            QuestionError: the file can't be read or is wrong, a budget names what isn't in the trace, or the trace has
                no accesses.
            TraceError: the baseline can't be read.
        """
        options: dict[str, Option] = {"budget": budget, "baseline": baseline, "cache": cache, "line_size": line_size}
        return CheckReport.of(self.ask("check", progress=progress, threads=threads, **options, **options_of(slice)))


def check(
    trace: str | os.PathLike[str],
    budget: str | os.PathLike[str],
    *,
    baseline: str | os.PathLike[str] | None = None,
    cache: str | None = None,
    line_size: int | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **slice: Unpack[SliceOptions],
) -> CheckReport:
    """Whether a trace keeps to budgets, given by its path: `trackway check`. `Trace.check` describes the options.

    Args:
        trace: a trace, a report that `--json` saved with `--top 0`, or a folder, each trace of which is checked. Of a
            folder, a trace that can't be checked is named in the table `traces` and raises nothing.

    Raises:
        QuestionError: a file of budgets or a saved report can't be read or is wrong, a budget names what isn't in the
            trace, the trace has no accesses, or the folder no traces.
        TraceError: the trace or the baseline can't be read.
    """
    options: dict[str, Option] = {"budget": budget, "baseline": baseline, "cache": cache, "line_size": line_size}
    words = words_of({**options, "threads": threads, **options_of(slice)})
    return CheckReport(_native.check(trace, ["--json", *words], progress))


# Verbs whose methods are not called like them: `misses`, `regions` and `placement`.
CALLED_OTHERWISE = {"report", "place"}


def method_of(verb: str) -> Callable[..., Report]:
    """A method that asks what the verb asks, with the verb's options as keywords."""

    def ask(self: Questions, *, top: int = ALL_ROWS, progress: Progress | None = None, **options: Option) -> Report:
        return self.ask(verb, progress=progress, top=top, **options)

    names = [name.replace("-", "_") for name in _native.options(verb) or []]
    keywords = [name + "_" if keyword.iskeyword(name) else name for name in names] + ["progress"]
    defaults = {name: ALL_ROWS if name == "top" else None for name in keywords}
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    others = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name]) for name in keywords]
    ask.__name__, ask.__qualname__ = verb, f"Questions.{verb}"
    ask.__doc__ = f"{_native.about(verb)}: `trackway {verb}`."
    ask.__signature__ = inspect.Signature([own, *others], return_annotation=Report)  # type: ignore[attr-defined]
    return ask


def add_methods_without_types() -> None:
    """Gives verbs that have no method above one that follows from their options."""
    for verb in _native.questions():
        if verb not in CALLED_OTHERWISE and not hasattr(Questions, verb):
            setattr(Questions, verb, method_of(verb))


add_methods_without_types()


def diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    again: Sequence[str | os.PathLike[str]] = (),
    analysis: Literal["report", "sharing", "calls", "objects"] | None = None,
    by: Sequence[Grouping] = (),
    measure: Sequence[str] = (),
    sort: str | None = None,
    cache: str | None = None,
    time: bool = False,
    machine: str | os.PathLike[str] | None = None,
    source_root: str | os.PathLike[str] | None = None,
    line_size: int | str | None = None,
    top: int = ALL_ROWS,
    threads: int | None = None,
    progress: Progress | None = None,
    **slice: Unpack[SliceOptions],
) -> Report:
    """What changed between two traces, or reports that `--json` saved: `trackway diff`.

    Args:
        again: more traces of what `before` is of: how far they differ is noise.
        analysis: the analysis whose tables are compared; default report.
        by: tables to compare.
        measure: numbers to compare, by the names of columns.
        sort: what to rank the report by.
        cache: caches to simulate for both.
        time: whether estimated cycles are compared.
        machine: whose cycles are estimated: a preset, or a file of `trackway calibrate --output`.
        source_root: a folder in which to look for source files, too.
        line_size: bytes of a cache line for sharing.
    """
    files = [os.fspath(file) for file in again]
    options: dict[str, Option] = {"again": files, "analysis": analysis, "by": by, "measure": measure, "sort": sort}
    options |= {"cache": cache, "time": time, "machine": machine, "source_root": source_root, "line_size": line_size}
    words = words_of({**options, "top": top, "threads": threads, **options_of(slice)})
    return Report(_native.diff(before, after, ["--json", *words], progress))
