"""Attention of trained networks beside compiled ones, and beside landmarks of words."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import as_brackets
from krohn.instruments.compare.models.compiled import (
    Compiled,
    CompiledTransformer,
)
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.variables import (
    oriented_corridor,
    since,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.network.forward_pass import evaluation_mode
from krohn.network.precision import FloatArray

# Heads of networks as patterns over the letters of words.


UNSEEN = 1e-6
"""A row with less weight on letters than float32 can tell from none looks at BOS alone."""


@dataclass(frozen=True, eq=False)
class Head:
    """The attention pattern of a head on some words.

    Attributes:
        layer: Which block, from 0.
        index: Which head of it.
        title: Its name: of a compiled head, the channels that it writes.
        pattern: ``(count, length, length)`` rows are queries and sum to 1.
        weight: ``(count, length)`` the share of the row on letters at first: of a compiled
            head the rest lay on BOS, which trained networks do not have; else 1.
    """

    layer: int
    index: int
    title: str
    pattern: FloatArray
    weight: FloatArray


def heads(network: Network, words: IntArray) -> list[Head]:
    """All heads of a network on words ``(count, length)``.

    A compiled network has a position BOS before the letters. Its column is cut off and
    rows are scaled to sum to 1 again; how much was left says how much a row counts.
    """
    device = next(network.parameters()).device
    with evaluation_mode(network), torch.no_grad():
        seen = network.inside(torch.from_numpy(words).to(device)).attention
    titles = _titles(network) if isinstance(network, CompiledTransformer) else {}
    all_heads = []
    for layer, weights in enumerate(seen):
        for index, given in enumerate(weights.double().cpu().numpy().swapaxes(0, 1)):
            title = titles.get((layer, index), f"head {index} of layer {layer + 1}")
            all_heads.append(Head(layer, index, title, *_without_bos(given)))
    return all_heads


def _without_bos(given: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``(count, length, length)``, or one column more, to a pattern and its weights."""
    pattern = given[:, :, given.shape[2] - given.shape[1] :]
    weight = pattern.sum(axis=2)
    seen = weight > UNSEEN
    scale = np.divide(1, weight, where=seen, out=np.zeros_like(weight))
    return pattern * scale[..., None], np.where(seen, np.minimum(weight, 1), 0)


