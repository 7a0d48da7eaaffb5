"""What ``--help`` prints: groups, examples that work, summaries that are not cut."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from help_examples import GROUP, NAMES, TRAINING, examples, in_order, put_files, written
from slices_here import needs

from krohn import cli


def sections(text: str) -> dict[str, list[str]]:
    """The lines of each section of a help text, that begin an option."""
    known: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            name = line
        elif line.startswith("  -"):
            known.setdefault(name, []).append(line)
    return known


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_command_are_commands(name: str) -> None:
    typed = examples(name)
    assert len(typed) >= 3
    assert name in {words[0] for words in typed}
    for command, *arguments in typed:
        GROUP.commands[command].make_context(command, arguments)


@pytest.mark.parametrize("name", NAMES)
def test_options_are_in_groups_that_can_be_looked_through(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "\nExamples:\n  krohn " in text
    assert max(len(each) for each in sections(text).values()) <= 16


TYPE = re.compile(r"<[\w\[\] ]+>|\bx[<>]=|<=x|\b(?:INTEGER|FLOAT|TEXT|PATH)\b")
"""How typer and click write the type and the range of a value."""


@pytest.mark.parametrize("name", NAMES)
def test_values_stand_under_words_and_not_under_types(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([name, "--help"]) == 0
    assert not TYPE.findall(capsys.readouterr().out)


def test_summaries_are_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name in NAMES:
        (summary, *_) = GROUP.commands[name].help.split("\n\n")
        assert f"{name} {' '.join(summary.split())}" in text


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ("compile", "MACHINE and -o/--output and -T/--length"),
        ("compile C2", "-o/--output and -T/--length"),
        ("compile C2 -T 4", "-o/--output"),
        ("compile C2 --arch rnn", "-o/--output"),
        pytest.param(
            "export F", "--to and -o/--output", marks=needs("architectures.exports")
        ),
        pytest.param(
            "score", "CIRCUIT and ANSWER", marks=needs("instruments.workbench")
        ),
    ],
)
def test_all_that_is_missing_is_named_at_once(
    arguments: str, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *_ = typed = arguments.split()
    assert cli.run(typed) == 2
    expected = f"krohn: {name} needs {missing} (see `krohn {name} --help`)\n"
    assert capsys.readouterr().err == expected


@pytest.mark.slow
def test_the_examples_work_one_after_the_other(tmp_path: Path) -> None:
    put_files(tmp_path)
    for words in in_order():
        if words[0] == TRAINING:  # tests/clean_installs.py runs these as well
            continue
        if "--prove" in words and shutil.which("coqc") is None:
            continue
        done = subprocess.run(
            [sys.executable, "-m", "krohn", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (words, done.stderr)
        assert all((tmp_path / name).exists() for name in written(words)), words


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("compile C2 --dtype f", {"float64", "float32", "float16"}),
        ("compile C2 --construction parity-t", {"parity-tree", "parity-table"}),
        ("compile C2 --minimise d", {"depth"}),
        ("compile C2 --observe st", {"stack-top"}),
        ("explain C2 --effort un", {"unlimited"}),
        ("explain Flip", {"FlipFlop"}),
        ("explain pyproj", {"pyproject.toml"}),
        pytest.param("export F --to o", {"onnx"}, marks=needs("architectures.exports")),
        pytest.param(
            "workbench set --only d6",
            {"d6", "d6-disguised"},
            marks=needs("instruments.workbench"),
        ),
    ],
)
def test_a_shell_completes_values(
    typed: str, values: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    words = ["krohn", *typed.split()]
    asked = {
        "_KROHN_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from krohn.cli import run; run([])"],
        capture_output=True,
        text=True,
        env=os.environ | asked,
    )
    assert set(done.stdout.split()) == values
