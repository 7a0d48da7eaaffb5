"""The registry of kinds of sources.

A name, a file or an object leads to its kind, and only that kind is imported.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krohn.algebra.errors import KrohnError
from krohn.machine_reading import AS_IT_IS, MachineReading
from krohn.option_rules import refuse_others
from krohn.program.slices import Source, packages, slice_sources, write_family_text

if TYPE_CHECKING:
    from krohn.network.modelfile import ModelFile
    from krohn.source_kinds.base import SourceKind
    from krohn.source_kinds.finite_machines import Machines
    from krohn.source_kinds.kind import Kind


def may_name(entry: Source, text: str) -> bool:
    """Whether a text may be the name, or the file, of such a source."""
    begins = "|".join(filter(None, (entry.begins, *_stems(entry))))
    if begins and re.match(begins, text):
        return True
    # A file name goes on after a colon: `my.dp:n=8`.
    file = re.match(r"(?s)(.*\.\w+)(?::|$)", text)
    return file is not None and Path(file[1]).suffix.lower() in entry.ends


def may_be(entry: Source, source: object) -> bool:
    """Whether an object may be such a source."""
    modules = [each.__module__ for each in type(source).__mro__]
    own = any(module.partition(".")[0] in packages() for module in modules)
    return any(m in entry.objects for m in modules) or (entry.foreign and not own)


class _Kinds(Mapping[str, "SourceKind[Any]"]):
    """The kinds by their name in model files; each is imported when it is asked for."""

    def __getitem__(self, wire: str) -> "SourceKind[Any]":
        kind: SourceKind[Any] = _kind(slice_sources()[wire].commands)
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(slice_sources())

    def __len__(self) -> int:
        return len(slice_sources())


KINDS = _Kinds()


def machines() -> "Machines":
    """The kind of machines, which have no entry: whatever no other kind knows is one."""
    kind: Machines = _kind("krohn.source_kinds.finite_machines:Machines")
    return kind


@cache
def _kind(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)()


@cache
def _stems(entry: Source) -> tuple[str, ...]:
    """Patterns of the names of the texts in the catalogue of a slice."""
    if not entry.catalogue:
        return ()
    package = import_module(entry.commands.rpartition(".")[0])
    folder = Path(str(package.__file__)).with_name("catalogue")
    texts = sorted(folder.glob(f"*{entry.catalogue}"))
    return tuple(rf"{path.stem}(\W|\d|$)" for path in texts)


def find_source(source: object) -> "tuple[SourceKind[Any], Any] | None":
    """A source, or that of a name, with its kind; None of other objects and names.

    Raises:
        KrohnError: If one of the numbers in a name is out of range.
    """
    source = str(source) if isinstance(source, Path) else source
    for wire, entry in slice_sources().items():
        if isinstance(source, str):
            candidate = (
                KINDS[wire].find_by_name(source) if may_name(entry, source) else None
            )
        else:
            candidate = (
                KINDS[wire].take_object(source) if may_be(entry, source) else None
            )
        if candidate is not None:
            return KINDS[wire], candidate
    return None


def find_source_to_compile(source: object) -> "tuple[SourceKind[Any], Any] | None":
    """A source that is compiled as such, with its kind.

    Args:
        source: A name or an object. The name of a linear system whose letters map states
            to states names a machine; the object is compiled as the system.

    Raises:
        KrohnError: If one of the numbers in a name is out of range.
    """
    other = find_source(source)
    is_name = isinstance(source, str | Path)
    return None if other and is_name and other[0].is_machine(other[1]) else other


def describe(name: object) -> tuple[str, str]:
    """What the machine or source of a name is, as in the list of names, and its text.

    Args:
        name: Anything that is explained or compiled.

    Returns:
        A line, empty unless it is a name of the list, or of the family of one; and the text
        of a program, empty if there is none.
    """
    if not isinstance(name, str):
        return "", ""
    named_files = name, name.partition(":")[0]  # my.dp:n=8
    is_file = os.sep in name or any(map(os.path.isfile, named_files))
    if (found := find_source(name)) is not None:
        kind, source = found
        what = "" if is_file else kind.describe(name, source)
        return what, write_family_text(kind.wire, name)
    if is_file or ":" in name:
        return "", ""
    from krohn.algebra import zoo

    try:
        return zoo.description(name), ""
    except KrohnError:
        return "", ""


def with_kind(
    source: object, reading: MachineReading = AS_IT_IS
) -> "tuple[Kind[Any], Any]":
    """Any source, or that of a name, with its kind.

    Args:
        source: What names it, holds it or is it.
        reading: How it is read, if it is a machine.

    Raises:
        KrohnError: If it is none, or only machines are read in such a way.
    """
    if (other := find_source_to_compile(source)) is None:
        return machines(), machines().take_object(source, reading)
    refuse_others(reading.reading_options, (), other[0].called)
    return other


def in_blocks(source: object, block: int) -> "tuple[SourceKind[Any], Any]":
    """A machine, or a linear system, that writes its state after so many letters.

    Raises:
        CompileError: If it is neither, or a letter is called like the token of a state.
    """
    kind = KINDS[
        "text-in-blocks" if find_source(source) is None else "vectors-in-blocks"
    ]
    return kind, kind.of_source(source, block)


def source_of(file: "ModelFile") -> Any:
    """The source that a file states; None of a machine, or if it is not stated whole.

    Raises:
        KrohnError: If it is of an unknown kind, or damaged.
    """
    return of_file(file).of_file(file)


def of_file(file: "ModelFile") -> "Kind[Any]":
    """The kind of the source of a file.

    Raises:
        KrohnError: If its kind is unknown.
    """
    if file.claim.of_machine:
        return machines()
    if file.claim.kind not in KINDS:
        raise KrohnError(
            f"the file is about a source of an unknown kind, {file.claim.kind!r}"
        )
    return KINDS[file.claim.kind]
