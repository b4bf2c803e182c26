"""Real programs before a change of their memory that is known to gain, with which `bench/run fix` asks whether it is found.

Where the package has the change already, a setting of its own or a line of `sed` takes it back.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .programs import OUT, call
from .real_programs import Program
from .real_sources import DRIVERS, debian, pypi

# Builds of both take one line of shell, in which FIX is what differs. The driver stands in the folder of the sources.
LIBEV = "$CC -O2 -g -w -DEV_STANDALONE=1 -DEV_USE_SELECT=1 FIX -I. timers.c ev.c -o program -lm"
LMDB = "cd libraries/liblmdb; $CC -O2 -g -w -pthread FIX -I. ../../readers.c mdb.c midl.c -o ../../program"
HNSWLIB = "$CXX -O2 -g -w -std=c++17 -pthread 'FIX' -I. neighbours.cpp -o program"
EARCUT = "$CXX -O2 -g -w -std=c++17 'FIX' -Iinclude polygon.cpp -o program"
LIBSAIS = "$CC -O2 -g -w 'FIX' -Idep/include transform.c -o program"
TINYXML2 = "$CXX -O2 -g -w 'FIX' -I. elements.cpp tinyxml2.cpp -o program"
CJSON = "$CC -O2 -g -w FIX -I. tree.c cJSON.c -o program -lm"


@dataclass(frozen=True)
class KnownFix:
    """A program before and after a change, and its words for the small and the large input."""

    name: str
    package: Callable[[], Path]
    driver: str
    # What was changed, and where that is told.
    change: str
    build: str
    before: str
    after: str
    small: str
    large: str
    # Lines of shell that make FIX a choice, where it isn't one.
    prepare: str = ":"

    def source(self):
        """The package with the driver: patches may need to change both."""
        folder = OUT / "known_fixes" / self.name
        if not folder.exists():
            shutil.copytree(self.package(), folder, symlinks=True)
            for file in (self.driver, "random.h"):
                shutil.copy(DRIVERS / "before_fix" / file, folder)
            call("bash", "-ec", self.prepare, cwd=folder)
        return folder

    def program(self, is_fixed=False):
        build = self.build.replace("FIX", self.after if is_fixed else self.before)
        return Program(self.name, self.source, build, f'"$PROGRAM" {self.large}')


KNOWN = (
    KnownFix(
        "libev",
        lambda: debian("libev"),
        "timers.c",
        "the time of a timer is kept in the heap, beside the pointer to it (EV_HEAP_CACHE_AT, ev.pod)",
        LIBEV,
        "-DEV_HEAP_CACHE_AT=0",
        "",
        "100000 200000",
        "100000 1000000",
    ),
    KnownFix(
        "lmdb",
        lambda: debian("lmdb"),
        "readers.c",
        "a reader's slot is padded to a cache line (CACHELINE, mdb.c)",
        LMDB,
        "-DCACHELINE=8",
        "",
        "50000",
        "500000",
    ),
    KnownFix(
        "hnswlib",
        lambda: pypi("hnswlib", "0.5.2"),
        "neighbours.cpp",
        "the next neighbour is prefetched (hnswalg.h)",
        HNSWLIB,
        "-DPREFETCH(line,hint)=",
        "-DPREFETCH(line,hint)=__builtin_prefetch(line)",
        "1000 100",
        "20000 10000",
        "sed -i 's/\\b_mm_prefetch(/PREFETCH(/' hnswlib/*.h",
    ),
    KnownFix(
        "earcut",
        lambda: pypi("mapbox_earcut", "1.0.1"),
        "polygon.cpp",
        "nodes come from a pool (ObjectPool, earcut.hpp)",
        EARCUT,
        "-DPOOL=1",
        "-DPOOL=(len*3/2)",
        "20000 2",
        "20000 10",
        "sed -i 's/nodes.reset(len . 3 . 2);/nodes.reset(POOL);/' include/mapbox/earcut.hpp",
    ),
    KnownFix(
        "cjson",
        lambda: debian("cjson"),
        "tree.c",
        "nodes and texts come from one block (cJSON_InitHooks; yyjson does so)",
        CJSON,
        "",
        "-DPOOL",
        "40000 2",
        "100000 5",
    ),
    KnownFix(
        "libsais",
        lambda: pypi("bzip3", "0.1.4"),
        "transform.c",
        "what the next iterations ask for is prefetched (prefetch and prefetchw, libsais.h)",
        LIBSAIS,
        "-DPREFETCH(address,write)=",
        "-DPREFETCH(address,write)=__builtin_prefetch((const void *)(address),write,0)",
        "1000000",
        "16000000",
        r"sed -i 's/__builtin_prefetch((const void \*)(address), \([01]\), 0)/PREFETCH(address, \1)/' dep/include/common.h",
    ),
    KnownFix(
        "tinyxml2",
        lambda: debian("tinyxml2"),
        "elements.cpp",
        "nodes come from blocks of 4 KiB (MemPoolT, tinyxml2.h)",
        TINYXML2,
        "-DITEMS=1",
        "-DITEMS=(4*1024)/ITEM_SIZE",
        "5000 2",
        "100000 10",
        r"sed -i 's/ITEMS_PER_BLOCK = (4 \* 1024) \/ ITEM_SIZE/ITEMS_PER_BLOCK = ITEMS/' tinyxml2.h",
    ),
)
