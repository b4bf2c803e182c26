"""Parts of a page as other analyses would give them: struct layouts, miss-ratio curves, a map of addresses over time."""


def table(name, title, columns, rows, layout="rows"):
    """`columns`: {name: unit}."""
    described = [{"name": column, "title": column.replace("_", " "), "unit": unit} for column, unit in columns.items()]
    return {"name": name, "title": title, "layout": layout, "columns": described, "rows": rows, "row_count": len(rows)}


def part(name, title, *tables):
    return {"name": name, "title": title, "answer": "", "warnings": [], "tables": list(tables)}


def layouts():
    """A structure of two cache lines with a hole, a cold tail and a field across the border."""
    columns = {"type": "text", "field": "text", "offset": "bytes", "size": "bytes", "accesses": "count", "misses": "count"}
    rows = [
        ["struct arc", "ident", 0, 4, 900, 75],
        ["struct arc", "cost", 8, 8, 500, 20],
        ["struct arc", "name", 16, 40, 10, 0],
        ["struct arc", "bounds", 56, 16, 40, 5],
        ["struct arc", "next", 72, 8, 1, 0],
        ["pair<a,b>", "first", 0, 4, 3, 0],
        ["pair<a,b>", "second", 4, 4, 1, 0],
    ]
    return part("layout", "Layouts", table("layout", "Fields by type", columns, rows))


def curves(groups=3, names=None):
    columns = {"group": "text", "size_bytes": "bytes", "miss_ratio": "share"}
    rows = [
        [name, 1024 << power, max(0.0, 0.9 - 0.05 * power * (number + 1))]
        for number, name in enumerate(names or [f"group {number}" for number in range(groups)])
        for power in range(16)
    ]
    return part("reuse", "Reuse", table("curve", "Miss ratio by cache size", columns, rows))



def named_map(names):
    """A map with a row of each name."""
    return map_of([[0, 0, row, 1, 0] for row in range(len(names))], 1, names)


def cells_of(counts):
    """A map of two rows: cells of so many accesses in the first, and nothing in the second."""
    return map_of([[0, bin_, 0, count, 0] for bin_, count in enumerate(counts)], len(counts), ["heap", "heap"])


def map_of(cells, bins, names):
    """A map of one level, whose rows have these names."""
    cell_columns = {"level": "number", "time_bin": "number", "address_bin": "number", "reads": "count", "writes": "count"}
    addresses = [[0, row, 0x7F0000000000 + 4096 * row, 4096, name] for row, name in enumerate(names)]
    return part(
        "map",
        "Map",
        table("map", "Accesses by address and time", cell_columns, cells),
        table("map_times", "Scale of time", {"level": "number", "time_bins": "count", "first_ns": "count", "bin_ns": "count"},
              [[0, bins, 0, 1000]]),
        table(
            "map_addresses",
            "Scale of addresses",
            {"level": "number", "address_bin": "number", "first_address": "number", "size_bytes": "bytes", "name": "text"},
            addresses,
        ),
    )


def address_map():
    """Three levels; in each, one access pattern runs through the addresses and one place is written all the time."""
    cell_columns = {"level": "number", "time_bin": "number", "address_bin": "number"}
    cell_columns |= {"reads": "count", "writes": "count", "misses": "count"}
    cells, times, addresses = [], [], []
    for level, bins in enumerate((16, 64, 256)):
        scale = 65536 // bins
        times.append([level, bins, 1_000_000, scale * 1000])
        for bin_ in range(bins):
            addresses.append([level, bin_, 0x7F0000000000 + bin_ * scale, scale, "heap" if bin_ * scale < 32768 else "stack"])
            cells.append([level, bin_, bin_ // 2, scale, 0, scale // 8])
            cells.append([level, bin_, bins - 1, 0, scale // 4, 0])
    return part(
        "map",
        "Map",
        table("map", "Accesses by address and time", cell_columns, cells),
        table("map_times", "Scale of time", {"level": "number", "time_bins": "count", "first_ns": "count", "bin_ns": "count"}, times),
        table(
            "map_addresses",
            "Scale of addresses",
            {"level": "number", "address_bin": "number", "first_address": "number", "size_bytes": "bytes", "name": "text"},
            addresses,
        ),
    )
