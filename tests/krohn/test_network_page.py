"""The page that runs a network in the browser: what it holds, and what it refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from slices_here import needs

import krohn
from krohn import cli
from krohn.algebra.formats import json_format
from krohn.page.network_page import OPERATIONS, page_data
from krohn.program.functions import FUNCTIONS
from krohn.program.operations import operation_named

HOSTILE = ["</script><script>alert(1)", "<!--", "&lt;", "a b"]


def stated() -> krohn.Automaton:
    """C4 with names that would end an element of the page."""
    table = (np.arange(4)[:, None] + np.arange(4)) % 4
    return json_format.from_object(
        json_format.to_object(krohn.zoo("C2"))
        | {
            "name": HOSTILE[0],
            "letters": HOSTILE,
            "states": HOSTILE,
            "start": HOSTILE[0],
            "transitions": table.tolist(),
        }
    )


def test_the_operations_are_those_of_programs() -> None:
    for name in OPERATIONS:
        assert name in FUNCTIONS or operation_named(name), name


def test_names_end_no_element_and_tensors_are_those_of_the_file(tmp_path: Path) -> None:
    model = krohn.compile(stated(), 6)
    krohn.draw(model, page := tmp_path / "page.html")
    text = page.read_text("utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    (stored,) = re.findall(r'id="data">(.*?)</script>', text)
    data = json.loads(stored)
    assert data == json.loads(json.dumps(page_data(model.file)))
    assert data["letters"] == HOSTILE
    assert data["tensors"].keys() == model.file.tensors.keys()
    assert f"right on all 4^{6} words" in text


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("compiled", "reason"),
    [
        (["C2", "-T", "8", "--activation", "gelu"], "ReLUs or sines"),
        pytest.param(
            ["C2", "--arch", "rnn"],
            "a page runs Transformers",
            marks=needs("architectures.recurrent"),
        ),
        pytest.param(
            ["C2", "-T", "8", "--disguise", "rotate"],
            "disguised",
            marks=needs("architectures.disguise"),
        ),
        pytest.param(
            ["examples/weather.json", "-T", "6", "--within", "0.1"],
            "states, outputs or classes, and this one says numbers",
            marks=needs("kinds.hidden_markov"),
        ),
        (["C2", "-T", "20000", "--no-proof"], r"take \d.* MiB, and a page holds 1 MiB"),
    ],
)
def test_networks_that_a_page_does_not_run_are_refused(
    compiled: list[str],
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, page = tmp_path / "m.safetensors", tmp_path / "m.html"
    assert cli.run(["compile", *compiled, "-o", str(file)]) == 0
    assert cli.run(["draw", str(file), "-o", str(page)]) == 2
    assert re.search(reason, capsys.readouterr().err)
    assert not page.exists()


def test_machines_have_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "m.html"
    assert cli.run(["draw", "C2", "-o", str(page)]) == 2
    assert "only a model file is written as a page" in capsys.readouterr().err


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    model = krohn.compile("FlipFlop", 8)
    pages = [tmp_path / name for name in ("a.html", "b.html")]
    for page in pages:
        krohn.draw(model, page)
    assert pages[0].read_bytes() == pages[1].read_bytes()
