"""Properties of every kind of source and network: all commands, once for each.

A new kind adds its line to `every_kind.NETWORKS`, and no test.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_kind import NETWORKS, OTHERS, SOURCES, compiled

import krohn
from krohn.algebra.errors import KrohnError
from krohn.evidence import check, write
from krohn.network.modelfile import pack
from krohn.program.slices import slice_exports, slice_sources
from krohn.source_kinds import KINDS, find_source_to_compile

Call = Callable[..., tuple[int, Any]]
EACH = pytest.mark.parametrize("kind", NETWORKS)
OPTIONS = {"length": "-T", "observe": "--observe", "arch": "--arch"}
WITHOUT_EFFECT = {
    "strict": ("--strict",),
    "addresses": ("--addresses", "quadratic"),
    "attention": ("--attention", "linear"),
    "within": ("--within", "0.1"),
    "construction": ("--construction", "scan"),
    "positions": ("--positions", "circle"),
    "activation": ("--activation", "sine"),
    "uniform": ("--uniform",),
    "minimise": ("--minimise", "widest"),
    "observe": ("--observe", "outputs"),
}
"""Options that are refused by every kind of source that does not take them."""
SENSELESS = (
    ("-T", "0"),
    ("-T", "x"),
    ("--dtype", "float8"),
    ("--arch", "tree"),
    ("--construction", "magic"),
    ("--within", "-1"),
    ("--effort", "-1"),
    ("--block", "0"),
    ("--start", "nowhere"),
    ("--nonsense",),
)


def asked(kind: str) -> list[object]:
    """The arguments of `krohn compile` for a kind."""
    name, how, _ = NETWORKS[kind]
    words: list[object] = [name]
    for option, value in how.items():
        words.append(OPTIONS.get(option, f"--{option}"))
        words += [] if value is True else [value]
    return words


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture
def file(kind: str, shelf: Path) -> Path:
    """The file of a network, written once."""
    path = shelf / f"{kind}.safetensors"
    if not path.exists():
        compiled(kind).save(path)
    return path


def refused(told: Any) -> str:
    """The one line of a refusal, which is no message of Python's."""
    said = str(told["error"])
    assert "\n" not in said
    assert "Traceback" not in said
    assert "Error" not in said
    return said


def test_the_modules_of_sources_are_there() -> None:
    """An object is found by the module of its class: a name of none would find nothing."""
    for entry in slice_sources().values():
        assert all(map(find_spec, entry.objects))


def test_every_kind_has_a_network() -> None:
    assert set(SOURCES) == set(KINDS)
    assert set(SOURCES) <= set(NETWORKS)


@pytest.mark.sample(1)
@EACH
def test_it_is_proved_and_checked_again_from_the_file(
    kind: str, file: Path, tmp_path: Path, call: Call
) -> None:
    proof = compiled(kind).proof
    assert proof is not None
    assert proof.verdict == "verified"
    evidence = tmp_path / "e.json"
    code, told = call("verify", file, "--proof", "--evidence", evidence)
    assert (code, told["verdict"], told["method"]) == (0, "verified", "proof")
    code, told = call("recheck", file, evidence)
    assert (code, told["verdict"]) == (0, "verified")
    code, told = call("verify", file, "--machine", "S5")
    assert code != 0


def named_source(kind: str, name: str) -> Any:
    """The source of a name; one that no name has alone is read from a file of it."""
    own, found = KINDS[kind], find_source_to_compile(name)
    if found is not None and found[0] is own:
        return name
    return own.of_file(krohn.compile(name, **NETWORKS[kind][1], proof=False).file)


@pytest.mark.sample(1, at=7)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_that_is_named_is_what_is_proved(
    kind: str, file: Path, tmp_path: Path
) -> None:
    """Verdict, sentence, error and digest are those of the claim about that source."""
    evidence, own = tmp_path / "e.json", named_source(kind, SOURCES[kind][0])
    same = krohn.verify(file, own, proof=True)
    assert (same.verdict, same.digest) == ("verified", compiled(kind).claim.digest)
    write(same, file, evidence)
    checked = check(file, evidence, own)
    assert (checked.verdict, checked.about) == ("verified", same.about)
    other = named_source(kind, OTHERS[kind])
    asked: dict[str, Callable[[], Any]] = {
        "proof": lambda: krohn.verify(file, other, proof=True),
        "sample": lambda: krohn.verify(file, other, sample=4),
        "recheck": lambda: check(file, evidence, other),
    }
    for how, ask in asked.items():
        refusal = ""
        try:
            found = ask()
        except KrohnError as error:
            refusal = str(error)
        if refusal:
            assert "have different" in refusal or "does not read" in refusal
            continue
        assert found.verdict != "verified", how
        assert getattr(found, "covers", "nothing") != same.covers
        assert found.about.digest != same.digest
        assert found.about.name == getattr(other, "name", OTHERS[kind])


def test_what_is_proved_of_another_source_is_said_of_its_own_inputs(
    tmp_path: Path, call: Call
) -> None:
    """A network may serve a model with a smaller box, and is proved for that box alone."""
    path, evidence = tmp_path / "f.safetensors", tmp_path / "e.json"
    krohn.compile("GaussianHMM2,1@7", within=0.6).save(path)
    other = "GaussianHMM2,1@4:2given1:R=0.01"
    code, own = call("verify", path)
    assert "8.967" in own["covers"]
    asked = ("verify", path, "--machine", other, "--evidence", evidence)
    code, told = call(*asked)
    assert (code, told["verdict"], told["about"]["name"]) == (0, "verified", other)
    assert "[-0.01, 0.01]" in told["covers"]
    assert told["digest"] != own["digest"]
    code, again = call("recheck", path, evidence, "--machine", other)
    assert (code, again["digest"]) == (0, told["digest"])
    assert "0.01" in again["facts"]["covers"]


