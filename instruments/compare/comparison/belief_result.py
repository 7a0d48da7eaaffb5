"""The result of a comparison on a hidden Markov model: data, sentences, a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from krohn.algebra.wording import count, cut
from krohn.instruments.compare.comparison.result import (
    Origin,
    Training,
    Written,
)
from krohn.instruments.compare.measures.beliefs import BeliefScores
from krohn.instruments.compare.probes.beliefs import LayerProbe

# The result of a comparison on a hidden Markov model, to and from JSON; nothing runs.


@dataclass(frozen=True)
class BeliefProof:
    """The proof of the compiled network.

    Attributes:
        verdict: Of `krohn.verify`.
        covers: What is proved, or why nothing is.
        error: How far an output can be off; 0 if none is.
        length: For all words of up to so many letters.
        construction: How the network was built.
        dtype: In which number format it runs.
        seconds: How long compiling and proving took.
    """

    verdict: str
    covers: str
    error: float
    length: int
    construction: str
    dtype: str
    seconds: float


@dataclass(frozen=True)
class BeliefSeed:
    """A network of one seed.

    Attributes:
        seed: None for what is not drawn.
        scores: On fresh words of the length of training.
        since: From which evaluation on its 0.05-fit length was so; None for what is not
            trained, or fits nothing.
        probes: What is read after the embedding and after each layer.
        moved: How far attention moves in each layer if letters are shuffled.
        training: How it came about; `accuracy` is the share of outputs within 0.05.
    """

    seed: int | None
    scores: BeliefScores
    since: int | None = None
    probes: tuple[LayerProbe, ...] = ()
    moved: tuple[float, ...] = ()
    training: Training | None = None


@dataclass(frozen=True)
class BeliefModel:
    """The networks of one kind.

    Attributes:
        key: ``compiled``, ``exact``, ``rnn``, ``gpt1``, ``gpt2``, …, ``blocks`` or
            ``ngram``.
        title: What tables call it.
        about: What it is.
        depth: Of a Transformer that was trained without blocks; None for others.
        parameters: Numbers that are stored; None for rules.
        ones: One for each seed.
    """

    key: str
    title: str
    about: str
    depth: int | None
    parameters: int | None
    ones: tuple[BeliefSeed, ...]


@dataclass(frozen=True)
class Geometry:
    """Beliefs in three states: exact ones, and as read after the last layer.

    Attributes:
        title: Of the network.
        exact: ``(count, 3)``.
        read: The same positions.
    """

    title: str
    exact: tuple[tuple[float, ...], ...]
    read: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class BeliefComparison(Written):
    """A derived network of beliefs beside trained ones, as its page shows it.

    Attributes:
        name: Of the model.
        task: What is asked, in words.
        states: How many numbers a belief has.
        letters: How many letters there are.
        probabilities: Whether outputs are laws.
        length: Of the words that are trained on.
        preset: Which sizes.
        proved: What is proved of the compiled network; None if there is none.
        models: All that is compared.
        geometry: For each kind of network whose beliefs are shown in a triangle.
        origin: How to do it again.
        window: L, if words are prompts of demonstrations of L + 1 letters, with a
            delimiter behind each.
    """

    name: str
    task: str
    states: int
    letters: int
    probabilities: bool
    length: int
    preset: str
    proved: BeliefProof | None
    models: tuple[BeliefModel, ...]
    geometry: tuple[Geometry, ...]
    origin: Origin
    window: int | None = None
    version: int = 2
    drawing: ClassVar[str] = "draw_belief_page"

    def of(self, key: str) -> BeliefModel | None:
        """The result of a model, if it takes part."""
        return next((m for m in self.models if m.key == key), None)

    def further_tables(self) -> list[list[list[str]]]:
        """Of prompts: by the number of demonstrations, and by the length of the test."""
        return [] if self.window is None else tables_of_prompts(self, self.window)

    def __repr__(self) -> str:
        models = count(len(self.models), "model")
        return f"<BeliefComparison on {cut(self.name, 40)}: {models}, {self.preset}>"


# The sentences and the table of a comparison on a hidden Markov model.


@dataclass(frozen=True)
class Line:
    """The line of a table about one kind of network.

    Attributes:
        title: Of it.
        about: What it is.
        cells: By column.
    """

    title: str
    about: str
    cells: dict[str, str]


def over_seeds(values: Sequence[float | None], digits: int = 3) -> str:
    """The mean, with half of Student's 95 % interval of it if there are several."""
    known = np.array([v for v in values if v is not None], dtype=float)
    if len(known) < len(values) or not len(known):
        return "–"
    mean = f"{known.mean():.{digits}g}"
    if np.ptp(known) == 0:  # seeds that are all alike say nothing of others
        return mean
    half = stats.t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / len(known) ** 0.5
    return f"{mean} ± {half:.2g}"


