"""Answers beyond the claim of a file are marked or refused, whatever it is about."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from every_kind import SOURCES as KNOWN, compiled

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.network.modelfile import ModelFile, write
from krohn.open_model import Model
from krohn.running import Runner, runner_of
from krohn.source_kinds import KINDS
from krohn.source_kinds.written_texts import TextKind

SOURCES = {**KNOWN, "program": ("program:histogram", {"length": 4}, "abab")}
"""Functions of the position say T, too: with them a shorter claim is damage."""
REFUSED = {"hidden-markov", "linear-system", "rewriting"}
"""The kinds whose networks read no more than is claimed."""


def shorter(file: ModelFile, length: int) -> ModelFile:
    """The network of a file with a claim for shorter inputs."""
    claim = {**file.header["claim"], "length": length}
    return replace(file, header={**file.header, "claim": claim})


@cache
def made(kind: str) -> ModelFile:
    name, how, _ = SOURCES[kind]
    return krohn.compile(name, **how).file if kind == "program" else compiled(kind).file


def said(file: ModelFile, words: str) -> dict[str, Any]:
    return KINDS[file.header["source"]["kind"]].run(file, [words])


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_marks_or_refuses_what_is_beyond_its_claim(kind: str) -> None:
    file, words = made(kind), SOURCES[kind][2]
    told = said(file, words)
    error = file.header["claim"].get("error")
    assert (not any(told["unproved"]), told.get("error")) == (True, error)
    assert "note" not in told
    if kind in REFUSED:
        with pytest.raises(KrohnError, match=r"up to 1 (letters|tokens)"):
            said(shorter(file, 1), words)
        return
    told = said(shorter(file, 1), words)
    if kind == "posterior-head":  # each vector is an input by itself
        assert not any(told["unproved"])
        return
    assert told["unproved"][-1]
    assert told.get("error") is None
    assert told["note"].startswith("unproved: answer")


def test_only_what_is_beyond_the_claim_is_marked() -> None:
    file = krohn.compile("Exp4", arch="rnn").file
    told = said(file, "0.5 0.5 0.5 0.5 0.5 0.5")
    assert told["unproved"] == [False] * 4 + [True] * 2
    assert told["error"] is None
    assert (
        told["note"] == "unproved: answers 5 to 6 are beyond the 4 vectors of the claim"
    )


def test_all_is_beyond_the_claim_where_later_letters_count() -> None:
    file = krohn.compile("program:histogram", 4).file
    assert said(shorter(file, 3), "abab")["unproved"] == [True] * 4


def test_nothing_is_proved_of_words_that_are_never_said() -> None:
    told = said(compiled("hidden-markov rnn").file, "1 0 0 1")
    assert told["unproved"] == [not possible for possible in told["possible"]]
    assert any(told["unproved"])
    assert told["error"] is None


def test_machines_mark_what_is_beyond_their_claim() -> None:
    file = krohn.compile("C2", 5, arch="ssm").file
    told = runner_of(file).run(list("1111111"))
    assert told["unproved"] == [False] * 5 + [True] * 2
    file = krohn.compile_generator("Dyck2,2", 4).file
    assert runner_of(file).run([])["unproved"] == [False]
    file = krohn.compile("C2", arch="rnn").file
    assert not any(runner_of(file).run(["1"] * 300)["unproved"])


MACHINES: dict[str, dict[str, Any]] = {
    "transformer": {"length": 5},
    "ssm": {"length": 5, "arch": "ssm"},
    "rnn": {"arch": "rnn"},
    "lstm": {"arch": "lstm"},
    "gru": {"arch": "gru"},
}
"""How networks of one machine are compiled; those without a length have no longest word."""
LONG = ["1"] * 8


def _marked(ask: Callable[[], dict[str, Any]]) -> list[bool]:
    """Which answers are marked as unproved; all of them if the question is refused."""
    try:
        return list(ask()["unproved"])
    except KrohnError as refused:
        if "of up to 5 letters" not in str(refused):
            raise
        return [False] * 5 + [True] * 3


def _result(ask: Callable[..., Any], ways: dict[str, bool]) -> dict[str, Any]:
    result: dict[str, Any] = ask(LONG, **ways).result
    return result


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", MACHINES)
def test_no_way_to_run_a_machine_gives_bare_answers_beyond_its_claim(
    how: str, call: Callable[..., tuple[int, Any]], tmp_path: Any
) -> None:
    made, path = krohn.compile("C2", **MACHINES[how]), tmp_path / "m.safetensors"
    made.save(path)
    claimed, runner = "length" in MACHINES[how], runner_of(made.file)
    assert isinstance(runner, Runner)
    asked = (lambda: runner.run(LONG), lambda: runner.run_alike([LONG, LONG])[1])
    for ask in asked:
        assert _marked(ask) == [False] * 5 + [claimed] * 3
    code, told = call("run", path, *LONG)
    assert code == 2 or _marked(lambda: told) == [False] * 5 + [claimed] * 3
    net = krohn.load(path)
    for ways in ({}, {"states": True}):
        for ask in (net.run, lambda word, **how: net.run([["0"], word], **how)[-1]):
            said = _marked(partial(_result, ask, ways))
            assert said == [False] * 5 + [claimed] * 3
    assert not any(net.run(LONG[:5]).unproved)


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", MACHINES)
def test_streams_never_go_beyond_the_claim(how: str) -> None:
    model = Model(krohn.compile("C2", **MACHINES[how]).file)
    states = krohn.stream(model).feed(np.ones((1, 50), dtype=np.int64))
    assert states.tolist() == [[1, 0] * 25]


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
def test_python_never_gives_bare_answers_of_a_source_beyond_its_claim(
    kind: str,
) -> None:
    file, words = shorter(made(kind), 1), SOURCES[kind][2]
    model, writes = Model(file), isinstance(KINDS[kind], TextKind)
    if kind in REFUSED:
        with pytest.raises(KrohnError, match=r"up to 1 (letters|tokens)"):
            model.run(words)
    elif kind != "posterior-head":
        assert model.run(words).unproved[-1]
        assert "unproved" in repr(model.run(words))
        assert not writes or model.write(words).unproved[-1]
    with pytest.raises(KrohnError, match="not about a machine"):
        krohn.stream(model)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
def test_the_command_prints_no_error_beyond_a_claim(
    kind: str,
    call: Callable[..., tuple[int, Any]],
    tmp_path: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, words = shorter(made(kind), 1), SOURCES[kind][2]
    path = str(tmp_path / "m.safetensors")
    write(path, file.header, file.tensors)
    code, told = call("run", path, *words.split())
    assert (code == 2) == (kind in REFUSED)
    if code == 2 or kind == "posterior-head":
        return
    assert any(told["unproved"])
    assert told.get("error") is None
    assert cli.run(["run", path, *words.split()]) == 0
    assert told["note"] in capsys.readouterr().out.splitlines()


def test_longer_words_than_claimed_are_not_verified(
    call: Callable[..., tuple[int, Any]], tmp_path: Any
) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile("MatMul2,2@3", 4, block=2).save(path)
    code, told = call("verify", path, "--exhaustive", 9)
    assert (code, told["error"]) == (2, "the file is for words of up to 4 letters")
