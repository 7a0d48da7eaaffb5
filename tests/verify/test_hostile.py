"""Files that mean harm: none is vouched for, one line says why, and soon.

Each file goes through the command and through the Python face. What the bytes of a file
may be is the subject of tests/network/test_damaged.py.
"""

import copy
import json
import re
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch

import krohn
from algebra.errors import KrohnError
from algebra.formats import json_format
from krohn import cli
from network.modelfile import ModelFile, ModelFileError
from network.precision import FloatArray
from verify import recurrent

torch.set_num_threads(1)

Json = Any
Edit = Callable[[Json], object]
Tensors = dict[str, FloatArray]
SECONDS = 10.0  # of computing; the slowest takes about two
MEMORY = 2**30
LENGTH = 40  # too long for all words to be run
FORMATS = ("float64", "float32", "float16", "bfloat16")
KINDS = ("transformer", "rnn", "generator")
EACH = pytest.mark.parametrize("kind", KINDS)
ANY = "."


@cache
def good(kind: str, dtype: str = "float32") -> ModelFile:
    """A small model that is as it should be."""
    if kind == "rnn":
        return krohn.compile("Grid4", arch="rnn", dtype=dtype).file
    if kind == "generator":
        return krohn.compile_generator("Dyck1,2", 4).file
    name = {"memory": "FlipFlop", "scan": "C2"}.get(kind, "C3")
    construction = {"transformer": "counter"}.get(kind, kind)
    return krohn.compile(name, LENGTH, construction, dtype=dtype).file


def pack(file: ModelFile, edit: Edit, tensors: Tensors | None = None) -> bytes:
    """The bytes of a file with its header edited and other tensors in it."""
    header = {"format": "krohn-model", "version": 1, **copy.deepcopy(file.header)}
    edit(header)
    with np.errstate(over="ignore"):
        stored = tensors if tensors is not None else file.tensors
        packed = {n: file.precision.store(t) for n, t in stored.items()}
    return safetensors.numpy.save(packed, {"krohn": json.dumps(header)})


def nothing(_: Json) -> None:
    """Leave a header as it is."""


def put(*path: str | int, value: Json) -> Edit:
    """Set a field of a header; ``...`` removes it."""

    def edit(header: Json) -> None:
        for step in path[:-1]:
            header = header[step]
        if value is ...:
            header.pop(path[-1], None)
        else:
            header[path[-1]] = value

    return edit


@dataclass(frozen=True)
class Said:
    """What the command said of a file."""

    code: int
    out: str
    err: str

    @property
    def verdict(self) -> str:
        """The verdict; ``refused`` if the file is none to be judged."""
        if not self.out:
            return "refused"
        return self.out.splitlines()[0].split(": ")[1].split(" (")[0]

    @property
    def reason(self) -> str:
        """The one line with the reason."""
        if self.out:
            return self.out.splitlines()[1].strip()
        (line,) = self.err.splitlines()
        return line.removeprefix("krohn: ")


@contextmanager
def bounded() -> Iterator[None]:
    """Little memory, and not for long."""
    before, began = resource.getrlimit(resource.RLIMIT_AS), process_time()
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert process_time() - began < SECONDS


Judge = Callable[..., Said]


@pytest.fixture
def judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Judge:
    """What the command says of bytes; the Python face must agree."""
    path = tmp_path / "hostile.safetensors"

    def call(data: bytes, *options: str) -> Said:
        path.write_bytes(data)
        with bounded():
            code = cli.run(["verify", str(path), *options])
        said = Said(code, *capsys.readouterr())
        assert "out of memory" not in said.reason
        assert code == {"verified": 0, "refuted": 1}.get(said.verdict, 2)
        if not options:
            assert face(path) == said.verdict
        return said

    return call


def face(path: Path) -> str:
    """The verdict of the Python face."""
    try:
        with bounded():
            return krohn.verify(path).verdict
    except (KrohnError, ModelFileError):
        return "refused"


def filled(file: ModelFile, value: float, *names: str) -> Tensors:
    """The tensors with every entry of some set to a number; of all if none is named."""
    chosen = names or tuple(file.tensors)
    return {
        n: np.full_like(t, value) if n in chosen else t for n, t in file.tensors.items()
    }


def first(file: ModelFile, value: float, name: str) -> Tensors:
    """The tensors with the first entry of one set to a number."""
    spoilt = file.tensors[name].copy()
    spoilt.flat[0] = value
    return {**file.tensors, name: spoilt}


