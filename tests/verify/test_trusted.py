"""A proof rests on the files that it needs, and on no others."""

import json
from pathlib import Path

import pytest
from slices_here import here
from typer.testing import CliRunner

import krohn
from krohn import evidence
from krohn.cli import application, run
from krohn.network.architecture import every_kind
from krohn.program.errors import Refused
from krohn.program.slices import slice_sources, slices
from krohn.verify.checker.registry import reader
from krohn.verify.search.find import find
from krohn.verify.trusted import every_file, rests_on, totals

OF_TRANSFORMERS = ("attention/", "transformer.py", "mlp.py", "sublayers.py")


def test_the_registry_has_every_kind_of_network_and_source() -> None:
    readers = {
        pair: x for each in slices().values() for pair, x in each.readers.items()
    }
    checks = {kind.declared.check for kind in every_kind().values()}
    pruned = {"relu_boxes"} if here("architectures.pruned") else set()
    for name in {*checks, *readers.values(), *pruned} - {""}:
        assert callable(reader(name))
    networks = {network for network, _ in readers}
    assert networks | {k for k, v in every_kind().items() if v.declared.check} == set(
        every_kind()
    )
    assert {kind for _, kind in readers} <= set(slice_sources())


def _files(source: str, folder: Path, **how: object) -> dict[str, int]:
    """The files that the proof of a network rests on, and how many lines of each ran."""
    path = folder / "model"
    krohn.compile(source, **how).save(path)  # type: ignore[arg-type]
    told = json.dumps(find(path.read_bytes())).encode()
    return {file.file: file.ran for file in rests_on(path, told).files}


@pytest.mark.slow
def test_an_rnn_rests_on_nothing_of_transformers(tmp_path: Path) -> None:
    files = _files("C2", tmp_path, arch="rnn")
    assert files["krohn/architectures/recurrent/check.py"] > 50
    assert not [name for name in files if name.endswith(OF_TRANSFORMERS)]
    assert "krohn/verify/checker/heads.py" not in files
    assert "krohn/architectures/gpt2/check.py" not in files
    everything = {file.file for file in every_file()}
    assert set(files) < everything
    assert not [name for name in files if "compiler" in name or "search" in name]


@pytest.mark.slow
def test_a_transformer_rests_on_the_rules_of_its_own_operations(tmp_path: Path) -> None:
    files = _files("FlipFlop", tmp_path, length=8)
    assert files["krohn/verify/checker/fetches.py"] > 0
    assert "krohn/verify/checker/sums.py" not in files
    assert "krohn/program/operations/shift_by.py" not in files


@pytest.mark.slow
def test_what_is_refused_rests_on_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model"
    krohn.compile("C2", 8).save(path)
    told = find(path.read_bytes())
    with pytest.raises(Refused, match="the margin is not shown"):
        rests_on(path, json.dumps({**told, "margin": 9.0}).encode())


def test_only_lines_of_functions_that_ran_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "model"
    krohn.compile("C2", 8).save(path)
    found = evidence.rests_on(krohn.verify(path, kernel="none"), path)
    by_name = {file.file: file for file in found.files}
    assert all(file.ran <= file.code <= file.lines for file in found.files)
    text = Path(__file__).parents[2] / "verify/checker/registry.py"
    assert by_name["krohn/verify/checker/registry.py"].lines == len(
        text.read_text().splitlines()
    )
    # A claim about a machine comes to some lines of it, and not to those about sources.
    registry = by_name["krohn/verify/checker/registry.py"]
    assert 5 < registry.ran < registry.code
    assert found.to_object()["ran"] == totals(found.files)["ran"]


@pytest.mark.slow
def test_the_command_lists_files(tmp_path: Path) -> None:
    path = tmp_path / "model"
    krohn.compile("C2", arch="rnn").save(path)
    command = ["verify", str(path), "--kernel", "none", "--trusted"]
    told = json.loads(CliRunner().invoke(application(), [*command, "--json"]).stdout)
    told = told["trusted"]
    assert told["files"] == len(told["each"]) > 5
    printed = CliRunner().invoke(application(), command).stdout
    assert f"rests on {told['files']} files, {told['lines']:,} lines" in printed
    for file in told["each"]:
        row = [file["file"], *(f"{file[n]:,}" for n in ("lines", "code", "ran"))]
        assert row in [line.split() for line in printed.splitlines()]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "more", [["--machine", "C2"], ["--gadgets", "1/4"], ["--exhaustive", "2"]]
)
def test_what_is_no_proof_of_the_claim_of_the_file_is_refused(
    tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model"
    krohn.compile("C2", 8).save(path)
    assert run(["verify", str(path), "--trusted", *more]) == 2
    assert "--trusted" in capsys.readouterr().err
