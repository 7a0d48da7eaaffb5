"""Letters with blanks, commas and quotes: read in one way, shown as they are read."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn import cli
from krohn.algebra import formats
from krohn.running import of_cell

ODD = [" ", ",", "a b", '"', "'", "[", "\t", "0", "a", "b"]
ORDER = {letter: i for i, letter in enumerate(ODD)}
"""The machine shows which letter it read last."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    places = [str(i) for i in ORDER.values()]
    table = {q: dict(zip(ODD, places, strict=True)) for q in places}
    path = tmp_path_factory.mktemp("odd") / "m.safetensors"
    krohn.compile(table, 12).save(path)
    return str(path)


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.sample(1)
@pytest.mark.parametrize("letter", ODD)
def test_a_letter_is_read_in_every_way(
    letter: str,
    model: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """As an argument, alone and among others; as JSON; from standard input; in a stream."""
    right = [str(ORDER[a]) for a in (letter, "a", letter)]
    quoted = json.dumps(letter)
    assert cli.run(["run", model, "--json", "--", letter, "a", letter]) == 0
    assert (
        cli.run(["run", model, "--json", "--", json.dumps([letter, "a", letter])]) == 0
    )
    assert cli.run(["run", model, "--json", "--", f"{quoted} a {quoted}"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{quoted} a {quoted}\n"))
    assert cli.run(["run", model, "--json"]) == 0
    assert [found["outputs"] for found in answers(capsys)] == [right] * 4
    assert cli.run(["run", model, "--json", "--", letter]) == 0
    assert answers(capsys)[0]["outputs"] == right[:1]
    stream = tmp_path / "letters.txt"
    stream.write_text(f"{quoted} a\n{quoted}", encoding="utf-8")
    assert cli.run(["run", model, "--stream", str(stream)]) == 0
    assert capsys.readouterr().out.split() == right
    net = krohn.load(model)
    assert net.run([letter, "a", letter]) == right
    assert net.run(f"{quoted} a {quoted}") == right
    (cell,) = of_cell(f"{quoted} a {quoted}=0")
    assert net.run(cell.word) == right


def test_a_line_is_a_word_and_an_argument_may_be_a_letter(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a b\n"))
    assert cli.run(["run", model, "--json"]) == 0
    assert cli.run(["run", model, "a b", "--json"]) == 0
    assert [found["word"] for found in answers(capsys)] == [["a", "b"], ["a b"]]


@pytest.mark.sample(1)
@pytest.mark.parametrize("letter", ODD)
def test_a_shortest_word_can_be_pasted_back(
    letter: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Two machines that differ after one word: what is printed of it is read back."""
    rows = {q: dict.fromkeys(ODD, q) for q in ("no", "seen", "yes")}
    rows["no"][letter] = "seen"
    rows["seen"]["a"] = "yes"
    other = {q: dict.fromkeys(ODD, q) for q in ("no", "seen", "yes")}
    shown = ("accept", "reject")
    paths = []
    for name, table in (("one", rows), ("other", other)):
        paths.append(tmp_path / f"{name}.json")
        machine = krohn.automaton(
            table, outputs=lambda q: shown[0] if q == "yes" else shown[1]
        )
        formats.write(machine, paths[-1])
    assert cli.run(["equivalent", *map(str, paths), "--up-to", "outputs"]) == 1
    (word,) = re.findall("a shortest word: (.*)", capsys.readouterr().out)
    network = krohn.compile(rows, 3, accepting={"yes"}).model
    assert network.run(word) == ["reject", "accept"]
