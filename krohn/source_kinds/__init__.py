"""Sources that are no machines: by name, from files, and what the commands do with them."""

from pathlib import Path
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compiler.errors import CompileError
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.source_kinds.attention_targets import AttentionTargets
from krohn.source_kinds.base import SourceKind
from krohn.source_kinds.blocks import TextsInBlocks, in_blocks
from krohn.source_kinds.chains_of_thought import ChainsOfThought
from krohn.source_kinds.grid_functions import GridFunctions
from krohn.source_kinds.hidden_markov import HiddenMarkovModels
from krohn.source_kinds.in_context import InContexts
from krohn.source_kinds.increasing_subsequences import IncreasingSubsequences
from krohn.source_kinds.kernels import Kernels
from krohn.source_kinds.linear_systems import LinearSystems, as_model, as_system
from krohn.source_kinds.posterior_heads import PosteriorHeads
from krohn.source_kinds.rewritings import Rewritings
from krohn.source_kinds.selected_means import SelectedMeans
from krohn.source_kinds.sequence_functions import SequenceFunctions
from krohn.source_kinds.vectors_in_blocks import LinearSystemsInBlocks
from krohn.sources import counting
from krohn.sources.linear_systems import LinearSystem, VectorsInBlocks

KINDS: dict[str, SourceKind[Any]] = {
    kind.wire: kind
    for kind in (
        AttentionTargets(),
        ChainsOfThought(),
        GridFunctions(),
        HiddenMarkovModels(),
        InContexts(),
        Kernels(),
        IncreasingSubsequences(),
        LinearSystems(),
        PosteriorHeads(),
        Rewritings(),
        SelectedMeans(),
        SequenceFunctions(),
        TextsInBlocks(),
        LinearSystemsInBlocks(),
    )
}


def named(source: object) -> tuple[SourceKind[Any], Any] | None:
    """A source, or that of a name, with its kind; None of a machine and other names.

    Raises:
        KrohnError: If one of the numbers in a name is out of range.
    """
    if isinstance(source, Path):
        source = str(source)
    if isinstance(source, counting.CountingProgram):
        source = counting.function(source)
    for kind in KINDS.values():
        text = isinstance(source, str)
        found = kind.named(str(source)) if text else kind.taken(source)
        if found is not None:
            return kind, found
    return None


def multiplied(machine: Automaton) -> tuple[SourceKind[Any], Any]:
    """A machine as the linear system that it is, with the kind of those.

    Raises:
        CompileError: If it has too many states.
    """
    return KINDS[LinearSystems.wire], as_system(machine)


def written(source: object, block: int) -> tuple[SourceKind[Any], Any]:
    """A machine, or a linear system, that writes its state after so many letters.

    Raises:
        CompileError: If it is neither, or a letter is called like the token of a state.
    """
    if isinstance(source, Automaton):
        return KINDS[TextsInBlocks.wire], in_blocks(source, block)
    if not isinstance(source, LinearSystem):
        raise CompileError("--block is for machines and linear systems")
    try:
        return KINDS[LinearSystemsInBlocks.wire], VectorsInBlocks(source, block)
    except Refused as reason:
        raise CompileError(f"{source.name} cannot write its states: {reason}") from None


def filtered(machine: Automaton) -> tuple[SourceKind[Any], Any]:
    """A machine as the hidden Markov model that it is, with the kind of those.

    Raises:
        CompileError: If it has too many states.
    """
    return KINDS[HiddenMarkovModels.wire], as_model(machine)


def wanted_source(kind: SourceKind[Any], source: Any) -> Any:
    """A source of a kind, or of a name, that a file must be about.

    Raises:
        KrohnError: If it is of another kind.
    """
    found = named(source)
    if found is None or found[0].wire != kind.wire:
        raise KrohnError(f"the file is about {kind.called}, and {source} is none")
    return found[1]


def of_file(file: ModelFile) -> SourceKind[Any] | None:
    """The kind of the source of a file; None if it is about a machine.

    Raises:
        KrohnError: If its kind is unknown.
    """
    if "source" not in file.header:
        return None
    name = file.header["source"].get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise KrohnError(f"the file is about a source of an unknown kind, {name!r}")
    return KINDS[name]
