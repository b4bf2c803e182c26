"""Our own workloads as programs of suites that patch and build sources: each in a copy of the whole folder."""

from .programs import FLAGS, ROOT, is_cxx, sources_of
from .real_programs import Program

# Words for the small input; the large one is the full size.
SMALL_WORKLOADS = {
    "stream": "200000",
    "chase": "200000",
    "hash": "200000",
    "tree": "150000",
    "quicksort": "500000",
    "matrix": "300",
    "bfs": "100000",
    "betweenness": "50000",
    "components": "100000",
    "pagerank": "50000",
    "paths": "50000",
    "triangles": "50000",
    "kvstore": "500000",
    "threads": "300000",
    "simplex": "800",
    "fluid": "6000",
    "interpreter": "20",
}


def workload_program(name):
    folder = ROOT / "workloads"
    compiler = "$CXX" if is_cxx(name) else "$CC"
    files = " ".join(str(file.relative_to(folder)) for file in sources_of(name))
    flags = " ".join(["-O2", "-g", *FLAGS.get(name, [])])
    return Program(name, lambda: folder, f"{compiler} {flags} {files} -o program")


WORKLOADS = tuple(workload_program(name) for name in SMALL_WORKLOADS)
