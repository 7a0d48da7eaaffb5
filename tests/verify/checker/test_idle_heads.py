"""Heads and units of zeros add 0: a network is proved with them as without (Lemma L6)."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from random_networks import named

import krohn
from krohn.network import modelfile
from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.net import MATRICES, Net
from krohn.network.meaning.rewrites import pad, widen
from krohn.network.modelfile import ModelFile
from krohn.program import strict_json
from krohn.program.architectures.transformer import Transformer
from krohn.verify.checker.network import recheck
from krohn.verify.proof import prove
from krohn.verify.search.find import find

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "FlipFlop": ("FlipFlop", {"length": 64, "strict": True}),
    "C2": ("C2", {"length": 32, "strict": True}),
    "S3": ("S3", {"length": 12, "strict": True}),
    "usual S3": ("S3", {"length": 12}),
    "S5": ("S5", {"length": 32, "strict": True}),
    "Grid9": ("Grid9", {"length": 32, "strict": True}),
    "GeLUs": ("C3", {"length": 9, "strict": True, "activation": "gelu"}),
    "sparse": ("LCS2,2", {"attention": "sparse", "strict": True}),
    "heads that see the whole word": ("program:reverse", {"length": 6}),
}


@cache
def network(case: str) -> ModelFile:
    """A network with more of everything: two heads, a column of each, a unit."""
    source, how = CASES[case]
    file = krohn.compile(source, proof=False, **how).file
    blocks = file.architecture.blocks
    heads = max(block.heads for block in blocks) + 2
    width = max(max(block.d_qk, block.d_v) for block in blocks) + 1
    units = max((n for block in blocks for n in block.mlp), default=0) + 1
    net = widen(Net.of(file.architecture, file.tensors), heads, width, units)
    told = list[dict[str, Any]]()
    for said, block in zip(
        file.header["architecture"]["blocks"], net.blocks, strict=True
    ):
        runs = [layer.runs for layer in block.layers[:-1]]
        told.append({**said, "heads": heads, "d_qk": width, "d_v": width})
        told[-1]["mlp"] = [sum(count for _, count in layer) for layer in runs]
        told[-1]["activation"] = [[list(run) for run in layer] for layer in runs]
        assert block.heads is not None
        told[-1]["causal"] = [sight == "causal" for sight in block.heads.sights]
    architecture = {**file.header["architecture"], "blocks": told}
    header = {
        key: file.header[key] for key in file.header.keys() - {"version", "digest"}
    }
    told = {**header, "architecture": architecture}
    return ModelFile(told, named(net, Transformer.of(architecture)), file.precision)


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES)
def test_a_network_with_idle_heads_is_proved(case: str) -> None:
    """As a file, by the checker alone."""
    file = network(case)
    data = modelfile.pack(file.header, file.tensors)
    found = recheck(data, strict_json.canonical(find(data)).encode())
    assert found.margin > 0


HEAD = "a head serves no channel"
SMALL = 2.0**-126
DAMAGE = [
    *((name, value, HEAD) for name in MATRICES for value in (SMALL, 2.0**127)),
    ("out", 2.0**-130, "subnormal"),
    ("out", np.nan, "not finite"),
    ("value", np.inf, "not finite"),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("name", "number", "reason"), DAMAGE)
@pytest.mark.parametrize("case", ["FlipFlop", "C2"])
def test_one_number_in_an_idle_head_is_refused(
    case: str, name: str, number: float, reason: str
) -> None:
    """Be its value never written, or nothing written of its value: no rule is about it."""
    file = network(case)
    for block in range(len(file.architecture.blocks)):
        at = f"blocks.{block}.attention.{name}"
        tensor = file.tensors[at].copy()
        tensor[-1, 0, 0] = number
        damaged = ModelFile(file.header, {**file.tensors, at: tensor}, file.precision)
        proof = prove(damaged, None)
        assert (proof.verdict, reason in proof.reason) == ("undecided", True)


def test_heads_with_features_are_not_idle() -> None:
    """A score of zeros is the number of columns there, which overflows."""
    file = krohn.compile("LCS2,2", attention="linear", proof=False).file
    assert prove(file, None).verdict == "verified"
    tensors, header = dict(file.tensors), file.header
    (b,) = (
        i
        for i, block in enumerate(file.architecture.blocks)
        if block.heads and block.attention.kind == "linear"
    )
    for name in MATRICES:
        tensor = tensors[f"blocks.{b}.attention.{name}"]
        more = (len(tensor) + 1, *tensor.shape[1:])
        tensors[f"blocks.{b}.attention.{name}"] = pad(tensor, more)
    blocks = [dict(block) for block in header["architecture"]["blocks"]]
    blocks[b]["heads"] += 1
    architecture = {**header["architecture"], "blocks": blocks}
    wide = ModelFile({**header, "architecture": architecture}, tensors, file.precision)
    assert prove(wide, None).reason == HEAD


def test_idle_heads_with_features_say_nan() -> None:
    block = {"heads": 1, "d_qk": 70_000, "d_v": 1, "mlp": []}
    sizes = {"d_model": 2, "vocabulary": 3, "positions": 4, "outputs": 2}
    for kind, finite in (("softmax", True), ("linear", False)):
        blocks = [{**block, "attention": {"kind": kind}}]
        shape = Transformer.of({**sizes, "blocks": blocks, "strict": True})
        zeros = {name: np.zeros(s, np.float16) for name, s in shape.shapes.items()}
        with np.errstate(all="ignore"):
            said = whole(Net.of(shape, zeros), Arrays(), np.array([[0, 1]]))
        assert bool(np.isfinite(said).all()) == finite
