"""Sums over blocks of positions, by heads of linear attention: derived, proved, damaged."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from model_files import with_tensors

from krohn.compiler import CompileError, positions
from krohn.compiler.attention import sums
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.statement import (
    Argument,
    ChainOfThought,
    Step,
)
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.transformer import Transformer
from krohn.program import (
    BlockSum,
    Map,
    Operation,
    Position,
    PrefixSum,
    Program,
    Shift,
    Token,
    table as table_of,
)
from krohn.program.expressions import argument, number
from krohn.program.interpreter import evaluate_operation, interpret
from krohn.verify.checker.block_sum import FEATURE_ERROR, SILENT_ERROR
from krohn.verify.proof import prove

KIND = ChainsOfThought()
PROMPT, SIZE = 48, 4


def chain(size: int = SIZE, prompt: int = PROMPT) -> ChainOfThought:
    """After bits come the sums of all blocks of the text, also of what was written."""
    steps = list[Step]()
    for b in range(prompt // size + (size > 1)):
        places = range(b * size + 1, min((b + 1) * size, prompt + b) + 1)
        reads = [Argument(place, 0) for place in places]
        reads += [Argument(0, 0)] * (size - len(reads))
        steps.append(Step(None, 0, tuple(reads)))
    return ChainOfThought(
        name="sums",
        tokens=tuple(map(str, range(MOST + 1))),
        contents=tuple(range(MOST + 1)),
        numbers=MOST + 1,
        prompt=((0, 1),) * prompt,
        rules=(sum(map(argument, range(size)), number(0)),),
        steps=tuple(steps),
        answer=prompt + len(steps),
    )


MOST = 64


def program(size: int = SIZE, prompt: int = PROMPT) -> Program:
    source = chain(size, prompt)
    length = source.length - 1
    block = [0] * prompt + list(range(1, len(source.steps) + 1))
    contents = {(c,): c for c in range(MOST + 1)} | {(MOST + 1,): 0}
    operations: dict[str, Operation] = {
        "token": Token(),
        "content": Map(table_of(contents), ("token",)),
        "block": Position(tuple(block[: length + 1])),
        "sum": BlockSum("content", "block", size),
    }
    decode = {(n,): n for n in range(MOST + 1)}
    return Program(source.tokens, MOST + 1, length, operations, ("sum",), decode)


def made(size: int = SIZE, dtype: str = "float32", prompt: int = PROMPT) -> ModelFile:
    options = Options(PRECISIONS[dtype])
    found = optimise(program(size, prompt), options)
    layout, features = arrange(found, options)
    network = lower(layout, features, False)
    built = CompiledNetwork("sums", network, describe(layout, network), None)
    claim = {"length": found.length}
    return KIND.file(chain(size, prompt), built, claim, options)


@pytest.mark.parametrize("size", [1, 2, 4, 16])
def test_it_means_the_sum_over_the_block_that_is_asked_for(size: int) -> None:
    rng = np.random.default_rng(0)
    words, block = rng.integers(0, 3, (20, 50)), rng.integers(0, 50 // size + 3, 51)
    operation = BlockSum("x", "block", size)
    values = np.pad(words, ((0, 0), (1, 0)))
    found = evaluate_operation(operation, [values, np.tile(block, (20, 1))], values)
    for word, row in zip(values, found, strict=True):
        for t in range(51):
            first = (block[t] - 1) * size + 1
            inside = [j for j in range(1, t + 1) if 0 <= j - first < size and block[t]]
            assert row[t] == word[inside].sum()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("size", "dtype"), [(1, "float64"), (4, "float32"), (8, "float64")]
)
def test_linear_heads_are_proved(size: int, dtype: str) -> None:
    file = made(size, dtype, 16 if size == 1 else PROMPT)
    assert file.header["architecture"]["blocks"][0]["attention"] == {"kind": "linear"}
    proof = prove(file, None)
    assert (proof.verdict, proof.reason) == ("verified", "")
    assert KIND.sample(file, 20, 0, lambda *_: None).has_passed


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def streams(file: ModelFile, words: torch.Tensor) -> torch.Tensor:
    """``(batch, T + 1)``: what the network holds of the sums."""
    model = Model(file)
    place, net = model.places()["sum"], model.network
    assert isinstance(net, Transformer)
    return net.snapshots(words)[place.snapshots[0]][..., place.dims[0]].double()


def bound(file: ModelFile) -> float:
    bounds = prove(file, None).bounds
    assert bounds is not None
    return max(float(s.noise["sum"].max()) for s in bounds.streams[1:])


@pytest.mark.slow
def test_what_is_measured_is_within_what_is_proved() -> None:
    for dtype in ("float32", "float64"):
        file, source = made(8, dtype), program(8)
        words = torch.randint(MOST, (300, source.length), generator=seeded())
        right = torch.from_numpy(interpret(source, words.numpy())["sum"])
        measured = (streams(file, words) - right).abs().max()
        assert measured <= bound(file) < (0.3 if dtype == "float32" else 1e-8)
        net = Model(file).network
        assert isinstance(net, Transformer)
        cache, logits = net.start(300), []
        for letters in words.T:
            now, cache = net.step(letters, cache)
            logits.append(now)
        whole = net(words)
        assert (
            torch.stack(logits, dim=1) - whole
        ).abs().max() < 1e-3 * whole.abs().max()


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", [12.0, 14.0, 20.0])
def test_the_bound_holds_where_weights_are_soft(
    scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At μ = 12 the positions outside of a block weigh enough to be measured."""
    for module in (sums, positions):
        monkeypatch.setattr(module, "feature_scale", lambda precision: scale)
    file, source = made(8, "float64"), program(8)
    words = torch.randint(MOST + 1, (300, source.length), generator=seeded())
    words[0], words[1] = MOST, MOST * (torch.arange(source.length) >= 40)
    right = torch.from_numpy(interpret(source, words.numpy())["sum"])
    measured = (streams(file, words) - right).abs().max()
    assert 1e-9 < measured <= bound(file) < 0.5


