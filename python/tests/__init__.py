"""Tests of the Python package; `tests/run python` runs them in the virtual environment of `make python`."""
