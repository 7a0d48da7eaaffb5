"""Memories whose weights do not know the length: proved, and right where others fail."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from model_files import place, with_entries

import krohn
from krohn.algebra import zoo
from krohn.compiled_model import CompiledModel
from krohn.compiler import CompileError
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.checker import fetches
from krohn.verify.proof import prove

FLIP_FLOP = zoo.machine("FlipFlop")
QUERY, KEY = "blocks.0.attention.query", "blocks.0.attention.key"


def compiled(
    name: str, length: int, dtype: str = "float32", uniform: bool = True
) -> CompiledModel:
    construction = "memory" if name == "FlipFlop" else "window"
    return krohn.compile(name, length, construction, dtype=dtype, uniform=uniform)


def lengthened(model: CompiledModel, longer: CompiledModel) -> Model:
    """The weights of one model with the positions of a longer one."""
    positions = longer.file.tensors["embed.position"]
    tensors = {**model.file.tensors, "embed.position": positions}
    shape = {**model.file.header["architecture"], "positions": len(positions)}
    claim = {**model.file.header["claim"], "length": len(positions) - 1}
    header = {**model.file.header, "architecture": shape, "claim": claim}
    return Model(replace(model.file, header=header, tensors=tensors))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("FlipFlop", "float64"), ("FFLTracker2", "bfloat16"), ("FFL2", "float16")],
)
def test_only_the_positions_grow_with_the_length(name: str, dtype: str) -> None:
    short = compiled(name, 5, dtype).file.tensors
    long = compiled(name, 60, dtype).file.tensors
    assert short.keys() == long.keys()
    for tensor in short.keys() - {"embed.position"}:
        assert np.array_equal(short[tensor], long[tensor])
    assert np.array_equal(short["embed.position"], long["embed.position"][:6])


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "length", "dtype"),
    [
        *(("FlipFlop", 127, "bfloat16"), ("FlipFlop", 1023, "float16")),
        *(("FlipFlop", 400_000, "float32"), ("FFLTracker2", 127, "bfloat16")),
    ],
)
def test_long_memories_are_proved(name: str, length: int, dtype: str) -> None:
    proof = compiled(name, length, dtype).proof
    assert proof is not None
    assert proof.verdict == "verified"


@pytest.mark.parametrize(("name", "length"), [("FlipFlop", 128), ("FlipFlop", 1024)])
def test_formats_that_cannot_order_positions_are_refused(
    name: str, length: int
) -> None:
    dtype = "bfloat16" if length == 128 else "float16"
    with pytest.raises(CompileError, match=f"^{dtype} cannot order {length}"):
        compiled(name, length, dtype)


@pytest.mark.parametrize("construction", ["scan", "counter", "cascade", "sequential"])
def test_other_constructions_depend_on_the_length(construction: str) -> None:
    machine = {"counter": "C3", "cascade": "Grid4"}.get(construction, "FlipFlop")
    with pytest.raises(CompileError, match="leave uniform= out"):
        krohn.compile(machine, 8, construction, uniform=True)


def test_a_fixed_bonus_forgets_what_lies_further_back() -> None:
    """Write, then keep: the bonus of T = 50 is 64 positions, and 2^6 letters hide it."""
    word = torch.tensor([[2] + [0] * 199])
    longer = compiled("FlipFlop", 200, uniform=False)
    fixed = lengthened(compiled("FlipFlop", 50, uniform=False), longer)
    shown = fixed(word).argmax(-1)[0].tolist()
    assert shown[:64] == [1] * 64
    assert 0 in shown[64:]


def test_a_bonus_that_grows_does_not_forget() -> None:
    """The weights of T = 3 with the positions of T = 700, on sparse and dense words."""
    uniform = lengthened(compiled("FlipFlop", 3), compiled("FlipFlop", 700))
    rng = np.random.default_rng(0)
    rare = np.where(rng.random((20, 700)) < 0.005, rng.integers(1, 3, (20, 700)), 0)
    words = np.concatenate([rare, zoo.sampler("FlipFlop")(rng, 20, 700)])
    words[0], words[1] = 0, 0
    words[0, 0] = words[1, 699] = 2
    expected = FLIP_FLOP.semiautomaton.trace(words, FLIP_FLOP.start)
    assert np.array_equal(uniform(torch.from_numpy(words)).argmax(-1), expected)


def spoilt(tensor: str, index: tuple[int, ...], value: float) -> ModelFile:
    return with_entries(compiled("FlipFlop", 20).file, tensor, index, value)


ONE, INDEX, FLAG = (
    place(compiled("FlipFlop", 20).file, name) for name in ("one", "index", "writes")
)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("tensor", "index", "value"),
    [
        pytest.param(QUERY, (0, ONE, 0), 0.0, id="BOS ties with t"),
        pytest.param(QUERY, (0, INDEX, 0), 0.0, id="the bonus is one position"),
        pytest.param(QUERY, (0, INDEX, 0), 16.0, id="the bonus grows too slowly"),
        pytest.param(QUERY, (0, ONE, 1), 2.0, id="recency is too flat"),
        pytest.param(QUERY, (0, ONE, 1), 64.0, id="recency outgrows the bonus"),
        pytest.param(QUERY, (0, INDEX, 1), 1.0, id="a product of positions"),
        pytest.param(KEY, (0, INDEX, 0), 1.0, id="another product of positions"),
        pytest.param(KEY, (0, INDEX, 1), -1.0, id="the earliest flag"),
        pytest.param(KEY, (0, FLAG, 0), -1.0, id="unflagged positions first"),
        pytest.param(KEY, (0, FLAG, 0), 0.5, id="half a bonus"),
    ],
)
def test_spoilt_heads_are_rejected(
    tensor: str,
    index: tuple[int, ...],
    value: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for walked in (fetches.WALKED, 0):  # all pairs of positions, and Theorem R4
        monkeypatch.setattr(fetches, "WALKED", walked)
        proof = prove(spoilt(tensor, index, value), FLIP_FLOP)
        assert proof.verdict == "undecided"
        assert "head" in proof.reason


def test_a_bonus_for_all_changes_nothing() -> None:
    assert prove(spoilt(KEY, (0, ONE, 0), 1.0), FLIP_FLOP).verdict == "verified"


def test_a_worth_that_grows_is_seen_without_all_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = compiled("FlipFlop", 20).file
    monkeypatch.setattr(fetches, "WALKED", 0)
    assert prove(file, FLIP_FLOP).verdict == "verified"


def test_positions_that_a_format_cannot_tell_apart_are_refused() -> None:
    """bfloat16 has 2^8 angles, and a letter is fetched from one position before."""
    asked = {"construction": "definite", "dtype": "bfloat16", "uniform": True}
    found = krohn.compile("regex:(a|b)*a(a|b)", 254, **asked)
    assert found.summary()["verdict"] == "verified"
    with pytest.raises(CompileError, match="cannot tell 255 positions apart"):
        krohn.compile("regex:(a|b)*a(a|b)", 255, **asked)