def test_other_weights_are_not_proved() -> None:
    file = made()
    for name in ("query", "key"):
        at = f"blocks.0.attention.{name}"
        soft = with_tensors(file, {at: file.tensors[at] / 16})
        assert prove(soft, None).verdict != "verified"
        turned = with_tensors(file, {at: np.roll(file.tensors[at], 1, axis=2)})
        assert prove(turned, None).verdict != "verified"
    out = "blocks.0.attention.out"
    twice = with_tensors(file, {out: file.tensors[out] * 2})
    assert prove(twice, None).verdict != "verified"
    wide = dict(file.tensors)
    for name in ("query", "key"):
        at = f"blocks.0.attention.{name}"
        wide[at] = np.concatenate([wide[at], np.zeros_like(wide[at][..., :1])], axis=2)
    shape = json.loads(json.dumps(file.header["architecture"]))
    shape["blocks"][0]["d_qk"] += 1
    padded = replace(file, tensors=wide, header={**file.header, "architecture": shape})
    assert prove(padded, None).verdict != "verified"
    assert not KIND.sample(padded, 20, 0, lambda *_: None).has_passed


def test_a_count_that_is_filled_up_wrongly_is_refused() -> None:
    """Where a block is not full yet, the weight of BOS is what is missing."""
    file = made(8)
    table = file.tensors["embed.position"].copy()
    filled = (table < 0) & (table > -3)
    assert filled.any()
    table[filled] += 0.5
    proof = prove(with_tensors(file, {"embed.position": table}), None)
    assert proof.verdict != "verified"


def test_a_block_of_another_kind_is_refused() -> None:
    file = made()
    shape = json.loads(json.dumps(file.header["architecture"]))
    del shape["blocks"][0]["attention"]
    softmax = replace(file, header={**file.header, "architecture": shape})
    proof = prove(softmax, None)
    assert proof.verdict != "verified"
    assert "no rule for 'block-sum' where attention is softmax" in proof.reason


def test_linear_heads_stand_in_blocks_of_their_own() -> None:
    """Sums of two sizes, one of them of a sum, beside heads of other kinds."""
    base = program(4, 16)
    halves = tuple(-(-t // 2) for t in range(base.length + 1))
    operations: dict[str, Operation] = {
        **base.operations,
        "back": Shift("content", 1),
        "half": Position(halves),
        "pairs": BlockSum("content", "half", 2),
        "twice": BlockSum("pairs", "half", 2),
        "all": PrefixSum("content"),
    }
    outputs = ("sum", "back", "twice", "all")
    mixed = replace(base, operations=operations, outputs=outputs, decode={}, states=1)
    options = Options(PRECISIONS["float64"])
    layout, features = arrange(optimise(mixed, options), options)
    network = lower(layout, features, False)
    kinds = [
        block.get("attention", {}).get("kind", "softmax")
        for block in network.architecture["blocks"]
    ]
    assert sorted(kinds) == ["linear", "linear", "softmax"]


@pytest.mark.parametrize(
    ("size", "dtype", "match"),
    [(3, "float32", "no power of two"), (4, "bfloat16", "wider dtype")],
)
def test_what_cannot_be_told_apart_is_refused(
    size: int, dtype: str, match: str
) -> None:
    with pytest.raises(CompileError, match=match):
        made(size, dtype, 12)


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
    assert off[true <= unit / 2].max() <= SILENT_ERROR
    assert (found >= 0).all()
