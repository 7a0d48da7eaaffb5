"""Pictures of hidden Markov models: states, widths of steps, letters, notes."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import krohn
from krohn.drawing import DrawingError, save
from krohn.kinds.hidden_markov.draw import draw_hidden_markov
from krohn.kinds.hidden_markov.source import HiddenMarkovModel

SVG = "{http://www.w3.org/2000/svg}"


def drawn(path: Path, name: str) -> ElementTree.Element:
    save(draw_hidden_markov(krohn.hidden_markov(name)), path / "p.svg")
    return ElementTree.parse(path / "p.svg").getroot()


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]


def widths(root: ElementTree.Element) -> list[float]:
    """Of all lines that are stroked, in points."""
    styles = [e.get("style", "") for e in root.iter(f"{SVG}path")]
    found = [re.search(r"fill: none.*stroke-width: ([\d.]+)", s) for s in styles]
    return [float(f[1]) for f in found if f]


def test_states_and_letters_with_their_probabilities_are_written(
    tmp_path: Path,
) -> None:
    said = texts(drawn(tmp_path, "GoldenMean"))
    assert {"GoldenMean", "hidden Markov model, 2 states, 2 letters", "A", "B"} <= set(
        said
    )
    assert {"0: 0.5", "1: 0.5", "1: 1"} <= set(said)
    assert "Before the first step it is in A (0.667) or B (0.333)." in said


def test_arrows_are_as_wide_as_steps_are_likely(tmp_path: Path) -> None:
    """Of the golden mean: two steps of 1/2, one of 1."""
    found = sorted(widths(drawn(tmp_path, "GoldenMean")))
    assert found == pytest.approx([2.3, 2.3, 4.0])


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "title", "numbers"),
    [
        (
            "examples/weather.json",
            "reached",
            ["0.1", "0.4", "0.5", "0.6", "0.3", "0.1"],
        ),
        ("Mess3", "reached", ["0.85", *["0.075"] * 3]),
        ("mixture:RanHMM3,3@0..1", "reached", []),
    ],
)
def test_letters_that_do_not_depend_on_the_whole_step_stand_in_a_table(
    tmp_path: Path, name: str, title: str, numbers: list[str]
) -> None:
    model = krohn.hidden_markov(name)
    save(draw_hidden_markov(model), tmp_path / "p.svg")
    said = texts(ElementTree.parse(tmp_path / "p.svg").getroot())
    assert f"Letters, by the state that is {title}" in said
    assert "The number at an arrow is the probability of its step." in said
    at = [said.index(each) for each in numbers]
    assert len(at) == len(numbers)
    steps = model.operators.sum(axis=0)
    written = [f"{p:.2g}" for p in steps[steps >= 0.02]]
    assert all(said.count(each) >= written.count(each) for each in written)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    said = " ".join(texts(drawn(tmp_path, "Cyclic-RND5,5@3:epsilon=0.01")))
    assert "if actions are uniform" in said
    assert "The letters are not written: there are too many." in said
    assert "of a probability below 0.02 left out" in said


def test_names_of_any_kind_are_drawn(tmp_path: Path) -> None:
    odd = HiddenMarkovModel.of(
        "<&>\n",
        [[1.0]],
        [[0.5], [0.5]],
        before=[1.0],
        states=["$x$ \\"],
        letters=["a\tb", "é" * 60],
    )
    save(draw_hidden_markov(odd), tmp_path / "p.svg")
    said = texts(ElementTree.parse(tmp_path / "p.svg").getroot())
    assert "$x$ \\" in said


def test_a_model_of_many_states_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DrawingError, match=r"75 states, .* shows up to 40"):
        drawn(tmp_path, "Cyclic-HARD5,5@3")
