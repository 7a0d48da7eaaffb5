"""Texts after many prompts at once are those after each alone, and those of the rules."""

import io
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.kinds.blocks.commands import TextsInBlocks
from krohn.kinds.blocks.source import (
    BLANK,
    completed_texts,
)
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.kinds.dynamic_programs.commands_increasing import IncreasingSubsequences
from krohn.kinds.dynamic_programs.source_increasing import text_of as text_of_list
from krohn.kinds.rewriting.commands import Rewritings
from krohn.kinds.rewriting.source_derivation import text_of
from krohn.network.model import network_for_torch
from krohn.network.reading import Texts, decode
from krohn.source_kinds import KINDS, of_file
from krohn.source_kinds.written_texts import TextKind, reader

PROMPTS = 40
Told = tuple[krohn.CompiledModel, list[str], list[list[str]]]
"""A model, prompts, and the right tokens that `write` gives of each."""


def edit_distance() -> Told:
    return chain("EditDistance3,2", {})


def sparse() -> Told:
    return chain("LIS5:most=9", {"attention": "sparse"})


def linear() -> Told:
    return chain("LCS2,3", {"attention": "linear", "dtype": "float64"})


def chain(name: str, how: dict[str, Any]) -> Told:
    model = krohn.compile(name, **how)
    source = ChainsOfThought().of_file(model.file)
    low, high = np.array(source.prompt).T
    rng = np.random.default_rng(0)
    prompts = rng.integers(low, high + 1, size=(PROMPTS, len(low)))
    right = source.continue_prompts(prompts)[:, len(low) :]
    return model, named(source.tokens, prompts.tolist()), tokens(source.tokens, right)


@cache
def arithmetic() -> Told:
    """Lines and texts of unlike lengths, one of them longer than the file reads."""
    model = krohn.compile("Arithmetic3,7")
    source = Rewritings().of_file(model.file)
    lines = ["3", "1+1", "(2+3)*5", "1-2*3", "2*3+(5-6)*1", "4", "((1+2)*3+4)"] * 6
    most = model.file.header["claim"]["length"] + 1
    told = [text_of(source, [*map(source.letters.index, line)], most) for line in lines]
    assert max(map(len, told)) == most
    both = zip(lines, told, strict=True)
    return model, lines, tokens(source.tokens, [t[len(line) + 1 :] for line, t in both])


def short_lists() -> Told:
    model = krohn.compile("ShortLIS6")
    source = IncreasingSubsequences().of_file(model.file)
    rng = np.random.default_rng(0)
    sizes = [1 + i % 6 for i in range(PROMPTS)]
    lists = [rng.integers(source.largest + 1, size=n).tolist() for n in sizes]
    right = [text_of_list(source, each, 999) for each in lists]
    return model, named(source.tokens, lists), tokens(source.tokens, right)


def blocks() -> Told:
    """Words of unlike lengths, some of which go on after the length of the file."""
    model = krohn.compile("Cyclic-DET3,3@1", 10, block=3)
    source = TextsInBlocks().of_file(model.file)
    rng = np.random.default_rng(0)
    words = [rng.integers(3, size=(1, n)) for n in (1, 2, 3, 4, 7, 10, 11, 25)]
    right = [completed_texts(source, word)[0] for word in words]
    return (
        model,
        named(source.letters, [word[0] for word in words]),
        tokens(source.tokens, right),
    )


def named(names: Sequence[str], rows: Any) -> list[str]:
    return [" ".join(row) for row in tokens(names, rows)]


def tokens(names: Sequence[str], rows: Any) -> list[list[str]]:
    return [[names[i] for i in row] for row in rows]


ALL = (edit_distance, sparse, linear, arithmetic, short_lists, blocks)


@pytest.fixture(scope="module", params=ALL, ids=lambda each: each.__name__)
def told(request: pytest.FixtureRequest) -> Told:
    found: Told = request.param()
    return found


def test_every_kind_of_texts_is_here() -> None:
    wires = {kind.wire for kind in KINDS.values() if isinstance(kind, TextKind)}
    claims = {kind.wire for kind in KINDS.values() if kind.claim == "generates"}
    assert wires == claims
    assert wires == {"chain-of-thought", "increasing", "rewriting", "text-in-blocks"}


@pytest.mark.slow
@pytest.mark.sample(1)
def test_many_at_once_are_one_by_one_and_the_rules(told: Told) -> None:
    model, prompts, right = told
    texts = model.write(prompts)
    assert [text.tokens for text in texts] == right
    assert texts == [model.model.write(prompt) for prompt in prompts]
    assert texts == model.write(tuple(reversed(prompts)))[::-1]


@pytest.mark.sample(1)
def test_it_says_what_run_says(told: Told) -> None:
    model, prompts, _ = told
    kind = of_file(model.file)
    assert kind is not None
    for text, prompt in zip(model.write(prompts), prompts[:8], strict=False):
        said = kind.run(model.file, [prompt])
        assert text._asdict() == {
            "tokens": said["text"],
            "answer": said["answer"],
            "unproved": said["unproved"],
        }
        assert len(text.unproved) == len(text.tokens)


def test_numpy_writes_for_a_network_of_the_cpu_until_it_is_changed() -> None:
    model = krohn.compile("EditDistance2,2", proof=False).model
    assert network_for_torch(model) is None
    texts = model.write(["a b | b b", "b b | a a"])
    model.network.bias[0] += 2.0**-20
    assert network_for_torch(model) is model.network
    changed = model.write(["a b | b b", "b b | a a"])
    assert [t.tokens for t in changed] == [t.tokens for t in texts]
    assert all(map(all, (t.unproved for t in changed)))


