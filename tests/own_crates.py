"""How `make test` has this repository's crates compiled: what isn't hot without optimising, since most of the time of the
tests went to compiling.

Programs that tests compile, and fuzz targets, know nothing of it: this takes it out of the environment.
"""

import os

_OPT_LEVEL = "CARGO_PROFILE_RELEASE_OPT_LEVEL"
_SETTINGS = {name: os.environ.pop(name) for name in [_OPT_LEVEL] if name in os.environ}


def environment(**changes):
    """For a cargo that compiles them: so it finds them compiled."""
    return {**os.environ, **_SETTINGS, **changes}
