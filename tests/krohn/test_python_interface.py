"""The Python face: five functions from a machine to a verdict."""

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import krohn
from krohn.algebra.errors import KrohnError, MachineError
from krohn.compiler import CompileError

Build = Callable[..., Any]


def test_everything_promised_is_there() -> None:
    assert all(hasattr(krohn, name) for name in krohn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = krohn.nothing
    assert issubclass(MachineError, KrohnError)
    assert issubclass(CompileError, KrohnError)


def test_the_zoo_knows_its_names() -> None:
    for name in krohn.zoo():
        assert isinstance(name, str)
    with pytest.raises(MachineError, match="no machine 'Nothing'"):
        krohn.zoo("Nothing")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "needs the longest length"),
        ({"length": 0}, "at least 1"),
        ({"length": 5, "dtype": "float8"}, "there is no dtype 'float8'"),
        ({"length": 5, "start": "x"}, "is not a state"),
        ({"length": 5, "construction": "counter"}, "no modular counter"),
        ({"length": 5, "construction": "x"}, "no construction 'x'"),
        ({"arch": "rnn", "construction": "scan"}, "built by 'elman'"),
    ],
)
def test_what_cannot_be_compiled(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(KrohnError, match=reason) as caught:
        krohn.compile("Grid4", **options)
    assert "\n" not in str(caught.value)


def test_unproved_models_say_so() -> None:
    model = krohn.compile("Grid4", 5, proof=False)
    assert model.proof is None
    assert model.file.header["evidence"] is None
    assert model.summary()["verdict"] is None


def test_passes_can_be_watched() -> None:
    seen: list[str] = []
    krohn.compile("Grid4", 5, "scan", on_pass=lambda name, _: seen.append(name))
    assert seen[0] == "infer domains"
    assert len(seen) > 5


@pytest.mark.slow
def test_progress_reaches_its_end() -> None:
    steps: list[tuple[int, int]] = []
    krohn.compile("Grid4", 5, progress=lambda *step: steps.append(step))
    assert steps[-1][0] == steps[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_reports_can_be_repeated(seed: int) -> None:
    model = krohn.compile("Grid4", 9)
    reports = [krohn.verify(model.file, sample=20, seed=seed) for _ in range(2)]
    assert reports[0] == reports[1]
    assert reports[0].verdict == "undecided"
    assert reports[0].words >= 20


@pytest.mark.slow
def test_machines_are_aligned_by_name(own: Build) -> None:
    machine = krohn.zoo("Grid4")
    model = krohn.compile(machine, 6)
    order = [2, 0, 3, 1]
    place = {old: new for new, old in enumerate(order)}
    table = machine.transitions[::-1, order]
    renamed = own([[place[int(q)] for q in row] for row in table], start=place[0])
    shuffled = type(machine)(
        type(machine.semiautomaton)(
            renamed.transitions,
            machine.letters[::-1],
            tuple(machine.states[q] for q in order),
        ),
        start=renamed.start,
    )
    report = krohn.verify(model.file, shuffled, exhaustive=5, proof=True)
    assert report.verdict == "verified"


def test_completion_names_everything_promised() -> None:
    assert set(krohn.__all__) <= set(dir(krohn))


def test_a_report_says_the_largest_error_that_was_seen() -> None:
    file = krohn.compile("Exp8", arch="rnn").file
    right = krohn.verify(file, proof=False, sample=20)
    assert right.largest_error is not None
    assert right.largest_error <= file.header["claim"]["error"]
    # Outputs are off by a quarter of an input, and inputs reach 1.
    claim = {**file.header["claim"], "error": 10.0}
    tensors = {**file.tensors, "skip.weight": file.tensors["skip.weight"] + 0.25}
    off = replace(file, header={**file.header, "claim": claim}, tensors=tensors)
    found = krohn.verify(off, proof=False, sample=20)
    assert found.largest_error == pytest.approx(0.25, rel=0.01)
    assert found.to_object()["largest_error"] == found.largest_error
    assert krohn.verify(krohn.compile("C2", 4), sample=5).largest_error is None


DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"python.md": 7, "start/interpretability.md": 3}
"""Pages of Python, and how many values they show at least."""
SHOWN = ("[", "('", "<", "tensor(")
"""How a comment begins that says a value."""


@pytest.mark.sample(1)
@pytest.mark.parametrize(("page", "least"), PAGES.items())
def test_every_line_of_the_page_runs(page: str, least: int) -> None:
    text = (DOCS / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```( *\n\n *```\n.*?```)?", text, re.DOTALL)
    names: dict[str, Any] = {}
    checked = 0
    for indented, printed in blocks:
        block = dedent(indented)
        lines = block.splitlines()
        exec(block, names)
        for node in ast.parse(block).body:
            _, _, comment = lines[(node.end_lineno or 1) - 1].partition("  # ")
            if comment.startswith(SHOWN) and isinstance(node, ast.Expr | ast.Assign):
                told = node.value if isinstance(node, ast.Expr) else node.targets[0]
                assert comment.startswith(repr(eval(ast.unparse(told), names)))
                checked += 1
        if printed:
            value = repr(eval(lines[-1], names))
            assert value in dedent(printed.replace("```", "   "))
            checked += 1
    assert checked >= least
