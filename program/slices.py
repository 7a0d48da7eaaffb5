"""The slices of Krohn: kinds of sources, architectures and instruments, a folder each.

The ``__init__`` of a folder holds its `Slice`, which is plain data and imports nothing of
it; all else is imported when a name, a file or an object leads there. A folder can be
deleted, and the rest goes on. Other distributions bring slices of their own by an entry
point of the group ``krohn.slices`` that names a package.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from pkgutil import iter_modules
from typing import Any

from krohn.program.errors import KrohnError

GROUPS = ("kinds", "architectures", "instruments")
ENTRY_POINTS = "krohn.slices"


@dataclass(frozen=True)
class Source:
    """A kind of source that a slice brings, and what leads to it.

    Attributes:
        commands: The class that the commands ask, as ``module:Class``.
        begins: A pattern that the beginning of every name of such a source matches.
        ends: The suffixes of its files.
        catalogue: The suffix of the texts in the folder ``catalogue`` of the slice, each of
            which has the name of a source; empty if there are none.
        objects: The modules of the classes of such sources.
        foreign: Whether objects of other libraries may be such sources.
        of_machines: The construction that takes a machine as such a source.
        examples: Names of such sources, each with what it is.
        inputs: The function that says of which inputs claims about it are (trusted).
        sense: What is claimed of it (`krohn.program.claim.Sense`).
    """

    commands: str
    begins: str = ""
    ends: tuple[str, ...] = ()
    catalogue: str = ""
    objects: tuple[str, ...] = ()
    foreign: bool = False
    of_machines: str = ""
    examples: str = ""
    inputs: str = ""
    sense: str = "within"


@dataclass(frozen=True)
class Family:
    """Sources of a kind that another slice has, and what leads to them.

    Attributes:
        named: The function that makes the source of a name; None of other names.
        examples: Names of such sources, each with what it is.
        begins: As of `Source`; so the next two.
        ends: The suffixes of files.
        objects: The modules of classes.
        taken: The function that makes the source of an object; None of others.
        simpler: The function that makes simpler sources than that of a name, the nearest
            one first.
        written: The function that writes the text of a named source, if it has one.
    """

    named: str
    examples: str
    begins: str
    ends: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    taken: str = ""
    simpler: str = ""
    written: str = ""


@dataclass(frozen=True)
class Architecture:
    """An architecture that a slice brings.

    Attributes:
        statement: The module that declares its sizes and tensors (trusted).
        meaning: The module that says how its networks run.
        draw: The function that draws them.
    """

    statement: str
    meaning: str
    draw: str = ""


@dataclass(frozen=True)
class Construction:
    """A construction of Transformers of machines.

    Attributes:
        build: The function that makes the Program of a machine and a length.
        summary: What it does, in a few words.
    """

    build: str
    summary: str


@dataclass(frozen=True)
class Export:
    """A place that networks can go to.

    Attributes:
        module: Where its `Destination` is.
        imports: The libraries that the module needs.
    """

    module: str
    imports: tuple[str, ...]


@dataclass(frozen=True)
class Schema:
    """The form of something that is printed as JSON, or written.

    Attributes:
        about: What is of this form.
        type: The type of it, as ``module:name``.
        version: Raised when a reader of the one before could be wrong.
        printed: Whether a command prints it; else it is a file.
    """

    about: str
    type: str
    version: int = 1
    printed: bool = True


@dataclass(frozen=True)
class Slice:
    """What leads to the parts of a slice; every part is named as ``module:name`` or module.

    Attributes:
        sources: Its kinds of sources, by their names on file.
        families: Sources that it brings of kinds of other slices, by the names of these.
        architectures: Its architectures, by their names on file.
        readers: The module that checks a file (trusted), by the architecture of the
            network and the kind of the source.
        programs: The module that says which Program a Transformer must compute (trusted),
            by the kind of the source.
        operations: The modules of its operations (trusted), by their names on file.
        rules: Other modules of the checker (trusted), by the names that operations and
            architectures give.
        finders: The function that finds evidence, by the module that reads it; of all that
            it finds the one is taken that shows most.
        kernel_evidence: The function that finds evidence for the kernel, by the
            architecture of the network.
        measures: The function that measures what was proved further, by the module that
            proved it: it gives a step of the proof, for people.
        networks: The function that makes networks of a machine, by their architecture and
            the construction: ``auto`` if none is asked for, ``*`` for any.
        constructions: Its constructions of Transformers, by their names.
        exports: Places that networks can go to, by the names that ``--to`` takes.
        tasks: What networks are trained to say of its sources by ``krohn compare``: by the
            form of the task the function that takes a source, or the name of one.
        commands: Commands of ``krohn``, by their names.
        schemas: What it prints or writes as JSON, by the names of the schemas.
        parts: What is asked for by a word, wherever it lies: a module, or what is in it.
        public: Public names of `krohn`, each with its module.
        uses: Other slices that it cannot do without, as ``group.name``.
    """

    sources: Mapping[str, Source] = field(default_factory=dict)
    families: Mapping[str, Family] = field(default_factory=dict)
    architectures: Mapping[str, Architecture] = field(default_factory=dict)
    readers: Mapping[tuple[str, str], str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    finders: Mapping[str, str] = field(default_factory=dict)
    kernel_evidence: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    networks: Mapping[tuple[str, str], str] = field(default_factory=dict)
    constructions: Mapping[str, Construction] = field(default_factory=dict)
    exports: Mapping[str, Export] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    public: Mapping[str, str] = field(default_factory=dict)
    uses: tuple[str, ...] = ()


@cache
def slices() -> Mapping[str, Slice]:
    """All slices by the names of their packages, in alphabetical order within a group."""
    names = [
        f"krohn.{group}.{module.name}"
        for group in GROUPS
        for module in iter_modules(import_module(f"krohn.{group}").__path__)
        if module.ispkg
    ]
    names += sorted(distributions())
    found = {name: import_module(name).SLICE for name in names}
    _check_names(found)
    return found


def _check_names(found: Mapping[str, Slice]) -> None:
    """Refuse a name that two slices bring; forms of tasks are of several.

    Raises:
        KrohnError: If there is one.
    """
    parts = [each.name for each in fields(Slice) if each.name not in ("tasks", "uses")]
    for part in parts:
        bringers: dict[Any, str] = {}
        for package, each in found.items():
            for key in getattr(each, part):
                other = bringers.setdefault(key, package)
                if other != package:
                    raise KrohnError(f"{other} and {package} both bring {part} {key!r}")


@cache
def distributions() -> Mapping[str, str]:
    """The distributions of the slices that are not Krohn's, by the packages of slices."""
    if not any(map(_may_bring_slices, sys.path)) and PathFinder in sys.meta_path:
        return {}
    from importlib.metadata import entry_points  # as long to import as all slices

    found = entry_points(group=ENTRY_POINTS)
    return {each.value: each.dist.name if each.dist else each.name for each in found}


