"""Sums over the block before, by heads of linear attention: derived, proved, attacked."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from pointer_programs import lowered, with_tensors

from algebra.automaton import Automaton, Output
from algebra.semiautomaton import Semiautomaton
from compiler.errors import CompileError
from network.model import Model
from network.modelfile import ModelFile
from network.transformer import Transformer
from program import (
    BlockSum,
    Map,
    Operation,
    PrefixSum,
    Program,
    Shift,
    Token,
    table,
)
from program.interpreter import interpret
from verify.attack.campaign import Extent, attack
from verify.checker.attention.block_sum import FEATURE_ERROR
from verify.proof import prove
from verify.testing.counterexample import CheckError
from verify.testing.exhaustive import exhaustive

LENGTH, SIZE = 64, 4


def machine(size: int = SIZE) -> Automaton:
    """How many ``b`` the last full block has, beside how far the next one is."""
    start = (0, 0, 0)
    found, todo, rows = {start: 0}, [start], dict[tuple[int, ...], list[int]]()
    while todo:
        far, total, before = now = todo.pop()
        rows[now] = []
        for bit in (0, 1):
            then = (
                (1 % size, bit, total)
                if far == 0
                else ((far + 1) % size, total + bit, before)
            )
            if then not in found:
                found[then] = len(found)
                todo.append(then)
            rows[now].append(found[then])
    states = sorted(found, key=found.__getitem__)
    transitions = np.array([rows[state] for state in states]).T
    names = tuple(" ".join(map(str, state)) for state in states)
    shown = np.array([before for _, _, before in states])
    output = Output("states", shown, tuple(map(str, range(size + 1))))
    return Automaton(Semiautomaton(transitions, ("a", "b"), names), 0, output)


def program(size: int = SIZE, length: int = LENGTH) -> Program:
    bit = table({(0,): 0, (1,): 1, (2,): 0})
    operations: dict[str, Operation] = {
        "token": Token(),
        "bit": Map(bit, ("token",)),
        "sum": BlockSum("bit", size),
    }
    decode = {(n,): n for n in range(size + 1)}
    return Program(("a", "b"), size + 1, length, operations, ("sum",), decode)


def saying(file: ModelFile) -> ModelFile:
    """The file, which claims outputs instead of states."""
    claim = {**file.header["claim"], "shows": "outputs"}
    header = json.loads(json.dumps({**file.header, "claim": claim}))
    return replace(file, header=header)


def made(size: int = SIZE, dtype: str = "float32", length: int = LENGTH) -> ModelFile:
    return saying(lowered(program(size, length), machine(size), dtype))


@pytest.mark.parametrize("size", [1, 2, 4, 16])
def test_it_means_the_sum_over_the_block_before(size: int) -> None:
    words = np.random.default_rng(0).integers(0, 2, (20, 50))
    found = interpret(program(size, 50), words)["sum"]
    for word, row in zip(words, found, strict=True):
        for t in range(1, 51):
            end = (t - 1) // size * size
            assert row[t] == word[max(end - size, 0) : end].sum()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 4, 8])
def test_linear_heads_are_proved(size: int, dtype: str) -> None:
    file, said = made(size, dtype), machine(size)
    assert file.header["architecture"]["blocks"][0]["attention"] == {"kind": "linear"}
    proof = prove(file, said)
    assert (proof.verdict, proof.reason) == ("verified", "")
    assert exhaustive(Model(file), said, 9).passed


def test_what_is_measured_is_within_what_is_proved() -> None:
    for dtype in ("float32", "float64"):
        file = made(8, dtype)
        proof = prove(file, machine(8))
        assert proof.bounds is not None
        shown = max(float(s.noise["sum"].max()) for s in proof.bounds.streams[1:])
        words = torch.randint(2, (300, LENGTH), generator=torch.manual_seed(0))
        right = interpret(program(8), words.numpy())["sum"]
        model = Model(file)
        place = model.places()["sum"]
        net = model.network
        assert isinstance(net, Transformer)
        stream = net.snapshots(words)[place.snapshots[0]][..., place.dims[0]]
        measured = (stream.double() - torch.from_numpy(right)).abs().max()
        assert measured <= shown < (1e-2 if dtype == "float32" else 1e-10)
        cache, logits = net.start(300), []
        for letters in words.T:
            now, cache = net.step(letters, cache)
            logits.append(now)
        recurrent = torch.stack(logits, dim=1)
        assert torch.equal(recurrent.argmax(-1), torch.from_numpy(right[:, 1:]))
        assert torch.equal(net(words).argmax(-1), torch.from_numpy(right[:, 1:]))


@pytest.mark.parametrize("scale", [7.0, 9.0, 12.0, 20.0])
def test_the_bound_holds_where_weights_are_soft(scale: float) -> None:
    """At μ = 7 a row of 64 positions has a hundredth of its weight astray."""
    file, most = made(8, "float64"), 64.0
    names = [f"blocks.0.attention.{name}" for name in ("query", "key")]
    soft = with_tensors(file, {n: file.tensors[n] * scale / most for n in names})
    assert np.abs(soft.tensors[names[0]]).max() == scale
    bounds = prove(soft, machine(8)).bounds
    assert bounds is not None
    shown = max(float(s.noise["sum"].max()) for s in bounds.streams[1:])
    words = torch.randint(2, (300, LENGTH), generator=torch.manual_seed(0))
    words[0], words[1], words[2, :-8] = 1, torch.arange(LENGTH) >= 56, 1
    right = torch.from_numpy(interpret(program(8), words.numpy())["sum"])
    model = Model(soft)
    place, net = model.places()["sum"], model.network
    assert isinstance(net, Transformer)
    stream = net.snapshots(words)[place.snapshots[0]][..., place.dims[0]]
    assert 0 < (stream - right).abs().max() <= shown < 0.5


def test_other_weights_are_not_proved() -> None:
    file, said = made(), machine()
    for name in ("query", "key"):
        at = f"blocks.0.attention.{name}"
        soft = with_tensors(file, {at: file.tensors[at] / 16})
        assert prove(soft, said).verdict != "verified"
        turned = with_tensors(file, {at: np.roll(file.tensors[at], 1, axis=2)})
        assert prove(turned, said).verdict != "verified"
    out = "blocks.0.attention.out"
    assert (
        prove(with_tensors(file, {out: file.tensors[out] * 2}), said).verdict
        != "verified"
    )
    wide = dict(file.tensors)
    for name in ("query", "key"):
        at = f"blocks.0.attention.{name}"
        wide[at] = np.concatenate([wide[at], np.zeros_like(wide[at][..., :1])], axis=2)
    shape = json.loads(json.dumps(file.header["architecture"]))
    shape["blocks"][0]["d_qk"] += 1
    padded = replace(file, tensors=wide, header={**file.header, "architecture": shape})
    assert prove(padded, said).verdict != "verified"
    assert not exhaustive(Model(padded), said, 9).passed


def test_a_block_of_another_kind_is_refused() -> None:
    file = made()
    shape = json.loads(json.dumps(file.header["architecture"]))
    del shape["blocks"][0]["attention"]
    softmax = replace(file, header={**file.header, "architecture": shape})
    proof = prove(softmax, machine())
    assert proof.verdict != "verified"
    assert "no rule for 'block-sum' where attention is softmax" in proof.reason


def test_linear_heads_stand_in_blocks_of_their_own() -> None:
    """The sum before, its neighbour, and sums of two sizes, one of them of the sum."""
    base = program(4, 24)
    operations: dict[str, Operation] = {
        **base.operations,
        "back": Shift("bit", 1),
        "pairs": BlockSum("bit", 2),
        "twice": BlockSum("sum", 2),
        "all": PrefixSum("bit"),
    }
    outputs = ("sum", "back", "pairs", "twice", "all")
    every = (range(5), range(2), range(3), range(9), range(25))
    decode = dict.fromkeys(product(*every), 0)
    mixed = replace(
        base, operations=operations, outputs=outputs, decode=decode, states=1
    )
    one = Automaton(Semiautomaton(np.zeros((2, 1), np.int64), ("a", "b"), ("any",)), 0)
    file = lowered(mixed, one, "float64")
    kinds = [
        block.get("attention", {}).get("kind", "softmax")
        for block in file.header["architecture"]["blocks"]
    ]
    assert sorted(kinds) == ["linear", "linear", "softmax"]
    words = np.random.default_rng(0).integers(0, 2, (20, 24))
    right = interpret(mixed, words)
    model = Model(file)
    for name in outputs:
        found = model.read(name, torch.from_numpy(words)).numpy()
        assert np.array_equal(found, right[name]), name


@pytest.mark.parametrize(
    ("size", "dtype", "length", "match"),
    [
        (3, "float32", 9, "no power of two"),
        (4, "bfloat16", 9, "wider dtype"),
        (4, "float32", 60_000, "shorter length"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(
    size: int, dtype: str, length: int, match: str
) -> None:
    with pytest.raises(CompileError, match=match):
        lowered(program(size, length), machine(size), dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_features_of_torch_are_as_assumed(dtype: torch.dtype) -> None:
    """Assumption A13."""
    x = torch.cat([torch.linspace(-110, 30, 100_003), -torch.logspace(-9, 1, 50_000)])
    x = x.double().to(dtype)
    found = torch.nn.functional.elu(x) + 1
    wide = x.double().numpy().astype(np.longdouble)
    true = np.where(wide > 0, wide + 1, np.exp(np.minimum(wide, 0)))
    unit = torch.finfo(dtype).eps / 2
    off = np.abs(found.double().numpy() - true) / np.maximum(true, 1) / unit
    assert off.max() <= FEATURE_ERROR
    assert (found >= 0).all()


def test_there_is_no_attack_yet() -> None:
    file = made()
    with pytest.raises(CheckError, match="linear attention"):
        attack(file, machine(), prove(file, machine()), Extent(positions=10))