def _titles(network: Compiled) -> dict[tuple[int, int], str]:
    """For each block and head of a compiled network, the channels that it writes."""
    families: dict[tuple[int, int], list[str]] = {}
    for name, place in network.model.places().items():
        if place.head is not None:
            at = (place.snapshots[0] // 2, place.head)
            family = name.partition("[")[0]
            known = families.setdefault(at, [])
            known += [family] * (family not in known)
    construction = network.model.header.get("construction", "compiled")
    return {at: f"{construction}: {', '.join(n)}" for at, n in families.items()}


# Positions of a word that a head may look for.


NOWHERE = -1


def landmarks(task: Task, words: IntArray) -> Mapping[str, IntArray]:
    """For each landmark, where it is: ``(count, length)`` positions up to the row's own.

    The letter itself, the one before, the first one; the last letter of the same kind;
    the last reset; the last time at each wall of a corridor (thesis, Figure 3.6); the
    bracket on top of the stack (Figure 3.3). `NOWHERE` where there is none.

    Args:
        task: Its machine says which landmarks there are.
        words: ``(count, length)``.
    """
    machine, states = task.machine, task.states(words)
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    marks = {
        "the letter itself": places,
        "the letter before": places - 1,
        "the first letter": np.zeros_like(words),
        "the last such letter": _last_alike(words),
    }
    resets = (machine.transitions == machine.transitions[:, :1]).all(axis=1)
    if resets.any():
        marks["the last reset"] = _last(resets[words])
    return {**marks, **_walls(machine, states), **_top(machine, states)}


def _last(marked: IntArray) -> IntArray:
    ago = since(marked.astype(np.int64))
    return np.asarray(np.maximum(np.arange(marked.shape[1]) - ago, NOWHERE))


def _last_alike(words: IntArray) -> IntArray:
    """The last earlier position with the same letter."""
    positions = np.full_like(words, NOWHERE)
    for letter in np.unique(words):
        before = np.roll(_last(words == letter), 1, axis=1)
        before[:, 0] = NOWHERE
        positions = np.where(words == letter, before, positions)
    return positions


def _walls(machine: Automaton, states: IntArray) -> dict[str, IntArray]:
    corridor = oriented_corridor(machine)
    if corridor is None:
        return {}
    cells = np.array(corridor.cell)[states]
    return {
        "the last time at the lower wall": _last(cells == 0),
        "the last time at the upper wall": _last(cells == corridor.last),
        "the last time at a wall": _last((cells == 0) | (cells == corridor.last)),
    }


def _top(machine: Automaton, states: IntArray) -> dict[str, IntArray]:
    """The last position that reached the present depth from below."""
    brackets = as_brackets(machine)
    if brackets is None:
        return {}
    depths = np.array([0 if s is None else len(s) for s in brackets.stacks])
    now = depths[states]
    start = np.full((len(states), 1), depths[machine.start])
    before = np.concatenate([start, now[:, :-1]], axis=1)
    positions = np.full_like(now, NOWHERE)
    for depth in range(1, brackets.depth + 1):
        opened = _last((now == depth) & (before < depth))
        positions = np.where(now == depth, opened, positions)
    return {"the bracket on top": positions}


# Attention of a trained network beside compiled networks, and beside landmarks.
#
# That two patterns are alike does not show that two networks compute alike: networks of
# one function can attend almost at random (thesis, section 3.6;
# `measures.attention_variation`). These figures say where to look;
# `krohn.instruments.compare.probes.interchange` says what is used.


ALIKE = 0.8
"""Four fifths of the weight of two heads lie on the same letters."""

MOSTLY = 0.5
"""Most of the weight lies on the landmark."""

NONE = (
    f"No head attends {ALIKE:.0%} like a head of a compiled network, or mostly to one "
    "landmark."
)

BEYOND = 0.1
"""Above the references: ten times what 64 words leave open."""

WORDS = 64
"""With 32 letters each, 2,000 rows: a mean of numbers in [0, 1] is known to 0.01."""


@dataclass(frozen=True)
class HeadSimilarity:
    """How much a head attends like a compiled one.

    Attributes:
        head: The trained head.
        compiled: The compiled head that it is most like.
        similarity: 1 − ½ Σ|a − b|, the mean over rows; 1 for equal patterns.
        uniform: The similarity of a head that attends to all letters so far alike.
        elsewhere: The similarity of the trained head on other words: likeness without
            having read the word.
    """

    head: str
    compiled: str
    similarity: float
    uniform: float
    elsewhere: float


@dataclass(frozen=True)
class LandmarkAttention:
    """How much a head attends to a landmark.

    Attributes:
        head: The trained head.
        landmark: The landmark that it attends to most, beyond the two references.
        weight: The mean weight on it.
        uniform: The same of a head that attends to all letters so far alike.
        elsewhere: The same on the landmarks of other words; None if they are the same.
    """

    head: str
    landmark: str
    weight: float
    uniform: float
    elsewhere: float | None


@dataclass(frozen=True)
class AttentionComparison:
    """The likeness of a network's heads to compiled ones, and to landmarks.

    Attributes:
        likenesses: For each head the compiled head that it is most like; empty if there
            are no compiled heads.
        counterparts: For each compiled head the head that is most like it.
        pointings: For each head, a landmark.
        matrix: Similarities of trained heads (rows) and compiled ones.
        compiled: The compiled heads.
    """

    likenesses: tuple[HeadSimilarity, ...]
    counterparts: tuple[HeadSimilarity, ...]
    pointings: tuple[LandmarkAttention, ...]
    matrix: tuple[tuple[float, ...], ...]
    compiled: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The striking findings, in sentences; none goes beyond attention."""
        alike = [
            _alike(finding) for finding in self.counterparts if _stands_out(finding)
        ]
        points = [
            _points(finding) for finding in self.pointings if _points_there(finding)
        ]
        return (*alike, *points) or (NONE,)

    def to_object(self) -> dict[str, Any]:
        """All values, as JSON holds them."""
        return asdict(self)


def compare_heads(
    network: Network,
    task: Task,
    compiled: Sequence[Network] = (),
    length: int = 32,
    seed: int = 0,
) -> AttentionComparison:
    """Compare the heads of a network with compiled ones, and with landmarks.

    Args:
        network: A trained one; without heads, nothing is found.
        task: The task of its training, and of the words to look at.
        compiled: Compiled networks of the same machine, for words as long.
        length: Length of the words.
        seed: Seed of the words.
    """
    rng = np.random.default_rng(seed)
    words = task.inputs.draw(task.machine, rng, WORDS, length)
    trained = heads(network, words)
    derived = [head for other in compiled for head in heads(other, words)]
    derived = [head for head in derived if head.weight[:, 1:].any()]
    matrix = np.array([[similarity(a, b) for b in derived] for a in trained])
    matrix = matrix.reshape(len(trained), len(derived))
    nearest = zip(trained, matrix.argmax(axis=1), strict=True) if derived else ()
    likest = zip(derived, matrix.argmax(axis=0), strict=True) if trained else ()
    marks = landmarks(task, words)
    return AttentionComparison(
        tuple(_likeness(a, derived[j]) for a, j in nearest),
        tuple(_likeness(trained[i], b) for b, i in likest),
        tuple(_pointing(head, marks) for head in trained),
        tuple(map(tuple, matrix.tolist())),
        tuple(head.title for head in derived),
    )


def similarity(first: Head, second: Head, shift: int = 0) -> float:
    """1 − ½ Σ|a − b|, the mean over rows by their weights in the second head.

    The first row is left out: there is one letter to attend to.

    Args:
        first: A head.
        second: Another one, on the same words.
        shift: By how many words the first one's are shifted, to compare other words.
    """
    pattern = np.roll(first.pattern, shift, axis=0)
    return _mean(1 - np.abs(pattern - second.pattern).sum(axis=2) / 2, second.weight)


def uniform(head: Head) -> Head:
    """A head that attends to all letters so far alike."""
    length = head.pattern.shape[1]
    rows = np.tril(np.ones((length, length))) / np.arange(1, length + 1)[:, None]
    pattern = np.broadcast_to(rows, head.pattern.shape)
    return Head(head.layer, head.index, "uniform", pattern, np.ones_like(head.weight))


def weight_on(head: Head, landmark: IntArray, shift: int = 0) -> float:
    """The mean weight on a landmark, over rows that have one.

    Args:
        head: A head.
        landmark: ``(count, length)`` positions, or `NOWHERE`.
        shift: By how many words the landmarks are shifted.
    """
    at = np.roll(landmark, shift, axis=0)
    weights = np.take_along_axis(head.pattern, np.maximum(at, 0)[..., None], axis=2)
    return _mean(weights[..., 0], (at != NOWHERE).astype(np.float64))


def _mean(figures: FloatArray, weights: FloatArray) -> float:
    total = weights[:, 1:].sum()
    return float((figures * weights)[:, 1:].sum() / total) if total else 0.0


def _likeness(head: Head, other: Head) -> HeadSimilarity:
    return HeadSimilarity(
        head.title,
        other.title,
        similarity(head, other),
        similarity(uniform(head), other),
        similarity(head, other, shift=1),
    )


def _pointing(head: Head, marks: Mapping[str, IntArray]) -> LandmarkAttention:
    flat = uniform(head)
    each = [
        LandmarkAttention(
            head.title,
            name,
            weight_on(head, mark),
            weight_on(flat, mark),
            None if (mark == mark[:1]).all() else weight_on(head, mark, shift=1),
        )
        for name, mark in marks.items()
    ]
    return max(each, key=lambda p: p.weight - max(p.uniform, p.elsewhere or 0))


def _usual(found: HeadSimilarity | LandmarkAttention) -> float:
    return max(found.uniform, found.elsewhere or 0.0)


def _stands_out(found: HeadSimilarity) -> bool:
    """Alike, and not because both would attend so to any word."""
    return found.similarity >= ALIKE and found.similarity >= _usual(found) + BEYOND


def _points_there(found: LandmarkAttention) -> bool:
    return found.weight >= MOSTLY and found.weight >= _usual(found) + BEYOND


def _alike(found: HeadSimilarity) -> str:
    return (
        f"{found.head} attends like {found.compiled}: their weights agree by "
        f"{found.similarity:.0%} (with uniform attention: {found.uniform:.0%}, with "
        f"other words: {found.elsewhere:.0%})."
    )


def _points(found: LandmarkAttention) -> str:
    return (
        f"{found.head} attends to {found.landmark} with weight {found.weight:.2f} "
        f"(uniform attention: {found.uniform:.2f})."
    )
