"""Generators from the command: compiled, proved, run, verified; trouble is one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krohn.network import modelfile

Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def made(call: Call, tmp_path: Path) -> Callable[..., Path]:
    """Compile a generator of Dyck4,2."""

    def make(*options: object) -> Path:
        path = tmp_path / "g.safetensors"
        balanced = ("-T", 20, "--construction", "balanced")
        code, result = call("compile", "Dyck4,2", *balanced, *options, "-o", path)
        assert (code, result["verdict"]) == (0, "verified")
        return path

    return make


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--attention", "uniform", "--depth-layer", "attended"),
        ("--scale", 1, "--seed", 7, "--dtype", "float64", "--opening", "0.4"),
    ],
)
def test_a_generator_is_compiled_run_and_verified(
    made: Callable[..., Path], call: Call, options: tuple[object, ...]
) -> None:
    path = made(*options)
    code, result = call("run", path, "( [ ]")
    q = 0.4 if "0.4" in options else 0.5
    assert code == 0
    assert result["laws"][0] == pytest.approx([0.5, 0, 0.5, 0])
    assert result["laws"][-1] == pytest.approx([q / 2, 1 - q, q / 2, 0])
    code, result = call(
        "verify",
        path,
        "--proof",
        "--exhaustive",
        7,
        "--sample",
        20,
        "--machine",
        "Dyck4,2",
    )
    assert (code, result["verdict"], result["length"]) == (0, "verified", 20)


@pytest.mark.slow
def test_a_network_that_cannot_be_proved_is_refuted_by_a_prefix(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "g.safetensors"
    arguments = ("Dyck4,2", "-T", 40, "--construction", "balanced", "--scale", 4)
    code, result = call("compile", *arguments, "-o", path)
    assert code == 2
    assert "cannot be certified" in result["error"]
    call("compile", *arguments, "--no-proof", "-o", path)
    code, result = call("verify", path)
    assert (code, result["verdict"]) == (1, "refuted")
    assert result["counterexample"]["expected"] != result["counterexample"]["actual"]


@pytest.mark.slow
def test_other_trouble_is_one_line(
    made: Callable[..., Path], call: Call, tmp_path: Path
) -> None:
    path = made()
    balanced = ("--construction", "balanced", "-o", tmp_path / "h.safetensors")
    assert (
        "needs the longest prefix" in call("compile", "Dyck2,2", *balanced)[1]["error"]
    )
    assert "no empty stack" in call("compile", "C5", "-T", 9, *balanced)[1]["error"]
    assert "letter 2 of the word is illegal" in call("run", path, "( ]")[1]["error"]
    assert "up to 20 letters" in call("run", path, "()" * 11)[1]["error"]
    assert call("verify", path, "--exhaustive", 21)[1]["verdict"] == "out-of-range"
    assert "take a length" in call("verify", path, "--exhaustive", 20)[1]["error"]


@pytest.mark.slow
def test_attention_of_several_networks_is_compared_and_drawn(
    call: Call, tmp_path: Path
) -> None:
    balanced = ("-T", 20, "--construction", "balanced", "--dtype", "float64")
    files = []
    for options in (
        (*balanced, "--scale", 1, "--seed", 1),
        (*balanced, "--attention", "uniform", "--depth-layer", "attended"),
        ("-T", 20, "--construction", "dyck"),
    ):
        files.append(tmp_path / f"{len(files)}.safetensors")
        assert call("compile", "Dyck3,2", *options, "-o", files[-1])[0] == 0
    picture = tmp_path / "attention.svg"
    code, result = call("attention", *files, "-o", picture)
    assert code == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert result["function error"] == 0
    assert result["mean variation"] > 1
    assert result["networks"][2]["weight on top"] == pytest.approx(1)
    assert result["networks"][0]["beta"] < 1e-12
    code, _ = call("draw", files[0], "-o", tmp_path / "one.png")
    assert code == 0
    code, result = call("attention", files[0], "--word", "( [ ] )")
    assert (code, result["word"]) == (0, ["(", "[", "]", ")"])


@pytest.mark.slow
def test_networks_of_different_laws_or_machines_are_not_compared(
    call: Call, tmp_path: Path
) -> None:
    made = []
    for machine, options in (
        ("Dyck2,2", ("--construction", "balanced")),
        ("Dyck2,2", ("--construction", "balanced", "--opening", "1/3")),
        ("Dyck3,2", ("--construction", "balanced")),
        ("C2", ()),
    ):
        made.append(tmp_path / f"{len(made)}.safetensors")
        assert call("compile", machine, "-T", 8, *options, "-o", made[-1])[0] == 0
    assert "different laws" in call("attention", *made[:2])[1]["error"]
    assert "different machines" in call("attention", made[0], made[2])[1]["error"]
    assert "balanced and dyck" in call("attention", made[3])[1]["error"]
    assert "is illegal" in call("attention", made[0], "--word", ")")[1]["error"]


@pytest.mark.slow
def test_a_damaged_claim_is_one_line(made: Callable[..., Path], call: Call) -> None:
    path = made()
    file = modelfile.read(path)
    for key, value in (("opening", [1]), ("length", "long"), ("tolerance", None)):
        claim = {**file.header["claim"], key: value}
        modelfile.write(path, {**file.header, "claim": claim}, file.tensors)
        code, _ = call("verify", path)
        assert code == 2
    machine = {**file.header["machine"], "letters": None}
    modelfile.write(path, {**file.header, "machine": machine}, file.tensors)
    assert call("run", path, "(")[0] == 2
