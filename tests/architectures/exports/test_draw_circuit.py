"""Pictures of circuits: every component that carries something, and no other."""

import json
import re
from pathlib import Path

import pytest

import krohn
from krohn import cli
from krohn.architectures.exports.circuit import circuit, graph


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A circuit in a directory, as an export has one."""
    file = krohn.compile("examples/turnstile.dot", 16, proof=False).file
    (tmp_path / "circuit.json").write_text(json.dumps(circuit(file)))
    return tmp_path


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["", "circuit.json"])
def test_components_and_variables_are_drawn(
    written: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = written / "circuit.svg"
    assert cli.run(["draw", str(written / name), "-o", str(picture)]) == 0
    text = picture.read_text("utf-8")
    digraph = graph(json.loads((written / "circuit.json").read_text()))
    for node in digraph:
        for variable in digraph.nodes[node]["writes"]:
            assert f">{variable}</text>" in text
    titles = re.findall(
        r">(embedding|read-out|block \d+, (?:head \d+|MLP))</text>", text
    )
    assert len(titles) == sum(digraph.degree(node) > 0 for node in digraph)


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", ["edges", "variables", "blocks"])
def test_a_damaged_circuit_is_one_line(
    written: Path, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written / "circuit.json"
    stated = json.loads(path.read_text())
    path.write_text(json.dumps(stated | {part: [3]}))
    assert cli.run(["draw", str(path), "-o", str(written / "c.svg")]) == 2
    assert re.fullmatch(r"krohn: .*the circuit is damaged.*\n", capsys.readouterr().err)
    assert not (written / "c.svg").exists()


def test_circuits_of_a_folder_are_drawn_on_one_sheet(
    written: Path, tmp_path: Path
) -> None:
    stated, folder = (written / "circuit.json").read_text(), tmp_path / "set"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / "circuit.json").write_text(stated)
    picture = tmp_path / "set.svg"
    assert cli.run(["draw", str(folder), "-o", str(picture)]) == 0
    found = re.findall(r">([^<>]+)</text>", picture.read_text("utf-8"))
    assert [name for name in found if "■" not in name] == ["one", "two"]
    (folder / "two/circuit.json").write_text(
        json.dumps(json.loads(stated) | {"edges": 3})
    )
    assert cli.run(["draw", str(folder), "-o", str(picture)]) == 2


@pytest.mark.parametrize("construction", ["cascade", "scan"])
def test_a_circuit_names_the_values_of_its_variables(construction: str) -> None:
    model = krohn.compile("examples/turnstile.dot", 8, construction, proof=False)
    rows, places = circuit(model.file)["variables"], model.model.places()
    assert [row["variable"] for row in rows] == list(places)
    for row in rows:
        place = places[row["variable"]]
        named = (
            dict(zip(row["domain"], row["values"], strict=True))
            if row["values"]
            else {}
        )
        assert named == place.values
        assert row["meaning"] == place.meaning
    assert any(row["values"] for row in rows)
