"""The cases of the checker hold every prefix: no stack is listed, and none is missed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra import zoo
from algebra.bracket_distribution import BracketDistribution
from compiler.generator import Freedom
from krohn.generation import compile_generator
from network.modelfile import ModelFile
from network.precision import PRECISIONS, FloatArray
from verify import cancelling
from verify.bracket_claim import Claim, claimed
from verify.errors import Rejected
from verify.generator import tokens
from verify.normalised import REAL, Arithmetic, Head, head


def opened(name: str, length: int, free: Freedom, dtype: str) -> tuple[Claim, Head]:
    file: ModelFile = compile_generator(
        name, length, free, dtype=dtype, proved=False
    ).file
    claim = claimed(file, zoo.machine(name))
    rows, _ = tokens(file, claim, REAL)
    return claim, head(rows, "layers.0", file.tensors, file.precision)


def indices(claim: Claim, word: tuple[int, ...]) -> list[int]:
    """The tokens of a prefix, the start in front."""
    law: BracketDistribution = claim.law
    depths = [len(stack) for stack in law.stacks(word)]
    token = {pair: i for i, pair in enumerate(claim.letters)}
    found = [token[a, d] for a, d in zip(word, depths[1:], strict=True)]
    return [len(claim.letters), *found]


def normalised(found: Head, read: list[int], dtype: str) -> FloatArray:
    """LN_C of the head at the last position, rounded after every step."""
    scores = found.scores[read, read[-1]].astype(dtype)
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum(dtype=dtype)
    mixed = np.zeros(found.values.shape[1], dtype=dtype)
    for weight, value in zip(weights, found.values[read].astype(dtype), strict=True):
        mixed = mixed + weight * value
    centred = mixed - mixed.mean(dtype=dtype)
    norm = np.sqrt((centred**2).sum(dtype=dtype))
    return (centred / max(norm, found.constant)).astype(np.float64)


@pytest.mark.parametrize("name", ["Dyck3,2", "Dyck2,3", "Dyck4,1"])
@pytest.mark.parametrize("pattern", ["random", "symmetric", "uniform"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_prefix_lies_in_the_box_of_its_case(
    name: str, pattern: str, dtype: str
) -> None:
    claim, found = opened(name, 8, Freedom(pattern, seed=4, scale=0.5), dtype)
    units = Arithmetic.of(PRECISIONS[dtype])
    cases, _ = cancelling.cases(found, claim, units)
    by_law = {(case.token, claim.law.law(case.stack)): case for case in cases}
    closest = np.inf
    for length in range(9):
        for word, stack in claim.law.prefixes(length):
            read = indices(claim, word)
            case = by_law[read[-1], claim.law.law(stack)]
            room = case.radius - np.abs(normalised(found, read, dtype) - case.centre)
            closest = min(closest, float(room.min()))
    assert closest >= 0


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_long_prefixes_in_float32_stay_within_the_bound(seed: int) -> None:
    claim, found = opened("Dyck4,2", 256, Freedom("uniform"), "float32")
    cases, _ = cancelling.cases(found, claim, Arithmetic.of(PRECISIONS["float32"]))
    by_law = {(case.token, claim.law.law(case.stack)): case for case in cases}
    law = BracketDistribution(claim.law.brackets, claim.law.opening / 4)
    word = tuple(law.sample(np.random.default_rng(seed), 1, 256)[0].tolist())
    stacks = claim.law.stacks(word)
    for end in range(200, 257):
        read = indices(claim, word[:end])
        case = by_law[read[-1], claim.law.law(stacks[end])]
        gap = np.abs(normalised(found, read, "float32") - case.centre)
        assert (gap <= case.radius).all()


def test_cases_and_identities_are_counted_as_the_theorem_says() -> None:
    kinds, depth = 2, 4
    claim, found = opened("Dyck4,2", 50, Freedom("symmetric"), "float64")
    cases, evidence = cancelling.cases(found, claim, REAL)
    assert evidence["identities"] == kinds * depth * kinds * (depth - 1)
    assert len(cases) == kinds**2 * (depth - 1) + kinds * depth + kinds + 1
    assert evidence["exactly balanced"]


def test_values_that_overlap_or_speak_at_the_start_are_rejected() -> None:
    claim, found = opened("Dyck3,2", 8, Freedom("uniform"), "float64")
    overlapping, speaking = found.values.copy(), found.values.copy()
    overlapping[1] = overlapping[0]
    speaking[-1] = speaking[0]
    for values, trouble in ((overlapping, "overlap"), (speaking, "silent")):
        with pytest.raises(Rejected, match=trouble):
            cancelling.cases(Head(found.scores, values, found.constant), claim, REAL)