# --- weights --------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite(judge: Judge, kind: str, value: float) -> None:
    file = good(kind)
    for name in (min(file.tensors), max(file.tensors)):
        said = judge(pack(file, nothing, first(file, value, name)))
        assert said.verdict == "refused"
        assert f"tensor {name!r} has entries that are not finite" in said.reason


@EACH
def test_subnormal_weights(judge: Judge, kind: str) -> None:
    file = good(kind)
    for name in [n for n, t in file.tensors.items() if not t.flat[0]][:2]:
        tiny = first(file, file.precision.smallest / 2, name)
        said = judge(pack(file, nothing, tiny))
        assert said.verdict == "undecided"
        assert f"tensor {name!r} has subnormal entries" in said.reason


@EACH
def test_negative_zeros_are_zeros(judge: Judge, kind: str) -> None:
    file = good(kind)
    negative = {n: np.where(t == 0, -0.0, t) for n, t in file.tensors.items()}
    assert judge(pack(file, nothing, negative)).verdict == "verified"


@EACH
@pytest.mark.parametrize("sign", [1, -1])
def test_weights_at_the_end_of_the_format(judge: Judge, kind: str, sign: int) -> None:
    file = good(kind)
    assert judge(
        pack(file, nothing, filled(file, sign * file.precision.largest))
    ).verdict in ("refuted", "undecided")


@EACH
def test_ties_everywhere(judge: Judge, kind: str) -> None:
    file = good(kind)
    assert judge(pack(file, nothing, filled(file, 0.0))).verdict == "refuted"


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("part", ["attention.query", "mlp.0.weight", "unembed.weight"])
def test_products_at_the_end_of_the_format(dtype: str, part: str) -> None:
    file = good("scan", dtype)
    name = next(n for n in file.tensors if n.endswith(part))
    for factor in (2.0**10, 2.0**100, 2.0**1000):
        most = file.precision.largest
        large = np.clip(file.tensors[name] * factor, -most, most)
        spoilt = replace(file, tensors={**file.tensors, name: large})
        report = krohn.verify(spoilt)
        if report.verdict == "verified":  # large is not too large everywhere
            assert krohn.verify(spoilt, exhaustive=4).verdict == "verified"
        else:
            assert report.reason


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", ["memory", "scan"])
def test_scores_that_overflow(dtype: str, kind: str) -> None:
    file = good(kind, dtype)
    names = [
        n for n in file.tensors if n.endswith(("attention.query", "attention.key"))
    ]
    root = np.sqrt(file.precision.largest)
    large = {n: np.sign(file.tensors[n]) * file.precision.round(root) for n in names}
    report = krohn.verify(replace(file, tensors={**file.tensors, **large}))
    assert report.verdict != "verified"
    assert "overflow" in report.reason or report.verdict == "refuted"


