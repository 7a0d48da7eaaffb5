"""Every regular expression that reads what users give, and how it is used."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from lark import Lark

from krohn.algebra.zoo import _FAMILIES
from krohn.program.known_files import BY_BEGINNING, BY_LOOKS
from krohn.program.slices import slice_sources

ROOT = Path(__file__).parents[1]
READERS = ("algebra", "program", "kinds", "krohn/source_kinds", "krohn/machines.py")
METHODS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
GIVEN = {
    "algebra/zoo/__init__.py": [family.pattern for family in _FAMILIES],
    "krohn/source_kinds/__init__.py": [
        e.begins for e in slice_sources().values() if e.begins
    ],
}
"""Patterns that stand in tables, where these modules use them."""
AFTER_ANOTHER = {"algebra/formats/dot_graph.py: _PAIR"}
"""CompileOptions only about a part of what another pattern has matched whole."""


class Use(NamedTuple):
    """A pattern, one way in which it is used, and where it stands."""

    pattern: re.Pattern[Any]
    method: str
    place: str

    def run(self, text: str) -> None:
        """Ask the pattern about a text as its module does, to the end."""
        content = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        if self.method == "sub":
            self.pattern.sub(lambda found: found[0], content)
        elif self.method == "finditer":
            list(self.pattern.finditer(content))
        else:
            getattr(self.pattern, self.method)(content)


@cache
def pattern_uses() -> list[Use]:
    """Every pattern of the readers, with every method that is called on it."""
    tables = [Use(known.sign, "search", known.what) for known in _known_files()]
    return [*tables, *_terminals(), *(use for path in _paths() for use in _uses(path))]


def _known_files() -> list[Any]:
    kinds = (*BY_BEGINNING, *BY_LOOKS)
    return [known for known in kinds if isinstance(known.sign, re.Pattern)]


def _terminals() -> Iterator[Use]:
    """What the words of each grammar look like."""
    folders = [ROOT / place for place in READERS if "/" not in place]
    for path in sorted(p for folder in folders for p in folder.rglob("*.lark")):
        for terminal in Lark(path.read_text(encoding="utf-8"), parser="lalr").terminals:
            pattern = re.compile(terminal.pattern.to_regexp())
            yield Use(pattern, "match", f"{path.relative_to(ROOT)}: {terminal.name}")


def _paths() -> list[Path]:
    places = [ROOT / place for place in READERS]
    return [p for place in places for p in ([place] if place.suffix else _all(place))]


def _all(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.rglob("*.py") if "catalogue" not in path.parts
    )


def _uses(path: Path) -> Iterator[Use]:
    tree, place = _tree(path), str(path.relative_to(ROOT))
    if not any(isinstance(n, ast.Name) and n.id == "re" for n in ast.walk(tree)):
        return
    module = _module(place)
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            for method in sorted(_methods(path, name)):
                if f"{place}: {name}" not in AFTER_ANOTHER:
                    yield Use(value, method, f"{place}: {name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_re = getattr(node.func.value, "id", "") == "re"
            if of_re and node.func.attr in METHODS:
                yield from _inline(node, node.func.attr, module, place)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _module(place: str) -> ModuleType:
    name = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return import_module(name if name.startswith("krohn.") else f"krohn.{name}")


def _methods(path: Path, name: str) -> set[str]:
    """What is asked of a pattern: in its module, or else wherever one is called so."""
    own = _called(path)[name]
    return own or set().union(*(_called(p)[name] for p in _paths())) or {"fullmatch"}


@cache
def _called(path: Path) -> dict[str, set[str]]:
    called = defaultdict[str, set[str]](set)
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = getattr(node.value, "id", getattr(node.value, "attr", None))
            if isinstance(owner, str):
                called[owner].add(node.attr)
    return called


def _inline(node: ast.Call, method: str, module: ModuleType, place: str) -> list[Use]:
    """A pattern that stands where it is used, of constants of its module."""
    at = f"{place}:{node.lineno}"
    try:
        patterns = [eval(ast.unparse(node.args[0]), vars(module))]
    except NameError:
        patterns = GIVEN[place]
    named = [k.value for k in node.keywords if k.arg == "flags"]
    said = [*named, *node.args[{"sub": 4, "split": 3}.get(method, 2) :]]
    flags = eval(ast.unparse(said[0]), vars(module)) if said else 0
    return [Use(re.compile(pattern, flags), method, at) for pattern in patterns]
