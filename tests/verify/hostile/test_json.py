"""Whatever a JSON text says, wherever one is read: an answer or one line, never more."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from conformance import edited, places
from every_kind import SOURCES

import krohn
from krohn import cli
from krohn.network import modelfile
from krohn.program import strict_json
from krohn.source_kinds import KINDS

SAMPLED = 10
ODD = {
    "NaN": "NaN",
    "infinity": "-Infinity",
    "too large": "1e999",
    "large": str(2**70),
    "many digits": "9" * 5000,
    "deep": "[" * 50_000 + "]" * 50_000,
    "twice": '{"a":1,"a":1}',
    "null": "null",
    "true": "true",
    "text": '"x"',
    "list": "[]",
    "lists": "[[[]]]",
    "object": "{}",
    "negative": "-1",
    "half": "0.5",
}
"""The values that may stand in the place of another."""
HOLE = "the hole"
Command = Callable[..., int]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """A command, of which an error is one line."""

    def call(*arguments: object) -> int:
        code = cli.run(list(map(str, arguments)))
        told = capsys.readouterr()
        assert told.err.startswith("krohn: " if code == 2 and not told.out else "")
        assert told.err.count("\n") <= 1
        return code

    return call


def damaged(text: str, seed: str, count: int = SAMPLED) -> Iterator[str]:
    """The text with something odd in the place of a value, again and again."""
    rng, said = Random(seed), json.loads(text)
    known = [(), *places(said)]
    for at in rng.sample(known, min(count, len(known))):
        again = edited(said, at, HOLE) if at else HOLE
        odd = rng.choice(list(ODD.values()))
        yield json.dumps(again).replace(json.dumps(HOLE), odd)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("gpt2")
    krohn.compile("FlipFlop", 4, strict=True).save(home / "m.safetensors")
    krohn.export(home / "m.safetensors", to="gpt2", directory=home / "gpt2")
    return home / "gpt2"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "tokenizer_config.json"]
)
@pytest.mark.parametrize("seed", range(4))
def test_directories(
    directory: Path, tmp_path: Path, command: Command, name: str, seed: int
) -> None:
    shutil.copytree(directory, tmp_path / "d")
    text = (directory / name).read_text()
    for odd in damaged(text, f"{name}{seed}", SAMPLED // 2):
        (tmp_path / "d" / name).write_text(odd)
        assert command("verify", tmp_path / "d") in (0, 2)
        assert command("learn", tmp_path / "d", "--queries", 9) in (0, 1, 2)


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", ["FlipFlop", "C3", "Sorted3,2"])
def test_evidence(tmp_path: Path, command: Command, source: str) -> None:
    path, evidence = tmp_path / "m.safetensors", tmp_path / "e.json"
    length = None if source == "Sorted3,2" else 6
    krohn.compile(source, length).save(path)
    assert command("verify", path, "--proof", "--evidence", evidence) == 0
    for odd in damaged(evidence.read_text(), source, 2 * SAMPLED):
        evidence.write_text(odd)
        assert command("recheck", path, evidence) in (0, 2)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_sources(tmp_path: Path, command: Command, kind: str) -> None:
    """Of every kind, as the file states it."""
    name, how, _ = SOURCES[kind]
    file = krohn.compile(name, proof=False, **how).file
    text, path = json.dumps(file.header["source"]), tmp_path / "m.safetensors"
    for odd in damaged(text, kind):
        with suppress(
            ValueError, RecursionError
        ):  # what no reader of JSON lets through
            said = strict_json.read(odd)
            path.write_bytes(
                modelfile.pack({**file.header, "source": said}, file.tensors)
            )
            assert command("run", path, "1 0") in (0, 2)
            assert command("verify", path, "--proof") in (0, 1, 2)


@pytest.mark.slow
def test_notes_of_jobs(tmp_path: Path, command: Command) -> None:
    table, notes = tmp_path / "t.csv", tmp_path / "notes"
    table.write_text("machine,length\nC2,3\n")
    model, other = tmp_path / "m.safetensors", tmp_path / "other"
    krohn.compile("C2", 4).save(model)
    asked = {
        notes: ("batch", table, "--job-file", notes),
        other: ("verify", model, "--exhaustive", 4, "--job-file", other),
    }
    for path, said in asked.items():
        assert command(*said) == 0
        line = path.read_text().splitlines()[0]
        for odd in damaged(line, path.name, 2 * SAMPLED):
            path.write_text(odd + "\n")
            assert command(*said) in (0, 1, 2)
