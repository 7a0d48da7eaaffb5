"""Latest flags beyond the whole numbers that a format holds (docs/numerics.md, Recency).

Scores of positions without a flag are rounded there by more than a position is worth, so
their errors must not count as those of the right position (docs/proofs/attention.md, R1).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.compiler import CompileError
from krohn.compiler.positions import spread
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import BFLOAT16
from krohn.verify.checker.scores import (
    ONE_KEY,
    Said,
    Scores,
    split_scores_by_flag,
)
from krohn.verify.proof import prove

FLIP_FLOP = zoo.machine("FlipFlop")
KEY = "blocks.0.attention.key"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "length", "dtype", "depth"),
    [
        *(("FlipFlop", t, "bfloat16", 1) for t in (128, 2048)),
        ("Memory5", 512, "bfloat16", 1),
        ("FlipFlop", 2048, "float16", 1),
        ("FFLTracker2", 512, "bfloat16", 2),
        ("FFL2", 512, "bfloat16", 3),
    ],
)
def test_memories_are_proved_where_positions_do_not_fit(
    name: str, length: int, dtype: str, depth: int
) -> None:
    construction = "window" if name.startswith("FFL") else "memory"
    model = krohn.compile(name, length, construction, dtype=dtype)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    assert len(model.file.header["architecture"]["blocks"]) == depth


def test_the_planner_takes_the_one_layer() -> None:
    model = krohn.compile("FlipFlop", 512, dtype="bfloat16")
    assert len(model.file.header["architecture"]["blocks"]) == 1


def test_other_heads_that_order_positions_refuse_as_before() -> None:
    with pytest.raises(
        CompileError, match="cannot order the blocks of up to 130 positions"
    ):
        krohn.compile("Grid4", 130, "cascade", dtype="bfloat16")


def hard(length: int) -> torch.Tensor:
    """``(words, length)``: one letter writes up to each position, another at the next.

    Then all keep. The last word keeps from the start.
    """
    at, t = np.arange(length)[:, None], np.arange(length)[None]
    words = np.where(t < at, 1, 2) * (t <= at)
    return torch.from_numpy(np.vstack([words, 0 * t]))


def right(file: ModelFile, words: torch.Tensor) -> bool:
    """Whether a network says the states of the flip-flop, each without a tie."""
    moves = torch.tensor(FLIP_FLOP.transitions)
    state, states = torch.full((len(words),), FLIP_FLOP.start), []
    for letter in words.T:
        state = moves[letter.long(), state]
        states.append(state)
    logits = Model(file)(words).double()
    best = logits.topk(2).values
    ahead = bool((best[..., 0] > best[..., 1]).all())
    return ahead and bool((logits.argmax(-1) == torch.stack(states, dim=1)).all())


def other_bonuses(length: int) -> Iterator[tuple[float, ModelFile]]:
    """The network with bonuses of 1, 5/4, …, 4 times M; 9/4 is the compiled one."""
    file = krohn.compile("FlipFlop", length, "memory", dtype="bfloat16").file
    for quarters in range(4, 17):
        key = file.tensors[KEY].copy()
        key[np.abs(key) > 1] *= quarters / 9
        changed = replace(file, tensors={**file.tensors, KEY: key})
        yield float(np.abs(key).max()), changed


@pytest.mark.slow
@pytest.mark.parametrize("length", [200])
def test_a_bonus_is_accepted_only_where_it_suffices(length: int) -> None:
    """Positions without a flag must fall below those with one."""
    words, both, index = hard(length), set(), spread((length + 1) // 2, BFLOAT16)
    for bonus, file in other_bonuses(length):
        accepted = prove(file, FLIP_FLOP).verdict == "verified"
        enough = bonus > index[length] - index[1]
        assert right(file, words) == enough
        assert enough or not accepted
        both.add(accepted)
    assert both == {False, True}


def test_what_cannot_be_right_is_raised_by_its_larger_error() -> None:
    true = np.array([[5.0, 1.0, 2.0, 3.0], [0.0, 9.0, 9.0, 9.0]])[::-1].reshape(1, -1)
    error = np.array([[0.5, 0.1, 0.2, 0.3], [9.0, 4.0, 1.0, 1.0]])[::-1].reshape(1, -1)
    hidden, keys = np.array([[False, False, False, True]]), Said(*[np.arange(2)] * 2, 1)
    scores, right = Scores(true, error, 9.0, 0.0), np.ones((1, 4), bool)
    match = np.arange(2) == 1
    found = split_scores_by_flag(scores, right, hidden, keys, match)
    on, off, sure, *others = found
    assert on.tolist() == [[5.0, 1.0, 2.0, -np.inf]]
    assert off.tolist() == [[-np.inf, 9.0 + 3.5, 9.0 + 0.5, -np.inf]]
    assert (sure, *others) == (0.5, 9.0, 9.0)


def test_exponents_are_off_in_proportion_to_the_larger_of_two_scores() -> None:
    """Position 2 is right, 1 and 3 are not: a far score is off by more, and is raised."""
    true, none = np.array([[-64.0, -16.0, 4.0, -16.0]]), np.zeros((1, 4))
    right, hidden = np.arange(4) == [[2]], np.zeros((1, 4), bool)
    scores, one = Scores(true, none, 64.0, 0.25), np.ones(1, bool)
    on, _, *errors = split_scores_by_flag(scores, right, hidden, ONE_KEY, one)
    assert on.tolist() == [[-64.0 + 15, -16.0 + 3, 4.0, -16.0 + 3]]
    assert errors == [1.0, 16.0, 64.0]
