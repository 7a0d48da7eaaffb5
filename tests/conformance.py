"""Networks of every kind that is proved, damaged and judged in one way.

A kind contributes a row of `NETWORKS`: a source, how it is compiled, and what is run. It
needs no oracle of its own: a damaged file claims what is shown of it, and `krohn.verify`
holds what it says against the reference of its source.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import cycle, islice
from random import Random
from typing import Any, NamedTuple

import numpy as np
from damaged_tensors import mutant
from every_kind import BESIDE, SOURCES, compiled as of_kind
from trained_networks import NETWORKS as TRAINED, file_of

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.foreign import own_machine
from krohn.network.modelfile import ModelFile, pack
from krohn.program.errors import Refused
from krohn.verify.checker.network import recheck
from krohn.verify.proof import FAILURES, prove, shown_of
from krohn.verify.search.find import for_file

Json = Any
Place = tuple[str | int, ...]
LARGEST = 1e300
"""An error that any network may claim."""
ODD: tuple[Json, ...] = (
    -1,
    0,
    1,
    2,
    7,
    2**40,
    0.5,
    1.0,
    True,
    None,
    [],
    {},
    "",
    "token",
)
CLAIMED = ("architecture", "claim", "machine", "program", "source")


class Network(NamedTuple):
    """The example of a kind.

    Attributes:
        source: What is compiled.
        how: The options of `krohn.compile`.
        run: Which inputs are run, as `krohn.verify` is asked for them.
    """

    source: str
    how: Mapping[str, Any]
    run: Mapping[str, int]


def _row(source: str, run: Mapping[str, int] | None = None, **how: Any) -> Network:
    return Network(source, how, run or {"sample": 30})


ALL4, ALL6 = {"exhaustive": 4}, {"exhaustive": 6}
NETWORKS: dict[str, Network] = {
    "counter": _row("C3", ALL4, length=4, construction="counter"),
    "sines": _row("C3", ALL4, length=4, construction="counter", activation="sine"),
    "strict GeLUs": _row("C2", ALL4, length=4, activation="gelu", strict=True),
    "memory": _row("FlipFlop", ALL6, length=6, construction="memory", dtype="bfloat16"),
    "parity": _row("Parity8@2,3,7", {"exhaustive": 8}, length=8),
    "pointers": _row("regex:a*b*", ALL4, length=4, construction="departures"),
    "RNN": _row("Grid4", ALL6, arch="rnn"),
    "LSTM": _row("S3", ALL4, arch="lstm"),
    "GRU": _row("FlipFlop", ALL6, arch="gru"),
    "rounding": _row(
        "C3", length=12, arch="ssm", construction="rounding", dtype="bfloat16"
    ),
    "signs": _row("FlipFlop", length=12, arch="ssm", construction="signs"),
    "selective": _row("FlipFlop", ALL6, arch="ssm", construction="selective"),
    "pruned": _row("C2", ALL6, arch="rnn", construction="pruned"),
    "pruned Transformer": _row("C2", ALL4, length=4, construction="pruned"),
    "generator": _row("Dyck2,2", ALL6),
    **{kind: _row(name, **how) for kind, (name, how, _) in SOURCES.items()},
    "rewriting": _row("Sorting3", length=24),
    "beliefs of an RNN": _row(BESIDE[0], **BESIDE[1]),
    "windows": _row("RanHMM2,2@3", length=6, within=0.5),
    "points": _row("Cyclic-HARD2,2@1", length=6),
    "normalised": _row("RanHMM3,2@1", length=6),
    "heads that multiply": _row(
        "RanHMM2,2@3", length=6, construction="attention-products"
    ),
    "Kalman filter": _row("RanLDS2@1", arch="rnn"),
    "kernel attention": _row("Exp8:swap=3", arch="transformer"),
    "trained RNN": _row("Tomita1-rnn8"),
    "C-RASP": _row("crasp:Majority", ALL6, length=6),
    "sparse rewriting": _row("Sorting3", length=24, attention="sparse"),
    "smooth target": _row("Sine3,1.5:points=32,length=4,knots=16"),
    "lookup": _row("GoldenMean:2given1"),
    "gridworld": _row("Grid3", ALL4, length=4, construction="gridworld"),
    "stacks": _row("Dyck2,2", ALL4, length=4, construction="dyck"),
    "scan": _row("Grid4", ALL4, length=4, construction="scan", dtype="float16"),
    "cascade": _row("Grid3", ALL4, length=4, construction="cascade"),
    "sequential": _row("S3", {"exhaustive": 3}, length=3, construction="sequential"),
    "memory of any length": _row("FlipFlop", ALL6, length=6, uniform=True),
    "disguise": _row("C2", ALL4, length=4, disguise="dense,beside"),
    "disguise in float32": _row(
        "C2", ALL4, length=4, disguise="dense", dtype="float32"
    ),
    "sums of linear heads": _row("LCS2,2:letters=2", ALL6, attention="linear"),
    "slots of sparse heads": _row("EditDistance2,2:letters=2", attention="sparse"),
    "negative numbers": _row("NeedlemanWunsch2,1"),
    "RNN of a linear system": _row("MatMul2,2@3", length=4, arch="rnn"),
    "program that sorts": _row("program:sort", ALL4, length=4),
    "GeLU gridworld": _row(
        "Grid3", ALL4, length=4, construction="gridworld", activation="gelu"
    ),
}


@cache
def compiled(name: str) -> CompiledModel:
    """The network of a row, proved."""
    source, how, _ = NETWORKS[name]
    if name in SOURCES:
        return of_kind(name)
    if name == "generator":
        return krohn.compile_generator(source, 6)
    if name == "trained RNN":
        file, machine = file_of(source), TRAINED[source][0]
        return CompiledModel(file, "trained", prove(file, machine), 0.0)
    return krohn.compile(source, **how)


def machine_in(file: ModelFile) -> Automaton | None:
    """The machine that a file is about; None if it is about another source."""
    return own_machine(file) if "machine" in file.header else None


def verdict(file: ModelFile) -> str:
    """The verdict of the proof of a file."""
    return prove(file, machine_in(file)).verdict


def claiming(file: ModelFile, **claim: Json) -> ModelFile:
    """The network of a file under another claim."""
    said = {**file.header["claim"], **claim}
    return replace(file, header={**file.header, "claim": said})


def judged(file: ModelFile) -> ModelFile | None:
    """The file, its claim as much as is shown of it; None if nothing is."""
    if file.header["claim"].get("kind") != "within":
        return file if verdict(file) == "verified" else None
    wide = claiming(file, error=LARGEST)
    wide.header["claim"].pop("model_error", None)
    try:
        return claiming(wide, error=float(shown_of(wide).error))  # type: ignore[attr-defined]
    except (Refused, *FAILURES):
        return None


def is_wrong(file: ModelFile, run: Mapping[str, int]) -> bool:
    """Whether a run finds an answer that the file does not claim."""
    with np.errstate(all="ignore"):
        return krohn.verify(file, proof=False, **run).verdict == "refuted"  # type: ignore[arg-type]


def survivors(file: ModelFile, run: Mapping[str, int], seeds: range) -> int:
    """How many damaged networks something is shown of; none says what is not shown."""
    kept = 0
    for seed in seeds:
        damaged = judged(mutant(file, seed))
        if damaged is not None:
            kept += 1
            assert not is_wrong(damaged, run), seed
    return kept


def places(said: Json, at: Place = ()) -> Iterator[Place]:
    """Where anything is in a JSON value."""
    if at:
        yield at
    if isinstance(said, dict | list):
        for key, each in said.items() if isinstance(said, dict) else enumerate(said):
            yield from places(each, (*at, key))


def found(said: Json, at: Place) -> Json:
    """The value at a place."""
    for key in at:
        said = said[key]
    return said


def edited(said: Json, at: Place, value: Json) -> Json:
    """A JSON value with another one at a place, or without it if it is ``...``."""
    said = copy.deepcopy(said)
    holder = found(said, at[:-1])
    if value is ...:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    return said


def forgeries(file: ModelFile, count: int, seed: int = 0) -> Iterator[ModelFile]:
    """The network under headers in which one place says something else.

    Places differ by their names: one of a long list is as likely as one that stands alone.
    """
    header = json.loads(json.dumps(file.header))
    random, named = Random(seed), dict[Place, list[Place]]()
    for at in places(header):
        if at[0] in CLAIMED:
            named.setdefault(tuple(k for k in at if type(k) is str), []).append(at)
    alike = random.sample(list(named.values()), len(named))
    for each in islice(cycle(alike), count):
        at = random.choice(each)
        old = found(header, at)
        near: list[Json] = [old + 1, old - 1] * 6 if type(old) in (int, float) else []
        near += [not old] * 24 if type(old) is bool else []
        near += [found(header, random.choice(random.choice(alike))) for _ in range(6)]
        yield replace(
            file, header=edited(header, at, random.choice([..., *ODD, *near]))
        )


def bounds(told: Json) -> Iterator[tuple[Place, float]]:
    """Where evidence states bounds, each with one that is not shown."""
    for at in places(
        {k: told[k] for k in ("error", "margin", "noise", "leak") if k in told}
    ):
        if type(value := found(told, at)) is float:
            beyond = 1 + 2.0**-12 if at[0] == "margin" else 1 - 2.0**-12
            yield at, value * beyond if value else -1.0


def evidence(model: CompiledModel) -> Json:
    """The content of its evidence file."""
    assert model.proof is not None
    data = pack(model.file.header, model.file.tensors)
    return json.loads(json.dumps(for_file(data, model.proof.told)))


def damaged_evidence(told: Json, count: int, seed: int = 0) -> Iterator[Json]:
    """Evidence in which one place says something else, or nothing."""
    random, known = Random(seed), list(places(told))
    for _ in range(count):
        at = random.choice(known)
        old, others = found(told, at), [..., *ODD]
        if type(old) in (int, float):
            others += [old + 1, old - 1, -old, old * 2] * 4
        if type(old) is str and old:
            place, letter = random.randrange(len(old)), random.choice("AB/+9z")
            others += [old[:place] + letter + old[place + 1 :]] * 24
        yield edited(told, at, random.choice(others))


def wrong_network(name: str) -> ModelFile:
    """A damaged network of a row, which gives a wrong answer."""
    file, run = compiled(name).file, NETWORKS[name].run
    return next(
        x for x in (mutant(file, seed) for seed in range(40)) if is_wrong(x, run)
    )


def accepts(file: ModelFile, told: Json) -> bool:
    """Whether the small checker accepts evidence, as if it were about this file."""
    data = pack(file.header, file.tensors)
    about = {"model": for_file(data, {})["model"]}
    try:
        recheck(data, json.dumps({**told, **about}).encode())
    except Refused:
        return False
    return True


def readable(file: ModelFile) -> bool:
    """Whether a header could be read at all: its source or machine is one."""
    try:
        machine_in(file)
    except (KrohnError, *FAILURES):
        return False
    return isinstance(file.header.get("claim"), dict)
