"""``krohn compare`` with networks so small that they learn nothing, and its refusals."""

import json
import shlex
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from command import Command

import krohn
from krohn import cli
from krohn.instruments.compare.comparison import (
    Comparison,
    derived,
    measurements,
    models,
    trained_networks,
)
from krohn.instruments.compare.comparison.measurements import lengths_of

ROOT = Path(__file__).parents[3]
TINY = ("--width", 16, "--steps", 4, "--seeds", 1, "--jobs", 1, "-T", 4)


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure as in use, on fewer words."""
    _few(monkeypatch)


def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "WORDS", 64)
    monkeypatch.setattr(measurements, "FEWER", 8)
    monkeypatch.setattr(trained_networks, "PROBE_WORDS", 24)
    monkeypatch.setattr(trained_networks, "EXCHANGES", 1)


@pytest.fixture(scope="module")
def found() -> Comparison:
    """The comparison that the command prints of C3."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        _few(monkeypatch)
        printed = StringIO()
        with redirect_stdout(printed):
            assert cli.run(["compare", "C3", *map(str, TINY), "--json"]) == 0
    return Comparison.from_object(json.loads(printed.getvalue()))


@pytest.mark.slow
def test_json_is_a_comparison(found: Comparison) -> None:
    assert found.name == "C3"
    assert [c.key for c in found.contestants] == [
        *("compiled", "gpt", "lstm", "ngram", "majority")
    ]
    assert found.origin.command.startswith("krohn compare C3 --width 16")
    assert found.origin.commit


def test_the_compiled_network_is_right_everywhere(found: Comparison) -> None:
    assert found.proved.verdict == "verified"
    assert found.proved.length == max(lengths_of(4)) == 16
    compiled = found.of("compiled")
    assert compiled is not None
    (one,) = compiled.ones
    assert one.token.value == one.sequence.value == 1
    assert one.failure is not None
    assert one.failure.word is None
    for sweep in found.sweeps:
        (curve,) = (c for c in sweep.curves if c.key == "compiled")
        assert set(curve.values[0]) == {1.0}
    for strategy in found.strategies:
        assert [s.value for s in strategy.shares["compiled"]] == [1.0]


def test_what_learned_nothing_has_a_failing_word_that_is_wrong(
    found: Comparison,
) -> None:
    gpt = found.of("gpt")
    assert gpt is not None
    failure = gpt.ones[0].failure
    assert failure is not None
    assert failure.word is not None
    assert failure.expected == krohn.zoo("C3").run(failure.word)
    assert failure.actual[-1] != failure.expected[-1]


def test_it_is_known_what_networks_hold_cost_and_look_at(found: Comparison) -> None:
    assert [probed.key for probed in found.probes] == ["gpt", "lstm"]
    assert all(probed.found.rows for probed in found.probes)
    sizes = [c.size for c in found.contestants]
    assert all(size is not None and size.flops for size in sizes[:3])
    assert sizes[3:] == [None, None]
    assert found.maps is not None
    assert {p.key for p in found.maps.patterns} == {"compiled", "gpt"}
    rows = [row for p in found.maps.patterns for row in p.weights]
    assert all(abs(sum(row) - 1) < 1e-2 or not any(row) for row in rows)


def test_every_reduction_is_one(found: Comparison) -> None:
    said = {row.what: (row.thesis, row.here) for row in found.reductions}
    assert said["Transformer: width"] == ("512", "16")
    assert said["Transformer: letters in training words"] == ("100", "4")
    assert said["networks of a kind"] == ("20", "1")
    assert all(thesis != here for thesis, here in said.values())


@pytest.mark.slow
def test_the_page_is_written_beside_runs_that_are_not_done_again(
    compared: Command, tmp_path: Path
) -> None:
    page = tmp_path / "c2.html"
    code, out, _ = compared("C2", *TINY, "-o", page)
    assert code == 0
    assert "is proved: right on all" in out
    assert "C2" in page.read_text()
    folder = tmp_path / "c2.runs"
    runs = {p: p.stat().st_mtime_ns for p in folder.glob("*.json")}
    assert len(runs) == 2
    assert compared("C2", *TINY, "-o", page)[0] == 0
    assert {p: p.stat().st_mtime_ns for p in folder.glob("*.json")} == runs
    for weights in folder.rglob("weights.safetensors"):
        weights.write_bytes(b"no weights")
    code, _, err = compared("C2", *TINY, "--runs", folder)
    assert code == 2
    assert "damaged" in err