def lines(found: BeliefComparison) -> list[Line]:
    """A line for each kind of network."""
    return [Line(m.title, m.about, _cells(m, found)) for m in found.models]


def _cells(model: BeliefModel, found: BeliefComparison) -> dict[str, str]:
    scores = [one.scores for one in model.ones]
    cells = {
        "0.05-fit": ", ".join(str(s.fits[0]) for s in scores),
        "0.1-fit": ", ".join(str(s.fits[1]) for s in scores),
        "error": over_seeds([s.error for s in scores]),
        "within 0.05": over_seeds([100 * s.within for s in scores]) + " %",
    }
    if found.probabilities:
        cells["above floor"] = over_seeds([s.excess for s in scores])
    cells["parameters"] = "–" if model.parameters is None else f"{model.parameters:,}"
    seconds = [one.training.seconds for one in model.ones if one.training]
    cells["training"] = f"{np.mean(seconds):.0f} s" if seconds else "–"
    return cells


def headline(found: BeliefComparison) -> list[str]:
    """The sentences on the proof, on what training reached, and on the least loss."""
    sentences = [_proof_sentence(found)]
    deep = [m for m in found.models if m.depth is not None]
    if deep:
        fits = "; ".join(f"{m.depth}: {_fits(m)}" for m in deep)
        sentences.append(f"Trained Transformers, 0.05-fit length by blocks: {fits}.")
    others = [m for m in found.models if m.key in ("rnn", "blocks", "ngram")]
    rest = "; ".join(f"{m.title}: {_fits(m)}" for m in others)
    sentences.append(f"Beside them: {rest}; words have {found.length} letters.")
    floor = next((m.ones[0].scores.floor for m in found.models), None)
    if floor is not None:
        sentences.append(
            f"No cross entropy is below {floor:.3f} nats, the mean entropy of the truth."
        )
    return sentences


def _proof_sentence(found: BeliefComparison) -> str:
    proof = found.proved
    if proof is None:
        return "There is no compiled network to compare with."
    how = f"{proof.construction}, {proof.dtype}"
    network = f"The network compiled for this comparison ({how})"
    known = "proved" if proof.verdict == "verified" else "not proved"
    return f"{network} is {known}: {proof.covers}."


def _fits(model: BeliefModel) -> str:
    return ", ".join(str(one.scores.fits[0]) for one in model.ones)


# Prompts: by the number of demonstrations, and by the length of the test.


def tables_of_prompts(found: BeliefComparison, window: int) -> list[list[list[str]]]:
    """Total variation and accuracy after n demonstrations and j letters of a test.

    Returns:
        Two tables by n, doubled from column to column, with tests of L letters; and two by
        j, after as many demonstrations as there is room for. The first row of each has the
        columns.
    """
    segment = window + 2
    most = (found.length - window) // segment
    if most < 1:
        return []
    counts = sorted({0, most, *(2**i for i in range(most.bit_length()))})
    by_count = {f"n={n}": n * segment + window for n in counts}
    by_length = {f"j={j}": most * segment + j for j in range(window + 1)}
    return [
        _table_of_prompts(found, title, read)
        for read in (by_count, by_length)
        for title in ("total variation", "right, %")
    ]


def _table_of_prompts(
    found: BeliefComparison, title: str, read: dict[str, int]
) -> list[list[str]]:
    """What each model says after so many letters."""
    rows = [[title, *read]]
    for model in found.models:
        scores = [one.scores for one in model.ones]
        cells = []
        for t in read.values():
            if title == "total variation":
                cells.append(over_seeds([s.errors[t - 1] for s in scores], 2))
            else:
                shares = [s.accuracies[t - 1] for s in scores]
                hits = [None if x is None else 100 * x for x in shares]
                cells.append(over_seeds(hits, 3))
        rows.append([model.title, *cells])
    return rows
