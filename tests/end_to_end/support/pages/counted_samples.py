"""Parts of a page of programs that count, larger than a test would run them: many regions, many threads, many bins."""

from .view_samples import part, table

ACTIVITY = {
    "entries": "count",
    "time_ns": "count",
    "own_time_ns": "count",
    "bytes_read": "bytes",
    "bytes_written": "bytes",
}
RATES = {"entries_per_s": "rate", "time_share": "share", "read_mb_per_s": "rate", "write_mb_per_s": "rate"}
INSTRUCTIONS = ("loads", "stores", "atomics", "integer", "floating_point", "vector", "branches", "calls")


def name(region):
    return f"region {region}"


def work(region, thread, threads):
    """Entries, time, own time, bytes: the first thread of each region has the most."""
    time_ns = 1_000_000 * (threads - thread) + 1000 * (1000 - region)
    return [10, time_ns, time_ns, 3 * time_ns, time_ns]


def summed(rows):
    return [sum(column) for column in zip(*rows, strict=True)]


def imbalances(rows):
    """Of bytes and of time, the greatest over the mean."""
    sums = [row[3] + row[4] for row in rows], [row[1] for row in rows]
    return [max(numbers) * len(numbers) / sum(numbers) for numbers in sums]


def regions(count, threads):
    """The tables from which charts are drawn."""
    works = {region: [work(region, thread, threads) for thread in range(threads)] for region in range(count)}
    sums = [[name(region), threads, *summed(rows), 3000.0, *imbalances(rows)] for region, rows in works.items()]
    by_thread = [
        [name(region), thread, 0, 4000 + thread, *row]
        for region, rows in works.items()
        for thread, row in enumerate(rows)
    ]
    instructions = [[name(region), *(region + kind for kind in range(8))] for region in range(count)]
    sizes = [[name(region), size, 10 * size, region, 0, 0] for region in range(count) for size in (0, 1, 4, 8, 16)]
    of_thread = {"region": "text", "stream": "number", "process": "number", "thread": "number", **ACTIVITY}
    ratios = {"raw_read_mb_per_s": "rate", "bytes_imbalance": "ratio", "time_imbalance": "ratio"}
    accesses = {"reads": "count", "writes": "count", "bytes_read": "bytes", "bytes_written": "bytes"}
    return part(
        "regions",
        "Regions",
        table("regions", "Regions", {"region": "text", "threads": "count", **ACTIVITY, **ratios}, sums),
        table("regions_by_thread", "Threads in regions", of_thread, by_thread),
        table(
            "region_instructions",
            "Instructions",
            {"region": "text", **dict.fromkeys(INSTRUCTIONS, "count")},
            instructions,
        ),
        table(
            "region_accesses_by_size", "Accesses by size", {"region": "text", "size_bytes": "number", **accesses}, sizes
        ),
        table("region_hardware", "Hardware counters", {"region": "text", "cycles": "count"}, [["region 0", 12345]]),
    )


def rates(numbers, seconds, share):
    entries, _, _, read, written = numbers
    return [entries / seconds, share, read / seconds / 1e6, written / seconds / 1e6]


def series(count, threads, bins, seconds=0.5):
    """Half a second for each bin; the work grows."""
    sums, rows = [], []
    for bin_ in range(bins):
        time = [(bin_ + 1) * seconds, seconds]
        for region in range(count):
            works = [[number * (bin_ + 1) for number in work(region, thread, threads)] for thread in range(threads)]
            all_ = summed(works)
            even = imbalances(works) if threads > 1 else [None, None]
            sums.append([*time, name(region), threads, *all_, *rates(all_, seconds, 1 / count), *even])
            for thread, numbers in enumerate(works):
                rows.append(
                    [
                        *time,
                        name(region),
                        77,
                        4000 + thread,
                        thread,
                        *numbers,
                        *rates(numbers, seconds, 1 / count / threads),
                    ]
                )
    times = {"time_s": "rate", "interval_s": "rate", "region": "text"}
    ratios = {"bytes_imbalance": "ratio", "time_imbalance": "ratio"}
    ids = {"process": "number", "thread": "number", "stream": "number"}
    return part(
        "series",
        "Regions over time",
        table(
            "region_sums_over_time",
            "Regions over time, all threads",
            {**times, "threads": "count", **ACTIVITY, **RATES, **ratios},
            sums,
        ),
        table("regions_over_time", "Regions over time, by thread", {**times, **ids, **ACTIVITY, **RATES}, rows),
    )
