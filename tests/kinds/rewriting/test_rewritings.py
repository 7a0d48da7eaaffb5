"""Rewriting systems from the command: compiled, proved, run; trouble is one line."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_files import restated

import krohn
from krohn import cli
from krohn.network.attention_cost import parts
from krohn.verify.proof import prove

Call = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def arithmetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "a.safetensors"
    krohn.compile("Arithmetic3,11", attention="sparse").save(path)
    return path


@pytest.mark.slow
def test_an_expression_is_evaluated_step_by_step(arithmetic: Path, call: Call) -> None:
    code, told = call("run", arithmetic, "(1+2)*3/10")
    assert code == 0
    assert told["shown"] == "( 1 + 2 ) * 3 / 10 = 3 * 3 / 10 = 9 / 10 = 2 <eos>"
    assert told["answer"] == "2"
    assert [step["is"] for step in told["steps"]] == ["line 2", "line 3", "line 4"]
    assert not any(told.pop("unproved"))
    assert call("run", "Arithmetic3,11", "(1+2)*3/10") == (0, told)


def test_steps_are_printed(
    arithmetic: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["run", str(arithmetic), "1+2*3=", "--steps"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("   of ")[1] == "line 1 1 + 2 * 3"
    assert cli.run(["run", str(arithmetic), "1+2*3", "--quiet"]) == 0
    assert capsys.readouterr().out == "7\n"


@pytest.mark.slow
def test_it_is_verified_and_explained(arithmetic: Path, call: Call) -> None:
    code, told = call("verify", arithmetic, "--proof", "--sample", 20)
    assert (code, told["verdict"]) == (0, "verified")
    assert "11 letters" in told["covers"]
    code, told = call("verify", arithmetic, "--machine", "Arithmetic3,7")
    assert "different letters" in told["error"]
    assert (
        "too many to run" in call("verify", arithmetic, "--exhaustive", 9)[1]["error"]
    )
    code, told = call("explain", "Arithmetic6,11")
    assert (told["depth"], told["longest_line"], told["sparse_window"]) == (5, 23, 24)


@pytest.mark.slow
def test_rules_that_never_apply_are_warned_of(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text("letters a b\nlongest 3\nrule a -> b\nrule a b -> b\n")
    command = "compile", str(rules), "-T", "20", "-o", str(tmp_path / "f.safetensors")
    assert cli.run([*command]) == 0
    assert "warning: line 4: rule 2 never applies" in capsys.readouterr().out
    assert call(*command)[1]["rules_that_never_apply"] == [2]
    assert call("explain", rules, "-T", 20)[1]["rules_that_never_apply"] == [2]
    rules.write_text("letters a b\nlongest 3\nrule a -> b\nrule b b -> b\n")
    assert "rules_that_never_apply" not in call(*command)[1]


@pytest.mark.slow
def test_an_order_says_how_many_tokens_are_read(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """28 pairs of 8 letters: 29 lines of 9 tokens, all but the last one read."""
    made = str(tmp_path / "f.safetensors")
    told = call("explain", "Sorting8")[1]
    assert (told["steps"], told["tokens"], told["whole_texts"]) == (28, 260, 260)
    assert "1 for each b before a a" in told["order"][0]
    assert call("compile", "Sorting4", "-o", made)[1]["length"] == 7 * 5 - 1
    assert call("run", made, "dcba")[1]["answer"] == "a b c d"
    for source, words in (
        ("Sorting4", "more than 20 tokens; 34 are enough for all"),
        ("Counter4", "more than 20 tokens, or no end: no order was found"),
    ):
        assert cli.run(["compile", source, "-T", "20", "-o", made]) == 0
        assert f"warning: texts may have {words}" in capsys.readouterr().out


@pytest.mark.slow
def test_a_file_of_rules(tmp_path: Path, call: Call) -> None:
    rules, made = tmp_path / "swap.rules", tmp_path / "f.safetensors"
    rules.write_text("letters a b\nlongest 5\nrule b a -> a b\n")
    code, told = call("compile", rules, "-T", 60, "-o", made)
    assert (code, told["verdict"]) == (0, "verified")
    assert call("run", made, "babaa")[1]["answer"] == "a a a b b"
    code, told = call("verify", made, "--exhaustive", 5)
    assert (told["verdict"], told["words"]) == ("verified", 62)


@pytest.mark.slow
def test_a_text_that_goes_on_has_no_answer(tmp_path: Path, call: Call) -> None:
    made = tmp_path / "c.safetensors"
    call("compile", "Counter4", "-T", 30, "-o", made)
    told = call("run", made, "000>")[1]
    assert told["answer"] is None
    assert told["shown"].endswith("…")


@pytest.mark.slow
def test_nothing_grows_with_the_expression_but_the_tokens() -> None:
    """Depth, heads, width and MLPs are the same numbers for all n (Yang et al. 2024, 5.1).

    Of L tokens, n = Θ(√L), work where positions meet is L² of standard heads, and nearly
    L√L of sparse ones, which see the last 4n positions and the ends of blocks (Table 1).
    """
    found: dict[str, list[tuple[int, float]]] = {"standard": [], "sparse": []}
    shapes = set()
    for attention, rows in found.items():
        for operators in (6, 24):
            model = krohn.compile(
                f"Arithmetic{operators},5",
                attention=attention,
                dtype="float64",
                proof=False,
            )
            shape = model.file.header["architecture"]
            sizes = ("heads", "d_qk", "d_v")
            blocks = shape["blocks"]
            told = [(*(b[size] for size in sizes), *b["mlp"]) for b in blocks]
            shapes.add((shape["d_model"], *told))
            meeting, _ = parts(model.file.architecture, shape["positions"] - 1)
            rows.append((shape["positions"], meeting))
    assert len(shapes) == 1
    slopes = {
        attention: math.log(rows[1][1] / rows[0][1]) / math.log(rows[1][0] / rows[0][0])
        for attention, rows in found.items()
    }
    assert slopes["standard"] == pytest.approx(2)
    assert 1.5 < slopes["sparse"] < 1.54


@pytest.mark.slow
def test_short_texts_of_increasing_subsequences(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "l.safetensors"
    code, told = call("compile", "ShortLIS6,12", "-o", path)
    assert (code, told["verdict"]) == (0, "verified")
    told = call("run", path, "3 11 2 5")[1]
    assert told["shown"] == "3 11 2 5 <sep> 1 2 1 2 <sep> 2 <eos>"
    assert call("verify", path, "--proof", "--sample", 20)[1]["verdict"] == "verified"
    assert call("explain", "ShortLIS6,12")[1]["depth"] == 3


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", [{"longest": 3}, {"largest": 2}, {"largest": 4}])
def test_short_texts_of_other_lists_are_not_proved(change: dict[str, Any]) -> None:
    file = restated(krohn.compile("ShortLIS4,3", proof=False).file, "source", **change)
    assert prove(file, None).verdict != "verified"
