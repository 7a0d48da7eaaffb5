"""Learning in context through the commands and the public face."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import refused, said
from context_networks import built, of
from typer.testing import CliRunner

import krohn
from krohn.algebra.errors import KrohnError
from krohn.cli import application
from krohn.kinds.hidden_markov.commands_facts import gamma
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_structure import observation_operator
from krohn.kinds.in_context.source import exactly

NAME = "InContext3,2:demonstrations=5,steps=4"
SOURCE = of(NAME)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("context") / "f.safetensors")
    told = said("compile", NAME, "-o", path)
    assert told["claim"] == "within"
    assert told["verdict"] == "verified"
    assert told["dtype"] == "float64"
    assert told["layers"] == SOURCE.window + SOURCE.ahead + SOURCE.steps
    assert 0 < told["error"] < 1e-13
    return path


def test_a_prompt_in_a_file_and_in_words_have_the_same_law(
    file: str, tmp_path: Path
) -> None:
    """A demonstration a line, the history last; blanks between letters or none."""
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("1 2 3\n2 3 1 |\n\n123\n312\n", encoding="utf-8")
    read, written = said("run", file, str(prompt)), said("run", file, "123|231|123|312")
    assert read == written == said("run", file, "1 2 3 | 2 3 1 | 1 2 3", "| 3 1 2")
    right = exactly(SOURCE, SOURCE.parse_prompt(list("123|231|123|312")))
    both = zip(right, written["law"].values(), strict=True)
    assert all(abs(float(x) - y) <= written["error"] for x, y in both)
    assert written["law"] == written["next"]
    assert written["condition"] > 1


def test_prompts_come_from_standard_input_a_line_each(file: str) -> None:
    lines = "123|12\n1 2 3 | 2 3\n"
    found = CliRunner().invoke(application(), ["run", file, "--json"], input=lines)
    first, second = (json.loads(line) for line in found.output.splitlines())
    assert first["word"] == list("123|12")
    assert second["word"] == list("123|23")


def test_every_prompt_of_a_small_form_can_be_run(tmp_path: Path) -> None:
    path = tmp_path / "f.safetensors"
    krohn.compile("InContext2,1:demonstrations=2,history=2").save(path)
    report = krohn.verify(path, exhaustive=5)
    assert report.verdict == "undecided"  # of numbers nothing is verified by runs
    assert report.words == 2**3 + 2**4 + 2**5
    with pytest.raises(KrohnError, match="at least 3 letters"):
        krohn.verify(path, exhaustive=2)
    with pytest.raises(KrohnError, match="too many to run"):
        krohn.verify(built(SOURCE), exhaustive=23)


def test_pairs_are_predicted_and_their_first_letters() -> None:
    model = krohn.compile("InContext2,1:demonstrations=3,steps=3,ahead=2")
    kind = krohn.source_kinds.of_file(model.file)
    assert kind is not None
    told = kind.run(model.file, ["112|121|212|1"])
    assert list(told["law"]) == ["1 1", "1 2", "2 1", "2 2"]
    law = np.array(list(told["law"].values()))
    assert told["next"]["1"] == pytest.approx(law[0] + law[1], abs=1e-15)


def test_explain_says_the_form_and_the_step() -> None:
    told = said("explain", NAME)
    assert told["step_size"] == 0.5
    assert told["demonstrations"] == "1 to 5, of 3 letters"
    assert said("zoo")["families"].count(
        {
            "name": "InContext3,2",
            "kind": "context-learner",
            "description": "learns in context which of 3 letters follows the last 2",
        }
    )


def test_no_file_is_read_that_is_no_prompt(file: str, tmp_path: Path) -> None:
    binary = tmp_path / "b"
    binary.write_bytes(b"\xff1 2")
    refused("not UTF-8 text", "run", file, binary)
    binary.write_bytes("1 2".encode("utf-16"))
    refused("text in UTF-16 or UTF-32; save it as UTF-8", "run", file, binary)
    refused(r"no.txt: there is no such file", "run", file, "no.txt")


def test_pairs_tell_states_apart_that_letters_do_not() -> None:
    """Assumption A4 in place of A2: 4 states, 3 letters; γ of a letter is 0, of two not."""
    step = 0.7 * np.eye(4) + 0.3 * np.roll(np.eye(4), 1, axis=0)
    say = 0.075 + 0.775 * np.eye(3)[:, np.arange(4) % 3]
    model = HiddenMarkovModel.of("sticky", step, say, before=np.full(4, 0.25))
    single, pair = (gamma(observation_operator(model, m)) for m in (1, 2))
    assert single == pytest.approx(0, abs=1e-12)
    assert pair == pytest.approx(0.2154, abs=1e-4)
