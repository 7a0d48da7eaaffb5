"""A wrong word is told once, by its runs, and cut; how to replay it has all of it."""

from pathlib import Path

import pytest

import krohn
from krohn.algebra.wording import LONGEST
from krohn.report import Report
from krohn.show import network
from krohn.verify.testing.counterexample import Counterexample


def test_a_verdict_cuts_a_long_word_and_shows_where_it_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    word, right = ("a", "b") * 255, ("even", "odd") * 255
    wrong = Counterexample(word, right, (*right[:-1], "none"))
    found = Report("refuted", "sample", "why", 510, 1, "one word", wrong)
    network.report("f", found, f"krohn run f {' '.join(word)}")
    lines = capsys.readouterr().out.splitlines()
    (replayed,) = [line for line in lines if len(line) > LONGEST + 20]
    assert replayed.endswith(" ".join(word))
    shown = dict(line.split(maxsplit=1) for line in lines[2:5])
    assert shown["word"].startswith("a b a b")
    assert shown["word"].endswith("…")
    assert shown["expected"].endswith("even odd")
    assert shown["actual"].endswith("even none")


@pytest.mark.slow
def test_a_word_that_several_constructions_fail_on_is_told_once() -> None:
    class Wrong:
        verdict, word, reason = "refuted", (0,) * 510, ""

    machine = krohn.zoo("C2")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("krohn.compiled_model.prove", lambda *_: Wrong())
        with pytest.raises(krohn.CompileError) as told:
            krohn.compile(machine, 510)
    said = str(told.value)
    assert said.count(f"{machine.letters[0]}^510") == 1
    assert "counter, " in said


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Select8", "inputs of 8 vectors"),
        ("Sorted3,4", "inputs of 3 vectors"),
        ("Nearest3", "inputs of up to 6 vectors"),
    ],
)
def test_inputs_that_are_all_there_are_not_up_to_so_many(
    source: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from krohn import cli

    assert cli.run(["compile", source, "-o", str(tmp_path / "f.safetensors")]) == 0
    assert said in capsys.readouterr().out
