"""What the small checker hands on: every sublayer, and bounds that the worst word meets."""

import json
from functools import cache
from itertools import product
from math import exp

import pytest
import torch

import krohn
from krohn.instruments.attack.residual_stream import (
    sources,
    values,
)
from krohn.instruments.attack.rounding import network
from krohn.instruments.attack.scores import heads
from krohn.network.modelfile import ModelFile, pack
from krohn.program import LookBack
from krohn.verify.checker.established import Established
from krohn.verify.checker.network import recheck
from krohn.verify.proof import steps
from krohn.verify.search.find import find

MODELS = [
    ("Memory3", 5, "memory", "float64"),
    ("C2", 6, "counter", "bfloat16"),
    ("Grid4", 5, "corridor", "float64"),
    ("C3", 5, "scan", "float32"),
    ("Dyck2,2", 5, "dyck", "float32"),
]
EACH = pytest.mark.parametrize(("name", "length", "how", "dtype"), MODELS)


@cache
def shown(
    name: str, length: int, how: str, dtype: str
) -> tuple[ModelFile, dict[str, object], Established]:
    file = krohn.compile(name, length, how, dtype=dtype).file
    data = pack(file.header, file.tensors)
    evidence = find(data)
    found = recheck(data, json.dumps(evidence).encode())
    return file, evidence, found


@pytest.mark.sample(1)
@EACH
def test_a_record_tells_every_bound_of_every_sublayer(
    name: str, length: int, how: str, dtype: str
) -> None:
    file, evidence, found = shown(name, length, how, dtype)
    told = steps(found, evidence)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert len(told) == 3 + 2 * len(file.header["architecture"]["blocks"])
    program, embedding, *sublayers, last = told
    assert program["program"]["readings"] == len(found.readings)
    assert program["program"]["states"] > 0
    assert (embedding["sublayer"], last["margin"]) == ("embedding", found.margin)
    channels = {c["channel"]: c for step in sublayers for c in step["channels"]}
    stored = [c for c in file.header["program"]["channels"] if "dims" in c]
    later = {c["name"]: c for c in stored if c["snapshots"][0]}
    assert channels.keys() == later.keys()
    for name, stated in later.items():
        at = found.streams[stated["snapshots"][0]].noise[name]
        assert channels[name]["noise"] == at.max()
        looks = {"gap", "leak", "score_error"} <= channels[name].keys()
        assert looks == (stated["snapshots"][0] % 2 == 1) == (name in found.looks)


@pytest.mark.sample(1)
@EACH
def test_the_worst_word_meets_the_gap(
    name: str, length: int, how: str, dtype: str
) -> None:
    """The right score less the logarithm of all other weights, over all words."""
    file, _, found = shown(name, length, how, dtype)
    letters = len(file.header["machine"]["letters"])
    words = torch.tensor(list(product(range(letters), repeat=length)))
    true = values(found.program, words)
    runtime = network(file)
    seen = runtime.snapshots(words)
    future = torch.ones((length + 1,) * 2, dtype=torch.bool).triu(1)
    for head in heads(runtime.net, found):
        x = seen[head.snapshot].double()
        query, key = x @ head.query.double(), x @ head.key.double()
        scores = (query @ key.transpose(1, 2)).masked_fill(future, -torch.inf)
        look = found.looks[head.channel]
        if not isinstance(head.operation, LookBack):
            assert look.gap == 0
            continue
        at = sources(head.operation, true)[..., None]
        others = scores.scatter(2, at, -torch.inf).logsumexp(dim=2)
        least = float((scores.gather(2, at)[..., 0] - others).min())
        assert look.gap - 2 * look.error <= least
        assert exp(-least) <= look.leak
        if how in ("memory", "scan"):  # elsewhere not all flags go together
            assert least == pytest.approx(look.gap, abs=2 * look.error + 1e-9)
