"""Dynamic programs in the commands: files, the interpreter, facts, and what is refused."""

import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from math import log2
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.cli import run
from krohn.compile_options import CompileOptions
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.source_examples import CATALOGUE
from krohn.network.attention_cost import parts
from krohn.program.architectures.transformer import Transformer

KIND = ChainsOfThought()
TEXT = CATALOGUE["LCS"].read_text()


def command(*words: str, code: int = 0) -> str:
    """The output of a command, or its one line of an error."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert run([*words]) == code
    if code == 0:
        return out.getvalue()
    assert not out.getvalue()
    (line,) = err.getvalue().splitlines()
    return line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.dp").write_text(TEXT.replace("name LCS\n", ""))
    return tmp_path


def test_a_file_is_compiled_proved_run_and_held_against_its_text(folder: Path) -> None:
    mine, model = f"{folder}/mine.dp:n=3,m=2", f"{folder}/m.safetensors"
    command("compile", mine, "-o", model)
    for source in (model, mine):
        assert command("run", source, "aab|ab", "--quiet") == "2\n"
        lines = command("run", source, "aab|ab", "--steps").splitlines()
        assert lines[0].strip() == "1  C[1, 1]   of s[1] a, t[1] a"
        assert lines[-2].strip() == "2  answer   of C[3, 2] 2"
        assert json.loads(command("run", source, "aab|ab", "--json"))["answer"] == "2"
    assert "right on the whole text" in command("verify", model, "--machine", mine)
    with pytest.raises(KrohnError, match="different letters"):
        krohn.verify(model, machine=f"{folder}/mine.dp")
    assert "is none" in command("verify", model, "--machine", "S5", code=2)


@pytest.mark.slow
def test_a_finer_format_is_taken_where_float32_is_too_coarse(folder: Path) -> None:
    """A product of products makes noise as large as a step; nothing was asked for."""
    text = "input x[1..3] of 1..6\nanswer x[1] * x[2] * x[3]"
    (folder / "cubes.dp").write_text(text)
    cubes, model = f"{folder}/cubes.dp", f"{folder}/m"
    said = command("compile", cubes, "-o", model)
    assert "float64, because no network is proved in float32" in said
    assert command("run", model, "5 6 6", "--quiet") == "180\n"
    told = command("compile", cubes, "-o", model, "--dtype", "float32", code=2)
    assert "a product of products is surer as a table, so that it is a token" in told


@pytest.mark.slow
def test_mistakes_are_one_line(folder: Path) -> None:
    (folder / "wrong.dp").write_text(TEXT.replace("C[i-1, j]", "C[i+1, j]"))
    said = command("compile", f"{folder}/wrong.dp", "-o", f"{folder}/x", code=2)
    assert "line 10, column 15: C[1, 1] reads C[2, 1], which is computed later" in said
    assert not (folder / "x").exists()
    said = command("explain", f"{folder}/no.dp", code=2)
    assert "cannot be read: No such file or directory" in said
    (folder / "wrong.dp").write_bytes(b"\xff")
    assert "wrong.dp:1: not UTF-8 text" in command(
        "explain", f"{folder}/wrong.dp", code=2
    )
    for word, trouble in (
        ("ab|ab", "token 3 is '|', not ["),
        ("ab", "tokens, not"),
        ("aaaaaaaa|aaaaaaa1", "token 17 is '1', not ["),
        ("", "this has 0 tokens"),
        ("a a a a a a a a | a a a a a a a 99", "token 17 is '99', not ["),
    ):
        said = command("run", f"{folder}/mine.dp", word, code=2)
        assert trouble in said
        assert "has the form [a-d] × 8 | [a-d] × 8 <sep>" in said
    both = command("run", f"{folder}/mine.dp", "--steps", "--quiet", "a", code=2)
    assert "exclude each other" in both


@pytest.mark.slow
def test_lines_that_define_no_cell_are_warned_of(folder: Path) -> None:
    (folder / "idle.dp").write_text(f"{TEXT}C[i, 2] = 3\n")
    source, line = f"{folder}/idle.dp:n=2,m=2", TEXT.count("\n") + 1
    said = command("compile", source, "-o", f"{folder}/x.safetensors")
    assert f"warning: line {line} defines no cell" in said
    told = json.loads(command("explain", source, "--json"))
    assert told["lines_that_define_no_cell"] == [line]


@pytest.mark.slow
def test_where_float32_is_too_coarse_digits_are_named(folder: Path) -> None:
    text = "input x[1..2] of 0..900\nanswer "
    for said, advice in (
        ("if x[1] < x[2] then x[1] * 2 else x[2] * 2", ", or write numbers in digits "),
        ("x[1] % 90", "; its widest number is 0 to 900, for the answer"),
    ):
        (folder / "wide.dp").write_text(text + said)
        asked = "compile", f"{folder}/wide.dp", "-o", f"{folder}/x"
        told = command(*asked, "--dtype", "float32", code=2)
        assert f"try --dtype float64{advice}" in told


def test_a_bar_needs_no_blanks_beside_numbers_of_two_digits(folder: Path) -> None:
    text = "input a[1..1] of 0..12\ninput b[1..2] of 0..1\nanswer a[1] + b[1]"
    (folder / "bars.dp").write_text(text)
    assert command("run", f"{folder}/bars.dp", "12|1 0", "--quiet").strip() == "13"


def test_what_is_said_of_it() -> None:
    source = KIND.find_by_name("LCS2,2:letters=2")
    assert source is not None
    found = KIND.explain(source, CompileOptions())
    assert (found["numbers"], found["least"], found["largest"]) == (5, 0, 2)
    assert (found["prompts"], found["of_prompts"]) == ("2^4", "16")
    assert found["regular"] is False
    assert found["locality"] > found["locality_of_numbers"] == 4
    standard = next(w for w in found["networks"] if w["attention"] == "standard")
    assert standard["applies"]
    assert standard["layers"] == 3


def explained(name: str) -> dict[str, Any]:
    source = KIND.find_by_name(name)
    assert source is not None
    return KIND.explain(source, CompileOptions())


@pytest.mark.slow
def test_two_prompts_of_one_text_are_shown() -> None:
    """Two prompts of one text, which Definition 4.3 of Yang et al. rules out."""
    for name in ("EditDistance3,3:letters=2", "LIS8", "LCS2,2:letters=2"):
        found = explained(name)
        assert found["regular"] is False
        one, other = found["one_text"]
        source = KIND.find_by_name(name)
        assert source is not None
        texts = [KIND.interpret_prompt(source, [p])["text"] for p in (one, other)]
        assert one != other
        assert texts[0] == texts[1]


@pytest.mark.slow
def test_texts_that_repeat_their_prompt_are_of_no_other() -> None:
    found = explained("LocalEditDistance4,4:letters=4")
    assert (found["regular"], found["one_text"], found["text_bits"]) == (True, None, 16)
    # Of so few prompts all are tried, and two words without a common letter are alike.
    found = explained("EditDistance2,2:letters=2")
    assert found["text_bits"] == log2(found["different_texts"])


@pytest.mark.slow
def test_operations_and_bounds_of_networks_are_said() -> None:
    for name, asked in (("LIS8", "Theorem 4.4"), ("LCS2,2", "Proposition 5.5")):
        found = explained(name)
        rows = {row["attention"]: row for row in found["networks"]}
        model = krohn.compile(name, attention="linear")
        shape = Transformer.of(model.file.header["architecture"])
        counted = parts(shape, found["tokens"] - 1)
        assert counted == (
            rows["linear"]["meeting_flops"],
            rows["linear"]["other_flops"],
        )
        assert rows["standard"]["width_needed"] is None
        for kind in ("linear", "sparse"):
            assert 1 <= rows[kind]["width_needed"] < rows[kind]["d_model"]
        theorem, counting = found["lower_bounds"]
        assert asked in theorem
        assert "rules no network out" in counting


@pytest.mark.slow
def test_another_text_in_a_file_is_found() -> None:
    file = krohn.compile("LCS2,2:letters=2").file
    source = file.header["source"]
    for old, new in (("C[i-1, j-1] +", "C[i, j-1] +"), ("max(", "min(")):
        text = source["written"] | {"text": source["written"]["text"].replace(old, new)}
        header = {**file.header, "source": {**source, "written": text}}
        report = krohn.verify(replace(file, header=header))
        assert report.verdict == "undecided"
        assert "text in the file" in report.reason
    header = {**file.header, "source": {**source, "written": {"text": "?"}}}
    report = krohn.verify(replace(file, header=header))
    assert report.verdict == "undecided"
    assert "does not say the sizes of its text" in report.reason
    header = {**file.header, "source": {**source, "written": None}}
    report = krohn.verify(replace(file, header=header), proof=True, sample=2)
    assert report.verdict == "verified"


def test_a_dynamic_program_in_python() -> None:
    """The fewest steps on a staircase whose stairs cost something."""
    p = krohn.dynamic_program("stairs")
    cost = p.input("cost", 5, numbers=(0, 3))
    best = p.table("best")
    best[0], best[1] = 0, cost[1]
    for i in range(2, 6):
        best[i] = p.minimum(best[i - 1], best[i - 2]) + cost[i]
    p.answer(p.chain("min", [best[4], best[5]], "end"))
    model = krohn.compile(p)
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    said = KIND.interpret_prompt(p, ["3 1 2 0 3"])
    assert said["answer"] == "1"
    assert KIND.run(model.file, ["3 1 2 0 3"])["text"] == said["text"]
    with pytest.raises(Exception, match=r"best\[5\] is computed twice"):
        best[5] = 3


def test_digits_in_python() -> None:
    p = krohn.dynamic_program("sums")
    p.base = 10
    x = p.input("x", 2, numbers=(0, 9999))
    total = p.table("total")
    total[1] = x[1] + x[2]
    total[2] = p.maximum(total[1], 3 * x[1])
    p.answer(total[2])
    assert KIND.interpret_prompt(p, ["12349999"])["answer"] == "1 1 2 3 3"
    assert KIND.interpret_prompt(p, ["99990001"])["answer"] == "2 9 9 9 7"
