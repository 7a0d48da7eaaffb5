"""Kalman predictors through the commands and the public face."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import refused, said

import krohn
from krohn.algebra.errors import KrohnError

SYSTEM = {"A": [[1.2, 0.3], [0, 0.5]], "B": [[1, 0.2]], "Q": 0.1, "R": 2, "bound": 10}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("kalman") / "boat.kalman"
    path.write_text(json.dumps(SYSTEM))
    return str(path)


def test_an_rnn_is_proved_for_every_length(system: str, tmp_path: Path) -> None:
    path = str(tmp_path / "f.safetensors")
    told = said("compile", system, "--arch", "rnn", "-o", path)
    assert (told["verdict"], told["length"], told["d_model"]) == ("verified", None, 2)
    assert 0 < told["error"] < 1e-11
    told = said("verify", path, "--proof", "--sample", "40")
    assert told["verdict"] == "verified"
    assert told["largest_error"] < 1e-12
    outputs = said("run", path, "1 -2 3")["outputs"]
    source = krohn.kalman(SYSTEM["A"], SYSTEM["B"], SYSTEM["Q"], SYSTEM["R"])
    right = source.run(np.array([[[1.0], [-2.0], [3.0]]]))[0]
    assert np.allclose(outputs, right, atol=1e-12)
    with pytest.raises(KrohnError, match="between -10 and 10"):
        said("run", path, "11")


@pytest.mark.slow
def test_a_window_is_as_long_as_the_error_asks(system: str, tmp_path: Path) -> None:
    path, sizes = str(tmp_path / "f.safetensors"), []
    for within in ("1", "1e-3", "1e-9"):
        told = said("compile", system, "-T", "99", "--within", within, "-o", path)
        assert told["error"] <= float(within)
        told = said("verify", path, "--proof", "--sample", "40")
        assert told["verdict"] == "verified"
        assert 0.1 * float(within) < told["largest_error"] <= float(within)
        sizes.append(len(krohn.load(path).file.tensors["attention.query"]))
    assert sizes == sorted(set(sizes))
    explained = said("explain", system, "--within", "1e-3")
    assert explained["window"] == sizes[1]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_an_error_a_window_leaves_out_less_than_roundings(
    system: str, dtype: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "f.safetensors")
    told = said("compile", system, "-T", "40", "--dtype", dtype, "-o", path)
    assert told["error"] < {"float32": 1e-2, "float64": 1e-10}[dtype]


def test_explain_says_the_gain_and_the_optimum() -> None:
    told = said("explain", "RanLDS5@3")
    golden = (1 + 5**0.5) / 2
    assert told["forgetting"] == pytest.approx(golden**-2)
    assert told["mean_squared_error"] == pytest.approx(golden**2)
    assert np.shape(told["gain"]) == (5, 5)
    by_heads = {row["heads"]: row["left_out"] for row in told["windows"]}
    assert by_heads[16] / by_heads[8] == pytest.approx(golden**-16, rel=0.2)
    assert told["window"] is None


def test_a_system_in_python_is_compiled() -> None:
    source = krohn.kalman([[0.9]], [[1.0]], name="drift")
    found = krohn.compile(source, arch="rnn")
    assert found.proof is not None
    assert found.proof.verdict == "verified"
    assert found.file.header["source"]["name"] == "drift"


REFUSED = [
    ("compile {} -o F", "-T"),
    ("compile {} -T 40 --within 1e-30 -o F", r"say --within \d"),
    ("compile {} -T 40 --within 1e-6 --dtype float32 -o F", "or --dtype float64"),
    ("compile {} --arch rnn --within 1e-30 -o F", r"say --within \d"),
    ("compile {} --arch rnn --dtype bfloat16 -o F", "too narrow"),
    ("compile {} --arch lstm -o F", "--arch lstm is for machines"),
    ("compile {} -T 99999 --within 1 -o F", "too long, or too many heads"),
    ("compile {} -T 40 --strict -o F", "no effect on a Kalman predictor"),
    ("compile RanLDS5@3:bound=0 --arch rnn -o F", "the bound of observations is 0"),
    ("explain RanLDS0@3", "1 to 64 states"),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("line", "why"), REFUSED)
def test_what_cannot_be_is_refused(
    line: str, why: str, system: str, tmp_path: Path
) -> None:
    words = [word.format(system) for word in line.split()]
    if words[-1] == "F":
        words[-1] = str(tmp_path / "F")
    refused(why, *words)


def test_a_system_that_is_not_detectable_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lost.kalman"
    path.write_text(json.dumps({"A": [[2, 0], [0, 1.5]], "B": [[1, 0]]}))
    for command in (("explain",), ("compile", "--arch", "rnn", "-o", "F")):
        with pytest.raises(KrohnError, match="not detectable"):
            said(command[0], str(path), *command[1:])


@pytest.mark.slow
def test_a_picture_shows_how_windows_forget(tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    said("draw", "RanLDS3@1", "-o", str(path))
    assert b"RanLDS3@1" in path.read_bytes() or path.stat().st_size > 5000
