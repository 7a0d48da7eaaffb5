"""Modules that are found by a name on file, each imported when it is asked for."""

from importlib import import_module
from pkgutil import iter_modules


def load(package: str, name: str) -> None:
    """Import the module of a package that is about a name on file, if there is one."""
    if type(name) is not str:
        return  # a file may say anything
    module = name.replace("-", "_")
    if module in {
        found.name for found in iter_modules(import_module(package).__path__)
    }:
        import_module(f"{package}.{module}")