@pytest.mark.sample(1, at=1)
@EACH
def test_it_says_what_its_source_says(kind: str, file: Path, call: Call) -> None:
    """On a sample of inputs, each held against the interpreter of the source."""
    report = krohn.verify(file, sample=8)
    assert report.verdict in ("verified", "undecided")
    assert report.words >= 8
    code, told = call("run", file, *NETWORKS[kind][2].split())
    assert code == 0
    assert not any(told["unproved"])
    code, told = call("run", file, "☃")
    assert code == 2
    refused(told)


@pytest.mark.sample(2, at=2)
@EACH
def test_the_same_source_gives_the_same_bytes(kind: str) -> None:
    name, how, _ = NETWORKS[kind]
    once, again = compiled(kind).file, krohn.compile(name, **how, proof=False).file
    assert pack({**once.header, "evidence": None}, once.tensors) == pack(
        again.header, again.tensors
    )


@pytest.mark.sample(1, at=3)
@EACH
def test_it_is_explained(kind: str, call: Call) -> None:
    _, how, _ = NETWORKS[kind]
    words = [w for w in asked(kind) if w != "--strict"]
    code, told = call("explain", *words[: 1 + 2 * ("length" in how)])
    assert code == 0
    assert told


@pytest.mark.sample(2, at=4)
@EACH
def test_it_is_drawn_or_has_no_picture(
    kind: str, file: Path, tmp_path: Path, call: Call
) -> None:
    picture = tmp_path / "p.svg"
    code, told = call("draw", file, "-o", picture)
    if code == 0:
        assert "<svg" in picture.read_text(encoding="utf-8")
    else:
        assert code == 2
        assert "no picture" in refused(told)
        assert not picture.exists()


@pytest.mark.sample(2, at=5)
@pytest.mark.parametrize("to", slice_exports())
@EACH
def test_it_is_exported_or_refused(
    kind: str, to: str, file: Path, tmp_path: Path, call: Call
) -> None:
    """An export that is written is read back there and says the same."""
    pytest.importorskip(
        {"gpt2": "transformers"}.get(to, slice_exports()[to].imports[0])
    )
    place = tmp_path / "out"
    code, told = call("export", file, "--to", to, "-o", place, "--sample", 8)
    assert code in (0, 2)
    if code == 0:
        assert (told["wrong"], place.is_dir()) == (0, True)
        assert told["deviation"] < 0.5
    else:
        assert refused(told)
        assert not list(tmp_path.iterdir())


@pytest.mark.sample(4, at=6)
@EACH
def test_what_makes_no_sense_is_refused(kind: str, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "f.safetensors"
    takes = KINDS[kind].takes if kind in KINDS else set(WITHOUT_EFFECT)
    idle = [words for option, words in WITHOUT_EFFECT.items() if option not in takes]
    for words in (*SENSELESS, *idle):
        code, told = call("compile", *asked(kind), *words, "-o", out)
        assert code == 2, words
        refused(told)
        assert not out.exists()


def other_names(source: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Statements of a source with other names: for itself, and for two of a list."""
    yield {**source, "name": "another"}
    yield {key: value for key, value in source.items() if key != "name"}
    for key in source.keys() & {"letters", "states", "classes"}:
        if (names := list(source[key]))[1:]:
            yield {**source, key: [*names[:-2], names[-1], names[-2]]}


@pytest.mark.sample(1, at=3)
@pytest.mark.parametrize("kind", SOURCES)
def test_what_is_verified_can_be_read_and_run(kind: str) -> None:
    """The label of a source is none of a proof's business, and no reader's either."""
    file, said = compiled(kind).file, []
    for other in other_names(file.header["source"]):
        named = replace(file, header={**file.header, "source": other})
        try:
            said.append(krohn.verify(named, proof=True).verdict)
        except KrohnError:
            continue
        if said[-1] == "verified":
            assert krohn.verify(named, sample=2).verdict in ("verified", "undecided")
    assert said[0] == "verified"


@pytest.mark.slow
def test_a_table_of_all_is_a_batch(tmp_path: Path, call: Call) -> None:
    table, names = tmp_path / "t.csv", sorted({told[0] for told in NETWORKS.values()})
    with table.open("w", encoding="utf-8", newline="") as rows:
        csv.writer(rows).writerows([("machine", "length"), *((n, 4) for n in names)])
    code, told = call("batch", table)
    assert code in (0, 1)
    assert [row["machine"] for row in told["rows"]] == names
    for row in told["rows"]:
        assert row["verdict"] == "verified" or row["reason"]


@pytest.mark.sample(2)
@EACH
def test_zeros_are_not_verified(kind: str) -> None:
    """A network without weights says one thing, and no source here does."""
    file = compiled(kind).file
    layout = ("offsets", "columns")  # of a sparse matrix, which say where numbers lie
    tensors = {
        name: tensor if name.endswith(layout) else np.zeros_like(tensor)
        for name, tensor in file.tensors.items()
    }
    wrong = type(file)(file.header, tensors, file.precision)
    assert krohn.verify(wrong, proof=True).verdict != "verified"
