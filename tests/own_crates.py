"""How `make test` has this repository's crates compiled: what isn't hot without optimising, since most of the time of the
tests went to compiling.

Programs that tests compile, and fuzz targets, know nothing of it: this takes it out of the environment.
"""

import os

_VARIABLE = "CARGO_PROFILE_RELEASE_OPT_LEVEL"
_LEVEL = os.environ.pop(_VARIABLE, None)


def environment(**changes):
    """For a cargo that is to find them compiled."""
    level = {} if _LEVEL is None else {_VARIABLE: _LEVEL}
    return {**os.environ, **level, **changes}