@pytest.mark.parametrize(
    "limit", [300, pytest.param(recurrent.MOST_LETTERS, marks=pytest.mark.slow)]
)
def test_an_rnn_that_counts_without_end(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(recurrent, "MOST_LETTERS", limit)
    file = good("rnn")
    drift = file.tensors["hidden.bias"].copy()
    drift[4] -= 2.0**-20
    said = judge(pack(file, nothing, {**file.tensors, "hidden.bias": drift}))
    assert said.verdict == "undecided"
    assert f"new hidden states come after {limit} letters" in said.reason


# --- claims ---------------------------------------------------------------------------

LENGTHS: list[Json] = [LENGTH + 1, 10**18, 10**30, 0, -1, True, 4.0, "4", [4], {}]


@pytest.mark.parametrize("length", [*LENGTHS, None, ...], ids=str)
def test_lengths_that_cannot_be_claimed(judge: Judge, length: Json) -> None:
    said = judge(pack(good("transformer"), put("claim", "length", value=length)))
    assert said.verdict == "refused"
    assert "it claims" in said.reason


@pytest.mark.parametrize("length", LENGTHS, ids=str)
def test_an_rnn_claims_no_length(judge: Judge, length: Json) -> None:
    said = judge(pack(good("rnn"), put("claim", "length", value=length)))
    assert said.verdict == "refused"
    assert "an RNN has no longest word" in said.reason


@pytest.mark.parametrize("length", [*LENGTHS[1:], 2**31, 10**6], ids=str)
def test_lengths_that_no_generator_has(judge: Judge, length: Json) -> None:
    said = judge(pack(good("generator"), put("claim", "length", value=length)))
    assert said.verdict in ("refused", "refuted", "undecided")


@pytest.mark.parametrize(
    "opening", ["1e999999999", "1/0", "0", "2", "-1", "nan", None, [1]]
)
def test_probabilities_that_are_none(judge: Judge, opening: Json) -> None:
    said = judge(pack(good("generator"), put("claim", "opening", value=opening)))
    assert said.verdict == "refused"
    assert "opening" in said.reason


@pytest.mark.parametrize("tolerance", [True, "0.1", None, -1, 1, 10**400])
def test_tolerances_that_are_none(judge: Judge, tolerance: Json) -> None:
    said = judge(pack(good("generator"), put("claim", "tolerance", value=tolerance)))
    assert said.verdict == "refused"
    assert said.reason


@pytest.mark.parametrize(("key", "value"), [("start", "2"), ("dtype", "float64")])
def test_claims_that_the_file_itself_belies(judge: Judge, key: str, value: str) -> None:
    said = judge(pack(good("transformer"), put("claim", key, value=value)))
    assert said.verdict == "refused"
    assert f"it claims {'the start state ' * (key == 'start')}{value!r}" in said.reason


def test_a_claim_of_another_machine(judge: Judge, tmp_path: Path) -> None:
    path, other = tmp_path / "other.json", krohn.read("C3").with_start("1")
    path.write_text(json.dumps(json_format.to_object(other)))
    data = pack(good("transformer"), nothing)
    said = judge(data, "--machine", str(path))
    assert said.verdict == "refuted"
    assert "wrong at letter 1" in said.reason
    assert "different letters" in judge(data, "--machine", "C4").reason


# --- evidence -------------------------------------------------------------------------

PRAISE: list[Json] = [
    {"verdict": "verified", "steps": []},
    {"verdict": "verified", "steps": [{"sublayer": "read-out", "margin": 1e9}] * 1000},
    "verified",
    True,
    ["verified"] * 10_000,
]


@EACH
@pytest.mark.parametrize("evidence", PRAISE, ids=lambda e: str(e)[:20])
def test_evidence_in_the_file_is_not_believed(
    judge: Judge, kind: str, evidence: Json
) -> None:
    file = good(kind)
    broken = pack(file, put("evidence", value=evidence), filled(file, 0.0))
    assert judge(broken).verdict == "refuted"
    assert judge(pack(file, put("evidence", value=evidence))).verdict == "verified"


def test_evidence_and_program_of_another_model(judge: Judge) -> None:
    file, other = (
        good("transformer"),
        krohn.compile("C3", LENGTH, "counter", start="1").file,
    )
    keys = ("program", "evidence", "machine", "claim")

    def edit(header: Json) -> None:
        header |= {k: copy.deepcopy(other.header[k]) for k in keys if k in other.header}

    assert judge(pack(file, edit)).verdict == "refuted"


# --- the Program ----------------------------------------------------------------------


def channels(header: Json) -> Json:
    return header["program"]["channels"]


def table(header: Json) -> Json:
    """The first channel that is a table."""
    return next(c for c in channels(header) if c.get("function") == "table")


def add(**fields: Json) -> Edit:
    """One channel more, which nothing reads."""
    return lambda header: channels(header).append({"name": "more", **fields})


def cycle(header: Json) -> None:
    named = table(header)["name"]
    row = [[0, 0], [1, 1], [2, 2], [3, 3]]
    fields = {"op": "map", "function": "table", "rows": row, "domain": [0, 1, 2, 3]}
    channels(header).append({"name": "a", "inputs": ["b"], **fields})
    channels(header).append({"name": "b", "inputs": ["a"], **fields})
    assert named


def itself(header: Json) -> None:
    table(header)["inputs"] = [table(header)["name"]]


def twice(header: Json) -> None:
    channels(header).append(copy.deepcopy(table(header)))


def overlap(header: Json) -> None:
    stored = [c for c in channels(header) if "dims" in c]
    for channel in stored:
        channel["dims"] = stored[0]["dims"]


def many_inputs(header: Json) -> None:
    read = [table(header)["name"]] * 13
    add(op="map", function="table", inputs=read, rows=[[0] * 14], domain=[0])(header)


def many_summands(header: Json) -> None:
    read = [table(header)["name"]] * 10_000
    add(op="map", function="sum", inputs=read, domain=list(range(20_001)))(header)


def huge_sum(header: Json) -> None:
    rows = [[a, 10**8 * (a < 3)] for a in range(4)]
    domain = [0, 10**8]
    add(op="map", function="table", inputs=["token"], rows=rows, domain=domain)(header)
    summed = {"op": "prefix-sum", "source": "more", "domain": [0]}
    channels(header).append({"name": "sum of more", **summed})


def long_domains(header: Json) -> None:
    for channel in channels(header):
        if channel["op"] != "token":
            channel["domain"] = list(range(200_000))


def programs() -> dict[str, tuple[Edit, str]]:
    """Statements that are none, each with what must be said of it."""
    everywhere = (put("program", value=v) for v in (..., None, [], "x", 0))
    absent = {
        f"no program {i}": (e, "what its channels are|no Program")
        for i, e in enumerate(everywhere)
    }
    return absent | {
        "no channels": (put("program", "channels", value=[]), "no outputs"),
        "no outputs": (put("program", "outputs", value=[]), "no outputs"),
        "a cycle": (cycle, "'a' is out of order"),
        "a channel of itself": (itself, "out of order"),
        "a name twice": (twice, "out of order"),
        "overlapping places": (overlap, "overlaps|copy other dimensions"),
        "no rows": (lambda h: table(h).update(rows=[]), "lacks a row"),
        "rows as text": (lambda h: table(h).update(rows="ab"), "malformed"),
        "true for 1": (lambda h: table(h).update(dims=[True, 2]), "malformed"),
        "1.0 for 1": (lambda h: table(h).update(domain=[0.0, 1.0]), "malformed"),
        "'1' for 1": (lambda h: table(h).update(domain=["0", "1"]), "malformed"),
        "values beyond 64 bits": (lambda h: table(h).update(domain=[0, 10**30]), ANY),
        "places beyond 64 bits": (
            lambda h: table(h).update(dims=[10**30, 10**30 + 1]),
            ANY,
        ),
        "born in 10^18": (lambda h: table(h).update(snapshots=[10**18, 10**18]), ANY),
        "200,000 values": (long_domains, ANY),
        "13 inputs and one row": (many_inputs, "lacks a row"),
        "10,000 summands": (many_summands, "too many values"),
        "a sum of billions": (huge_sum, "outside its domain"),
        "a look-back beyond all": (
            lambda h: (
                add(op="shift", by=10**18, source="token", domain=[0, 1, 2, 3])(h),
                h["program"].update(outputs=["more"], decode=[[[0], 0]]),
            ),
            "looks back",
        ),
        "a class that is not there": (put("program", "decode", value=[[[0], 99]]), ANY),
    }


@pytest.mark.parametrize("name", list(programs()))
def test_programs_that_are_none(judge: Judge, name: str) -> None:
    edit, expected = programs()[name]
    said = judge(pack(good("transformer"), edit))
    assert said.verdict == "undecided"
    assert re.search(expected, said.reason)


# --- the machine ----------------------------------------------------------------------

MACHINES: list[tuple[tuple[str, ...], Json]] = [
    (("transitions",), [[10**6] * 3] * 3),
    (("transitions",), [["0", "1", "7"]] * 3),
    (("transitions",), []),
    (("transitions",), [[]] * 3),
    (("transitions",), "x"),
    (("transitions",), None),
    (("states",), ["a", "a", "a"]),
    (("states",), []),
    (("states",), [0, 1, 2]),
    (("letters",), []),
    (("letters",), {"a": 1}),
    (("start",), "nowhere"),
    (("start",), 0),
    (("start",), True),
]


@EACH
@pytest.mark.parametrize(("at", "value"), MACHINES, ids=lambda v: str(v)[:24])
def test_machines_that_are_none(
    judge: Judge, kind: str, at: tuple[str, ...], value: Json
) -> None:
    said = judge(pack(good(kind), put("machine", *at, value=value)))
    assert said.verdict == "refused"
    assert "damaged" in said.reason


# --- sizes ----------------------------------------------------------------------------


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
    for count in (100, 10**5):
        listed = [*file.header["architecture"]["blocks"], *[empty] * count]
        said = judge(pack(file, put("architecture", "blocks", value=listed)))
        assert said.verdict in ("undecided", "refused")


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
