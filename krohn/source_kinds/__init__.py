"""The registry of kinds of sources.

A name, a file or an object leads to its kind, and only that kind is imported.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krohn import sources
from krohn.algebra.errors import KrohnError
from krohn.machine_objects import AS_IT_IS, MachineReading
from krohn.option_rules import refuse_others

if TYPE_CHECKING:
    from krohn.network.modelfile import ModelFile
    from krohn.source_kinds.base import SourceKind
    from krohn.source_kinds.finite_machines import Machines
    from krohn.source_kinds.kind import Kind

SOURCES = Path(sources.__path__[0])
PROCESSES = "RanHMM|Cyclic-HARD|Mess3|RRXOR|EvenProcess|GoldenMean"
"""How names of hidden Markov models begin."""


class Entry(NamedTuple):
    """Where a kind is defined, and which sources may be of this kind.

    Attributes:
        place: A module of this package, and the class in it.
        begins: A pattern that the beginning of every name matches.
        ends: The suffixes of files.
        catalogue: The package of `krohn.sources` in whose catalogue each text has the name
            of a source; empty if there is none.
        objects: The modules of the classes of sources.
        foreign: Whether objects of other libraries may be sources.
        of_machines: The construction that takes a machine as such a source.
    """

    place: tuple[str, str]
    begins: str = ""
    ends: tuple[str, ...] = ()
    catalogue: str = ""
    objects: tuple[str, ...] = ()
    foreign: bool = False
    of_machines: str = ""

    def may_name(self, text: str) -> bool:
        """Whether a text may be the name, or the file, of such a source."""
        begins = "|".join(filter(None, (self.begins, *_stems(self.catalogue))))
        if begins and re.match(begins, text):
            return True
        # A file name goes on after a colon: `my.dp:n=8`.
        file = re.match(r"(?s)(.*\.\w+)(?::|$)", text)
        return file is not None and Path(file[1]).suffix.lower() in self.ends

    def may_be(self, source: object) -> bool:
        """Whether an object may be such a source."""
        modules = [each.__module__ for each in type(source).__mro__]
        own = any(module.startswith("krohn.") for module in modules)
        return any(m in self.objects for m in modules) or (self.foreign and not own)


ENTRIES = {
    "attention-target": Entry(
        ("attention_targets", "AttentionTargets"),
        r"Sine(?![\w,]*+\.[a-z])",
        objects=("krohn.sources.attention_targets.target",),
    ),
    "chain-of-thought": Entry(
        ("chains_of_thought", "ChainsOfThought"),
        ends=(".dp",),
        catalogue="dynamic_programs",
        objects=(
            "krohn.program.chain_of_thought",
            "krohn.sources.dynamic_programs.dynamic_program",
        ),
    ),
    "grid-function": Entry(
        ("grid_functions", "GridFunctions"),
        r"Sorted\d|RanGrid",
        objects=("krohn.sources.attention_targets.grid_function",),
    ),
    "hidden-markov": Entry(
        ("hidden_markov", "HiddenMarkovModels"),
        rf"{PROCESSES}|pcfg:|(?s:.+)\.(att|fst\.txt):weights=",
        (".json", ".npz", ".pomdp", ".pcfg"),
        objects=("krohn.sources.hidden_markov.model",),
        foreign=True,
        of_machines="beliefs",
    ),
    "context-learner": Entry(
        ("in_context", "InContexts"),
        r"InContext(?![\w,]*+\.[a-z])",
        objects=("krohn.sources.in_context",),
    ),
    "kernel": Entry(
        ("kernels", "Kernels"),
        r"(Exp|Power|Delay|Mean|RanKernel)\d",
        (".kernel", ".csv"),
        objects=("krohn.sources.kernels.kernel",),
    ),
    "increasing": Entry(
        ("increasing_subsequences", "IncreasingSubsequences"),
        r"ShortLIS\d",
        objects=("krohn.program.increasing",),
    ),
    "linear-system": Entry(
        ("linear_systems", "LinearSystems"),
        r"(Cyclic-DET|Cyclic-RND|MatMul|RanLDS)\d",
        objects=("krohn.sources.linear_systems",),
        of_machines="products",
    ),
    "posterior-head": Entry(
        ("posterior_heads", "PosteriorHeads"),
        rf"GaussianHMM|Power|Twin|({PROCESSES}).*given",
        objects=("krohn.sources.posterior_heads",),
    ),
    "rewriting": Entry(
        ("rewritings", "Rewritings"),
        r"Arithmetic\d",
        (".rules",),
        "rewriting",
        ("krohn.program.rewriting",),
    ),
    "selected-mean": Entry(
        ("selected_means", "SelectedMeans"),
        r"(Nearest|Gravity|Select)\d",
        objects=("krohn.sources.attention_targets.selected_means",),
    ),
    "program": Entry(
        ("sequence_functions", "SequenceFunctions"),
        r"program:|crasp:",
        (".program", ".crasp"),
        objects=(
            "krohn.sources.sequence_functions.builder",
            "krohn.sources.counting.program",
        ),
    ),
    "text-in-blocks": Entry(
        ("blocks", "TextsInBlocks"), objects=("krohn.program.blocks",)
    ),
    "vectors-in-blocks": Entry(
        ("blocks", "LinearSystemsInBlocks"), objects=("krohn.sources.linear_systems",)
    ),
}


class _Kinds(Mapping[str, "SourceKind[Any]"]):
    """The kinds by their name in model files; each is imported when it is asked for."""

    def __getitem__(self, wire: str) -> "SourceKind[Any]":
        found: SourceKind[Any] = _kind(*ENTRIES[wire].place)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(ENTRIES)

    def __len__(self) -> int:
        return len(ENTRIES)


KINDS = _Kinds()


def machines() -> "Machines":
    """The kind of machines, which have no entry: whatever no other kind knows is one."""
    found: Machines = _kind("finite_machines", "Machines")
    return found


@cache
def _kind(module: str, name: str) -> Any:
    return getattr(import_module(f"{__name__}.{module}"), name)()


@cache
def _stems(package: str) -> tuple[str, ...]:
    """The names of the texts in the catalogue of a package."""
    texts = (SOURCES / package / "catalogue").iterdir() if package else ()
    return tuple(rf"{path.stem}(\W|\d|$)" for path in sorted(texts))


def found(source: object) -> "tuple[SourceKind[Any], Any] | None":
    """A source, or that of a name, with its kind; None of other objects and names.

    Raises:
        KrohnError: If one of the numbers in a name is out of range.
    """
    source = str(source) if isinstance(source, Path) else source
    for wire, entry in ENTRIES.items():
        if isinstance(source, str):
            told = KINDS[wire].named(source) if entry.may_name(source) else None
        else:
            told = KINDS[wire].taken(source) if entry.may_be(source) else None
        if told is not None:
            return KINDS[wire], told
    return None


def named(source: object) -> "tuple[SourceKind[Any], Any] | None":
    """A source that is compiled as such, with its kind.

    Args:
        source: A name or an object. The name of a linear system whose letters map states
            to states names a machine; the object is compiled as the system.

    Raises:
        KrohnError: If one of the numbers in a name is out of range.
    """
    other = found(source)
    named = isinstance(source, str | Path)
    return None if other and named and other[0].is_machine(other[1]) else other


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
    if (other := named(source)) is None:
        return machines(), machines().taken(source, reading)
    refuse_others(reading.reading_options, (), other[0].called)
    return other


def in_blocks(source: object, block: int) -> "tuple[SourceKind[Any], Any]":
    """A machine, or a linear system, that writes its state after so many letters.

    Raises:
        CompileError: If it is neither, or a letter is called like the token of a state.
    """
    kind = KINDS["text-in-blocks" if found(source) is None else "vectors-in-blocks"]
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
