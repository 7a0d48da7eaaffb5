"""Posterior heads in the commands: one softmax head guesses tokens from one token."""

from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.kinds.hidden_markov.source_masked import freedom
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads import source as posterior_heads
from krohn.kinds.posterior_heads.build import (
    CONSTRUCTIONS,
    network,
)
from krohn.kinds.posterior_heads.source import PosteriorHead
from krohn.kinds.posterior_heads.statement import StatedPosteriorHead
from krohn.network.architecture import parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Opened
from krohn.schemas.parts import Dtype
from krohn.source_kinds.base import Built, letters_in
from krohn.source_kinds.kind import Answers
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import Box, RealSequences, run_network

PAIRWISE = tuple(map(Task.of, ("2given1", "3given1", "1given2", "1given3")))
TOGETHER = 16
"""So many inputs are read at once if nothing is said; each is answered by itself."""
TRIPLE = tuple(map(Task.of, ("23given1", "13given2", "12given3")))


class PosteriorHeadFacts(TypedDict):
    """A posterior head, and which guesses determine the model.

    Attributes:
        task: The tokens that are guessed, and those that are given.
        size: Hidden states.
        letters: If it reads letters.
        coordinates: If it reads points.
        prior: The probability of each hidden state.
        identifies: Whether the guesses of each task determine the hidden Markov model.
        slots: The slots of the attention layer: a hidden state each.
    """

    name: str
    kind: Literal["posterior-head"]
    claim: Literal["within"]
    task: str
    size: int
    letters: NotRequired[int]
    coordinates: NotRequired[int]
    prior: list[float]
    identifies: dict[str, str]
    error: float
    construction: str
    slots: int
    parameters: int
    dtype: Dtype