@pytest.mark.slow
def test_python_gives_the_same_as_the_command(found: Comparison) -> None:
    again = krohn.compare("C3", width=16, steps=4, seeds=1, jobs=1, length=4)
    assert [c.token for c in again.contestants] == [c.token for c in found.contestants]
    assert again.strategies == found.strategies
    assert again.probes == found.probes


@pytest.mark.slow
@pytest.mark.parametrize("source", ["Grid9 (boundary)", "regex:(ab)*", "Dyck2,1", "C2"])
def test_failing_words_of_trained_networks_are_replayed(
    compared: Command, tmp_path: Path, source: str
) -> None:
    runs = tmp_path / "runs"
    code, out, _ = compared(source, *TINY, "--runs", runs, "--json")
    assert code == 0
    found = Comparison.from_object(json.loads(out))
    assert found.proved.verdict == "verified"
    assert json.loads(out)["classes"] == 2 or "Dyck" in source or "regex" in source
    replays = [
        one.failure.replay for c in found.contestants for one in c.ones if one.failure
    ]
    lines = [line for line in replays if line]
    assert lines
    # Another comparison with the same folder leaves these networks as they are.
    assert compared("C3", *TINY, "--runs", runs)[0] == 0
    for line in lines:
        assert cli.run(shlex.split(line)[1:]) == 1


def test_what_is_not_installed_is_said_before_anything_is_trained(
    compared: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    code, _, err = compared("C2", *TINY, "--runs", tmp_path)
    assert code == 2
    assert f"pip install '{ROOT}[compare]'" in err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_machine_that_is_too_large_is_refused_before_anything_is_trained(
    compared: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived, "MOST_PARAMETERS", 100)
    code, _, err = compared("C2", *TINY, "--runs", tmp_path)
    assert code == 2
    assert "parameters" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_large_network_is_run_on_fewer_words_and_the_page_says_so(
    compared: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "OPERATIONS", 1e6)
    found = Comparison.from_object(json.loads(compared("C2", *TINY, "--json")[1]))
    compiled = found.of("compiled")
    assert compiled is not None
    assert compiled.ones[0].token.of < 64 * 4
    assert any("is large" in remark for remark in found.origin.remarks)


def test_a_folder_of_runs_that_is_a_file_is_refused(
    compared: Command, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    runs.write_text("no folder")
    code, _, err = compared("C2", *TINY, "--runs", runs)
    assert code == 2
    assert "no folder" in err


@pytest.mark.slow
def test_what_another_krohn_measured_is_measured_again(
    compared: Command, tmp_path: Path
) -> None:
    first = json.loads(compared("C2", *TINY, "--runs", tmp_path, "--json")[1])
    for path in tmp_path.glob("*.json"):
        record = json.loads(path.read_text())
        del record["measured"]["failure"]
        path.write_text(json.dumps(record))
    second = json.loads(compared("C2", *TINY, "--runs", tmp_path, "--json")[1])
    assert second["strategies"] == first["strategies"]


@pytest.mark.slow
def test_time_that_is_up_leaves_networks_out_and_says_so(compared: Command) -> None:
    code, out, _ = compared("C2", *TINY, "--seconds", 0, "--json")
    assert code == 0
    found = Comparison.from_object(json.loads(out))
    assert [c.key for c in found.contestants] == ["compiled", "ngram", "majority"]
    assert any("time was up" in remark for remark in found.origin.remarks)


@pytest.mark.slow
def test_ctrl_c_leaves_runs_that_go_on_and_no_page(tmp_path: Path) -> None:
    page = tmp_path / "c2.html"
    arguments = ["compare", "C2", *map(str, TINY), "-o", str(page)]
    arguments[arguments.index("--steps") + 1] = "100000"
    code = f"import sys; from krohn import cli; sys.exit(cli.run({arguments!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(tmp_path.rglob("checkpoint.*")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    cost, said = err.strip().splitlines()
    assert cost.startswith("krohn: 2 networks to train, ")
    assert "interrupted" in said
    assert "run the same command again" in said
    assert not page.exists()
    assert list(tmp_path.rglob("checkpoint.safetensors"))


@pytest.mark.slow
def test_ctrl_c_after_training_says_where_the_networks_are(
    compared: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "krohn.instruments.compare.comparison.machines.measure_models", interrupted
    )
    page = tmp_path / "c2.html"
    code, _, err = compared("C2", *TINY, "-o", page)
    assert code == 2
    assert f"kept in {page.with_suffix('.runs')}" in err
    assert not page.exists()
    assert list(tmp_path.rglob("weights.safetensors"))
    assert "nothing was kept" in compared("C2", *TINY)[2]