def _may_bring_slices(place: str) -> bool:
    """Whether distributions of a place of `sys.path` may bring slices."""
    if os.path.isfile(place):  # an archive
        return True
    for file in _entry_point_files(place or "."):
        try:
            with open(file, "rb") as opened:
                if ENTRY_POINTS.encode() in opened.read():
                    return True
        except OSError:
            continue
    return False


def _entry_point_files(folder: str) -> Iterator[str]:
    """Where the entry points of distributions in a folder are, if they have any."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            yield f"{folder}/{name}/entry_points.txt"
        elif name.endswith(".egg"):
            yield f"{folder}/{name}/EGG-INFO/entry_points.txt"


@cache
def packages() -> frozenset[str]:
    """The first parts of the names of all modules of Krohn and of slices."""
    return frozenset(name.partition(".")[0] for name in ("krohn", *distributions()))


def bringer(part: str, key: Any) -> str | None:
    """The package of the slice that brings a key of one of its parts; None if none does."""
    return next((n for n, each in slices().items() if key in getattr(each, part)), None)


def find_in_slices(part: str, key: Any) -> Any:
    """What the slices bring under a key of one of their parts; None if none does."""
    package = bringer(part, key)
    return None if package is None else getattr(slices()[package], part)[key]


def find(name: str) -> Any:
    """What a slice names as ``module:name``, or a module; it is imported only now."""
    module, _, inner = name.partition(":")
    imported = import_module(module)
    return getattr(imported, inner) if inner else imported


def part(word: str) -> Any:
    """A part of `Slice.parts`; None if no slice has it."""
    name = find_in_slices("parts", word)
    return name and find(name)


def needed_part(word: str, what: str) -> Any:
    """The same of a part that was asked for.

    Args:
        word: The word that leads to it.
        what: What it is, for people.

    Raises:
        KrohnError: If no slice has it.
    """
    known = part(word)
    if known is None:
        raise KrohnError(f"{what} is no part of this installation")
    return known


@cache
def slice_sources() -> Mapping[str, Source]:
    """The kinds of sources of all slices, by their names on file.

    What leads to a family of a kind leads to the kind.
    """
    found = {k: x for each in slices().values() for k, x in each.sources.items()}
    for kind, source in found.items():
        for family in families(kind):
            source = replace(
                source,
                begins="|".join(filter(None, (source.begins, family.begins))),
                ends=(*source.ends, *family.ends),
                objects=(*source.objects, *family.objects),
            )
        found[kind] = source
    return found


def families(kind: str) -> tuple[Family, ...]:
    """Sources of a kind that other slices bring."""
    each = (one.families for one in slices().values())
    return tuple(one[kind] for one in each if kind in one)


def family_source(kind: str, text: str) -> Any:
    """The source of a name that other slices bring; None if none does."""
    each = (find(family.named)(text) for family in families(kind))
    return next((source for source in each if source is not None), None)


def write_family_text(kind: str, text: str) -> str:
    """The text of the source of a name that other slices bring; empty if it has none."""
    written = (
        find(family.written)(text) for family in families(kind) if family.written
    )
    return next(filter(None, written), "")


def source_examples(kind: str) -> dict[str, str]:
    """Names of sources of a kind, each with what it is."""
    places = [slice_sources()[kind].examples, *(one.examples for one in families(kind))]
    return {k: x for place in filter(None, places) for k, x in find(place).items()}


def slice_constructions() -> Mapping[str, Construction]:
    """The constructions of all slices, by their names."""
    return {k: x for each in slices().values() for k, x in each.constructions.items()}


def slice_exports() -> Mapping[str, Export]:
    """The places that networks can go to, by the names that ``--to`` takes."""
    return {k: x for each in slices().values() for k, x in each.exports.items()}


@cache
def slice_schemas() -> Mapping[str, Schema]:
    """The schemas of all slices, by their names."""
    return {k: x for each in slices().values() for k, x in each.schemas.items()}


@cache
def slice_architectures() -> Mapping[str, Architecture]:
    """The architectures of all slices, by their names on file."""
    return {k: x for each in slices().values() for k, x in each.architectures.items()}
