"""A compiled network and its proof, as a file holds them, and how it is chosen."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.algebra.wording import LONGEST, count, cut, in_runs
from krohn.compiler import CompileError, ProgramTooLong, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork, Tried, realise
from krohn.compiler.cost import Cost
from krohn.compiler.passes import Observer
from krohn.compiler.planning import Planning
from krohn.network import modelfile
from krohn.network.architecture import is_index, kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray, Precision
from krohn.program.architectures.transformer import APART
from krohn.program.claim import Claim
from krohn.program.errors import Refused
from krohn.program.slices import needed_part
from krohn.source_kinds import of_file
from krohn.verify.proof import Proof, prove_own

if TYPE_CHECKING:
    from torch.nn import Module

    from krohn.architectures.disguise.build import Disguise
    from krohn.open_model import Model, Text

# A compiled network and its proof, as a model file holds them.


OPENED = {"run", "write", "encode", "patch", "ablate", "places", "read", "forward"}
"""Methods of an open network that people look for here."""


@dataclass(frozen=True)
class CompiledModel:
    """A compiled and proved network, ready to be saved.

    What it says of itself is about the network that runs: one that was changed since, in
    its open network or in its file, has no proof, no claim and no digest.

    Attributes:
        original: What the model file holds, as it was compiled.
        construction: How it was built.
        original_proof: The proof of that; None if it was not asked for.
        seconds: How long compiling and proving took.
        tried: What was tried before, and why that is not proved.
        remark: How its source differs from the one that was given, if it does.
    """

    original: ModelFile
    construction: str
    original_proof: Proof | None
    seconds: float = field(compare=False)
    tried: tuple[Tried, ...] = ()
    remark: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_fingerprint", modelfile.fingerprint(self.original))

    @property
    def file(self) -> ModelFile:
        """What the model file will hold: the numbers of the open network, if it is open.

        Raises:
            ModelFileError: If that was changed otherwise than in its numbers.
        """
        opened = vars(self).get("model")
        if opened is None:
            return self.original
        from krohn.network.model import current_file

        return current_file(opened)

    @property
    def is_changed(self) -> bool:
        """Whether the file, or the open network, is another one than was compiled."""
        try:
            return bool(modelfile.fingerprint(self.file) != vars(self)["_fingerprint"])
        except modelfile.ModelFileError:
            return True

    @property
    def proof(self) -> Proof | None:
        """The proof; None if it was not asked for, or the network was changed since."""
        return None if self.is_changed else self.original_proof

    def save(self, path: str | Path, compact: bool = False) -> None:
        """Write the model file whole or not at all.

        A network that was changed is written as it runs now, with a warning, and without
        the record that it was proved.

        Args:
            path: Where to.
            compact: Whether only entries that are not zero are stored, and formulas of
                position tables.

        Raises:
            ModelFileError: If the file system refuses, or no file says what the network
                does now.
        """
        file = self.file
        if self.is_changed:
            file = with_evidence(file, None)
            warnings.warn(
                f"{path}: the network was changed since it was compiled, and nothing is "
                "proved of what is written; krohn.verify says what it computes",
                stacklevel=2,
            )
        header = file.header | ({modelfile.STORED: {}} if compact else {})
        modelfile.write(path, header, file.tensors)

    @property
    def claim(self) -> Claim:
        """The claim of the file, with all names and its digest.

        Raises:
            ModelFileError: If the network was changed since: nothing is claimed of it.
        """
        if self.is_changed:
            raise modelfile.ModelFileError(
                "the network was changed since it was compiled, and nothing is claimed of "
                "it; krohn.verify says what it computes"
            )
        return self.original.claim

    @cached_property
    def machine(self) -> Automaton:
        """The machine that it computes.

        Raises:
            KrohnError: If it is about another source.
        """
        from krohn.foreign import own_machine

        return own_machine(self.original)

    @cached_property
    def model(self) -> "Model":
        """The open network: words in, answers out, and every variable by name."""
        from krohn.open_model import Model  # torch, only where words are run

        return Model(self.original)

    @overload
    def write(self, prompts: str) -> "Text": ...  # type: ignore[overload-overlap]
    @overload
    def write(self, prompts: Iterable[str | Sequence[str]]) -> "list[Text]": ...
    def write(
        self, prompts: str | Iterable[str | Sequence[str]]
    ) -> "Text | list[Text]":
        """The text that the open network writes after each prompt."""
        return self.model.write(prompts)

    @property
    def network(self) -> "Module":
        """The network as a plain torch module, which takes tensors."""
        return self.model.network

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say where the methods of the open network are."""
            opened = f": .model.{name} is that of its network" if name in OPENED else ""
            raise AttributeError(f"a compiled model has no {name!r}{opened}")

    def __repr__(self) -> str:
        header = self.original.header
        shape, length = self.original.architecture, self.original.claim.length
        changed = "changed since it was compiled, not proved"
        parts = (
            self.construction,
            "" if length is None else f"T = {length}",
            count(len(kind_of(shape).layers(shape)), "layer"),
            self.proof.verdict
            if self.proof
            else changed
            if self.is_changed
            else "not proved",
        )
        from krohn.foreign import source_name

        return (
            f"<CompiledModel {source_name(header)}: {', '.join(filter(None, parts))}>"
        )

    def _repr_svg_(self) -> str | None:
        from krohn.drawing import svg  # matplotlib

        return svg(lambda: of_file(self.file).draw_file(self.file))

    def summary(self) -> dict[str, Any]:
        """Sizes and timing, as ``krohn compile --json`` prints them."""
        file, proof = self.file, self.proof
        shape, claimed = file.architecture, file.claim
        kind, about = kind_of(shape), None if self.is_changed else self.claim
        layers = kind.layers(shape)
        return {
            "construction": self.construction,
            "about": about and about.to_object(),
            "digest": about and about.digest,
            "claim": claimed.sense.value,
            "error": claimed.error or None,
            "length": claimed.length,
            "dtype": claimed.dtype,
            "depth": sum(layer["heads"] > 0 for layer in layers),
            "layers": len(layers),
            "d_model": kind.width(shape),
            "heads": max((layer["heads"] for layer in layers), default=0),
            "mlp_width": max((w for layer in layers for w in layer["mlp"]), default=0),
            "parameters": parameters(shape),
            **file.header.get("search", {}),
            "shows": claimed.shows.value,
            "nonzero": nonzero(file.tensors),
            **({"remark": self.remark} if self.remark else {}),
            **_masks(shape, file.precision),
            "verdict": proof.verdict if proof else None,
            "covers": str(proof.proved) if proof and proof.proved else None,
            "tried": rows_of(self.tried),
            "seconds": round(self.seconds, 3),
        }


