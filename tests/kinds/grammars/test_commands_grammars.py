"""Grammars through the commands: cut, compiled, proved, and held against the whole."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError

Call = Callable[..., tuple[int, Any]]


def test_a_cut_grammar_is_compiled_and_says_the_law_of_the_next_letter(
    call: Call, tmp_path: Path
) -> None:
    own = tmp_path / "own.pcfg"
    own.write_text("S -> ( S ) S [1/4] | [3/4]\n")
    file = tmp_path / "f.safetensors"
    code, _ = call("compile", f"{own}:depth=2", "-T", 8, "-o", file)
    assert code == 0
    code, told = call("verify", file, "--proof", "--sample", 50)
    assert (code, told["verdict"]) == (0, "verified")
    model = krohn.hidden_markov(f"{own}:depth=2")
    code, told = call("run", file, "( ( ) ) #")
    after = dict(zip(model.letters, told["next"][1], strict=True))
    assert after[")"] == pytest.approx(1.0)  # no deeper
    masses = [Fraction(3, 4)]
    for _ in range(2):  # f = p + (1 - p)·(the depth before)·f
        masses.append(Fraction(3, 4) / (1 - masses[-1] / 4))
    first = dict(zip(model.letters, told["next"][4], strict=True))
    assert first["#"] == pytest.approx(float(Fraction(3, 4) / masses[2]))


def test_the_command_says_depths_laws_words_and_sentences(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--depth", 1, "-T", 2, "--word", "( ]", "--sample", 2, "--seed", 3)
    code, told = call("grammar", "pcfg:Dyck2", *arguments)
    assert code == 0
    assert told["depths"][1]["within"] == "15/19"
    assert [row["length"] for row in told["cut"]["lengths"]] == [0, 1, 2]
    assert told["asked"]["prefix"] == "0"
    assert len(told["sample"]) == 2
    assert cli.run(["grammar", "pcfg:Dyck2", *map(str, arguments)]) == 0
    said = capsys.readouterr().out
    for row in told["sample"]:
        assert f"depth {row['depth']}: {' '.join(row['sentence'])}" in said
    code, told = call("grammar", "pcfg:Dyck2", "--word", "( _ ] )")
    assert told["asked"]["hidden"]["2"]["["] == "1"


def test_grammars_are_python_objects_too() -> None:
    assert krohn.grammar("pcfg:AnBn").mean_length == 4
    with pytest.raises(KrohnError, match="names no grammar"):
        krohn.grammar("AnBn")
    model = krohn.hidden_markov("pcfg:AnBn:depth=1")
    assert np.allclose(model.operators.sum(axis=(0, 1)), 1)


def test_how_a_grammar_was_read_is_said_by_every_command(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.pcfg"
    own.write_text("S -> a S | b\n")
    said = "the rules of S have no probabilities, and are taken as equally likely"
    code, told = call("grammar", own)
    assert (code, told["remark"]) == (0, f"{own}: {said}")
    for within in (0.1, 2):  # with a network, and without one
        code, told = call("explain", f"{own}:depth=0", "--within", within)
        assert code == 0
        assert said in told["remark"]
    file = tmp_path / "f.safetensors"
    code, told = call("compile", f"{own}:depth=0", "-T", 4, "-o", file)
    assert (code, told["remark"]) == (0, f"{own}: {said}")
    assert krohn.grammar(own).remark in krohn.hidden_markov(f"{own}:depth=0").remark
    assert cli.run(["grammar", str(own)]) == 0
    assert said in capsys.readouterr().err
