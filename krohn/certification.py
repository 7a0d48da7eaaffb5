"""The network that is chosen: the first of some ways that is proved.

`krohn explain` and `krohn compile` both ask here, and so say the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from krohn.algebra.automaton import Automaton
from krohn.algebra.wording import LONGEST, cut, in_runs
from krohn.compiled_model import model_file
from krohn.compiler.compiled_network import CompiledNetwork, Tried, realise
from krohn.compiler.construction_choice.planning import Planning
from krohn.compiler.cost import Cost
from krohn.compiler.errors import CompileError, Unsuited
from krohn.compiler.pipeline import Observer
from krohn.network.modelfile import ModelFile
from krohn.network.precision import Precision
from krohn.program.errors import Refused
from krohn.verify.proof import Proof, prove

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
    """

    construction: str
    cost: Cost | None
    make: Callable[[], Made]
    dtype: str = ""


@dataclass(frozen=True)
class Choice(Generic[Made, Found]):
    """What was chosen of some ways.

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


def planned(
    known: Planning, minimise: str | None = None, observe: Observer | None = None
) -> Iterator[Way[CompiledNetwork]]:
    """The ways to compute a machine, best first.

    Args:
        known: All of them.
        minimise: What is chosen by; None for the compromise.
        observe: Called after every compiler pass with its name and the Program.

    Raises:
        CompileError: If there is no such objective.
    """
    for plan in known.best_first(minimise):
        yield Way(plan.construction, plan.cost, partial(realise, plan, observe))


def proof_steps(cost: Cost, length: int) -> float:
    """About how much work it is to make and prove a network, in steps of a `Budget`.

    Of the tensors each entry is looked at a few times, and of each layer that attends
    the pairs of positions.
    """
    return cost.parameters / 4 + cost.depth * length**2 / 100


def _every(way: Way[Made]) -> bool:
    return True


def choose(
    ways: Iterable[Way[Made]],
    shown: Callable[[Made], Found],
    wanted: Callable[[Way[Made]], bool] = _every,
) -> Choice[Made, Found]:
    """Go through ways, best first, up to one of which something is shown.

    Args:
        ways: The ways; none is made before those in front of it have failed.
        shown: What is shown of a network; raises CompileError or Refused if nothing is.
        wanted: Whether to try a way at all.
    """
    tried, unsuited = list[Tried](), set[str]()
    for way in ways:
        if way.construction in unsuited:
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
    """What is claimed of the networks of a machine.

    Attributes:
        machine: The machine.
        length: T; None for words of every length.
        precision: The number format.
        outputs: Whether its outputs are shown, instead of its states.
    """

    machine: Automaton
    length: int | None
    precision: Precision
    outputs: bool

    def file(self, built: CompiledNetwork) -> ModelFile:
        """A network with this claim."""
        return model_file(
            self.machine, built, self.length, self.precision, self.outputs
        )

    def proved(
        self,
        built: CompiledNetwork,
        progress: Callable[[int, int], None] | None = None,
    ) -> Proved:
        """A network that keeps the claim.

        Raises:
            CompileError: If that is not proved; the message says why.
        """
        file = self.file(built)
        proof = prove(file, self.machine, progress)
        if proof.verdict != "verified":
            raise CompileError(self._wrong(proof))
        return Proved(file, proof)

    def _wrong(self, proof: Proof) -> str:
        """Why a network is not proved; a word on which it is wrong by its letters."""
        if proof.word is None:
            return proof.reason
        word = in_runs(self.machine.letters[a] for a in proof.word)
        return f"it is wrong after {cut(word, LONGEST)}"
