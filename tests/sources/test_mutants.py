"""500 changed files of sequence functions: none is verified that says something else."""

import copy
import json
import re
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.network import ModelFileError
from krohn.network.architecture import expected_shapes
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.sources.sequence_functions import Realised
from krohn.sources.sequence_functions.catalogue import FUNCTIONS
from krohn.verify.proof import prove

LENGTH, EACH = 4, 25


def row(said: dict[str, Any], random: Random) -> None:
    """Another value of a table."""
    tables = [c["rows"] for c in said["channels"] if "rows" in c]
    if tables:
        chosen = random.choice(random.choice(tables))
        chosen[-1] = max(0, chosen[-1] + random.choice((-1, 1)))


def wire(said: dict[str, Any], random: Random) -> None:
    """A channel reads another one."""
    channel = random.choice(said["channels"][1:])
    others = [c["name"] for c in said["channels"]]
    keys = [k for k in ("source", "where", "key", "query") if k in channel]
    if keys:
        channel[random.choice(keys)] = random.choice(others)
    elif channel.get("inputs"):
        at = random.randrange(len(channel["inputs"]))
        channel["inputs"][at] = random.choice(others)


def operation(said: dict[str, Any], random: Random) -> None:
    """Another operation of the same fields."""
    pairs = [("latest-match", "match-anywhere"), ("at", "at-anywhere")]
    pairs += [("final", "prefix-sum"), ("prefix-sum", "final"), ("latest", "earliest")]
    names = dict(pairs) | {b: a for a, b in pairs[:2]}
    found = [c for c in said["channels"] if c["op"] in names]
    for channel in found[:1]:
        channel["op"] = names[channel["op"]]


def given(said: dict[str, Any], random: Random) -> None:
    """A position, or a distance, is another one."""
    found = [c for c in said["channels"] if "values" in c or "by" in c]
    for channel in found[:1]:
        if "by" in channel:
            channel["by"] += 1
        else:
            channel["values"][random.randrange(1, LENGTH + 1)] += 1


def decode(said: dict[str, Any], random: Random) -> None:
    """Two outputs are exchanged."""
    one, other = random.sample(said["decode"], 2)
    one[1], other[1] = other[1], one[1]


SAID = (row, wire, operation, given, decode)


def changed(file: ModelFile, random: Random) -> ModelFile:
    """A file with one thing changed."""
    header = json.loads(json.dumps(copy.deepcopy(file.header)))
    tensors = {n: t.copy() for n, t in file.tensors.items()}
    kind = random.randrange(4)
    if kind == 0:
        random.choice(SAID)(header["source"]["program"], random)
    elif kind == 1:
        random.choice(SAID)(header["program"], random)
    elif kind == 2:
        blocks = [b for b in header["architecture"]["blocks"] if b["heads"]]
        block = random.choice(blocks)
        told = block.get("causal", [True] * block["heads"])
        at = random.randrange(len(told))
        block["causal"] = [each != (i == at) for i, each in enumerate(told)]
    else:
        name = random.choice(list(tensors))
        flat = tensors[name].reshape(-1)
        used = np.flatnonzero(flat)
        at = random.choice(used.tolist() or [0])
        factors = (0.0, -1.0, 0.5, 1.25, 2.0, float("nan"))
        flat[at] = flat[at] * random.choice(factors) + random.choice((0, 0, 0.5))
    return ModelFile(header, tensors, file.precision)


def is_right(file: ModelFile) -> bool:
    """Whether the network says what the source of its file says, on all words."""
    model = Model(file)
    source = Realised.from_wire(file.header["source"], LENGTH)
    for n in range(1, LENGTH + 1):
        words = np.array(list(product(range(len(model.letters)), repeat=n)))
        logits = model(torch.from_numpy(words)).numpy()
        right = source.answers(words)
        there = right >= 0
        best = np.take_along_axis(logits, right.clip(0)[..., None], axis=2)
        if not there.all() or ((logits >= best).sum(axis=2) != 1).any():
            return False
    return True


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_wrong_file_is_verified(name: str) -> None:
    random, function = Random(name), FUNCTIONS[name]()
    file = krohn.compile(function, LENGTH).file
    assert prove(file, None).verdict == "verified"
    assert is_right(file)
    refused = 0
    for _ in range(EACH):
        mutant = changed(file, random)
        proof = prove(mutant, None)
        if proof.verdict != "verified":
            refused += 1
            continue
        expected_shapes(mutant.header["architecture"])
        assert is_right(mutant)
    assert refused > EACH // 3


def test_a_source_that_decodes_nothing_is_refused() -> None:
    file = krohn.compile(FUNCTIONS["parity"](), LENGTH).file
    file.header["source"]["program"]["decode"].pop()
    assert "no class" in prove(file, None).reason


def test_what_is_no_program_is_refused() -> None:
    file = krohn.compile(FUNCTIONS["parity"](), LENGTH).file
    file.header["source"]["kind"] = "dream"
    assert "no rule" in prove(file, None).reason
    with pytest.raises((Refused, ModelFileError)):
        Realised.from_wire(file.header["source"], LENGTH)


@pytest.mark.parametrize("what", ["letters", "classes"])
@pytest.mark.parametrize("names", [["0", "0"], [1, "1"], [["0"], ["1"]], "01"])
def test_what_has_no_name_of_its_own_is_refused(what: str, names: Any) -> None:
    """A letter or an answer that could be either of two says nothing."""
    file = krohn.compile(FUNCTIONS["parity"](), LENGTH).file
    file.header["source"][what] = names
    assert re.search("have no names|have the same name", prove(file, None).reason)
