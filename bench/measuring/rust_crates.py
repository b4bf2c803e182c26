"""The crates whose tests `bench/run rust` measures: many of those in docs/collectors/rust.md, and others whose packages hold
long tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Crate:
    """A test program of a crate: `lib` for the tests in its sources, or the name of a file of tests."""

    name: str
    version: str
    target: str = "lib"
    # Only tests with these names.
    filter: tuple[str, ...] = ()
    # For cargo.
    flags: tuple[str, ...] = ()


CRATES = (
    Crate("aho-corasick", "1.1.5"),
    Crate("arrayvec", "0.7.8", "tests"),
    Crate("base64", "0.23.1", "tests"),
    Crate("bytes", "1.12.2", "test_bytes"),
    Crate("crossbeam-channel", "0.5.17", "mpsc"),
    Crate("crossbeam-deque", "0.8.8", "lifo"),
    Crate("fst", "0.4.7"),
    Crate("globset", "0.4.22"),
    Crate("hashbrown", "0.17.2", "set"),
    Crate("httparse", "1.10.1"),
    Crate("indexmap", "2.14.2", "quick"),
    Crate("itertools", "0.15.0", "quick"),
    Crate("lru", "0.19.1"),
    Crate("memchr", "2.8.3", filter=("memmem",)),
    Crate("ndarray", "0.17.2"),
    Crate("num-bigint", "0.5.1", "modpow"),
    Crate("petgraph", "0.8.3", "iso"),
    Crate("regex-automata", "0.4.19", filter=("meta",)),
    Crate("regex-syntax", "0.8.12"),
    Crate("ryu", "1.0.23", "d2s_test"),
    Crate("serde_json", "1.0.154", "test"),
)
