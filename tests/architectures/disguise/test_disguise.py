"""Disguised networks: they compute the same, are proved, and no damaged one is."""

import contextlib
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.compiled_model import CompiledModel
from krohn.compiler import CompileError
from krohn.network.modelfile import ModelFile, pack
from krohn.network.transformer import Transformer
from krohn.open_model import Model
from krohn.program.errors import Refused
from krohn.verify.checker import model_file as checked
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.network import recheck, strip_disguise
from krohn.verify.proof import prove
from krohn.verify.search.find import for_file

LENGTH, STRENGTH = 8, 1e-9
DISGUISES = [
    *("rotate", "dense", "squeeze", "squeeze,dense", "noise", "dense,noise"),
    *("dense,beside", "squeeze,beside,noise"),
]
MACHINES = ["FlipFlop", "C2", "D6", "regex:(ab|ba)*c"]


@cache
def made(
    name: str, kinds: str, dtype: str | None = None, length: int = LENGTH
) -> CompiledModel:
    """A network that is proved."""
    how: dict[str, Any] = {
        "dtype": dtype,
        "seed": 5,
        "strength": STRENGTH if "noise" in kinds else None,
    }
    return krohn.compile(name, length, disguise=kinds, **how)


def wrong(file: ModelFile, count: int = 2000) -> int:
    """At how many words by chance an answer is wrong."""
    told = file.header["machine"]
    moves, rng = np.array(told["transitions"]), np.random.default_rng(2)
    words = rng.integers(len(moves), size=(count, LENGTH))
    state = np.full(count, told["states"].index(told["start"]))
    states = np.array([state := moves[a, state] for a in words.T]).T
    said = Model(file)(torch.from_numpy(words)).argmax(-1).numpy()
    return int((said != states).any(axis=1).sum())


@pytest.mark.sample(1)
@pytest.mark.parametrize("kinds", DISGUISES)
@pytest.mark.parametrize("name", MACHINES)
def test_it_computes_the_machine_and_is_proved(name: str, kinds: str) -> None:
    found = made(name, kinds)
    assert found.proof is not None
    assert found.proof.verdict == "verified"
    assert wrong(found.file) == 0
    data = pack(found.file.header, found.file.tensors)
    assert recheck(data, _evidence(data, found)).margin > 0.5


def _evidence(data: bytes, found: CompiledModel) -> bytes:
    from krohn.program.strict_json import canonical

    assert found.proof is not None
    return canonical(for_file(data, found.proof.told)).encode()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "length", "kinds"),
    [
        *(("FlipFlop", 8, "dense"), ("C2", 8, "dense"), ("C4", 32, "dense")),
        *(("D6", 32, "dense"), ("S4", 32, "dense"), ("FFL2", 64, "dense")),
        *(("C2", 32, "dense,beside"), ("S4", 32, "dense,beside")),
    ],
)
def test_it_is_proved_in_float32(name: str, length: int, kinds: str) -> None:
    """No margin of words that are run is below the one that is proved of all words."""
    found = made(name, kinds, "float32", length)
    assert found.file.precision.name == "float32"
    assert found.proof is not None
    told = found.file.header["machine"]
    moves, rng = np.array(told["transitions"]), np.random.default_rng(2)
    words = rng.integers(len(moves), size=(500, length))
    state = np.full(len(words), told["states"].index(told["start"]))
    states = np.array([state := moves[a, state] for a in words.T]).T
    logits = Model(found.file)(torch.from_numpy(words)).double()
    right = torch.from_numpy(states)[..., None]
    ahead = logits.gather(2, right) - logits.scatter(2, right, -torch.inf)
    assert float(ahead.min()) >= found.proof.told["margin"]


