"""The tables in the MLPs of compiled files hold for all inputs near their codes."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn.gadgets import largest_deviation
from krohn.instruments.gadgets.pieces import RATIONALS, trim
from krohn.instruments.smt.gadgets import decide
from krohn.instruments.smt.steps import gadgets
from krohn.network.meaning.forward import feed
from krohn.network.meaning.net import Affine
from krohn.network.meaning.rationals import Rationals, fractions
from krohn.network.modelfile import ModelFile
from krohn.verify.errors import Rejected

SMALL, QUARTER = Fraction(1, 64), Fraction(1, 4)
CASES = [
    ("C3", "scan", False),
    ("C3", "scan", True),
    ("C3", "counter", False),
    ("C3", "counter", True),
    ("FFLTracker2", "window", False),
]


@cache
def compiled(name: str, construction: str, strict: bool) -> ModelFile:
    return krohn.compile(name, 4, construction, strict=strict, proof=False).file


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_every_table_of_a_compiled_file_holds(case: tuple[str, str, bool]) -> None:
    found = [decide(g, SMALL, QUARTER) for g in gadgets(compiled(*case))]
    assert found
    assert {f.verdict for f in found} == {"verified"}


def test_every_channel_that_an_mlp_writes_is_a_gadget() -> None:
    file = compiled("C3", "scan", False)
    stated = file.header["program"]["channels"]
    written = {c["name"] for c in stated if c.get("snapshots", [1])[0] in (2, 4)}
    assert {g.name for g in gadgets(file)} == written


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_what_is_trimmed_does_not_bear_on_the_dimensions(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = [5, *draw.integers(1, 5, size=draw.integers(1, 4)), 5]
    runs = [*((("relu", b),) for b in sizes[1:-1]), ()]
    layers = [
        Affine(sparse(draw, (a, b)), sparse(draw, (b,)), of)
        for (a, b), of in zip(pairwise(sizes), runs, strict=True)
    ]
    mask, x = fractions(draw.integers(0, 2, 5).astype(float)), sparse(draw, (5,))
    dims = sorted(draw.choice(5, size=2, replace=False).tolist())
    small, used = trim(layers, dims, mask)
    assert list(feed(RATIONALS, small, x[used])) == list(
        feed(RATIONALS, layers, x)[dims]
    )
    assert {d for d in dims if mask[d]} <= set(used.tolist())


def sparse(draw: np.random.Generator, shape: tuple[int, ...]) -> Rationals:
    return fractions(draw.integers(-2, 3, size=shape) * draw.integers(0, 2, shape) / 2)


def test_a_damaged_weight_breaks_a_table() -> None:
    file = compiled("C3", "counter", False)
    name = "blocks.0.mlp.1.weight"
    weight = file.tensors[name].copy()
    row, column = map(int, np.argwhere(weight)[-1])
    weight[row, column] += 1.0
    damaged = replace(file, tensors={**file.tensors, name: weight})
    found = [decide(g, SMALL, QUARTER) for g in gadgets(damaged)]
    assert "refuted" in {f.verdict for f in found}


def test_noise_of_half_a_step_is_too_much() -> None:
    (count,) = gadgets(compiled("C3", "counter", False))
    assert decide(count, Fraction(1, 2), QUARTER).verdict == "refuted"


@pytest.mark.sample(1)
@pytest.mark.parametrize("noise", [SMALL, Fraction(1, 2)])
def test_pieces_in_fractions_say_the_same(noise: Fraction) -> None:
    (count,) = gadgets(compiled("C3", "counter", False))
    worst = largest_deviation(count.with_noise(noise)).error
    assert decide(count, noise, worst).verdict == "verified"
    assert not worst or decide(count, noise, worst / 2).verdict == "refuted"


def test_tables_of_too_many_values_are_not_decided() -> None:
    made = krohn.compile("PermReset3", 4, "scan", proof=False)
    with pytest.raises(Rejected, match="joint values"):
        list(gadgets(made.file))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda said: said["channels"][1].pop("domain"), "cannot be read"),
        (lambda said: said["channels"][-1].update(dims=[0, 1]), "overlap|fit"),
        (lambda said: said["channels"].pop(1), "cannot be read"),
    ],
)
def test_programs_that_make_no_sense_have_no_tables(
    change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    file = compiled("C3", "counter", False)
    header = deepcopy(file.header)
    change(header["program"])
    with pytest.raises(Rejected, match=reason):
        list(gadgets(replace(file, header=header)))


def test_an_rnn_holds_no_tables() -> None:
    made = krohn.compile("C2", arch="rnn", proof=False)
    with pytest.raises(Rejected, match="Transformers"):
        list(gadgets(made.file))