def nonzero(tensors: Mapping[str, FloatArray]) -> int:
    """How many entries of the tensors of a file are not 0."""
    return sum(
        int(np.count_nonzero(t))
        for n, t in tensors.items()
        if not is_index(n) and not n.startswith(APART)
    )


def rows_of(tried: Iterable[Tried]) -> list[dict[str, Any]]:
    """The ways that were tried and are not proved, as ``--json`` says it."""
    sizes = "depth", "layers", "parameters"
    return [
        {
            "construction": each.construction,
            "dtype": each.dtype or None,
            **{size: getattr(each.cost, size, None) for size in sizes},
            "reason": each.reason,
        }
        for each in tried
    ]


def _masks(shape: Any, precision: Precision) -> dict[str, Any]:
    """Of a pruned network: its random weights, and how many of them masks keep."""
    recipe = getattr(shape, "masks", None) or getattr(shape, "random", None)
    if recipe is None:
        return {}
    drawn = sum(rows * columns for rows, columns in shape.sparse.values())
    kept = sum((getattr(recipe, "entries", None) or shape.entries).values())
    size = np.dtype(precision.name).itemsize
    counts = {"weights": drawn, "kept": kept, "bytes": size * drawn}
    return {"random": {"seed": recipe.seed, "units": recipe.units, **counts}}


