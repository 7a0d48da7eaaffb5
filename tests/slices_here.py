"""Slices that are here: tests of others go with them (`tests/delete_slices.py`).

A file of tests that imports a slice is about it, and is left out where that was deleted.
A test is skipped as soon as it leads there: it imports the slice, asks `krohn` for a name
that it brought, or names a command, a source, an architecture or an export of it. A test
that leads there in another way says so by `needs`. Where nothing was deleted, nothing of
this happens.
"""

import ast
import json
import re
from collections.abc import Mapping
from functools import cache, wraps
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any

import pytest

from krohn.network import architecture
from krohn.network.architecture import kind_of
from krohn.program import slices as registry
from krohn.program.slices import slices

TESTS = Path(__file__).parent
BENCHMARKS = TESTS.with_name("benchmarks")
NOTE = TESTS / "deleted_slices.json"
"""What the deleted slices brought; it lies in copies only."""
DELETED: dict[str, Mapping[str, list[str]]] = (
    json.loads(NOTE.read_text()) if NOTE.exists() else {}
)
"""By the name of a slice, ``group.name``, what leads to it, by the name of the part."""


def what_leads_to(name: str) -> dict[str, list[str]]:
    """What the note says of a slice that is to be deleted."""
    from krohn.source_kinds import _stems

    found = slices()[f"krohn.{name}"]
    entries = (*found.sources.values(), *found.families.values())
    texts = [stem for entry in found.sources.values() for stem in _stems(entry)]
    return {
        "begins": [*texts, *(entry.begins for entry in entries if entry.begins)],
        "ends": [end for entry in entries for end in entry.ends],
        "words": [*found.commands, *found.exports],
        "architectures": [*found.architectures],
        "constructions": [*found.constructions, *(x for _, x in found.networks)],
    }


def here(name: str) -> bool:
    """Whether there is a slice ``group.name``.

    Raises:
        LookupError: If there is not, and it was not deleted.
    """
    found = f"krohn.{name}" in slices()
    if not found and name not in DELETED:
        raise LookupError(f"there is no slice {name}")
    return found


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test that needs slices, which nothing shows that it does before it fails."""
    gone = [name for name in names if not here(name)]
    return pytest.mark.skipif(bool(gone), reason=f"without {', '.join(gone)}")


about_all = pytest.mark.skipif(bool(DELETED), reason="some slices were deleted")
"""Marks tests of texts that are about all slices: pages, and types for editors."""


def is_deleted(path: str | Path) -> bool:
    """Whether a file of the packages lay in a slice that was deleted."""
    return ".".join(Path(path).parts[:2]) in DELETED


def brought_by_deleted(part: str) -> set[str]:
    """What deleted slices had of a part."""
    return {each for one in DELETED.values() for each in one[part]}


def skip_tests_of_deleted(patch: pytest.MonkeyPatch) -> None:
    """Skip each test as soon as it names something that deleted slices brought."""
    from krohn import cli, machines, source_kinds
    from krohn.algebra.formats import SUFFIXES
    from krohn.compile_options import CompileOptions

    begins = "|".join(brought_by_deleted("begins")) or r"(?!)"
    ends = tuple(brought_by_deleted("ends") - {*SUFFIXES}) or ("\0",)
    words = brought_by_deleted("words")
    gone = brought_by_deleted("architectures"), brought_by_deleted("constructions")
    run, found, made = cli.run, source_kinds.find_source, CompileOptions.__init__

    def run_unless_deleted(arguments: list[str]) -> int:
        if asked := words & {*arguments}:
            pytest.skip(f"without {asked}")
        return run(arguments)

    def found_unless_deleted(source: object) -> Any:
        text = str(source) if isinstance(source, str | Path) else ""
        if re.match(begins, text) or text.partition(":")[0].endswith(ends):
            pytest.skip(f"without {text}")
        return found(source)

    @wraps(made)
    def made_unless_deleted(self: CompileOptions, *given: Any, **options: Any) -> None:
        made(self, *given, **options)
        construction = str(self.construction).partition(":")[0]
        blocks = self.block is not None and "kinds.blocks" in DELETED
        if blocks or self.arch in gone[0] or construction in gone[1] - {"auto"}:
            pytest.skip(f"without {self.arch}, {construction}")

    patch.setattr(cli, "run", run_unless_deleted)
    patch.setattr(machines, "find_source", found_unless_deleted)
    patch.setattr(source_kinds, "find_source", found_unless_deleted)
    patch.setattr(CompileOptions, "__init__", made_unless_deleted)


def asks_for_deleted(error: BaseException) -> bool:
    """Whether a test itself imported what was deleted, or asked `krohn` for it.

    Where the packages do, they are broken.
    """
    *_, asking, last = (None, None, *map(_file, walk_tb(error.__traceback__)))
    if isinstance(error, ModuleNotFoundError):
        return last is not None and TESTS in last.parents and _is_gone(str(error.name))
    missing = str(error).startswith("module 'krohn' has no attribute ")
    return missing and asking is not None and TESTS in asking.parents


def _file(frame: tuple[FrameType, int]) -> Path:
    return Path(frame[0].f_code.co_filename)


@cache
def is_left_out(path: Path) -> bool:
    """Whether a test file, or a module that it shares with others, imports what is gone."""
    seen, waiting = set[Path](), [path]
    while waiting:
        file = waiting.pop()
        modules = () if file in seen else imports_of(file)
        seen.add(file)
        if any(map(_is_gone, modules)):
            return True
        waiting += [shared for module in modules for shared in _shared(module)]
    return False


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """The modules that a file imports at its top."""
    found = list[str]()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(found)


def _is_gone(module: str) -> bool:
    first, *parts = module.split(".")
    if first == "krohn":
        return ".".join(parts[:2]) in DELETED
    # What tests of a slice share is deleted with it.
    return not _shared(module) and find_spec(first) is None


def _shared(module: str) -> list[Path]:
    """The files of a module that tests share, or of a package of benchmarks."""
    first = module.partition(".")[0]
    package = BENCHMARKS / first
    return [*_named(first), *(package.rglob("*.py") if package.is_dir() else ())]


@cache
def _named(first: str) -> tuple[Path, ...]:
    every = (*TESTS.glob("*.py"), *TESTS.glob("*/*/*.py"), *BENCHMARKS.glob("*.py"))
    return tuple(path for path in every if path.stem == first)


def _need_or_skip(word: str, what: str) -> Any:
    """`needed_part`, which skips the test where a part was deleted."""
    found = registry.part(word)
    return pytest.skip(f"without {what}") if found is None else found


def _kind_or_skip(given: Any) -> Any:
    """`kind_of`, which skips the test where the architecture was deleted."""
    name = given.get("kind") if isinstance(given, Mapping) else given.kind
    if isinstance(name, str) and name in brought_by_deleted("architectures"):
        pytest.skip(f"without {name}")
    return kind_of(given)


if DELETED:  # before anything imports them by their names
    registry.needed_part = _need_or_skip
    architecture.kind_of = _kind_or_skip
