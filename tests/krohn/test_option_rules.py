"""Options that would do nothing are refused, in one line."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn import cli, option_rules
from krohn.algebra.errors import KrohnError
from krohn.commands import compile as compile_command, draw, run, verify

COMPILE = ["compile", "C2"]
RNN = [*COMPILE, "--arch", "rnn"]
BALANCED = ["compile", "Dyck2,2", "-T", "6", "--construction", "balanced"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("needs") / "c2.safetensors"
    krohn.compile("C2", 5).save(path)
    return str(path)


def refused(capsys: pytest.CaptureFixture[str], call: list[str]) -> str:
    assert cli.run(call) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    "option",
    [
        ["-T", "5"],
        ["--strict"],
        ["--uniform"],
        ["--activation", "sine"],
        ["--minimise", "width"],
        ["--minimise", "depth"],
        ["--positions", "circle"],
        ["--effort", "high"],
        ["--passes"],
        ["--seed", "1"],
    ],
)
def test_what_an_rnn_has_no_use_for(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.safetensors"
    said = refused(capsys, [*RNN, *option, "-o", str(path)])
    assert option[0] in said
    assert not path.exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ([*COMPILE, "-T", "5", "--opening", "1/2"], "--construction balanced only"),
        (
            [*COMPILE, "-T", "5", "--construction", "scan", "--effort", "low"],
            "that search",
        ),
        ([*COMPILE, "-T", "5", "--arch", "mamba"], "--arch takes transformer or rnn"),
        ([*BALANCED, "--minimise", "width"], "--minimise has no effect on"),
        ([*BALANCED, "--start", "ε"], "takes none of"),
    ],
)
def test_what_compile_has_no_use_for(
    call: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, [*call, "-o", str(tmp_path / "m.safetensors")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["verify", "--error", "1/8"], "--error needs --gadgets"),
        (["verify", "--html-effort", "3"], "--html-effort needs --html"),
        (["verify", "--timeout", "3"], "--timeout is for questions to z3"),
        (["verify", "--smt-lib", "q"], "--smt-lib needs --smt N"),
        (["verify", "--proof", "--seed", "3"], "--seed is of samples"),
        (["verify", "--smt", "1", "--evidence", "e"], "--evidence has no effect"),
        (["verify", "--gadgets", "1/64", "--shorten", "9"], "--shorten has no effect"),
        (["verify", "--jobs", "2"], "--jobs is for all words"),
        (["verify", "--observe", "zero"], "--observe needs --machine"),
        (["verify", "--as", "mealy"], "--as needs --machine"),
        (["verify", "--start", "0"], "--start needs --machine"),
        (["verify", "--machine", "C2", "--observe", "zero"], "models of outputs"),
        (["run", "--machine", "C2"], "--machine needs --expect"),
        (["run", "--expect", "--complete", "sink"], "--complete needs --machine"),
        (["run", "--last"], "--last is for --stream FILE"),
        (["run", "--stream", "f", "--expect", "1"], "--expect is for words"),
        (["draw", "-o", "m.svg", "--complete", "sink"], "needs a machine"),
        (["draw", "-o", "m.svg", "--eggbox"], "--eggbox needs a machine"),
    ],
)
def test_what_other_commands_have_no_use_for(
    options: list[str], message: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = options
    assert message in refused(capsys, [command, model, *rest])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"arch": "rnn", "length": 5}, "length= is for Transformers"),
        ({"arch": "rnn", "strict": True}, "strict=True is for Transformers"),
        ({"arch": "rnn", "uniform": True}, "uniform=True is for Transformers"),
        ({"arch": "rnn", "activation": "sine"}, "activation= is for Transformers"),
        ({"arch": "rnn", "minimise": "nonsense"}, "minimise= is for Transformers"),
        ({"arch": "lstm", "length": 5}, "length= is for Transformers"),
        ({"length": 5, "minimise": "nonsense"}, "minimise= takes depth, width"),
        (
            {"length": 5, "minimise": "nonsense", "construction": "scan"},
            "minimise= takes depth, width",
        ),
    ],
)
def test_python_refuses_the_same(how: dict[str, Any], message: str) -> None:
    with pytest.raises(KrohnError, match=message):
        krohn.compile("C2", **how)


@pytest.mark.parametrize(
    ("command", "table"),
    [
        (compile_command.compile, option_rules.COMPILE),
        (verify.verify, option_rules.VERIFY),
        (verify.recheck, option_rules.HELD),
        (run.run, option_rules.RUN),
        (draw.draw, option_rules.DRAW),
    ],
)
def test_tables_name_options_that_there_are(
    command: Callable[..., object], table: tuple[option_rules.Need, ...]
) -> None:
    named = {option for need in table for option in need.options}
    assert named <= set(signature(command).parameters)