@pytest.mark.slow
def test_in_float32_two_groups_of_axes_hardly_mix() -> None:
    """A row of directions has most of its length in one group, and zeros nowhere."""
    file = made("D6", "dense", "float32", 32).file
    rows = file.tensors["disguise.directions"].astype(np.float64)
    assert (rows != 0).all()
    size = np.abs(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
    small = size < 2.0**-5  # entries of the other group are about 2^-8
    assert 0.2 < small.mean() < 0.8
    assert (size**2 * small).sum(axis=1).max() < 2.0**-8
    assert size.max() < 0.95  # and no axis is a variable


def test_no_weight_is_zero_and_no_axis_is_a_variable() -> None:
    file = made("D6", "dense").file
    run = [n for n in file.tensors if n.startswith(("embed", "blocks"))]
    for name in run:  # units that erase have no bias
        assert name.endswith("0.bias") or (file.tensors[name] != 0).all()
    directions = file.tensors["disguise.directions"]
    size = np.abs(directions) / np.linalg.norm(directions, axis=1, keepdims=True)
    assert size.max() < 0.95


def hidden(file: ModelFile) -> float:
    """Of the variance of the stream, the share in directions that mean nothing."""
    network = Model(file).network
    assert isinstance(network, Transformer)
    letters = len(file.header["machine"]["letters"])
    words = np.random.default_rng(4).integers(letters, size=(200, LENGTH))
    stream = network.snapshots(torch.from_numpy(words))[-1].double().numpy()
    rows = file.tensors["disguise.directions"].astype(np.float64)
    plain = file.header["architecture"]["disguise"]["d_model"]
    means_nothing = (stream @ np.linalg.pinv(rows))[..., plain:] @ rows[plain:]
    return float(means_nothing.var(axis=(0, 1)).sum() / stream.var(axis=(0, 1)).sum())


@pytest.mark.slow
def test_in_float64_more_of_the_stream_means_nothing() -> None:
    assert hidden(made("D6", "dense").file) > 2 * hidden(
        made("D6", "dense", "float32").file
    )


@pytest.mark.slow
def test_the_seed_decides_all_weights() -> None:
    kinds = "dense,beside"
    one, two = (krohn.compile("C2", 4, disguise=kinds, seed=s) for s in (1, 2))
    again = krohn.compile("C2", 4, disguise=kinds, seed=1)
    files = [pack(x.file.header, x.file.tensors) for x in (one, again, two)]
    assert files[0] == files[1] != files[2]


@pytest.mark.sample(1)
@pytest.mark.parametrize("kinds", ["rotate", "dense,beside", "squeeze,dense"])
@pytest.mark.parametrize("name", ["FlipFlop", "D6"])
def test_variables_are_read_and_changed_along_directions(name: str, kinds: str) -> None:
    hidden, plain = (
        made(name, kinds).model,
        krohn.compile(name, LENGTH, strict=True).model,
    )
    own = hidden.places()  # the plain network in a disguise may be laid out otherwise
    assert own == {
        n: replace(p, head=own[n].head, dims=own[n].dims)
        for n, p in plain.places().items()
    }
    rng = np.random.default_rng(3)
    words = torch.from_numpy(rng.integers(len(plain.letters), size=(20, LENGTH)))
    for variable, place in plain.places().items():
        assert (hidden.read(words, variable) == plain.read(words, variable)).all()
        word = [plain.letters[a] for a in words[0].tolist()]
        for value in plain.read(words, variable).unique().tolist():
            try:
                wanted = plain.patch(word, variable, 4, value)
            except krohn.KrohnError:
                continue  # it is never that after BOS
            found = hidden.patch(word, variable, 4, value)
            assert found.agrees is wanted.agrees is not False
            assert found.predicted == wanted.predicted
        if place.head is not None:
            assert hidden.ablate(word, variable).agrees is not False


@pytest.mark.slow
def test_what_cannot_be_disguised_is_refused() -> None:
    with pytest.raises(CompileError, match="takes rotate, dense, squeeze, beside, no"):
        krohn.compile("C2", 4, disguise="mirror")
    with pytest.raises(krohn.KrohnError, match="float64 or float32"):
        krohn.compile("C2", 4, disguise="rotate", dtype="bfloat16")
    with pytest.raises(krohn.KrohnError, match="from 0 up to 1"):
        krohn.compile("C2", 4, disguise="noise", strength=-1.0)
    with pytest.raises(krohn.KrohnError, match="is for"):
        krohn.compile("C2", 4, strength=1e-3)
    with pytest.raises(krohn.KrohnError, match="Transformers"):
        krohn.compile("C2", arch="rnn", disguise="rotate")


# ------------------------------------------------------------------- mutants


@pytest.mark.sample(2)
@pytest.mark.parametrize("part", ["channels", "features"])
@pytest.mark.parametrize("value", [None, [None], [[]], {}, {"a": 1}])
def test_a_damaged_program_is_refused_or_not_proved(part: str, value: object) -> None:
    """What does not say where variables live ends in a message, and in no traceback."""
    file = made("FlipFlop", "rotate").file
    program = {**file.header["program"], part: value}
    damaged = replace(file, header={**file.header, "program": program})
    with contextlib.suppress(krohn.KrohnError, krohn.ModelFileError):
        assert krohn.verify(damaged).verdict == "undecided"


def test_a_wrong_plain_network_does_not_help() -> None:
    """The same weights of another machine beside a plain network that is right."""
    own, other = made("FlipFlop", "rotate").file, made("FlipFlop", "rotate").file
    mixed = {
        n: t[:, ::-1].copy() if n == "unembed.weight" else t
        for n, t in other.tensors.items()
    }
    mixed["unembed.bias"] = mixed["unembed.bias"][::-1].copy()
    file = replace(own, tensors=mixed)
    assert wrong(file) > 0
    assert prove(file, made("FlipFlop", "rotate").machine).verdict != "verified"
    mixed["plain.unembed.weight"] = mixed["plain.unembed.weight"][:, ::-1].copy()
    mixed["plain.unembed.bias"] = mixed["plain.unembed.bias"][::-1].copy()
    both = replace(own, tensors=mixed)
    assert prove(both, made("FlipFlop", "rotate").machine).verdict != "verified"


def test_evidence_of_another_file_is_refused() -> None:
    found, other = made("FlipFlop", "rotate"), made("FlipFlop", "dense")
    data = pack(found.file.header, found.file.tensors)
    with pytest.raises(Refused):
        recheck(data, _evidence(pack(other.file.header, other.file.tensors), other))


def refused(found: CompiledModel, changed: dict[str, Any], reason: str) -> None:
    """Refuse the network with other tensors, for a reason."""
    data = pack(found.file.header, {**found.file.tensors, **changed})
    with pytest.raises(Refused, match=reason):
        recheck(data, _evidence(data, found))


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_weights_of_heads_that_mean_nothing_are_numbers(dtype: str) -> None:
    """By A7 the exponent of a score of 1e24 may be 1e8, and its weight infinite."""
    found, name = made("FlipFlop", "dense", dtype), "blocks.0.attention.query"
    told, query = (
        found.file.header["architecture"]["disguise"],
        found.file.tensors[name],
    )
    query = query.copy()
    query[told["heads"][0].index(0)] *= 2.0**80
    refused(found, {name: query}, "the exponent of a score can be far off")


def test_weights_of_plain_heads_are_numbers() -> None:
    found, name = made_plain("FlipFlop", "float32"), "blocks.0.attention.query"
    query = found.file.tensors[name] * 2.0**40
    refused(found, {name: query}, "the exponent of a score can be far off")


def made_plain(name: str, dtype: str) -> CompiledModel:
    """A network without a disguise that is proved."""
    return krohn.compile(name, LENGTH, dtype=dtype)


def test_no_unit_overflows_if_its_bias_is_added_first() -> None:
    """Nothing lies in the direction that it reads, but for terms that add up to 0."""
    found, at = made("FlipFlop", "dense", "float32"), "blocks.0.mlp"
    told, tensors = found.file.header["architecture"]["disguise"], found.file.tensors
    unit, directions = told["units"][0].index(0), tensors["disguise.directions"]
    names = [f"{at}.0.weight", f"{at}.0.bias", f"{at}.1.weight"]
    weight, bias, out = (tensors[name].copy() for name in names)
    nothing = np.linalg.svd(directions)[2][len(directions)]
    largest = np.finfo(np.float32).max
    weight[:, unit], bias[unit], out[unit] = nothing * largest / 100, largest * 0.97, 0
    changed = dict(zip(names, (weight, bias, out), strict=True))
    refused(found, changed, "a sum of the stream can overflow")


def test_no_earlier_version_has_disguised_networks() -> None:
    found = made("FlipFlop", "rotate")
    tensors = {n: np.asarray(t, np.float64) for n, t in found.file.tensors.items()}
    model = checked.Model(
        FORMATS["float64"], tensors, {**found.file.header, "version": 5}
    )
    with pytest.raises(Refused, match="of this version has no such network"):
        strip_disguise(model)
