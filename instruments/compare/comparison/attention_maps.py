"""The attention of compiled heads and of trained ones, on one word that both read."""

from collections.abc import Iterator, Sequence

import numpy as np

from krohn.instruments.compare.comparison.result import (
    COMPILED,
    GPT,
    AttentionMap,
    AttentionMaps,
)
from krohn.instruments.compare.models import Compiled, Network
from krohn.instruments.compare.probes.attention_landmarks import (
    AttentionComparison,
    Head,
    compare_heads,
    heads,
)
from krohn.instruments.compare.tasks.task import Task

MOST_HEADS = 16
"""So many of each network are shown, from the first layer on."""
START = (
    "Alike patterns alone do not show that two networks compute in the same way. "
    "Trained networks have no start symbol, so the weight of compiled heads on it is "
    "left out."
)


def attention_maps(
    task: Task, length: int, compiled: Compiled, trained: Network | None
) -> AttentionMaps | None:
    """The patterns of two networks on a word of the task.

    Args:
        task: Whose words they read.
        length: Of the word.
        compiled: The derived network.
        trained: The other one; None if there is none.

    Returns:
        None if there are no heads to show.
    """
    word = task.inputs.draw(task.machine, np.random.default_rng(0), 1, length)
    shown = list(_compiled_maps(heads(compiled, word)))
    if trained is not None:
        like = compare_heads(trained, task, [compiled], length)
        shown += _trained_maps(heads(trained, word), like)
    if not shown:
        return None
    named = tuple(task.letters[a] for a in word[0])
    return AttentionMaps(named, tuple(shown), (START,))


def _compiled_maps(found: Sequence[Head]) -> Iterator[AttentionMap]:
    for head in found[:MOST_HEADS]:
        yield AttentionMap(COMPILED, head.title, _rows(head))


def _trained_maps(
    found: Sequence[Head], like: AttentionComparison
) -> Iterator[AttentionMap]:
    most = {one.head: one for one in like.likenesses}
    points = {one.head: one for one in like.pointings}
    for head in found[:MOST_HEADS]:
        remarks = []
        if point := points.get(head.title):
            remarks.append(
                f"{point.weight:.2f} on {point.landmark} (uniform: {point.uniform:.2f})"
            )
        if one := most.get(head.title):
            remarks.append(
                f"{one.similarity:.2f} like {one.compiled} (uniform: {one.uniform:.2f}, "
                f"other words: {one.elsewhere:.2f})"
            )
        yield AttentionMap(GPT, head.title, _rows(head), "; ".join(remarks))


def _rows(head: Head) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, head.pattern[0].round(4).tolist()))
