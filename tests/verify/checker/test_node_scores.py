"""Theorem R4: what is bounded node by node is no less than what all pairs of rows give."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.compiled_model import CompiledModel
from krohn.network.modelfile import ModelFile
from krohn.program.domains import FloatArray, IntArray
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.node_scores import Keys, Looking, bounds
from krohn.verify.checker.score_tree import LEAF, handed_down, in_leaves, least
from krohn.verify.checker.scores import NEVER, ONE_KEY
from krohn.verify.proof import prove

FORM = FORMATS["float32"]
POSITIONS, ENTRIES = 5 * LEAF, 3


def candidates(
    shape: str, t: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray, bool]:
    """Of operations of each kind: one position, all so far, some or none."""
    if shape == "one":
        at = np.minimum(rng.integers(len(t) + 1, size=len(t)), t)
        return at, at, False
    if shape == "one or none":
        at = rng.integers(1, len(t) + 1, size=len(t))
        return at, np.where(at <= t, at, at - 1), True
    if shape == "all":
        return np.zeros_like(t), t, False
    low = np.maximum((t // 8) * 8 - 8, 1)
    return low, np.where(t // 8 % 2 == 1, (t // 8) * 8 - 1, low - 1), True


def worst(
    on: FloatArray, off: FloatArray, looking: Looking, gain: FloatArray
) -> FloatArray:
    """The logarithm of the weight of all others in units of the right one, row by row.

    Args:
        on: ``(rows, positions)``: scores if a position is flagged.
        off: The same if not; −∞ if it always is.
        looking: Where rows look.
        gain: ``(rows, positions, positions)``: what the second gains on the first.
    """
    found = np.full(len(on), NEVER)
    for row, (low, high, end) in enumerate(zip(*looking[:3], strict=True)):
        inside = np.arange(low, high + 1)
        rights = inside.tolist()
        for right in rights + [0] * (looking.default and 0 not in rights):
            j = np.arange(end + 1)
            past = j > right if looking.first else j < right
            either = np.maximum(on[row, j], off[row, j])
            among = np.isin(j, inside)
            scores = np.where(among & ~past, off[row, j], either)
            if right not in rights:
                scores = np.where(among, off[row, j], either)
            scores = np.delete(scores + gain[row, right, j], right)
            total = np.logaddexp.reduce(scores, initial=NEVER)
            found[row] = max(found[row], total - on[row, right])
    return found


def keys_of(value: FloatArray, flagged: bool) -> Keys:
    """Keys of unflagged and of flagged positions; BOS is flagged."""
    if not flagged:
        return Keys.of(exact(value[0], FORM), ONE_KEY)
    place = np.concatenate([np.arange(1, POSITIONS), np.arange(POSITIONS)])
    value = np.concatenate([value[0, 1:], value[1]])
    flags = np.repeat([0, 1], [POSITIONS - 1, POSITIONS])
    return Keys(exact(value, FORM), place, flags)


@settings(max_examples=8)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["one", "one or none", "all", "some"]),
    st.booleans(),
    st.sampled_from([0.1, 1.0, 8.0]),
    st.sampled_from([0.0, 1e-3, 0.3]),
)
def test_no_row_is_worse_than_its_nodes_say(
    seed: int, shape: str, first: bool, scale: float, noise: float
) -> None:
    """Of random queries and keys, with noise where one position is right."""
    rng = np.random.default_rng(seed)
    # Leaves are filled up: rows and keys of any number are no full ones.
    count = rng.integers(1, POSITIONS)
    t = np.sort(rng.choice(np.arange(1, POSITIONS), count, replace=False))
    one = shape.startswith("one")
    low, high, default = candidates(shape, t, rng)
    looking = Looking(low, high, t, default, first and not one, one)
    value = scale * rng.normal(size=(len(t), ENTRIES))
    value[:, rng.random(ENTRIES) < 0.3] = scale
    value[rng.random(len(t)) < 0.3] = value[0]
    rest = noise * one * rng.random(value.shape)
    q = Noisy(value, np.zeros((0, *value.shape)), rest, FORM)
    table = scale * rng.normal(size=(2, POSITIONS, ENTRIES))
    table[:, :, rng.random(ENTRIES) < 0.3] = 1.0
    table += np.where(rng.random() < 0.5, 0, np.arange(POSITIONS)[:, None])
    keys = keys_of(table, flagged=not one)
    with np.errstate(all="ignore"):  # as in a proof
        leak, error, widest, size = bounds(q, looking, keys, 1)
    on = value @ table[0 if one else 1].T
    off = np.full_like(on, NEVER) if one else value @ table[0].T
    off[:, 0] = NEVER
    apart = np.abs(table[0][None] - table[0][:, None])
    gain = np.einsum("re,ije->rij", rest, apart)
    assert leak >= worst(on, off, looking, gain).max() - 1e-9
    assert widest >= error >= 0
    assert size >= np.abs(on).max()


@given(st.integers(0, 10**6), st.integers(1, 300), st.integers(0, 3))
def test_every_item_is_in_one_leaf(seed: int, count: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    entries = rng.choice([0.0, 0.1, 2.0**60], (count, 2)) * rng.integers(2, size=2)
    entries[: count // 2] = rng.normal(size=2) * kinds
    leaves = in_leaves(entries.T, rng.permutation(count))
    assert np.array_equal(np.sort(leaves, axis=None), np.arange(leaves.size))
    assert count <= leaves.size < count + len(leaves)
    assert leaves.shape[1] <= LEAF
    items = entries[np.minimum(leaves, count - 1)]
    found, marks = least(items), rng.random(2 * len(leaves))
    held = handed_down(marks)
    for leaf in range(len(leaves)):
        node, total = len(leaves) + leaf, 0.0
        for up in range(node.bit_length()):
            inside = np.arange(len(leaves)) + len(leaves) >> up == node >> up
            assert np.array_equal(found[node >> up], items[inside].min(axis=(0, 1)))
            total += marks[node >> up]
        assert held[leaf] == pytest.approx(total)


LONG = 1100
"""More than `WALKED` pairs of positions."""


@pytest.fixture(scope="module")
def scan() -> CompiledModel:
    return krohn.compile("C2", LONG, "scan")


def with_position(file: ModelFile, at: int, other: int, share: float) -> ModelFile:
    """With a position that nearly looks like another one."""
    table = file.tensors["embed.position"].copy()
    table[at] += np.float32(share) * (table[other] - table[at])
    return replace(file, tensors={**file.tensors, "embed.position": table})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "other"), [(3, 1000), (517, 1099), (1, 2), (1098, 1099)]
)
def test_one_wrong_row_of_the_table_of_positions_is_seen(
    scan: CompiledModel, at: int, other: int
) -> None:
    assert scan.proof is not None
    machine = zoo.machine("C2")
    assert (
        prove(with_position(scan.file, at, other, 0.0), machine).verdict == "verified"
    )
    found = prove(with_position(scan.file, at, other, 1.0), machine)
    assert (found.verdict, "may read wrong positions" in found.reason) == (
        "undecided",
        True,
    )