def model_file(
    machine: Automaton,
    built: CompiledNetwork,
    length: int | None,
    precision: Precision,
    outputs: bool,
) -> ModelFile:
    """The file of a network; tensors are rounded to the format before they are proved."""
    claim: dict[str, Any] = {
        "start": machine.states[machine.start],
        "dtype": precision.name,
    }
    if outputs:
        claim["shows"] = "outputs"
    kind = kind_of(built.network.architecture)
    if not kind.recurrent or (kind.bounded and length is not None):
        claim["length"] = length
    header: dict[str, Any] = {
        "architecture": built.network.architecture,
        "machine": json_format.claimed_machine(machine),
        "construction": built.construction,
        "claim": claim,
    }
    if machine.action is not None:
        header["action"] = [list(row) for row in machine.action]
    if built.program:
        header["program"] = built.program
    tensors = {
        n: np.asarray(t) if is_index(n) else precision.round(t)
        for n, t in built.network.tensors.items()
    }
    return ModelFile(header, tensors, precision)


def with_evidence(file: ModelFile, proof: Proof | None) -> ModelFile:
    """The file with a record of what was proved."""
    evidence = None
    if proof is not None:
        evidence = {"verdict": proof.verdict, "steps": proof.evidence}
    header = {**file.header, "evidence": evidence}
    return ModelFile(header, file.tensors, file.precision)


# The network that is chosen: the first of some ways that is proved.
#
# `krohn explain` and `krohn compile` both ask here, and so say the same.


Made = TypeVar("Made")
Found = TypeVar("Found")
BY_NEED = ("float32", "float64")
"""The number formats that are tried where none is asked for: the first one in which a
network is proved is taken."""


class Way(NamedTuple, Generic[Made]):
    """A network that can be made.

    Attributes:
        construction: How it is built.
        cost: What it will cost; None if that is not predicted.
        make: Makes it.
        dtype: The number format; empty where only one is tried.
        program: The Program that is lowered, if there is one.
    """

    construction: str
    cost: Cost | None
    make: Callable[[], Made]
    dtype: str = ""
    program: object = None


def as_it_is(made: Made) -> Made:
    """A network that is there already, or of which nothing more is to be shown."""
    return made


@dataclass(frozen=True)
class Choice(Generic[Made, Found]):
    """The way that was chosen among several, with the ways tried before it.

    Attributes:
        way: The first one that is shown, or that was not to be tried; None if there is
            none.
        found: What was shown of it; None if it was not tried.
        tried: What was tried before, and why nothing was shown of it.
    """

    way: Way[Made] | None
    found: Found | None
    tried: tuple[Tried, ...]


def reasons(tried: Iterable[Tried]) -> str:
    """Why nothing was shown of what was tried, in a line; each reason is told once."""
    alike: dict[str, list[str]] = {}
    for t in tried:
        reason = t.reason.removeprefix(f"{t.construction} ")
        alike.setdefault(reason, []).append(t.label)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in alike.items())


HALVINGS = 3
"""How many shorter lengths are tried where a length is refused."""


def halves(length: int) -> Iterator[int]:
    """Lengths that a refusal may offer in the place of one that is too long."""
    yield from filter(None, (length >> k for k in range(1, HALVINGS + 1)))


def there_is(works: Iterable[str]) -> str:
    """What a refusal adds: the options with which there is a network, all tried."""
    options = " or ".join(works)
    return f"; there is one with {options}" if options else ""


