"""``krohn compare`` on hidden Markov models, with networks that learn next to nothing."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import Command

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.comparison import belief_comparison
from krohn.instruments.compare.comparison.belief_comparison import BeliefQuestion
from krohn.instruments.compare.comparison.belief_result import (
    BeliefComparison,
    over_seeds,
)
from krohn.instruments.compare.comparison.settings import Settings
from krohn.instruments.compare.draw_belief_page import render
from krohn.instruments.compare.tasks.beliefs import belief_task
from krohn.kinds.hidden_markov import source_files as files
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems.source import LinearSystem

TINY = ("--width", 16, "--steps", 4, "--jobs", 1, "-T", 4, "--layers", 2)


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure as in use, on fewer words."""
    monkeypatch.setattr(belief_comparison, "WORDS", 64)
    monkeypatch.setattr(belief_comparison, "TOKENS", 4096)


@pytest.mark.slow
def test_all_are_measured_on_the_same_words_and_kept(
    compared: Command, tmp_path: Path
) -> None:
    """Cyclic-DET is a machine to other commands, and a linear system to this one."""
    page = tmp_path / "det.html"
    asked = ("Cyclic-DET3,2@1", *TINY, "--seeds", 1, "-o", page, "--json")
    code, out, _ = compared(*asked)
    assert code == 0
    found = BeliefComparison.from_object(json.loads(out))
    keys = [m.key for m in found.models]
    assert keys == ["compiled", "exact", "ngram", "rnn", "gpt1", "gpt2", "blocks"]
    assert found.proved is not None
    assert found.proved.verdict == "verified"
    compiled, exact = found.models[0].ones[0], found.models[1].ones[0]
    assert compiled.scores.error <= found.proved.error
    assert compiled.scores.fits == exact.scores.fits == (4, 4)
    assert compiled.probes[-1].belief == pytest.approx(1)
    assert exact.scores.error == exact.scores.floor == 0
    rnn = found.of("rnn")
    assert rnn is not None
    assert [one.seed for one in rnn.ones] == [0]
    assert all(one.training and one.training.steps == (4,) for one in rnn.ones)
    assert found.geometry[0].title == "compiled"
    assert len(found.geometry) == 3  # three states: a triangle
    assert np.allclose(found.geometry[0].exact, found.geometry[0].read, atol=1e-3)
    text = page.read_text()
    assert "<script" not in text
    assert "The geometry of beliefs" in text
    assert "is proved: within" in text
    # The same command again trains nothing, and comes to the same.
    code, out, _ = compared(*asked)
    again = BeliefComparison.from_object(json.loads(out))
    assert again.models == found.models
    assert BeliefComparison.from_object(found.to_object()) == found


@pytest.mark.slow
def test_a_table_is_printed(compared: Command) -> None:
    code, out, _ = compared("MatMul2,2@1", *TINY, "--seeds", 1)
    assert code == 0
    assert "the vector b_t" in out
    assert "above floor" not in out  # there is no entropy
    assert "depth 2" in out


@pytest.mark.slow
def test_of_hard_instances_the_revealed_state_is_asked(tmp_path: Path) -> None:
    found = krohn.compare(
        "Cyclic-HARD3,2@1:alpha=0.2",
        layers=1,
        steps=4,
        seeds=1,
        jobs=1,
        width=16,
        length=4,
    )
    assert isinstance(found, BeliefComparison)
    assert found.task == "the law of the next letter where it comes after *"
    exact = found.of("exact")
    assert exact is not None
    assert exact.ones[0].scores.errors[0] is None  # the first letter is no *
    assert exact.ones[0].scores.floor == pytest.approx(0, abs=1e-9)
    assert "nothing" not in render(found)


def test_plans_follow_the_paper() -> None:
    task = belief_task("RanHMM3,2@1")
    chosen = BeliefQuestion(task, Settings(preset="paper")).plans()
    assert list(chosen) == ["rnn", *(f"gpt{d}" for d in range(1, 8)), "blocks"]
    assert chosen["gpt6"].recipe.stages == (64, 120)
    assert chosen["blocks"].architecture.description.startswith("GPT-2 of 3 blocks")
    assert chosen["blocks"].recipe.block == 8
    assert chosen["rnn"].recipe.stages == ()


