"""An analysis of one's own: the strides with which each site walks through memory.

    build/python/bin/python examples/python/strides.py prog.trackway
"""

import sys
from collections import Counter
from dataclasses import dataclass, field

import arro3.core
import numpy as np

import trackway


def wrapped(difference: int) -> int:
    """The signed number of the lowest 64 bits."""
    return (difference + 2**63) % 2**64 - 2**63


@dataclass
class SiteStrides:
    """Strides of all sites, and the last address of each in the thread at hand."""

    counts: Counter[tuple[int, int]] = field(default_factory=Counter)
    last: dict[int, int] = field(default_factory=dict)


class Strides(trackway.Analysis[SiteStrides, dict[int, Counter[int]]]):
    """How often each stride occurs: the address of an access minus that of the site's access before in its thread."""

    columns = ("site", "address")
    order = "thread"

    def start(self) -> SiteStrides:
        return SiteStrides()

    def take_batch(self, shard: SiteStrides, batch: arro3.core.RecordBatch) -> None:
        sites, addresses = (batch[name].to_numpy() for name in self.columns)
        by_site = np.argsort(sites, kind="stable")
        sites, addresses = sites[by_site], addresses[by_site]
        firsts = np.flatnonzero(np.r_[True, sites[1:] != sites[:-1]])
        strides = np.diff(addresses.view(np.int64), prepend=0)
        known = np.ones(len(sites), dtype=bool)
        for place in firsts.tolist():
            before = shard.last.get(int(sites[place]))
            known[place] = before is not None
            strides[place] = wrapped(int(addresses[place]) - (before or 0))
        pairs, counts = np.unique(np.stack([sites[known], strides[known]]), axis=1, return_counts=True)
        for site, stride, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            shard.counts[site, stride] += count
        lasts = np.r_[firsts[1:], len(sites)] - 1
        shard.last.update(zip(sites[lasts].tolist(), addresses[lasts].tolist(), strict=True))

    def merge(self, into: SiteStrides, other: SiteStrides) -> SiteStrides:
        into.counts.update(other.counts)
        return into

    def finish(self, shard: SiteStrides, trace: trackway.Trace) -> dict[int, Counter[int]]:
        sites: dict[int, Counter[int]] = {}
        for (site, stride), count in shard.counts.items():
            sites.setdefault(site, Counter())[stride] += count
        return sites


def main() -> None:
    trace = trackway.open(sys.argv[1])
    found = trackway.run(Strides(), trace)
    names = {row["site"]: row for row in trace.table("sites").to_pyarrow().read_all().to_pylist()}
    for site, strides in sorted(found.items(), key=lambda item: -item[1].total())[:10]:
        row = names[site]
        place = f"{row['function']}:{row['line']} {row['variable'] or row['field'] or ''}"
        common = ", ".join(f"{stride:+} {count / strides.total():.0%}" for stride, count in strides.most_common(3))
        print(f"{strides.total():>12,}  {place:<40}  {common}")


if __name__ == "__main__":
    main()