class PosteriorHeads(RealSequences[PosteriorHead]):
    """The mean of one token, or of two, given another."""

    wire = StatedPosteriorHead.kind
    facts_types = (PosteriorHeadFacts,)
    stated_type = StatedPosteriorHead
    instead = "; krohn decompile recovers the model behind it"
    source = PosteriorHead
    of_name = staticmethod(posterior_heads.find_by_name)
    takes = frozenset({"within", "construction"})

    def box(self, source: PosteriorHead) -> Box:
        """Unit vectors of letters; or points whose coordinates are within the radius."""
        ones = np.ones(len(source.letters))
        if source.radius is None:
            return Box(source.letters, 0 * ones, ones)
        return Box(source.letters, -source.radius * ones, source.radius * ones)

    def check(self, source: PosteriorHead, x: FloatArray) -> None:
        """Refuse what is no letter, or no point of the box."""
        super().check(source, x)
        if source.radius is None and not _unit_vectors(x).all():
            raise KrohnError("a letter is a unit vector: a 1, and otherwise 0")

    def reference(self, source: PosteriorHead) -> Reference:
        """By densities and probabilities, in the widest format of the machine."""
        return Reference(source.run, source.rounding())

    def sample_vectors(
        self, source: PosteriorHead, shape: tuple[int, int], rng: np.random.Generator
    ) -> FloatArray:
        """Letters; or points, half of which the model says, and all within the box."""
        d = len(source.letters)
        if source.radius is None:
            letters: FloatArray = np.eye(d)[rng.integers(d, size=shape)]
            return letters
        far = super().sample_vectors(source, shape, rng)
        states = rng.integers(source.size, size=shape)
        near = source.emissions.T[states] + rng.standard_normal((*shape, d))
        near = np.clip(near, -source.radius, source.radius)
        return np.where(rng.random((*shape, 1)) < 0.5, near, far)

    def adversarial(
        self,
        source: PosteriorHead,
        file: ModelFile,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Every letter; or corners, and points where two states are as likely.

        There the guess is the steepest, and in corners the scores are the largest.
        """
        length, d = file.claim.longest, len(source.letters)
        if source.radius is None:
            letters = np.resize(np.arange(d), (-(-d // length), length))
            every: FloatArray = np.eye(d)[letters]
            return every
        corners = rng.choice((-1.0, 1.0), (count - count // 2, length, d))
        between = _points_between(source, (count // 2, length), rng)
        points = np.concatenate([source.radius * corners, between])
        return np.asarray(np.clip(points, -source.radius, source.radius))

    def build(self, source: PosteriorHead, asked: CompileOptions) -> Built:
        """The head, with the error that the checker shows of it."""
        name = next(iter(CONSTRUCTIONS))
        name = name if asked.construction == "auto" else asked.construction
        if name not in CONSTRUCTIONS:
            known = " or ".join(["auto", *CONSTRUCTIONS])
            raise CompileError(f"--construction takes {known}, not {name!r}")
        length = TOGETHER if asked.length is None else asked.length
        within, options = asked.within, asked.options
        made = network(source, name, length, options.precision)
        built, claim = self.with_error(source, name, made, length, options)
        if within is not None and not claim["error"] <= within:
            raise CompileError(
                f"the guess is off by {claim['error']:.2g} in {options.precision.name}"
            )
        return built, claim if within is None else claim | {"error": within}

    def facts(self, source: PosteriorHead, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a posterior head, and which guesses determine the model."""
        built, claim = self.build(source, asked)
        shape = built.network.architecture
        return {
            "task": str(source.task),
            "size": source.size,
            "letters" if source.radius is None else "coordinates": len(source.letters),
            "prior": source.prior.tolist(),
            "identifies": _identifies(source),
            "error": claim["error"],
            "construction": built.construction,
            "slots": shape["memory"],
            "parameters": parameters(shape),
        }

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The guesses after letters, or after points."""
        source = self.of_file(file)
        if source.radius is None and "," not in "".join(words):
            word = letters_in(words, source.letters)
            rows = np.eye(len(source.letters))[word].astype(int).tolist()
            words = [",".join(map(str, row)) for row in rows]
        answer = super().answers(file, words, network)
        result = answer.result | {"classes": list(source.classes)}
        # Each vector is answered by itself, wherever it stands.
        return Answers(result, [1] * len(answer.read))

    def list_inputs(self, file: ModelFile, length: int) -> FloatArray:
        """Every letter: each is answered by itself."""
        source = self.of_file(file)
        if source.radius is not None:
            return super().list_inputs(file, length)
        letters: FloatArray = np.eye(len(source.letters))[:, None]
        return letters


def law_of(file: ModelFile, source: PosteriorHead) -> FloatArray:
    """``(d, …)``: what the network of a file says after each letter."""
    d = len(source.letters)
    outputs = run_network(file, np.eye(d)[:, None])[:, 0]
    return outputs.reshape((d,) * (1 + len(source.task.predicted)))


def _unit_vectors(x: FloatArray) -> Any:
    return np.isin(x, (0, 1)).all(axis=-1) & (x.sum(axis=-1) == 1)


def _points_between(
    source: PosteriorHead, shape: tuple[int, int], rng: np.random.Generator
) -> FloatArray:
    """Points where two states are as likely, near the middle of their means."""
    one, other = rng.integers(source.size, size=(2, *shape))
    means, bias = source.emissions.T, source.biases()
    apart = means[one] - means[other]
    square = np.maximum((apart**2).sum(axis=-1), np.finfo(np.float64).tiny)
    middle = (means[one] + means[other]) / 2 + rng.standard_normal(apart.shape)
    off = (middle * apart).sum(axis=-1) + bias[one] - bias[other]
    points: FloatArray = middle - (off / square)[..., None] * apart
    return np.where((one == other)[..., None], means[one], points)


def _identifies(source: PosteriorHead) -> dict[str, str]:
    """Which guesses determine the model, up to the names of its states.

    Of points the mean after one token does, if means are independent and transitions have
    an inverse (P6). Of letters directions are counted in which the model can move freely.
    """
    full = [
        np.linalg.matrix_rank(x) == source.size
        for x in (source.emissions, source.transitions)
    ]
    if source.radius is not None:
        some = (
            "determines it" if all(full) else "open: means or transitions are singular"
        )
        return {"2given1": some}
    model = source.emissions, source.transitions
    asked: dict[str, tuple[Task, ...]] = {str(t): (t,) for t in (PAIRWISE[0], *TRIPLE)}
    asked["all pairs of 3 letters"] = PAIRWISE
    findings = {}
    for name, tasks in asked.items():
        free = freedom(tasks, *model)
        findings[name] = (
            f"leaves {count(free, 'direction')} open"
            if free
            else "determines it nearby"
        )
        if not free and len(tasks) == 1 and tasks[0] in TRIPLE and all(full):
            findings[name] = "determines it"
    return findings
