"""Places that heads find by the square of the distance (Feng et al. 2023)."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from model_files import place, stated, with_entries

import krohn
from krohn.compiled_model import CompiledModel
from krohn.compiler import CompileError
from krohn.compiler.attention.places import distance_slope, place_slope
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.verify.proof import prove

KIND = ChainsOfThought()
FOUND = "argument0"


@cache
def quadratic(name: str, **options: Any) -> CompiledModel:
    model = krohn.compile(name, addresses="quadratic", **options)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    return model


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["standard", "sparse"])
def test_no_size_grows_with_the_length(attention: str) -> None:
    """Yang et al. 2024, Proposition 5.4: for a local program all sizes are constant."""
    sizes = []
    for n in (2, 3, 5):
        name = f"LocalEditDistance{n},{n}"
        shape = quadratic(name, attention=attention).file.header["architecture"]
        blocks = [(b["heads"], b["d_qk"], b["d_v"], b["mlp"]) for b in shape["blocks"]]
        sizes.append((shape["d_model"], blocks))
    assert sizes[0] == sizes[1] == sizes[2]


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_every_text_is_right(dtype: str) -> None:
    file = quadratic("EditDistance2,3:letters=2", dtype=dtype).file
    assert KIND.every(file, 8, lambda *_: None).has_passed


def longest_increasing(x: list[int]) -> int:
    best: list[int] = []
    for i, own in enumerate(x):
        best.append(1 + max((best[j] for j in range(i) if x[j] < own), default=0))
    return max(best)


def distance(s: str, t: str) -> int:
    row = [2 * j for j in range(len(t) + 1)]
    for i, a in enumerate(s, 1):
        last, row[0] = row[0], 2 * i
        for j, b in enumerate(t, 1):
            here = min(row[j] + 2, row[j - 1] + 2, last + 3 * (a != b))
            last, row[j] = row[j], here
    return row[-1]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("attention", ["standard", "sparse"])
def test_rollouts_give_the_answers_of_other_solvers(dtype: str, attention: str) -> None:
    rng, options = np.random.default_rng(7), {"dtype": dtype, "attention": attention}
    lists = [rng.integers(0, 10, 7).tolist() for _ in range(6)]
    texts = quadratic("LIS7", **options).write([" ".join(map(str, x)) for x in lists])
    assert [t.answer for t in texts] == [str(longest_increasing(x)) for x in lists]
    for name in ("EditDistance5,6", "LocalEditDistance4,4"):
        model = quadratic(name, **options)
        letters = 26 if name.startswith("E") else 4
        first, second = (5, 6) if name.startswith("E") else (4, 4)
        some = "abcdefghijklmnopqrstuvwxyz" if letters == 26 else "0123"
        pairs = [
            tuple("".join(rng.choice(list(some), size=n)) for n in (first, second))
            for _ in range(6)
        ]
        prompts = [f"{' '.join(s)} | {' '.join(t)}" for s, t in pairs]
        answers = [text.answer for text in model.write(prompts)]
        assert answers == [str(distance(s, t)) for s, t in pairs]


DAMAGES = {
    "a position comes too early": ("position", "index", -1.0),
    "a position comes too late": ("position", "index", 1.0),
    "a square is too small": ("position", "square", -1.0),
    "a square is too large": ("position", "square", 1.0),
    "the distance counts half": ("query", "place0", 0.5),
    "the square counts half": ("key", "square", 0.5),
    "nothing is preferred": ("query", "", 0.0),
    "the scale is too small": ("query", "", 1 / 16),
    "the scale is turned round": ("query", "", -1.0),
}


def damaged(file: ModelFile, part: str, name: str, by: float) -> ModelFile:
    if part == "position":
        at = len(file.tensors["embed.position"]) // 2, place(file, name)
        return with_entries(file, "embed.position", at, lambda old: old + by)
    rows = place(file, name) if name else slice(None)
    at = stated(file, FOUND)["head"], rows
    return with_entries(file, f"blocks.0.attention.{part}", at, lambda old: old * by)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_addresses_are_refused(name: str) -> None:
    wrong = damaged(quadratic("LIS5").file, *DAMAGES[name])
    assert prove(wrong, None).verdict != "verified"


def test_what_lifts_all_scores_of_a_row_is_free() -> None:
    """It is in none of the differences: a little of it changes nothing."""
    right = quadratic("LIS5").file
    assert prove(damaged(right, "position", "lift", 1.0), None).verdict == "verified"
    assert (
        prove(damaged(right, "position", "lift", 2.0**24), None).verdict != "verified"
    )


LONGEST = {"float16": 44, "bfloat16": 32, "float32": 4094}


@pytest.mark.parametrize("dtype", LONGEST)
def test_longer_texts_than_a_format_can_hold_are_refused(dtype: str) -> None:
    precision, longest = PRECISIONS[dtype], LONGEST[dtype]
    assert place_slope(longest, precision, 9) > 0
    with pytest.raises(CompileError, match=f"{dtype} holds the squares of {longest} "):
        place_slope(longest + 1, precision, 9)
    with pytest.raises(
        CompileError, match=r"apart, only up to \d+ by this head; use a shorter"
    ):
        distance_slope(longest + 1, precision, 9)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_longest_text_of_a_format_is_proved(dtype: str) -> None:
    """The digits of bfloat16 end before its squares do, but not those of the text here."""
    name = {"float16": "EditDistance5,5:letters=2", "bfloat16": "LIS6:most=3"}[dtype]
    shape = quadratic(name, dtype=dtype).file.header["architecture"]
    assert LONGEST[dtype] // 2 < shape["positions"] <= LONGEST[dtype] + 1
    with pytest.raises(CompileError, match=r"say .* or addresses='binary'"):
        quadratic("EditDistance6,6:letters=2", dtype=dtype)


def test_scores_as_float32_computes_them_prefer_the_right_place() -> None:
    """At the longest length, and with parts of scores added up in any order."""
    length, rng = LONGEST["float32"], np.random.default_rng(0)
    slope, middle = place_slope(length, PRECISIONS["float32"]), length // 2
    t = rng.integers(1, length + 1, size=64)
    p = rng.integers(0, t + 1)
    j = torch.arange(length + 1, dtype=torch.float32) - middle
    at = torch.from_numpy(p - middle).float()[:, None]
    terms = [2 * slope * at * j, -slope * j**2, -slope * at**2 + 0 * j]
    for order in ((0, 1, 2), (2, 1, 0), (0, 2, 1)):
        scores = (terms[order[0]] + terms[order[1]]) + terms[order[2]]
        scores[torch.arange(length + 1) > torch.from_numpy(t)[:, None]] = -torch.inf
        assert scores.argmax(dim=1).tolist() == p.tolist()
        assert scores.softmax(dim=1).max(dim=1).values.min() > 1 - 1e-6


def test_addresses_are_for_what_has_some() -> None:
    with pytest.raises(CompileError, match="linear heads add up blocks"):
        krohn.compile("LIS4", attention="linear", addresses="quadratic")
    with pytest.raises(CompileError, match="binary or quadratic, not 'cubic'"):
        krohn.compile("LIS4", addresses="cubic")
    with pytest.raises(krohn.KrohnError, match="looks at no address"):
        krohn.compile("C2", 4, addresses="quadratic")