def plan_ways(
    known: Planning, minimise: str | None = None, on_pass: Observer | None = None
) -> Iterator[Way[CompiledNetwork]]:
    """The ways to compute a machine, best first.

    Args:
        known: All of them.
        minimise: What is chosen by; None for the compromise, or for the depth of a
            construction that was named.
        on_pass: Called after every compiler pass with its name and the Program.

    Raises:
        CompileError: If networks have no such size.
    """
    for plan in known.best_first(minimise):
        make = partial(realise, plan, on_pass)
        yield Way(plan.construction, plan.cost, make, program=plan.program)


def choose(
    ways: Iterable[Way[Made]],
    shown: Callable[[Made], Found],
    wanted: Callable[[Way[Made]], bool] = lambda _: True,
) -> Choice[Made, Found]:
    """Go through ways, best first, up to one of which something is shown.

    Args:
        ways: The ways; none is made before those in front of it have failed.
        shown: What is shown of a network; raises CompileError or Refused if nothing is.
        wanted: Whether to try a way at all.
    """
    tried, unsuited, too_long = list[Tried](), set[str](), list[object]()
    for way in ways:
        if way.construction in unsuited or any(way.program is p for p in too_long):
            continue
        if not wanted(way):
            return Choice(way, None, tuple(tried))
        try:
            return Choice(way, shown(way.make()), tuple(tried))
        except Unsuited as reason:
            unsuited.add(way.construction)
            tried.append(Tried(way.construction, way.cost, str(reason)))
        except (CompileError, Refused) as reason:
            tried.append(Tried(way.construction, way.cost, str(reason), way.dtype))
            if isinstance(reason, ProgramTooLong) and way.program is not None:
                too_long.append(way.program)
    return Choice(None, None, tuple(tried))


def by_need(
    formats: Sequence[str], ways: Callable[[str], Iterable[Way[Made]]]
) -> Iterator[Way[Made]]:
    """The ways in each of some number formats, the first format first.

    Args:
        formats: Their names, the narrowest first, as `BY_NEED`; or the one that is asked
            for.
        ways: The ways in a format, best first.
    """
    for dtype in formats:
        for way in ways(dtype):
            yield way._replace(dtype=dtype if len(formats) > 1 else "")


class Proved(NamedTuple):
    """A network of a machine with its proof.

    Attributes:
        file: What the model file holds.
        proof: That it computes the machine.
    """

    file: ModelFile
    proof: Proof


@dataclass(frozen=True)
class MachineClaim:
    """The claim that networks of a machine make.

    Attributes:
        machine: The machine.
        length: T; None for words of every length.
        precision: The number format.
        outputs: Whether its outputs are shown, instead of its states.
        disguise: How its weights are disguised, if they are.
    """

    machine: Automaton
    length: int | None
    precision: Precision
    outputs: bool
    disguise: "Disguise | None" = None

    def file(self, built: CompiledNetwork) -> ModelFile:
        """A network with this claim.

        Raises:
            CompileError: If there is no such disguise for it.
        """
        file = model_file(
            self.machine, built, self.length, self.precision, self.outputs
        )
        if self.disguise is None:
            return file
        disguises = needed_part("disguises", "a disguise")
        header, tensors = disguises.disguise_network(
            self.disguise, file.header, file.tensors, file.precision
        )
        return ModelFile(header, tensors, file.precision)

    def prove_network(
        self,
        built: CompiledNetwork,
        progress: Callable[[int, int], None] | None = None,
    ) -> Proved:
        """A network that keeps the claim.

        Raises:
            CompileError: If that is not proved; the message says why.
        """
        file = self.file(built)
        proof = prove_own(file, self.machine, progress)
        if proof.is_too_long:
            raise ProgramTooLong(proof.reason)
        if proof.verdict != "verified":
            raise CompileError(self._wrong(proof))
        return Proved(file, proof)

    def _wrong(self, proof: Proof) -> str:
        """Why a network is not proved; a word on which it is wrong by its letters."""
        if proof.word is None:
            return proof.reason
        word = in_runs(self.machine.letters[a] for a in proof.word)
        return f"it is wrong after {cut(word, LONGEST)}"
