"""The ideal network from the command line: verdict, counterexample, export."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from model_files import restated
from second_opinion import cvc5_says

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.instruments.smt.commands import verify_ideal
from krohn.network import modelfile

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(list(arguments))
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


@pytest.fixture
def memory(tmp_path: Path) -> str:
    path = tmp_path / "memory.safetensors"
    krohn.compile("FlipFlop", 4, "memory").save(path)
    return str(path)


def test_the_ideal_network_is_verified_and_the_question_written(
    run: Run, memory: str, tmp_path: Path
) -> None:
    out = tmp_path / "question.smt2"
    code, said, _ = run("verify", memory, "--smt", "4", "--smt-lib", str(out))
    assert code == 0
    assert "verified (smt" in said
    assert "ideal network" in said
    assert cvc5_says(out.read_text()) == "unsat"


def test_another_machine_is_refuted_by_a_word(run: Run, memory: str) -> None:
    own = krohn.read("FlipFlop")
    start = own.states[own.start]
    still = Path(memory).with_name("still.json")
    table = np.full_like(own.transitions, own.start)
    text = json_format.to_object(own) | {"transitions": table.tolist()}
    still.write_text(json.dumps(text))
    code, said, _ = run(
        "verify", memory, "--machine", str(still), "--smt", "2", "--json"
    )
    found = json.loads(said)
    assert code == 1
    assert found["verdict"] == "refuted"
    wrong = found["counterexample"]
    assert len(wrong["word"]) == 1
    assert wrong["expected"] == [start]
    assert wrong["actual"] == krohn.load(memory).run(wrong["word"])


def test_a_head_that_sees_the_whole_word_is_refuted(run: Run, memory: str) -> None:
    """The file is otherwise right, and causal heads would make no mistake."""
    file = krohn.compile("FlipFlop", 4, "memory").file
    blocks = file.header["architecture"]["blocks"]
    ahead = [{**b, "causal": [False] * b["heads"]} for b in blocks]
    hostile = restated(file, "architecture", blocks=ahead)
    path = Path(memory).with_name("ahead.safetensors")
    modelfile.write(path, hostile.header, hostile.tensors)
    code, said, _ = run("verify", str(path), "--smt", "4", "--json")
    found = json.loads(said)
    assert (code, found["verdict"]) == (1, "refuted")
    wrong = found["counterexample"]
    assert wrong["actual"] == krohn.load(path).run(wrong["word"])
    assert len(wrong["word"]) == 2
    assert wrong["expected"][0] != wrong["actual"][0]
    assert "at letter 1 of this word" in found["reason"]
    assert run("verify", memory, "--smt", "4")[0] == 0


def test_claims_are_kept_apart(run: Run, memory: str) -> None:
    code, _, error = run("verify", memory, "--smt", "2", "--proof")
    assert code == 2
    assert "another call" in error
    code, _, error = run("verify", memory, "--smt-lib", "question.smt2")
    assert code == 2
    assert "--smt N" in error


def test_what_z3_decides_has_no_digest_of_a_claim(run: Run, memory: str) -> None:
    """It is about fractions, and the claim about a number format."""
    digest = krohn.load(memory).file.claim.digest
    for asked in (["--smt", "2"], ["--gadgets", "1/8"]):
        said = run("verify", memory, *asked, "--json")[1]
        assert json.loads(said)["digest"] is None
        code, _, error = run("verify", memory, *asked, "--digest", digest)
        assert code == 2
        assert "leave --digest out" in error


def test_a_question_that_cannot_be_written_is_an_error(
    memory: str, tmp_path: Path
) -> None:
    with pytest.raises(KrohnError, match="cannot be written"):
        verify_ideal(memory, 1, smt_lib=tmp_path / "missing" / "question.smt2")


def test_tables_of_mlps_are_decided(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "counter.safetensors")
    krohn.compile("C3", 4, "counter").save(path)
    code, said, _ = run("verify", path, "--gadgets", "1/8", "--error", "0")
    assert code == 0
    assert "within 1/8 of their codes" in said
    code, said, _ = run("verify", path, "--gadgets", "1/2")
    assert code == 1
    assert "the table of 'count' gives" in said


@pytest.mark.slow
def test_steps_of_a_text_are_decided(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "ed.safetensors")
    krohn.compile("EditDistance2,2:letters=3").save(path)
    code, said, _ = run("verify", path, "--gadgets", "1/14", "--error", "1/2")
    assert code == 0
    assert "steps over the rationals" in said
    code, said, _ = run("verify", path, "--gadgets", "1/13", "--error", "1/2")
    assert code == 1
    assert "its rule says" in said
    code, _, error = run("verify", path, "--gadgets", "1/9", "--machine", "LIS4")
    assert code == 2
    assert "--machine has no effect" in error


def test_steps_of_sparse_heads_are_undecided(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "ed.safetensors")
    krohn.compile("EditDistance2,2:letters=3", attention="sparse").save(path)
    code, said, _ = run("verify", path, "--gadgets", "0")
    assert code == 2
    assert "softmax heads" in said


def test_noise_is_a_number_below_a_half(run: Run, memory: str) -> None:
    for noise in ("much", "1/0", "3/4", "-1"):
        code, _, error = run("verify", memory, f"--gadgets={noise}")
        assert code == 2
        assert error.count("\n") == 1
    code, _, error = run("verify", memory, "--gadgets", "1/8", "--smt", "2")
    assert code == 2
    assert "another call" in error


def test_networks_without_tables_are_undecided(
    run: Run, memory: str, tmp_path: Path
) -> None:
    rnn = str(tmp_path / "rnn.safetensors")
    krohn.compile("C2", arch="rnn").save(rnn)
    for path in (rnn, memory):
        code, said, _ = run("verify", path, "--gadgets", "1/8")
        assert code == 2
        assert "undecided" in said


def test_numbers_that_are_not_finite_are_refused() -> None:
    file = krohn.compile("FlipFlop", 4, "memory").file
    bias = np.full_like(file.tensors["unembed.bias"], np.nan)
    broken = replace(file, tensors={**file.tensors, "unembed.bias": bias})
    with pytest.raises(KrohnError, match="not finite"):
        verify_ideal(broken, 2)


@pytest.mark.slow
def test_what_takes_too_long_is_undecided(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "prefixes.safetensors")
    krohn.compile("FFL2", 6, "scan", proof=False).save(path)
    code, said, _ = run("verify", path, "--smt", "6", "--timeout", "0.001", "--json")
    found = json.loads(said)
    assert code == 2
    assert found["verdict"] == "undecided"
    assert "z3 gave up" in found["reason"]