def test_what_there_was_no_time_for_is_named(
    compared: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise KrohnError("it forgets too slowly")

    monkeypatch.setattr(belief_comparison, "compile_source", refuse)
    page = tmp_path / "none.html"
    asked = ("Mess3", *TINY, "--seeds", 1, "--seconds", 0, "-o", page)
    code, out, _ = compared(*asked)
    assert code == 0
    assert "Not trained, because the time was up: RNN; depth 1" in out
    assert "There is no compiled network to compare with: it forgets too slowly" in out
    assert "What probes read" not in page.read_text()


def test_sources_from_python_and_from_files(tmp_path: Path) -> None:
    step = np.array([[0.9, 0.2], [0.1, 0.8]])
    model = HiddenMarkovModel.of("mine", step, step, before=[1.0, 0.0])
    task = belief_task(model)
    assert task is not None
    assert task.source is model
    file = tmp_path / "mine.json"
    file.write_text(files.text(model))
    kept = belief_task(file)
    assert kept is not None
    assert np.array_equal(kept.source.operators, model.operators)
    for name, kind in (("Cyclic-DET3,2@1", LinearSystem), ("RanHMM3,2@1", type(model))):
        found = belief_task(name)
        assert found is not None
        assert isinstance(found.source, kind)
    assert belief_task("C2") is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Cyclic-DET5,99@1",), "needs 2 to 64 states and 1 to 64 letters"),
        (("MatMul3,2@1", "--preset", "big"), "--preset takes desk, paper, not 'big'"),
        (("MatMul3,2@1", "--complete", "sink"), "which is no machine"),
        (("MatMul3,2@1", "--positions", "round"), "--positions takes"),
        (("MatMul3,2@1", "--width", "15"), "4 heads do not divide a width of 15"),
    ],
)
def test_refusals_are_one_line(
    compared: Command, arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = compared(*arguments)
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert not out


@pytest.mark.slow
def test_a_model_that_forgets_is_compiled_within_the_threshold() -> None:
    found = krohn.compare(
        "RanHMM5,2@3", layers=1, steps=4, seeds=1, jobs=1, width=16, length=4
    )
    assert isinstance(found, BeliefComparison)
    assert found.proved is not None
    assert 0 < found.proved.error <= 0.05
    compiled = found.models[0].ones[0].scores
    assert 0 < compiled.error <= found.proved.error
    assert compiled.fits == (4, 4)


def test_means_have_intervals_where_seeds_differ() -> None:
    """Student's for two numbers: 12.706 · (difference/√2)/√2."""
    assert over_seeds([1.0, 3.0]) == "2 ± 13"
    assert over_seeds([0.5]) == "0.5"
    assert over_seeds([0.5, 0.5]) == "0.5"
    assert over_seeds([0.5, None]) == over_seeds([]) == "–"


@pytest.mark.slow
def test_prompts_are_told_by_demonstrations_and_by_letters_of_the_test(
    compared: Command, tmp_path: Path
) -> None:
    """Three demonstrations of three letters, and room for two letters of a test."""
    page = tmp_path / "prompts.html"
    asked = "prompts2:mixture:RanHMM3,3@0..1", *TINY[:4], "--jobs", 1, "-T", 15
    code, out, _ = compared(*asked, "--layers", 1, "--seeds", 1, "-o", page, "--json")
    assert code == 0
    found = BeliefComparison.from_object(json.loads(out))
    assert found.window == 2
    assert found.task == "the law of the next letter"
    exact = found.of("exact")
    assert exact is not None
    scores = exact.ones[0].scores
    assert scores.error == 0
    assert len(scores.accuracies) == 15
    by_count, right_by_count, by_length, right_by_length = found.further_tables()
    assert by_count[0] == ["total variation", "n=0", "n=1", "n=2", "n=3"]
    assert by_length[0] == ["total variation", "j=0", "j=1", "j=2"]
    titles = [model.title for model in found.models]
    for table in found.further_tables():
        assert [row[0] for row in table[1:]] == titles
    at = titles.index("exact filter") + 1
    assert set(by_count[at][1:]) == {"0"}
    shares = [float(scores.accuracies[n * 4 + 1] or 0) for n in range(4)]
    assert right_by_count[at][1:] == [f"{100 * share:.3g}" for share in shares]
    assert shares[0] < shares[3]  # it learns which model it is
    assert right_by_length[at][-1] == right_by_count[at][-1]
    assert [by_count[i][-1] for i in range(1, at)] == [
        by_length[i][-1] for i in range(1, at)
    ]
    if "in context" in titles:
        row = by_count[titles.index("in context") + 1]
        assert float(row[1]) > 0
    assert "n=3" in page.read_text()
