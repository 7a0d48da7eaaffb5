"""A kind of attention that the project does not have, told in one place.

A class says who sees whom, and an entry of `WEIGH` how much is taken. From then on every
engine runs it; who has to know more refuses it by name (`tests/test_new_flag.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from consumers import CONSUMERS, NAMED, Given, changed
from enclosed_words import enclosed
from every_engine import RUNS
from many_digits import many_digits, near
from random_networks import RandomNetwork, random_transformer

from krohn.algebra.errors import KrohnError
from krohn.network.meaning.arrays import Arrays, points, whole
from krohn.network.meaning.attention import SCORES, WEIGH, View, Weights
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import look
from krohn.network.meaning.net import Heads, Net
from krohn.network.meaning.rationals import IdealRationals, exact as exact_net
from krohn.program.architectures.transformer import Block
from krohn.program.attention import Attention, Linear
from krohn.program.domains import FloatArray
from krohn.verify.proof import Proof

RUNNING = {"load", "runtime", "runtime by numpy", "rollout", "enclosure"}
RUNNING |= {"onnx", "huggingface"}
"""Those who run it once it is told, or carry it to where it runs."""


@dataclass(frozen=True)
class Toy(Linear):
    """Squares of scores above 0, of positions at odd distances, are added up.

    It is no linear attention, though its class says so: another class is another kind.
    """

    kind: Literal["toy"] = "toy"  # type: ignore[assignment]

    def sees(self, i: Any, j: Any) -> Any:
        """Every other position before."""
        return (j <= i) & ((i - j) % 2 > 0)


def weigh(o: Engine, heads: Heads[Any], q: Any, k: Any, view: View) -> Weights:
    """Their weights."""
    scores = o.relu(o.contract(SCORES, q, k))
    return o.keep_seen(scores * scores, view.visibility), None


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    field = Block.__dataclass_fields__["attention"]
    monkeypatch.setattr(field, "type", Attention | Toy)
    monkeypatch.setitem(WEIGH, Toy, weigh)


def networks(**how: Any) -> Iterator[RandomNetwork]:
    """Networks with such heads, and with others beside them."""
    how = {"kinds": ("toy", "softmax"), "units": ("relu", "sine"), "longest": 7} | how
    for seed in range(12):
        given = random_transformer(seed, **how)
        if any(b["heads"] and "attention" in b for b in given.architecture["blocks"]):
            yield given


def by_definition(net: Net[FloatArray], b: int, x: FloatArray) -> FloatArray:
    """What the heads of a block add to a stream ``(batch, n, d)``, one by one."""
    heads, added = net.blocks[b].heads, np.zeros_like(x)
    assert heads is not None
    four = zip(heads.query, heads.key, heads.value, heads.out, strict=True)
    for query, key, value, out in four:
        for w, i, j in np.ndindex(*x.shape[:2], x.shape[1]):
            score = (x[w, i] @ query) @ (x[w, j] @ key)
            if i > j and (i - j) % 2 and score > 0:
                added[w, i] += score**2 * (x[w, j] @ value) @ out
    return added


def test_heads_do_what_is_told() -> None:
    for given in networks():
        x = np.random.default_rng(0).normal(size=(2, 7, given.shape.d_model))
        for b, block in enumerate(given.net.blocks):
            if block.heads is not None and isinstance(block.heads.kind, Toy):
                view = View(Arrays(), block.heads, points(np.zeros((2, 7), int)))
                added, _ = look(Arrays(), view, x)
                np.testing.assert_allclose(added, by_definition(given.net, b, x))


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", RUNS)
def test_all_runs_are_those_of_many_digits(name: str) -> None:
    ran = 0
    for given in networks():
        if (said := RUNS[name](given)) is not None:
            right = near(many_digits(given.net, given.words))
            np.testing.assert_allclose(said, right, rtol=1e-11, atol=1e-11)
            ran += 1
    assert ran >= 4


@pytest.mark.slow
def test_fractions_are_those_of_many_digits() -> None:
    """No rounding is left, but that of forty digits."""
    ran = 0
    how: Any = {"kinds": ("toy",), "units": ("relu",), "longest": 4}
    for given in networks(dtype="float16", **how):
        net = exact_net(given.net, given.words.shape[1])
        said = near(whole(net, IdealRationals(), given.words))
        right = near(many_digits(given.net, given.words))
        np.testing.assert_allclose(said, right, rtol=2.0**-50, atol=1e-30)
        ran += 1
    assert ran >= 4


@pytest.mark.slow
def test_intervals_hold_those_of_many_digits() -> None:
    for given in networks():
        found = enclosed(given.net, given.words)["logits"]
        right = many_digits(given.net, given.words)
        assert ((found.low <= right) & (right <= found.high)).all()
        assert (found.high - found.low <= 1e-9).all()


@pytest.fixture
def given(tmp_path: Path) -> Given:
    """A file with such a head."""
    return changed(tmp_path, lambda block: block.update(attention={"kind": "toy"}))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CONSUMERS)
def test_who_has_to_know_more_refuses_it(name: str, given: Given) -> None:
    try:
        answer = CONSUMERS[name](given)
    except KrohnError as error:
        answer = error
    if name in RUNNING:
        assert not isinstance(answer, KrohnError), answer
        return
    assert isinstance(answer, KrohnError | str | Proof), answer
    assert not isinstance(answer, Proof) or answer.verdict == "undecided"
    assert NAMED.search(str(answer)), answer


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CONSUMERS)
def test_without_its_weights_everybody_refuses_it(
    name: str, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(WEIGH, Toy)
    try:
        answer = CONSUMERS[name](given)
    except KrohnError as error:
        answer = error
    assert NAMED.search(str(answer)), answer