def test_torch_runs_what_numpy_does_not() -> None:
    narrow = krohn.compile("C2", 4, dtype="bfloat16", proof=False).model
    assert network_for_torch(narrow) is narrow.network
    hooked = krohn.compile("C2", 4, proof=False).model
    hooked.network.register_forward_hook(lambda *_: None)
    assert network_for_torch(hooked) is hooked.network


@pytest.mark.sample(1)
def test_tokens_by_name_are_a_prompt(told: Told) -> None:
    model, prompts, _ = told
    if " " in prompts[0]:
        assert model.write([p.split() for p in prompts]) == model.write(prompts)


@pytest.mark.sample(1)
def test_a_run_is_of_one_prompt(told: Told) -> None:
    model, prompts, _ = told
    text, run = model.write(prompts[0]), model.model.run(prompts[0])
    assert (run, run.unproved) == (text.tokens, text.unproved)
    assert run.result["answer"] == text.answer


def test_what_is_beyond_the_claim_is_marked() -> None:
    model = krohn.compile("LCS2,2")
    header = model.file.header
    claim = {**header["claim"], "length": 7}
    shorter = krohn.Model(replace(model.file, header={**header, "claim": claim}))
    found, whole = shorter.write("ab|ba"), model.write("ab|ba")
    assert found[:2] == whole[:2]
    assert not any(whole.unproved)
    # The prompt has 6 tokens: the first two that are written are said after 6 and 7.
    assert found.unproved == [False] * 2 + [True] * (len(found.tokens) - 2)


def test_a_text_that_does_not_end_has_no_answer() -> None:
    model, prompts, right = arithmetic()
    for text, told in zip(model.write(prompts), right, strict=True):
        assert (text.answer is None) == (told[-1] != "<eos>")


def test_one_that_is_no_prompt_is_named() -> None:
    model = krohn.compile("LCS2,2", proof=False)
    with pytest.raises(KrohnError, match=r"^prompt 2: .* a prompt of LCS2,2 has"):
        model.write(["a a | a a", "a a | a", "a b | a a"])
    with pytest.raises(KrohnError, match=r"^this has 4 tokens"):
        model.write("a a | a")
    with pytest.raises(KrohnError, match="tokens by name; 3 is neither"):
        model.write(cast("Any", [["a", 3]]))
    assert model.write([]) == []


def test_machines_write_no_texts() -> None:
    with pytest.raises(KrohnError, match=r"run\(word\)"):
        krohn.compile("C2", 4).write("11")


@pytest.mark.slow
def test_rows_see_nothing_of_each_other() -> None:
    """A row without an answer, or that ended, leaves the others as they are."""
    model = krohn.compile("Arithmetic1,3")
    begin = reader(model.file)
    source = Rewritings().of_file(model.file)
    end = source.end
    line = [source.letters.index(x) for x in "1+1"]
    width = 12
    rows = np.full((3, width), BLANK)
    for row, given in zip(rows, ([*line, end], [end, end, end], [1, end]), strict=True):
        row[: len(given)] = given
    together = decode(begin, rows, end=end + 1)
    alone = np.concatenate([decode(begin, row[None], end=end + 1) for row in rows])
    assert (together == alone).all()
    # After the end nothing is written.
    assert together[0].tolist()[:6] == [*text_of(source, line, 99)]
    assert together[0].tolist()[6:] == [BLANK] * (width - 6)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "lcs.safetensors"
    krohn.compile("LCS2,2").save(path)
    return path


def test_lines_before_a_wrong_one_are_answered(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "a b | a b\r\nab|ba\nab|b\nab|aa\n"
    given = io.TextIOWrapper(io.BytesIO(lines.encode()))
    monkeypatch.setattr("sys.stdin", given)
    assert cli.run(["run", str(path), "--quiet"]) == 2
    said = capsys.readouterr()
    assert said.out == "2\n1\n"
    assert said.err.startswith("krohn: line 3: ")


@pytest.mark.slow
def test_who_asks_line_by_line_is_answered_line_by_line(path: Path) -> None:
    command = [sys.executable, "-m", "krohn", "run", str(path), "--quiet"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin
        assert running.stdout
        for line, answer in (("ab|ab", "2"), ("ab|ba", "1"), ("aa|bb", "0")):
            running.stdin.write(f"{line}\n")
            running.stdin.flush()
            assert running.stdout.readline() == f"{answer}\n"
        running.stdin.write("ab|aa")
        running.stdin.close()
        assert running.stdout.read() == "1\n"


def test_many_lines_are_one_pass(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of passes counts, because a pass is slow."""
    passes = []
    read = Texts.read

    def counted(self: Texts, tokens: Any) -> Any:
        passes.append(len(tokens))
        return read(self, tokens)

    monkeypatch.setattr(Texts, "read", counted)
    given = io.TextIOWrapper(io.BytesIO(b"ab|ab\n" * 300))
    monkeypatch.setattr("sys.stdin", given)
    assert cli.run(["run", str(path), "--quiet"]) == 0
    length = krohn.load(path).file.header["claim"]["length"]
    assert sorted(set(passes)) == [44, 256]
    assert len(passes) == 2 * (length + 1)  # BOS is read, too
