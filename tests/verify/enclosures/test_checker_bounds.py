"""The bounds of the checker beside exact numbers, and beside how large numbers get."""

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
from enclosed_words import enclosed

import krohn
from krohn.compiled_model import CompiledModel
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network.meaning.net import Net
from krohn.network.meaning.rewrites import divide_scores
from krohn.network.modelfile import ModelFile
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.verify.checker.arithmetic import FORMATS, Interval
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Model
from krohn.verify.enclosures.all_words import ranges
from krohn.verify.proof import prove
from krohn.verify.search.find import model_of

PROVED: list[tuple[str, dict[str, Any]]] = [
    ("FlipFlop", {"length": 64}),
    ("C2", {"length": 16, "construction": "counter"}),
    ("S3", {"length": 16}),
    ("Grid4", {"length": 8, "strict": True}),
    ("Grid4", {"length": 16}),
    ("Grid3", {"length": 6, "construction": "corridor"}),
    ("Dyck2,2", {"length": 8, "construction": "dyck", "dtype": "float64"}),
    ("Memory3", {"length": 12, "construction": "memory", "dtype": "bfloat16"}),
    ("FlipFlop", {"length": 16, "strict": True, "dtype": "float16"}),
    ("LCS2,2", {"attention": "sparse"}),
    ("LCS2,2", {"attention": "linear"}),
    ("program:histogram", {"length": 6}),
]
FINE = FORMATS["float64"]._replace(digits=200, unit=2.0**-200, sum_unit=2.0**-200)
"""A format by which nothing is rounded that float64 can tell: exact arithmetic meets what
is assumed of it, and no error is too small to stay."""


@cache
def built(name: str, **how: Any) -> CompiledModel:
    return krohn.compile(name, **how)


def fine_bounds(made: CompiledModel) -> Established:
    """What the checker shows of a network whose numbers are not rounded."""
    file = made.file
    machine = made.machine if file.claim.of_machine else None
    form = FINE._replace(name=file.precision.name)
    proof = prove(file, machine, model=Model(form, file.tensors, file.header))
    assert proof.bounds is not None, proof.reason
    return proof.bounds


def net_of(file: ModelFile) -> Net[FloatArray]:
    return Net.of(file.architecture, file.tensors)


Beside = dict[str, tuple[Interval, FloatArray]]
"""How far exact numbers are from codes, and how far they may be."""


def beside(file: ModelFile, bounds: Established, words: IntArray) -> Beside:
    """Every channel of every snapshot, and the logits."""
    boxes, found = enclosed(net_of(file), words), Beside()
    true = interpret(bounds.program, words)
    for snapshot, stream in enumerate(bounds.streams):
        for name, noise in stream.noise.items():
            channel, values = bounds.program.channels[name], true[name].reshape(-1)
            box = boxes[f"stream.{snapshot}"][..., list(channel.span)]
            code = channel.code(values).reshape(box.shape)
            allowed = noise[channel.place(values)].reshape(*box.shape[:2], 1)
            found[f"{snapshot} {name}"] = abs(box - code), allowed
    assert bounds.logits is not None
    read = np.stack([true[n][:, 1:] for n in bounds.program.outputs], axis=-1)
    rows = (read[:, :, None] == list(bounds.readings)).all(axis=-1).argmax(axis=-1)
    off = abs(boxes["logits"] - bounds.logits.value[rows])
    found["logits"] = off, bounds.logits.total[rows]
    return found


def drawn(file: ModelFile, count: int = 4) -> IntArray:
    """Words of the longest length, or texts of a chain of thought."""
    shape, rng = file.architecture, np.random.default_rng(0)
    longest = shape.positions - 1
    if file.claim.kind != "chain-of-thought":
        return rng.integers(shape.vocabulary - 1, size=(count, longest))
    chain = ChainOfThought.from_wire(file.header["source"])
    low, high = np.array(chain.prompt).T
    prompts = rng.integers(low, high + 1, size=(count, len(low)))
    return chain.continue_prompts(prompts)[:, :longest]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "how"), PROVED)
def test_no_exact_number_is_farther_off_than_shown(
    name: str, how: dict[str, Any]
) -> None:
    made = built(name, **how)
    found = beside(made.file, fine_bounds(made), drawn(made.file))
    for place, (off, allowed) in found.items():
        assert (off.low <= allowed).all(), place
        assert (off.high - off.low).max() < 1e-9, place


@pytest.mark.sample(1)
@pytest.mark.parametrize(("at", "channel"), [(0, "1 stored"), (1, "1 sum")])
def test_a_bound_that_is_too_small_is_found_out(at: int, channel: str) -> None:
    """Exact numbers come as near to what is shown as an eighth of it."""
    name, how = PROVED[at]
    made = built(name, **how)
    off, allowed = beside(made.file, fine_bounds(made), drawn(made.file))[channel]
    assert (off.low > allowed / 8).any()


# How large numbers get.


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "how"), PROVED)
def test_numbers_of_proved_networks_fit(name: str, how: dict[str, Any]) -> None:
    file = built(name, **how).file
    ranges(net_of(file)).check(FORMATS[file.precision.name])


LATE = 13
"""From this position on queries of the changed network are large."""


def with_large_queries(made: ModelFile, weight: float, feature: float) -> ModelFile:
    """A network with one more number in queries, which meets a 0 in all keys."""
    header, tensors = deepcopy(made.header), dict(made.tensors)
    width, at = tensors["embed.token"].shape[1], "blocks.0.attention"
    axes = {"embed.token": (1,), "embed.position": (1,), "unembed.weight": (0,)}
    axes |= {f"{at}.value": (1,), f"{at}.out": (2,)}
    axes |= {f"{at}.query": (1, 2), f"{at}.key": (1, 2)}
    for name, wider in axes.items():
        pads = [(0, int(axis in wider)) for axis in range(tensors[name].ndim)]
        tensors[name] = np.pad(tensors[name], pads)
    tensors[f"{at}.query"][0, width, -1] = weight
    tensors["embed.position"][LATE:, width] = feature
    shape = header["architecture"]
    shape["d_model"] = width + 1
    shape["blocks"][0]["d_qk"] += 1
    header["program"]["features"]["late"] = [width, width + 1]
    return ModelFile(header, tensors, made.precision)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("dtype", "weight", "feature"),
    [("float32", 2.0**63, 1.5 * 2.0**62), ("float16", 2.0**7, 1.5 * 2.0**6)],
)
@pytest.mark.parametrize("by", [1.0, 8.0])
@pytest.mark.parametrize("large", [False, True])
def test_queries_that_are_multiplied_can_overflow(
    dtype: str, weight: float, feature: float, by: float, large: bool
) -> None:
    """As where scores are divided: the checker and the ranges agree on who may be."""
    made = built("FlipFlop", length=20, strict=True, dtype=dtype)
    file = with_large_queries(made.file, weight, feature) if large else made.file
    shown = prove(file, made.machine, model=model_of(file, by))
    found = ranges(divide_scores(net_of(file), by))
    if large and by > 1:
        assert "can overflow" in shown.reason
        with pytest.raises(Refused, match="query can overflow"):
            found.check(FORMATS[dtype])
    else:
        assert shown.verdict == "verified"
        found.check(FORMATS[dtype])
