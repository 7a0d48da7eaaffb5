"""Packages that only some tests need."""

from importlib.util import find_spec

import pytest


def skip_without(*packages: str) -> None:
    """Leave out the tests of a module where a package is missing.

    Nothing is imported, as `pytest.importorskip` does: all modules of tests are read before
    the first test, and some packages take a second.
    """
    for name in packages:
        if find_spec(name) is None:
            pytest.skip(f"needs {name}", allow_module_level=True)
