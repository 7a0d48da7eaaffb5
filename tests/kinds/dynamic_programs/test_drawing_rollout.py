"""Pictures of texts and their attention, and of recurrences."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import krohn
from krohn import schemas
from krohn.compiled_model import CompiledModel
from krohn.drawing import DrawingError, draw_rollout, render
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.draw import draw_recurrence
from krohn.kinds.dynamic_programs.draw_rollout import (
    Text,
    attention,
    of_network,
    of_steps,
    recurrence,
    relation,
)
from krohn.kinds.dynamic_programs.source import DynamicProgram
from krohn.kinds.rewriting.commands import Rewritings

KIND = ChainsOfThought()
Call = Callable[..., tuple[int, Any]]


@cache
def compiled(name: str, kind: str = "standard") -> CompiledModel:
    return krohn.compile(name, attention=kind)


def program(name: str) -> DynamicProgram:
    found = KIND.find_by_name(name)
    assert found is not None
    return found


def text_of(name: str, prompt: str) -> np.ndarray:
    chain = program(name).chain_of_thought
    tokens = [chain.tokens.index(x) for x in prompt]
    end = chain.tokens.index("<sep>")
    return np.asarray(chain.continue_prompts(np.array([[*tokens, end]]))[0])


def written(svg: bytes) -> list[str]:
    """Every text of a picture."""
    root = ElementTree.fromstring(svg)
    return [
        "".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "prompt"), [("EditDistance3,4", "abc|bcde"), ("LIS5", "31415")]
)
def test_heads_take_what_the_steps_read(name: str, prompt: str) -> None:
    """Of the softmax network each argument of each step has all of the weight."""
    source, text = program(name), text_of(name, prompt)
    (weights,) = attention(compiled(name).file, text)
    start = len(source.chain_of_thought.prompt)
    wanted = of_steps(source.chain_of_thought, source.names)
    assert len(weights) == len(wanted)
    for head, each in zip(weights, wanted, strict=True):
        assert np.abs(head[start:] - each.weights[start:]).max() < 1e-6


def test_heads_are_named_by_where_they_look() -> None:
    source = program("EditDistance4,5")
    names = [
        h.name.partition(": ")[2]
        for h in of_steps(source.chain_of_thought, source.names)
    ]
    assert names == ["D[i−1, j]", "D[i, j−1]", "D[i−1, j−1]", "s[i]", "t[j]"]
    source = program("LIS6")
    names = [
        h.name.partition(": ")[2]
        for h in of_steps(source.chain_of_thought, source.names)
    ]
    assert names == ["x[i]", "x[·]", "L[i]", "L[·]"]
    assert relation([("T[1, 4]", "T[4, 0]"), ("T[2, 7]", "T[7, 0]")]) == "T[j, 0]"
    assert relation([("answer", "T[4]"), (",", "T[2]")]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["standard", "sparse", "linear"])
def test_a_text_is_drawn_with_all_its_tokens(kind: str) -> None:
    name = "EditDistance3,3:letters=4"
    source, text = program(name), text_of(name, "abd|bdd")
    told = Text.of(source.chain_of_thought, source.names, text)
    rollout = of_network(compiled(name, kind).file, told, text)
    svg = render(draw_rollout(rollout), ".svg")
    assert svg == render(draw_rollout(rollout), ".svg")
    shown = written(svg)
    tokens = [source.chain_of_thought.tokens[i] for i in text]
    for token in tokens:
        assert shown.count(token) >= 1 + (token in tokens[len("abd|bdd<") :])
    assert {"D[2, 3]", "answer", "D[1, ·]"} <= {*shown}
    assert len([s for s in shown if s.startswith("layer")]) in (0, 2)


@pytest.mark.slow
def test_long_texts_are_drawn_as_one_image() -> None:
    name = "EditDistance11,12:letters=4"
    source, text = program(name), text_of(name, "abcdabcdabc|bcdabcdabcda")
    file = compiled(name).file
    told = Text.of(source.chain_of_thought, source.names, text)
    rollout = of_network(file, told, text)
    svg = render(draw_rollout(rollout), ".svg")
    shown = written(svg)
    assert "D[11, ·]" in shown
    assert "D[11, 3]" not in shown
    answer = source.chain_of_thought.tokens[text[source.chain_of_thought.answer - 1]]
    assert f"answer {answer}" in shown
    assert len(svg) < 2**20


def test_a_recurrence_has_an_arrow_for_each_read() -> None:
    source = program("EditDistance3,3")
    found = recurrence(source.chain_of_thought, source.names)
    reads = {(k, cell[1], read[1]) for k, cell, read in found.reads if cell[0] == "D"}
    assert (0, (3, 2), (2, 2)) in reads
    assert (2, (3, 2), (2, 1)) in reads
    assert (3, (3, 2), (3,)) in reads
    inside = [r for r in found.reads if r[2][0] == "D" and r[1][0] == "D"]
    assert len(inside) == 6 + 6 + 4
    shown = written(render(draw_recurrence(found), ".svg"))
    assert {"s", "t", "D", "3, 2", "D[i−1, j]", "answer"} <= {*shown}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    ["CYK4", "Knapsack2,3", "FloydWarshall3", "MatrixChain1", "Viterbi2", "LIS1"],
)
def test_recurrences_of_all_shapes_are_drawn(name: str) -> None:
    source = program(name)
    found = recurrence(source.chain_of_thought, source.names)
    shown = written(render(draw_recurrence(found), ".svg"))
    assert {cell[0] for cell in found.cells if cell[1]} <= {*shown}


@pytest.mark.slow
def test_too_many_numbers_are_refused() -> None:
    source = program("EditDistance31,32")
    found = recurrence(source.chain_of_thought, source.names)
    with pytest.raises(DrawingError, match="smaller size"):
        draw_recurrence(found)


@pytest.mark.slow
def test_the_command_draws_networks_texts_and_recurrences(
    call: Call, tmp_path: Path
) -> None:
    file, picture = tmp_path / "m.safetensors", tmp_path / "p.svg"
    compiled("EditDistance3,4").save(file)
    for words in (
        [file],
        [file, "--word", "abc|bcde"],
        ["LIS4"],
        ["LIS4", "--word", "1 2 3 4"],
    ):
        assert call("draw", *words, "-o", picture) == (
            0,
            schemas.with_schema("draw", {"file": str(picture)}),
        )
        assert b"<svg" in picture.read_bytes()
        picture.unlink()
    for words, trouble in (
        ([file, "--word", "abc"], "has the form"),
        (["S5", "--word", "a"], "dynamic programs and generators"),
        (["MatMul2,2@3", "--word", "a"], "dynamic programs and generators"),
        (["LIS4", "--eggbox"], "takes none of|is for|no use|dynamic program"),
    ):
        code, result = call("draw", *words, "-o", picture)
        assert code == 2
        assert any(each in result["error"] for each in trouble.split("|"))
        assert not picture.exists()


def test_a_text_of_python_is_drawn_without_names() -> None:
    p = krohn.dynamic_program("sums")
    x = p.input("x", 3, numbers=(0, 3))
    p.answer(p.chain("sum", [x[1], x[2], x[3]], "sum"))
    figure = KIND.draw_text(krohn.compile(p).file, ["1 2 3"])
    assert "place 6" in written(render(figure, ".svg"))


@pytest.mark.slow
def test_a_text_of_lines_is_drawn() -> None:
    """Of arithmetic each line but the first is the one before with one step done."""
    file = krohn.compile("Arithmetic2,3").file
    shown = written(render(Rewritings().draw_text(file, ["1+1+1"]), ".svg"))
    assert {"line[1, ·]", "line[2, ·]", "layer 1"} <= {*shown}
    assert any("the answer is 0" in text for text in shown)
