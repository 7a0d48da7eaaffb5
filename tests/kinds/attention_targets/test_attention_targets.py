"""Targets of attention in the commands and in Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from attention_targets import smooth

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compiler import CompileError
from krohn.kinds.attention_targets.commands import AttentionTargets
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.report import silent
from krohn.source_kinds.real_outputs import vectors

NAME = "Sine3,1.5:points=256,length=5"
Call = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("target") / "f.safetensors"
    krohn.compile(NAME).save(path)
    return path


def test_run_says_numbers(call: Call, file: Path, tmp_path: Path) -> None:
    code, told = call("run", file, "0.25", "0.5", "1")
    assert code == 0
    right = smooth_target().run(np.array([[[0.25], [0.5], [1.0]]]))[0]
    assert np.abs(np.array(told["outputs"]) - right).max() <= told["error"]
    table = tmp_path / "x.csv"
    table.write_text("x\n0.25\n0.5\n1\n", encoding="utf-8")
    assert call("run", file, table)[1]["outputs"] == told["outputs"]
    table.write_text("0.25,0.5,1\n", encoding="utf-8")
    assert call("run", file, table)[1]["outputs"] == told["outputs"]


def smooth_target() -> Any:
    from krohn.kinds.attention_targets.source_sampling import find_by_name

    return find_by_name(NAME)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["1.5"], "x of vector 1 is 1.5"),
        (["0.1", "0.2", "nan"], "vector 3"),
        (["a"], "which is no number"),
        (["no.csv"], "cannot be read"),
        (["0.1"] * 6, "up to 5 vectors"),
        ([""], "at least one vector"),
    ],
)
def test_what_is_no_input_is_refused(file: Path, words: list[str], reason: str) -> None:
    from krohn.source_kinds import KINDS

    with pytest.raises((KrohnError, modelfile.ModelFileError), match=reason):
        KINDS["attention-target"].run(modelfile.read(file), words)


def test_vectors_of_several_numbers() -> None:
    assert vectors(["0.1,0.2", "3,4"], ("a", "b")).tolist() == [[0.1, 0.2], [3.0, 4.0]]
    with pytest.raises(
        KrohnError, match="vector 2 has 1 numbers, and 2 are needed: a,b"
    ):
        vectors(["0.1,0.2 3"], ("a", "b"))


def test_files_of_vectors_have_the_names_or_no_heading(tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text("x\n0.5\n0.25\n\n \n", encoding="utf-8")
    assert vectors([str(table)], ("x",)).tolist() == [[0.5], [0.25]]
    for text, why in {
        "O.9\n0.5": "vector 1 has 'O.9', which is no number",
        "rho\n0.5": "'rho', which is no number",
        "x\n0.5\n\n0.25": "line 3: there is no number",
        "nan": "which is not finite",
    }.items():
        table.write_text(text, encoding="utf-8")
        with pytest.raises(KrohnError, match=why):
            vectors([str(table)], ("x",))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--exhaustive", "2"), "cannot all be run"),
        (("--machine", "Sine4,1.5"), "undecided"),
        (("-T", "3"), "are for models of machines"),
    ],
)
def test_verify_refuses_clearly(
    call: Call, file: Path, arguments: tuple[str, ...], reason: str
) -> None:
    code, told = call("verify", file, *arguments)
    assert code != 0
    assert reason in str(told)


@pytest.mark.slow
def test_a_sample_runs_other_orders_too(file: Path) -> None:
    """Row 30: what treats positions alike answers in the order of its input."""
    found = krohn.verify(file, sample=30).runs[0]
    assert "in another order" in found.about
    kind = AttentionTargets()
    x = np.random.default_rng(0).uniform(size=(4, 5, 1))
    order = np.tile(np.arange(5)[::-1], (4, 1))
    assert kind.check_equivariance(modelfile.read(file), x, order, silent) is None
    causal = krohn.compile(smooth(length=5, causal=True)).file
    assert kind.check_equivariance(causal, x, order, silent) is not None
    assert "order" not in krohn.verify(causal, sample=30).runs[0].about


@pytest.mark.slow
def test_within_chooses_the_smallest_network() -> None:
    sizes = []
    for error in (0.2, 0.05, 0.005):
        model = krohn.compile(NAME, within=error)
        assert model.proof is not None
        assert model.proof.verdict == "verified"
        claim = model.file.header["claim"]["error"]
        assert claim <= error
        sizes.append(sum(t.size for t in model.file.tensors.values()))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    with pytest.raises(CompileError, match="only within"):
        krohn.compile(NAME, within=1e-9)


def test_a_target_of_functions_is_compiled_and_float32_is_proved() -> None:
    model = krohn.compile(smooth(), dtype="float32")
    assert isinstance(model.file, ModelFile)
    assert model.file.header["claim"]["error"] < 0.02
    report = krohn.verify(model.file, proof=True, sample=60)
    assert report.verdict == "verified"
    assert krohn.attention_target is not None


def test_explain_says_the_spectrum_and_the_size(call: Call) -> None:
    code, told = call("explain", NAME)
    assert code == 0
    assert told["rank"] == told["m_h"] == 3
    assert told["singular_values"].split()[0].startswith(("0.99", "1"))
    assert told["cut_off"] < 1e-9


@pytest.mark.parametrize("error", [-1.0, 0.0, float("nan")])
@pytest.mark.parametrize("name", [NAME, "GaussianHMM3,2@7", "Exp8"])
def test_an_error_is_above_0(name: str, error: float) -> None:
    for asked in (krohn.compile, krohn.explain):
        with pytest.raises(KrohnError, match="takes a number above 0"):
            asked(name, within=error)


@pytest.mark.slow
def test_what_is_cut_off_is_no_more_than_its_bound(call: Call) -> None:
    for rank in (1, 2, 3):
        told = call("explain", f"{NAME},rank={rank}")[1]
        assert told["cut_off"] <= told["cut_off_at_most"]
        assert (told["cut_off"] == 0) == (rank == 3)


def test_a_file_of_vectors_is_opened_and_run(file: Path) -> None:
    net = krohn.load(file)
    found = net(torch.full((1, 2, 1), 0.5).double())
    assert found.shape == (1, 2, 1)
    assert net.run([[0.5], [0.5]]) == found[0].tolist()


def test_inputs_are_counted_as_inputs(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from krohn.show.network import report

    report("F", krohn.verify(file, sample=20))
    assert "20 inputs were run" in capsys.readouterr().out


@pytest.mark.slow
def test_a_bound_that_says_nothing_is_called_vacuous() -> None:
    found = krohn.explain("Sine6,1.5")
    assert found["without_bound"] == 16  # 16 outputs, each in [0, 1]
    said = [*found["bound"].values(), *found["bound_as_printed"].values()]
    assert {x for x in said if isinstance(x, str)} == {"vacuous"}
    assert 0 < max(x for x in said if isinstance(x, float)) < 16
