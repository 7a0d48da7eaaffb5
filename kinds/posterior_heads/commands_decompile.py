"""The hidden Markov model behind a network's law, from its answers alone.

The theorems are in docs/proofs/posterior_heads.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov import source_files as files
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_masked import factors
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads.source import (
    NEXT,
    PosteriorHead,
)
from krohn.kinds.posterior_heads.source_decompile import (
    DRAWS,
    FORWARD,
    TASKS,
    Decompiled,
    decompiled,
)
from krohn.kinds.posterior_heads.source_decompile_points import (
    DecompiledPoints,
    decompiled_points,
)
from krohn.loading import file_of
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile, is_trained_network
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, told_as
from krohn.program.files import read_bytes
from krohn.program.quoting import kind_of_value
from krohn.program.slices import needed_part
from krohn.program.user_input import real_array
from krohn.program.writing import atomic_write
from krohn.source_kinds import source_of

SUFFIX = ".json"
"""Of a file of a recovered model."""
Pair = tuple[FloatArray, FloatArray]
"""Emissions ``(d, k)`` and transitions ``(k, k)``."""
Laws = Callable[[IntArray], FloatArray]
"""Words ``(n, t)`` to laws of the letter after each prefix, ``(n, t, d)``."""


@dataclass(frozen=True, eq=False)
class Recovered:
    """The model that a network's answers come from.

    Attributes:
        found: It: emissions or means, transitions, the residual, and more.
        network: What the network is called.
        error: If the file says a model: how far an entry is from that, states renamed.
    """

    found: Decompiled | DecompiledPoints
    network: str
    error: float | None

    @property
    def pair(self) -> Pair:
        """Emissions or means, and transitions."""
        found = self.found
        first = found.emissions if isinstance(found, Decompiled) else found.means
        return first, found.transitions

    def to_object(self) -> dict[str, Any]:
        """As ``krohn decompile --json`` prints it."""
        first, transitions = self.pair
        points = isinstance(self.found, DecompiledPoints)
        told = {
            "network": self.network,
            "task": str(NEXT if points else self.found.task),  # type: ignore[union-attr]
            "states": len(transitions),
            "means" if points else "emissions": first.tolist(),
            "transitions": transitions.tolist(),
            "residual": self.found.residual,
            "error": self.error,
        }
        if isinstance(self.found, Decompiled):
            told |= {
                "prior": self.found.prior.tolist(),
                "condition": self.found.condition,
            }
        return told

    def save(self, path: str | Path) -> None:
        """Write a model of letters as Krohn's JSON, which every command reads.

        Raises:
            KrohnError: If it says points, cannot be written, or the name is another's.
        """
        check_suffix(path)
        if not isinstance(self.found, Decompiled):
            raise KrohnError(
                "a model of points cannot be written to a file; use --json to print it"
            )
        with told_as(about="no model is written: "):
            text = files.text(self.found.model(f"decompiled {self.network}"))
        atomic_write(path, text.encode())


def check_suffix(path: str | Path) -> None:
    """Refuse names that no command would read a model from.

    Raises:
        KrohnError: If the name does not end in ``.json``.
    """
    if Path(path).suffix != SUFFIX:
        raise KrohnError(
            f"{path}: a model is written as JSON; the name ends in {SUFFIX}"
        )


class _Asked(NamedTuple):
    """A law, how far it may be off, and the model that it should be of."""

    law: FloatArray
    task: Task
    off: float
    name: str
    wanted: Pair | None


def decompile(
    model: object,
    machine: str | Path | HiddenMarkovModel | None = None,
    *,
    task: str | None = None,
    letters: int | None = None,
    states: int | None = None,
    off: float | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Recovered:
    """The hidden Markov model of which a network says the law.

    Args:
        model: A model file or its path, or a compiled model: a posterior head or a hidden
            Markov model. A trained network that says the next letter. An array
            ``(d, d, d)``: E[x_a ⊗ x_b | x_c], for each x_c; or the path of one (``.npy``).
            A function from words ``(n, t)`` of letter numbers to laws of the next letter
            ``(n, t, d)``.
        machine: The hidden Markov model that a trained network has learned, to hold what
            is recovered against. If it says as many classes as this has states, they are
            beliefs; the law is then what they say of the next letter.
        task: What an array says, as ``23given1`` (if absent), ``13given2``, ``12given3``.
        letters: How many letters a function reads.
        states: How many hidden states there are; found from the law if absent. If the law
            is that of no model, the nearest model is found.
        off: How far an entry of the law may be off; what a file claims, or 0.
        draws: How many random projections are tried.
        seed: Of these.

    Raises:
        KrohnError: If it cannot be asked, or what it says does not determine a model.

    Examples:
        >>> model = krohn.compile("RanHMM3,4@7:23given1")
        >>> krohn.decompile(model).error < 1e-10
        True
    """
    model = file_of(model) or model
    path = isinstance(model, str | Path)
    if path and not str(model).endswith(".npy") and not is_trained_network(str(model)):
        model = modelfile.read(str(model))
    if isinstance(model, ModelFile) and (points := _points(model)) is not None:
        if any(x is not None for x in (task, letters, states, off)):
            raise KrohnError(
                "a posterior head of points can only be recovered from its file; "
                "leave the options out"
            )
        return _of_points(model, points, seed)
    asked = _open_law(model, machine, task, letters)
    bound = asked.off if off is None else off
    found = decompiled(asked.law, asked.task, states, bound, draws, seed)
    pair = found.emissions, found.transitions
    return Recovered(found, asked.name, renamed(pair, asked.wanted))


def renamed(found: Pair, wanted: Pair | None) -> float | None:
    """How far entries are apart, with states matched; None if there are other many."""
    from scipy.optimize import linear_sum_assignment

    if wanted is None or found[0].shape != wanted[0].shape:
        return None
    cost = np.abs(found[0][:, :, None] - wanted[0][:, None]).max(axis=0)
    _, order = linear_sum_assignment(cost.T)
    emissions, transitions = found[0][:, order], found[1][np.ix_(order, order)]
    pairs = zip((emissions, transitions), wanted, strict=True)
    return max(float(np.abs(x - y).max()) for x, y in pairs)


def _open_law(
    model: object,
    machine: str | Path | HiddenMarkovModel | None,
    task: str | None,
    letters: int | None,
) -> _Asked:
    """The law of whatever can be asked.

    Raises:
        KrohnError: If it cannot, or an option says what the model says itself.
    """
    array = isinstance(model, np.ndarray) or str(model).endswith(".npy")
    if task is not None and not array:
        raise KrohnError("--task is for arrays; a network states its own task")
    if letters is not None and not callable(model):
        raise KrohnError("letters= is for functions")
    trained = isinstance(model, str | Path) and not array
    if machine is not None and not trained:
        raise KrohnError("--machine is for trained networks")
    if array:
        said = _task(task)
        name = "the array" if isinstance(model, np.ndarray) else Path(str(model)).name
        return _Asked(_array(model), said, 0.0, name, None)
    if isinstance(model, ModelFile):
        return _of_file(model)
    if isinstance(model, str | Path):
        source = None if machine is None else _model(machine)
        law = _joint(*_trained(str(model), source))
        right = None if source is None else _factors(source)
        return _Asked(law, FORWARD, 0.0, str(model), right)
    if callable(model):
        if letters is None:
            raise KrohnError(
                "say letters=, the number of letters that the function reads"
            )
        return _Asked(_joint(model, letters), FORWARD, 0.0, "the network", None)
    raise KrohnError(
        f"{kind_of_value(model)} is not a network or a function that answers words"
    )


def _task(name: str | None) -> Task:
    """The task whose answers an array holds.

    Raises:
        KrohnError: If no model can be told from that.
    """
    if name is None:
        return FORWARD
    tasks = {str(task): task for task in TASKS}
    if name not in tasks:
        raise KrohnError(
            f"{name!r} is no task of an array; there are {', '.join(tasks)}"
        )
    return tasks[name]


def _array(model: object) -> FloatArray:
    if isinstance(model, np.ndarray):
        return real_array(model, "the law")
    try:
        data = BytesIO(read_bytes(str(model)))
        return real_array(np.load(data, allow_pickle=False), str(model))
    except (OSError, EOFError, ValueError, TypeError):
        raise KrohnError(f"{model}: cannot be read as an array of numbers") from None


def _joint(laws: Laws, letters: int) -> FloatArray:
    """``(d, d, d)``: Pr(x_2, x_3 | x_1), of laws of the next letter."""
    words = np.indices((letters, letters)).reshape(2, -1).T
    said = real_array(laws(words), "what the network says")
    if said.shape != (letters**2, 2, letters):
        raise KrohnError(f"{letters**2} words of 2 letters gave {said.shape} numbers")
    second = said[::letters, 0]
    third = said[:, 1].reshape((letters,) * 3)
    return np.asarray(second[:, :, None] * third)


def _of_file(file: ModelFile) -> _Asked:
    """The law that the network of a model file says.

    Raises:
        KrohnError: If its source is of another kind, or one letter says too little.
    """
    source = source_of(file)
    if isinstance(source, PosteriorHead):
        from krohn.kinds.posterior_heads.commands import law_of

        if len(source.task.predicted) == 1:
            raise KrohnError(
                f"{source.task} does not determine a model of letters (Liu 2024, Theorem "
                "4); 23given1 does"
            )
        pair = source.emissions, source.transitions
        error = file.claim.error
        return _Asked(law_of(file, source), source.task, error, source.name, pair)
    if not isinstance(source, HiddenMarkovModel):
        raise KrohnError(
            "models are recovered from networks of hidden Markov models; krohn learn "
            "recovers the machine of this one"
        )
    if source.actions is not None or source.final is not None:
        how = "chosen by its user" if source.final is None else "weighted"
        raise KrohnError(
            f"the letters of {source.name} are {how}, so the next letter has no law"
        )
    return _of_beliefs(file, source)


def _of_beliefs(file: ModelFile, source: HiddenMarkovModel) -> _Asked:
    """The law of next letters that beliefs lead to; what cannot be said has weight 0."""
    from krohn.source_kinds.real_outputs import outputs

    def laws(words: IntArray) -> FloatArray:
        return source.predict(outputs(file, words))

    count = len(source.letters)
    ever = np.isfinite(source.filter(np.arange(count)[:, None])[1][:, 0])
    if not ever.all():
        name = source.letters[int(ever.argmin())]
        raise KrohnError(
            f"{source.name} never says {name!r} first, so no letter follows it"
        )
    off = source.size * file.claim.error
    law = np.maximum(_joint(laws, count), 0)
    return _Asked(law, FORWARD, off * (2 + off), source.name, _factors(source))


def _factors(source: HiddenMarkovModel) -> Pair | None:
    try:
        return factors(source)
    except Refused:
        return None


def _model(machine: str | Path | HiddenMarkovModel) -> HiddenMarkovModel:
    from krohn.kinds.hidden_markov.commands_objects import hidden_markov

    if isinstance(machine, HiddenMarkovModel):
        return machine
    return hidden_markov(machine)


def _trained(path: str, source: HiddenMarkovModel | None) -> tuple[Laws, int]:
    """The laws of a trained network, and how many letters it reads.

    Args:
        path: Its file.
        source: The model whose beliefs it says, or whose next letter; None if that is not
            known.

    Raises:
        KrohnError: If it says something else.
    """
    import torch

    load = needed_part("trained networks", "a reader of trained networks")
    network = load(path)
    letters, classes = network.specification.letters, network.specification.classes
    beliefs = source is not None and classes == source.size
    fits = source is None or letters == len(source.letters)
    if not fits or not (beliefs or classes == letters):
        raise KrohnError(
            f"{path} reads {letters} letters and says {classes} classes: these are "
            "neither laws of the next letter nor beliefs of the model of --machine"
        )

    def laws(words: IntArray) -> FloatArray:
        with torch.inference_mode():
            logits = network(torch.from_numpy(words)).double()
        found = np.asarray(torch.softmax(logits, dim=-1).numpy())
        return source.predict(found) if beliefs and source is not None else found

    return laws, letters


def _points(file: ModelFile) -> PosteriorHead | None:
    """The source of a file whose network says points after points; or None."""
    source = source_of(file)
    if not isinstance(source, PosteriorHead) or source.radius is None:
        return None
    if source.task != NEXT:
        raise KrohnError(
            "models of points are recovered from the task 2given1, not from "
            f"{source.task}"
        )
    return source


def _of_points(file: ModelFile, source: PosteriorHead, seed: int) -> Recovered:
    from krohn.source_kinds.real_sequences import run_network

    def guess(x: FloatArray) -> FloatArray:
        return run_network(file, x[:, None])[:, 0]

    error = file.claim.error
    found = decompiled_points(guess, len(source.letters), error, seed)
    wanted = source.emissions, source.transitions
    apart = renamed((found.means, found.transitions), wanted)
    return Recovered(found, source.name, apart)
