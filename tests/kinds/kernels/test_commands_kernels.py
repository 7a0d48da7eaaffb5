"""Kernels through the commands and the public face."""

from pathlib import Path

import numpy as np
import pytest
from command import refused, said

import krohn
from krohn.algebra.errors import KrohnError


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("kernel") / "f.safetensors")
    told = said("compile", "Exp32", "--arch", "rnn", "-o", path)
    assert told["claim"] == "within"
    assert told["verdict"] == "verified"
    assert told["d_model"] == 1
    assert 0 < told["error"] < 2e-15
    return path


def test_run_says_the_convolution(file: str) -> None:
    told = said("run", file, "1,0,-1,0.5")
    right = np.convolve([1, 0, -1, 0.5], np.exp(-np.arange(4)))[:4]
    assert np.ravel(told["outputs"]) == pytest.approx(right, abs=1e-15)
    with pytest.raises(KrohnError, match="between -1 and 1"):
        said("run", file, "1.5")


def test_a_measured_kernel_is_compiled_within_an_error(tmp_path: Path) -> None:
    table = tmp_path / "measured.csv"
    values = [f"{(1 + s) ** -1.5!r}" for s in range(60)]
    table.write_text("\n".join(["response", *values]), encoding="utf-8")
    sizes = []
    for within in ("1e-2", "1e-5"):
        path = str(tmp_path / "f.safetensors")
        told = said(
            "compile", str(table), "--arch", "rnn", "--within", within, "-o", path
        )
        assert told["error"] <= float(within)
        assert (
            said("verify", path, "--proof", "--sample", "20")["verdict"] == "verified"
        )
        sizes.append(told["d_model"])
    assert sizes[0] < sizes[1] < 12


@pytest.mark.slow
def test_noise_needs_many_units_in_one_norm_and_three_in_another(
    tmp_path: Path,
) -> None:
    """Three poles and noise of 2e-3: the noise is Σ|e| = 0.1, and (Σe²)^½ = 0.016."""
    random, s = np.random.default_rng(0), np.arange(64)
    poles = 0.8 * 0.9**s + (0.5 * (0.7 + 0.4j) ** s).real
    table, path = tmp_path / "noisy.csv", str(tmp_path / "f.safetensors")
    np.savetxt(table, poles + 2e-3 * random.standard_normal(64))
    ask = ("compile", str(table), "--arch", "rnn", "-o", path, "--within", "0.05")
    sizes = {}
    for norm in ("l1", "l2", "max"):
        told = said(*ask, "--norm", norm)
        sizes[norm] = told["d_model"]
        assert (told["error"] <= 0.05) == (norm == "l1")
        assert said("verify", path, "--proof")["error"] == told["error"]
    assert sizes["l1"] > 12
    assert sizes["l2"] == sizes["max"] == 3
    rows = {row["units"]: row for row in said("explain", str(table))["units"]}
    assert rows[2]["l2"] > 0.05 > rows[3]["l2"]
    refused(
        "is for --arch rnn --within E", "compile", "Exp32", "--norm", "l2", "-o", path
    )
    refused("--norm takes", *ask, "--norm", "l3")
    refused("--norm is for --within E", "compile", "C2", "--norm", "l2", "-o", path)


def test_explain_says_how_hard_it_is() -> None:
    told = said("explain", "Exp32", "--within", "0.1")
    assert told["c_rnn"] == pytest.approx(2)
    assert told["stable"] is True
    moved = said("explain", "Exp32:swap=10")
    assert moved["causal"] is False
    assert moved["causal_floor"] == pytest.approx(4 * 3.01e-2, rel=2e-3)
    rows = [row for row in told["networks"] if row["arch"] == "rnn"]
    assert [row["width"] for row in rows] == [1, 1]


def test_an_attention_layer_reads_permuted_inputs(tmp_path: Path) -> None:
    path = str(tmp_path / "f.safetensors")
    told = said("compile", "Exp8:swap=3", "-o", path)
    assert told["error"] < 1e-12
    told = said("verify", path, "--proof", "--sample", "50")
    assert told["verdict"] == "verified"
    assert "8 vectors" in told["covers"]
    x = np.linspace(1, -1, 8)
    moved = np.concatenate([x[5:], x[3:5], x[:3]])
    found = said("run", path, ",".join(map(repr, x.tolist())))["outputs"]
    right = np.convolve(moved, np.exp(-np.arange(8)))[:8]
    assert np.ravel(found) == pytest.approx(right, abs=1e-12)
    with pytest.raises(KrohnError, match="at least 8"):
        said("run", path, "1,0")


def test_kernels_of_python_have_signs_and_waves() -> None:
    kernel = krohn.kernel([0.5, -1], [(1 - 2j, 0.5 + 0.3j)], 9, inputs=(0, 2))
    for arch in ("rnn", "transformer"):
        model = krohn.compile(kernel, arch=arch, dtype="float32")
        report = krohn.verify(model.file, proof=True, sample=60)
        assert report.verdict == "verified"
        assert report.about.error is not None
        assert report.about.error < 1e-3
    with pytest.raises(KrohnError, match="stable"):
        krohn.kernel(modes=[(1, 1.5)], length=3)


@pytest.mark.slow
def test_a_picture_of_a_file_says_that_it_is_of_the_source() -> None:
    (axes,) = krohn.draw(krohn.compile("Exp8", arch="rnn").file).axes
    assert axes.get_title() == "Exp8, the source of a linear RNN"
    (axes,) = krohn.draw("Exp8").axes
    assert axes.get_title() == "Exp8"
    of_values, by_units = krohn.draw("Power64,1").axes
    assert of_values.get_title() == "Power64,1"
    assert len(by_units.get_lines()) == 5
