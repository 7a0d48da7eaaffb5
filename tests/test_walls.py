"""The walls of slices: the name of a file says what it may import."""

from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from test_imports import GROUPS, LOWER, MODULES, imports

from krohn.program.slices import slices

TRUSTED = ("program", "verify.checker")
MAY: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "statement": (TRUSTED, ("statement",)),
    "check": (TRUSTED, ("statement", "check")),
    "source": (("program", "algebra"), ("statement", "source")),
    "build": (
        ("program", "algebra", "network", "compiler"),
        ("statement", "source", "build"),
    ),
    "find": (
        ("program", "algebra", "network", "verify"),
        ("statement", "source", "check", "find", "engine"),
    ),
    "meaning": (("program", "network"), ("statement", "meaning", "engine")),
    "engine": (("program", "network"), ("statement", "meaning", "engine")),
}
"""Of the core, and of its own slice and of those that it uses, by how a file is called."""
FACE = ("command", "commands", "draw", "export", "task")
"""Files that may import the face, and so all that it imports; so may instruments."""


def role(stem: str) -> str:
    """The first word of the name of a file."""
    return stem.partition("_")[0]


def package(name: str) -> tuple[str, str]:
    """The slice that an import leads to, as ``group.slice``, and which part of it.

    Of all else the name below `krohn`, and nothing.
    """
    first, *parts = name.split(".")
    if first != "krohn":
        return "", ""
    if parts and parts[0] in GROUPS:
        return ".".join(parts[:2]), ".".join(parts[2:3])
    return ".".join(parts), ""


def crossings(path: Path) -> Iterator[str]:
    """What a file of a slice imports that it may not."""
    group, name, *_ = path.with_suffix("").parts
    own, kind = f"{group}.{name}", role(path.stem)
    slice_of = slices()[f"krohn.{own}"]
    core, parts = MAY.get(kind, (LOWER, ()))
    for target in {name for name, _ in imports(path)}:
        at, part = package(target)
        if at.partition(".")[0] in GROUPS:
            known = at == own or at in slice_of.uses
            if not known or (kind in MAY and part and role(part) not in parts):
                yield f"{at}.{part}"
            continue
        inside = any(f"{at}.".startswith(f"{one}.") for one in core)
        if at and not (inside or kind in FACE or group == "instruments"):
            yield at


FILES = [p for p in MODULES if p.parts[0] in GROUPS and len(p.parts) > 2]


def test_a_slice_imports_what_its_files_are_called_for() -> None:
    """And other slices only as its `Slice.uses` says."""
    assert [(str(path), target) for path in FILES for target in crossings(path)] == []


def test_no_slices_need_each_other() -> None:
    """Else one could not be deleted without the other."""
    uses = {name.removeprefix("krohn."): each.uses for name, each in slices().items()}
    TopologicalSorter(uses).prepare()


def test_only_instruments_use_instruments() -> None:
    for name, each in slices().items():
        instruments = [one for one in each.uses if one.startswith("instruments.")]
        assert not instruments or name.startswith("krohn.instruments."), name


def test_what_a_slice_uses_is_there() -> None:
    known = {name.removeprefix("krohn.") for name in slices()}
    for name, each in slices().items():
        assert set(each.uses) <= known - {name.removeprefix("krohn.")}, name
