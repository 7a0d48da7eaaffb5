"""Sizes that mean harm: nothing is made that the file does not hold."""

import json

import pytest
import safetensors.numpy
from hostile import EACH, LENGTH, Json, Judge, good, nothing, pack, put

import krohn


@pytest.mark.parametrize("depth", [500, 50_000])
def test_deep_nesting(judge: Judge, depth: int) -> None:
    file = good("transformer")
    text = json.dumps({"format": "krohn-model", "version": 1, **file.header})
    nested = "[" * depth + "]" * depth
    packed = {n: file.precision.store(t) for n, t in file.tensors.items()}
    text = text.replace('"evidence": ', f'"odd": {nested}, "evidence": ')
    said = judge(safetensors.numpy.save(packed, {"krohn": text}))
    assert said.verdict in ("verified", "refused")


def test_blocks_that_hold_nothing(judge: Judge) -> None:
    file = krohn.compile("C2", LENGTH, "counter", strict=True).file
    empty = {"heads": 0, "d_qk": 0, "d_v": 0, "mlp": []}
    for count in (100, 10**4):
        listed = [*file.header["architecture"]["blocks"], *[empty] * count]
        said = judge(pack(file, put("architecture", "blocks", value=listed)))
        assert said.verdict in ("undecided", "refused")


@pytest.mark.sample(5)
@EACH
@pytest.mark.parametrize("size", [2**31, 2**40, 10**30, True, 1.0, "8", None])
def test_sizes_that_no_tensor_has(judge: Judge, kind: str, size: Json) -> None:
    for key in ("vocabulary", "outputs"):
        said = judge(pack(good(kind), put("architecture", key, value=size)))
        assert said.verdict == "refused"
        assert "damaged" in said.reason


def test_tensors_that_are_announced_and_not_there(judge: Judge) -> None:
    data = pack(good("transformer"), nothing)
    size = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + size])
    outer["embed.position"]["shape"] = [2**40, 2**20]
    outer["embed.position"]["data_offsets"][1] = 2**62
    text = json.dumps(outer).encode()
    said = judge(len(text).to_bytes(8, "little") + text + data[8 + size :])
    assert said.verdict == "refused"
    assert "damaged" in said.reason
