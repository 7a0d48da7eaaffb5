"""The command: text or one JSON object out, exit code 0, 1 or 2, one line of trouble."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Done
from slices_here import needs

import krohn
from krohn import cli
from krohn.__main__ import main
from krohn.algebra.formats import json_format
from krohn.network import modelfile

Json = dict[str, Any]


Command = Callable[..., Done]


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Run the command as from a shell."""

    def call(*arguments: object, stdin: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = cli.run([str(a) for a in arguments])
        found = capsys.readouterr()
        return Done(code, found.out, found.err)

    return call


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some model files."""
    folder = tmp_path_factory.mktemp("shelf")
    krohn.compile("Grid4", 6, "scan").save(folder / "grid.safetensors")
    krohn.compile("C3", 6).save(folder / "c3.safetensors")
    krohn.compile("abab", 6).save(folder / "abab.safetensors")
    krohn.compile("regex:(ab)*", 6).save(folder / "regex.safetensors")
    krohn.compile("C3", arch="rnn").save(folder / "rnn.safetensors")
    return folder


def damaged(shelf: Path, folder: Path, name: str, tensor: str) -> Path:
    """The model with a tensor turned to zeros, and no evidence of anything."""
    file = modelfile.read(shelf / f"{name}.safetensors")
    tensors = {**file.tensors, tensor: np.zeros_like(file.tensors[tensor])}
    path = folder / "damaged.safetensors"
    modelfile.write(path, file.header, tensors)
    return path


# --- zoo, explain ---------------------------------------------------------------------


def test_zoo(command: Command) -> None:
    done = command("zoo")
    assert done.code == 0
    assert all(name in done.out for name in krohn.zoo())
    rows = command("zoo", "--json").json["machines"]
    assert [row["name"] for row in rows] == list(krohn.zoo())
    assert rows[0].keys() == {"name", "states", "letters", "description"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "chosen"),
    [("C5", "counter"), ("S3", "semidirect-car"), ("FlipFlop", "memory")],
)
def test_explain(command: Command, machine: str, chosen: str) -> None:
    found = command("explain", machine, "-T", 20, "--json").json
    assert found["chosen"] == chosen
    assert found["states"] == len(krohn.zoo(machine).states)
    assert found["letters"] == len(krohn.zoo(machine).letters)
    for row in found["constructions"]:
        assert row.keys() >= {"name", "depth", "parameters"}
    names = {r["name"] for r in found["constructions"] + found["unavailable"]}
    known = (
        "counter memory window parity parity-selected parity-tree product gridworld "
        "corridor dyck definite content cascade semidirect-car wreath scan sequential "
        "scan3 scan5 piecewise departures"
    )
    assert names == set(known.split())
    (marked,) = [row["name"] for row in found["front"] if row["chosen"]]
    assert marked == chosen
    assert {row["exact"] for row in found["constructions"]} <= {True, False}
    done = command("explain", machine, "-T", 20)
    assert done.code == 0
    assert f"Chosen: {chosen}" in done.out


@pytest.mark.slow
def test_explain_goes_by_what_is_minimised(command: Command) -> None:
    found = command("explain", "S4", "-T", 50, "--minimise", "latency", "--json").json
    assert found["chosen"] == "scan4"
    least = min(row["latency"] for row in found["front"])
    assert [row["latency"] for row in found["front"] if row["chosen"]] == [least]
    said = f"it has the least predicted latency (µs), {least:,.0f}; semidirect-car"
    assert found["why"].startswith(said)
    refused = command("explain", "S4", "--minimise", "beauty")
    assert refused.code == 2
    assert "--minimise takes depth, widest, parameters, latency" in refused.err


# --- compile --------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("arguments", "construction"),
    [
        (["C5", "-T", 9], "counter"),
        (["FlipFlop", "-T", 9], "memory"),
        (["C2xC2", "-T", 9], "product"),
        (["Grid4", "-T", 9, "--strict"], "gridworld"),
        (["Grid4", "-T", 5, "--construction", "sequential"], "sequential"),
        (["S3", "-T", 9, "--dtype", "bfloat16"], "scan"),
        (["Grid4", "-T", 9, "--start", "2"], "gridworld"),
        (["regex:(ab|ba)*", "-T", 9], "departures"),
        (["Dyck3,2", "-T", 9], "dyck"),
        (["A5", "-T", 9], "scan"),
        (["C5", "--arch", "rnn"], "elman"),
    ],
)
def test_compile(
    command: Command, tmp_path: Path, arguments: list[object], construction: str
) -> None:
    path = tmp_path / "model.safetensors"
    found = command("compile", *arguments, "-o", path, "--json").json
    assert found.keys() >= {
        "file",
        "construction",
        "length",
        "dtype",
        "depth",
        "layers",
        "d_model",
        "heads",
        "mlp_width",
        "parameters",
        "nonzero",
        "seconds",
    }
    assert found["construction"] == construction
    assert found["file"] == str(path)
    tensors = modelfile.read(path).tensors.values()
    assert found["parameters"] == sum(t.size for t in tensors)
    assert found["nonzero"] == sum(np.count_nonzero(t) for t in tensors)
    assert found["length"] == (None if "rnn" in arguments else arguments[2])
    again = command("compile", *arguments, "-o", path)
    assert (again.code, again.err) == (0, "")
    assert f"wrote {path}: {construction}" in again.out


def test_passes_are_printed_beside_the_result(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "model"
    done = command("compile", "C3", "-T", 4, "-o", path, "--passes", "--json")
    assert done.json["construction"] == "counter"
    assert "--- after infer domains" in done.err


# --- verify ---------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["grid", "c3", "abab", "regex", "rnn"])
@pytest.mark.parametrize(
    ("options", "method"),
    [
        ([], "proof"),
        (["--proof"], "proof"),
        (["--exhaustive", 6], "exhaustive"),
        (["--proof", "--exhaustive", 3, "--sample", 9], "proof+exhaustive+sample"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_verified_is_0(
    command: Command, shelf: Path, name: str, options: list[object], method: str
) -> None:
    if name == "rnn" and method == "exhaustive":
        pytest.skip("it has no longest word")
    done = command("verify", shelf / f"{name}.safetensors", *options, "--json")
    found = done.json
    assert done.code == 0
    assert found.keys() >= {
        "verdict",
        "method",
        "length",
        "words",
        "counterexample",
        "seconds",
    }
    assert (found["verdict"], found["method"]) == ("verified", method)
    assert found["counterexample"] is None
    assert (found["words"] > 0) == (method != "proof")
    done = command("verify", shelf / f"{name}.safetensors", *options)
    assert (done.code, done.err) == (0, "")
    assert "verified" in done.out


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["grid", "abab", "rnn"])
@pytest.mark.parametrize(
    ("method", "most"), [("exhaustive", 4), ("sample", 20)], ids=["short", "some"]
)
def test_some_words_that_are_right_decide_nothing(
    command: Command, shelf: Path, name: str, method: str, most: int
) -> None:
    done = command("verify", shelf / f"{name}.safetensors", f"--{method}", most)
    assert (done.code, done.err) == (2, "")
    assert f"undecided ({method}," in done.out


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["grid", "c3", "rnn"])
def test_refuted_is_1_with_a_word(
    command: Command, shelf: Path, tmp_path: Path, name: str
) -> None:
    path = damaged(shelf, tmp_path, name, "unembed.weight")
    done = command("verify", path, "--json")
    assert (done.code, done.json["verdict"]) == (1, "refuted")
    wrong = done.json["counterexample"]
    assert wrong["expected"] != wrong["actual"]
    model = krohn.load(path)
    assert model.run(wrong["word"]) == wrong["actual"]
    shown = command("verify", path)
    assert shown.code == 1
    assert "refuted" in shown.out
    assert "expected" in shown.out


def test_another_machine_is_refuted(
    command: Command, shelf: Path, tmp_path: Path
) -> None:
    own = json_format.to_object(krohn.zoo("Grid4"))
    (own["transitions"])[0][1] = 1
    path = tmp_path / "other.json"
    path.write_text(json.dumps(own))
    done = command("verify", shelf / "grid.safetensors", "--machine", path, "--json")
    assert (done.code, done.json["verdict"]) == (1, "refuted")
    assert len(done.json["counterexample"]["word"]) == 2


@pytest.mark.slow
def test_another_start_is_refuted(command: Command, shelf: Path) -> None:
    model = shelf / "grid.safetensors"
    for start, code in (("0", 0), ("1", 1), ("3", 1)):
        done = command("verify", model, "--machine", "Grid4", "--start", start)
        assert done.code == code


def test_undecided_is_2(command: Command, shelf: Path, tmp_path: Path) -> None:
    file = krohn.compile("Grid4", 20, "scan").file
    header = {k: v for k, v in file.header.items() if k != "program"}
    path = tmp_path / "unproved.safetensors"
    modelfile.write(path, header, file.tensors)
    done = command("verify", path, "--proof", "--json")
    assert (done.code, done.json["verdict"]) == (2, "undecided")
    assert done.json["words"] > 0
    assert "has no Program, and a proof needs one" in done.json["reason"]
    assert "all words of up to 13 letters are right" in done.json["reason"]
    shown = command("verify", path)
    assert (shown.code, shown.err) == (2, "")
    assert "undecided" in shown.out


@pytest.mark.slow
def test_evidence_is_not_believed(
    command: Command, shelf: Path, tmp_path: Path
) -> None:
    file = modelfile.read(shelf / "grid.safetensors")
    for evidence in (None, "verified", {"verdict": "verified", "steps": []}):
        path = tmp_path / "model.safetensors"
        modelfile.write(path, {**file.header, "evidence": evidence}, file.tensors)
        assert command("verify", path).code == 0
    path = damaged(shelf, tmp_path, "grid", "unembed.weight")
    assert modelfile.read(path).header["evidence"]["verdict"] == "verified"
    assert command("verify", path).code == 1


def test_out_of_range_is_2(command: Command, shelf: Path) -> None:
    done = command("verify", shelf / "c3.safetensors", "--exhaustive", 7, "--json")
    assert (done.code, done.json["verdict"]) == (2, "out-of-range")
    assert "words of up to 6 letters" in done.json["reason"]


# --- run ------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [["1", "2", "2"], ["122"], ["1,2,2"], ["1 2 2"]])
def test_run_on_an_argument(command: Command, shelf: Path, word: list[str]) -> None:
    done = command("run", shelf / "c3.safetensors", *word)
    assert (done.code, done.out, done.err) == (0, "1 0 2\n", "")


def test_run_on_lines(command: Command, shelf: Path) -> None:
    lines = "1 2\n\n111111\n"
    done = command("run", shelf / "c3.safetensors", stdin=lines)
    assert done.out.splitlines() == ["1 0", "", "1 2 0 1 2 0"]
    done = command("run", shelf / "c3.safetensors", "--json", stdin=lines)
    found = [json.loads(line)["outputs"] for line in done.out.splitlines()]
    assert found == [["1", "0"], [], list("120120")]


# --- draw -----------------------------------------------------------------------------


# --- trouble --------------------------------------------------------------------------

FILE = "c3.safetensors"
TROUBLE = [
    ["compile", "Nothing", "-T", 4, "-o", "OUT"],
    ["compile", "missing.dot", "-T", 4, "-o", "OUT"],
    ["compile", "regex:(", "-T", 4, "-o", "OUT"],
    ["compile", "C3", "-o", "OUT"],
    ["compile", "C3", "-T", 4],
    ["compile", "C3", "-T", 0, "-o", "OUT"],
    ["compile", "C3", "-T", "x", "-o", "OUT"],
    ["compile", "C3", "-T", 4, "-o", "OUT/file"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--dtype", "float8"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--arch", "gru"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--start", "9"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--construction", "memory"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--construction", "magic"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--complete", "guess"],
    ["compile", "C3", "-T", 4, "-o", "OUT", "--nonsense"],
    ["compile", "C3", "-T", 5000, "-o", "OUT", "--construction", "sequential"],
    ["compile"],
    ["explain", "Nothing"],
    ["explain", "C3", "--start", "9"],
    ["explain", "C3", "--dtype", "float8"],
    ["verify", "missing.safetensors"],
    ["verify", "FILE", "--exhaustive", 0],
    ["verify", "FILE", "--sample", -1],
    ["verify", "FILE", "--machine", "Nothing"],
    ["verify", "FILE", "--machine", "C5"],
    ["verify", "FILE", "--start", "1"],
    ["run", "missing.safetensors", "1"],
    ["run", "FILE", "x"],
    ["run", "FILE", "1111111"],
    ["run", "FILE", "--", "-1"],
    ["draw", "Nothing", "-o", "OUT.svg"],
    ["draw", "C3", "-o", "OUT.txt"],
    ["draw", "missing.safetensors", "-o", "OUT.svg"],
    ["nonsense"],
    ["--nonsense"],
]


@pytest.mark.sample(8)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("arguments", TROUBLE, ids=lambda a: " ".join(map(str, a)))
def test_trouble_is_one_line_and_2(
    command: Command,
    shelf: Path,
    tmp_path: Path,
    arguments: list[object],
    as_json: bool,
) -> None:
    names = {"FILE": str(shelf / FILE)}
    filled = [
        names.get(str(a), str(a).replace("OUT", str(tmp_path / "out")))
        for a in arguments
    ]
    done = command(*filled, *["--json"] * as_json)
    assert done.code == 2
    assert len(done.trouble) > len("krohn: ")
    assert list(tmp_path.iterdir()) == []
    if as_json:
        assert done.json.keys() == {"schema", "error"}
    else:
        assert done.out == ""


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 100, b"\0" * 8, b"\xff" * 64])
@pytest.mark.parametrize("verb", ["verify", "run"])
def test_damaged_files_are_one_line_and_2(
    command: Command, tmp_path: Path, verb: str, data: bytes
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    done = command(verb, path)
    assert done.code == 2
    assert str(path) in done.trouble


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "inside",
    [
        "krohn.compiled_model.prove_own",
        "krohn.network.modelfile.safetensors.numpy.save",
    ],
)
def test_an_interruption_leaves_the_old_file(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"before")

    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inside, stop)
    assert command("compile", "Grid4", "-T", 4, "-o", path).code != 0
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


def test_an_interrupted_write_leaves_nothing(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)
    assert (
        command("compile", "C3", "-T", 4, "-o", tmp_path / "model.safetensors").code
        != 0
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (KeyboardInterrupt, "krohn: interrupted; nothing was written"),
        (MemoryError, "krohn: out of memory; "),
    ],
)
def test_what_ends_a_proof_is_one_line_and_2(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: type[BaseException],
    says: str,
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise trouble

    monkeypatch.setattr("krohn.compiled_model.prove_own", stop)
    done = command("compile", "C3", "-T", 4, "-o", tmp_path / "model.safetensors")
    assert done.code == 2
    assert done.trouble.startswith(says)


def test_an_interruption_while_the_command_is_loaded_is_one_line_and_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting:
        def find_spec(self, name: str, *rest: object) -> None:
            if name == "krohn.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "krohn.cli")
    monkeypatch.delattr("krohn.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert capsys.readouterr().err == "krohn: interrupted; nothing was written\n"


def test_a_word_on_which_a_network_is_wrong_is_told_whole(command: Command) -> None:
    how = ("--arch", "ssm", "--dtype", "bfloat16", "-T", 129, "-o", "no.safetensors")
    done = command("compile", "C5", *how)
    assert done.code == 2
    assert "it is wrong after 1^128 0)" in done.trouble


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name", [c.name for c in cli.application().registered_commands]
)
def test_a_command_alone_is_one_line_and_2(
    command: Command, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command(name)
    assert done.code == 0 or done.trouble


@pytest.mark.parametrize("arguments", [[], ["--help"], ["compile", "--help"]])
def test_help_is_0(command: Command, arguments: list[str]) -> None:
    done = command(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "Usage" in done.out


def test_the_package_runs_as_the_command() -> None:
    typed = [sys.executable, "-m", "krohn", "zoo", "--json"]
    done = subprocess.run(typed, capture_output=True, text=True, check=True)
    assert "FlipFlop" in {each["name"] for each in json.loads(done.stdout)["machines"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["complie", "C2"], "compile?"),
        (["compile", "C2", "-T", 4, "-o", "OUT", "--construction", "scna"], "scan?"),
        (["compile", "C2", "-T", 4, "-o", "OUT", "--dtype", "float3"], "float32?"),
        pytest.param(
            ["compile", "C2", "-T", 4, "-o", "OUT", "--arch", "rnm"],
            "rnn?",
            marks=needs("architectures.recurrent"),
        ),
        (["compile", "C2", "-T", 4, "-o", "OUT", "--minimise", "depht"], "depth?"),
        (["compile", "C2", "-T", 4, "-o", "OUT", "--observe", "acept"], "accept?"),
        (["compile", "C2", "-T", 4, "-o", "OUT", "--lenght", 5], "--length"),
        (["explain", "C2", "--effort", "hihg"], "high?"),
        (["explain", "C2", "--complete", "snik"], "sink?"),
        (["decompose", "S4", "--method", "prine"], "prime?"),
        pytest.param(
            ["explain", "InContex3,2"],
            "InContext3,2?",
            marks=needs("kinds.in_context"),
        ),
        (["explain", "(ab)*"], "regex:(ab)*"),
    ],
)
def test_what_is_misspelt_is_answered_with_what_there_is(
    arguments: list[object], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([str(a) for a in arguments]) == 2
    assert says in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"krohn {krohn.__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 2])
def test_quiet_leaves_the_exit_code_and_errors(
    at: int, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["explain", "regex:a+b", "-T4"]
    assert cli.run([*arguments[:at], "-q", *arguments[at:]]) == 0
    assert capsys.readouterr() == ("", "")
    assert cli.run(["-q", *arguments, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out)["letters"] == 2
    assert cli.run(["-q", "explain", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_completion_knows_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_KROHN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "krohn ver")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setattr("sys.argv", ["krohn"])
    cli.run([])
    assert capsys.readouterr().out.split() == ["verify"]


@pytest.mark.slow
def test_model_files_end_in_st_too(call: Any, tmp_path: Path) -> None:
    model, picture = tmp_path / "m.st", tmp_path / "m.svg"
    assert call("compile", "C3", "-T", 6, "-o", model)[0] == 0
    assert call("draw", model, "-o", picture)[0] == 0
    assert call("explain", model, "-T", 6)[1]["states"] == 3
    assert call("verify", model)[1]["verdict"] == "verified"


@pytest.mark.parametrize("name", ["m.onnx", "m.json", "m.st.gz"])
def test_model_files_with_other_names_are_not_written(
    call: Any, tmp_path: Path, name: str
) -> None:
    code, found = call("compile", "C3", "-T", 6, "-o", tmp_path / name)
    assert code == 2
    assert ".safetensors or .st" in found["error"]
    assert not (tmp_path / name).exists()


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", ["no json", "[1]", "", "\udcff"])
def test_evidence_that_is_no_json_is_said_to_be_none(
    call: Any, tmp_path: Path, text: str
) -> None:
    model, evidence = tmp_path / "m.safetensors", tmp_path / "e.json"
    call("compile", "C3", "-T", 6, "-o", model)
    evidence.write_bytes(text.encode(errors="surrogateescape"))
    code, found = call("recheck", model, evidence)
    assert code == 2
    assert "is no evidence" in found["error"]
    assert "Error" not in found["error"]


def test_a_machine_is_compiled_before_it_is_run(command: Command) -> None:
    said = command("run", "C2", "1").trouble
    assert "krohn compile C2 -T 64 -o F.safetensors" in said


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "asked",
    [
        ["draw", "-o", "m.svg"],
        ["explain", "-T", "4"],
        ["decompose"],
        ["compile", "-T", "4", "-o", "m.safetensors"],
    ],
    ids=lambda asked: asked[0],
)
def test_a_start_that_is_given_is_not_said_to_be_missing(
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.dot").write_text("digraph { p -> q [label=a]; q -> p [label=a] }")
    command, *options = asked
    for start, guessed in (([], True), (["--start", "q"], False)):
        assert cli.run([command, "m.dot", *start, *options]) == 0
        assert ("no start is marked" in capsys.readouterr().err) == guessed
