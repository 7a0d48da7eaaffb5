"""Compiled and trained networks give their hidden Markov models back."""

from pathlib import Path

import numpy as np
import pytest
from command import said

import krohn
from krohn.algebra.errors import KrohnError
from krohn.cli import run
from krohn.kinds.hidden_markov.source_masked import factors, predictor
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.program.domains import FloatArray, IntArray


@pytest.mark.sample(1)
@pytest.mark.parametrize("task", ["23given1", "13given2", "12given3"])
def test_a_posterior_head_gives_its_model_back(task: str) -> None:
    found = krohn.decompile(krohn.compile(f"RanHMM3,4@7:{task}"))
    assert found.error is not None
    assert found.error <= 1e-10
    assert found.found.residual <= 1e-12


def test_a_network_of_beliefs_gives_its_model_back(tmp_path: Path) -> None:
    """Model, network, law, model: within what the network claims, times the condition."""
    path = tmp_path / "h.safetensors"
    model = krohn.compile("RanHMM3,4@7", length=2)
    model.save(path)
    told = said("decompile", path)
    claimed = model.file.header["claim"]["error"]
    assert told["states"] == 3
    assert told["error"] <= 64 * 3 * claimed * told["condition"]
    assert told["residual"] <= 6 * claimed


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_head_of_points_gives_its_means_back(dtype: str) -> None:
    found = krohn.decompile(krohn.compile("GaussianHMM3,2@7", dtype=dtype))
    assert found.error is not None
    assert found.error <= (1e-10 if dtype == "float64" else 1e-3)


def test_a_written_model_is_the_same_source(tmp_path: Path) -> None:
    head, path = tmp_path / "g.safetensors", tmp_path / "m.json"
    krohn.compile("RanHMM3,4@7:23given1").save(head)
    said("decompile", head, "-o", path)
    again, model = krohn.hidden_markov(path), krohn.hidden_markov("RanHMM3,4@7")
    word = np.array([[0, 3, 2, 2, 1]])
    laws = [m.predict(m.filter(word)[0])[0, -1] for m in (again, model)]
    assert np.abs(laws[0] - laws[1]).max() <= 0.05  # their first states have other laws
    for one, other in zip(factors(again), factors(model), strict=True):
        assert np.abs(np.sort(one.ravel()) - np.sort(other.ravel())).max() <= 1e-10


def ranhmm(words: IntArray) -> FloatArray:
    model = krohn.hidden_markov("RanHMM3,4@7")
    return model.predict(model.filter(words)[0])


def test_a_function_gives_its_model_back() -> None:
    found = krohn.decompile(ranhmm, letters=4)
    right = factors(krohn.hidden_markov("RanHMM3,4@7"))
    for one, other in zip(found.pair, right, strict=True):
        assert np.abs(np.sort(one.ravel()) - np.sort(other.ravel())).max() <= 1e-10


def test_arrays_are_read_from_files(tmp_path: Path) -> None:
    emissions, transitions = factors(krohn.hidden_markov("RanHMM2,3@1"))
    law = predictor(Task.of("13given2"), emissions, transitions)
    np.save(tmp_path / "law.npy", law)
    told = said("decompile", tmp_path / "law.npy", "--task", "13given2")
    assert told["residual"] <= 1e-14
    assert told["network"] == "law.npy"
    sorted_right = np.sort(emissions.ravel())
    assert np.abs(np.sort(np.ravel(told["emissions"])) - sorted_right).max() <= 1e-10


@pytest.mark.slow
def test_a_trained_network_is_the_nearest_model(tmp_path: Path) -> None:
    """Of one that has learned next to nothing: a residual, and no more is promised."""
    from krohn.instruments.compare.models import Rnn
    from krohn.instruments.compare.models.files import save
    from krohn.instruments.compare.tasks.beliefs import BeliefTask
    from krohn.instruments.compare.training.beliefs import BeliefRecipe
    from krohn.instruments.compare.training.run import train

    model = krohn.hidden_markov("RanHMM2,3@1")
    for asks, length in (("next", 4), ("belief", 3)):
        path = tmp_path / f"{asks}.safetensors"
        recipe = BeliefRecipe(60, 32, length, 1e-2, 10, every=60)
        trained = train(BeliefTask(model, asks=asks), Rnn(8), recipe, 0)  # type: ignore[arg-type]
        save(trained.network, path)
        told = said("decompile", path, "--states", 2, "--machine", "RanHMM2,3@1")
        assert 0 < told["residual"] < 0.1
        assert 0 < told["error"] <= 1


def refused(capsys: pytest.CaptureFixture[str], *command: object) -> str:
    code = run(["decompile", *map(str, command)])
    printed = capsys.readouterr()
    assert code == 2
    assert len(printed.err.strip().splitlines()) == 1
    return printed.err


@pytest.mark.slow
def test_what_cannot_be_asked_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    reasons = {
        "Twin1:2given1": "does not determine a model of letters",
        "RRXOR": "tells only|no model of",
        "GaussianHMM3,2@7:13given2": "are recovered from the task",
        "S3": "models are recovered from networks of hidden Markov models",
    }
    for name, reason in reasons.items():
        path = tmp_path / f"{name}.safetensors"
        length = None if ":" in name else 3
        krohn.compile(name, length=length, proof=False).save(path)
        told = refused(capsys, path)
        assert any(part in told for part in reason.split("|")), told
    (tmp_path / "no.npy").write_bytes(b"no")
    assert "array of numbers" in refused(capsys, tmp_path / "no.npy")
    (tmp_path / "empty.npy").touch()
    assert "array of numbers" in refused(capsys, tmp_path / "empty.npy")
    assert "No such file" in refused(capsys, tmp_path / "missing.npy")
    told = refused(capsys, tmp_path / "no.npy", "--task", "foo")
    assert "'foo' is no task" in told
    assert "23given1, 13given2, 12given3" in told
    text = tmp_path / "hm.txt"
    assert "ends in .json" in refused(capsys, tmp_path / "no.npy", "-o", text)
    assert not text.exists()
    assert "cannot be read" in refused(capsys, tmp_path / "absent.safetensors")
    twin = tmp_path / "Twin1:2given1.safetensors"
    assert "--task is for arrays" in refused(capsys, twin, "--task", "23given1")
    with pytest.raises(
        KrohnError, match="the number of letters that the function reads"
    ):
        krohn.decompile(ranhmm)


def test_heads_from_python() -> None:
    step = [[0.9, 0.2], [0.1, 0.8]]
    head = krohn.gaussian_hmm([[1, -1], [0, 2]], step, task="13given2", radius=3.0)
    report = krohn.verify(krohn.compile(head), sample=100, proof=True)
    assert report.verdict == "verified"
    letters = krohn.masked("RanHMM3,4@7", "24given3")
    assert krohn.verify(krohn.compile(letters)).verdict == "verified"
    for wrong in ([[1.0]], [[0.5, 0.5]]):
        with pytest.raises(KrohnError):
            krohn.gaussian_hmm([[1, -1]], wrong)
    with pytest.raises(KrohnError, match="no task"):
        krohn.masked("RanHMM3,4@7", "24")
